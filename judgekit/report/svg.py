"""Places what plots and drawn intervals show, as numbers in pixels; `svg.html.j2` writes them down.

An interval in a table is drawn on a scale that its column shares, so that the rows can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product, zip_longest
from math import ceil, floor, isfinite, isnan, log10
from typing import TYPE_CHECKING

from judgekit.report.document import Axis, Cell, IntervalBar, Plot, Series
from judgekit.report.numbers import DASH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from judgekit.report.document import Point, Table

_WIDTH, _WIDE, _HEIGHT = 360, 736, 280
# On the left there is room for a tick of six characters beside the rotated title of the axis.
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 12, 12, 40
# A large dot at the end of a scale must not cover the tick beside it.
_INSET = 10
_MOST_STEPS = 5
_ROUND = (1, 2, 5, 10)
_ROUNDING = 1e-6
_DOT = 3.0
_KEY_STEP = 15
_MOST_FIGURES = 200


@dataclass(frozen=True, slots=True)
class _Scale:
    """An axis between two places in pixels."""

    axis: Axis
    first: float
    last: float

    def at(self, value: float) -> float:
        """Where a value stands; one beyond the end stands at the end."""
        low, high, value = map(self._linear, (self.axis.low, self.axis.high, value))
        share = min(1.0, max(0.0, (value - low) / (high - low)))
        return self.first + share * (self.last - self.first)

    def _linear(self, value: float) -> float:
        # Nothing has a place below the lower end of a logarithmic axis, and 0 has no logarithm.
        return log10(max(value, self.axis.low)) if self.axis.is_log else value

    def ticks(self) -> list[tuple[float, str]]:
        """The place of each round number, or of each name."""
        if self.axis.names:
            return [(self.at(n), name) for n, name in enumerate(self.axis.names, 1)]
        values = _log_ticks(self.axis) if self.axis.is_log else _ticks(self.axis)
        return [(self.at(value), f"{value:,.6g}") for value in values]


def draw_plot(figure: Plot) -> dict[str, object]:
    """Where everything that a plot shows lies in pixels, by the names that `svg.html.j2` uses."""
    named = [series for series in figure.series if series.name]
    # One kind alone needs no key. Above the frame it can cover nothing.
    top = _TOP + (_KEY_STEP * len(named) if len(named) > 1 else 0)
    width, height = _WIDE if figure.is_wide else _WIDTH, _HEIGHT - _TOP + top
    right, bottom = width - _RIGHT, height - _BOTTOM
    x = _Scale(figure.x, _LEFT + _INSET, right - _INSET)
    # The y axis of SVG points down, that of a plot up.
    y = _Scale(figure.y, bottom - _INSET, top + _INSET)
    key = [(one.style, one.kind, _TOP + n * _KEY_STEP, one.name) for n, one in enumerate(named)]
    return {
        "lines": [line for series in figure.series for line in _line(series, x, y)],
        "bars": [bar for series in figure.series for bar in _bars(series, x, y)],
        "whiskers": [part for series in figure.series for part in _whiskers(series, x, y)],
        "dots": [dot for series in figure.series for dot in _dots(series, x, y)],
        "x_ticks": x.ticks(),
        "y_ticks": y.ticks(),
        "key": key if len(key) > 1 else [],
        "width": width,
        "height": height,
        "left": _LEFT,
        "right": right,
        "top": top,
        "bottom": bottom,
    }


def _known(series: Series) -> Iterator[tuple[int, Point]]:
    # A statistic may be undefined at a point; SVG has no nan, and one would hide the series.
    return ((n, p) for n, p in enumerate(series.points) if all(map(isfinite, p)))


def _line(series: Series, x: _Scale, y: _Scale) -> Iterator[tuple[int, bool, str]]:
    places = [f"{x.at(left):.1f},{y.at(up):.1f}" for _, (left, up) in _known(series)]
    if series.kind in {"line", "rule"} and len(places) > 1:
        yield series.style, series.kind == "rule", " ".join(places)


def _bars(series: Series, x: _Scale, y: _Scale) -> Iterator[tuple[int, tuple[float, ...], str]]:
    if series.kind != "bars":
        return
    for n, (middle, up) in _known(series):
        left, right = (x.at(middle + side * series.width / 2) for side in (-1, 1))
        box = (left, y.at(up), right - left, y.first - y.at(up))
        yield series.style, box, _label(series, n)


def _whiskers(series: Series, x: _Scale, y: _Scale) -> Iterator[tuple[int, float, float, float]]:
    for n, (left, _) in _known(series):
        if series.intervals and all(map(isfinite, series.intervals[n])):
            low, high = series.intervals[n]
            yield series.style, x.at(left), y.at(low), y.at(high)


def _dots(series: Series, x: _Scale, y: _Scale) -> Iterator[tuple[int, Point, float, str]]:
    if series.kind != "dots":
        return
    for n, (left, up) in _known(series):
        size = series.sizes[n] if series.sizes else _DOT
        yield series.style, (x.at(left), y.at(up)), size, _label(series, n)


def _label(series: Series, n: int) -> str:
    return series.labels[n] if series.labels else ""


def _ticks(axis: Axis) -> list[float]:
    span = axis.high - axis.low
    step = _round_step(span / _MOST_STEPS)
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
    return [0.0 if abs(value) < step * _ROUNDING else value for value in values]


def _round_step(least: float) -> float:
    """The next number that is 1, 2 or 5 times a power of ten."""
    unit = 10.0 ** floor(log10(least))
    return next(unit * k for k in _ROUND if unit * k >= least * (1 - _ROUNDING))


def _log_ticks(axis: Axis) -> list[float]:
    powers = range(floor(log10(axis.low)), ceil(log10(axis.high)) + 1)
    every = [10.0**power * k for power, k in product(powers, _ROUND[:3])]
    inside = [value for value in every if axis.low <= value <= axis.high]
    tens = [value for value in inside if _is_multiple(log10(value), 1)]
    return inside if len(inside) <= _MOST_STEPS + 1 or not tens else tens


def _is_multiple(value: float, of: float) -> bool:
    return abs(value / of - round(value / of)) < _ROUNDING


def plot_figures(figure: Plot) -> dict[str, object] | None:
    """The points of a plot as a table, for readers who do not see it; None without points."""
    shown = [one for one in figure.series if one.kind in {"dots", "bars"}]
    # A curve without points is all that its plot has.
    shown = shown or [one for one in figure.series if one.kind == "line" and len(one.points) > 2]  # noqa: PLR2004 - two are a level
    if not shown:
        return None
    flags = {
        "": any(one.name for one in shown),
        "point": any(one.labels for one in shown),
        "interval": any(one.intervals for one in shown),
    }
    heads = [*(["series"] if flags[""] else []), *(["point"] if flags["point"] else [])]
    heads += [figure.x.title, figure.y.title, *(["interval"] if flags["interval"] else [])]
    rows = []
    for one in shown:
        for n, point in enumerate(one.points):
            row = [one.name] if flags[""] else []
            row += [_label(one, n)] if flags["point"] else []
            row += [_number(point[0], figure.x), _number(point[1], figure.y)]
            row += [_interval(one, n)] if flags["interval"] else []
            rows.append(row)
    return {
        "heads": heads,
        "rows": rows[:_MOST_FIGURES],
        "n_more": max(0, len(rows) - _MOST_FIGURES),
    }


def _interval(series: Series, n: int) -> str:
    if not series.intervals or not all(map(isfinite, series.intervals[n])):
        return DASH
    return "{:.4g} to {:.4g}".format(*series.intervals[n])


def _number(value: float, axis: Axis) -> str:
    if axis.names:
        return axis.names[round(value) - 1]
    return f"{value:,.4g}" if isfinite(value) else DASH


_BAR_WIDTH, _BAR_HEIGHT = 240, 22
_CELL_WIDTH, _CELL_HEIGHT = 120, 10
_BAR_EDGE = 6
_FEW = 10


def cell_bars(table: Table) -> list[list[IntervalBar | None]]:
    """The intervals that a page draws in a table: those of its estimates, on one scale a column."""
    # A table with a column of bars has drawn its estimates there.
    if any(column.kind == "bar" for column in table.columns):
        return [[None] * len(table.columns) for _ in table.rows]
    columns = [_column_bars(cells) for cells in zip(*table.rows, strict=True)]
    return [list(row) for row in zip_longest(*columns)]


def _column_bars(cells: Sequence[str | Cell]) -> list[IntervalBar | None]:
    drawn = [cell for cell in cells if isinstance(cell, Cell) and _is_drawn(cell)]
    if not drawn:
        return [None] * len(cells)
    ends = _column_ends(drawn)
    return [
        IntervalBar(cell.estimate, ends, reference=cell.reference)
        if isinstance(cell, Cell) and cell.estimate is not None and _is_drawn(cell)
        else None
        for cell in cells
    ]


def _is_drawn(cell: Cell) -> bool:
    found = cell.estimate
    return found is not None and all(map(isfinite, (found.value, found.low, found.high)))


def _column_ends(cells: Sequence[Cell]) -> tuple[float, float]:
    """The scale of a column: shares from 0 to 1, differences from the middle, others as needed."""
    bounds = [
        end
        for cell in cells
        if (e := cell.estimate) is not None
        for end in (e.low, e.high, e.value)
    ]
    if any(cell.reference == 0 for cell in cells):
        most = _round_step(max(map(abs, bounds)) or 1.0)
        return -most, most
    low, high = min(0.0, *bounds), max(bounds)
    if low == 0 and high <= 1:
        return 0.0, 1.0
    step = _round_step((high - low) / _MOST_STEPS)
    return floor(low / step) * step, ceil(high / step) * step


def draw_bar(bar: IntervalBar, *, is_small: bool = False) -> dict[str, object] | None:
    """Where an estimate and its interval lie in pixels; None where there is nothing to draw."""
    (low, high), found = bar.ends, bar.estimate
    # Without a value there is no place for the dot; the cell beside it shows a dash.
    if isnan(found.value):
        return None
    width, height = (_CELL_WIDTH, _CELL_HEIGHT) if is_small else (_BAR_WIDTH, _BAR_HEIGHT)
    at = _Scale(Axis("", low, high), _BAR_EDGE, width - _BAR_EDGE).at
    left, right = at(-bar.margin), at(bar.margin)
    has_line = bar.reference is not None and low <= bar.reference <= high
    return {
        "low": at(low),
        "high": at(high),
        "reference": at(bar.reference) if bar.reference is not None and has_line else None,
        "band": (left, right - left) if bar.margin else None,
        "at": at(found.value),
        "span": None if isnan(found.low) else (at(found.low), at(found.high)),
        # Few or missing data: the interval is less certain than it looks.
        "is_rough": found.n < _FEW or found.n_missing > 0,
        "width": width,
        "height": height,
    }
