"""A calibration as people read it: in a terminal, as Markdown, and as a page with plots."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

import judgekit as jk
from judgekit.calibration import CalibrationOptions, OutputKey, PairwiseData
from judgekit.calibration.inputs import PairJudgment
from judgekit.report import calibration_document, print_document
from judgekit.report.html import render_html
from judgekit.report.markdown import render_markdown
from judgekit.report.numbers import format_decimal, format_share
from judgekit.scoring import conclude
from tests.evaluation.labelled import (
    RUBRIC,
    TWO,
    Crowd,
    comparisons,
    labels,
    verdict,
    verdicts,
    winners,
)
from tests.factories import make_criterion, make_judgment, make_rubric
from tests.report.drawing import drawn, plain_console

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.calibration import CalibrationReport

NAN = float("nan")
EVIL = "<script>alert(1)</script> [x](javascript:y) | *"


def crowded(**options: Any) -> CalibrationReport:
    """A judge of two variants, with confidence, and labels of most outputs."""
    crowd = Crowd(45, variants=("v1", "v2"))
    wanted = CalibrationOptions(**options)
    rows = [row | {"rationale": EVIL} for row in crowd.labels(70)]
    said = crowd.verdicts(confidence=0.8)
    return jk.calibrate(said, rows, rubric=RUBRIC, options=wanted)


def shown(report: CalibrationReport, *, full: bool = False) -> str:
    """What is printed."""
    console = plain_console(80)
    print_document(console, calibration_document(report), verbose=full)
    return drawn(console)


def test_everything_that_was_found_is_printed_within_80_columns() -> None:
    text = shown(crowded())
    for words in (
        "Calibration of support: 210 labels of 3 annotators", "judge   fake",
        "90 outputs, 20 without a label",
        "Judge and humans", "Humans with one another", "Pass or fail", "corrected",
        "80 % confident on average", "Ranking (Spearman)", "By segment", "variant v1",
        "Largest disagreements",
        "Labels that would help most", "Can this judge replace a human annotator?",
    ):  # fmt: skip
        assert words in text, words
    assert max(map(len, text.splitlines())) <= 80


def test_in_full_there_are_annotators_and_the_table_of_scores() -> None:
    brief, whole = shown(crowded()), shown(crowded(), full=True)
    assert "Each annotator and the judge" not in brief
    assert "Each annotator and the judge" in whole
    assert "accuracy: rows are human labels, columns the judge" in whole


def test_metadata_alone_groups_no_ranking_of_cases_or_variants() -> None:
    rows = [row | {"metadata": {"doc": row["case_id"][:3]}} for row in Crowd(30).labels()]
    wanted = CalibrationOptions(by=("doc",))
    report = jk.calibrate(Crowd(30).verdicts(), rows, rubric=RUBRIC, options=wanted)
    assert report.overall.groupings
    assert "Ranking" not in shown(report)


def test_what_was_left_out_is_said() -> None:
    said = [*verdicts({"a": 4, "b": None, "c": 2})]
    people = [*labels({"a": 4, "b": 3, "x": 1}), *labels({"c": None}), *labels({"a": 1}, "Ben")]
    wanted = CalibrationOptions(annotators=("Ada",))
    text = shown(jk.calibrate(said, people, options=wanted))
    text = " ".join(text.split())
    assert (
        "2 of 5 matched to judgments, 1 without a score, 1 of other annotators, 1 of outputs that"
        in text
    )
    assert "not judged: x" in text
    assert "1 answer unusable, excluded (not counted as 0): no verdict could be read" in text
    assert "the judge gave no usable answer on 1 labelled item" in text
    assert "no rubric is known" in text


def test_two_criteria_are_answered_apart() -> None:
    said = [verdict(c, {"accuracy": r, "tone": r}, TWO) for c, r in {"a": 4, "b": 2}.items()]
    people = [*labels({"a": 4, "b": 3}, criterion="accuracy"), *labels({"a": 1}, criterion="tone")]
    text = shown(jk.calibrate(said, people, rubric=TWO))
    assert "annotator? Inconclusive on accuracy, tone" in text
    assert "all criteria" in text
    assert "c: concordance" not in text or "whole" in text


def test_unusable_answers_are_counted_for_each_criterion() -> None:
    cases = [f"c{n}" for n in range(4)]
    said = [verdict(c, {"accuracy": 4, "tone": None if c > "c1" else 3}, TWO) for c in cases]
    people = [
        *labels(dict.fromkeys(cases, 4), criterion="accuracy"),
        *labels(dict.fromkeys(cases, 3), criterion="tone"),
    ]
    text = " ".join(shown(jk.calibrate(said, people, rubric=TWO)).split())
    assert "tone: the judge gave no usable answer on 2 labelled items" in text
    assert "accuracy: the judge gave no usable answer" not in text


def test_a_file_is_where_it_came_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(json.dumps(one.to_json()) + "\n" for one in verdicts({"a": 4}))
    (tmp_path / "verdicts.jsonl").write_text(rows, encoding="utf-8")
    report = jk.calibrate("verdicts.jsonl", labels({"a": 4}), rubric=RUBRIC)
    assert "from    file verdicts.jsonl" in shown(report)


def test_comparisons_show_both_orders() -> None:
    said = comparisons({"1": "a", "2": "b", "3": "first", "4": "tie"})
    text = shown(jk.calibrate(said, winners({"1": "a", "2": "a", "3": "b"})), full=True)
    assert "Two orders" in text
    assert "How often A wins" in text
    assert "human tie" in text
    assert "whole: judge b, human a" in text
    assert "calibration map" not in text
    assert "right: the judge names the winner that humans name" in text or "By segment" not in text


def test_segments_of_a_few_items_are_counted_and_shown_with_all() -> None:
    crowd = Crowd(30)
    rows = [row | {"metadata": {"doc": row["case_id"]}} for row in crowd.labels()]
    report = jk.calibrate(
        crowd.verdicts(), rows, rubric=RUBRIC, options=CalibrationOptions(by=("doc",))
    )
    hint = "30 segments with fewer than 10 labelled items are not shown; -v shows all"
    assert hint in shown(report)
    assert "doc c029" not in shown(report)
    assert hint not in shown(report, full=True)
    assert "doc c029" in shown(report, full=True)


def test_a_threshold_that_was_found_is_told() -> None:
    said = verdicts({f"c{k}": 5 if k < 80 else 4 for k in range(100)}, confidence=0.9)
    people = labels({f"c{k}": 5 for k in range(100)})
    text = shown(jk.calibrate(said, people, rubric=RUBRIC)).replace("\n", " ")
    assert "accept automatically 100 % at 5 % error or less" in re.sub(r" +", " ", text)


def test_the_page_is_well_formed_and_foreign_text_is_only_text() -> None:
    page = render_html(calibration_document(crowded()))
    assert page.count("<script") == 1  # the page's own
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert sum('role="img"' in picture for picture in pictures) == 4
    for picture in pictures:
        ET.fromstring(picture)  # noqa: S314 - our own
    assert "http" not in page[page.index("<body>") : page.index("<script")]


def test_markdown_says_the_same_and_escapes_foreign_text() -> None:
    report = crowded()
    text = render_markdown(calibration_document(report))
    assert text.startswith("# Calibration of support: 210 labels of 3 annotators")
    assert "\\<script\\>" in text
    assert "| accuracy |" in text
    for title in ("Judge and humans", "Pass or fail", "Each annotator and the judge"):
        assert f" {title}" in text


def test_a_page_of_failures_has_no_plots_that_lie() -> None:
    report = jk.calibrate(verdicts({"a": None}), labels({"a": 4}), rubric=RUBRIC)
    assert "nan" not in render_html(calibration_document(report))
    assert "nan" not in shown(report)


def test_figures_are_rounded_and_what_is_undefined_is_a_dash() -> None:
    assert (format_share(0.615), format_share(NAN), format_decimal(0.615), format_decimal(NAN)) == (
        "62 %",
        "–",
        "0.61",
        "–",
    )


def test_errors_and_criteria_not_judged_in_orders_are_told() -> None:
    broken = conclude(RUBRIC, [], case_id="z", error="timeout")
    text = shown(jk.calibrate([*verdicts({"a": 4}), broken], labels({"a": 4}), rubric=RUBRIC))
    assert "1 output without an output; not judged" in text
    pairs = [PairJudgment(place=OutputKey(c), criterion=None, choices=(), winner="a") for c in "12"]
    known = shown(jk.calibrate(PairwiseData(pairs=pairs), winners({"1": "a"})), full=True)
    assert "Two orders" not in known
    assert "How often A wins" in known


def test_a_scale_of_many_levels_has_no_table_and_of_none_a_concordance() -> None:
    wide = make_rubric(make_criterion(scale={"min": 0, "max": 20, "integer": True}))
    said = [
        conclude(wide, [make_judgment(value=v / 20, raw=v)], case_id=f"c{v}") for v in (3, 9, 15)
    ]
    people = labels({"c3": 2, "c9": 9, "c15": 17})
    assert "rows are human" not in shown(jk.calibrate(said, people, rubric=wide), full=True)
    smooth = make_rubric(make_criterion(scale={"min": 0, "max": 100}))
    text = shown(jk.calibrate(said, people, rubric=smooth))
    assert "c: concordance, where the scale has no levels" in text


def test_heads_name_the_level_that_was_asked_for() -> None:
    text = shown(crowded(level=0.9), full=True)
    assert "kappa, 90 %" in text
    assert "alpha, 90 %" in text
    assert "95 %" not in text
    page = render_html(calibration_document(crowded(level=0.9)))
    assert "within which 90 % of differences would lie" in page


def test_choices_are_named_where_only_their_outcome_is_known() -> None:
    said = [{"case_id": f"c{n}", "winner": "a" if n else "b", "confidence": 0.9} for n in range(40)]
    people = [{"case_id": f"c{n}", "annotator": "Ada", "winner": "a"} for n in range(40)]
    text = shown(jk.calibrate(said, people, options=CalibrationOptions(by=("subset",))))
    assert "c0 whole: judge b, human a" in text
    assert "calibration map" not in text, "a choice has none"
    assert "Ranking" not in text


def test_what_all_criteria_share_is_said_once_and_of_many_the_worst_alone() -> None:
    criteria = [make_criterion(name) for name in ("k1", "k2", "k3", "k4")]
    rubric = make_rubric(*criteria)
    said: list[dict[str, Any]] = [
        {"case_id": f"c{n}", "criterion": one.name, "raw": 1 + n % 5}
        for n in range(10)
        for one in criteria
    ]
    people = [{**row, "annotator": "Ada", "raw": 5} for row in said]
    text = shown(jk.calibrate(said, people, rubric=rubric))
    assert text.count("the judge stated no confidence") == 1
    assert re.search(r"everything\s+the judge stated no confidence", text)
    assert text.count("human 5") == 4, "one of each criterion"


def test_a_judge_that_was_asked_again_is_told_how_steady_it_is() -> None:
    said: list[dict[str, Any]] = [
        {"case_id": f"c{n}", "repeat": k, "raw": 3 + k * (n % 2)} for n in range(10) for k in (0, 1)
    ]
    people: list[dict[str, Any]] = [
        {"case_id": f"c{n}", "annotator": "Ada", "raw": 3 + n % 2} for n in range(10)
    ]
    text = " ".join(shown(jk.calibrate(said, people, rubric=RUBRIC)).split())
    assert "repeats give the same score on 50 % [24, 76] of 10 outputs" in text
    assert "sd within an output 0.35" in text


def test_a_win_rate_without_an_interval_has_no_bracket() -> None:
    said = [{"case_id": f"c{n}", "winner": "tie"} for n in range(6)]
    people = [{"case_id": f"c{n}", "annotator": "Ada", "winner": "a"} for n in range(3)]
    text = shown(jk.calibrate(said, people))
    assert "50 %" in text
    assert "nan" not in text


def binary_report(n: int = 40, m: int = 200) -> CalibrationReport:
    """A yes/no judge that is wrong on one of seven, with labels of some cases of two strata."""
    rubric = make_rubric(criteria=(make_criterion(name="right", scale="binary"),))
    judged: list[dict[str, Any]] = [
        {"case_id": f"c{k:03}", "raw": int(k % 3 > 0)} for k in range(n + m)
    ]
    people: list[dict[str, Any]] = [
        {"case_id": f"c{k:03}", "annotator": "ada", "raw": int((k % 3 > 0) ^ (k % 7 == 0))}
        for k in range(n)
    ]
    cases = jk.Dataset(
        name="all",
        cases=tuple(
            jk.Case(id=f"c{k:03}", input="?", stratum=("simple", "complex")[k % 2])
            for k in range(n + m)
        ),
    )
    return jk.calibrate(judged, people, rubric=rubric, cases=cases)


def test_precision_recall_and_f1_of_each_level_are_in_every_form() -> None:
    report = binary_report()
    document = calibration_document(report)
    for text in (shown(report), render_markdown(document), render_html(document)):
        for words in ("precision", "recall", "F1, 95 %", "right: no", "right: yes", "macro"):
            assert words in text
    whole: Any = report.to_json()["overall"]
    assert [each["n_human"] for each in whole["classification"]["classes"]] == [16, 24]


def test_criteria_may_be_named_like_what_sums_up_and_differences_have_their_unit() -> None:
    def page(*names: str) -> str:
        rubric = make_rubric(*names)
        scores = [dict.fromkeys(names, 1 + k % 5) for k in range(12)]
        said = [verdict(f"c{k}", of, rubric, variant="v1") for k, of in enumerate(scores)]
        rows: list[dict[str, Any]] = [
            {"case_id": f"c{k}", "criterion": name, "annotator": "ada", "raw": 1 + k % 3}
            for k in range(12)
            for name in names
        ]
        return render_markdown(calibration_document(jk.calibrate(said, rows, rubric=rubric)))

    plain, alike = page("one", "two"), page("whole", "all criteria")
    # All criteria have one scale, so that the difference over all of them is in its points.
    assert "in points of the criterion's scale; for whole from -1 to 1" in plain
    assert "in points of the criterion's scale; for (whole) from -1 to 1" in alike
    sums = {"whole": "(whole)", "all criteria": "(all criteria)"}
    named = {"one": "whole", "two": "all criteria"} | sums
    for before, now in named.items():
        assert alike.count(f"\n| {now} |") == plain.count(f"\n| {before} |") > 0
    assert len(alike.splitlines()) == len(plain.splitlines())


@pytest.mark.parametrize("names", [("ask", "praise", "complain"), (None, None, None)])
def test_unordered_categories_have_no_plot_of_differences_and_no_weighted_kappa(
    names: tuple[str | None, ...],
) -> None:
    levels = [{"value": n, "name": name} for n, name in enumerate(names, 1)]
    kinds = make_criterion(scale={"levels": levels})
    rubric = make_rubric(criteria=(kinds,))
    said = [
        conclude(rubric, [make_judgment(raw=1 + n % 3, value=n % 3 / 2)], case_id=f"c{n}")
        for n in range(12)
    ]
    rows: list[dict[str, Any]] = [
        {"case_id": f"c{n}", "annotator": "ada", "raw": 1 + n % 2} for n in range(12)
    ]
    options = CalibrationOptions(categories=True)
    document = calibration_document(jk.calibrate(said, rows, rubric=rubric, options=options))
    page = render_html(document)
    assert "Bland and Altman" not in page
    assert "weighted by distance" not in page


def test_categories_neither_pass_nor_win() -> None:
    levels = [{"value": n, "name": name} for n, name in enumerate(("ask", "praise", "complain"), 1)]
    rubric = make_rubric(criteria=(make_criterion(scale={"levels": levels}),))
    said = [
        conclude(
            rubric,
            [make_judgment(raw=1 + n % 3, value=n % 3 / 2)],
            case_id=f"c{n}",
            variant=f"v{n % 2}",
        )
        for n in range(60)
    ]
    rows: list[dict[str, Any]] = [
        {"case_id": f"c{n}", "annotator": "ada", "raw": 1 + n % 2} for n in range(40)
    ]
    options = CalibrationOptions(categories=True)
    text = shown(jk.calibrate(said, rows, rubric=rubric, options=options))
    assert "How often A wins" not in text
    assert "right: the judge gives the human score" in text


def test_the_labels_to_add_are_listed_by_decision_segment_and_output() -> None:
    report = binary_report()
    text = " ".join(shown(report, full=True).split())
    assert re.search(r"needs \d+ more labels \(\d+ in total.*\): \d+ where the judge passes", text)
    assert "Labels for ±5 points in each segment" in text
    assert "stratum complex" in text
    assert "Outputs to label next, drawn at random" in text
    whole: Any = report.to_json()["overall"]
    row = whole["budget"]["strata"][0]["next_items"][0]
    assert set(row) == {"case_id", "variant", "repeat"}


def test_more_labels_than_outputs_ask_for_more_judging() -> None:
    text = " ".join(shown(binary_report(m=5)).split())
    assert "only 5 judged outputs are unlabelled, so judge more outputs first" in text
    assert "no judged output is unlabelled" in " ".join(shown(binary_report(m=0)).split())
