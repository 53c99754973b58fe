from __future__ import annotations

import math

import pytest

from judgekit.stats.agreement import cohen_kappa
from judgekit.stats.agreement_coefficients import (
    above_chance,
    category_weights,
    coefficient_interval,
)


def test_weights_follow_the_values_of_the_scale() -> None:
    assert category_weights([1, 2, 5], "linear")[0].tolist() == [1, 0.75, 0]
    assert category_weights([1, 2, 5], "quadratic")[0].tolist() == [1, 0.9375, 0]


def test_labels_that_are_no_numbers_are_weighed_by_place() -> None:
    named = category_weights(["poor", "fair", "good"], "linear")
    assert named.tolist() == category_weights([1, 2, 3], "linear").tolist()


def test_ordinal_weights_count_pairs_of_labels_in_between() -> None:
    """C(2, 2) / C(3, 2) = 1/3 for neighbours of three, C(3, 2) / C(3, 2) = 1 for the ends."""
    assert category_weights([1, 2, 3], "ordinal")[0] == pytest.approx([1, 2 / 3, 0])


def test_a_scale_holds_each_label_once() -> None:
    with pytest.raises(ValueError, match="each label once"):
        category_weights([1, 1, 2], None)
    with pytest.raises(ValueError, match="each label once"):
        category_weights([1], None)
    with pytest.raises(ValueError, match="known: linear, quadratic, ordinal"):
        category_weights([1, 2], "cubic")  # type: ignore[arg-type] # the error is tested


def test_full_agreement_by_chance_leaves_nothing_to_measure() -> None:
    assert math.isnan(float(above_chance(1.0, 1.0)))  # type: ignore[arg-type] # a number will do
    assert float(above_chance(0.5, 0.5 + 1e-15)) == 0  # type: ignore[arg-type] # as above


@pytest.mark.parametrize(
    ("value", "left_out", "reason"),
    [
        (0.5, [0.4], "one item only"),
        (1.0, [1.0, 1.0], "its spread cannot be seen"),
        (0.5, [0.4, math.nan], "leaving one item out leaves the coefficient undefined"),
        (0.5, [0.5, 0.5], "no item changes"),
    ],
)
def test_an_interval_that_is_not_there_has_a_reason(
    value: float, left_out: list[float], reason: str
) -> None:
    ends = coefficient_interval(value, left_out, level=0.95)
    assert math.isnan(ends.low)
    assert reason in (ends.reason or "")


def test_unknown_intervals_are_refused() -> None:
    with pytest.raises(ValueError, match="known: jackknife, smoothed, analytic, none"):
        cohen_kappa([1, 2], [1, 2], labels=[1, 2], ci="wald")  # type: ignore[arg-type] # refused
