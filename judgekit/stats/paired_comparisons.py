"""Results of comparisons of two items at a time, and which items they link."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypedDict

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.arguments import whole
from judgekit.stats.known import cluster_codes

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


class PairResult(TypedDict):
    """What came of comparing items i and j, numbered from 0."""

    i: int
    j: int
    wins_i: float
    wins_j: float
    ties: float


class Comparisons(NamedTuple):
    """Rows of results in arrays, with the items that were compared."""

    i: np.ndarray
    j: np.ndarray
    counts: np.ndarray
    n_items: int
    clusters: np.ndarray | None
    kept: np.ndarray

    @property
    def items(self) -> np.ndarray:
        """The items that were compared."""
        return np.unique(np.concatenate([self.i, self.j]))

    @property
    def n_units(self) -> int:
        """Comparisons, or clusters of them."""
        if self.clusters is None:
            return round(float(self.counts.sum()))
        return int(self.clusters.max()) + 1

    def contrasts(self) -> tuple[np.ndarray, np.ndarray]:
        """Strengths of all items from free coefficients, and the difference of each row.

        Returns:
            A matrix of one row an item (0 for items never compared) whose columns sum to 0, and
            for each result row i less row j of it.
        """
        items = self.items
        basis = np.zeros((self.n_items, len(items) - 1))
        basis[items[:-1]] = np.eye(len(items) - 1)
        basis[items[-1]] = -1
        return basis, basis[self.i] - basis[self.j]

    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Items linked by comparisons in either direction."""
        return _components(self._beats() | self._beats().T)

    def levels(self) -> tuple[tuple[int, ...], ...]:
        """Items that beat each other, if by way of others; single ones included.

        Within a level strengths are finite; between two levels one side only has ever won.
        """
        reach = _closure(self._beats())
        found = {tuple(np.flatnonzero(row).tolist()) for row in reach & reach.T}
        return tuple(sorted(found))

    def is_separated(self) -> bool:
        """Whether some items never lost or tied against the others."""
        reach = _closure(self._beats())[np.ix_(self.items, self.items)]
        return not bool(reach.all())

    def _beats(self) -> np.ndarray:
        beats = np.zeros((self.n_items, self.n_items), dtype=bool)
        tied = self.counts[:, 2] > 0
        for winner, loser, won in (
            (self.i, self.j, self.counts[:, 0] > 0),
            (self.j, self.i, self.counts[:, 1] > 0),
        ):
            beats[winner[won | tied], loser[won | tied]] = True
        return beats


def comparisons(
    results: Sequence[PairResult], n_items: int, clusters: Sequence[Hashable] | None = None
) -> Comparisons:
    """Check results and put them in arrays.

    Args:
        results: Rows of items i and j (from 0), wins_i, wins_j and ties.
        n_items: How many items there are.
        clusters: The prompt of each row.

    Returns:
        The rows that hold a comparison, in an order of their own.

    Raises:
        ValueError: When an item or a count is out of range, or `clusters` has another length.
        NotEnoughDataError: When there is no comparison.
    """
    (n_items,) = whole(n_items=n_items)
    if clusters is not None and len(clusters) != len(results):
        raise ValueError(f"{len(results)} results, but {len(clusters)} cluster names")
    rows = np.array([(r["i"], r["j"]) for r in results], dtype=int).reshape(-1, 2)
    counts = np.array(
        [(r["wins_i"], r["wins_j"], r["ties"]) for r in results], dtype=float
    ).reshape(-1, 3)
    if (rows < 0).any() or (rows >= n_items).any() or (rows[:, 0] == rows[:, 1]).any():
        raise ValueError(f"a result is not of two different items of 0..{n_items - 1}")
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise ValueError("a count of wins or ties is negative or missing")
    kept = np.flatnonzero(counts.sum(axis=1) > 0)
    if len(kept) == 0:
        raise NotEnoughDataError("no comparison to rank by")
    codes = None
    if clusters is not None:
        codes = cluster_codes(clusters, kept.tolist())
    return Comparisons(rows[kept, 0], rows[kept, 1], counts[kept], n_items, codes, kept)


def _closure(links: np.ndarray) -> np.ndarray:
    reach = links | np.eye(len(links), dtype=bool)
    for via in range(len(links)):
        reach |= reach[:, [via]] & reach[[via], :]
    return reach


def _components(links: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """Groups of two items or more that links join."""
    reach = _closure(links)
    found = {tuple(np.flatnonzero(row).tolist()) for row in reach}
    return tuple(sorted(group for group in found if len(group) > 1))
