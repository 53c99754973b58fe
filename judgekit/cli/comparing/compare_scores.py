"""`judgekit compare --scores`: two stored runs by what they have, paired by case."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from judgekit.cli import console as streams
from judgekit.cli.comparing.compare_sides import variant_of
from judgekit.cli.main import EXIT_INCONCLUSIVE
from judgekit.errors import SettingsError
from judgekit.evaluation.comparing.scores import Scored, compare_scored
from judgekit.evaluation.preparing.calibrated import by_one_measure
from judgekit.report.score_comparison_terminal import print_scores, scores_json

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from judgekit.cli.setup import Options
    from judgekit.store.runs import RunStore


def compare_scores(
    names: tuple[str, str],
    store: RunStore | None,
    *,
    alpha: float,
    options: Options,
    output: Path | None,
) -> int:
    """Compare two runs by their scores, and show what came of it."""
    if output is not None:
        raise SettingsError("--scores makes no comparisons to write", hint="use --json")
    if store is None:
        raise SettingsError("--scores compares stored runs, and there is no store", hint="--store")
    tags = cast("Collection[str]", options.get("filter_tag") or ())
    (first, one), (second, other) = (variant_of(name, store) for name in names)
    runs = by_one_measure(first, second)
    if runs != (first, second):
        streams.note("calibrated by other maps, or one of them by none: the judges' own values")
    found = [
        Scored(store.results(run.id, variant=variant), run, tags)
        for run, variant in zip(runs, (one, other), strict=True)
    ]
    compared = compare_scored(found[0], found[1], names, alpha=alpha)
    if options.get("as_json"):
        streams.print_json(scores_json(compared))
    else:
        print_scores(streams.stdout(), compared)
    return 0 if compared.decision.winner is not None else EXIT_INCONCLUSIVE
