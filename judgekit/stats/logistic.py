"""Logistic regression of shares and, as the cumulative logit, of ordered levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Counted
from judgekit.stats.missing import Values, known_pairs


class LogisticFit(NamedTuple):
    """Coefficients, the fitted probability of each row, and the curvature at the maximum."""

    coef: np.ndarray
    fitted: np.ndarray
    curvature: np.ndarray
    """Minus the second derivative of the log-likelihood."""


def expit(x: np.ndarray) -> np.ndarray:
    """The probability of a log-odds, without overflow."""
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1, small) / (1 + small))


def fit_logistic(design: np.ndarray, y: np.ndarray) -> LogisticFit:
    """The logistic regression of shares in [0, 1], by maximum likelihood."""

    def loglik(at: np.ndarray) -> float:
        eta = design @ at
        return float((y * eta - np.logaddexp(0, eta)).sum())

    def derivatives(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = expit(design @ at)
        return design.T @ (y - p), design.T @ ((p * (1 - p))[:, None] * design)

    coef = maximise(loglik, derivatives, np.zeros(design.shape[1]))
    return LogisticFit(coef, expit(design @ coef), derivatives(coef)[1])


_RIDGE = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdinalMap(Counted):
    """`P(human <= level k) = 1 / (1 + exp(-(cut_k - slope x)))`."""

    slope: float
    """Log-odds of a higher rating gained for each unit of the judge's score."""

    cutpoints: tuple[float, ...]
    """Rising, one between each two levels that were used."""

    levels: tuple[float, ...]
    """The human levels that were used; an unused one has no cutpoint."""

    loglik: float
    """Log-likelihood, without the ridge."""

    judge_scores: tuple[float, ...]
    """The judge's distinct scores."""

    note: str | None = None

    kind: str = "ordinal"

    def probabilities(self, x: Sequence[float] | np.ndarray) -> np.ndarray:
        """The distribution of the human rating."""
        eta = np.array(self.cutpoints) - self.slope * np.asarray(x, dtype=float)[..., None]
        return np.asarray(np.diff(expit(eta), prepend=0.0, append=1.0, axis=-1))

    def predict(self, x: Sequence[float] | np.ndarray) -> np.ndarray:
        """The human ratings to expect."""
        return np.asarray(self.probabilities(x) @ np.array(self.levels))

    @property
    def expected_at(self) -> dict[str, float]:
        """The human rating to expect at each score and level, by its text ("3")."""
        points = sorted({*self.judge_scores, *self.levels})
        return {f"{x:g}": float(self.predict([x])[0]) for x in points}


def fit_ordinal(judge: Values, human: Values) -> OrdinalMap:
    """The cumulative logit of human levels on the judge's score (McCullagh 1980).

    Maximum likelihood by Newton's method; the log-likelihood has one maximum. Where the judge
    orders the levels perfectly the slope would be infinite: then, and only then, a ridge of
    1e-3 keeps it finite, with a note. For rubric levels with five labels each or more.

    Args:
        judge: Judge scores; None and nan are missing.
        human: Human levels, in the order of `judge`.

    Raises:
        NotEnoughDataError: When the judge or the humans use one value only.
    """
    x, y, n_missing = known_pairs(judge, human)
    levels, rank = np.unique(y, return_inverse=True)
    if len(levels) < 2 or len(np.unique(x)) < 2:  # noqa: PLR2004 - one value has no slope
        raise NotEnoughDataError("an ordinal map needs two judge scores and two human levels")
    # Fitted on standardised scores, so that the ridge weighs the same on every scale.
    centre, scale = float(x.mean()), float(x.std())
    # Whether every cut parts the scores of lower and higher levels, in one direction.
    parts = [(x[rank <= k], x[rank > k]) for k in range(int(rank.max()))]
    rising = all(below.max() <= above.min() for below, above in parts)
    separated = rising or all(below.min() >= above.max() for below, above in parts)
    ridge = _RIDGE / scale**2 if separated else 0.0
    z = (x - centre) / scale
    # The cutpoints of a judge without information are the start: they rise, as all steps must.
    share = np.cumsum(np.bincount(rank))[:-1] / len(rank)
    at = maximise(
        lambda here: -_loss(here, z, rank, ridge),
        lambda here: _derivatives(here, z, rank, ridge),
        np.append(0.0, np.log(share / (1 - share))),
    )
    slope, cuts = float(at[0]), at[1:]
    return OrdinalMap(
        slope=slope / scale,
        cutpoints=tuple((cuts + slope * centre / scale).tolist()),
        levels=tuple(levels.tolist()),
        loglik=ridge * slope**2 / 2 - _loss(at, z, rank, ridge),
        judge_scores=tuple(np.unique(x).tolist()),
        n=len(x),
        n_missing=n_missing,
        note="the judge orders the levels perfectly: a ridge of 1e-3 keeps the slope finite"
        if separated
        else None,
    )


def _around(at: np.ndarray, x: np.ndarray, rank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cumulative probabilities above and below the level of each observation."""
    ends = np.concatenate([[-np.inf], at[1:], [np.inf]])
    return expit(ends[rank + 1] - at[0] * x), expit(ends[rank] - at[0] * x)


def _loss(at: np.ndarray, x: np.ndarray, rank: np.ndarray, ridge: float) -> float:
    """Minus the log-likelihood; infinite where cutpoints do not rise."""
    if (np.diff(at[1:]) <= 0).any():
        return float("inf")
    with np.errstate(divide="ignore"):
        upper, lower = _around(at, x, rank)
        return float(-np.log(upper - lower).sum()) + ridge * float(at[0]) ** 2 / 2


def _derivatives(
    at: np.ndarray, x: np.ndarray, rank: np.ndarray, ridge: float
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient of the log-likelihood and minus its second derivative, in (slope, cuts)."""
    # With U and L the log-odds at both ends of a level, d/dU ln(F(U) - F(L)) = f(U) / mass, and the
    # chain rule leads through U = cut - slope x.
    upper, lower = _around(at, x, rank)
    mass = upper - lower
    f_up, f_low = upper * (1 - upper), lower * (1 - lower)
    g_up, g_low = f_up / mass, -f_low / mass
    h_up = f_up * (1 - 2 * upper) / mass - g_up**2
    h_low = -f_low * (1 - 2 * lower) / mass - g_low**2
    h_both = -g_up * g_low
    n, m = len(x), len(at) - 1
    up, low = np.zeros((n, m + 2)), np.zeros((n, m + 2))
    up[np.arange(n), rank + 1] = 1
    low[np.arange(n), rank] = 1
    by_up = np.column_stack([-x, up[:, 1:-1]])
    by_low = np.column_stack([-x, low[:, 1:-1]])
    gradient = by_up.T @ g_up + by_low.T @ g_low
    cross = by_up.T @ (h_both[:, None] * by_low)
    second = by_up.T @ (h_up[:, None] * by_up) + by_low.T @ (h_low[:, None] * by_low)
    curvature = -(second + cross + cross.T)
    gradient[0] -= ridge * at[0]
    curvature[0, 0] += ridge
    return gradient, curvature


_STEPS = 100
_HALVINGS = 50
_CONVERGED = 1e-10
_SINGULAR = 1e14


def maximise(
    loglik: Callable[[np.ndarray], float],
    derivatives: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    start: np.ndarray,
) -> np.ndarray:
    """Where a concave function has its maximum; NotEnoughDataError where it has none."""
    # Newton with halved steps, and not scipy.optimize.minimize: that reports success on separated
    # outcomes, where the likelihood only flattens out, while the curvature here becomes singular;
    # and strengths near 1e-9 decide whether two items share a rank.
    at, value = start, loglik(start)
    for _ in range(_STEPS):
        gradient, curvature = derivatives(at)
        if not np.linalg.cond(curvature) < _SINGULAR:
            break
        step, size = np.linalg.solve(curvature, gradient), 1.0
        for _ in range(_HALVINGS):
            reached = loglik(at + size * step)
            if reached >= value - 1e-12 * (1 + abs(value)):
                break
            size /= 2
        at, value = at + size * step, reached
        if np.abs(size * step).max(initial=0.0) <= _CONVERGED * (1 + np.abs(at).max(initial=0.0)):
            return at
    raise NotEnoughDataError(
        "no finite estimate: outcomes are separated, or predictors depend on one another"
    )
