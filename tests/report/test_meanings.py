"""Tooltips: what a statistic means stands at its column, and never at a name of the user's."""

from __future__ import annotations

import pytest

from judgekit.report import Conclusion, Document, Lines
from judgekit.report.document import Column, Table, text_columns
from judgekit.report.html import meaning_of, render_html


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("rate, 95 %", "Run", "Pass rate"),
        ("kappa, 99.9 %", "Calibration", "agreement beyond chance"),
        ("alpha, 95 %", "Calibration", "Krippendorff"),
        ("detectable", "Run", "80 %"),
        ("corrected", "Calibration", "PPI"),
        ("strength, 95 %", "Ranking", "Bradley"),
        ("test", "Trend", "Mann and Kendall"),
        ("CUSUM", "Trend", "shortfalls"),
        ("judge agreement", "Calibration", "How often the judge gives"),
        ("judge", "Calibration", ""),
        ("anything", "Run", ""),
    ],
)
def test_a_term_is_explained_where_it_has_that_meaning(name: str, kind: str, words: str) -> None:
    meaning = meaning_of(name, kind)
    assert (words in meaning) if words else meaning == ""


def test_names_of_the_user_are_no_terms() -> None:
    foreign = Table(text_columns("", "kappa", is_foreign=True), (("a", "1"),))
    lines = Lines((("kappa", "of a case called so"),), is_foreign=True)
    own = Column("kappa")
    assert 'class="term"' not in page(foreign, lines)
    assert page(Table((own, own), (("a", "1"),))).count('class="term" title="Cohen') == 2


def page(*blocks: Table | Lines) -> str:
    return render_html(Document("title", Conclusion("done"), blocks, dict))
