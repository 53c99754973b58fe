"""Fits calibration maps by cross-validation and selects the one to use, if any is better."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from math import fsum, isfinite, isnan, nan
from typing import TYPE_CHECKING, cast

import numpy as np

from judgekit.calibration.agreement import scale_agreement
from judgekit.calibration.confidence import cluster_folds
from judgekit.calibration.items import NO_ORDER, AlignedItems, clustered_mean
from judgekit.calibration.join import pool_criteria
from judgekit.errors import NotEnoughDataError
from judgekit.fingerprint import fingerprint
from judgekit.records import (
    VALUE_TOLERANCE,
    Calibration,
    CalibrationFigure,
    CalibrationMap,
    mark_for,
)
from judgekit.stats.calibration import choose_map, fit_affine, fit_isotonic, fit_platt, fit_shift
from judgekit.stats.logistic import fit_ordinal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from judgekit.calibration.inputs import CalibrationOptions, OutputKey
    from judgekit.records import CalibratedPanel, Criterion, MapMethod, PassMarks, Rubric
    from judgekit.stats.calibration import FittedMap
    from judgekit.stats.estimate import Estimate

MIN_LABELS_PER_MAP = 30
"""Labelled outputs that a map needs."""

# If all of eight cases gain by the same amount, there is no variance and no interval, but by the
# signs p < 0.01.
_ALIKE = 8

# Curves are stored as points, 0.025 apart.
_GRID = 41
_DIGITS = 9

# Smaller differences are rounding errors of the fits.
_SLACK = 1e-12
_SEVERAL = 2
_PLATT = "platt"

_FITS: dict[str, Callable[[Sequence[float], Sequence[float]], FittedMap]] = {
    "shift": fit_shift,
    "affine": fit_affine,
    "ordinal": fit_ordinal,
    "isotonic": fit_isotonic,
    _PLATT: fit_platt,
}


def fit_maps(
    rubric: Rubric,
    panel: CalibratedPanel,
    parts: Mapping[str, tuple[AlignedItems, Estimate]],
    pooled: Estimate,
    options: CalibrationOptions,
    *,
    fitted_at: datetime,
) -> Calibration:
    """The maps of all criteria that have enough labels, from items and agreement by criterion."""
    maps: list[CalibrationMap] = []
    without: dict[str, str] = {}
    for criterion in rubric.criteria:
        if criterion.name not in parts:
            without[criterion.name] = "it has no labels"
            continue
        try:
            part = parts[criterion.name]
            maps.append(fit_map(*part, criterion, level=options.level, seed=options.seed))
        except NotEnoughDataError as error:
            without[criterion.name] = error.message
    if not maps:
        reasons = "; ".join(f"{name}: {why}" for name, why in without.items())
        raise NotEnoughDataError(f"no criterion has enough labels for a map: {reasons}")
    mapped = [parts[one.criterion.name][0] for one in maps]
    kappa = pooled
    if len(mapped) < len(parts):
        # The agreement on the criteria that have maps, without other labelled criteria.
        together = pool_criteria(mapped) or mapped[0]
        kappa = scale_agreement(together.without_chosen(), level=options.level).kappa_quadratic
    # Sorted, so that the fingerprint of all labels is independent of their order.
    rows = [
        [*item.place, aligned.name, name, rating]
        for aligned in mapped
        for item in aligned.items
        for name, rating in item.ratings.items()
    ]
    return Calibration(
        rubric=rubric,
        asked=panel,
        maps=tuple(maps),
        pass_marks=_overall_marks(rubric, maps, [parts[one.criterion.name][0] for one in maps]),
        without=without,
        n_labels=sum(one.n_labels for one in maps),
        annotators=tuple(sorted({n for a in mapped for item in a.both for n in item.ratings})),
        kappa=to_measured(kappa),
        label_set=fingerprint(sorted(rows, key=str)),
        fitted_at=fitted_at,
        judgekit=version("judgekit-llm"),
    )


def _overall_marks(
    rubric: Rubric, maps: Sequence[CalibrationMap], parts: Sequence[AlignedItems]
) -> PassMarks:
    """Where the weighted mean of mapped values passes; empty where the criteria's marks decide."""
    weights = {c.name: c.weight for c in rubric.criteria if c.weight}
    known = {one.criterion.name for one in maps}
    # A mean over several criteria spreads less than each: it needs marks of its own.
    if len(weights) < _SEVERAL or not weights.keys() <= known:
        return ()
    if all(one.method == "identity" for one in maps):
        return ()
    sums: defaultdict[OutputKey, list[tuple[float, float, float]]] = defaultdict(list)
    for one, aligned in zip(maps, parts, strict=True):
        weight = weights.get(one.criterion.name)
        for item in aligned.both if weight else ():
            judged = one.value_of(min(1.0, max(0.0, aligned.value(float(item.judge or 0)))))
            sums[item.place].append((weight or 0.0, judged, aligned.value(aligned.label(item))))
    whole = [
        [fsum(row[0] * row[side] for row in rows) / fsum(weights.values()) for side in (1, 2)]
        for rows in sums.values()
        if len(rows) == len(weights)
    ]
    if len(whole) < MIN_LABELS_PER_MAP:
        return ()
    return fit_marks(*np.clip(whole, 0, 1).T)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A map, and values and pass marks of its kind: each output by a map without its case."""

    fitted: FittedMap
    out_of_fold: np.ndarray
    marks: np.ndarray


@dataclass(frozen=True)
class _Sides:
    aligned: AlignedItems
    judge: np.ndarray
    human: np.ndarray
    level: float

    def mean(self, numbers: np.ndarray) -> Estimate:
        return clustered_mean(numbers.tolist(), self.aligned.clusters, level=self.level)

    def error(self, values: np.ndarray) -> np.ndarray:
        return np.asarray((values - self.human) ** 2)

    def gain(self, values: np.ndarray) -> Estimate:
        return self.mean(self.error(self.judge) - self.error(values))

    @cached_property
    def labels(self) -> np.ndarray:
        """The combined labels, by which the humans pass or fail an output, on [0, 1]."""
        labels = [self.aligned.value(self.aligned.label(item)) for item in self.aligned.both]
        return np.clip(labels, 0, 1)

    def passes(self, values: np.ndarray, marks: np.ndarray | None = None) -> tuple[float, float]:
        """The share with the human pass decision, and the share that passes."""
        threshold = nan if self.aligned.threshold is None else self.aligned.threshold
        passed = values >= (threshold if marks is None else marks) - VALUE_TOLERANCE
        return float((passed == self.aligned.human_pass).mean()), float(passed.mean())

    def crossfit(self, kind: str, folds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Each output's mapped value and pass mark, by a map that was fitted without its case."""
        values, marks = np.empty(len(folds)), np.full(len(folds), nan)
        for fold in np.unique(folds):
            here = folds == fold
            fitted = _FITS[kind](self.judge[~here].tolist(), self.human[~here].tolist())
            values[here] = np.clip(fitted.predict(self.judge[here]), 0, 1)
            if self.aligned.threshold is not None:
                known = np.clip(fitted.predict(self.judge[~here]), 0, 1)
                marks[here] = mark_for(self.aligned.threshold, fit_marks(known, self.labels[~here]))
        return values, marks


def fit_map(
    aligned: AlignedItems, kappa: Estimate, criterion: Criterion, *, level: float, seed: int
) -> CalibrationMap:
    # The candidates are shift, affine, ordinal (Platt's if labels are 0 or 1) and isotonic maps:
    # first the simplest within a standard error of the best, then the others by their error, always
    # on cases they were not fitted on. The first one is used that is monotone, is closer to the
    # labels (the interval of its improvement lies above 0), makes no fewer human pass decisions,
    # and moves the pass rate no further from the human one. If there is none, the judge's own value
    # is used (`identity`), with the reason.
    both = aligned.both
    if aligned.is_nominal:
        raise NotEnoughDataError(NO_ORDER)
    if len(both) < MIN_LABELS_PER_MAP:
        raise NotEnoughDataError(
            f"{len(both)} labelled outputs, and a map needs {MIN_LABELS_PER_MAP}: "
            f"label {MIN_LABELS_PER_MAP - len(both)} more"
        )
    judge, human = (
        np.clip([aligned.value(float(raw)) for raw in scores], 0, 1)
        for scores in (aligned.judge, aligned.human)
    )
    sides = _Sides(aligned, judge, human, level)
    names = [item.cluster for item in both]
    chosen, reason = _chosen(sides, cluster_folds(names, seed))
    mapped = judge if chosen is None else chosen.out_of_fold
    accuracy_before, passed_before = sides.passes(judge)
    accuracy_after, passed_after = sides.passes(mapped, None if chosen is None else chosen.marks)
    return CalibrationMap(
        criterion=criterion,
        # The kinds of `_FITS`, whose names are those of the methods.
        method="identity" if chosen is None else cast("MapMethod", chosen.fitted.kind),
        points=((0.0, 0.0), (1.0, 1.0)) if chosen is None else _points(chosen.fitted),
        pass_marks=()
        if chosen is None or aligned.threshold is None
        else fit_marks(np.clip(chosen.fitted.predict(judge), 0, 1), sides.labels),
        reason=reason,
        error_before=to_measured(sides.mean(sides.error(judge))),
        error_after=to_measured(sides.mean(sides.error(mapped))),
        improvement=to_measured(sides.gain(mapped)),
        accuracy_before=accuracy_before,
        accuracy_after=accuracy_after,
        passed_before=passed_before,
        passed_after=passed_after,
        passed_by_people=float(aligned.human_pass.mean()),
        kappa=to_measured(kappa),
        n_labels=sum(len(item.ratings) for item in both),
        n_items=len(both),
        n_cases=len(set(names)),
        n_annotators=len({name for item in both for name in item.ratings}),
    )


def fit_marks(values: np.ndarray, labels: np.ndarray) -> PassMarks:
    """For each human value the mapped value that as large a share of the outputs reaches."""
    # Equipercentile linking (Kolen & Brennan 2014) at the few thresholds that labels can tell
    # apart: a map predicts means, which vary less than labels, so that a high threshold for labels
    # is too high for its values.
    found, counts = np.unique(np.round(values, _DIGITS), return_counts=True)
    reached = np.cumsum(counts[::-1])[::-1] / len(values)
    # Halfway down to the next lower value, so that rounding does not decide.
    cuts = np.round((found + np.concatenate([[found[0]], found[:-1]])) / 2, _DIGITS)
    thresholds = np.unique(np.round(labels, _DIGITS))
    if len(thresholds) > _GRID:
        thresholds = thresholds[np.linspace(0, len(thresholds) - 1, _GRID).round().astype(int)]
    shares = [(labels >= at - VALUE_TOLERANCE).mean() for at in thresholds]
    marks = [cuts[np.abs(reached - share).argmin()] for share in shares]
    rising = np.maximum.accumulate(marks)
    return tuple(zip(thresholds.tolist(), rising.tolist(), strict=True))


def to_measured(found: Estimate) -> CalibrationFigure:
    value, low, high = (x if isfinite(x) else None for x in (found.value, found.low, found.high))
    return CalibrationFigure(value=value, low=low, high=high, level=found.level)


def _chosen(sides: _Sides, folds: list[int]) -> tuple[_Candidate | None, str | None]:
    """The map to use, or None with the reason."""
    if not sides.error(sides.judge).any():
        return None, "the judge's values equal the labels"
    candidates = _candidates(sides, folds)
    if not candidates:
        return None, "the scores or the labels are all the same, so that no map can be fitted"
    reasons = [_why_not(sides, candidate) for candidate in candidates]
    for candidate, reason in zip(candidates, reasons, strict=True):
        if reason is None:
            return candidate, None
    return None, reasons[0]


def _candidates(sides: _Sides, folds: list[int]) -> list[_Candidate]:
    x, y = sides.judge.tolist(), sides.human.tolist()
    try:
        choice = choose_map(x, y, folds)
    except NotEnoughDataError:
        return []
    names, first = [name for name, _, _ in choice.errors], choice.chosen.kind
    if set(y) <= {0.0, 1.0}:
        # With two levels Platt's map is the ordinal one, regularised against extreme values.
        names = [_PLATT if name == "ordinal" else name for name in names]
        first = _PLATT if first == "ordinal" else first
    candidates = [
        _Candidate(_FITS[name](x, y), *sides.crossfit(name, np.array(folds))) for name in names
    ]
    candidates.sort(key=lambda one: float(sides.error(one.out_of_fold).mean()))
    return sorted(candidates, key=lambda one: one.fitted.kind != first)


def _why_not(sides: _Sides, candidate: _Candidate) -> str | None:
    kind, fitted = candidate.fitted.kind, candidate.fitted
    # A decreasing map would turn a better score into a worse value.
    if (np.diff(fitted.predict(np.linspace(0, 1, _GRID))) < -_SLACK).any():
        return "the judge's values fall where human values rise: no monotone map helps"
    gain = sides.gain(candidate.out_of_fold)
    # Without variance there is no interval; then the number of cases decides.
    if not (gain.low > 0 or (isnan(gain.low) and gain.value > 0 and gain.n >= _ALIKE)):
        return "no map is significantly closer to the labels than the judge's own value"
    own_accuracy, own_share = sides.passes(sides.judge)
    accuracy, share = sides.passes(candidate.out_of_fold, candidate.marks)
    if accuracy < own_accuracy - _SLACK:
        return (
            f"the {kind} map is closer on the scale, but makes fewer correct pass decisions "
            f"({accuracy:.0%} instead of {own_accuracy:.0%})"
        )
    human = float(sides.aligned.human_pass.mean())
    if abs(share - human) > abs(own_share - human) + _SLACK:
        return (
            f"the {kind} map is closer on the scale, but its pass rate is {share:.0%}, with "
            f"{human:.0%} by the labels and {own_share:.0%} by the judge"
        )
    return None


def _points(fitted: FittedMap) -> tuple[tuple[float, float], ...]:
    """The map as points in [0, 1]: exact for piecewise linear maps, fine steps for curves."""
    places = getattr(fitted, "knots_x", None)
    if places is None and fitted.kind in {"shift", "affine"}:
        # A straight map bends where it reaches 0 or 1, because values are clipped there.
        start, end = (float(y) for y in fitted.predict(np.array([0.0, 1.0])))
        slope = end - start
        bends = [(edge - start) / slope for edge in (0.0, 1.0)] if slope > _SLACK else []
        places = [0.0, *(x for x in bends if 0 < x < 1), 1.0]
    elif places is None:
        places = np.linspace(0, 1, _GRID)
    x = np.unique([round(float(at), _DIGITS) for at in places])
    y = np.maximum.accumulate(np.round(np.clip(fitted.predict(x), 0, 1), _DIGITS))
    return tuple(zip(x.tolist(), y.tolist(), strict=True))
