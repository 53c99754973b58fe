"""Intervals in tables and plots: what is drawn where, and what readers get who see no picture."""

from __future__ import annotations

import re
from math import inf, nan
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from judgekit.report.document import (
    Axis,
    Cell,
    Column,
    Conclusion,
    Document,
    IntervalBar,
    Plot,
    Series,
    Table,
    difference_cell,
    rate_cell,
)
from judgekit.report.html import SitePages, render_html
from judgekit.report.svg import cell_bars, draw_bar
from judgekit.stats.estimate import Estimate
from judgekit.stats.intervals import proportion

if TYPE_CHECKING:
    from judgekit.report.document import Block


def estimate(value: float, low: float, high: float, n: int = 20, **fields: Any) -> Estimate:
    return Estimate(value=value, low=low, high=high, n=n, method="t", **fields)


def page(*blocks: Block) -> str:
    return render_html(Document("title", Conclusion("done"), blocks, dict))


def column(*cells: str | Cell) -> list[IntervalBar | None]:
    """What is drawn in the cells of one column."""
    table = Table((Column("a"),), tuple((cell,) for cell in cells))
    return [row[0] for row in cell_bars(table)]


def plot(*series: Series, **axis: Any) -> Plot:
    return Plot("a plot", Axis("x", **{"low": 0, "high": 1} | axis), Axis("y", 0, 1), series)


def test_the_rows_of_a_column_share_a_scale() -> None:
    shares = column(rate_cell(proportion(3, 4)), rate_cell(proportion(1, 40)), "text")
    assert [bar and bar.ends for bar in shares] == [(0, 1), (0, 1), None]
    small, large = column(
        difference_cell(estimate(0.01, -0.02, 0.04)), difference_cell(estimate(-0.1, -0.3, 0.1))
    )
    assert small is not None
    assert large is not None
    # 0 is in the middle, so that the side of an effect is seen.
    assert small.ends == large.ends == (-0.5, 0.5)
    assert small.reference == 0


def test_figures_beyond_0_and_1_have_a_scale_of_their_own() -> None:
    (bar,) = column(Cell("1.3", estimate=estimate(1.3, -0.2, 1.7)))
    assert bar is not None
    assert bar.ends == (-0.5, 2.0)


@pytest.mark.parametrize("low", [nan, -inf])
def test_an_interval_without_an_end_is_not_drawn(low: float) -> None:
    assert column(Cell("1", estimate=estimate(0.5, low, 0.9))) == [None]


def test_an_interval_of_few_or_missing_data_is_hatched() -> None:
    def is_rough(**fields: Any) -> object:
        drawn = draw_bar(IntervalBar(estimate(0.5, 0.4, 0.6, **fields), (0, 1)))
        assert drawn is not None
        return drawn["is_rough"]

    assert is_rough(n=9)
    assert is_rough(n=50, n_missing=1)
    assert not is_rough(n=10)


def test_a_drawn_interval_stands_beside_its_text_and_is_not_read_twice() -> None:
    text = page(
        Table((Column("", "text"), Column("rate")), (("a", rate_cell(proportion(30, 40))),))
    )
    cell = re.findall(r'<td class="number"[^>]*>(.*?)</td>', text, re.DOTALL)[0]
    assert cell.startswith('75 % [60, 86]<svg class="interval" aria-hidden="true"')


def test_a_table_that_draws_its_effects_draws_no_second_interval() -> None:
    cell = Cell("0.5", estimate=estimate(0.5, 0.4, 0.6))
    assert cell_bars(Table((Column("a"), Column("", "bar")), ((cell, cell),))) == [[None, None]]


def parts(figure: Plot, tag: str, kind: str) -> list[ET.Element]:
    """The parts of a class in the picture of a plot."""
    (text,) = re.findall(r"<svg.*?</svg>", page(figure), re.DOTALL)
    found = ET.fromstring(text).iter(tag)  # noqa: S314 - our own
    return [one for one in found if one.attrib.get("class", "").split()[:1] == [kind]]


def number(part: ET.Element, name: str) -> float:
    return float(part.attrib[name])


def test_a_logarithmic_axis_has_equal_steps_for_equal_ratios() -> None:
    series = Series(((1000.0, 0.5), (8000.0, 0.5), (64000.0, 0.5)))
    figure = plot(series, low=1000, high=64000, is_log=True)
    first, middle, last = (number(dot, "cx") for dot in parts(figure, "circle", "mark"))
    assert middle - first == pytest.approx(last - middle, abs=0.11)
    assert [tick.text for tick in parts(figure, "text", "tick")][-6:] == [
        "1,000", "2,000", "5,000", "10,000", "20,000", "50,000"
    ]  # fmt: skip


def test_between_two_runs_an_axis_of_runs_has_no_tick() -> None:
    figure = plot(Series(((1.0, 0.5), (2.0, 0.5))), low=0.5, high=2.5, is_count=True)
    ticks = [tick.text for tick in parts(figure, "text", "tick")]
    assert ticks[-2:] == ["1", "2"]
    assert "1.5" not in ticks


def test_the_key_covers_nothing() -> None:
    one, two = Series(((0, 0),), name="a"), Series(((0, 0),), name="b")
    assert parts(plot(one), "text", "key") == []
    keys = parts(plot(one, two), "text", "key")
    (frame,) = parts(plot(one, two), "rect", "frame")
    assert [key.text for key in keys] == ["a", "b"]
    assert all(number(key, "y") < number(frame, "y") for key in keys)


def test_bars_are_wide_as_said_and_stand_at_their_names() -> None:
    bars = Series(((1, 0.5), (2, nan)), "bars", labels=("half", "none"), width=0.5)
    figure = plot(bars, low=0.5, high=2.5, names=("one", "two"))
    (bar,) = parts(figure, "rect", "fill")
    tick = next(tick for tick in parts(figure, "text", "tick") if tick.text == "one")
    middle = number(bar, "x") + number(bar, "width") / 2
    assert middle == pytest.approx(number(tick, "x"), abs=0.11)
    assert [title.text for title in bar] == ["half"]


def test_an_interval_is_drawn_where_both_its_ends_are_known() -> None:
    dots = Series(((0.1, 0.5), (0.5, 0.5), (0.9, nan)), intervals=((0, 1), (nan, 1), (0, 1)))
    assert len(parts(plot(dots), "path", "whisker")) == 1
    assert len(parts(plot(dots), "circle", "mark")) == 2


def figures(*series: Series) -> list[list[str]]:
    """The table beside a plot, its heads first."""
    found = re.findall(r"<tr>(.*?)</tr>", page(plot(*series)).split("<script")[0], re.DOTALL)
    return [re.findall(r"<t[hd][^>]*>([^<]*)<", row) for row in found]


def test_what_a_plot_shows_is_a_table_too() -> None:
    dots = Series(
        ((0.1, 0.25), (0.5, nan)), intervals=((0.2, 0.3), (nan, nan)), labels=("r1", "r2")
    )
    rule = Series(((0, 0), (1, 1)), "rule", name="same")
    assert figures(dots, rule) == [
        ["point", "x", "y", "interval"],
        ["r1", "0.1", "0.25", "0.2 to 0.3"],
        ["r2", "0.5", "–", "–"],
    ]
    assert figures(rule) == []
    many = figures(Series(tuple((0.0, 0.0) for _ in range(250))))
    assert len(many) == 202
    assert many[-1] == ["… and 50 more"]


def test_a_curve_alone_has_its_points_as_a_table() -> None:
    curve = Series(((0.1, 0.2), (0.3, 0.4), (0.5, 0.6)), "line", name="risk")
    assert figures(curve)[:2] == [["series", "x", "y"], ["risk", "0.1", "0.2"]]


def test_series_differ_by_shape_and_hatching_not_by_colour_alone() -> None:
    dots = [Series(((0.5, 0.5),), style=style) for style in range(3)]
    bars = [Series(((0.5, 0.5),), "bars", style=style) for style in range(2)]
    text = page(plot(*dots), plot(*bars))
    assert 'circle class="mark c0"' in text
    assert 'path class="mark c1"' in text
    assert 'path class="mark c2"' in text
    assert text.count('class="hatch c1"') == 1


def test_points_open_their_pages_where_there_are_such_pages() -> None:
    dots = Series(((0.2, 0.5), (0.8, 0.5)), links=(("r1: 0.5", "runs/r1"), ("r2: 0.5", "runs/r2")))
    document = Document("title", Conclusion("done"), (plot(dots),), dict)
    site = SitePages({"runs/r2": "r2.html"}.get, (), "")
    text = render_html(document, site=site)
    links = re.findall(r'<a class="opens" (.*?)tabindex="0" aria-label="(.*?)"', text)
    assert links == [('role="img" ', "r1: 0.5"), ('href="r2.html" ', "r2: 0.5")]
    # What is inside of an image cannot be reached by a screen reader.
    assert '<svg role="group"' in text
    assert 'href="r2.html"' not in render_html(document)
