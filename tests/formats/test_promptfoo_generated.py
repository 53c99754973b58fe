"""Tests of promptfoo configurations that code makes, and those whose files are missing."""

from __future__ import annotations

import json
import shutil
import subprocess
import warnings
from typing import TYPE_CHECKING

import pytest
from pydantic import JsonValue

from judgekit.assertions import scripts
from judgekit.datasets import load_dataset, suite_from_path, validate_path
from judgekit.errors import DatasetError, NotImportedWarning
from tests.cli.commanding import runner
from tests.formats.writing import errors_of, write

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# Imports a module beside it, and one of the configuration's folder, which hides no installed one.
PYTHON = """
from beside import VALUE
from src.above import NAME
import pydantic

def generate_tests(config=None):
    with open("calls.txt", "a") as file:
        file.write("x")
    print("no part of the answer")
    n = (config or {}).get("n", 1)
    return [{"vars": {"q": f"{NAME}{i}"}, "assert": [{"type": "contains", VALUE: f"p{i}"}]}
            for i in range(n)]
"""
JAVASCRIPT = """
export const named = async (config) => [
  {vars: {q: "j" + config.n}, assert: [{type: "contains", value: "j5"}]},
];
"""
WRITTEN: dict[str, JsonValue] = {"vars": {"q": "w"}, "assert": [{"type": "contains", "value": "w"}]}


def suite(folder: Path, tests: JsonValue) -> Path:
    fields = {"prompts": ["Say {{q}}"], "providers": ["echo"], "tests": tests}
    return write(folder, fields, "promptfooconfig.json")


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_code_makes_tests_of_a_run_where_scripts_are_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "make.py").write_text(PYTHON, encoding="utf-8")
    (tmp_path / "src" / "beside.py").write_text("VALUE = 'value'", encoding="utf-8")
    (tmp_path / "src" / "above.py").write_text("NAME = 'p'", encoding="utf-8")
    (tmp_path / "pydantic.py").write_text("src = 1 / 0", encoding="utf-8")
    (tmp_path / "make.mjs").write_text(JAVASCRIPT, encoding="utf-8")
    path = suite(
        tmp_path,
        [
            {"path": "file://src/make.py", "config": {"n": 2}},
            {"path": "make.mjs:named", "config": {"n": 5}},
            WRITTEN,
        ],
    )
    done = runner(capsys)(
        "run", path, "--allow-scripts", "--strict", "-q", "--store", tmp_path / "runs.db"
    )
    assert done.code == 0, done.err
    assert "passed 4/4" in done.out
    assert (tmp_path / "calls.txt").read_text(encoding="utf-8") == "x"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_typescript_runs_where_node_js_can_or_names_the_version_it_needs(tmp_path: Path) -> None:
    typed = JAVASCRIPT.replace("(config)", "(config: {n: number})")
    (tmp_path / "make.ts").write_text(typed, encoding="utf-8")
    path = suite(tmp_path, [{"path": "make.ts:named", "config": {"n": 5}}, WRITTEN])
    node = subprocess.run(
        ["node", "-p", "process.features.typescript"], check=True, capture_output=True
    )
    with scripts.tests_by_code(is_allowed=True), warnings.catch_warnings():
        warnings.simplefilter("ignore", NotImportedWarning)
        lost = [one.message for one in validate_path(path) if one.severity == "left_out"]
        n_cases = len(load_dataset(path).cases)
    if node.stdout.strip() in {b"strip", b"transform"}:
        assert (lost, n_cases) == ([], 2)
    else:
        assert ("TypeScript needs Node.js 22.18 or later" in lost[0], n_cases) == (True, 1)


@pytest.mark.parametrize(
    ("named", "called"),
    [
        ("file://a.py", {"language": "python", "file": "a.py", "function": "generate_tests"}),
        ("a.py:make", {"language": "python", "file": "a.py", "function": "make"}),
        ("file://a.cjs", {"language": "javascript", "file": "a.cjs"}),
        ("file://a.mjs:b", {"language": "javascript", "file": "a.mjs", "function": "b"}),
    ],
)
@pytest.mark.parametrize("command", ["validate", "plan", "run", "convert"])
def test_every_command_calls_code_once_and_only_with_the_flag(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    named: str,
    called: dict[str, str],
) -> None:
    calls: list[tuple[JsonValue, JsonValue]] = []

    def run_code(call: scripts.CodeCall, arguments: Mapping[str, JsonValue], _: object) -> object:
        calls.append((call.to_json(), dict(arguments)))
        return [WRITTEN, {**WRITTEN, "vars": {"q": "file://no.txt"}}]

    monkeypatch.setattr(scripts, "run_code", run_code)
    path = suite(tmp_path, named)
    more = {"convert": ["-o", str(tmp_path / "out.jsonl")], "run": ["-q"]}
    monkeypatch.chdir(tmp_path)  # where a run is stored
    words = [command, str(path), *more.get(command, [])]
    without = runner(capsys)(*words)
    assert (without.code, calls) == (2, [])
    done = runner(capsys)(*words, "--allow-scripts")
    assert calls == [(called, {})], done
    assert done.code == 0, done
    assert command != "run" or "passed 1/2" in done.out
    if command != "plan":
        assert runner(capsys)(*words, "--allow-scripts", "--strict").code == 2
    if command == "convert":
        lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line)["id"] for line in lines] == ["test-1", "test-2"]


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (scripts.ScriptFailedError("no luck"), "'a.py' makes no tests: no luck"),
        ("text", "a.py: 1 of 1 tests are no mappings"),
        ([3, WRITTEN], "a.py: 1 of 2 tests are no mappings"),
        (None, "a.py: 1 of 1 tests are no mappings"),
        ([], "'a.py' makes no tests: it returned an empty list"),
    ],
)
def test_code_that_makes_no_tests_is_listed_and_the_others_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: JsonValue | Exception, message: str
) -> None:
    calls: list[object] = []

    def run_code(*given: object) -> JsonValue:
        calls.append(given)
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(scripts, "run_code", run_code)
    path = suite(tmp_path, ["a.py", WRITTEN])
    with scripts.tests_by_code(is_allowed=True):
        (problem,) = (one for one in validate_path(path) if one.severity == "left_out")
        with pytest.warns(NotImportedWarning):
            n_cases = len(load_dataset(path).cases)
    assert (problem.severity, problem.line, len(calls)) == ("left_out", 9, 1)
    assert message in problem.message
    assert n_cases == (2 if found == [3, WRITTEN] else 1)


@pytest.mark.parametrize(
    ("variables", "what", "message"),
    [
        ({"q": "file://no.txt"}, "vars.q", "there is no file 'no.txt'"),
        ({"q": ["file://no.txt", "x"]}, "vars.q", "there is no file 'no.txt'"),
        ({"q": "file://no*.txt"}, "vars.q", "no file matches"),
        ({"q": "file://../up.txt"}, "vars.q", "leads out of"),
        ({"q": "file://bad.yaml"}, "vars.q", "YAML"),
        ({"q": "file://bad.png"}, "vars.q", "is no PNG"),
        ("no.yaml", "vars", "the tests cannot be read"),
    ],
)
def test_a_missing_file_of_a_variable_marks_its_case_alone(
    tmp_path: Path, variables: JsonValue, what: str, message: str
) -> None:
    for name in ("bad.yaml", "bad.png"):
        (tmp_path / name).write_text("a: [", encoding="utf-8")
    lost: JsonValue = {**WRITTEN, "vars": variables}
    path = suite(tmp_path, [lost, WRITTEN])
    listed = [one for one in validate_path(path) if one.severity == "left_out"]
    assert len(listed) == 1, listed
    assert listed[0].message.startswith(f"`{what}` is not imported: ")
    assert message in listed[0].message
    assert listed[0].line is not None
    with pytest.warns(NotImportedWarning):
        first, second = load_dataset(path).cases
    assert first.assertions[-1]["type"] == "not_imported"
    assert (first.input, second.input) == ({}, {"q": "w"})
    assert all(one["type"] != "not_imported" for one in second.assertions)
    # Where nothing is left to run, the file is refused with the reason.
    alone = suite(tmp_path, [lost])
    assert any("no test can be used" in error.message for error in errors_of(alone))
    with pytest.raises(DatasetError, match="no test can be used"):
        suite_from_path(alone)


def test_a_configuration_whose_tests_are_all_lost_says_why(tmp_path: Path) -> None:
    path = suite(tmp_path, "no.yaml")
    with (
        pytest.warns(NotImportedWarning),
        pytest.raises(DatasetError, match=r":8: holds no cases: the tests cannot be read"),
    ):
        suite_from_path(path)
