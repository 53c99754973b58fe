from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.paired import paired_difference
from judgekit.stats.sequential import (
    mean_confidence_sequence,
    msprt,
    restarted_sequence,
    win_e_value,
)


def test_an_e_value_by_hand() -> None:
    """Two wins under Beta(1, 1): the integral of p^2 is 1/3, against 1/4."""
    assert win_e_value(2, 0, prior_a=1, prior_b=1).value == pytest.approx(4 / 3)
    assert win_e_value(2, 0, prior_a=1, prior_b=1).p_value == pytest.approx(3 / 4)


@given(st.integers(0, 30), st.integers(0, 30), st.floats(0.5, 50))
def test_an_e_value_is_fair_to_the_next_pair(wins: int, losses: int, prior: float) -> None:
    """Under 1/2 the next value is on average the present one: a fair game."""

    def value(w: int, lost: int) -> float:
        return win_e_value(w, lost, prior_a=prior, prior_b=prior).value

    after = (value(wins + 1, losses) + value(wins, losses + 1)) / 2
    assert after == pytest.approx(value(wins, losses))


def test_overwhelming_evidence_does_not_overflow() -> None:
    found = win_e_value(5000, 0)
    assert math.isfinite(found.value)
    assert found.p_value == 0


@pytest.mark.no_cover
def test_peeking_after_every_pair_keeps_the_error() -> None:
    rng = np.random.default_rng(1)
    wins = rng.integers(0, 2, (250, 150)).cumsum(axis=1).tolist()
    stopped = sum(
        any(win_e_value(w, n - w, prior_a=1, prior_b=1).value >= 20 for n, w in enumerate(run, 1))
        for run in wins
    )
    assert stopped / 250 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 250)


def test_what_is_no_evidence_is_refused() -> None:
    with pytest.raises(ValueError, match="priors more than 0"):
        win_e_value(1, 1, prior_a=0)
    with pytest.raises(ValueError, match="sigma 0"):
        msprt([1], 0, 1)
    with pytest.raises(ValueError, match="alpha is 1"):
        mean_confidence_sequence([1], alpha=1)


def test_a_mixture_ratio_by_hand() -> None:
    """One difference of 2, sigma = tau = 1: sqrt(1/2) exp(4 / 4); nothing seen says nothing."""
    assert msprt([2, math.nan], 1, 1).value == pytest.approx(math.sqrt(0.5) * math.e)
    assert msprt([], 1, 1).value == 1


@settings(max_examples=60)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_a_confidence_sequence_mirrors_and_stays_in_bounds(x: list[float]) -> None:
    forth, back = mean_confidence_sequence(x), mean_confidence_sequence([1 - v for v in x])
    assert forth.low == pytest.approx(1 - back.high, abs=1e-6)
    assert 0 <= forth.low < forth.high <= 1


@settings(max_examples=60)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=30))
def test_a_confidence_sequence_follows_the_scale(x: list[int]) -> None:
    unit = mean_confidence_sequence([(v - 1) / 4 for v in x])
    rated = mean_confidence_sequence(x, low=1, high=5)
    assert rated.low == pytest.approx(1 + 4 * unit.low)
    assert rated.value == pytest.approx(sum(x) / len(x))


def test_equal_values_still_leave_doubt() -> None:
    found = mean_confidence_sequence([1.0] * 50)
    assert found.high == 1
    assert 0.7 < found.low < 1


def test_values_that_drift_are_told() -> None:
    found = mean_confidence_sequence([1.0] * 150 + [0.0] * 300)
    assert found.note is not None or found.reason is not None


@pytest.mark.no_cover
def test_a_confidence_sequence_covers_at_every_look() -> None:
    rng, looks, kept = np.random.default_rng(2), (5, 10, 20, 40, 80), 0
    for _ in range(150):
        x = rng.beta(3, 1, 80)
        found = [mean_confidence_sequence(x[:n].tolist()) for n in looks]
        kept += all(e.low <= 0.75 <= e.high for e in found)
    assert kept / 150 >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / 150)


@pytest.mark.no_cover
def test_a_restarted_sequence_seldom_leaves_the_true_mean_out_at_any_look() -> None:
    """Twelve windows of 20 scores whose mean is the limit, tested after each window."""
    rng, n_errors, reps = np.random.default_rng(3), 0, 40
    for _ in range(reps):
        windows = [rng.beta(3, 1, 20).tolist() for _ in range(12)]
        looks = (restarted_sequence(windows[:n], 0.75) for n in range(1, 13))
        n_errors += any(one is not None for one in looks)
    assert n_errors / reps <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / reps)


def test_a_restarted_sequence_sees_a_fall_that_the_whole_series_hides() -> None:
    good, bad = [0.95, 1.0] * 25, [0.4, 0.6] * 25
    windows = [*[good] * 10, bad, bad]
    pooled = mean_confidence_sequence([value for window in windows for value in window])
    found = restarted_sequence(windows, 0.8)
    assert pooled.low > 0.8
    assert found is not None
    assert (found.high < 0.8, found.n) == (True, 50)


def test_a_restarted_sequence_without_values_or_evidence_is_undecided() -> None:
    assert restarted_sequence([], 0.8) is None
    assert restarted_sequence([[], []], 0.8) is None
    assert restarted_sequence([[0.7]], 0.8) is None


@pytest.mark.no_cover
def test_looking_at_a_difference_after_every_case_keeps_the_error() -> None:
    """Scores of five levels without a difference; a t test at every look errs far more often."""
    rng, n_runs, wrong, wrong_t = np.random.default_rng(5), 60, 0, 0
    for _ in range(n_runs):
        a, b = (rng.choice([0, 0.25, 0.5, 0.75, 1], size=60) for _ in range(2))
        looks = range(5, 61)
        found = [mean_confidence_sequence((b - a)[:n].tolist(), low=-1, high=1) for n in looks]
        wrong += any(e.low > 0 or e.high < 0 for e in found)
        wrong_t += any(
            paired_difference(a[:n].tolist(), b[:n].tolist()).p_value <= 0.05 for n in looks
        )
    assert wrong / n_runs <= 0.05
    assert wrong_t / n_runs > 0.15


def test_a_sequence_without_values_has_no_interval() -> None:
    with pytest.raises(NotEnoughDataError, match="no values"):
        mean_confidence_sequence([None])


def test_bounds_have_to_bound() -> None:
    with pytest.raises(ValueError, match="less than high"):
        mean_confidence_sequence([0.5], low=1, high=1)
    with pytest.raises(ValueError, match="value lies outside"):
        mean_confidence_sequence([2])


def test_overwhelming_evidence_for_no_difference_does_not_overflow() -> None:
    found = win_e_value(1000, 0, prior_a=1, prior_b=1e9)
    assert (found.value, found.p_value) == (0.0, 1.0)
