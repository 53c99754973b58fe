"""Maps from a judge's score to what humans would say, and the choice among them."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Protocol

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.isotonic import IsotonicMap, fit_isotonic
from judgekit.stats.known import floats, fold_codes, known_pairs
from judgekit.stats.ordinal_map import OrdinalMap, fit_ordinal
from judgekit.stats.probability_maps import BetaMap, PlattMap, fit_beta, fit_platt
from judgekit.stats.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

__all__ = [
    "AffineMap",
    "BetaMap",
    "FittedMap",
    "IsotonicMap",
    "MapChoice",
    "OrdinalMap",
    "PlattMap",
    "ShiftMap",
    "choose_map",
    "crossfit",
    "fit_affine",
    "fit_beta",
    "fit_isotonic",
    "fit_ordinal",
    "fit_platt",
    "fit_shift",
]

_FEW_LEVELS = 10
_PER_LEVEL = 5
_FLAT = 1e-12


class FittedMap(Protocol):
    """A map from judge scores to the human scale."""

    @property
    def kind(self) -> str:
        """The name of this kind of map."""
        ...

    def predict(self, x: Sequence[float] | np.ndarray) -> np.ndarray:
        """The human scores to expect at some judge scores."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftMap(Result):
    """`human = judge + shift`: takes out leniency and nothing else."""

    shift: float
    """Mean of human - judge."""

    n: int
    """Pairs it was fitted on."""

    n_missing: int = 0
    """Pairs that lack a side."""

    kind: str = "shift"
    """The name of this kind of map."""

    def predict(self, x: Sequence[float] | np.ndarray) -> np.ndarray:
        """The human scores to expect.

        Args:
            x: Judge scores; nan stays nan.

        Returns:
            One value a score.
        """
        return np.asarray(np.asarray(x, dtype=float) + self.shift)


@dataclass(frozen=True, slots=True, kw_only=True)
class AffineMap(Result):
    """`human = intercept + slope judge`: takes out leniency and a narrow use of the scale."""

    slope: float
    """Human steps for each step of the judge."""

    intercept: float
    """Human score at a judge score of 0."""

    n: int
    """Pairs it was fitted on."""

    n_missing: int = 0
    """Pairs that lack a side."""

    kind: str = "affine"
    """The name of this kind of map."""

    def predict(self, x: Sequence[float] | np.ndarray) -> np.ndarray:
        """The human scores to expect.

        Args:
            x: Judge scores; nan stays nan.

        Returns:
            One value a score.
        """
        return np.asarray(self.intercept + self.slope * np.asarray(x, dtype=float))


@dataclass(frozen=True, slots=True, kw_only=True)
class MapChoice(Result):
    """The map that was chosen, and how well each did out of fold."""

    chosen: FittedMap
    """The map, fitted on all pairs."""

    errors: tuple[tuple[str, float, float], ...]
    """Name, mean squared error out of fold, and its standard error; simplest map first."""

    skipped: tuple[tuple[str, str], ...]
    """Maps that were not tried, and why."""

    out_of_fold: tuple[float, ...]
    """What the chosen kind predicts for each known pair from the other folds."""

    n: int
    """Pairs."""

    n_missing: int
    """Pairs that lack a side."""


def fit_shift(x: Sequence[float | None], y: Sequence[float | None]) -> ShiftMap:
    """The mean of human - judge.

    Args:
        x: Judge scores; None and nan are missing.
        y: Human scores, in the order of `x`.

    Returns:
        The map.

    Raises:
        ValueError: When lengths differ.
        NotEnoughDataError: When no pair is known.
    """
    left, right, n_missing = known_pairs(x, y)
    if len(left) == 0:
        raise NotEnoughDataError("no pair of scores to fit a map on")
    return ShiftMap(shift=float((right - left).mean()), n=len(left), n_missing=n_missing)


def fit_affine(x: Sequence[float | None], y: Sequence[float | None]) -> AffineMap:
    """The least-squares line of human on judge scores.

    Args:
        x: Judge scores; None and nan are missing.
        y: Human scores, in the order of `x`.

    Returns:
        The map.

    Raises:
        ValueError: When lengths differ.
        NotEnoughDataError: When the judge gives one score only.
    """
    left, right, n_missing = known_pairs(x, y)
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


def crossfit(
    fit: Callable[[Sequence[float], Sequence[float]], FittedMap],
    x: Sequence[float | None],
    y: Sequence[float | None],
    folds: Sequence[Hashable] | int = 5,
) -> np.ndarray:
    """What maps fitted on the other folds predict for each pair.

    Args:
        fit: One of the fits of this module.
        x: Judge scores; None and nan are missing.
        y: Human scores, in the order of `x`.
        folds: The fold of each pair (keep a case in one), or how many to deal in turn.

    Returns:
        One prediction a pair, in order; nan for a pair that lacks a side.

    Raises:
        ValueError: When lengths differ.
        NotEnoughDataError: When fewer than two folds hold a pair, or a map cannot be fitted.
    """
    left, right, _ = known_pairs(x, y)
    fold = fold_codes(folds, x, y)
    found = np.empty(len(left))
    for k in np.unique(fold):
        away = fold != k
        found[fold == k] = fit(left[away].tolist(), right[away].tolist()).predict(left[fold == k])
    whole = np.full(len(x), np.nan)
    known = ~np.isnan(floats(x)) & ~np.isnan(floats(y))
    whole[known] = found
    return whole


def choose_map(
    x: Sequence[float | None],
    y: Sequence[float | None],
    folds: Sequence[Hashable] | int = 5,
) -> MapChoice:
    """The simplest map whose error out of fold is within one standard error of the best.

    Tried are shift (10 labels), affine (20), ordinal (50, and five for each of at most ten
    levels) and isotonic (100, or 50 where the judge uses ten scores or fewer); the rule is that
    of Breiman et al. 1984.

    Args:
        x: Judge scores; None and nan are missing.
        y: Human scores, in the order of `x`.
        folds: The fold of each pair (keep a case in one), or how many to deal in turn.

    Returns:
        The choice, with every map's error out of fold.

    Raises:
        ValueError: When lengths differ.
        NotEnoughDataError: When there are too few labels for any map.
    """
    left, right, n_missing = known_pairs(x, y)
    refusals = _refusals(left, right)
    predicted, skipped = {}, []
    for name, fit in _FITS.items():
        reason = refusals[name]
        if reason is None:
            try:
                predicted[name] = crossfit(fit, x, y, folds)
            except NotEnoughDataError as error:
                reason = error.message
        if reason is not None:
            skipped.append((name, reason))
    if not predicted:
        raise NotEnoughDataError("; ".join(f"{name}: {reason}" for name, reason in skipped))
    known = ~np.isnan(next(iter(predicted.values())))
    errors = [(name, *_squared(p[known], right)) for name, p in predicted.items()]
    _, best, doubt = min(errors, key=lambda row: row[1])
    name = next(name for name, error, _ in errors if error <= best + doubt)
    return MapChoice(
        chosen=_FITS[name](left.tolist(), right.tolist()),
        errors=tuple(errors),
        skipped=tuple(skipped),
        out_of_fold=tuple(predicted[name][known].tolist()),
        n=len(left),
        n_missing=n_missing,
    )


_FITS: Mapping[str, Callable[[Sequence[float], Sequence[float]], FittedMap]] = {
    "shift": fit_shift,
    "affine": fit_affine,
    "ordinal": fit_ordinal,
    "isotonic": fit_isotonic,
}
"""Simplest first."""


def _refusals(x: np.ndarray, y: np.ndarray) -> dict[str, str | None]:
    """Why a map is not tried."""
    n = len(x)
    levels, counts = np.unique(y, return_counts=True)
    coarse = len(np.unique(x)) <= _FEW_LEVELS
    needed = {"shift": 10, "affine": 20, "ordinal": 50, "isotonic": 50 if coarse else 100}
    found: dict[str, str | None] = {
        name: f"{n} labels, {least} are needed" if n < least else None
        for name, least in needed.items()
    }
    if len(levels) > _FEW_LEVELS or counts.min(initial=_PER_LEVEL) < _PER_LEVEL:
        found["ordinal"] = f"{_PER_LEVEL} labels of each of at most {_FEW_LEVELS} levels are needed"
    return found


def _squared(predicted: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    errors = (predicted - y) ** 2
    return float(errors.mean()), float(errors.std(ddof=1)) / sqrt(len(errors))
