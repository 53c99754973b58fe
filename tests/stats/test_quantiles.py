from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st
from scipy.special import stdtrit

from judgekit.stats.quantiles import (
    normal_p_value,
    normal_quantile,
    sign_p_values,
    t_p_value,
    t_quantile,
)


def test_the_known_quantiles() -> None:
    assert normal_quantile(0.95) == pytest.approx(1.959964, abs=1e-6)
    assert t_quantile(0.95, 4) == pytest.approx(2.776445, abs=1e-6)


@given(st.floats(0.01, 0.99), st.integers(1, 200))
def test_a_quantile_and_its_tail_are_inverse(level: float, df: int) -> None:
    assert t_p_value(t_quantile(level, df), df) == pytest.approx(1 - level)
    assert normal_p_value(-normal_quantile(level)) == pytest.approx(1 - level)


def test_without_freedom_or_statistic_there_is_no_tail() -> None:
    assert math.isnan(t_quantile(0.95, 0))
    assert math.isnan(t_p_value(2.0, 0))
    assert math.isnan(t_p_value(math.nan, 3))
    assert math.isnan(normal_p_value(math.nan))


def test_the_sign_test_by_hand() -> None:
    """5 to 1 of 6: 2 (1 + 6) / 64, and the mid-p leaves out half of the 6 on either side."""
    assert sign_p_values(5, 1) == pytest.approx((14 / 64, 8 / 64))
    assert sign_p_values(0, 5) == pytest.approx((2 / 32, 1 / 32))


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_knows_no_sides_and_mid_p_is_never_larger(wins: int, losses: int) -> None:
    exact, mid = sign_p_values(wins, losses)
    assert sign_p_values(losses, wins) == (exact, mid)
    assert 0 < mid <= exact <= 1


def test_an_even_split_or_nothing_decisive_is_no_evidence() -> None:
    assert sign_p_values(4, 4) == pytest.approx((1, 1))
    assert sign_p_values(0, 0) == (1, 1)


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="not negative"):
        sign_p_values(-1, 2)


@pytest.mark.parametrize("df", [0.5, 1, 2, 3, 7.3, 20, 300, 999, 1001, 1e6])
@pytest.mark.parametrize("level", [0.01, 0.5, 0.9, 0.95, 0.999])
def test_the_t_quantile_is_that_of_scipy(level: float, df: float) -> None:
    assert t_quantile(level, df) == pytest.approx(stdtrit(df, (1 + level) / 2), rel=1e-10)
