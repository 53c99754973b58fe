from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats as oracle

from judgekit.errors import NotEnoughDataError
from judgekit.stats.trend import (
    cochran_armitage,
    cusum,
    direction,
    item_slopes,
    mann_kendall,
    pass_rate_drop,
    should_escalate,
)
from tests.stats.simulation import covers_at_its_level

SCORES = st.lists(st.integers(0, 20).map(lambda k: k / 20), min_size=3, max_size=9)


@given(SCORES)
def test_reading_a_series_backwards_turns_its_direction(scores: list[float]) -> None:
    turned = {"improving": "degrading", "degrading": "improving", "stable": "stable"}
    forth, back = direction(scores[-5:]), direction(scores[-5:][::-1])
    assert back.direction == turned[forth.direction]
    assert back.s == -forth.s
    assert back.slope == pytest.approx(-forth.slope)


@settings(max_examples=60)
@given(SCORES, SCORES)
def test_only_the_last_five_scores_count(old: list[float], scores: list[float]) -> None:
    last = (scores * 2)[-5:]
    assert direction([*old, *last]) == direction(last)


def test_one_pair_of_ten_may_be_out_of_order_but_not_two() -> None:
    assert direction([0.5, 0.6, 0.8, 0.7, 0.9]).direction == "improving"
    assert direction([0.5, 0.7, 0.6, 0.9, 0.8]).reason == "no-consistent-direction"


@pytest.mark.parametrize(
    ("scores", "reason"),
    [([], "insufficient-data"), ([0.5], "insufficient-data"), ([0.9, 0.5], "insufficient-data")],
)
def test_too_few_scores_are_stable(scores: list[float], reason: str) -> None:
    found = direction(scores)
    assert (found.direction, found.reason) == ("stable", reason)
    assert math.isnan(found.spread) == (not scores)


def test_a_missing_run_is_looked_past() -> None:
    found = direction([0.9, None, 0.8, math.nan, 0.7])
    assert (found.direction, found.n, found.n_missing) == ("degrading", 3, 2)


def test_the_band_ends_exactly_at_five_percent() -> None:
    assert direction([0.975, 1.0, 1.025]).reason == "within-band"
    assert direction([0.97, 1.0, 1.03]).reason == "consistent"


def test_the_spread_may_be_the_coefficient_of_variation() -> None:
    found = direction([0.96, 1.0, 1.04], spread="cv")
    assert found.spread == pytest.approx(0.04)
    assert found.reason == "within-band"


def test_scores_around_zero_have_an_endless_spread() -> None:
    assert direction([-1, 0, 1]).spread == math.inf


def test_a_window_too_small_or_a_negative_band_is_refused() -> None:
    with pytest.raises(ValueError, match="3 or more"):
        direction([1, 2, 3], window=2)
    with pytest.raises(ValueError, match="0 or more"):
        direction([1, 2, 3], band=-1)


def test_an_episode_escalates_once_and_is_armed_again() -> None:
    runs = ["degrading"] * 4 + ["stable"] + ["degrading"] * 3
    answers = [should_escalate(runs[: n + 1]) for n in range(len(runs))]
    assert [bool(a) for a in answers] == [False, False, True, True, False, False, False, True]
    assert [a.is_new for a in answers] == [False, False, True, False, False, False, False, True]
    with pytest.raises(ValueError, match="1 or more"):
        should_escalate(runs, consecutive=0)


def test_a_rate_that_rises_does_not_drop() -> None:
    found = pass_rate_drop(0.5, 0.75)
    assert (found.points, found.relative, found.critical) == (-0.25, -0.5, False)


def test_from_zero_nothing_drops() -> None:
    assert not pass_rate_drop(0, 0.4).critical
    with pytest.raises(ValueError, match="out of range"):
        pass_rate_drop(0.5, 1.2)


@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_missing_rate_drops_nowhere_and_says_so(missing: float | None) -> None:
    found = pass_rate_drop(0.5, missing)
    assert (found.critical, found.reason) == (False, "no rate of the current run")
    assert math.isnan(found.points)
    assert math.isnan(found.relative)
    assert pass_rate_drop(missing, missing).reason == "no rate of the previous and the current run"


def test_mann_kendall_counts_what_is_missing() -> None:
    found = mann_kendall([1, None, 2, 3])
    assert (found.s, found.n, found.n_missing) == (3, 3, 1)
    assert found.p_value == pytest.approx(2 / 6)
    assert found.slope == pytest.approx(2 / 3)


def test_mann_kendall_of_equal_or_too_few_scores() -> None:
    assert mann_kendall([2, 2, 2]).reason == "all scores are equal"
    with pytest.raises(NotEnoughDataError, match="two scores"):
        mann_kendall([1, math.nan])


def test_cochran_armitage_by_hand() -> None:
    """1 of 2, then 2 of 2: p = 3/4, T = 1/2, V = 3/16 (2 - 4/4), z = 2 / sqrt 3."""
    assert cochran_armitage([1, 2], [2, 2]).z == pytest.approx(2 / math.sqrt(3))


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 20)), min_size=2, max_size=6))
def test_a_trend_of_failures_is_the_opposite(runs: list[tuple[int, int]]) -> None:
    passes, totals = [k for k, _ in runs], [k + m for k, m in runs]
    found = cochran_armitage(passes, totals)
    mirrored = cochran_armitage([n - k for k, n in zip(passes, totals, strict=True)], totals)
    assert mirrored.z == pytest.approx(-found.z, nan_ok=True, abs=1e-9)


@pytest.mark.parametrize(
    ("passes", "totals", "reason"),
    [
        ([5, 5], [5, 5], "all or none passed"),
        ([3, 0], [5, 0], "fewer than two runs"),
        ([], [], "fewer than two runs"),
    ],
)
def test_a_rate_without_a_trend_to_test(passes: list[int], totals: list[int], reason: str) -> None:
    found = cochran_armitage(passes, totals)
    assert math.isnan(found.z)
    assert found.reason == reason


def test_counts_of_runs_have_to_be_counts() -> None:
    with pytest.raises(ValueError, match="0 to its total"):
        cochran_armitage([3], [2])


def test_the_trend_test_rejects_at_its_level_when_nothing_moves() -> None:
    draws = np.random.default_rng(3).binomial(80, 0.8, (1000, 6)).tolist()
    share = sum(cochran_armitage(k, [80] * 6).p_value < 0.05 for k in draws) / 1000
    assert share == pytest.approx(0.05, abs=3 * math.sqrt(0.05 * 0.95 / 1000))


def test_item_slopes_by_hand() -> None:
    found = item_slopes([[1, 2, 3], [1, None, 5], [None, 4, 4], [None, 1, None]])
    assert found.value == pytest.approx(1)
    assert (found.n, found.n_missing) == (3, 1)
    assert found.p_value == pytest.approx(oracle.ttest_1samp([1, 2, 0], 0).pvalue)


def test_items_that_all_move_alike_have_no_interval() -> None:
    found = item_slopes([[0.7, 0.7, 0.7, 0.7], [0.1, 0.1, 0.1, 0.1]])
    assert found.reason == "no variation"
    assert math.isnan(found.low)
    assert math.isnan(found.p_value)
    with pytest.raises(NotEnoughDataError, match="two runs"):
        item_slopes([[1, None]])


def test_item_slopes_cover_at_their_level() -> None:
    rng = np.random.default_rng(4)
    found = []
    for _ in range(400):
        slopes = rng.normal(0.1, 0.2, 20)[:, None]
        scores = slopes * np.arange(5) + rng.normal(3, 1, (20, 1)) + rng.normal(0, 0.5, (20, 5))
        found.append(item_slopes(scores.tolist()))
    assert covers_at_its_level(found, 0.1)


def test_a_missing_run_leaves_the_cusum_as_it_was() -> None:
    found = cusum([0.5, None, 0.0], target=1, sd=0.5)
    assert found.path == (0.5, 0.5, 2.0)
    assert found.alarm_at is None


def test_the_cusum_forgets_when_scores_recover() -> None:
    assert cusum([0, 9, 0], target=1, sd=1).path == (0.5, 0.0, 0.5)
    with pytest.raises(ValueError, match="alarm at anything"):
        cusum([1], target=1, sd=0)


def test_a_run_whose_counts_are_missing_is_one_without_cases() -> None:
    found = cochran_armitage([45, None, 38, math.nan], [50, 50, 50, 50])  # type: ignore[list-item] # as tables give it
    assert found == cochran_armitage([45, 0, 38, 0], [50, 0, 50, 0])
    assert found.n == 2
