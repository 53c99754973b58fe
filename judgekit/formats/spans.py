"""Events, usage and duration from OpenTelemetry spans, by the conventions for generative AI."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain

from pydantic import JsonValue

from judgekit.errors import DatasetError
from judgekit.fingerprint import canonical_json
from judgekit.formats.messages import (
    RawEvent,
    decode_value,
    messages_in,
    named_results,
    read_messages,
    unflattened,
)
from judgekit.formats.text import as_items, as_mapping, objects_in
from judgekit.formats.tool_shapes import span_names
from judgekit.records import Usage, total_cost

Attributes = dict[str, "JsonValue"]
MODEL_OPERATIONS = frozenset(
    {"chat", "completion", "text_completion", "generate_content", "embeddings"}
)  # values of `gen_ai.operation.name` for a call of a model

# The same in the words of OpenInference and MLflow, in lower case; other kinds are no operation.
_KINDS = {
    "llm": "chat", "chat_model": "chat", "generation": "chat", "tool": "execute_tool",
    "agent": "invoke_agent", "embedding": "embeddings", "retriever": "retrieval",
}  # fmt: skip
_MODEL_NAMES = ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name")
_KIND_NAMES = ("openinference.span.kind", "mlflow.spanType")
_INPUT_NAMES = ("input.value", "mlflow.spanInputs")
_OUTPUT_NAMES = ("output.value", "mlflow.spanOutputs")
_MLFLOW_SUMS = ("mlflow.chat.tokenUsage", "mlflow.llm.cost")  # objects of numbers
_RESOURCES = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_ERROR_CODES = frozenset({"2", "error", "status_code_error", "statuscode.error"})
_DECIMAL = re.compile(r"\d{1,15}(\.\d{1,30})?([eE]-?\d{1,2})?")
_MAX_NESTING = 100
_LAST_NS = 1 << 64
_LONGEST_NS = len(str(_LAST_NS))
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

    id: str  # a span without an id gets one made from its number
    parent: str | None
    trace_id: str | None
    name: str
    start_ns: int | None  # in nanoseconds since 1970; None where the span has no time
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
        kind = next((self.attributes[n] for n in _KIND_NAMES if n in self.attributes), None)
        if isinstance(kind, str) and (operation := _KINDS.get(kind.strip('"').lower())):
            return operation
        # Older instrumentations do not set an operation; these two attributes occur with model
        # calls.
        is_model = {"gen_ai.request.model", "llm.request.type"} & self.attributes.keys()
        return "chat" if is_model else ""

    @property
    def call_id(self) -> str | None:
        return self._named("gen_ai.tool.call.id")

    @property
    def tool(self) -> str:
        named = self._named("gen_ai.tool.name") or self._named("tool.name")
        return named or self.name.removeprefix(f"{_TOOL} ")

    @property
    def owner(self) -> str:
        """Whose work it is: an agent's, or its own."""
        own = self.name
        # A model call is named after its model (`chat gpt-4o`), which a judge must not see.
        for attribute in _MODEL_NAMES:
            own = own.replace(self._named(attribute) or "\0", "").strip()
        return self._named("gen_ai.agent.name") or own or self.operation

    @property
    def asked(self) -> JsonValue:
        """The input of its work as a whole, where the span has it."""
        return self._value(_INPUT_NAMES)

    @property
    def answered(self) -> JsonValue:
        """The output of its work as a whole, where the span has it."""
        return self._value(_OUTPUT_NAMES)

    def _value(self, names: Sequence[str]) -> JsonValue:
        name = next((name for name in names if name in self.attributes), "")
        value = self.attributes.get(name)
        # MLflow writes every value as JSON, a text too; a list around it makes that readable.
        if isinstance(value, str) and name.startswith("mlflow."):
            whole = decode_value(f"[{value}]")
            return whole[0] if isinstance(whole, list) and whole else value
        return decode_value(value)

    def _named(self, attribute: str) -> str | None:
        text = self.attributes.get(attribute)
        return text if isinstance(text, str) and text.strip() else None


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
        return nested_items(value, _RESOURCES, _SCOPES, ("spans",))
    if isinstance(value.get("spans"), list):
        return find_spans(value["spans"]) if value["spans"] else []
    has_id = bool({"spanId", "span_id"} & (value.keys() | as_mapping(value.get("context")).keys()))
    has_time = bool({"startTimeUnixNano", "start_time_unix_nano", "start_time"} & value.keys())
    return [value] if has_id and (has_time or "attributes" in value) else None


def read_spans(values: Sequence[JsonValue]) -> list[Span]:
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


def list_under(value: JsonValue, names: Sequence[str]) -> list[JsonValue]:
    fields = as_mapping(value)
    return as_items(next((fields[name] for name in names if name in fields), None))


def nested_items(value: JsonValue, *levels: Sequence[str]) -> list[JsonValue]:
    """The items of lists in lists, each level under one of several names."""
    items = [value]
    for names in levels:
        items = [each for item in items for each in list_under(item, names)]
    return items


def _span(value: Mapping[str, JsonValue], number: int) -> Span:
    # The Python SDK writes ids under `context`, OTLP beside the name.
    fields = {**as_mapping(value.get("context")), **value}
    # Phoenix has the code of the status beside it.
    status, listed = fields.get("status", fields), fields.get("events")
    attributes = _attributes(fields.get("attributes"))
    for name in _MLFLOW_SUMS:
        sums = as_mapping(decode_value(attributes.get(name)))
        attributes = attributes | {f"{name}.{own}": number for own, number in sums.items()}
    events = tuple(
        SpanEvent(_text(event, "name") or "event", _attributes(event.get("attributes")))
        for event in objects_in(listed)
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
        error=_error(as_mapping(status), attributes, events),
    )


def _text(fields: Mapping[str, JsonValue], *names: str) -> str | None:
    found = next((fields[name] for name in names if fields.get(name)), None)
    return str(found) if isinstance(found, str | int) else None


def _time(fields: Mapping[str, JsonValue], which: str) -> int | None:
    names = (f"{which}TimeUnixNano", f"{which}_time_unix_nano", f"{which}_time", f"{which}Time")
    found = next((fields[name] for name in names if fields.get(name) is not None), None)
    # OTLP writes 64-bit numbers as texts, because JSON readers lose digits of larger numbers.
    if isinstance(found, str) and found.isascii() and found.isdigit() and len(found) <= _LONGEST_NS:
        return int(found)
    if isinstance(found, str):
        try:
            moment = datetime.fromisoformat(found)
        except ValueError:
            return None
        # In whole numbers: nanoseconds since 1970 do not fit into a float.
        since = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.fromtimestamp(0, UTC)
        return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000
    if isinstance(found, bool) or not isinstance(found, int | float) or not abs(found) <= _LAST_NS:
        return None
    return int(found * next(unit for limit, unit in _UNITS_NS if abs(found) >= limit))


def _attributes(value: JsonValue, depth: int = 0) -> Attributes:
    if isinstance(value, dict):
        return value
    pairs = (pair for pair in objects_in(value) if "key" in pair)
    return {str(pair["key"]): _any_value(pair.get("value"), depth) for pair in pairs}


def _any_value(value: JsonValue, depth: int) -> JsonValue:
    """The plain value of OTLP's `AnyValue`, where whole numbers are written as texts."""
    if not isinstance(value, dict) or len(value) != 1 or depth > _MAX_NESTING:
        return value
    ((kind, content),) = value.items()
    if kind in {"intValue", "int_value"} and isinstance(content, str):
        is_number = content.lstrip("-").isdecimal() and len(content) < _LONGEST_NS
        return int(content) if is_number else content
    if kind in {"arrayValue", "array_value"}:
        return [_any_value(item, depth + 1) for item in list_under(content, ("values",))]
    if kind in {"kvlistValue", "kvlist_value"}:
        return _attributes(list_under(content, ("values",)), depth + 1)
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


_TOOL, _COST = "execute_tool", "cost_usd"
_AGENTS = frozenset({"invoke_agent", "invoke_workflow"})

# Operations that are no step of the agent.
_SILENT = frozenset({"embeddings", "create_agent"})
# The event with the messages, where they are not attributes of the span.
_DETAILS = "gen_ai.client.inference.operation.details"

# OpenInference and older versions of the conventions write a list as one attribute for each value.
_PROMPT_NAMES = ("gen_ai.input.messages", "gen_ai.prompt", "llm.input_messages")
_REPLY_NAMES = ("gen_ai.output.messages", "gen_ai.completion", "llm.output_messages")

# An agent may end at the same time as its last call, and ends after it.
_AT_THE_END = 1


def span_events(spans: Sequence[Span]) -> list[RawEvent]:
    """The events of a trace, oldest first; nothing is repeated that several spans contain."""
    return named_results(_Timeline(spans).events())


def span_usage(spans: Sequence[Span]) -> Usage | None:
    # A span whose inner spans have usage of their own is not counted beside them.
    names = span_names()
    fields = {name: paths for name, paths in names.items() if name != _COST}
    counts = [*chain.from_iterable(fields.values())]
    counted = _innermost(spans, lambda span: first_number(span.attributes, counts) is not None)
    if not counted:
        return None
    costs = [first_number(span.attributes, names[_COST]) for span in counted]
    return total_usage(fields, [span.attributes for span in counted], costs)


def span_duration_ms(spans: Iterable[Span]) -> float | None:
    """Time from the first span's start to the last one's end."""
    starts = [span.start_ns for span in spans if span.start_ns is not None]
    # A span with a start has an end too.
    ends = [span.end_ns for span in spans if span.start_ns is not None and span.end_ns is not None]
    return (max(ends) - min(starts)) / 1e6 if starts else None


# The messages of a span: those that were sent, history included, and those that came back.
_Messages = tuple[list["RawEvent"], list["RawEvent"]]


class _ToolSpans:
    """The tools' own spans, and the arguments and results in messages."""

    def __init__(self, spans: Sequence[Span]) -> None:
        tools = [span for span in spans if span.operation == _TOOL]
        self.ids: set[JsonValue] = {call_id for span in tools if (call_id := span.call_id)}
        self.nameless = Counter(span.tool for span in tools if span.call_id is None)
        self.arguments: dict[JsonValue, JsonValue] = {}
        self.results: dict[JsonValue, JsonValue] = {}
        self.queued: defaultdict[str, deque[JsonValue]] = defaultdict(deque)

    def takes(self, event: RawEvent, *, is_new: bool) -> bool:
        """Whether a tool's span has the call or result that a message shows."""
        # Calls without an id are matched in order; a call that is not `is_new` is a repetition in a
        # later history.
        if event["type"] not in {"tool_call", "tool_result"}:
            return False
        is_call, name = event["type"] == "tool_call", str(event.get("name"))
        if (call_id := event.get("id")) in self.ids and call_id is not None:
            known = self.arguments if is_call else self.results
            known.setdefault(call_id, event.get("content"))
            return True
        if not self.nameless[name]:
            return False
        if is_call and is_new:
            self.queued[name].append(event.get("content"))
        return True


# Repeated are a message of a conversation in every model call, a call in both the model's reply and
# the tool's span, and the messages of an agent in its model calls.
class _Timeline:
    """The events of all spans in order, without repetition."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        self._tools = _ToolSpans(spans)
        self._shown: Counter[str] = Counter()
        self._found: list[tuple[int, int, int, RawEvent]] = []
        around = span_ancestors(spans)
        agents = {span.id for span in spans if span.operation in _AGENTS}
        self._inner_agents = {one for one in agents if agents & set(around[one])}
        self._has_times = all(span.start_ns is not None for span in spans)

    def events(self) -> list[RawEvent]:
        speaking = (MODEL_OPERATIONS | _AGENTS) - _SILENT
        messages = {s.id: span_messages(s) for s in self._spans if s.operation in speaking}
        holders = _innermost(self._spans, lambda s: any(messages.get(s.id, ())))
        new = {span.id: self._new_messages(messages[span.id]) for span in holders}
        calls = {s.id for s in _innermost(self._spans, lambda s: s.operation in MODEL_OPERATIONS)}
        failures = (s for s in self._spans if s.error is not None)
        failing = {s.id for s in failures if s.operation or s.parent is None}
        failed = {s.id for s in _innermost(self._spans, lambda s: s.id in failing)}
        for span in self._spans:
            before, after = new.get(span.id, ([], []))
            for event in before:
                self._add(span, event)
            for number, event in enumerate(after):
                self._add(span, event if number else _finish(span) | event, late=True)
            if span.id not in new and span.id in calls and span.operation not in _SILENT:
                self._add(span, {"type": "model_call", **_finish(span)}, late=True)
            self._add_work(span)
            if span.id in failed and span.operation != _TOOL:
                error: RawEvent = {"type": "error", "name": span.owner, "content": span.error}
                self._add(span, error, late=True)
        # Without times the order of the file is the best there is.
        if not self._has_times:
            return [event for *_, event in self._found]
        return [event for *_, event in sorted(self._found, key=lambda found: found[:3])]

    def _new_messages(self, messages: _Messages) -> _Messages:
        """The messages that no earlier span had; a repeated one as often as it is there."""
        counted: Counter[str] = Counter()
        before = []
        for event in messages[0]:
            if self._tools.takes(event, is_new=False):
                continue
            key = _identity(event)
            counted[key] += 1
            if counted[key] > self._shown[key]:
                self._shown[key] += 1
                before.append(event)
        after = [event for event in messages[1] if not self._tools.takes(event, is_new=True)]
        self._shown.update(_identity(event) for event in after)
        return before, after

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
            event["name"] = span.owner
            if not is_inner and span.start_ns is not None and span.end_ns is not None:
                event["durationMs"] = (span.end_ns - span.start_ns) / 1e6
            self._add(span, event, late=True, rank=_AT_THE_END)
        elif operation and operation not in MODEL_OPERATIONS | _SILENT:
            self._add(span, {"type": operation, "name": span.owner})

    def _tool_events(self, span: Span) -> tuple[RawEvent, RawEvent]:
        name, call_id, attributes = span.tool, span.call_id, span.attributes
        call: RawEvent = {"type": "tool_call", "name": name}
        result: RawEvent = {"type": "tool_result", "name": name}
        arguments = decode_value(attributes.get("gen_ai.tool.call.arguments", span.asked))
        if arguments is None:
            waiting = self._tools.queued[name] if call_id is None else None
            arguments = waiting.popleft() if waiting else self._tools.arguments.get(call_id)
        if arguments is not None:
            call["content"] = arguments
        content = decode_value(attributes.get("gen_ai.tool.call.result", span.answered))
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


def span_messages(span: Span) -> _Messages:
    """The messages that were sent to a model, and those that it answered with."""
    fields = span.attributes
    for event in span.events:
        fields = fields | (event.attributes if event.name == _DETAILS else {})
    before = read_messages(fields.get("gen_ai.system_instructions") or [], role="system")
    before += read_messages(_field(fields, *_PROMPT_NAMES), role="user")
    if span.operation in MODEL_OPERATIONS and not before:
        # Where the span has no messages as such, its input and output may consist of some.
        before = read_messages(messages_in(span.asked) or [], role="user")
    replies = _field(fields, *_REPLY_NAMES)
    if span.operation in MODEL_OPERATIONS and not replies:
        whole = messages_in(span.answered)
        replies = whole or (span.answered if isinstance(span.answered, str) else [])
    after = read_messages(replies, role="assistant")
    for event in span.events:
        is_reply, events = _event_messages(event)
        (after if is_reply else before).extend(events)
    return before, after


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
            return unflattened(parts)
    return []


def _finish(span: Span) -> RawEvent:
    reasons = decode_value(span.attributes.get("gen_ai.response.finish_reasons"))
    return {"finish_reason": reasons[0]} if isinstance(reasons, list) and reasons else {}


def _identity(event: RawEvent) -> str:
    if event.get("id") is not None:
        return f"{event['type']} {event['id']}"
    return canonical_json({k: v for k, v in event.items() if k != "finish_reason"})


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
    return Usage(**totals, cost_usd=total_cost(costs))


def first_number(fields: JsonValue, names: Sequence[str]) -> float | None:
    """The first of several fields that is a number of 0 or more."""
    if not isinstance(fields, dict):
        return None
    for name in names:
        found = fields.get(name)
        # LangSmith writes money as text.
        if isinstance(found, str) and _DECIMAL.fullmatch(found):
            found = float(found)
        if isinstance(found, int | float) and not isinstance(found, bool) and found >= 0:
            return found
    return None
