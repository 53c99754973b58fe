"""The records of a quality memory's objects (S0), and the fields judgekit adds to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, get_args

from pydantic import Field, JsonValue, ValidationError

from judgekit.formats.foreign_file import CamelRecord, SnakeRecord
from judgekit.records import (
    CaseEvaluation,
    CaseStratum,
    Criterion,
    Finite,
    Fraction,
    JsonObject,
    JudgmentSource,
    Name,
    Weight,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from judgekit.records import Case


class QualityObject(SnakeRecord):
    """One object of an export."""

    type: Name
    """What it is."""

    id: str | int | None = None
    """Its id; may stand among the fields instead."""

    fields: JsonObject
    """What it says."""


class TestCaseFields(CamelRecord):
    """A `test-case`."""

    additions: ClassVar[frozenset[str]] = frozenset(
        {"assertions", "benchmarks", "context", "evaluation", "metadata", "stratum"}
    )

    __test__ = False

    name: Name
    """A title."""

    description: str | None = None
    """What it is there to find out."""

    agent_id: str | None = None
    """The agent under test."""

    skill_id: str | None = None
    """The skill under test."""

    prompt_version_ref: str | None = None
    """The prompt version under test."""

    inputs: JsonValue
    """What goes in."""

    expected_outputs: JsonValue = None
    """What should come out."""

    rubric_id: str | None = None
    """How it is judged."""

    tags: tuple[str, ...] = ()
    """Its groups."""

    status: Literal["active", "draft", "deprecated"] = "active"
    """Only active ones are run."""

    created_at: str | None = None
    """When it was written."""

    created_by: str | None = None
    """Who wrote it."""


class RubricFields(CamelRecord):
    """A `rubric`."""

    name: Name
    """Its name."""

    description: str | None = None
    """What it is for."""

    criteria_ids: tuple[str, ...] = ()
    """Its criteria, in order."""

    passing_threshold: Finite
    """The least weighted score; on [0, 1], or a sum of weighted scores."""

    version: int | str = 1
    """Its version."""

    is_active: bool = True
    """Whether it is in use."""


class CriterionFields(CamelRecord):
    """A `rubric-criterion`."""

    additions: ClassVar[frozenset[str]] = frozenset(
        {"betweenLevels", "examples", "integer", "levels", "note", "passValue", "required"}
    )

    rubric_id: str | None = None
    """The rubric it is part of."""

    name: Name
    """Its name."""

    description: Name
    """What good looks like."""

    weight: Weight = 1.0
    """Its importance."""

    scoring_guide: str | None = None
    """How to score."""

    min_score: Finite = 0.0
    """The worst score."""

    max_score: Finite = 1.0
    """The best score."""


class TestRunFields(CamelRecord):
    """A `test-run`."""

    additions: ClassVar[frozenset[str]] = frozenset({"checks", "failures", "repeat"})

    __test__ = False

    test_case_id: Name
    """The case."""

    agent_run_id: str | None = None
    """The agent run it came from."""

    prompt_version_ref: str | None = None
    """The prompt version that produced it."""

    variant: str | None = None
    """The variant it belongs to, where several share a prompt version; an addition."""

    actual_output: JsonValue
    """What came out."""

    data: JsonValue = None
    """The structured result beside a text; an addition."""

    error: str | None = None
    """Why there is no output; an addition."""

    duration_ms: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """How long it took."""

    passed: bool | None = None
    """What was concluded then."""

    total_score: Finite | None = None
    """The sum of weighted scores."""

    max_possible_score: Finite | None = None
    """The best that sum could have been."""

    ran_at: str | None = None
    """When it ran."""

    judge_type: JudgmentSource | None = None
    """What kind of judge."""


class JudgmentFields(CamelRecord):
    """An `eval-judgment`."""

    additions: ClassVar[frozenset[str]] = frozenset({"evidence", "failures", "repeat"})

    test_run_id: Name
    """The run it judges."""

    criterion_id: Name
    """The criterion."""

    score: Finite
    """The score."""

    max_score: Finite
    """The best score."""

    rationale: Name
    """Why."""

    judged_by: str = ""
    """Who judged."""

    judged_by_type: JudgmentSource = "llm"
    """What kind of judge."""

    judged_at: str | None = None
    """When it was judged."""

    confidence: Fraction | None = None
    """How sure the judge is."""


class BenchmarkFields(CamelRecord):
    """A `benchmark`."""

    name: Name
    """Its name."""

    test_case_ids: tuple[str, ...] = ()
    """Its cases."""

    passing_threshold: Finite | None = None
    """The least overall score."""

    description: str | None = None
    """What it covers."""

    dimension: str | None = None
    """What it measures."""

    owner_id: str | None = None
    """Whose it is."""

    last_run_at: str | None = None
    """When it last ran."""

    last_score: Finite | None = None
    """What came out."""

    status: Literal["active", "retired"] = "active"
    """Whether it is in use."""


ADDED_CASE_FIELDS = ("context", "stratum", "assertions", "evaluation")
"""Fields of a case that a `test-case` has no place for; they stand among its fields."""

BENCHMARKS_FIELD = "benchmarks"
"""The entry of a case's metadata that names the benchmarks it came with."""

CASE_FIELD_NAMES = frozenset(
    {
        "name", "description", "agentId", "skillId", "promptVersionRef", "expectedOutputs",
        "rubricId", "inputs", "tags", "status", "metadata", *ADDED_CASE_FIELDS,
    }
)  # fmt: skip
"""Names that metadata cannot have beside the fields; such metadata stands under `metadata`."""


def added_case_fields(extra: JsonObject) -> tuple[JsonObject, JsonObject]:
    """What the further fields of a `test-case` say of the case."""
    fields = {
        name: extra[name]
        for name in ADDED_CASE_FIELDS
        if extra.get(name) is not None and _FITS[name](extra[name])
    }
    rest = {name: item for name, item in extra.items() if name not in fields}
    inner = rest.get("metadata")
    if isinstance(inner, dict) and inner and inner.keys() <= CASE_FIELD_NAMES:
        rest = {**{name: item for name, item in rest.items() if name != "metadata"}, **inner}
    return fields, rest


def split_metadata(metadata: Mapping[str, JsonValue]) -> JsonObject:
    """Metadata of a case as it stands among the fields of a `test-case`; the way back."""
    plain = {name: item for name, item in metadata.items() if name not in CASE_FIELD_NAMES}
    inner: JsonObject = {
        name: item for name, item in metadata.items() if name in CASE_FIELD_NAMES - {"rubricId"}
    }
    return {**plain, "metadata": inner} if inner else plain


def benchmarks_of(case: Case) -> dict[str, JsonObject]:
    """The benchmarks of a quality memory that a case came with."""
    given = case.metadata.get(BENCHMARKS_FIELD)
    items = [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []
    found = ((item.get("id"), item) for item in items)
    return {
        name: {key: value for key, value in item.items() if key != "id"}
        for name, item in found
        if isinstance(name, str) and name and isinstance(item.get("name"), str)
    }


def added_criterion_fields(criterion: CriterionFields, fields: JsonObject) -> JsonObject:
    """A criterion with what the further fields of a `rubric-criterion` say of it."""
    extra = criterion.extra
    scale: JsonObject = {"min": criterion.min_score, "max": criterion.max_score}
    named = {"integer": "integer", "levels": "levels", "betweenLevels": "between_levels"}
    scale |= {own: extra[name] for name, own in named.items() if name in extra}
    more = {"required": "required", "passValue": "pass_value", "examples": "examples"}
    more["note"] = "description"
    whole: JsonObject = {
        **fields,
        **{own: extra[name] for name, own in more.items() if name in extra},
        "scale": scale,
    }
    try:
        Criterion.model_validate(whole)
    except ValidationError:
        return fields
    return whole


def _is_evaluation(value: JsonValue) -> bool:
    try:
        CaseEvaluation.model_validate(value)
    except ValidationError:
        return False
    return True


def _are_assertions(value: JsonValue) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict) and isinstance(item.get("type"), str) for item in value
    )


# Whether a value has the form of the field.
_FITS: Mapping[str, Callable[[JsonValue], bool]] = {
    "context": lambda _: True,
    "stratum": lambda value: value in get_args(CaseStratum),
    "assertions": _are_assertions,
    "evaluation": _is_evaluation,
}
