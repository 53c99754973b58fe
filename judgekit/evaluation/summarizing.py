"""The one door to figures: of a stored run, or of verdicts of one rubric."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from judgekit.errors import InputError
from judgekit.evaluation.figures.summary import summarize as summarize_verdicts
from judgekit.evaluation.run import Run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.evaluation.figures.run_figures import RunSummary
    from judgekit.evaluation.figures.summary import GradeSummary
    from judgekit.records.rubric import Rubric
    from judgekit.records.verdict import Verdict


@overload
def summarize(observed: Run, *, level: float = 0.95) -> RunSummary: ...


@overload
def summarize(observed: Iterable[Verdict], rubric: Rubric) -> GradeSummary: ...


def summarize(
    observed: Run | Iterable[Verdict], rubric: Rubric | None = None, *, level: float = 0.95
) -> RunSummary | GradeSummary:
    """Sum up a run, or verdicts.

    Args:
        observed: A run, or verdicts of one rubric.
        rubric: The rubric of the verdicts; a run knows its own.
        level: Confidence level of a run's intervals, in (0, 1).

    Returns:
        Of a run: figures per variant, criterion, tag and stratum, each with its interval, and
        how the variants differ. Of verdicts: figures per variant.

    Raises:
        InputError: When verdicts come without their rubric, or a run with one.
        StoreError: When the run cannot be read.
    """
    if isinstance(observed, Run):
        if rubric is not None:
            raise InputError("a run knows its own rubric", hint="call summarize(run)")
        return observed.summary(level=level)
    if rubric is None:
        raise InputError("verdicts are summed up with their rubric: summarize(verdicts, rubric)")
    return summarize_verdicts(observed, rubric)
