"""Finds the datasets in a folder by what the files hold."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

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
from judgekit.datasets.texts import as_path, is_archive
from judgekit.errors import DatasetError

MAX_FILES = 10_000
"""How many files are looked at before the folder is taken to be the wrong one."""

_MAX_DOCUMENT_BYTES = 16 * 2**20
_SUFFIXES = frozenset({*DOCUMENT_SUFFIXES, *LINE_SUFFIXES, *TABLE_SUFFIXES, ".zip"})
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


def discover_datasets(folder: Path | str) -> list[Path]:
    """The files in a folder, and the folders in it, that hold cases.

    Hidden files and folders, `.judgekit` among them, and links to folders are left out; so are
    files that cannot be read, and documents over 16 MiB. A dataset of another tool counts, and
    so does a zip with an `eval/tests.json`.

    Args:
        folder: Where to look.

    Returns:
        Paths that begin with `folder`, sorted.

    Raises:
        DatasetError: When it is no folder, or holds more than `MAX_FILES` files.
    """
    folder = as_path(folder)
    if not folder.is_dir():
        raise DatasetError("there is no such folder", path=folder)
    found = []
    n_files = 0
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_skipped(name))
        n_files += len(names)
        if n_files > MAX_FILES:
            message = f"holds more than {MAX_FILES} files"
            raise DatasetError(message, path=folder, hint="name the folder with the datasets")
        paths = (Path(root, name) for name in names if not name.startswith("."))
        found += [path for path in paths if suffix_of(path) in _SUFFIXES and holds_cases(path)]
    return sorted(found)


def holds_cases(path: Path) -> bool:
    """Whether a file is a dataset, judged by its first row or its shape.

    Args:
        path: A file.

    Returns:
        False also for a file that cannot be read.
    """
    try:
        if is_rows(path):
            rows = [row for row in islice(scan_rows(path), 1) if isinstance(row, Row)]
            return bool(rows) and _is_case(rows[0])
        if path.stat().st_size > _MAX_DOCUMENT_BYTES and not is_archive(path):
            return False
        document = whole_document(path)
    except (DatasetError, OSError):
        return False
    value = None if document is None else document.value
    shape = foreign_shape(value)
    return shape.has_cases if shape is not None else document_kind(value) == "cases"


def _is_case(row: Row) -> bool:
    shape = foreign_row_shape(row.fields)
    return shape.has_cases if shape is not None else row_kind(row.fields) == "cases"


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED
