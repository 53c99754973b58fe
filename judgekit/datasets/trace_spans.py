"""OpenTelemetry spans, from OTLP JSON or an SDK's span dump, as plain values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pydantic import JsonValue

Attributes = dict[str, "JsonValue"]
"""Attributes by name, as plain JSON values."""

MODEL_OPERATIONS = frozenset(
    {"chat", "completion", "text_completion", "generate_content", "embeddings"}
)
"""Values of `gen_ai.operation.name` that stand for one call of a model."""

_RESOURCES = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_ERROR_CODES = frozenset({"2", "error", "status_code_error", "statuscode.error"})
_MAX_NESTING = 100
_LAST_NS = 1 << 64
_UNITS_NS = ((1e17, 1), (1e14, 1_000), (1e11, 1_000_000), (0.0, 1_000_000_000))


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """Something that was noted while a span lasted."""

    name: str
    """What it is called, such as `exception`."""

    attributes: Attributes
    """Its attributes."""


@dataclass(frozen=True, slots=True)
class Span:
    """One piece of work: a model call, a tool's execution, an agent's turn, or something else."""

    id: str
    """The span's id; of a span that has none, one of its own."""

    parent: str | None
    """Id of the span it was done for."""

    trace_id: str | None
    """Id of the trace it belongs to."""

    name: str
    """Name of the span."""

    start_ns: int | None
    """When it began, in nanoseconds since 1970; None where it is not said."""

    end_ns: int | None
    """When it ended."""

    attributes: Attributes
    """Its attributes."""

    events: tuple[SpanEvent, ...]
    """What was noted on the way."""

    error: str | None
    """What went wrong, where its status is an error."""

    @property
    def operation(self) -> str:
        """What kind of work it is: `gen_ai.operation.name`, or what its attributes amount to."""
        named = self.attributes.get("gen_ai.operation.name")
        if isinstance(named, str):
            return named
        if "gen_ai.tool.name" in self.attributes:
            return "execute_tool"
        if "gen_ai.agent.name" in self.attributes and "gen_ai.request.model" not in self.attributes:
            return "invoke_agent"
        is_model = {"gen_ai.request.model", "llm.request.type"} & self.attributes.keys()
        return "chat" if is_model else ""


def find_spans(value: JsonValue) -> list[JsonValue] | None:
    """The spans in a value that holds some."""
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
        return list(_exported(value))
    if isinstance(value.get("spans"), list):
        return find_spans(value["spans"]) if value["spans"] else []
    return [value] if _is_span(value) else None


def read_spans(values: Sequence[JsonValue]) -> list[Span]:
    """Spans as plain values, oldest first."""
    # Spans are ordered by their start; where a start is missing they stay in the given order.
    spans = []
    for number, value in enumerate(values, start=1):
        if not isinstance(value, dict):
            raise DatasetError(f"span {number} must be an object", hint="OTLP JSON has objects")
        spans.append(_span(value, number))
    if any(span.start_ns is None for span in spans):
        return spans
    return sorted(spans, key=lambda span: (span.start_ns, -(span.end_ns or 0)))


def ancestors(spans: Sequence[Span]) -> dict[str, list[str]]:
    """The ids of the spans around each span, nearest first."""
    parents = {span.id: span.parent for span in spans}
    found: dict[str, list[str]] = {}
    for span in spans:
        around: list[str] = []
        parent = span.parent
        while parent is not None and parent in parents and len(around) < _MAX_NESTING:
            if parent in around or parent == span.id:
                break
            around.append(parent)
            parent = parents[parent]
        found[span.id] = around
    return found


def _exported(value: JsonValue) -> Iterator[JsonValue]:
    for resource in _items(value, _RESOURCES):
        for scope in _items(resource, _SCOPES):
            yield from _items(scope, ("spans",))


def _items(value: JsonValue, names: Sequence[str]) -> list[JsonValue]:
    if not isinstance(value, dict):
        return []
    held = next((value[name] for name in names if name in value), None)
    return held if isinstance(held, list) else []


def _is_span(value: Mapping[str, JsonValue]) -> bool:
    has_id = "spanId" in value or "span_id" in value or isinstance(value.get("context"), dict)
    has_time = bool({"startTimeUnixNano", "start_time_unix_nano", "start_time"} & value.keys())
    return has_id and (has_time or "attributes" in value)


def _span(value: Mapping[str, JsonValue], number: int) -> Span:
    context = value.get("context")
    held = {**(context if isinstance(context, dict) else {}), **value}
    status = held.get("status")
    attributes = _attributes(held.get("attributes"))
    events = tuple(_events(held.get("events")))
    start, end = _time(held, "start"), _time(held, "end")
    return Span(
        id=_text(held, "spanId", "span_id") or f"#{number}",
        parent=_text(held, "parentSpanId", "parent_span_id", "parent_id"),
        trace_id=_text(held, "traceId", "trace_id"),
        name=_text(held, "name") or "span",
        start_ns=start,
        end_ns=end if end is not None else start,
        attributes=attributes,
        events=events,
        error=_error(status if isinstance(status, dict) else {}, attributes, events),
    )


def _text(held: Mapping[str, JsonValue], *names: str) -> str | None:
    found = next((held[name] for name in names if held.get(name)), None)
    return str(found) if isinstance(found, str | int) else None


def _time(held: Mapping[str, JsonValue], which: str) -> int | None:
    names = (f"{which}TimeUnixNano", f"{which}_time_unix_nano", f"{which}_time", f"{which}Time")
    found = next((held[name] for name in names if held.get(name) is not None), None)
    if isinstance(found, str):
        return _time_of_text(found)
    if isinstance(found, bool) or not isinstance(found, int | float) or abs(found) > _LAST_NS:
        return None
    if not math.isfinite(found):
        return None
    return int(found * next(unit for limit, unit in _UNITS_NS if abs(found) >= limit))


def _time_of_text(text: str) -> int | None:
    if text.isascii() and text.isdigit() and len(text) <= len("18446744073709551615"):
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
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
    ((kind, held),) = value.items()
    if kind in {"intValue", "int_value"} and isinstance(held, str):
        return int(held) if held.lstrip("-").isdecimal() and len(held) < len("1" * 20) else held
    if kind in {"arrayValue", "array_value"}:
        return [_any_value(item, depth + 1) for item in _items(held, ("values",))]
    if kind in {"kvlistValue", "kvlist_value"}:
        return {
            str(pair["key"]): _any_value(pair.get("value"), depth + 1)
            for pair in _items(held, ("values",))
            if isinstance(pair, dict) and "key" in pair
        }
    return held


def _events(value: JsonValue) -> Iterator[SpanEvent]:
    for event in value if isinstance(value, list) else []:
        if isinstance(event, dict):
            name = _text(event, "name") or "event"
            yield SpanEvent(name, _attributes(event.get("attributes")))


def _error(
    status: Mapping[str, JsonValue], attributes: Attributes, events: Sequence[SpanEvent]
) -> str | None:
    code = str(status.get("status_code", status.get("code", ""))).lower()
    said = [status.get("message"), status.get("description")]
    for event in events:
        if event.name == "exception":
            said += [event.attributes.get("exception.message")]
            said += [event.attributes.get("exception.type")]
    said.append(attributes.get("error.type"))
    if code not in _ERROR_CODES and "error.type" not in attributes:
        return None
    return next((text for text in said if isinstance(text, str) and text.strip()), "error")
