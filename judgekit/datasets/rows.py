"""Streams the rows of a file, whatever its format, each with the line it begins in."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.datasets.documents import YAML_SUFFIXES, Document, read_document
from judgekit.datasets.formulas import restore
from judgekit.datasets.json_text import parse_json
from judgekit.datasets.tables import iter_table
from judgekit.datasets.texts import MAX_LINE_BYTES, Line, as_path, iter_lines
from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pydantic import JsonValue

LINE_SUFFIXES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
"""One JSON object a line."""

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet")
"""Named columns; a cell may hold JSON as text."""

DOCUMENT_SUFFIXES = (".json", *YAML_SUFFIXES)
"""One value, held in memory whole."""

_LIST_NAMES = ("cases", "outputs", "rows", "records", "data", "items", "labels", "replies")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file."""

    line: int
    """The line it begins in, from 1; for Parquet its number among the rows."""

    fields: dict[str, JsonValue]
    """Its values by name; of a table only those that are not missing."""

    is_table: bool = False
    """Whether it comes from a table, where lists and mappings may be given as JSON text."""

    is_repaired: bool = False
    """Whether lone surrogates in it were replaced."""


def suffix_of(path: Path) -> str:
    """The end of a file's name that tells its format, in lower case, `.gz` with what it packs."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return "".join(suffixes[-2:]) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])


def iter_rows(path: Path | str) -> Iterator[Row]:
    """The rows of a file, in file order; JSONL, CSV and Parquet are never held whole."""
    for row in scan_rows(path):
        if isinstance(row, DatasetError):
            raise row
        yield row


def scan_rows(path: Path | str) -> Iterator[Row | DatasetError]:
    """As `iter_rows`, but a row that cannot be read is given as the error it is."""
    path = as_path(path)
    suffix = suffix_of(path)
    if suffix in LINE_SUFFIXES:
        yield from _json_rows(path)
    elif suffix == ".parquet":
        for number, fields in enumerate(iter_table(path), start=1):
            yield Row(number, fields, is_table=True)
    elif suffix in TABLE_SUFFIXES:
        yield from _cell_rows(path, "\t" if suffix == ".tsv" else ",")
    elif suffix in DOCUMENT_SUFFIXES:
        yield from document_rows(read_document(path))
    else:
        known = ", ".join((*LINE_SUFFIXES, *TABLE_SUFFIXES, *DOCUMENT_SUFFIXES))
        message = f"the format of a {suffix or 'nameless'} file is not known"
        raise DatasetError(message, path=path, hint=f"known: {known}")


def document_rows(document: Document) -> Iterator[Row | DatasetError]:
    """The rows a document holds: it is a list of objects, or an object that holds one."""
    where, items = _list_in(document)
    is_repaired = bool(document.notes)
    for index, item in enumerate(items):
        line = document.line_of(*where, index)
        if isinstance(item, dict):
            yield Row(line, item, is_repaired=is_repaired)
        else:
            yield _not_an_object(item, document.path, line)


def _list_in(document: Document) -> tuple[tuple[str, ...], list[JsonValue]]:
    value = document.value
    if isinstance(value, list):
        return (), value
    lists = (
        {k: v for k, v in value.items() if isinstance(v, list)} if isinstance(value, dict) else {}
    )
    names = [name for name in _LIST_NAMES if name in lists] or list(lists)
    if len(names) == 1:
        return (names[0],), lists[names[0]]
    what = f"several lists: {', '.join(names)}" if names else "no list of objects"
    raise DatasetError(
        f"holds {what}",
        path=document.path,
        line=1,
        hint="write a list of objects, or an object with one such list",
    )


def _json_rows(path: Path) -> Iterator[Row | DatasetError]:
    for line in iter_lines(path):
        if isinstance(line, DatasetError):
            yield line
        elif line.text.strip():
            yield _json_row(line, path)


def _json_row(line: Line, path: Path) -> Row | DatasetError:
    try:
        value, is_repaired = parse_json(line.text.rstrip("\r\n"), path=path, first_line=line.number)
    except DatasetError as error:
        return error
    if not isinstance(value, dict):
        return _not_an_object(value, path, line.number)
    return Row(line.number, value, is_repaired=is_repaired)


def _not_an_object(value: JsonValue, path: Path, line: int) -> DatasetError:
    kind = {list: "list", str: "text", bool: "truth value", type(None): "null"}.get(
        type(value), "number"
    )
    return DatasetError(
        f"a row must be an object, not a {kind}",
        path=path,
        line=line,
        hint='write {"field": value, …}',
    )


def _cell_rows(path: Path, delimiter: str) -> Iterator[Row | DatasetError]:
    # The limit is the module's, not the reader's; the default cuts long outputs off.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
    reader = csv.reader(_texts(path), delimiter=delimiter, strict=True)
    names: list[str] | None = None
    begins = 1
    try:
        for cells in reader:
            if cells and names is None:
                names = _header(cells, path, delimiter)
            elif cells and names is not None:
                yield _cell_row(cells, names, path, begins)
            begins = reader.line_num + 1
    except csv.Error as error:
        raise _table_error(error, path, begins) from error


def _texts(path: Path) -> Iterator[str]:
    for line in iter_lines(path):
        if isinstance(line, DatasetError):
            raise line
        yield line.text


def _header(cells: list[str], path: Path, delimiter: str) -> list[str]:
    names = [restore(cell).strip() for cell in cells]
    if len(names) == 1 and delimiter == "," and (";" in names[0] or "\t" in names[0]):
        hint = "save it with commas, or name a tab-separated file .tsv"
        raise DatasetError("the columns are not separated by commas", path=path, line=1, hint=hint)
    for number, name in enumerate(names, start=1):
        if not name:
            raise DatasetError(f"column {number} has no name", path=path, line=1)
        if name in names[: number - 1]:
            raise DatasetError(f"two columns are called {name!r}", path=path, line=1)
    return names


def _cell_row(cells: list[str], names: list[str], path: Path, line: int) -> Row | DatasetError:
    if len(cells) != len(names):
        return DatasetError(
            f"{len(cells)} cells where the header names {len(names)} columns",
            path=path,
            line=line,
            hint='a text with commas or line ends stands in double quotes, and " in it as ""',
        )
    return Row(line, {n: restore(c) for n, c in zip(names, cells, strict=True)}, is_table=True)


def _table_error(error: csv.Error, path: Path, line: int) -> DatasetError:
    reason = str(error)
    if "unexpected end of data" in reason:
        message = "a quote is opened here and never closed"
    elif "new-line character" in reason:
        message = "lines end with a lone carriage return; save the file with LF line ends"
    elif "field larger" in reason:
        message = f"a cell larger than {MAX_LINE_BYTES >> 20} MiB; is a quote left open?"
    else:
        message = f"not sound as a table: {reason}"
    return DatasetError(message, path=path, line=line)
