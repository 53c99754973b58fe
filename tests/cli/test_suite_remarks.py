from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from judgekit.cli.validate import suite_diagnostics

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "name: s\nvariants: [{id: v, outputs: o.jsonl}]\n"


def put(folder: Path, text: str, name: str = "judgekit.yaml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def told(path: Path) -> list[tuple[int | None, str]]:
    return [(one.line, one.message) for one in suite_diagnostics(path, ())]


def test_every_case_that_cannot_be_evaluated_is_told_with_its_line(tmp_path: Path) -> None:
    cases = """\
cases:
  - {id: a, input: x, evaluation: {strategy: semantic_sim}}
  - {id: b, input: x, evaluation: {strategy: llm_judge}}
  - {id: c, input: x, reference: y, evaluation: {strategy: hybrid, weights: {exact: 1}}}
  - {id: d, input: x, evaluation: {strategy: json_schema}}
  - {id: e, input: x, reference: y, evaluation: {strategy: exact_match}}
"""
    found = told(put(tmp_path, HEAD + cases))
    assert [line for line, _ in found] == [4, 5, 6, 7]
    assert found[0][1].startswith("case 'a': the strategy semantic_sim needs a reference")
    assert found[2][1].startswith("case 'c': no strategy to combine is called 'exact'")


def test_scripts_that_cannot_be_run_are_told(tmp_path: Path) -> None:
    put(tmp_path, "print(1)", "checks/good.py")
    put(tmp_path, "puts 1", "checks/tone.rb")
    text = """\
cases:
  - {id: a, input: x, assertions: [{type: custom.script, script: checks/good.py}]}
  - {id: b, input: x, assertions: [{type: any, assert: [{type: custom.script, script: no.py}]}]}
  - {id: c, input: x, evaluation: {strategy: custom, script: ../out.py}}
assertions: [{type: not-custom.script, script: checks/tone.rb}]
scorers: [latency, {type: custom.script, script: no.js}]
"""
    found = told(put(tmp_path, HEAD + text))
    shown = sorted((line, message.partition(" in /")[0]) for line, message in found)
    assert [(line, message[:40]) for line, message in shown] == [
        (5, "case 'b': there is no script 'no.py'"),
        (6, "case 'c': the script '../out.py' lies ou"),
        (7, "tone.rb is in an unknown language; scrip"),
        (8, "there is no script 'no.js'"),
    ]


def test_javascript_without_its_runtime_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "1", "a.js")
    monkeypatch.setenv("PATH", str(tmp_path))
    text = "cases: [{id: a, input: x}]\nassertions: [{type: custom.script, script: a.js}]\n"
    assert shutil.which("node") is None
    [(_, message)] = told(put(tmp_path, HEAD + text))
    assert message.startswith("a.js needs Node.js, and no program 'node' was found; install")


def test_scorers_are_told_one_by_one(tmp_path: Path) -> None:
    text = """\
cases: [{id: a, input: x}]
scorers:
  - latancy
  - {type: similarity, method: embedding}
  - {type: similarity, name: two, model: m}
  - {type: latency, max_ms: "5"}
  - {type: judge, name: three}
"""
    found = told(put(tmp_path, HEAD + text))
    assert [line for line, _ in found] == [5, 6, 7, 8]
    assert found[0][1] == "no scorer is called 'latancy'"
    assert found[3][1].startswith("(latency): `max_ms` must be")


def test_a_model_of_embeddings_without_a_key_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = {"type": "similarity", "method": "embedding", "model": "openai/text-embedding-3-small"}
    suite = {"name": "s", "cases": [{"id": "a", "input": "x"}], "scorers": [spec], "variants": []}
    path = put(tmp_path, json.dumps(suite), "s.json")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    [remark] = suite_diagnostics(path, ())
    assert remark.severity == "warning"
    assert "OPENAI_API_KEY is not set" in remark.message
    assert suite_diagnostics(path, [remark]) == []
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    assert suite_diagnostics(path, ()) == []


def test_a_criterion_that_the_rubric_lacks_is_told(tmp_path: Path) -> None:
    rubric = {"name": "r", "criteria": [{"name": "tone", "question": "Q?", "scale": "binary"}]}
    put(tmp_path, json.dumps(rubric), "r.json")
    text = """\
cases: [{id: a, input: x}]
rubric: r.json
judge: heuristic
assertions:
  - {type: contains, value: x, criterion: tone}
  - {type: contains, value: y, criterion: tune}
"""
    assert told(put(tmp_path, HEAD + text)) == [(8, "no criterion is called 'tune'")]


@pytest.mark.parametrize("name", ["c.jsonl", "c.json", "w.json"])
def test_the_cases_of_a_named_file_are_told_with_their_own_line(tmp_path: Path, name: str) -> None:
    own = {"id": "a", "input": "x", "evaluation": {"strategy": "regex_match"}}
    script = {"type": "custom.script", "script": "no.py"}
    case = {"id": "a", "input": "x", "assertions": [script]}
    workflow = {"id": "w", "workflowName": "w", "version": "1", "cases": [case]}
    put(tmp_path, json.dumps(own), "c.jsonl")
    put(tmp_path, json.dumps([own]), "c.json")
    put(tmp_path, json.dumps(workflow), "w.json")
    [remark] = suite_diagnostics(put(tmp_path, f"{HEAD}dataset: {name}\n"), ())
    assert remark.path == str(tmp_path / name)
    assert remark.line == 1
    assert "no.py" in remark.message or "regex_match needs" in remark.message


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.yaml", "name: r\ncriteria: []\n"),
        ("lost.yaml", "name: s\ndataset: nowhere.jsonl\nvariants: []\n"),
        ("c.jsonl", '{"id": "a", "input": "x"}\n'),
        ("mapped.yaml", "name: s\ndataset: c.jsonl\ncolumns: {q: input}\nvariants: []\n"),
        ("norubric.yaml", HEAD + "cases: [{id: a, input: x}]\nrubric: no.yaml\n"),
    ],
)
def test_what_is_no_sound_suite_has_none(tmp_path: Path, name: str, text: str) -> None:
    assert told(put(tmp_path, text, name)) == []


def test_a_suite_that_is_unsound_is_told_once(tmp_path: Path) -> None:
    path = put(tmp_path, "name: s\ncases: [{id: a, inpt: x}]\nvariants: []\n")
    [remark] = suite_diagnostics(path, ())
    assert "the field `inpt` is not known" in remark.message
    assert suite_diagnostics(path, [remark]) == []


def test_the_scripts_of_a_skills_setup_must_be_there(tmp_path: Path) -> None:
    test = {"id": "a", "name": "n", "input": {"prompt": "x"}, "expected": {"output": "y"},
            "evaluation": {"strategy": "exact_match"}}  # fmt: skip
    tests = {
        "version": "2.0",
        "profile": "deterministic",
        "testCases": [test],
        "setup": {"script": "begin.py"},
        "teardown": {"script": "end.sh"},
    }
    path = put(tmp_path, json.dumps(tests), "eval/tests.json")
    put(tmp_path, "", "end.sh")
    assert [message for _, message in told(path)] == [
        f"there is no script 'begin.py' in {tmp_path}"
    ]
