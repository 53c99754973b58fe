"""Reads the rows of Parquet files as JSON values, a batch in memory at a time."""

from __future__ import annotations

import datetime as dt
import decimal
import math
from typing import TYPE_CHECKING

from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pydantic import JsonValue

_BATCH_ROWS = 512


def iter_table(path: Path) -> Iterator[dict[str, JsonValue]]:
    """The rows of a Parquet file, in file order."""
    # Nulls and NaN (which data frames write for missing numbers) are left out of a row; times
    # become ISO 8601 text.
    try:
        import pyarrow as pa  # noqa: PLC0415 - costs a second; only Parquet files need it
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        raise DatasetError(
            "Parquet files need pyarrow, which is not installed",
            path=path,
            hint='pip install "judgekit-llm[parquet]"',
        ) from error
    row = 0
    try:
        with parquet.ParquetFile(path) as table:
            for batch in table.iter_batches(batch_size=_BATCH_ROWS):
                for fields in batch.to_pylist():
                    row += 1
                    yield _row(fields, path, row)
    except FileNotFoundError as error:
        raise DatasetError("there is no such file", path=path) from error
    except DatasetError:
        raise
    except (pa.ArrowException, OSError, OverflowError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DatasetError(f"not a sound Parquet file: {reason}", path=path) from error


def _row(fields: dict[str, object], path: Path, row: int) -> dict[str, JsonValue]:
    values: dict[str, JsonValue] = {}
    for name, cell in fields.items():
        try:
            value = _value(cell)
        except ValueError as error:
            message = f"row {row}, column {name!r}: {error}"
            raise DatasetError(message, path=path, line=row) from error
        if value is not None:
            values[name] = value
    return values


def _value(cell: object) -> JsonValue:
    """A cell as JSON; a map column, a list of pairs, becomes a list of lists."""
    match cell:
        case None | bool() | int() | str():
            return cell
        case float():
            return _number(cell)
        case decimal.Decimal():
            return _number(float(cell))
        case dt.datetime() | dt.date() | dt.time():
            return cell.isoformat()
        case dict():
            return {str(key): _value(item) for key, item in cell.items()}
        case list() | tuple():
            return [_value(item) for item in cell]
        case _:
            raise ValueError(f"a {type(cell).__name__} has no JSON form; write it as text")


def _number(cell: float) -> float | None:
    if math.isinf(cell):
        raise ValueError("an infinite number has no JSON form")
    return None if math.isnan(cell) else cell
