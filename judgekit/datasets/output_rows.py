"""Streams the rows of a file of outputs, be it judgekit's own or results of another tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.datasets.documents import read_document
from judgekit.datasets.foreign.marks import is_promptfoo_results
from judgekit.datasets.rows import DOCUMENT_SUFFIXES, Row, document_rows, scan_rows, suffix_of
from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def iter_output_rows(path: Path) -> Iterator[Row]:
    """The rows of a file of outputs; of results of promptfoo each answer is one.

    Args:
        path: A file that `iter_rows` reads, or results of promptfoo.

    Yields:
        Each row.

    Raises:
        DatasetError: At the first thing that cannot be read.
    """
    for row in scan_output_rows(path):
        if isinstance(row, DatasetError):
            raise row
        yield row


def scan_output_rows(path: Path) -> Iterator[Row | DatasetError]:
    """As `iter_output_rows`, but a row that cannot be read is given as the error it is.

    Args:
        path: As for `iter_output_rows`.

    Yields:
        Each row, or what is wrong with it.

    Raises:
        DatasetError: When nothing after this place can be read.
    """
    if suffix_of(path) not in DOCUMENT_SUFFIXES:
        yield from scan_rows(path)
        return
    document = read_document(path)
    if not isinstance(document.value, dict) or not is_promptfoo_results(document.value):
        yield from document_rows(document)
        return
    from judgekit.datasets.foreign.promptfoo_results import result_rows  # noqa: PLC0415 - slow

    for line, fields in result_rows(document):
        yield Row(line, fields)
