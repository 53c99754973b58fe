"""The frame of an HTML page and its inline SVG plots.

Foreign text is escaped, and nothing is loaded or run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from math import isfinite
from typing import TYPE_CHECKING

from judgekit.atomic_write import check_output_path, write_text_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_PAGE_SUFFIXES = (".json", ".md", ".html")
"""The file types of what has a page."""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What a browser may do: apply the style in the page. Foreign text that got out of its place would
run nothing and reach nobody."""

_PAGE_STYLE = """
:root{color-scheme:light dark;--ink:#1d232b;--dim:#69727d;--line:#d9dee4;--page:#fff;--a:#2463b4;--b:#c2571a}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ed;--dim:#98a2ad;--line:#3a424c;--page:#15191e;--a:#74a9ef;--b:#ee9b62}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem;margin-bottom:.2rem}h2{font-size:1.05rem;margin:2rem 0 .4rem}
.conclusion{font-weight:600;border-left:4px solid var(--a);padding:.4rem .8rem;margin:1rem 0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:.2rem .9rem .2rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--dim);font-weight:500}td:first-child,th:first-child,.lines td{text-align:left}
.lines td{border:0}.lines td:first-child{color:var(--dim);white-space:nowrap}
.note{color:var(--dim);margin:.3rem 0}.plots{display:flex;flex-wrap:wrap;gap:1rem}
figure{margin:0}figcaption{font-size:.85rem;color:var(--dim);max-width:360px}
svg{max-width:100%;height:auto}svg text{fill:var(--dim);font-size:11px;text-anchor:middle}
svg .y{text-anchor:end}svg .key{text-anchor:start}svg .frame{fill:none;stroke:var(--line)}
svg .c0{fill:var(--a);stroke:var(--a)}svg .c1{fill:var(--b);stroke:var(--b)}svg .c2{fill:var(--dim);stroke:var(--dim)}
svg circle{fill-opacity:.55}svg polyline{fill:none!important;stroke-width:1.6}svg .rule{stroke-dasharray:4 3;stroke-width:1}
"""  # noqa: E501 - a style sheet


def check_page_path(path: Path, *, what: str) -> None:
    """Refuse a place that a page cannot be written to, before anything is asked."""
    check_output_path(path, _PAGE_SUFFIXES, what=what, may_be_folder=False)


def write_page(
    path: Path,
    *,
    figures: Callable[[], object],
    markdown: Callable[[], str],
    html: Callable[[], str],
) -> None:
    """Write one of three forms to a file, chosen by its suffix; whole or not at all."""
    suffix = path.suffix.lower()
    if suffix == ".json":
        text = json.dumps(figures(), ensure_ascii=False, indent=2) + "\n"
    else:
        text = html() if suffix == ".html" else markdown()
    write_text_atomically(path, text)


def html_page(title: str, body: Sequence[str], *, style: str = "") -> str:
    """A page of its own."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{_PAGE_STYLE}{style}</style></head>\n<body>\n"
        + "\n".join(part for part in body if part)
        + "\n</body></html>\n"
    )


def markdown_text(text: str) -> str:
    """Foreign text as it stands: nothing in it is taken for Markdown or HTML."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|!" else c for c in text)


PlotPoint = tuple[float, float]

_WIDTH, _HEIGHT = 360, 280

_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 12, 40

_TICKS = 5


@dataclass(frozen=True, slots=True)
class PlotAxis:
    """One axis."""

    title: str
    """What it shows."""

    low: float
    """Its beginning."""

    high: float
    """Its end."""


@dataclass(frozen=True, slots=True)
class PlotSeries:
    """Points, or a line through them, of one kind."""

    points: tuple[PlotPoint, ...]
    """Where."""

    kind: str = "dots"
    """`dots`, `line`, or `rule` for a dashed line."""

    name: str = ""
    """What the key calls it; empty for no entry."""

    style: int = 0
    """Which colour of the page's, from 0."""

    sizes: tuple[float, ...] = ()
    """Radius of each dot in pixels; empty for small ones."""


def draw_plot(x: PlotAxis, y: PlotAxis, marks: Sequence[PlotSeries], *, label: str) -> str:
    """A plot."""
    body = [*_frame(x, y)]
    for mark in marks:
        body += _draw_series(mark, x, y)
    named = [mark for mark in marks if mark.name]
    body += _key(named) if len(named) > 1 else []
    return (
        f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}">{"".join(body)}</svg>'
    )


def _frame(x: PlotAxis, y: PlotAxis) -> list[str]:
    wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    parts = [f'<rect class="frame" x="{_LEFT}" y="{_TOP}" width="{wide}" height="{tall}"/>']
    for step in range(_TICKS):
        share = step / (_TICKS - 1)
        at_x, at_y = x.low + share * (x.high - x.low), y.low + share * (y.high - y.low)
        left, top = _place((at_x, at_y), x, y)
        bottom = _HEIGHT - _BOTTOM
        parts.append(f'<text class="tick" x="{left:.1f}" y="{bottom + 14}">{at_x:g}</text>')
        parts.append(f'<text class="tick y" x="{_LEFT - 5}" y="{top + 4:.1f}">{at_y:g}</text>')
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(f'<text class="axis" x="{middle:.0f}" y="{_HEIGHT - 6}">{escape(x.title)}</text>')
    half = (_TOP + _HEIGHT - _BOTTOM) / 2
    turn = f"rotate(-90 12 {half:.0f})"
    title = escape(y.title)
    parts.append(f'<text class="axis" x="12" y="{half:.0f}" transform="{turn}">{title}</text>')
    return parts


def _draw_series(mark: PlotSeries, x: PlotAxis, y: PlotAxis) -> list[str]:
    places = [_place(point, x, y) for point in mark.points if all(map(isfinite, point))]
    colour = f"c{mark.style}"
    if mark.kind == "dots":
        sizes = mark.sizes or (2.5,) * len(places)
        return [
            f'<circle class="{colour}" cx="{left:.1f}" cy="{top:.1f}" r="{size:.1f}"/>'
            for (left, top), size in zip(places, sizes, strict=False)
        ]
    if len(places) < 2:  # noqa: PLR2004 - a line has two ends
        return []
    way = " ".join(f"{left:.1f},{top:.1f}" for left, top in places)
    dashed = " rule" if mark.kind == "rule" else ""
    return [f'<polyline class="{colour}{dashed}" points="{way}"/>']


def _key(marks: Sequence[PlotSeries]) -> list[str]:
    parts = []
    for place, mark in enumerate(marks):
        top = _TOP + 14 + place * 15
        parts.append(f'<circle class="c{mark.style}" cx="{_LEFT + 12}" cy="{top - 4}" r="4"/>')
        parts.append(f'<text class="key" x="{_LEFT + 21}" y="{top}">{escape(mark.name)}</text>')
    return parts


def _place(point: PlotPoint, x: PlotAxis, y: PlotAxis) -> PlotPoint:
    """Where a point lies on the picture; what is outside an axis lies at its end."""
    right = min(1.0, max(0.0, (point[0] - x.low) / (x.high - x.low)))
    up = min(1.0, max(0.0, (point[1] - y.low) / (y.high - y.low)))
    wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    return _LEFT + right * wide, _HEIGHT - _BOTTOM - up * tall
