"""The records of a quality memory's objects (S0), and the fields judgekit adds to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, JsonValue, ValidationError

from judgekit.formats.foreign_file import CamelRecord, SnakeRecord
from judgekit.records import (
    Case,
    Criterion,
    Finite,
    Fraction,
    JsonObject,
    JudgmentSource,
    Name,
    Record,
    Weight,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


class QualityObject(SnakeRecord):
    """One object of an export."""

    type: Name
    id: str | int | None = None  # may stand among the fields instead
    fields: JsonObject


class TestCaseFields(CamelRecord):
    """A `test-case`."""

    additions: ClassVar[frozenset[str]] = frozenset(
        {"assertions", "benchmarks", "context", "evaluation", "metadata", "stratum"}
    )

    __test__ = False  # pytest collects classes that are called Test…

    name: Name
    description: str | None = None
    agent_id: str | None = None
    skill_id: str | None = None
    prompt_version_ref: str | None = None
    inputs: JsonValue
    expected_outputs: JsonValue = None
    rubric_id: str | None = None
    tags: tuple[str, ...] = ()
    status: Literal["active", "draft", "deprecated"] = "active"
    created_at: str | None = None
    created_by: str | None = None


class RubricFields(CamelRecord):
    """A `rubric`."""

    name: Name
    description: str | None = None
    criteria_ids: tuple[str, ...] = ()
    passing_threshold: Finite  # on [0, 1], or on the sum of weighted scores
    version: int | str = 1
    is_active: bool = True


class CriterionFields(CamelRecord):
    """A `rubric-criterion`."""

    additions: ClassVar[frozenset[str]] = frozenset(
        {"betweenLevels", "examples", "integer", "levels", "note", "passValue", "required"}
    )

    rubric_id: str | None = None
    name: Name
    description: Name
    weight: Weight = 1.0
    scoring_guide: str | None = None
    min_score: Finite = 0.0
    max_score: Finite = 1.0


class TestRunFields(CamelRecord):
    """A `test-run`."""

    additions: ClassVar[frozenset[str]] = frozenset({"checks", "failures", "repeat"})

    __test__ = False

    test_case_id: Name
    agent_run_id: str | None = None
    prompt_version_ref: str | None = None
    variant: str | None = None  # added by judgekit, where several variants share a prompt version
    actual_output: JsonValue
    data: JsonValue = None  # the structured result beside a text; added by judgekit
    error: str | None = None  # why there is no output; added by judgekit
    duration_ms: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    passed: bool | None = None
    total_score: Finite | None = None
    max_possible_score: Finite | None = None
    ran_at: str | None = None
    judge_type: JudgmentSource | None = None


class JudgmentFields(CamelRecord):
    """An `eval-judgment`."""

    additions: ClassVar[frozenset[str]] = frozenset({"evidence", "failures", "repeat"})

    test_run_id: Name
    criterion_id: Name
    score: Finite
    max_score: Finite
    rationale: Name
    judged_by: str = ""
    judged_by_type: JudgmentSource = "llm"
    judged_at: str | None = None
    confidence: Fraction | None = None


class BenchmarkFields(CamelRecord):
    """A `benchmark`."""

    name: Name
    test_case_ids: tuple[str, ...] = ()
    passing_threshold: Finite | None = None
    description: str | None = None
    dimension: str | None = None
    owner_id: str | None = None
    last_run_at: str | None = None
    last_score: Finite | None = None
    status: Literal["active", "retired"] = "active"


ADDED_CASE_FIELDS = ("context", "stratum", "assertions", "evaluation")
"""Fields of a case for which a `test-case` has no field; they stand among its fields."""

BENCHMARKS_FIELD = "benchmarks"  # the entry of a case's metadata with the benchmarks it belongs to

CASE_FIELD_NAMES = frozenset(
    {
        "name", "description", "agentId", "skillId", "promptVersionRef", "expectedOutputs",
        "rubricId", "inputs", "tags", "status", "metadata", *ADDED_CASE_FIELDS,
    }
)  # fmt: skip
"""Names that metadata cannot have beside the fields; such entries stand under `metadata`."""


def added_case_fields(extra: JsonObject) -> tuple[JsonObject, JsonObject]:
    """The further fields of a `test-case` as fields of the case, and the rest as metadata."""
    fields = {
        name: extra[name]
        for name in ADDED_CASE_FIELDS
        if extra.get(name) is not None and _fits(name, extra[name])
    }
    rest = {name: item for name, item in extra.items() if name not in fields}
    inner = rest.get("metadata")
    if isinstance(inner, dict) and inner and inner.keys() <= CASE_FIELD_NAMES:
        rest = {**{name: item for name, item in rest.items() if name != "metadata"}, **inner}
    return fields, rest


def split_metadata(metadata: Mapping[str, JsonValue]) -> JsonObject:
    """Metadata of a case as it stands among the fields of a `test-case`; the reverse of reading."""
    plain = {name: item for name, item in metadata.items() if name not in CASE_FIELD_NAMES}
    inner: JsonObject = {
        name: item for name, item in metadata.items() if name in CASE_FIELD_NAMES - {"rubricId"}
    }
    return {**plain, "metadata": inner} if inner else plain


def benchmarks_of(case: Case) -> dict[str, JsonObject]:
    """The benchmarks of a quality memory that a case belongs to."""
    listed = case.metadata.get(BENCHMARKS_FIELD)
    items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    found = ((item.get("id"), item) for item in items)
    return {
        name: {key: value for key, value in item.items() if key != "id"}
        for name, item in found
        if isinstance(name, str) and name and isinstance(item.get("name"), str)
    }


def criterion_from_quality(criterion: CriterionFields, weight: float) -> JsonObject:
    """A criterion, with the further fields of a `rubric-criterion` where they are valid."""
    extra = criterion.extra
    scale: JsonObject = {"min": criterion.min_score, "max": criterion.max_score}
    fields: JsonObject = {
        "name": criterion.name,
        "question": criterion.description,
        "scoring_guide": criterion.scoring_guide,
        "weight": weight,
        "scale": scale,
    }
    named = {"integer": "integer", "levels": "levels", "betweenLevels": "between_levels"}
    more = {"required": "required", "passValue": "pass_value", "examples": "examples"}
    more["note"] = "description"
    whole: JsonObject = {
        **fields,
        **{own: extra[name] for name, own in more.items() if name in extra},
        "scale": scale | {own: extra[name] for name, own in named.items() if name in extra},
    }
    # Fields of the same names may mean something else in a memory that judgekit did not write.
    return whole if _is_valid(Criterion, whole) else fields


def _is_valid(record: type[Record], value: JsonValue) -> bool:
    try:
        record.model_validate(value)
    except ValidationError:
        return False
    return True


def _fits(name: str, value: JsonValue) -> bool:
    """Whether a value has the form of the field of a case."""
    specs = value if name == "assertions" and isinstance(value, list) else []
    is_typed = all(isinstance(one, dict) and isinstance(one.get("type"), str) for one in specs)
    return is_typed and _is_valid(Case, {"id": "x", "input": None, name: value})
