from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.reliability import brier_decomposition, ece, log_loss, reliability_table
from judgekit.stats.selective import auroc
from tests.stats.repeated_cases import N_CASES, NAMES, rated_cases
from tests.stats.simulation import band, covers_at_its_level, covers_at_least

ITEMS = st.lists(
    st.tuples(st.sampled_from([0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]), st.integers(0, 1)),
    min_size=2,
    max_size=30,
)


def sides(items: list[tuple[float, int]]) -> tuple[list[float], list[int]]:
    return [p for p, _ in items], [y for _, y in items]


def test_an_error_of_calibration_by_hand() -> None:
    """.9 stated and 1/2 seen for two items, .1 stated and 0 seen for two."""
    found = ece([0.9, 0.9, 0.1, 0.1], [1, 0, 0, 0], 10)
    assert found.value == pytest.approx((0.4 + 0.1) / 2)
    assert found.max_gap == pytest.approx(0.4)
    assert "read mcb instead" in (found.note or "")


def test_bins_are_closed_above() -> None:
    rows = reliability_table([0.0, 0.1, 0.11, 1.0, None], [0, 0, 1, 1, 1])
    assert [(row.low, row.high) for row in rows] == [(0, 0.1), (0.1, 0.2), (0.9, 1)]
    assert [row.rate.n for row in rows] == [2, 1, 1]
    assert rows[0].confidence == 0.05
    assert rows[0].rate.low < rows[0].rate.high


def test_bins_of_equal_mass_hold_as_many_items() -> None:
    found = ece([0.1, 0.2, 0.3, 0.9], [0, 1, 0, 1], 2, "mass")
    assert found.n_bins == 2
    assert found.max_gap == pytest.approx(0.35)


def test_a_calibrated_judge_shows_what_chance_gives() -> None:
    rng = np.random.default_rng(1)
    p = rng.random(300)
    fair = ece(p.tolist(), (rng.random(300) < p).astype(float).tolist(), rng=rng)
    assert fair.value < 2 * fair.expected
    assert fair.p_value > 0.01
    assert fair.note is None
    wrong = ece(p.tolist(), (rng.random(300) < p**3).astype(float).tolist(), rng=rng)
    assert wrong.p_value < 0.01
    assert math.isnan(ece([0.5], [1]).expected)


@settings(max_examples=30)
@given(ITEMS)
def test_both_decompositions_add_up(items: list[tuple[float, int]]) -> None:
    found = brier_decomposition(*sides(items))
    p, y = np.array(items).T
    assert found.brier == pytest.approx(((p - y) ** 2).mean())
    assert found.brier == pytest.approx(found.reliability - found.resolution + found.uncertainty)
    assert found.brier == pytest.approx(found.mcb - found.dsc + found.uncertainty)
    assert min(found.mcb, found.dsc) >= -1e-12
    assert found.low < found.high


def test_outcomes_that_agree_leave_no_skill_to_measure() -> None:
    found = brier_decomposition([0.9, 0.8], [1, 1])
    assert (found.uncertainty, found.dsc) == (0, 0)
    assert math.isnan(found.skill)


def test_surprise_by_hand_and_at_the_ends() -> None:
    assert log_loss([0.5, 0.25], [1, 0]).value == pytest.approx(
        -(math.log(0.5) + math.log(0.75)) / 2
    )
    sure = log_loss([0, 1], [1, 1])
    assert sure.n_clipped == 2
    assert sure.value == pytest.approx((-math.log(1e-6) - math.log(1 - 1e-6)) / 2)
    assert log_loss([0.5, 0.5], [1, 0]).reason == "no variation"


@pytest.mark.no_cover
def test_scores_cover_at_their_level() -> None:
    """p uniform and true: E (p - y)^2 = E p (1 - p) = 1/6, E -ln p(y) = 1/2."""
    rng, briers, losses = np.random.default_rng(2), [], []
    for _ in range(400):
        p = rng.random(80)
        y = (rng.random(80) < p).astype(float).tolist()
        briers.append(brier_decomposition(p.tolist(), y))
        losses.append(log_loss(p.tolist(), y))
    assert covers_at_its_level(briers, 1 / 6)
    assert covers_at_its_level(losses, 1 / 2)


@settings(max_examples=30)
@given(ITEMS)
def test_the_area_is_the_share_of_pairs_in_order(items: list[tuple[float, int]]) -> None:
    right, wrong = [p for p, y in items if y], [p for p, y in items if not y]
    found = auroc(*sides(items))
    if not (right and wrong):
        assert "nothing to distinguish" in (found.reason or "")
        return
    want = np.mean([(a > b) + (a == b) / 2 for a in right for b in wrong])
    assert found.value == pytest.approx(want)
    turned = auroc([1 - p for p, _ in items], [y for _, y in items])
    assert (turned.value, turned.low) == pytest.approx(
        (1 - found.value, 1 - found.high), nan_ok=True
    )


def test_an_area_without_interval_says_why() -> None:
    assert "cannot be seen" in (auroc([1, 2], [0, 1]).reason or "")
    assert auroc([1, 1, 2], [0, 1, 1]).reason == "too few items for a variance"
    assert auroc([1, 1, 1, 1], [0, 1, 0, 1]).reason == "too few items for a variance"


def test_the_area_covers_at_its_level() -> None:
    rng, found = np.random.default_rng(3), []
    for _ in range(300):
        y = rng.integers(0, 2, 60)
        found.append(auroc((rng.normal(size=60) + y).tolist(), y.tolist()))
    assert covers_at_least(found, 0.5 * (1 + math.erf(1 / 2)))


def test_what_is_no_probability_is_refused() -> None:
    with pytest.raises(ValueError, match="a probability lies outside"):
        ece([1.2], [1])
    with pytest.raises(ValueError, match="neither 0 nor 1"):
        log_loss([0.2], [0.5])
    with pytest.raises(ValueError, match="0 bins of equal width"):
        ece([0.2], [1], 0)
    with pytest.raises(NotEnoughDataError, match="no item has both"):
        brier_decomposition([None], [1])


def test_a_calibrated_judge_of_repeated_cases_seldom_looks_miscalibrated() -> None:
    """At 5 % by cases; with repeats taken for items far more often."""
    rng, by_case, by_item = np.random.default_rng(4), 0, 0
    for _ in range(150):
        p, y = (side.tolist() for side in rated_cases(rng))
        by_case += ece(p, y, 5, clusters=NAMES, rng=rng, n_simulations=100).p_value <= 0.05
        by_item += ece(p, y, 5, rng=rng, n_simulations=100).p_value <= 0.05
    assert by_case / 150 <= 0.05 + band(150)
    assert by_item / 150 > 0.2


def test_an_error_over_cases_counts_cases() -> None:
    p, y = (side.tolist() for side in rated_cases(np.random.default_rng(5)))
    found = ece(p, y, clusters=NAMES, rng=np.random.default_rng(6))
    plain = ece(p, y, rng=np.random.default_rng(6))
    assert (found.value, found.max_gap) == (plain.value, plain.max_gap)
    assert (found.n, plain.n) == (N_CASES, len(p))
    assert found.expected > 1.2 * plain.expected
    assert ece(p[:8], y[:8], clusters=NAMES[:8]).note == "2 clusters only: the interval is rough"


def test_the_rates_of_a_diagram_know_cases() -> None:
    p, y = (side.tolist() for side in rated_cases(np.random.default_rng(7)))
    plain, found = reliability_table(p, y), reliability_table(p, y, clusters=NAMES)
    for one, other in zip(plain, found, strict=True):
        assert (one.confidence, one.rate.value) == (other.confidence, other.rate.value)
        assert other.rate.n_clusters is not None
    assert sum(b.rate.high - b.rate.low for b in found) > 1.2 * sum(
        b.rate.high - b.rate.low for b in plain
    )


def test_a_large_simulation_takes_little_memory() -> None:
    rng = np.random.default_rng(8)
    p = rng.random(20_000)
    y = (rng.random(20_000) < p).astype(float)
    tracemalloc.start()
    found = ece(p.tolist(), y.tolist(), rng=rng, n_simulations=100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 48 * 2**20
    assert found.p_value > 0.01
