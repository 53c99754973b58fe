from __future__ import annotations

from judgekit.checks.findings import changed, finding
from judgekit.records.check import AssertionResult


def test_a_finding_equals_the_record_that_was_checked() -> None:
    made = finding(True, ["a"], "why")
    assert made == AssertionResult(passed=True, actual=["a"], message="why")
    assert hash(made.message)
    assert AssertionResult.model_validate(made.to_json()) == made
    assert made.model_copy(update={"weight": 2.0}).weight == 2


def test_a_change_leaves_the_first_as_it_was() -> None:
    first = AssertionResult(passed=True, message="why")
    assert changed(first, type="t", weight=0.5).type == "t"
    assert (first.type, first.weight) == ("", 1)
