from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest

from judgekit.evaluation import RunSummary, VariantDifference, summarize_run
from judgekit.records import CaseResult, Output, RunInfo, RunPanel, TargetErrorKind, Usage, Variant
from judgekit.report import TARGET_ERROR_WORDS, run_document, undecided_reason
from judgekit.report.document import Table
from judgekit.report.run import run_notes
from judgekit.stats.estimate import Estimate
from tests.evaluation.suites import NOW
from tests.factories import make_case, make_failure, make_judgment, make_rubric

SAID: dict[str, Any] = {"judge": "j", "n_calls": 1}


def run(**fields: Any) -> RunInfo:
    known: dict[str, Any] = {
        "id": "r1", "suite": "s", "started_at": NOW, "rubric": make_rubric("good"), "n_cases": 2,
        "panel": RunPanel(judges=("j",)), "variants": (Variant(id="v"),), "status": "complete",
    }  # fmt: skip
    return RunInfo(**(known | fields))


def result(place: int, value: float | None = 1.0, **fields: Any) -> CaseResult:
    judged = () if value is None else (make_judgment("good", value, cost_usd=0.25, **SAID),)
    known: dict[str, Any] = {
        "run_id": "r1", "place": place, "case": make_case(id=f"c{place}"), "variant": "v",
        "output": Output(text="a"), "judgments": judged, "is_done": True,
    }  # fmt: skip
    return CaseResult(**(known | fields))


def told(*results: CaseResult, n_waiting: int = 0, **fields: Any) -> str:
    rows = run_notes(summarize_run(results, run(**fields), n_waiting=n_waiting))
    return "\n".join(f"{label}: {text}" if label else text for label, text in rows)


def test_a_run_says_who_judged_and_what_it_cost() -> None:
    found = told(result(0), result(1, output=Output(text="a", usage=Usage(cost_usd=1.0))))
    assert found.splitlines() == [
        "run: r1 (complete)",
        "judge: j",
        "calibration: uncalibrated: the judge has not been compared with human labels",
        "calls: 2 replies, $0.50 spent",
        "cost: v: $1.50 ($1.00 answers, $0.50 judges)",
    ]


def test_a_panel_names_its_rule_and_all_of_its_judges() -> None:
    found = told(result(0), result(1), panel=RunPanel(judges=("j", "k"), combine="median"))
    assert "judge: j\njudge: k\npanel: median" in found


def test_rubrics_that_nobody_named_are_told_with_their_reason() -> None:
    listed = [
        {"rubric": "creative", "because": "profile", "n_cases": 1},
        {"rubric": "reference_match", "because": "reference", "n_cases": 2},
    ]
    found = told(result(0), config={"rubrics_by_default": listed})
    assert (
        "rubric: creative (shipped) for 1 case without a rubric: the rubric of their profile\n"
        in found
    )
    assert (
        "reference_match (shipped) for 2 cases without a rubric: it compares with their reference"
        in found
    )


def test_how_similarity_was_measured_is_told() -> None:
    found = told(result(0), config={"similarity_measure": "lexical: token sort ratio"})
    assert "\nsimilarity: lexical: token sort ratio\n" in found


def test_rubrics_that_no_judge_was_asked_are_told() -> None:
    found = told(result(0), config={"n_rubrics_unasked": 2})
    assert "rubric: 2 cases with a rubric not judged: no judge" in found


def test_nothing_that_was_decided_says_what_is_missing() -> None:
    nobody = summarize_run([result(0, None)], run(panel=RunPanel()))
    assert undecided_reason(nobody).startswith("nothing was decided: the rubric needs a judge")
    nothing = summarize_run([result(0, None)], run(panel=RunPanel(), rubric=None))
    assert "neither `assertions` nor a `rubric` with a `judge`" in undecided_reason(nothing)


def test_a_part_of_a_run_is_said_to_be_one() -> None:
    stopped: dict[str, Any] = {"status": "stopped", "reason": "the budget is spent"}
    found = told(result(0), n_cases=9, **stopped)
    assert "run: r1 (stopped: the budget is spent)" in found
    assert "partial: v: 1 of 9 cases answered; the figures cover only these" in found
    found = told(result(0), result(1, is_done=False), n_cases=9, **stopped)
    assert "partial: v: 2 of 9 cases started, 1 answer not fully judged" in found
    assert "partial" not in told(result(0), n_cases=None)


def test_errors_and_failures_are_told_by_kind_with_the_bounds() -> None:
    error = Output(error="it broke", error_kind="exit")
    failed = (make_failure("good", cost_usd=0.0, **SAID),)
    found = told(result(0, None, output=error), result(1, None, failures=failed))
    assert "v: the rate would be 0 to 100 %, depending on 2 answers without a verdict" in found
    assert "errors: v: 1 answer: ended with an error code" in found
    assert "failed: v: 1 judgment: no verdict could be read (left out of the means" in found


def test_every_kind_of_error_has_words() -> None:
    assert set(get_args(TargetErrorKind)) < set(TARGET_ERROR_WORDS)


def test_money_that_was_not_spent_now_is_told_apart() -> None:
    owned = make_judgment("good", 1.0, cached=True, cost_usd=0.0, price_usd=0.5, **SAID)
    output = Output(text="a", usage=Usage(cost_usd=2.0), duration_ms=1500.0)
    config = {"variants": [{"id": "v", "outputs": "v.jsonl"}]}
    found = told(result(0, judgments=(owned,), output=output), result(1), config=config)
    assert "cost: v: $0.25, $0.50 saved, its recorded answers had cost $2.00" in found
    assert "answers took 1.5 s (p90 1.5 s)" in found


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"retry_failed": 1}, "flaky: v: 1 case passed only after a retry"),
        ({"repeats": 2}, "flaky: v: 1 case passed in some repeats only"),
    ],
)
def test_a_flaky_case_is_told_of(settings: dict[str, int], words: str) -> None:
    found = told(result(0, 0.0), result(0, 1.0, repeat=1), config={"settings": settings})
    assert words in found


def test_what_waits_for_people_says_where_to_answer() -> None:
    found = told(result(0), result(1), n_waiting=2, status="waiting")
    assert "run: r1 (waits for human labels)" in found
    assert "human: 2 questions for human labelling: judgekit label r1" in found


def differs(value: float, low: float, high: float, **fields: Any) -> list[str]:
    known: dict[str, Any] = {"method": "t", "level": 0.95, "n": 40, "n_missing": 0}
    estimate = Estimate(value=value, low=low, high=high, **known)
    parts: dict[str, Any] = {
        "first": "a", "second": "b", "measure": "value", "p": 0.008, "p_adjusted": 0.016,
        "detectable": None,
    }  # fmt: skip
    difference = VariantDifference(estimate=estimate, **(parts | fields))
    summary = replace(summarize_run([result(0)], run()), differences=(difference,))
    table = run_document(summary).blocks[1]
    assert isinstance(table, Table)
    return [cell if isinstance(cell, str) else cell.text for cell in table.rows[0]]


def test_a_difference_is_one_row() -> None:
    shown = differs(0.12, 0.03, 0.21)
    assert shown == ["b - a", "value", "+0.12 [+0.03, +0.21]", "0.016", "40", "–"]
    shown = differs(0.12, 0.03, 0.21, p=0.0001, p_adjusted=0.0002, measure="pass_rate")
    assert shown == ["b - a", "pass rate", "+0.12 [+0.03, +0.21]", "< 0.001", "40", "–"]
    assert differs(0.1, 0.0, 0.2, detectable=0.3)[-1] == "0.30"
    assert differs(0.1, 0.0, 0.2, detectable=1.4)[-1] == "–"


def test_what_rounds_to_nothing_has_no_sign_and_a_narrow_interval_more_digits() -> None:
    shown = differs(-0.0001, -0.004, 0.004, p=None, p_adjusted=None)
    assert shown[2:4] == ["0.000 [-0.004, +0.004]", "–"]
    assert differs(-0.001, -0.2, 0.2, p=1.0, p_adjusted=1.0)[3] == "1.000"
    assert differs(-0.001, -0.2, 0.2)[2].startswith("0.00 [-0.20")


def test_a_difference_without_an_interval_has_none() -> None:
    nan = float("nan")
    assert differs(0.5, nan, nan)[2] == "+0.50"


def test_failures_of_all_variants_are_summed_by_kind() -> None:
    failed = (make_failure("good", **SAID),)
    variants = (Variant(id="v"), Variant(id="w"))
    results = [result(0, None, failures=failed), result(0, None, failures=failed, variant="w")]
    summary = summarize_run(results, run(variants=variants))
    assert isinstance(summary, RunSummary)
    assert summary.failures == {"unreadable": 2}


def test_the_message_of_a_failure_is_not_given_to_another_variant() -> None:
    late = (make_failure("good", message="case c0: no score", cost_usd=0.0, **SAID),)
    first = result(0, None, failures=late, variant="w")
    other = result(1, None, failures=late)
    found = told(first, other, variants=(Variant(id="v"), Variant(id="w")))
    assert "\nfirst in the run: case c0: no score\n" in found
    alone = told(first, result(1), variants=(Variant(id="v"), Variant(id="w")))
    assert "\ncase c0: no score" in alone


def test_the_page_of_a_large_run_does_not_claim_certainty() -> None:
    results = [result(place, float(place % 10 > 0)) for place in range(20_000)]
    more = run_document(summarize_run(results, run(n_cases=20_000))).conclusion.more
    assert more == "v passes 90.0 % (95 % interval 89.6 to 90.4 %) of 20,000 cases."


def test_few_answers_without_a_verdict_have_bounds_that_differ() -> None:
    results = [result(place, None if place < 2 else 1.0) for place in range(1_000)]
    summary = summarize_run(results, run(n_cases=1_000))
    bounds = "the rate would be 99.8 to 100.0 %, depending on 2 answers without a verdict"
    assert bounds in "\n".join(text for _, text in run_notes(summary))
    assert "so the rate lies between 99.8 and 100.0 %" in run_document(summary).conclusion.more
