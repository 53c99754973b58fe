"""Newton's method for log-likelihoods that have one maximum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judgekit.errors import NotEnoughDataError

if TYPE_CHECKING:
    from collections.abc import Callable

_STEPS = 100
_HALVINGS = 50
_CONVERGED = 1e-10
_SINGULAR = 1e14


def maximise(
    loglik: Callable[[np.ndarray], float],
    derivatives: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    start: np.ndarray,
) -> np.ndarray:
    """The place of the maximum of a concave function.

    Args:
        loglik: The function; minus infinity outside its domain.
        derivatives: Its gradient, and minus its second derivative.
        start: Where to begin, inside the domain.

    Returns:
        The place.

    Raises:
        NotEnoughDataError: When there is no finite maximum: outcomes are separated, or
            coefficients cannot be told apart.
    """
    at, value = start, loglik(start)
    for _ in range(_STEPS):
        gradient, curvature = derivatives(at)
        if not np.linalg.cond(curvature) < _SINGULAR:
            break
        step, size = np.linalg.solve(curvature, gradient), 1.0
        for _ in range(_HALVINGS):
            found = loglik(at + size * step)
            if found >= value - 1e-12 * (1 + abs(value)):
                break
            size /= 2
        at, value = at + size * step, found
        if np.abs(size * step).max(initial=0.0) <= _CONVERGED * (1 + np.abs(at).max(initial=0.0)):
            return at
    raise NotEnoughDataError(
        "no finite estimate: outcomes are separated, or predictors depend on one another"
    )
