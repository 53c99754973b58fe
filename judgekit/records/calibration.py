"""The records of a calibration: the maps from judge values to human scores.

The judges they were fitted for, and their state in a run.
"""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections.abc import Mapping
from itertools import pairwise
from math import fsum
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, AwareDatetime, Field, model_validator

from judgekit.fingerprint import fingerprint, omit_at_default
from judgekit.records.record import Count, Finite, Fraction, JsonObject, Name, Record
from judgekit.records.rubric import Criterion, Rubric, meets_threshold

MapMethod = Literal["identity", "shift", "affine", "platt", "ordinal", "isotonic"]
"""How a map was fitted; `identity` where no map was shown to reduce the error."""

CalibrationState = Literal["calibrated", "partial", "stale", "uncalibrated"]
"""`partial`: some criteria have no labels; `stale`: judge, rubric or template changed since."""


class CalibrationFigure(Record):
    """A number with its interval, as a file holds it."""

    value: Finite | None = None
    """The number; None where the labels do not identify it."""

    low: Finite | None = None
    """Lower end of the interval; None where there is none."""

    high: Finite | None = None
    level: Fraction


def _rising(marks: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    for (value, mark), (higher, then) in pairwise(marks):
        if not value < higher or then < mark:
            raise ValueError("pass marks rise in the human value and never fall")
    return marks


PassMarks = Annotated[tuple[tuple[Fraction, Fraction], ...], AfterValidator(_rising)]
"""Pairs of a threshold for human values and the mapped value that as many outputs reach, rising."""


def mark_for(threshold: float, marks: PassMarks) -> float:
    """The mapped value from which an output passes; the threshold where no mark is so high."""
    # Between two human values every threshold passes the same outputs: the mark is one.
    reached = (mark for value, mark in marks if meets_threshold(value, threshold))
    return next(reached, threshold)


class CalibratedJudge(Record):
    """One judge and its settings; None for a setting that is unknown."""

    judge: Name
    """Model and template, as every judgment names them (`openai/gpt-4.1-mini pointwise/…@1f3c…`);
    of recorded replies the file without its folder."""

    parameters: JsonObject | None = None
    repeats: Annotated[int, Field(ge=1)] | None = None
    asks_all: bool | None = None

    @property
    def model(self) -> str:
        """The model."""
        return self.judge.rpartition(" ")[0] or self.judge

    @property
    def template(self) -> str:
        """The template with its fingerprint; empty for a judge that has none."""
        model, _, template = self.judge.rpartition(" ")
        return template if model else ""


class CalibratedPanel(Record):
    """The judges, and how their scores are combined."""

    judges: Annotated[tuple[CalibratedJudge, ...], Field(min_length=1)]
    combine: Name = "mean"
    weights: tuple[Finite, ...] = ()
    escalate_below: Fraction | None = None

    templates: dict[Name, str] = Field(default_factory=dict)
    """The templates of criteria that are not asked with the judge's own; none in older files."""

    _without_defaults = omit_at_default("templates")

    @property
    def is_known(self) -> bool:
        """Whether the parameters of any judge are known, not only the names."""
        return any(judge.parameters is not None for judge in self.judges)

    @property
    def asks_all(self) -> bool:
        """Whether any of them is asked about all criteria in one call."""
        return any(judge.asks_all for judge in self.judges)


class CalibrationMap(Record):
    """Maps a judge's value for one criterion to the mean human label.

    Figures `_after` are of maps that were fitted without the case (cross-validated); `passed_…`
    are shares of the outputs.
    """

    criterion: Criterion
    """The criterion as it was asked; the map is bound to its question, guide and scale."""

    method: MapMethod
    points: Annotated[tuple[tuple[Fraction, Fraction], ...], Field(min_length=1)]
    """Pairs of judge value and human value on [0, 1]; linear between them, constant beyond."""

    pass_marks: Annotated[PassMarks, Field(exclude_if=operator.not_)] = ()
    """Where mapped values pass, so that as many do as by the labels; empty in files of before."""

    reason: str | None = None
    """Why the judge's value is left unchanged, where it is."""

    error_before: CalibrationFigure
    """Mean squared difference between judge and human labels, on [0, 1]."""

    error_after: CalibrationFigure
    improvement: CalibrationFigure
    """`error_before` minus `error_after`; the interval is clustered by case."""

    accuracy_before: Fraction
    """Share of outputs on which judge and human labels agree about passing."""

    accuracy_after: Fraction
    passed_before: Fraction
    passed_after: Fraction
    passed_by_people: Fraction
    kappa: CalibrationFigure
    """Agreement of judge and human labels beyond chance, with quadratic weights."""

    n_labels: Count
    n_items: Count
    n_cases: Count
    n_annotators: Count

    @model_validator(mode="after")
    def _never_falls(self) -> Self:
        for (x, y), (further, then) in pairwise(self.points):
            if not x < further or then < y:
                # A map that falls would rank outputs against the judge, which no calibration can
                # justify.
                raise ValueError("the points of a map rise in the judge's value and never fall")
        return self

    def mark_of(self, threshold: float) -> float:
        """The mapped value from which an output passes.

        Args:
            threshold: The value from which the criterion passes by human labels, on [0, 1].

        Returns:
            The threshold itself where the judge's value is left unchanged, or no mark was fitted.
        """
        return threshold if self.method == "identity" else mark_for(threshold, self.pass_marks)

    def value_of(self, value: float) -> float:
        """The expected human label.

        Args:
            value: The judge's value on [0, 1].

        Returns:
            A number in [0, 1]; never less for a greater value.
        """
        if self.method == "identity":
            return value
        place = bisect_right(self.points, value, key=lambda point: point[0])
        if place == 0:
            return self.points[0][1]
        (x, y) = self.points[place - 1]
        if place == len(self.points):
            return y
        further, then = self.points[place]
        return min(then, max(y, y + (then - y) * (value - x) / (further - x)))


class Calibration(Record):
    """The maps of a judge and a rubric, and the labels they rest on; what a map file holds."""

    rubric: Rubric
    asked: CalibratedPanel
    maps: Annotated[tuple[CalibrationMap, ...], Field(min_length=1)]
    """A map for each criterion with enough labels, in the rubric's order."""

    pass_marks: Annotated[PassMarks, Field(exclude_if=operator.not_)] = ()
    """Where the mapped overall value passes, with the weights of `rubric`; empty where the marks of
    the criteria decide."""

    without: dict[Name, Name] = Field(default_factory=dict)
    n_labels: Count
    annotators: tuple[Name, ...]
    kappa: CalibrationFigure
    label_set: Name
    fitted_at: AwareDatetime
    judgekit: Name

    def overall_mark(self, rubric: Rubric, maps: Mapping[str, CalibrationMap]) -> float:
        """The overall value from which an output passes by a rubric.

        Args:
            rubric: The rubric as it is now.
            maps: The maps that apply, by the names of its criteria.

        Returns:
            The mark fitted for the overall value; where the weights differ from those it was fitted
            with or some map does not apply, the weighted mean of the criteria's marks.
        """
        threshold = rubric.pass_threshold
        then, now = ({c.name: c.weight for c in one.criteria} for one in (self.rubric, rubric))
        if self.pass_marks and then == now and maps.keys() == {m.criterion.name for m in self.maps}:
            return mark_for(threshold, self.pass_marks)
        marks = {name: one.mark_of(threshold) for name, one in maps.items()}
        weights = now if any(now.values()) else dict.fromkeys(now, 1.0)
        parts = (weight * marks.get(name, threshold) for name, weight in weights.items())
        return fsum(parts) / fsum(weights.values())

    def map_of(self, criterion: Criterion) -> CalibrationMap | None:
        """The map of just this criterion.

        Args:
            criterion: A criterion.

        Returns:
            Its map; None where there is none, or its wording or scale differs.
        """
        return next(
            (m for m in self.maps if m.criterion.fingerprint == criterion.fingerprint), None
        )

    @property
    def fingerprint(self) -> str:
        """SHA-256 of everything except the time and the version of the fit."""
        return fingerprint(self.model_dump(mode="json", exclude={"fitted_at", "judgekit"}))


class CalibrationInUse(Record):
    """Whether judgments are calibrated, and by which maps."""

    state: CalibrationState
    words: Name
    """The state in a line: `calibrated on 120 labels, kappa 0.71 [0.60, 0.81]`."""

    path: str | None = None
    """The file of the maps; None where there is none."""

    calibration: Calibration | None = None
    """The maps at the time of the run; None where there are none."""

    applied: tuple[Name, ...] = ()
    """The criteria whose maps apply; all others keep the judge's value."""

    def maps(self, rubric: Rubric) -> dict[str, CalibrationMap]:
        """The maps that apply to a rubric.

        Args:
            rubric: A rubric.

        Returns:
            Maps by the names of its criteria.
        """
        if self.calibration is None or not self.applied:
            return {}
        found = {c.name: self.calibration.map_of(c) for c in rubric.criteria}
        return {n: m for n, m in found.items() if m is not None and n in self.applied}


# Valid as it stands: validating it would build validators at import, which cost 6 ms.
UNCALIBRATED = CalibrationInUse.model_construct(
    state="uncalibrated", words="uncalibrated: the judge has not been compared with human labels"
)
"""The state of a run without a calibration."""
