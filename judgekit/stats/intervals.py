"""Confidence intervals of a mean, a rate, and the difference of two independent rates.

Paired differences are in `paired`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from math import fsum, inf, isnan, nan, sqrt
from typing import TYPE_CHECKING, Literal

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import (
    Estimate,
    by_place,
    cluster_means,
    few_clusters,
    finite_floats,
    in_units,
    known_observations,
)
from judgekit.stats.quantiles import (
    beta_quantile,
    check_choice,
    check_level,
    normal_p_value,
    normal_quantile,
    require_whole,
    t_quantile,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import numpy as np


def mean(
    x: Sequence[float | None], *, clusters: Sequence[Hashable] | None = None, level: float = 0.95
) -> Estimate:
    """A mean with a t interval, clustered where clusters are given.

    With clusters the variance is that of the cluster totals,
    `sum_g (sum_i (x_i - mean))^2 / n^2 * G / (G - 1)` with `G - 1` degrees of freedom
    (Miller 2024, arXiv:2411.00640; Cameron & Miller 2015).

    Args:
        x: Observations; nan and None are missing.
        clusters: The cluster of each observation (its case).
        level: Confidence level in (0, 1).

    Returns:
        The mean; the interval is nan with a reason where fewer than two clusters, or no
        variation at all, leave it unidentified. `n` counts clusters.
    """
    check_level(level)
    known, names = known_observations(x, clusters)
    if not known:
        raise NotEnoughDataError("no observations to average")
    n = len(known)
    centre = fsum(known) / n
    deviations = [value - centre for value in known]
    totals, naive = deviations, nan
    if clusters is not None:
        # Totals of deviations per cluster: the sandwich variance of a mean, whatever the
        # correlation inside.
        sums: dict[Hashable, float] = defaultdict(float)
        for deviation, name in zip(deviations, names, strict=True):
            sums[name] += deviation
        totals = list(sums.values())
        naive = fsum([d**2 for d in deviations]) / (n * (n - 1)) if n > 1 else nan
    groups = len(totals)
    variance = fsum([t * t for t in totals]) / n**2 * groups / (groups - 1) if groups > 1 else nan
    # Equal values leave a variance of rounding errors, and an interval of no width says too much.
    flat = groups > 1 and sqrt(variance) <= 1e-12 * max(map(abs, known))
    alone = "one cluster only" if clusters is not None else "one observation only"
    reason = alone if groups == 1 else "no variation" if flat else None
    half = nan if reason else t_quantile(level, groups - 1) * sqrt(variance)
    return Estimate(
        value=centre,
        low=centre - half,
        high=centre + half,
        level=level,
        **in_units("t", groups, clustered=clusters is not None),
        n_missing=len(x) - n,
        se=sqrt(variance),
        df=groups - 1,
        n_observations=n,
        design_effect=nan if clusters is None or not naive > 0 else variance / naive,
        reason=reason,
        note=None if clusters is None else few_clusters(groups),
    )


def rating_mean(
    x: Sequence[float | None],
    scale: Sequence[float],
    *,
    continuous: bool = False,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Estimate:
    """The mean of ratings on a known scale; its interval never has width 0.

    One pseudo-rating with the mean and the variance of the scale is added before the t interval
    is taken, so that twelve equal ratings do not claim certainty; the value stays the plain mean
    and the interval is clipped to the scale. Repeats of a case are averaged first.

    Args:
        x: Ratings within the scale; nan and None are missing.
        scale: The points of the scale, two or more, or with `continuous` its two ends.
        continuous: Whether every number between the ends is a rating.
        clusters: The case of each rating; without, each is a case of its own.
        level: Confidence level in (0, 1).

    Returns:
        The mean over cases and its interval, within the scale; `n` counts cases.
    """
    check_level(level)
    known, names = known_observations(x, clusters)
    # As Python's numbers: numpy's small integers overflow without an error.
    scale = by_place(scale)
    bottom, top = min(scale, default=0.0), max(scale, default=0.0)
    if not bottom < top:
        raise ValueError("a scale needs two different points")
    if known and not bottom <= min(known) <= max(known) <= top:
        raise ValueError(f"a rating lies outside {bottom:g}..{top:g}")
    if not known:
        raise NotEnoughDataError("no ratings to average")
    cases = known if clusters is None else list(cluster_means(known, names).values())
    n, value = len(cases), fsum(cases) / len(cases)
    # One pseudo-rating, spread evenly over the scale, keeps the interval open where all ratings
    # agree.
    points = set(scale)
    middle = (bottom + top) / 2 if continuous else fsum(points) / len(points)
    centre = (fsum(cases) + middle) / (n + 1)
    # Variance of the pseudo-rating about the centre: uniform on the scale, or on its points.
    pseudo = (
        (top - bottom) ** 2 / 12 + (middle - centre) ** 2
        if continuous
        else fsum((point - centre) ** 2 for point in points) / len(points)
    )
    low, high, se = bottom, top, nan
    if n > 1:
        se = sqrt((fsum((case - centre) ** 2 for case in cases) + pseudo) / (n * (n + 1)))
        half = t_quantile(level, n - 1) * se
        low, high = max(bottom, centre - half), min(top, centre + half)
    return Estimate(
        value=value,
        low=min(low, value),
        high=max(high, value),
        level=level,
        **in_units("t with one pseudo-rating", n, clustered=clusters is not None),
        n_missing=len(x) - len(known),
        se=se,
        df=n - 1,
        n_observations=len(known),
    )


def value_mean(
    x: Sequence[float | None], *, clusters: Sequence[Hashable] | None = None, level: float = 0.95
) -> Estimate:
    """The mean of values on [0, 1] over cases, as `rating_mean`, with the wider of two intervals.

    Wilson's, for as many trials as the variance is worth, replaces that of ratings at either end
    where it is further out (with a few zeros among values near 1 the lower end would lie above the
    true mean in up to 15 % of samples of 20), and at both for values that are 0 or 1.

    Args:
        x: Values from 0 to 1; None and nan are missing.
        clusters: The case of each value; a case counts once, with the mean of its values.
        level: Confidence level in (0, 1).

    Returns:
        The mean and its interval, within [0, 1].
    """
    found = rating_mean(x, (0.0, 1.0), continuous=True, clusters=clusters, level=level)
    known, names = known_observations(x, clusters)
    shares = known if clusters is None else list(cluster_means(known, names).values())
    if set(known) <= {0.0, 1.0}:
        low, high = share_interval(shares, most=len(known), level=level)
        method = "wilson" if clusters is None else "wilson, clustered"
        return replace(found, low=low, high=high, method=method)
    low, high = share_interval(shares, most=inf, level=level)
    # Rounding can leave an end outside.
    low, high = max(0.0, min(found.low, low)), min(1.0, max(found.high, high))
    return replace(found, low=low, high=high)


RateMethod = Literal["wilson", "clopper-pearson", "jeffreys", "uniform"]
_PRIORS = {"clopper-pearson": (0.0, 1.0), "jeffreys": (0.5, 0.5), "uniform": (1.0, 1.0)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate(Estimate):
    """A rate, with what it could be if the missing outcomes were known."""

    worst: float
    """The rate if all missing had failed."""

    best: float
    """The rate if all missing had passed."""

    worst_low: float
    """Lower end of the interval of `worst`."""

    best_high: float
    """Upper end of the interval of `best`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateDifference(Estimate):
    """The difference of two independent rates."""

    p_value: float
    """Two-sided p of the pooled score test; nan where both rates are 0 or both are 1."""


def proportion(
    k: int, n: int, *, method: RateMethod = "wilson", level: float = 0.95, n_missing: int = 0
) -> Rate:
    """A rate with its interval, and its bounds for missing outcomes (Horowitz & Manski 2000).

    Args:
        k: Successes, 0 to n.
        n: Trials; with 0 the rate is undefined.
        method: `wilson` (Wilson 1927), `clopper-pearson` (Clopper & Pearson 1934; never covers
            less than its level), `jeffreys` (Beta(1/2, 1/2) prior) or `uniform` (Beta(1, 1)
            prior); the last two end at 0 for k = 0 and at 1 for k = n, after Brown, Cai &
            DasGupta 2001.
        level: Confidence level in (0, 1).
        n_missing: Trials without an outcome; recorded, not counted.

    Returns:
        The rate k/n and its interval, within [0, 1].

    Example:
        >>> e = proportion(7, 10)
        >>> round(e.low, 4), round(e.high, 4)
        (0.3968, 0.8922)
    """
    check_level(level)
    k, n, n_missing = require_whole(k=k, n=n, n_missing=n_missing)
    if not 0 <= k <= n or n_missing < 0:
        raise ValueError(f"k={k} successes of n={n} trials, {n_missing} missing")
    low, high = _rate_interval(k, n, method, level)
    total = n + n_missing
    return Rate(
        value=k / n if n else nan,
        low=low,
        high=high,
        level=level,
        n=n,
        n_missing=n_missing,
        method=method,
        worst=k / total if total else nan,
        best=(k + n_missing) / total if total else nan,
        worst_low=_rate_interval(k, total, method, level)[0],
        best_high=_rate_interval(k + n_missing, total, method, level)[1],
        reason=None if n else "no trials",
    )


def clustered_proportion(
    outcomes: Sequence[float | None], clusters: Sequence[Hashable], *, level: float = 0.95
) -> Rate:
    """A pass rate where a case was tried several times: the mean of the cases' own rates.

    Wilson's interval for the effective number of cases `G p (1-p) / v`, with p and v the mean and
    the variance of the cases' rates and of two half pseudo-cases at 0 and 1, but no more than
    there are observations. (Korn & Graubard 1998 put such an effective size into Clopper &
    Pearson's interval.) With one observation a case, or repeats that all agree, it is Wilson's
    interval. Outcomes may be shares; `n` counts cases, `n_missing` outcomes.
    """
    known, names = known_observations(outcomes, clusters)
    if any(not 0 <= value <= 1 for value in known):
        raise ValueError("an outcome lies outside 0..1")
    if not known:
        raise NotEnoughDataError("no outcomes to average")
    shares = list(cluster_means(known, names).values())
    low, high = share_interval(shares, most=len(known), level=level)
    rate = fsum(shares) / len(shares)
    # Worst and best case keep the clusters of missing outcomes: they are not independent either.
    values = finite_floats(outcomes)
    missing = [c for v, c in zip(values, clusters, strict=True) if isnan(v)]
    failed, passed = (
        list(cluster_means([*known, *[end] * len(missing)], [*names, *missing]).values())
        for end in (0.0, 1.0)
    )
    return Rate(
        value=rate,
        low=low,
        high=high,
        level=level,
        **in_units("wilson", len(shares), clustered=True),
        n_missing=len(missing),
        n_observations=len(known),
        worst=fsum(failed) / len(failed),
        best=fsum(passed) / len(passed),
        worst_low=min(low, share_interval(failed, most=len(outcomes), level=level)[0]),
        best_high=max(high, share_interval(passed, most=len(outcomes), level=level)[1]),
        note=few_clusters(len(shares)),
    )


def pooled_proportion(
    outcomes: Sequence[float | None], clusters: Sequence[Hashable], *, level: float = 0.95
) -> Rate:
    """A pass rate over all outcomes, `k / n` however they fall into cases; `n` counts outcomes.

    Wilson's interval for the effective number of outcomes `p (1-p) / v (z / t)^2`, with v the
    variance by case totals and t on G - 1 degrees of freedom (after Korn & Graubard 1998, who use
    Clopper & Pearson's interval); at most the number of outcomes, and the number of cases where v
    is 0. `clustered_proportion` gives every case the same weight instead.
    """
    known, names = known_observations(outcomes, clusters)
    if not set(known) <= {0, 1}:
        raise ValueError("an outcome is neither 0 nor 1")
    if not known:
        raise NotEnoughDataError("no outcomes to average")
    n, passed = len(known), round(fsum(known))
    rate = passed / n
    totals: dict[Hashable, float] = {}
    for value, name in zip(known, names, strict=True):
        totals[name] = totals.get(name, 0.0) + value - rate
    groups = len(totals)
    squares = fsum(t * t for t in totals.values())
    worth = float(groups)
    if groups > 1 and squares > 0:
        variance = squares / n**2 * groups / (groups - 1)
        # The adjustment of Korn & Graubard (1998) for the degrees of freedom of few clusters, with
        # the normal quantile that Wilson's interval uses in place of their t(n - 1).
        few = normal_quantile(level) / t_quantile(level, groups - 1)
        worth = min(float(n), rate * (1 - rate) / variance * few**2)
    low, high = wilson(rate, worth, level=level)
    found = proportion(passed, n, n_missing=len(outcomes) - n, level=level)
    return replace(
        found,
        low=low,
        high=high,
        worst_low=min(low, found.worst_low),
        best_high=max(high, found.best_high),
        method="wilson, clustered",
        n_clusters=groups,
        n_observations=n,
        note=few_clusters(groups),
    )


def rate(outcomes: np.ndarray, codes: np.ndarray | None, *, level: float = 0.95) -> Rate:
    """The rate of known outcomes 0 and 1, clustered where the codes of clusters are given."""
    if codes is None:
        return proportion(int(outcomes.sum()), len(outcomes), level=level)
    return pooled_proportion(outcomes.tolist(), codes.tolist(), level=level)


def share_interval(
    shares: Sequence[float],
    *,
    most: float,
    pseudo: Sequence[float] = (0.0, 1.0),
    level: float = 0.95,
) -> tuple[float, float]:
    """Wilson's interval of the mean of shares, for as many trials as their variance is worth."""
    trials = effective_n(shares, most=most, pseudo=pseudo)
    return wilson(min(1.0, fsum(shares) / len(shares)), trials, level=level)


def effective_n(
    shares: Sequence[float], *, most: float, pseudo: Sequence[float] = (0.0, 1.0)
) -> float:
    """How many independent trials the variance of shares is worth: `n p (1-p) / v`."""
    n, weight = len(shares), len(shares) + len(pseudo) / 2
    centre = (fsum(shares) + fsum(pseudo) / 2) / weight
    # Pseudo-shares at both ends weigh half an item each, so that unanimous shares have a variance.
    squares = fsum(s * s for s in shares) + fsum(s * s for s in pseudo) / 2
    return min(n * centre * (1 - centre) / (squares / weight - centre * centre), most)


def wilson(rate: float, n: float, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval (Wilson 1927) of a rate; n need not be whole."""
    z = normal_quantile(level)
    shrink = 1 + z * z / n
    middle = (rate + z * z / (2 * n)) / shrink
    # At 0 and 1 rounding would leave an end a hair inside the range.
    half = z * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / shrink
    return (0.0 if rate == 0 else middle - half), (1.0 if rate == 1 else middle + half)


def difference_of_proportions(
    k1: int, n1: int, k2: int, n2: int, *, level: float = 0.95
) -> RateDifference:
    """The difference k1/n1 - k2/n2 of two independent rates with Newcombe's interval.

    Args:
        k1: Successes of the first.
        n1: Trials of the first.
        k2: Successes of the second.
        n2: Trials of the second.
        level: Confidence level in (0, 1).

    Returns:
        The difference and its interval, within [-1, 1] (Newcombe 1998, method 10).
    """
    k1, n1, k2, n2 = require_whole(k1=k1, n1=n1, k2=k2, n2=n2)
    first, second = proportion(k1, n1, level=level), proportion(k2, n2, level=level)
    value = first.value - second.value
    # Newcombe (1998), method 10: the Wilson limits of both rates, combined by squares.
    down = sqrt((first.value - first.low) ** 2 + (second.high - second.value) ** 2)
    up = sqrt((first.high - first.value) ** 2 + (second.value - second.low) ** 2)
    # The test pools both rates, as the null hypothesis says they are one; the interval does not.
    pooled = (k1 + k2) / (n1 + n2) if n1 and n2 else nan
    variance = pooled * (1 - pooled) * (1 / n1 + 1 / n2) if n1 and n2 else nan
    return RateDifference(
        value=value,
        low=value - down,
        high=value + up,
        level=level,
        n=n1 + n2,
        method="newcombe",
        p_value=normal_p_value(value / sqrt(variance)) if variance > 0 else nan,
        reason=None if n1 and n2 else "one of the rates has no trials",
    )


def _rate_interval(k: int, n: int, method: RateMethod, level: float) -> tuple[float, float]:
    if n == 0:
        return nan, nan
    if method == "wilson":
        return wilson(k / n, n, level=level)
    check_choice("interval", method, ("wilson", *_PRIORS))
    tail, (outer, inner) = (1 - level) / 2, _PRIORS[method]
    # Clopper-Pearson and the Bayesian limits are Beta quantiles that differ in what they add to k
    # and n - k.
    low = 0.0 if k == 0 else beta_quantile(k + outer, n - k + inner, tail)
    high = 1.0 if k == n else beta_quantile(k + inner, n - k + outer, 1 - tail)
    return low, high
