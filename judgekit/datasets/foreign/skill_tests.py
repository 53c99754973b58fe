"""Reads an `eval/tests.json` (S4), version 2, or 1 converted to it, as cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.datasets.faults import suggestion
from judgekit.datasets.foreign.expectations import (
    check_expected,
    expected_assertions,
    unused_fields,
)
from judgekit.datasets.foreign.fixtures import Fixtures
from judgekit.datasets.foreign.reading import Reading
from judgekit.datasets.foreign.skill_archive import skill_name
from judgekit.datasets.foreign.skill_rubrics import OTHER_FIELDS, rubric_of, soften_thresholds
from judgekit.datasets.foreign.skill_tests_format import SkillCase, SkillTests
from judgekit.datasets.foreign.skill_tests_v1 import is_version_1, upgrade
from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from pydantic import JsonValue

    from judgekit.datasets.documents import Document
    from judgekit.datasets.json_text import KeyPath
    from judgekit.records.record import JsonObject

STRATA = {"easy": "simple", "medium": "medium", "hard": "complex"}
"""The stratum of a difficulty."""

_SYNONYMS = {
    "expectedOutput": "output",
    "expectedPatterns": "patterns",
    "threshold": "passingThreshold",
    "schema": "jsonSchema",
    "retries": "retryCount",
    "script": "customScript",
    "tests": "testCases",
    "cases": "testCases",
}


_NO = (None, None)


def read_skill_tests(document: Document) -> Reading:
    """The cases of an `eval/tests.json`."""
    reading, _ = read_whole(document)
    return reading


def read_whole(document: Document) -> tuple[Reading, SkillTests | None]:
    """The cases of an `eval/tests.json`, and everything else it says."""
    reading = Reading(document)
    value = document.value
    where: KeyPath = ("testCases",)
    if is_version_1(value):
        where = ("tests",) if isinstance(value, dict) else ()
        try:
            value = upgrade(value)
        except DatasetError as error:
            reading.add(where, error.message, error.hint)
            return reading, None
    head = reading.record(SkillTests, value, synonyms=_SYNONYMS)
    version = "2.0" if head is None else head.version
    reading.header = {"name": skill_name(document.path), "version": version}
    fields = value if isinstance(value, dict) else {}
    fixtures = Fixtures(reading)
    for place, item in reading.objects(fields.get("testCases"), where):
        reading.claim(item, place)
        _read_case(item, place, reading, fixtures)
    _check_groups(fields.get("suites"), reading)
    return reading, head


def _read_case(item: JsonObject, at: KeyPath, reading: Reading, fixtures: Fixtures) -> None:
    mended = soften_thresholds(item, at, reading)
    case = reading.record(SkillCase, mended, at, synonyms=_SYNONYMS)
    if case is None:
        return
    check_expected(case, at, reading)
    fields = _fields(case, at, reading)
    if mended is item:
        if case.input.context is not None:
            place = (*at, "input", "context")
            fields["context"] = fixtures.resolve(case.input.context, place, case.id)
        reading.add_case(fields, at)


def _fields(case: SkillCase, at: KeyPath, reading: Reading) -> JsonObject:
    metadata = case.metadata
    tags = case.tags if case.tags is not None else None if metadata is None else metadata.tags
    difficulty = None if metadata is None else metadata.difficulty
    prompt, variables = case.input.prompt, case.input.variables
    return {
        "id": case.id,
        "name": case.name,
        "description": case.description,
        "tags": list(tags or ()),
        "input": prompt if not variables else {"prompt": prompt, "variables": {**variables}},
        "reference": case.expected.output,
        "assertions": [*expected_assertions(case)],
        "rubric": rubric_of(case, at, reading),
        "evaluation": _evaluation(case),
        "stratum": None if difficulty is None else STRATA[difficulty],
        "metadata": _metadata(case),
    }


def _evaluation(case: SkillCase) -> JsonObject:
    given, expected = case.evaluation, case.expected
    found: JsonObject = {"strategy": given.strategy, "weights": {**(given.weights or {})}}
    threshold = expected.semantic_threshold
    if given.strategy == "llm_judge" and expected.rubric is not None:
        threshold = expected.rubric.passing_threshold
    optional: JsonObject = {
        "threshold": threshold if given.strategy in {"semantic_sim", "llm_judge"} else None,
        "timeout_s": None if given.timeout is None else given.timeout / 1000,
        "retries": given.retry_count,
        "script": expected.custom_script,
    }
    return found | {name: value for name, value in optional.items() if value is not None}


def _metadata(case: SkillCase) -> JsonObject:
    """All metadata as they came, and under `OTHER_FIELDS` what has no place in a case."""
    kept: JsonObject = {} if case.metadata is None else case.metadata.as_given()
    expected = case.expected.as_given()
    unused = {name: expected[name] for name in unused_fields(case) if name in expected}
    other: JsonObject = {
        "input": case.input.extra,
        "expected": {**case.expected.extra, **unused},
        "evaluation": case.evaluation.extra,
        "case": case.extra,
    }
    other = {name: fields for name, fields in other.items() if fields}
    return {**kept, OTHER_FIELDS: other} if other else kept


def _check_groups(groups: JsonValue, reading: Reading) -> None:
    """Groups may name only tests there are, and each has a name of its own."""
    names: list[JsonValue] = []
    for number, group in enumerate(groups if isinstance(groups, list) else ()):
        name, given = (group.get("name"), group.get("testIds")) if isinstance(group, dict) else _NO
        if name is not None and name in names:
            message = f"two suites are called {name!r}"
            reading.add(("suites", number, "name"), message, "rename one")
        names.append(name)
        for index, test_id in enumerate(given if isinstance(given, list) else ()):
            if isinstance(test_id, str) and test_id not in reading.claimed:
                message = f"the suite {name!r} names the test {test_id!r}, which is not there"
                place = ("suites", number, "testIds", index)
                reading.add(place, message, suggestion(test_id, reading.claimed))
