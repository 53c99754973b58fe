"""Bootstrap intervals of statistics that have no closed form.

`bootstrap` is what users call; `resampled_rows` draws for statistics of other modules too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.agreement_coefficients import Interval
from judgekit.stats.estimate import Estimate
from judgekit.stats.missing import cluster_codes, floats
from judgekit.stats.quantiles import check_choice, check_level, require_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

BootstrapMethod = Literal["percentile", "bca"]
StatisticName = Literal["mean", "median", "sd"]

# A statistic undefined on more resamples than this has a biased interval: the rest is a selection.
_MOST_DROPPED = 0.05
_ROUNDING = 1e-12

# Values resampled at once: 16 rows of 10,000, about 3 MiB with their indices. That fits the
# processor cache; one array of all resamples can take gigabytes.
_CHUNK_CELLS = 160_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapEstimate(Estimate):
    """A statistic with an interval by resampling."""

    n_resamples: int

    n_dropped: int
    """Of them, those on which the statistic was undefined."""

    seed: int | None
    """The seed, where one was given instead of a generator."""


def bootstrap(
    x: Sequence[float | None] | np.ndarray,
    statistic: StatisticName | Callable[[np.ndarray], float],
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
    `intervals` and `paired`. Memory stays within a few MiB.

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
    check_choice("bootstrap", method, get_args(BootstrapMethod))
    generator = _generator(rng, seed, n_resamples)
    of_each = _function(statistic)
    rows, codes, n_missing = _observations(x, clusters)
    value = float(of_each(rows[None])[0])
    stacks = resampled_rows(rows, codes, generator, n_resamples)
    values = np.concatenate([of_each(stack) for stack in stacks])
    left_out = _without_each(rows, codes, statistic) if method == "bca" else None
    ends, n_dropped = _interval(values, value, level, left_out)
    n = len(rows) if codes is None else int(codes.max()) + 1
    return BootstrapEstimate(
        value=value,
        **ends._asdict(),
        level=level,
        n=n,
        n_missing=n_missing,
        method=f"bootstrap, {method}" + ("" if codes is None else ", clustered"),
        n_clusters=None if codes is None else n,
        n_observations=len(rows),
        n_resamples=n_resamples,
        n_dropped=n_dropped,
        seed=seed,
    )


def resampled_rows(
    rows: np.ndarray, codes: np.ndarray | None, rng: np.random.Generator, n_resamples: int
) -> Iterator[np.ndarray]:
    """Resamples of rows, a stack at a time; of clusters, which differ in size, one at a time."""
    if codes is None:
        n, most = len(rows), max(1, _CHUNK_CELLS // rows.size)
        for start in range(0, n_resamples, most):
            yield np.take(rows, rng.integers(0, n, (min(most, n_resamples - start), n)), axis=0)
        return
    # Rows sorted by cluster: a resample is a list of runs and needs no search.
    by_cluster, sizes = rows[np.argsort(codes, kind="stable")], np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    for _ in range(n_resamples):
        chosen = rng.integers(0, len(sizes), len(sizes))
        length = sizes[chosen]
        shift = np.repeat(starts[chosen] - np.cumsum(length) + length, length)
        yield np.take(by_cluster, shift + np.arange(len(shift)), axis=0)[None]


def _generator(
    rng: np.random.Generator | None, seed: int | None, n_resamples: int
) -> np.random.Generator:
    (n_resamples,) = require_whole(n_resamples=n_resamples)
    if (rng is None) == (seed is None):
        raise ValueError("give a generator or a seed, and not both")
    if n_resamples < 100:  # noqa: PLR2004 - 2.5 % of fewer is a guess
        raise ValueError(f"{n_resamples} resamples; an interval needs 100 at least")
    if rng is not None:
        return rng
    # SFC64 by name, not default_rng: seeded intervals must not change with numpy.
    return np.random.Generator(np.random.SFC64(require_whole(seed=seed)[0]))


def _function(
    statistic: StatisticName | Callable[[np.ndarray], float],
) -> Callable[[np.ndarray], np.ndarray]:
    """The statistic of each sample of a stack."""
    if callable(statistic):
        return lambda stack: np.array([float(statistic(rows)) for rows in stack])
    check_choice("statistic", statistic, get_args(StatisticName))
    if statistic == "sd":
        return _sd
    named = np.mean if statistic == "mean" else np.median
    return lambda stack: np.asarray(named(stack, axis=1))


def _sd(stack: np.ndarray) -> np.ndarray:
    if stack.shape[1] < 2:  # noqa: PLR2004 - a variance needs two
        return np.full(len(stack), nan)
    return np.asarray(stack.std(axis=1, ddof=1))


def _observations(
    x: Sequence[float | None] | np.ndarray, clusters: Sequence[Hashable] | None
) -> tuple[np.ndarray, np.ndarray | None, int]:
    """The known rows, their clusters numbered from 0, and how many rows are missing."""
    rows = floats(x)
    if clusters is not None and len(clusters) != len(rows):
        raise ValueError(f"{len(rows)} observations, but {len(clusters)} cluster names")
    if np.isinf(rows).any():
        raise ValueError("an observation is infinite; give nan where it is missing")
    known = ~np.isnan(rows.reshape(len(rows), rows[:1].size)).any(axis=1)
    if not known.any():
        raise NotEnoughDataError("no observations to resample")
    codes = None if clusters is None else cluster_codes(clusters, np.flatnonzero(known).tolist())
    return rows[known], codes, int(len(rows) - known.sum())


def _without_each(
    rows: np.ndarray,
    codes: np.ndarray | None,
    statistic: StatisticName | Callable[[np.ndarray], float],
) -> np.ndarray:
    """The statistic without each row, or without each cluster."""
    units = np.arange(len(rows)) if codes is None else codes
    sizes = np.bincount(units)
    if len(sizes) == 1:
        return np.array([nan])
    if statistic == "median" and codes is None:
        # Without the number at one place of the order, all later ones move up: no median is
        # computed again, which would take seconds for ten thousand items.
        ordered, place = np.sort(rows), np.arange(len(rows))
        low, high = (
            ordered[k + (place <= k)] for k in ((len(rows) - 2) // 2, (len(rows) - 1) // 2)
        )
        return np.asarray((low + high) / 2)
    of_each = _function(statistic)
    members = np.split(np.argsort(units, kind="stable"), np.cumsum(sizes)[:-1])
    return np.array([of_each(np.delete(rows, own, axis=0)[None])[0] for own in members])


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
