from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st
from scipy.special import bdtr, betainc, betaincinv, fdtrc, fdtri, stdtr, stdtrit

from judgekit.stats.quantiles import (
    beta_cdf,
    beta_quantile,
    binomial_cdf,
    f_quantile,
    f_tail,
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


@pytest.mark.parametrize("df", [0.5, 1, 7.3, 20, 499, 501, 1e6])
@pytest.mark.parametrize("t", [0.0, 1e-6, 0.5, -2.0, 40.0])
def test_the_t_tail_is_that_of_scipy(t: float, df: float) -> None:
    assert t_p_value(t, df) == pytest.approx(2 * stdtr(df, -abs(t)), rel=1e-10)


@pytest.mark.parametrize("n", [1, 2, 30, 500, 501])
@pytest.mark.parametrize("p", [0.001, 0.3, 0.5, 0.97])
def test_the_binomial_distribution_is_that_of_scipy(n: int, p: float) -> None:
    for k in {0, 1, n // 3, n - 1, n}:
        assert binomial_cdf(k, n, p) == pytest.approx(bdtr(k, n, p), rel=1e-10)
    assert (binomial_cdf(-1, n, p), binomial_cdf(n + 1, n, p)) == (0, 1)


@pytest.mark.parametrize("a", [0.5, 1, 3, 120, 400])
@pytest.mark.parametrize("b", [0.5, 1, 8.5, 99, 600])
@pytest.mark.parametrize("p", [1e-4, 0.025, 0.5, 0.995])
def test_the_beta_distribution_is_that_of_scipy(a: float, b: float, p: float) -> None:
    x = beta_quantile(a, b, p)
    assert x == pytest.approx(betaincinv(a, b, p), rel=1e-10)
    assert beta_cdf(a, b, x, 1 - x) == pytest.approx(betainc(a, b, x), rel=1e-10)


@pytest.mark.parametrize("df1", [1, 2.5, 40, 600])
@pytest.mark.parametrize("df2", [1, 3.5, 90])
@pytest.mark.parametrize("p", [0.5, 0.95, 0.999])
def test_the_f_distribution_is_that_of_scipy(df1: float, df2: float, p: float) -> None:
    f = f_quantile(p, df1, df2)
    assert f == pytest.approx(fdtri(df1, df2, p), rel=1e-9)
    assert f_tail(f, df1, df2) == pytest.approx(fdtrc(df1, df2, f), rel=1e-10)


def test_beyond_the_ends_there_is_nothing_and_without_a_statistic_no_tail() -> None:
    assert (beta_cdf(2, 3, 0, 1), beta_cdf(2, 3, 1, 0)) == (0, 1)
    assert (f_tail(0, 3, 4), f_tail(math.inf, 3, 4), t_p_value(math.inf, 4)) == (1, 0, 0)
    assert math.isnan(f_tail(math.nan, 3, 4))
    assert math.isnan(beta_cdf(2, 3, math.nan, math.nan))
