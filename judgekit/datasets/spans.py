"""Extracts events, usage and duration from the OpenTelemetry spans of an agent.

By the semantic conventions for generative AI. The spans themselves are read in `formats.otel`.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgekit.fingerprint import canonical_json
from judgekit.formats import (
    MODEL_OPERATIONS,
    RawEvent,
    Span,
    SpanEvent,
    decode_value,
    named_results,
    read_messages,
    span_ancestors,
)
from judgekit.records import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pydantic import JsonValue


_TOOL = "execute_tool"
_AGENTS = frozenset({"invoke_agent", "invoke_workflow"})

# Operations that are no step of the agent.
_SILENT = frozenset({"embeddings", "create_agent"})
# The event with the messages, where they are not attributes of the span.
_DETAILS = "gen_ai.client.inference.operation.details"

# The second names are those of older versions of the conventions.
_USAGE_NAMES = {
    "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    "output_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    "cached_input_tokens": (
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
    ),
    "reasoning_tokens": ("gen_ai.usage.reasoning.output_tokens",),
}

# The conventions have no cost; OpenLIT and Pydantic AI write it under these names.
_COST_NAMES = ("gen_ai.usage.cost", "operation.cost")
# An agent may end at the same time as its last call, and ends after it.
_AT_THE_END = 1


def span_events(spans: Sequence[Span]) -> list[RawEvent]:
    """The events of a trace, oldest first."""
    # Nothing is repeated that several spans contain: a message of a conversation that every model
    # call repeats, a call in both the model's reply and the tool's span, and the messages of an
    # agent whose model calls contain them.
    return named_results(_Timeline(spans).events())


def span_usage(spans: Sequence[Span]) -> Usage | None:
    """Tokens and money of the model calls."""
    # A span whose inner spans have usage of their own is not counted beside them.
    all_names = _USAGE_NAMES.values()
    counted = _innermost(
        spans, lambda s: any(first_number(s.attributes, n) is not None for n in all_names)
    )
    if not counted:
        return None
    costs = [first_number(span.attributes, _COST_NAMES) for span in counted]
    return total_usage(_USAGE_NAMES, [span.attributes for span in counted], costs)


def span_duration_ms(spans: Iterable[Span]) -> float | None:
    """Time from the first span's start to the last one's end."""
    times = [(s.start_ns, s.end_ns) for s in spans if s.start_ns is not None]
    if not times:
        return None
    end = max(end if end is not None else start for start, end in times)
    return (end - min(start for start, _ in times)) / 1e6


@dataclass(frozen=True, slots=True)
class _Messages:
    """The messages in one span."""

    before: list[RawEvent]
    """The messages that were sent, history included."""

    after: list[RawEvent]
    """The messages that came back."""


@dataclass(slots=True)
class _ToolSpans:
    """The tools' own spans, and the arguments and results in messages."""

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
        """Whether a tool's span has the call or result that a message shows."""
        # Calls without an id are matched in order; a call that is not `is_new` is a repetition in a
        # later history.
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
    """The events of all spans in order, without repetition."""

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
        messages = {
            span.id: _messages(span)
            for span in self._spans
            if span.operation in MODEL_OPERATIONS | _AGENTS and span.operation not in _SILENT
        }

        def has_messages(span: Span) -> bool:
            found = messages.get(span.id)
            return found is not None and bool(found.before or found.after)

        holders = _innermost(self._spans, has_messages)
        new = {span.id: self._new_messages(messages[span.id]) for span in holders}
        calls = {s.id for s in _innermost(self._spans, lambda s: s.operation in MODEL_OPERATIONS)}
        failed = {span.id for span in _innermost(self._spans, _is_failure)}
        for span in self._spans:
            if span.id in new:
                self._add_messages(span, new[span.id])
            elif span.id in calls and span.operation not in _SILENT:
                self._add(span, {"type": "model_call", **_finish(span)}, late=True)
            self._add_work(span)
            if span.id in failed and span.operation != _TOOL:
                error: RawEvent = {"type": "error", "name": _owner(span), "content": span.error}
                self._add(span, error, late=True)
        # Without times the order of the file is the best there is.
        if not self._has_times:
            return [event for *_, event in self._found]
        return [event for *_, event in sorted(self._found, key=lambda found: found[:3])]

    def _new_messages(self, messages: _Messages) -> _Messages:
        """The messages that no earlier span had; a repeated one as often as it is there."""
        counted: Counter[str] = Counter()
        before = []
        for event in messages.before:
            if self._is_tools_own(event, is_new=False):
                continue
            key = _identity(event)
            counted[key] += 1
            if counted[key] > self._shown[key]:
                self._shown[key] += 1
                before.append(event)
        after = [event for event in messages.after if not self._is_tools_own(event, is_new=True)]
        self._shown.update(_identity(event) for event in after)
        return _Messages(before, after)

    def _is_tools_own(self, event: RawEvent, *, is_new: bool) -> bool:
        is_tools = event["type"] in {"tool_call", "tool_result"}
        return is_tools and self._tools.takes(event, is_new=is_new)

    def _add_messages(self, span: Span, messages: _Messages) -> None:
        for event in messages.before:
            self._add(span, event)
        reason = _finish(span) if messages.after else {}
        for number, event in enumerate(messages.after):
            self._add(span, reason | event if number == 0 else event, late=True)

    def _add_work(self, span: Span) -> None:
        """A span's own work: a tool's run, an agent's turn, another operation."""
        operation = span.operation
        if operation == _TOOL:
            call, result = self._tool_events(span)
            self._add(span, call)
            self._add(span, result, late=True)
        elif operation in _AGENTS:
            # An agent inside another is not counted beside the outer one.
            is_inner = span.id in self._inner_agents
            event: RawEvent = {"type": "agent:end" if is_inner else "agent:complete"}
            event["name"] = _owner(span)
            if not is_inner and span.start_ns is not None and span.end_ns is not None:
                event["durationMs"] = (span.end_ns - span.start_ns) / 1e6
            self._add(span, event, late=True, rank=_AT_THE_END)
        elif operation and operation not in MODEL_OPERATIONS | _SILENT:
            self._add(span, {"type": operation, "name": _owner(span)})

    def _tool_events(self, span: Span) -> tuple[RawEvent, RawEvent]:
        name, call_id, attributes = _tool_name(span), _call_id(span), span.attributes
        call: RawEvent = {"type": "tool_call", "name": name}
        result: RawEvent = {"type": "tool_result", "name": name}
        arguments = decode_value(attributes.get("gen_ai.tool.call.arguments"))
        if arguments is None:
            waiting = self._tools.queued.get(name) if call_id is None else None
            arguments = waiting.popleft() if waiting else self._tools.arguments.get(call_id)
        if arguments is not None:
            call["content"] = arguments
        content = decode_value(attributes.get("gen_ai.tool.call.result"))
        content = self._tools.results.get(call_id) if content is None else content
        if (content := span.error if content is None else content) is not None:
            result["content"] = content
        if call_id is not None:
            call["id"] = result["id"] = call_id
        return call, result | ({} if span.error is None else {"is_error": True})

    def _add(self, span: Span, event: RawEvent, *, late: bool = False, rank: int = 0) -> None:
        time = span.end_ns if late else span.start_ns
        self._found.append((time or 0, rank, len(self._found), event))


def _innermost(spans: Sequence[Span], is_kind: Callable[[Span], bool]) -> list[Span]:
    """The spans of a kind that have none of that kind inside them."""
    # Frameworks wrap a model call in spans of the same kind, which would count it twice.
    kind = [span for span in spans if is_kind(span)]
    around = span_ancestors(spans)
    outer = {outside for span in kind for outside in around[span.id]}
    return [span for span in kind if span.id not in outer]


def _is_failure(span: Span) -> bool:
    return span.error is not None and (bool(span.operation) or span.parent is None)


def _messages(span: Span) -> _Messages:
    """The messages of a span, from its attributes or, in older conventions, its events."""
    fields = dict(span.attributes)
    for event in span.events:
        if event.name == _DETAILS:
            fields |= event.attributes
    before = read_messages(fields.get("gen_ai.system_instructions") or [], role="system")
    before += read_messages(_field(fields, "gen_ai.input.messages", "gen_ai.prompt"), role="user")
    replies = _field(fields, "gen_ai.output.messages", "gen_ai.completion")
    after = read_messages(replies, role="assistant")
    for event in span.events:
        is_reply, events = _event_messages(event)
        (after if is_reply else before).extend(events)
    return _Messages(before, after)


def _event_messages(event: SpanEvent) -> tuple[bool, list[RawEvent]]:
    """The messages of a span event, and whether they are the model's."""
    fields = dict(event.attributes)
    if event.name in {"gen_ai.content.prompt", "gen_ai.content.completion"}:
        is_reply = event.name.endswith("completion")
        content = _field(fields, "gen_ai.completion" if is_reply else "gen_ai.prompt")
        return is_reply, read_messages(content, role="assistant" if is_reply else "user")
    body = decode_value(fields.get("gen_ai.event.content"))
    if not isinstance(body, dict):
        body = {name: decode_value(value) for name, value in fields.items()}
    if event.name == "gen_ai.choice":
        return True, read_messages(body, role="assistant")
    kind = event.name.removeprefix("gen_ai.").removesuffix(".message")
    if kind in {"system", "user", "assistant", "tool"} and event.name.endswith(".message"):
        return False, read_messages(body, role=kind)
    return False, []


def _field(fields: Mapping[str, JsonValue], *names: str) -> JsonValue:
    """The value under the first existing name; of `name.0.role` and the like, the list."""
    for name in names:
        if fields.get(name) is not None:
            return fields[name]
        lead = f"{name}."
        parts = {k.removeprefix(lead): v for k, v in fields.items() if k.startswith(lead)}
        if parts:
            return _unflattened(parts)
    return []


def _unflattened(flat: Mapping[str, JsonValue]) -> JsonValue:
    # OpenLLMetry writes a list as the attributes `gen_ai.prompt.0.role`, `gen_ai.prompt.0.content`.
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


def total_usage(
    fields: Mapping[str, Sequence[str]], calls: Sequence[JsonValue], costs: Sequence[float | None]
) -> Usage:
    """The sum of the usage of several calls, under any of the names of a field."""
    counts = {name: [first_number(call, names) for call in calls] for name, names in fields.items()}
    totals = {
        name: int(sum(number or 0 for number in numbers))
        for name, numbers in counts.items()
        if any(number is not None for number in numbers)
    }
    known = [cost for cost in costs if cost is not None]
    # A sum over some of the calls would look like the whole cost.
    return Usage(**totals, cost_usd=sum(known) if len(known) == len(costs) else None)


def first_number(fields: JsonValue, names: Sequence[str]) -> float | None:
    """The first of several fields that is a number of 0 or more."""
    if not isinstance(fields, dict):
        return None
    for name in names:
        found = fields.get(name)
        if isinstance(found, int | float) and not isinstance(found, bool) and found >= 0:
            return found
    return None
