"""Prints a `Document` with rich: the conclusion first, in colour, then the blocks.

It is imported when something is printed: rich takes a tenth of a second. Pages are made in `html`,
from the same documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Literal

from rich import box
from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from judgekit.report.document import (
    CaseTable,
    Cell,
    Column,
    Details,
    Document,
    Entries,
    Labelling,
    Lines,
    Notes,
    Passage,
    Plot,
    Section,
    Table,
    TextChange,
    Tone,
    is_drawing_only,
)
from judgekit.report.message import printable, safe_text
from judgekit.report.numbers import DASH

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

    from judgekit.report.document import Block

# Colours repeat what the words say, so that nothing is lost with NO_COLOR, which rich honours.
TONE_STYLES: dict[Tone, str] = {
    "pass": "green",
    "better": "green",
    "fail": "red",
    "worse": "red",
    "error": "red",
    "inconclusive": "yellow",
    "neutral": "",
}
"""How each tone is coloured."""

_LABEL_WIDTH = 26
_INDENT_STEP = 2
_MIN_TEXT_WIDTH = 20
# Fewer characters of a text that is cut do not say which one it is.
_MIN_CUT_WIDTH = 12
# A time or two words are rather shown on one line.
_SHORT_WIDTH = 16
# A space on both sides of a cell, and one between two columns.
_GAP = 3


def print_document(console: Console, document: Document, *, verbose: bool = False) -> None:
    """Print a document; details only where all is wanted."""
    console.print()
    console.print(_text(document.title, "dim"))
    style = f"bold {TONE_STYLES[document.conclusion.tone]}".rstrip()
    console.print(_text(document.conclusion.text, style))
    for block in document.blocks:
        _print_block(block, console, verbose=verbose)


def print_passage(console: Console, title: str, text: Text, *, style: str = "bold") -> None:
    """Print a title and, indented below it, a text that keeps its line breaks."""
    console.print(_text(title, style))
    console.print(Padding(text, (0, 0, 0, _INDENT_STEP), expand=False))


class HangingText:
    """A text for a rich console; each of its lines wraps two columns right of where it begins."""

    def __init__(self, text: Text, *, margin: int = 0) -> None:
        self._text = text
        self._margin = " " * margin

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """The lines as they fit the console, without white space up to its width."""
        for line in self._text.split("\n", allow_blank=True):
            for part in self._wrap(line, console, options.max_width - len(self._margin)):
                row = Text(self._margin) + part
                row.rstrip()
                yield row

    @staticmethod
    def _wrap(line: Text, console: Console, width: int) -> Iterator[Text]:
        indent = len(line.plain) - len(line.plain.lstrip(" "))
        hang = indent + _INDENT_STEP
        # In a very narrow terminal an indent would leave no room for words.
        if line.cell_len <= width or width - hang < _MIN_TEXT_WIDTH:
            yield line
            return
        head, body = line.divide([indent]) if indent else (Text(), line)
        first = body.wrap(console, width - indent)[0]
        yield head + first
        rest = body[len(first.plain) :]
        rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
        for other in rest.wrap(console, width - hang):
            yield Text(" " * hang) + other


@singledispatch
def _print_block(block: Block, console: Console, *, verbose: bool) -> None:
    raise NotImplementedError(type(block).__name__)


@_print_block.register(CaseTable)
def _print_cases(block: CaseTable, console: Console, *, verbose: bool) -> None:
    for inner in block.summary:
        _print_block(inner, console, verbose=verbose)


@_print_block.register(Plot)
@_print_block.register(TextChange)
@_print_block.register(Labelling)
def _print_figure(block: Plot | TextChange | Labelling, console: Console, *, verbose: bool) -> None:
    """A terminal has no pictures; what they show is in the tables and files too."""


@_print_block.register(Notes)
def _print_notes(block: Notes, console: Console, *, verbose: bool) -> None:  # noqa: ARG001
    _print_title(console, block.title)
    for line in block.lines:
        console.print(HangingText(_text(line, "dim"), margin=2 if block.title else 0))


@_print_block.register(Lines)
def _print_lines(block: Lines, console: Console, *, verbose: bool) -> None:  # noqa: ARG001
    _print_title(console, block.title)
    if not block.title:
        console.print()
    style, margin = ("", 2) if block.title else ("dim", 0)
    rows = [(_text(label, style), _text(text, style)) for label, text in block.rows]
    console.print(_label_grid(rows, margin=margin))


def _label_grid(rows: Iterable[tuple[Text, Text]], *, margin: int) -> RichTable:
    # `fold`, not an ellipsis: ids and paths have to stay whole to be copied.
    grid = RichTable(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    grid.add_column(overflow="fold", max_width=_LABEL_WIDTH + margin)
    grid.add_column(overflow="fold")
    for label, text in rows:
        label.pad_left(margin)
        grid.add_row(label, text)
    return grid


@_print_block.register(Passage)
def _print_passage(block: Passage, console: Console, *, verbose: bool) -> None:
    print_passage(console, block.title, safe_text(block.text, folds=not verbose))


@_print_block.register(Entries)
def _print_entries(block: Entries, console: Console, *, verbose: bool) -> None:
    hint = f"; {block.hint}" if block.hint and not verbose else ""
    _print_title(console, block.title, f"{block.note}{hint}")
    longest = None if verbose else block.line_length
    for entry in block.entries:
        text = Text()
        if entry.badge:
            style = f"bold {TONE_STYLES[entry.tone]}".rstrip()
            text.append(f"{printable(entry.badge)}  ", style=style)
        text.append(printable(entry.headline), style="bold")
        for line in entry.lines:
            text.append(f"\n  {printable(line, longest)}", style="dim")
        console.print(HangingText(text, margin=2))


@_print_block.register(Section)
def _print_section(block: Section, console: Console, *, verbose: bool) -> None:
    if is_drawing_only(block):
        return
    # Few readers need details, and what fills the screen hides the conclusion.
    if isinstance(block, Details) and not verbose:
        if block.hint:
            console.print(HangingText(_text(block.hint, "dim"), margin=2))
        return
    _print_title(console, block.title)
    if block.intro:
        console.print(HangingText(_text(block.intro, TONE_STYLES[block.tone]), margin=2))
    for inner in block.blocks:
        _print_block(inner, console, verbose=verbose)


@_print_block.register(Table)
def _print_table(block: Table, console: Console, *, verbose: bool) -> None:  # noqa: ARG001
    if block.is_drawing:
        return
    _print_title(console, block.title)
    for part in _fitting(block, console.width):
        console.print(part)
    for note in block.notes:
        console.print(HangingText(_text(note, "dim"), margin=2))


def _fitting(block: Table, width: int) -> Iterator[RenderableType]:
    """The fullest form of a table that fits a width; a list where no table does."""
    columns = block.columns
    places = [place for place, column in enumerate(columns) if column.kind != "bar"]
    needed = [place for place in places if not columns[place].may_drop]
    staying = [place for place in needed if not columns[place].may_move]
    forms = ((False, places), (False, needed), (True, needed), (False, staying), (True, staying))
    for shortened, chosen in forms:
        heads = [columns[place] for place in chosen]
        rows = [[_cell(row[place], shortened=shortened) for place in chosen] for row in block.rows]
        if widths := _column_widths(heads, rows, width):
            yield _rich_table(heads, rows, widths, block.rules_after)
            if chosen is staying and len(staying) < len(needed):
                yield from _fitting(_moved(block), width)
            return
    for row in block.rows:
        yield from _row_list([columns[place] for place in needed], [row[n] for n in needed])


def _row_list(columns: Sequence[Column], row: Sequence[str | Cell]) -> Iterator[RenderableType]:
    """A row with a line for each cell, below its first one; ids stay whole to be copied."""
    first, *others = (_cell(cell) for cell in row)
    if first.plain:
        first.stylize("bold")
        yield HangingText(first, margin=1)
    labels = [_text(column.name, "dim") for column in columns[1:]]
    pairs = zip(labels, others, strict=True)
    yield _label_grid([pair for pair in pairs if pair[1].plain not in {"", DASH}], margin=3)


def _moved(block: Table) -> Table:
    rows = [
        (column.name if number == 0 else "", row[0], row[place])
        for place, column in enumerate(block.columns)
        if column.may_move
        for number, row in enumerate(block.rows)
    ]
    heads = (Column("", "text"), Column("", "text", max_width=30), Column(""))
    return Table(heads, tuple(rows))


def _column_widths(
    columns: Sequence[Column], rows: Sequence[Sequence[Text]], width: int
) -> list[int] | None:
    """How wide each column is; None where a word, a number or an id would have to be cut."""
    least, most = [], []
    for place, column in enumerate(columns):
        texts = [printable(column.name), *(row[place].plain for row in rows)]
        longest = max(map(cell_len, texts))
        whole = min(longest, column.max_width or longest)
        words = " ".join(texts).split()
        # A column of notes may be empty in every row.
        parts = [0, *(cell_len(part) for word in words for part in _BREAK.split(word))]
        least_of_kind = {"text": min(whole, max(parts)), "ellipsis": min(whole, _MIN_CUT_WIDTH)}
        least.append(least_of_kind.get(column.kind, longest))
        most.append(max(whole, least[-1]))
    free = width - sum(least) - _GAP * len(columns) + 1
    if free < 0:
        return None
    # The narrowest first, so that one long text does not make all the others wrap.
    wishing = [place for place in range(len(columns)) if most[place] > least[place]]
    for n_before, place in enumerate(sorted(wishing, key=most.__getitem__)):
        share = free if most[place] <= _SHORT_WIDTH else free // (len(wishing) - n_before)
        more = min(most[place] - least[place], share)
        least[place] += more
        free -= more
    return least


# An id wraps after a separator before a letter: a date and a version number stay whole.
_BREAK = re.compile(r"(?<=\w[-_/@,=])(?=[A-Za-z])")


def _wrapped(text: Text, width: int) -> Text:
    """A text with a line break wherever its next word, or part of an id, does not fit."""
    lines = [text.plain[: len(text.plain) - len(text.plain.lstrip())]]
    for word in re.findall(r"\S+\s?", text.plain):
        for part in [word] if cell_len(word.rstrip()) <= width else _BREAK.split(word):
            if lines[-1].strip() and cell_len(lines[-1]) + cell_len(part.rstrip()) > width:
                lines.append("")
            lines[-1] += part
    wrapped = text.blank_copy("\n".join(line.rstrip() for line in lines))
    wrapped.overflow = "fold"
    return wrapped


def _rich_table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Text]],
    widths: Sequence[int],
    rules_after: frozenset[int],
) -> RichTable:
    # A table of moved columns has no names: an empty head would be a line of nothing.
    table = RichTable(
        header_style="dim", box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False,
        show_header=any(column.name for column in columns),
    )  # fmt: skip
    for column, width in zip(columns, widths, strict=True):
        justify: Literal["left", "right"] = "right" if column.kind == "number" else "left"
        is_cut = column.kind == "ellipsis"
        overflow: Literal["ellipsis", "fold"] = "ellipsis" if is_cut else "fold"
        head = _text(column.name)
        table.add_column(head, justify=justify, no_wrap=is_cut, overflow=overflow, width=width)
    for number, row in enumerate(rows):
        cells = [
            _wrapped(text, width) if column.kind == "text" else text
            for column, text, width in zip(columns, row, widths, strict=True)
        ]
        table.add_row(*cells, end_section=number in rules_after)
    return table


def _cell(cell: str | Cell, *, shortened: bool = False) -> Text:
    if isinstance(cell, str):
        return _text(cell)
    text = cell.text if cell.short is None or not shortened else cell.short
    return _text(text, TONE_STYLES[cell.tone or "neutral"])


def _print_title(console: Console, title: str, note: str = "") -> None:
    if title:
        text = _text(title, "bold")
        console.print()
        console.print(text + _text(f"  {note}", "dim") if note else text)


def _text(text: str, style: str = "") -> Text:
    """Foreign text as it stands: neither markup nor control characters act on the terminal."""
    # `printable` strips the indent, which is ours and not of the foreign text.
    indent = text[: len(text) - len(text.lstrip(" "))]
    return Text(indent + printable(text), style=style)
