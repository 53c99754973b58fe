"""Spans of the OpenTelemetry GenAI conventions for tests, and a run told by some of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgekit.datasets.traces import TraceRead

USER = {"role": "user", "parts": [{"type": "text", "content": "Refund A-17?"}]}
CALL = {"type": "tool_call", "id": "c1", "name": "look_up", "arguments": {"order": "A-17"}}
ASKED = {"role": "assistant", "parts": [CALL], "finish_reason": "tool_call"}
BACK = {
    "role": "tool",
    "parts": [{"type": "tool_call_response", "id": "c1", "response": {"state": "paid"}}],
}
DONE = {
    "role": "assistant",
    "parts": [{"type": "text", "content": "Done."}],
    "finish_reason": "stop",
}


def otlp_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp_value(item) for item in value]}}
    if isinstance(value, dict):
        pairs = [{"key": k, "value": otlp_value(v)} for k, v in value.items()]
        return {"kvlistValue": {"values": pairs}}
    return {"stringValue": value}


def otlp(name: str, start: int, end: int, *, parent: str = "", **attributes: Any) -> dict[str, Any]:
    """A span of an OTLP JSON export; `_` in names stands for a dot, times are in milliseconds."""
    named = {f"gen_ai.{k.replace('__', '.')}": v for k, v in attributes.items()}
    return {
        "traceId": "t1", "spanId": name, "parentSpanId": parent, "name": name, "kind": 3,
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + start * 1_000_000),
        "endTimeUnixNano": str(1_700_000_000_000_000_000 + end * 1_000_000),
        "attributes": [{"key": k, "value": otlp_value(v)} for k, v in named.items()],
        "status": {},
    }  # fmt: skip


def exported(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def chat(name: str, start: int, end: int, before: Any, after: Any, **more: Any) -> dict[str, Any]:
    held: dict[str, Any] = {"operation__name": "chat", "request__model": "m"}
    if before is not None:
        held["input__messages"] = json.dumps(before)
    if after is not None:
        held["output__messages"] = json.dumps(after)
    return otlp(name, start, end, **held | more)


def tool(name: str, start: int, end: int, **more: Any) -> dict[str, Any]:
    return otlp(f"execute_tool {name}", start, end, operation__name="execute_tool",
                tool__name=name, **more)  # fmt: skip


RUN = exported(
    otlp("agent", 0, 100, operation__name="invoke_agent", agent__name="support",
         usage__input_tokens=30, usage__output_tokens=9),
    chat("first", 1, 20, [USER], [ASKED], parent="agent", usage__input_tokens=10,
         usage__output_tokens=4, usage__cache_read__input_tokens=3),
    tool("look_up", 21, 40, parent="agent", tool__call__id="c1"),
    chat("second", 41, 90, [USER, ASKED, BACK], [DONE], parent="agent", usage__input_tokens=20,
         usage__output_tokens=5),
)  # fmt: skip


def told(read: TraceRead) -> list[tuple[str, str | None, Any]]:
    return [(event.type, event.name, event.content) for event in read.events]
