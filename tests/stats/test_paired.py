from __future__ import annotations

import math
from itertools import product
from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats as oracle

from judgekit.errors import NotEnoughDataError
from judgekit.stats.paired import (
    PairedDifference,
    amount_difference,
    clustered_win_rate,
    paired_difference,
    paired_proportions,
    pass_rate_difference,
    prob_superior,
    win_rate,
)
from tests.stats.simulation import covers_at_its_level, covers_at_least

PAIRS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=30)
COUNTS = st.tuples(*[st.integers(0, 40)] * 4).filter(any)


def test_a_paired_difference_by_hand() -> None:
    """d = 1, 0, -1, 2: m = 2/5, s^2 = (6 + 1 - 5 * .16) / 4 = 1.55, t(3) = 3.182446."""
    found = paired_difference([1, 2, 3, 1], [2, 2, 2, 3])
    half = 3.182446 * math.sqrt(1.55 / 5)
    assert found.value == 0.5
    assert (found.low, found.high) == pytest.approx((0.4 - half, 0.4 + half), abs=1e-6)
    assert found.p_value == 12 / 16  # sums of flips: only +-0 (2 of 8 and its mirror) are nearer
    assert found.p_method == "sign-flip"


@given(PAIRS)
def test_swapping_the_variants_changes_the_sign(pairs: list[tuple[int, int]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    forth, back = paired_difference(a, b), paired_difference(b, a)
    assert forth.value == -back.value
    assert (forth.low, forth.p_value) == pytest.approx((-back.high, back.p_value), nan_ok=True)


@given(PAIRS)
def test_a_paired_interval_holds_its_value_and_has_a_width(pairs: list[tuple[int, int]]) -> None:
    found = paired_difference([x for x, _ in pairs], [y for _, y in pairs])
    assert found.low <= found.value <= found.high
    assert found.low < found.high


@settings(max_examples=60)
@given(PAIRS, st.integers(2, 3))
def test_repeating_every_pair_fakes_no_certainty(pairs: list[tuple[int, int]], times: int) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    once = paired_difference(a, b)
    often = paired_difference(a * times, b * times, clusters=[*range(len(a))] * times)
    assert (often.low, often.high, often.n) == pytest.approx((once.low, once.high, once.n))
    assert often.p_value == pytest.approx(once.p_value, nan_ok=True)


def test_the_p_of_enough_pairs_is_that_of_the_paired_t_test() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=20), rng.normal(0.4, 1, 20)
    found = paired_difference(a.tolist(), b.tolist())
    assert found.p_method == "t"
    assert found.p_value == pytest.approx(oracle.ttest_rel(b, a).pvalue)


def test_the_p_of_few_pairs_counts_every_flip() -> None:
    d = [0.3, -0.1, 0.7, 0.4]
    reached = [
        abs(sum(s * v for s, v in zip(signs, d, strict=True))) >= sum(d) - 1e-9
        for signs in product((1, -1), repeat=4)
    ]
    assert paired_difference([0] * 4, d).p_value == sum(reached) / 16


def test_equal_differences_are_told_by_flips_not_by_an_infinite_t() -> None:
    found = paired_difference([1.0] * 20, [2.0] * 20)
    assert found.p_value == 2**-19
    assert found.low < 1 < found.high


def test_float_noise_is_no_difference() -> None:
    found = paired_difference([0.3] * 20, [0.1 + 0.2] * 20)
    assert (found.value, found.sd) == (0, 0)
    assert math.isnan(found.p_value)
    assert found.note == "no item differs: p is undefined"


def test_a_case_with_a_repeat_on_each_side_is_paired_though_repeats_are_missing() -> None:
    found = paired_difference(
        [1, None, 3, 2], [None, 2, 4, None], clusters=["x", "x", "y", "z"], step=0.5
    )
    assert (found.n, found.n_missing) == (2, 3)
    assert found.value == 1


def test_pairing_gains_what_the_items_have_in_common() -> None:
    assert paired_difference([1, 2, 3, 4], [2, 3, 4, 5]).pairing_gain == 1
    assert paired_difference([1, 2, 3], [3, 2, 1]).pairing_gain == pytest.approx(-1)
    assert math.isnan(paired_difference([1, 1], [1, 1]).pairing_gain)


def test_one_item_has_a_difference_but_no_interval() -> None:
    found = paired_difference([1], [3])
    assert (found.value, found.reason) == (2, "one item only")
    assert math.isnan(found.low)
    assert math.isnan(found.sd)


def test_what_is_not_paired_is_refused() -> None:
    with pytest.raises(ValueError, match="2 scores of A, but 1 of B"):
        paired_difference([1, 2], [1])
    with pytest.raises(ValueError, match="step is 0"):
        paired_difference([1], [1], step=0)
    with pytest.raises(NotEnoughDataError, match="both variants"):
        paired_difference([1, math.nan], [None, 2])


def test_a_difference_of_amounts_is_not_drawn_to_zero() -> None:
    found = amount_difference([100, 200, 300, 400], [5101, 5200, 5299, 5400])
    assert found.value == 5000
    assert found.low == pytest.approx(10_000 - found.high)
    # By hand: d - 5000 is 1, 0, -1, 0 with sd sqrt(2/3); pseudo-items at half of it squared twice:
    # s^2 = (2 + 2/3) / 4, and t(0.975, 3) = 3.182 over sqrt(5).
    assert found.high - 5000 == pytest.approx(3.18245 * math.sqrt((2 + 2 / 3) / 4 / 5), rel=1e-5)


def test_a_difference_of_amounts_without_variation_has_no_interval() -> None:
    found = amount_difference([1, 2, 3], [11, 12, 13])
    assert (found.value, math.isnan(found.low), found.reason) == (10, True, "no variation")
    alone = amount_difference([1], [4])
    assert (alone.value, alone.reason) == (3, "one observation only")


@given(PAIRS, st.floats(0.001, 1000), st.integers(-5000, 5000))
def test_amounts_in_another_unit_have_the_same_interval(
    pairs: list[tuple[int, int]], unit: float, shift: int
) -> None:
    """Seconds or milliseconds: the interval scales, and moves with the amounts."""
    a, b = zip(*pairs, strict=True)
    plain = amount_difference(a, b)
    other = amount_difference([x * unit for x in a], [(y + shift) * unit for y in b])
    for end in ("value", "low", "high"):
        expected = (getattr(plain, end) + shift) * unit
        assert getattr(other, end) == pytest.approx(expected, rel=1e-6, abs=1e-6, nan_ok=True)


@pytest.mark.no_cover
@pytest.mark.parametrize("n", [12, 40])
def test_the_interval_of_amounts_covers_far_from_zero(n: int) -> None:
    rng = np.random.default_rng(8)
    draws = rng.normal(5000, 300, (400, n)).tolist()
    assert covers_at_its_level([amount_difference([0] * n, d) for d in draws], 5000)


@pytest.mark.no_cover
@pytest.mark.parametrize("n", [20, 50])
def test_the_paired_interval_covers_when_hardly_an_item_differs(n: int) -> None:
    rng = np.random.default_rng(4)
    draws = rng.choice([0, 1, -1], (500, n), p=[0.9, 0.08, 0.02]).tolist()
    assert covers_at_least([paired_difference([0] * n, d) for d in draws], 0.06)


@pytest.mark.no_cover
def test_the_paired_interval_of_repeated_cases_covers_at_its_level() -> None:
    rng, names = np.random.default_rng(6), np.repeat(np.arange(25), 3).tolist()
    found = []
    for _ in range(400):
        a = np.repeat(rng.normal(0, 2, 25), 3)
        b = a + np.repeat(rng.normal(0.5, 1, 25), 3) + rng.normal(0, 1, 75)
        found.append(paired_difference(a.tolist(), b.tolist(), clusters=names))
    assert covers_at_its_level(found, 0.5)


@given(COUNTS)
def test_a_changed_pass_rate_changes_its_sign_with_the_sides(c: tuple[int, ...]) -> None:
    forth = paired_proportions(c[0], c[1], c[2], c[3])
    back = paired_proportions(c[0], c[2], c[1], c[3])
    assert forth.value == -back.value
    assert forth.low == pytest.approx(-back.high)
    assert forth.p_b_better == pytest.approx(1 - back.p_b_better)
    assert -1 <= forth.low < forth.high <= 1


def test_a_changed_pass_rate_by_hand() -> None:
    """3 only A, 1 only B of 8: a = .4, b = .2, se^2 = (.6 - .04) / 10."""
    found = paired_proportions(2, 3, 1, 2)
    half = 1.959963985 * math.sqrt(0.056)
    assert (found.low, found.high) == pytest.approx((-0.2 - half, -0.2 + half))
    assert (found.p_exact, found.p_mid) == pytest.approx((10 / 16, 6 / 16))
    assert found.p_value == found.p_mid
    assert found.p_b_better == pytest.approx(1 - 26 / 32)  # 4 or 5 heads of 5 less: I_1/2(2, 4)


def test_counts_of_cases_have_to_be_counts() -> None:
    with pytest.raises(ValueError, match="negative"):
        paired_proportions(1, -1, 0, 0)
    with pytest.raises(NotEnoughDataError, match="no case"):
        paired_proportions(0, 0, 0, 0)


def test_the_change_of_a_pass_rate_covers_at_its_level() -> None:
    rng = np.random.default_rng(7)
    draws = rng.multinomial(60, [0.5, 0.1, 0.2, 0.2], 800).tolist()
    assert covers_at_its_level([paired_proportions(*draw) for draw in draws], 0.1)


def test_outcomes_are_counted_into_pairs() -> None:
    found = pass_rate_difference([1, 1, 0, 0, None], [1, 0, 1, 0, 1])
    assert found.n_missing == 1
    assert (found.low, found.high) == pytest.approx(
        (paired_proportions(1, 1, 1, 1).low, paired_proportions(1, 1, 1, 1).high)
    )


def test_outcomes_of_repeated_cases_are_averaged() -> None:
    found = pass_rate_difference([1, 0, 0, 0], [1, 1, 1, 0], clusters=["x", "x", "y", "y"])
    assert isinstance(found, PairedDifference)
    assert (found.value, found.n) == (0.5, 2)
    assert 0 < found.p_value <= 1


def test_outcomes_have_to_be_outcomes() -> None:
    with pytest.raises(ValueError, match="neither 0 nor 1"):
        pass_rate_difference([0.5], [1])
    with pytest.raises(ValueError, match="each pair needs its case"):
        pass_rate_difference([1, 0], [1, 0], clusters=["x"])


@given(COUNTS)
def test_a_win_rate_mirrors_and_has_a_width(c: tuple[int, ...]) -> None:
    counts = (c[0] + 1, c[1], c[2])
    forth, back = win_rate(*counts), win_rate(*counts[::-1])
    assert forth.value == pytest.approx(1 - back.value)
    assert forth.low == pytest.approx(1 - back.high)
    assert 0 <= forth.low <= forth.value <= forth.high <= 1
    assert forth.low < forth.high


def test_a_win_rate_of_one_kind_has_no_error_but_an_interval() -> None:
    sure = win_rate(5, 0, 0)
    assert math.isnan(sure.se)
    assert (sure.value, sure.high) == (1, 1)
    assert 0.4 < sure.low < 0.9
    assert win_rate(0, 5, 0).p_sign == 1


def test_counts_of_comparisons_have_to_be_counts() -> None:
    with pytest.raises(ValueError, match="negative"):
        win_rate(1, -1, 0)
    with pytest.raises(NotEnoughDataError, match="no comparison"):
        win_rate(0, 0, 0)


@given(st.tuples(*[st.integers(0, 12)] * 3).filter(any))
def test_one_comparison_a_prompt_is_the_plain_win_rate(counts: tuple[int, int, int]) -> None:
    wins, ties, losses = counts
    scores = [1.0] * wins + [0.5] * ties + [0.0] * losses
    clustered, plain = clustered_win_rate(scores, range(len(scores))), win_rate(*counts)
    assert (clustered.low, clustered.high) == pytest.approx((plain.low, plain.high))
    assert (clustered.se, clustered.net) == pytest.approx((plain.se, plain.net), nan_ok=True)
    assert clustered.p_sign == plain.p_sign


def test_a_clustered_win_rate_needs_scores() -> None:
    with pytest.raises(NotEnoughDataError, match="no comparison"):
        clustered_win_rate([None], ["x"])
    with pytest.raises(ValueError, match="score lies outside"):
        clustered_win_rate([3], ["x"])


@pytest.mark.parametrize("shares", [(0.45, 0.3, 0.25), (0.1, 0.85, 0.05)])
def test_the_win_rate_covers_at_its_level(shares: tuple[float, ...]) -> None:
    draws = np.random.default_rng(8).multinomial(50, shares, 800).tolist()
    assert covers_at_its_level([win_rate(*draw) for draw in draws], shares[0] + shares[1] / 2)


def test_the_win_rate_of_several_comparisons_a_prompt_covers_at_its_level() -> None:
    rng, names = np.random.default_rng(9), np.repeat(np.arange(30), 4).tolist()
    found = []
    for _ in range(500):
        rates = rng.beta(3, 2, 30)
        won = rng.random((30, 4)) < rates[:, None]
        found.append(clustered_win_rate(won.astype(float).ravel().tolist(), names))
    assert covers_at_its_level(found, 0.6)


@given(st.tuples(*[st.integers(0, 30)] * 4))
def test_one_of_two_rates_is_the_higher(counts: tuple[int, ...]) -> None:
    k1, n1, k2, n2 = counts[0], counts[0] + counts[1], counts[2], counts[2] + counts[3]
    first, second = float(prob_superior(k1, n1, k2, n2)), float(prob_superior(k2, n2, k1, n1))
    assert first + second == pytest.approx(1)


def test_a_success_against_a_failure_is_five_to_one() -> None:
    """Beta(2, 1) over Beta(1, 2): the integral of 2x (2x - x^2) over [0, 1] is 5/6."""
    assert float(prob_superior(1, 1, 0, 1)) == pytest.approx(5 / 6)
    with pytest.raises(ValueError, match="no counts"):
        prob_superior(2, 1, 0, 1)


@pytest.mark.no_cover
def test_the_change_of_repeated_cases_covers_at_its_level() -> None:
    """B passes a tenth more of each case's three tries."""
    rng, names, found = np.random.default_rng(13), np.repeat(np.arange(60), 3).tolist(), []
    for _ in range(300):
        share = np.repeat(rng.uniform(0.1, 0.9, 60), 3)
        a, b = (rng.random(180) < share + more for more in (0.0, 0.1))
        found.append(pass_rate_difference(a.tolist(), b.tolist(), clusters=names))
    assert covers_at_its_level(found, 0.1)


@pytest.mark.no_cover
@pytest.mark.parametrize("n", [12, 30, 100])
def test_the_interval_for_skewed_differences_covers_lognormal_ones(n: int) -> None:
    """The t interval covers .81, .87 and .91 of them (test below)."""
    draws = np.random.default_rng(5).lognormal(0, 1, (700, n)).tolist()
    found = [paired_difference([0.0] * n, d, step=0.05, ci="skewed") for d in draws]
    assert covers_at_least(found, math.exp(0.5))


@pytest.mark.no_cover
def test_the_t_interval_of_lognormal_differences_covers_too_seldom() -> None:
    draws = np.random.default_rng(5).lognormal(0, 1, (700, 30)).tolist()
    found = [paired_difference([0.0] * 30, d, step=0.05) for d in draws]
    assert not covers_at_least(found, math.exp(0.5))


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=12))
def test_the_interval_for_skewed_differences_holds_that_of_t_and_turns_with_the_sides(
    d: list[int],
) -> None:
    zeros = [0] * len(d)
    plain, skewed = (paired_difference(zeros, d, ci=ci) for ci in ("t", "skewed"))
    assert skewed.low <= plain.low <= plain.high <= skewed.high
    turned = paired_difference(d, zeros, ci="skewed")
    assert (turned.low, turned.high) == pytest.approx((-skewed.high, -skewed.low))


@given(
    st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=12),
    st.sampled_from([0.9, 0.95, 0.99]),
)
def test_no_pass_rate_changes_by_more_than_all(
    pairs: list[tuple[bool, bool]], level: float
) -> None:
    a, b = [float(x) for x, _ in pairs], [float(y) for _, y in pairs]
    for clusters in (None, [n // 2 for n in range(len(pairs))]):
        found = pass_rate_difference(a, b, clusters=clusters, level=level)
        assert isnan(found.low) or -1 <= found.low <= found.value <= found.high <= 1
