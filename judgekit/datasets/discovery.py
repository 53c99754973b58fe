"""Finds the datasets in a folder by what the files hold."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.datasets.opening import is_rows, whole_document
from judgekit.datasets.recognition import (
    document_kind,
    foreign_row_shape,
    foreign_shape,
    row_kind,
)
from judgekit.datasets.rows import (
    DOCUMENT_SUFFIXES,
    LINE_SUFFIXES,
    TABLE_SUFFIXES,
    Row,
    scan_rows,
    suffix_of,
)
from judgekit.datasets.texts import as_path, is_archive, is_folder
from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import JsonValue

MAX_FILES = 10_000
"""How many files are looked at before the folder is taken to be the wrong one."""

_MAX_DOCUMENT_BYTES = 16 * 2**20
_SUFFIXES = frozenset({*DOCUMENT_SUFFIXES, *LINE_SUFFIXES, *TABLE_SUFFIXES, ".zip"})
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


def discover_datasets(folder: Path | str) -> list[Path]:
    """The files in a folder, and the folders in it, that hold cases.

    Hidden files and folders, `.judgekit` among them, and links to folders are left out; so are
    files that cannot be read, what is no file (a pipe), and documents over 16 MiB. A dataset of
    another tool counts, and so does a zip with an `eval/tests.json`.

    Args:
        folder: Where to look.

    Returns:
        Paths that begin with `folder`, sorted.

    Raises:
        DatasetError: When it is no folder, or holds more than `MAX_FILES` files.
    """
    return _found(as_path(folder), holds_cases)


def discover_suites(folder: Path | str) -> list[Path]:
    """The suite files in a folder, and in the folders in it; looked for as datasets are."""
    return _found(as_path(folder), _is_suite)


def _found(folder: Path, is_wanted: Callable[[Path], bool]) -> list[Path]:
    if not is_folder(folder):
        raise DatasetError("there is no such folder", path=folder)
    found: list[Path] = []
    n_files = 0
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_skipped(name))
        n_files += len(names)
        if n_files > MAX_FILES:
            message = f"holds more than {MAX_FILES} files"
            raise DatasetError(message, path=folder, hint="name the folder with the datasets")
        paths = (Path(root, name) for name in names if not name.startswith("."))
        known = (path for path in paths if suffix_of(path) in _SUFFIXES)
        # A pipe would be waited for, and a device read without end.
        found += [path for path in known if path.is_file() and is_wanted(path)]
    return sorted(found)


def holds_cases(path: Path) -> bool:
    """Whether a file is a dataset, judged by its first row or its shape."""
    try:
        if is_rows(path):
            rows = [row for row in islice(scan_rows(path), 1) if isinstance(row, Row)]
            return bool(rows) and _is_case(rows[0])
        value = _document(path)
    except (DatasetError, OSError):
        return False
    shape = foreign_shape(value)
    return shape.has_cases if shape is not None else document_kind(value) == "cases"


def _is_suite(path: Path) -> bool:
    try:
        value = None if is_rows(path) else _document(path)
    except (DatasetError, OSError):
        return False
    return foreign_shape(value) is None and document_kind(value) == "suite"


def _document(path: Path) -> JsonValue:
    if path.stat().st_size > _MAX_DOCUMENT_BYTES and not is_archive(path):
        return None
    document = whole_document(path)
    return None if document is None else document.value


def _is_case(row: Row) -> bool:
    shape = foreign_row_shape(row.fields)
    return shape.has_cases if shape is not None else row_kind(row.fields) == "cases"


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED
