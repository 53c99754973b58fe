"""The tool calls of a trace, and how they compare with expected calls in arguments and order."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, JsonValue, PlainValidator, ValidationError, model_validator

from judgekit.assertions.builtin.text import PatternText, same_json, search_text
from judgekit.assertions.registry import UndecidedError
from judgekit.assertions.selection import PathText, display_value, find_in, to_json_text
from judgekit.fingerprint import canonical_json
from judgekit.records import Finite, JsonObject, Name, Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.records import Output, TraceEvent

# The event types that frameworks and providers use for a call of a tool.
_CALLS = frozenset({
    "tool_call", "tool:call", "tool:start", "tool_use", "tool:use", "agent:tool_use",
    "agent:tool_call", "function_call",
})  # fmt: skip

# Those they use for its result.
_RESULTS = frozenset({
    "tool_result", "tool:result", "tool:complete", "tool:end", "tool_response", "tool:error",
    "tool_error", "function_call_output",
})  # fmt: skip

_ERRORS = frozenset({"error", "tool:error", "tool_error"})
_ARGUMENTS = ("arguments", "args", "input", "params", "parameters")

# The fields of a chat message that hold calls.
_HELD = ("tool_calls", "toolCalls")
_NAMES = ("toolName", "tool_name", "tool", "function")

# The fields that tie a result to its call, in order of preference.
_IDS = ("id", "call_id", "callId", "tool_call_id", "toolCallId", "tool_use_id")
_BAD_STATES = frozenset({"error", "failed", "failure"})


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool."""

    tool: str
    """The tool."""

    arguments: JsonValue
    """What it was called with; None where the trace does not say."""

    place: int
    """Place of the call in the trace, from 1, as steps are numbered for a judge."""

    id: str | None = None
    """The id that ties the result to the call."""

    error: str | None = None
    """What went wrong; None where nothing did or the trace does not say."""

    ended: int | None = None
    """Place of its result in the trace."""

    @property
    def key(self) -> str:
        """Tool and arguments as one text, the same for the same call."""
        return canonical_json([self.tool, self.arguments])


def trace_of(output: Output) -> tuple[TraceEvent, ...]:
    """The trace a check looks at."""
    if not output.trace:
        why = f": {output.error}" if output.error is not None else ""
        raise UndecidedError(f"the output has no trace{why}")
    return output.trace


def tool_calls(output: Output) -> list[ToolCall]:
    """The tool calls of a trace, in their order, each with what came of it."""
    # A result belongs to the call with its id; without one, to the oldest unanswered call of its
    # tool; without a name too, to the oldest unanswered call.
    calls: list[ToolCall] = []
    waiting: list[int] = []
    for place, event in enumerate(trace_of(output), start=1):
        made = _calls_of_event(event, place)
        if made:
            waiting += range(len(calls), len(calls) + len(made))
            calls += made
        elif event.type in _RESULTS | _ERRORS or _field(event, ("role",)) == "tool":
            index = _match_result(event, calls, waiting)
            if index is not None:
                waiting.remove(index)
                error = _error_of(event)
                calls[index] = replace(calls[index], error=error, ended=place)
    return calls


def tool_of(event: TraceEvent) -> str | None:
    """The tool an event names."""
    if event.name is not None:
        return event.name
    found = _field(event, _NAMES)
    return found if isinstance(found, str) else None


def _calls_of_event(event: TraceEvent, place: int) -> list[ToolCall]:
    """The calls of an event: one, or those that a message of a chat makes."""
    if event.type in _CALLS:
        return [_call(event, place)]
    held = _field(event, _HELD)
    blocks = event.content if isinstance(event.content, list) else []
    made = [_chat_call(call, place) for call in (held if isinstance(held, list) else [])]
    made += [
        _chat_call(block, place)
        for block in blocks
        if isinstance(block, dict) and block.get("type") in _CALLS
    ]
    return [call for call in made if call is not None]


def _chat_call(call: JsonValue, place: int) -> ToolCall | None:
    """A call as a provider writes it within a message."""
    if not isinstance(call, dict):
        return None
    told = call["function"] if isinstance(call.get("function"), dict) else call
    if not isinstance(told, dict) or not isinstance(told.get("name"), str):
        return None
    arguments = next((told[name] for name in _ARGUMENTS if told.get(name) is not None), None)
    call_id = call.get("id")
    return ToolCall(
        str(told["name"]),
        _parse_arguments(arguments),
        place,
        str(call_id) if isinstance(call_id, str | int) else None,
    )


def _call(event: TraceEvent, place: int) -> ToolCall:
    arguments = event.content if event.content is not None else _field(event, _ARGUMENTS)
    return ToolCall(tool_of(event) or "?", _parse_arguments(arguments), place, _id_of(event))


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
    """What a result says went wrong."""
    found = event.model_extra or {}
    said = found.get("error")
    is_marked = found.get("is_error") is True or found.get("isError") is True
    is_bad_state = str(found.get("status", "")).lower() in _BAD_STATES
    is_error = event.type in _ERRORS or is_marked or is_bad_state or found.get("success") is False
    if not is_error and not said:
        return None
    what = said if said and said is not True else event.content
    text = what if isinstance(what, str) else json.dumps(what, ensure_ascii=False, default=str)
    return text.strip() or "error"


def _parse_arguments(value: JsonValue) -> JsonValue:
    """Arguments a model wrote as JSON text, as the object they are."""
    # Other text is an argument by itself and stays text, even where it is a number.
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        held: JsonValue = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return held


def _id_of(event: TraceEvent) -> str | None:
    found = _field(event, _IDS)
    return str(found) if isinstance(found, str | int) else None


def _field(event: TraceEvent, names: Sequence[str]) -> JsonValue:
    found = event.model_extra or {}
    return next((found[name] for name in names if found.get(name) is not None), None)


ArgumentsMode = Literal["exact", "subset", "superset", "ignore"]
"""How the arguments of a call stand to the expected ones: `exact` the same; `subset` none beyond
them; `superset` all of them, and maybe more; `ignore` whatever they are."""

OrderMode = Literal["strict", "in_order", "unordered", "subset", "superset"]
"""How the calls stand to the expected ones: `strict` the same calls in the same order;
`in_order` all of them in that order, others between; `unordered` the same calls in any order;
`subset` no call beyond them; `superset` all of them in any order, and maybe more."""

# Patterns come from a suite and texts from a model; together they may take for ever.
_TIMEOUT_S = 1.0


class ArgumentRule(Record):
    """What one argument must be; every demand that is made must hold."""

    equals: JsonValue = None
    """The value itself; null demands nothing."""

    one_of: tuple[JsonValue, ...] | None = None
    """The values it may have."""

    contains: str | None = None
    """A part of its text."""

    matches: PatternText | None = None
    """A pattern of Python's `re` that is found in its text."""

    min: Finite | None = None
    """The least number."""

    max: Finite | None = None
    """The greatest number."""

    exists: bool = True
    """Whether it is there at all; false demands that it is not."""


class ExpectedCall(Record):
    """A tool call as it should be."""

    tool: Name
    """The tool."""

    arguments: JsonObject | None = None
    """What it should be called with; None where any arguments will do."""

    match: ArgumentsMode | Annotated[tuple[PathText, ...], Field(min_length=1)] | None = None
    """How its arguments are compared, or the paths that must be the same; None takes the
    assertion's way."""

    where: dict[PathText, ArgumentRule] = Field(default_factory=dict)
    """What must hold of single arguments, by their path."""

    @model_validator(mode="before")
    @classmethod
    def _reads_short_forms(cls, given: object) -> object:
        if isinstance(given, str):
            return {"tool": given}
        if isinstance(given, dict):
            given = dict(given)
            if "tool" not in given and "name" in given:
                given["tool"] = given.pop("name")
            if "arguments" not in given and "args" in given:
                given["arguments"] = given.pop("args")
            if isinstance(given.get("where"), dict):
                given["where"] = {k: _argument_rule(v) for k, v in given["where"].items()}
        return given


def _read_call(given: object) -> ExpectedCall:
    try:
        return ExpectedCall.model_validate(given)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in detail["loc"])
        what = detail["msg"].removeprefix("Value error, ")
        raise ValueError(f"{place}: {what}" if place else what) from error


def _read_calls(given: object) -> tuple[ExpectedCall, ...]:
    if not isinstance(given, list | tuple):
        raise ValueError("must be a list of calls")  # noqa: TRY004 - pydantic wants ValueError
    return tuple(_read_call(item) for item in given)


OneCall = Annotated[ExpectedCall, PlainValidator(_read_call)]
"""An expected call, as a spec writes it: a tool's name, or an object."""

ExpectedCalls = Annotated[tuple[ExpectedCall, ...], PlainValidator(_read_calls)]
"""Expected calls, as a spec writes them: a list of names or objects."""


def call_matches(call: ToolCall, expected: ExpectedCall, mode: ArgumentsMode) -> bool:
    """Whether a call is the expected one."""
    if call.tool != expected.tool:
        return False
    if expected.arguments is not None and not _arguments_fit(call.arguments, expected, mode):
        return False
    return all(_rule_holds(call.arguments, path, demand) for path, demand in expected.where.items())


def match_calls(
    calls: Sequence[ToolCall], expected: Sequence[ExpectedCall], mode: ArgumentsMode
) -> dict[int, int]:
    """As many calls as possible, each with an expected call of its own."""
    # A greedy choice would lose matches: an unspecific expectation could take the only call that a
    # specific one accepts. So this finds a maximum bipartite matching.
    fitting = [
        [number for number, call in enumerate(calls) if call_matches(call, wanted, mode)]
        for wanted in expected
    ]
    taken: dict[int, int] = {}
    for number in range(len(expected)):
        _place(number, fitting, taken, set())
    return {wanted: made for made, wanted in taken.items()}


def count_in_order(
    calls: Sequence[ToolCall], expected: Sequence[ExpectedCall], mode: ArgumentsMode
) -> int:
    """How many of the expected calls were made one after the other, others between."""
    found = 0
    for call in calls:
        if found < len(expected) and call_matches(call, expected[found], mode):
            found += 1
    return found


def describe_call(call: ToolCall | ExpectedCall) -> str:
    """A call as a message shows it."""
    return call.tool if call.arguments is None else f"{call.tool}({display_value(call.arguments)})"


def _place(
    wanted: int, fitting: Sequence[Sequence[int]], taken: dict[int, int], tried: set[int]
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
        if made not in taken:
            for (owner, _), place in zip(stack, way, strict=True):
                taken[place] = owner
            return True
        stack.append((taken[made], iter(fitting[taken[made]])))
    return False


def _arguments_fit(given: JsonValue, expected: ExpectedCall, mode: ArgumentsMode) -> bool:
    wanted, how = expected.arguments or {}, expected.match or mode
    if not isinstance(how, str):
        return all(_same_at(given, wanted, path) for path in how)
    if how == "ignore":
        return True
    # A call without arguments is compared as one with an empty object.
    made = {} if given is None else given
    if how == "exact":
        return same_json(made, wanted)
    if not isinstance(made, dict):
        return False
    fewer, more = (made, wanted) if how == "subset" else (wanted, made)
    return all(name in more and same_json(more[name], value) for name, value in fewer.items())


def _same_at(given: JsonValue, wanted: JsonValue, path: str) -> bool:
    (is_given, one), (is_wanted, other) = find_in(given, path), find_in(wanted, path)
    return is_given == is_wanted and same_json(one, other)


def _rule_holds(given: JsonValue, path: str, demand: ArgumentRule) -> bool:
    is_there, found = find_in(given, path)
    if not is_there or not demand.exists:
        return not is_there and not demand.exists
    text = found if isinstance(found, str) else to_json_text(found)
    return (
        (demand.equals is None or same_json(found, demand.equals))
        and (demand.one_of is None or any(same_json(found, value) for value in demand.one_of))
        and (demand.contains is None or demand.contains in text)
        and _is_between(found, demand)
        and (
            demand.matches is None
            or search_text(demand.matches, text, ignore_case=False, timeout_s=_TIMEOUT_S)
            is not None
        )
    )


def _is_between(found: JsonValue, demand: ArgumentRule) -> bool:
    if demand.min is None and demand.max is None:
        return True
    # True is no number here, though Python counts it as 1.
    if isinstance(found, bool) or not isinstance(found, int | float):
        return False
    return (demand.min is None or found >= demand.min) and (
        demand.max is None or found <= demand.max
    )


def _argument_rule(value: object) -> object:
    """A bare value demands that the argument is that value."""
    is_demand = (
        isinstance(value, dict) and value and value.keys() <= ArgumentRule.model_fields.keys()
    )
    return value if is_demand else {"equals": value}
