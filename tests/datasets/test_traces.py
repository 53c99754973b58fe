from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.datasets.traces import events_from_runtime, normalise_trace, read_trace
from judgekit.errors import DatasetError
from judgekit.formats.messages import read_messages
from judgekit.records import Output, Usage
from tests.datasets.reading import iter_outputs
from tests.formats.genai_spans import RUN, told

if TYPE_CHECKING:
    from pathlib import Path


def test_runtime_events_keep_their_fields_and_get_a_name_and_an_order() -> None:
    read = events_from_runtime([
        {"type": "agent:complete", "nodeId": "main", "timestamp": 2, "durationMs": 1500,
         "totalCostUsd": 0.01, "usage": {"inputTokens": 100, "outputTokens": 20}},
        {"type": "recording:linked", "nodeId": "main", "mode": "replay", "timestamp": 1},
        {"type": "agent:complete", "nodeId": "review", "timestamp": 3, "durationMs": 500,
         "totalCostUsd": 0.02, "usage": {"input_tokens": 10, "cacheReadInputTokens": 5}},
    ])  # fmt: skip
    assert [(e.type, e.name) for e in read.events] == [
        ("recording:linked", "main"), ("agent:complete", "main"), ("agent:complete", "review"),
    ]  # fmt: skip
    assert (read.events[0].model_extra or {})["mode"] == "replay"
    assert read.duration_ms == 2000
    assert read.usage == Usage(
        input_tokens=110, output_tokens=20, cached_input_tokens=5, cost_usd=0.03
    )


def test_what_runtime_events_do_not_say_is_missing_and_not_zero() -> None:
    read = events_from_runtime([
        {"type": "agent:complete", "totalCostUsd": 0.01},
        {"type": "agent:complete", "usage": {"inputTokens": 3}, "durationMs": 4},
    ])  # fmt: skip
    assert read.usage is not None
    assert read.usage.model_fields_set == {"input_tokens", "cost_usd"}
    assert read.usage.cost_usd is None
    assert read.duration_ms is None
    assert events_from_runtime([{"type": "agent:complete"}]).usage is None
    with pytest.raises(DatasetError, match="event 2 has no `type`"):
        events_from_runtime([{"type": "a"}, {"name": "b"}])
    with pytest.raises(DatasetError, match="record, replay or live, not 'bogus'"):
        events_from_runtime([{"type": "recording:linked", "mode": "bogus"}])
    with pytest.raises(DatasetError, match="the `recordingId` of a recording must be a text"):
        events_from_runtime([{"type": "recording:linked", "mode": "live", "recordingId": 7}])
    with pytest.raises(DatasetError, match=r"event 1: .*`type`"):
        events_from_runtime([{"type": " "}])


def test_chat_messages_of_openai_become_events() -> None:
    read = normalise_trace([
        {"role": "system", "content": "Be kind."},
        {"role": "human", "content": [{"type": "text", "text": "Hi"}, "you"]},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "1", "function": {"name": "get", "arguments": '{"a": 1}'}}]},
        {"role": "tool", "tool_call_id": "1", "content": "2"},
        {"role": "ai", "content": "Two."},
    ])  # fmt: skip
    assert told(read) == [
        ("message", None, "Be kind."), ("message", None, "Hi\nyou"), ("tool_call", "get", {"a": 1}),
        ("tool_result", "get", "2"), ("message", None, "Two."),
    ]  # fmt: skip
    assert (read.events[1].model_extra, read.text) == ({"role": "user"}, "Two.")


CALLED = {"name": "get", "arguments": '{"a": 1}'}
GEMINI = {"name": "get", "args": {"a": 1}}


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "assistant", "content": None, "function_call": CALLED},
         {"role": "function", "name": "get", "content": "2"}],
        [{"role": "assistant", "message": {
            "function_call_name": "get", "function_call_arguments_json": '{"a": 1}'}},
         {"role": "function", "name": "get", "content": "2"}],
        [{"role": "assistant", "content": "", "additional_kwargs": {
            "tool_calls": [{"id": "1", "function": CALLED}]}},
         {"role": "tool", "tool_call_id": "1", "content": "2"}],
        [{"role": "model", "parts": [{"functionCall": GEMINI}]},
         {"role": "user", "parts": [{"functionResponse": {"name": "get", "response": "2"}}]}],
        [{"role": "model", "parts": [{"function_call": GEMINI}]},
         {"role": "user", "parts": [{"function_response": {"name": "get", "response": "2"}}]}],
        [{"role": "user", "content": ""},
         {"type": "function_call", "id": "fc", "call_id": "1", **CALLED},
         {"type": "function_call_output", "id": "fo", "call_id": "1", "output": "2"}],
    ],
)  # fmt: skip
def test_a_call_and_its_result_are_read_as_each_api_writes_them(messages: list[Any]) -> None:
    read = normalise_trace(messages)
    assert told(read) == [("tool_call", "get", {"a": 1}), ("tool_result", "get", "2")]
    first, second = (event.model_extra or {} for event in read.events)
    assert first.get("id") == second.get("id")


def test_items_of_openais_responses_become_events() -> None:
    text: Any = {"type": "output_text", "text": "Yo"}
    read = normalise_trace([
        {"role": "user", "content": "Hi"},
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "message", "role": "assistant", "content": [text]},
    ])  # fmt: skip
    assert told(read)[1:] == [("reasoning", None, "Hm."), ("message", None, "Yo")]
    assert read.text == "Yo"


@pytest.mark.parametrize("kind", ["error-text", "error-json"])
def test_an_error_that_the_ai_sdk_writes_into_a_result_is_one(kind: str) -> None:
    part: Any = {"type": "tool-result", "toolCallId": "1", "output": {"type": kind, "value": "no"}}
    (event,) = normalise_trace([{"role": "tool", "content": [part]}]).events
    assert (event.model_extra or {})["is_error"] is True


@pytest.mark.parametrize("error", ["boom", {"type": "timeout", "message": "boom"}])
def test_the_error_of_a_result_without_content_is_its_content(error: Any) -> None:
    result = {"role": "tool", "tool_call_id": "1", "function": "get", "content": "", "error": error}
    (event,) = normalise_trace([result]).events
    assert (event.content, (event.model_extra or {})["is_error"]) == ("boom", True)


def test_content_blocks_of_anthropic_become_events() -> None:
    blocks: list[Any] = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "1", "name": "get", "input": {"a": 1}},
    ]
    no = [{"type": "text", "text": "no"}]
    back: list[Any] = [
        {"type": "tool_result", "tool_use_id": "1", "content": no, "is_error": True},
        {"type": "image", "source": {}},
    ]
    read = normalise_trace([
        {"role": "assistant", "content": blocks}, {"role": "user", "content": back},
    ])  # fmt: skip
    assert told(read) == [
        ("reasoning", None, "Hm."), ("message", None, "I look."), ("tool_call", "get", {"a": 1}),
        ("tool_result", "get", "no"), ("message", None, [{"type": "image", "source": {}}]),
    ]  # fmt: skip
    assert read.events[3].model_extra == {"id": "1", "is_error": True}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("[broken", [("message", "[broken")]),
        ("", []),
        (3, []),
        ({"role": "user", "content": ""}, []),
        ({"role": "tool", "name": "get", "content": {"x": 1}}, [("tool_result", {"x": 1})]),
        (
            {"role": "user", "parts": ["a", {"type": "blob"}]},
            [("message", ["a", {"type": "blob"}])],
        ),
        ({"parts": [{"type": "tool_call"}]}, [("tool_call", None)]),
        ({"parts": [{"type": "tool_result", "name": "a", "result": 1}]}, [("tool_result", 1)]),
        ({"parts": [{"type": {"a": 1}}]}, [("message", [{"type": {"a": 1}}])]),
    ],
)
def test_odd_messages_do_no_harm(message: Any, expected: list[Any]) -> None:
    found = read_messages(message, role="user")
    assert [(event["type"], event.get("content")) for event in found] == expected


def test_a_result_whose_id_is_no_text_answers_no_call() -> None:
    read = normalise_trace([
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "1", "name": "get", "input": {}}],
        },
        {"role": "tool", "tool_call_id": ["1"], "content": "a"},
        {"role": "tool", "tool_call_id": "1", "content": "b"},
    ])  # fmt: skip
    assert [event.name for event in read.events] == ["get", None, "get"]


def test_a_row_may_carry_its_trace_in_spans(tmp_path: Path) -> None:
    row = {"case_id": "a", "trace": RUN}
    (tmp_path / "o.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    (output,) = iter_outputs(tmp_path / "o.jsonl")
    assert (output.text, output.duration_ms, len(output.trace)) == ("Done.", 100, 5)
    assert output.usage is not None
    assert output.usage.input_tokens == 30


def row_of(folder: Path, **fields: Any) -> Output:
    path = folder / "o.jsonl"
    path.write_text(json.dumps({"case_id": "a"} | fields) + "\n", encoding="utf-8")
    return next(iter_outputs(path))


def test_a_row_may_name_the_file_of_its_trace(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps(RUN), encoding="utf-8")
    found = row_of(tmp_path, text="Mine.", trace="t.json", usage={"input_tokens": 1}, duration_ms=5)
    assert (found.text, found.duration_ms) == ("Mine.", 5)
    assert found.usage == Usage(input_tokens=1)
    assert len(found.trace) == 5
    named = row_of(tmp_path, trace={"path": "t.json", "trace_id": "t1"})
    assert named.text == "Done."


def test_a_named_trace_may_not_lie_outside_of_the_outputs_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text("[]", encoding="utf-8")
    folder = tmp_path / "in"
    folder.mkdir()
    with pytest.raises(DatasetError, match=r"o\.jsonl:1: .*`trace`: .*leads out of the folder"):
        row_of(folder, trace="../secret.json")
    with pytest.raises(DatasetError, match="a trace cannot be a path here"):
        normalise_trace("t.json")
    for name in ("a\0b", "x" * 5000):
        with pytest.raises(DatasetError, match=r"o\.jsonl:1: .*`trace`"):
            row_of(folder, trace=name)


@pytest.mark.parametrize("trace", [3, "missing.json", [{"type": "agent:complete"}, {"name": "b"}]])
def test_an_unsound_trace_is_an_error_of_its_row(tmp_path: Path, trace: Any) -> None:
    with pytest.raises(DatasetError, match=r"o\.jsonl:1: .*`trace`"):
        row_of(tmp_path, text="t", trace=trace)


def test_judgekits_own_events_are_left_as_they_are(tmp_path: Path) -> None:
    own = [
        {"type": "message", "role": "assistant", "content": "Hi", "at": 3},
        {"type": "tool_call", "id": 7},
    ]
    found = row_of(tmp_path, trace=own)
    assert [event.to_json() for event in found.trace] == own
    assert found.text is None


def test_a_file_may_hold_events_line_by_line_or_in_an_object(tmp_path: Path) -> None:
    events = [{"type": "tool_call", "name": "a"}, {"type": "tool_call", "name": "b"}]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    assert [event.name for event in read_trace(path).events] == ["a", "b"]
    path.write_text(json.dumps({"events": events}), encoding="utf-8")
    assert len(read_trace(path).events) == 2
    path.write_text(json.dumps(events[0]), encoding="utf-8")
    assert len(read_trace(path).events) == 1


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"type": "a"}\n{broken', r"t\.json:2: not JSON"),
        ("3", r"t\.json: a trace is a list of events"),
        ('[{"type": "a"}, 4]', r"t\.json: event 2 has no `type`"),
        ('{"type": "a", "x": NaN}', "NaN is not JSON"),
    ],
)
def test_a_file_that_is_no_trace_is_an_error_with_its_place(
    tmp_path: Path, text: str, what: str
) -> None:
    path = tmp_path / "t.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match=what):
        read_trace(path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from([
            "role", "content", "parts", "type", "tool_calls", "spans", "attributes", "span_id",
            "name", "start_time", "gen_ai.input.messages", "gen_ai.operation.name", "key", "value",
            "events", "status", "usage", "resourceSpans", "scopeSpans", "context", "id",
            "gen_ai.tool.name",
        ]),
        inner | st.sampled_from([
            "chat", "execute_tool", "tool_call", "text", "message", "agent:complete",
        ]),
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.no_cover
@settings(max_examples=80)
@given(JSON)
def test_no_value_crashes_the_reader(value: Any) -> None:
    try:
        read = normalise_trace(value)
    except DatasetError:
        return
    assert all(event.type.strip() for event in read.events)
