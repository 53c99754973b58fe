"""Assertions about structure: JSON, XML, HTML and SQL texts, and tool calls that fit a schema.

The parsing is in `parsers`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Annotated, Literal, NamedTuple, cast

from pydantic import AfterValidator, Field, JsonValue

from judgekit.assertions.builtin.calls import tool_calls
from judgekit.assertions.builtin.text import TextList  # noqa: TC001
from judgekit.assertions.parsers import read_json
from judgekit.assertions.registry import NotApplicableError, UndecidedError, assertion, make_result
from judgekit.assertions.sandbox import TimeoutSeconds, run_bounded
from judgekit.assertions.selection import PathText, text_of, to_json_text, truncate_value, value_of
from judgekit.errors import InputError
from judgekit.records import AssertionResult, JsonObject, Output

Dialect = Literal[
    "athena", "bigquery", "clickhouse", "databricks", "doris", "drill", "duckdb", "hive", "mysql",
    "oracle", "postgres", "presto", "redshift", "snowflake", "spark", "sqlite", "teradata",
    "trino", "tsql",
]  # fmt: skip

# Documents are checked in a worker process: parsers can be made to run for minutes.
_PARSERS = "judgekit.assertions.parsers"
_TIMEOUT_S = 5.0

# A schema is checked when the suite is read, once, so it may take longer than one output.
_CHECK_S = 10.0


def checked_schema(schema: JsonValue) -> JsonValue:
    # Passed as text, because the cache needs a hashable argument.
    try:
        fault = _schema_fault(json.dumps(schema, sort_keys=True))
    except UndecidedError as error:
        raise InputError(f"no usable JSON Schema: {error.message}") from error
    if fault is not None:
        raise InputError(f"no usable JSON Schema: {fault}")
    return schema


@lru_cache(maxsize=256)
def _schema_fault(schema: str) -> str | None:
    fault = run_bounded(f"{_PARSERS}:invalid_schema", json.loads(schema), timeout_s=_CHECK_S)
    return None if fault is None else str(fault)


Schema = Annotated[JsonValue, AfterValidator(checked_schema)]
"""A valid JSON Schema that contains all it refers to."""


@assertion("text.is_json")
def is_json(
    output: Output,
    *,
    schema: Schema | None = None,
    formats: bool = False,
    path: PathText | None = None,
    timeout_s: TimeoutSeconds = _TIMEOUT_S,
) -> AssertionResult:
    """Pass when the text is JSON, and satisfies the schema where there is one.

    Args:
        schema: A JSON Schema, by default of draft 2020-12; references to other documents are
            refused.
        formats: Whether `format` of a schema (`email`, `date-time`, …) is checked too.
        path: Where the text is; None takes the whole output, data as it is.
    """
    found = value_of(output, path)  # null is JSON, too
    text = found if isinstance(found, str) else to_json_text(found)
    try:
        read_json(text)
    except ValueError as error:
        return _syntax_result("is", "JSON", text, str(error))
    # Without a schema nothing can take long, so the worker process is not needed.
    faults: object = []
    if schema is not None:
        faults = run_bounded(
            f"{_PARSERS}:schema_faults", schema, text, formats, timeout_s=timeout_s
        )
    return _json_result("is", schema, text, faults)


@assertion("text.contains_json")
def contains_json(
    output: Output,
    *,
    schema: Schema | None = None,
    formats: bool = False,
    path: PathText | None = None,
    timeout_s: TimeoutSeconds = _TIMEOUT_S,
) -> AssertionResult:
    """Pass when the text contains a JSON object or list that satisfies the schema, if there is one.

    Args:
        schema: A JSON Schema, as for `is-json`.
        formats: Whether `format` of a schema is checked too.
    """
    text = text_of(output, path)
    faults = run_bounded(
        f"{_PARSERS}:contained_json_faults", text, schema, formats, timeout_s=timeout_s
    )
    return _json_result("contains", schema, text, faults)


def _json_result(verb: str, schema: JsonValue, text: str, faults: object) -> AssertionResult:
    what = "JSON" if schema is None else "JSON of the schema"
    return _syntax_result(verb, what, text, "; ".join(cast("list[str]", faults)))


def _xml(verb: str, what: str, root: str) -> Callable[..., AssertionResult]:
    @assertion(f"text.{verb}_xml")
    def passes(
        output: Output,
        *,
        required_elements: TextList | None = None,
        path: PathText | None = None,
        timeout_s: TimeoutSeconds = _TIMEOUT_S,
    ) -> AssertionResult:
        text = text_of(output, path)
        return _parsed(verb, "XML", text, required_elements or [], timeout_s=timeout_s)

    passes.__doc__ = f"""Pass when the text {what}.

    Entities are neither expanded nor fetched.

    Args:
        required_elements: Elements that must exist, each as a dotted path from {root}.
    """
    return passes


is_xml = _xml("is", "is a well-formed XML document", "the root")
contains_xml = _xml("contains", "contains a well-formed XML element", "that element")


def _html(verb: str, what: str) -> Callable[..., AssertionResult]:
    @assertion(f"text.{verb}_html")
    def passes(
        output: Output, *, path: PathText | None = None, timeout_s: TimeoutSeconds = _TIMEOUT_S
    ) -> AssertionResult:
        return _parsed(verb, "HTML", text_of(output, path), timeout_s=timeout_s)

    passes.__doc__ = f"Pass when the text {what}."
    return passes


is_html = _html("is", "is HTML: known elements, properly nested, with no text around them")
contains_html = _html("contains", "contains an HTML element: one that has no content, or is closed")


def _sql(verb: str, what: str) -> Callable[..., AssertionResult]:
    @assertion(f"text.{verb}_sql")
    def passes(
        output: Output,
        *,
        dialect: Dialect | None = None,
        tables: TextList | None = None,
        path: PathText | None = None,
        timeout_s: TimeoutSeconds = _TIMEOUT_S,
    ) -> AssertionResult:
        return _parsed(verb, "SQL", text_of(output, path), dialect, tables, timeout_s=timeout_s)

    passes.__doc__ = f"""Pass when the text {what}.

    Args:
        dialect: The dialect; None takes a general one.
        tables: The only tables that may be named; None allows any.
    """
    return passes


is_sql = _sql("is", "is SQL: one statement or more, and nothing else")
contains_sql = _sql(
    "contains", "contains SQL, in fenced code or from a line that begins a statement"
)


def _parsed(
    verb: str, what: str, text: str, *arguments: object, timeout_s: float
) -> AssertionResult:
    # The functions of `parsers` look for a fault of the whole text, or in all parts of it.
    function = f"{'contained_' if verb == 'contains' else ''}{what.lower()}_fault"
    fault = run_bounded(f"{_PARSERS}:{function}", text, *arguments, timeout_s=timeout_s)
    return _syntax_result(verb, what, text, fault)


def _syntax_result(verb: str, what: str, text: str, fault: object) -> AssertionResult:
    message = f"the text {verb} no {what}: {fault}" if fault else f"the text {verb} {what}"
    return AssertionResult(passed=not fault, actual=truncate_value(text), message=message)


class _Call(NamedTuple):
    """A call as it was written, valid or not; arguments may be JSON text."""

    name: object
    arguments: object


def _checked_tools(tools: list[JsonObject]) -> list[JsonObject]:
    for tool in tools:
        name, schema = _tool_schema(tool)
        if not isinstance(name, str):
            raise InputError("a tool has no name", hint='{"function": {"name": …}}')
        checked_schema(schema)
    return tools


ToolSchemas = Annotated[list[JsonObject], Field(min_length=1), AfterValidator(_checked_tools)]
"""Tools in the form for a model: OpenAI's `function`s, or `name` and `input_schema`."""


@assertion("behavior.tool_calls_valid")
def tool_calls_valid(
    output: Output, *, tools: ToolSchemas, timeout_s: TimeoutSeconds = _TIMEOUT_S
) -> AssertionResult:
    """Pass when every tool call names one of the tools and its arguments fit the tool's schema.

    The calls are those of the output's data, of its text where that is JSON, or of its trace.

    Args:
        tools: The available tools.
    """
    calls = _output_calls(output)
    if not calls:
        raise NotApplicableError("the output makes no tool call")
    schemas = dict(_tool_schema(tool) for tool in tools)
    faults = [
        f"call {n}: {fault}"
        for n, call in enumerate(calls, 1)
        for fault in _call_faults(call, schemas, timeout_s)
    ]
    message = f"{len(calls)} tool calls fit their schemas"
    if faults:
        message = f"{len(faults)} faults: {'; '.join(faults[:5])}"
    return make_result(not faults, [str(call.name) for call in calls], message)


def _output_calls(output: Output) -> list[_Call]:
    # The data come first: a text beside them is the model's message to the user.
    values: list[object] = [output.data]
    with suppress(ValueError, RecursionError):
        values.append(None if output.text is None else read_json(output.text))
    traced = tool_calls(output) if output.trace else []
    for value in values:
        if calls := _stated_calls(value, is_name_enough=not traced):
            return calls
    return [_Call(call.tool, call.arguments) for call in traced]


def _stated_calls(value: object, *, is_name_enough: bool = True) -> list[_Call]:
    if isinstance(value, Mapping):
        for name in ("tool_calls", "toolCalls"):
            if isinstance(value.get(name), list):
                return _stated_calls(value[name])
        # OpenAI's tools wrap a call in `function`; its older functions used `function_call`.
        call = value.get("function", value.get("function_call", value))
        if not isinstance(call, Mapping) or "name" not in call:
            return []
        # Beside the calls of a trace, an answer that has a `name` is none.
        if call is value and not is_name_enough and call.keys().isdisjoint({"arguments", "input"}):
            return []
        return [_Call(call["name"], call.get("arguments", call.get("input")))]
    if isinstance(value, list):
        return [
            call for item in value for call in _stated_calls(item, is_name_enough=is_name_enough)
        ]
    return []


def _tool_schema(tool: JsonObject) -> tuple[object, JsonValue]:
    function = tool.get("function", tool)
    if not isinstance(function, dict):
        return None, None
    # `parameters` is what OpenAI calls the schema, `input_schema` what Anthropic does.
    schema = function.get("parameters", function.get("input_schema"))
    return function.get("name"), {} if schema is None else schema


def _call_faults(call: _Call, schemas: Mapping[object, JsonValue], timeout_s: float) -> list[str]:
    if not isinstance(call.name, str) or call.name not in schemas:
        known = ", ".join(str(name) for name in schemas)
        return [f"there is no tool {call.name!r}; there are {known}"]
    # Models write arguments as JSON text; frameworks often parse it before it is recorded. A call
    # without arguments is valid where the schema requires none.
    text = "{}" if call.arguments is None else call.arguments
    text = text if isinstance(text, str) else json.dumps(text)
    try:
        read_json(text)
    except ValueError as error:
        return [f"the arguments of {call.name} are no JSON: {error}"]
    found = run_bounded(f"{_PARSERS}:schema_faults", schemas[call.name], text, timeout_s=timeout_s)
    return [f"{call.name}: {fault}" for fault in cast("list[str]", found)]
