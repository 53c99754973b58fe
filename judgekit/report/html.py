"""Renders a `Document` as a page of its own with the Jinja templates in `templates/`.

The parts of plots are placed here, as numbers; the templates write them down as SVG.

A page is complete without its script, which adds filters, search and the cases in full. It loads
nothing, and foreign text is only ever text in it.
"""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from math import ceil, floor, isfinite, isnan, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from judgekit.report.document import CaseTable
from judgekit.report.message import message_lines, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from judgekit.report.document import Axis, Document, IntervalBar, PageJson, Plot, Point
    from judgekit.stats.estimate import Estimate

_TEMPLATES = Path(__file__).with_name("templates")
_ASSETS = Path(__file__).with_name("assets")


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
    """A document as a page; all text in it is escaped.

    Without `links` the page holds everything itself, and its policy allows nothing else; without
    `site` it links to no other page.
    """
    return "".join(html_parts(document, links, site))


def html_parts(
    document: Document, links: PageLinks | None = None, site: SitePages | None = None
) -> Iterator[str]:
    """The page in parts, for writing one that is larger than needs be held."""
    script, style = asset_text("page.js"), asset_text("page.css")
    cases = next((block for block in document.blocks if isinstance(block, CaseTable)), None)
    template = _environment().get_template("document.html.j2")
    yield from template.generate(
        document=document,
        cases=cases,
        links=links,
        site=site,
        script=Markup(script),  # noqa: S704 - our own file
        style=Markup(style),  # noqa: S704 - our own file
        policy=file_policy(script, style),
    )


@cache
def asset_text(name: str) -> str:
    """A file of `assets/`, built from `script/`."""
    return (_ASSETS / name).read_text(encoding="utf-8")


def file_policy(script: str, style: str) -> str:
    """The content security policy of a page that is one file.

    Text that got out of its place would run nothing, reach nobody, and could not even add a style:
    a browser accepts only the script and the sheet with these hashes.
    """
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
        "basis": _basis,
        # Foreign text that keeps its line breaks, which `_finalize` would turn into spaces.
        "passage": lambda text: escape(message_lines(text)),
        # Templates cannot test for a class.
        "kind": lambda block: type(block).__name__.lower(),
        "embedded": embedded_json,
        "base64": lambda chunk: b64encode(chunk).decode(),
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


def embedded_json(value: object) -> Markup:
    """JSON for a script element that holds data; no text in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text.encode("utf-8", "replace").decode())  # noqa: S704 - escaped above


def _static_rows(index: PageJson) -> list[dict[str, object]]:
    """The first rows of a case table in its order, for readers without a script."""
    states: Any = index["states"]
    columns: Any = index["cells"]
    found = []
    for n in cast("list[int]", index["order"])[:_STATIC_ROWS]:
        cells = [
            None if cell["state"][n] is None else (states[cell["state"][n]], cell["value"][n])
            for cell in columns
        ]
        fields: Any = index
        found.append({"id": fields["ids"][n], "snippet": fields["snippets"][n], "cells": cells})
    return found


def _basis(estimate: Estimate) -> str:
    """What a figure rests on, as the tooltip of its cell."""
    if isnan(estimate.value):
        return "not defined for these data"
    level = "" if isnan(estimate.low) else f"{estimate.level * 100:g} % interval, "
    missing = f", {estimate.n_missing:,} missing" if estimate.n_missing else ""
    return f"{level}n = {estimate.n:,}{missing}, {estimate.method}"


_WIDTH, _HEIGHT = 360, 280
# On the left there is room for a tick of six characters beside the rotated title of the axis.
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 12, 12, 40
# A large dot at the end of a scale must not cover the tick beside it.
_INSET = 10
_MOST_STEPS = 5
_ROUND = (1, 2, 5, 10)
_ROUNDING = 1e-6
_DOT = 2.5


def draw_plot(figure: Plot) -> dict[str, object]:
    """Where everything that a plot shows lies in pixels, by the names that `svg.html.j2` uses."""
    dots: list[tuple[float, ...]] = []
    lines: list[tuple[int, bool, str]] = []
    for series in figure.series:
        sizes = series.sizes or (_DOT,) * len(series.points)
        # A statistic may be undefined at a point; SVG has no nan, and one would hide the series.
        places = [
            (*_place(point, figure.x, figure.y), size)
            for point, size in zip(series.points, sizes, strict=True)
            if all(map(isfinite, point))
        ]
        if series.kind == "dots":
            dots += [(series.style, *place) for place in places]
        elif len(places) > 1:
            way = " ".join(f"{left:.1f},{top:.1f}" for left, top, _ in places)
            lines.append((series.style, series.kind == "rule", way))
    named = [(series.style, series.name) for series in figure.series if series.name]
    # One kind alone needs no key.
    key = [(style, _TOP + 14 + n * 15, name) for n, (style, name) in enumerate(named)]
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    return {
        "dots": dots,
        "lines": lines,
        "x_ticks": _ticks(figure.x, _LEFT + _INSET, right - _INSET),
        "y_ticks": _ticks(figure.y, bottom - _INSET, _TOP + _INSET),
        "key": key if len(key) > 1 else [],
        "width": _WIDTH,
        "height": _HEIGHT,
        "left": _LEFT,
        "right": right,
        "top": _TOP,
        "bottom": bottom,
    }


def _ticks(axis: Axis, first: int, last: int) -> list[tuple[float, str]]:
    """The place of each round number along an axis."""
    span = axis.high - axis.low
    unit = 10.0 ** floor(log10(span / _MOST_STEPS))
    step = next(unit * k for k in _ROUND if unit * k >= span / _MOST_STEPS * (1 - _ROUNDING))
    start = ceil(axis.low / step - _ROUNDING) * step
    # Where whole steps lead from end to end, both carry a tick: they are bounds of a scale, which
    # readers look for. A zero in between matters more.
    if (
        _is_multiple(span, step)
        and _is_multiple(axis.low, step / 2)
        and not axis.low < 0 < axis.high
    ):
        start = axis.low
    values = [start + k * step for k in range(int((axis.high - start) / step + _ROUNDING) + 1)]
    # A sum of steps may miss zero by a hair.
    shown = [0.0 if abs(value) < step * _ROUNDING else value for value in values]
    return [(first + (v - axis.low) / span * (last - first), f"{v:,.6g}") for v in shown]


def _is_multiple(value: float, of: float) -> bool:
    return abs(value / of - round(value / of)) < _ROUNDING


def _place(point: Point, x: Axis, y: Axis) -> Point:
    # The y axis of SVG points down, that of a plot up.
    right = min(1.0, max(0.0, (point[0] - x.low) / (x.high - x.low)))
    up = min(1.0, max(0.0, (point[1] - y.low) / (y.high - y.low)))
    wide, tall = _WIDTH - _LEFT - _RIGHT - 2 * _INSET, _HEIGHT - _TOP - _BOTTOM - 2 * _INSET
    return _LEFT + _INSET + right * wide, _HEIGHT - _BOTTOM - _INSET - up * tall


_BAR_WIDTH, _BAR_HEIGHT, _BAR_EDGE = 240, 22, 6


def draw_bar(bar: IntervalBar) -> dict[str, object] | None:
    """Where an effect and its interval lie in pixels; None where there is no effect to draw."""
    (low, high), found = bar.ends, bar.estimate
    # Without a value there is no place for the dot; the cell beside it shows a dash.
    if isnan(found.value):
        return None

    def at(value: float) -> float:
        inside = min(max(value, low), high)
        return _BAR_EDGE + (inside - low) / (high - low) * (_BAR_WIDTH - 2 * _BAR_EDGE)

    left, right = at(-bar.margin), at(bar.margin)
    return {
        "low": at(low),
        "high": at(high),
        "zero": at(0),
        "band": (left, right - left),
        "at": at(found.value),
        "span": None if isnan(found.low) else (at(found.low), at(found.high)),
        "width": _BAR_WIDTH,
        "height": _BAR_HEIGHT,
    }
