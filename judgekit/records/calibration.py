"""The records of a calibration: the maps from judge values to human scores.

The judges they were fitted for, and their state in a run.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from judgekit.fingerprint import fingerprint
from judgekit.records.record import Count, Finite, Fraction, JsonObject, Name, Record
from judgekit.records.rubric import Criterion, Rubric

MapMethod = Literal["identity", "shift", "affine", "platt", "ordinal", "isotonic"]
"""How a map was fitted; `identity` where none was shown to come nearer to people."""

CalibrationState = Literal["calibrated", "partial", "stale", "uncalibrated"]
"""`partial`: some criteria were never labelled; `stale`: something was changed since."""


class CalibrationFigure(Record):
    """A number with its interval, as a file holds it."""

    value: Finite | None = None
    """The number; None where the labels do not identify it."""

    low: Finite | None = None
    """Lower end of the interval; None where there is none."""

    high: Finite | None = None
    """Upper end of the interval; None where there is none."""

    level: Fraction
    """Confidence level of the interval."""


class CalibratedJudge(Record):
    """One judge and how it is asked."""

    judge: Name
    """Model and template, as every judgment names them (`openai/gpt-4.1-mini pointwise/…@1f3c…`);
    of recorded replies the file without its folder."""

    parameters: JsonObject | None = None
    """What decides its answers beside the prompt (temperature, …); None where that is not known."""

    repeats: Annotated[int, Field(ge=1)] | None = None
    """How often it is asked; None where that is not known."""

    asks_all: bool | None = None
    """Whether one call asks all criteria; None where that is not known."""

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
    """Who judges, and how several judges come to one value."""

    judges: Annotated[tuple[CalibratedJudge, ...], Field(min_length=1)]
    """The judges, in the order they are asked."""

    combine: Name = "mean"
    """How they are combined."""

    weights: tuple[Finite, ...] = ()
    """Their weights, where they are combined by weight."""

    escalate_below: Fraction | None = None
    """In a cascade, the confidence below which the next one is asked."""

    @property
    def is_known(self) -> bool:
        """Whether the parameters of any of them are known; of none where only their names are."""
        return any(judge.parameters is not None for judge in self.judges)

    @property
    def asks_all(self) -> bool:
        """Whether any of them is asked about all criteria in one call."""
        return any(judge.asks_all for judge in self.judges)


class CalibrationMap(Record):
    """From a judge's value for one criterion to what people would say on average."""

    criterion: Criterion
    """The criterion as it was asked; the map is bound to its question, guide and scale."""

    method: MapMethod
    """How it was fitted."""

    points: Annotated[tuple[tuple[Fraction, Fraction], ...], Field(min_length=1)]
    """The judge's value and people's, both on [0, 1]; straight between, level beyond."""

    reason: str | None = None
    """Why the judge's own value stands, where it does."""

    error_before: CalibrationFigure
    """Mean squared difference of judge and people, on [0, 1]."""

    error_after: CalibrationFigure
    """The same after a map that was fitted without the case (cross-validated)."""

    improvement: CalibrationFigure
    """Before less after, case by case; its interval is clustered by case."""

    accuracy_before: Fraction
    """Share of the outputs that the judge passes as people do."""

    accuracy_after: Fraction
    """The same after the map, cross-validated."""

    passed_before: Fraction
    """Share of the outputs that the judge passes."""

    passed_after: Fraction
    """Share that passes after the map, cross-validated."""

    passed_by_people: Fraction
    """Share that people pass."""

    kappa: CalibrationFigure
    """Agreement of judge and people beyond chance, with quadratic weights."""

    n_labels: Count
    """Labels."""

    n_items: Count
    """Outputs with a label and a judgment."""

    n_cases: Count
    """Cases they are of."""

    n_annotators: Count
    """People who labelled."""

    @model_validator(mode="after")
    def _never_falls(self) -> Self:
        for (x, y), (further, then) in pairwise(self.points):
            if not x < further or then < y:
                # A map that falls would rank outputs against the judge, which no calibration can
                # justify.
                raise ValueError("the points of a map rise in the judge's value and never fall")
        return self

    def value_of(self, value: float) -> float:
        """What people would say on average.

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
    """The rubric as it was when people labelled."""

    asked: CalibratedPanel
    """Who judged, and how they were asked."""

    maps: Annotated[tuple[CalibrationMap, ...], Field(min_length=1)]
    """A map for each criterion with enough labels, in the rubric's order."""

    without: dict[Name, Name] = Field(default_factory=dict)
    """Criteria without a map, and why."""

    n_labels: Count
    """Labels of all criteria."""

    annotators: tuple[Name, ...]
    """Who labelled."""

    kappa: CalibrationFigure
    """Agreement over all criteria, with quadratic weights."""

    label_set: Name
    """Fingerprint of the labels."""

    fitted_at: AwareDatetime
    """When the maps were fitted (UTC)."""

    judgekit: Name
    """The version that fitted them."""

    def map_of(self, criterion: Criterion) -> CalibrationMap | None:
        """The map of just this criterion.

        Args:
            criterion: A criterion.

        Returns:
            Its map; None where there is none, or it was asked in other words or on another scale.
        """
        return next(
            (m for m in self.maps if m.criterion.fingerprint == criterion.fingerprint), None
        )

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all of it but when and by which version it was fitted."""
        return fingerprint(self.model_dump(mode="json", exclude={"fitted_at", "judgekit"}))


class CalibrationInUse(Record):
    """Whether judgments are calibrated, and by which maps."""

    state: CalibrationState
    """Whether they are."""

    words: Name
    """The same in a line: `calibrated on 120 labels, kappa 0.71 [0.60, 0.81]`."""

    path: str | None = None
    """The file of the maps; None where there is none."""

    calibration: Calibration | None = None
    """The maps as they were then; None where there are none."""

    applied: tuple[Name, ...] = ()
    """The criteria whose maps hold, so that the calibrated value decides; all others keep the
    judge's own."""

    def maps(self, rubric: Rubric) -> dict[str, CalibrationMap]:
        """The maps that hold for a rubric.

        Args:
            rubric: A rubric.

        Returns:
            Maps by the names of its criteria.
        """
        if self.calibration is None or not self.applied:
            return {}
        found = {c.name: self.calibration.map_of(c) for c in rubric.criteria}
        return {n: m for n, m in found.items() if m is not None and n in self.applied}


UNCALIBRATED = CalibrationInUse(
    state="uncalibrated", words="uncalibrated: the judge was not held against people's labels"
)
"""Where nobody asked for a calibration."""
