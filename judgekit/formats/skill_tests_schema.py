"""The records of an `eval/tests.json` (S4), the conversion between versions 1 and 2.

Its rubrics. `skill_tests` reads and writes the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, JsonValue, ValidationError

from judgekit.errors import DatasetError
from judgekit.formats.foreign_file import CamelRecord
from judgekit.formats.problems import json_kind, threshold_fault, vague_word
from judgekit.records import (
    Count,
    EvaluationProfileName,
    EvaluationStrategy,
    Finite,
    Fraction,
    JsonObject,
    Name,
    Scale,
    Weight,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.formats.foreign_file import ForeignFile
    from judgekit.formats.text import KeyPath

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


class SkillScale(CamelRecord):
    """The scores of a criterion."""

    min: Finite
    """The worst."""

    max: Finite
    """The best."""

    descriptions: dict[str, str] | None = None
    """What a score means, by score."""


class SkillCriterion(CamelRecord):
    """One criterion of a test's rubric."""

    name: Name
    """A short name."""

    description: Name
    """What is judged."""

    weight: Weight
    """Its share; all shares add up to 1."""

    scale: SkillScale
    """Its scores."""


class SkillRubric(CamelRecord):
    """How a judge grades a test."""

    criteria: Annotated[tuple[SkillCriterion, ...], Field(min_length=1)]
    """The criteria."""

    passing_threshold: Fraction
    """The value from which a test passes, on [0, 1]."""

    overall_feedback: bool | None = None
    """Whether the judge writes a summary."""


class SkillExpected(CamelRecord):
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


class SkillEvaluation(CamelRecord):
    """How a test is evaluated."""

    strategy: EvaluationStrategy
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

    expected: SkillExpected = Field(default_factory=SkillExpected)
    """What is expected."""

    evaluation: SkillEvaluation
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


class SkillSetup(CamelRecord):
    """What happens before the tests."""

    script: str | None = None
    """The path of a script."""

    environment: dict[str, str] | None = None
    """Environment variables."""

    dependencies: tuple[str, ...] | None = None
    """What must be installed."""


class SkillTeardown(CamelRecord):
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

    profile: EvaluationProfileName = "deterministic"
    """The kind of skill."""

    settings: SkillSettings = Field(default_factory=SkillSettings)
    """How it is run."""

    setup: SkillSetup | None = None
    """What happens before."""

    teardown: SkillTeardown | None = None
    """What happens after."""

    test_cases: JsonValue
    """The tests, as they stand."""

    suites: tuple[SkillGroup, ...] = ()
    """Groups of tests."""


DEFAULT_TIMEOUT_MS = 30_000
"""How long a test of version 1 may take that does not say so."""

_OWN = ("name", "description", "input", "expectedOutput", "expectedPatterns", "timeout")


def is_skill_tests_v1(value: JsonValue) -> bool:
    """Whether a file is of version 1: a list of tests, or an object with `tests`."""
    return isinstance(value, list) or (
        isinstance(value, dict) and "tests" in value and "testCases" not in value
    )


def upgrade_skill_tests(value: JsonValue) -> JsonObject:
    """A file of version 1 as one of version 2; nothing of it is lost."""
    # Tests are called `tc-001`, `tc-002`, … by their place. What is expected decides the strategy:
    # an output `exact_match`, patterns `regex_match`, both `hybrid`. Fields that version 1 does not
    # know are kept beside the others.
    tests = value.get("tests") if isinstance(value, dict) else value
    if not isinstance(tests, list):
        raise DatasetError(f"`tests` must be a list, not {json_kind(tests)}")
    rest: JsonObject = {}
    if isinstance(value, dict):
        rest = {name: item for name, item in value.items() if name not in {"tests", "version"}}
    return {
        "version": "2.0",
        "profile": "deterministic",
        "settings": {"defaultTimeout": DEFAULT_TIMEOUT_MS},
        **rest,
        "testCases": [_upgraded(test, place) for place, test in enumerate(tests, start=1)],
    }


def downgrade_skill_tests(value: JsonObject) -> tuple[list[JsonValue], tuple[str, ...]]:
    """The tests of a file of version 2 as version 1 has them, and what that loses."""
    # Of tests with the fields of version 1, `downgrade(upgrade(tests))` gives the same tests back
    # and loses nothing.
    usual = {"version": "2.0", "profile": "deterministic", "testCases": ...}
    settings = {"defaultTimeout": DEFAULT_TIMEOUT_MS}
    lost = [
        name
        for name, item in value.items()
        if name not in usual and not (name == "settings" and item in (settings, {}))
    ]
    if value.get("profile", "deterministic") != "deterministic":
        lost.append("profile")
    tests: list[JsonValue] = []
    given = value.get("testCases")
    for index, test in enumerate(given if isinstance(given, list) else ()):
        if isinstance(test, dict):
            tests.append(_downgraded(test))
            lost += [f"testCases[{index}].{path}" for path in _losses(test, index + 1)]
    return tests, tuple(lost)


def _upgraded(test: JsonValue, place: int) -> JsonValue:
    if not isinstance(test, dict):
        return test
    expected = {
        new: test[old]
        for new, old in (("output", "expectedOutput"), ("patterns", "expectedPatterns"))
        if test.get(old) is not None
    }
    evaluation: JsonObject = {**_strategy(expected)}
    if "timeout" in test:
        evaluation["timeout"] = test["timeout"]
    known: JsonObject = {name: test[name] for name in ("name", "description") if name in test}
    rest: JsonObject = {name: item for name, item in test.items() if name not in _OWN}
    asked: JsonObject = {"prompt": test["input"]} if "input" in test else {}
    return {
        "id": f"tc-{place:03d}",
        **known,
        "input": asked,
        "expected": expected,
        "evaluation": evaluation,
        **rest,
    }


def _strategy(expected: JsonObject) -> JsonObject:
    if len(expected) > 1:
        return {"strategy": "hybrid", "weights": {"exact_match": 0.5, "regex_match": 0.5}}
    return {"strategy": "regex_match" if "patterns" in expected else "exact_match"}


def _downgraded(test: JsonObject) -> JsonObject:
    asked, expected = _part(test, "input"), _part(test, "expected")
    found: JsonObject = {name: test[name] for name in ("name", "description") if name in test}
    if "prompt" in asked:
        found["input"] = asked["prompt"]
    for old, new in (("expectedOutput", "output"), ("expectedPatterns", "patterns")):
        if new in expected:
            found[old] = expected[new]
    evaluation = _part(test, "evaluation")
    if "timeout" in evaluation:
        found["timeout"] = evaluation["timeout"]
    new_names = {"id", "name", "description", "input", "expected", "evaluation"}
    new_names |= {"tags", "metadata"}
    return found | {name: item for name, item in test.items() if name not in new_names}


def _losses(test: JsonObject, place: int) -> Iterator[str]:
    if test.get("id") != f"tc-{place:03d}":
        yield "id"
    for name in ("tags", "metadata"):
        if test.get(name):
            yield name
    yield from (f"input.{name}" for name in _part(test, "input") if name != "prompt")
    expected = _part(test, "expected")
    yield from (f"expected.{name}" for name in expected if name not in {"output", "patterns"})
    usual = _strategy({name: expected[name] for name in ("output", "patterns") if name in expected})
    for name, item in _part(test, "evaluation").items():
        if name != "timeout" and item != usual.get(name):
            yield f"evaluation.{name}"


def _part(test: JsonObject, name: str) -> JsonObject:
    part = test.get(name)
    return part if isinstance(part, dict) else {}


OTHER_FIELDS = "other_fields"
"""The entry of a metadata with the fields that have no place elsewhere."""

# How far weights may be from adding up to 1.
_SHARES = 1e-6


def rubric_from_skill_test(case: SkillCase, at: KeyPath, reading: ForeignFile) -> JsonObject | None:
    """The rubric of a test as the fields of a `Rubric`; what is unsound in it is noted."""
    rubric = case.expected.rubric
    if rubric is None:
        return None
    where = (*at, "expected", "rubric")
    _check_weights([criterion.weight for criterion in rubric.criteria], where, reading, case.id)
    criteria: list[JsonValue] = []
    for index, criterion in enumerate(rubric.criteria):
        place = (*where, "criteria", index)
        if word := vague_word(criterion.description):
            message = f"the description says {word!r}, which nothing can contradict"
            remedy = "say what would be seen in the output"
            reading.warn((*place, "description"), message, remedy, case_id=case.id)
        criteria.append(_criterion(criterion, place, reading, case.id))
    metadata = rubric.extra
    unread: JsonObject = {c.name: c.extra for c in rubric.criteria if c.extra}
    if unread:
        metadata[OTHER_FIELDS] = unread
    if rubric.overall_feedback is not None:
        metadata["overallFeedback"] = rubric.overall_feedback
    return {
        "name": case.id,
        "criteria": criteria,
        "pass_threshold": rubric.passing_threshold,
        "metadata": metadata,
    }


def soften_thresholds(item: JsonObject, at: KeyPath, reading: ForeignFile) -> JsonObject:
    """A test in which thresholds on another scale, each noted, are replaced by sound ones."""
    # So the other faults of the test are found at the same time.
    expected = item.get("expected")
    if not isinstance(expected, dict):
        return item
    mended: JsonObject = {}
    if fault := threshold_fault(("semanticThreshold",), expected.get("semanticThreshold"), ()):
        mended["semanticThreshold"] = 1.0
        _add(fault.message, fault.remedy, (*at, "expected", "semanticThreshold"), item, reading)
    rubric = expected.get("rubric")
    if isinstance(rubric, dict) and (
        fault := threshold_fault(
            ("passingThreshold",), rubric.get("passingThreshold"), _scales(rubric)
        )
    ):
        mended["rubric"] = {**rubric, "passingThreshold": 1.0}
        place = (*at, "expected", "rubric", "passingThreshold")
        _add(fault.message, fault.remedy, place, item, reading)
    return item if not mended else {**item, "expected": {**expected, **mended}}


def _add(
    message: str, remedy: str | None, where: KeyPath, item: JsonObject, reading: ForeignFile
) -> None:
    named = item.get("id")
    reading.add(where, message, remedy, case_id=named if isinstance(named, str) else None)


def _scales(rubric: JsonObject) -> Iterator[Scale]:
    criteria = rubric.get("criteria")
    for criterion in criteria if isinstance(criteria, list) else ():
        scale = criterion.get("scale") if isinstance(criterion, dict) else None
        if isinstance(scale, dict):
            try:
                yield Scale.model_validate({name: scale.get(name) for name in ("min", "max")})
            except ValidationError:
                continue


def _check_weights(
    weights: list[float], where: KeyPath, reading: ForeignFile, case_id: str
) -> None:
    total = sum(weights)
    place = (*where, "criteria")
    if total <= 0:
        message = "no criterion has a weight above 0, so nothing is judged"
        reading.add(place, message, "give the weights as shares of 1", case_id=case_id)
    elif abs(total - 1) > _SHARES:
        message = f"the weights add up to {total:g}, not 1; each is taken as its share of that"
        reading.warn(place, message, "make them add up to 1", case_id=case_id)


def _criterion(
    criterion: SkillCriterion, at: KeyPath, reading: ForeignFile, case_id: str
) -> JsonObject:
    return {
        "name": criterion.name,
        "question": criterion.description,
        "weight": criterion.weight,
        "scale": _scale(criterion.scale, (*at, "scale"), reading, case_id),
    }


def _scale(scale: SkillScale, at: KeyPath, reading: ForeignFile, case_id: str) -> JsonObject:
    """The scale with its described scores as levels, best first."""
    levels: list[tuple[float, str]] = []
    for score, text in (scale.descriptions or {}).items():
        try:
            levels.append((float(score), text))
        except ValueError:
            place = (*at, "descriptions", score)
            reading.add(place, f"{score!r} is no score", "name a number", case_id=case_id)
    found: JsonObject = {"min": scale.min, "max": scale.max}
    ends = (scale.min, scale.max, *(value for value, _ in levels))
    if all(float(end).is_integer() for end in ends) and scale.max - scale.min > 1:
        found["integer"] = True
    if levels:
        ordered = sorted(levels, reverse=True)
        found["levels"] = [{"value": value, "description": text} for value, text in ordered]
    return found
