"""How much lies below and to the left of points of a plane, in time n log n."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Plane(NamedTuple):
    """Points, or corners to look from: two coordinates each."""

    x: np.ndarray
    """First coordinates."""

    y: np.ndarray
    """Second coordinates."""


def sums_below(points: Plane, corners: Plane, weights: np.ndarray | None = None) -> np.ndarray:
    """For each corner, the weight of the points below and to the left of it, both strictly.

    Points and corners are walked by x; y is looked at bit by bit of its rank, from the highest: a
    corner whose bit is 1 takes what came before it with the same higher bits and a 0 (the prefix
    sums of a wavelet tree: Grossi, Gupta & Vitter 2003). Comparing every pair would take the
    square of the time, and of the memory.

    Args:
        points: The points.
        corners: The corners.
        weights: Weight of each point; without, each counts 1 and the sums are whole.

    Returns:
        One sum a corner.
    """
    n_corners = len(corners.x)
    levels = np.unique(points.y)
    # Corners stand first, so that a stable sort puts them before points at the same x.
    order = np.argsort(np.concatenate([corners.x, points.x]), kind="stable")
    ranks = np.concatenate([np.searchsorted(levels, corners.y), np.searchsorted(levels, points.y)])
    own = np.ones(len(points.x), dtype=np.int64) if weights is None else weights
    mass = np.concatenate([np.zeros(n_corners, dtype=own.dtype), own])
    state = _State(ranks[order], mass[order], order)
    found = np.zeros(n_corners, dtype=own.dtype)
    for bit in reversed(range(len(levels).bit_length())):
        state = state.looked_at(bit, found)
    return found


class _State(NamedTuple):
    """Points and corners in the order of their higher bits, then of x."""

    rank: np.ndarray
    mass: np.ndarray
    place: np.ndarray

    def looked_at(self, bit: int, found: np.ndarray) -> _State:
        """Adds what this bit tells to the corners; parts each run of equal higher bits by it."""
        size = len(self.rank)
        head, ones = self.rank >> (bit + 1), (self.rank >> bit) & 1
        starts = np.flatnonzero(np.concatenate([[True], head[1:] != head[:-1]]))[: max(1, size)]
        lengths = np.diff(np.append(starts, size))
        low = np.where(ones == 0, self.mass, 0)
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
