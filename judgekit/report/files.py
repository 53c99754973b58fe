"""Writes a `Document` to a file, in the form that the file's suffix names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.atomic_write import check_output_path, write_text_atomically

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.report.document import Document

DOCUMENT_SUFFIXES = (".json", ".md", ".html")
"""The file types of a document."""


def check_document_path(path: Path, *, what: str) -> None:
    """Refuse a place that a document cannot be written to, before anything is asked."""
    check_output_path(path, DOCUMENT_SUFFIXES, what=what, may_be_folder=False)


def write_document(path: Path, document: Document) -> None:
    """Write a document; the file is replaced as a whole or not at all."""
    write_text_atomically(path, render_document(document, path.suffix.lower()))


def render_document(document: Document, suffix: str) -> str:
    """A document in the form of a file type."""
    if suffix == ".html":
        from judgekit.report.html import render_html  # noqa: PLC0415 - Jinja, only for pages

        return render_html(document)
    if suffix == ".md":
        from judgekit.report.markdown import render_markdown  # noqa: PLC0415

        return render_markdown(document)
    from judgekit.report.json import render_json  # noqa: PLC0415

    return render_json(document)
