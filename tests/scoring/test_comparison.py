from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.records import Preference, PreferenceFailure
from judgekit.scoring import conclude_comparison
from tests.factories import make_criterion, make_rubric

if TYPE_CHECKING:
    from judgekit.records import Comparison, PreferenceSlot, PresentationOrder

RUBRIC = make_rubric(make_criterion("accuracy", weight=2), make_criterion("style", weight=1))


def prefers(
    order: PresentationOrder, choice: PreferenceSlot, criterion: str | None = None, **more: Any
) -> Preference:
    known = {"rationale": "It says so."} | more
    return Preference(order=order, choice=choice, criterion=criterion, **known)


def fails(order: PresentationOrder, criterion: str | None = None) -> PreferenceFailure:
    return PreferenceFailure(order=order, criterion=criterion, kind="refusal", message="no")


def compared(*said: Preference | PreferenceFailure, **more: Any) -> Comparison:
    usable = [each for each in said if isinstance(each, Preference)]
    failed = [each for each in said if isinstance(each, PreferenceFailure)]
    return conclude_comparison(RUBRIC, usable, failed, **more)


def test_the_whole_is_what_was_asked_of_the_whole() -> None:
    found = compared(
        prefers("ab", "second"), prefers("ba", "first"),
        prefers("ab", "first", "accuracy"), prefers("ba", "second", "accuracy"),
    )  # fmt: skip
    assert (found.winner, found.consistent, found.probability) == ("b", True, 0)
    assert [(c.name, c.winner) for c in found.criteria] == [("accuracy", "a")]


def test_without_a_question_about_the_whole_its_weighted_criteria_decide_in_each_order() -> None:
    found = compared(
        prefers("ab", "first", "accuracy"), prefers("ab", "second", "style"),
        prefers("ba", "second", "accuracy"), prefers("ba", "tie", "style"),
    )  # fmt: skip
    assert (found.winner, found.consistent) == ("a", True)
    assert found.probability == pytest.approx((2 / 3 + 2.5 / 3) / 2)
    assert (found.criteria["style"].winner, found.criteria["style"].consistent) == ("tie", False)


def test_criteria_that_balance_are_a_tie_on_the_whole() -> None:
    even = make_rubric("accuracy", "style")
    said = [
        prefers("ab", "first", "accuracy"), prefers("ab", "second", "style"),
        prefers("ba", "first", "accuracy"), prefers("ba", "second", "style"),
    ]  # fmt: skip
    found = conclude_comparison(even, said)
    assert (found.winner, found.consistent) == ("tie", True)


def test_a_criterion_that_failed_in_one_order_leaves_the_whole_open() -> None:
    found = compared(
        prefers("ab", "first", "accuracy"), prefers("ab", "first", "style"),
        prefers("ba", "second", "accuracy"), fails("ba", "style"),
    )  # fmt: skip
    assert (found.winner, found.consistent) == (None, None)
    assert (found.probability_low, found.probability_high) == (0.5, 1)
    assert (found.criteria["accuracy"].winner, found.criteria["style"].winner) == ("a", None)
    assert (found.criteria["style"].n, found.criteria["style"].n_failed) == (1, 1)


def test_the_side_with_the_higher_scores_stands_beside_the_winner() -> None:
    found = compared(
        prefers("ab", "first", raw_first=6, raw_second=8),
        prefers("ba", "second", raw_first=9, raw_second=7),
    )
    assert (found.winner, found.raw_winner) == ("a", "b")
    assert (found.raw_a, found.raw_b) == (6.5, 8.5)


def test_scores_of_criteria_count_by_their_weights_as_their_preferences_do() -> None:
    said = []
    for name, first, second in (("accuracy", 6, 9), ("style", 10, 2)):
        said.append(prefers("ab", "tie", name, raw_first=first, raw_second=second))
        said.append(prefers("ba", "tie", name, raw_first=second, raw_second=first))
    found = compared(*said)
    assert (found.raw_a, found.raw_b) == pytest.approx(((2 * 6 + 10) / 3, (2 * 9 + 2) / 3))
    plain = make_rubric(make_criterion("accuracy", weight=0), make_criterion("style", weight=1))
    without = conclude_comparison(plain, said)
    assert (without.raw_a, without.raw_b, without.raw_winner) == (10, 2, "a")


@pytest.mark.parametrize(("raws", "winner"), [((7, 7), "tie"), ((8, 7), "a"), ((8, None), None)])
def test_equal_scores_are_a_tie_and_missing_ones_are_none(raws: Any, winner: str | None) -> None:
    found = compared(prefers("ab", "tie", raw_first=raws[0], raw_second=raws[1]))
    assert found.raw_winner == winner


def test_identical_outputs_are_a_true_tie_on_everything() -> None:
    found = compared(is_identical=True)
    assert (found.winner, found.consistent, found.probability) == ("tie", True, 0.5)
    assert {(c.winner, c.consistent) for c in found.criteria} == {("tie", True)}
    assert (len(found.criteria), found.preferences) == (2, ())


def test_nothing_said_is_nothing_decided() -> None:
    found = compared(error="output a: timeout")
    assert (found.winner, found.consistent, found.probability) == (None, None, None)
    assert (found.probability_low, found.probability_high, found.error) == (
        0,
        1,
        "output a: timeout",
    )


def test_a_criterion_without_weight_has_no_say_on_the_whole() -> None:
    rubric = make_rubric(make_criterion("accuracy"), make_criterion("style", weight=0))
    said = [
        prefers("ab", "first", "accuracy"),
        prefers("ba", "second", "accuracy"),
        prefers("ab", "second", "style"),
        prefers("ba", "first", "style"),
    ]
    assert conclude_comparison(rubric, said).winner == "a"
    assert conclude_comparison(rubric, said[2:]).winner is None
