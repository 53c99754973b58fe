"""Turns promptfoo's assertions on what an agent did into those on its trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic import JsonValue

    from judgekit.records.record import JsonObject

_PREFIX = "trajectory:"
_NOT = "not-"
_NAMED = "name the tools, such as `value: [search, fetch]`"


class UnreadableError(ValueError):
    """An assertion on a trajectory says what cannot be asked here; the text says what to do."""


def trajectory_spec(name: str, value: JsonValue) -> JsonObject:
    """The assertion on a trace that says the same."""
    plain = name.removeprefix(_NOT)
    spec = _READERS[plain](value)
    if not name.startswith(_NOT):
        return spec
    if spec["type"] == "all":
        raise UnreadableError(f"write one `{name}` for each tool")
    return {**spec, "type": f"{_NOT}{spec['type']}"}


def _tool_used(value: JsonValue) -> JsonObject:
    if isinstance(value, list):
        members: list[JsonValue] = [_tool_used(item) for item in value]
        if not members:
            raise UnreadableError(_NAMED)
        return {"type": "all", "assertions": members}
    if isinstance(value, str):
        return {"type": "trajectory.tool_used", "tool": value}
    fields = _fields(value, {"name", "min", "max"}, _NAMED)
    spec: JsonObject = {"type": "trajectory.tool_used", "tool": _name(fields)}
    for given, own in (("min", "at_least"), ("max", "at_most")):
        if given in fields:
            spec[own] = fields[given]
    return spec


def _arguments(value: JsonValue) -> JsonObject:
    usage = "give `{name: …, args: {…}, mode: partial}`"
    fields = _fields(value, {"name", "args", "arguments", "mode"}, usage)
    call: JsonObject = {
        "tool": _name(fields),
        "arguments": fields.get("args", fields.get("arguments", {})),
    }
    mode = {"partial": "superset", "exact": "exact"}.get(str(fields.get("mode", "partial")))
    if mode is None:
        raise UnreadableError("`mode` must be `partial` or `exact`")
    return {"type": "trajectory.arguments_match", "call": call, "mode": mode}


def _sequence(value: JsonValue) -> JsonObject:
    fields = {"steps": value} if isinstance(value, list) else _fields(value, {"steps", "mode"}, "")
    steps = fields.get("steps")
    if not isinstance(steps, list) or not steps:
        raise UnreadableError(_NAMED)
    mode = {"in_order": "in_order", "exact": "strict"}.get(str(fields.get("mode", "in_order")))
    if mode is None:
        raise UnreadableError("`mode` must be `in_order` or `exact`")
    calls: list[JsonValue] = [
        {"tool": step if isinstance(step, str) else _name(_fields(step, {"name"}, _NAMED))}
        for step in steps
    ]
    return {"type": "trajectory.matches", "calls": calls, "mode": mode, "arguments": "ignore"}


def _step_count(value: JsonValue) -> JsonObject:
    usage = "count the calls of tools: `{type: tool, max: 5}`"
    fields = _fields(value, {"type", "pattern", "min", "max"}, usage)
    tool = fields.get("pattern")
    is_plain = tool is None or (isinstance(tool, str) and not set(tool) & set("*?["))
    if fields.get("type") != "tool" or "min" in fields or not is_plain or "max" not in fields:
        raise UnreadableError(usage)
    spec: JsonObject = {"type": "trajectory.tool_calls.max", "value": fields["max"]}
    return spec if tool is None else {**spec, "tool": tool}


def _fields(value: JsonValue, known: set[str], usage: str) -> JsonObject:
    if not isinstance(value, dict):
        raise UnreadableError(usage or _NAMED)
    if unknown := sorted(value.keys() - known):
        raise UnreadableError(f"`{unknown[0]}` is not read here; {usage or _NAMED}")
    return value


def _name(fields: JsonObject) -> str:
    name = fields.get("name")
    if not isinstance(name, str) or not name.strip():
        raise UnreadableError(_NAMED)
    return name


_READERS: Mapping[str, Callable[[JsonValue], JsonObject]] = {
    f"{_PREFIX}tool-used": _tool_used,
    f"{_PREFIX}tool-args-match": _arguments,
    f"{_PREFIX}tool-sequence": _sequence,
    f"{_PREFIX}step-count": _step_count,
}

ON_TRAJECTORY = frozenset(_READERS)
"""The assertions on what an agent did that need no model."""
