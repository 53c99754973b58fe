"""Assertions that a text is, or holds, sound JSON, XML, HTML or SQL, by real parsers."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, JsonValue

from judgekit.checks.bounded import RefusedInputError, TimeoutSeconds, bounded
from judgekit.checks.json_form import read_json
from judgekit.checks.matching import Texts  # noqa: TC001 - the seam reads the hints
from judgekit.checks.paths import PathText  # noqa: TC001 - the seam reads the hints
from judgekit.checks.seam import UndecidedError, assertion
from judgekit.checks.subjects import kept, text_of
from judgekit.errors import InputError
from judgekit.records.check import AssertionResult

if TYPE_CHECKING:
    from judgekit.records.output import Output

Dialect = Literal[
    "athena", "bigquery", "clickhouse", "databricks", "doris", "drill", "duckdb", "hive", "mysql",
    "oracle", "postgres", "presto", "redshift", "snowflake", "spark", "sqlite", "teradata",
    "trino", "tsql",
]  # fmt: skip
"""A dialect of SQL."""

_TIMEOUT_S = 5.0
_CHECK_S = 10.0


def sound_schema(schema: JsonValue) -> JsonValue:
    """A JSON Schema that can be used."""
    try:
        fault = _schema_fault(json.dumps(schema, sort_keys=True))
    except UndecidedError as error:
        raise InputError(f"no usable JSON Schema: {error.message}") from error
    if fault is not None:
        raise InputError(f"no usable JSON Schema: {fault}")
    return schema


@lru_cache(maxsize=256)
def _schema_fault(schema: str) -> str | None:
    function = "judgekit.checks.json_form:unsound_schema"
    fault = bounded(function, json.loads(schema), timeout_s=_CHECK_S)
    return None if fault is None else str(fault)


Schema = Annotated[JsonValue, AfterValidator(sound_schema)]
"""A JSON Schema that is sound and holds all it refers to."""


@assertion("text.is_json")
def is_json(
    output: Output,
    *,
    schema: Schema | None = None,
    path: PathText | None = None,
    timeout_s: TimeoutSeconds = _TIMEOUT_S,
) -> AssertionResult:
    """Pass when the text is JSON, and satisfies the schema where there is one."""
    text = text_of(output, path)
    try:
        if schema is None:
            read_json(text)
            faults: list[str] = []
        else:
            faults = _faults("schema_faults", schema, text, timeout_s=timeout_s)
    except ValueError as error:
        return _result(text, str(error), "JSON")
    return _result(text, "; ".join(faults), "JSON" if schema is None else "JSON of the schema")


@assertion("text.contains_json")
def contains_json(
    output: Output,
    *,
    schema: Schema | None = None,
    path: PathText | None = None,
    timeout_s: TimeoutSeconds = _TIMEOUT_S,
) -> AssertionResult:
    """Pass when the text holds a JSON object or list that satisfies the schema, if there is one."""
    text = text_of(output, path)
    found = bounded("judgekit.checks.json_form:contained_json", text, schema, timeout_s=timeout_s)
    faults = found[1] if isinstance(found, list) else []
    what = "JSON" if schema is None else "JSON of the schema"
    return _result(text, "; ".join(faults), what, verb="holds")


@assertion("text.is_xml")
def is_xml(
    output: Output,
    *,
    required_elements: Texts | None = None,
    path: PathText | None = None,
    timeout_s: TimeoutSeconds = _TIMEOUT_S,
) -> AssertionResult:
    """Pass when the text is a well-formed XML document."""
    # Entities are neither expanded nor fetched.
    text = text_of(output, path)
    fault = _fault("xml_form:xml_fault", text, required_elements or [], timeout_s=timeout_s)
    return _result(text, fault, "XML")


@assertion("text.contains_xml")
def contains_xml(
    output: Output,
    *,
    required_elements: Texts | None = None,
    path: PathText | None = None,
    timeout_s: TimeoutSeconds = _TIMEOUT_S,
) -> AssertionResult:
    """Pass when the text holds a well-formed XML element."""
    text = text_of(output, path)
    required = required_elements or []
    fault = _fault("xml_form:contained_xml_fault", text, required, timeout_s=timeout_s)
    return _result(text, fault, "XML", verb="holds")


@assertion("text.is_html")
def is_html(
    output: Output, *, path: PathText | None = None, timeout_s: TimeoutSeconds = _TIMEOUT_S
) -> AssertionResult:
    """Pass when the text is HTML: known elements, properly nested, with no text around them."""
    text = text_of(output, path)
    return _result(text, _fault("html_form:html_fault", text, timeout_s=timeout_s), "HTML")


@assertion("text.contains_html")
def contains_html(
    output: Output, *, path: PathText | None = None, timeout_s: TimeoutSeconds = _TIMEOUT_S
) -> AssertionResult:
    """Pass when the text holds an HTML element: one that has no content, or is closed."""
    text = text_of(output, path)
    there = bounded("judgekit.checks.html_form:contains_html", text, timeout_s=timeout_s)
    return _result(text, None if there else "there is no element", "HTML", verb="holds")


@assertion("text.is_sql")
def is_sql(
    output: Output,
    *,
    dialect: Dialect | None = None,
    tables: Texts | None = None,
    path: PathText | None = None,
    timeout_s: TimeoutSeconds = _TIMEOUT_S,
) -> AssertionResult:
    """Pass when the text is SQL: one statement or more, and nothing else."""
    text = text_of(output, path)
    fault = _fault("sql_form:sql_fault", text, dialect, tables, timeout_s=timeout_s)
    return _result(text, fault, "SQL")


@assertion("text.contains_sql")
def contains_sql(
    output: Output,
    *,
    dialect: Dialect | None = None,
    tables: Texts | None = None,
    path: PathText | None = None,
    timeout_s: TimeoutSeconds = _TIMEOUT_S,
) -> AssertionResult:
    """Pass when the text holds SQL: in fenced code, or from a line on that begins a statement."""
    text = text_of(output, path)
    fault = _fault("sql_form:contained_sql_fault", text, dialect, tables, timeout_s=timeout_s)
    return _result(text, fault, "SQL", verb="holds")


def _faults(function: str, *arguments: object, timeout_s: float) -> list[str]:
    """The faults the worker finds; a text that cannot be read is a ValueError here too."""
    try:
        found = bounded(f"judgekit.checks.json_form:{function}", *arguments, timeout_s=timeout_s)
    except RefusedInputError as error:
        if error.kind in ("ValueError", "JSONDecodeError"):
            raise ValueError(error.message) from error
        raise
    return [str(fault) for fault in found] if isinstance(found, list) else []


def _fault(function: str, *arguments: object, timeout_s: float) -> str | None:
    found = bounded(f"judgekit.checks.{function}", *arguments, timeout_s=timeout_s)
    return None if found is None else str(found)


def _result(text: str, fault: str | None, what: str, *, verb: str = "is") -> AssertionResult:
    message = f"the text {verb} {what}" if not fault else f"the text {verb} no {what}: {fault}"
    return AssertionResult(passed=not fault, actual=kept(text), message=message)
