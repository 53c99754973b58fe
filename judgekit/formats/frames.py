"""Rows in memory: lists, generators, and the frames of pandas, polars, Arrow and Hugging Face.

Frames are known by what they offer, so that nothing is imported that the user does not use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from judgekit.errors import InputError, SettingsError
from judgekit.formats.rows import json_cells, require_pyarrow
from judgekit.formats.text import without_nulls

FRAME_LIBRARIES = ("pandas", "polars")
"""The libraries that results are handed to, in the order they are looked for."""


class MemoryRow(NamedTuple):
    """One item of data in memory."""

    # What messages call it, such as `outputs[3]`
    place: str
    # A mapping of JSON values, or a record of judgekit
    value: Any
    # Whether it is a row of a frame, whose cells may hold JSON as text, as in a CSV file
    is_table: bool = False


def memory_rows(data: object, name: str) -> Iterator[MemoryRow]:
    """The rows of data in memory, with plain JSON values; `name` is for messages."""
    if not isinstance(data, Mapping) and (rows := _frame_rows(data, name)) is not None:
        for place, row in enumerate(rows):
            where = f"{name}[{place}]"
            yield MemoryRow(where, _plain(row, where, is_table=True), is_table=True)
        return
    if isinstance(data, Mapping) and any(hasattr(one, "column_names") for one in data.values()):
        raise InputError(  # a Hugging Face dataset with its splits
            f"{name}: there are several splits: {', '.join(map(str, data))}",
            hint=f"pass one of them, such as data[{next(iter(data))!r}]",
        )
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
        raise InputError(
            f"{name}: a {type(data).__name__} holds no rows",
            hint="pass a list of mappings or records, a pandas, polars or Arrow table, a Hugging "
            "Face dataset, or the path of a file",
        )
    for place, item in enumerate(data):
        where = f"{name}[{place}]"
        yield MemoryRow(where, _plain(item, where) if isinstance(item, Mapping) else item)


def _plain(row: Mapping[Any, object], where: str, *, is_table: bool = False) -> dict[str, Any]:
    """A row with JSON values; of a table without its missing ones."""
    values = json_cells(row, f"{where}: ", InputError)
    return without_nulls(values) if is_table else values


def _frame_rows(frame: Any, name: str) -> Iterable[Mapping[Any, object]] | None:
    if hasattr(frame, "collect_schema") and hasattr(frame, "collect"):  # a lazy frame of polars
        frame = frame.collect()
    if hasattr(frame, "iter_rows"):  # polars
        rows: Iterable[Mapping[Any, object]] = frame.iter_rows(named=True)
        return rows
    if hasattr(frame, "to_dict") and hasattr(frame, "itertuples"):  # pandas
        # Of two columns with one name `to_dict` would keep the last and say nothing to its caller.
        if not frame.columns.is_unique:
            raise InputError(f"{name}: two columns have the same name", hint="rename one of them")
        found: list[Mapping[Any, object]] = frame.to_dict("records")
        return found
    if hasattr(frame, "features") and hasattr(frame, "column_names"):  # Hugging Face
        dataset: Iterable[Mapping[Any, object]] = frame
        return dataset
    return _arrow_rows(frame)


def _arrow_rows(frame: Any) -> Iterable[Mapping[Any, object]] | None:
    """The rows of an Arrow table, or of what any other library hands over as one."""
    if not hasattr(frame, "to_pylist") and hasattr(frame, "__arrow_c_stream__"):
        try:
            frame = require_pyarrow().table(frame)
        except ValueError as error:  # a single column, for example
            raise InputError(f"a {type(frame).__name__} is no table: {error}") from error
    if hasattr(frame, "to_pylist") and hasattr(frame, "column_names"):
        if len({*frame.column_names}) < len(frame.column_names):
            raise InputError("two columns have the same name", hint="rename one of them")
        listed: list[Mapping[Any, object]] = frame.to_pylist()
        return listed
    return None


def with_row_ids(found: Iterable[MemoryRow], names: Collection[str]) -> list[MemoryRow]:
    """Rows with ids by their place, where none of them has one under any of the names."""
    rows = list(found)
    mappings = [row.value for row in rows if isinstance(row.value, dict)]
    if any(value.get(name) is not None for value in mappings for name in names):
        return rows
    return [
        row._replace(value={**row.value, "id": f"row-{n}"}) if isinstance(row.value, dict) else row
        for n, row in enumerate(rows, start=1)
    ]


def frame_library(data: object) -> str | None:
    module = type(data).__module__.partition(".")[0]
    return module if module in FRAME_LIBRARIES else None


def make_frame(rows: Sequence[Mapping[str, object]], library: str | None = None) -> Any:
    """A frame of rows: of pandas or polars, whichever is installed where none is named."""
    if library is not None and library not in FRAME_LIBRARIES:
        raise SettingsError(
            f"results cannot be made a frame of {library!r}", hint="name pandas or polars"
        )
    wanted = FRAME_LIBRARIES if library is None else (library,)
    installed = next((name for name in wanted if find_spec(name) is not None), None)
    if installed is None:
        raise SettingsError(
            f"a frame needs {' or '.join(wanted)}, which is not installed",
            hint=f"pip install {wanted[0]}; or use to_dicts(), which needs nothing",
        )
    module = import_module(installed)
    # A column may begin with missing values, from which polars would guess the wrong type.
    more = {"infer_schema_length": None} if installed == "polars" else {}
    return module.DataFrame(list(rows), **more)
