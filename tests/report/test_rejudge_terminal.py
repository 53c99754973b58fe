from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judgekit.rejudgment import compare_verdicts
from judgekit.rejudgment.comparison import CriterionAnswer
from judgekit.report import document_data, print_document, rejudgment_document
from judgekit.report.judge_changes import rejudgment_conclusion, rejudgment_notes
from tests.factories import make_rubric
from tests.rejudgment.twice import contrasted, side, twice
from tests.report.drawing import drawn, plain_console

if TYPE_CHECKING:
    from judgekit.rejudgment import Rejudged

MIXED = [(1.0, 1.0)] * 8 + [(0.5, 1.0)] * 3 + [(1.0, 0.0)]


def text(found: Rejudged, *, verbose: bool = False, width: int = 80) -> str:
    console = plain_console(width)
    print_document(console, rejudgment_document(found), verbose=verbose)
    return drawn(console)


def test_a_report_says_what_changes_and_fits_into_80_columns() -> None:
    said = text(contrasted(MIXED))
    assert max(len(line) for line in said.splitlines()) <= 80
    assert "support: 12 outputs of 12 cases" in said
    for label, figure in (("churn", "33 % ["), ("passed", "75 % ["), ("value", "+0.04 [")):
        assert re.search(rf"{label} +{re.escape(figure)}", said)
    assert "accuracy" in said
    assert said.splitlines()[2] == "4 of 12 decisions change: 3 now pass, 1 now fail"


def test_a_flip_is_shown_with_both_reasons_the_largest_first() -> None:
    said = text(contrasted(MIXED))
    first = said.index("pass to fail  c11, v1, 1.00 to 0.00")
    assert first < said.index("fail to pass  c8, v1, 0.50 to 1.00")
    assert "accuracy before 5: Because of 1.0." in said
    assert "accuracy now 1: Because of 0.0." in said


def test_ten_flips_are_shown_and_all_of_them_on_request() -> None:
    found = contrasted([(0.5, 1.0)] * 12)
    short, long = text(found), text(found, verbose=True)
    assert "Changed decisions  10 of 12; all with -v" in short
    assert (short.count("fail to pass"), long.count("fail to pass")) == (10, 12)


def test_the_criterion_that_moved_most_explains_a_flip() -> None:
    criteria = {
        "still": CriterionAnswer(value=1.0, raw=5.0, rationale="Same."),
        "moved": CriterionAnswer(value=0.0, raw=None, rationale=None),
        "lost": CriterionAnswer(value=None, raw=None, rationale="No reply."),
    }
    after = criteria | {"moved": CriterionAnswer(value=1.0, raw=5.0, rationale="\x1b[31mBetter.")}
    sides: Any = {"old": side(0.5, criteria=criteria), "new": side(1.0, criteria=after)}
    found = replace(contrasted([(1.0, 1.0)]), flips=(replace(twice(0.5, 1.0), **sides),))
    said = text(found)
    assert "moved before –: no reason" in said
    assert r"moved now 5: \x1b[31mBetter." in said
    bare = replace(twice(0.5, None, variant=""), old=side(0.5, criteria={}))
    assert "fail to undecided  c, 0.50 to –" in text(replace(found, flips=(bare,)))


def test_nothing_changed_and_nothing_decided_are_told_apart() -> None:
    assert rejudgment_conclusion(contrasted([(1.0, 1.0)] * 3)) == "none of 3 decisions changes"
    none = contrasted([(None, 1.0)])
    assert rejudgment_conclusion(none) == "no output has a verdict of both judges"
    assert "– of verdicts change" in text(none)
    assert "– compared with before" in text(none)


def test_one_case_has_a_shift_without_an_interval() -> None:
    assert "-0.50 compared with before" in text(contrasted([(1.0, 0.5)]))


def test_the_notes_say_who_judged_what_failed_and_what_it_cost() -> None:
    found = contrasted([(1.0, 1.0), (None, 1.0), (1.0, None)])
    said = "\n".join(
        ": ".join(line)
        for line in rejudgment_notes(
            replace(found, old_price_usd=None, new_price_usd=0.25, run_id="r-2")
        )
    )
    assert "before: old\nnow: new" in said
    assert "price: price unknown before, $0.25 now" in said
    assert "failed: before: 1 question: " in said
    assert "failed: now: 1 question: " in said
    assert "undecided: 2 outputs by one of the judges" in said
    assert "stored: as r-2" in said
    assert "measured: apart from the judge the same" in said


def test_the_figures_as_json_have_null_for_what_is_undefined() -> None:
    found: Any = json.loads(
        json.dumps(document_data(rejudgment_document(contrasted([(None, 1.0)]))))
    )
    assert found["churn"]["value"] is None
    assert found["kappa"] is None
    full: Any = json.loads(json.dumps(document_data(rejudgment_document(contrasted(MIXED)))))
    assert full["flips"][0]["new"]["criteria"]["accuracy"]["rationale"] == "Because of 0.0."


def test_segments_are_shown_from_ten_cases_on_and_else_on_request() -> None:
    def rejudged(n: int) -> Rejudged:
        pairs = [twice(1.0, 0.5, f"c{k}", stratum="simple", tags=("policy",)) for k in range(n)]
        fields: dict[str, Any] = {"measured": "the same", "calibration": "uncalibrated"}
        return compare_verdicts(pairs, make_rubric(), (("old",), ("new",)), **fields)

    many, few = text(rejudged(10)), text(rejudged(9))
    # The tag is on the same cases: its figures are not repeated.
    assert "stratum simple, tag policy" in text(rejudged(10), width=200)
    (row,) = [line.split() for line in many.splitlines() if line.startswith(" stratum")]
    assert row[1:9] == ["10", "100", "%", "[72,", "100]", "100", "%", "0"]
    assert max(map(len, many.splitlines())) <= 80
    assert "stratum simple" not in few
    assert "stratum simple" in text(rejudged(9), verbose=True)
