"""The doors to judging a run again for Python: another judge on the same outputs."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from judgekit.evaluation.rejudging.calibration import calibration_words
from judgekit.evaluation.rejudging.contrasting import contrast
from judgekit.evaluation.rejudging.runs import judged_twice, rejudge_run, rejudged_run
from judgekit.judge.portal import Portal

if TYPE_CHECKING:
    from judgekit.evaluation.rejudging.figures import Rejudged
    from judgekit.evaluation.run import Run
    from judgekit.judge.judge import Judge
    from judgekit.records.rubric import Rubric


async def rejudge(
    run: Run, judge: Judge, *, rubric: Rubric | None = None, level: float = 0.95
) -> Rejudged:
    """Judge the outputs of a run again, and say what changes; no system under test is asked.

    What the new judge says is kept in the run's store, as a run of its own that names the old one.

    Args:
        run: The run that was judged before.
        judge: Who judges now; with a budget it stops when the money is used up.
        rubric: Another rubric; None takes the run's own.
        level: Confidence level of the intervals, in (0, 1).

    Returns:
        How many verdicts change, agreement of old and new, and the shift of each criterion.

    Raises:
        SettingsError: When the run has no rubric, so that no judge was asked.
        InputError: When the template does not fit an output.
        NotEnoughDataError: When no output has a verdict of both judges.
        StoreError: When something cannot be kept.

    Example:
        >>> async def churn(run, judge):  # doctest: +SKIP
        ...     found = await jk.rejudge(run, judge)
        ...     return found.churn.value, found.run_id
    """
    old, store = run.info, run.store
    planned = rejudged_run(old, judge, rubric=rubric, now=datetime.now(UTC))
    ended = await rejudge_run(old, planned, judge, store)
    by_rubric = cast("Rubric", planned.rubric)  # without one no run is planned
    left_out: Counter[str] = Counter()
    return contrast(
        list(judged_twice(old, ended, store, left_out=left_out)),
        (old.rubric, by_rubric),
        (old.panel.judges, ended.panel.judges),
        calibration=calibration_words(old, ended),
        level=level,
        runs=(old.id, ended.id),
        left_out=left_out,
    )


def rejudge_sync(
    run: Run, judge: Judge, *, rubric: Rubric | None = None, level: float = 0.95
) -> Rejudged:
    """`rejudge`, for callers that are not asynchronous; works inside a running loop too.

    Args:
        run: The run that was judged before.
        judge: Who judges now.
        rubric: Another rubric; None takes the run's own.
        level: Confidence level of the intervals, in (0, 1).

    Returns:
        What the new judge changes.

    Raises:
        SettingsError: When the run has no rubric, so that no judge was asked.
        InputError: When the template does not fit an output.
        NotEnoughDataError: When no output has a verdict of both judges.
        StoreError: When something cannot be kept.
    """
    portal = Portal()
    try:
        return portal.run(rejudge(run, judge, rubric=rubric, level=level))
    finally:
        portal.close()
