"""Concordant, discordant and tied pairs of two scores, counted without listing them.

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

    Scores that agree to nine digits are tied. Time grows as n (log n)^2, memory as n.
    """
    # For each item: how many of its group lie more than the width below it in y, and how many of
    # these lie below it, or level with it, in x. The rest follows from the numbers of ties.
    n_groups = int(groups.max(initial=-1)) + 1
    sizes = np.bincount(groups, minlength=n_groups)
    pairs = sizes * (sizes - 1) // 2
    # A free rank above each group's own: `level + 1` below asks for ties without reaching into the
    # next group.
    level = dense_ranks(groups, np.round(x, DIGITS)) + groups
    reach = np.concatenate([y, y - width - SLACK])
    place = dense_ranks(np.tile(groups, 2), reach)
    at, corner = place[: len(y)], place[len(y) :]
    earlier = (np.cumsum(sizes) - sizes)[groups]
    below = np.searchsorted(np.sort(at), corner, side="left") - earlier
    less = count_below(at, level, corner, level) - earlier
    level_or_less = count_below(at, level, corner, level + 1) - earlier

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


def dense_ranks(groups: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Dense ranks from 0, by group first and then by score."""
    order = np.lexsort((scores, groups))
    g, s = groups[order], scores[order]
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.cumsum(np.concatenate([[False], (g[1:] != g[:-1]) | (s[1:] != s[:-1])]))
    return ranks


def count_below(x: np.ndarray, y: np.ndarray, of_x: np.ndarray, of_y: np.ndarray) -> np.ndarray:
    """For each corner (of_x, of_y), how many points (x, y) lie left of and below it, strictly."""
    # Corners and points stand in the order of x, corners first at the same x. That order is cut
    # into blocks, twice as long in every round; a corner in the second of two blocks gains the
    # points in the first that lie below it. So each corner meets each point left of it once, and
    # comparing every pair, which takes quadratic time and memory, is spared.
    n_corners = len(of_x)
    order = np.argsort(np.concatenate([of_x, x]), kind="stable")
    levels, level = np.unique(np.concatenate([of_y, y]), return_inverse=True)
    level, is_point = level[order], order >= n_corners
    found = np.zeros(n_corners, dtype=np.int64)
    place, width = np.arange(len(order)), 1
    while width < len(order):
        is_second, pair = place // width % 2 == 1, place // (2 * width)
        floor = pair * len(levels)
        points = np.sort((floor + level)[is_point & ~is_second])
        asks = ~is_point & is_second
        lower, upper = (np.searchsorted(points, at[asks]) for at in (floor, floor + level))
        found[order[asks]] += upper - lower
        width *= 2
    return found
