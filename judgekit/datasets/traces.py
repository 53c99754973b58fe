"""Turns recorded events, chat messages.

OpenTelemetry spans into the events of an output's trace.
"""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import ValidationError

from judgekit.errors import DatasetError
from judgekit.fingerprint import canonical_json
from judgekit.formats import (
    MODEL_OPERATIONS,
    FieldFault,
    RawEvent,
    Span,
    SpanEvent,
    as_path,
    decode_value,
    final_text,
    find_spans,
    is_message,
    named_results,
    parse_strict_json,
    read_messages,
    read_spans,
    read_text,
    span_ancestors,
    validation_faults,
)
from judgekit.records import TraceEvent, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.formats import Fields

_COMPLETE = "agent:complete"

_NAME_FIELDS = ("nodeId", "node_id", "toolName", "tool_name", "agentName", "agentId", "agent_id")

_TIME_FIELDS = ("timestamp", "time", "ts")

_USAGE_FIELDS: dict[str, tuple[str, ...]] = {
    "input_tokens": ("inputTokens", "input_tokens", "promptTokens", "prompt_tokens", "input"),
    "output_tokens": (
        "outputTokens",
        "output_tokens",
        "completionTokens",
        "completion_tokens",
        "output",
    ),
    "cached_input_tokens": (
        "cachedInputTokens",
        "cached_input_tokens",
        "cacheReadInputTokens",
        "cache_read_input_tokens",
    ),
    "reasoning_tokens": ("reasoningTokens", "reasoning_tokens"),
}

_COST_FIELDS = ("totalCostUsd", "total_cost_usd", "costUsd", "cost_usd")

_DURATION_FIELDS = ("durationMs", "duration_ms")

_SOMETHING = re.compile(r"\S")

_WHAT = "a list of events or messages, OpenTelemetry spans, or the path of a file with one of them"


@dataclass(frozen=True, slots=True)
class TraceRead:
    """What a recorded trace says."""

    events: tuple[TraceEvent, ...]
    """What happened, oldest first."""

    usage: Usage | None = None
    """Tokens and money of all model calls; None where nothing is said of them."""

    duration_ms: float | None = None
    """How long it took, in milliseconds; None where it is not said."""

    text: str | None = None
    """The last thing the assistant said; None where its words were not recorded."""


def read_trace(path: Path | str, *, trace_id: str | None = None) -> TraceRead:
    """The trace in a file."""
    path = as_path(path)
    values = list(_values(read_text(path), path))
    value = values[0] if len(values) == 1 else values
    try:
        return normalise_trace(value, trace_id=trace_id)
    except DatasetError as error:
        raise DatasetError(error.message, path=path, hint=error.hint) from error


def normalise_trace(
    value: JsonValue, *, folder: Path | None = None, trace_id: str | None = None
) -> TraceRead:
    """A trace in any of the shapes it may have in an outputs file."""
    if isinstance(value, dict) and isinstance(value.get("path"), str):
        named = value.get("trace_id")
        trace_id = named if isinstance(named, str) else trace_id
        value = value["path"]
    if isinstance(value, str):
        return read_trace(_inside(value, folder), trace_id=trace_id)
    if (spans := find_spans(value)) is not None:
        return events_from_spans(spans, trace_id=trace_id)
    if isinstance(value, dict):
        held = [value[name] for name in ("events", "trace", "messages") if name in value]
        value = held[0] if held else [value]
    if not isinstance(value, list):
        raise DatasetError(f"a trace is {_WHAT}")
    if value and all(is_message(item) for item in value):
        return events_from_messages(value)
    return events_from_runtime(value)


def events_from_spans(spans: Sequence[JsonValue], *, trace_id: str | None = None) -> TraceRead:
    """What OpenTelemetry spans say, by the semantic conventions for generative AI."""
    found = read_spans(spans)
    ids = sorted({span.trace_id for span in found if span.trace_id is not None})
    if trace_id is not None:
        wanted = trace_id.removeprefix("0x")
        found = [s for s in found if (s.trace_id or "").removeprefix("0x") == wanted]
        if not found:
            raise DatasetError(f"no span is of the trace {trace_id!r}", hint=_listed(ids))
    elif len(ids) > 1:
        raise DatasetError(f"holds spans of {len(ids)} traces", hint=f"name one: {_listed(ids)}")
    events = span_events(found)
    usage, duration_ms = span_usage(found), span_duration_ms(found)
    return TraceRead(_validated(events), usage, duration_ms, final_text(events))


def events_from_runtime(events: Sequence[JsonValue]) -> TraceRead:
    """What runtime events (`agent:complete`, `recording:linked`, node events) say."""
    # Fields stay as they came; an event that names its node, tool or agent in a field of its own
    # gets it as `name` too. Where every event has a time, they are put in its order.
    found = [_named(event, number) for number, event in enumerate(events, start=1)]
    times = [_first_number(event, _TIME_FIELDS) for event in found]
    if None not in times:
        order = sorted(range(len(found)), key=lambda index: times[index] or 0.0)
        found = [found[index] for index in order]
    complete = [event for event in found if event["type"] == _COMPLETE]
    spans = [_first_number(event, _DURATION_FIELDS) for event in complete]
    duration_ms = sum(s for s in spans if s is not None) if spans and None not in spans else None
    return TraceRead(_validated(found), _runtime_usage(complete), duration_ms, final_text(found))


def events_from_messages(messages: Sequence[JsonValue]) -> TraceRead:
    """What a list of chat messages says."""
    events = read_messages(list(messages), role="user")
    return TraceRead(_validated(events), text=final_text(events))


def fill_from_trace(fields: Fields, folder: Path | None) -> FieldFault | None:
    """Put the events of a trace, and what it says beside them, into the fields of an output."""
    # Usage, duration and text that are given are kept.
    value = fields.get("trace")
    if value is None or _is_native(value):
        return None
    try:
        read = normalise_trace(value, folder=folder)
    except DatasetError as error:
        return FieldFault(("trace",), f"`trace`: {error.message}", error.hint)
    fields["trace"] = [event.model_dump(mode="json", exclude_none=True) for event in read.events]
    if fields.get("usage") is None and read.usage is not None:
        fields["usage"] = read.usage.model_dump(exclude_unset=True, exclude_none=True)
    if fields.get("duration_ms") is None and read.duration_ms is not None:
        fields["duration_ms"] = read.duration_ms
    if read.text is not None and not fields.keys() & {"text", "data", "error"}:
        fields["text"] = read.text
    return None


def _is_native(value: JsonValue) -> bool:
    """Whether it is a list in which nothing need be read: judgekit's own events, or no events."""
    if not isinstance(value, list):
        return False
    events = [item for item in value if isinstance(item, dict)]
    return not any(map(_is_to_be_read, events)) and find_spans(value) is None


def _is_to_be_read(event: RawEvent) -> bool:
    is_nameless = event.get("name") is None and any(field in event for field in _NAME_FIELDS)
    return is_nameless or event.get("type") == _COMPLETE or is_message(event)


def _inside(name: str, folder: Path | None) -> Path:
    if folder is None:
        raise DatasetError("a trace cannot be a path here", hint="give its events")
    root = folder.resolve()
    try:
        path = (root / name).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise DatasetError(f"the trace {name[:80]!r} is no path: {error}") from error
    if not path.is_relative_to(root):
        raise DatasetError(
            f"the trace {name!r} is outside of {root}", hint="put it beside the outputs file"
        )
    return path


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
        yield parse_strict_json(text[start:end], path=path, first_line=line)[0]
        line += text.count("\n", start, end)


def _listed(ids: Sequence[str]) -> str:
    shown = ", ".join(ids[:5])
    return f"{shown}, …" if len(ids) > len(ids[:5]) else shown


def _named(event: JsonValue, number: int) -> RawEvent:
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise DatasetError(f"event {number} has no `type`", hint=f"a trace is {_WHAT}")
    if event.get("name") is None:
        names = [event[field] for field in _NAME_FIELDS if isinstance(event.get(field), str)]
        if names:
            return {"type": event["type"], "name": names[0]} | {
                k: v for k, v in event.items() if k not in {"type", "name"}
            }
    return event


def _runtime_usage(complete: Sequence[RawEvent]) -> Usage | None:
    said = [event for event in complete if _says_usage(event)]
    if not said:
        return None
    usages = [event["usage"] if isinstance(event.get("usage"), dict) else {} for event in said]
    costs = [_first_number(event, _COST_FIELDS) for event in said]
    known = [cost for cost in costs if cost is not None]
    totals = {
        name: int(sum(_first_number(usage, fields) or 0 for usage in usages))
        for name, fields in _USAGE_FIELDS.items()
        if any(_first_number(usage, fields) is not None for usage in usages)
    }
    return Usage(**totals, cost_usd=sum(known) if len(known) == len(costs) else None)


def _says_usage(event: RawEvent) -> bool:
    return isinstance(event.get("usage"), dict) or _first_number(event, _COST_FIELDS) is not None


def _first_number(held: JsonValue, names: Sequence[str]) -> float | None:
    if not isinstance(held, dict):
        return None
    for name in names:
        found = held.get(name)
        if isinstance(found, int | float) and not isinstance(found, bool) and found >= 0:
            return found
    return None


def _validated(events: Sequence[Mapping[str, JsonValue]]) -> tuple[TraceEvent, ...]:
    found = []
    for number, event in enumerate(events, start=1):
        try:
            found.append(TraceEvent.model_validate(event))
        except ValidationError as error:
            what = "; ".join(
                str(fault) for fault in validation_faults(error, TraceEvent, dict(event))
            )
            raise DatasetError(f"event {number}: {what}") from error
    return tuple(found)


_TOOL = "execute_tool"

_AGENTS = frozenset({"invoke_agent", "invoke_workflow"})

_SILENT = frozenset({"embeddings", "create_agent"})

_DETAILS = "gen_ai.client.inference.operation.details"

_USAGE_NAMES = {
    "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    "output_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    "cached_input_tokens": (
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
    ),
    "reasoning_tokens": ("gen_ai.usage.reasoning.output_tokens",),
}

_COST_NAMES = ("gen_ai.usage.cost", "operation.cost")

_AT_THE_END = 1


def span_events(spans: Sequence[Span]) -> list[RawEvent]:
    """The events of a trace, oldest first."""
    # What several spans say is told once: each message of a conversation that every model call
    # repeats, a call that both the model's reply and the tool's span show, and the messages of an
    # agent whose model calls hold them.
    return named_results(_Timeline(spans).events())


def span_usage(spans: Sequence[Span]) -> Usage | None:
    """Tokens and money of the model calls."""
    # A span whose own parts say what they used is not counted beside them.
    counted = _innermost(spans, _has_usage)
    if not counted:
        return None
    costs = [_number(span, _COST_NAMES) for span in counted]
    known = [cost for cost in costs if cost is not None]
    totals = {
        name: int(sum(_number(span, names) or 0 for span in counted))
        for name, names in _USAGE_NAMES.items()
        if any(_number(span, names) is not None for span in counted)
    }
    return Usage(**totals, cost_usd=sum(known) if len(known) == len(counted) else None)


def span_duration_ms(spans: Iterable[Span]) -> float | None:
    """Time from the first span's start to the last one's end."""
    times = [(s.start_ns, s.end_ns) for s in spans if s.start_ns is not None]
    if not times:
        return None
    end = max(end if end is not None else start for start, end in times)
    return (end - min(start for start, _ in times)) / 1e6


@dataclass(frozen=True, slots=True)
class _Said:
    """The messages one span shows."""

    before: list[RawEvent]
    """What was sent, history included."""

    after: list[RawEvent]
    """What came back."""


@dataclass(slots=True)
class _ToolSpans:
    """The tools' own spans, and what messages say of their calls."""

    ids: set[JsonValue]
    nameless: Counter[str]
    arguments: dict[JsonValue, JsonValue] = field(default_factory=dict)
    results: dict[JsonValue, JsonValue] = field(default_factory=dict)
    queued: dict[str, deque[JsonValue]] = field(default_factory=dict)

    @classmethod
    def of(cls, spans: Sequence[Span]) -> _ToolSpans:
        tools = [span for span in spans if span.operation == _TOOL]
        ids: set[JsonValue] = {call_id for span in tools if (call_id := _call_id(span))}
        return cls(ids, Counter(_tool_name(span) for span in tools if _call_id(span) is None))

    def takes(self, event: RawEvent, *, is_new: bool) -> bool:
        """Whether a tool's span tells of the call or result that a message shows."""
        # Of calls without an id the arguments are kept in order; `is_new` tells a call from its
        # repetition in a later history.
        is_call, name = event["type"] == "tool_call", str(event.get("name"))
        if (call_id := event.get("id")) in self.ids and call_id is not None:
            known = self.arguments if is_call else self.results
            known.setdefault(call_id, event.get("content"))
            return True
        if not self.nameless[name]:
            return False
        if is_call and is_new:
            self.queued.setdefault(name, deque()).append(event.get("content"))
        return True


class _Timeline:
    """Puts the events of all spans in order, each told once."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        self._tools = _ToolSpans.of(spans)
        self._shown: Counter[str] = Counter()
        self._found: list[tuple[int, int, int, RawEvent]] = []
        around = span_ancestors(spans)
        agents = {span.id for span in spans if span.operation in _AGENTS}
        self._inner_agents = {one for one in agents if agents & set(around[one])}
        self._has_times = all(span.start_ns is not None for span in spans)

    def events(self) -> list[RawEvent]:
        said = {span.id: _said(span) for span in self._spans if _may_speak(span)}
        holders = _innermost(self._spans, lambda s: s.id in said and _speaks(said[s.id]))
        told = {span.id: said[span.id] for span in holders}
        kept = {span_id: self._untold(found) for span_id, found in told.items()}
        calls = {span.id for span in _innermost(self._spans, _is_model_call)}
        failed = {span.id for span in _innermost(self._spans, _is_failure)}
        for span in self._spans:
            if span.id in kept:
                self._tell(span, kept[span.id])
            elif span.id in calls and span.operation not in _SILENT:
                self._add(span, {"type": "model_call", **_finish(span)}, late=True)
            self._tell_work(span)
            if span.id in failed and span.operation != _TOOL:
                error: RawEvent = {"type": "error", "name": _owner(span), "content": span.error}
                self._add(span, error, late=True)
        if not self._has_times:
            return [event for *_, event in self._found]
        return [event for *_, event in sorted(self._found, key=lambda found: found[:3])]

    def _untold(self, said: _Said) -> _Said:
        """What was not told before: of the history, each message once for each time it stands."""
        counted: Counter[str] = Counter()
        before = []
        for event in said.before:
            if self._is_tools_own(event, is_new=False):
                continue
            key = _identity(event)
            counted[key] += 1
            if counted[key] > self._shown[key]:
                self._shown[key] += 1
                before.append(event)
        after = [event for event in said.after if not self._is_tools_own(event, is_new=True)]
        self._shown.update(_identity(event) for event in after)
        return _Said(before, after)

    def _is_tools_own(self, event: RawEvent, *, is_new: bool) -> bool:
        is_tools = event["type"] in {"tool_call", "tool_result"}
        return is_tools and self._tools.takes(event, is_new=is_new)

    def _tell(self, span: Span, said: _Said) -> None:
        for event in said.before:
            self._add(span, event)
        reason = _finish(span) if said.after else {}
        for number, event in enumerate(said.after):
            self._add(span, reason | event if number == 0 else event, late=True)

    def _tell_work(self, span: Span) -> None:
        """What a span is by itself: a tool's run, an agent's turn, another operation."""
        operation = span.operation
        if operation == _TOOL:
            call, result = self._tool_events(span)
            self._add(span, call)
            self._add(span, result, late=True)
        elif operation in _AGENTS:
            # An agent inside another is no part of the sum over all that were begun by the user.
            is_inner = span.id in self._inner_agents
            event: RawEvent = {"type": "agent:end" if is_inner else "agent:complete"}
            event["name"] = _owner(span)
            if not is_inner and span.start_ns is not None and span.end_ns is not None:
                event["durationMs"] = (span.end_ns - span.start_ns) / 1e6
            self._add(span, event, late=True, rank=_AT_THE_END)
        elif operation and operation not in MODEL_OPERATIONS | _SILENT:
            self._add(span, {"type": operation, "name": _owner(span)})

    def _tool_events(self, span: Span) -> tuple[RawEvent, RawEvent]:
        name, call_id, given = _tool_name(span), _call_id(span), span.attributes
        call: RawEvent = {"type": "tool_call", "name": name}
        result: RawEvent = {"type": "tool_result", "name": name}
        arguments = decode_value(given.get("gen_ai.tool.call.arguments"))
        if arguments is None:
            waiting = self._tools.queued.get(name) if call_id is None else None
            arguments = waiting.popleft() if waiting else self._tools.arguments.get(call_id)
        if arguments is not None:
            call["content"] = arguments
        content = decode_value(given.get("gen_ai.tool.call.result"))
        content = self._tools.results.get(call_id) if content is None else content
        if (content := span.error if content is None else content) is not None:
            result["content"] = content
        if call_id is not None:
            call["id"] = result["id"] = call_id
        return call, result | ({} if span.error is None else {"is_error": True})

    def _add(self, span: Span, event: RawEvent, *, late: bool = False, rank: int = 0) -> None:
        time = span.end_ns if late else span.start_ns
        self._found.append((time or 0, rank, len(self._found), event))


def _innermost(spans: Sequence[Span], holds: Callable[[Span], bool]) -> list[Span]:
    """The spans of a kind that have none of that kind inside them."""
    held = [span for span in spans if holds(span)]
    around = span_ancestors(spans)
    outer = {outside for span in held for outside in around[span.id]}
    return [span for span in held if span.id not in outer]


def _may_speak(span: Span) -> bool:
    return span.operation in MODEL_OPERATIONS | _AGENTS and span.operation not in _SILENT


def _speaks(said: _Said) -> bool:
    return bool(said.before or said.after)


def _is_model_call(span: Span) -> bool:
    return span.operation in MODEL_OPERATIONS


def _is_failure(span: Span) -> bool:
    return span.error is not None and (bool(span.operation) or span.parent is None)


def _has_usage(span: Span) -> bool:
    return any(_number(span, names) is not None for names in _USAGE_NAMES.values())


def _number(span: Span, names: Iterable[str]) -> float | None:
    for name in names:
        found = span.attributes.get(name)
        if isinstance(found, int | float) and not isinstance(found, bool) and found >= 0:
            return found
    return None


def _said(span: Span) -> _Said:
    """The messages of a span, from its attributes or, in older conventions, its events."""
    given = dict(span.attributes)
    for event in span.events:
        if event.name == _DETAILS:
            given |= event.attributes
    before = read_messages(given.get("gen_ai.system_instructions") or [], role="system")
    before += read_messages(_held(given, "gen_ai.input.messages", "gen_ai.prompt"), role="user")
    after = read_messages(
        _held(given, "gen_ai.output.messages", "gen_ai.completion"), role="assistant"
    )
    for event in span.events:
        is_reply, events = _noted(event)
        (after if is_reply else before).extend(events)
    return _Said(before, after)


def _noted(event: SpanEvent) -> tuple[bool, list[RawEvent]]:
    """What a span event says, and whether the model said it."""
    given = dict(event.attributes)
    if event.name in {"gen_ai.content.prompt", "gen_ai.content.completion"}:
        is_reply = event.name.endswith("completion")
        held = _held(given, "gen_ai.completion" if is_reply else "gen_ai.prompt")
        return is_reply, read_messages(held, role="assistant" if is_reply else "user")
    if event.name == "gen_ai.choice":
        return True, read_messages(_body(given), role="assistant")
    kind = event.name.removeprefix("gen_ai.").removesuffix(".message")
    if kind in {"system", "user", "assistant", "tool"} and event.name.endswith(".message"):
        return False, read_messages(_body(given), role=kind)
    return False, []


def _body(given: Mapping[str, JsonValue]) -> JsonValue:
    body = decode_value(given.get("gen_ai.event.content"))
    return body if isinstance(body, dict) else {k: decode_value(v) for k, v in given.items()}


def _held(given: Mapping[str, JsonValue], *names: str) -> JsonValue:
    """The value under the first name there is; of `name.0.role` and the like, the list."""
    for name in names:
        if given.get(name) is not None:
            return given[name]
        parts = {
            k.removeprefix(f"{name}."): v for k, v in given.items() if k.startswith(f"{name}.")
        }
        if parts:
            return _unflattened(parts)
    return []


def _unflattened(flat: Mapping[str, JsonValue]) -> JsonValue:
    groups: dict[str, dict[str, JsonValue]] = {}
    whole: dict[str, JsonValue] = {}
    for key, value in flat.items():
        first, _, rest = key.partition(".")
        if rest:
            groups.setdefault(first, {})[rest] = value
        else:
            whole[first] = value
    found = whole | {key: _unflattened(group) for key, group in groups.items()}
    if found and all(key.isdecimal() for key in found):
        return [found[key] for key in sorted(found, key=int)]
    return found


def _finish(span: Span) -> RawEvent:
    reasons = decode_value(span.attributes.get("gen_ai.response.finish_reasons"))
    return {"finish_reason": reasons[0]} if isinstance(reasons, list) and reasons else {}


def _identity(event: RawEvent) -> str:
    if event.get("id") is not None:
        return f"{event['type']} {event['id']}"
    return canonical_json({k: v for k, v in event.items() if k != "finish_reason"})


def _call_id(span: Span) -> str | None:
    found = span.attributes.get("gen_ai.tool.call.id")
    return found if isinstance(found, str) and found else None


def _tool_name(span: Span) -> str:
    found = span.attributes.get("gen_ai.tool.name")
    return found if isinstance(found, str) and found else span.name.removeprefix(f"{_TOOL} ")


def _owner(span: Span) -> str:
    found = span.attributes.get("gen_ai.agent.name")
    return found if isinstance(found, str) and found.strip() else span.name
