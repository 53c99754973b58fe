from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.exports import convert_cases, omitted_content, open_conversion_source
from tests.formats import FOREIGN

if TYPE_CHECKING:
    from pathlib import Path


def told(source: Path, to: Path, form: str = "cases") -> tuple[str, ...]:
    opened = open_conversion_source(source)
    convert_cases(opened, to, form, lossy=True)
    return omitted_content(opened, to, form)


def test_rows_have_no_place_for_a_name_and_a_version(tmp_path: Path) -> None:
    path = FOREIGN / "workflow.json"
    assert told(path, tmp_path / "a.jsonl") == ("the name 'greeter.v2'", "the version '2.1.0'")
    assert told(path, tmp_path / "a.json") == ()
    assert told(path, tmp_path / "w.json", "workflow") == ()


@pytest.mark.parametrize("name", ["tests_v1.json", "samples.jsonl"])
def test_a_file_that_says_nothing_beside_its_cases_leaves_out_nothing(
    tmp_path: Path, name: str
) -> None:
    assert told(FOREIGN / name, tmp_path / "a.jsonl") == ()


def test_the_settings_of_tests_are_told_by_their_names(tmp_path: Path) -> None:
    tests: dict[str, Any] = {
        "version": "2.0",
        "profile": "flexible",
        "settings": {},
        "setup": {"environment": {"A": "1"}},
        "testCases": [{"id": "a", "name": "a", "input": {"prompt": "?"},
                       "expected": {"output": "x"}, "evaluation": {"strategy": "exact_match"}}],
    }  # fmt: skip
    path = tmp_path / "tests.json"
    path.write_text(json.dumps(tests), encoding="utf-8")
    assert told(path, tmp_path / "a.jsonl") == ("`profile` of the tests", "`setup` of the tests")
    assert told(path, tmp_path / "b.json", "skill-tests") == ()
    path.write_text(json.dumps({"tests": [{"name": "a", "input": "?", "expectedOutput": "x"}],
                                "author": "ada"}), encoding="utf-8")  # fmt: skip
    assert told(path, tmp_path / "a.jsonl") == ("`author` of the tests",)


@pytest.mark.parametrize(
    ("form", "fields"),
    [
        ("skill-evals", {"version": "1.0", "skill": "s", "cases": [
            {"id": "a", "prompt": "?", "expectations": [
                {"criterion": "c", "description": "Names Ada", "required": True}]}]}),
        ("workflow", {"id": "s", "workflowName": "w", "version": "1", "cases": [
            {"id": "a", "input": "?", "assertions": [{"type": "behavior.no_errors"}]}]}),
    ],
)  # fmt: skip
def test_fields_that_a_format_does_not_know_stay_in_it(
    tmp_path: Path, form: str, fields: dict[str, Any]
) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps({"author": "ada", "notes": [], **fields}), encoding="utf-8")
    assert told(path, tmp_path / "same.json", form) == ()
    written = json.loads((tmp_path / "same.json").read_text())
    assert (written["author"], written["notes"]) == ("ada", [])
    assert "`author` of the file" in told(path, tmp_path / "a.jsonl")


def test_what_cannot_be_read_again_is_written_with_its_losses(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "a", "input": "?"}', encoding="utf-8")
    assert told(path, tmp_path / "v1.json", "skill-tests-v1") == ()


def test_the_runs_of_a_memory_are_told_by_their_kind(tmp_path: Path) -> None:
    found = told(FOREIGN / "quality.json", tmp_path / "a.jsonl")
    assert found == (
        "1 benchmark record", "2 test-run records", "2 eval-judgment records",
        "1 eval-trend record",
    )  # fmt: skip
    assert told(FOREIGN / "quality.json", tmp_path / "q.json", "quality") == ()


def test_of_a_suite_only_the_cases_are_written(tmp_path: Path) -> None:
    path = tmp_path / "judgekit.yaml"
    path.write_text("name: s\ncases: [{id: a, input: '?', rubric: skill}]\n", encoding="utf-8")
    suite = json.dumps({"name": "s", "judge": "openai/m", "cases": [
        {"id": "a", "input": "?", "rubric": "skill"}]})  # fmt: skip
    path.write_text(suite, encoding="utf-8")
    assert told(path, tmp_path / "a.jsonl") == ("the suite's variants, judges and settings",)
