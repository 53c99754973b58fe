from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from judgekit.stats.multiplicity import AdjustMethod, adjust

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)
METHODS = st.sampled_from(["holm", "bh", "by"])


def test_holm_by_hand() -> None:
    """.01 * 3; .03 * 2; .04 * 1 is raised to the one before it."""
    assert adjust([0.04, 0.01, 0.03], "holm").value == pytest.approx((0.06, 0.03, 0.06))


def test_benjamini_hochberg_by_hand() -> None:
    """.01 * 3; .03 * 3/2 is lowered to the one after it, .04."""
    assert adjust([0.04, 0.01, 0.03], "bh").value == pytest.approx((0.04, 0.03, 0.04))


@given(P_VALUES, METHODS)
def test_adjusting_keeps_the_order_and_only_raises(raw: list[float], method: AdjustMethod) -> None:
    adjusted = adjust(raw, method).value
    assert all(p <= q * (1 + 1e-12) and q <= 1 for p, q in zip(raw, adjusted, strict=True))
    ranked = [q for _, q in sorted(zip(raw, adjusted, strict=True))]
    assert ranked == sorted(ranked)


@given(P_VALUES)
def test_the_screens_are_ordered_by_their_caution(raw: list[float]) -> None:
    bh, holm, by = (adjust(raw, m).value for m in ("bh", "holm", "by"))
    assert all(a <= b * (1 + 1e-12) for a, b in zip(bh, holm, strict=True))
    assert all(a <= b * (1 + 1e-12) for a, b in zip(bh, by, strict=True))


def test_an_undefined_p_value_is_no_look() -> None:
    adjusted = adjust([0.02, math.nan, 0.5, None])
    assert adjusted.value[0] == 0.04
    assert [math.isnan(p) for p in adjusted.value] == [False, True, False, True]
    assert (adjusted.n, adjusted.n_missing) == (2, 2)


def test_nothing_to_adjust_is_nothing() -> None:
    assert adjust([]).value == ()


def test_what_is_no_p_value_or_method_is_refused() -> None:
    with pytest.raises(ValueError, match="lies outside"):
        adjust([1.2])
    with pytest.raises(ValueError, match="known: holm, bh, by"):
        adjust([0.5], "sidak")  # type: ignore[arg-type] # what is tested
