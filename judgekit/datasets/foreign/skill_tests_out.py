"""Writes cases as the tests of an `eval/tests.json`, version 2 (S4): the way back from reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.datasets.foreign.skill_rubrics import OTHER_FIELDS
from judgekit.records.rubric import Rubric

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pydantic import JsonValue

    from judgekit.records.case import Case
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Criterion

_WRITTEN = frozenset({"equals", "regex", "is-json", "similar"})
_LEVELS = {"simple": "easy", "medium": "medium", "complex": "hard", "very_complex": "hard"}


def skill_tests_of(
    cases: Iterable[Case], head: JsonObject | None = None
) -> tuple[JsonObject, tuple[str, ...]]:
    """Cases as an `eval/tests.json`."""
    # Of cases that were read from one, with the rest of that file as `head`, the same file comes
    # back and nothing is lost.
    listed = list(cases)
    tests: list[JsonValue] = [_test(case) for case in listed]
    start: JsonObject = {"version": "2.0", "profile": "enterprise", "settings": {}}
    lost = tuple(f"{case.id}: {what}" for case in listed for what in _lost(case))
    return {**(start if head is None else head), "testCases": tests}, lost


def _test(case: Case) -> JsonObject:
    metadata = dict(case.metadata)
    other = _mapping(metadata.pop(OTHER_FIELDS, None))
    if case.stratum is not None and "difficulty" not in metadata:
        metadata["difficulty"] = _LEVELS[case.stratum]
    found: JsonObject = {"id": case.id, "name": case.name or case.id}
    if case.description is not None:
        found["description"] = case.description
    if case.tags and metadata.get("tags") != [*case.tags]:
        found["tags"] = [*case.tags]
    found |= {
        "input": {**_input(case), **_mapping(other.get("input"))},
        "expected": {**_expected(case), **_mapping(other.get("expected"))},
        "evaluation": {**_evaluation(case), **_mapping(other.get("evaluation"))},
    }
    if metadata:
        found["metadata"] = metadata
    return {**found, **_mapping(other.get("case"))}


def _input(case: Case) -> JsonObject:
    given = case.input
    asked: JsonObject = {"prompt": given if isinstance(given, str) else str(given)}
    if isinstance(given, dict) and _is_filled_in(given):
        asked = dict(given)
    if isinstance(case.context, dict):
        asked["context"] = _named(case.context)
    return asked


def _is_filled_in(given: JsonValue) -> bool:
    """Whether an input is a prompt with values for its variables."""
    return isinstance(given, dict) and given.keys() == {"prompt", "variables"}


def _named(value: JsonValue) -> JsonValue:
    """A context with the names of its files in the place of what they hold."""
    if isinstance(value, list):
        return [_named(item) for item in value]
    if not isinstance(value, dict):
        return value
    is_file = value.keys() in ({"file", "text"}, {"file", "media_type", "n_bytes", "sha256"})
    return value["file"] if is_file else {name: _named(item) for name, item in value.items()}


def _expected(case: Case) -> JsonObject:
    found: JsonObject = {}
    if isinstance(case.reference, str):
        found["output"] = case.reference
    patterns = [item.get("value") for item in case.assertions if item.get("type") == "regex"]
    if patterns:
        found["patterns"] = patterns
    for item in case.assertions:
        if item.get("type") == "is-json" and "value" in item:
            found["jsonSchema"] = item["value"]
        if item.get("type") == "similar" and "threshold" in item:
            found["semanticThreshold"] = item["threshold"]
    if isinstance(case.rubric, Rubric):
        found["rubric"] = _rubric(case.rubric)
    if case.evaluation is not None and case.evaluation.script is not None:
        found["customScript"] = case.evaluation.script
    return found


def _evaluation(case: Case) -> JsonObject:
    given = case.evaluation
    if given is None:
        return {"strategy": "exact_match" if _is_exact(case) else "llm_judge"}
    found: JsonObject = {"strategy": given.strategy}
    if given.timeout_s is not None:
        found["timeout"] = _whole(given.timeout_s * 1000)
    if "retries" in given.model_fields_set:
        found["retryCount"] = given.retries
    if given.weights:
        found["weights"] = {**given.weights}
    return found


def _is_exact(case: Case) -> bool:
    return any(item.get("type") == "equals" for item in case.assertions)


def _rubric(rubric: Rubric) -> JsonObject:
    metadata = dict(rubric.metadata)
    other = _mapping(metadata.pop(OTHER_FIELDS, None))
    found: JsonObject = {
        "criteria": [
            {**_criterion(criterion), **_mapping(other.get(criterion.name))}
            for criterion in rubric.criteria
        ],
        "passingThreshold": rubric.pass_threshold,
    }
    return {**found, **metadata}


def _criterion(criterion: Criterion) -> JsonObject:
    scale: JsonObject = {
        "min": _whole(criterion.scale.min),
        "max": _whole(criterion.scale.max),
    }
    texts: JsonObject = {
        f"{level.value:g}": level.description or level.name or ""
        for level in reversed(criterion.scale.levels)
    }
    if texts:
        scale["descriptions"] = texts
    return {
        "name": criterion.name,
        "description": criterion.question,
        "weight": criterion.weight,
        "scale": scale,
    }


def _lost(case: Case) -> Iterator[str]:
    has_place = {
        "input": isinstance(case.input, str) or _is_filled_in(case.input),
        "context": case.context is None or isinstance(case.context, dict),
        "reference": case.reference is None or isinstance(case.reference, str),
        "rubric": not isinstance(case.rubric, str),
        **{name: getattr(case, name) is None for name in ("agent", "skill", "prompt_version")},
    }
    yield from (name for name, has in has_place.items() if not has)
    for item in case.assertions:
        if item.get("type") not in _WRITTEN:
            yield f"assertions ({item.get('type')})"


def _whole(number: float) -> float:
    """A whole number without its point, as people write it."""
    return int(number) if number.is_integer() else number


def _mapping(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}
