"""Intervals of statistics that have no closed form, by resampling."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.arguments import whole
from judgekit.stats.estimate import Estimate
from judgekit.stats.known import cluster_codes, floats
from judgekit.stats.named_statistics import NAMED, StatisticName, Values, resampled_places
from judgekit.stats.quantiles import check_level

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

BootstrapMethod = Literal["percentile", "bca"]

_MOST_DROPPED = 0.05
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapEstimate(Estimate):
    """A statistic with an interval by resampling."""

    n_resamples: int
    """Resamples drawn."""

    n_dropped: int
    """Of them, those on which the statistic was undefined."""

    seed: int | None
    """The seed, where one was given instead of a generator."""


class _Sample(NamedTuple):
    """What is resampled: rows, and where clusters are given the cluster of each."""

    rows: np.ndarray
    codes: np.ndarray | None

    @property
    def n(self) -> int:
        return len(self.rows) if self.codes is None else int(self.codes.max()) + 1

    @property
    def members(self) -> list[np.ndarray]:
        """The places of each cluster's rows."""
        codes = np.arange(self.n) if self.codes is None else self.codes
        return np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])


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
        NotEnoughDataError: When no observation is left.
    """
    check_level(level)
    generator = _generator(rng, seed, n_resamples)
    function = _function(statistic)
    if method not in ("percentile", "bca"):
        raise ValueError(f"no bootstrap is called {method!r}; known: percentile, bca")
    sample, n_missing = _sample(x, clusters)
    value = function(sample.rows)
    drawn = _draw(sample, statistic, function, generator, n_resamples)
    left = _leave_one_out(sample, statistic, function) if method == "bca" else None
    found = _interval(drawn, value, level, left)
    return BootstrapEstimate(
        value=value,
        low=found.low,
        high=found.high,
        level=level,
        n=sample.n,
        n_missing=n_missing,
        method=f"bootstrap, {method}" + ("" if clusters is None else ", clustered"),
        n_clusters=None if clusters is None else sample.n,
        n_observations=len(sample.rows),
        reason=found.reason,
        n_resamples=n_resamples,
        n_dropped=found.n_dropped,
        seed=seed,
    )


def bootstrap_table(
    table: Sequence[Sequence[int]] | np.ndarray,
    statistic: Callable[[np.ndarray], float],
    *,
    n_resamples: int = 2000,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
    seed: int | None = None,
) -> BootstrapEstimate:
    """The interval of a statistic of a contingency table, by resampling its cells.

    Items in the same cell are alike, so one multinomial draw over the cells is exactly the
    bootstrap of the items, at a cost that does not grow with them.

    Args:
        table: Counts, of any shape.
        statistic: A function of such a table of counts; nan where it is undefined.
        n_resamples: Resamples, 100 or more.
        level: Confidence level in (0, 1).
        rng: Source of random numbers; give it or `seed`.
        seed: Seed of a generator of its own.

    Returns:
        The statistic and its percentile interval, undefined as in `bootstrap`.

    Raises:
        ValueError: When a count is negative or an argument out of its range.
        NotEnoughDataError: When the table is empty.
    """
    check_level(level)
    generator = _generator(rng, seed, n_resamples)
    counts = np.asarray(table)
    if (counts < 0).any():
        raise ValueError("a count of the table is negative")
    n = int(counts.sum())
    if n == 0:
        raise NotEnoughDataError("the table holds no item")
    value = float(statistic(counts))
    draws = generator.multinomial(n, counts.ravel() / n, size=n_resamples)
    drawn = np.array([float(statistic(draw.reshape(counts.shape))) for draw in draws])
    found = _interval(drawn, value, level)
    return BootstrapEstimate(
        value=value,
        low=found.low,
        high=found.high,
        level=level,
        n=n,
        method="bootstrap of cells, percentile",
        reason=found.reason,
        n_resamples=n_resamples,
        n_dropped=found.n_dropped,
        seed=seed,
    )


class _Found(NamedTuple):
    low: float
    high: float
    reason: str | None
    n_dropped: int


def _generator(
    rng: np.random.Generator | None, seed: int | None, n_resamples: int
) -> np.random.Generator:
    (n_resamples,) = whole(n_resamples=n_resamples)
    if (rng is None) == (seed is None):
        raise ValueError("give a generator or a seed, and not both")
    if n_resamples < 100:  # noqa: PLR2004 - 2.5 % of fewer is a guess
        raise ValueError(f"{n_resamples} resamples; an interval needs 100 at least")
    if rng is not None:
        return rng
    return np.random.Generator(np.random.SFC64(whole(seed=seed)[0]))


def _function(
    statistic: StatisticName | Callable[[np.ndarray], float],
) -> Callable[[np.ndarray], float]:
    if callable(statistic):
        return lambda rows: float(statistic(rows))
    if statistic not in NAMED:
        raise ValueError(f"no statistic is called {statistic!r}; known: {', '.join(NAMED)}")
    named = NAMED[statistic]
    return lambda rows: nan if statistic == "sd" and len(rows) == 1 else float(named(rows))


def _sample(
    x: Sequence[float | None] | np.ndarray, clusters: Sequence[Hashable] | None
) -> tuple[_Sample, int]:
    rows = floats(x)
    if clusters is not None and len(clusters) != len(rows):
        raise ValueError(f"{len(rows)} observations, but {len(clusters)} cluster names")
    if np.isinf(rows).any():
        raise ValueError("an observation is infinite; give nan where it is missing")
    known = ~np.isnan(rows.reshape(len(rows), rows[:1].size)).any(axis=1)
    kept = rows[known]
    if len(kept) == 0:
        raise NotEnoughDataError("no observations to resample")
    codes = None if clusters is None else cluster_codes(clusters, np.flatnonzero(known).tolist())
    return _Sample(kept, codes), len(rows) - len(kept)


def _draw(
    sample: _Sample,
    statistic: StatisticName | Callable[[np.ndarray], float],
    function: Callable[[np.ndarray], float],
    rng: np.random.Generator,
    n_resamples: int,
) -> np.ndarray:
    """The statistic on each resample, by the quickest way that has exactly that law."""
    if isinstance(statistic, str) and sample.rows.ndim == 1:
        return Values(*sample).draw(statistic, rng, n_resamples)
    chosen = resampled_places(sample.n, rng, n_resamples, width=sample.rows.size)
    if sample.codes is None:
        return np.array([function(np.take(sample.rows, row, axis=0)) for p in chosen for row in p])
    by_cluster = sample.rows[np.argsort(sample.codes, kind="stable")]
    sizes = np.bincount(sample.codes)
    starts = np.cumsum(sizes) - sizes
    return np.array(
        [function(by_cluster[_runs(starts[row], sizes[row])]) for part in chosen for row in part]
    )


def _runs(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The places of several runs, one after the other."""
    before = np.cumsum(sizes) - sizes
    return np.asarray(np.repeat(starts - before, sizes) + np.arange(int(sizes.sum())))


def _leave_one_out(
    sample: _Sample,
    statistic: StatisticName | Callable[[np.ndarray], float],
    function: Callable[[np.ndarray], float],
) -> np.ndarray:
    if isinstance(statistic, str) and sample.rows.ndim == 1:
        return Values(*sample).leave_one_out(statistic)
    if sample.n == 1:
        return np.array([nan])
    return np.array([function(np.delete(sample.rows, m, axis=0)) for m in sample.members])


def _interval(
    drawn: np.ndarray, value: float, level: float, leave_one_out: np.ndarray | None = None
) -> _Found:
    """Quantiles of the resampled statistic, shifted for BCa, or why there are none."""
    known = drawn[~np.isnan(drawn)]
    n_dropped = len(drawn) - len(known)
    reason = _obstacle(known, value, n_dropped)
    levels = ((1 - level) / 2, (1 + level) / 2)
    if reason is None and leave_one_out is not None:
        levels = _bca_levels(known, value, leave_one_out, level)
        reason = "leaving items out leaves bias or skewness undefined" if isnan(levels[0]) else None
    if reason is None:
        low, high = np.quantile(known, levels)
        if high - low > _ROUNDING * float(np.abs(known).max()):
            return _Found(float(low), float(high), None, n_dropped)
        reason = "the resampled statistic hardly varies"
    return _Found(nan, nan, reason, n_dropped)


def _obstacle(known: np.ndarray, value: float, n_dropped: int) -> str | None:
    if isnan(value):
        return "the statistic is undefined on this sample"
    if n_dropped > _MOST_DROPPED * (n_dropped + len(known)):
        return f"the statistic is undefined on {n_dropped} resamples"
    if np.ptp(known) <= _ROUNDING * np.abs(known).max():
        return "no variation"
    return None


def _bca_levels(
    known: np.ndarray, value: float, leave_one_out: np.ndarray, level: float
) -> tuple[float, float]:
    slack = 1e-12 * float(np.abs(known).max())
    below = float(np.mean(known < value - slack) + np.mean(np.abs(known - value) <= slack) / 2)
    pull = leave_one_out.mean() - leave_one_out
    size = float((pull**2).sum())
    if not 0 < below < 1 or not size > 0:
        return nan, nan
    normal = NormalDist()
    shift, skew = normal.inv_cdf(below), float((pull**3).sum()) / (6 * size**1.5)
    ends = (shift + normal.inv_cdf((1 + sign * level) / 2) for sign in (-1, 1))
    low, high = (normal.cdf(shift + end / (1 - skew * end)) for end in ends)
    return low, high
