from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from judgekit.evaluation import Pairing
from judgekit.evaluation.comparison_result import StoppingRule
from tests.evaluation.pairs import compared, several, side, summed

if TYPE_CHECKING:
    from judgekit.evaluation import JudgedPair


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


def _answered_often(*outcomes: str, n: int, first: int = 0) -> list[JudgedPair]:
    """Cases that were answered several times, each with the same outcomes."""
    return [compared(o, f"c{first + k}") for k in range(n) for o in outcomes]


def test_of_cases_that_were_answered_several_times_the_cases_are_named() -> None:
    pairs = [*_answered_often("a", "a", "b", n=9), *_answered_often("b", "a", "b", n=1, first=9)]
    found = summed(pairs)
    assert (found.whole.wins, found.whole.losses) == (19, 11)
    assert found.decision.winner == "a"
    assert found.decision.reason == "9 of 10 cases that favour a side"
    open_ones = summed(pairs[:9]).decision
    assert open_ones.reason.startswith("3 cases that lean to A and 0 to B may be chance")


def test_cases_that_would_decide_are_reckoned_by_cases_however_often_each_was_answered() -> None:
    once = summed(several(a=12, b=8)).decision
    often = summed([*_answered_often("a", "a", "b", n=12),
                    *_answered_often("b", "b", "a", n=8, first=12)]).decision  # fmt: skip
    assert often.n_to_decide == once.n_to_decide


def test_a_side_that_leads_in_more_cases_but_not_on_average_is_not_better() -> None:
    pairs = [*_answered_often("a", "a", "b", n=15), *_answered_often("b", "b", "b", n=5, first=15)]
    found = summed(pairs)
    assert found.whole.rate.value == pytest.approx(0.5)
    assert found.whole.p == pytest.approx(0.0414, abs=1e-4)
    assert found.decision.winner is None
    assert "on average" in found.decision.reason


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ({"open": 3}, "no pair was judged in both orders"),
        ({"tie": 3}, "no pair has a winner"),
        ({"tie": 3, "open": 2}, "no pair has a winner, and 2 undecided"),
        ({"first": 3}, "the judge contradicts itself when the order is turned"),
        ({"first": 9, "a": 2}, "the judge contradicts itself on most pairs"),
    ],
)
def test_no_decision_says_why(counts: dict[str, int], reason: str) -> None:
    decision = summed(several(**counts)).decision
    assert decision.winner is None
    assert reason in decision.reason


def test_looking_stops_where_a_difference_is_shown_and_counts_a_case_once() -> None:
    looking = StoppingRule(0.05)
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
    looking = StoppingRule(0.05, max_cases=3)
    for one in several(a=3):
        looking.look(one.comparison)
    assert looking.is_over
    assert not looking.is_decided
    evidence = looking.evidence()
    assert (evidence.stopped_at, evidence.max_cases) == (None, 3)
    assert summed(several(a=3), evidence=evidence).decision.winner is None


def test_looking_at_a_sorted_file_in_a_drawn_order_rarely_decides_for_the_loser() -> None:
    """45 wins of A and then 55 of B; in the order of the file A is always found better."""
    cases = [f"c{k}" for k in range(100)]
    outcomes = {c: compared("a" if k < 45 else "b", c).comparison for k, c in enumerate(cases)}
    both = side("new", *cases), side("old", *cases)
    wrong = 0
    for seed in range(100):
        looking, wins = StoppingRule(0.05, order_seed=seed), 0
        for pair in Pairing(*both, seed=seed, is_shuffled=True).pairs():
            looking.look(outcomes[pair.case.id])
            wins += 1 if outcomes[pair.case.id].winner == "a" else -1
            if looking.is_over:
                break
        wrong += looking.is_decided and wins > 0
    assert wrong / 100 <= 0.05


def test_looking_after_every_case_errs_no_more_often_than_allowed() -> None:
    """The e-value itself is put to the test in thousands of contests elsewhere."""
    rng, n_contests, n_cases = random.Random(11), 200, 100
    a, b = (
        [compared(outcome, f"c{k}").comparison for k in range(n_cases)] for outcome in ("a", "b")
    )
    wrong = 0
    for _ in range(n_contests):
        looking = StoppingRule(0.05, max_cases=n_cases)
        for pair in zip(a, b, strict=True):
            looking.look(rng.choice(pair))
            if looking.is_over:
                break
        wrong += looking.is_decided
    assert wrong / n_contests <= 0.05
