from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.selective import abstain_threshold, risk_coverage
from tests.stats.repeated_cases import N_CASES, NAMES, REPEATS
from tests.stats.simulation import band

ITEMS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1)), min_size=1, max_size=12)


def test_a_curve_by_hand() -> None:
    """Errors in order of confidence: 0, then 1 and 0 tied, then 1."""
    found = risk_coverage([0.9, 0.8, 0.8, 0.1, None], [1, 0, 1, 0, 1])
    assert found.coverage == (0.25, 0.5, 0.75, 1)
    assert found.risk == pytest.approx((0, 0.25, 1 / 3, 0.5))
    assert found.aurc == pytest.approx((0.25 + 1 / 3 + 0.5) / 4)
    assert found.eaurc == pytest.approx(found.aurc - (0 + 0 + 1 / 3 + 2 / 4) / 4)
    assert (found.risk_full, found.n, found.n_missing) == (0.5, 4, 1)


@settings(max_examples=50)
@given(ITEMS)
def test_the_curve_knows_no_order_of_items(items: list[tuple[int, int]]) -> None:
    p, y = [a for a, _ in items], [b for _, b in items]
    once, turned = risk_coverage(p, y), risk_coverage(p[::-1], y[::-1])
    assert turned.risk == pytest.approx(once.risk)
    assert once.eaurc >= -1e-12
    assert once.risk[-1] == pytest.approx(once.risk_full)


@pytest.mark.parametrize(("errors", "needed"), [(0, 22), (1, 38), (2, 52), (5, 91)])
def test_so_many_items_prove_one_in_ten(errors: int, needed: int) -> None:
    def found(n: int) -> float:
        correct = [0] * errors + [1] * (n - errors)
        return abstain_threshold([0.9] * n, correct, max_risk=0.1, grid=[0.5]).threshold

    assert found(needed) == 0.5
    assert math.isnan(found(needed - 1))


def test_a_threshold_that_cannot_be_proved_says_why() -> None:
    few = abstain_threshold([0.9] * 10, [1] * 10, max_risk=0.1)
    assert "each level has fewer than the 22 items needed" in (few.reason or "")
    assert (few.coverage, few.n_accepted) == (0, 0)
    assert math.isnan(few.risk)
    wrong = abstain_threshold([0.9] * 50, [0] * 50, max_risk=0.1)
    assert "50 of 50 are wrong: an error of at most 0.1 is not proved" in (wrong.reason or "")


def test_what_is_accepted_has_a_bound() -> None:
    found = abstain_threshold([0.9] * 60 + [0.5] * 40, [1] * 60 + [0] * 40, max_risk=0.1)
    assert found.threshold == 0.51
    assert (found.n_accepted, found.coverage, found.risk) == (60, 0.6, 0)
    assert found.risk < found.risk_high <= 0.1


def test_the_error_is_exceeded_as_seldom_as_stated() -> None:
    """Right with the chance it states, so the error above t is (1 - t) / 2."""
    rng, over = np.random.default_rng(1), 0
    for _ in range(300):
        p = rng.uniform(0.5, 1, 150)
        found = abstain_threshold(
            p.tolist(), (rng.random(150) < p).astype(float).tolist(), max_risk=0.1
        )
        over += (1 - found.threshold) / 2 > 0.1 + 1e-9
    assert over / 300 <= 0.1 + 3 * math.sqrt(0.09 / 300)


def test_limits_and_lengths_are_checked() -> None:
    with pytest.raises(ValueError, match="lie between 0 and 1"):
        abstain_threshold([0.5], [1], max_risk=0)
    with pytest.raises(ValueError, match="the grid holds no level"):
        abstain_threshold([0.5], [1], max_risk=0.1, grid=[])
    with pytest.raises(NotEnoughDataError, match="no item has both"):
        risk_coverage([None], [1])


@pytest.mark.no_cover
def test_the_area_of_a_curve_covers_at_its_level() -> None:
    """By cases of four answers; the truth is the area of a very large sample."""
    rng = np.random.default_rng(9)

    def draw(n_cases: int) -> tuple[list[float], list[float]]:
        p = np.repeat(rng.random(n_cases), REPEATS)
        alike = np.repeat(rng.random(n_cases), REPEATS)
        y = np.where(rng.random(len(p)) < 0.5, alike, rng.random(len(p))) < p
        return p.tolist(), y.astype(float).tolist()

    truth, covered = risk_coverage(*draw(20_000)).aurc, 0
    for _ in range(80):
        p, y = draw(N_CASES)
        found = risk_coverage(p, y, clusters=NAMES, rng=rng, n_resamples=120)
        covered += found.aurc_low <= truth <= found.aurc_high
    assert covered / 80 >= 0.95 - band(80)
    assert found.n == N_CASES


def test_an_area_that_was_not_resampled_has_no_interval() -> None:
    found = risk_coverage([0.9, 0.8], [1, 0])
    assert math.isnan(found.aurc_low)
    sure = risk_coverage([0.9, 0.8], [1, 1], rng=np.random.default_rng(1), n_resamples=100)
    assert math.isnan(sure.aurc_high)
    with pytest.raises(ValueError, match="2 pairs, but 1 cluster names"):
        risk_coverage([0.9, 0.8], [1, 1], clusters=["a"])
