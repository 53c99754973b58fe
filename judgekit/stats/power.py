"""Sample sizes and detectable differences for means, rates, sign tests, and labels for PPI."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import ceil, sqrt
from numbers import Real
from statistics import NormalDist

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Result
from judgekit.stats.quantiles import (
    SLACK,
    binomial_cdf,
    fair_binomial,
    normal_quantile,
    require,
    require_whole,
    t_quantile,
)

# The power of an exact test rises in saw-teeth: it has to hold for so many further sizes.
_SAW_TEETH = 30

_MOST_ITEMS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSize(Result):
    """How many items are needed."""

    value: int
    """Items: cases, pairs or labels."""

    alpha: float
    """Two-sided error of the first kind it was planned for."""

    power: float | None
    """Chance to see the difference where there is one; None where an interval was planned."""

    method: str
    """The formula."""

    def __int__(self) -> int:
        return self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectableDifference(Result):
    """The smallest difference that a size can show."""

    value: float
    """The difference, in the unit of the standard deviation."""

    n: int
    """Items it was computed for."""

    alpha: float
    """Two-sided error of the first kind."""

    power: float
    """Chance to see such a difference."""

    method: str
    """The formula."""

    def __float__(self) -> float:
        return self.value


def sample_size_paired(
    delta: float, sd_diff: float, *, alpha: float = 0.05, power: float = 0.8
) -> SampleSize:
    """Items needed to see a paired mean difference: `((z_a + z_b) sd / delta)^2`.

    Args:
        delta: The difference to be seen; not 0.
        sd_diff: Standard deviation of the items' differences, more than 0.
        alpha: Two-sided error of the first kind, in (0, 1).
        power: Chance to see it, in (0, 1).

    Returns:
        The size, rounded up (normal approximation; a t test needs 1-2 more).
    """
    delta, sd_diff = require(delta=delta, sd_diff=sd_diff)
    _positive(delta=abs(delta), sd_diff=sd_diff)
    return _size(((_z(alpha) + _z_power(power)) * sd_diff / delta) ** 2, "paired", alpha, power)


def sample_size_threshold(
    value: float, threshold: float, sd: float, *, alpha: float = 0.05, power: float = 0.8
) -> SampleSize:
    """Cases needed for the interval of a mean on [0, 1] to end before a threshold.

    The smallest n with `|m - threshold| >= t se + z_b sd sqrt(n) / (n + 1)`, where m and se are the
    centre and the standard error of `intervals.rating_mean` for n values with that mean and
    standard deviation, and t is its quantile with n - 1 degrees of freedom; and with
    `|value - threshold| >= z sqrt(threshold (1 - threshold) / e) + z_b sd / sqrt(n)`, where e is
    the effective number of trials of `intervals.value_mean`.

    Args:
        value: The true mean, 0 to 1.
        threshold: What it is compared with, 0 to 1; not `value`.
        sd: Standard deviation of the cases' values, 0 or more.
        alpha: One less the level of the interval, in (0, 1).
        power: Chance that the interval ends on the side of the value, by the normal law, in (0, 1).

    Returns:
        The size, 2 or more.

    Raises:
        ValueError: When an argument is out of its range, or the value is so near the threshold that
            more than a million cases are needed.
    """
    value, threshold, sd = require(value=value, threshold=threshold, sd=sd)
    if not (0 <= value <= 1 and 0 <= threshold <= 1) or sd < 0:
        raise ValueError(f"value {value}, threshold {threshold}, sd {sd}: out of range")
    distance = abs(value - threshold)
    _positive(distance=distance)
    z_power, sign = _z_power(power), 1 if value > threshold else -1

    def is_enough(n: int) -> bool:
        # The pseudo-rating of the interval: spread evenly over the scale, so with mean 1/2.
        centre = (n * value + 0.5) / (n + 1)
        squares = n * (sd**2 + (value - centre) ** 2) + 1 / 12 + (0.5 - centre) ** 2
        half = t_quantile(1 - alpha, n - 1) * sqrt(squares / (n * (n + 1)))
        if sign * (centre - threshold) < half + z_power * sd * sqrt(n) / (n + 1):
            return False
        variance = (n * (sd**2 + value**2) + 0.5) / (n + 1) - centre**2
        trials = n * centre * (1 - centre) / variance
        half = _z(alpha) * sqrt(threshold * (1 - threshold) / trials)
        return distance >= half + z_power * sd / sqrt(n)

    high = 2
    while not is_enough(high):
        if high > _MOST_ITEMS:
            raise ValueError(f"a value of {value} is too near the threshold of {threshold}")
        high *= 2
    size = bisect_left(range(high), True, lo=high // 2 + 1, key=is_enough)
    return SampleSize(value=size, alpha=alpha, power=power, method="interval and threshold")


def mde_paired(
    n: int, sd_diff: float, *, alpha: float = 0.05, power: float = 0.8
) -> DetectableDifference:
    """The smallest paired mean difference n items can show: `(z_a + z_b) sd / sqrt(n)`.

    Args:
        n: Items, 1 or more: cases, not their repeats.
        sd_diff: Standard deviation of the items' differences, more than 0; for pass/fail the
            root of the share of cases on which the variants differ.
        alpha: Two-sided error of the first kind, in (0, 1).
        power: Chance to see it, in (0, 1).
    """
    (n,), (sd_diff,) = require_whole(n=n), require(sd_diff=sd_diff)
    if n < 1:
        raise NotEnoughDataError("without items no difference can be seen")
    _positive(sd_diff=sd_diff)
    value = (_z(alpha) + _z_power(power)) * sd_diff / sqrt(n)
    return DetectableDifference(value=value, n=n, alpha=alpha, power=power, method="paired, normal")


def sample_size_mcnemar(
    p_discordant: float, delta: float, *, alpha: float = 0.05, power: float = 0.8
) -> SampleSize:
    """Cases needed to see a change of a pass rate on the same cases (Connor 1987).

    `(z_a sqrt(psi) + z_b sqrt(psi - delta^2))^2 / delta^2`

    Args:
        p_discordant: psi, the share of cases only one variant passes, in (0, 1].
        delta: The change to be seen; not 0, at most psi either way.
        alpha: Two-sided error of the first kind, in (0, 1).
        power: Chance to see it, in (0, 1).

    Returns:
        The size, rounded up.
    """
    p_discordant, delta = require(p_discordant=p_discordant, delta=delta)
    _positive(p_discordant=p_discordant, delta=abs(delta))
    if p_discordant > 1 or abs(delta) > p_discordant:
        raise ValueError(f"a change of {delta} needs at least that share of cases that differ")
    root = _z(alpha) * sqrt(p_discordant) + _z_power(power) * sqrt(p_discordant - delta**2)
    return _size((root / delta) ** 2, "mcnemar (Connor 1987)", alpha, power)


def sample_size_two_proportions(
    p1: float, p2: float, *, alpha: float = 0.05, power: float = 0.8
) -> SampleSize:
    """Items needed in each of two independent groups to distinguish their rates.

    `(z_a sqrt(2 p q) + z_b sqrt(p1 q1 + p2 q2))^2 / (p1 - p2)^2` with p the mean rate, without
    continuity correction (Fleiss 1981).

    Args:
        p1: Rate of the first, 0 to 1.
        p2: Rate of the second, 0 to 1, another one.
        alpha: Two-sided error of the first kind, in (0, 1).
        power: Chance to see it, in (0, 1).

    Returns:
        The size of each group, rounded up.
    """
    p1, p2 = require(p1=p1, p2=p2)
    if not (0 <= p1 <= 1 and 0 <= p2 <= 1):
        raise ValueError(f"rates {p1} and {p2}; a rate lies in 0..1")
    _positive(difference=abs(p1 - p2))
    p = (p1 + p2) / 2
    root = _z(alpha) * sqrt(2 * p * (1 - p)) + _z_power(power) * sqrt(p1 * (1 - p1) + p2 * (1 - p2))
    return _size((root / (p1 - p2)) ** 2, "two proportions (Fleiss 1981)", alpha, power)


def sample_size_sign(p: float, *, alpha: float = 0.05, power: float = 0.8) -> SampleSize:
    """Decisive pairs needed for an exact sign test to see a win rate of p.

    By enumeration; the power has to hold for the next 30 sizes as well, since it rises in
    saw-teeth.

    Args:
        p: Win rate among decisive pairs, in (0, 1), not 1/2.
        alpha: Two-sided error of the first kind, in (0, 1).
        power: Chance to see it, in (0, 1).

    Raises:
        ValueError: When an argument is out of its range, or p is so near 1/2 that more than a
            million pairs are needed.
    """
    (p,) = require(p=p)
    if not 0 < p < 1:
        raise ValueError(f"p is {p}; a win rate lies between 0 and 1")
    _positive(distance_from_half=abs(p - 0.5))
    rough = ((_z(alpha) / 2 + _z_power(power) * sqrt(p * (1 - p))) / (p - 0.5)) ** 2
    if rough > _MOST_ITEMS:
        raise ValueError(f"p={p} is too near 1/2: about {rough:.0f} pairs would be needed")
    n_enough, size = 0, max(1, int(rough * 0.8) - _SAW_TEETH)
    while n_enough <= _SAW_TEETH:
        n_enough = n_enough + 1 if _sign_power(size, p, alpha) >= power else 0
        size += 1
    return _size(size - n_enough, "exact sign test", alpha, power)


def labels_for_ppi(
    n_unlabeled: int, half_width: float, sd: float, corr: float, *, alpha: float = 0.05
) -> SampleSize:
    """Human labels needed beside judge scores for an interval of a given half-width.

    The smallest n with `sd^2 / n (1 - corr^2 N / (n + N)) <= (half_width / z)^2`
    (power-tuned prediction-powered inference; Angelopoulos et al. 2023, arXiv:2311.01453).

    Args:
        n_unlabeled: N, items with a judge score only, 0 or more.
        half_width: Half the width of the interval, more than 0.
        sd: Standard deviation of the human labels, more than 0.
        corr: Correlation of judge and human, -1 to 1.
        alpha: One less the level of the interval, in (0, 1).

    Returns:
        The labels, rounded up.
    """
    (n_unlabeled,), (corr,) = require_whole(n_unlabeled=n_unlabeled), require(corr=corr)
    half_width, sd = require(half_width=half_width, sd=sd)
    _positive(half_width=half_width, sd=sd)
    if n_unlabeled < 0 or not -1 <= corr <= 1:
        raise ValueError(f"{n_unlabeled} unlabelled items, correlation {corr}: out of range")
    goal = (half_width / _z(alpha) / sd) ** 2
    # So many labels are enough without a judge; the variance falls with n, so bisection applies.
    high = max(1, ceil(1 / goal))
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        reached = (1 - corr**2 * n_unlabeled / (middle + n_unlabeled)) / middle <= goal
        low, high = (low, middle) if reached else (middle, high)
    return SampleSize(value=high, alpha=alpha, power=None, method="power-tuned PPI")


def _size(needed: float, method: str, alpha: float, power: float) -> SampleSize:
    # What exceeds a whole number by rounding only is that number.
    value = max(1, ceil(needed - SLACK))
    return SampleSize(value=value, alpha=alpha, power=power, method=method)


def _z(alpha: float) -> float:
    (alpha,) = require(alpha=alpha)
    return normal_quantile(1 - alpha)


def _z_power(power: float) -> float:
    if not (isinstance(power, Real) and 0 < power < 1):
        raise ValueError(f"power is {power}; it lies between 0 and 1")
    return NormalDist().inv_cdf(power)


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not value > 0:
            raise ValueError(f"{name} is {value}; it has to be more than 0")


def _sign_power(n: int, p: float, alpha: float) -> float:
    """The chance that n decisive pairs are significant: both tails of Binomial(n, p)."""
    # The normal law only gives the start: the exact critical value is near it.
    most = max(0, int(n / 2 - _z(alpha) * sqrt(n) / 2))
    while 2 * fair_binomial(most + 1, n) <= alpha:
        most += 1
    while most >= 0 and 2 * fair_binomial(most, n) > alpha:
        most -= 1
    return binomial_cdf(most, n, p) + binomial_cdf(most, n, 1 - p) if most >= 0 else 0.0
