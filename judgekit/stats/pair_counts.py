"""How two scores order the pairs of a group, counted without looking at each pair."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from judgekit.stats.dominance import Plane, sums_below
from judgekit.stats.known import DIGITS
from judgekit.stats.quantiles import SLACK


class PairCounts(NamedTuple):
    """Pairs of each group, by what both scores make of them."""

    concordant: np.ndarray
    """Both order them alike."""

    discordant: np.ndarray
    """They order them against each other."""

    ties_x: np.ndarray
    """Only the first ties them."""

    ties_y: np.ndarray
    """Only the second ties them."""

    ties_both: np.ndarray
    """Both tie them."""

    @property
    def pairs(self) -> np.ndarray:
        """All pairs of each group."""
        return np.asarray(sum(self))


def count_pairs(
    x: np.ndarray, y: np.ndarray, groups: np.ndarray, *, width: float = 0
) -> PairCounts:
    """How two scores order the pairs within groups.

    Each item asks how many of its group lie more than the width below it in y, and how many of
    these lie below it, or level with it, in x; what is left follows from the numbers of ties.
    Time grows as n log n, memory as n.

    Args:
        x: One score, none missing; scores that agree to nine digits are tied.
        y: The other.
        groups: The group of each item, numbered from 0.
        width: Scores of y that differ by no more are tied, 0 or more.

    Returns:
        Counts a group.
    """
    n_groups = int(groups.max(initial=-1)) + 1
    sizes = np.bincount(groups, minlength=n_groups)
    pairs = sizes * (sizes - 1) // 2
    level = _ranks(groups, np.round(x, DIGITS)) + groups  # a free rank above each group's own
    reach = np.concatenate([y, y - width - SLACK])
    place = _ranks(np.tile(groups, 2), reach)
    points = Plane(place[: len(y)], level)
    corner = place[len(y) :]
    earlier = (np.cumsum(sizes) - sizes)[groups]
    below = np.searchsorted(np.sort(points.x), corner, side="left") - earlier
    less = sums_below(points, Plane(corner, level)) - earlier
    level_or_less = sums_below(points, Plane(corner, level + 1)) - earlier

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
