"""Bootstrap intervals of statistics that have no closed form.

The mean, the median and the standard deviation have fast paths of exactly the same distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan, nan
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.agreement_coefficients import Interval
from judgekit.stats.estimate import Estimate, in_units
from judgekit.stats.missing import Values, cluster_codes, count_units, floats, members
from judgekit.stats.quantiles import check_choice, check_level, require_whole

BootstrapMethod = Literal["percentile", "bca"]

# A statistic undefined on more resamples than this has a biased interval: the rest is a selection.
_MOST_DROPPED = 0.05
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapEstimate(Estimate):
    """A statistic with an interval by resampling."""

    n_resamples: int

    n_dropped: int
    """Of them, those on which the statistic was undefined."""

    seed: int | None
    """The seed, where one was given instead of a generator."""


def bootstrap(
    x: Values,
    statistic: Statistic,
    *,
    clusters: Sequence[Hashable] | None = None,
    method: BootstrapMethod = "percentile",
    n_resamples: int = 2000,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
    seed: int | None = None,
) -> BootstrapEstimate:
    """The interval of a statistic that has no closed form (Efron & Tibshirani 1993).

    `percentile` takes quantiles of the resampled statistic; `bca` shifts them for bias and
    skewness (Efron 1987), with the acceleration from leaving out one item (or cluster) each.
    Neither rescues ten ratings near the ceiling; for means, rates and paired differences use
    `intervals` and `paired`. Memory stays within a few MiB; a named statistic is quick.

    Args:
        x: Observations, or rows of an array that belong together (score and label); nan and
            None are missing, as is a row that holds one.
        statistic: `mean`, `median`, `sd`, or a function of a resampled array like `x`; nan
            where it is undefined.
        clusters: The cluster of each observation; whole clusters are resampled.
        method: `percentile` or `bca`.
        n_resamples: Resamples, 100 or more; 2000 or more for a figure that is shown.
        level: Confidence level in (0, 1).
        rng: Source of random numbers; give it or `seed`.
        seed: Seed of a generator of its own.

    Returns:
        The statistic and its interval; nan with a reason where the sample does not vary, the
        resampled statistic does not, or more than 5 % of resamples leave it undefined.

    Raises:
        ValueError: When an argument is out of its range, or rng and seed are both or neither
            given.
    """
    check_level(level)
    (n_resamples,) = require_whole(n_resamples=n_resamples)
    if (rng is None) == (seed is None):
        raise ValueError("give a generator or a seed, and not both")
    if n_resamples < 100:  # noqa: PLR2004 - 2.5 % of fewer is a guess
        raise ValueError(f"{n_resamples} resamples; an interval needs 100 at least")
    if rng is None:
        # SFC64 by name, not default_rng: seeded intervals must not change with numpy.
        rng = np.random.Generator(np.random.SFC64(*require_whole(seed=seed)))
    function = _function(statistic)
    check_choice("bootstrap", method, get_args(BootstrapMethod))
    sample, n_missing = _sample(x, clusters)
    value = function(sample.x)
    # Named statistics of one column have closed forms that are much faster.
    quickest = statistic if isinstance(statistic, str) and sample.x.ndim == 1 else function
    values = sample.draw(quickest, rng, n_resamples)
    left = sample.leave_one_out(quickest) if method == "bca" else None
    ends, n_dropped = _interval(values, value, level, left)
    return BootstrapEstimate(
        value=value,
        **ends._asdict(),
        level=level,
        **in_units(f"bootstrap, {method}", sample.n, clustered=clusters is not None),
        n_missing=n_missing,
        n_observations=len(sample.x),
        n_resamples=n_resamples,
        n_dropped=n_dropped,
        seed=seed,
    )


def _function(statistic: Statistic) -> Callable[[np.ndarray], float]:
    if callable(statistic):
        return lambda rows: float(statistic(rows))
    check_choice("statistic", statistic, tuple(NAMED_STATISTICS))
    named = NAMED_STATISTICS[statistic]
    return lambda rows: nan if statistic == "sd" and len(rows) == 1 else float(named(rows))


def _sample(x: Values, clusters: Sequence[Hashable] | None) -> tuple[ResampledValues, int]:
    rows = floats(x)
    if clusters is not None and len(clusters) != len(rows):
        raise ValueError(f"{len(rows)} observations, but {len(clusters)} cluster names")
    known = ~np.isnan(rows.reshape(len(rows), rows[:1].size)).any(axis=1)
    used = rows[known]
    if len(used) == 0:
        raise NotEnoughDataError("no observations to resample")
    codes = None if clusters is None else cluster_codes(clusters, np.flatnonzero(known).tolist())
    return ResampledValues(used, codes), len(rows) - len(used)


def resampled_rows(
    rows: np.ndarray, codes: np.ndarray | None, rng: np.random.Generator, n_resamples: int
) -> Iterator[np.ndarray]:
    """Resamples of rows, a stack at a time; of clusters, which differ in size, one at a time."""
    if codes is None:
        for places in resample_positions(len(rows), rng, n_resamples, width=rows.size):
            yield np.take(rows, places, axis=0)
        return
    # Rows sorted by cluster: a resample is a list of runs and needs no search.
    by_cluster, sizes = rows[np.argsort(codes, kind="stable")], np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    for (chosen,) in resample_positions(len(sizes), rng, n_resamples, width=_CHUNK_CELLS):
        length = sizes[chosen]
        shift = np.repeat(starts[chosen] - np.cumsum(length) + length, length)
        yield np.take(by_cluster, shift + np.arange(len(shift)), axis=0)[None]


def _interval(
    values: np.ndarray, value: float, level: float, leave_one_out: np.ndarray | None = None
) -> tuple[Interval, int]:
    """Quantiles of the resampled statistic, shifted for BCa; and how many are undefined."""
    known = values[~np.isnan(values)]
    n_dropped, reason = len(values) - len(known), None
    if isnan(value):
        reason = "the statistic is undefined on this sample"
    elif n_dropped > _MOST_DROPPED * len(values):
        reason = f"the statistic is undefined on {n_dropped} resamples"
    elif np.ptp(known) <= _ROUNDING * np.abs(known).max():
        reason = "no variation"
    levels = ((1 - level) / 2, (1 + level) / 2)
    if reason is None and leave_one_out is not None:
        levels = _bca_levels(known, value, leave_one_out, level)
        reason = "leaving items out leaves bias or skewness undefined" if isnan(levels[0]) else None
    if reason is None:
        low, high = np.quantile(known, levels)
        if high - low > _ROUNDING * float(np.abs(known).max()):
            return Interval(float(low), float(high), None), n_dropped
        reason = "the resampled statistic hardly varies"
    return Interval(nan, nan, reason), n_dropped


def _bca_levels(
    known: np.ndarray, value: float, leave_one_out: np.ndarray, level: float
) -> tuple[float, float]:
    slack = 1e-12 * float(np.abs(known).max())
    # Resamples equal to the value count half: discrete statistics tie often, and BCa is shifted
    # otherwise.
    below = float(np.mean(known < value - slack) + np.mean(np.abs(known - value) <= slack) / 2)
    pull = leave_one_out.mean() - leave_one_out
    size = float((pull**2).sum())
    if not 0 < below < 1 or not size > 0:
        return nan, nan
    normal = NormalDist()
    # Efron (1987): bias correction and acceleration.
    shift, skew = normal.inv_cdf(below), float((pull**3).sum()) / (6 * size**1.5)
    ends = (shift + normal.inv_cdf((1 + sign * level) / 2) for sign in (-1, 1))
    low, high = (normal.cdf(shift + end / (1 - skew * end)) for end in ends)
    return low, high


StatisticName = Literal["mean", "median", "sd"]
Statistic = StatisticName | Callable[[np.ndarray], float]

NAMED_STATISTICS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "mean": lambda rows: np.asarray(rows.mean(axis=-1)),
    "median": lambda rows: np.asarray(np.median(rows, axis=-1)),
    "sd": lambda rows: np.asarray(rows.std(axis=-1, ddof=1)),
}
"""The statistics that have a name, over the last axis."""

_CHUNK_CELLS = 160_000
"""Values resampled at once: 16 rows of 10,000, about 3 MiB with their indices."""

_ITEMS_A_LEVEL = 20
"""With so many items a level drawing counts of levels is quicker than drawing items."""

_SAME_WITHIN = 1e-14
"""What floats leave of squares that cancel, as a share of them."""


def resample_positions(
    n: int, rng: np.random.Generator, n_resamples: int, *, width: int | None = None
) -> Iterator[np.ndarray]:
    """Places drawn with replacement, a few resamples at a time."""
    # In chunks that fit the processor cache; one array of all resamples can take gigabytes.
    most = max(1, _CHUNK_CELLS // max(n, width or 0))
    for start in range(0, n_resamples, most):
        yield rng.integers(0, n, (min(most, n_resamples - start), n))


@dataclass(frozen=True, slots=True)
class ResampledValues:
    """Numbers, or rows of them, to be resampled one by one or in clusters."""

    x: np.ndarray

    codes: np.ndarray | None
    """The cluster of each, numbered from 0; None where each is drawn by itself."""

    @property
    def n(self) -> int:
        """What is drawn: numbers, or clusters."""
        return count_units(self.codes, len(self.x))

    def draw(self, statistic: Statistic, rng: np.random.Generator, n_resamples: int) -> np.ndarray:
        """The statistic of each resample; a named one by the quickest way of exactly its law."""
        if callable(statistic):
            stacks = resampled_rows(self.x, self.codes, rng, n_resamples)
            return np.array([statistic(rows) for stack in stacks for rows in stack])
        if statistic == "median":
            return self._draw_medians(rng, n_resamples)
        centre = float(self.x.mean())
        levels, counts = np.unique(self.x, return_counts=True)
        if self.codes is None and len(levels) * _ITEMS_A_LEVEL <= self.n:
            # Ratings have few levels: drawing their counts replaces drawing every item.
            draws = rng.multinomial(self.n, counts / self.n, size=n_resamples)
            sums = _moments(levels - centre, np.arange(len(levels))) @ draws.T
        else:
            moments = _moments(self.x - centre, self._own_codes)
            # Clusters differ in size; of single numbers every resample has as many.
            used = moments[int(self.codes is None) : 2 if statistic == "mean" else 3]
            # "clip" skips the check of the positions, which are in range.
            parts = [
                np.stack([np.take(row, part, mode="clip").sum(axis=1) for row in used])
                for part in resample_positions(self.n, rng, n_resamples)
            ]
            sums = np.concatenate(parts, axis=1)
            if self.codes is None:
                sums = np.vstack([np.full(n_resamples, float(self.n)), sums])
        return _of_moments(sums, statistic) + (centre if statistic == "mean" else 0.0)

    def leave_one_out(self, statistic: Statistic) -> np.ndarray:
        """The statistic without each number, or without each cluster."""
        if self.n == 1:
            return np.array([nan])
        if callable(statistic):
            units = members(self._own_codes)
            return np.array([statistic(np.delete(self.x, places, axis=0)) for places in units])
        if statistic == "median":
            return _medians_without(self.x, self._own_codes)
        centre = float(self.x.mean())
        moments = _moments(self.x - centre, self._own_codes)
        left = moments.sum(axis=1)[:, None] - moments
        return _of_moments(left, statistic) + (centre if statistic == "mean" else 0.0)

    @property
    def _own_codes(self) -> np.ndarray:
        return np.arange(len(self.x)) if self.codes is None else self.codes

    def _draw_medians(self, rng: np.random.Generator, n_resamples: int) -> np.ndarray:
        """Of numbers by the law of order statistics, of clusters by how often each is drawn."""
        # The k-th of n uniform places follows Beta(k, n + 1 - k), and given the next one it is that
        # times Beta(k, 1); so a median of a resample takes one or two random numbers.
        ordered = np.sort(self.x)
        n = len(ordered)
        if self.codes is None:
            middle = n // 2 + 1
            # The order statistics of uniform numbers are Beta distributed: a median needs one
            # draw, not n.
            upper = rng.beta(middle, n + 1 - middle, n_resamples)
            high = ordered[_places(upper, n)]
            if n % 2:
                return np.asarray(high)
            low = ordered[_places(upper * rng.beta(middle - 1, 1, n_resamples), n)]
            return np.asarray((low + high) / 2)
        of = self.codes[np.argsort(self.x, kind="stable")]
        medians = []
        for part in resample_positions(self.n, rng, n_resamples, width=n):
            rows = np.arange(len(part))[:, None] * self.n
            often = np.bincount((part + rows).ravel(), minlength=part.size).reshape(part.shape)
            # How many values lie below each place, given how often its cluster was drawn.
            reached = np.cumsum(often[:, of], axis=1)
            total = reached[:, -1:]
            low, high = ((reached <= k).sum(axis=1) for k in ((total - 1) // 2, total // 2))
            medians.append((ordered[low] + ordered[high]) / 2)
        return np.concatenate(medians)


def _places(uniform: np.ndarray, n: int) -> np.ndarray:
    return np.asarray(np.minimum((uniform * n).astype(np.int64), n - 1))


def _moments(x: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """How many numbers each cluster has, their sum and that of their squares."""
    return np.stack([np.bincount(codes, column) for column in (np.ones_like(x), x, x * x)])


def _of_moments(sums: np.ndarray, statistic: StatisticName) -> np.ndarray:
    n, first = sums[:2]
    if statistic == "mean":
        return np.asarray(first / n)
    second = sums[2]
    squares = second - first**2 / n
    # Cancellation leaves a tiny variance, even a negative one, where all values are equal.
    squares = np.where(squares > _SAME_WITHIN * second, squares, 0.0)
    return np.asarray(np.sqrt(squares / np.where(n > 1, n - 1, nan)))


def _medians_without(x: np.ndarray, codes: np.ndarray) -> np.ndarray:
    # Of a cluster's numbers those at sorted places s_0 < s_1 < ... lie before the k-th number that
    # is left when `s_i - i <= k`; so many places further on it stands.
    order = np.argsort(x, kind="stable")
    ordered, of = x[order], codes[order]
    sizes = np.bincount(of)
    among_own = np.empty(len(x), dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    among_own[np.argsort(of, kind="stable")] = np.arange(len(x)) - np.repeat(starts, sizes)
    gap = np.arange(len(x)) - among_own
    left = len(x) - sizes

    def kth(k: np.ndarray) -> np.ndarray:
        return np.asarray(ordered[k + np.bincount(of, gap <= k[of]).astype(np.int64)])

    return np.asarray((kth((left - 1) // 2) + kth(left // 2)) / 2)
