from __future__ import annotations

from judgekit.assertions.registry import make_result, replace_fields
from judgekit.records import AssertionResult


def test_a_finding_equals_the_record_that_was_checked() -> None:
    made = make_result(True, ["a"], "why")
    assert made == AssertionResult(passed=True, actual=["a"], message="why")
    assert hash(made.message)
    assert AssertionResult.model_validate(made.to_json()) == made
    assert made.model_copy(update={"weight": 2.0}).weight == 2


def test_a_change_leaves_the_first_as_it_was() -> None:
    first = AssertionResult(passed=True, message="why")
    assert replace_fields(first, {"type": "t", "weight": 0.5}).type == "t"
    assert (first.type, first.weight) == ("", 1)
