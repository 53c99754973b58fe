"""The one form in which every result is reported: a title, a conclusion, and blocks below it.

A builder module makes a `Document` of each result; `terminal`, `markdown`, `html` and `json` render
it. A builder never knows who renders, and a renderer never knows what was measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from judgekit.report import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from judgekit.stats.estimate import Estimate

Tone = Literal["pass", "fail", "better", "worse", "inconclusive", "error", "neutral"]
"""What a conclusion or a cell says; renderers colour by it, and the words say it as well."""

ColumnKind = Literal["text", "ellipsis", "id", "number", "bar"]
"""Text wraps, `ellipsis` is cut where there is no room; ids and numbers do neither.

A bar is a drawing that repeats figures of its row: only pages show it.
"""

Point = tuple[float, float]
LabelledText = tuple[str, str]
"""A label and its text, a line of `Lines`."""

MIN_SEGMENT_CASES = 10
"""With fewer cases, a terminal shows strata and tags only with -v: their intervals say nothing."""


@dataclass(frozen=True, slots=True)
class IntervalBar:
    """An effect drawn between the least and the most it can be."""

    estimate: Estimate
    """The effect and its interval."""

    ends: tuple[float, float]
    """The least and the most it can be."""

    margin: float
    """On both sides of 0: the band in which it would not matter."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table that is more than a text."""

    text: str
    """What is shown."""

    tone: Tone | None = None
    """How it is coloured."""

    estimate: Estimate | None = None
    """The figure behind the text; a page tells its sample size and method."""

    short: str | None = None
    """What is shown where the table does not fit; None for the text."""

    bar: IntervalBar | None = None
    """The drawing of a `bar` column."""


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column, and how its cells are laid out."""

    name: str
    """The head."""

    kind: ColumnKind = "number"
    """What its cells hold."""

    max_width: int | None = None
    """Characters of a text before it wraps; None for as many as there is room."""

    may_move: bool = False
    """Whether a terminal that is too narrow may show it below the table instead."""

    may_drop: bool = False
    """Whether a terminal that is too narrow may leave it out: another column has it too."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below named columns."""

    kind: ClassVar[str] = "table"

    columns: tuple[Column, ...]
    """Heads."""

    rows: tuple[tuple[str | Cell, ...], ...]
    """Cells."""

    title: str = ""
    """What it shows."""

    notes: tuple[str, ...] = ()
    """What has to be known to read it; stands below."""

    rules_after: frozenset[int] = frozenset()
    """Rows that end a group."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Texts with a label before each; a line without one continues the line before."""

    kind: ClassVar[str] = "lines"

    rows: tuple[LabelledText, ...]
    """The lines."""

    title: str = ""
    """What they are about."""


@dataclass(frozen=True, slots=True)
class Notes:
    """Sentences, one a line."""

    kind: ClassVar[str] = "notes"

    lines: tuple[str, ...]
    """The sentences."""

    title: str = ""
    """What they are about."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A foreign text with its own line breaks: an input, an output. A terminal folds long ones."""

    kind: ClassVar[str] = "passage"

    text: str
    """The text."""

    title: str
    """What it is."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing of a list: an answer, a flipped decision, a disagreement."""

    headline: str
    """Which one it is."""

    lines: tuple[str, ...] = ()
    """What is said of it."""

    badge: str = ""
    """One word before the headline: pass, fail."""

    tone: Tone = "neutral"
    """How the badge is coloured."""


@dataclass(frozen=True, slots=True)
class Entries:
    """A list of things with a few lines each."""

    kind: ClassVar[str] = "entries"

    entries: tuple[Entry, ...]
    """The things."""

    title: str = ""
    """What they are."""

    note: str = ""
    """Which part of all of them is shown."""

    line_length: int = 220
    """After how many characters a terminal cuts a line without -v."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a plot."""

    title: str
    """What it shows."""

    low: float
    """Its beginning."""

    high: float
    """Its end."""


@dataclass(frozen=True, slots=True)
class Series:
    """Points of a plot, or a line through them."""

    points: tuple[Point, ...]
    """Where."""

    kind: Literal["dots", "line", "rule"] = "dots"
    """A rule is a dashed line."""

    name: str = ""
    """What the key calls it; empty for no entry."""

    style: int = 0
    """Which colour of the page's, from 0."""

    sizes: tuple[float, ...] = ()
    """Radius of each dot in pixels; empty for small ones."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot as data. Only a page draws it: a terminal and Markdown have the tables."""

    kind: ClassVar[str] = "figure"

    caption: str
    """What it shows and how it is read."""

    x: Axis
    """The horizontal axis."""

    y: Axis
    """The vertical axis."""

    series: tuple[Series, ...]
    """What is drawn, the first below the others."""


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks below a heading of their own."""

    kind: ClassVar[str] = "section"

    title: str
    """The heading."""

    blocks: tuple[Block, ...]
    """What is below it."""

    intro: str = ""
    """What it is about, in a sentence."""

    tone: Tone = "neutral"
    """How the sentence is coloured."""


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks that few readers need: folded on a page, and in a terminal only with -v."""

    kind: ClassVar[str] = "details"

    summary: str
    """What is inside."""

    blocks: tuple[Block, ...]
    """The blocks."""


Block = Table | Lines | Notes | Passage | Entries | Plot | Section | Details
"""What a document is made of."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The answer to the question that the command was run for, in a sentence or two."""

    text: str
    """The sentence."""

    tone: Tone = "neutral"
    """Whether it is good news."""


@dataclass(frozen=True, slots=True)
class Document:
    """A result, ready to be rendered."""

    title: str
    """Of what it is the result."""

    conclusion: Conclusion
    """What every renderer shows first."""

    blocks: tuple[Block, ...]
    """Everything else, in order of interest."""

    # A function, because the data of a grading are all its verdicts and most commands print text.
    data: Callable[[], object]
    """Makes the result's JSON, with the keys that users rely on."""


def text_columns(*names: str) -> tuple[Column, ...]:
    """Columns of which the first is a text and the others are numbers."""
    first, *others = names
    return (Column(first, "text", max_width=26), *map(Column, others))


def rate_cell(estimate: Estimate) -> Cell:
    """A rate with its interval."""
    return Cell(numbers.format_rate(estimate), estimate=estimate)


def mean_cell(estimate: Estimate, digits: int = 2) -> Cell:
    """A mean with its interval, which a narrow table leaves out."""
    return Cell(
        numbers.format_mean(estimate, digits),
        estimate=estimate,
        short=numbers.format_value(estimate, digits),
    )


def difference_cell(estimate: Estimate) -> Cell:
    """A difference with its interval."""
    return Cell(numbers.format_difference(estimate), estimate=estimate)


def not_empty(blocks: Iterable[Block | None]) -> tuple[Block, ...]:
    """The blocks that have something to show."""
    return tuple(block for block in blocks if block is not None and not _is_empty(block))


def _is_empty(block: Block) -> bool:
    if isinstance(block, Table | Lines):
        return not block.rows
    if isinstance(block, Notes):
        return not block.lines
    if isinstance(block, Entries):
        return not block.entries
    return isinstance(block, Section | Details) and not block.blocks
