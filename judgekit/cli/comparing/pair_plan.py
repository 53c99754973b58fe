"""`--dry-run` of `compare` and `rank`: what the judge would be asked, and what that costs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from judgekit.cli import console as streams
from judgekit.cli.main import EXIT_LIMIT
from judgekit.evaluation.planning.plan import plan_comparing
from judgekit.report import terminal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.cli.setup import Options
    from judgekit.evaluation.comparing.pairing import Paired
    from judgekit.judge.pair_panel import PairPanel
    from judgekit.records.rubric import Rubric


def show_pair_plan(
    panel: PairPanel,
    pairs: Iterable[Paired],
    rubric: Rubric,
    names: Iterable[str],
    options: Options,
) -> int:
    """Work out what comparing pairs would ask and cost, and print it; asks nothing."""
    found = plan_comparing(panel, pairs, rubric, names=names, refresh=bool(options.get("refresh")))
    if options.get("as_json"):
        streams.print_json({**asdict(found), "n_calls": found.n_calls})
    else:
        terminal.print_plan(streams.stdout(), found)
    limit = cast("float | None", options.get("max_cost"))
    is_short = limit is not None and found.price_usd is not None and found.price_usd[0] > limit
    return EXIT_LIMIT if is_short else 0
