"""Renders a `Document` as Markdown, for pull requests and step summaries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import singledispatch
from html import escape

from judgekit.report.document import (
    Block,
    CaseTable,
    Cell,
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
    is_drawing_only,
)
from judgekit.report.message import message_lines, printable

# What begins an item of a list or underlines a heading, but not `-v` or `+0.12`.
_LIST_SIGN = re.compile(r"^(\d*)([-+=.)])(?=[\s=-]|$)")
# Markdown has six levels of headings; a seventh hash would be shown as text.
_DEEPEST = 6


def render_markdown(document: Document) -> str:
    """A document as Markdown; every text in it is escaped."""
    parts = [f"# {markdown_text(document.title)}", f"**{markdown_text(document.conclusion.text)}**"]
    parts += _rendered(document.blocks, level=2)
    return "\n\n".join(parts) + "\n"


def markdown_text(text: str) -> str:
    """Foreign text as it stands: nothing in it is taken for Markdown or HTML."""
    # The angle bracket matters most: viewers of Markdown render raw HTML.
    escaped = "".join(f"\\{c}" if c in "\\`*_{}[]<>#|!&~" else c for c in printable(text))
    return _LIST_SIGN.sub(r"\1\\\2", escaped)


def html_text(text: str) -> str:
    """Foreign text within an HTML element of Markdown, where a backslash escapes nothing."""
    return escape(printable(text))


def _rendered(blocks: Iterable[Block], level: int) -> Iterator[str]:
    last = ""
    for block in blocks:
        for part in _render_block(block, level):
            # Two lists in a row would become one, with wide gaps; a comment keeps them apart.
            if part.startswith("- ") and last.startswith("- "):
                yield "<!-- -->"
            yield part
            last = part


def _heading(title: str, level: int) -> Iterator[str]:
    if title:
        yield f"{'#' * min(level, _DEEPEST)} {markdown_text(title)}"


@singledispatch
def _render_block(block: Block, level: int) -> Iterator[str]:
    raise NotImplementedError(type(block).__name__)


@_render_block.register(CaseTable)
def _render_cases(block: CaseTable, level: int) -> Iterator[str]:
    yield from _rendered(block.summary, level)


@_render_block.register(Plot)
@_render_block.register(TextChange)
@_render_block.register(Labelling)
def _render_figure(block: Plot | TextChange | Labelling, level: int) -> Iterator[str]:  # noqa: ARG001 - as all others
    yield from ()  # its figures are in the tables


@_render_block.register(Table)
def _render_table(block: Table, level: int) -> Iterator[str]:
    if block.is_drawing:
        return
    yield from _heading(block.title, level)
    places = [place for place, column in enumerate(block.columns) if column.kind != "bar"]
    heads = [markdown_text(block.columns[place].name) or " " for place in places]
    rules = ["---:" if block.columns[place].kind == "number" else "---" for place in places]
    rows = [heads, rules, *([_cell(row[place]) for place in places] for row in block.rows)]
    yield "\n".join(f"| {' | '.join(row)} |" for row in rows)
    yield from map(markdown_text, block.notes)


@_render_block.register(Lines)
def _render_lines(block: Lines, level: int) -> Iterator[str]:
    yield from _heading(block.title, level)
    rows = [
        f"- {markdown_text(label)}: {markdown_text(text)}" if label else f"  {markdown_text(text)}"
        for label, text in block.rows
    ]
    # A backslash keeps the break before a line without a label.
    yield "\n".join(rows).replace("\n  ", "\\\n  ")


@_render_block.register(Notes)
def _render_notes(block: Notes, level: int) -> Iterator[str]:
    yield from _heading(block.title, level)
    yield from map(markdown_text, block.lines)


@_render_block.register(Passage)
def _render_passage(block: Passage, level: int) -> Iterator[str]:
    yield from _heading(block.title, level)
    # A code block keeps line breaks; indented, no run of backticks in the text can close it.
    yield "\n".join(f"    {line}" for line in message_lines(block.text).split("\n"))


@_render_block.register(Entries)
def _render_entries(block: Entries, level: int) -> Iterator[str]:
    yield from _heading(block.title, level)
    if block.note:
        yield markdown_text(block.note)
    rows = []
    for entry in block.entries:
        badge = f"**{markdown_text(entry.badge)}** " if entry.badge else ""
        rows.append(f"- {badge}{markdown_text(entry.headline)}")
        rows += [f"  - {markdown_text(line)}" for line in entry.lines]
    yield "\n".join(rows)


@_render_block.register(Section)
def _render_section(block: Section, level: int) -> Iterator[str]:
    if is_drawing_only(block):
        return
    yield from _heading(block.title, level)
    if block.intro:
        yield markdown_text(block.intro)
    yield from _rendered(block.blocks, level + 1)


@_render_block.register(Details)
def _render_details(block: Details, level: int) -> Iterator[str]:
    # GitHub and GitLab fold it. The blank lines around the blocks make them Markdown again.
    yield f"<details><summary>{html_text(block.title or 'Details')}</summary>"
    if block.intro:
        yield markdown_text(block.intro)
    yield from _rendered(block.blocks, level + 1)
    yield "</details>"


def _cell(cell: str | Cell) -> str:
    return markdown_text(cell if isinstance(cell, str) else cell.text) or " "
