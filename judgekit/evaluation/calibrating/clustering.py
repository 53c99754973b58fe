"""Intervals of any coefficient when items of one case are not independent: cases left out."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.coefficient import jackknife_ends
from judgekit.stats.estimate import Estimate, undefined
from judgekit.stats.intervals import mean
from judgekit.stats.rates import pooled_proportion, proportion

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from judgekit.stats.rates import Rate

_MOST_LEFT_OUT = 60
_WORK = 1e8
"""Pairs of items a coefficient that compares all of them may look at, all in all."""


def estimated(make: Callable[[], Estimate], *, level: float = 0.95) -> Estimate:
    """An estimate, or one that is undefined and says why."""
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
    """An estimate with the interval of a jackknife over clusters."""
    # Above sixty clusters, groups of them are left out together (delete-a-group jackknife, Kott
    # 2001), dealt in the order of their names, so that the order of rows changes nothing.
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
    """A share of outcomes, `k / n` of all of them whatever the sizes of their clusters."""
    known = [x for x in outcomes if not isnan(x)]
    if clusters is None or not known:
        n_missing = len(outcomes) - len(known)
        return proportion(int(sum(known)), len(known), n_missing=n_missing, level=level)
    return pooled_proportion(outcomes, clusters, level=level)


def average(x: Sequence[float], clusters: Sequence[Hashable] | None, *, level: float) -> Estimate:
    """A mean."""
    return estimated(lambda: mean(x, clusters=clusters, level=level), level=level)


def unit_average(
    x: Sequence[float], clusters: Sequence[Hashable] | None, *, level: float
) -> Estimate:
    """A mean of numbers that lie in [0, 1]."""
    return within_unit(average(x, clusters, level=level))


def within_unit(found: Estimate) -> Estimate:
    """An estimate of what lies in [0, 1], the ends of its interval cut there."""
    if isnan(found.low):
        return found
    low, high = max(found.low, min(0.0, found.value)), min(found.high, max(1.0, found.value))
    return replace(found, low=low, high=high)
