from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.stats.resample import NAMED_STATISTICS, ResampledValues, StatisticName, bootstrap
from tests.stats.simulation import covers_at_its_level, covers_at_least

NAMES: tuple[StatisticName, ...] = ("mean", "median", "sd")
ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=2, max_size=20)


@settings(max_examples=60)
@given(ROWS, st.sampled_from(NAMES), st.booleans())
def test_leaving_out_is_the_statistic_of_the_rest(
    rows: list[tuple[int, int]],
    name: StatisticName,
    clustered: bool,  # noqa: FBT001 - drawn
) -> None:
    x = np.array([value for _, value in rows], dtype=float)
    codes = np.unique([case for case, _ in rows], return_inverse=True)[1]
    values = ResampledValues(x, codes if clustered else None)
    units = codes if clustered else np.arange(len(x))
    if values.n == 1:
        assert np.isnan(values.leave_one_out(name)).all()
        return
    for unit, found in enumerate(values.leave_one_out(name)):
        rest = x[units != unit]
        if name == "sd" and len(rest) == 1:
            assert np.isnan(found)
        else:
            assert found == pytest.approx(float(NAMED_STATISTICS[name](rest)), abs=1e-9)


@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_a_drawn_median_has_the_law_of_resampling(n: int) -> None:
    """Quantiles of 20,000 medians by order statistics and of as many by drawing every number."""
    x, rng = np.arange(n) ** 2.0, np.random.default_rng(n)
    quick = ResampledValues(x, None).draw("median", rng, 20_000)
    plain = np.median(x[rng.integers(0, n, (20_000, n))], axis=1)
    for q in np.unique(x):
        assert (quick <= q).mean() == pytest.approx((plain <= q).mean(), abs=0.015)


@pytest.mark.parametrize("name", NAMES)
def test_clusters_are_drawn_whole(name: StatisticName) -> None:
    rng = np.random.default_rng(1)
    codes, x = np.repeat(np.arange(6), [1, 2, 3, 4, 1, 2]), rng.normal(size=13)
    quick = ResampledValues(x, codes).draw(name, rng, 5000)
    members = [x[codes == k] for k in range(6)]
    picks = rng.integers(0, 6, (5000, 6))
    plain = [
        float(NAMED_STATISTICS[name](np.concatenate([members[k] for k in pick]))) for pick in picks
    ]
    assert np.mean(quick) == pytest.approx(np.mean(plain), abs=0.03)
    assert np.std(quick) == pytest.approx(np.std(plain), rel=0.08)


@pytest.mark.parametrize("name", NAMES)
def test_few_levels_have_the_law_of_many(name: StatisticName) -> None:
    x, rng = np.repeat([1.0, 2, 5], [20, 30, 10]), np.random.default_rng(2)
    quick = ResampledValues(x, None).draw(name, rng, 20_000)
    plain = NAMED_STATISTICS[name](x[rng.integers(0, 60, (20_000, 60))])
    assert np.quantile(quick, [0.1, 0.9]) == pytest.approx(np.quantile(plain, [0.1, 0.9]), abs=0.03)
    assert np.mean(quick) == pytest.approx(np.mean(plain), abs=0.01)


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


@pytest.mark.no_cover
@pytest.mark.parametrize("name", NAMES)
def test_the_bootstrap_of_clusters_covers_near_its_level(name: StatisticName) -> None:
    """Percentiles of few clusters are a little short (statistics of 60 cases of 4)."""
    rng, names = np.random.default_rng(5), np.repeat(np.arange(60), 4).tolist()
    truth = {"mean": 0.0, "median": 0.0, "sd": float(np.sqrt(2))}[name]
    draws = np.repeat(rng.normal(size=(250, 60)), 4, axis=1) + rng.normal(size=(250, 240))
    found = [bootstrap(x, name, clusters=names, n_resamples=300, rng=rng) for x in draws]
    assert covers_at_least(found, truth)
