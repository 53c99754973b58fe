"""Streams the rows of a file of outputs, be it judgekit's own or results of another tool."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from judgekit.datasets.foreign.marks import is_promptfoo_results, is_quality_record
from judgekit.datasets.opening import whole_document
from judgekit.datasets.rows import (
    DOCUMENT_SUFFIXES,
    LINE_SUFFIXES,
    Row,
    document_rows,
    scan_rows,
    suffix_of,
)
from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.datasets.documents import Document


def iter_output_rows(path: Path) -> Iterator[Row]:
    """The rows of a file of outputs; of results of another tool each answer is one."""
    for row in scan_output_rows(path):
        if isinstance(row, DatasetError):
            raise row
        yield row


def scan_output_rows(path: Path) -> Iterator[Row | DatasetError]:
    """As `iter_output_rows`, but a row that cannot be read is given as the error it is."""
    if has_own_lines(path):
        yield from scan_rows(path)
        return
    document = whole_document(path)
    if document is None:  # pragma: no cover - then it has lines of its own
        raise AssertionError
    yield from _document_rows(document)


def has_own_lines(path: Path) -> bool:
    """Whether each row of a file of outputs can be read without the others."""
    suffix = suffix_of(path)
    if suffix in DOCUMENT_SUFFIXES:
        return False
    if suffix not in LINE_SUFFIXES:
        return True
    first = next(islice(scan_rows(path), 1), None)
    return not (isinstance(first, Row) and is_quality_record(first.fields))


def _document_rows(document: Document) -> Iterator[Row | DatasetError]:
    value = document.value
    sample = value[0] if isinstance(value, list) and value else value
    fields = sample if isinstance(sample, dict) else {}
    if is_promptfoo_results(fields):
        from judgekit.datasets.foreign.promptfoo_results import result_rows as rows  # noqa: PLC0415
    elif is_quality_record(fields):
        from judgekit.datasets.foreign.quality_results import run_rows as rows  # noqa: PLC0415
    else:
        yield from document_rows(document)
        return
    for line, found in rows(document):  # their records take long to build, so they come late
        yield Row(line, found)
