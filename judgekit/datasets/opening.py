"""Decides whether a path is read row by row or whole, and gives what is read whole."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from judgekit.datasets.documents import Document, read_document
from judgekit.datasets.recognition import foreign_row_shape
from judgekit.datasets.rows import (
    DOCUMENT_SUFFIXES,
    LINE_SUFFIXES,
    TABLE_SUFFIXES,
    Row,
    iter_rows,
    suffix_of,
)
from judgekit.datasets.texts import MAX_DOCUMENT_BYTES, is_archive, is_folder
from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.datasets.json_text import KeyPath


def is_rows(path: Path) -> bool:
    """Whether a path is a file of rows by its name."""
    return not is_folder(path) and suffix_of(path) in {*LINE_SUFFIXES, *TABLE_SUFFIXES}


def is_whole(path: Path) -> bool:
    """Whether a path is read whole, rather than row by row."""
    if is_folder(path) or is_archive(path) or suffix_of(path) in DOCUMENT_SUFFIXES:
        return True
    if suffix_of(path) not in LINE_SUFFIXES:
        return False
    return any(foreign_row_shape(row.fields) is not None for row in islice(iter_rows(path), 1))


def whole_document(path: Path) -> Document | None:
    """What a path that is read whole holds."""
    if is_folder(path) or is_archive(path):
        from judgekit.datasets.foreign.skill_archive import skill_document  # noqa: PLC0415 - zips

        return skill_document(path)
    if suffix_of(path) in DOCUMENT_SUFFIXES:
        return read_document(path)
    return _gathered(path) if is_whole(path) else None


def _gathered(path: Path) -> Document:
    """Rows as one list, with the line of each."""
    # Rows of other tools refer to each other, so they are kept, as a document is.
    if path.stat().st_size > MAX_DOCUMENT_BYTES:
        limit = f"{MAX_DOCUMENT_BYTES >> 20} MiB"
        raise DatasetError(f"larger than {limit}", path=path, hint="split it into several files")
    return rows_document(path, list(iter_rows(path)))


def rows_document(path: Path, rows: Sequence[Row]) -> Document:
    """Rows of another tool as one list."""
    value: list[JsonValue] = [row.fields for row in rows]
    lines: dict[KeyPath, int] = {(place,): row.line for place, row in enumerate(rows)}
    return Document(path, value, (), lambda: lines)
