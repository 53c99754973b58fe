"""Concordant, discordant and tied pairs of two scores, counted in n log n.

Used by `agreement` and `method_comparison`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from judgekit.stats.missing import DIGITS
from judgekit.stats.quantiles import SLACK


class PairCounts(NamedTuple):
    """How two scores order the pairs of each group; `ties_x` counts ties of x alone."""

    concordant: np.ndarray
    discordant: np.ndarray
    ties_x: np.ndarray
    ties_y: np.ndarray
    ties_both: np.ndarray

    @property
    def pairs(self) -> np.ndarray:
        """All pairs of each group."""
        return np.asarray(sum(self))


def count_pairs(
    x: np.ndarray, y: np.ndarray, groups: np.ndarray, *, width: float = 0
) -> PairCounts:
    """How two scores order the pairs within groups; y is tied up to `width`, 0 or more.

    Scores that agree to nine digits are tied. Time grows as n log n, memory as n.
    """
    # For each item: how many of its group lie more than the width below it in y, and how many of
    # these lie below it, or level with it, in x. The rest follows from the numbers of ties.
    n_groups = int(groups.max(initial=-1)) + 1
    sizes = np.bincount(groups, minlength=n_groups)
    pairs = sizes * (sizes - 1) // 2
    # A free rank above each group's own: `level + 1` below asks for ties without reaching into the
    # next group.
    level = _ranks(groups, np.round(x, DIGITS)) + groups
    reach = np.concatenate([y, y - width - SLACK])
    place = _ranks(np.tile(groups, 2), reach)
    points = PlanePoints(place[: len(y)], level)
    corner = place[len(y) :]
    earlier = (np.cumsum(sizes) - sizes)[groups]
    below = np.searchsorted(np.sort(points.x), corner, side="left") - earlier
    less = count_below(points, PlanePoints(corner, level)) - earlier
    level_or_less = count_below(points, PlanePoints(corner, level + 1)) - earlier

    def per_group(column: np.ndarray) -> np.ndarray:
        return np.bincount(groups, column, minlength=n_groups).astype(np.int64)

    untied, concordant, only_x = map(per_group, (below, less, level_or_less - less))
    _, first, sharing = np.unique(level, return_index=True, return_counts=True)
    tied_x = np.bincount(groups[first], sharing * (sharing - 1) // 2, minlength=n_groups)
    both = tied_x.astype(np.int64) - only_x
    return PairCounts(
        concordant=concordant,
        discordant=untied - concordant - only_x,
        ties_x=only_x,
        ties_y=pairs - untied - both,
        ties_both=both,
    )


def _ranks(groups: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Dense ranks from 0, by group first and then by score."""
    order = np.lexsort((scores, groups))
    g, s = groups[order], scores[order]
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.cumsum(np.concatenate([[False], (g[1:] != g[:-1]) | (s[1:] != s[:-1])]))
    return ranks


class PlanePoints(NamedTuple):
    """Points of a plane, or corners of quadrants."""

    x: np.ndarray
    y: np.ndarray


def count_below(points: PlanePoints, corners: PlanePoints) -> np.ndarray:
    """For each corner, how many points lie below and to the left of it, both strictly."""
    # Points and corners are sorted by x; y is compared bit by bit of its rank, from the highest. A
    # corner whose bit is 1 gains what came before it with the same higher bits and a 0: the prefix
    # sums of a wavelet tree (Grossi, Gupta & Vitter 2003). Comparing every pair would take
    # quadratic time and memory.
    n_corners = len(corners.x)
    levels = np.unique(points.y)
    # Corners stand first, so that a stable sort puts them before points at the same x.
    order = np.argsort(np.concatenate([corners.x, points.x]), kind="stable")
    ranks = np.concatenate([np.searchsorted(levels, corners.y), np.searchsorted(levels, points.y)])
    is_point = (np.arange(len(ranks)) >= n_corners).astype(np.int64)
    state = _State(ranks[order], is_point[order], order)
    found = np.zeros(n_corners, dtype=np.int64)
    for bit in reversed(range(len(levels).bit_length())):
        state = state.refined(bit, found)
    return found


class _State(NamedTuple):
    """Points and corners in the order of their higher bits, then of x."""

    rank: np.ndarray
    is_point: np.ndarray
    place: np.ndarray

    def refined(self, bit: int, found: np.ndarray) -> _State:
        """Adds this bit's share to the corners and splits each run of equal higher bits by it."""
        size = len(self.rank)
        head, ones = self.rank >> (bit + 1), (self.rank >> bit) & 1
        starts = np.flatnonzero(np.concatenate([[True], head[1:] != head[:-1]]))[: max(1, size)]
        lengths = np.diff(np.append(starts, size))
        low = np.where(ones == 0, self.is_point, 0)
        before = _within(low, starts, lengths)
        asks = (ones == 1) & (self.place < len(found))
        found[self.place[asks]] += before[asks]
        zeros_before = _within(1 - ones, starts, lengths)
        zeros = np.repeat(np.add.reduceat(1 - ones, starts), lengths)
        start = np.repeat(starts, lengths)
        ones_before = np.arange(size) - start - zeros_before
        to = start + np.where(ones == 1, zeros + ones_before, zeros_before)
        moved = _State(*(np.empty_like(column) for column in self))
        for old, new in zip(self, moved, strict=True):
            new[to] = old
        return moved


def _within(column: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """For each place what stands before it in its own run."""
    before = np.cumsum(column) - column
    return np.asarray(before - np.repeat(before[starts], lengths))
