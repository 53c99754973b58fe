from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.bias import granularity, length_slope, scale_use
from tests.stats.repeated_cases import N_CASES, NAMES, REPEATS
from tests.stats.simulation import covers_at_its_level, share_covering

SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=30)
@given(SEEDS, st.floats(0.1, 10))
def test_a_slope_is_points_a_doubling_in_any_unit(seed: int, unit: float) -> None:
    rng = np.random.default_rng(seed)
    length, human = rng.integers(50, 800, 20), rng.integers(1, 6, 20)
    judge = human + rng.normal(size=20)
    once = length_slope(judge.tolist(), human.tolist(), length.tolist())
    other = length_slope((2 * judge).tolist(), human.tolist(), (unit * length).tolist())
    assert (other.value, other.se) == pytest.approx((2 * once.value, 2 * once.se))
    assert other.p_value == pytest.approx(once.p_value)


def test_the_human_score_explains_what_it_explains() -> None:
    human, length = [1, 2, 3, 4, 5, 3], [100, 200, 300, 400, 500, 50]
    judge = [h + 0.5 * math.log2(x) for h, x in zip(human, length, strict=True)]
    found = length_slope(judge, human, length)
    assert found.value == pytest.approx(0.5)
    assert found.raw_slope > 0.5
    assert "lie on a plane" in (found.reason or "")
    assert math.isnan(found.low)


def test_a_slope_needs_lengths_that_vary() -> None:
    with pytest.raises(NotEnoughDataError, match="do not vary apart"):
        length_slope([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [9] * 5)
    with pytest.raises(NotEnoughDataError, match="3 outputs with all three"):
        length_slope([1, 2, 3, None], [1, 2, 3, 4], [1, 2, 3, 4])
    with pytest.raises(ValueError, match="not more than 0"):
        length_slope([1], [1], [0])
    with pytest.raises(ValueError, match="have to be equally long"):
        length_slope([1], [1, 2], [1])


@pytest.mark.parametrize("repeats", [1, 3])
def test_the_slope_covers_at_its_level(repeats: int) -> None:
    rng, found = np.random.default_rng(1), []
    names = np.repeat(np.arange(40), repeats).tolist()
    for _ in range(300):
        case = np.repeat(rng.normal(size=(40, 2)), repeats, axis=0)
        doublings = case[:, 0] + rng.normal(size=40 * repeats)
        human = rng.normal(size=40 * repeats) + 0.5 * doublings
        noise = rng.normal(size=40 * repeats) * (1 + 0.3 * np.abs(doublings))
        judge = human + 0.3 * doublings + noise + (case[:, 1] if repeats > 1 else 0)
        found.append(
            length_slope(
                judge.tolist(),
                human.tolist(),
                (2.0**doublings).tolist(),
                clusters=names if repeats > 1 else None,
            )
        )
    assert covers_at_its_level(found, 0.3)
    assert found[0].n == 40


@settings(max_examples=40)
@given(SEEDS)
def test_swapping_judge_and_human_inverts_the_ratio(seed: int) -> None:
    human, judge = np.random.default_rng(seed).normal(size=(2, 12)).round(3)
    forth, back = (
        scale_use(human.tolist(), judge.tolist()),
        scale_use(judge.tolist(), human.tolist()),
    )
    assert back.sd_ratio == pytest.approx(1 / forth.sd_ratio)
    assert (back.low, back.p_value) == pytest.approx((1 / forth.high, forth.p_value))
    assert (forth.p_value < 0.05) == (not forth.low <= 1 <= forth.high)


def test_constant_scores_have_no_ratio_or_no_interval() -> None:
    human = scale_use([3, 3, 3], [1, 2, 3])
    assert math.isnan(human.sd_ratio)
    assert human.reason == "humans give one score only"
    judge = scale_use([1, 2, 3], [3, 3, 3])
    assert (judge.sd_ratio, judge.reason) == (0, "the judge gives one score only")
    line = scale_use([1, 2, 3], [2, 4, 6])
    assert (line.sd_ratio, line.reason) == (
        2,
        "judge and human lie on a line: the spread cannot be seen",
    )
    assert math.isnan(line.low)
    assert math.isnan(scale_use([1, 2, 3], [1, 2, 3]).p_value)
    with pytest.raises(NotEnoughDataError, match="three are needed"):
        scale_use([1, 2], [1, 2])


def test_the_ratio_covers_at_its_level() -> None:
    rng, found = np.random.default_rng(2), []
    for _ in range(400):
        human = rng.normal(size=25)
        judge = 0.4 * human + 0.3 * rng.normal(size=25)
        found.append(scale_use(human.tolist(), judge.tolist()))
    assert covers_at_its_level(found, 0.5)


def test_levels_by_hand() -> None:
    found = granularity([1, 1, 3, 3, None], range(1, 6))
    assert found.effective_levels == pytest.approx(2)
    assert (found.n_distinct, found.modal_share, found.unused) == (2, 0.5, (2, 4, 5))
    assert math.isnan(found.round_share)
    assert (found.n, found.n_missing) == (4, 1)


def test_a_wide_scale_shows_a_habit_of_round_numbers() -> None:
    assert granularity([70, 75, 80, 82], [0, 100]).round_share == 0.75


def test_scores_have_to_lie_on_the_scale() -> None:
    with pytest.raises(ValueError, match=r"outside 1\.\.5"):
        granularity([9], [1, 5])
    with pytest.raises(NotEnoughDataError, match="no score"):
        granularity([None], [1, 5])


@pytest.mark.no_cover
def test_the_ratio_over_cases_covers_where_that_over_items_does_not() -> None:
    """Judge and human differ by case: sd 1.5 to sqrt(2)."""
    rng, found, naive = np.random.default_rng(10), [], []
    for _ in range(300):
        human, judge = (np.repeat(rng.normal(0, s, N_CASES), REPEATS) for s in (1, 1.5))
        human = human + rng.normal(0, 0.3, len(human))
        judge = judge + rng.normal(0, 0.3, len(judge))
        found.append(scale_use(human.tolist(), judge.tolist(), clusters=NAMES))
        naive.append(scale_use(human.tolist(), judge.tolist()))
    truth = math.sqrt((1.5**2 + 0.09) / 1.09)
    assert covers_at_its_level(found, truth)
    assert share_covering(naive, truth) < 0.85
    assert found[0].n == N_CASES


def test_a_case_without_which_nothing_varies_leaves_no_interval() -> None:
    found = scale_use([1, 1, 1, 2], [1, 2, 1, 2], clusters=["a", "a", "b", "c"])
    assert found.value == pytest.approx(2 / math.sqrt(3))
    assert "leaving one case out" in (found.reason or "")
    assert math.isnan(found.p_value)
    assert math.isnan(scale_use([1, 2, 3], [1, 3, 2], clusters=["a", "a", "a"]).low)


def test_outputs_of_one_case_have_a_slope_without_an_interval() -> None:
    scores = ([1, 2, 3, 4, 5], [1, 2, 2, 3, 5], [10, 20, 15, 40, 80])
    found = length_slope(*scores, clusters=["a"] * 5)
    assert (found.reason, found.n_clusters, math.isnan(found.se)) == ("one cluster only", 1, True)
    assert length_slope(*scores, clusters=["a", "a", "b", "b", "b"]).n_clusters == 2
