"""Fits the map of one criterion by cross-validation; the judge's own value where none is nearer."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.evaluation.calibrating.clustering import average
from judgekit.evaluation.calibrating.trusting import folds_of
from judgekit.records.calibration_map import CalibrationMap, Measured
from judgekit.stats.calibration import choose_map, crossfit, fit_platt
from judgekit.verdicts import reaches

if TYPE_CHECKING:
    from judgekit.evaluation.calibrating.aligned import Aligned
    from judgekit.records.calibration_map import MapMethod
    from judgekit.records.rubric import Criterion
    from judgekit.stats.calibration import FittedMap
    from judgekit.stats.estimate import Estimate

LEAST = 30
"""So many labelled outputs a map needs."""

_GRID = 41
_DIGITS = 9
_SLACK = 1e-12
_METHODS: dict[str, MapMethod] = {
    "shift": "shift", "affine": "affine", "platt": "platt", "ordinal": "ordinal",
    "isotonic": "isotonic",
}  # fmt: skip

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A map, and what its kind says of each output when fitted without the output's case."""

    fitted: FittedMap
    out_of_fold: np.ndarray


def fit_map(
    aligned: Aligned, criterion: Criterion, kappa: Estimate, *, level: float, seed: int
) -> CalibrationMap:
    """The map of one criterion.

    The simplest of shift, affine, ordinal and isotonic that comes within a standard error of the
    best, or Platt's where labels are 0 or 1 and it comes nearer; each error is taken on cases the
    map was not fitted on. It is used where the interval of its improvement lies above 0, where
    it never falls, and where it passes no fewer outputs as people do; else the judge's own value
    stands (`identity`), and the map says why.

    Args:
        aligned: Scores and labels, item by item.
        criterion: The criterion.
        kappa: How far judge and people agree.
        level: Confidence level, in (0, 1).
        seed: Seed of the folds.

    Returns:
        The map.

    Raises:
        NotEnoughDataError: When there are too few labelled outputs.
    """
    both = aligned.both
    if len(both) < LEAST:
        raise NotEnoughDataError(
            f"{len(both)} labelled outputs, and a map needs {LEAST}: label {LEAST - len(both)} more"
        )
    judge = np.clip([aligned.value(float(raw)) for raw in aligned.judge], 0, 1)
    people = np.clip([aligned.value(float(raw)) for raw in aligned.human], 0, 1)
    names = [item.cluster for item in both]
    candidate = _candidate(judge, people, folds_of(names, seed))
    mapped = judge if candidate is None else candidate.out_of_fold
    before, after = (judge - people) ** 2, (mapped - people) ** 2
    gain = average((before - after).tolist(), aligned.clusters, level=level)
    accuracy = _accuracy(aligned, judge), _accuracy(aligned, mapped)
    reason = _why_not(candidate, before, gain, accuracy)
    if reason is not None or candidate is None:
        method: MapMethod = "identity"
        points: Points = ((0.0, 0.0), (1.0, 1.0))
    else:
        method, points = _METHODS[candidate.fitted.kind], _points(candidate.fitted)
    return CalibrationMap(
        criterion=criterion,
        method=method,
        points=points,
        reason=reason,
        error_before=measured(average(before.tolist(), aligned.clusters, level=level)),
        error_after=measured(average(after.tolist(), aligned.clusters, level=level)),
        improvement=measured(gain),
        accuracy_before=accuracy[0],
        accuracy_after=accuracy[1],
        kappa=measured(kappa),
        n_labels=sum(len(item.ratings) for item in both),
        n_items=len(both),
        n_cases=len(set(names)),
        n_annotators=len({name for item in both for name in item.ratings}),
    )


def measured(found: Estimate) -> Measured:
    """An estimate as a file holds it.

    Args:
        found: The estimate.

    Returns:
        What is undefined is None.
    """
    value, low, high = (x if isfinite(x) else None for x in (found.value, found.low, found.high))
    return Measured(value=value, low=low, high=high, level=found.level)


def _candidate(judge: np.ndarray, people: np.ndarray, folds: list[int]) -> _Candidate | None:
    """The best map there is; None where the values do not identify any."""
    x, y = judge.tolist(), people.tolist()
    found: list[_Candidate] = []
    try:
        choice = choose_map(x, y, folds)
        found.append(_Candidate(choice.chosen, _clipped(np.array(choice.out_of_fold))))
        if set(y) <= {0.0, 1.0}:
            out_of_fold = _clipped(crossfit(fit_platt, x, y, folds))
            found.append(_Candidate(fit_platt(x, y), out_of_fold))
    except NotEnoughDataError:  # what was found before stands
        pass
    return min(found, key=lambda one: float(((one.out_of_fold - people) ** 2).mean()), default=None)


def _clipped(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.clip(values, 0, 1))


def _why_not(
    candidate: _Candidate | None,
    before: np.ndarray,
    gain: Estimate,
    accuracy: tuple[float | None, float | None],
) -> str | None:
    """Why the judge's own value stands; None where the map is used."""
    if not before.any():
        return "the judge says what people say"
    if candidate is None:
        return "the scores or the labels are all the same, so that no map can be fitted"
    if _falls(candidate.fitted):
        return "the judge's values fall where people's rise: no map that never falls helps"
    if not gain.low > 0:
        return "no map is shown to come nearer to people than the judge's own value"
    own, mapped = accuracy
    if own is not None and mapped is not None and mapped < own - _SLACK:
        return (
            f"the {candidate.fitted.kind} map comes nearer on the scale, but passes fewer outputs "
            f"as people do ({mapped:.0%} instead of {own:.0%})"
        )
    return None


def _accuracy(aligned: Aligned, values: np.ndarray) -> float | None:
    """The share of outputs that values pass as people do; None where nothing passes."""
    threshold = aligned.threshold
    if threshold is None:
        return None
    passes = np.array([float(reaches(float(value), threshold)) for value in values])
    known = ~np.isnan(aligned.human_pass)
    same = passes[known] == aligned.human_pass[known]
    return float(same.mean()) if known.any() else None


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
