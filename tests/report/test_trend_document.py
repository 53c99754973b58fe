"""Stored figures, as lists and trends show them."""

from __future__ import annotations

from judgekit.evaluation import StoredFigure
from judgekit.report import figure_cell, numbers
from judgekit.report.trend import figure_text
from judgekit.stats.estimate import Estimate


def test_a_stored_figure_is_written_as_on_the_page_of_its_run() -> None:
    figure = StoredFigure(value=0.9, low=0.8962, high=0.9038, n=20_000)
    known = Estimate(value=0.9, low=0.8962, high=0.9038, n=20_000, method="wilson")
    assert figure_text(figure, is_rate=True) == numbers.format_rate(known) == "90.0 % [89.6, 90.4]"
    assert figure_text(figure) == numbers.format_mean(known)


def test_a_figure_without_an_interval_or_a_value_has_none() -> None:
    assert figure_text(StoredFigure(value=0.5), is_rate=True) == "50 %"
    assert figure_cell(StoredFigure()).text == "–"
