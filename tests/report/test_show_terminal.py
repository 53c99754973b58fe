from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from judgekit.evaluation import conclude_result
from judgekit.records import AssertionResult, CaseResult, Evidence, Output, Score, TraceEvent
from judgekit.report import answer_json, case_document, print_document
from judgekit.store import SupersededObservation
from tests.factories import make_case, make_criterion, make_failure, make_output, make_rubric
from tests.report.drawing import drawn, plain_console
from tests.store.observing import JUDGE, START, make_run, said


def result(**fields: Any) -> CaseResult:
    """An answer that was judged well."""
    known = {
        "run_id": "run-1",
        "place": 0,
        "case": make_case(),
        "variant": "v1",
        "output": make_output(),
        "judgments": (said(), said("clarity", 0.5)),
        "is_done": True,
    }
    return CaseResult(**known | fields)


def shown(
    *,
    full: bool = False,
    earlier: tuple[SupersededObservation, ...] = (),
    rubric: Any = None,
    **fields: Any,
) -> str:
    """An answer as a terminal shows it."""
    console = plain_console(140)
    run = make_run(rubric=rubric) if rubric is not None else make_run()
    answer = conclude_result(result(**fields), run)
    document = case_document(answer.result.case, [answer], earlier=[earlier], data=dict)
    print_document(console, document, verbose=full)
    return drawn(console)


def test_a_case_shows_what_it_is_and_what_was_asked() -> None:
    case = make_case(
        name="Return", description="Is the term known?", tags=("hard",), stratum="simple",
        agent="desk", skill="refunds", prompt_version="p7", context="Policy", reference="30 days",
    )  # fmt: skip
    text = shown(case=case)
    title = "Case refund, Return, simple, #hard, agent desk, skill refunds, prompt p7"
    assert text.startswith(
        f"\n{title}\nv1 passes\nIs the term known?\n"
        "input\n  Can I return it?\ncontext\n  Policy\nreference\n  30 days\n"
    )


def test_an_answer_shows_when_how_long_and_for_how_much() -> None:
    output = make_output(
        duration_ms=320, run_id="ar-1",
        usage={"input_tokens": 1200, "output_tokens": 3, "cost_usd": 0.002},
    )  # fmt: skip
    text = shown(output=output, ran_at=START, repeat=1, is_done=False)
    assert "\npass: refund, v1 #2, 0.75\n" in text
    assert (
        "  2026-11-22 09:30 UTC · 320 ms · 1,200 tokens in, 3 out · $0.0020 · agent run ar-1 · "
        "not fully judged\n"
    ) in text


def test_steps_stand_below_the_output() -> None:
    text = shown(output=make_output(trace=(TraceEvent(type="tool_call", name="look"),)))
    assert "\noutput\n  Yes, within 30 days.\nsteps\n  1. tool_call look\n" in text


def test_an_output_that_is_only_a_trace_has_no_empty_block() -> None:
    text = shown(output=make_output(None, trace=(TraceEvent(type="tool_call"),)))
    assert "\noutput" not in text


@pytest.mark.parametrize(("kind", "title"), [("exit", "no output (exit)"), (None, "no output")])
def test_an_error_stands_in_the_place_of_an_output(kind: Any, title: str) -> None:
    text = shown(output=Output(error="boom", error_kind=kind), judgments=())
    assert f"\n{title}\n  boom\n" in text
    assert "\nverdict" not in text


def test_a_judgment_shows_score_judge_confidence_cost_reason_and_quotes() -> None:
    quotes = (
        Evidence(quote="within", match="exact", start=5, end=11),
        Evidence(quote="30  days", match="normalized", start=12, end=19),
        Evidence(quote="40 days"),
    )
    one = said(
        raw=4, value=0.75, rationale="It is.", evidence=quotes, confidence=0.8, expected_raw=3.9,
        cost_usd=0.5, repeat=1, flags=("evidence_not_found", "smoke_model", "odd"),
    )  # fmt: skip
    text = shown(judgments=(one,))
    facts = "confidence 0.80, expected 3.90, $0.50, a smoke model, whose verdicts carry no"
    assert f"  accuracy, 4 → 0.75, {JUDGE} #2, {facts}" in text
    assert (
        ", odd\n    It is.\n    “within”\n    “30 days” (but for white space)\n"
        "    “40 days” (not in the output)\n"
    ) in text
    assert "evidence_not_found" not in text


def test_people_and_owned_replies_are_named_as_such() -> None:
    text = shown(judgments=(said(source="human", judge="Ada", n_calls=0), said(cached=True)))
    assert "1 → 1.00, Ada, human, 2026-11-22 09:30 UTC\n" in text
    assert f"{JUDGE}, from the cache\n" in text


def test_a_judges_failure_shows_kind_message_and_reply() -> None:
    failure = make_failure(judge=JUDGE, message="no score\n  ask again", reply="Hm.\x1b", n_calls=2)
    text = shown(failures=(failure,))
    assert f"no verdict could be read, {JUDGE}, price unknown\n    no score\n" in text
    assert "    its reply:\n    Hm.\\x1b\n" in text
    assert "its reply" not in shown(failures=(make_failure(),))


def test_assertions_show_what_was_found_where_they_do_not_hold() -> None:
    part = AssertionResult(type="equals", passed=False, message="differs", actual=3)
    checks = (
        AssertionResult(type="contains", passed=True, message="holds it", actual="long"),
        AssertionResult(type="any", passed=False, message="none holds", parts=(part,)),
        AssertionResult(type="json", message="?", error="no\nJSON"),
    )
    text = shown(checks=checks)
    assert "  holds  contains: holds it\n  fails  any: none holds\n" in text
    assert "  fails  · equals: differs, found 3\n  error  json: no; JSON\n" in text


def test_scores_show_value_and_measure() -> None:
    scores = (
        Score(name="latency", value=0.5, raw=1200, unit="ms", message="slow"),
        Score(name="cost", error="unknown"),
        Score(name="similarity", value=0.0, raw=-0.25, method="semantic: m", message="-0.250"),
        Score(name="near", value=0.75, raw=0.75, method="lexical: words", message="0.750"),
    )
    assert (
        "latency, 0.50, 1200 ms, slow\n  cost, –, unknown\n"
        "  similarity, 0.00, -0.25, semantic: m\n  near, 0.75, lexical: words\n"
    ) in shown(scores=scores)


def test_the_verdict_shows_each_criterion_and_what_is_missing() -> None:
    rubric = make_rubric(make_criterion("accuracy", required=True, weight=2), "clarity")
    text = shown(rubric=rubric, judgments=(said(),), failures=(make_failure("clarity"),))
    assert "  passes  accuracy, 1.00, weight 2, required\n" in text
    assert "  open  clarity, –, weight 1, 1 failed\n" in text
    assert "  open  support, –, 0.67 to 1.00, depending on what is missing\n" in text


def test_what_was_replaced_stands_at_the_end() -> None:
    before = SupersededObservation(START, START + timedelta(hours=1), said(rationale="Once."))
    text = shown(earlier=(before,))
    assert "earlier\n  2026-11-22 09:30, replaced 2026-11-22 10:30 UTC: Judgment {" in text


def test_long_texts_are_folded_unless_asked_for_whole() -> None:
    long = "x" * 5000
    assert "more characters: --full" in shown(output=make_output(long))
    assert shown(output=make_output(long), full=True).count("x") >= 5000


def test_as_json_an_answer_holds_what_it_comes_to() -> None:
    shown_json: Any = answer_json(conclude_result(result(), make_run()))
    assert (shown_json["passed"], shown_json["value"]) == (True, 0.75)
    assert shown_json["verdict"]["rubric"] == "support"
    assert "judgments" not in shown_json["verdict"]
    assert len(shown_json["judgments"]) == 2
    assert "earlier" not in shown_json


def test_as_json_an_answer_without_a_rubric_has_no_verdict() -> None:
    shown_json: Any = answer_json(
        conclude_result(result(), make_run(rubric=None)),
        [SupersededObservation(START, START, make_output("Before."))],
    )
    assert shown_json["verdict"] is None
    assert shown_json["earlier"][0]["Output"]["text"] == "Before."
