from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import numpy as np
import pytest

from judgekit.stats.resample import StatisticName, bootstrap
from tests.stats.simulation import covers_at_its_level, covers_at_least

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES: tuple[StatisticName, ...] = ("mean", "median", "sd")
FUNCTIONS = {"mean": np.mean, "median": np.median, "sd": lambda rows: np.std(rows, ddof=1)}


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("clusters", [None, np.arange(30).tolist(), np.arange(30) // 4])
@pytest.mark.parametrize("n", [29, 30])
def test_a_named_statistic_has_the_interval_of_its_function(
    name: StatisticName, method: str, clusters: Sequence[int] | None, n: int
) -> None:
    x = np.random.default_rng(4).exponential(size=n)
    names = None if clusters is None else clusters[:n]
    found, want = (
        bootstrap(x, statistic, method=method, clusters=names, seed=1)  # type: ignore[arg-type] # a parameter
        for statistic in (name, FUNCTIONS[name])
    )
    assert (found.low, found.high) == pytest.approx((want.low, want.high))


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("clustered", [False, True])
def test_ten_thousand_items_are_resampled_in_little_memory(
    name: StatisticName,
    method: str,
    clustered: bool,  # noqa: FBT001 - drawn
) -> None:
    x = np.random.default_rng(8).normal(size=10_000)
    names = np.repeat(np.arange(1000), 10).tolist() if clustered else None
    tracemalloc.start()
    bootstrap(x, name, method=method, clusters=names, n_resamples=200, seed=1)  # type: ignore[arg-type] # a parameter
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * 2**20


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_the_bootstrap_of_a_median_covers_at_its_level(method: str) -> None:
    """An exponential's median is ln 2."""
    rng = np.random.default_rng(3)
    draws = rng.exponential(size=(400, 81))
    found = [bootstrap(x, "median", method=method, n_resamples=500, rng=rng) for x in draws]  # type: ignore[arg-type] # a parameter
    assert covers_at_its_level(found, float(np.log(2)))


def test_the_bca_bootstrap_of_a_spread_covers_at_its_level() -> None:
    rng = np.random.default_rng(4)
    draws = rng.uniform(size=(300, 80))
    found = [bootstrap(x, "sd", method="bca", n_resamples=400, rng=rng) for x in draws]
    assert covers_at_its_level(found, float(np.sqrt(1 / 12)))


@pytest.mark.parametrize("name", NAMES)
def test_the_bootstrap_of_clusters_covers_near_its_level(name: StatisticName) -> None:
    """Percentiles of few clusters are a little short (statistics of 60 cases of 4)."""
    rng, names = np.random.default_rng(5), np.repeat(np.arange(60), 4).tolist()
    truth = {"mean": 0.0, "median": 0.0, "sd": float(np.sqrt(2))}[name]
    draws = np.repeat(rng.normal(size=(250, 60)), 4, axis=1) + rng.normal(size=(250, 240))
    found = [bootstrap(x, name, clusters=names, n_resamples=300, rng=rng) for x in draws]
    assert covers_at_least(found, truth)
