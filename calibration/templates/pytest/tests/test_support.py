"""Each answer is graded by the judge; a failing test shows scores, reasons and quotations."""

import pytest
from support_agent import answer


@pytest.mark.parametrize("case_id", ["refund", "sale", "hours"])
def test_the_answer_is_correct(judge, case_id):
    verdict = judge.grade(case_id, answer(case_id))
    assert verdict.passed


def test_an_invented_answer_does_not_pass(judge):
    verdict = judge.grade("refund-wrong", "Yes, whenever you like.")
    assert not verdict.passed
