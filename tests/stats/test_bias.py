from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats as oracle

from judgekit.errors import NotEnoughDataError
from judgekit.stats.bias import (
    BiasVerdict,
    bias_verdict,
    perturbation_effect,
    position_bias,
    self_preference,
)
from judgekit.stats.estimate import Estimate
from tests.stats.simulation import covers_at_its_level, covers_at_least

CHOICE = st.sampled_from(["first", "second", "tie"])
PAIRS = st.lists(st.tuples(CHOICE, CHOICE), min_size=2, max_size=20)
TURNED = {"first": "second", "second": "first", "tie": "tie"}


def test_a_judge_who_takes_the_first_slot_is_wholly_biased() -> None:
    found = position_bias(["first"] * 10, ["first"] * 10)
    assert found.high == 0.5  # half of all points is the most that a slot can take
    assert (found.bias, found.consistency, found.both_first) == (0.5, 0, 10)
    assert found.p_value == 2 / 2**10
    assert found.low < found.high


@settings(max_examples=40)
@given(PAIRS)
def test_turning_the_slots_turns_the_bias(pairs: list[tuple[str, str]]) -> None:
    ab, ba = [x for x, _ in pairs], [y for _, y in pairs]
    once = position_bias(ab, ba)
    turned = position_bias([TURNED[x] for x in ab], [TURNED[y] for y in ba])
    assert (turned.bias, turned.low) == pytest.approx((-once.bias, -once.high))
    assert (turned.p_value, turned.consistency) == (once.p_value, once.consistency)
    assert -0.5 <= once.bias <= 0.5


def test_a_pair_without_both_orders_is_counted_out() -> None:
    found = position_bias(["first", None, "tie"], ["second", "first", "tie"], clusters=[*"xyz"])
    assert (found.n, found.n_missing, found.consistency) == (2, 1, 1)
    with pytest.raises(NotEnoughDataError, match="no pair was judged in both"):
        position_bias([None], ["first"])
    with pytest.raises(ValueError, match="'A' is no choice"):
        position_bias(["A"], ["first"])
    with pytest.raises(ValueError, match="1 choices in one order, but 0"):
        position_bias(["first"], [])


@pytest.mark.no_cover
def test_position_bias_covers_at_its_level() -> None:
    """Each order takes the first slot with .6, whatever is shown: bias .1."""
    rng, found = np.random.default_rng(1), []
    for _ in range(400):
        ab, ba = (np.where(rng.random(40) < 0.6, "first", "second").tolist() for _ in range(2))
        found.append(position_bias(ab, ba))
    assert covers_at_its_level(found, 0.1)


def test_an_effect_by_hand() -> None:
    found = perturbation_effect([2, 3, 4, 2], [3, 3, 4, 3], threshold=3)
    assert (found.value, found.flips_up, found.flips_down, found.flip_rate) == (0.5, 2, 0, 0.5)
    assert found.dz == pytest.approx(0.5 / math.sqrt(1 / 3))
    assert found.margin == 0.25


def test_equivalence_is_two_one_sided_tests() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=30), rng.normal(size=30)
    found = perturbation_effect(a.tolist(), b.tolist(), margin=0.7)
    want = max(
        oracle.ttest_1samp(b - a, -0.7, alternative="greater").pvalue,
        oracle.ttest_1samp(b - a, 0.7, alternative="less").pvalue,
    )
    assert found.p_equivalence == pytest.approx(want)
    assert math.isnan(found.flip_rate)
    assert math.isnan(found.p_flip)


def test_scores_that_never_change_are_undefined_not_certain() -> None:
    found = perturbation_effect([3] * 40, [3] * 40, margin=0.5)
    assert math.isnan(found.dz)
    assert math.isnan(found.p_equivalence)
    assert found.low < 0 < found.high
    assert found.verdict == "negligible"


def test_repeats_of_a_case_count_once() -> None:
    found = perturbation_effect([1, 1, 3], [5, 5, 3], threshold=3, clusters=["x", "x", "y"])
    assert (found.n, found.flips_up) == (2, 1)


@pytest.mark.no_cover
def test_an_effect_covers_at_its_level() -> None:
    rng, found = np.random.default_rng(3), []
    for _ in range(400):
        a = rng.normal(3, 1, 30)
        found.append(perturbation_effect(a.tolist(), (a + rng.normal(0.3, 1, 30)).tolist()))
    assert covers_at_its_level(found, 0.3)


@pytest.mark.parametrize(
    ("value", "low", "high", "verdict"),
    [
        (0.5, 0.1, 0.9, "biased"),
        (-0.5, -0.9, -0.1, "biased"),
        (0.1, -0.2, 0.24, "negligible"),
        (0.1, 0.05, 0.15, "negligible"),
        (0.1, -0.2, 0.4, "inconclusive"),
        (0.2, 0.1, 0.3, "inconclusive"),
        (math.nan, math.nan, math.nan, "inconclusive"),
    ],
)
def test_a_verdict_needs_evidence(
    value: float, low: float, high: float, verdict: BiasVerdict
) -> None:
    effect = Estimate(value=value, low=low, high=high, n=9, method="t")
    assert bias_verdict(effect, 0.25) == verdict
    assert verdict in get_args(BiasVerdict)


def test_a_margin_is_positive() -> None:
    with pytest.raises(ValueError, match="more than 0"):
        bias_verdict(Estimate(value=0, low=0, high=0, n=1, method="t"), 0)
    with pytest.raises(ValueError, match="more than 0"):
        perturbation_effect([1], [2], margin=-1)


def test_preferring_oneself_covers_at_its_level() -> None:
    rng = np.random.default_rng(4)
    found = [
        self_preference(int(rng.binomial(50, 0.9)), 50, int(rng.binomial(50, 0.6)), 50)
        for _ in range(400)
    ]
    assert covers_at_least(found, 0.3)
    assert math.isnan(self_preference(0, 0, 5, 9).value)


def test_repeats_of_a_case_are_one_sign() -> None:
    ab, ba = ["first"] * 4 + ["second"] * 6, ["first"] * 4 + ["second"] * 6
    once = position_bias(ab, ba, clusters=range(10))
    assert once.p_value == position_bias(ab, ba).p_value
    cases = [case for case in range(10) for _ in range(30)]
    often = position_bias(
        [ab[case] for case in cases], [ba[case] for case in cases], clusters=cases
    )
    assert (often.both_first, often.both_second, often.p_value) == (120, 180, once.p_value)
