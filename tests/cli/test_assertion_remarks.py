from __future__ import annotations

import json
from typing import TYPE_CHECKING

from judgekit.cli.lint import Diagnostic
from judgekit.cli.validate import assertion_diagnostics

if TYPE_CHECKING:
    from pathlib import Path

UNKNOWN = {"type": "behavior.no_error"}
UNREADABLE = {"type": "output.contains", "path": "a..b", "value": "x"}
LACKING = {"type": "metric.latency_ms.max"}


def put(folder: Path, text: str, name: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def workflow(*assertions: object) -> str:
    case = {"id": "c1", "input": "Q", "assertions": assertions}
    return json.dumps({"id": "d", "workflowName": "w", "version": "1", "cases": [case]}, indent=1)


def told(path: Path, *known: Diagnostic) -> list[tuple[int | None, str]]:
    return [(one.line, one.message) for one in assertion_diagnostics(path, known)]


def test_every_unsound_assertion_of_a_workflow_is_told_with_its_line(tmp_path: Path) -> None:
    (first, second) = told(put(tmp_path, workflow(UNKNOWN, UNREADABLE), "a.json"))
    assert first[0] == 11
    assert first[1] == ("case 'c1': assertions[0] (behavior.no_error): no assertion is called so")
    assert second[0] == 15
    assert "the path a..b cannot be read" in second[1]


def test_what_is_known_already_is_not_told_again(tmp_path: Path) -> None:
    path = put(tmp_path, workflow(LACKING), "a.json")
    assert [line for line, _ in told(path)] == [10]
    message = "case 'c1': `metric.latency_ms.max` needs the field `value`"
    assert told(path, Diagnostic(str(path), 10, "error", message, None)) == []


def test_assertions_in_rows_are_told_by_line(tmp_path: Path) -> None:
    rows = [{"id": "a", "input": "Q"}, {"id": "b", "input": "Q", "assertions": [UNKNOWN]}]
    path = put(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "cases.jsonl")
    assert [(line, message[:8]) for line, message in told(path)] == [(2, "case 'b'")]


def test_a_suite_is_looked_at_with_the_cases_it_names(tmp_path: Path) -> None:
    put(tmp_path, json.dumps({"id": "a", "input": "Q", "assertions": [UNKNOWN]}), "cases.jsonl")
    text = "name: s\ndataset: cases.jsonl\nassertions:\n  - {type: regex, value: '('}\n"
    (own, of_case) = told(put(tmp_path, text, "judgekit.yaml"))
    assert own[0] == 4
    assert own[1].startswith("assertions[0] (regex): `value` is invalid")
    assert of_case[1].startswith("case 'a': assertions[0]")
    missing = put(tmp_path, "name: s\ndataset: nowhere.jsonl\nvariants: []\n", "other.yaml")
    assert told(missing) == []


def test_cases_of_other_tools_are_looked_at_as_they_were_read(tmp_path: Path) -> None:
    asserted = [
        {"type": "similar", "value": "x"},
        {"type": "llm-rubric", "value": "is kind"},
        {"type": "contains-all"},
    ]
    test = {"vars": {"q": ["a", "b"]}, "assert": asserted}
    config = {"prompts": [], "tests": [test]}
    path = put(tmp_path, json.dumps(config, indent=1), "promptfooconfig.json")
    lines = path.read_text("utf-8").splitlines()
    line = next(n for n, text in enumerate(lines, start=1) if "contains-all" in text)
    (found,) = told(path)
    assert found == (line - 1, "case 'test-1.1': (contains-all): needs `value`")


def test_files_without_cases_and_unreadable_ones_have_none(tmp_path: Path) -> None:
    assert told(put(tmp_path, '{"versions": [], "current_version": 0}', "history.json")) == []
    assert told(put(tmp_path, "{", "broken.json")) == []
    assert told(put(tmp_path, '[{"id": "a", "input": "Q"}]', "cases.json")) == []


def test_a_fault_that_the_reader_of_the_file_named_is_not_told_again(tmp_path: Path) -> None:
    spec = {"type": "regex", "value": "("}
    path = put(tmp_path, json.dumps([{"id": "a", "input": "Q", "assertions": [spec]}]), "a.json")
    (found,) = assertion_diagnostics(path, ())
    fault = found.message.partition("is invalid: ")[2]
    told_by_reader = Diagnostic(str(path), 7, "error", f"case 'a': {fault}", None)
    assert assertion_diagnostics(path, [told_by_reader]) == []
    of_another = Diagnostic(str(path), 7, "error", f"case 'b': {fault}", None)
    assert assertion_diagnostics(path, [of_another]) == [found]


def test_what_a_run_adds_is_known_and_checked(tmp_path: Path) -> None:
    specs = [
        {"type": "custom.script", "script": "tone.py", "params": {"rude": ["silly"]}},
        {"type": "not-similar", "value": "x", "criterion": "new"},
        {"type": "similar:cosine"},
        {"type": "custom.script"},
    ]
    path = put(tmp_path, json.dumps([{"id": "a", "input": "Q", "assertions": specs}]), "a.json")
    assert [message for _, message in told(path)] == [
        "case 'a': assertions[3] (custom.script): needs `script`"
    ]
