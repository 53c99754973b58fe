from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import pytest

from judgekit.evaluation import rank_matches
from judgekit.evaluation.ranking_result import MatchResult, canonical_match, match_result_of
from judgekit.records import Preference
from judgekit.scoring import conclude_comparison
from tests.evaluation.pairs import RUBRIC, concluded, said
from tests.evaluation.ranking.fields import judged

if TYPE_CHECKING:
    from judgekit.records import PresentationOrder


def test_a_comparison_told_from_the_other_side_is_the_same_meeting() -> None:
    there = match_result_of(concluded("c", said("a", "c")), "x", "y")
    back = match_result_of(concluded("c", said("b", "c")), "y", "x")
    assert there == back
    assert there is not None
    assert (there.winner, there.points) == ("a", 1.0)


def test_orders_that_contradict_each_other_are_no_true_tie() -> None:
    found = match_result_of(concluded("c", said("first", "c")), "x", "y")
    assert found is not None
    assert (found.winner, found.is_inconsistent) == ("tie", True)
    assert found.shown() == [("x", "y", (1.0, 0.0, 0.0)), ("y", "x", (1.0, 0.0, 0.0))]


def test_a_failed_order_leaves_the_meeting_open() -> None:
    found = match_result_of(concluded("c", said("open", "c")), "x", "y")
    assert found is not None
    assert found.winner is None
    assert isnan(found.points)
    assert not found.has_both_orders


def test_an_output_that_is_an_error_is_no_meeting() -> None:
    failed = concluded("c", []).model_copy(update={"error": "output a: timed out"})
    assert match_result_of(failed, "x", "y") is None


def test_repeats_of_an_order_share_its_weight() -> None:
    answers = [*said("a", "c"), *said("tie", "c", repeat=1), *said("tie", "c", criterion="short")]
    assert all(isinstance(each, Preference) for each in answers)
    found = match_result_of(concluded("c", answers), "x", "y")
    assert found is not None
    assert found.shown() == [("x", "y", (0.5, 0.0, 0.5)), ("y", "x", (0.0, 0.5, 0.5))]


def test_the_same_text_twice_is_a_tie_in_both_places() -> None:
    same = concluded("c", []).model_copy(update={"is_identical": True, "winner": "tie"})
    found = match_result_of(same, "x", "y")
    assert found is not None
    assert found.has_both_orders
    assert found.shown() == [("x", "y", (0.0, 0.0, 1.0)), ("y", "x", (0.0, 0.0, 1.0))]


def test_arranging_turns_the_winner_and_the_orders() -> None:
    turned = canonical_match(judged("y", "x", "c", "first", "second"))
    assert turned == MatchResult("c", "x", "y", "b", False, (("ab", "second"), ("ba", "first")))


def averaged(*shares: float | None) -> MatchResult:
    """A meeting whose judge gave the first place these probabilities, with A first and B first."""
    orders: tuple[PresentationOrder, PresentationOrder] = ("ab", "ba")
    answers = [
        Preference(order=order, judge="fake", choice="first", rationale="So.", logprob_first=share)
        for order, share in zip(orders, shares, strict=True)
    ]
    found = conclude_comparison(RUBRIC, answers, rule="average", case_id="c")
    meeting = match_result_of(found, "y", "x")
    assert meeting is not None
    return meeting


def test_where_probabilities_are_averaged_they_are_what_was_chosen() -> None:
    found = averaged(0.9, 0.6)
    assert (found.winner, found.has_both_orders) == ("b", True)
    shown = {first: shares for first, _, shares in found.shown()}
    assert shown["y"] == pytest.approx((0.9, 0.1, 0))
    assert shown["x"] == pytest.approx((0.6, 0.4, 0))


def test_without_probabilities_choices_are_what_was_chosen_by_either_rule() -> None:
    assert averaged(None, None).choices == (("ab", "first"), ("ba", "first"))
    assert averaged(0.9, None).choices == (("ab", "first"), ("ba", 0.9))


def test_a_judge_that_leans_to_a_place_ranks_by_its_probabilities() -> None:
    meetings = [averaged(0.99, 0.8)._replace(case_id=f"c{k}") for k in range(9)]
    meetings += [averaged(0.97, 0.9)._replace(case_id=f"d{k}") for k in range(9)]
    found = rank_matches(meetings)
    assert [side.name for side in found.sides] == ["y", "x"]
    assert found.position is not None
    assert found.position.value > 1
