from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from judgekit.stats.agreement_coefficients import coefficient_interval
from judgekit.stats.estimate import (
    Decision,
    Estimate,
    Figure,
    cluster_means,
    decide,
    known_observations,
    undefined_estimate,
)
from tests.stats.simulation import covers_at_least


def an_estimate(low: float, high: float) -> Estimate:
    return Estimate(value=(low + high) / 2, low=low, high=high, n=9, method="by hand")


@pytest.mark.parametrize(
    ("low", "high", "decision"),
    [
        (0.01, 0.3, "better"),
        (-0.3, -0.01, "worse"),
        (-0.04, 0.04, "equivalent"),
        (-0.04, 0.06, "inconclusive"),
        (0.0, 0.3, "inconclusive"),
        (math.nan, math.nan, "inconclusive"),
    ],
)
def test_what_an_interval_allows_one_to_say(low: float, high: float, decision: Decision) -> None:
    assert decide(an_estimate(low, high), margin=0.05) == decision


def test_a_negative_margin_is_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        decide(an_estimate(0, 1), margin=-1)


def test_an_undefined_estimate_says_why() -> None:
    estimate = undefined_estimate("no trials", n=0, method="wilson")
    assert math.isnan(estimate.value)
    assert estimate.reason == "no trials"


def test_a_figure_is_a_number() -> None:
    assert float(Figure(value=0.25, method="by hand")) == 0.25


def test_nan_and_none_are_missing() -> None:
    assert known_observations([1, None, math.nan, 2], ["a", "b", "c", "d"]) == (
        [1.0, 2.0],
        ["a", "d"],
    )


def test_an_infinite_observation_is_refused() -> None:
    with pytest.raises(ValueError, match="infinite"):
        known_observations([1.0, math.inf])


def test_a_cluster_is_worth_its_mean() -> None:
    assert cluster_means([1, 2, 6], ["b", "a", "a"]) == {"b": 1.0, "a": 4.0}


def test_the_jackknife_interval_by_hand() -> None:
    """Values .4, .5, .6 around .5: se^2 = 2/3 * .02, on Fisher's z divided by .75."""
    half = 4.302652730 * math.sqrt(2 / 3 * 0.02) / 0.75
    low, high, _ = coefficient_interval(0.5, [0.4, 0.5, 0.6], level=0.95)
    assert low == pytest.approx(math.tanh(math.atanh(0.5) - half))
    assert high == pytest.approx(math.tanh(math.atanh(0.5) + half))


@given(st.floats(-0.99, 0.99), st.lists(st.floats(-0.9, 0.9), min_size=2, max_size=9))
def test_the_jackknife_interval_stays_within_its_bounds(value: float, left: list[float]) -> None:
    low, high, _ = coefficient_interval(value, left, level=0.95)
    assert math.isnan(low) or -1 <= low <= value <= high <= 1


@pytest.mark.parametrize(
    ("value", "left"),
    [
        (1.0, [1.0, 0.9]),
        (math.nan, [0.1, 0.2]),
        (0.5, [0.5]),
        (0.5, [0.5, 0.5]),
        (0, [0, math.nan]),
    ],
)
def test_a_jackknife_without_information_has_no_interval(value: float, left: list[float]) -> None:
    found = coefficient_interval(value, left, level=0.95)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.reason


@pytest.mark.no_cover
def test_the_jackknife_interval_of_a_correlation_covers_at_its_level() -> None:
    rng, truth, n, estimates = np.random.default_rng(5), 0.6, 30, []
    for _ in range(400):
        x = rng.normal(size=n)
        y = truth * x + math.sqrt(1 - truth**2) * rng.normal(size=n)
        keep = ~np.eye(n, dtype=bool)
        left = [float(np.corrcoef(x[row], y[row])[0, 1]) for row in keep]
        r = float(np.corrcoef(x, y)[0, 1])
        low, high, _ = coefficient_interval(r, left, level=0.95)
        estimates.append(an_estimate(low, high))
    assert covers_at_least(estimates, truth)


def test_what_only_floats_make_vary_leaves_no_interval() -> None:
    left_out = [0.8052293153047, 0.8052293153047 + 2e-16, 0.8052293153047 - 2e-16]
    assert math.isnan(coefficient_interval(0.8052293153047, left_out, level=0.95).low)
