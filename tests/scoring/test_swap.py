from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from judgekit import scoring
from judgekit.scoring import Vote, reconcile

if TYPE_CHECKING:
    from judgekit.records import PreferenceSlot

GOLDEN = [
    case
    for case in json.loads((Path(__file__).parents[1] / "data/golden_statistics.json").read_text())[
        "cases"
    ]
    if case["function"].startswith("verdicts.")
]
SLOTS: list[PreferenceSlot] = ["first", "second", "tie"]
VOTES = st.lists(
    st.builds(Vote, st.none() | st.sampled_from(SLOTS), st.none() | st.floats(0, 1)), max_size=5
)
MIRROR = {"A": "B", "B": "A", "tie": "tie", None: None}


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["id"])
def test_golden_values(case: dict[str, Any]) -> None:
    function = getattr(scoring, case["function"].split(".")[1])
    got = function(**case["input"])
    assert {name: getattr(got, name) for name in case["expected"]} == case["expected"]


def test_the_same_side_in_both_orders_wins() -> None:
    found = reconcile("first", "second")
    assert (found.value, found.winner, found.consistent, found.probability) == ("A", "a", True, 1)
    assert (reconcile("second", "first").winner, reconcile("second", "first").low) == ("b", 0)


@pytest.mark.parametrize("slot", ["first", "second"])
def test_the_same_place_in_both_orders_is_a_tie_that_is_not_consistent(
    slot: PreferenceSlot,
) -> None:
    found = reconcile(slot, slot)
    assert (found.value, found.consistent, found.probability) == ("tie", False, 0.5)


def test_a_tie_in_both_orders_is_a_true_tie() -> None:
    found = reconcile("tie", "tie")
    assert (found.value, found.consistent, found.probability) == ("tie", True, 0.5)


def test_a_tie_in_one_order_is_not_consistent() -> None:
    found = reconcile("first", "tie")
    assert (found.value, found.consistent, found.probability) == ("tie", False, 0.75)
    assert reconcile("first", "tie", "average").value == "A"
    assert reconcile("first", "tie", "average").consistent is False


@pytest.mark.parametrize(
    ("ab", "ba", "low", "high"),
    [("first", None, 0.5, 1), (None, "first", 0, 0.5), ("tie", None, 0.25, 0.75),
     (None, None, 0, 1), ([], "second", 0.5, 1)],
)  # fmt: skip
@pytest.mark.parametrize("rule", ["consistent", "average"])
def test_a_failed_order_leaves_the_case_undecided_within_bounds(
    ab: Any, ba: Any, low: float, high: float, rule: Any
) -> None:
    found = reconcile(ab, ba, rule)
    assert (found.value, found.winner, found.consistent, found.probability) == (None,) * 4
    assert (found.low, found.high) == (low, high)


def test_repeats_are_averaged_within_an_order_first() -> None:
    found = reconcile(["first", "first", "second"], ["second"])
    assert (found.value, found.consistent) == ("A", True)
    assert found.probability == pytest.approx((2 / 3 + 1) / 2)
    assert reconcile(["first", "second"], "second").value == "tie"


def test_a_failed_repeat_that_could_turn_its_order_leaves_it_open() -> None:
    assert reconcile(["first", "first", None], "second").value == "A"
    found = reconcile(["first", None], "second")
    assert (found.value, found.consistent, found.probability) == (None, None, 1)
    assert (found.low, found.high) == (0.75, 1)


def test_probabilities_are_averaged_and_choices_decide() -> None:
    found = reconcile(Vote("first", 0.9), Vote("second", 0.4))
    assert found.value == "A"
    assert found.probability == pytest.approx(0.75)


def test_a_choice_or_rule_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="'A' is none of first, second, tie"):
        reconcile("A", "first")  # type: ignore[arg-type]  # that is what is tested
    with pytest.raises(ValueError, match="rule 'mean' is none of consistent, average"):
        reconcile("first", "first", "mean")  # type: ignore[arg-type]  # that is what is tested


@given(VOTES, VOTES, st.sampled_from(["consistent", "average"]))
def test_swapping_a_and_b_mirrors_the_result(ab: Any, ba: Any, rule: Any) -> None:
    one, other = reconcile(ab, ba, rule), reconcile(ba, ab, rule)
    assert (other.value, other.consistent) == (MIRROR[one.value], one.consistent)
    assert other.low == pytest.approx(1 - one.high)
    assert other.high == pytest.approx(1 - one.low)
    if one.probability is not None:
        assert other.probability == pytest.approx(1 - one.probability)


@given(VOTES, VOTES, st.data())
def test_the_bounds_hold_whatever_the_failures_had_been(ab: Any, ba: Any, data: Any) -> None:
    found = reconcile(ab, ba)
    full_ab, full_ba = (
        [v if v.choice else Vote(data.draw(st.sampled_from(SLOTS))) for v in votes]
        for votes in (ab, ba)
    )
    whole = reconcile(full_ab, full_ba)
    if whole.probability is not None:
        assert found.low - 1e-9 <= whole.probability <= found.high + 1e-9
    if found.value is not None:
        assert (whole.value, whole.consistent) == (found.value, found.consistent)
