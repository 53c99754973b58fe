from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from judgekit.evaluation.comparison_result import SequentialEvidence
from judgekit.evaluation.pairing import LeftOut
from judgekit.report import comparison_document, comparison_lines, document_data, print_document
from judgekit.report.comparison import comparison_notes, decision_conclusion
from judgekit.report.html import render_html
from judgekit.report.numbers import format_p_value
from tests.evaluation.pairs import compared, several, summed
from tests.report.drawing import drawn, plain_console

if TYPE_CHECKING:
    from collections.abc import Iterable


def lines(notes: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"{label}: {text}" for label, text in notes)


def test_the_decision_says_who_is_better_by_name() -> None:
    found = summed(several(a=14, b=2))
    line = decision_conclusion(found.decision, "new", "old").text
    assert line == "new is better: 14 of 16 decided pairs, p 0.004"


def test_a_criterion_may_be_named_overall() -> None:
    found = summed(several(a=14, b=2))
    console = plain_console()
    print_document(console, comparison_document(replace(found, criteria={"overall": found.whole})))
    assert drawn(console).count("overall") == 2
    assert "(overall)" in drawn(console)


def test_no_decision_says_how_many_cases_it_would_take() -> None:
    line = decision_conclusion(summed(several(a=7, b=3)).decision, "new", "old").text
    assert line.startswith("no decision: 7 wins and 3 losses may be chance")
    assert line.endswith("cases are needed to decide")


def test_a_name_cannot_run_in_the_terminal() -> None:
    console = plain_console()
    print_document(console, comparison_document(replace(summed(several(a=9)), a="\x1b[31mnew")))
    assert r"\x1b[31mnew is better" in drawn(console)


def test_the_notes_tell_what_is_missing() -> None:
    out = LeftOut(n_only_a=5, only_a=("x", "y", "z"), n_other_input=1, other_input=("q",))
    pairs = [*several(a=3, open=2), compared("error", "e")]
    said = lines(comparison_notes(summed(pairs, left_out=out)))
    assert "depending on the 2 undecided pairs" in said
    assert "errors: 1 pair with an output that records an error; not judged" in said
    assert "left out: 5 cases only in A: x, y, z, …" in said
    assert "left out: 1 case with different inputs: q" in said
    assert "failed: 2 questions: no verdict could be read" in said


@pytest.mark.parametrize(("outcome", "place"), [("first", "first"), ("second", "second")])
def test_the_notes_tell_which_place_a_judge_favours(outcome: str, place: str) -> None:
    said = lines(comparison_notes(summed(several(**{outcome: 20}))))
    assert f"warning: the judge favours the output it sees {place}" in said
    assert "warning: the judge contradicts itself on most pairs" in said
    assert "flips: 100 % [84, 100] of pairs change with the order" in said


def test_the_place_of_a_single_pair_has_no_interval() -> None:
    found = summed(several(a=1))
    said = lines(comparison_notes(found))
    assert "position: the answer shown first was preferred 50 % of the time\n" in said + "\n"
    page = render_html(comparison_document(found))
    assert ">50 %</td>" in page
    assert "[–" not in page


def test_the_notes_tell_scores_lengths_and_where_looking_stopped() -> None:
    pairs = [compared("ab"[k % 2], f"c{k}", texts=("x" * (k % 5), "y" * 3)) for k in range(20)]
    evidence = SequentialEvidence(e_value=23.1, n_cases=15, stopped_at=15, max_cases=None)
    found = replace(summed(pairs, evidence=evidence), raw_a=7.0, raw_b=6.0, raw_winner="a")
    said = lines(comparison_notes(found))
    assert "if both outputs were equally long" in said
    assert "scores: A 7.00, B 6.00 of 10 on average: A is higher" in said
    assert "sequential: tested after each of 15 cases: e-value 23.1, stopped after 15" in said


def test_json_has_null_where_a_figure_is_undefined() -> None:
    text = json.dumps(document_data(comparison_document(summed([]))), allow_nan=False)
    assert json.loads(text)["whole"]["rate"]["value"] is None


def test_a_comparison_is_shown_with_what_was_said_in_each_order() -> None:
    assert comparison_lines(compared("first").comparison).splitlines() == [
        "tie   c  (the two orders conflict)",
        "      overall, AB: first  So it is.",
        "      overall, BA: first  So it is.",
    ]
    assert "overall, AB: unreadable  no verdict" in comparison_lines(compared("open").comparison)
    assert "no output: output a: timed out" in comparison_lines(compared("error").comparison)


def test_a_small_p_is_not_shown_as_nothing() -> None:
    assert (format_p_value(0.0004), format_p_value(0.0214)) == ("< 0.001", "0.021")
