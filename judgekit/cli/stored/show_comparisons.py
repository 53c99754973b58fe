"""The part of `judgekit show` that speaks of blind comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.cli import console as streams
from judgekit.cli.comparing.pair_options import check_no_rule
from judgekit.errors import UnknownNameError
from judgekit.evaluation.comparing.stored import by_rule, stored_pairs, summarize_comparison
from judgekit.report.comparison_listing import (
    print_comparisons,
    print_how,
    print_pair,
)
from judgekit.report.comparison_terminal import comparison_json, print_comparison

if TYPE_CHECKING:
    from judgekit.records.compared import ComparisonInfo
    from judgekit.records.comparison import Rule
    from judgekit.store.runs import RunStore

_MOST_SHOWN = 20


def show_comparisons(
    store: RunStore,
    name: str | None,
    case: str | None,
    *,
    rule: Rule | None = None,
    limit: int | None,
    as_json: bool,
) -> None:
    """Show the comparisons that are kept, one of them, or what was said of one of its cases."""
    if name is None:
        check_no_rule(rule)
        _list(store, limit=limit, as_json=as_json)
        return
    info = by_rule(store.comparison(name), rule)
    if case is None:
        _show(store, info, as_json=as_json)
    else:
        _show_case(store, info, case, as_json=as_json)


def _list(store: RunStore, *, limit: int | None, as_json: bool) -> None:
    found = store.comparisons(limit=limit or (None if as_json else _MOST_SHOWN))
    if as_json:
        streams.print_json([info.to_json() for info in found])
    elif found:
        print_comparisons(streams.stdout(), found)
    else:
        streams.note("no comparison is kept yet: judgekit compare A B")


def _show(store: RunStore, info: ComparisonInfo, *, as_json: bool) -> None:
    summary = summarize_comparison(store, info)
    if as_json:
        streams.print_json({"comparison": info.to_json(), "summary": comparison_json(summary)})
        return
    print_comparison(streams.stdout(), summary)
    print_how(streams.stdout(), info)


def _show_case(store: RunStore, info: ComparisonInfo, case: str, *, as_json: bool) -> None:
    analyses = store.analyses(info.id)
    found = [one for one in stored_pairs(store, info) if one[0].case.id == case]
    if not found:
        known = [pair.case.id for pair in store.compared(info.id)]
        raise UnknownNameError(f"case of {info.id}", case, known)
    if as_json:
        rows = [
            {
                "pair": pair.to_json(),
                "comparison": comparison.to_json(),
                "analysis": analyses[pair.place].to_json() if pair.place in analyses else None,
            }
            for pair, comparison in found
        ]
        streams.print_json({"comparison": info.to_json(), "pairs": rows})
        return
    for pair, comparison in found:
        print_pair(streams.stdout(), info, pair, comparison, analyses.get(pair.place))
