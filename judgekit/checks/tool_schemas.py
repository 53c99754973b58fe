"""The assertion that tool calls name tools there are, with arguments that fit their schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from judgekit.checks.bounded import TimeoutSeconds, bounded
from judgekit.checks.calls import tool_calls
from judgekit.checks.json_form import read_json
from judgekit.checks.seam import UnmetError, assertion
from judgekit.checks.syntax import sound_schema
from judgekit.errors import InputError
from judgekit.records.check import AssertionResult
from judgekit.records.record import JsonObject

if TYPE_CHECKING:
    from pydantic import JsonValue

    from judgekit.records.output import Output

_LISTS = ("tool_calls", "toolCalls")
_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class _Call:
    """A call as somebody wrote it."""

    name: object
    """The tool."""

    arguments: object
    """What it is called with: a value, or its JSON text."""


def _sound_tools(tools: list[JsonObject]) -> list[JsonObject]:
    for tool in tools:
        name, schema = _tool(tool)
        if not isinstance(name, str):
            raise InputError("a tool has no name", hint='{"function": {"name": …}}')
        sound_schema(schema)
    return tools


Tools = Annotated[list[JsonObject], Field(min_length=1), AfterValidator(_sound_tools)]
"""Tools as they are handed to a model: OpenAI's `function`s, or `name` and `input_schema`."""


@assertion("behavior.tool_calls_valid")
def tool_calls_valid(
    output: Output, *, tools: Tools, timeout_s: TimeoutSeconds = _TIMEOUT_S
) -> AssertionResult:
    """Pass when every tool call names one of the tools and its arguments fit the tool's schema."""
    # The calls are those of the output's data, of its text where that is JSON, or of its trace.
    calls = _calls(output)
    if not calls:
        raise UnmetError("the output makes no tool call")
    schemas = dict(_tool(tool) for tool in tools)
    faults = []
    for n, call in enumerate(calls, 1):
        faults += [f"call {n}: {fault}" for fault in _faults(call, schemas, timeout_s)]
    message = f"{len(calls)} tool calls fit their schemas"
    if faults:
        message = f"{len(faults)} faults: {'; '.join(faults[:5])}"
    return AssertionResult(
        passed=not faults, actual=[str(call.name) for call in calls], message=message
    )


def _calls(output: Output) -> list[_Call]:
    for value in (output.data, _value(output.text)):
        calls = _written(value)
        if calls:
            return calls
    if output.trace:
        return [_Call(call.tool, call.arguments) for call in tool_calls(output)]
    return []


def _value(text: str | None) -> object:
    try:
        return None if text is None else read_json(text)
    except (ValueError, RecursionError):
        return None


def _written(value: object) -> list[_Call]:
    """The calls a value holds: a message with calls, a list of calls, or one call."""
    if isinstance(value, Mapping):
        for name in _LISTS:
            if isinstance(value.get(name), list):
                return _written(value[name])
        call = value.get("function", value.get("function_call", value))
        if isinstance(call, Mapping) and "name" in call:
            return [_Call(call["name"], call.get("arguments", call.get("input")))]
        return []
    if isinstance(value, list):
        return [call for item in value for call in _written(item)]
    return []


def _tool(tool: JsonObject) -> tuple[object, JsonValue]:
    function = tool.get("function", tool)
    if not isinstance(function, dict):
        return None, None
    schema = function.get("parameters", function.get("input_schema"))
    return function.get("name"), {} if schema is None else schema


def _faults(call: _Call, schemas: Mapping[object, JsonValue], timeout_s: float) -> list[str]:
    if not isinstance(call.name, str) or call.name not in schemas:
        known = ", ".join(str(name) for name in schemas)
        return [f"there is no tool {call.name!r}; there are {known}"]
    text = call.arguments if isinstance(call.arguments, str) else _text(call.arguments)
    try:
        read_json(text)
    except ValueError as error:
        return [f"the arguments of {call.name} are no JSON: {error}"]
    found = bounded(
        "judgekit.checks.json_form:schema_faults", schemas[call.name], text, timeout_s=timeout_s
    )
    return [f"{call.name}: {fault}" for fault in found] if isinstance(found, list) else []


def _text(arguments: object) -> str:
    return "{}" if arguments is None else json.dumps(arguments)
