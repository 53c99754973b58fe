from __future__ import annotations

from judgekit.evaluation import needs_attention
from judgekit.exports.tabular import failure_reasons
from judgekit.records import CaseEvaluation, Score
from tests.exports.making import check, make_answer, make_run
from tests.factories import make_case


def test_a_strategy_that_nothing_else_speaks_for_says_why_itself() -> None:
    case = make_case(reference="30 days", evaluation=CaseEvaluation(strategy="semantic_sim"))
    far = Score(name="similarity", value=0.25)
    answer = make_answer(None, None, case=case, scores=(far,), run=make_run(rubric=None))
    assert failure_reasons(answer) == ["the similarity is 0.25, 0.7 wanted"]


def test_a_score_that_could_not_be_measured_is_the_reason_why_it_is_open() -> None:
    case = make_case(reference="30 days", evaluation=CaseEvaluation(strategy="semantic_sim"))
    missing = Score(name="similarity", error="HTTP 400: too long")
    answer = make_answer(None, None, case=case, scores=(missing,), run=make_run(rubric=None))
    assert failure_reasons(answer) == ["HTTP 400: too long"]
    assert needs_attention(answer)
    waiting = make_case(evaluation=CaseEvaluation(strategy="llm_judge"))
    assert failure_reasons(make_answer(None, None, case=waiting)) == []


def test_what_an_assertion_says_is_said_once() -> None:
    case = make_case(reference="30 days", evaluation=CaseEvaluation(strategy="exact_match"))
    failed = check("equals", passed=False)
    answer = make_answer(None, None, case=case, checks=(failed,), run=make_run(rubric=None))
    assert failure_reasons(answer) == ["equals failed: equals says so"]


def test_an_answer_that_passes_needs_no_reason() -> None:
    assert failure_reasons(make_answer()) == []
