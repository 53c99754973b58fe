"""Whether quality moves from run to run: the rules that act; the tests are in `trend_tests`."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, inf, nan, sqrt
from typing import TYPE_CHECKING, Literal

from judgekit.stats.arguments import given, whole
from judgekit.stats.estimate import observed
from judgekit.stats.kendall import consistent_s, kendall_s, theil_sen
from judgekit.stats.known import is_missing
from judgekit.stats.quantiles import SLACK
from judgekit.stats.result import Result
from judgekit.stats.trend_tests import (
    Cusum,
    MannKendall,
    RateTrend,
    SlopeEstimate,
    cochran_armitage,
    cusum,
    item_slopes,
    mann_kendall,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Cusum",
    "Direction",
    "DirectionName",
    "Escalation",
    "MannKendall",
    "PassRateDrop",
    "RateTrend",
    "SlopeEstimate",
    "Spread",
    "cochran_armitage",
    "cusum",
    "direction",
    "item_slopes",
    "mann_kendall",
    "pass_rate_drop",
    "should_escalate",
]

DirectionName = Literal["improving", "degrading", "stable"]
Spread = Literal["range", "cv"]

_FEWEST_POINTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction(Result):
    """Where the last scores of a series point."""

    direction: DirectionName
    """`improving`, `degrading` or `stable`."""

    reason: Literal["consistent", "within-band", "no-consistent-direction", "insufficient-data"]
    """Why."""

    slope: float
    """Median slope a run (Theil-Sen); nan below two scores."""

    s: int
    """Kendall's S: rising less falling pairs."""

    spread: float
    """Range (or standard deviation) over the mean; nan without a score."""

    n: int
    """Scores in the window."""

    n_missing: int
    """Scores of the series that are missing; the window looks past them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation(Result):
    """Whether a person has to be told."""

    value: bool
    """Whether the last runs were all degrading."""

    is_new: bool
    """Whether this run is the first to say so in its episode; tell once."""

    n_degrading: int
    """Length of the unbroken end of degrading runs."""

    def __bool__(self) -> bool:
        return self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRateDrop(Result):
    """How far a pass rate fell from one run to the next."""

    points: float
    """Previous less current rate."""

    relative: float
    """The same as a share of the previous rate; 0 where that was 0 and nothing can fall."""

    critical: bool
    """Whether the relative drop exceeds the limit; False where a rate is missing."""

    reason: str | None = None
    """Why the drop is undefined."""


def direction(
    scores: Sequence[float | None],
    *,
    window: int = 5,
    band: float = 0.05,
    spread: Spread = "range",
) -> Direction:
    """Where the last scores point.

    Of the last scores: fewer than three are `stable` (insufficient-data); a spread of at most
    `band` is `stable` (within-band); Kendall's S of at least 8 for five scores is a direction
    (for other lengths the smallest S of one-sided permutation probability <= 5 %, for three and
    four scores all pairs); else `stable` (no-consistent-direction).

    Args:
        scores: Scores of runs, oldest first; nan and None are missing and looked past.
        window: How many of the last scores count, 3 or more.
        band: The spread within which nothing moved, 0 or more, as a share of the mean.
        spread: `range` ((max - min) / |mean|) or `cv` (standard deviation / |mean|).

    Returns:
        The direction and what it rests on.

    Raises:
        ValueError: When window or band are out of range, or a score is infinite.
    """
    (window,), (band,) = whole(window=window), given(band=band)
    if window < _FEWEST_POINTS or not band >= 0:
        raise ValueError(f"window {window} has to be 3 or more, band {band} 0 or more")
    known, _ = observed(scores)
    y = known[-window:]
    s, width = kendall_s(y), _spread(y, spread)
    found: DirectionName = "stable"
    if len(y) < _FEWEST_POINTS:
        return _direction(found, "insufficient-data", y, width, len(scores) - len(known))
    if width <= band + SLACK:
        return _direction(found, "within-band", y, width, len(scores) - len(known))
    if abs(s) < consistent_s(len(y)):
        return _direction(found, "no-consistent-direction", y, width, len(scores) - len(known))
    found = "improving" if s > 0 else "degrading"
    return _direction(found, "consistent", y, width, len(scores) - len(known))


def should_escalate(directions: Sequence[str], *, consecutive: int = 3) -> Escalation:
    """Whether the last runs were all degrading.

    Args:
        directions: Directions of consecutive runs, oldest first.
        consecutive: How many degrading runs in a row escalate, 1 or more.

    Returns:
        The answer, true or false as it stands; `is_new` for the first run of an episode.

    Raises:
        ValueError: When `consecutive` is less than 1.
    """
    (consecutive,) = whole(consecutive=consecutive)
    if consecutive < 1:
        raise ValueError(f"consecutive is {consecutive}; it is 1 or more")
    length = 0
    for name in reversed(directions):
        if name != "degrading":
            break
        length += 1
    return Escalation(value=length >= consecutive, is_new=length == consecutive, n_degrading=length)


def pass_rate_drop(
    previous: float | None, current: float | None, *, limit: float = 0.10
) -> PassRateDrop:
    """Whether a pass rate fell by more than a share of what it was.

    Args:
        previous: Rate of the previous run, 0 to 1; None and nan are missing.
        current: Rate of this run, 0 to 1; None and nan are missing.
        limit: The largest share that may be lost, 0 or more; exactly that much is not critical.

    Returns:
        The drop in points and as a share; a rate that rose has a negative one. Where a rate is
        missing both are nan with a reason, and nothing is critical: that a run has no rate has to
        be told on its own.

    Raises:
        ValueError: When a rate lies outside [0, 1], or the limit is negative.
    """
    (limit,) = given(limit=limit)
    rates = {"previous": previous, "current": current}
    missing = [name for name, rate in rates.items() if is_missing(rate)]
    if missing or previous is None or current is None:
        reason = f"no rate of the {' and the '.join(missing)} run"
        return PassRateDrop(points=nan, relative=nan, critical=False, reason=reason)
    if not (0 <= previous <= 1 and 0 <= current <= 1 and limit >= 0):
        raise ValueError(f"rates {previous} and {current}, limit {limit}: out of range")
    points = previous - current
    relative = points / previous if previous > 0 else 0.0
    return PassRateDrop(points=points, relative=relative, critical=relative > limit + SLACK)


def _direction(
    name: DirectionName,
    reason: Literal["consistent", "within-band", "no-consistent-direction", "insufficient-data"],
    y: Sequence[float],
    width: float,
    n_missing: int,
) -> Direction:
    return Direction(
        direction=name,
        reason=reason,
        slope=theil_sen(y),
        s=kendall_s(y),
        spread=width,
        n=len(y),
        n_missing=n_missing,
    )


def _spread(y: Sequence[float], kind: Spread) -> float:
    if not y:
        return nan
    centre = fsum(y) / len(y)
    width = max(y) - min(y)
    if width <= SLACK:
        return 0.0
    if kind == "cv":
        width = sqrt(fsum((value - centre) ** 2 for value in y) / (len(y) - 1))
    return width / abs(centre) if centre else inf
