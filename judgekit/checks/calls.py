"""The tool calls in a trace: which tool, with which arguments, and what came of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from judgekit.checks.seam import UndecidedError
from judgekit.fingerprint import canonical_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from judgekit.records.output import Output, TraceEvent

_CALLS = frozenset({
    "tool_call", "tool:call", "tool:start", "tool_use", "tool:use", "agent:tool_use",
    "agent:tool_call", "function_call",
})  # fmt: skip
_RESULTS = frozenset({
    "tool_result", "tool:result", "tool:complete", "tool:end", "tool_response", "tool:error",
    "tool_error", "function_call_output",
})  # fmt: skip
_ERRORS = frozenset({"error", "tool:error", "tool_error"})
_ARGUMENTS = ("arguments", "args", "input", "params", "parameters")
_HELD = ("tool_calls", "toolCalls")
_NAMES = ("toolName", "tool_name", "tool", "function")
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
        made = _made(event, place)
        if made:
            waiting += range(len(calls), len(calls) + len(made))
            calls += made
        elif event.type in _RESULTS | _ERRORS or _field(event, ("role",)) == "tool":
            index = _answered(event, calls, waiting)
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


def _made(event: TraceEvent, place: int) -> list[ToolCall]:
    """The calls of an event: one, or those that a message of a chat makes."""
    if event.type in _CALLS:
        return [_call(event, place)]
    held = _field(event, _HELD)
    blocks = event.content if isinstance(event.content, list) else []
    made = [_written(call, place) for call in (held if isinstance(held, list) else [])]
    made += [
        _written(block, place)
        for block in blocks
        if isinstance(block, dict) and block.get("type") in _CALLS
    ]
    return [call for call in made if call is not None]


def _written(call: JsonValue, place: int) -> ToolCall | None:
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
        _decoded(arguments),
        place,
        str(call_id) if isinstance(call_id, str | int) else None,
    )


def _call(event: TraceEvent, place: int) -> ToolCall:
    arguments = event.content if event.content is not None else _field(event, _ARGUMENTS)
    return ToolCall(tool_of(event) or "?", _decoded(arguments), place, _id_of(event))


def _answered(event: TraceEvent, calls: Sequence[ToolCall], waiting: Sequence[int]) -> int | None:
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


def _decoded(value: JsonValue) -> JsonValue:
    """Arguments a model wrote as JSON text, as the object they are."""
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
