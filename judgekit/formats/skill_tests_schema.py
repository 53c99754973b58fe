"""The records of an `eval/tests.json` (S4, `skill_tests`), its rubrics, its versions 1 and 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, JsonValue

from judgekit.errors import DatasetError
from judgekit.formats.foreign_file import CamelRecord, ForeignFile
from judgekit.formats.problems import json_kind, threshold_fault, valid_scales
from judgekit.formats.text import as_items, as_mapping
from judgekit.records import (
    Count,
    EvaluationProfileName,
    EvaluationStrategy,
    Finite,
    JsonObject,
    Name,
    Weight,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.formats.text import KeyPath

Milliseconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _SkillInput(CamelRecord):
    prompt: str
    context: JsonObject | None = None  # a text `fixtures/…` in it names a file
    variables: dict[str, str] | None = None


class _SkillScale(CamelRecord):
    min: Finite
    max: Finite
    descriptions: dict[str, str] | None = None  # by score


class _SkillCriterion(CamelRecord):
    name: Name
    description: Name
    weight: Weight  # all weights add up to 1
    scale: _SkillScale


class _SkillRubric(CamelRecord):
    criteria: Annotated[tuple[_SkillCriterion, ...], Field(min_length=1)]
    passing_threshold: Weight
    overall_feedback: bool | None = None


class SkillExpected(CamelRecord):
    """What a test expects; its strategy determines which field counts."""

    output: str | None = None
    patterns: tuple[str, ...] | None = None  # regular expressions that must all match
    json_schema: JsonObject | None = None
    semantic_threshold: Weight | None = None
    rubric: _SkillRubric | None = None
    custom_script: str | None = None


class _SkillEvaluation(CamelRecord):
    strategy: EvaluationStrategy | None = None  # None leaves it to the profile
    timeout: Milliseconds | None = None
    retry_count: Count | None = None
    weights: dict[str, Weight] | None = None  # the weight of each strategy of `hybrid`


# Known facts about a test; further fields are kept.
class _SkillMetadata(CamelRecord):
    difficulty: Literal["easy", "medium", "hard"] | None = None
    priority: Literal["critical", "high", "medium", "low"] | None = None
    author: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    tags: tuple[str, ...] | None = None


class SkillCase(CamelRecord):
    """One test."""

    id: Name
    name: str
    description: str | None = None
    tags: tuple[str, ...] | None = None
    input: _SkillInput
    expected: SkillExpected = Field(default_factory=SkillExpected)
    evaluation: _SkillEvaluation = Field(default_factory=_SkillEvaluation)
    metadata: _SkillMetadata | None = None


class _SkillSettings(CamelRecord):
    default_timeout: Milliseconds | None = None
    parallel_execution: bool | None = None
    max_concurrent_tests: Annotated[int, Field(ge=1)] | None = None
    fail_fast: bool | None = None
    retry_failed: bool | None = None


class _SkillTeardown(CamelRecord):
    script: str | None = None


class _SkillSetup(_SkillTeardown):
    environment: dict[str, str] | None = None
    dependencies: tuple[str, ...] | None = None


class _SkillGroup(CamelRecord):
    name: Name
    test_ids: tuple[Name, ...]
    run_in_sequence: bool | None = None


class SkillTests(CamelRecord):
    """An `eval/tests.json`."""

    version: str = "2.0"
    profile: EvaluationProfileName = "deterministic"
    settings: _SkillSettings = Field(default_factory=_SkillSettings)
    setup: _SkillSetup | None = None
    teardown: _SkillTeardown | None = None
    test_cases: JsonValue  # unread: each test is read by itself, so that one fault hides no other
    suites: tuple[_SkillGroup, ...] = ()


DEFAULT_TIMEOUT_MS = 30_000
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
        "testCases": [
            _upgraded(test, place) if isinstance(test, dict) else test
            for place, test in enumerate(tests, start=1)
        ],
    }


def downgrade_skill_tests(value: JsonObject) -> tuple[list[JsonValue], tuple[str, ...]]:
    """The tests of a file of version 2 as version 1 has them, and what that loses."""
    # Tests with the fields of version 1 are the same after `downgrade(upgrade(tests))`, which
    # loses nothing.
    usual: JsonObject = {"profile": "deterministic", "settings": {}}
    added: JsonObject = {"settings": {"defaultTimeout": DEFAULT_TIMEOUT_MS}}
    lost = [
        name
        for name, item in value.items()
        if name not in {"version", "testCases"} and item not in (usual.get(name), added.get(name))
    ]
    tests: list[JsonValue] = []
    listed = value.get("testCases")
    for index, test in enumerate(as_items(listed)):
        if isinstance(test, dict):
            tests.append(_downgraded(test))
            lost += [f"testCases[{index}].{path}" for path in _losses(test, index + 1)]
    return tests, tuple(lost)


def _upgraded(test: JsonObject, place: int) -> JsonObject:
    expected = {
        new: test[old]
        for new, old in (("output", "expectedOutput"), ("patterns", "expectedPatterns"))
        if test.get(old) is not None
    }
    strategy = "regex_match" if "patterns" in expected else "exact_match"
    evaluation: JsonObject = {"strategy": "hybrid" if len(expected) > 1 else strategy}
    if len(expected) > 1:
        evaluation["weights"] = {"exact_match": 0.5, "regex_match": 0.5}
    if "timeout" in test:
        evaluation["timeout"] = test["timeout"]
    known: JsonObject = {name: test[name] for name in ("name", "description") if name in test}
    rest: JsonObject = {name: item for name, item in test.items() if name not in _OWN}
    prompt: JsonObject = {"prompt": test["input"]} if "input" in test else {}
    return {
        "id": f"tc-{place:03d}",
        **known,
        "input": prompt,
        "expected": expected,
        "evaluation": evaluation,
        **rest,
    }


def _downgraded(test: JsonObject) -> JsonObject:
    prompt, expected = as_mapping(test.get("input")), as_mapping(test.get("expected"))
    found: JsonObject = {name: test[name] for name in ("name", "description") if name in test}
    if "prompt" in prompt:
        found["input"] = prompt["prompt"]
    for old, new in (("expectedOutput", "output"), ("expectedPatterns", "patterns")):
        if new in expected:
            found[old] = expected[new]
    evaluation = as_mapping(test.get("evaluation"))
    if "timeout" in evaluation:
        found["timeout"] = evaluation["timeout"]
    new_names = {"id", "name", "description", "input", "expected", "evaluation"}
    new_names |= {"tags", "metadata"}
    return found | {name: item for name, item in test.items() if name not in new_names}


def _losses(test: JsonObject, place: int) -> Iterator[str]:
    again = _upgraded(_downgraded(test), place)
    for name, item in test.items():
        if isinstance(item, dict) and name in {"input", "expected", "evaluation"}:
            upgraded = as_mapping(again.get(name))
            yield from (f"{name}.{part}" for part in item if item[part] != upgraded.get(part))
        elif item and item != again.get(name):
            yield name


OTHER_FIELDS = "other_fields"
"""The entry of a metadata with the fields that have no place elsewhere."""

# How far weights may be from adding up to 1.
_SHARES = 1e-6


def rubric_from_skill_test(case: SkillCase, at: KeyPath, reading: ForeignFile) -> JsonObject | None:
    """The rubric of a test as the fields of a `Rubric`; its faults are reported."""
    rubric = case.expected.rubric
    if rubric is None:
        return None
    where = (*at, "expected", "rubric", "criteria")
    total = sum(criterion.weight for criterion in rubric.criteria)
    if total <= 0:
        message = "no criterion has a weight above 0, so nothing is judged"
        reading.add(where, message, "give the weights as shares of 1", case_id=case.id)
    elif abs(total - 1) > _SHARES:
        message = f"the weights add up to {total:g}, not 1; each counts as its share of that"
        reading.warn(where, message, "make them add up to 1", case_id=case.id)
    criteria: list[JsonValue] = []
    for index, criterion in enumerate(rubric.criteria):
        place = (*where, index)
        reading.check_description(criterion.description, place, case_id=case.id)
        criteria.append(
            {
                "name": criterion.name,
                "question": criterion.description,
                "weight": criterion.weight,
                "scale": _scale(criterion.scale, (*place, "scale"), reading, case.id),
            }
        )
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


def check_thresholds(case: SkillCase, at: KeyPath, reading: ForeignFile) -> bool:
    """Whether the thresholds of a test are on [0, 1]; one on another scale is reported."""
    expected, rubric = case.expected, case.expected.rubric
    where = (*at, "expected")
    faults = [threshold_fault((*where, "semanticThreshold"), expected.semantic_threshold, ())]
    if rubric is not None:
        ends = ({"min": c.scale.min, "max": c.scale.max} for c in rubric.criteria)
        place, scales = (*where, "rubric", "passingThreshold"), valid_scales(ends)
        faults.append(threshold_fault(place, rubric.passing_threshold, scales))
    for fault in faults:
        if fault is not None:
            reading.add(fault.where, fault.message, fault.remedy, case_id=case.id)
    return not any(faults)


def _scale(scale: _SkillScale, at: KeyPath, reading: ForeignFile, case_id: str) -> JsonObject:
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
    # Described scores are whole numbers on most scales, and a judge then gives no others.
    if all(float(end).is_integer() for end in ends) and scale.max - scale.min > 1:
        found["integer"] = True
    if levels:
        ordered = sorted(levels, reverse=True)
        found["levels"] = [{"value": value, "description": text} for value, text in ordered]
    return found
