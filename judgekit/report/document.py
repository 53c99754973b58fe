"""The one form in which every result is reported: a title, a conclusion, and blocks below it.

A builder module makes a `Document` of each result; `terminal`, `markdown`, `html` and `json` render
it. A builder never knows who renders, and a renderer never knows what was measured. Renderers also
make foreign text safe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import quote, urlencode

from judgekit.report import message, numbers

if TYPE_CHECKING:
    from judgekit.records import Image
    from judgekit.stats.estimate import Estimate

Tone = Literal["pass", "fail", "better", "worse", "inconclusive", "error", "neutral"]
"""The meaning of a conclusion or a cell; renderers colour by it, and the words repeat it."""

ANSWER_WORDS: dict[bool | None, str] = {True: "pass", False: "fail", None: "open"}
"""The badge of an answer, coloured by `PASS_TONES`."""

ColumnKind = Literal["text", "ellipsis", "id", "number", "bar"]
"""Text wraps, `ellipsis` is cut where there is no room; ids and numbers do neither.

A bar is a drawing that repeats figures of its row: only pages show it.
"""

PASS_TONES: dict[bool | None, Tone] = {True: "pass", False: "fail", None: "inconclusive"}
"""How a decision is coloured."""

TONE_SIGNS: dict[Tone, str] = {
    "pass": "✓", "fail": "✗", "better": "▲", "worse": "▼", "inconclusive": "?", "error": "!",
    "neutral": "",
}  # fmt: skip
"""One character for each tone, since a colour alone must not carry a meaning."""

Point = tuple[float, float]
T = TypeVar("T")
PageJson = dict[str, object]
"""JSON for the script of a page."""

LabelledText = tuple[str, str]
"""A label and its text, a line of `Lines`."""

_LONGEST_MESSAGE = 300


@dataclass(frozen=True, slots=True)
class IntervalBar:
    """An estimate drawn with its interval between the least and the most it can be."""

    estimate: Estimate
    ends: tuple[float, float]
    margin: float = 0.0
    """On both sides of 0: the band in which an effect does not matter."""

    reference: float | None = 0.0
    """Where a line stands: no effect, a gate, one half."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table that is more than a text."""

    text: str
    tone: Tone | None = None

    # A page shows the sample size and the method behind a figure as its tooltip.
    estimate: Estimate | None = None

    # Shown where the table does not fit; None for the text, so that nothing is left out.
    short: str | None = None

    bar: IntervalBar | None = None

    # What a page draws a line at, beside the interval: no difference, a gate, one half.
    reference: float | None = None

    # From 0 to 5, as the background on a page: how much of its row a count is, or 1 for the rows
    # that belong together, if the next ones have none.
    shade: int = 0

    # The page of what the cell names, by `page_path`; a link where there is such a page.
    link: str = ""

    # What is put side by side, as RUN::VARIANT, when the viewer's user ticks the row.
    choice: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column, and how its cells are laid out."""

    name: str
    kind: ColumnKind = "number"
    max_width: int | None = None
    """Characters of a text before it wraps."""

    may_move: bool = False
    """Whether a terminal that is too narrow may show it below the table instead."""

    may_drop: bool = False
    """Whether a terminal that is too narrow may leave it out: another column has it too, or nothing
    is decided by it."""

    term: str | None = None
    """What explains it in `meanings`, where that is not its name; empty for a foreign name."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below named columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str | Cell, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    rules_after: frozenset[int] = frozenset()

    is_drawing: bool = False
    """Whether it draws figures that stand elsewhere: only pages show it."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Texts with a label before each; a line without one continues the line before."""

    rows: tuple[LabelledText, ...]
    title: str = ""
    is_foreign: bool = False
    """Whether labels are names of the user's, such as cases, so that none is a term."""


@dataclass(frozen=True, slots=True)
class Notes:
    """Sentences, one a line."""

    lines: tuple[str, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A foreign text with its own line breaks: an input, an output. A terminal folds long ones."""

    text: str
    title: str
    images: tuple[Image, ...] = ()
    """The images that the text names; only a page can show them."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One item of a list: an answer, a changed decision, a disagreement."""

    headline: str
    lines: tuple[str, ...] = ()
    badge: str = ""
    tone: Tone = "neutral"


@dataclass(frozen=True, slots=True)
class Entries:
    """A list of items with a few lines each."""

    entries: tuple[Entry, ...]
    title: str = ""
    note: str = ""
    """Which part of all items is shown."""

    hint: str = ""
    """How to see the others, which a terminal adds without -v."""

    # A rationale can be pages long: without a limit one answer would fill the terminal.
    line_length: int = 220


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a plot."""

    title: str
    low: float
    high: float
    is_log: bool = False
    """Whether equal distances are equal ratios: of sizes from 1,000 to 64,000 most are small."""

    is_count: bool = False
    """Whether it counts, so that no number stands between two whole ones."""

    names: tuple[str, ...] = ()
    """What stands at 1, 2, … in the place of numbers."""


@dataclass(frozen=True, slots=True)
class Series:
    """Points of a plot, a line through them, or bars from the bottom up to them."""

    points: tuple[Point, ...]
    kind: Literal["dots", "line", "rule", "bars"] = "dots"
    name: str = ""
    """What the key calls it; empty for no entry."""

    style: int = 0
    """Which colour of the page's, from 0."""

    sizes: tuple[float, ...] = ()
    """Radius of each dot in pixels; empty for small ones."""

    intervals: tuple[Point, ...] = ()
    """The ends of the interval of each point; empty for none."""

    labels: tuple[str, ...] = ()
    """What each point is, such as its run or how many items it stands for; empty for nothing."""

    links: tuple[LabelledText, ...] = ()
    """For points that a page can open: what each is, and its page by `page_path`."""

    width: float = 1.0
    """Of each bar, on the lower axis."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot as data. Only a page draws it: a terminal and Markdown have the tables."""

    caption: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    """What is drawn, the first below the others."""

    is_wide: bool = False
    """Whether it takes the width of two."""


@dataclass(frozen=True, slots=True)
class TextChange:
    """A text before and after, of which a page shows the words that changed."""

    title: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class CaseTable:
    """All cases of a result, to be filtered and opened one by one on a page (see `case_table`)."""

    index: PageJson
    """What the grid shows of all cases, by columns."""

    chunks: tuple[bytes, ...]
    """The cases in full, some in each: JSON lists, compressed by gzip."""

    summary: tuple[Block, ...] = ()
    """What a terminal, Markdown and a page without its script show in the place of the cases."""

    title: str = "Cases"

    about: tuple[Block, ...] = ()
    """What only a page shows, below the cases: other renderers have no room for it."""

    comes_early: bool = True
    """Whether a page shows it after the first table: most readers of a run come for its cases."""


@dataclass(frozen=True, slots=True)
class Labelling:
    """Items for an annotator. Only a page shows them, by its script `label.js`."""

    task: PageJson
    """The items and what is asked about them."""

    intro: tuple[str, ...]
    """The task in a few sentences."""

    title: str = ""
    answers: str = ""
    """The address that takes answers; empty where the browser keeps them."""


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks below a heading of their own, and a sentence about them."""

    title: str
    blocks: tuple[Block, ...]
    intro: str = ""
    tone: Tone = "neutral"


@dataclass(frozen=True, slots=True)
class Details(Section):
    """A section that few readers need: folded on a page, and in a terminal only with -v."""

    hint: str = ""
    """What a terminal prints without -v: how much is left out, and how to see it."""


Block = (
    Table | Lines | Notes | Passage | Entries | Plot | TextChange | CaseTable | Labelling | Section
)
"""What a document is made of."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The answer to the question that the command was run for, in a sentence or two."""

    text: str
    tone: Tone = "neutral"

    more: str = ""
    """What a page, which has room, says below it: the figures that it rests on."""


@dataclass(frozen=True, slots=True)
class Document:
    """A result, ready to be rendered: every renderer shows the conclusion first."""

    title: str
    conclusion: Conclusion
    blocks: tuple[Block, ...]

    # A function, because the data of a grading are all its verdicts and most commands print text.
    data: Callable[[], object]
    """Makes the result's JSON, with the keys that users rely on."""

    kind: str = ""
    """What the result is, such as a comparison: the line above the title of a page."""


def case_table_of(document: Document) -> CaseTable | None:
    """The cases of a document; None where it has none. No document has two case tables."""
    return next((block for block in document.blocks if isinstance(block, CaseTable)), None)


def page_path(kind: str, name: str = "", **query: str) -> str:
    """The path of a page in the viewer, without its leading slash: `runs/RUN`."""
    path = f"{kind}/{quote(name, safe='')}" if name else kind
    return f"{path}?{urlencode(query)}" if query else path


def text_columns(*names: str, is_foreign: bool = False) -> tuple[Column, ...]:
    """Columns of which the first is a text and the others are numbers, or names of the user's."""
    first, *others = names
    term = "" if is_foreign else None
    return (Column(first, "text", max_width=26), *(Column(name, term=term) for name in others))


def table_of(
    items: Iterable[T],
    columns: Mapping[str | Column, Callable[[T], str | Cell]],
    title: str = "",
    notes: tuple[str, ...] = (),
) -> Table:
    """A row for each item; every head, as in `text_columns` or in full, stands with its cells."""
    rows = tuple(tuple(cell(item) for cell in columns.values()) for item in items)
    plain = text_columns(*(head if isinstance(head, str) else head.name for head in columns))
    heads = (
        own if isinstance(own, Column) else usual for own, usual in zip(columns, plain, strict=True)
    )
    return Table(tuple(heads), rows, title, notes)


def rate_cell(estimate: Estimate) -> Cell:
    return Cell(numbers.format_rate(estimate), estimate=estimate)


def mean_cell(estimate: Estimate | None, digits: int = 2) -> Cell:
    """A mean with its interval, which a narrow table leaves out."""
    if estimate is None:
        return Cell(numbers.DASH)
    short = numbers.format_decimal(estimate.value, f".{digits}f")
    return Cell(numbers.format_mean(estimate, digits), estimate=estimate, short=short)


def difference_cell(estimate: Estimate | None) -> Cell:
    if estimate is None:
        return Cell(numbers.DASH)
    return Cell(numbers.format_difference(estimate), estimate=estimate, reference=0.0)


def count_lines(label: str, n: int, noun: str, rest: str) -> list[LabelledText]:
    """A line about some things; none where there are none of them."""
    return [(label, f"{numbers.format_count(n, noun)} {rest}")] if n else []


def failure_lines(
    failures: Mapping[str, int], messages: Mapping[str, str], noun: str = "question"
) -> list[LabelledText]:
    """The failures of the judges by kind, each with the message of its first one."""
    lines = []
    for kind, n in failures.items():
        count = numbers.format_count(n, noun)
        lines.append(("failed", f"{count}: {message.failure_words(kind)}"))
        lines.append(("", message.one_line(messages[kind], _LONGEST_MESSAGE)))
    return lines


def sampling_line(seed: int, level: float) -> LabelledText:
    """How cases were drawn, and what the intervals allow for."""
    return "sampled", f"with seed {seed}; {level * 100:g} % intervals, clustered by case"


def fields_of(record: object, *names: str) -> dict[str, Any]:
    """Some attributes of a record by their names."""
    return {name: getattr(record, name) for name in names}


def some_names(names: Sequence[str], n: int = 0) -> str:
    """The names of some things, and a sign that there are more of them: `case-1, case-2, …`."""
    dots = ", …" if n > len(names) else ""
    return ", ".join(message.printable(name, 40) for name in names) + dots


def label_once(rows: Sequence[LabelledText]) -> tuple[LabelledText, ...]:
    """Each label before the first of its lines only."""
    return tuple(
        ("" if n and label == rows[n - 1][0] else label, text)
        for n, (label, text) in enumerate(rows)
    )


def is_drawing_only(section: Section) -> bool:
    """Whether a heading without plots, as in a terminal and Markdown, would stand over nothing."""
    return all(isinstance(inner, Plot) for inner in section.blocks) and not section.intro


def not_empty(blocks: Iterable[Block | None]) -> tuple[Block, ...]:
    """The blocks that have something to show."""
    return tuple(block for block in blocks if block is not None and not _is_empty(block))


def _is_empty(block: Block) -> bool:
    match block:
        case Table(rows=()) | Lines(rows=()) | Notes(lines=()) | Entries(entries=()):
            return True
        case Section(blocks=()):
            return True
    return False
