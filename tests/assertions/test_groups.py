from __future__ import annotations

from itertools import product

import pytest

from judgekit.assertions.runner import conclude_group
from judgekit.records import AssertionResult


def part(*, passed: bool | None, weight: float = 1.0) -> AssertionResult:
    """One member's result."""
    error = "broken" if passed is None else None
    return AssertionResult(passed=passed, message="why", type="t", weight=weight, error=error)


def conclude(
    *passed: bool | None, rule: str = "all", threshold: float | None = None
) -> bool | None:
    """What members of equal weight come to."""
    return conclude_group([part(passed=p) for p in passed], rule=rule, threshold=threshold).passed


@pytest.mark.parametrize(
    ("rule", "passed", "verdict"),
    [
        ("all", (True, True), True),
        ("all", (True, False), False),
        ("all", (True, None), None),
        ("all", (False, None), False),
        ("any", (True, None), True),
        ("any", (False, None), None),
        ("any", (False, False), False),
        ("none", (False, False), True),
        ("none", (False, None), None),
        ("none", (True, None), False),
    ],
)
def test_an_open_member_decides_nothing(
    rule: str, passed: tuple[bool | None, ...], *, verdict: bool | None
) -> None:
    assert conclude(*passed, rule=rule) is verdict


def test_a_threshold_asks_for_a_share_of_the_weight() -> None:
    parts = [part(passed=True, weight=3), part(passed=False, weight=1)]
    assert conclude_group(parts, rule="all", threshold=0.75).passed is True
    assert conclude_group(parts, rule="all", threshold=0.76).passed is False
    assert conclude_group(parts, rule="all").value == 0.75


def test_an_open_member_leaves_a_threshold_open_only_where_it_matters() -> None:
    assert conclude(True, True, None, threshold=0.6) is True
    assert conclude(True, False, None, threshold=0.6) is None
    assert conclude(False, False, None, threshold=0.6) is False


def test_a_member_of_weight_0_does_not_count() -> None:
    result = conclude_group([part(passed=True), part(passed=False, weight=0)], rule="all")
    assert result.passed is True
    assert len(result.parts) == 2


def test_a_member_of_little_weight_counts_like_any_other_without_a_threshold() -> None:
    light = [part(passed=True), part(passed=False, weight=1e-10)]
    assert conclude_group(light, rule="all").passed is False
    tiny = [part(passed=False, weight=1e300), part(passed=True, weight=1e-300)]
    assert conclude_group(tiny, rule="any").passed is True
    assert conclude_group(tiny, rule="none").passed is False


def test_weights_whose_sum_no_float_holds_are_shares_all_the_same() -> None:
    parts = [part(passed=True, weight=1e308), part(passed=False, weight=1e308)]
    result = conclude_group(parts, rule="all", threshold=0.5)
    assert (result.passed, result.value) == (True, 0.5)


def test_the_message_names_who_failed_and_who_is_open() -> None:
    result = conclude_group([part(passed=True), part(passed=False), part(passed=None)], rule="all")
    assert result.message == "1 of 3 passed; failed: t (why); could not be checked: t (why)"
    many = conclude_group([part(passed=False)] * 5, rule="all", threshold=0.5)
    assert "(0.00 of the weight, 0.5 wanted)" in many.message
    assert many.message.endswith("and 2 more")


def test_for_none_the_message_names_who_passed() -> None:
    result = conclude_group([part(passed=True), part(passed=False)], rule="none")
    assert result.message == "1 of 2 passed; passed: t (why)"


@pytest.mark.parametrize(
    ("rule", "threshold"), [("all", None), ("all", 0.6), ("any", None), ("none", None)]
)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_verdict_is_what_every_way_to_decide_the_open_members_gives(
    n: int, rule: str, threshold: float | None
) -> None:
    """Open members are never counted either way."""
    for passed in product([True, False, None], repeat=n):
        choices = [[p] if p is not None else [True, False] for p in passed]
        verdicts = {conclude(*way, rule=rule, threshold=threshold) for way in product(*choices)}
        expected = verdicts.pop() if len(verdicts) == 1 else None
        assert conclude(*passed, rule=rule, threshold=threshold) is expected


def test_for_none_the_value_is_the_share_that_did_not_pass() -> None:
    parts = [part(passed=False, weight=3), part(passed=True)]
    assert conclude_group(parts, rule="none").value == 0.75
    assert conclude_group(parts[:1], rule="none").value == 1.0
