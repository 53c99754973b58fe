"""Fits the map of one criterion by cross-validation; the judge's own value where none is nearer."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan
from typing import TYPE_CHECKING

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.evaluation.calibrating.alphas import NO_ORDER
from judgekit.evaluation.calibrating.clustering import average
from judgekit.evaluation.calibrating.trusting import folds_of
from judgekit.records.calibration_map import CalibrationMap, Measured
from judgekit.stats.calibration import (
    choose_map,
    crossfit,
    fit_affine,
    fit_isotonic,
    fit_ordinal,
    fit_platt,
    fit_shift,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from judgekit.evaluation.calibrating.aligned import Aligned
    from judgekit.records.calibration_map import MapMethod
    from judgekit.records.rubric import Criterion
    from judgekit.stats.calibration import FittedMap
    from judgekit.stats.estimate import Estimate

LEAST = 30
"""So many labelled outputs a map needs."""

_ALIKE = 8
"""So many cases that all gain the same are no chance: p < 0.01 by the signs."""

_GRID = 41
_DIGITS = 9
_SLACK = 1e-12
_METHODS: dict[str, MapMethod] = {
    "shift": "shift", "affine": "affine", "platt": "platt", "ordinal": "ordinal",
    "isotonic": "isotonic",
}  # fmt: skip

_PLATT = "platt"
_FITS: dict[str, Callable[[Sequence[float], Sequence[float]], FittedMap]] = {
    "shift": fit_shift,
    "affine": fit_affine,
    "ordinal": fit_ordinal,
    "isotonic": fit_isotonic,
    _PLATT: fit_platt,
}

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A map, and what its kind says of each output when fitted without the output's case."""

    fitted: FittedMap
    out_of_fold: np.ndarray


@dataclass(frozen=True, slots=True)
class _Passes:
    """How values pass, beside how people do."""

    accuracy: float
    """Share of outputs passed as people do."""

    share: float
    """Share that passes."""


@dataclass(frozen=True, slots=True)
class _Sides:
    """Judge and people on [0, 1], and what is needed to hold a map against them."""

    aligned: Aligned
    judge: np.ndarray
    people: np.ndarray
    level: float

    @classmethod
    def of(cls, aligned: Aligned, level: float) -> _Sides:
        judge, people = (
            np.clip([aligned.value(float(raw)) for raw in scores], 0, 1)
            for scores in (aligned.judge, aligned.human)
        )
        return cls(aligned, judge, people, level)

    def mean(self, numbers: np.ndarray) -> Estimate:
        return average(numbers.tolist(), self.aligned.clusters, level=self.level)

    def error(self, values: np.ndarray) -> np.ndarray:
        return np.asarray((values - self.people) ** 2)

    def gain(self, values: np.ndarray) -> Estimate:
        return self.mean(self.error(self.judge) - self.error(values))

    def passes(self, values: np.ndarray) -> _Passes:
        span = self.aligned.scale.max - self.aligned.scale.min
        raws = (self.aligned.scale.min + values * span).tolist()
        passed = np.array([self.aligned.passes(raw) for raw in raws])
        return _Passes(float((passed == self.aligned.human_pass).mean()), float(passed.mean()))

    @property
    def people_pass(self) -> float:
        return float(self.aligned.human_pass.mean())


def fit_map(
    aligned: Aligned, criterion: Criterion, kappa: Estimate, *, level: float, seed: int
) -> CalibrationMap:
    """The map of one criterion."""
    # Tried are shift, affine, ordinal (Platt's where labels are 0 or 1) and isotonic maps: first
    # the simplest that comes within a standard error of the best, then the others by their error,
    # always on cases they were not fitted on. The first is used that never falls, comes nearer to
    # people (the interval of its improvement lies above 0), passes no fewer outputs as people do,
    # and brings the share that passes no further from people's. Where none does all that, the
    # judge's own value stands (`identity`), and the map says why.
    both = aligned.both
    if aligned.is_nominal:
        raise NotEnoughDataError(NO_ORDER)
    if len(both) < LEAST:
        raise NotEnoughDataError(
            f"{len(both)} labelled outputs, and a map needs {LEAST}: label {LEAST - len(both)} more"
        )
    sides = _Sides.of(aligned, level)
    names = [item.cluster for item in both]
    chosen, reason = _chosen(sides, folds_of(names, seed))
    mapped = sides.judge if chosen is None else chosen.out_of_fold
    before, after = sides.passes(sides.judge), sides.passes(mapped)
    return CalibrationMap(
        criterion=criterion,
        method="identity" if chosen is None else _METHODS[chosen.fitted.kind],
        points=((0.0, 0.0), (1.0, 1.0)) if chosen is None else _points(chosen.fitted),
        reason=reason,
        error_before=measured(sides.mean(sides.error(sides.judge))),
        error_after=measured(sides.mean(sides.error(mapped))),
        improvement=measured(sides.gain(mapped)),
        accuracy_before=before.accuracy,
        accuracy_after=after.accuracy,
        passed_before=before.share,
        passed_after=after.share,
        passed_by_people=sides.people_pass,
        kappa=measured(kappa),
        n_labels=sum(len(item.ratings) for item in both),
        n_items=len(both),
        n_cases=len(set(names)),
        n_annotators=len({name for item in both for name in item.ratings}),
    )


def measured(found: Estimate) -> Measured:
    """An estimate as a file holds it."""
    value, low, high = (x if isfinite(x) else None for x in (found.value, found.low, found.high))
    return Measured(value=value, low=low, high=high, level=found.level)


def _chosen(sides: _Sides, folds: list[int]) -> tuple[_Candidate | None, str | None]:
    """The map that is used; None with the reason where the judge's own value stands."""
    if not sides.error(sides.judge).any():
        return None, "the judge says what people say"
    candidates = _candidates(sides, folds)
    if not candidates:
        return None, "the scores or the labels are all the same, so that no map can be fitted"
    reasons = [_why_not(sides, candidate) for candidate in candidates]
    for candidate, reason in zip(candidates, reasons, strict=True):
        if reason is None:
            return candidate, None
    return None, reasons[0]


def _candidates(sides: _Sides, folds: list[int]) -> list[_Candidate]:
    """The maps there are, in the order in which they are considered."""
    x, y = sides.judge.tolist(), sides.people.tolist()
    try:
        choice = choose_map(x, y, folds)
    except NotEnoughDataError:
        return []
    names, first = [name for name, _, _ in choice.errors], choice.chosen.kind
    if set(y) <= {0.0, 1.0}:  # of two levels Platt's is the ordinal map, kept from extremes
        names = [_PLATT if name == "ordinal" else name for name in names]
        first = _PLATT if first == "ordinal" else first
    found = []
    for name in names:
        out_of_fold = np.clip(crossfit(_FITS[name], x, y, folds), 0, 1)
        found.append(_Candidate(_FITS[name](x, y), out_of_fold))
    found.sort(key=lambda one: float(sides.error(one.out_of_fold).mean()))
    return sorted(found, key=lambda one: one.fitted.kind != first)


def _why_not(sides: _Sides, candidate: _Candidate) -> str | None:
    """Why a map is not used; None where it is."""
    kind = candidate.fitted.kind
    if _falls(candidate.fitted):
        return "the judge's values fall where people's rise: no map that never falls helps"
    if not _is_shown(sides.gain(candidate.out_of_fold)):
        return "no map is shown to come nearer to people than the judge's own value"
    own, mapped = sides.passes(sides.judge), sides.passes(candidate.out_of_fold)
    if mapped.accuracy < own.accuracy - _SLACK:
        return (
            f"the {kind} map comes nearer on the scale, but passes fewer outputs as people do "
            f"({mapped.accuracy:.0%} instead of {own.accuracy:.0%})"
        )
    people = sides.people_pass
    if abs(mapped.share - people) > abs(own.share - people) + _SLACK:
        return (
            f"the {kind} map comes nearer on the scale, but passes {mapped.share:.0%} where people "
            f"pass {people:.0%} and the judge {own.share:.0%}"
        )
    return None


def _is_shown(gain: Estimate) -> bool:
    """Whether a gain is more than chance; where every case gains the same there is no interval."""
    return gain.low > 0 or (isnan(gain.low) and gain.value > 0 and gain.n >= _ALIKE)


def _falls(fitted: FittedMap) -> bool:
    return bool((np.diff(fitted.predict(np.linspace(0, 1, _GRID))) < -_SLACK).any())


def _points(fitted: FittedMap) -> Points:
    """The map as points, within [0, 1]: exact for straight ones, fine steps for curves."""
    x = np.unique([round(float(at), _DIGITS) for at in _places(fitted)])
    y = np.maximum.accumulate(np.round(np.clip(fitted.predict(x), 0, 1), _DIGITS))
    return tuple(zip(x.tolist(), y.tolist(), strict=True))


def _places(fitted: FittedMap) -> list[float]:
    knots = getattr(fitted, "knots_x", None)
    if knots is not None:
        return [float(x) for x in knots]
    if fitted.kind not in {"shift", "affine"}:
        return [float(x) for x in np.linspace(0, 1, _GRID)]
    start, end = (float(y) for y in fitted.predict(np.array([0.0, 1.0])))
    slope = end - start
    bends = [(edge - start) / slope for edge in (0.0, 1.0)] if slope > _SLACK else []
    return [0.0, *(x for x in bends if 0 < x < 1), 1.0]
