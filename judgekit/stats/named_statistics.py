"""The resampled mean, median and sd, by quick ways that have exactly the bootstrap's law."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

StatisticName = Literal["mean", "median", "sd"]

NAMED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "mean": lambda rows: np.asarray(rows.mean(axis=-1)),
    "median": lambda rows: np.asarray(np.median(rows, axis=-1)),
    "sd": lambda rows: np.asarray(rows.std(axis=-1, ddof=1)),
}
"""The statistics that have a name, over the last axis."""

_CHUNK_CELLS = 160_000
"""Values resampled at once: 16 rows of 10,000, about 3 MiB with their indices."""

_ITEMS_A_LEVEL = 20
"""With so many items a level drawing counts of levels is quicker than drawing items."""

_ROUNDING = 1e-14
"""What floats leave of squares that cancel, as a share of them."""


def resampled_places(
    n: int, rng: np.random.Generator, n_resamples: int, *, width: int | None = None
) -> Iterator[np.ndarray]:
    """Places drawn with replacement, a few resamples at a time.

    Args:
        n: How many places there are.
        rng: Source of random numbers.
        n_resamples: How many resamples.
        width: How many values a resample stands for, where that is more than `n`.

    Yields:
        Arrays of one row a resample, n places each.
    """
    most = max(1, _CHUNK_CELLS // max(n, width or 0))
    for start in range(0, n_resamples, most):
        yield rng.integers(0, n, (min(most, n_resamples - start), n))


@dataclass(frozen=True, slots=True)
class Values:
    """Numbers to be resampled one by one, or in clusters."""

    x: np.ndarray
    """The numbers."""

    codes: np.ndarray | None
    """The cluster of each, numbered from 0; None where each is drawn by itself."""

    @property
    def n(self) -> int:
        """What is drawn: numbers, or clusters."""
        return len(self.x) if self.codes is None else int(self.codes.max()) + 1

    def draw(
        self, statistic: StatisticName, rng: np.random.Generator, n_resamples: int
    ) -> np.ndarray:
        """The statistic of each resample.

        Args:
            statistic: Which.
            rng: Source of random numbers.
            n_resamples: How many resamples.

        Returns:
            One value a resample; nan where a resample leaves it undefined.
        """
        if statistic == "median":
            return self._draw_medians(rng, n_resamples)
        if self.codes is not None:
            return self._draw_clustered(statistic, rng, n_resamples)
        levels, counts = np.unique(self.x, return_counts=True)
        if len(levels) * _ITEMS_A_LEVEL <= self.n:
            draws = rng.multinomial(self.n, counts / self.n, size=n_resamples)
            return _of_levels(draws, levels, statistic)
        if statistic == "sd" and self.n == 1:
            return np.full(n_resamples, nan)
        parts = resampled_places(self.n, rng, n_resamples)
        return np.concatenate([NAMED[statistic](_take(self.x, part)) for part in parts])

    def leave_one_out(self, statistic: StatisticName) -> np.ndarray:
        """The statistic without each number, or without each cluster.

        Args:
            statistic: Which.

        Returns:
            One value a number or cluster; nan where what is left leaves it undefined.
        """
        if self.n == 1:
            return np.array([nan])
        if statistic == "median":
            return _medians_without(self.x, self._own_codes)
        centre = float(self.x.mean())
        moments = _moments(self.x - centre, self._own_codes)
        left = moments.sum(axis=1)[:, None] - moments
        return _of_moments(left, statistic) + (centre if statistic == "mean" else 0.0)

    @property
    def _own_codes(self) -> np.ndarray:
        return np.arange(len(self.x)) if self.codes is None else self.codes

    def _draw_clustered(
        self, statistic: StatisticName, rng: np.random.Generator, n_resamples: int
    ) -> np.ndarray:
        centre = float(self.x.mean())
        moments = _moments(self.x - centre, self._own_codes)
        found = [
            _of_moments(np.stack([_take(row, part).sum(axis=1) for row in moments]), statistic)
            for part in resampled_places(self.n, rng, n_resamples)
        ]
        return np.concatenate(found) + (centre if statistic == "mean" else 0.0)

    def _draw_medians(self, rng: np.random.Generator, n_resamples: int) -> np.ndarray:
        """Of numbers by the law of order statistics, of clusters by how often each is drawn.

        The k-th of n uniform places follows Beta(k, n + 1 - k), and given the next one it is that
        times Beta(k, 1); so a median of a resample takes one or two random numbers.
        """
        ordered = np.sort(self.x)
        n = len(ordered)
        if self.codes is None:
            middle = n // 2 + 1
            upper = rng.beta(middle, n + 1 - middle, n_resamples)
            high = ordered[_places(upper, n)]
            if n % 2:
                return np.asarray(high)
            low = ordered[_places(upper * rng.beta(middle - 1, 1, n_resamples), n)]
            return np.asarray((low + high) / 2)
        of = self.codes[np.argsort(self.x, kind="stable")]
        medians = []
        for part in resampled_places(self.n, rng, n_resamples, width=n):
            rows = np.arange(len(part))[:, None] * self.n
            often = np.bincount((part + rows).ravel(), minlength=part.size).reshape(part.shape)
            reached = np.cumsum(often[:, of], axis=1)
            total = reached[:, -1:]
            low, high = ((reached <= k).sum(axis=1) for k in ((total - 1) // 2, total // 2))
            medians.append((ordered[low] + ordered[high]) / 2)
        return np.concatenate(medians)


def _take(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """`values[places]`; `clip` spares a buffer, no place lies outside."""
    return np.take(values, places, mode="clip")


def _places(uniform: np.ndarray, n: int) -> np.ndarray:
    return np.asarray(np.minimum((uniform * n).astype(np.int64), n - 1))


def _moments(x: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """How many numbers each cluster has, their sum and that of their squares."""
    return np.stack([np.bincount(codes, column) for column in (np.ones_like(x), x, x * x)])


def _of_moments(sums: np.ndarray, statistic: StatisticName) -> np.ndarray:
    n, first, second = sums
    if statistic == "mean":
        return np.asarray(first / n)
    squares = second - first**2 / n
    squares = np.where(squares > _ROUNDING * second, squares, 0.0)
    return np.asarray(np.sqrt(squares / np.where(n > 1, n - 1, nan)))


def _of_levels(draws: np.ndarray, levels: np.ndarray, statistic: StatisticName) -> np.ndarray:
    n = draws[0].sum()
    if statistic == "mean":
        return np.asarray(draws @ levels / n)
    centred = levels - levels.mean()
    sums = np.stack([np.full(len(draws), float(n)), draws @ centred, draws @ centred**2])
    return _of_moments(sums, statistic)


def _medians_without(x: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The median without each cluster, from one sort.

    Of a cluster's numbers those at sorted places s_0 < s_1 < ... lie before the k-th number that
    is left when `s_i - i <= k`; so many places further on it stands.
    """
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
