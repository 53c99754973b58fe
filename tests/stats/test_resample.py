from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from scipy import stats as oracle

from judgekit.errors import NotEnoughDataError
from judgekit.stats.intervals import mean
from judgekit.stats.resample import bootstrap
from tests.stats.simulation import covers_at_its_level, covers_at_least


def spread(x: np.ndarray) -> float:
    return float(np.ptp(x))


def test_the_bootstrap_of_two_values_by_hand() -> None:
    """Means of 0 and 1 resampled: 0, 1/2, 1 with 1/4, 1/2, 1/4, so the 95 % ends are 0 and 1."""
    found = bootstrap([0, 1], "mean", seed=1)
    assert (found.low, found.value, found.high) == (0, 0.5, 1)
    assert (found.n_resamples, found.seed) == (2000, 1)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_the_bootstrap_agrees_with_scipy(method: str) -> None:
    x = np.random.default_rng(1).gamma(2, 1, 60)
    ours = bootstrap(x, "mean", method=method, n_resamples=20_000, seed=2)  # type: ignore[arg-type] # a parameter
    theirs = oracle.bootstrap(
        (x,), np.mean, method=method, n_resamples=20_000, batch=500, rng=np.random.default_rng(3)
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.02)


def test_a_named_statistic_and_its_function_have_the_same_law() -> None:
    x = np.random.default_rng(4).normal(size=101)
    named = bootstrap(x, "median", n_resamples=4000, seed=1)
    called = bootstrap(x, lambda v: float(np.median(v)), n_resamples=4000, seed=2)
    assert (named.low, named.high) == pytest.approx((called.low, called.high), abs=0.06)


def test_many_levels_and_few_levels_have_the_same_law() -> None:
    x = np.random.default_rng(5).integers(1, 6, 200).astype(float)
    few = bootstrap(x, "mean", n_resamples=4000, seed=1)
    many = bootstrap(x + np.arange(200) * 1e-7, "mean", n_resamples=4000, seed=1)
    assert (few.low, few.high) == pytest.approx((many.low, many.high), abs=0.04)


def test_the_same_seed_draws_the_same_and_a_generator_moves_on() -> None:
    x = list(range(30))
    assert bootstrap(x, "sd", seed=3) == bootstrap(x, "sd", seed=3)
    rng = np.random.default_rng(1)
    assert bootstrap(x, "sd", rng=rng).low != bootstrap(x, "sd", rng=rng).low


def test_rows_that_belong_together_stay_together() -> None:
    x = np.arange(20.0)
    found = bootstrap(np.column_stack([x, x]), lambda v: float(np.ptp(v[:, 0] - v[:, 1])), seed=1)
    assert found.value == 0
    assert found.reason == "no variation"


def test_a_row_with_a_hole_is_missing() -> None:
    found = bootstrap(np.array([[1, 2], [3, math.nan], [5, 1]]), lambda v: float(v.sum()), seed=1)
    assert (found.n, found.n_missing, found.value) == (2, 1, 9)


def test_clusters_are_drawn_whole() -> None:
    rng, names = np.random.default_rng(6), np.repeat(np.arange(40), 5).tolist()
    x = np.repeat(rng.normal(size=40), 5) + rng.normal(0, 0.1, 200)
    found = bootstrap(x, "mean", clusters=names, seed=1)
    closed = mean(x.tolist(), clusters=names)
    assert (found.low, found.high) == pytest.approx((closed.low, closed.high), abs=0.05)
    called = bootstrap(x, lambda v: float(v.mean()), clusters=names, method="bca", seed=1)
    assert (called.low, called.high) == pytest.approx((found.low, found.high), abs=0.05)
    assert called.n == 40


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("x", [[4.0] * 6, [3.0], [0.1] * 3])
def test_a_sample_that_does_not_vary_has_no_interval(x: list[float], method: str) -> None:
    found = bootstrap(x, "mean", method=method, seed=1)  # type: ignore[arg-type] # a parameter
    assert found.value == pytest.approx(x[0])
    assert math.isnan(found.low)
    assert found.reason == "no variation"


def test_a_statistic_that_hardly_varies_has_no_interval() -> None:
    found = bootstrap([0.0] * 400 + [1.0], "median", seed=1)
    assert math.isnan(found.high)
    steady = bootstrap([0.0] * 99 + [1.0], lambda v: float(v.mean() > 0.9), seed=1)
    assert steady.reason == "no variation"
    rare = bootstrap([0.0] * 199 + [1.0], lambda v: float(v.sum() > 3.5), seed=1)
    assert rare.reason == "the resampled statistic hardly varies"


def test_bca_without_a_skewness_to_see_has_no_interval() -> None:
    x = [0.0] * 30 + [1.0] * 30
    found = bootstrap(x, lambda v: float(v.mean() > 0.6), method="bca", seed=1)
    assert "undefined" in str(found.reason)
    assert math.isnan(found.low)


def test_resamples_that_leave_the_statistic_undefined_are_counted() -> None:
    def odds(v: np.ndarray) -> float:
        return float(v.sum() / (len(v) - v.sum())) if v.sum() < len(v) else math.nan

    seldom = bootstrap([1.0] * 15 + [0.0] * 5, odds, seed=1)
    assert seldom.n_dropped > 0
    assert seldom.low < seldom.value < seldom.high
    often = bootstrap([1.0] * 19 + [0.0], odds, seed=1)
    assert "undefined on" in str(often.reason)
    assert "on this sample" in str(bootstrap([1.0, 1.0], odds, seed=1).reason)
    assert "on this sample" in str(bootstrap([1.0], "sd", seed=1).reason)


def test_what_cannot_be_resampled_is_refused() -> None:
    with pytest.raises(ValueError, match="and not both"):
        bootstrap([1, 2], "mean")
    with pytest.raises(ValueError, match="100 at least"):
        bootstrap([1, 2], "mean", n_resamples=10, seed=1)
    with pytest.raises(ValueError, match="no statistic is called 'mode'"):
        bootstrap([1, 2], "mode", seed=1)  # type: ignore[arg-type] # what is tested
    with pytest.raises(ValueError, match="no bootstrap is called 'basic'"):
        bootstrap([1, 2], "mean", method="basic", seed=1)  # type: ignore[arg-type] # what is tested
    with pytest.raises(ValueError, match="cluster names"):
        bootstrap([1, 2], "mean", clusters=["x"], seed=1)
    with pytest.raises(ValueError, match="infinite"):
        bootstrap([1, math.inf], "mean", seed=1)
    with pytest.raises(NotEnoughDataError, match="to resample"):
        bootstrap([None], "mean", seed=1)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_the_bootstrap_covers_at_its_level(method: str) -> None:
    rng = np.random.default_rng(7)
    draws = rng.normal(1, 1, (300, 60))
    found = [bootstrap(x, "mean", method=method, n_resamples=500, rng=rng) for x in draws]  # type: ignore[arg-type] # a parameter
    assert covers_at_its_level(found, 1)


def test_a_large_bootstrap_is_small() -> None:
    """10,000 items within 16 MiB; how quick it is, `benchmarks/resampling.py` measures."""
    x = np.random.default_rng(8).normal(size=10_000)
    tracemalloc.start()
    bootstrap(x, "mean", n_resamples=200, seed=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * 2**20


@pytest.mark.parametrize("x", [[], [None], np.zeros((0, 2)), [[math.nan, 1.0]]])
def test_nothing_cannot_be_resampled(x: list[float | None]) -> None:
    with pytest.raises(NotEnoughDataError, match="no observations to resample"):
        bootstrap(x, "mean", seed=1)


@pytest.mark.no_cover
def test_the_bootstrap_of_any_function_of_clustered_rows_covers() -> None:
    """A correlation of .5 over 50 cases of 3 rows that share one half of their noise."""
    rng, names, found = np.random.default_rng(10), np.repeat(np.arange(50), 3).tolist(), []

    def r(rows: np.ndarray) -> float:
        return float(np.corrcoef(rows.T)[0, 1])

    for _ in range(120):
        both = np.repeat(rng.normal(size=(50, 2)), 3, axis=0) + rng.normal(size=(150, 2))
        x = np.column_stack([both[:, 0], 0.5 * both[:, 0] + math.sqrt(0.75) * both[:, 1]])
        found.append(bootstrap(x, r, clusters=names, n_resamples=100, rng=rng))
    assert covers_at_least(found, 0.5)
