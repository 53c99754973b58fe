"""The tool calls of a trace, and their comparison with expected calls."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, cast

from pydantic import Field, JsonValue, PlainValidator, ValidationError, model_validator

from judgekit.assertions.builtin.text import PatternText, same_json, search_text
from judgekit.assertions.registry import UndecidedError
from judgekit.assertions.selection import (
    PathText,
    display_value,
    find_in,
    first_fault,
    to_json_text,
)
from judgekit.fingerprint import canonical_json
from judgekit.formats import read_messages
from judgekit.records import Finite, JsonObject, Name, Output, Record, TraceEvent

# The event types that frameworks and providers use for a call of a tool.
_CALLS = frozenset({
    "tool_call", "tool:call", "tool:start", "tool_use", "tool:use", "agent:tool_use",
    "agent:tool_call", "function_call",
})  # fmt: skip

# Those that they use for its result.
RESULT_EVENTS = frozenset({
    "tool_result", "tool:result", "tool:complete", "tool:end", "tool_response", "tool:error",
    "tool_error", "function_call_output",
})  # fmt: skip
_ERRORS = frozenset({"error", "tool:error", "tool_error"})
_ARGUMENTS = ("arguments", "args", "input", "params", "parameters")

_NAMES = ("toolName", "tool_name", "tool", "function")

# The fields that connect a result to its call, before the `id`, which may be the event's own.
_IDS = ("call_id", "callId", "tool_call_id", "toolCallId", "tool_use_id", "id")

# Words that engines use for a failed node, event or call.
BAD_STATES = frozenset({"error", "errored", "failed", "failure", "exception", "crashed"})


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool."""

    tool: str
    # None where the trace has none.
    arguments: JsonValue
    # Its position in the trace, from 1, as steps are numbered for a judge.
    place: int
    id: str | None = None
    # None where there was none, or the trace has no result.
    error: str | None = None
    # The position of its result in the trace.
    ended: int | None = None

    @property
    def key(self) -> str:
        """Tool and arguments as one text, the same for the same call."""
        return canonical_json([self.tool, self.arguments])


def trace_of(output: Output) -> tuple[TraceEvent, ...]:
    """The trace of an output, which an assertion about it needs."""
    if not output.trace:
        why = f": {output.error}" if output.error is not None else ""
        raise UndecidedError(f"the output has no trace{why}")
    return output.trace


def tool_calls(output: Output) -> list[ToolCall]:
    """The tool calls of a trace, in order, each with its error if it had one."""
    # A result belongs to the call with its id; without one, to the oldest unanswered call of its
    # tool; without a name too, to the oldest unanswered call.
    calls: list[ToolCall] = []
    waiting: list[int] = []
    for place, event in unfolded(trace_of(output)):
        if event.type in _CALLS:
            waiting.append(len(calls))
            arguments = event.content if event.content is not None else _field(event, _ARGUMENTS)
            parsed = _parse_arguments(arguments)
            calls.append(ToolCall(tool_of(event) or "?", parsed, place, _id_of(event)))
        elif _is_result(event):
            index = _match_result(event, calls, waiting)
            if index is not None:
                waiting.remove(index)
                calls[index] = replace(calls[index], error=_error_of(event), ended=place)
    return calls


def unfolded(trace: Sequence[TraceEvent]) -> Iterator[tuple[int, TraceEvent]]:
    """Each event with its position, then the calls and results in it where it is a message."""
    for place, event in enumerate(trace, start=1):
        yield place, event
        if event.type not in _CALLS and not _is_result(event):
            message = {**(event.model_extra or {}), "content": event.content}
            for part in read_messages(cast("JsonObject", message), role="assistant"):
                if part["type"] in {"tool_call", "tool_result"} and part.get("name") != "?":
                    yield place, TraceEvent.model_validate(part)


def _is_result(event: TraceEvent) -> bool:
    # LangChain's messages have a type, those of the chat APIs a role.
    return event.type in RESULT_EVENTS | _ERRORS or "tool" in (event.type, _field(event, ("role",)))


def tool_of(event: TraceEvent) -> str | None:
    if event.name is not None:
        return event.name
    found = _field(event, _NAMES)
    return found if isinstance(found, str) else None


def _match_result(
    event: TraceEvent, calls: Sequence[ToolCall], waiting: Sequence[int]
) -> int | None:
    call_id, tool = _id_of(event), tool_of(event)
    for index in waiting:
        call = calls[index]
        if call_id is not None and call.id is not None:
            is_it = call.id == call_id
        elif tool is None:
            is_it = event.type != "error"  # an error that names no tool need not be a tool's
        else:
            is_it = call.tool == tool
        if is_it:
            return index
    return None


def _error_of(event: TraceEvent) -> str | None:
    if not (event.type in _ERRORS or reports_error(event)):
        return None
    # `error: true` marks a result whose content is the message.
    reported = (event.model_extra or {}).get("error")
    what = reported if reported and reported is not True else event.content
    text = what if isinstance(what, str) else json.dumps(what, ensure_ascii=False, default=str)
    return text.strip() or "error"


def reports_error(event: TraceEvent) -> bool:
    """Whether the fields of an event say that something failed."""
    found = event.model_extra or {}
    is_marked = found.get("is_error") is True or found.get("isError") is True
    is_marked = is_marked or found.get("success") is False
    return bool(
        found.get("error") or is_marked or str(found.get("status", "")).lower() in BAD_STATES
    )


def _parse_arguments(value: JsonValue) -> JsonValue:
    """Arguments, parsed where a model wrote them as JSON text."""
    # Other text is itself an argument and stays text, even where it is a number.
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        parsed: JsonValue = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return parsed


def _id_of(event: TraceEvent) -> str | None:
    found = _field(event, _IDS)
    return str(found) if isinstance(found, str | int) else None


def _field(event: TraceEvent, names: Sequence[str]) -> JsonValue:
    found = event.model_extra or {}
    return next((found[name] for name in names if found.get(name) is not None), None)


ArgumentsMode = Literal["exact", "subset", "superset", "ignore"]
"""How the arguments of a call must match the expected ones: `exact` the same; `subset` no others;
`superset` all of them, and possibly others; `ignore` any."""

OrderMode = Literal["strict", "in_order", "unordered", "subset", "superset"]
"""How the calls must match the expected ones: `strict` the same calls in the same order;
`in_order` all of them in that order, with others between; `unordered` the same calls in any order;
`subset` no other calls; `superset` all of them in any order, and possibly others."""

# A pattern of a suite and a text of a model may together take exponential time.
_TIMEOUT_S = 1.0


class ArgumentRule(Record):
    """The conditions for one argument; all that are set must hold."""

    # The value itself, which may be null.
    equals: JsonValue = None
    one_of: tuple[JsonValue, ...] | None = None
    # A part of its text.
    contains: str | None = None
    # A pattern of Python's `re` that its text contains.
    matches: PatternText | None = None
    min: Finite | None = None
    max: Finite | None = None
    # False where the argument must be missing.
    exists: bool = True

    @model_validator(mode="before")
    @classmethod
    def _reads_bare_values(cls, value: object) -> object:
        # A bare value is what the argument must be.
        is_rule = isinstance(value, dict) and value and value.keys() <= cls.model_fields.keys()
        return value if is_rule or isinstance(value, cls) else {"equals": value}


class ExpectedCall(Record):
    """An expected tool call."""

    tool: Name
    # None where any arguments will do.
    arguments: JsonObject | None = None
    # How its arguments are compared, or the paths that must be equal; None takes the mode of the
    # assertion.
    match: ArgumentsMode | Annotated[tuple[PathText, ...], Field(min_length=1)] | None = None
    # Conditions for single arguments, by their path.
    where: dict[PathText, ArgumentRule] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _reads_short_forms(cls, value: object) -> object:
        if isinstance(value, str):
            return {"tool": value}
        if isinstance(value, dict):
            value = dict(value)
            # Other frameworks name the fields `name` and `args`.
            for ours, theirs in (("tool", "name"), ("arguments", "args")):
                if ours not in value and theirs in value:
                    value[ours] = value.pop(theirs)
        return value


def _read_call(value: object) -> ExpectedCall:
    try:
        return ExpectedCall.model_validate(value)
    except ValidationError as error:
        raise ValueError(first_fault(error)) from error


def _read_calls(value: object) -> tuple[ExpectedCall, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError("must be a list of calls")  # noqa: TRY004 - pydantic wants ValueError
    return tuple(_read_call(item) for item in value)


# Expected calls in a spec are tools' names or objects. The validators build the records from a
# spec's strict JSON, and give short messages.
OneCall = Annotated[ExpectedCall, PlainValidator(_read_call)]
ExpectedCalls = Annotated[tuple[ExpectedCall, ...], PlainValidator(_read_calls)]


def call_matches(call: ToolCall, expected: ExpectedCall, mode: ArgumentsMode) -> bool:
    if call.tool != expected.tool:
        return False
    if expected.arguments is not None and not _arguments_fit(call.arguments, expected, mode):
        return False
    return all(_rule_holds(call.arguments, path, rule) for path, rule in expected.where.items())


def match_calls(
    calls: Sequence[ToolCall], expected: Sequence[ExpectedCall], mode: ArgumentsMode
) -> dict[int, int]:
    """The largest assignment of calls to expected calls."""
    # A greedy choice would lose matches: an unspecific expectation could take the only call that a
    # specific one accepts. So this finds a maximum bipartite matching.
    fitting = [
        [number for number, call in enumerate(calls) if call_matches(call, wanted, mode)]
        for wanted in expected
    ]
    matched: dict[int, int] = {}
    for number in range(len(expected)):
        _place(number, fitting, matched, set())
    return {wanted: made for made, wanted in matched.items()}


def count_in_order(
    calls: Sequence[ToolCall], expected: Sequence[ExpectedCall], mode: ArgumentsMode
) -> int:
    """How many of the expected calls were made in order, possibly with others between."""
    found = 0
    for call in calls:
        if found < len(expected) and call_matches(call, expected[found], mode):
            found += 1
    return found


def describe_call(call: ToolCall | ExpectedCall) -> str:
    text = call.tool if call.arguments is None else f"{call.tool}({display_value(call.arguments)})"
    if isinstance(call, ToolCall) or not call.where:
        return text
    rules: JsonObject = {p: r.model_dump(exclude_unset=True) for p, r in call.where.items()}
    return f"{text} where {display_value(rules)}"


def _place(
    wanted: int, fitting: Sequence[Sequence[int]], matched: dict[int, int], tried: set[int]
) -> bool:
    """Give an expected call a call, moving others where that helps (an augmenting path)."""
    stack = [(wanted, iter(fitting[wanted]))]
    way: list[int] = []
    while stack:
        made = next((m for m in stack[-1][1] if m not in tried), None)
        if made is None:
            stack.pop()
            del way[-1:]
            continue
        tried.add(made)
        way.append(made)
        if made not in matched:
            for (owner, _), place in zip(stack, way, strict=True):
                matched[place] = owner
            return True
        stack.append((matched[made], iter(fitting[matched[made]])))
    return False


def _arguments_fit(arguments: JsonValue, expected: ExpectedCall, mode: ArgumentsMode) -> bool:
    wanted, how = expected.arguments or {}, expected.match or mode
    if not isinstance(how, str):
        pairs = [(find_in(arguments, path), find_in(wanted, path)) for path in how]
        return all(
            is_there == is_wanted and same_json(one, other)
            for (is_there, one), (is_wanted, other) in pairs
        )
    if how == "ignore":
        return True
    # A call without arguments is compared as one with an empty object.
    made = {} if arguments is None else arguments
    if how == "exact":
        return same_json(made, wanted)
    if not isinstance(made, dict):
        return False
    fewer, more = (made, wanted) if how == "subset" else (wanted, made)
    return all(name in more and same_json(more[name], value) for name, value in fewer.items())


def _rule_holds(arguments: JsonValue, path: str, rule: ArgumentRule) -> bool:
    is_there, found = find_in(arguments, path)
    if not is_there or not rule.exists:
        return not is_there and not rule.exists
    text = found if isinstance(found, str) else to_json_text(found)
    # True is no number here, though Python counts it as 1; nan is within no bounds.
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    number = cast("float", found) if is_number else math.nan
    return (
        ("equals" not in rule.model_fields_set or same_json(found, rule.equals))
        and (rule.one_of is None or any(same_json(found, value) for value in rule.one_of))
        and (rule.contains is None or rule.contains in text)
        and (rule.min is None or number >= rule.min)
        and (rule.max is None or number <= rule.max)
        and (
            rule.matches is None
            or search_text(rule.matches, text, ignore_case=False, timeout_s=_TIMEOUT_S) is not None
        )
    )
