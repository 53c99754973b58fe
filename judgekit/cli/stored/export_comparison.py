"""The part of `judgekit export` that writes stored comparisons."""

from __future__ import annotations

from contextlib import closing
from types import MappingProxyType
from typing import TYPE_CHECKING

from judgekit.cli import console as streams
from judgekit.cli.comparing.comparison_file import check_comparison_file, written
from judgekit.errors import NotEnoughDataError, SettingsError
from judgekit.evaluation.comparing.stored import by_rule, counted_pairs
from judgekit.report import view
from judgekit.report.formats.skill_analysis import write_analyses
from judgekit.report.formats.skill_comparison import check_comparison_place, write_comparisons
from judgekit.store.runs import RunStore

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from judgekit.records.compared import ComparisonInfo
    from judgekit.records.comparison import Rule

COMPARISON_FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "comparison": "comparison.json, blind, scores 1 to 10 (.json, .jsonl, or a folder)",
        "preferences": "whole comparisons, as `compare -o` and `rank` have them (.jsonl, .json)",
        "analysis": "analysis.json, strengths, weaknesses, changes (.json, .jsonl, or a folder)",
    }
)
"""The forms in which a comparison can be written, by name."""


def export_comparison(
    name: str,
    output: Path,
    form: str | None,
    *,
    rule: Rule | None = None,
    store: str,
    as_json: bool,
) -> None:
    """Write a stored comparison, or its analyses."""
    chosen = form or ("analysis" if output.name.endswith("analysis.json") else "comparison")
    if chosen not in COMPARISON_FORMATS:
        raise SettingsError(
            f"a comparison cannot be written as {chosen}",
            hint=f"use --format {' or '.join(COMPARISON_FORMATS)}",
        )
    if chosen == "preferences":
        check_comparison_file(output, ())
    check_comparison_place(output)
    with closing(RunStore(store, create=False)) as kept:
        info = by_rule(kept.comparison(name), rule)
        if chosen == "preferences":
            n = _write_whole(output, kept, info)
        elif chosen == "comparison":
            n = write_comparisons(output, info, counted_pairs(kept, info))
        else:
            analyses = kept.analyses(info.id)
            if not analyses:
                raise NotEnoughDataError(
                    f"{info.id} has no analyses",
                    hint="ask for them: judgekit compare … --analysis analysis.json",
                )
            n = write_analyses(output, info, kept.compared(info.id), analyses)
    what = view.count(n, *("analysis", "analyses") if chosen == "analysis" else ("comparison",))
    if as_json:
        streams.print_json({"comparison": info.id, "n": n, "file": str(output)})
    else:
        streams.note(f"wrote {what} of {info.id} to {output}")


def _write_whole(output: Path, kept: RunStore, info: ComparisonInfo) -> int:
    """Every comparison with all that was said, as it was told when it was made."""
    n = 0
    with written(output) as write:
        for _, found in counted_pairs(kept, info):
            write(found)
            n += 1
    return n
