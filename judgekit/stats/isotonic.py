"""The best rising fit through points: pooling adjacent violators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.known import floats, known_pairs
from judgekit.stats.result import Result

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class IsotonicMap(Result):
    """A rising map, linear between its knots and level beyond them."""

    knots_x: tuple[float, ...]
    """Judge scores it was fitted on, rising."""

    knots_y: tuple[float, ...]
    """The human score at each, never falling."""

    n: int
    """Pairs it was fitted on."""

    n_missing: int = 0
    """Pairs that lack a side."""

    kind: str = "isotonic"
    """The name of this kind of map."""

    def predict(self, x: Sequence[float] | np.ndarray) -> np.ndarray:
        """The human scores to expect.

        Args:
            x: Judge scores; nan stays nan.

        Returns:
            One value a score.
        """
        return np.asarray(np.interp(np.asarray(x, dtype=float), self.knots_x, self.knots_y))


def fit_isotonic(
    x: Sequence[float | None],
    y: Sequence[float | None],
    *,
    weights: Sequence[float] | None = None,
) -> IsotonicMap:
    """The rising map with the least squared error (Ayer et al. 1955; Barlow et al. 1972).

    Equal x are averaged first, then neighbours that do not rise are pooled. The mean of the
    fitted values is the mean of y, so it removes leniency; on its own points it flatters: judge
    it by `calibration.crossfit`.

    Args:
        x: Judge scores; None and nan are missing.
        y: Human scores, in the order of `x`.
        weights: Weight of each pair, more than 0.

    Returns:
        The map, a knot at each distinct x.

    Raises:
        ValueError: When lengths differ or a weight is not positive.
        NotEnoughDataError: When no pair is known.
    """
    left, right, n_missing = known_pairs(x, y)
    if len(left) == 0:
        raise NotEnoughDataError("no pair of scores to fit a map on")
    w = np.ones(len(left)) if weights is None else _known_weights(x, y, weights)
    knots, group = np.unique(left, return_inverse=True)
    mass = np.bincount(group, w)
    level = np.bincount(group, w * right) / mass
    fitted = pool_adjacent(level, mass)
    return IsotonicMap(
        knots_x=tuple(knots.tolist()),
        knots_y=tuple(fitted.tolist()),
        n=len(left),
        n_missing=n_missing,
    )


def pool_adjacent(y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The never-falling sequence nearest to y in weighted squares.

    Args:
        y: Values in order of x.
        weights: Weight of each, more than 0.

    Returns:
        The fitted values.
    """
    blocks: list[tuple[float, float, int]] = []
    for value, weight in zip(y.tolist(), weights.tolist(), strict=True):
        mean, mass, size = value, weight, 1
        while blocks and blocks[-1][0] >= mean:
            before, its_mass, its_size = blocks.pop()
            mean = (before * its_mass + mean * mass) / (its_mass + mass)
            mass, size = mass + its_mass, size + its_size
        blocks.append((mean, mass, size))
    return np.repeat([block[0] for block in blocks], [block[2] for block in blocks])


def _known_weights(
    x: Sequence[float | None], y: Sequence[float | None], weights: Sequence[float]
) -> np.ndarray:
    if len(weights) != len(x):
        raise ValueError(f"{len(x)} pairs, but {len(weights)} weights")
    w = floats(weights)
    known = ~np.isnan(floats(x)) & ~np.isnan(floats(y))
    if not (w[known] > 0).all():
        raise ValueError("a weight is not more than 0")
    return np.asarray(w[known])
