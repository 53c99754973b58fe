from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.stats.rogan_gladen import (
    CorrectionInterval,
    allocate_labels,
    corrected_pass_rate,
    judge_rates,
)
from tests.stats.simulation import covers_at_its_level


def test_rates_by_hand() -> None:
    """9 of 10 passes and 6 of 10 failures are seen: 13 are passed, of them 9 rightly."""
    found = judge_rates(9, 10, 6, 10)
    assert (found.tpr, found.tnr, found.balanced_accuracy) == (0.9, 0.6, 0.75)
    assert found.youden == pytest.approx(0.5)
    assert (found.ppv, found.npv) == pytest.approx((9 / 13, 6 / 7))


def test_a_class_without_labels_has_no_rate() -> None:
    found = judge_rates(0, 0, 4, 4)
    assert math.isnan(found.tpr)
    assert math.isnan(found.ppv)
    assert math.isnan(judge_rates(4, 4, 0, 0).npv)


def test_a_perfect_judge_needs_no_correction() -> None:
    found = corrected_pass_rate(30, 100, 50, 50, 50, 50)
    assert (found.value, found.raw) == pytest.approx((0.3, 0.3))
    assert found.low < 0.3 < found.high


@settings(max_examples=30)
@given(st.integers(0, 60), st.integers(12, 20), st.integers(12, 20))
def test_swapping_passes_and_failures_turns_the_rate(n_pass: int, tp: int, tn: int) -> None:
    forth = corrected_pass_rate(n_pass, 60, tp, 20, tn, 20)
    back = corrected_pass_rate(60 - n_pass, 60, tn, 20, tp, 20)
    assert forth.value == pytest.approx(1 - back.value)
    assert (forth.low, forth.high) == pytest.approx((1 - back.high, 1 - back.low), nan_ok=True)
    assert forth.reason is not None or 0 <= forth.low < forth.high <= 1


def test_a_judge_no_better_than_chance_is_refused() -> None:
    found = corrected_pass_rate(50, 100, 5, 10, 5, 10)
    assert math.isnan(found.value)
    assert "no better than chance (TPR 0.50 + TNR 0.50" in (found.reason or "")


def test_too_few_labels_are_refused_until_asked_for() -> None:
    found = corrected_pass_rate(50, 100, 8, 9, 20, 20)
    assert "9 labels of true passes and 20 of true failures: 10 of each" in (found.reason or "")
    assert corrected_pass_rate(50, 100, 8, 9, 20, 20, min_labels=5).low > 0
    assert corrected_pass_rate(0, 0, 20, 20, 20, 20).reason == "the judge judged nothing"
    weak = corrected_pass_rate(50, 100, 1, 1, 1, 2, min_labels=1)
    assert weak.value == 0
    nothing = corrected_pass_rate(50, 100, 2, 2, 1, 20, min_labels=1)
    assert nothing.reason == "too few labels to distinguish the judge from chance"


def test_a_pass_rate_that_cannot_come_from_these_errors_is_told() -> None:
    found = corrected_pass_rate(300, 1000, 900, 1000, 400, 1000)
    assert math.isnan(found.value), "no value without its interval"
    assert found.raw == pytest.approx(-1)
    assert found.note == "clipped from -1.000"
    assert "cannot come from these TPR and TNR" in (found.reason or "")
    assert math.isnan(found.low)


def test_a_judge_at_chance_has_no_rate_though_its_errors_leave_a_hair() -> None:
    """TPR + TNR - 1 is .0016: the formula gives -14.3, and clipped it would read 0 %."""
    found = corrected_pass_rate(224, 336, 74, 107, 71, 229)
    assert math.isnan(found.value)
    assert found.raw == pytest.approx(-14.27, abs=0.01)
    assert found.reason == "too few labels to distinguish the judge from chance"


@settings(max_examples=60)
@given(st.integers(0, 60), st.integers(0, 20), st.integers(0, 20), st.sampled_from([1.0, 1.5, 4.0]))
def test_a_corrected_rate_has_an_interval_or_none_is_given(
    n_pass: int, tp: int, tn: int, effect: float
) -> None:
    found = corrected_pass_rate(n_pass, 60, tp, 20, tn, 20, design_effect=effect, df=9)
    if found.reason is None:
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert found.low < found.high
    else:
        assert all(math.isnan(x) for x in (found.value, found.low, found.high))


def test_a_design_effect_counts_clustered_outputs_as_fewer() -> None:
    whole = corrected_pass_rate(320, 400, 90, 100, 80, 100, design_effect=4)
    quarter = corrected_pass_rate(80, 100, 23, 25, 20, 25)
    assert whole.high - whole.low == pytest.approx(quarter.high - quarter.low, rel=0.05)
    few = corrected_pass_rate(320, 400, 90, 100, 80, 100, design_effect=4, df=4)
    assert few.high - few.low > whole.high - whole.low
    with pytest.raises(ValueError, match=r"design_effect is 0\.5"):
        corrected_pass_rate(320, 400, 90, 100, 80, 100, design_effect=0.5)
    with pytest.raises(ValueError, match="with a design effect give ci='lee'"):
        corrected_pass_rate(
            320, 400, 90, 100, 80, 100, ci="bootstrap", design_effect=2, rng=np.random.default_rng()
        )


def test_a_weak_judge_is_named() -> None:
    assert "a weak judge" in (corrected_pass_rate(55, 100, 55, 100, 55, 100).note or "")


@pytest.mark.parametrize("ci", ["lee", "bootstrap"])
def test_the_corrected_rate_covers_at_its_level(ci: CorrectionInterval) -> None:
    rng, found = np.random.default_rng(1), []
    for _ in range(400):
        n_pass = int(rng.binomial(500, 0.8 * 0.9 + 0.2 * 0.2))
        tp, tn = int(rng.binomial(100, 0.9)), int(rng.binomial(100, 0.8))
        found.append(
            corrected_pass_rate(n_pass, 500, tp, 100, tn, 100, ci=ci, rng=rng, n_resamples=500)
        )
    assert covers_at_its_level(found, 0.8)


def test_resamples_that_leave_chance_are_counted() -> None:
    rng = np.random.default_rng(2)
    found = corrected_pass_rate(50, 100, 12, 20, 10, 20, ci="bootstrap", rng=rng)
    assert found.n_dropped > 100
    assert "resamples leave the judge no better than chance" in (found.reason or "")


def test_unknown_intervals_are_refused() -> None:
    with pytest.raises(ValueError, match="known: lee, bootstrap"):
        corrected_pass_rate(1, 2, 1, 2, 1, 2, ci="wald")  # type: ignore[arg-type] # tested
    with pytest.raises(ValueError, match="give rng"):
        corrected_pass_rate(1, 2, 1, 2, 1, 2, ci="bootstrap")


@settings(max_examples=30)
@given(st.integers(2, 200), st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_no_other_split_leaves_less_doubt(budget: int, rate: float, tpr: float, tnr: float) -> None:
    def doubt(n_positive: int) -> float:
        return rate**2 * tpr * (1 - tpr) / n_positive + (1 - rate) ** 2 * tnr * (1 - tnr) / (
            budget - n_positive
        )

    found = allocate_labels(budget, rate, tpr, tnr)
    assert found.n_positive + found.n_negative == budget
    best = min(range(1, budget), key=doubt)
    assert abs(found.n_positive - best) <= 1


def test_labels_may_have_a_floor_and_rates_need_doubt() -> None:
    assert allocate_labels(30, 0.99, 0.9, 0.9, at_least=10).n_negative == 10
    even = allocate_labels(10, 0.5, 1, 1)
    assert (even.n_positive, even.note) == (5, "these rates leave no uncertainty: smooth them")
    with pytest.raises(ValueError, match="10 labels cannot give each class 6"):
        allocate_labels(10, 0.5, 0.9, 0.9, at_least=6)
    with pytest.raises(ValueError, match="pass_rate, tpr and tnr lie in"):
        allocate_labels(10, 1.5, 0.9, 0.9)


def test_the_rates_of_a_judge_cover_at_their_level() -> None:
    rng, tpr, tnr = np.random.default_rng(8), [], []
    for _ in range(400):
        found = judge_rates(int(rng.binomial(60, 0.85)), 60, int(rng.binomial(50, 0.7)), 50)
        tpr.append(found.sensitivity)
        tnr.append(found.specificity)
    assert covers_at_its_level(tpr, 0.85)
    assert covers_at_its_level(tnr, 0.7)
