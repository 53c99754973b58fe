"""Reads the case table of a page back."""

from __future__ import annotations

import gzip
import html
import json
import re
from base64 import b64decode
from typing import TYPE_CHECKING, Any

from judgekit.report.case_table import PAGE_FORMAT

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.report import CaseTable

Rows = dict[str, dict[str, Any]]


class ShownCases:
    """The cases of a page by their ids: what the grid shows, and what they hold in full."""

    def __init__(self, index: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        assert index["format"] == PAGE_FORMAT
        self.kind: str = index["kind"]
        self.columns: list[str] = index["columns"]
        self.ids = [index["ids"][place] for place in index["order"]]
        self.full: Rows = dict(zip(index["ids"], rows, strict=True))
        self.counts: dict[str, int] = {one["key"]: one["n"] for one in index["filters"]}
        self._index = index

    def filters(self, case: str) -> set[str]:
        mask = self._index["masks"][self._index["ids"].index(case)]
        return {one["key"] for one in self._index["filters"] if one["bit"] & mask}

    def cells(self, case: str) -> list[tuple[str, float | None, str] | None]:
        """The label, value and text of each cell."""
        place = self._index["ids"].index(case)
        return [
            None
            if cell["state"][place] is None
            else (
                self._index["states"][cell["state"][place]]["label"],
                cell["value"][place],
                cell["text"][place] if cell["text"] else "",
            )
            for cell in self._index["cells"]
        ]

    def rows_of(self, case: str, title: str) -> list[tuple[str, str, str]]:
        """Who gave which score and why, below a title."""
        group = next(one for one in self.full[case]["opinions"] if one["title"] == title)
        return [(row["who"], row["score"], row["rationale"]) for row in group["rows"]]


def cases_of_table(table: CaseTable) -> ShownCases:
    rows = [row for chunk in table.chunks for row in json.loads(gzip.decompress(chunk))]
    return ShownCases(json.loads(json.dumps(table.index)), rows)


def cases_of_page(path: Path) -> ShownCases:
    text = path.read_text(encoding="utf-8")
    (index,) = re.findall(r'<script[^>]* id="page-index"[^>]*>(.*?)</script>', text, re.DOTALL)
    chunks = re.findall(r'<script[^>]* id="chunk-\d+"[^>]*>(.*?)</script>', text, re.DOTALL)
    rows = [row for one in chunks for row in json.loads(gzip.decompress(b64decode(one)))]
    return ShownCases(json.loads(index), rows)


def conclusion_of(path: Path) -> str:
    """The sentence at the top of a page."""
    text = path.read_text(encoding="utf-8")
    (found,) = re.findall(r'<p class="conclusion[^>]*>(.*?)</p>', text, re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", "", found)).strip()
