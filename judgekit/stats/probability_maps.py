"""Maps from a judge's confidence to the probability that it is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.known import known_pairs, outcomes
from judgekit.stats.logistic import expit, fit_logistic
from judgekit.stats.result import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

_CLIP = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class PlattMap(Result):
    """`P = 1 / (1 + exp(-(intercept + slope score)))`."""

    intercept: float
    """Log-odds at a score of 0."""

    slope: float
    """Log-odds gained for each unit of the score."""

    n: int
    """Pairs it was fitted on."""

    n_missing: int = 0
    """Pairs that lack a side."""

    kind: str = "platt"
    """The name of this kind of map."""

    def predict(self, x: Sequence[float] | np.ndarray) -> np.ndarray:
        """The probabilities to expect.

        Args:
            x: Scores; nan stays nan.

        Returns:
            One probability a score.
        """
        return expit(self.intercept + self.slope * np.asarray(x, dtype=float))


@dataclass(frozen=True, slots=True, kw_only=True)
class BetaMap(Result):
    """`logit P = a ln s - b ln(1 - s) + c` for scores s in (0, 1)."""

    a: float
    """Weight of ln s, 0 or more."""

    b: float
    """Weight of -ln(1 - s), 0 or more."""

    c: float
    """Log-odds where both logarithms cancel."""

    n: int
    """Pairs it was fitted on."""

    n_missing: int = 0
    """Pairs that lack a side."""

    kind: str = "beta"
    """The name of this kind of map."""

    def predict(self, x: Sequence[float] | np.ndarray) -> np.ndarray:
        """The probabilities to expect.

        Args:
            x: Scores, clipped to [1e-6, 1 - 1e-6]; nan stays nan.

        Returns:
            One probability a score.
        """
        up, down = _logs(np.asarray(x, dtype=float))
        return expit(self.a * up + self.b * down + self.c)


def fit_platt(scores: Sequence[float | None], labels: Sequence[float | None]) -> PlattMap:
    """Logistic regression of pass/fail labels on a score (Platt 1999).

    Labels become `(n1 + 1) / (n1 + 2)` and `1 / (n0 + 2)`, so that separated data have an estimate.

    Args:
        scores: Any numbers: log-odds, confidences; None and nan are missing.
        labels: 1 (right) or 0, in the order of `scores`.

    Returns:
        The map.

    Raises:
        ValueError: When lengths differ or a label is neither 0 nor 1.
        NotEnoughDataError: When labels or scores do not vary.
    """
    x, targets, n_missing = _smoothed(scores, labels)
    fit = fit_logistic(np.column_stack([np.ones(len(x)), x]), targets)
    return PlattMap(
        intercept=float(fit.coef[0]), slope=float(fit.coef[1]), n=len(x), n_missing=n_missing
    )


def fit_beta(scores: Sequence[float | None], labels: Sequence[float | None]) -> BetaMap:
    """Beta calibration of confidences in (0, 1) (Kull, Silva Filho & Flach 2017).

    Logistic regression on `ln s` and `-ln(1 - s)` with Platt's targets; a weight that comes out
    negative is set to 0 and the other fitted anew, so the map never falls.

    Args:
        scores: Confidences in [0, 1]; None and nan are missing.
        labels: 1 (right) or 0, in the order of `scores`.

    Returns:
        The map.

    Raises:
        ValueError: When lengths differ, a confidence lies outside [0, 1], or a label is neither.
        NotEnoughDataError: When labels or scores do not vary enough.
    """
    x, targets, n_missing = _smoothed(scores, labels)
    if not ((x >= 0) & (x <= 1)).all():
        raise ValueError("a confidence lies outside 0..1")
    columns = _logs(x)
    used = [0, 1] if len(np.unique(x)) > 2 else [0]  # noqa: PLR2004 - two points, two coefficients
    weights = _slopes(columns, used, targets)
    while used and min(weights[place] for place in used) < 0:
        used = [place for place in used if weights[place] > 0]
        weights = _slopes(columns, used, targets)
    return BetaMap(a=weights[0], b=weights[1], c=weights[2], n=len(x), n_missing=n_missing)


def _smoothed(
    scores: Sequence[float | None], labels: Sequence[float | None]
) -> tuple[np.ndarray, np.ndarray, int]:
    x, y, n_missing = known_pairs(scores, labels)
    y = outcomes(y, "a label")
    if len(np.unique(x)) < 2 or len(np.unique(y)) < 2:  # noqa: PLR2004 - one value has no slope
        raise NotEnoughDataError("a map needs two different scores and both labels")
    n1 = float(y.sum())
    n0 = len(y) - n1
    return x, np.where(y == 1, (n1 + 1) / (n1 + 2), 1 / (n0 + 2)), n_missing


def _logs(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    s = np.clip(x, _CLIP, 1 - _CLIP)
    return np.log(s), -np.log1p(-s)


def _slopes(
    columns: tuple[np.ndarray, np.ndarray], used: Sequence[int], targets: np.ndarray
) -> list[float]:
    chosen = [columns[place] for place in used]
    coef = fit_logistic(np.column_stack([*chosen, np.ones(len(targets))]), targets).coef
    found = [0.0, 0.0, float(coef[-1])]
    for place, weight in zip(used, coef, strict=False):
        found[place] = float(weight)
    return found
