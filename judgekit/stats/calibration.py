"""Maps from a judge's score to the human label, and the choice among them.

Shift, affine, isotonic and Platt; the ordinal map is in `logistic`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Counted
from judgekit.stats.logistic import OrdinalMap, expit, fit_logistic, fit_ordinal
from judgekit.stats.missing import Values, floats, fold_codes, known_columns, known_pairs, outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class IsotonicMap(Counted):
    """A rising map, linear between its knots and level beyond them."""

    knots_x: tuple[float, ...]
    """Judge scores it was fitted on, rising."""

    knots_y: tuple[float, ...]
    """The human score at each, never falling."""

    kind: str = "isotonic"

    def predict(self, x: Sequence[float] | np.ndarray) -> np.ndarray:
        """The human scores to expect."""
        return np.asarray(np.interp(np.asarray(x, dtype=float), self.knots_x, self.knots_y))


def fit_isotonic(x: Values, y: Values, *, weights: Sequence[float] | None = None) -> IsotonicMap:
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
    """
    left, right, n_missing = known_pairs(x, y)
    if len(left) == 0:
        raise NotEnoughDataError("no pair of scores to fit a map on")
    w = np.ones(len(left))
    if weights is not None:
        if len(weights) != len(x):
            raise ValueError(f"{len(x)} pairs, but {len(weights)} weights")
        w = floats(weights)[known_columns(x, y)[1]]
        if not (w > 0).all():
            raise ValueError("a weight is not more than 0")
    knots, group = np.unique(left, return_inverse=True)
    mass = np.bincount(group, w)
    level = np.bincount(group, w * right) / mass
    fitted = _pooled(level.tolist(), mass.tolist())
    return IsotonicMap(
        knots_x=tuple(knots.tolist()), knots_y=tuple(fitted), n=len(left), n_missing=n_missing
    )


# scipy.optimize has it too, in a package of 180 modules that takes longer to import than most
# calibrations take; the tests compare this one with the definition.
def _pooled(level: list[float], mass: list[float]) -> list[float]:
    """Values that nowhere fall, each the mean of neighbours that would."""
    blocks: list[tuple[float, float, int]] = []
    for knot in zip(level, mass, strict=True):
        value, weight, n = *knot, 1
        while blocks and blocks[-1][0] >= value:
            earlier, its_weight, its_n = blocks.pop()
            value = (earlier * its_weight + value * weight) / (its_weight + weight)
            weight, n = its_weight + weight, its_n + n
        blocks.append((value, weight, n))
    return [value for value, _, n in blocks for _ in range(n)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlattMap(Counted):
    """`P = 1 / (1 + exp(-(intercept + slope score)))`."""

    intercept: float
    """Log-odds at a score of 0."""

    slope: float
    """Log-odds gained for each unit of the score."""

    kind: str = "platt"

    def predict(self, x: Sequence[float] | np.ndarray) -> np.ndarray:
        """The probabilities to expect."""
        return expit(self.intercept + self.slope * np.asarray(x, dtype=float))


def fit_platt(scores: Values, labels: Values) -> PlattMap:
    """Logistic regression of pass/fail labels on a score (Platt 1999).

    Labels become `(n1 + 1) / (n1 + 2)` and `1 / (n0 + 2)`, so that separated data have an estimate.

    Args:
        scores: Any numbers: log-odds, confidences; None and nan are missing.
        labels: 1 (right) or 0, in the order of `scores`.

    Raises:
        NotEnoughDataError: When labels or scores do not vary.
    """
    x, y, n_missing = known_pairs(scores, labels)
    y = outcomes(y, "a label")
    if len(np.unique(x)) < 2 or len(np.unique(y)) < 2:  # noqa: PLR2004 - one value has no slope
        raise NotEnoughDataError("a map needs two different scores and both labels")
    n1 = float(y.sum())
    n0 = len(y) - n1
    targets = np.where(y == 1, (n1 + 1) / (n1 + 2), 1 / (n0 + 2))
    fit = fit_logistic(np.column_stack([np.ones(len(x)), x]), targets)
    return PlattMap(
        intercept=float(fit.coef[0]), slope=float(fit.coef[1]), n=len(x), n_missing=n_missing
    )


_FEW_LEVELS = 10
_PER_LEVEL = 5
_FLAT = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftMap(Counted):
    """`human = judge + shift`: takes out leniency and nothing else."""

    shift: float
    """Mean of human - judge."""

    kind: str = "shift"

    def predict(self, x: Sequence[float] | np.ndarray) -> np.ndarray:
        """The human scores to expect."""
        return np.asarray(np.asarray(x, dtype=float) + self.shift)


@dataclass(frozen=True, slots=True, kw_only=True)
class AffineMap(Counted):
    """`human = intercept + slope judge`: takes out leniency and a narrow use of the scale."""

    slope: float
    """Human steps for each step of the judge."""

    intercept: float
    """Human score at a judge score of 0."""

    kind: str = "affine"

    def predict(self, x: Sequence[float] | np.ndarray) -> np.ndarray:
        """The human scores to expect."""
        return np.asarray(self.intercept + self.slope * np.asarray(x, dtype=float))


FittedMap = ShiftMap | AffineMap | IsotonicMap | PlattMap | OrdinalMap
"""A map from judge scores to the human scale."""

_Fit = Callable[[np.ndarray, np.ndarray], FittedMap]


@dataclass(frozen=True, slots=True, kw_only=True)
class MapChoice(Counted):
    """The map that was chosen, and how well each did out of fold."""

    chosen: FittedMap
    """The map, fitted on all pairs."""

    errors: tuple[tuple[str, float, float], ...]
    """Name, mean squared error out of fold, and its standard error; simplest map first."""

    skipped: tuple[tuple[str, str], ...]
    """Maps that were not tried, and why."""

    out_of_fold: tuple[float, ...]
    """What the chosen kind predicts for each known pair from the other folds."""


def fit_shift(x: Values, y: Values) -> ShiftMap:
    """The mean of human - judge."""
    left, right, n_missing = known_pairs(x, y)
    if len(left) == 0:
        raise NotEnoughDataError("no pair of scores to fit a map on")
    return ShiftMap(shift=float((right - left).mean()), n=len(left), n_missing=n_missing)


def fit_affine(x: Values, y: Values) -> AffineMap:
    """The least-squares line of human on judge scores.

    Args:
        x: Judge scores; None and nan are missing.
        y: Human scores, in the order of `x`.

    Raises:
        NotEnoughDataError: When the judge gives one score only.
    """
    left, right, n_missing = known_pairs(x, y)
    # Centred, so that a scale far from 0 does not cost the slope its digits.
    centred = left - left.mean() if len(left) else left
    spread = float((centred**2).sum())
    if not spread > _FLAT:
        raise NotEnoughDataError("a line needs two different judge scores")
    slope = float((centred * right).sum()) / spread
    return AffineMap(
        slope=slope,
        intercept=float(right.mean() - slope * left.mean()),
        n=len(left),
        n_missing=n_missing,
    )


def crossfit(fit: _Fit, x: Values, y: Values, folds: Sequence[Hashable] | int = 5) -> np.ndarray:
    """What maps fitted on the other folds predict for each pair; nan for a pair that lacks a side.

    `folds` are the fold of each pair (keep a case in one), or how many to deal in turn.
    """
    (left, right), places = known_columns(x, y)
    fold = fold_codes(folds, x, y)
    predicted = np.full(len(x), np.nan)
    for k in np.unique(fold):
        # A prediction may use no label of its own fold, or its error would look too small.
        away = fold != k
        predicted[places[~away]] = fit(left[away], right[away]).predict(left[~away])
    return predicted


def choose_map(x: Values, y: Values, folds: Sequence[Hashable] | int = 5) -> MapChoice:
    """The simplest map whose error out of fold is within one standard error of the best.

    Tried are shift (10 labels), affine (20), ordinal (50, and five for each of at most ten
    levels) and isotonic (100, or 50 where the judge uses ten scores or fewer); the rule is that
    of Breiman et al. 1984. Folds are those of `crossfit`.
    """
    left, right, n_missing = known_pairs(x, y)
    refusals = _refusals(left, right)
    predicted = {}
    for name, fit in _FITS.items():
        if name not in refusals:
            try:
                predicted[name] = crossfit(fit, x, y, folds)
            except NotEnoughDataError as error:
                refusals[name] = error.message
    skipped = [(name, refusals[name]) for name in _FITS if name in refusals]
    if not predicted:
        raise NotEnoughDataError("; ".join(f"{name}: {reason}" for name, reason in skipped))
    known = ~np.isnan(next(iter(predicted.values())))
    errors = []
    for name, p in predicted.items():
        squares = (p[known] - right) ** 2
        mean, se = float(squares.mean()), float(squares.std(ddof=1)) / sqrt(len(squares))
        errors.append((name, mean, se))
    _, best, se = min(errors, key=lambda row: row[1])
    # Breiman et al. (1984), the one-standard-error rule: _FITS has the simplest map first.
    name = next(name for name, error, _ in errors if error <= best + se)
    return MapChoice(
        chosen=_FITS[name](left, right),
        errors=tuple(errors),
        skipped=tuple(skipped),
        out_of_fold=tuple(predicted[name][known].tolist()),
        n=len(left),
        n_missing=n_missing,
    )


_FITS: Mapping[str, _Fit] = {
    "shift": fit_shift,
    "affine": fit_affine,
    "ordinal": fit_ordinal,
    "isotonic": fit_isotonic,
}


def _refusals(x: np.ndarray, y: np.ndarray) -> dict[str, str]:
    """Why some maps are not tried."""
    # A judge with few scores gives the isotonic map few steps to fit, so fewer labels are enough.
    coarse = len(np.unique(x)) <= _FEW_LEVELS
    needed = {"shift": 10, "affine": 20, "ordinal": 50, "isotonic": 50 if coarse else 100}
    n, counts = len(x), np.unique(y, return_counts=True)[1]
    reasons = {
        name: f"{n} labels, {least} are needed" for name, least in needed.items() if n < least
    }
    if len(counts) > _FEW_LEVELS or counts.min(initial=_PER_LEVEL) < _PER_LEVEL:
        reasons["ordinal"] = (
            f"{_PER_LEVEL} labels of each of at most {_FEW_LEVELS} levels are needed"
        )
    return reasons
