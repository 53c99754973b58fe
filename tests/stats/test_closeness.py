from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.agreement_coefficients import coefficient_interval
from judgekit.stats.method_comparison import bland_altman, lin_ccc
from tests.stats.repeated_cases import N_CASES, NAMES, REPEATS, shared
from tests.stats.simulation import band, covers_at_its_level

PAIRS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=20)


def test_concordance_by_hand() -> None:
    """x = 1, 2, 3 against x + 1: 2 * 2/3 / (2/3 + 2/3 + 1) = 4/7, precision 1."""
    found = lin_ccc([1, 2, 3], [2, 3, 4])
    assert found.value == pytest.approx(4 / 7)
    assert (found.precision, found.accuracy) == pytest.approx((1, 4 / 7))


@settings(max_examples=25)
@given(PAIRS)
def test_concordance_is_symmetric_and_bounded(pairs: list[tuple[int, int]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    forth, back = lin_ccc(a, b), lin_ccc(b, a)
    assert (forth.value, forth.low) == pytest.approx((back.value, back.low), nan_ok=True)
    assert math.isnan(forth.value) or -1 <= forth.value <= 1
    assert forth.reason is not None or forth.low < forth.value < forth.high


@settings(max_examples=25)
@given(PAIRS, st.floats(0.5, 3), st.floats(-2, 2))
def test_concordance_does_not_depend_on_the_unit(
    pairs: list[tuple[int, int]], unit: float, origin: float
) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    moved = lin_ccc([unit * x + origin for x in a], [unit * y + origin for y in b])
    assert moved.value == pytest.approx(lin_ccc(a, b).value, nan_ok=True, abs=1e-9)


def test_no_correlation_still_has_an_interval() -> None:
    found = lin_ccc([1, 1, 2, 2], [1, 2, 1, 2])
    assert found.value == 0
    assert found.low < 0 < found.high


def test_concordance_of_constant_raters() -> None:
    assert math.isnan(lin_ccc([3, 3, 3], [3, 3, 3]).value)
    one = lin_ccc([3, 3, 3], [1, 2, 3])
    assert (one.value, one.reason) == (0, "one rater gives one score only")


@pytest.mark.parametrize(
    ("a", "b", "ci", "reason"),
    [
        ([1, 2], [1, 3], "analytic", "two items only"),
        ([1, 2, 3], [1, 2, 3], "analytic", "all items lie on a line"),
        ([1, 2, 3], [1, 2, 3], "jackknife", "its spread cannot be seen"),
        ([1, 2, 3], [1, 2, 2], "none", "no interval was asked for"),
    ],
)
def test_a_concordance_without_interval_says_why(
    a: list[float], b: list[float], ci: str, reason: str
) -> None:
    found = lin_ccc(a, b, ci=ci)  # type: ignore[arg-type] # a parameter's type is str
    assert math.isnan(found.low)
    assert reason in (found.reason or "")


def test_one_pair_is_too_few_for_concordance() -> None:
    with pytest.raises(NotEnoughDataError, match="two items"):
        lin_ccc([1, None], [1, 2])


@pytest.mark.parametrize("ci", ["analytic", "jackknife"])
def test_concordance_covers_at_its_level(ci: str) -> None:
    """Unit variances, correlation .8, shift .5: 1.6 / (2 + .25)."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(200):
        x = rng.normal(size=40)
        y = 0.8 * x + 0.6 * rng.normal(size=40) + 0.5
        found.append(lin_ccc(x.tolist(), y.tolist(), ci=ci))  # type: ignore[arg-type] # as above
    assert covers_at_its_level(found, 1.6 / 2.25)


def test_bias_and_limits_by_hand() -> None:
    """d = 0, 1, 2: mean 1, sd 1; mae 1, rmse sqrt(5/3)."""
    found = bland_altman([1, 2, 3], [1, 3, 5])
    assert (found.bias, found.sd, found.mae) == (1, 1, 1)
    assert found.rmse == pytest.approx(math.sqrt(5 / 3))
    assert found.loa_high == pytest.approx(1 + 1.959964)
    assert found.within_one.value == pytest.approx(2 / 3)
    assert found.trend == pytest.approx(2 / 3)


@settings(max_examples=25)
@given(PAIRS)
def test_swapping_judge_and_human_turns_the_bias(pairs: list[tuple[int, int]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    forth, back = bland_altman(a, b), bland_altman(b, a)
    assert forth.bias == -back.bias
    assert forth.loa_low == pytest.approx(-back.loa_high, nan_ok=True)


def test_a_constant_difference_has_no_interval() -> None:
    found = bland_altman([1, 2, None], [2, 3, 4])
    assert (found.bias, found.reason, found.n_missing) == (1, "the difference does not vary", 1)
    assert math.isnan(found.low)
    assert math.isnan(found.loa_high_interval[0])
    alone = bland_altman([1], [2])
    assert alone.reason == "one item only"
    assert math.isnan(alone.trend)
    with pytest.raises(NotEnoughDataError, match="no item"):
        bland_altman([], [])


@pytest.mark.no_cover
def test_the_bias_and_its_limits_cover_at_their_level() -> None:
    rng = np.random.default_rng(2)
    draws = rng.normal(0.3, 1, (400, 30))
    found = [bland_altman([0.0] * 30, d.tolist()) for d in draws]
    assert covers_at_its_level(found, 0.3)
    upper = [e.loa_high_interval for e in found]
    covered = sum(low <= 0.3 + 1.959964 <= high for low, high in upper) / len(upper)
    assert abs(covered - 0.95) < 0.04


@pytest.mark.no_cover
def test_bias_and_limits_over_cases_cover_at_their_level() -> None:
    rng, found, low, high = np.random.default_rng(11), [], 0, 0
    z, sd = 1.959964, math.sqrt(2)
    for _ in range(300):
        d = 0.3 + shared(rng)
        one = bland_altman([0.0] * len(d), d.tolist(), clusters=NAMES)
        found.append(one)
        low += one.loa_low_interval[0] <= 0.3 - z * sd <= one.loa_low_interval[1]
        high += one.loa_high_interval[0] <= 0.3 + z * sd <= one.loa_high_interval[1]
    assert covers_at_its_level(found, 0.3)
    assert abs(low / 300 - 0.95) <= band(300)
    assert abs(high / 300 - 0.95) <= band(300)
    assert (found[0].n, found[0].n_observations) == (N_CASES, N_CASES * REPEATS)
    assert found[0].within_one.n_clusters == N_CASES


def test_limits_of_two_cases_have_no_interval_when_one_is_single() -> None:
    found = bland_altman([1, 2, 3], [2, 2, 5], clusters=["a", "a", "b"])
    assert found.low < found.value < found.high
    assert math.isnan(found.loa_low_interval[0])
    assert bland_altman([1, 2], [2, 2], clusters=["a", "a"]).reason == "one cluster only"


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=15))
def test_concordance_without_each_item_is_that_of_the_others(pairs: list[tuple[int, int]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    found = lin_ccc(a, b, ci="jackknife")
    if len(pairs) < 4 or found.reason:
        return
    left = [lin_ccc(a[:i] + a[i + 1 :], b[:i] + b[i + 1 :], ci="none").value for i in range(len(a))]
    want = coefficient_interval(found.value, left, level=0.95)
    assert (found.low, found.high) == pytest.approx((want.low, want.high))
