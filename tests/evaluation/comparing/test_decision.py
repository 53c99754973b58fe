from __future__ import annotations

import random

import pytest

from judgekit.evaluation.comparing.decision import Looking
from tests.evaluation.pairs import compared, several, summed


def test_a_side_that_wins_more_than_chance_allows_is_better() -> None:
    decision = summed(several(a=2, b=14)).decision
    assert (decision.winner, decision.reason) == ("b", "14 of 16 decided pairs")
    assert decision.p == pytest.approx(0.0042, abs=1e-4)


def test_what_may_be_chance_is_no_decision_and_says_how_many_cases_would_do() -> None:
    decision = summed(several(a=12, b=8)).decision
    assert decision.winner is None
    assert decision.reason == "12 wins and 8 losses may be chance (alpha 0.05)"
    assert decision.n_to_decide is not None
    assert 150 < decision.n_to_decide < 300


def test_ties_ask_for_more_cases() -> None:
    without = summed(several(a=12, b=8)).decision.n_to_decide
    with_ties = summed(several(a=12, b=8, tie=20)).decision.n_to_decide
    assert with_ties is not None
    assert with_ties == pytest.approx(2 * float(without or 0), abs=1)


@pytest.mark.parametrize("counts", [{"a": 5, "b": 5}, {"a": 600, "b": 599}])
def test_where_no_number_is_in_sight_none_is_named(counts: dict[str, int]) -> None:
    decision = summed(several(**counts)).decision
    assert (decision.winner, decision.n_to_decide) == (None, None)


def test_undecided_pairs_that_could_turn_it_keep_it_open() -> None:
    decision = summed(several(a=9, b=1, open=9)).decision
    assert (decision.winner, decision.reason) == (None, "the undecided pairs could turn it")
    assert summed(several(a=9, b=1, open=7)).decision.winner == "a"


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ({"open": 3}, "no pair was judged in both orders"),
        ({"tie": 3}, "no pair has a winner"),
        ({"first": 3}, "the judge contradicts itself when the order is turned"),
        ({"first": 9, "a": 2}, "the judge contradicts itself on most pairs"),
    ],
)
def test_no_decision_says_why(counts: dict[str, int], reason: str) -> None:
    decision = summed(several(**counts)).decision
    assert decision.winner is None
    assert reason in decision.reason


def test_looking_stops_where_a_difference_is_shown_and_counts_a_case_once() -> None:
    looking = Looking(0.05)
    for one in [x for x in several(a=30) for _ in range(2)]:
        if looking.is_over:
            break
        looking.look(one.comparison)
    found = looking.evidence()
    assert found.stopped_at == found.n_cases == 15
    assert found.e_value >= 20
    decision = summed(several(a=15), evidence=found).decision
    assert decision.winner == "a"
    assert decision.p == pytest.approx(1 / found.e_value)


def test_looking_ends_at_the_most_cases_without_a_decision() -> None:
    looking = Looking(0.05, max_cases=3)
    for one in several(a=3):
        looking.look(one.comparison)
    assert looking.is_over
    assert not looking.is_decided
    evidence = looking.evidence()
    assert (evidence.stopped_at, evidence.max_cases) == (None, 3)
    assert summed(several(a=3), evidence=evidence).decision.winner is None


def test_looking_after_every_case_errs_no_more_often_than_allowed() -> None:
    rng = random.Random(11)
    a, b = ([compared(outcome, f"c{k}").comparison for k in range(200)] for outcome in ("a", "b"))
    wrong = 0
    for _ in range(1000):
        looking = Looking(0.05, max_cases=200)
        for pair in zip(a, b, strict=True):
            looking.look(rng.choice(pair))
            if looking.is_over:
                break
        wrong += looking.is_decided
    assert wrong / 1000 <= 0.05
