"""The exports of other tools: their tables of field names in `tool_shapes.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from judgekit.formats.text import one_or_several

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import JsonValue

Paths = str
"""Where a field may be: dotted paths and spaces between; the first path with a value counts."""

# The names under which the answer of an API or an export lists its rows.
_LISTS = ("data", "runs", "events", "examples", "traces", "feedback", "records", "assessments")


@dataclass(frozen=True, slots=True)
class ToolShape:
    """The rows of one export of a tool: how they are recognised, and what their fields mean."""

    tool: str
    what: str
    holds: Literal["cases", "outputs", "traces", "labels"]
    marks: Paths  # the fields that every row has
    any_of: Paths = ""  # and at least one of these
    fields: Mapping[str, Paths] = field(default_factory=dict)
    labels_in: str | None = None  # where its labels are; empty for the row itself
    label: Mapping[str, Paths] = field(default_factory=dict)
    # Of traces: what names the trace of a row that is one span of it, where the inner spans of a
    # row are, and the fields of a span; none where they are OpenTelemetry spans.
    trace_id: Paths = ""
    children: str | None = None
    span: Mapping[str, Paths] = field(default_factory=dict)
    in_tables: bool = False  # whether the tool documents that it writes it as CSV, too
    prepare: str | None = None  # what makes other rows of a row first, in `tool_exports`

    @property
    def title(self) -> str:
        return f"{self.what} of {self.tool}"

    def matches(self, row: dict[str, JsonValue]) -> bool:
        is_marked = all(has_field(row, path) for path in self.marks.split())
        return is_marked and (not self.any_of or bool(row.keys() & {*self.any_of.split()}))


def has_field(row: JsonValue, path: str) -> bool:
    first, _, rest = path.partition(".")
    is_there = isinstance(row, dict) and first in row
    return is_there and (not rest or has_field(cast("dict[str, JsonValue]", row)[first], rest))


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@cache
def tool_shapes() -> tuple[ToolShape, ...]:
    return tuple(ToolShape(**table) for table in _tables()["export"])


@cache
def span_names() -> Mapping[str, Sequence[str]]:
    """The attributes of a span that may hold a field of its usage."""
    return {own: names.split() for own, names in _tables()["spans"].items()}


def tool_items(value: JsonValue) -> tuple[tuple[str | int, ...], list[JsonValue]]:
    """The rows of an export, and where they are: a list, or one in what an API answers."""
    at: tuple[str | int, ...] = ()
    while isinstance(value, dict):
        name = next((name for name in _LISTS if isinstance(value.get(name), list | dict)), None)
        if name is None or tool_shape(value) is not None:
            break
        value, at = value[name], (*at, name)
    return at, one_or_several(value)


def tool_shape(row: JsonValue) -> ToolShape | None:
    if not isinstance(row, dict):
        return None
    return next((shape for shape in tool_shapes() if shape.matches(row)), None)
