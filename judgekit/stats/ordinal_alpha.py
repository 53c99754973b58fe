"""Krippendorff's alpha at the ordinal level of ratings with many levels, from ranks.

Between ranks the ordinal difference is a squared distance, so sums over all pairs of ratings follow
from sums over single ones. Leaving items out moves the ranks as well: by a step at each rating that
goes. What that does to the pairs of the other items is found from how many of these pairs reach
across two such steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from judgekit.stats.dominance import Plane, sums_below


class RankedRatings(NamedTuple):
    """Ratings of items with two or more, by level."""

    level: np.ndarray
    """The level of each rating, dense from 0."""

    item: np.ndarray
    """Its item, numbered from 0."""

    unit: np.ndarray
    """What its item is left out with, numbered from 0: the item itself, or a cluster."""


class PairSums(NamedTuple):
    """What alpha is made of: `1 - (n - 1) observed / expected`."""

    observed: np.ndarray
    """Squared differences of the pairs within items, each item's over its ratings less 1."""

    expected: np.ndarray
    """Squared differences of all pairs of ratings."""

    n: np.ndarray
    """Ratings."""


def ordinal_sums(ratings: RankedRatings) -> tuple[PairSums, PairSums]:
    """The sums over all ratings, and without each unit.

    With x the middle ranks and d the steps that leaving a unit out takes them down by, the sum
    over the others is `Q(x) - 2 Q(x, d) + Q(d)` less the unit's own, Q being the quadratic form of
    the pairs within items. Time grows as n log n as long as units are small.

    Args:
        ratings: The ratings.

    Returns:
        The sums of all, and one of each a unit.
    """
    level, item, unit = ratings
    counts, sizes = np.bincount(level), np.bincount(item)
    total, weight = len(level), 1.0 / (sizes - 1)
    rank = (np.cumsum(counts) - counts / 2)[level] - total / 2
    pull = weight[item] * (sizes[item] * rank - np.bincount(item, rank)[item])
    whole = 2 * float((pull * rank).sum())
    steps = _Steps.of(level, unit)
    crossed = 2 * _pulled(level, unit, pull)
    rest = whole - 2 * crossed + steps.reached_across(_pairs_within(level, item, weight))
    own_rank = rank - steps.middle(unit)
    own = _within(own_rank, item, weight)
    first = np.unique(item, return_index=True)[1]
    left = total - np.bincount(unit)
    return (
        PairSums(np.array(whole), _expected((counts**3.0).sum(), total), np.array(total)),
        PairSums(rest - np.bincount(unit[first], own), _expected(steps.cubes(counts), left), left),
    )


def _expected(cubes: np.ndarray, n: np.ndarray | int) -> np.ndarray:
    """All squared differences of middle ranks: `n (n^3 - sum n_c^3) / 6`."""
    return np.asarray(n * (np.asarray(n, dtype=float) ** 3 - cubes) / 6)


def _within(rank: np.ndarray, item: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Each item's squared differences of all ordered pairs, over its ratings less 1."""
    sizes, sums = np.bincount(item), np.bincount(item, rank)
    return np.asarray(2 * weight * (sizes * np.bincount(item, rank**2) - sums**2))


def _pulled(level: np.ndarray, unit: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """Q(x, d) / 2 of each unit: a rating's step takes what lies above its level, half of it."""
    at = np.bincount(level, pull)
    above = at[::-1].cumsum()[::-1] - at / 2
    return np.bincount(unit, above[level])


class _Pairs(NamedTuple):
    """Pairs of ratings of one item that differ."""

    low: np.ndarray
    high: np.ndarray
    weight: np.ndarray


def _pairs_within(level: np.ndarray, item: np.ndarray, weight: np.ndarray) -> _Pairs:
    order = np.lexsort((level, item))
    at, of = level[order], item[order]
    found: list[_Pairs] = []
    for apart in range(1, int(np.bincount(item).max())):
        same = (of[apart:] == of[:-apart]) & (at[apart:] > at[:-apart])
        found.append(_Pairs(at[:-apart][same], at[apart:][same], weight[of[apart:][same]]))
    return _Pairs(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


class _Steps(NamedTuple):
    """The levels each unit rated, how often, in order of unit and level."""

    unit: np.ndarray
    level: np.ndarray
    times: np.ndarray
    place: np.ndarray

    @classmethod
    def of(cls, level: np.ndarray, unit: np.ndarray) -> _Steps:
        many = int(level.max()) + 1
        key, place, times = np.unique(unit * many + level, return_inverse=True, return_counts=True)
        return cls(key // many, key % many, times, place.ravel())

    def middle(self, unit: np.ndarray) -> np.ndarray:
        """The middle rank of each rating among those of its unit."""
        sizes = np.bincount(unit)
        before = np.cumsum(self.times) - (np.cumsum(sizes) - sizes)[self.unit]
        return np.asarray((before - self.times / 2)[self.place])

    def cubes(self, counts: np.ndarray) -> np.ndarray:
        """The sum of cubed counts of the levels without each unit."""
        own = counts[self.level].astype(float)
        gone = own**3 - (own - self.times) ** 3
        return np.asarray((counts**3.0).sum() - np.bincount(self.unit, gone))

    def reached_across(self, pairs: _Pairs) -> np.ndarray:
        """Q(d) of each unit: of every two of its steps, the pairs that reach across both.

        A pair of ratings is parted by a step between them whole, by one at either of them half.
        """
        one, other = self._couples()
        r, s = self.level[one], self.level[other]
        points = Plane(pairs.low, -pairs.high)
        # Below r or up to it, by above s or from it on.
        corners = Plane(
            np.concatenate([r, r + 1, r, r + 1]), np.concatenate([-s, -s, 1 - s, 1 - s])
        )
        sums = sums_below(points, corners, pairs.weight).reshape(4, -1)
        same = one == other
        parted = np.where(same, (2 * sums[0] + sums[1] + sums[2]) / 4, sums.sum(axis=0) / 4)
        often = self.times[one] * self.times[other] * np.where(same, 1, 2)
        return np.bincount(self.unit[one], 2 * often * parted)

    def _couples(self) -> tuple[np.ndarray, np.ndarray]:
        """Every two steps of a unit, the lower one first, each with itself too."""
        sizes = np.bincount(self.unit)
        ends = np.cumsum(sizes)[self.unit]
        places = np.arange(len(self.unit))
        lengths = ends - places
        one = np.repeat(places, lengths)
        offset = np.arange(len(one)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return one, one + offset


def n_couples(level: np.ndarray, unit: np.ndarray) -> int:
    """How many couples of levels of one unit there are: what the time grows with.

    Args:
        level: The level of each rating, dense from 0.
        unit: What its item is left out with, numbered from 0.

    Returns:
        The number.
    """
    sizes = np.bincount(_Steps.of(level, unit).unit)
    return int((sizes * (sizes + 1) // 2).sum())
