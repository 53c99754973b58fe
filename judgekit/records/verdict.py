"""What a rubric concludes for one output; computed from judgments by `judgekit.verdicts`."""

from __future__ import annotations

from typing import Literal

from judgekit.records.calibration_map import Judging
from judgekit.records.judgment import JudgeFailure, Judgment
from judgekit.records.record import Count, Fraction, JsonObject, Name, Record


class CriterionVerdict(Record):
    """What the judgments of one criterion come to."""

    name: Name
    """Name of the criterion."""

    value: Fraction | None
    """Mean value over repeats; None where no judgment is usable."""

    passed: bool | None
    """Whether it reaches its own threshold; None where it has no value."""

    weight: float
    """Its weight in the rubric."""

    required: bool
    """Whether the output fails when it fails."""

    n: Count
    """Usable judgments."""

    n_failed: Count
    """Judge failures."""

    def to_json(self) -> JsonObject:
        """The verdict as plain JSON types; what is not known is there, as null.

        Returns:
            A dict of JSON types.
        """
        return self.model_dump(mode="json")


class Uncalibrated(Record):
    """What the judge's own values come to, where calibration maps decide."""

    value: Fraction | None = None
    """Weighted mean over the criteria; None where a weighted criterion has no judgment."""

    passed: bool | None = None
    """Whether the output would pass; None where missing judgments could decide it either way."""

    criteria: dict[Name, Fraction | None]
    """The judge's own value for each criterion."""


class Verdict(Record):
    """What the rubric concludes for one output."""

    case_id: str | None
    """The case that was answered."""

    variant: str | None
    """The variant that answered."""

    rubric: str
    """Name of the rubric."""

    rubric_fingerprint: str
    """Fingerprint of the rubric the conclusion was drawn with."""

    passed: bool | None
    """Whether the output passes; None where missing judgments could decide it either way."""

    value: Fraction | None
    """Weighted mean over the criteria; None where a weighted criterion has no judgment."""

    value_low: Fraction
    """The value if every missing judgment, failed repeats included, were the worst."""

    value_high: Fraction
    """The value if every missing judgment, failed repeats included, were the best."""

    required_value: Fraction | None
    """Weighted mean over the required criteria; None where there are none, or one is missing."""

    criteria: tuple[CriterionVerdict, ...]
    """Per criterion, in the rubric's order."""

    judgments: tuple[Judgment, ...]
    """What the judges said."""

    failures: tuple[JudgeFailure, ...] = ()
    """What they failed to say."""

    error: str | None = None
    """Why nothing was judged: the output itself is an error."""

    uncalibrated: Uncalibrated | None = None
    """What the judge's own values come to, where calibration maps decide `passed` and `value`;
    None where they do not, so that the judge's own values decide."""

    asked: Judging | None = None
    """How the judges were asked (model, template, parameters), which is what calibration maps are
    bound to; None where that is not known."""

    @property
    def decided_by(self) -> Literal["raw", "calibrated"]:
        """Whether the judge's own values decide, or those that maps make of them."""
        return "raw" if self.uncalibrated is None else "calibrated"

    def to_json(self) -> JsonObject:
        """The verdict as plain JSON types; what it leaves open is there, as null.

        Returns:
            A dict of JSON types.
        """
        whole: JsonObject = self.model_dump(mode="json", exclude={"judgments", "failures"})
        whole["judgments"] = [judgment.to_json() for judgment in self.judgments]
        whole["failures"] = [failure.to_json() for failure in self.failures]
        if self.uncalibrated is None:
            del whole["uncalibrated"]
        if self.asked is None:
            del whole["asked"]
        return whole
