"""Turns a recorded trace into the events of an output: runtime events, messages or spans."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import JsonValue, ValidationError

from judgekit import formats
from judgekit.errors import DatasetError
from judgekit.formats import FieldFault, RawEvent, final_text
from judgekit.records import TraceEvent, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from judgekit.formats import Fields

_COMPLETE = "agent:complete"
_NAME_FIELDS = ("nodeId", "node_id", "toolName", "tool_name", "agentName", "agentId", "agent_id")
_TIME_FIELDS = ("timestamp", "time", "ts")

_USAGE_FIELDS: dict[str, tuple[str, ...]] = {
    "input_tokens": ("inputTokens", "input_tokens", "promptTokens", "prompt_tokens", "input"),
    "output_tokens": (
        "outputTokens", "output_tokens", "completionTokens", "completion_tokens", "output",
    ),
    "cached_input_tokens": (
        "cachedInputTokens", "cached_input_tokens", "cacheReadInputTokens",
        "cache_read_input_tokens",
    ),
    "reasoning_tokens": ("reasoningTokens", "reasoning_tokens"),
}  # fmt: skip

_COST_FIELDS = ("totalCostUsd", "total_cost_usd", "costUsd", "cost_usd")

# Runtimes write both spellings.
_DURATION_FIELDS = ("durationMs", "duration_ms")
_SOMETHING = re.compile(r"\S")
_WHAT = "a list of events or messages, OpenTelemetry spans, or the path of a file with one of them"


@dataclass(frozen=True, slots=True)
class TraceRead:
    """The content of a recorded trace."""

    events: tuple[TraceEvent, ...]
    usage: Usage | None = None  # the sum over all model calls; None where nothing was recorded
    duration_ms: float | None = None
    text: str | None = None  # the last text of the assistant; None where it was not recorded


def read_trace(path: Path | str, *, trace_id: str | None = None) -> TraceRead:
    path = formats.as_path(path)
    values = list(_values(formats.read_text(path), path))
    # Several values are the lines of an export, each with spans or an event.
    value = values[0] if len(values) == 1 else values
    try:
        return normalise_trace(value, trace_id=trace_id)
    except DatasetError as error:
        raise DatasetError(error.message, path=path, hint=error.hint) from error


def normalise_trace(
    value: JsonValue, *, folder: Path | None = None, trace_id: str | None = None
) -> TraceRead:
    """A trace in any of the shapes it may have in an outputs file."""
    # A row may name a file, and which of the traces in it belongs to the row.
    if isinstance(value, dict) and isinstance(value.get("path"), str):
        named = value.get("trace_id")
        trace_id = named if isinstance(named, str) else trace_id
        value = value["path"]
    if isinstance(value, str):
        return read_trace(_inside(value, folder), trace_id=trace_id)
    if (spans := formats.find_spans(value)) is not None:
        return events_from_spans(spans, trace_id=trace_id)
    if isinstance(value, dict):
        alone: JsonValue = [value]
        value = next((value[n] for n in ("events", "trace", "messages") if n in value), alone)
    if not isinstance(value, list):
        raise DatasetError(f"a trace is {_WHAT}")
    if formats.is_chat(value):
        events = formats.read_messages(formats.messages_in(value) or value, role="user")
        return TraceRead(_validated(events), text=final_text(events))
    return events_from_runtime(value)


def events_from_spans(spans: Sequence[JsonValue], *, trace_id: str | None = None) -> TraceRead:
    """The content of OpenTelemetry spans, by the semantic conventions for generative AI."""
    found = formats.read_spans(spans)
    ids = sorted({span.trace_id for span in found if span.trace_id is not None})
    if trace_id is not None:
        wanted = trace_id.removeprefix("0x")
        found = [s for s in found if (s.trace_id or "").removeprefix("0x") == wanted]
        if not found:
            raise DatasetError(f"no span is of the trace {trace_id!r}", hint=_listed(ids))
    # Spans of several traces are several outputs; mixing them would invent one.
    elif len(ids) > 1:
        raise DatasetError(f"holds spans of {len(ids)} traces", hint=f"name one: {_listed(ids)}")
    events = formats.span_events(found)
    usage, duration_ms = formats.span_usage(found), formats.span_duration_ms(found)
    return TraceRead(_validated(events), usage, duration_ms, final_text(events))


def events_from_runtime(events: Sequence[JsonValue]) -> TraceRead:
    """The content of runtime events (`agent:complete`, `recording:linked`, node events)."""
    # An event that names its node, tool or agent in a field of its own gets it as `name` too.
    found = [_named(event, number) for number, event in enumerate(events, start=1)]
    times = [formats.first_number(event, _TIME_FIELDS) for event in found]
    # Sorting only some of them would destroy the order of the file.
    if None not in times:
        order = sorted(range(len(found)), key=lambda index: times[index] or 0.0)
        found = [found[index] for index in order]
    complete = [event for event in found if event["type"] == _COMPLETE]
    spans = [formats.first_number(event, _DURATION_FIELDS) for event in complete]
    duration_ms = sum(s for s in spans if s is not None) if spans and None not in spans else None
    return TraceRead(_validated(found), _runtime_usage(complete), duration_ms, final_text(found))


def fill_from_trace(fields: Fields, folder: Path | None) -> list[FieldFault]:
    """Put the events of a trace, and its further content, into the fields of an output."""
    # Fields of the row win: they were recorded for this very output.
    value = fields["trace"]
    if _is_native(value):
        return []
    try:
        read = normalise_trace(value, folder=folder)
    except DatasetError as error:
        return [FieldFault(("trace",), f"`trace`: {error.message}", error.hint)]
    fields["trace"] = [event.model_dump(mode="json", exclude_none=True) for event in read.events]
    if fields.get("usage") is None and read.usage is not None:
        fields["usage"] = read.usage.model_dump(exclude_unset=True, exclude_none=True)
    if fields.get("duration_ms") is None and read.duration_ms is not None:
        fields["duration_ms"] = read.duration_ms
    if read.text is not None and not fields.keys() & {"text", "data", "error"}:
        fields["text"] = read.text
    return []


def _is_native(value: JsonValue) -> bool:
    """Whether it is a list of judgekit's own events, in which nothing has to be converted."""
    if not isinstance(value, list):
        return False
    for event in value:
        if isinstance(event, dict):
            is_nameless = event.get("name") is None and any(f in event for f in _NAME_FIELDS)
            if is_nameless or event.get("type") == _COMPLETE or formats.is_message(event):
                return False
    return formats.find_spans(value) is None


def _inside(name: str, folder: Path | None) -> Path:
    if folder is None:
        raise DatasetError("a trace cannot be a path here", hint="give its events")
    try:
        # An outputs file may come from anyone, and must not make judgekit read other files.
        return formats.FolderAttachments(folder).locate(name)
    except formats.AttachmentError as error:
        raise DatasetError(str(error), hint="put the trace beside the outputs file") from error


def _values(text: str, path: Path) -> Iterator[JsonValue]:
    """The JSON values of a text: one, one a line, or one after the other over several lines."""
    end, line, decoder = 0, 1, json.JSONDecoder()
    while (found := _SOMETHING.search(text, end)) is not None:
        start = found.start()
        line += text.count("\n", end, start)
        try:
            _, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = len(text)  # the strict reader says what is wrong
        yield formats.parse_strict_json(text[start:end], path=path, first_line=line)[0]
        line += text.count("\n", start, end)


def _listed(ids: Sequence[str]) -> str:
    shown = ", ".join(ids[:5])
    return f"{shown}, …" if len(ids) > len(ids[:5]) else shown


def _named(event: JsonValue, number: int) -> RawEvent:
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise DatasetError(f"event {number} has no `type`", hint=f"a trace is {_WHAT}")
    if event.get("name") is None:
        names = [event[field] for field in _NAME_FIELDS if isinstance(event.get(field), str)]
        # `type` and `name` first, as judgekit writes events.
        if names:
            return {"type": event["type"], "name": names[0]} | {
                k: v for k, v in event.items() if k not in {"type", "name"}
            }
    return event


def _runtime_usage(complete: Sequence[RawEvent]) -> Usage | None:
    usages, costs = [], []
    for event in complete:
        usage, cost = event.get("usage"), formats.first_number(event, _COST_FIELDS)
        if isinstance(usage, dict) or cost is not None:
            usages.append(usage if isinstance(usage, dict) else {})
            costs.append(cost)
    return formats.total_usage(_USAGE_FIELDS, usages, costs) if usages else None


def _validated(events: Sequence[Mapping[str, JsonValue]]) -> tuple[TraceEvent, ...]:
    found = []
    for number, event in enumerate(events, start=1):
        try:
            found.append(TraceEvent.model_validate(event))
        except ValidationError as error:
            what = "; ".join(
                str(fault) for fault in formats.validation_faults(error, TraceEvent, dict(event))
            )
            raise DatasetError(f"event {number}: {what}") from error
    return tuple(found)
