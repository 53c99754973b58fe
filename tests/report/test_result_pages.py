"""Every kind of result as a page: what is drawn and said there beside what a terminal shows."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from judgekit.evaluation import CALIBRATION_KEY, summarize_run
from judgekit.report import Document, print_document, run_document
from judgekit.report.document import Plot, Section
from judgekit.report.html import render_html
from judgekit.report.markdown import render_markdown
from judgekit.report.run_setup import run_plots
from judgekit.scoring import calibration_in_use
from tests.browser.documents import result_documents
from tests.calibrations import ASKED, make_calibration
from tests.factories import make_rubric
from tests.report.drawing import drawn, plain_console
from tests.report.test_run_view import result, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from judgekit.report.document import Block


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Document]:
    return result_documents(tmp_path_factory.mktemp("stores"))


def plots(blocks: Iterable[Block]) -> Iterator[Plot]:
    for block in blocks:
        if isinstance(block, Plot):
            yield block
        elif isinstance(block, Section):
            yield from plots(block.blocks)


def pictures(made: Document) -> list[ET.Element]:
    found = re.findall(r"<svg.*?</svg>", render_html(made), re.DOTALL)
    return [ET.fromstring(text) for text in found]  # noqa: S314 - our own


def test_every_picture_is_well_formed_and_has_finite_places(documents: dict[str, Document]) -> None:
    for name, made in documents.items():
        for picture in pictures(made):
            text = ET.tostring(picture, encoding="unicode")
            assert not re.search(r"\b(nan|inf)\b", text), name
            for line in picture.iter("polyline"):
                assert re.fullmatch(r"[\d.]+,[\d.]+( [\d.]+,[\d.]+)+", line.attrib["points"]), name


def test_every_page_says_what_it_is_and_begins_with_the_conclusion(
    documents: dict[str, Document],
) -> None:
    for made in documents.values():
        page = render_html(made)
        assert made.kind
        assert re.search(rf'<header class="kind">judgekit <span[^>]*>·</span> {made.kind}<', page)
        assert page.index("<h1>") < page.index('class="conclusion') < page.index("</main>")


def test_what_only_a_page_has_room_for_is_on_no_other_form(documents: dict[str, Document]) -> None:
    made = documents["compare"]
    console = plain_console()
    print_document(console, made)
    assert made.conclusion.more
    assert made.conclusion.more in render_html(made)
    assert made.conclusion.more not in drawn(console) + render_markdown(made)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("run", "v1 passes 42 % (95 % interval 19 to 68 %) of 12 cases."),
        ("run", "1 answer has no verdict, so the rate lies between 33 and 42 %."),
        ("compare", "new wins 55 % (45 to 64 %) of"),
        ("compare", "which includes 50 %. This does not show that they are equal."),
        ("calibrate", "On “accuracy”, judge and humans agree with a kappa of 0.85 [0.73, 0.90]"),
    ],
)
def test_a_page_says_what_its_conclusion_rests_on(
    documents: dict[str, Document], name: str, words: str
) -> None:
    assert words in documents[name].conclusion.more


def test_a_calibration_that_no_longer_applies_is_said_first() -> None:
    rubric = make_rubric("good")
    use = calibration_in_use(make_calibration(rubric), rubric, ASKED)
    stale = use.model_copy(update={"state": "stale", "words": "stale: the model changed"})
    summary = summarize_run([result(0)], run(config={CALIBRATION_KEY: stale.to_json()}))
    said = run_document(summary).conclusion.more
    assert said.startswith(
        "The judge's calibration no longer applies (the model changed). v passes"
    )


def test_the_gate_of_a_run_is_a_line_in_its_intervals(documents: dict[str, Document]) -> None:
    page = render_html(documents["run"])
    head, *_ = re.findall(r"<table>.*?</table>", page, re.DOTALL)
    # 120 wide with 6 at the edges: 0.75 is at 87.
    assert head.count('class="reference" d="M87.0 0V10"') == 2


def test_the_values_of_each_variant_are_counted_in_ten_bins(documents: dict[str, Document]) -> None:
    first, second, cost = plots(documents["run"].blocks)
    bars, limit = first.series
    assert sum(count for _, count in bars.points) == 12
    assert bars.points[-1] == (0.95, 2)  # a value of 1 is in the last bin
    assert limit.points[0] == (0.7, 0.0)
    assert second.caption == "v2: values of 11 cases; 1 case without a value."
    assert (cost.x.names, cost.series[0].name) == (("v1", "v2"), "answers")


def test_one_amount_and_many_variants_have_no_plot_of_cost() -> None:
    (figures,) = summarize_run([result(0)], run()).variants
    assert run_plots([figures], (), None).blocks == ()
    assert run_plots([figures] * 7, (), None).blocks == ()
    paid = replace(figures.money, targets_usd=1.0, judges_usd=2.0)
    (both,) = run_plots([replace(figures, money=paid)], (), None).blocks
    assert isinstance(both, Plot)
    assert both.caption == "Cost of answers and judges."
    # Beside each other around the place of their variant.
    assert [series.points[0][0] for series in both.series] == pytest.approx([0.8, 1.2])


def test_no_line_crosses_a_break_and_escalated_runs_are_marked(
    documents: dict[str, Document],
) -> None:
    whole, of_criterion = plots(documents["trend"].blocks)
    lines = [series for series in whole.series if series.kind == "line"]
    assert [len(series.points) for series in lines] == [5, 8]
    rules = [series.points[0][0] for series in whole.series if series.kind == "rule"]
    assert rules == [5.5]
    runs, escalated = (series for series in whole.series if series.kind == "dots")
    assert (len(runs.points), len(escalated.points)) == (7, 6)
    assert (escalated.name, runs.style, escalated.style) == ("degrading, escalated", 0, 1)
    assert all(
        low <= y <= high for (_, y), (low, high) in zip(runs.points, runs.intervals, strict=True)
    )
    assert runs.labels[0].startswith("run-000, 2026-")
    assert of_criterion.y.title == "good"
    assert not of_criterion.is_wide


def test_a_matrix_of_scores_is_darker_where_more_of_its_row_is(
    documents: dict[str, Document],
) -> None:
    page = render_html(documents["calibrate"])
    shades = {int(n): int(count) for n, count in re.findall(r'shade-(\d)">(\d+)<', page)}
    assert set(shades) <= {1, 2, 3, 4, 5}
    assert max(shades) >= 4


def test_a_table_of_long_texts_keeps_its_roles_where_it_is_shown_as_cards(
    documents: dict[str, Document],
) -> None:
    page = render_html(documents["findings"]).split("<script")[0]
    assert '<table class="cards" role="table">' in page
    assert page.count('role="rowheader" data-label="finding"') == page.count('role="row"') - 1
