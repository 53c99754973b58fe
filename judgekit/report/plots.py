"""Plots as inline SVG: points and lines between two axes, without any library."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Point = tuple[float, float]

_WIDTH, _HEIGHT = 360, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 12, 40
_TICKS = 5


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis."""

    title: str
    """What it shows."""

    low: float
    """Its beginning."""

    high: float
    """Its end."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Points, or a line through them, of one kind."""

    points: tuple[Point, ...]
    """Where."""

    kind: str = "dots"
    """`dots`, `line`, or `rule` for a dashed line."""

    name: str = ""
    """What the key calls it; empty for no entry."""

    style: int = 0
    """Which colour of the page's, from 0."""

    sizes: tuple[float, ...] = ()
    """Radius of each dot in pixels; empty for small ones."""


def plot(x: Axis, y: Axis, marks: Sequence[Mark], *, label: str) -> str:
    """A plot."""
    body = [*_frame(x, y)]
    for mark in marks:
        body += _drawn(mark, x, y)
    named = [mark for mark in marks if mark.name]
    body += _key(named) if len(named) > 1 else []
    return (
        f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}">{"".join(body)}</svg>'
    )


def _frame(x: Axis, y: Axis) -> list[str]:
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


def _drawn(mark: Mark, x: Axis, y: Axis) -> list[str]:
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


def _key(marks: Sequence[Mark]) -> list[str]:
    parts = []
    for place, mark in enumerate(marks):
        top = _TOP + 14 + place * 15
        parts.append(f'<circle class="c{mark.style}" cx="{_LEFT + 12}" cy="{top - 4}" r="4"/>')
        parts.append(f'<text class="key" x="{_LEFT + 21}" y="{top}">{escape(mark.name)}</text>')
    return parts


def _place(point: Point, x: Axis, y: Axis) -> Point:
    """Where a point lies on the picture; what is outside an axis lies at its end."""
    right = min(1.0, max(0.0, (point[0] - x.low) / (x.high - x.low)))
    up = min(1.0, max(0.0, (point[1] - y.low) / (y.high - y.low)))
    wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    return _LEFT + right * wide, _HEIGHT - _BOTTOM - up * tall
