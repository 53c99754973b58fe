"""Reads OpenTelemetry spans and chat messages, in the shapes that providers and tracers write.

`judgekit.datasets.traces` makes traces of them.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pydantic import JsonValue

Attributes = dict[str, "JsonValue"]
MODEL_OPERATIONS = frozenset(
    {"chat", "completion", "text_completion", "generate_content", "embeddings"}
)
"""Values of `gen_ai.operation.name` for a call of a model."""

_RESOURCES = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_ERROR_CODES = frozenset({"2", "error", "status_code_error", "statuscode.error"})
_MAX_NESTING = 100
_LAST_NS = 1 << 64
# Numbers without a unit are distinguished by their size: today in s, ms, µs and ns since 1970.
_UNITS_NS = ((1e17, 1), (1e14, 1_000), (1e11, 1_000_000), (0.0, 1_000_000_000))


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """An event recorded during a span, such as `exception`."""

    name: str
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Span:
    """One piece of work: a model call, a tool's execution, an agent's turn, or something else."""

    id: str
    """A span without an id gets one made from its number."""

    parent: str | None
    trace_id: str | None
    name: str
    start_ns: int | None
    """In nanoseconds since 1970; None where the span has no time."""

    end_ns: int | None
    attributes: Attributes
    events: tuple[SpanEvent, ...]
    error: str | None

    @property
    def operation(self) -> str:
        """The kind of work: `gen_ai.operation.name`, or what the attributes amount to."""
        named = self.attributes.get("gen_ai.operation.name")
        if isinstance(named, str):
            return named
        if "gen_ai.tool.name" in self.attributes:
            return "execute_tool"
        if "gen_ai.agent.name" in self.attributes and "gen_ai.request.model" not in self.attributes:
            return "invoke_agent"
        # Older instrumentations do not set an operation; these two attributes occur with model
        # calls.
        is_model = {"gen_ai.request.model", "llm.request.type"} & self.attributes.keys()
        return "chat" if is_model else ""


def find_spans(value: JsonValue) -> list[JsonValue] | None:
    """The spans in a value; None where it is no trace."""
    if isinstance(value, list):
        spans: list[JsonValue] = []
        for item in value:
            if (found := find_spans(item)) is None:
                return None
            spans += found
        return spans if value else None
    if not isinstance(value, dict):
        return None
    if any(name in value for name in _RESOURCES):
        # OTLP groups spans by resource and by the instrumentation that made them.
        scopes = [s for resource in _items(value, _RESOURCES) for s in _items(resource, _SCOPES)]
        return [span for scope in scopes for span in _items(scope, ("spans",))]
    if isinstance(value.get("spans"), list):
        return find_spans(value["spans"]) if value["spans"] else []
    return [value] if _is_span(value) else None


def read_spans(values: Sequence[JsonValue]) -> list[Span]:
    """Spans as records, oldest first."""
    spans = []
    for number, value in enumerate(values, start=1):
        if not isinstance(value, dict):
            raise DatasetError(f"span {number} must be an object", hint="OTLP JSON has objects")
        spans.append(_span(value, number))
    # Sorting only some of them would destroy the order of the file.
    if any(span.start_ns is None for span in spans):
        return spans
    # The longer of two spans that begin together comes first: it encloses the other.
    return sorted(spans, key=lambda span: (span.start_ns, -(span.end_ns or 0)))


def span_ancestors(spans: Sequence[Span]) -> dict[str, list[str]]:
    """The ids of the spans around each span, nearest first."""
    parents = {span.id: span.parent for span in spans}
    found: dict[str, list[str]] = {}
    for span in spans:
        around: list[str] = []
        parent = span.parent
        while parent is not None and parent in parents and len(around) < _MAX_NESTING:
            # A damaged export may hold a circle of parents.
            if parent in around or parent == span.id:
                break
            around.append(parent)
            parent = parents[parent]
        found[span.id] = around
    return found


def _items(value: JsonValue, names: Sequence[str]) -> list[JsonValue]:
    if not isinstance(value, dict):
        return []
    items = next((value[name] for name in names if name in value), None)
    return items if isinstance(items, list) else []


def _is_span(value: Mapping[str, JsonValue]) -> bool:
    has_id = "spanId" in value or "span_id" in value or isinstance(value.get("context"), dict)
    has_time = bool({"startTimeUnixNano", "start_time_unix_nano", "start_time"} & value.keys())
    return has_id and (has_time or "attributes" in value)


def _span(value: Mapping[str, JsonValue], number: int) -> Span:
    context = value.get("context")
    # The Python SDK writes ids under `context`, OTLP beside the name.
    fields = {**(context if isinstance(context, dict) else {}), **value}
    status, listed = fields.get("status"), fields.get("events")
    attributes = _attributes(fields.get("attributes"))
    events = tuple(
        SpanEvent(_text(event, "name") or "event", _attributes(event.get("attributes")))
        for event in (listed if isinstance(listed, list) else ())
        if isinstance(event, dict)
    )
    start, end = _time(fields, "start"), _time(fields, "end")
    return Span(
        id=_text(fields, "spanId", "span_id") or f"#{number}",
        parent=_text(fields, "parentSpanId", "parent_span_id", "parent_id"),
        trace_id=_text(fields, "traceId", "trace_id"),
        name=_text(fields, "name") or "span",
        start_ns=start,
        # A span without an end was cut off; it counts as having no length.
        end_ns=end if end is not None else start,
        attributes=attributes,
        events=events,
        error=_error(status if isinstance(status, dict) else {}, attributes, events),
    )


def _text(fields: Mapping[str, JsonValue], *names: str) -> str | None:
    found = next((fields[name] for name in names if fields.get(name)), None)
    return str(found) if isinstance(found, str | int) else None


def _time(fields: Mapping[str, JsonValue], which: str) -> int | None:
    names = (f"{which}TimeUnixNano", f"{which}_time_unix_nano", f"{which}_time", f"{which}Time")
    found = next((fields[name] for name in names if fields.get(name) is not None), None)
    if isinstance(found, str):
        return _time_of_text(found)
    if isinstance(found, bool) or not isinstance(found, int | float) or abs(found) > _LAST_NS:
        return None
    if not math.isfinite(found):
        return None
    return int(found * next(unit for limit, unit in _UNITS_NS if abs(found) >= limit))


def _time_of_text(text: str) -> int | None:
    # OTLP writes 64-bit numbers as texts, because JSON readers lose digits of larger numbers.
    if text.isascii() and text.isdigit() and len(text) <= len("18446744073709551615"):
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    # In whole numbers: nanoseconds since 1970 do not fit into a float.
    since = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.fromtimestamp(0, UTC)
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000


def _attributes(value: JsonValue) -> Attributes:
    if isinstance(value, dict):
        return value
    pairs = value if isinstance(value, list) else []
    return {
        str(pair["key"]): _any_value(pair.get("value"))
        for pair in pairs
        if isinstance(pair, dict) and "key" in pair
    }


def _any_value(value: JsonValue, depth: int = 0) -> JsonValue:
    """The plain value of OTLP's `AnyValue`, where whole numbers are written as texts."""
    if not isinstance(value, dict) or len(value) != 1 or depth > _MAX_NESTING:
        return value
    ((kind, content),) = value.items()
    if kind in {"intValue", "int_value"} and isinstance(content, str):
        return (
            int(content)
            if content.lstrip("-").isdecimal() and len(content) < len("1" * 20)
            else content
        )
    if kind in {"arrayValue", "array_value"}:
        return [_any_value(item, depth + 1) for item in _items(content, ("values",))]
    if kind in {"kvlistValue", "kvlist_value"}:
        return {
            str(pair["key"]): _any_value(pair.get("value"), depth + 1)
            for pair in _items(content, ("values",))
            if isinstance(pair, dict) and "key" in pair
        }
    return content


def _error(
    status: Mapping[str, JsonValue], attributes: Attributes, events: Sequence[SpanEvent]
) -> str | None:
    code = str(status.get("status_code", status.get("code", ""))).lower()
    if code not in _ERROR_CODES and "error.type" not in attributes:
        return None
    texts = [status.get("message"), status.get("description")]
    for event in events:
        if event.name == "exception":
            texts += [event.attributes.get(f"exception.{part}") for part in ("message", "type")]
    texts.append(attributes.get("error.type"))
    return next((text for text in texts if isinstance(text, str) and text.strip()), "error")


RawEvent = dict[str, "JsonValue"]
"""One event, before it is validated as a `TraceEvent`."""

_CALLS = frozenset({"tool_call", "tool_use", "tool-call", "function_call"})
_RESULTS = frozenset({"tool_call_response", "tool_result", "tool-result", "function_call_output"})
_THOUGHTS = frozenset({"reasoning", "thinking"})
_ID_NAMES = ("id", "call_id", "toolCallId", "tool_call_id", "tool_use_id")
_ARGUMENT_NAMES = ("arguments", "args", "input")
_RESULT_NAMES = ("response", "result", "content", "output")
_TOOL_ROLES = frozenset({"tool", "function"})
_CALL_ROLE = "assistant"


def is_message(value: JsonValue) -> bool:
    """Whether a value looks like a chat message."""
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        return False
    in_parts = isinstance(value.get("parts", value.get("content")), list)
    return "type" not in value or (value["type"] == "message" and in_parts)


def read_messages(value: JsonValue, *, role: str) -> list[RawEvent]:
    """The events in one or several messages."""
    # Understood are the parts of the OpenTelemetry GenAI conventions, OpenAI's `tool_calls` and
    # `tool_call_id`, and Anthropic's content blocks.
    value = decode_value(value)
    messages = value if isinstance(value, list) else [value]
    events = [event for message in messages for event in _message_events(message, role)]
    return named_results(events)


def named_results(events: Sequence[RawEvent]) -> list[RawEvent]:
    """The events, with every nameless tool result named after the call it answers."""
    names: dict[object, JsonValue] = {
        event["id"]: event.get("name")
        for event in events
        if event["type"] == "tool_call" and isinstance(event.get("id"), str)
    }
    return [
        {"type": event["type"], "name": names[event["id"]], **event}
        # The id of a result may be of any type, also one that is not hashable.
        if event["type"] == "tool_result"
        and "name" not in event
        and isinstance(event.get("id"), str)
        and event["id"] in names
        else event
        for event in events
    ]


def final_text(events: Iterable[RawEvent]) -> str | None:
    """The last text of the assistant."""
    found = None
    for event in events:
        content = event.get("content")
        is_answer = event["type"] == "message" and event.get("role") == _CALL_ROLE
        if is_answer and isinstance(content, str) and content.strip():
            found = content
    return found


def decode_value(value: JsonValue) -> JsonValue:
    """The value of an attribute that was written as JSON text."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        decoded: JsonValue = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return decoded


def _message_events(message: JsonValue, role: str) -> list[RawEvent]:
    if isinstance(message, str):
        return [_message(role, message)] if message else []
    if not isinstance(message, dict):
        return []
    if isinstance(message.get("message"), str | dict | list):
        # The choice of a chat completion: the message and why it ended.
        inner = decode_value(message["message"])
        more = {k: v for k, v in message.items() if k == "finish_reason"}
        return _message_events({**inner, **more} if isinstance(inner, dict) else inner, role)
    role = str(message.get("role") or role)
    role = {"ai": _CALL_ROLE, "model": _CALL_ROLE, "human": "user"}.get(role, role)
    parts = decode_value(message.get("parts", message.get("content")))
    events = _content_events(message, role, parts)
    events += [_call(call) for call in _objects(decode_value(message.get("tool_calls")))]
    reason = message.get("finish_reason")
    if isinstance(reason, str) and events:
        events[0]["finish_reason"] = reason
    return events


def _content_events(message: RawEvent, role: str, parts: JsonValue) -> list[RawEvent]:
    """The events of a message, apart from its `tool_calls`."""
    # Anthropic puts results into the parts of a message, the others into its content.
    if role in _TOOL_ROLES and not any(p.get("type") in _RESULTS for p in _objects(parts)):
        return [_result(message, parts, ("tool_call_id", "toolCallId", "id"))]
    if not isinstance(parts, list):
        return [_message(role, parts)] if parts not in (None, "") else []
    return _part_events(role, parts)


def _part_events(role: str, parts: Sequence[JsonValue]) -> list[RawEvent]:
    events: list[RawEvent] = []
    texts: list[JsonValue] = []
    for part in parts:
        kind = part.get("type") if isinstance(part, dict) else None
        is_known = isinstance(kind, str) and kind in _CALLS | _RESULTS | _THOUGHTS
        if not isinstance(part, dict) or not is_known:
            texts.append(part)
            continue
        # Text before a call is a message of its own, so that the order of the parts is kept.
        if texts:
            events.append(_message(role, _plain(texts)))
            texts = []
        events.append(_part_event(part, str(kind)))
    return [*events, _message(role, _plain(texts))] if texts else events


def _part_event(part: RawEvent, kind: str) -> RawEvent:
    if kind in _CALLS:
        return _call(part)
    if kind in _THOUGHTS:
        return {"type": "reasoning", "content": _first(part, ("content", "text", "thinking"))}
    return _result(part, _first(part, _RESULT_NAMES), ("tool_use_id", *_ID_NAMES))


def _result(fields: RawEvent, content: JsonValue, id_names: Sequence[str]) -> RawEvent:
    event: RawEvent = {"type": "tool_result", "content": _plain(content)}
    if isinstance(fields.get("name"), str):
        event["name"] = fields["name"]
    if (call_id := _first(fields, id_names)) is not None:
        event["id"] = call_id
    is_error = fields.get("is_error") is True or fields.get("isError") is True
    return event | ({"is_error": True} if is_error or fields.get("status") == "error" else {})


def _call(call: RawEvent) -> RawEvent:
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    name = _first(inner, ("name", "toolName"))
    event: RawEvent = {"type": "tool_call", "name": name if isinstance(name, str) else "?"}
    if (arguments := _first(inner, _ARGUMENT_NAMES)) is not None:
        event["content"] = decode_value(arguments)
    if (call_id := _first(call, _ID_NAMES)) is not None:
        event["id"] = call_id
    return event


def _message(role: str, content: JsonValue) -> RawEvent:
    return {"type": "message", "role": role, "content": content}


def _plain(content: JsonValue) -> JsonValue:
    """The text of a list of text parts; any other content as it is."""
    if not isinstance(content, list) or not content:
        return content
    texts = [_text_of(part) for part in content]
    return "\n".join(t for t in texts if t is not None) if None not in texts else content


def _text_of(part: JsonValue) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or not str(part.get("type", "text")).endswith("text"):
        return None
    text = _first(part, ("text", "content"))
    return text if isinstance(text, str) else None


def _objects(value: JsonValue) -> list[RawEvent]:
    items = value if isinstance(value, list) else []
    return [item for item in items if isinstance(item, dict)]


def _first(found: RawEvent, names: Sequence[str]) -> JsonValue:
    return next((found[name] for name in names if found.get(name) is not None), None)
