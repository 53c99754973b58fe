from __future__ import annotations

import math

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.confidence import expected_score, pool_logit, vote_confidence


def test_votes_by_hand() -> None:
    found = vote_confidence([1, 1, 2, None], [1, 2, 3, 4])
    assert (found.agreement, found.pair_agreement) == pytest.approx((2 / 3, 1 / 3))
    entropy = -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3))
    assert found.entropy == pytest.approx(entropy)
    assert found.normalized == pytest.approx(1 - entropy / math.log(4))
    assert (found.mode, found.n, found.n_missing) == ((1,), 3, 1)


def test_votes_that_agree_and_votes_that_do_not() -> None:
    assert vote_confidence(["a"] * 3, ["a", "b"]).normalized == 1
    assert vote_confidence(["b", "a"], ["a", "b"]).mode == ("a", "b")
    assert vote_confidence(["b", "a"], ["a", "b"]).normalized == pytest.approx(0)
    assert math.isnan(vote_confidence(["a"], ["a", "b"]).pair_agreement)


def test_votes_have_to_be_on_a_scale() -> None:
    with pytest.raises(ValueError, match="'c' is not on the scale"):
        vote_confidence(["c"], ["a", "b"])
    with pytest.raises(ValueError, match="two different labels"):
        vote_confidence(["a"], ["a"])
    with pytest.raises(NotEnoughDataError, match="no votes"):
        vote_confidence([None], ["a", "b"])


def test_tokens_that_are_scores_are_made_to_sum_to_one() -> None:
    """Mass .5 on 1, .25 on 3, the rest on words: mean 5/3; the rest could add 1 to 3."""
    found = expected_score({"1": math.log(0.5), " 3": math.log(0.25), "So": -2.0}, [1, 2, 3])
    assert (found.value, found.mass, found.mode) == pytest.approx((5 / 3, 0.75, 1))
    assert (found.low, found.high) == pytest.approx((1.25 + 0.25, 1.25 + 0.75))
    assert dict(found.probabilities)[2] == 0
    assert found.note == "25% of the mass lies on other tokens"


def test_tokens_without_a_score_have_no_mean() -> None:
    found = expected_score({"So": -0.1}, [1, 2])
    assert math.isnan(found.value)
    assert (found.reason, found.low, found.high) == ("no token is a score of the scale", 1, 2)
    with pytest.raises(ValueError, match="above 0"):
        expected_score({"1": 0.5}, [1, 2])
    with pytest.raises(ValueError, match="two different scores"):
        expected_score({"1": -0.5}, [1])


@settings(max_examples=40)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_pooled_odds_lie_between_and_turn_with_the_question(probs: list[float]) -> None:
    found = pool_logit(probs).value
    assert min(probs) - 2e-6 <= found <= max(probs) + 2e-6
    assert pool_logit([1 - p for p in probs]).value == pytest.approx(1 - found)


def test_a_weight_counts_as_repeats_and_missing_ones_not() -> None:
    assert pool_logit([0.9, 0.5], [2, 1]).value == pytest.approx(pool_logit([0.9, 0.9, 0.5]).value)
    assert pool_logit([0.9, None, math.nan]).value == pytest.approx(0.9)
    assert pool_logit([None]).reason == "no probability with a weight"
    with pytest.raises(ValueError, match="a probability lies outside"):
        pool_logit([1.5])
    with pytest.raises(ValueError, match="a weight of 0 or more"):
        pool_logit([0.5], [-1])
