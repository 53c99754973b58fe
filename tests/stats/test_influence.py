"""Smoothed intervals on the data on which the textbook ones fail: ties, ceilings, gross errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, get_args

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.stats.agreement import cohen_kappa, correlation, lin_ccc
from judgekit.stats.agreement_coefficients import (
    Weights,
    category_weights,
    concordance_influence,
    kappa_influence,
    kendall_influence,
    pearson_influence,
    spearman_influence,
)
from tests.stats.simulation import covers_at_least

if TYPE_CHECKING:
    from judgekit.stats.agreement_coefficients import Influence
    from judgekit.stats.estimate import Estimate

LEVELS = (1, 2, 3, 4, 5)

# Points of the normal distribution at which a latent score changes its level.
EVEN = (-0.8416, -0.2533, 0.2533, 0.8416)
CEILING = (-2.0537, -1.6449, -1.2816, -0.5244)
SKEWED = (0.5244, 1.0364, 1.4758, 2.0537)
N_BIG = 100_000

Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]
Statistic = Callable[[list[float], list[float]], "Estimate"]


def rated(rho: float, cuts: tuple[float, ...], gross: float = 0.0) -> Draw:
    """Five-level scores of both; of the judge's, a share may be noise."""

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        latent = rng.normal(size=n)
        other = rho * latent + np.sqrt(1 - rho**2) * rng.normal(size=n)
        human, judge = (1 + np.searchsorted(cuts, side) for side in (latent, other))
        return human, np.where(rng.random(n) < gross, rng.integers(1, 6, n), judge)

    return draw


def heavy_tailed(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A judge without levels, the errors of which have the tails of Student's t(3)."""
    latent = rng.normal(size=n)
    return 1 + np.searchsorted(EVEN, latent), latent + 0.5 * rng.standard_t(3, n)


DATA = {
    "even": rated(0.8, EVEN),
    "ceiling": rated(0.8, CEILING),
    "skewed": rated(0.8, SKEWED),
    "gross errors": rated(0.95, EVEN, 0.1),
    "heavy tails": heavy_tailed,
}


def covers(draw: Draw, statistic: Statistic, n: int, reps: int = 150) -> bool:
    x, y = draw(np.random.default_rng(1), N_BIG)
    truth = statistic(x.tolist(), y.tolist()).value
    rng = np.random.default_rng(2)
    found = [statistic(*(side.tolist() for side in draw(rng, n))) for _ in range(reps)]
    known = [one for one in found if not isnan(one.value)]
    assert len(known) > 0.9 * reps
    assert all(one.low < one.high for one in known), "every coefficient has an interval"
    return covers_at_least(known, truth)


@pytest.mark.no_cover
@pytest.mark.parametrize("n", [12, 30, 100])
@pytest.mark.parametrize("data", DATA)
def test_smoothed_correlations_cover_where_those_of_fisher_do_not(data: str, n: int) -> None:
    for method in ("pearson", "spearman", "kendall"):
        assert covers(DATA[data], partial(correlation, method=method, ci="smoothed"), n), method


@pytest.mark.no_cover
@pytest.mark.parametrize("n", [12, 30, 100])
@pytest.mark.parametrize("data", ["even", "ceiling", "skewed", "gross errors"])
def test_smoothed_kappa_and_concordance_cover(data: str, n: int) -> None:
    for weights in (None, "quadratic"):
        assert covers(
            DATA[data], partial(cohen_kappa, labels=LEVELS, weights=weights, ci="smoothed"), n
        ), weights
    assert covers(DATA[data], partial(lin_ccc, ci="smoothed"), n)


def rare_outliers(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A judge without levels, 5 % of the errors of which are eight times as large."""
    latent = rng.normal(size=n)
    error = 0.5 * rng.normal(size=n) * np.where(rng.random(n) < 0.05, 8, 1)
    return 1 + np.searchsorted(EVEN, latent), latent + error


@pytest.mark.no_cover
@pytest.mark.parametrize("n", [12, 30, 100])
def test_smoothed_rank_correlations_cover_with_rare_outliers(n: int) -> None:
    for method in ("spearman", "kendall"):
        assert covers(rare_outliers, partial(correlation, method=method, ci="smoothed"), n), method


@pytest.mark.no_cover
def test_pearsons_interval_does_not_cover_with_rare_outliers_in_100_outputs() -> None:
    """A limit that the documentation names; samples in which few were drawn do not show them."""
    smoothed = partial(correlation, method="pearson", ci="smoothed")
    assert covers(rare_outliers, smoothed, 30)
    assert not covers(rare_outliers, smoothed, 100)


@pytest.mark.no_cover
@pytest.mark.parametrize("data", ["ceiling", "gross errors"])
def test_fishers_intervals_do_not_cover_such_scores(data: str) -> None:
    for method in ("pearson", "spearman", "kendall"):
        assert not covers(DATA[data], partial(correlation, method=method), 100)


def pass_fail(prevalence: float, kappa: float) -> Draw:
    both = prevalence * prevalence + kappa * prevalence * (1 - prevalence)
    one = prevalence - both

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        cell = rng.choice(4, n, p=[1 - both - 2 * one, one, one, both])
        return cell // 2, cell % 2

    return draw


@pytest.mark.no_cover
@pytest.mark.parametrize("n", [12, 30, 100])
def test_smoothed_kappa_covers_at_92_percent_prevalence(n: int) -> None:
    """The jackknife covers .70, .77 and .95 of kappa .4, and gives 65 % of n = 12 no interval."""
    for kappa in (0.4, 0.7):
        draw = pass_fail(0.92, kappa)
        rng = np.random.default_rng(4)
        found = [
            cohen_kappa(*(side.tolist() for side in draw(rng, n)), labels=(0, 1), ci="smoothed")
            for _ in range(300)
        ]
        assert covers_at_least([one for one in found if not isnan(one.value)], kappa)


def cases(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cases of 1 to 15 outputs; half of a latent score is its case's."""
    names = np.repeat(np.arange(n), rng.integers(1, 16, n))
    latent, noise = (
        (rng.normal(size=n)[names] + rng.normal(size=len(names))) / np.sqrt(2) for _ in range(2)
    )
    judge = 0.8 * latent + 0.6 * noise
    return 1 + np.searchsorted(EVEN, latent), 1 + np.searchsorted(EVEN, judge), names


@pytest.mark.no_cover
@pytest.mark.parametrize("n", [12, 30])
def test_smoothed_intervals_over_cases_cover_where_items_would_not(n: int) -> None:
    x, y, _ = cases(np.random.default_rng(1), 20_000)
    rng = np.random.default_rng(3)
    drawn = [tuple(side.tolist() for side in cases(rng, n)) for _ in range(120)]
    truth = cohen_kappa(x.tolist(), y.tolist(), labels=LEVELS, ci="none").value
    kappas = [
        cohen_kappa(a, b, labels=LEVELS, ci="smoothed", clusters=names) for a, b, names in drawn
    ]
    assert covers_at_least(kappas, truth)
    assert all(one.n == one.n_clusters == n for one in kappas)
    for method in ("pearson", "spearman", "kendall"):
        truth = correlation(x.tolist(), y.tolist(), method).value
        found = [correlation(a, b, method, ci="smoothed", clusters=names) for a, b, names in drawn]
        assert covers_at_least(found, truth), method
    alone = [cohen_kappa(a, b, labels=LEVELS, ci="smoothed") for a, b, _ in drawn]
    assert not covers_at_least(alone, truth)


PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=4, max_size=15)
COEFFICIENTS: dict[str, tuple[Influence, Statistic]] = {
    "pearson": (pearson_influence, partial(correlation, method="pearson")),
    "spearman": (spearman_influence, partial(correlation, method="spearman")),
    "kendall": (kendall_influence, partial(correlation, method="kendall")),
    "concordance": (concordance_influence, partial(lin_ccc, ci="none")),
    **{
        f"kappa, {weights}": (
            partial(kappa_influence, weights=category_weights(range(5), weights)),
            partial(cohen_kappa, labels=range(5), weights=weights, ci="none"),
        )
        for weights in (None, *get_args(Weights))
    },
}


@settings(max_examples=25)
@pytest.mark.parametrize("name", COEFFICIENTS)
@given(pairs=PAIRS)
def test_an_influence_is_the_derivative_in_the_weight_of_a_pair(
    name: str, pairs: list[tuple[int, int]]
) -> None:
    """By brute force: one pair counted a little more, and the coefficient computed again."""
    influence, coefficient = COEFFICIENTS[name]
    x, y = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    n, w = len(x), np.ones(len(x))
    value, found = influence(x, y, w)
    assert value == pytest.approx(coefficient(x.tolist(), y.tolist()).value, nan_ok=True, abs=1e-9)
    if isnan(value):
        return
    step = 1e-6
    for place in range(n):
        more = w + n * step * (np.arange(n) == place)
        slope = (influence(x, y, more)[0] - value) / step * (1 + step)
        assert found[place] == pytest.approx(slope, abs=1e-3)


@settings(max_examples=25)
@given(PAIRS)
def test_a_smoothed_interval_holds_the_value_and_turns_with_a_side(
    pairs: list[tuple[int, int]],
) -> None:
    a, b = ([pair[side] for pair in pairs] for side in (0, 1))
    for method in ("pearson", "spearman", "kendall"):
        found = correlation(a, b, method, ci="smoothed")
        if isnan(found.value):
            assert found.reason == "one side is constant"
            continue
        assert -1 <= found.low <= found.value <= found.high <= 1
        swapped = correlation(b, a, method, ci="smoothed")
        assert (swapped.low, swapped.high) == pytest.approx((found.low, found.high))


def test_perfect_agreement_has_a_smoothed_interval() -> None:
    found = cohen_kappa([1, 2, 3, 4, 5] * 6, [1, 2, 3, 4, 5] * 6, labels=LEVELS, ci="smoothed")
    assert found.value == found.high == pytest.approx(1)
    assert 0.6 < found.low < 0.95


def test_raters_that_give_one_label_have_no_smoothed_interval() -> None:
    found = cohen_kappa([5] * 20, [5] * 20, labels=LEVELS, ci="smoothed")
    assert isnan(found.low)
    assert found.reason is not None
    assert "0/0" in found.reason
    one = correlation([1, 2], [2, 3], "pearson", ci="smoothed", clusters=["c", "c"])
    assert (isnan(one.low), one.reason) == (True, "one case only")


def test_many_different_scores_change_the_error_of_kendalls_tau_by_little() -> None:
    """Beyond 256 different scores they are compared by rank in 256 steps."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=3000)
    y = x + rng.normal(size=3000)
    found = correlation(x.tolist(), y.tolist(), "kendall", ci="smoothed")
    # For a normal sample the standard error of tau is that of Fieller, Hartley & Pearson (1957).
    plain = correlation(x.tolist(), y.tolist(), "kendall")
    assert found.high - found.low == pytest.approx(plain.high - plain.low, rel=0.1)


def test_clusters_need_an_interval_that_respects_them() -> None:
    with pytest.raises(ValueError, match="with clusters give ci='smoothed'"):
        correlation([1, 2, 3], [1, 2, 2], clusters=["a", "a", "b"])
    with pytest.raises(ValueError, match="kendall-c has no smoothed interval"):
        correlation([1, 2, 3], [1, 2, 2], "kendall-c", ci="smoothed")
