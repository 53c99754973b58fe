from __future__ import annotations

from math import isnan

from judgekit.evaluation.ranking.meetings import Meeting, arranged, meeting_of
from judgekit.records.comparison import Preference
from tests.evaluation.pairs import concluded, said
from tests.evaluation.ranking.fields import judged


def test_a_comparison_told_from_the_other_side_is_the_same_meeting() -> None:
    there = meeting_of(concluded("c", said("a", "c")), "x", "y")
    back = meeting_of(concluded("c", said("b", "c")), "y", "x")
    assert there == back
    assert there is not None
    assert (there.winner, there.points) == ("a", 1.0)


def test_orders_that_contradict_each_other_are_no_true_tie() -> None:
    found = meeting_of(concluded("c", said("first", "c")), "x", "y")
    assert found is not None
    assert (found.winner, found.is_inconsistent) == ("tie", True)
    assert found.shown() == [("x", "y", (1.0, 0.0, 0.0)), ("y", "x", (1.0, 0.0, 0.0))]


def test_a_failed_order_leaves_the_meeting_open() -> None:
    found = meeting_of(concluded("c", said("open", "c")), "x", "y")
    assert found is not None
    assert found.winner is None
    assert isnan(found.points)
    assert not found.has_both_orders


def test_an_output_that_is_an_error_is_no_meeting() -> None:
    failed = concluded("c", []).model_copy(update={"error": "output a: timed out"})
    assert meeting_of(failed, "x", "y") is None


def test_repeats_of_an_order_share_its_weight() -> None:
    answers = [*said("a", "c"), *said("tie", "c", repeat=1), *said("tie", "c", criterion="short")]
    assert all(isinstance(each, Preference) for each in answers)
    found = meeting_of(concluded("c", answers), "x", "y")
    assert found is not None
    assert found.shown() == [("x", "y", (0.5, 0.0, 0.5)), ("y", "x", (0.0, 0.5, 0.5))]


def test_the_same_text_twice_is_a_tie_in_both_places() -> None:
    same = concluded("c", []).model_copy(update={"is_identical": True, "winner": "tie"})
    found = meeting_of(same, "x", "y")
    assert found is not None
    assert found.has_both_orders
    assert found.shown() == [("x", "y", (0.0, 0.0, 1.0)), ("y", "x", (0.0, 0.0, 1.0))]


def test_arranging_turns_the_winner_and_the_orders() -> None:
    turned = arranged(judged("y", "x", "c", "first", "second"))
    assert turned == Meeting("c", "x", "y", "b", False, (("ab", "second"), ("ba", "first")))
