"""Fits calibration maps by cross-validation and decides which are used.

The judge's own value stays where no map is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from math import isfinite, isnan
from typing import TYPE_CHECKING, Literal

import numpy as np

from judgekit.calibration.agreement import scale_agreement
from judgekit.calibration.confidence import cluster_folds
from judgekit.calibration.items import NO_ORDER, clustered_mean
from judgekit.calibration.join import pool_criteria
from judgekit.errors import InputError, NotEnoughDataError
from judgekit.fingerprint import fingerprint
from judgekit.records import Calibration, CalibrationFigure, CalibrationMap
from judgekit.stats.calibration import (
    choose_map,
    crossfit,
    fit_affine,
    fit_isotonic,
    fit_platt,
    fit_shift,
)
from judgekit.stats.logistic import fit_ordinal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from judgekit.calibration.inputs import CalibrationOptions
    from judgekit.calibration.items import AlignedItems
    from judgekit.records import CalibratedPanel, Criterion, MapMethod, Rubric
    from judgekit.stats.calibration import FittedMap
    from judgekit.stats.estimate import Estimate

_NO_LABELS = "nobody labelled it"


@dataclass(frozen=True, slots=True, kw_only=True)
class MapInputs:
    """What calibration maps are fitted on.

    Attributes:
        aligned: Scores and labels by criterion.
        kappas: Agreement by criterion.
        pooled: Agreement over all criteria.
    """

    kind: Literal["pointwise", "pairwise"]
    rubric: Rubric | None
    asked: CalibratedPanel | None
    aligned: Mapping[str, AlignedItems]
    kappas: Mapping[str, Estimate]
    pooled: Estimate
    options: CalibrationOptions


def fit_maps(material: MapInputs, *, fitted_at: datetime) -> Calibration:
    """The maps of all criteria that have enough labels."""
    rubric, asked = _known(material)
    maps: list[CalibrationMap] = []
    without: dict[str, str] = {}
    options = material.options
    for criterion in rubric.criteria:
        aligned, kappa = material.aligned.get(criterion.name), material.kappas.get(criterion.name)
        if aligned is None or kappa is None:
            without[criterion.name] = _NO_LABELS
            continue
        try:
            maps.append(fit_map(aligned, criterion, kappa, level=options.level, seed=options.seed))
        except NotEnoughDataError as error:
            without[criterion.name] = error.message
    if not maps:
        reasons = "; ".join(f"{name}: {why}" for name, why in without.items())
        raise NotEnoughDataError(f"no criterion has enough labels for a map: {reasons}")
    kept = [material.aligned[one.criterion.name] for one in maps]
    return Calibration(
        rubric=rubric,
        asked=asked,
        maps=tuple(maps),
        without=without,
        n_labels=sum(one.n_labels for one in maps),
        annotators=tuple(sorted({n for a in kept for item in a.both for n in item.ratings})),
        kappa=to_measured(_kappa_of(material, kept)),
        label_set=_label_set(kept),
        fitted_at=fitted_at,
        judgekit=version("judgekit-llm"),
    )


def _known(material: MapInputs) -> tuple[Rubric, CalibratedPanel]:
    if material.kind == "pairwise":
        raise InputError(
            "choices between two outputs have no map",
            hint="label single outputs with `raw`, and hold the judge's grades against them",
        )
    if material.rubric is None:
        raise InputError("a map belongs to a rubric, and it is not known", hint="give --rubric")
    if material.asked is None:
        raise InputError(
            "a map belongs to a judge, and the judgments do not name theirs",
            hint="grade the outputs with it: --outputs FILE --judge MODEL",
        )
    return material.rubric, material.asked


def _kappa_of(material: MapInputs, kept: Sequence[AlignedItems]) -> Estimate:
    """The agreement on the criteria that have maps; others that people labelled are not in it."""
    if len(kept) == len(material.aligned):
        return material.pooled
    together = pool_criteria(kept)
    if together is None:
        return material.kappas[kept[0].name]
    return scale_agreement(together, level=material.options.level).kappa_quadratic


def _label_set(kept: Iterable[AlignedItems]) -> str:
    """One name for all labels, whatever their order."""
    rows = [
        [*item.place, aligned.name, name, rating]
        for aligned in kept
        for item in aligned.items
        for name, rating in item.ratings.items()
    ]
    return fingerprint(sorted(rows, key=str))


MIN_LABELS_PER_MAP = 30
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

_MapPoints = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A map, and what its kind says of each output when fitted without the output's case."""

    fitted: FittedMap
    out_of_fold: np.ndarray


@dataclass(frozen=True, slots=True)
class _Passes:
    """How values pass, compared with the human labels.

    Attributes:
        accuracy: Share of outputs with the human pass decision.
        share: Share that passes.
    """

    accuracy: float
    share: float


@dataclass(frozen=True, slots=True)
class _Sides:
    """Judge and people on [0, 1], and what is needed to hold a map against them."""

    aligned: AlignedItems
    judge: np.ndarray
    people: np.ndarray
    level: float

    @classmethod
    def of(cls, aligned: AlignedItems, level: float) -> _Sides:
        judge, people = (
            np.clip([aligned.value(float(raw)) for raw in scores], 0, 1)
            for scores in (aligned.judge, aligned.human)
        )
        return cls(aligned, judge, people, level)

    def mean(self, numbers: np.ndarray) -> Estimate:
        return clustered_mean(numbers.tolist(), self.aligned.clusters, level=self.level)

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
    aligned: AlignedItems, criterion: Criterion, kappa: Estimate, *, level: float, seed: int
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
    if len(both) < MIN_LABELS_PER_MAP:
        raise NotEnoughDataError(
            f"{len(both)} labelled outputs, and a map needs {MIN_LABELS_PER_MAP}: "
            f"label {MIN_LABELS_PER_MAP - len(both)} more"
        )
    sides = _Sides.of(aligned, level)
    names = [item.cluster for item in both]
    chosen, reason = _chosen(sides, cluster_folds(names, seed))
    mapped = sides.judge if chosen is None else chosen.out_of_fold
    before, after = sides.passes(sides.judge), sides.passes(mapped)
    return CalibrationMap(
        criterion=criterion,
        method="identity" if chosen is None else _METHODS[chosen.fitted.kind],
        points=((0.0, 0.0), (1.0, 1.0)) if chosen is None else _points(chosen.fitted),
        reason=reason,
        error_before=to_measured(sides.mean(sides.error(sides.judge))),
        error_after=to_measured(sides.mean(sides.error(mapped))),
        improvement=to_measured(sides.gain(mapped)),
        accuracy_before=before.accuracy,
        accuracy_after=after.accuracy,
        passed_before=before.share,
        passed_after=after.share,
        passed_by_people=sides.people_pass,
        kappa=to_measured(kappa),
        n_labels=sum(len(item.ratings) for item in both),
        n_items=len(both),
        n_cases=len(set(names)),
        n_annotators=len({name for item in both for name in item.ratings}),
    )


def to_measured(found: Estimate) -> CalibrationFigure:
    """An estimate as a file holds it."""
    value, low, high = (x if isfinite(x) else None for x in (found.value, found.low, found.high))
    return CalibrationFigure(value=value, low=low, high=high, level=found.level)


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


def _points(fitted: FittedMap) -> _MapPoints:
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
