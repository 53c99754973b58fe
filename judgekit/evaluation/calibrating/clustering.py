"""Intervals of any coefficient when items of one case are not independent: cases left out."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.coefficient import jackknife_ends
from judgekit.stats.estimate import Estimate, undefined
from judgekit.stats.intervals import mean, proportion, wilson
from judgekit.stats.quantiles import normal_quantile, t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from judgekit.stats.intervals import Rate

_MOST_LEFT_OUT = 60
_WORK = 1e8
"""Pairs of items a coefficient that compares all of them may look at, all in all."""


def estimated(make: Callable[[], Estimate], *, level: float = 0.95) -> Estimate:
    """An estimate, or one that is undefined and says why.

    Args:
        make: Makes the estimate.
        level: Confidence level, for one that is undefined.

    Returns:
        What it made; of data that do not identify it an undefined one with the reason.
    """
    try:
        return make()
    except NotEnoughDataError as error:
        return undefined(error.message, n=0, method="none", level=level)


def clustered(
    found: Estimate,
    statistic: Callable[[np.ndarray], float],
    clusters: Sequence[Hashable] | None,
    *,
    is_quadratic: bool = False,
) -> Estimate:
    """An estimate with the interval of a jackknife over clusters.

    Above sixty clusters, groups of them are left out together (delete-a-group jackknife,
    Kott 2001), dealt in the order of their names, so that the order of rows changes nothing.

    Args:
        found: The estimate with an interval for independent items.
        statistic: The coefficient of the items at some places.
        clusters: The cluster of each item; None where all are independent.
        is_quadratic: Whether the statistic takes time in the square of the items.

    Returns:
        The estimate with the clustered interval; as it was where nothing is clustered.
    """
    if clusters is None or isnan(found.value):
        return found
    codes = {name: code for code, name in enumerate(sorted(set(clusters), key=str))}
    if len(codes) == 1:
        reason = "all items are of one case"
        return replace(found, low=nan, high=nan, reason=reason, n_clusters=1)
    each = np.array([codes[name] for name in clusters])
    most = _MOST_LEFT_OUT
    if is_quadratic:
        most = int(min(most, max(10, _WORK // max(1, len(each)) ** 2)))
    blocks = each % most
    left_out = [statistic(np.flatnonzero(blocks != block)) for block in np.unique(blocks)]
    ends = jackknife_ends(found.value, left_out, level=found.level, unit="case")
    return replace(
        found,
        low=ends.low,
        high=ends.high,
        reason=ends.reason,
        n_clusters=len(codes),
        n_observations=len(each),
        method=f"{found.method.partition(',')[0]}, jackknife, clustered",
    )


def rate(outcomes: Sequence[float], clusters: Sequence[Hashable] | None, *, level: float) -> Rate:
    """A share of outcomes, `k / n` of all of them whatever the sizes of their clusters.

    Args:
        outcomes: 1, 0, or nan where it is missing.
        clusters: The cluster of each; None where all are independent.
        level: Confidence level, in (0, 1).

    Returns:
        The share with Wilson's interval; of clustered outcomes for as many as would be worth the
        same, `p (1-p) / v (z / t)^2` with v the variance by cluster totals and t on G - 1 degrees
        of freedom (Korn & Graubard 1998), as many as there are clusters where v is 0; undefined
        for none.
    """
    known = [x for x in outcomes if x == x]  # noqa: PLR0124 - nan
    n_missing = len(outcomes) - len(known)
    found = proportion(int(sum(known)), len(known), n_missing=n_missing, level=level)
    if clusters is None or not known:
        return found
    by_total = mean(outcomes, clusters=clusters, level=level)
    n_clusters = by_total.n_clusters or len(known)
    spread = found.value * (1 - found.value)
    worth = float(n_clusters)
    if by_total.se > 0 and spread > 0:
        few = normal_quantile(level) / t_quantile(level, n_clusters - 1)
        worth = spread / by_total.se**2 * few**2
    low, high = wilson(found.value, min(worth, float(len(known))), level=level)
    return replace(
        found,
        low=low,
        high=high,
        method="wilson, clustered",
        n_clusters=n_clusters,
        n_observations=len(known),
    )


def average(x: Sequence[float], clusters: Sequence[Hashable] | None, *, level: float) -> Estimate:
    """A mean.

    Args:
        x: Numbers; nan is missing.
        clusters: The cluster of each; None where all are independent.
        level: Confidence level, in (0, 1).

    Returns:
        The mean with its interval; undefined for none.
    """
    return estimated(lambda: mean(x, clusters=clusters, level=level), level=level)
