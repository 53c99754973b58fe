"""Places what plots and drawn intervals show, as numbers in pixels; `svg.html.j2` writes them down.

An interval in a table is drawn on a scale that its column shares, so that the rows can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product, zip_longest
from math import ceil, floor, isfinite, isnan, log10
from typing import TYPE_CHECKING

from judgekit.report.document import Axis, Cell, IntervalBar, Plot, Series, Table

if TYPE_CHECKING:
    from judgekit.stats.estimate import Estimate

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


@dataclass(frozen=True, slots=True)
class PlotScale:
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
    """The layout and the scales of a plot, by the names that `svg.html.j2` uses."""
    named = [series for series in figure.series if series.name]
    # One kind alone needs no key. Above the frame it can cover nothing.
    key = named if len(named) > 1 else []
    top = _TOP + _KEY_STEP * len(key)
    width, height = _WIDE if figure.is_wide else _WIDTH, _HEIGHT - _TOP + top
    right, bottom = width - _RIGHT, height - _BOTTOM
    return {
        "x": PlotScale(figure.x, _LEFT + _INSET, right - _INSET),
        # The y axis of SVG points down, that of a plot up.
        "y": PlotScale(figure.y, bottom - _INSET, top + _INSET),
        "key": [(one, _TOP + n * _KEY_STEP) for n, one in enumerate(key)],
        "size": _DOT,
        "width": width,
        "height": height,
        "left": _LEFT,
        "right": right,
        "top": top,
        "bottom": bottom,
    }


def known_points(series: Series) -> list[tuple[float, float, int]]:
    """The points of a series, each with its place in it, without those that are undefined."""
    # SVG has no nan, and one would hide the series.
    return [(*p, n) for n, p in enumerate(series.points) if all(map(isfinite, p))]


def _ticks(axis: Axis) -> list[float]:
    span = axis.high - axis.low
    step = _round_step(max(span / _MOST_STEPS, float(axis.is_count)))
    start = ceil(axis.low / step - _ROUNDING) * step
    # Where whole steps lead from end to end, both carry a tick: they are bounds of a scale, which
    # readers look for. A zero in between matters more.
    if (
        _is_multiple(span, step)
        and _is_multiple(axis.low, step / 2)
        # Numbers of runs are whole: no tick stands at half of one.
        and _is_multiple(axis.low, 10.0 ** floor(log10(step)))
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


def plot_figures(figure: Plot) -> list[Series]:
    """The series of a plot that have figures, for the table beside it."""
    shown = [one for one in figure.series if one.kind in {"dots", "bars"}]
    # A curve without points is all that its plot has; a line between two points is a level.
    return shown or [one for one in figure.series if one.kind == "line" and len(one.points) > 2]  # noqa: PLR2004


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
    estimates = {
        n: (found, cell.reference)
        for n, cell in enumerate(cells)
        if isinstance(cell, Cell)
        and (found := cell.estimate) is not None
        and all(map(isfinite, (found.value, found.low, found.high)))
    }
    if not estimates:
        return [None] * len(cells)
    ends = _column_ends([*estimates.values()])
    bars = {n: IntervalBar(one, ends, reference=line) for n, (one, line) in estimates.items()}
    return [bars.get(n) for n in range(len(cells))]


def _column_ends(estimates: Sequence[tuple[Estimate, float | None]]) -> tuple[float, float]:
    """The scale of a column: shares from 0 to 1, differences from the middle, others as needed."""
    bounds = [end for one, _ in estimates for end in (one.low, one.high, one.value)]
    if any(line == 0 for _, line in estimates):
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
    at = PlotScale(Axis("", low, high), _BAR_EDGE, width - _BAR_EDGE).at
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
