"""The cases of a result as its page shows them: a grid with a row for each, and each case in full.

`run_cases`, `pair_cases` and `item_cases` make the rows of the results, all of the same parts. The
script in `script/` shows them; this is its input:

- The index has what the grid needs of all cases, by columns: ids, snippets, tags, strata, a bit
  mask of the filters that a row belongs to, and the state, value and mask of each cell.
- The cases in full stand in compressed lists of `CHUNK_ROWS`, opened when somebody looks at one,
  so that a page of 10,000 cases appears at once. A case has its texts, its answers, and the
  opinions of judges and annotators by criterion; answers of runs have the opinions themselves.

Every text that the page shows is made here; the script has no words of its own for results.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judgekit.models import mask_secrets
from judgekit.prompts import to_text
from judgekit.records import (
    Case,
    Evidence,
    JudgeFailure,
    Judgment,
    Preference,
    PreferenceFailure,
    images_in,
)
from judgekit.report import message
from judgekit.report.answers import case_facts, judge_name, judgment_facts
from judgekit.report.document import Block, CaseTable, PageJson, Tone

if TYPE_CHECKING:
    from pydantic import JsonValue

    from judgekit.models.cache import ReplyCache
    from judgekit.records import Image

PAGE_FORMAT = "judgekit-page/1"
"""The version of the format; a script that does not know it leaves the static page."""

CHUNK_ROWS = 100
SNIPPET_LENGTH = 160

# Higher levels take twice the time for a few percent.
_COMPRESSION = 4
_NOT_CACHED = (
    "The cache does not hold this prompt and reply: it was recorded elsewhere, or deleted."
)
NO_REPLIES = {
    "replies": "The judge's prompts and raw replies are not included: add --with-replies."
}
"""What a page without them says."""


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

    _rows: dict[str, list[Any]] = field(init=False)
    _cells: list[dict[str, list[Any]]] = field(init=False)
    _urgencies: list[tuple[int, float]] = field(default_factory=list)
    _open: list[PageJson] = field(default_factory=list)
    _chunks: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._rows = {key: [] for key in ("ids", "snippets", "tags", "strata", "masks")}
        self._cells = [
            {key: [] for key in ("state", "value", "text", "mask")} for _ in self.columns
        ]

    def add(
        self,
        case: Case | None,
        cells: Sequence[GridCell | None],
        full: Mapping[str, Any],
        *,
        name: str = "",
        tags: Sequence[str] = (),
        stratum: str | None = None,
        filters: Iterable[str] = (),
    ) -> None:
        """Add a row: a cell for each column, and what is shown when it is opened."""
        # `tags` and `stratum` are those of a row whose case is not known; `filters` hold whatever
        # the cells say.
        texts: PageJson = {"facts": [], "texts": []}
        snippet = next((one["output"] for one in full["answers"]), "")
        if case is not None:
            texts, name = shown_case(case), name or case.id
            tags, stratum = case.tags, case.stratum
            snippet = case.name or (snippet if case.input is None else to_text(case.input))
        shown_name = message.printable(name)
        row = {
            "ids": shown_name,
            "snippets": text_snippet(snippet),
            "tags": [*map(message.printable, tags)],
            "strata": None if stratum is None else message.printable(stratum),
            "masks": self._mask((*filters, *(key for one in cells if one for key in one.filters))),
        }
        for key, value in row.items():
            self._rows[key].append(value)
        for column, cell in zip(self._cells, cells, strict=True):
            self._add_cell(column, cell)
        known = [cell for cell in cells if cell is not None]
        values = [cell.value for cell in known if cell.value is not None]
        ranks = [self.states[cell.state].rank for cell in known]
        self._urgencies.append((min(ranks, default=0), min(values, default=1.0)))
        # A run may be far larger than its index: only the compressed form of a row is held.
        self._open.append({"id": shown_name, **texts, **full})
        if len(self._open) == CHUNK_ROWS:
            self._close_chunk()

    def _add_cell(self, column: dict[str, list[Any]], cell: GridCell | None) -> None:
        # Plain numbers, since objects of so many cells would keep the garbage collector busy.
        known = GridCell("") if cell is None else cell
        value = None if known.value is None else round(known.value, 4)
        column["state"].append(None if cell is None else [*self.states].index(cell.state))
        column["value"].append(value)
        column["text"].append(known.text)
        column["mask"].append(self._mask(known.filters))

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

    def _mask(self, filters: Iterable[str]) -> int:
        places = [*self.filters]
        return sum(1 << places.index(key) for key in set(filters))

    def _index(self) -> PageJson:
        masks = self._rows["masks"]
        return {
            "format": PAGE_FORMAT,
            "kind": self.kind,
            "n": len(masks),
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
                    "bit": 1 << place,
                    "n": sum(mask >> place & 1 for mask in masks),
                }
                for place, (key, label) in enumerate(self.filters.items())
            ],
            "questions": dict(self.questions),
            "omitted": dict(self.omitted),
            **self._rows,
            # Most tables show values: a list of as many empty texts would be dead weight.
            "cells": [
                {**column, "text": column["text"] if any(column["text"]) else []}
                for column in self._cells
            ],
            "order": sorted(range(len(masks)), key=self._urgencies.__getitem__),
        }


def filter_counts(table: CaseTable) -> dict[str, int]:
    """How many rows each filter takes."""
    index: Any = table.index
    return {one["key"]: one["n"] for one in index["filters"]}


def text_snippet(text: str) -> str:
    """The beginning of a text on one line, for the grid and its search."""
    return message.printable(text[: 4 * SNIPPET_LENGTH], SNIPPET_LENGTH)


def shown_case(case: Case) -> PageJson:
    """What a page shows of a case apart from its answers."""
    texts = {
        "description": case.description or None,
        "input": case.input,
        "context": case.context,
        "reference": case.reference,
    }
    return {
        "facts": case_facts(case),
        "texts": [
            {"title": title, **shown_text(to_text(text)), "images": pictures(text)}
            for title, text in texts.items()
            if text is not None
        ],
    }


def shown_text(text: str) -> PageJson:
    """A foreign text as it is, and whether its indentation needs a fixed width."""
    return {"text": text, "mono": _is_json(text)}


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in {"{", "["}:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def pictures(value: JsonValue = None, images: Iterable[Image] = ()) -> list[PageJson]:
    """The images of a value, or those given, which a page shows below their text."""
    every = (*images_in(value), *images)
    return [{"src": image.url, "title": image.title} for image in every]


def number_images(text: str, images: Sequence[Image]) -> str:
    """A text for a judge with a number in the place of each image, which a page shows below it."""
    for number, image in enumerate(images, 1):
        # As long as the marker, so that every quotation stays where it is.
        words = f"image {number} of {len(images)}".center(len(image.marker) - 2, "·")
        text = text.replace(image.marker, f"<{words}>")
    return text


def shown_output(
    column: int,
    name: str,
    text: str,
    *,
    images: Iterable[Image] = (),
    error: str | None = None,
    marks: Iterable[PageJson] = (),
    facts: Sequence[str] = (),
) -> PageJson:
    """An output; answers of runs have more."""
    return {
        "column": column,
        "name": name,
        "facts": facts,
        "output": text,
        "mono": _is_json(text),
        "images": pictures(images=images),
        "error": error,
        "marks": [*marks],
    }


def utf16_offset(text: str, offset: int) -> int:
    """Where a character stands in UTF-16 units, by which a browser counts."""
    # Most outputs are plain ASCII, which Python knows without reading them.
    if text.isascii():
        return min(offset, len(text))
    return len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2


class JudgeReplies:
    """What judges were sent and what they wrote, found by the keys that their answers name."""

    def __init__(self, cache: ReplyCache) -> None:
        self._cache = cache

    def exchange(self, key: str) -> PageJson:
        """The messages and the reply only: a request names its endpoint, too."""
        sent = (self._cache.request_parts(key) or {}).get("messages")
        messages = sent if isinstance(sent, list) else []
        reply = self._cache.get(key)
        if reply is None and (rejected := self._cache.rejected(key)):
            reply = rejected[-1].reply
        return {
            "messages": [
                {"role": str(one.get("role", "")), "text": str(one.get("content", ""))}
                for one in messages
                if isinstance(one, dict)
            ],
            "reply": None if reply is None else mask_secrets(reply.text or ""),
            "note": _NOT_CACHED if reply is None and not messages else "",
        }


class Opinions:
    """What judges say of a case, or of one answer to it.

    Quotes are numbered as they come. An exchange with a judge stands once, although several
    criteria may be answered in it.
    """

    def __init__(self, replies: JudgeReplies | None = None) -> None:
        self._replies = replies
        self._quotes: list[tuple[object, Evidence]] = []
        self._exchange_of: dict[str, int] = {}
        self.exchanges: list[PageJson] = []

    def of(
        self,
        one: Judgment | JudgeFailure | Preference | PreferenceFailure,
        score: str,
        *,
        who: str = "",
        quotes: Iterable[PageJson] = (),
        facts: Iterable[str] = (),
        tone: Tone = "neutral",
        value: str = "",
    ) -> PageJson:
        """The answer of a judge, with its score; `who` where its name does not tell it apart."""
        reason, reply = (
            (one.rationale, None)
            if isinstance(one, Judgment | Preference)
            else (one.message, one.reply)
        )
        return opinion(
            who,
            score,
            value=value,
            tone=tone,
            facts=[judge_name(one), *judgment_facts(one), *facts],
            rationale=reason,
            quotes=quotes,
            reply=reply,
            exchange=self._exchange(one.reply_key),
        )

    def _exchange(self, key: str | None) -> int | None:
        if self._replies is None or key is None:
            return None
        if key not in self._exchange_of:
            self._exchange_of[key] = len(self.exchanges)
            self.exchanges.append(self._replies.exchange(key))
        return self._exchange_of[key]

    def quotes(
        self, pieces: Iterable[Evidence], source: object = None, of: str = ""
    ) -> Iterator[PageJson]:
        """Pieces of evidence from a text; `source` is any name of it, `of` the one shown."""
        for piece in pieces:
            self._quotes.append((source, piece))
            number = len(self._quotes)
            yield {"no": number, "text": piece.quote, "match": piece.match, "of": of}

    def marks(self, text: str, source: object = None, offset: int = 0) -> Iterator[PageJson]:
        """Where the quotes so far stand in a text, in UTF-16 units; none for those not found."""
        # The text is a part of what the judge was shown, and begins there at `offset`.
        for number, (own, piece) in enumerate(self._quotes, start=1):
            if own != source or piece.match is None or piece.start is None or piece.end is None:
                continue
            start, end = max(0, piece.start - offset), min(len(text), piece.end - offset)
            if start < end:
                yield {
                    "start": utf16_offset(text, start),
                    "end": utf16_offset(text, end),
                    "no": number,
                    "exact": piece.match == "exact",
                }


def opinion(
    who: str,
    score: str,
    *,
    value: str = "",
    tone: Tone = "neutral",
    facts: Iterable[str] = (),
    rationale: str | None = None,
    quotes: Iterable[PageJson] = (),
    reply: str | None = None,
    exchange: int | None = None,
) -> PageJson:
    """What one judge or annotator says: a row below a criterion."""
    # `exchange` is the place of the prompt and the reply among those of the case or the answer.
    return {
        "who": who,
        "score": score,
        "value": value,
        "tone": tone,
        "facts": [*facts],
        "rationale": rationale or "",
        "quotes": [*quotes],
        "reply": reply,
        "exchange": exchange,
    }


def opinion_group(
    title: str,
    rows: Iterable[PageJson],
    result: str = "",
    *,
    tone: Tone = "neutral",
    facts: Iterable[str] = (),
) -> PageJson:
    """What all of them say of one criterion, and what follows from it."""
    return {"title": title, "result": result, "tone": tone, "facts": [*facts], "rows": [*rows]}
