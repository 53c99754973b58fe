"""Ratings of items by several raters, some of them missing: listed, or as counts of each label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.known import cluster_codes, is_missing

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


@dataclass(frozen=True, slots=True)
class RatingList:
    """The ratings of the items that have enough of them, one after the other."""

    ratings: list[Hashable]
    """The ratings."""

    items: np.ndarray
    """The item of each, numbered from 0."""

    seen: frozenset[Hashable]
    """All ratings that occur, those of dropped items too."""

    clusters: np.ndarray | None
    """The cluster of each item, numbered from 0; None where items are independent."""

    n_missing: int
    """Missing ratings."""

    n_dropped: int
    """Items with too few ratings."""

    @property
    def n_ratings(self) -> int:
        """Ratings of the items that are left."""
        return len(self.ratings)

    @property
    def n_items(self) -> int:
        """Items that are left."""
        return int(self.items[-1]) + 1

    @property
    def n(self) -> int:
        """Independent units: items, or clusters of them."""
        return self.n_items if self.clusters is None else int(self.clusters.max()) + 1


@dataclass(frozen=True, slots=True)
class RatingCounts:
    """How often each item got each label."""

    labels: tuple[Hashable, ...]
    """The labels, in order."""

    counts: np.ndarray
    """One row an item that has enough ratings, one column a label."""

    clusters: np.ndarray | None
    """The cluster of each row, numbered from 0; None where items are independent."""

    n_missing: int
    """Missing ratings."""

    n_dropped: int
    """Items with too few ratings."""

    @property
    def n_ratings(self) -> int:
        """Ratings that are counted."""
        return int(self.counts.sum())

    @property
    def n(self) -> int:
        """Independent units: items, or clusters of them."""
        return len(self.counts) if self.clusters is None else int(self.clusters.max()) + 1


def list_ratings(
    ratings: Sequence[Sequence[Hashable]],
    *,
    at_least: int = 2,
    clusters: Sequence[Hashable] | None = None,
) -> RatingList:
    """List the ratings of the items that have enough of them.

    Args:
        ratings: One row an item, one rating a rater; None and nan are missing, rows may differ
            in length.
        at_least: Items with fewer ratings are dropped.
        clusters: The cluster of each item.

    Returns:
        The ratings of the items that are left, item after item.

    Raises:
        ValueError: When `clusters` has another length.
        NotEnoughDataError: When no item is left.
    """
    if clusters is not None and len(clusters) != len(ratings):
        raise ValueError(f"{len(ratings)} items, but {len(clusters)} cluster names")
    known = [[_plain(r) for r in row if not is_missing(r)] for row in ratings]
    kept = [i for i, row in enumerate(known) if len(row) >= at_least]
    if not kept:
        raise NotEnoughDataError(f"no item has {at_least} ratings")
    return RatingList(
        ratings=[rating for i in kept for rating in known[i]],
        items=np.repeat(np.arange(len(kept)), [len(known[i]) for i in kept]),
        seen=frozenset(rating for row in known for rating in row),
        clusters=None if clusters is None else cluster_codes(clusters, kept),
        n_missing=sum(len(row) - len(k) for row, k in zip(ratings, known, strict=True)),
        n_dropped=len(known) - len(kept),
    )


def count_ratings(
    ratings: Sequence[Sequence[Hashable]],
    *,
    labels: Sequence[Hashable] | None = None,
    at_least: int = 2,
    clusters: Sequence[Hashable] | None = None,
) -> RatingCounts:
    """Count the labels of each item.

    Args:
        ratings: As for `list_ratings`.
        labels: The whole scale in order; without, the labels that occur, sorted.
        at_least: Items with fewer ratings are dropped.
        clusters: The cluster of each item.

    Returns:
        The counts of the items that are left.

    Raises:
        ValueError: When a rating is not on the scale or `clusters` has another length.
        NotEnoughDataError: When no item is left.
    """
    listed = list_ratings(ratings, at_least=at_least, clusters=clusters)
    scale = _ordered(listed.seen) if labels is None else list(labels)
    place = {label: i for i, label in enumerate(scale)}
    strange = sorted(repr(r) for r in listed.seen if r not in place)
    if strange:
        raise ValueError(f"{', '.join(strange)} is not on the scale {scale}")
    counts = np.zeros((listed.n_items, len(scale)))
    np.add.at(counts, (listed.items, np.array([place[r] for r in listed.ratings])), 1)
    return RatingCounts(
        labels=tuple(scale),
        counts=counts,
        clusters=listed.clusters,
        n_missing=listed.n_missing,
        n_dropped=listed.n_dropped,
    )


def _plain(rating: Hashable) -> Hashable:
    """A rating out of an array as Python's own number or text, which order and compare alike."""
    return rating.item() if isinstance(rating, np.generic) else rating


def _ordered(seen: frozenset[Hashable]) -> list[Hashable]:
    if all(isinstance(label, int | float) for label in seen):
        return sorted(seen, key=float)  # type: ignore[arg-type] # checked above
    return sorted(seen, key=repr)
