from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats as oracle

from judgekit.errors import NotEnoughDataError
from judgekit.stats.method_comparison import CorrelationMethod, correlation, grouped_correlation
from tests.stats.simulation import covers_at_its_level

METHODS = get_args(CorrelationMethod)
PAIRS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=15)


def brute_tau_b(a: list[int], b: list[int]) -> float:
    pairs = [(x - v, y - w) for i, (x, y) in enumerate(zip(a, b, strict=True))
             for v, w in zip(a[:i], b[:i], strict=True)]  # fmt: skip
    score = sum(np.sign(x) * np.sign(y) for x, y in pairs)
    free = [sum(d[side] != 0 for d in pairs) for side in (0, 1)]
    return float(score / math.sqrt(free[0] * free[1])) if all(free) else math.nan


@settings(max_examples=25)
@given(PAIRS)
def test_kendalls_tau_counts_pairs(pairs: list[tuple[int, int]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    assert correlation(a, b, "kendall").value == pytest.approx(brute_tau_b(a, b), nan_ok=True)


@settings(max_examples=25)
@given(PAIRS, st.sampled_from(METHODS))
def test_a_correlation_is_symmetric_and_turns_with_a_side(
    pairs: list[tuple[int, int]], method: CorrelationMethod
) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    found = correlation(a, b, method).value
    assert correlation(b, a, method).value == pytest.approx(found, nan_ok=True)
    assert correlation(a, [-y for y in b], method).value == pytest.approx(-found, nan_ok=True)


def test_ties_share_their_rank() -> None:
    a, b = [1, 1, 2, 3, 5], [2, 1, 2, 5, 5]
    want = oracle.spearmanr(a, b).statistic
    assert correlation(a, b, "spearman").value == pytest.approx(want)
    c = oracle.kendalltau(a, b, variant="c").statistic
    assert correlation(a, b, "kendall-c").value == pytest.approx(c)


@pytest.mark.parametrize("n_levels", [40, 1_600], ids=["few levels", "as many levels as items"])
def test_kendalls_tau_of_many_items_equals_scipys(n_levels: int) -> None:
    rng = np.random.default_rng(3)
    a = rng.permutation(np.arange(1_600) % n_levels).astype(float)
    b = a + rng.integers(0, n_levels, 1_600)
    want = oracle.kendalltau(a, b).statistic
    assert correlation(list(a), list(b), "kendall").value == pytest.approx(want, abs=1e-12)


def test_float_noise_breaks_no_tie() -> None:
    noisy = [0.1 + 0.2, 0.3, 0.4, 0.5]
    assert correlation(noisy, [1, 1, 2, 3], "spearman").value == pytest.approx(1)


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_side_has_no_correlation(method: CorrelationMethod) -> None:
    found = correlation([2, 2, 2], [1, 2, 3], method)
    assert math.isnan(found.value)
    assert found.reason == "one side is constant"


def test_a_perfect_or_a_small_sample_has_no_interval() -> None:
    assert "spread cannot be seen" in (
        correlation([1, 2, 3, 4], [2, 4, 6, 8], "pearson").reason or ""
    )
    assert correlation([1, 2, 3], [1, 3, 2]).reason == "3 items only; an interval needs 4"
    few = correlation([1, 2, 3, 4], [1, 3, 2, 4], "kendall")
    assert few.reason == "4 items only; an interval needs 5"
    assert few.note == "4 items only: the interval is rough"


def test_what_cannot_be_correlated_is_refused() -> None:
    with pytest.raises(ValueError, match="no correlation is called 'phi'"):
        correlation([1, 2], [1, 2], "phi")  # type: ignore[arg-type] # the error is tested
    with pytest.raises(NotEnoughDataError, match="two items"):
        correlation([1, None], [1, 2])


@pytest.mark.no_cover
@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_correlations_cover_at_their_level(method: CorrelationMethod) -> None:
    rng, rho = np.random.default_rng(1), 0.6
    truth = {
        "pearson": rho,
        "spearman": 6 / math.pi * math.asin(rho / 2),
        "kendall": 2 / math.pi * math.asin(rho),
    }[method]
    found = []
    for _ in range(400):
        x = rng.normal(size=40)
        y = rho * x + math.sqrt(1 - rho * rho) * rng.normal(size=40)
        found.append(correlation(x.tolist(), y.tolist(), method))
    assert covers_at_its_level(found, truth)


def test_a_group_without_variation_is_left_out_of_the_mean() -> None:
    a = [1, 2, 3, 1, 2, 3, 5, 5, 5, 1]
    b = [1, 2, 3, 3, 1, 2, 1, 2, 3, None]
    found = grouped_correlation(a, b, [*"xxxyyyzzz", "w"], "pearson")
    assert (found.n, found.n_skipped, found.n_missing) == (2, 2, 1)
    assert found.value == pytest.approx((1 - 0.5) / 2)


def test_groups_that_all_lack_variation_have_no_mean() -> None:
    found = grouped_correlation([1, 1], [1, 2], ["x", "x"])
    assert math.isnan(found.value)
    assert found.reason == "in every group one side is constant"
    with pytest.raises(NotEnoughDataError, match="no group"):
        grouped_correlation([], [], [])
    with pytest.raises(ValueError, match="2 and 2 scores, but 1"):
        grouped_correlation([1, 2], [1, 2], ["x"])


@pytest.mark.no_cover
def test_the_mean_over_groups_covers_at_its_level() -> None:
    rng, groups = np.random.default_rng(2), np.repeat(np.arange(20), 8).tolist()
    sample = rng.normal(size=(4000, 2, 8))
    sample[:, 1] = 0.6 * sample[:, 0] + 0.8 * sample[:, 1]
    truth = np.mean([np.corrcoef(x)[0, 1] for x in sample])
    found = []
    for _ in range(200):
        x = rng.normal(size=160)
        y = 0.6 * x + 0.8 * rng.normal(size=160)
        found.append(grouped_correlation(x.tolist(), y.tolist(), groups, "pearson"))
    assert covers_at_its_level(found, float(truth))


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(1, 5), st.integers(1, 5)), min_size=1),
    st.sampled_from(METHODS),
)
def test_groups_are_correlated_as_each_would_be_alone(
    rows: list[tuple[int, int, int]], method: CorrelationMethod
) -> None:
    groups, a, b = ([row[place] for row in rows] for place in range(3))
    alone = []
    for group in dict.fromkeys(groups):
        of_group = [(x, y) for name, x, y in rows if name == group]
        if len({x for x, _ in of_group}) > 1 and len({y for _, y in of_group}) > 1:
            x, y = ([pair[side] for pair in of_group] for side in (0, 1))
            one = correlation(x, y, method)
            alone.append(one.value)
    found = grouped_correlation(a, b, groups, method)
    assert found.n == len(alone)
    assert found.value == pytest.approx(sum(alone) / len(alone) if alone else math.nan, nan_ok=True)
