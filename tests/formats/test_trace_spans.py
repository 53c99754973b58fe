from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets.traces import events_from_spans, normalise_trace, read_trace
from judgekit.errors import DatasetError
from judgekit.formats.spans import find_spans, read_spans, span_ancestors
from judgekit.records import JsonObject, Usage
from tests.formats.genai_spans import (
    ASKED,
    BACK,
    CALL,
    DONE,
    RUN,
    USER,
    chat,
    exported,
    otlp,
    told,
    tool,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run_in_spans_is_told_once_and_in_order() -> None:
    read = normalise_trace(RUN)
    assert told(read) == [
        ("message", None, "Refund A-17?"),
        ("tool_call", "look_up", {"order": "A-17"}),
        ("tool_result", "look_up", {"state": "paid"}),
        ("message", None, "Done."),
        ("agent:complete", "support", None),
    ]
    assert (read.text, read.duration_ms) == ("Done.", 100)


def test_usage_is_that_of_the_model_calls_and_not_of_the_agent_around_them() -> None:
    usage = normalise_trace(RUN).usage
    assert usage == Usage(input_tokens=30, output_tokens=9, cached_input_tokens=3)
    assert usage is not None
    assert "reasoning_tokens" not in usage.model_fields_set
    alone = exported(otlp("agent", 0, 1, operation__name="invoke_agent", usage__input_tokens=7))
    assert normalise_trace(alone).usage == Usage(input_tokens=7)
    assert normalise_trace(exported(tool("a", 0, 1))).usage is None


def test_a_price_is_known_only_where_every_call_has_one() -> None:
    one = chat("a", 0, 1, None, [DONE], usage__input_tokens=1, usage__cost=0.25)
    two = chat("b", 2, 3, None, [DONE], usage__input_tokens=1)
    assert events_from_spans([one]).usage == Usage(input_tokens=1, cost_usd=0.25)
    assert events_from_spans([one, two]).usage == Usage(input_tokens=2)


@pytest.mark.parametrize(
    "attributes",
    [
        {"llm.token_count.prompt": 9, "llm.token_count.completion": 4, "llm.cost.total": 0.5,
         "llm.token_count.prompt_details.cache_read": 3,
         "llm.token_count.completion_details.reasoning": 1, "openinference.span.kind": "LLM"},
        {"mlflow.spanType": '"CHAT_MODEL"', "mlflow.llm.cost": '{"total_cost": 0.5}',
         "mlflow.chat.tokenUsage": '{"input_tokens": 9, "output_tokens": 4, "total_tokens": 13}'},
    ],
)  # fmt: skip
def test_tokens_and_cost_are_read_in_the_words_of_other_tools(attributes: dict[str, Any]) -> None:
    span: JsonObject = {"trace_id": "t", "span_id": "s", "start_time_unix_nano": 1}
    span["attributes"] = attributes
    usage = normalise_trace([span]).usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (9, 4, 0.5)
    if "openinference.span.kind" in attributes:
        assert (usage.cached_input_tokens, usage.reasoning_tokens) == (3, 1)


def test_the_python_sdks_console_dump_is_read(tmp_path: Path) -> None:
    def dumped(name: str, start: str, parent: str | None, **attributes: Any) -> str:
        span: dict[str, Any] = {
            "name": name,
            "context": {"trace_id": "0xt", "span_id": f"0x{name}", "trace_state": "[]"},
            "kind": "SpanKind.INTERNAL",
            "parent_id": parent,
            "start_time": f"2026-01-01T00:00:{start}Z",
            "end_time": f"2026-01-01T00:00:{start[:2]}.900000Z",
            "status": {"status_code": "UNSET"},
            "attributes": attributes,
            "events": [],
            "links": [],
            "resource": {"attributes": {"service.name": "x"}, "schema_url": ""},
        }
        return json.dumps(span, indent=4) + "\n"

    path = tmp_path / "trace.json"
    tool_span = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "add",
                 "gen_ai.tool.call.arguments": '{"a": 1}',
                 "gen_ai.tool.call.result": "2"}  # fmt: skip
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "maths"}
    text = dumped("tool", "01.000000", "0xagent", **tool_span) + dumped(
        "agent", "00.500000", None, **agent
    )
    path.write_text(text, encoding="utf-8")
    read = read_trace(path)
    assert told(read) == [
        ("agent:complete", "maths", None),
        ("tool_call", "add", {"a": 1}),
        ("tool_result", "add", "2"),
    ]
    assert read.duration_ms == 1400


def test_calls_whose_content_was_not_captured_are_still_there() -> None:
    span = chat("a", 0, 1, None, None, response__finish_reasons=["length"])
    (event,) = events_from_spans([span]).events
    assert (event.type, event.model_extra) == ("model_call", {"finish_reason": "length"})


def test_a_frameworks_span_around_the_providers_tells_nothing_twice() -> None:
    outer = chat("outer", 0, 9, [USER], [DONE], usage__input_tokens=5)
    inner = chat("inner", 1, 8, [USER], [DONE], parent="outer", usage__input_tokens=5)
    read = events_from_spans([outer, inner])
    assert [event.content for event in read.events] == ["Refund A-17?", "Done."]
    assert read.usage == Usage(input_tokens=5)


def test_the_same_words_said_again_are_told_again() -> None:
    one = chat("a", 0, 1, [USER], [DONE])
    two = chat("b", 2, 3, [USER, DONE, USER], [DONE])
    contents = [event.content for event in events_from_spans([one, two]).events]
    assert contents == ["Refund A-17?", "Done."] * 2


def test_tool_spans_without_ids_take_the_arguments_of_the_models_calls_in_order() -> None:
    def asks(order: str) -> dict[str, Any]:
        return {"role": "assistant", "parts": [{**CALL, "id": f"x{order}", "arguments": order}]}

    spans = [
        chat("a", 0, 1, [USER], [asks("1")]),
        tool("look_up", 2, 3),
        chat("b", 4, 5, [USER, asks("1")], [asks("2")]),
        tool("look_up", 6, 7) | {"spanId": "other"},
    ]
    read = events_from_spans(spans)
    assert [e.content for e in read.events if e.type == "tool_call"] == ["1", "2"]


def test_calls_without_a_span_are_told_by_the_messages() -> None:
    read = events_from_spans([chat("a", 0, 1, [USER, ASKED, BACK], [DONE])])
    assert [event.type for event in read.events] == [
        "message",
        "tool_call",
        "tool_result",
        "message",
    ]
    assert read.events[2].name == "look_up"


def test_an_error_is_told_where_it_arose_and_not_by_every_span_around_it() -> None:
    agent = otlp("agent", 0, 9, operation__name="invoke_agent", agent__name="support")
    agent["status"] = {"code": 2, "message": "gave up"}
    model = chat("a", 1, 2, [USER], None, parent="agent")
    model["status"] = {"code": "STATUS_CODE_ERROR", "message": "overloaded"}
    read = events_from_spans([agent, model])
    errors = [(e.name, e.content) for e in read.events if e.type == "error"]
    assert errors == [("a", "overloaded")]


def test_a_tool_that_failed_has_a_result_that_says_so() -> None:
    span = tool("pay", 0, 1)
    event = {"name": "exception", "attributes": [
        {"key": "exception.message", "value": {"stringValue": "declined"}}]}  # fmt: skip
    read = events_from_spans([span | {"status": {"code": 2}, "events": [event]}])
    assert [e.type for e in read.events] == ["tool_call", "tool_result"]
    assert read.events[1].content == "declined"
    assert read.events[1].model_extra == {"is_error": True}


def test_an_agent_inside_another_does_not_count_its_time_twice() -> None:
    outer = otlp("outer", 0, 9, operation__name="invoke_agent", agent__name="boss")
    inner = otlp("inner", 1, 5, parent="outer", operation__name="invoke_agent", agent__name="clerk")
    read = events_from_spans([outer, inner])
    assert [(e.type, e.name) for e in read.events] == [
        ("agent:end", "clerk"),
        ("agent:complete", "boss"),
    ]
    assert read.events[1].model_extra == {"durationMs": 9.0}


@pytest.mark.parametrize(
    "span",
    [
        chat("a", 0, 1, None, None, prompt=json.dumps([{"role": "user", "content": "Q"}]),
             completion="A"),
        otlp("a", 0, 1, request__model="m", prompt__0__role="user", prompt__0__content="Q",
             completion__0__role="assistant", completion__0__content="A"),
        chat("a", 0, 1, None, None) | {"events": [
            {"name": "gen_ai.content.prompt", "attributes": {"gen_ai.prompt": "Q"}},
            {"name": "gen_ai.content.completion", "attributes": {"gen_ai.completion": "A"}},
        ]},
        chat("a", 0, 1, None, None) | {"events": [
            {"name": "gen_ai.user.message", "attributes": {"content": "Q"}},
            {"name": "gen_ai.choice", "attributes": {
                "finish_reason": "stop", "message": '{"role": "assistant", "content": "A"}'}},
            {"name": "gen_ai.evaluation.result", "attributes": {}},
        ]},
        chat("a", 0, 1, None, None) | {"events": [
            {"name": "gen_ai.user.message", "attributes": {
                "gen_ai.event.content": '{"content": "Q"}'}},
            {"name": "gen_ai.choice", "attributes": {"gen_ai.event.content": '{"message": "A"}'}},
        ]},
        chat("a", 0, 1, None, None) | {"events": [
            {"name": "gen_ai.client.inference.operation.details", "attributes": {
                "gen_ai.input.messages": [{"role": "user", "content": "Q"}],
                "gen_ai.output.messages": [{"role": "assistant", "content": "A"}]}},
        ]},
    ],
    ids=["attributes", "indexed", "content events", "message events", "event content", "details"],
)  # fmt: skip
def test_older_conventions_are_read(span: dict[str, Any]) -> None:
    read = events_from_spans([span])
    assert [(e.type, e.content) for e in read.events] == [("message", "Q"), ("message", "A")]
    assert read.text == "A"


def test_other_operations_are_told_and_embeddings_only_counted() -> None:
    spans = [
        otlp("embed", 0, 1, operation__name="embeddings", usage__input_tokens=4),
        otlp("search", 2, 3, operation__name="retrieval"),
        otlp("GET /", 4, 5),
    ]
    read = events_from_spans(spans)
    assert [(e.type, e.name) for e in read.events] == [("retrieval", "search")]
    assert read.usage == Usage(input_tokens=4)


def test_spans_of_several_traces_need_one_to_be_named() -> None:
    spans = [tool("a", 0, 1), tool("b", 0, 1) | {"traceId": "t2"}]
    with pytest.raises(DatasetError, match=r"holds spans of 2 traces(.|\n)*t1, t2"):
        events_from_spans(spans)
    assert events_from_spans(spans, trace_id="t2").events[0].name == "b"
    assert normalise_trace([*spans], trace_id="0xt1").events[0].name == "a"
    with pytest.raises(DatasetError, match="no span is of the trace 't3'"):
        events_from_spans(spans, trace_id="t3")


def test_spans_without_times_stay_in_their_order() -> None:
    spans: list[Any] = [
        {"span_id": n, "name": n, "attributes": {"gen_ai.tool.name": n}} for n in ("b", "a")
    ]
    read = events_from_spans(spans)
    assert [event.name for event in read.events] == ["b", "b", "a", "a"]
    assert read.duration_ms is None


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (1_700_000_000, 1_700_000_000_000_000_000),
        (1_700_000_000_000, 1_700_000_000_000_000_000),
        (1_700_000_000_000_000, 1_700_000_000_000_000_000),
        ("1700000000000000000", 1_700_000_000_000_000_000),
        ("2023-11-14T22:13:20", 1_700_000_000_000_000_000),
        ("yesterday", None),
        (True, None),
        (float("inf"), None),
        (float("nan"), None),
        (10**400, None),
        (-(10**400), None),
    ],
)
def test_times_are_read_in_any_unit(start: Any, expected: int | None) -> None:
    (span,) = read_spans([{"span_id": "a", "start_time": start}])
    assert span.start_ns == expected


def test_attribute_values_of_otlp_become_plain_ones() -> None:
    wanted: dict[str, Any] = {"a": True, "b": 3, "c": 0.5, "d": ["x", 1], "e": {"f": "g"}}
    (span,) = read_spans([otlp("s", 0, 1, **wanted)])
    assert span.attributes == {f"gen_ai.{name}": value for name, value in wanted.items()}
    odd: dict[str, Any] = {
        "spanId": "s",
        "attributes": [{"key": "n", "value": {"intValue": "many"}}, 3],
    }
    assert read_spans([odd])[0].attributes == {"n": "many"}


def test_what_a_span_does_can_be_told_from_its_other_attributes() -> None:
    tells: list[Any] = [
        {"gen_ai.tool.name": "t"},
        {"gen_ai.agent.name": "a"},
        {"llm.request.type": "chat"},
        {},
    ]
    spans = read_spans(
        [dict[str, Any](span_id=str(n), attributes=held) for n, held in enumerate(tells)]
    )
    assert [span.operation for span in spans] == ["execute_tool", "invoke_agent", "chat", ""]


def test_a_ring_of_parents_ends() -> None:
    spans = read_spans([{"span_id": "a", "parent_id": "b"}, {"span_id": "b", "parent_id": "a"}])
    assert span_ancestors(spans) == {"a": ["b"], "b": ["a"]}


def test_what_is_no_span_is_an_error() -> None:
    with pytest.raises(DatasetError, match="span 2 must be an object"):
        events_from_spans([tool("a", 0, 1), 3])
    assert find_spans({"spans": []}) == []
    assert find_spans([]) is None
    assert find_spans({"resource_spans": [{"scope_spans": [3]}, 4]}) == []
