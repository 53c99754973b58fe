"""Clustered intervals: their laws, and how often they hold what is true."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest

from judgekit.calibration import clustered_estimate, clustered_mean, estimate_or_undefined
from judgekit.calibration.agreement import clustered_correlation
from judgekit.calibration.items import clustered_rate
from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Estimate, undefined_estimate
from judgekit.stats.intervals import mean

_RUNS = 200
_LEAST = 0.91
"""A coverage of .95 lies above this in 99 of 100 times 200 runs."""


def test_a_clustered_rate_is_the_share_of_all_and_wider() -> None:
    outcomes = [1, 1, 1, 1, 1, 1, 0, 0, 0]
    plain = clustered_rate(outcomes, None, level=0.95)
    found = clustered_rate(outcomes, [*"aaaaaabbc"], level=0.95)
    assert plain.value == found.value == pytest.approx(6 / 9)
    assert found.high - found.low > plain.high - plain.low
    assert found.n_clusters == 3


def test_a_rate_of_none_or_all_counts_clusters() -> None:
    found = clustered_rate([1.0] * 8, [*"aaaabbbb"], level=0.95)
    assert found.low == pytest.approx(clustered_rate([1.0, 1.0], None, level=0.95).low)
    assert isnan(clustered_rate([float("nan")], ["a"], level=0.95).value)


def test_a_clustered_rate_holds_the_truth_where_one_that_knows_no_cases_does_not() -> None:
    """Cases of six outputs with a rate of their own, .6 in the mean."""
    rng = np.random.default_rng(20261122)
    names = np.repeat(np.arange(30), 6).tolist()
    held = naive = 0
    for _ in range(_RUNS):
        own = rng.beta(1.2, 0.8, 30)
        outcomes = (rng.random(180) < np.repeat(own, 6)).astype(float).tolist()
        found, plain = (
            clustered_rate(outcomes, names, level=0.95),
            clustered_rate(outcomes, None, level=0.95),
        )
        held += found.low <= 0.6 <= found.high
        naive += plain.low <= 0.6 <= plain.high
    assert held / _RUNS > _LEAST
    assert naive / _RUNS < 0.85


def test_a_clustered_correlation_holds_the_truth() -> None:
    """Case and noise have variance 1 each and case is shared: the correlation is .5."""
    rng = np.random.default_rng(7)
    names = np.repeat(np.arange(25), 4).tolist()
    held = 0
    for _ in range(_RUNS // 2):
        case = np.repeat(rng.normal(size=25), 4)
        a, b = case + rng.normal(size=100), case + rng.normal(size=100)
        found = clustered_correlation(a, b, "pearson", names, level=0.95)
        held += found.low <= 0.5 <= found.high
    assert held / (_RUNS // 2) > 0.88


def test_groups_of_cases_are_left_out_together_when_they_are_many() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(0.3, 0.1, 300)
    seen: list[int] = []

    def statistic(places: np.ndarray) -> float:
        seen.append(len(places))
        return float(x[places].mean())

    found = clustered_estimate(mean(x.tolist()), statistic, [i // 2 for i in range(300)])
    assert len(seen) == 60
    assert found.n_clusters == 150
    assert found.low < found.value < found.high


def test_one_case_alone_has_no_interval() -> None:
    found = clustered_estimate(mean([1.0, 2.0]), lambda _: 1.0, ["a", "a"])
    assert isnan(found.low)
    assert found.reason == "all items are of one case"


def test_what_is_undefined_or_not_clustered_stays_as_it_is() -> None:
    nothing = undefined_estimate("no", n=0, method="m")
    assert clustered_estimate(nothing, lambda _: 1.0, ["a"]) is nothing
    known = mean([1.0, 2.0])
    assert clustered_estimate(known, lambda _: 1.0, None) is known


def test_what_data_do_not_identify_is_undefined_with_the_reason() -> None:
    def fails() -> Estimate:
        raise NotEnoughDataError("two are needed")

    found = estimate_or_undefined(fails)
    assert isnan(found.value)
    assert found.reason == "two are needed"
    assert isnan(clustered_mean([], None, level=0.95).value)
