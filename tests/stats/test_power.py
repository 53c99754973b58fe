"""The tables of sizes were made by enumeration and by the formulas each docstring names."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.intervals import effective_n, proportion, rating_mean, value_mean, wilson
from judgekit.stats.paired import paired_difference
from judgekit.stats.power import (
    labels_for_ppi,
    mde_paired,
    sample_size_mcnemar,
    sample_size_paired,
    sample_size_sign,
    sample_size_threshold,
    sample_size_two_proportions,
)


@pytest.mark.parametrize(("delta", "size"), [(0.1, 785), (0.15, 349), (0.3, 88), (-0.5, 32)])
def test_sizes_of_paired_comparisons(delta: float, size: int) -> None:
    assert int(sample_size_paired(delta, 1)) == size


@pytest.mark.parametrize(("p", "size"), [(0.55, 820), (0.6, 210), (0.3, 54), (0.8, 23), (0.99, 6)])
def test_sizes_of_exact_sign_tests(p: float, size: int) -> None:
    assert sample_size_sign(p).value == size


def test_a_stricter_sign_test() -> None:
    assert sample_size_sign(0.9, alpha=0.01, power=0.95).value == 24
    assert sample_size_sign(0.7, alpha=0.1, power=0.5).value == 23
    assert sample_size_sign(0.95, alpha=1e-9, power=0.9).value == 53


@pytest.mark.parametrize(("psi", "delta", "size"), [(0.1, 0.05, 312), (0.3, -0.1, 234)])
def test_sizes_of_changed_pass_rates(psi: float, delta: float, size: int) -> None:
    assert sample_size_mcnemar(psi, delta).value == size


@pytest.mark.parametrize(("p1", "p2", "size"), [(0.8, 0.75, 1094), (0.95, 0.9, 435)])
def test_sizes_of_independent_rates(p1: float, p2: float, size: int) -> None:
    assert sample_size_two_proportions(p1, p2).value == size
    assert sample_size_two_proportions(p2, p1).value == size


def test_a_judge_that_knows_nothing_saves_no_label() -> None:
    assert labels_for_ppi(1000, 0.05, 0.45, 0).value == 312
    assert labels_for_ppi(0, 0.05, 0.45, 0.9).value == 312
    assert labels_for_ppi(1000, 10, 0.45, 0.9).value == 1


@given(st.integers(0, 5000), st.floats(0.01, 0.5), st.floats(0.1, 2), st.floats(0, 1))
def test_the_labels_are_the_fewest_that_do(n: int, width: float, sd: float, corr: float) -> None:
    found = labels_for_ppi(n, width, sd, corr).value

    def enough(labels: int) -> bool:
        variance = sd**2 / labels * (1 - corr**2 * n / (labels + n))
        return variance <= (width / 1.959963984540054) ** 2

    assert enough(found)
    assert found == 1 or not enough(found - 1)


@given(st.integers(1, 5000), st.floats(0.1, 3))
def test_the_smallest_difference_and_the_size_are_inverse(n: int, sd: float) -> None:
    assert sample_size_paired(float(mde_paired(n, sd)), sd).value == n


def test_a_planned_size_has_its_power() -> None:
    """80 % of experiments of the planned size see the difference, within three errors."""
    rng, reps = np.random.default_rng(2), 400
    n = sample_size_paired(0.5, 1).value + 2
    seen = 0
    for _ in range(reps):
        b = rng.normal(0.5, 1, n).tolist()
        seen += paired_difference([0.0] * n, b).p_value < 0.05
    assert seen / reps == pytest.approx(0.8, abs=3 * math.sqrt(0.8 * 0.2 / reps))


def test_no_item_shows_nothing() -> None:
    with pytest.raises(NotEnoughDataError, match="without items"):
        mde_paired(0, 1)


def test_what_cannot_be_planned_is_refused() -> None:
    with pytest.raises(ValueError, match="delta is 0"):
        sample_size_paired(0, 1)
    with pytest.raises(ValueError, match="share of cases that differ"):
        sample_size_mcnemar(0.05, 0.1)
    with pytest.raises(ValueError, match=r"a rate lies in 0\.\.1"):
        sample_size_two_proportions(0.5, 1.5)
    with pytest.raises(ValueError, match="between 0 and 1"):
        sample_size_sign(1)
    with pytest.raises(ValueError, match="too near 1/2"):
        sample_size_sign(0.5001)
    with pytest.raises(ValueError, match="out of range"):
        labels_for_ppi(-1, 0.1, 0.5, 0.5)
    with pytest.raises(ValueError, match="power is 1"):
        sample_size_paired(0.1, 1, power=1)


def two_points(n: int, value: float, sd: float) -> list[float]:
    """An even number of values with exactly this mean and this standard deviation."""
    return [value - sd, value + sd] * (n // 2)


@given(
    st.floats(0.3, 0.7), st.sampled_from([-0.2, -0.1, -0.05, 0.05, 0.1, 0.2]), st.floats(0.05, 0.3)
)
def test_a_size_against_a_threshold_is_the_smallest_whose_interval_clears_it(
    value: float, distance: float, sd: float
) -> None:
    """Against the interval that a gate looks at, on values with just this mean and spread."""
    threshold = value - distance

    def clears(n: int) -> bool:
        x = two_points(n, value, sd)
        found = rating_mean(x, (0.0, 1.0), continuous=True)
        # The power's share: z_0.8 standard deviations of the mean, beyond the interval's end.
        margin = 0.8416212 * sd * math.sqrt(n) / (n + 1)
        far = math.copysign(0.8416212 * sd / math.sqrt(n), distance)
        low, high = wilson(value - far, effective_n(x, most=math.inf))
        if distance > 0:
            return min(found.low - margin, low) >= threshold - 1e-9
        return max(found.high + margin, high) <= threshold + 1e-9

    n = sample_size_threshold(value, threshold, sd).value
    even = n + n % 2
    assert clears(even)
    assert even <= 4 or not clears(even - 2)


@pytest.mark.parametrize(
    ("value", "threshold", "sd", "size"),
    [(0.9, 0.8, 0.2, 52), (0.7, 0.8, 0.2, 31), (0.85, 0.8, 0.3, 333), (1.0, 0.8, 0.0, 16)],
)
def test_so_many_cases_decide_with_the_power_that_was_asked(
    value: float, threshold: float, sd: float, size: int
) -> None:
    n = sample_size_threshold(value, threshold, sd).value
    assert n == size
    rng = np.random.default_rng(7)
    n_decided, n_tries = 0, 400
    for _ in range(n_tries):
        # Beta variables have any mean and spread that values on [0, 1] can have.
        k = value * (1 - value) / sd**2 - 1 if sd else 0.0
        x = rng.beta(value * k, (1 - value) * k, n) if sd else np.full(n, value)
        found = value_mean(x.tolist())
        n_decided += found.low >= threshold if value > threshold else found.high < threshold
    assert n_decided / n_tries > 0.72


@pytest.mark.parametrize(("rate", "threshold"), [(0.9, 0.8), (0.95, 0.9), (0.85, 0.7)])
def test_pass_rates_reach_a_gate_with_the_power_that_was_asked(
    rate: float, threshold: float
) -> None:
    """By enumeration of Wilson's intervals; planned for a t interval it was 0.63 to 0.71."""
    n = sample_size_threshold(rate, threshold, math.sqrt(rate * (1 - rate))).value
    reaches = [k for k in range(n + 1) if proportion(k, n).low >= threshold]
    power = sum(math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in reaches)
    assert 0.77 < power < 0.86


def test_a_value_at_its_threshold_is_never_decided() -> None:
    with pytest.raises(ValueError, match="distance is 0"):
        sample_size_threshold(0.8, 0.8, 0.2)
    with pytest.raises(ValueError, match="too near the threshold"):
        sample_size_threshold(0.8001, 0.8, 0.3)
    with pytest.raises(ValueError, match="out of range"):
        sample_size_threshold(1.2, 0.8, 0.3)
