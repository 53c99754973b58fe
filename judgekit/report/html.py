"""Renders a `Document` as a page of its own with the Jinja templates in `templates/`.

Plots and intervals are placed in `svg`, as numbers; the templates write them down.

A page is complete without its script, which adds filters, search and the cases in full. It loads
nothing, and foreign text is only ever text in it.
"""

from __future__ import annotations

import json
import re
import tomllib
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from judgekit.report.document import TONE_SIGNS, Table, case_table_of
from judgekit.report.message import message_lines, printable
from judgekit.report.svg import cell_bars, draw_bar, draw_plot, known_points, plot_figures

if TYPE_CHECKING:
    from judgekit.report.document import Block, CaseTable, Document
    from judgekit.stats.estimate import Estimate

_TEMPLATES = Path(__file__).with_name("templates")
_ASSETS = Path(__file__).with_name("assets")
_MEANINGS = Path(__file__).with_name("meanings.toml")
_LEVEL = re.compile(r", [\d.]+ %$")

# What is shown of a case table without the script, and in print.
_STATIC_ROWS = 100


@dataclass(frozen=True, slots=True)
class PageLinks:
    """Where a server has what a page of its own holds itself: its script, style and cases."""

    assets: str
    """Address of the folder of `page.js` and `page.css`."""

    chunks: str
    """Address of the cases in full; the number of the chunk follows it."""

    write_token: str | None = None
    """What the page sends with a change; None where it can change nothing."""

    events: str = ""
    """Address of the progress of a run that is not over; empty for none."""


@dataclass(frozen=True, slots=True)
class SitePages:
    """The pages that a page can link to: those of the viewer, or of an exported site."""

    address: Callable[[str], str | None]
    """The address of a page by its `page_path`; None where there is no such page."""

    navigation: tuple[tuple[str, str], ...]
    """The label and the path of each page that every page links to."""

    here: str
    """The path of the page itself."""


def render_html(
    document: Document, links: PageLinks | None = None, site: SitePages | None = None
) -> str:
    """A document as a page; all text in it is escaped."""
    # Without `links` the page holds everything itself, and its policy allows nothing else; without
    # `site` it links to no other page.
    return "".join(html_parts(document, links, site))


def html_parts(
    document: Document, links: PageLinks | None = None, site: SitePages | None = None
) -> Iterator[str]:
    """The page in parts, for writing one that is larger than needs be held."""
    script, style = asset_text("page.js"), asset_text("page.css")
    cases = case_table_of(document)
    template = _environment().get_template("document.html.j2")
    yield from template.generate(
        document=document,
        blocks=_page_blocks(document.blocks, cases),
        cases=cases,
        links=links,
        sign=TONE_SIGNS[document.conclusion.tone],
        site=site,
        script=Markup(script),  # noqa: S704 - our own file
        style=Markup(style),  # noqa: S704 - our own file
        policy=file_policy(script, style),
    )


def render_fragment(document: Document) -> str:
    """A document as a part of a page with its own style and no script, as notebooks show it."""
    return (
        _environment()
        .get_template("fragment.html.j2")
        .render(
            document=document,
            cases=None,
            links=None,
            site=None,
            sign=TONE_SIGNS[document.conclusion.tone],
            style=Markup((_TEMPLATES / "fragment.css").read_text(encoding="utf-8")),  # noqa: S704 - our own file
        )
    )


def _page_blocks(blocks: tuple[Block, ...], cases: CaseTable | None) -> tuple[Block, ...]:
    if cases is None or not cases.comes_early:
        return blocks
    others = tuple(block for block in blocks if block is not cases)
    end = next((n for n, one in enumerate(others, start=1) if isinstance(one, Table)), 0)
    return (*others[:end], cases, *others[end:])


@cache
def asset_text(name: str) -> str:
    """A file of `assets/`, built from `script/`."""
    return (_ASSETS / name).read_text(encoding="utf-8")


def file_policy(script: str, style: str) -> str:
    """The content security policy of a page that is one file."""
    # Text that got out of its place would run nothing, reach nobody, and could not even add a
    # style: a browser accepts only the script and the sheet with these hashes.
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        # A misspelt name in a template is an error, not a gap in the page.
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # Templates are part of the package: checking them for changes costs a call each time.
        auto_reload=False,
        finalize=_finalize,
    )
    environment.filters |= {
        "draw_plot": draw_plot,
        "draw_bar": draw_bar,
        "cell_bars": cell_bars,
        "plot_figures": plot_figures,
        "known_points": known_points,
        "basis": _basis,
        "meaning": meaning_of,
        # Foreign text that keeps its line breaks, which `_finalize` would turn into spaces.
        "passage": lambda text: escape(message_lines(text)),
        # Templates cannot test for a class.
        "kind": lambda block: type(block).__name__.lower(),
        "embedded": embedded_json,
        # Markup, because nothing in megabytes of this alphabet is to be escaped.
        "base64": lambda chunk: Markup(b64encode(chunk).decode()),  # noqa: S704 - as above
        "static_rows": _static_rows,
    }
    return environment


def _finalize(value: object) -> object:
    """Text without control and direction characters, which escaping alone would let through."""
    if type(value) is not str:
        return value
    # Leading spaces are our indent, which a browser would drop.
    indent = len(value) - len(value.lstrip(" "))
    return "\N{NO-BREAK SPACE}" * indent + printable(value)


def meaning_of(name: str, kind: str) -> str:
    """The tooltip of a column or a label of a result of some kind; empty where it needs none."""
    term = _LEVEL.sub("", name).casefold()
    return _meanings().get(f"{kind.casefold()}: {term}") or _meanings().get(term, "")


@cache
def _meanings() -> dict[str, str]:
    return tomllib.loads(_MEANINGS.read_text(encoding="utf-8"))


def embedded_json(value: object) -> Markup:
    """JSON for a script element that holds data; no text in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text.encode("utf-8", "replace").decode())  # noqa: S704 - escaped above


def _static_rows(index: Any) -> list[dict[str, object]]:
    """The first rows of a case table in its order, for readers without a script and in print."""
    return [
        {
            "id": index["ids"][n],
            "snippet": index["snippets"][n],
            "cells": [_static_cell(index["states"], column, n) for column in index["cells"]],
        }
        for n in index["order"][:_STATIC_ROWS]
    ]


def _static_cell(states: Any, column: Any, n: int) -> dict[str, object] | None:
    if (place := column["state"][n]) is None:
        return None
    state, value = states[place], column["value"][n]
    number = state["label"] if value is None else f"{value:.2f}"
    return {"state": state, "text": (column["text"] and column["text"][n]) or number}


def _basis(estimate: Estimate) -> str:
    """What a figure rests on, as the tooltip of its cell."""
    if isnan(estimate.value):
        return "not defined for these data"
    level = "" if isnan(estimate.low) else f"{estimate.level * 100:g} % interval, "
    missing = f", {estimate.n_missing:,} missing" if estimate.n_missing else ""
    return f"{level}n = {estimate.n:,}{missing}, {estimate.method}"
