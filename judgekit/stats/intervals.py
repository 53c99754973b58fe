"""Intervals of one mean; those of one rate and of the difference of two are in `rates`."""

from __future__ import annotations

from collections import defaultdict
from math import fsum, nan, sqrt
from typing import TYPE_CHECKING

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Estimate, cluster_means, few_clusters, observed
from judgekit.stats.quantiles import check_level, t_quantile
from judgekit.stats.rates import (
    Rate,
    RateDifference,
    RateMethod,
    clustered_proportion,
    difference_of_proportions,
    pooled_proportion,
    proportion,
    share_interval,
    wilson,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

__all__ = [
    "Rate",
    "RateDifference",
    "RateMethod",
    "clustered_proportion",
    "difference_of_proportions",
    "mean",
    "pooled_proportion",
    "proportion",
    "rating_mean",
    "share_interval",
    "wilson",
]


def mean(
    x: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
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

    Raises:
        ValueError: When `clusters` has another length than `x`, or an observation is infinite.
        NotEnoughDataError: When nothing is left to average.
    """
    check_level(level)
    known, names = observed(x, clusters)
    if not known:
        raise NotEnoughDataError("no observations to average")
    n = len(known)
    centre = fsum(known) / n
    totals: dict[Hashable, float] = defaultdict(float)
    for value, name in zip(known, names, strict=True):
        totals[name] += value - centre
    groups = len(totals)
    naive = fsum((value - centre) ** 2 for value in known) / (n * (n - 1)) if n > 1 else nan
    variance = (
        fsum(t * t for t in totals.values()) / n**2 * groups / (groups - 1) if groups > 1 else nan
    )
    flat = groups > 1 and sqrt(variance) <= 1e-12 * max(abs(value) for value in known)
    alone = "one cluster only" if clusters is not None else "one observation only"
    reason = alone if groups == 1 else "no variation" if flat else None
    half = nan if reason else t_quantile(level, groups - 1) * sqrt(variance)
    return Estimate(
        value=centre,
        low=centre - half,
        high=centre + half,
        level=level,
        n=groups,
        n_missing=len(x) - n,
        method="t" if clusters is None else "t, clustered",
        se=sqrt(variance),
        df=groups - 1,
        n_clusters=None if clusters is None else groups,
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
        x: Ratings; nan and None are missing.
        scale: The points of the scale, or with `continuous` its two ends.
        continuous: Whether every number between the ends is a rating.
        clusters: The case of each rating; without, each is a case of its own.
        level: Confidence level in (0, 1).

    Returns:
        The mean over cases and its interval, within the scale; `n` counts cases.

    Raises:
        ValueError: When a rating lies outside the scale, or the scale has fewer than two points.
        NotEnoughDataError: When there is no rating.
    """
    check_level(level)
    known, names = observed(x, clusters)
    bottom, top = min(scale, default=0.0), max(scale, default=0.0)
    if not bottom < top:
        raise ValueError("a scale needs two different points")
    if any(not bottom <= value <= top for value in known):
        raise ValueError(f"a rating lies outside {bottom:g}..{top:g}")
    if not known:
        raise NotEnoughDataError("no ratings to average")
    kept = known if clusters is None else list(cluster_means(known, names).values())
    n, value = len(kept), fsum(kept) / len(kept)
    low, high, se = _pseudo_rating_interval(kept, scale, continuous=continuous, level=level)
    return Estimate(
        value=value,
        low=min(low, value),
        high=max(high, value),
        level=level,
        n=n,
        n_missing=len(x) - len(known),
        method="t with one pseudo-rating" + ("" if clusters is None else ", clustered"),
        se=se,
        df=n - 1,
        n_clusters=None if clusters is None else n,
        n_observations=len(known),
    )


def _pseudo_rating_interval(
    kept: Sequence[float], scale: Sequence[float], *, continuous: bool, level: float
) -> tuple[float, float, float]:
    n, bottom, top = len(kept), min(scale), max(scale)
    points = set(scale)
    middle = (bottom + top) / 2 if continuous else fsum(points) / len(points)
    centre = (fsum(kept) + middle) / (n + 1)
    pseudo = (
        (top - bottom) ** 2 / 12 + (middle - centre) ** 2
        if continuous
        else fsum((point - centre) ** 2 for point in points) / len(points)
    )
    if n == 1:
        return bottom, top, nan
    se = sqrt((fsum((value - centre) ** 2 for value in kept) + pseudo) / (n * (n + 1)))
    half = t_quantile(level, n - 1) * se
    return max(bottom, centre - half), min(top, centre + half), se
