"""The records of an `eval/tests.json`, version 2 (S4), field for field as the file has them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from judgekit.datasets.foreign.shape import CamelRecord
from judgekit.records.case import Strategy  # noqa: TC001 - pydantic reads it
from judgekit.records.check import Weight  # noqa: TC001 - pydantic reads it
from judgekit.records.record import Count, Finite, Fraction, JsonObject, Name  # noqa: TC001 - pydantic reads it

Profile = Literal["deterministic", "structured", "flexible", "creative", "enterprise"]
"""The kind of skill, which decides how it is evaluated where a case does not say."""

Milliseconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
"""A duration in milliseconds, above 0."""


class SkillInput(CamelRecord):
    """What a test gives to the skill."""

    prompt: str
    """What is asked."""

    context: JsonObject | None = None
    """Material given with it; a text `fixtures/…` names a file."""

    variables: dict[str, str] | None = None
    """Values for the variables of the prompt."""


class RubricScale(CamelRecord):
    """The scores of a criterion."""

    min: Finite
    """The worst."""

    max: Finite
    """The best."""

    descriptions: dict[str, str] | None = None
    """What a score means, by score."""


class RubricCriterion(CamelRecord):
    """One criterion of a test's rubric."""

    name: Name
    """A short name."""

    description: Name
    """What is judged."""

    weight: Weight
    """Its share; all shares add up to 1."""

    scale: RubricScale
    """Its scores."""


class SkillRubric(CamelRecord):
    """How a judge grades a test."""

    criteria: Annotated[tuple[RubricCriterion, ...], Field(min_length=1)]
    """The criteria."""

    passing_threshold: Fraction
    """The value from which a test passes, on [0, 1]."""

    overall_feedback: bool | None = None
    """Whether the judge writes a summary."""


class Expected(CamelRecord):
    """What a test expects; which field counts is a matter of its strategy."""

    output: str | None = None
    """The exact output, or a good one."""

    patterns: tuple[str, ...] | None = None
    """Regular expressions, all of which must be found."""

    json_schema: JsonObject | None = None
    """The JSON Schema of the output."""

    semantic_threshold: Fraction | None = None
    """How similar to `output` it must be."""

    rubric: SkillRubric | None = None
    """How a judge grades it."""

    custom_script: str | None = None
    """The path of a script that evaluates it."""


class Evaluation(CamelRecord):
    """How a test is evaluated."""

    strategy: Strategy
    """The strategy."""

    timeout: Milliseconds | None = None
    """How long the skill may take."""

    retry_count: Count | None = None
    """How often a test that did not pass is tried again."""

    weights: dict[str, Weight] | None = None
    """For `hybrid`, the weight of each strategy."""


class SkillMetadata(CamelRecord):
    """What is known about a test; further fields are kept."""

    difficulty: Literal["easy", "medium", "hard"] | None = None
    """How hard it is."""

    priority: Literal["critical", "high", "medium", "low"] | None = None
    """How much it matters."""

    author: str | None = None
    """Who wrote it."""

    created_at: str | None = None
    """When it was written."""

    updated_at: str | None = None
    """When it was last changed."""

    tags: tuple[str, ...] | None = None
    """Groups, where they stand here."""


class SkillCase(CamelRecord):
    """One test."""

    id: Name
    """Its id."""

    name: str
    """A title."""

    description: str | None = None
    """What it is there to find out."""

    tags: tuple[str, ...] | None = None
    """Its groups."""

    input: SkillInput
    """What the skill gets."""

    expected: Expected = Field(default_factory=Expected)
    """What is expected."""

    evaluation: Evaluation
    """How it is evaluated."""

    metadata: SkillMetadata | None = None
    """What is known about it."""


class SkillSettings(CamelRecord):
    """How the tests are run."""

    default_timeout: Milliseconds | None = None
    """How long a test may take that does not say so itself."""

    parallel_execution: bool | None = None
    """Whether tests run at the same time."""

    max_concurrent_tests: Annotated[int, Field(ge=1)] | None = None
    """How many at most."""

    fail_fast: bool | None = None
    """Whether the first failure ends the run."""

    retry_failed: bool | None = None
    """Whether tests that fail are tried again."""


class Setup(CamelRecord):
    """What happens before the tests."""

    script: str | None = None
    """The path of a script."""

    environment: dict[str, str] | None = None
    """Environment variables."""

    dependencies: tuple[str, ...] | None = None
    """What must be installed."""


class Teardown(CamelRecord):
    """What happens after the tests."""

    script: str | None = None
    """The path of a script."""


class SkillGroup(CamelRecord):
    """Tests that belong together."""

    name: Name
    """Name of the group."""

    test_ids: tuple[Name, ...]
    """Ids of its tests."""

    run_in_sequence: bool | None = None
    """Whether one waits for the other."""


class SkillTests(CamelRecord):
    """An `eval/tests.json`; its tests are left as they stand."""

    version: str = "2.0"
    """Version of the format."""

    profile: Profile = "deterministic"
    """The kind of skill."""

    settings: SkillSettings = Field(default_factory=SkillSettings)
    """How it is run."""

    setup: Setup | None = None
    """What happens before."""

    teardown: Teardown | None = None
    """What happens after."""

    test_cases: JsonValue
    """The tests, as they stand."""

    suites: tuple[SkillGroup, ...] = ()
    """Groups of tests."""
