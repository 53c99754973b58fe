"""Renames the columns of a file as its owner says, so that any table can hold cases."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from judgekit.datasets.cases import CASE_ALIASES
from judgekit.datasets.faults import suggestion
from judgekit.errors import DatasetError, SettingsError
from judgekit.records.case import Case

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.datasets.rows import Row

_METADATA = "metadata."


def map_columns(rows: Iterable[Row], columns: Mapping[str, str], path: Path) -> Iterator[Row]:
    """The rows under the names of a case's fields."""
    # A column that is neither mapped nor a field of a case goes into the metadata. A row without an
    # id is called `row-N`, N its place in the file from 1.
    _check(columns)
    unseen = dict(columns)
    known: dict[str, None] = {}
    for place, row in enumerate(rows, start=1):
        if place == 1:
            _check_first(row, columns, path)
        for name in row.fields:
            unseen.pop(name, None)
            known.setdefault(name)
        yield replace(row, fields=_renamed(row, columns, place))
    for name in unseen if known else ():
        raise _no_column(name, known, path, line=None)


def _check(columns: Mapping[str, str]) -> None:
    taken: dict[str, str] = {}
    for name, field in columns.items():
        if field not in Case.model_fields and not field.startswith(_METADATA):
            hint = suggestion(field, Case.model_fields, CASE_ALIASES)
            raise SettingsError(
                f"the column {name!r} is mapped to {field!r}, which is no field of a case",
                hint=f"{hint} (or `metadata.{field}`)",
            )
        if field in taken:
            both = f"{taken[field]!r} and {name!r}"
            raise SettingsError(f"the columns {both} are both mapped to {field!r}")
        taken[field] = name


def _check_first(row: Row, columns: Mapping[str, str], path: Path) -> None:
    """A wrong name is told as such, rather than as the field that is then missing."""
    for name, field in columns.items():
        if name not in row.fields and field in {"id", "input"}:
            raise _no_column(name, row.fields, path, line=row.line)


def _no_column(name: str, known: Iterable[str], path: Path, *, line: int | None) -> DatasetError:
    message = f"there is no column {name!r}"
    return DatasetError(message, path=path, line=line, hint=suggestion(name, known))


def _renamed(row: Row, columns: Mapping[str, str], place: int) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    own: dict[str, JsonValue] = {}
    for name, value in row.fields.items():
        field = columns.get(name, name)
        if field.startswith(_METADATA):
            own[field.removeprefix(_METADATA)] = value
        elif name in columns or _is_free(field, columns):
            found[field] = value
        else:
            own[name] = value
    if not {"id", "case_id"} & found.keys():
        found["id"] = f"row-{place}"
    if row.is_table:  # whose cells are read later, when these names join the column `metadata`
        return {**found, **{f"{_METADATA}{name}": value for name, value in own.items()}}
    given = found.get("metadata", {})
    if own and isinstance(given, dict):
        found["metadata"] = {**own, **given}
    return found


def _is_free(name: str, columns: Mapping[str, str]) -> bool:
    """Whether an unmapped column is a field of a case, under its own name or a usual one."""
    meant = name if name in Case.model_fields else CASE_ALIASES.get(name)
    return meant is not None and meant not in columns.values()
