from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from judgekit.scoring import TIERS, all_passed, check_drop, check_value
from judgekit.stats.estimate import Estimate

if TYPE_CHECKING:
    from judgekit.scoring import GateOutcome


def change(value: float, low: float, high: float) -> Estimate:
    return Estimate(value=value, low=low, high=high, n=100, method="made up")


def test_the_tiers_are_those_of_the_method() -> None:
    assert dict(TIERS) == {"production": 0.8, "development": 0.7, "experimental": 0.6}


@pytest.mark.parametrize(
    ("low", "high", "held"),
    [
        (0.8, 0.9, "passed"),
        (0.8 - 1e-12, 0.9, "passed"),
        (0.79, 0.9, "inconclusive"),
        (0.5, 0.8, "inconclusive"),
        (0.5, 0.79, "failed"),
        (nan, nan, "inconclusive"),
    ],
)
def test_a_tier_is_reached_by_the_whole_interval_or_missed_by_it(
    low: float, high: float, held: GateOutcome
) -> None:
    assert check_value(low, high, TIERS["production"]) == held


@given(st.floats(0, 1), st.floats(0, 1))
def test_more_room_for_doubt_never_decides_otherwise(a: float, b: float) -> None:
    """What passes or fails within wide bounds does so within all bounds inside them."""
    low, high = sorted((a, b))
    wide = check_value(low, high, TIERS["development"])
    if wide != "inconclusive":
        middle = (low + high) / 2
        assert check_value(middle, high, TIERS["development"]) == wide
        assert check_value(low, middle, TIERS["development"]) == wide


@pytest.mark.parametrize(
    ("found", "worst", "held"),
    [
        (change(0.0, -0.5, 0.5), 0.0, "passed"),
        (change(-0.1, -0.2, 0.0), -0.1, "passed"),
        (change(-0.2, -0.3, -0.1), -0.2, "failed"),
        (change(-0.2, -0.5, 0.1), -0.2, "inconclusive"),
        (change(0.0, -0.1, 0.1), -0.2, "inconclusive"),
        (change(-0.2, nan, nan), -0.2, "inconclusive"),
    ],
)
def test_a_drop_fails_where_chance_does_not_explain_it(
    found: Estimate, worst: float, held: GateOutcome
) -> None:
    assert check_drop(found, worst, 0.1) == held


@pytest.mark.parametrize(
    ("results", "passed"),
    [
        ([], None),
        ([None], None),
        ([True, None], None),
        ([True, True], True),
        ([True, False], False),
        ([None, False], False),
    ],
)
def test_what_was_not_checked_has_not_passed(
    results: list[bool | None],
    passed: bool | None,  # noqa: FBT001 - a parameter of the test
) -> None:
    assert all_passed(results) is passed
