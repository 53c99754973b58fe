"""Reads files row by row (JSONL, CSV, TSV, Parquet, documents), and their cells; writes tables."""

from __future__ import annotations

import csv
import datetime as dt
import decimal
import io
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import IO, Any, TypeVar

from pydantic import JsonValue

from judgekit.errors import DatasetError, JudgekitError, SettingsError
from judgekit.extras import install_hint
from judgekit.formats.documents import YAML_SUFFIXES, ParsedDocument, read_document
from judgekit.formats.problems import FieldFault, json_kind
from judgekit.formats.text import (
    MAX_LINE_BYTES,
    as_path,
    escape_formula,
    iter_lines,
    parse_strict_json,
    unescape_formula,
    without_nulls,
)

# One JSON object per line.
LINE_SUFFIXES = tuple(
    f"{kind}{packed}" for packed in ("", ".gz", ".zst") for kind in (".jsonl", ".ndjson")
)
TABLE_SUFFIXES = (".csv", ".tsv", ".parquet")  # named columns; a cell may hold JSON as text
DOCUMENT_SUFFIXES = (".json", *YAML_SUFFIXES)  # one value, read into memory as a whole
_LIST_NAMES = ("cases", "outputs", "rows", "records", "data", "items", "labels", "replies")

AnyRow = TypeVar("AnyRow")


@dataclass(frozen=True, slots=True)
class FileRow:
    """One row of a file."""

    line: int  # the line it begins in, from 1; for Parquet the number of the row
    fields: dict[str, JsonValue]  # its values by name; of a table only those that are not missing
    # Whether lists and mappings may be JSON text, as in the cells of a table.
    is_table: bool = False
    is_repaired: bool = False  # whether lone surrogates in it were replaced


def suffix_of(path: Path) -> str:
    """The suffix that determines a file's format, in lower case; `.gz` with what it packs."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    is_packed = suffixes[-1:] in ([".gz"], [".zst"])
    return "".join(suffixes[-2:] if is_packed else suffixes[-1:])


def iter_rows(path: Path | str) -> Iterator[FileRow]:
    """The rows of a file, in file order; JSONL, CSV and Parquet are streamed."""
    return raise_damaged(scan_rows(path))


def raise_damaged(rows: Iterable[AnyRow | DatasetError]) -> Iterator[AnyRow]:
    """The rows, up to the first that could not be read, which is raised."""
    for row in rows:
        if isinstance(row, DatasetError):
            raise row
        yield row


def scan_rows(path: Path | str) -> Iterator[FileRow | DatasetError]:
    """The rows of a file; a row that cannot be read is yielded as its error."""
    path = as_path(path)
    suffix = suffix_of(path)
    if suffix in LINE_SUFFIXES:
        yield from _json_rows(path)
    elif suffix == ".parquet":
        # Parquet has no lines; messages name the row.
        for number, fields in enumerate(_iter_parquet_rows(path), start=1):
            yield FileRow(number, fields, is_table=True)
    elif suffix in TABLE_SUFFIXES:
        yield from _cell_rows(path, "\t" if suffix == ".tsv" else ",")
    elif suffix in DOCUMENT_SUFFIXES:
        yield from document_rows(read_document(path))
    else:
        known = ", ".join((*LINE_SUFFIXES, *TABLE_SUFFIXES, *DOCUMENT_SUFFIXES))
        message = f"the format of a {suffix or 'nameless'} file is not known"
        raise DatasetError(message, path=path, hint=f"known: {known}")


def document_rows(document: ParsedDocument) -> Iterator[FileRow | DatasetError]:
    """The rows of a document: a list of objects, or an object that contains one."""
    where, items = _list_in(document)
    is_repaired = bool(document.notes)
    for index, item in enumerate(items):
        line = document.line_of(*where, index)
        if isinstance(item, dict):
            yield FileRow(line, item, is_repaired=is_repaired)
        else:
            yield _not_an_object(item, document.path, line)


def _list_in(document: ParsedDocument) -> tuple[tuple[str, ...], list[JsonValue]]:
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


def _json_rows(path: Path) -> Iterator[FileRow | DatasetError]:
    for line in iter_lines(path):
        if isinstance(line, DatasetError):
            yield line
        elif line.text.strip():
            try:
                yield json_row(line.text.rstrip("\r\n"), path, line.number)
            except DatasetError as error:
                yield error


def json_row(text: str, path: Path, line: int) -> FileRow:
    value, is_repaired = parse_strict_json(text, path=path, first_line=line)
    if not isinstance(value, dict):
        raise _not_an_object(value, path, line)
    return FileRow(line, value, is_repaired=is_repaired)


def _not_an_object(value: JsonValue, path: Path, line: int) -> DatasetError:
    message = f"a row must be an object, not {json_kind(value)}"
    return DatasetError(message, path=path, line=line, hint='write {"field": value, …}')


def _cell_rows(path: Path, delimiter: str) -> Iterator[FileRow | DatasetError]:
    # The limit is the module's, not the reader's; the default cuts long outputs off.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
    texts = (line.text for line in raise_damaged(iter_lines(path)))
    reader = csv.reader(texts, delimiter=delimiter, strict=True)
    names: list[str] | None = None
    begins = 1
    try:
        for cells in reader:
            if cells and names is None:
                names = _header(cells, path, delimiter)
            elif cells and names is not None:
                yield _cell_row(cells, names, path, begins)
            # A quoted cell may span lines, so the row number is not the line number.
            begins = reader.line_num + 1
    except csv.Error as error:
        reason = str(error)
        if "unexpected end of data" in reason:
            message = "a quote is opened here and never closed"
        elif "new-line character" in reason:
            message = "lines end with a lone carriage return; save the file with LF line ends"
        elif "field larger" in reason:
            message = f"a cell larger than {MAX_LINE_BYTES >> 20} MiB; is a quote left open?"
        else:
            message = f"not a valid table: {reason}"
        raise DatasetError(message, path=path, line=begins) from error


def _header(cells: list[str], path: Path, delimiter: str) -> list[str]:
    names = [unescape_formula(cell).strip() for cell in cells]
    if len(names) == 1 and delimiter == "," and (";" in names[0] or "\t" in names[0]):
        hint = "save it with commas, or name a tab-separated file .tsv"
        raise DatasetError("the columns are not separated by commas", path=path, line=1, hint=hint)
    for number, name in enumerate(names, start=1):
        if not name:
            raise DatasetError(f"column {number} has no name", path=path, line=1)
        if name in names[: number - 1]:
            raise DatasetError(f"two columns are called {name!r}", path=path, line=1)
    return names


def _cell_row(cells: list[str], names: list[str], path: Path, line: int) -> FileRow | DatasetError:
    if len(cells) != len(names):
        return DatasetError(
            f"{len(cells)} cells where the header names {len(names)} columns",
            path=path,
            line=line,
            hint='put a text with commas or line breaks in double quotes, and write " in it as ""',
        )
    return FileRow(
        line, {n: unescape_formula(c) for n, c in zip(names, cells, strict=True)}, is_table=True
    )


_BATCH_ROWS = 512


def _iter_parquet_rows(path: Path) -> Iterator[dict[str, JsonValue]]:
    # Nulls and NaN (which data frames write for missing numbers) are left out of a row; times
    # become ISO 8601 text.
    try:
        pa = require_pyarrow()
        from pyarrow import parquet  # noqa: PLC0415 - costs a second; only Parquet files need it
    except SettingsError as error:
        raise DatasetError(error.message, path=path, hint=install_hint("pyarrow")) from error
    row = 0
    try:
        with parquet.ParquetFile(path) as table:
            names = table.schema_arrow.names
            if len({*names}) < len(names):
                twice = "two columns have the same name"
                raise DatasetError(twice, path=path)  # noqa: TRY301 - the file's fault, as below
            for batch in table.iter_batches(batch_size=_BATCH_ROWS):
                for fields in batch.to_pylist():
                    row += 1
                    place = partial(DatasetError, path=path, line=row)
                    yield without_nulls(json_cells(fields, f"row {row}, ", place))
    except FileNotFoundError as error:
        raise DatasetError("there is no such file", path=path) from error
    except DatasetError:
        raise
    except (pa.ArrowException, OSError, OverflowError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DatasetError(f"not a valid Parquet file: {reason}", path=path) from error


def json_cells(
    row: Mapping[Any, object], place: str, error_type: Callable[[str], JudgekitError]
) -> dict[str, JsonValue]:
    """A row with JSON values; the place and the type of error are of a cell that has no such."""
    values: dict[str, JsonValue] = {}
    for name, cell in row.items():
        try:
            values[str(name)] = json_cell(cell)
        except ValueError as error:
            raise error_type(f"{place}column {str(name)!r}: {error}") from error
    return values


def json_cell(cell: object) -> JsonValue:
    """A cell as JSON; a map column, a list of pairs, becomes a list of lists."""
    match cell:
        case dict():
            return {str(key): json_cell(item) for key, item in cell.items()}
        case list() | tuple():
            return [json_cell(item) for item in cell]
        # The scalars and arrays of numpy, which this layer does not import.
        case _ if hasattr(cell, "dtype") and hasattr(cell, "tolist"):
            return json_cell(cell.tolist())
        case _:
            return _scalar(cell)


def _scalar(cell: object) -> JsonValue:
    # Missing values of pandas, one of which is a datetime to Python.
    if cell is None or type(cell).__name__ in {"NAType", "NaTType"}:
        return None
    match cell:
        case bool() | int() | str():
            return cell
        case float() | decimal.Decimal():
            if math.isinf(number := float(cell)):
                raise ValueError("an infinite number has no JSON form")
            return None if math.isnan(number) else number
        case dt.datetime() | dt.date() | dt.time():
            return cell.isoformat()
        case _:
            raise ValueError(f"a {type(cell).__name__} has no JSON form; write it as text")


# Rows of Parquet in memory at a time: a group is compressed as a whole.
_GROUP_ROWS = 5000

# All but tabs and line breaks; a terminal obeys them, and some spreadsheets refuse the file.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def write_csv(
    file: IO[bytes],
    columns: Sequence[str],
    rows: Iterable[Mapping[str, str | float | None]],
    *,
    is_data: bool = False,
) -> None:
    """Write rows as CSV, one in memory at a time."""
    # Control characters are written as their codes, except in data, which are read back.
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    # With other line ends the writer leaves a carriage return inside a cell without its quotes.
    writer = csv.DictWriter(text, columns, lineterminator="\r\n")
    writer.writeheader()
    escape = escape_formula if is_data else _shown_cell
    writer.writerows(
        {k: escape(v) if isinstance(v, str) else v for k, v in row.items()} for row in rows
    )
    # Without this the wrapper closes the file, which its owner has yet to move into place.
    text.detach()


def _shown_cell(text: str) -> str:
    return escape_formula(_CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text))


def write_parquet(
    file: IO[bytes], columns: Mapping[str, str], rows: Iterable[Mapping[str, object]]
) -> None:
    """Write rows as Parquet; a column's type is the name of pyarrow's, such as `string`."""
    pa = require_pyarrow()
    from pyarrow import parquet  # noqa: PLC0415 - costs a second; only Parquet files need it

    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in columns.items()])
    remaining = iter(rows)
    with parquet.ParquetWriter(file, schema) as writer:
        while group := list(islice(remaining, _GROUP_ROWS)):
            try:
                table = pa.Table.from_pylist(group, schema=schema)
            except (OverflowError, pa.ArrowInvalid) as error:
                message = "Parquet holds no integer of 2^63 or more, as these rows do"
                raise SettingsError(message, hint="write .jsonl or .csv") from error
            writer.write_table(table)


def require_pyarrow(
    what: str = "Parquet files need pyarrow", instead: str = "or write .jsonl or .csv"
) -> ModuleType:
    """The module pyarrow; called before anything is written, so that no file is left behind."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - costs a second; only Parquet files need it
    except ImportError as error:
        raise SettingsError(
            f"{what}, which is not installed", hint=f"{install_hint('pyarrow')}, {instead}"
        ) from error
    module: ModuleType = pa
    return module


Fields = dict[str, "JsonValue"]
TYPED_SUFFIX = ".json"  # the suffix of a column whose cells are JSON, whatever the field is
_METADATA_PREFIX = "metadata."


def rename_fields(
    fields: Mapping[str, JsonValue], aliases: Mapping[str, str]
) -> tuple[Fields, list[FieldFault]]:
    if aliases.keys().isdisjoint(fields):
        return dict(fields), []
    # A field that already has its own name keeps it, and an alias beside it stays as it is.
    found: Fields = {}
    sources: dict[str, str] = {}
    faults = []
    for name, value in fields.items():
        meant = aliases.get(name, name)
        if meant != name and meant in fields:
            meant = name
        if meant in sources:
            message = f"`{sources[meant]}` and `{name}` both mean `{meant}`"
            faults.append(FieldFault((name,), message, f"keep one of them, as `{meant}`"))
            continue
        sources[meant] = name
        found[meant] = value
    return found, faults


def read_cells(
    fields: Mapping[str, JsonValue],
    *,
    json_names: Collection[str],
    list_names: Collection[str] = (),
    mixed_names: Collection[str] = (),
    typed_names: Collection[str] = (),
) -> tuple[Fields, list[FieldFault]]:
    # An empty cell is a missing value. A column `metadata.x` is the entry `x` of `metadata`, and
    # for fields that may be any value a column `x.json` is the field `x`: JSON distinguishes a
    # number from its digits, and null and an empty text from no value at all.
    found: Fields = {}
    extra: Fields = {}
    typed = {f"{name}{TYPED_SUFFIX}": name for name in typed_names}
    faults = []
    for name, cell in fields.items():
        if name in typed and typed[name] in fields:
            message = f"`{typed[name]}` and `{name}` both hold `{typed[name]}`"
            faults.append(FieldFault((name,), message, "keep one of them"))
            continue
        if cell == "":
            continue
        try:
            is_object = isinstance(cell, str) and cell.lstrip().startswith("{")
            is_json = name in json_names or name in typed or (name in mixed_names and is_object)
            value = _cell(cell, is_json=is_json, is_list=name in list_names)
        except DatasetError as error:
            remedy = "write its cells as JSON, or give the column another name"
            remedy = 'a text in it has quotes: "a text"' if name in typed else remedy
            faults.append(FieldFault((name,), f"the column `{name}` holds JSON: {error}", remedy))
            continue
        if name.startswith(_METADATA_PREFIX):
            extra[name.removeprefix(_METADATA_PREFIX)] = value
        else:
            found[typed.get(name, name)] = value
    if extra:
        metadata = found.get("metadata", {})
        found["metadata"] = {**metadata, **extra} if isinstance(metadata, dict) else metadata
    return found, faults


def as_texts(fields: Fields, names: Iterable[str]) -> Fields:
    """The fields with whole numbers turned to text where a text is meant, as in ids."""
    # Spreadsheets and YAML write the id 7 as a number.
    changed: Fields = {
        name: str(fields[name])
        for name in names
        if isinstance(fields.get(name), int) and not isinstance(fields[name], bool)
    }
    return {**fields, **changed} if changed else fields


def _cell(cell: JsonValue, *, is_json: bool, is_list: bool) -> JsonValue:
    if not isinstance(cell, str):
        return cell
    if is_list and not cell.lstrip().startswith("["):
        return [name.strip() for name in re.split(r"[;,]", cell) if name.strip()]
    if is_json or is_list:
        # The row says file and line; the error here says what is wrong with the cell alone.
        try:
            return parse_strict_json(cell, path=Path())[0]
        except DatasetError as error:
            raise DatasetError(error.message.partition(": ")[2]) from None
    return cell
