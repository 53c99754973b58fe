"""Reads a table of promptfoo's tests: variables by column, and `__expected` as assertions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from judgekit.records.record import JsonObject

_EXPECTED = re.compile(r"__expected\d*")
_METADATA = "__metadata:"
_LIST = "[]"
_COMMA = re.compile(r"(?<!\\),")
_ASSERTION = re.compile(
    r"(?P<type>(?:not-)?[a-z][a-z-]*)(?:\((?P<threshold>\d+(?:\.\d+)?)\))?(?::(?P<value>.*))?",
    re.DOTALL,
)
_CODE = {"fn": "javascript", "eval": "javascript", "javascript": "javascript", "python": "python"}
_SHORT = {"grade": "llm-rubric"}
_LISTS = frozenset({"contains-all", "contains-any", "icontains-all", "icontains-any"})
_NUMBERS = frozenset({"latency", "cost", "levenshtein"})


def row_as_test(row: Mapping[str, JsonValue], known: frozenset[str]) -> JsonObject:
    """A row of a table as a test."""
    variables: JsonObject = {}
    metadata: JsonObject = {}
    asserted: list[JsonValue] = []
    found: JsonObject = {}
    for name, cell in row.items():
        if not name.startswith("__"):
            variables[name] = cell
        elif cell is None or not str(cell).strip():
            continue
        elif _EXPECTED.fullmatch(name):
            asserted.append(assertion_of_text(str(cell), known))
        elif name == "__description":
            found["description"] = cell
        elif name == "__threshold":
            found["threshold"] = _number(str(cell))
        else:
            metadata |= _metadata(name, cell)
    return {**found, "vars": variables, "assert": asserted, "metadata": metadata}


def assertion_of_text(text: str, known: frozenset[str]) -> JsonObject:
    """An assertion as it stands in a cell: `contains: yes`, `similar(0.8): Hello`, or a bare text."""
    match = _ASSERTION.fullmatch(text.strip())
    name = "" if match is None else match["type"]
    name = _CODE.get(name, _SHORT.get(name, name))
    plain = name.removeprefix("not-")
    if match is None or (plain not in known and plain not in _CODE.values()):
        return {"type": "equals", "value": text}
    found: JsonObject = {"type": name}
    value = (match["value"] or "").strip()
    if match["threshold"] is not None:
        found["threshold"] = float(match["threshold"])
    if plain in _LISTS:
        found["value"] = [part.strip() for part in value.split(",")]
    elif plain in _NUMBERS and match["threshold"] is None:
        found["threshold"] = _number(value)
    elif value:
        found["value"] = value
    return found


def _metadata(column: str, cell: JsonValue) -> JsonObject:
    """What a column of metadata or of settings says; `__metadata:tags[]` is a list."""
    name = column.removeprefix(_METADATA)
    if name == column or not name.endswith(_LIST):
        return {name: cell}
    parts = [part.strip().replace(r"\,", ",") for part in _COMMA.split(str(cell))]
    return {name.removesuffix(_LIST): [*parts]}


def _number(text: str) -> JsonValue:
    try:
        number = float(text)
    except ValueError:
        return text
    return number if abs(number) < float("inf") else text
