from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats as oracle

from judgekit.stats.trend import consistent_s, kendall_p_value, kendall_s, theil_sen


@settings(max_examples=40)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=6).filter(lambda y: len(set(y)) > 1))
def test_the_p_is_the_share_of_arrangements_with_ties_too(y: list[int]) -> None:
    s = abs(kendall_s(y))
    reached = [kendall_s(order) >= s for order in permutations(y)]
    assert kendall_p_value(y) == pytest.approx(min(1, 2 * sum(reached) / len(reached)))


@settings(max_examples=40)
@given(st.permutations(range(12)))
def test_the_p_without_ties_is_the_exact_one_of_scipy(y: list[int]) -> None:
    want = oracle.kendalltau(range(12), y, method="exact")
    assert kendall_p_value(y) == pytest.approx(want.pvalue)


def test_a_long_series_is_near_the_exact_law() -> None:
    y = (np.random.default_rng(1).normal(size=61) + np.arange(61) / 60).tolist()
    exact = oracle.kendalltau(range(61), y, method="exact")
    assert kendall_p_value(y) == pytest.approx(exact.pvalue, rel=0.05)


def test_a_series_of_one_value_has_no_p() -> None:
    assert math.isnan(kendall_p_value([0.3, 0.1 + 0.2, 0.3]))


def test_float_noise_is_a_tie() -> None:
    assert kendall_s([0.3, 0.1 + 0.2, 0.5]) == 2


def test_the_s_that_counts_as_a_direction() -> None:
    """All pairs of three and four; P(S >= 8) = 5/120 of five, P(S >= 11) = 20/720 of six."""
    assert [consistent_s(m) for m in (2, 3, 4, 5, 6)] == [1, 3, 6, 8, 11]


def test_the_median_slope_looks_past_missing_steps() -> None:
    assert theil_sen([0, math.nan, 4, 6]) == 2
    assert math.isnan(theil_sen([1]))
