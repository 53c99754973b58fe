"""From the columns people use to the fields of a record: aliases, table cells, ids."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.datasets.faults import Fault
from judgekit.datasets.json_text import parse_json
from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic import JsonValue

Fields = dict[str, "JsonValue"]
"""Values by name."""

TYPED = ".json"
"""What the name of a column ends in whose cells are JSON, whatever the field is."""

_METADATA_PREFIX = "metadata."


def rename(
    fields: Mapping[str, JsonValue], aliases: Mapping[str, str]
) -> tuple[Fields, list[Fault]]:
    """The fields under judgekit's names."""
    # A field that already has its own name keeps it, and an alias beside it stays as it is.
    found: Fields = {}
    taken: dict[str, str] = {}
    faults = []
    for name, value in fields.items():
        meant = aliases.get(name, name)
        if meant != name and meant in fields:
            meant = name
        if meant in taken:
            message = f"`{taken[meant]}` and `{name}` both mean `{meant}`"
            faults.append(Fault((name,), message, f"keep one of them, as `{meant}`"))
            continue
        taken[meant] = name
        found[meant] = value
    return found, faults


def read_cells(
    fields: Mapping[str, JsonValue],
    *,
    json_names: Iterable[str],
    list_names: Iterable[str],
    mixed_names: Iterable[str] = (),
) -> tuple[Fields, list[Fault]]:
    """The fields of a table's row, with what their cells stand for."""
    # An empty cell is a missing value. A column `metadata.x` is the entry `x` of `metadata`; for
    # fields that may be any value see `typed_columns`.
    found: Fields = {}
    extra: Fields = {}
    faults = []
    for name, cell in fields.items():
        if cell == "":
            continue
        try:
            is_json = name in json_names or (name in mixed_names and _is_object(cell))
            value = _cell(cell, is_json=is_json, is_list=name in list_names)
        except DatasetError as error:
            remedy = "write its cells as JSON, or give the column another name"
            faults.append(Fault((name,), f"the column `{name}` holds JSON: {error}", remedy))
            continue
        if name.startswith(_METADATA_PREFIX):
            extra[name.removeprefix(_METADATA_PREFIX)] = value
        else:
            found[name] = value
    if extra:
        given = found.get("metadata", {})
        found["metadata"] = {**given, **extra} if isinstance(given, dict) else given
    return found, faults


def typed_columns(fields: Fields, names: Iterable[str]) -> tuple[Fields, list[Fault]]:
    """The values of a table's row that stand as JSON in a column `x.json`, by their field `x`."""
    # That tells a number from its digits, and null and an empty text from no value at all.
    found: Fields = {}
    faults = []
    for name in names:
        column = f"{name}{TYPED}"
        cell = fields.get(column, "")
        if column in fields and name in fields:
            message = f"`{name}` and `{column}` both hold `{name}`"
            faults.append(Fault((column,), message, "keep one of them"))
        elif cell != "":
            try:
                found[name] = _cell(cell, is_json=True, is_list=False)
            except DatasetError as error:
                message = f"the column `{column}` holds JSON: {error}"
                faults.append(Fault((column,), message, 'a text in it has quotes: "a text"'))
    return found, faults


def as_texts(fields: Fields, names: Iterable[str]) -> Fields:
    """The fields with whole numbers turned to text where a text is meant, as in ids."""
    changed: Fields = {
        name: str(fields[name])
        for name in names
        if isinstance(fields.get(name), int) and not isinstance(fields[name], bool)
    }
    return {**fields, **changed} if changed else fields


def _is_object(cell: JsonValue) -> bool:
    return isinstance(cell, str) and cell.lstrip().startswith("{")


def _cell(cell: JsonValue, *, is_json: bool, is_list: bool) -> JsonValue:
    if not isinstance(cell, str):
        return cell
    if is_list and not cell.lstrip().startswith("["):
        return [name.strip() for name in re.split(r"[;,]", cell) if name.strip()]
    if is_json or is_list:
        # The row says file and line; the error here says what is wrong with the cell alone.
        try:
            return parse_json(cell, path=Path())[0]
        except DatasetError as error:
            raise DatasetError(error.message.partition(": ")[2]) from None
    return cell
