"""Writes a `Document` to a file, in the form that the file's suffix names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from judgekit.atomic_write import write_text_atomically
from judgekit.report.numbers import nan_to_null

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.report.document import Document

REPORT_SUFFIXES = (".json", ".md", ".html")
"""The file types of a document."""


def document_data(document: Document) -> object:
    """The data of a document as JSON types."""
    # JSON has no nan: what is undefined is null, never 0.
    return nan_to_null(document.data())


def write_document(path: Path, document: Document) -> None:
    """Write a document; the file is replaced as a whole or not at all."""
    suffix = path.suffix.lower()
    if suffix == ".html":
        from judgekit.report.html import render_html  # noqa: PLC0415 - Jinja, only for pages

        text = render_html(document)
    elif suffix == ".md":
        from judgekit.report.markdown import render_markdown  # noqa: PLC0415

        text = render_markdown(document)
    else:
        text = json.dumps(document_data(document), ensure_ascii=False, indent=2) + "\n"
    write_text_atomically(path, text)
