"""Renders a `Document` as JSON: the data of its result, with undefined numbers as null."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from judgekit.report.numbers import nan_to_null

if TYPE_CHECKING:
    from judgekit.report.document import Document


def document_data(document: Document) -> object:
    """The data of a document as JSON types."""
    # JSON has no nan: what is undefined is null, never 0.
    return nan_to_null(document.data())


def render_json(document: Document) -> str:
    """A document as a JSON file."""
    return json.dumps(document_data(document), ensure_ascii=False, indent=2) + "\n"
