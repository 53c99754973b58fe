"""Prints a `Document` with rich: the conclusion first, in colour, then the blocks.

Pages are made in `html`, from the same documents.
"""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Literal

from judgekit.report.document import (
    Cell,
    Column,
    Details,
    Document,
    Entries,
    Lines,
    Notes,
    Passage,
    Plot,
    Section,
    Table,
    Tone,
)
from judgekit.report.message import printable, safe_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table as RichTable
    from rich.text import Text

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
_BOUNDLESS = 100_000


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
    from rich.padding import Padding  # noqa: PLC0415 - a tenth of a second, only when printing

    console.print(_text(title, style))
    console.print(Padding(text, (0, 0, 0, _INDENT_STEP), expand=False))


class HangingText:
    """A text for a rich console; each of its lines wraps two columns right of where it begins."""

    def __init__(self, text: Text, *, margin: int = 0) -> None:
        self._text = text
        self._margin = " " * margin

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """The lines as they fit the console, without white space up to its width."""
        from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

        for line in self._text.split("\n", allow_blank=True):
            for part in self._wrap(line, console, options.max_width - len(self._margin)):
                row = Text(self._margin) + part
                row.rstrip()
                yield row

    @staticmethod
    def _wrap(line: Text, console: Console, width: int) -> Iterator[Text]:
        from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

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


@_print_block.register(Plot)
def _print_figure(block: Plot, console: Console, *, verbose: bool) -> None:
    """A terminal has no pictures; what they show is in the tables too."""


@_print_block.register(Notes)
def _print_notes(block: Notes, console: Console, *, verbose: bool) -> None:  # noqa: ARG001
    _print_title(console, block.title)
    for line in block.lines:
        console.print(HangingText(_text(line, "dim"), margin=2 if block.title else 0))


@_print_block.register(Lines)
def _print_lines(block: Lines, console: Console, *, verbose: bool) -> None:  # noqa: ARG001
    from rich.table import Table as Grid  # noqa: PLC0415 - a tenth of a second, only when printing

    _print_title(console, block.title)
    style = "" if block.title else "dim"
    margin = 2 if block.title else 0
    # `fold`, not an ellipsis: ids and paths have to stay whole to be copied.
    grid = Grid(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    grid.add_column(style=style, overflow="fold", max_width=_LABEL_WIDTH + margin)
    grid.add_column(style=style, overflow="fold")
    for label, text in block.rows:
        grid.add_row(_text(" " * margin) + _text(label), _text(text))
    if not block.title:
        console.print()
    console.print(grid)


@_print_block.register(Passage)
def _print_passage(block: Passage, console: Console, *, verbose: bool) -> None:
    print_passage(console, block.title, safe_text(block.text, folds=not verbose))


@_print_block.register(Entries)
def _print_entries(block: Entries, console: Console, *, verbose: bool) -> None:
    from rich.text import Text  # noqa: PLC0415

    _print_title(console, block.title, block.note)
    for entry in block.entries:
        text = Text()
        if entry.badge:
            text.append(
                f"{printable(entry.badge)}  ", style=f"bold {TONE_STYLES[entry.tone]}".rstrip()
            )
        text.append(printable(entry.headline), style="bold")
        for line in entry.lines:
            text.append(
                f"\n  {printable(line, None if verbose else block.line_length)}", style="dim"
            )
        console.print(HangingText(text, margin=2))


@_print_block.register(Section)
def _print_section(block: Section, console: Console, *, verbose: bool) -> None:
    # A heading over nothing but plots would stand alone: a terminal draws none.
    if all(isinstance(inner, Plot) for inner in block.blocks) and not block.intro:
        return
    _print_title(console, block.title)
    if block.intro:
        console.print(HangingText(_text(block.intro, TONE_STYLES[block.tone]), margin=2))
    for inner in block.blocks:
        _print_block(inner, console, verbose=verbose)


# Few readers need details, and what fills the screen hides the conclusion.
@_print_block.register(Details)
def _print_details(block: Details, console: Console, *, verbose: bool) -> None:
    if verbose:
        _print_title(console, block.summary)
        for inner in block.blocks:
            _print_block(inner, console, verbose=verbose)


@_print_block.register(Table)
def _print_table(block: Table, console: Console, *, verbose: bool) -> None:  # noqa: ARG001
    _print_title(console, block.title)
    for part in _fitting(block, console):
        console.print(part)
    for note in block.notes:
        console.print(HangingText(_text(note, "dim"), margin=2))


def _fitting(block: Table, console: Console) -> Iterator[RenderableType]:
    """The fullest form of a table that fits the console."""
    # rich cuts what does not fit, and so would drop the last columns without a word.
    columns = block.columns
    places = [place for place, column in enumerate(columns) if column.kind != "bar"]
    needed = [place for place in places if not columns[place].may_drop]
    staying = [place for place in needed if not columns[place].may_move]
    forms = ((False, places), (False, needed), (True, needed), (False, staying), (True, staying))
    for shortened, chosen in forms:
        table = _rich_table(block, chosen, shortened=shortened)
        if _width(table, console) <= console.width:
            break
    yield table
    if chosen is staying and len(staying) < len(needed):
        yield _rich_table(_moved(block, needed), range(3), shortened=shortened)


def _width(table: RichTable, console: Console) -> int:
    from rich.measure import Measurement  # noqa: PLC0415

    boundless = console.options.update_width(_BOUNDLESS)
    # Columns of text wrap, so that the numbers and the longest words decide whether a table fits.
    return Measurement.get(console, boundless, table).minimum


def _moved(block: Table, places: Sequence[int]) -> Table:
    """The columns that found no room, a row for each cell."""
    moving = [place for place in places if block.columns[place].may_move]
    rows = [
        (block.columns[place].name if number == 0 else "", row[0], row[place])
        for place in moving
        for number, row in enumerate(block.rows)
    ]
    heads = (Column("", "text"), Column("", "text", max_width=30), Column(""))
    return Table(heads, tuple(rows))


def _rich_table(block: Table, places: Sequence[int], *, shortened: bool) -> RichTable:
    from rich import box  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.table import Table as RichTable  # noqa: PLC0415

    # A table of moved columns has no names: an empty head would be a line of nothing.
    has_heads = any(block.columns[place].name for place in places)
    table = RichTable(
        header_style="dim", box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False,
        show_header=has_heads,
    )  # fmt: skip
    chosen = [block.columns[place] for place in places]
    rows = [
        [_cell(row[place], block.columns[place], shortened=shortened) for place in places]
        for row in block.rows
    ]
    for number, column in enumerate(chosen):
        _add_column(table, column, [row[number] for row in rows])
    for number, cells in enumerate(rows):
        table.add_row(*cells, end_section=number in block.rules_after)
    return table


def _add_column(table: RichTable, column: Column, cells: Sequence[Text]) -> None:
    name = _text(column.name)
    if column.kind in {"number", "id"}:
        # Without a least width rich would rather cut a number than wrap a text.
        width = max(cell.cell_len for cell in (name, *cells))
        justify: Literal["left", "right"] = "right" if column.kind == "number" else "left"
        table.add_column(name, justify=justify, no_wrap=True, min_width=width)
    else:
        overflow = "ellipsis" if column.kind == "ellipsis" else "fold"
        table.add_column(name, overflow=overflow, max_width=column.max_width)  # type: ignore[arg-type]  # a literal


def _cell(cell: str | Cell, column: Column, *, shortened: bool) -> Text:
    if isinstance(cell, str):
        text, style = cell, ""
    else:
        text = cell.text if cell.short is None or not shortened else cell.short
        style = TONE_STYLES[cell.tone or "neutral"]
    shown = _text(text, style)
    if column.kind == "ellipsis":
        shown.no_wrap, shown.overflow = True, "ellipsis"
    return shown


def _print_title(console: Console, title: str, note: str = "") -> None:
    if title:
        text = _text(title, "bold")
        console.print()
        console.print(text + _text(f"  {note}", "dim") if note else text)


def _text(text: str, style: str = "") -> Text:
    """Foreign text as it stands: neither markup nor control characters act on the terminal."""
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    # `printable` strips the indent, which is ours and not of the foreign text.
    indent = text[: len(text) - len(text.lstrip(" "))]
    return Text(indent + printable(text), style=style)
