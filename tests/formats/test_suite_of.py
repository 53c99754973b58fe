from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import Suite, SuiteGroup, open_cases, suite_from_path
from judgekit.datasets.sources import foreign_suite
from judgekit.datasets.suite import RunSettings
from judgekit.errors import DatasetError, SettingsError
from judgekit.formats import read_whole_document, skill_tests_of
from judgekit.records import Case, CaseEvaluation, JsonObject
from tests.formats import FOREIGN
from tests.formats.writing import pack, skill_test, skill_tests, write

if TYPE_CHECKING:
    from pathlib import Path


def opened(path: Path) -> tuple[Suite, JsonObject]:
    """The suite of a skill's tests, and the file without them."""
    document = read_whole_document(path)
    assert document is not None
    assert isinstance(document.value, dict)
    whole = {name: item for name, item in document.value.items() if name != "testCases"}
    suite = foreign_suite(document)
    assert suite is not None
    return suite, whole


def test_a_skills_settings_setup_and_groups_are_the_suites() -> None:
    suite = suite_from_path(FOREIGN / "skill")
    assert suite.settings == RunSettings(
        timeout_s=20,
        max_concurrency=4,
        fail_fast=True,
        retry_failed=1,
        environment={"POLICY_VERSION": "2026.02"},
        dependencies=("pyyaml",),
        setup=("python", "scripts/setup.py"),
        teardown=("sh", "scripts/teardown.sh"),
    )
    assert suite.suites == (
        SuiteGroup(name="numbers", case_ids=("sum-001", "mixed-001"), in_sequence=True),
    )
    assert (suite.name, suite.version, suite.folder) == ("skill", "2.0", FOREIGN / "skill")


def test_a_file_read_and_written_again_is_the_same() -> None:
    suite, whole = opened(FOREIGN / "skill")
    assert suite.profile == "structured"
    written = {**whole, "testCases": skill_tests_of(suite.cases or ())["testCases"]}
    assert written == json.loads((FOREIGN / "skill" / "eval" / "tests.json").read_text())


def test_fields_without_a_place_come_back_where_they_stood(tmp_path: Path) -> None:
    rubric = {
        "criteria": [
            {"name": "c", "description": "d", "weight": 1.0, "scale": {"min": 0.0, "max": 1.0},
             "owner": "me"},
        ],
        "passingThreshold": 0.5,
    }  # fmt: skip
    test = skill_test(
        input={"prompt": "Q", "x": 1, "context": {"a": [{"b": 1}]}},
        expected={"output": "R", "patterns": ["R"], "rubric": rubric, "y": 2},
        evaluation={"strategy": "semantic_sim", "z": 3},
        w=4,
    )
    value = skill_tests(test, note="kept")
    suite, whole = opened(write(tmp_path, value, "tests.json"))
    written = {**whole, "testCases": skill_tests_of(suite.cases or ())["testCases"]}
    assert written == value


def test_cases_of_another_origin_are_written() -> None:
    cases = [
        Case(id="a", input="Q", reference="R", assertions=({"type": "equals", "value": "R"},)),
        Case(id="b", input={"x": 1}, reference=[1], context="C", rubric="helpfulness", agent="me",
             stratum="complex", assertions=({"type": "latency", "threshold": 3},)),
        Case(id="c", input="Q", evaluation=CaseEvaluation(strategy="custom", script="a.py")),
    ]  # fmt: skip
    tests = skill_tests_of(cases)["testCases"]
    assert isinstance(tests, list)
    evaluations = [test["evaluation"] for test in tests if isinstance(test, dict)]
    assert evaluations == [{"strategy": name} for name in ("exact_match", "llm_judge", "custom")]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"parallelExecution": False, "maxConcurrentTests": 3}, RunSettings(in_sequence=True)),
        ({"parallelExecution": True}, RunSettings()),
        ({}, RunSettings()),
    ],
)
def test_tests_run_in_sequence_where_the_file_says_so(
    tmp_path: Path, settings: dict[str, Any], expected: RunSettings
) -> None:
    path = write(tmp_path, skill_tests(skill_test(), settings=settings))
    assert suite_from_path(path).settings == expected


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("../x.py", "lies outside of the skill's folder"),
        ("/bin/x.sh", "lies outside of the skill's folder"),
        ("setup.exe", "nothing runs the script"),
    ],
)
def test_a_script_that_cannot_be_run_is_refused(tmp_path: Path, script: str, what: str) -> None:
    path = write(tmp_path, skill_tests(skill_test(), setup={"script": script}))
    with pytest.raises(SettingsError, match=what):
        suite_from_path(path)


def test_nothing_is_run_from_a_zip(tmp_path: Path) -> None:
    text = json.dumps(skill_tests(skill_test(), teardown={"script": "a.sh"}))
    with pytest.raises(SettingsError, match="from which nothing is run"):
        suite_from_path(pack(tmp_path / "a.zip", {"eval/tests.json": text}))


def test_a_zip_without_scripts_is_a_suite(tmp_path: Path) -> None:
    text = json.dumps(skill_tests(skill_test()))
    suite = suite_from_path(pack(tmp_path / "a.zip", {"eval/tests.json": text}))
    assert (suite.name, suite.settings) == ("a", RunSettings())


@pytest.mark.parametrize(
    ("fields", "error", "what"),
    [
        ({"suites": [{"name": "s", "testIds": []}]}, SettingsError, "`suites.*must not be empty"),
        ({"setup": {"environment": {"a b": "c"}}}, SettingsError, "not of the right form"),
        ({"profile": "none"}, DatasetError, "`profile` must be"),
    ],
)
def test_an_unsound_file_is_refused(
    tmp_path: Path, fields: dict[str, Any], error: type[Exception], what: str
) -> None:
    path = write(tmp_path, skill_tests(skill_test(), **fields))
    with pytest.raises(error, match=what):
        suite_from_path(path)


def test_any_file_with_cases_is_a_suite_of_its_cases() -> None:
    suite = suite_from_path(FOREIGN / "workflow.json")
    assert (suite.name, suite.version, len(suite.cases or ())) == ("greeter.v2", "2.1.0", 2)
    assert suite_from_path(FOREIGN / "samples.jsonl").folder == FOREIGN


def test_a_suite_file_is_read_as_such(tmp_path: Path) -> None:
    path = write(tmp_path, {"name": "mine", "dataset": "cases.jsonl"}, "judgekit.json")
    assert suite_from_path(path).dataset == "cases.jsonl"
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "input": 1}\n')
    alone = suite_from_path(tmp_path / "cases.jsonl")
    assert list(open_cases(alone)) == [Case(id="a", input=1)]
