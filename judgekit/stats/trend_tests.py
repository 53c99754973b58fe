"""Tests of a trend over runs, and the cumulated shortfall of a series."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, isnan, nan, sqrt
from typing import TYPE_CHECKING

from judgekit.errors import NotEnoughDataError
from judgekit.stats.arguments import given
from judgekit.stats.estimate import Estimate, observed
from judgekit.stats.intervals import mean
from judgekit.stats.kendall import kendall_p_value, kendall_s, theil_sen
from judgekit.stats.known import is_missing
from judgekit.stats.quantiles import SLACK, normal_p_value, t_p_value
from judgekit.stats.result import Result

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class MannKendall(Result):
    """A test for a monotone trend."""

    s: int
    """Rising less falling pairs."""

    p_value: float
    """Two-sided p; nan where all scores are tied."""

    slope: float
    """Median slope a run (Theil-Sen)."""

    n: int
    """Scores."""

    n_missing: int
    """Scores that are missing."""

    reason: str | None = None
    """Why the p is undefined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateTrend(Result):
    """A test for a linear trend of a rate."""

    z: float
    """Normal statistic, negative for a falling rate; nan with a reason where undefined."""

    p_value: float
    """Two-sided p."""

    n: int
    """Runs with a case."""

    reason: str | None = None
    """Why it is undefined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlopeEstimate(Estimate):
    """The mean slope of items over runs."""

    p_value: float
    """Two-sided p against no slope; nan where all items have the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cusum(Result):
    """Cumulated shortfall of a series."""

    path: tuple[float, ...]
    """The sum after each run, in standard deviations; a missing run leaves it as it was."""

    alarm_at: int | None
    """Place of the first run above the limit, from 0; None without an alarm."""


def mann_kendall(scores: Sequence[float | None]) -> MannKendall:
    """Test for a monotone trend; exact up to 60 scores, ties included.

    Args:
        scores: Scores of runs, oldest first; nan and None are missing.

    Returns:
        Mann's test (1945) and Sen's slope (1968).

    Raises:
        NotEnoughDataError: When fewer than two scores are known.
    """
    known, _ = observed(scores)
    if len(known) < 2:  # noqa: PLR2004 - a trend needs two
        raise NotEnoughDataError("a trend needs two scores at least")
    p_value = kendall_p_value(known)
    return MannKendall(
        s=kendall_s(known),
        p_value=p_value,
        slope=theil_sen([nan if score is None else score for score in scores]),
        n=len(known),
        n_missing=len(scores) - len(known),
        reason="all scores are equal" if isnan(p_value) else None,
    )


def cochran_armitage(passes: Sequence[int | None], totals: Sequence[int | None]) -> RateTrend:
    """Test for a linear trend of a pass rate over runs (Armitage 1955).

    `T = sum t (k - n p)`, `V = p q (sum n t^2 - (sum n t)^2 / N)`, `z = T / sqrt(V)`.

    Args:
        passes: Cases that passed, a run each, oldest first; None or nan where that is not known.
        totals: Cases of each run; 0 where a run has none, as one whose count is missing has.

    Returns:
        The test; nan with a reason where all or none pass, or only one run has cases.

    Raises:
        ValueError: When lengths differ or a count is out of its range.
    """
    runs = [_counts(k, n) for k, n in zip(passes, totals)]  # noqa: B905 - lengths are compared
    if len(passes) != len(totals) or any(not 0 <= k <= n for k, n in runs):
        raise ValueError("each run needs its passes, 0 to its total")
    n_runs = sum(n > 0 for _, n in runs)
    cases, passed = sum(n for _, n in runs), sum(k for k, _ in runs)
    rate = passed / cases if cases else nan
    spread = sum(n * t * t for t, (_, n) in enumerate(runs))
    shift = sum(n * t for t, (_, n) in enumerate(runs))
    variance = rate * (1 - rate) * (spread - shift**2 / cases) if cases else nan
    if n_runs < 2 or not 0 < rate < 1:  # noqa: PLR2004 - a trend needs two
        reason = "fewer than two runs" if n_runs < 2 else "all or none passed"  # noqa: PLR2004 - as above
        return RateTrend(z=nan, p_value=nan, n=n_runs, reason=reason)
    total = fsum(t * (k - n * rate) for t, (k, n) in enumerate(runs))
    z = total / sqrt(variance)
    return RateTrend(z=z, p_value=normal_p_value(z), n=n_runs)


def item_slopes(scores: Sequence[Sequence[float | None]], *, level: float = 0.95) -> SlopeEstimate:
    """The mean over items of each item's least-squares slope over runs, with a t interval.

    Pairing and clustering are both met, since an item counts once with one slope.

    Args:
        scores: `scores[item][run]`, runs oldest first; nan and None are missing.
        level: Confidence level in (0, 1).

    Returns:
        The slope a run; the interval is nan with a reason where all slopes are equal or there
        is one item. `n_missing` counts items with fewer than two scores.

    Raises:
        NotEnoughDataError: When no item has two scores.
    """
    slopes = [_slope(row) for row in scores]
    if all(isnan(slope) for slope in slopes):
        raise NotEnoughDataError("no item has scores of two runs")
    found = mean(slopes, level=level)
    return SlopeEstimate(
        value=found.value,
        low=found.low,
        high=found.high,
        level=level,
        n=found.n,
        n_missing=found.n_missing,
        method="t over items' slopes",
        se=found.se,
        df=found.df,
        p_value=nan if found.reason else t_p_value(found.value / found.se, found.df),
        reason=found.reason,
    )


def cusum(
    scores: Sequence[float | None], target: float, sd: float, *, k: float = 0.5, h: float = 4.0
) -> Cusum:
    """Cumulated shortfall below a target (Page 1954): `C = max(0, C + (target - y) / sd - k)`.

    With the defaults it gives a false alarm about every 338 unchanged runs and finds a fall of
    one standard deviation after about 8.

    Args:
        scores: Scores of runs, oldest first; nan and None are missing.
        target: The level to hold, from runs known to be good.
        sd: Standard deviation of a run's score, more than 0.
        k: Shortfall that is let pass at each run, in standard deviations.
        h: The sum above which it alarms, in standard deviations.

    Returns:
        The path and the first alarm.

    Raises:
        ValueError: When `sd` is not positive or a score is infinite.
    """
    target, sd, k, h = given(target=target, sd=sd, k=k, h=h)
    if not sd > 0:
        raise ValueError(f"sd is {sd}; a spread of 0 would alarm at anything")
    observed(scores)
    path, total, alarm_at = [], 0.0, None
    for place, score in enumerate(scores):
        if score is not None and not isnan(score):
            total = max(0.0, total + (target - score) / sd - k)
        path.append(total)
        if alarm_at is None and total > h + SLACK:
            alarm_at = place
    return Cusum(path=tuple(path), alarm_at=alarm_at)


def _slope(row: Sequence[float | None]) -> float:
    points = [(t, v) for t, v in enumerate(row) if v is not None and not isnan(v)]
    if len(points) < 2:  # noqa: PLR2004 - a slope needs two
        return nan
    middle = fsum(t for t, _ in points) / len(points)
    slope = fsum((t - middle) * v for t, v in points) / fsum((t - middle) ** 2 for t, _ in points)
    rounding = 1e-12 * max(abs(v) for _, v in points)
    return 0.0 if abs(slope) <= rounding else slope


def _counts(passes: int | None, total: int | None) -> tuple[int, int]:
    """Passes and cases of a run; none of none where a count is missing."""
    if passes is None or total is None or is_missing(passes) or is_missing(total):
        return 0, 0
    return passes, total
