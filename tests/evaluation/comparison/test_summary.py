from __future__ import annotations

import random
from functools import cache
from math import isnan

import pytest

from judgekit.evaluation import JudgedPair
from judgekit.records import Usage
from tests.evaluation.pairs import MIRRORED, compared, concluded, said, several, summed

N_SIMULATIONS, N_CASES = 1000, 40


def test_wins_ties_contradictions_and_losses_are_counted_apart() -> None:
    whole = summed(several(a=5, tie=3, first=2, b=1)).whole
    assert (whole.wins, whole.ties, whole.inconsistent, whole.losses) == (5, 3, 2, 1)
    assert (whole.n_pairs, whole.n_undecided) == (11, 0)
    assert whole.rate.value == pytest.approx((5 + 5 / 2) / 11)
    assert whole.p == pytest.approx(2 * (1 + 6) / 2**6)


def test_undecided_pairs_are_left_out_of_the_rate_and_shown_as_bounds() -> None:
    found = summed(several(a=3, b=1, open=4))
    assert found.whole.rate.value == 0.75
    assert found.whole.bounds == (3 / 8, 7 / 8)
    assert found.failures == {"unreadable": 4}
    assert found.failure_messages == {"unreadable": "no verdict"}


def test_errors_of_the_systems_under_test_are_no_comparisons() -> None:
    found = summed(several(a=2, error=3))
    assert (found.n_errors, found.whole.n_pairs) == (3, 2)


def test_nothing_judged_is_undefined_and_no_decision() -> None:
    found = summed([])
    assert isnan(found.whole.rate.value)
    assert isnan(found.flip_rate.value)
    assert (found.whole.p, found.position, found.whole.bounds) == (None, None, (0.0, 1.0))
    assert found.decision.reason == "no pair was judged in both orders"


def test_repeats_of_a_case_count_as_one_case() -> None:
    once = summed(several(a=6, b=2)).whole
    thrice = summed([one for one in several(a=6, b=2) for _ in range(3)]).whole
    assert (thrice.wins, thrice.n_cases) == (18, 8)
    assert (thrice.rate.low, thrice.rate.high) == (once.rate.low, once.rate.high)
    assert thrice.p == once.p


def test_criteria_are_adjusted_for_how_many_there_are() -> None:
    pairs = []
    for k in range(8):
        case = f"c{k}"
        answers = [*said("a", case), *said("a", case, criterion="accuracy")]
        pairs.append(JudgedPair(compared("a", case).pair, concluded(case, answers)))
    found = summed(pairs)
    assert found.criteria["accuracy"].wins == 8
    assert found.criteria["accuracy"].p_adjusted == found.criteria["accuracy"].p
    assert found.whole.p_adjusted is None


def test_tags_and_strata_have_figures_of_their_own() -> None:
    pairs = [
        compared("a", "c0", tags=["x"], stratum="complex"),
        compared("b", "c1", tags=["x", "y"], stratum="simple"),
    ]
    found = summed(pairs)
    assert list(found.strata) == ["simple", "complex"]
    assert (found.tags["x"].n_pairs, found.tags["y"].losses) == (2, 1)


def test_a_longer_side_wins_less_at_equal_length() -> None:
    rng = random.Random(4)
    pairs = []
    for k in range(80):
        longer = rng.random() < 0.7
        lengths = (30 + rng.randrange(9), 10) if longer else (10, 30 + rng.randrange(9))
        wins = rng.random() < (0.9 if longer else 0.3)
        texts = "x" * lengths[0], "y" * lengths[1]
        pairs.append(compared("a" if wins else "b", f"c{k}", texts=texts))
    found = summed(pairs)
    assert found.length_controlled is not None
    assert found.length_controlled.value < found.whole.rate.value
    assert found.length_controlled.raw == pytest.approx(found.whole.rate.value)


def test_equal_lengths_leave_nothing_to_control_for_and_it_is_said() -> None:
    found = summed(several(a=3, b=2))
    assert found.length_controlled is None
    assert "does not vary" in str(found.length_reason)


def test_the_side_with_the_higher_scores_is_kept_beside_the_decision() -> None:
    pair = compared("a").pair
    scores = {"raw_first": 8, "raw_second": 8}
    turned = [one.model_copy(update=scores) for one in said("a", "c")]
    level = JudgedPair(pair, concluded("c", turned))
    higher = JudgedPair(pair, level.comparison.model_copy(update={"raw_a": 5.0, "raw_b": 9.0}))
    assert summed([level]).raw_winner == "tie"
    assert (summed([higher]).raw_winner, summed([higher]).raw_b) == ("b", 9.0)
    assert summed(several(a=1)).raw_winner is None


def test_money_and_calls_are_counted_once_for_each_reply() -> None:
    usage = Usage(input_tokens=10, output_tokens=2)
    bought = said("a", "c", n_calls=1, cost_usd=0.5, reply_key="k1", usage=usage, model="m")
    owned = said("a", "c", criterion="accuracy", n_calls=1, cached=True, cost_usd=0, price_usd=0.25)
    found = summed([JudgedPair(compared("a").pair, concluded("c", [*bought, *owned]))])
    assert (found.spent.n_replies, found.spent.n_cached) == (4, 2)
    assert (found.spent.cost_usd, found.spent.saved_usd) == (1.0, 0.5)
    assert (found.spent.input_tokens, found.spent.output_tokens) == (20, 4)
    assert (found.judges, found.models) == (("fake",), ("m",))


def test_a_judge_that_prefers_a_place_is_flagged_and_its_lean_has_an_interval() -> None:
    found = summed(several(a=10, second=10))
    assert found.position is not None
    assert found.position.value == -0.25
    assert found.position.high < 0
    assert found.flags == ("position_bias",)
    assert found.flip_rate.value == 0.5


@pytest.mark.no_cover
@pytest.mark.parametrize(("shares", "seed"), [((0.7, 0.0), 1), ((0.5, 0.2), 2)])
def test_the_interval_covers_the_true_strength_at_its_nominal_rate(
    shares: tuple[float, float], seed: int
) -> None:
    rng = random.Random(seed)
    win, tie = shares
    made = {o: [compared(o, f"c{k}") for k in range(N_CASES)] for o in ("a", "tie", "b")}

    @cache
    def covers(*draws: str) -> bool:
        rate = summed(made[outcome][k] for k, outcome in enumerate(draws)).whole.rate
        return rate.low <= win + tie / 2 <= rate.high

    covered = 0
    for _ in range(N_SIMULATIONS):
        draws = rng.choices(("a", "tie", "b"), (win, tie, 1 - win - tie), k=N_CASES)
        covered += covers(*sorted(draws))  # which case came to what does not matter
    assert 0.93 <= covered / N_SIMULATIONS <= 0.975


def test_a_mirrored_comparison_is_the_mirrored_result() -> None:
    rng = random.Random(7)
    outcomes = rng.choices(["a", "b", "tie", "open", "first"], (5, 2, 1, 1, 1), k=60)
    there = summed(compared(o, f"c{k}") for k, o in enumerate(outcomes))
    back = summed(compared(MIRRORED.get(o, o), f"c{k}") for k, o in enumerate(outcomes))
    assert (there.whole.wins, there.whole.losses) == (back.whole.losses, back.whole.wins)
    assert there.whole.rate.value == pytest.approx(1 - back.whole.rate.value, abs=1e-12)
    assert there.whole.bounds[0] == pytest.approx(1 - back.whole.bounds[1], abs=1e-12)
    assert there.decision.winner == MIRRORED.get(str(back.decision.winner))
    assert there.decision.n_to_decide == back.decision.n_to_decide
