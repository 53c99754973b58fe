"""Whether quality moves from run to run.

The rules that raise alarms, trend tests and CUSUM; then the baseline of a series and its change
point.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations, pairwise
from math import comb, factorial, fsum, inf, isnan, nan, prod, sqrt
from statistics import median
from typing import TYPE_CHECKING, Literal, get_args

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import (
    Counted,
    Estimate,
    Result,
    by_place,
    carried,
    finite_floats,
    is_missing,
    known_observations,
    standard_deviation,
)
from judgekit.stats.intervals import mean
from judgekit.stats.quantiles import (
    SLACK,
    check_choice,
    normal_p_value,
    require,
    require_whole,
    t_p_value,
)

if TYPE_CHECKING:
    import numpy as np

DirectionName = Literal["improving", "degrading", "stable"]
_Reason = Literal["consistent", "within-band", "no-consistent-direction", "insufficient-data"]
Spread = Literal["range", "cv"]
_FEWEST_POINTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction(Counted):
    """The direction of the last scores of a series."""

    direction: DirectionName

    reason: _Reason
    """Why."""

    slope: float
    """Median slope a run (Theil-Sen); nan below two scores."""

    s: int
    """Kendall's S: rising less falling pairs."""

    spread: float
    """Range (or standard deviation) over the mean; nan without a score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation(Result):
    """Whether somebody has to be notified."""

    value: bool
    """Whether the last runs were all degrading."""

    is_new: bool
    """Whether this run is the first of its episode to escalate; notify once."""

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


def direction(
    scores: Sequence[float | None], *, window: int = 5, band: float = 0.05, spread: Spread = "range"
) -> Direction:
    """The direction of the last scores of a series.

    Of the last scores: fewer than three are `stable` (insufficient-data); a spread of at most
    `band` is `stable` (within-band); Kendall's S of at least 8 for five scores is a direction
    (for other lengths the smallest S of one-sided permutation probability <= 5 %, for three and
    four scores all pairs); else `stable` (no-consistent-direction).

    Args:
        scores: Scores of runs, oldest first; nan and None are missing and skipped.
        window: How many of the last scores count, 3 or more.
        band: The spread within which nothing moved, 0 or more, as a share of the mean.
        spread: `range` ((max - min) / |mean|) or `cv` (standard deviation / |mean|).

    Returns:
        The direction and what it rests on.
    """
    (window,), (band,) = require_whole(window=window), require(band=band)
    check_choice("spread", spread, get_args(Spread))
    if window < _FEWEST_POINTS or not band >= 0:
        raise ValueError(f"window {window} has to be 3 or more, band {band} 0 or more")
    known, _ = known_observations(scores)
    y = known[-window:]
    s, width = kendall_s(y), _spread(y, spread)
    name: DirectionName = "stable"
    reason: _Reason = "no-consistent-direction"
    if len(y) < _FEWEST_POINTS:
        reason = "insufficient-data"
    # Before the test of direction: a steady change too small to matter is no trend.
    elif width <= band + SLACK:
        reason = "within-band"
    elif abs(s) >= consistent_s(len(y)):
        name, reason = "improving" if s > 0 else "degrading", "consistent"
    return Direction(
        direction=name,
        reason=reason,
        slope=theil_sen(y),
        s=s,
        spread=width,
        n=len(y),
        n_missing=len(scores) - len(known),
    )


def should_escalate(directions: Sequence[str], *, consecutive: int = 3) -> Escalation:
    """Whether the last runs were all degrading.

    Args:
        directions: Directions of consecutive runs, oldest first.
        consecutive: How many degrading runs in a row escalate, 1 or more.

    Returns:
        The answer, which is true or false itself; `is_new` for the first run of an episode.
    """
    (consecutive,) = require_whole(consecutive=consecutive)
    if consecutive < 1:
        raise ValueError(f"consecutive is {consecutive}; it is 1 or more")
    length = 0
    # Only a run of degrading up to now escalates; one that ended is history.
    for name in reversed(list(directions)):
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
        missing both are nan with a reason, and nothing is critical: a run without a rate has to
        be reported separately.
    """
    (limit,) = require(limit=limit)
    rates = {"previous": previous, "current": current}
    missing = [name for name, rate in rates.items() if is_missing(rate)]
    if missing or previous is None or current is None:
        reason = f"no rate of the {' and the '.join(missing)} run"
        return PassRateDrop(points=nan, relative=nan, critical=False, reason=reason)
    if not (0 <= previous <= 1 and 0 <= current <= 1 and limit >= 0):
        raise ValueError(f"rates {previous} and {current}, limit {limit}: out of range")
    points = previous - current
    # From 0 nothing can drop; a rate that rises from 0 is no drop of minus infinity either.
    relative = points / previous if previous > 0 else 0.0
    return PassRateDrop(points=points, relative=relative, critical=relative > limit + SLACK)


def _spread(y: Sequence[float], kind: Spread) -> float:
    if not y:
        return nan
    centre = fsum(y) / len(y)
    if max(y) - min(y) <= SLACK:
        return 0.0
    width = standard_deviation(y) if kind == "cv" else max(y) - min(y)
    return width / abs(centre) if centre else inf


@dataclass(frozen=True, slots=True, kw_only=True)
class MannKendall(Counted):
    """A test for a monotone trend."""

    s: int
    """Rising less falling pairs."""

    p_value: float
    """Two-sided p; nan where all scores are tied."""

    slope: float
    """Median slope a run (Theil-Sen)."""

    reason: str | None = None


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
    known, _ = known_observations(scores)
    if len(known) < 2:  # noqa: PLR2004 - a trend needs two
        raise NotEnoughDataError("a trend needs two scores at least")
    p_value = kendall_p_value(known)
    return MannKendall(
        s=kendall_s(known),
        p_value=p_value,
        slope=theil_sen(finite_floats(scores)),
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
    """
    # A run with a missing count has no cases.
    runs = [
        (0, 0) if k is None or n is None or is_missing(k) or is_missing(n) else (k, n)
        for k, n in zip(by_place(passes), by_place(totals))  # noqa: B905 - lengths are compared
    ]
    if len(passes) != len(totals) or any(not 0 <= k <= n < inf for k, n in runs):
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

    That respects pairing and clustering, since an item counts once with one slope.

    Args:
        scores: `scores[item][run]`, runs oldest first; nan and None are missing.
        level: Confidence level in (0, 1).

    Returns:
        The slope a run; the interval is nan with a reason where all slopes are equal or there
        is one item. `n_missing` counts items with fewer than two scores.

    Raises:
        NotEnoughDataError: When no item has two scores.
    """
    slopes = [_slope(row) for row in by_place(scores)]
    if all(isnan(slope) for slope in slopes):
        raise NotEnoughDataError("no item has scores of two runs")
    found = mean(slopes, level=level)
    return SlopeEstimate(
        **carried(found, method="t over items' slopes", n_observations=None),
        p_value=nan if found.reason else t_p_value(found.value / found.se, found.df),
    )


def cusum(
    scores: Sequence[float | None], target: float, sd: float, *, k: float = 0.5, h: float = 4.0
) -> Cusum:
    """Cumulated shortfall below a target (Page 1954): `C = max(0, C + (target - y) / sd - k)`.

    With the defaults it gives a false alarm about every 335 unchanged runs and finds a fall of
    one standard deviation after about 8.

    Args:
        scores: Scores of runs, oldest first; nan and None are missing.
        target: The level to hold, from runs known to be good.
        sd: Standard deviation of a run's score, more than 0.
        k: Shortfall that is let pass at each run, in standard deviations.
        h: The sum above which it alarms, in standard deviations.
    """
    target, sd, k, h = require(target=target, sd=sd, k=k, h=h)
    if not sd > 0:
        raise ValueError(f"sd is {sd}; a spread of 0 would alarm at anything")
    path, total, alarm_at = [], 0.0, None
    for place, score in enumerate(finite_floats(scores)):
        if not isnan(score):
            total = max(0.0, total + (target - score) / sd - k)
        path.append(total)
        if alarm_at is None and total > h + SLACK:
            alarm_at = place
    return Cusum(path=tuple(path), alarm_at=alarm_at)


def _slope(row: Sequence[float | None]) -> float:
    points = [(t, v) for t, v in enumerate(finite_floats(row)) if not isnan(v)]
    if len(points) < 2:  # noqa: PLR2004 - a slope needs two
        return nan
    middle = fsum(t for t, _ in points) / len(points)
    slope = fsum((t - middle) * v for t, v in points) / fsum((t - middle) ** 2 for t, _ in points)
    rounding = 1e-12 * max(abs(v) for _, v in points)
    return 0.0 if abs(slope) <= rounding else slope


# Beyond so many scores the exact counts are large integers, and the normal law is close.
_EXACT_UP_TO = 60


def kendall_s(y: Sequence[float]) -> int:
    """Pairs that rise less pairs that fall; what differs by 1e-9 or less is tied."""
    steps = (later - earlier for earlier, later in combinations(y, 2))
    return sum((step > SLACK) - (step < -SLACK) for step in steps)


def theil_sen(y: Sequence[float]) -> float:
    """The median slope over all pairs (Sen 1968)."""
    known = [(place, value) for place, value in enumerate(y) if value == value]  # noqa: PLR0124 - nan
    slopes = [(w - v) / (j - i) for (i, v), (j, w) in combinations(known, 2)]
    return median(slopes) if slopes else nan


def kendall_p_value(y: Sequence[float]) -> float:
    """Two-sided p of S against any order being as likely as any other (Mann 1945)."""
    # Exact up to 60 values, ties included; beyond, the normal approximation with correction for
    # ties and continuity (Kendall 1970).
    ordered = sorted(y)
    # How often each value occurs; values within the slack of their neighbour are one.
    steps = [later - earlier > SLACK for earlier, later in pairwise(ordered)]
    ties = list(Counter(accumulate(steps, initial=0)).values()) if ordered else []
    s = kendall_s(y)
    if len(ties) < 2:  # noqa: PLR2004 - one value only, or none
        return nan
    if len(y) > _EXACT_UP_TO:
        variance = _s_variance(len(y)) - sum(_s_variance(t) for t in ties)
        return normal_p_value(max(0, abs(s) - 1) / sqrt(variance))
    return min(1.0, 2 * _upper_tail(ties, abs(s)))


def consistent_s(m: int) -> int:
    """The S from which a series of m values has a direction."""
    # The smallest S whose one-sided permutation probability is at most 5 %: 8 of 10 for five
    # values. Three and four values reach it with no S below that of all pairs.
    pairs = comb(m, 2)
    reachable = range(pairs, -1, -2)
    enough = [s for s in reachable if _upper_tail([1] * m, s) <= 0.05]  # noqa: PLR2004 - 5 %
    return min(enough, default=pairs)


def _s_variance(n: int) -> float:
    return n * (n - 1) * (2 * n + 5) / 18


def _upper_tail(ties: Sequence[int], s: int) -> float:
    """P(S >= s) over all arrangements of values tied in groups of these sizes."""
    # How many arrangements have 0, 1, 2, ... falling pairs is generated by the Gaussian multinomial
    # coefficient [n]!_q / prod [t]!_q, a factor at a time.
    n = sum(ties)
    falling = [1] + [0] * (comb(n, 2) - sum(comb(t, 2) for t in ties))
    divisors = [i for t in ties for i in range(1, t + 1)]
    for up, down in zip(range(1, n + 1), divisors, strict=True):
        for place in range(len(falling) - 1, up - 1, -1):
            falling[place] -= falling[place - up]
        for place in range(down, len(falling)):
            falling[place] += falling[place - down]
    untied = len(falling) - 1  # S = untied - 2 * falling
    reached = sum(count for fallen, count in enumerate(falling) if untied - 2 * fallen >= s)
    return reached / (factorial(sum(ties)) // prod(factorial(t) for t in ties))


_FEWEST_BASELINE_RUNS = 8
_FEWEST_AROUND_A_CHANGE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline(Result):
    """What is normal for a series."""

    target: float
    """Mean of the baseline runs."""

    sd: float
    """Standard deviation of a run, at least that of drawing the cases."""

    n: int
    """Baseline runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changepoint(Result):
    """Where a series most likely changed its level."""

    at: int
    """Place of the first run after the change, from 0 in the series as given."""

    z: float
    """Largest two-sample statistic over all splits; negative for a fall."""

    p_value: float
    """Share of shuffled series that reach it."""

    n: int
    """Runs with a score."""

    n_resamples: int
    """Shuffles it rests on."""


def baseline(scores: Sequence[float | None], *, n_cases: int | None = None) -> Baseline:
    """The target and spread for `trend.cusum` from runs known to be good."""
    known, _ = known_observations(scores)
    n = len(known)
    if n < _FEWEST_BASELINE_RUNS:
        raise NotEnoughDataError(f"{n} runs; a baseline needs {_FEWEST_BASELINE_RUNS}")
    target = fsum(known) / n
    sd = standard_deviation(known)
    if n_cases is not None:
        if n_cases < 1 or not all(0 <= score <= 1 for score in known):
            raise ValueError(f"{n_cases} cases a run: it is 1 or more, and scores are rates")
        # At least the noise of drawing the cases: runs that happen to agree would give limits so
        # narrow that the next run is an alarm. Laplace's rate keeps that above 0 at 0 and 1.
        rate = (target * n_cases + 1) / (n_cases + 2)
        sd = max(sd, sqrt(rate * (1 - rate) / n_cases))
    if sd <= 1e-12 * abs(target):
        raise NotEnoughDataError("the runs do not vary; give n_cases, or runs with fresh outputs")
    return Baseline(target=target, sd=sd, n=n)


def can_change(scores: Sequence[float | None]) -> bool:
    """Whether a series is long enough to have a change point, and not constant."""
    known, _ = known_observations(scores)
    if len(known) < 2 * _FEWEST_AROUND_A_CHANGE:
        return False
    return max(known) - min(known) > 1e-12 * max(map(abs, known))


def changepoint(
    scores: Sequence[float | None],
    *,
    rng: np.random.Generator,
    n_resamples: int = 2000,
    splits: Sequence[int] | None = None,
) -> Changepoint:
    """Where a series most likely changed its level: the split with the largest two-sample z.

    With the p-value of shuffling. A change point is reported; no rule acts on it. `splits` are the
    numbers of known scores before a possible change; without, all that leave two on both sides.
    """
    import numpy as np  # noqa: PLC0415 - the rest of the module does without it

    if not can_change(scores):
        raise NotEnoughDataError("a change needs four scores at least that are not all equal")
    series = np.array(finite_floats(scores))
    places = np.flatnonzero(~np.isnan(series))
    y = series[places]
    before = np.arange(_FEWEST_AROUND_A_CHANGE, len(y) - _FEWEST_AROUND_A_CHANGE + 1)
    before = before if splits is None else np.intersect1d(before, splits)
    if not len(before):
        raise NotEnoughDataError("no split leaves two scores on both sides")
    statistics = _split_statistics(y[None, :], before)[0]
    best = int(np.argmax(np.abs(statistics)))
    shuffled = rng.permuted(np.tile(y, (n_resamples, 1)), axis=1)
    largest = np.abs(_split_statistics(shuffled, before)).max(axis=1)
    # A shuffle can repeat the series exactly; the last digits may not decide whether it counts.
    reached = int(np.sum(largest >= abs(statistics[best]) * (1 - 1e-9)))
    return Changepoint(
        at=int(places[before[best]]),
        z=float(statistics[best]),
        # The observed order is one of the shuffles, so that p is never 0 (Phipson & Smyth 2010).
        p_value=(reached + 1) / (n_resamples + 1),
        n=len(y),
        n_resamples=n_resamples,
    )


def _split_statistics(series: np.ndarray, before: np.ndarray) -> np.ndarray:
    """For each row and each split, mean after less mean before, in standard errors."""
    import numpy as np  # noqa: PLC0415 - as above

    n = series.shape[1]
    sums = np.cumsum(series, axis=1)
    first = sums[:, before - 1] / before
    second = (sums[:, -1:] - sums[:, before - 1]) / (n - before)
    # One standard deviation for all splits: a split whose parts happen to be constant would win by
    # dividing by 0.
    spread = series.std(axis=1, ddof=1, keepdims=True)
    return np.asarray((second - first) / (spread * np.sqrt(1 / before + 1 / (n - before))))
