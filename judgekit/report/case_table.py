"""The cases of a result as its page shows them: a grid with a row for each, and each case in full.

`run_cases` makes the rows of a run. The script in `script/` shows them; this is its input:

- The index has what the grid needs of all cases, by columns: ids, snippets, tags, strata, a bit
  mask of the filters that a row belongs to, and the state, value and mask of each cell.
- The cases in full stand in compressed lists of `CHUNK_ROWS`, opened when somebody looks at one,
  so that a page of 10,000 cases appears at once.

Every text that the page shows is made here; the script has no words of its own for results.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judgekit.report import message
from judgekit.report.document import CaseTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judgekit.report.document import Block, PageJson, Tone

PAGE_FORMAT = "judgekit-page/1"
"""The version of the format; a script that does not know it leaves the static page."""

CHUNK_ROWS = 100
SNIPPET_LENGTH = 160

_COMPRESSION = 6


@dataclass(frozen=True, slots=True)
class CellState:
    """What an answer can be, such as passed or undecided."""

    label: str
    sign: str
    """One character, since a colour alone must not carry a meaning."""

    tone: Tone
    rank: int
    """Rows are ordered by their lowest rank: what needs attention comes first."""


@dataclass(frozen=True, slots=True)
class GridCell:
    """The state of one answer, with its value or a short text."""

    state: str
    value: float | None = None
    text: str = ""
    filters: Iterable[str] = ()
    """The filters that the answer belongs to; its row belongs to them too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow:
    """One case: its row of the grid, and all that the page shows of it when it is opened."""

    case_id: str
    snippet: str
    cells: Sequence[GridCell | None]
    full: PageJson
    tags: Sequence[str] = ()
    stratum: str | None = None
    filters: Iterable[str] = ()
    """The filters that the row belongs to, whatever its cells do."""


@dataclass(slots=True)
class CaseTableBuilder:
    """Collects rows into a `CaseTable`; what they hold in full is compressed as they come."""

    kind: str
    columns: Sequence[str]
    states: Mapping[str, CellState]
    filters: Mapping[str, str]
    """The label of each filter, in the order shown."""

    titles: Mapping[str, str] = field(default_factory=dict)
    """What exactly a filter takes, by its key."""

    questions: Mapping[str, str] = field(default_factory=dict)
    """What is asked by each criterion, where it is the same for all cases."""

    omitted: Mapping[str, str] = field(default_factory=dict)
    """What the page does not have and how to get it, by the name that the script knows it by."""

    _rows: list[CaseRow] = field(default_factory=list)
    _open: list[PageJson] = field(default_factory=list)
    _chunks: list[bytes] = field(default_factory=list)

    def add(self, row: CaseRow) -> None:
        self._open.append(row.full)
        # A run may be far larger than its index: only the compressed form of a row is held.
        self._rows.append(
            CaseRow(
                case_id=row.case_id,
                snippet=row.snippet,
                cells=tuple(row.cells),
                full={},
                tags=tuple(row.tags),
                stratum=row.stratum,
                filters=tuple(row.filters),
            )
        )
        if len(self._open) == CHUNK_ROWS:
            self._close_chunk()

    def table(
        self,
        summary: tuple[Block, ...] = (),
        title: str = "Cases",
        *,
        about: tuple[Block, ...] = (),
        comes_early: bool = True,
    ) -> CaseTable:
        """All rows so far; `summary` is what a terminal shows in their place.

        Only a page shows `about`, below the cases.
        """
        if self._open:
            self._close_chunk()
        return CaseTable(self._index(), tuple(self._chunks), summary, title, about, comes_early)

    def _close_chunk(self) -> None:
        text = json.dumps(self._open, ensure_ascii=False, separators=(",", ":"))
        # Without the time in its header the same cases make the same page.
        packed = gzip.compress(text.encode("utf-8", "replace"), _COMPRESSION, mtime=0)
        self._chunks.append(packed)
        self._open = []

    def _index(self) -> PageJson:
        rows = self._rows
        bits = {key: 1 << place for place, key in enumerate(self.filters)}
        cells = [self._column(n, bits) for n in range(len(self.columns))]
        masks = [sum(bits[key] for key in set(row.filters)) for row in rows]
        for cell in cells:
            masks = [mask | own for mask, own in zip(masks, cell["mask"], strict=True)]
        return {
            "format": PAGE_FORMAT,
            "kind": self.kind,
            "n": len(rows),
            "chunk": CHUNK_ROWS,
            "columns": [message.printable(name) for name in self.columns],
            "states": [
                {"label": one.label, "sign": one.sign, "tone": one.tone}
                for one in self.states.values()
            ],
            "filters": [
                {
                    "key": key,
                    "label": label,
                    "title": self.titles.get(key, ""),
                    "bit": bits[key],
                    "n": sum(mask & bits[key] > 0 for mask in masks),
                }
                for key, label in self.filters.items()
            ],
            "questions": dict(self.questions),
            "omitted": dict(self.omitted),
            "ids": [message.printable(row.case_id) for row in rows],
            "snippets": [row.snippet for row in rows],
            "tags": [list(map(message.printable, row.tags)) for row in rows],
            "strata": [
                None if row.stratum is None else message.printable(row.stratum) for row in rows
            ],
            "masks": masks,
            "cells": cells,
            "order": sorted(range(len(rows)), key=lambda n: self._urgency(rows[n])),
        }

    def _column(self, n: int, bits: Mapping[str, int]) -> dict[str, list[Any]]:
        """The cells of a variant in all rows."""
        places = {key: place for place, key in enumerate(self.states)}
        cells = [row.cells[n] for row in self._rows]
        texts = ["" if cell is None else cell.text for cell in cells]
        return {
            "state": [None if cell is None else places[cell.state] for cell in cells],
            "value": [
                None if cell is None or cell.value is None else round(cell.value, 4)
                for cell in cells
            ],
            # Most tables show values: a list of as many empty texts would be dead weight.
            "text": texts if any(texts) else [],
            "mask": [
                0 if cell is None else sum(bits[key] for key in set(cell.filters)) for cell in cells
            ],
        }

    def _urgency(self, row: CaseRow) -> tuple[int, float]:
        cells = [cell for cell in row.cells if cell is not None]
        ranks = [self.states[cell.state].rank for cell in cells]
        values = [cell.value for cell in cells if cell.value is not None]
        return min(ranks, default=0), min(values, default=1.0)


def text_snippet(text: str) -> str:
    """The beginning of a text on one line, for the grid and its search."""
    return message.printable(text[: 4 * SNIPPET_LENGTH], SNIPPET_LENGTH)


def utf16_offset(text: str, offset: int) -> int:
    """Where a character stands in UTF-16 units, by which a browser counts."""
    return len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2
