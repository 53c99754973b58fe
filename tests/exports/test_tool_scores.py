"""Scores in the forms that other tools import; what was written is read back as labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import read_labels
from judgekit.exports import RUN_FORMATS
from tests.exports.making import JUDGE, make_answer, make_run, said
from tests.factories import make_case, make_failure, make_output

if TYPE_CHECKING:
    from pathlib import Path

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.mark.parametrize("name", ["langsmith", "phoenix", "mlflow", "otel"])
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_written_scores_are_read_back_as_labels(tmp_path: Path, name: str, suffix: str) -> None:
    path = tmp_path / f"scores{suffix}"
    answer = make_answer()
    assert RUN_FORMATS[name].write(path, make_run("v1"), iter([answer])) == 1
    found = [(one.label.criterion, one.label.raw) for one in read_labels(path)]
    assert found == [(one.criterion, one.raw) for one in answer.result.judgments]


def test_langfuse_takes_a_batch_and_finds_the_trace(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    answer = make_answer(output=make_output(run_id="t1"))
    RUN_FORMATS["langfuse"].write(path, make_run("v1"), iter([answer]))
    first, *others = json.loads(path.read_text())["batch"]
    judgment = answer.result.judgments[0]
    assert (first["type"], first["body"]["traceId"]) == ("score-create", "t1")
    assert (first["body"]["value"], first["body"]["comment"]) == (judgment.raw, judgment.rationale)
    # The same score sent again must take the place of the first, and no other score's.
    ids = [first["id"], *(one["id"] for one in others)]
    assert len(set(ids)) == len(ids)


def test_scores_of_several_turns_do_not_take_each_others_place(tmp_path: Path) -> None:
    turns = [said("accuracy", 4, turn=turn) for turn in (1, 2, None)]
    answer = make_answer(judgments=turns)
    scores, annotations = tmp_path / "scores.jsonl", tmp_path / "annotations.jsonl"
    RUN_FORMATS["langfuse"].write(scores, make_run("v1"), iter([answer]))
    RUN_FORMATS["phoenix"].write(annotations, make_run("v1"), iter([answer]))
    rows = [json.loads(line) for line in scores.read_text().splitlines()]
    assert len({row["body"]["id"] for row in rows}) == len(turns)
    assert [row["body"]["metadata"].get("turn") for row in rows] == [1, 2, None]
    rows = [json.loads(line) for line in annotations.read_text().splitlines()]
    assert [row["identifier"] for row in rows] == [
        f"judgekit:{JUDGE}:0:1", f"judgekit:{JUDGE}:0:2", f"judgekit:{JUDGE}:0",
    ]  # fmt: skip


def test_a_braintrust_row_has_values_and_no_score_for_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    answers = [make_answer(), make_answer(None, None)]
    RUN_FORMATS["braintrust"].write(path, make_run("v1"), iter(answers))
    first, second = json.loads(path.read_text())["events"]
    verdict = answers[0].verdict
    assert verdict is not None
    assert first["scores"] == {one.name: one.value for one in verdict.criteria}
    assert not any(second["scores"].values())


def test_an_evaluation_is_a_span_in_the_trace_that_was_judged(tmp_path: Path) -> None:
    path = tmp_path / "spans.json"
    answer = make_answer(
        case=make_case(id=TRACE),
        output=make_output(run_id=SPAN),
        failures=[make_failure("x", kind="timeout")],
    )
    RUN_FORMATS["otel"].write(path, make_run("v1"), iter([answer]))
    (resource,) = json.loads(path.read_text())["resourceSpans"]
    (span,) = resource["scopeSpans"][0]["spans"]
    assert (span["traceId"], span["parentSpanId"]) == (TRACE, SPAN)
    assert len(span["spanId"]) == len(SPAN)
    failed = {pair["key"]: pair["value"] for pair in span["events"][-1]["attributes"]}
    assert failed["error.type"] == {"stringValue": "timeout"}
    assert "gen_ai.evaluation.score.value" not in failed
    assert "status" not in span


def test_an_answer_that_is_an_error_is_a_span_that_failed(tmp_path: Path) -> None:
    path = tmp_path / "spans.json"
    answer = make_answer(None, None, output=make_output(None, error="it crashed"))
    RUN_FORMATS["otel"].write(path, make_run("v1"), iter([answer]))
    (resource,) = json.loads(path.read_text())["resourceSpans"]
    (span,) = resource["scopeSpans"][0]["spans"]
    assert (span["status"], span["events"]) == ({"code": 2, "message": "it crashed"}, [])
