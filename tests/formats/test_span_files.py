"""Files of OpenTelemetry spans, in the forms of OTLP, the Python SDK, OpenInference and Phoenix."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from judgekit.datasets import iter_case_outputs, read_labels, validate_path
from judgekit.errors import DatasetError
from tests.formats.writing import read_variations

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::judgekit.errors.NotImportedWarning")

ASKED, ANSWER = "What is 1 + 1?", "It is 2."


def _pairs(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    kinds = {str: "stringValue", int: "intValue", float: "doubleValue"}
    return [{"key": k, "value": {kinds[type(v)]: v}} for k, v in attributes.items()]


def _span(name: str, parent: str = "", trace: str = "t1", **attributes: Any) -> dict[str, Any]:
    flat = {key.replace("__", "."): value for key, value in attributes.items()}
    return {
        "traceId": trace,
        "spanId": f"{trace}-{name.split(maxsplit=1)[0]}",
        "parentSpanId": parent,
        "name": name,
        "startTimeUnixNano": "1700000000000000000",
        "endTimeUnixNano": "1700000001000000000",
        "attributes": _pairs(flat),
    }


def _otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": [*spans]}]}]}


def _chat(**more: Any) -> dict[str, Any]:
    asked = json.dumps([{"role": "system", "content": "Be brief."},
                        {"role": "user", "content": ASKED}])  # fmt: skip
    answered = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}])
    return _span(
        "chat gpt-4o", gen_ai__operation__name="chat", gen_ai__request__model="gpt-4o",
        gen_ai__input__messages=asked, gen_ai__output__messages=answered,
        gen_ai__usage__input_tokens=7, **more,
    )  # fmt: skip


OPENINFERENCE = _otlp(
    _span("chain", openinference__span__kind="CHAIN", input__value=ASKED, output__value=ANSWER),
    _span("llm", "t1-chain", openinference__span__kind="LLM", llm__model_name="gpt-4o",
          llm__input_messages__0__message__role="user",
          llm__input_messages__0__message__content=ASKED,
          llm__output_messages__0__message__role="assistant",
          llm__output_messages__0__message__contents__0__message_content__type="text",
          llm__output_messages__0__message__contents__0__message_content__text=ANSWER,
          llm__token_count__prompt=7),
)  # fmt: skip
PHOENIX = {
    "data": [{
        "name": "chain", "context": {"trace_id": "t1", "span_id": "s1"}, "status_code": "OK",
        "attributes": {"input.value": ASKED, "output.value": ANSWER,
                       "openinference.span.kind": "LLM", "llm.token_count.prompt": 7},
    }],
    "next_cursor": None,
}  # fmt: skip


@pytest.mark.parametrize("document", [_otlp(_chat()), OPENINFERENCE, PHOENIX])
def test_a_trace_is_a_case_with_an_output(tmp_path: Path, document: dict[str, Any]) -> None:
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(document))
    ((case, output),) = iter_case_outputs(path)
    # Phoenix's annotations name spans, so that its cases are called by their outermost span.
    assert case.id == ("s1" if document is PHOENIX else "t1")
    assert (case.input, output.text) == (ASKED, ANSWER)
    assert output.usage is not None
    assert output.usage.input_tokens == 7
    assert "gpt-4o" not in json.dumps([case.to_json(), output.to_json()])


def test_a_data_frame_of_phoenix_is_read_as_json_lines(tmp_path: Path) -> None:
    row: dict[str, Any] = {
        "context.span_id": "s1", "context.trace_id": "t1", "name": "chat", "parent_id": None,
        "start_time": 1767225600000, "end_time": 1767225601000, "events": [],
        "attributes.input.value": ASKED, "attributes.output.value": ANSWER,
        "attributes.llm.token_count.prompt": 12, "attributes.llm.token_count.completion": None,
    }  # fmt: skip
    path = tmp_path / "spans.jsonl"
    path.write_text(json.dumps(row) + "\n")
    ((case, output),) = iter_case_outputs(path)
    assert (case.id, case.input, output.text) == ("t1", ASKED, ANSWER)
    assert output.duration_ms == 1000
    assert output.usage is not None
    assert output.usage.input_tokens == 12


def test_a_trace_may_be_in_several_lines_of_the_collector(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    lines = [_otlp(_chat()), _otlp(_span("other", trace="t2", input__value="Hi",
                                         output__value="Ho")), {"resourceMetrics": []},
             _otlp(_span("agent", trace="t1", gen_ai__operation__name="invoke_agent"))]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert [case.id for case in jk.load_dataset(path).cases] == ["t1", "t2"]
    (problem,) = validate_path(path)
    assert (problem.severity, problem.line) == ("left_out", 3)


@pytest.mark.parametrize("as_log", [False, True])
def test_evaluations_are_labels_whether_events_or_logs(tmp_path: Path, *, as_log: bool) -> None:
    evaluation = _pairs({
        "gen_ai.evaluation.name": "right", "gen_ai.evaluation.score.value": 0.5,
        "gen_ai.evaluation.explanation": "Half.",
    })  # fmt: skip
    event = {"name": "gen_ai.evaluation.result", "attributes": evaluation}
    document = _otlp(_chat() | ({} if as_log else {"events": [event]}))
    record = {"eventName": event["name"], "attributes": evaluation, "spanId": "t1-chat"}
    if as_log:
        document["resourceLogs"] = [{"scopeLogs": [{"logRecords": [record, {"body": {}}]}]}]
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(document))
    (label,) = read_labels(path)
    assert (label.label.case_id, label.label.criterion, label.label.raw) == ("t1", "right", 0.5)
    assert [one.message.split(" are")[0] for one in validate_path(path)] == (
        ["1 log records"] if as_log else []
    )


def test_a_failed_trace_is_an_error(tmp_path: Path) -> None:
    failed = _chat() | {"status": {"code": 2, "message": "overloaded"}, "attributes": []}
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(_otlp(failed)))
    ((_, output),) = iter_case_outputs(path, needs_input=False)
    assert (output.text, output.error) == (None, "overloaded")


@pytest.mark.parametrize(
    ("document", "message"),
    [({"resourceLogs": []}, "holds no spans"), (_otlp(_chat() | {"traceId": ""}), "no trace id")],
)
def test_a_file_without_traces_is_refused(
    tmp_path: Path, document: dict[str, Any], message: str
) -> None:
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(document))
    with pytest.raises(DatasetError, match=message):
        jk.load_dataset(path)


@pytest.mark.parametrize("document", [_otlp(_chat()), OPENINFERENCE, PHOENIX])
def test_no_value_in_the_wrong_place_breaks_the_reader(document: dict[str, Any]) -> None:
    read_variations(document)
