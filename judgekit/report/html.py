"""Renders a `Document` as a page of its own with the Jinja templates in `templates/`.

A page loads and runs nothing, and foreign text is only ever text in it.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from judgekit.report.message import message_lines, printable
from judgekit.report.plots import draw_bar, draw_plot

if TYPE_CHECKING:
    from judgekit.report.document import Document
    from judgekit.stats.estimate import Estimate

_TEMPLATES = Path(__file__).with_name("templates")


def render_html(document: Document) -> str:
    """A document as a page; all text in it is escaped."""
    style = _style()
    return _environment().get_template("document.html.j2").render(
        document=document, style=Markup(style), policy=_policy(style)  # noqa: S704 - our own file
    )  # fmt: skip


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
    environment.filters["draw_plot"] = draw_plot
    environment.filters["draw_bar"] = draw_bar
    environment.filters["basis"] = _basis
    environment.filters["passage"] = _passage
    return environment


def _finalize(value: object) -> object:
    """Text without control and direction characters, which escaping alone would let through."""
    return printable(value) if type(value) is str else value


def _passage(text: str) -> Markup:
    """Foreign text that keeps its line breaks, which `_finalize` would turn into spaces."""
    return escape(message_lines(text))


@cache
def _style() -> str:
    return (_TEMPLATES / "style.css").read_text(encoding="utf-8")


def _policy(style: str) -> str:
    """What a browser may do with the page: apply its one style sheet."""
    # Text that got out of its place would run nothing, reach nobody, and could not even add a
    # style: only the sheet with this hash counts.
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _basis(estimate: Estimate) -> str:
    """What a figure rests on, as the tooltip of its cell."""
    if isnan(estimate.value):
        return "not defined for these data"
    level = "" if isnan(estimate.low) else f"{estimate.level * 100:g} % interval, "
    missing = f", {estimate.n_missing:,} missing" if estimate.n_missing else ""
    return f"{level}n = {estimate.n:,}{missing}, {estimate.method}"
