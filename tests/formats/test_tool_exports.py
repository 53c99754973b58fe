"""Exports of other tools, in the shapes of their documentation and of their own libraries."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from judgekit.calibration import read_replies
from judgekit.datasets import iter_case_outputs, read_labels, validate_path
from judgekit.errors import DatasetError
from judgekit.formats import FORMATS, foreign_shape, read_whole_document
from judgekit.formats.messages import answer_of, read_messages
from judgekit.records import Rubric, Usage
from tests.formats.writing import read_variations

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::judgekit.errors.NotImportedWarning")

USER, REPLY = {"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "2"}
# As LangChain serialises a message.
HUMAN = {"lc": 1, "type": "constructor", "kwargs": {"content": "1+1?", "type": "human"}}
GENERATION = {"text": "2", "message": {"lc": 1, "kwargs": {"content": "2", "type": "ai"}}}

LANGFUSE_TRACE = {
    "id": "t1", "timestamp": "2026-01-01T00:00:00Z", "sessionId": "s", "release": "r1",
    "input": {"messages": [USER]}, "output": {**REPLY, "model": "gpt-4o"}, "latency": 1.5,
    "metadata": {"a": 1}, "observations": [
        {"id": "o1", "type": "GENERATION", "name": "chat", "model": "gpt-4o", "input": [USER],
         "output": REPLY, "startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-01T00:00:01Z",
         "usageDetails": {"input": 10, "output": 2}, "level": "DEFAULT"},
        {"id": "o2", "type": "TOOL", "name": "calc", "parentObservationId": "o1",
         "startTime": "2026-01-01T00:00:00.5Z", "endTime": "2026-01-01T00:00:00.6Z",
         "input": {"e": "1+1"}, "output": "2"},
    ],
    "scores": [{"id": "s1", "traceId": "t1", "name": "right", "value": 1, "stringValue": "True",
                "source": "ANNOTATION", "authorUserId": "ann", "comment": "ok"}],
}  # fmt: skip
LANGFUSE_OBSERVATIONS = {"data": [
    {"id": "o0", "traceId": "t1", "type": "SPAN", "name": "ask", "input": "1+1?", "output": "2",
     "startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-01T00:00:02Z"},
    {"id": "o1", "traceId": "t1", "type": "GENERATION", "name": "chat", "model": "gpt-4o",
     "startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-01T00:00:01Z", "input": [USER],
     "output": REPLY, "usageDetails": {"input": 10}, "parentObservationId": "o0"},
], "meta": {}}  # fmt: skip
LANGSMITH_RUNS: list[dict[str, Any]] = [
    {"id": "r1", "trace_id": "r1", "parent_run_id": None, "name": "chain", "run_type": "chain",
     "inputs": {"messages": [USER]}, "outputs": {"output": "2"}, "error": None,
     "start_time": "2026-01-01T00:00:00", "end_time": "2026-01-01T00:00:02"},
    {"id": "r2", "trace_id": "r1", "parent_run_id": "r1", "name": "ChatOpenAI", "run_type": "llm",
     "inputs": {"messages": [[HUMAN]]}, "prompt_tokens": 10, "completion_tokens": 2,
     "outputs": {"generations": [[GENERATION]], "llm_output": {"model_name": "gpt-4o"}},
     "start_time": "2026-01-01T00:00:00.1", "end_time": "2026-01-01T00:00:01"},
]  # fmt: skip
BRAINTRUST = {"events": [
    {"id": "b1", "span_id": "x1", "root_span_id": "x1", "input": "1+1?", "output": "2",
     "expected": "2", "scores": {"right": 1, "style": None}, "metrics": {"start": 1, "end": 2},
     "span_attributes": {"name": "eval", "type": "eval"}, "span_parents": None},
    {"id": "b2", "span_id": "x2", "root_span_id": "x1", "input": [USER], "scores": {},
     "output": [{"message": REPLY}], "span_attributes": {"name": "Chat", "type": "llm"},
     "metrics": {"start": 1.1, "end": 1.9, "prompt_tokens": 10, "completion_tokens": 2},
     "span_parents": ["x1"]},
]}  # fmt: skip
MLFLOW: dict[str, Any] = {
    "info": {"trace_id": "tr-1", "assessments": [
        {"assessment_name": "right", "source": {"source_type": "HUMAN", "source_id": "ann"},
         "feedback": {"value": True}, "rationale": "ok"}]},
    "data": {"spans": [
        {"trace_id": "YQ==", "span_id": "YQ==", "parent_span_id": None, "name": "agent",
         "start_time_unix_nano": 1, "end_time_unix_nano": 3, "attributes": {
            "mlflow.spanType": '"AGENT"', "mlflow.spanInputs": '"1+1?"',
            "mlflow.spanOutputs": '"2"'}},
        {"trace_id": "YQ==", "span_id": "Yg==", "parent_span_id": "YQ==", "name": "chat",
         "start_time_unix_nano": 2, "end_time_unix_nano": 3, "attributes": {
            "mlflow.spanType": '"CHAT_MODEL"', "llm.token_count.prompt": 10,
            "mlflow.spanInputs": json.dumps({"messages": [USER]}),
            "mlflow.spanOutputs": json.dumps({"choices": [{"message": REPLY}]})}},
    ]},
}  # fmt: skip


def write(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value, indent=1))
    return path


@pytest.mark.parametrize(
    ("export", "case_id", "label"),
    [
        (LANGFUSE_TRACE, "t1", ("langfuse:ann", "right", "True")),
        (LANGFUSE_OBSERVATIONS, "t1", ()),
        (LANGSMITH_RUNS, "r1", None),
        (BRAINTRUST, "b1", ("braintrust:scores", "right", 1)),
        ([MLFLOW], "tr-1", ("mlflow:ann", "right", "true")),
    ],
)
def test_a_trace_is_a_case_with_an_output_and_labels(
    tmp_path: Path, export: object, case_id: str, label: tuple[object, ...] | None
) -> None:
    path = write(tmp_path / "traces.json", export)
    ((case, output),) = iter_case_outputs(path)
    assert (case.id, case.input, output.text or output.data) == (
        case_id, "1+1?", {"output": "2"} if label is None else "2"
    )  # fmt: skip
    assert output.usage is not None
    assert output.usage.input_tokens == 10
    assert [e.content for e in output.trace if e.type == "message"][-1] == "2"
    assert "gpt-4o" not in json.dumps([case.to_json(), output.to_json()])
    if label:
        (found,) = read_labels(path)
        assert (found.label.annotator, found.label.criterion, found.label.raw) == label


@pytest.mark.parametrize(
    ("rows", "asked", "reference"),
    [
        ({"data": [{"id": "i", "datasetId": "d", "status": "ARCHIVED", "input": "q",
                    "expectedOutput": "a", "metadata": {"k": 1}}], "meta": {}}, "q", "a"),
        ([{"id": "i", "dataset_id": "d", "inputs": {"q": 1}, "outputs": {"a": 2}}],
         {"q": 1}, {"a": 2}),
        ([{"id": "i", "dataset_id": "d", "input": "q", "expected": "a", "tags": ["t"]}], "q", "a"),
        ({"data": {"examples": [{"id": "i", "input": "q", "output": "a", "updated_at": "2026",
                                "metadata": {}, "node_id": "n"}]}},
         "q", "a"),
        ([{"dataset_record_id": "i", "inputs": "q", "expectations": {"expected_response": "a"}}],
         "q", "a"),
        ([{"question_id": "i", "turns": ["q"], "reference": ["a"], "category": "math"}], "q", "a"),
        ([{"question_id": "i", "turns": [{"content": "q"}], "cluster": "x"}], "q", None),
    ],
)  # fmt: skip
def test_a_dataset_is_cases(tmp_path: Path, rows: object, asked: object, reference: object) -> None:
    (case,) = jk.load_dataset(write(tmp_path / "data.json", rows)).cases
    assert (case.id, case.input, case.reference) == ("i", asked, reference)


@pytest.mark.parametrize(
    ("rows", "label"),
    [
        ({"data": [{"traceId": "t", "name": "n", "value": 0.5, "source": "EVAL"}]},
         ("t", "langfuse:EVAL", "n", 0.5)),
        ([{"run_id": "t", "key": "n", "score": None, "value": "good",
           "feedback_source": {"type": "app"}}], ("t", "langsmith:app", "n", "good")),
        ({"data": [{"span_id": "t", "name": "n", "annotator_kind": "HUMAN",
                    "result": {"score": 1}}]}, ("t", "phoenix:HUMAN", "n", 1)),
        ([{"assessment_name": "n", "trace_id": "t", "source": {"source_type": "CODE"},
           "feedback": {"value": 3}}], ("t", "mlflow:CODE", "n", 3)),
        ([{"question_id": "t", "model": "m", "judge": ["gpt-4", "single"], "judgment": "[[3]]",
           "score": 3, "turn": 1}], ("t", "mt-bench:gpt-4", None, 3)),
    ],
)  # fmt: skip
def test_scores_are_labels(tmp_path: Path, rows: object, label: tuple[object, ...]) -> None:
    path = write(tmp_path / "scores.json", rows)
    ((one),) = read_labels(path)
    found = one.label
    assert (found.case_id, found.annotator, found.criterion, found.raw) == label
    with pytest.raises(DatasetError, match="it holds no cases"):
        jk.load_dataset(path)


def test_a_score_without_a_value_is_left_out_and_listed(tmp_path: Path) -> None:
    (problem,) = validate_path(write(tmp_path / "b.json", BRAINTRUST))
    assert (problem.severity, problem.message) == (
        "left_out", "`style` is not imported: it has no score"
    )  # fmt: skip


def test_an_overridden_assessment_and_one_without_a_number_are_left_out(tmp_path: Path) -> None:
    (first,) = MLFLOW["info"]["assessments"]
    old = first | {"valid": False, "feedback": {"value": False}}
    inner = first | {"span_id": "b1"}  # such as one of each retrieval
    listed = [old, first | {"valid": True}, first | {"feedback": {"value": {"a": 1}}}, inner]
    path = write(
        tmp_path / "t.json", [MLFLOW | {"info": {"trace_id": "tr-1", "assessments": listed}}]
    )
    assert [one.label.raw for one in read_labels(path)] == ["true"]
    assert {problem.message for problem in validate_path(path)} == {
        "`right` is not imported: it was overridden", "`right` is not imported: it has no score",
        "`right` is not imported: it is of a span inside the trace",
    }  # fmt: skip


QUESTION = {"id": "i", "input": "q", "timestamp": "2026", "projectId": "p"}
ITEM = {"datasource_item_id": "i", "datasource_item": "q", "results": []}
EMPTY_REPLY = REPLY | {"content": ""}


@pytest.mark.parametrize(
    ("row", "answer", "error"),
    [
        ({"input": "q", "actual_output": ""}, "", None),
        (QUESTION | {"output": ""}, "", None),
        (QUESTION | {"output": None}, None, "the trace has no output"),
        (QUESTION | {"output": EMPTY_REPLY}, "", None),
        (ITEM | {"sample": {"output": [EMPTY_REPLY], "error": None}}, "", None),
        (ITEM | {"sample": {"output": [], "error": {"message": "too fast"}}}, None, "too fast"),
    ],
)
def test_an_answer_that_is_empty_or_failed_is_not_left_out(
    tmp_path: Path, row: dict[str, Any], answer: str | None, error: str | None
) -> None:
    ((_, output),) = iter_case_outputs(write(tmp_path / "one.json", [row]))
    assert (output.text, output.error) == (answer, error)


def test_tokens_of_langfuse_from_a_cache_count_as_input(tmp_path: Path) -> None:
    details = {"input": 86, "input_cached_tokens": 900, "output": 2, "output_reasoning_tokens": 3,
               "total": 991}  # fmt: skip
    observations: Any = LANGFUSE_TRACE["observations"]
    cached = {**observations[0], "usageDetails": details}
    trace = LANGFUSE_TRACE | {"observations": [cached, observations[1]]}
    ((_, output),) = iter_case_outputs(write(tmp_path / "t.json", trace))
    usage = Usage(input_tokens=986, output_tokens=5, cached_input_tokens=900)
    assert output.usage == usage


@pytest.mark.parametrize(("text", "cost"), [("0.00012", 0.00012), ("1E-7", 1e-7), ("?", None)])
def test_the_cost_of_a_langsmith_run_is_read_from_its_text(
    tmp_path: Path, text: str, cost: float | None
) -> None:
    chain, call = LANGSMITH_RUNS
    runs = [chain | {"total_cost": "9", "prompt_tokens": 99}, call | {"total_cost": text}]
    ((_, output),) = iter_case_outputs(write(tmp_path / "runs.json", runs))
    assert output.usage is not None
    assert (output.usage.input_tokens, output.usage.cost_usd) == (10, cost)


@pytest.mark.parametrize(
    "row",
    [
        {"id": "b", "span_id": "x", "root_span_id": "x", "input": "q", "output": "a",
         "metrics": {"prompt_tokens": 9, "prompt_cached_tokens": 8, "completion_tokens": 4,
                     "completion_reasoning_tokens": 3}},
        {"id": "r", "run_type": "llm", "inputs": {"q": 1}, "outputs": {"a": 2}, "prompt_tokens": 9,
         "completion_tokens": 4, "prompt_token_details": {"cache_read": 8},
         "completion_token_details": {"reasoning": 3}},
    ],
)  # fmt: skip
def test_cached_and_reasoning_tokens_of_a_trace_are_read(
    tmp_path: Path, row: dict[str, Any]
) -> None:
    ((_, output),) = iter_case_outputs(write(tmp_path / "a.json", [row]))
    known = {"input_tokens": 9, "output_tokens": 4, "cached_input_tokens": 8, "reasoning_tokens": 3}
    assert output.usage == Usage(**known)


def test_a_second_list_of_a_file_is_listed(tmp_path: Path) -> None:
    path = write(tmp_path / "b.json", BRAINTRUST | {"comments": [{"text": "x"}]})
    assert "`comments` is not imported: one list of a file is read" in [
        problem.message for problem in validate_path(path)
    ]


def test_goldens_of_deepeval_have_outputs_tools_and_context(tmp_path: Path) -> None:
    golden = {
        "input": "q", "actual_output": "a", "expected_output": "e", "context": ["c"],
        "retrieval_context": ["r"], "expected_tools": [{"name": "calc"}], "name": None,
        "tools_called": [{"name": "calc", "inputParameters": {"x": 1}, "output": "2"}],
        "additional_metadata": {"k": 1},
    }  # fmt: skip
    path = write(tmp_path / "goldens.json", [golden])
    ((case, output),) = iter_case_outputs(path)
    assert (case.input, case.reference, output.text) == ("q", "e", "a")
    assert case.context == {"context": ["c"], "retrieval_context": ["r"]}
    assert [(e.type, e.name) for e in output.trace] == [
        ("tool_call", "calc"), ("tool_result", "calc")
    ]  # fmt: skip
    (known,) = jk.load_dataset(path).cases
    assert known.assertions == ({"type": "trajectory.tool_used", "tool": "calc"},)


def test_a_conversation_of_deepeval_is_answered_by_its_last_turn(tmp_path: Path) -> None:
    tool = {"name": "calc", "input_parameters": {"x": 1}, "output": "2"}
    turns = [USER, {**REPLY, "tools_called": [tool]}]
    whole = {"scenario": "s", "expected_outcome": "o", "turns": turns, "user_description": "u"}
    opened = {"scenario": "s", "expected_outcome": "o", "turns": [USER]}
    path = write(tmp_path / "conversations.json", [whole, opened])
    ((case, output),) = iter_case_outputs(path)
    assert (case.input, output.text) == ({"scenario": "s", "user_description": "u"}, "2")
    assert [event.content for event in output.trace[-2:]] == [{"x": 1}, "2"]
    assert [one.input for one in jk.load_dataset(path).cases][1] == "s"


def test_both_turns_of_mt_bench_are_cases_with_outputs(tmp_path: Path) -> None:
    questions = [{"question_id": 81, "turns": ["Write.", "Again."], "reference": ["a", "b"]}]
    answers = [{"question_id": 81, "model_id": "m", "choices": [{"turns": ["one", "two"]}]}]
    dataset = jk.load_dataset(write(tmp_path / "question.json", questions))
    found = list(iter_case_outputs(write(tmp_path / "answer.json", answers), dataset))
    assert [(case.id, case.reference, output.text) for case, output in found] == [
        ("81", "a", "one"), ("81-turn-2", "b", "two")
    ]  # fmt: skip


PAIR = {
    "question_id": 81, "model_1": "zeta", "model_2": "alpha", "g1_winner": "model_1",
    "g2_winner": "model_1", "judge": ["gpt-4", "pair-v2"], "turn": 1,
    "g1_judgment": "It has more detail. [[A]]", "g2_judgment": "It has more detail. [[B]]",
}  # fmt: skip
GAMES = {
    "question_id": "q", "model": "m", "judge": "gpt-4", "games": [
        {"judgment": "Mine is better than theirs. [[A>>B]]", "score": "A>>B"},
        {"judgment": "Now the other one is. [[B>A]]", "score": "B>A"},
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("row", "template", "variant", "winner"),
    [
        (PAIR, "pairwise/mt_bench", "alpha::zeta", "b"),
        (GAMES, "pairwise/arena_hard", "baseline::m", "a"),
    ],
)
def test_recorded_judgments_of_pairs_are_labels_and_replies(
    tmp_path: Path, row: dict[str, Any], template: str, variant: str, winner: str
) -> None:
    path = write(tmp_path / "judgments.json", [row])
    (one,) = read_labels(path)
    assert (one.label.variant, one.label.winner) == (variant, winner)
    (compared,) = read_replies(path, template=template)
    assert isinstance(compared, jk.Comparison)
    assert (compared.variant_a, compared.variant_b) == tuple(variant.split("::"))
    assert (compared.winner, compared.consistent) == (winner, True)


@pytest.mark.parametrize(
    ("row", "winner"),
    [
        (PAIR | {"g2_winner": "model_2"}, "tie"),
        (PAIR | {"g2_winner": "error"}, None),
        ({"question_id": 1, "model_a": "a", "model_b": "b", "winner": "tie (bothbad)"}, "tie"),
    ],
)
def test_a_side_wins_only_in_both_orders(
    tmp_path: Path, row: dict[str, Any], winner: str | None
) -> None:
    path = write(tmp_path / "judgments.json", [row])
    if winner is None:
        with pytest.raises(DatasetError, match="no labels"):
            read_labels(path)
    else:
        assert [one.label.winner for one in read_labels(path)] == [winner]


def test_a_file_without_replies_is_no_judge(tmp_path: Path) -> None:
    path = write(tmp_path / "traces.json", LANGFUSE_TRACE)
    with pytest.raises(jk.InputError, match="has no replies"):
        read_replies(path, rubric="helpfulness")


def test_what_is_beside_a_field_in_its_object_is_metadata(tmp_path: Path) -> None:
    known = {"expected_response": "a", "expected_facts": ["f"], "guidelines": None}
    row = {"dataset_record_id": "r", "inputs": {"q": 1}, "expectations": known, "tags": {"t": "1"}}
    (case,) = jk.load_dataset(write(tmp_path / "records.json", [row])).cases
    assert case.reference == "a"
    assert case.metadata == {"expectations": {"expected_facts": ["f"]}, "t": "1"}
    item = {
        "datasource_item_id": 1, "datasource_item": {"q": 1}, "results": [],
        "sample": {"output": [REPLY], "finish_reason": "stop", "error": None,
                   "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}},
    }  # fmt: skip
    ((_, output),) = iter_case_outputs(write(tmp_path / "items.json", {"data": [item]}))
    assert output.usage == Usage(input_tokens=3, output_tokens=2)
    assert output.metadata == {"sample": {"finish_reason": "stop"}}


def test_rows_of_the_dataset_server_are_rows(tmp_path: Path) -> None:
    rows = [{"row_idx": 3, "row": {"question": "q", "answer": "a"}, "truncated_cells": []}]
    path = write(tmp_path / "rows.json", {"features": [], "rows": rows, "num_rows_total": 9})
    (case,) = jk.load_dataset(path).cases
    assert (case.id, case.input, case.reference) == ("row-3", "q", "a")
    rows[0]["truncated_cells"] = ["question"]
    write(path, {"features": [], "rows": rows})
    with pytest.raises(DatasetError, match="cut the cells"):
        jk.load_dataset(path)


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ({"output": {"type": "ai", "content": "2", "response_metadata": {"model_name": "m"}}}, "2"),
        ({"text": "2", "model": "m"}, "2"),
        ({"result": 2, "model": "m", "usage": {}}, {"result": 2}),
        ({"model": "Corolla", "price": 2}, {"model": "Corolla", "price": 2}),
        ({"choices": [{"message": REPLY}], "model": "m"}, "2"),
        ({"object": "response", "model": "m", "output": [
            {"type": "function_call", "name": "calc", "arguments": "{}"},
            {"type": "message", "role": "assistant",
             "content": [{"type": "output_text", "text": "2"}]}]}, "2"),
        ({"role": "assistant", "content": None, "refusal": "No."}, "No."),
        ([{"type": "message", "role": "assistant",
           "content": [{"type": "refusal", "refusal": "No."}]}], "No."),
        ({"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"},
                                           {"type": "text", "text": "2"}]}, "2"),
    ],
)  # fmt: skip
def test_an_answer_is_shown_without_what_a_provider_says_of_it(answer: Any, shown: object) -> None:
    found = answer_of(answer)
    assert found.get("text", found.get("data")) == shown


@pytest.mark.parametrize(
    ("items", "tool", "content", "result"),
    [
        ([{"type": "web_search_call", "id": "i", "action": {"query": "q"}}],
         "web_search", {"query": "q"}, None),
        ([{"type": "code_interpreter_call", "code": "1+1", "outputs": [{"logs": "2"}]}],
         "code_interpreter", "1+1", [{"logs": "2"}]),
        ([{"type": "mcp_call", "name": "t", "arguments": "{}", "output": None, "error": "down"}],
         "t", {}, "down"),
        ([{"role": "assistant", "content": [
            {"type": "server_tool_use", "id": "i", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "i", "content": ["r"]}]}],
         "web_search", {}, "r"),
    ],
)  # fmt: skip
def test_tools_that_a_provider_runs_itself_are_in_the_trace(
    items: list[Any], tool: str, content: object, result: object
) -> None:
    answer = answer_of([*items, {"role": "assistant", "content": "2"}])
    assert answer["text"] == "2"
    call, *results, _ = read_messages(answer["trace"], role="assistant")
    assert (call["type"], call["name"], call["content"]) == ("tool_call", tool, content)
    assert [one["content"] for one in results] == ([] if result is None else [result])


@pytest.mark.parametrize(
    "row",
    [
        {"id": "a", "input": "q", "output": "a", "timestamp": "2026", "sessionId": "s"},
        {"id": "a", "input": "q", "output": "a", "updated_at": "2026", "metadata": {}},
        {"id": "a", "input": "q", "text": "a", "retrieval_context": ["r"]},
        {"id": "a", "input": "q", "output": "a", "expected": "a", "scores": {"x": 1}},
        {"id": "a", "input": "q", "output": "a", "info": {}, "data": {}},
    ],
)
def test_rows_of_ones_own_are_not_taken_for_an_export(row: dict[str, Any]) -> None:
    assert foreign_shape([row]) is None


def test_a_frame_of_mlflow_says_how_its_traces_are_read(tmp_path: Path) -> None:
    frame = {"trace_id": "tr-1", "trace": "{}", "request": "{}", "spans": [], "assessments": []}
    path = tmp_path / "frame.jsonl"
    path.write_text(json.dumps(frame | {"assessments": MLFLOW["info"]["assessments"]}) + "\n")
    (problem,) = validate_path(path)
    assert 'mlflow.search_traces(return_type="list")' in str(problem.remedy)


def test_a_row_of_another_export_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "mixed.json", [LANGSMITH_RUNS[0], {"id": 3}])
    with pytest.raises(DatasetError, match="this row is not like the first, one of runs"):
        jk.load_dataset(path)


EVALUATION = {
    "testing_criteria": [
        {"type": "string_check", "name": "exact", "input": "{{sample.output_text}}",
         "reference": "{{ item.reference_answer }}", "operation": "eq"},
        {"type": "string_check", "name": "part", "input": "{{ sample.output_json.x }}",
         "reference": "4", "operation": "eq"},
        {"type": "score_model", "name": "good", "range": [0, 1], "input": [
            {"role": "user", "content": "Is it like {{ item.reference_answer }}?"}]},
    ],
    "data_source": {"type": "jsonl", "source": {"type": "file_content", "content": [
        {"item": {"question": "2+2", "reference_answer": "4"},
         "sample": {"output_text": "4", "output_json": {"x": "4"}}},
    ]}},
}  # fmt: skip


def test_graders_have_the_fields_of_each_item(tmp_path: Path) -> None:
    path = write(tmp_path / "evaluation.json", EVALUATION)
    ((_, output),) = iter_case_outputs(path)
    (case,) = jk.load_dataset(path).cases
    assert [(one["value"], one.get("path")) for one in case.assertions] == [("4", None), ("4", "x")]
    assert isinstance(case.rubric, jk.Rubric)
    assert case.rubric.criteria[0].question == "Is it like the reference?"
    assert (case.input, case.reference, output.text) == ({"question": "2+2"}, "4", "4")


def test_a_judge_is_shown_the_answer_that_a_grader_compares_with_the_reference(
    tmp_path: Path,
) -> None:
    asks = {"role": "user", "content": "Is {{item.answer}} like {{ item.reference_answer }}?"}
    grader = {"type": "score_model", "name": "like", "input": [asks]}
    whole = {"type": "multi", "graders": {"g": grader}, "calculate_output": "g"}
    item = {"q": "Q", "answer": "A", "reference_answer": "R", "ideal": "I"}
    source = {"source": {"content": [{"item": item}, {"item": {"q": "Q", "answer": "A"}}]}}
    path = write(tmp_path / "a.json", {"testing_criteria": [whole], "data_source": source})
    first, second = jk.load_dataset(path).cases
    assert (first.input, first.reference) == ({"q": "Q", "answer": "A"}, "R")
    assert (second.input, second.reference) == ({"q": "Q"}, "A")
    assert isinstance(first.rubric, Rubric)
    assert first.rubric.criteria[0].question == "Is the answer like the reference?"


def test_a_field_that_no_item_has_is_an_error(tmp_path: Path) -> None:
    text = json.dumps(EVALUATION).replace("{{ item.reference_answer }}", "{{ item.x.y }}", 1)
    path = tmp_path / "evaluation.json"
    path.write_text(text)
    with pytest.raises(DatasetError, match=r"the item has no `item\.x\.y`"):
        jk.load_dataset(path)


def test_every_export_has_a_title_of_its_own() -> None:
    titles = [shape.title for shape in FORMATS]
    assert len(titles) == len(set(titles))


SAMPLES: tuple[Any, ...] = (
    LANGFUSE_TRACE, LANGFUSE_OBSERVATIONS, LANGSMITH_RUNS, BRAINTRUST, MLFLOW, PAIR, GAMES,
    EVALUATION,
    {"question_id": 1, "model_a": "a", "model_b": "b", "winner": "tie", "judge": "me"},
    {"question_id": 1, "model": "m", "judge": ["j"], "judgment": "x", "score": 1, "turn": 2},
    {"question_id": 1, "turns": ["q", "r"], "reference": ["a"], "category": "c"},
    {"question_id": 1, "model_id": "m", "choices": [{"turns": ["a"]}]},
    {"input": "q", "actual_output": "a", "tools_called": [{"name": "t"}], "expected_tools": []},
    {"scenario": "s", "turns": [USER, REPLY], "expected_outcome": "o"},
    {"traceId": "t", "name": "n", "value": 0.5, "source": "EVAL"},
)  # fmt: skip


@pytest.mark.parametrize("sample", SAMPLES, ids=range(len(SAMPLES)))
def test_no_value_in_the_wrong_place_breaks_a_reader(sample: Any) -> None:
    read_variations(sample)


@pytest.mark.parametrize(
    ("names", "title"),
    [
        ("id,datasetName,input,expectedOutput,status,metadata", "dataset items of Langfuse"),
        ("id,dataset_id,input,expected,tags,metadata", "dataset rows of Braintrust"),
    ],
)
def test_an_exported_dataset_is_read_from_csv(tmp_path: Path, names: str, title: str) -> None:
    path = tmp_path / "export.csv"
    # What a cell lacks is missing, also in the first row, by which the file is known.
    rows = ['a,d,"{""q"": [1]}",,,', 'b,d,plain [text,4,,"{""k"": 1}"']
    path.write_text("\n".join([names, *rows, ""]), encoding="utf-8")
    first, second = jk.load_dataset(path).cases
    assert (first.id, first.input, first.reference) == ("a", {"q": [1]}, None)
    assert (second.input, second.reference, second.metadata["k"]) == ("plain [text", "4", 1)
    document = read_whole_document(path)
    assert document is not None
    shape = foreign_shape(document.value)
    assert shape is not None
    assert shape.title == title
