"""The objects of a quality memory (S0), field for field as its exports have them."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, JsonValue

from judgekit.datasets.foreign.shape import CamelRecord, SnakeRecord
from judgekit.records.check import Weight  # noqa: TC001 - pydantic reads it
from judgekit.records.judgment import Source  # noqa: TC001 - pydantic reads it
from judgekit.records.record import Finite, Fraction, JsonObject, Name  # noqa: TC001 - pydantic reads it


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

    judge_type: Source | None = None
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

    judged_by_type: Source = "llm"
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
