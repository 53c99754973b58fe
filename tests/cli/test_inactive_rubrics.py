"""A rubric that its owner has retired: nothing is judged by it, and nothing is paid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import judgekit as jk
from judgekit.testing import ScriptedModel
from tests.factories import make_case, make_criterion, make_output, make_rubric

if TYPE_CHECKING:
    from tests.cli.commanding import Run

RUBRIC = """name: old
active: false
criteria:
  - {name: right, question: Is the answer correct?, scale: binary}
"""
SUITE = """name: retired
cases: [{id: a, input: "1+1", reference: "2"}]
rubric: rubric.yaml
judge: recorded:replies.jsonl
variants: [{id: v, outputs: outputs.jsonl}]
"""
WHY = "the rubric 'old' is inactive (`active: false`), so nothing is judged by it"


@pytest.fixture
def retired(run: Run) -> Run:
    """The command line in a folder with a suite whose rubric is inactive."""
    Path("rubric.yaml").write_text(RUBRIC)
    Path("suite.yaml").write_text(SUITE)
    Path("outputs.jsonl").write_text('{"case_id": "a", "text": "2"}\n')
    Path("labels.jsonl").write_text('{"case_id": "a", "annotator": "ada", "raw": 1}\n')
    scored = {"evidence": [], "rationale": "It is two.", "score": 1}
    reply = {"case_id": "a", "text": json.dumps(scored)}
    Path("replies.jsonl").write_text(json.dumps(reply) + "\n")
    return run


@pytest.mark.parametrize(
    "command",
    [
        "run suite.yaml",
        "plan suite.yaml",
        "grade -c suite.yaml",
        "grade outputs.jsonl --rubric rubric.yaml --judge recorded:replies.jsonl",
        "compare outputs.jsonl replies.jsonl --rubric rubric.yaml --judge recorded:replies.jsonl",
        "calibrate labels.jsonl --outputs outputs.jsonl --rubric rubric.yaml --judge recorded:replies.jsonl",  # noqa: E501 - a command
    ],
)
def test_commands_that_would_judge_by_it_refuse_it(retired: Run, command: str) -> None:
    ended = retired(*command.split())
    assert ended.code == 2
    assert WHY in ended.err
    assert "set `active: true`" in ended.err


def test_validate_and_lint_report_it_and_a_suite_that_uses_it_is_invalid(retired: Run) -> None:
    alone = retired("validate", "rubric.yaml")
    assert (alone.code, "rubric.yaml:2: warning: the rubric is inactive" in alone.out) == (0, True)
    used = retired("validate", "suite.yaml")
    assert (used.code, "rubric.yaml:2: error: the rubric is inactive" in used.out) == (2, True)
    linted = retired("lint", "rubric.yaml")
    assert "[inactive]" in linted.out


def test_earlier_scores_can_still_be_calibrated(retired: Run) -> None:
    Path("scores.jsonl").write_text('{"case_id": "a", "raw": 1}\n')
    ended = retired(
        "calibrate", "labels.jsonl", "--results", "scores.jsonl", "--rubric", "rubric.yaml"
    )
    assert ended.code == 0


def test_a_case_with_an_inactive_rubric_is_named(retired: Run) -> None:
    criterion = {"name": "right", "question": "Is it correct?", "scale": "binary"}
    old = {"name": "old", "active": False, "criteria": [criterion]}
    new = {"name": "new", "criteria": [criterion]}
    rows = [{"id": "a", "input": "1+1", "rubric": new}, {"id": "b", "input": "1+2", "rubric": old}]
    Path("cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("outputs.jsonl").write_text(
        '{"case_id": "a", "text": "2"}\n{"case_id": "b", "text": "3"}\n'
    )
    Path("suite.yaml").write_text(
        "name: mixed\ndataset: cases.jsonl\njudge: recorded:replies.jsonl\n"
        "variants: [{id: v, outputs: outputs.jsonl}]\n"
    )
    ended = retired("run", "suite.yaml")
    assert ended.code == 2
    assert f"case 'b': {WHY}" in ended.err
    assert "case 'a'" not in ended.err


def test_from_python_no_call_is_made() -> None:
    model = ScriptedModel([])
    judge = jk.Judge(model, cache=None)
    rubric = make_rubric(criteria=(make_criterion(),)).model_copy(update={"active": False})
    with pytest.raises(jk.RubricError, match="is inactive"):
        judge.grade_sync(make_case(), make_output(), rubric)
    with pytest.raises(jk.RubricError, match="is inactive"):
        judge.compare_sync(make_case(), make_output("a"), make_output("b"), rubric)
    assert model.requests == []
