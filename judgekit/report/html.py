"""Renders a `Document` as a page of its own with the Jinja templates in `templates/`.

The parts of plots are placed here, as numbers; the templates write them down as SVG.

A page loads and runs nothing, and foreign text is only ever text in it.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from math import isfinite, isnan
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from judgekit.report.message import message_lines, printable

if TYPE_CHECKING:
    from judgekit.report.document import Axis, Document, IntervalBar, Plot, Point, Series
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


_WIDTH, _HEIGHT = 360, 280
# On the left there is room for a tick of six characters beside the rotated title of the axis.
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 12, 12, 40
_N_TICKS = 5
_DOT = 2.5


@dataclass(frozen=True, slots=True)
class Tick:
    """A number at an axis, and where it lies in pixels along it."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class PlotDrawing:
    """A plot with every place in pixels."""

    dots: tuple[tuple[int, float, float, float], ...]
    """Colour, place and radius of each dot."""

    lines: tuple[tuple[int, bool, str], ...]
    """Colour, whether it is dashed, and the points of each line."""

    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    key: tuple[tuple[int, int, str], ...]
    width: int = _WIDTH
    height: int = _HEIGHT
    left: int = _LEFT
    right: int = _WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = _HEIGHT - _BOTTOM


def draw_plot(figure: Plot) -> PlotDrawing:
    """Place everything that a plot shows."""
    dots: list[tuple[int, float, float, float]] = []
    lines: list[tuple[int, bool, str]] = []
    for series in figure.series:
        # A statistic may be undefined at a point; SVG has no nan, and one would hide the series.
        places = [_place(p, figure.x, figure.y) for p in series.points if all(map(isfinite, p))]
        if series.kind == "dots":
            sizes = series.sizes or (_DOT,) * len(places)
            dots += [
                (series.style, left, top, size)
                for (left, top), size in zip(places, sizes, strict=False)
            ]
        elif len(places) > 1:
            way = " ".join(f"{left:.1f},{top:.1f}" for left, top in places)
            lines.append((series.style, series.kind == "rule", way))
    return PlotDrawing(
        dots=tuple(dots),
        lines=tuple(lines),
        x_ticks=_ticks(figure.x, _LEFT, _WIDTH - _RIGHT),
        y_ticks=_ticks(figure.y, _HEIGHT - _BOTTOM, _TOP),
        key=_key(figure.series),
    )


def _ticks(axis: Axis, first: int, last: int) -> tuple[Tick, ...]:
    # Both ends of an axis carry a tick: they are bounds of a scale, which readers look for.
    shares = [step / (_N_TICKS - 1) for step in range(_N_TICKS)]
    return tuple(
        Tick(first + share * (last - first), f"{axis.low + share * (axis.high - axis.low):g}")
        for share in shares
    )


def _key(series: tuple[Series, ...]) -> tuple[tuple[int, int, str], ...]:
    named = [one for one in series if one.name]
    if len(named) < 2:  # noqa: PLR2004 - one kind alone needs no key
        return ()
    return tuple((one.style, _TOP + 14 + n * 15, one.name) for n, one in enumerate(named))


def _place(point: Point, x: Axis, y: Axis) -> Point:
    # The y axis of SVG points down, that of a plot up.
    right = min(1.0, max(0.0, (point[0] - x.low) / (x.high - x.low)))
    up = min(1.0, max(0.0, (point[1] - y.low) / (y.high - y.low)))
    wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    return _LEFT + right * wide, _HEIGHT - _BOTTOM - up * tall


_BAR_WIDTH, _BAR_HEIGHT, _BAR_EDGE = 240, 22, 6


@dataclass(frozen=True, slots=True)
class BarDrawing:
    """An interval with every place in pixels."""

    low: float
    high: float
    zero: float
    band: tuple[float, float]
    """Where the effect does not matter: beginning and width, as an SVG rectangle takes them."""

    at: float
    span: tuple[float, float] | None
    width: int = _BAR_WIDTH
    height: int = _BAR_HEIGHT


def draw_bar(bar: IntervalBar) -> BarDrawing | None:
    """Place an effect and its interval; None where there is no effect to draw."""
    (low, high), found = bar.ends, bar.estimate
    # Without a value there is no place for the dot; the cell beside it shows a dash.
    if isnan(found.value):
        return None

    def at(value: float) -> float:
        inside = min(max(value, low), high)
        return _BAR_EDGE + (inside - low) / (high - low) * (_BAR_WIDTH - 2 * _BAR_EDGE)

    left, right = at(-bar.margin), at(bar.margin)
    return BarDrawing(
        low=at(low),
        high=at(high),
        zero=at(0),
        band=(left, right - left),
        at=at(found.value),
        span=None if isnan(found.low) else (at(found.low), at(found.high)),
    )
