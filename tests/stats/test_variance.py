from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.variance import components, dstudy, optimal_samples, pass_at_k, pass_hat_k

if TYPE_CHECKING:
    from random import Random

TABLE = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).normal(size=(4, 3, 2)).round(2)
)


def mean_squares(data: np.ndarray) -> dict[str, float]:
    """The textbook's way for complete data (Brennan 2001, chapter 3)."""
    n, judges, k = data.shape
    whole, cell = data.mean(), data.mean(axis=2)
    item, judge = cell.mean(axis=1), cell.mean(axis=0)
    ms_i = judges * k * ((item - whole) ** 2).sum() / (n - 1)
    ms_j = n * k * ((judge - whole) ** 2).sum() / (judges - 1)
    rest = cell - item[:, None] - judge + whole
    ms_ij = k * (rest**2).sum() / ((n - 1) * (judges - 1))
    ms_s = ((data - cell[:, :, None]) ** 2).sum() / (n * judges * (k - 1))
    return {
        "item": (ms_i - ms_ij) / (judges * k),
        "judge": (ms_j - ms_ij) / (n * k),
        "item_judge": (ms_ij - ms_s) / k,
        "sample": ms_s,
    }


@given(TABLE)
def test_complete_data_give_the_analysis_of_variance(data: np.ndarray) -> None:
    found = components(data.tolist())
    for name, want in mean_squares(data).items():
        assert getattr(found, name) == pytest.approx(want, abs=1e-9)


@settings(max_examples=30)
@given(TABLE, st.randoms(use_true_random=False))
def test_the_order_of_items_and_judges_does_not_matter(data: np.ndarray, random: Random) -> None:
    items, judges = [0, 1, 2, 3], [0, 1, 2]
    random.shuffle(items)
    random.shuffle(judges)
    one, other = components(data.tolist()), components(data[items][:, judges].tolist())
    assert (one.item, one.judge) == pytest.approx((other.item, other.judge), abs=1e-9)


def test_missing_scores_leave_the_components_unbiased() -> None:
    rng, found = np.random.default_rng(3), []
    for _ in range(150):
        data = rng.normal(0, 1, (20, 1, 1)) + rng.normal(0, 0.5, (1, 6, 1))
        data = data + rng.normal(0, 0.4, (20, 6, 1)) + rng.normal(0, 0.3, (20, 6, 2))
        data[rng.random(data.shape) < 0.25] = np.nan
        c = components(data.tolist())
        found.append((c.item, c.judge, c.item_judge, c.sample))
    errors = np.std(found, axis=0) / math.sqrt(150)
    assert (np.abs(np.mean(found, axis=0) - [1, 0.25, 0.16, 0.09]) < 3.5 * errors).all()


def test_one_sample_a_cell_is_not_split_further() -> None:
    found = components([[[1], [2]], [[3], [5]], [[4], [None]]])
    assert math.isnan(found.sample)
    assert found.reason == "one sample a cell: item_judge holds sample"
    assert (found.n_items, found.n_judges, found.n_scores, found.n_missing) == (3, 2, 5, 1)


def test_one_judge_is_not_told_from_the_items() -> None:
    found = components([[[1, 2]], [[3, 5]]])
    assert math.isnan(found.judge)
    assert math.isnan(found.item)
    assert found.sample == pytest.approx((0.5 + 2) / 2)
    assert "one judge" in str(found.reason)


def test_scores_that_are_all_equal_have_no_variance_and_no_negative_one() -> None:
    found = components([[[0.1, 0.1], [0.1, 0.1]], [[0.1, 0.1], [0.1, 0.1]]])
    assert found.note is None
    assert dstudy(found, 10, 1, 1).reason == "nothing varies"


def test_a_negative_component_is_kept_and_told() -> None:
    found = components([[[1, 3], [3, 1]], [[3, 1], [1, 3]]])
    assert found.item_judge == -1
    assert found.note == "negative, read as 0: item_judge"
    assert dstudy(found, 4, 1, 1).g_coefficient == 0


def test_one_item_has_no_components() -> None:
    with pytest.raises(NotEnoughDataError, match="two items"):
        components([[[1, 2], [3, 4]], [[None]]])


def test_more_judges_beat_more_samples() -> None:
    """The table of the design: sqrt(.6/n + .05/J + .15/(nJ) + .3/(nJk))."""
    known = {"item": 0.6, "judge": 0.05, "item_judge": 0.15, "sample": 0.3}
    designs = [(50, 1, 1), (50, 1, 5), (200, 1, 1), (50, 3, 1)]
    errors = [dstudy(known, *design).se_mean for design in designs]
    assert errors == pytest.approx([0.266, 0.257, 0.235, 0.178], abs=5e-4)


def test_a_design_of_unknown_components_is_undefined_but_for_one_sample() -> None:
    found = components([[[1], [2]], [[3], [5]], [[4], [3]]])
    assert dstudy(found, 5, 2, 1).reason is None
    assert math.isnan(dstudy(found, 5, 2, 2).se_mean)
    assert dstudy(found, 5, 2, 2).reason == "a component is unknown"
    with pytest.raises(ValueError, match="at least one item"):
        dstudy(found, 5, 0, 1)


def test_the_best_whole_number_of_samples_is_the_cheapest() -> None:
    plan = optimal_samples(0.8, 0.4, 10, 1)
    assert plan.n_samples == 2
    assert optimal_samples(1, 0, 1, 1).n_samples == 1
    assert optimal_samples(0, 1, 1, 1).reason == "items do not differ: ask one often"
    with pytest.raises(ValueError, match="more than 0"):
        optimal_samples(1, 1, 1, 0)


@given(st.integers(1, 12), st.data())
def test_any_passes_unless_all_fail(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    assert pass_at_k(n, c, k).value == pytest.approx(1 - pass_hat_k(n, n - c, k).value)
    assert pass_hat_k(n, c, k).value <= pass_at_k(n, c, k).value


def test_too_few_tries_or_no_such_counts_are_refused() -> None:
    with pytest.raises(NotEnoughDataError, match="2 tries cannot show"):
        pass_at_k(2, 1, 3)
    with pytest.raises(ValueError, match="no such counts"):
        pass_hat_k(2, 3, 1)
