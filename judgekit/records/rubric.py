"""The records of a rubric: its criteria, scales, levels and examples.

`judgekit.datasets.loading` reads them from files.
"""

from __future__ import annotations

from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from judgekit.errors import RubricError, UnknownNameError
from judgekit.fingerprint import fingerprint, omit_at_default
from judgekit.records.finding import FindingType
from judgekit.records.record import Finite, Fraction, JsonObject, Name, Record
from judgekit.resources import shipped_scale

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from judgekit.records.record import Coerced

VALUE_TOLERANCE = 1e-9
"""Two scores closer than this are the same score; keeps 0.7 reached by a sum equal to 0.7."""


def meets_threshold(value: float, threshold: float) -> bool:
    """Whether a value reaches a threshold, apart from rounding."""
    # As floats 0.1 + 0.7 is 0.7999999999999999, and must reach 0.8.
    return value >= threshold - VALUE_TOLERANCE


CriterionNeed = Literal["trace", "reference", "context"]
"""Something without which a criterion cannot be judged."""

# What a judge does not see of a criterion's examples.
_UNSHOWN: dict[str, Any] = {"examples": {"__all__": {"case_id"}}}

# A whole-number scale with more points than this is never listed: it may not fit in memory.
_MOST_POINTS = 10_000


class Level(Record):
    """One described point of a scale."""

    value: Finite
    """The score."""

    name: str | None = None
    """A word for it, which labels may use."""

    description: str | None = None
    """What an output with this score is like; the judge reads it."""


class Scale(Record):
    """The possible raw scores of a criterion; greater is better."""

    min: Finite
    """The worst score."""

    max: Finite
    """The best score."""

    integer: bool = False
    """Whether only whole numbers are scores."""

    levels: tuple[Level, ...] = ()
    """Described points, best first; scores between them need `between_levels`."""

    between_levels: bool = True
    """Whether scores between the levels are allowed; no by default where levels stand alone."""

    @model_validator(mode="before")
    @classmethod
    def _ends_from_levels(cls, value: object) -> object:
        """A scale given only by its levels takes its ends from them and allows no score between."""
        if not isinstance(value, dict) or not isinstance(value.get("levels"), list | tuple):
            return value
        points = [
            level.value if isinstance(level, Level) else level.get("value")
            for level in value["levels"]
            if isinstance(level, Level | dict)
        ]
        numbers = [p for p in points if isinstance(p, int | float)]
        if "min" in value or "max" in value or not numbers:
            return value
        return {"between_levels": False, **value, "min": min(numbers), "max": max(numbers)}

    @model_validator(mode="after")
    def _is_valid(self) -> Self:
        if not self.min < self.max:
            raise ValueError(f"a scale's min ({self.min:g}) must lie below its max ({self.max:g})")
        if not isfinite(self.max - self.min):
            raise ValueError(f"a scale from {self.min:g} to {self.max:g} is too wide to count with")
        values = [level.value for level in self.levels]
        for value in values:
            if not self.min <= value <= self.max:
                raise ValueError(f"level {value:g} lies outside {self.min:g}..{self.max:g}")
        if len(set(values)) != len(values):
            # A score could then not be reported as one level.
            raise ValueError("two levels have the same value")
        if self.integer and any(not float(v).is_integer() for v in (self.min, self.max, *values)):
            raise ValueError("an integer scale has whole ends and whole levels")
        if not self.between_levels and not self.levels:
            raise ValueError("between_levels=false needs levels")
        return self

    @cached_property
    def points(self) -> tuple[float, ...] | None:
        """The possible raw scores, worst first; None where they cannot be listed."""
        if self.levels and not self.between_levels:
            return tuple(sorted(level.value for level in self.levels))
        if self.integer and self.max - self.min < _MOST_POINTS:
            return tuple(float(n) for n in range(int(self.min), int(self.max) + 1))
        return None

    def holds(self, raw: float) -> bool:
        """Whether a raw score belongs to this scale; nothing is rounded or clamped."""
        points = self.points
        if points is not None:
            return raw in points or any(abs(raw - point) <= VALUE_TOLERANCE for point in points)
        whole = not self.integer or float(raw).is_integer()
        return whole and self.min <= raw <= self.max

    def value_of(self, raw: float) -> float:
        """The raw score on [0, 1]: `(raw - min) / (max - min)`.

        Args:
            raw: A score of this scale.

        Returns:
            A number in [0, 1].

        Raises:
            ValueError: When the score is not one of this scale.
        """
        if not self.holds(raw):
            raise ValueError(f"{raw:g} is not a score of the scale {self.min:g}..{self.max:g}")
        # `holds` tolerates a rounding error beyond an end; a value stays in [0, 1].
        return min(1.0, max(0.0, (raw - self.min) / (self.max - self.min)))


def _scale(value: object) -> object:
    """A scale may be given as the name of a shipped one, or as the bare list of its levels."""
    if isinstance(value, str):
        try:
            return shipped_scale(value)
        except UnknownNameError as error:
            # As a ValueError it has a place in the file that the scale is read from.
            own = "write a scale of your own as {min: 1, max: 5, integer: true}"
            raise ValueError(f"{error}; {own}") from error
    if isinstance(value, list | tuple):
        return {"levels": value}
    return value


class Example(Record):
    """A scored output, shown to a judge as an example."""

    output: Name
    """The output that was scored."""

    raw: Finite
    """The human score, on the criterion's scale."""

    input: str | None = None
    """What it answers."""

    reference: str | None = None
    """A good answer."""

    rationale: str | None = None
    """Why it got this score."""

    case_id: Name | None = None
    """The case it comes from; not shown to the judge."""


def _needs(value: object) -> object:
    """One need may be given without a list; their order carries no meaning."""
    needs = (value,) if isinstance(value, str) else value
    if isinstance(needs, list | tuple) and all(isinstance(need, str) for need in needs):
        return tuple(sorted(set(needs)))
    return needs


# What is sent of a criterion only where it is set. Omitted at their defaults, they leave
# the fingerprints of all other rubrics, and with them calibrations and stored runs, as they were.
_OPTIONAL = ("examples", "needs", "template", "judge", "turns")


class Criterion(Record):
    """One question a judge answers about an output."""

    name: Name
    """Short name; unique in its rubric."""

    question: Name
    """The question to the judge about the output."""

    if TYPE_CHECKING:
        scale: Coerced[Scale, Scale | str | Mapping[str, Any] | Sequence[Level | Mapping[str, Any]]]
    else:
        scale: Annotated[Scale, BeforeValidator(_scale)]
    """The scores it may get: a mapping, a list of levels, or a shipped scale's name."""

    scoring_guide: str | None = None
    """How to arrive at a score, for the judge."""

    examples: tuple[Example, ...] = ()
    """Scored outputs as guidance for the judge; only some templates show them."""

    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    """Its share in the overall value, relative to the other weights."""

    required: bool = False
    """Whether an output fails when this criterion fails, whatever its overall value."""

    pass_value: Fraction | None = None
    """The value on [0, 1] from which this criterion passes; None takes the rubric's threshold."""

    needs: Annotated[tuple[CriterionNeed, ...], BeforeValidator(_needs)] = ()
    """What must be there to judge it: `trace` of the output, `reference` or `context` of the case.
    The prompt shows it; where it is missing, the criterion is `cannot_assess` without a call."""

    template: Name | None = None
    """The prompt template that asks this criterion; None takes the judge's own."""

    judge: Name | None = None
    """The suite's judge of this `name` that alone grades it; None: the judges without a name."""

    turns: Literal["whole", "each"] | None = None
    """How it judges a conversation: as a `whole`, or `each` turn of the assistant with what comes
    before it. None: like any other output, by the judge's own template."""

    finding: FindingType | None = None
    """What went wrong where an output fails this criterion, such as `hallucination`; None:
    `wrong-output`. The judge does not see it."""

    description: str | None = None
    """A note for readers; the judge does not see it."""

    @model_validator(mode="after")
    def _has_scored_examples(self) -> Self:
        for number, example in enumerate(self.examples, start=1):
            if not self.scale.holds(example.raw):
                ends = f"{self.scale.min:g}..{self.scale.max:g}"
                raise ValueError(
                    f"example {number} has {example.raw:g}, no score of the scale {ends}"
                )
        return self

    _without_defaults = omit_at_default(*_OPTIONAL, "finding")

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of what is asked and of whom, without weight, required and thresholds."""
        question = self.model_dump(
            mode="json",
            include={"name", "question", "scale", "scoring_guide", *_OPTIONAL},
            exclude=_UNSHOWN,
        )
        return fingerprint(question)


class Rubric(Record):
    """Ordered criteria and the value from which an output passes."""

    name: Name
    """Name of the rubric."""

    if TYPE_CHECKING:
        criteria: Coerced[tuple[Criterion, ...], Sequence[Criterion]]
    else:
        criteria: Annotated[tuple[Criterion, ...], Field(min_length=1)]
    """The questions, in the order in which they are asked and shown."""

    pass_threshold: Fraction = 0.7
    """The overall value on [0, 1] from which an output passes."""

    require_evidence: bool = False
    """Whether a score counts only with a quotation that the output holds; else it is retried, and
    in the end recorded as a failure of the kind `evidence_missing`."""

    description: str | None = None
    """A note for readers; the judge does not see it."""

    version: int | str = 1
    """The version its owner gives it; judgekit identifies rubrics by their fingerprint."""

    active: bool = True
    """Whether it is in use. Nothing is judged by an inactive rubric; earlier verdicts stay."""

    metadata: JsonObject = Field(default_factory=dict)
    """Further fields of its file (source, author)."""

    @model_validator(mode="after")
    def _is_valid(self) -> Self:
        names = [criterion.name for criterion in self.criteria]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            # Judgments refer to criteria by name.
            raise ValueError(f"two criteria are called {', '.join(twice)}")
        if not any(criterion.weight > 0 for criterion in self.criteria):
            # With weights of 0 alone the mean is undefined.
            raise ValueError("at least one criterion needs a weight above 0")
        return self

    _without_defaults = omit_at_default("require_evidence")

    def criterion(self, name: str) -> Criterion:
        """The criterion of that name.

        Args:
            name: A name from `criteria`.

        Returns:
            The criterion.

        Raises:
            KeyError: When there is none of that name.
        """
        for criterion in self.criteria:
            if criterion.name == name:
                return criterion
        raise KeyError(name)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of everything that decides a verdict: questions, scales, weights, thresholds."""
        return fingerprint(
            self.model_dump(
                mode="json",
                include={"criteria", "pass_threshold", "require_evidence"},
                exclude={"criteria": {"__all__": {"description": True, **_UNSHOWN}}},
            )
        )


def free_name(name: str, criteria: Container[str]) -> str:
    """The name of a figure over all criteria beside theirs, which no criterion has."""
    while name in criteria:
        name = f"({name})"
    return name


def inactive_rubric_error(rubric: Rubric) -> RubricError:
    """The error of judging by a rubric that its owner has retired."""
    return RubricError(
        f"the rubric {rubric.name!r} is inactive (`active: false`), so nothing is judged by it",
        hint="name its successor, or set `active: true` to use it again",
    )
