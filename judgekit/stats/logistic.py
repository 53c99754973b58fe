"""Logistic regression by Newton's method, for shares as well as outcomes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from judgekit.stats.newton import maximise


class LogisticFit(NamedTuple):
    """A fitted logistic regression."""

    coef: np.ndarray
    """Coefficients."""

    fitted: np.ndarray
    """Fitted probability of each row."""

    curvature: np.ndarray
    """Minus the second derivative of the log-likelihood."""


def expit(x: np.ndarray) -> np.ndarray:
    """The probability of a log-odds, without overflow.

    Args:
        x: Log-odds.

    Returns:
        `1 / (1 + exp(-x))`.
    """
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1, small) / (1 + small))


def fit_logistic(
    design: np.ndarray,
    y: np.ndarray,
    *,
    weights: np.ndarray | None = None,
) -> LogisticFit:
    """The logistic regression of shares in [0, 1], by maximum likelihood.

    Args:
        design: One row an observation, one column a coefficient.
        y: Outcomes or shares, in [0, 1].
        weights: Weight of each row.

    Returns:
        The fit.

    Raises:
        NotEnoughDataError: When the data separate outcomes, or columns depend on one another, so
            that there is no finite maximum.
    """
    w = np.ones(len(y)) if weights is None else weights

    def loglik(at: np.ndarray) -> float:
        eta = design @ at
        return float((w * (y * eta - np.logaddexp(0, eta))).sum())

    def derivatives(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = expit(design @ at)
        return design.T @ (w * (y - p)), design.T @ ((w * p * (1 - p))[:, None] * design)

    coef = maximise(loglik, derivatives, np.zeros(design.shape[1]))
    return LogisticFit(coef, expit(design @ coef), derivatives(coef)[1])
