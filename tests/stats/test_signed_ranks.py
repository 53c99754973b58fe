from __future__ import annotations

from itertools import product
from math import isnan, nan

import pytest
from hypothesis import given, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.paired import signed_rank_test

DIFFERENCES = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=9)


def test_depression_scores_of_hollander_and_wolfe() -> None:
    """R's `?wilcox.test` (Hollander & Wolfe 1973, p. 29): V = 40, one-sided p 0.01953."""
    x = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    y = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    found = signed_rank_test(y, x)
    assert found.w_plus == 40
    assert found.p_value == pytest.approx(2 * 0.01953125)
    assert found.value == pytest.approx((40 - 5) / 45)


@given(d=DIFFERENCES)
def test_the_exact_p_is_the_share_of_all_flips_of_signs(d: list[float]) -> None:
    found = signed_rank_test([0.0] * len(d), d)
    moved = sorted(abs(x) for x in d if x)
    ranks = {x: sum(k + 1 for k, y in enumerate(moved) if y == x) / moved.count(x) for x in moved}
    total = sum(ranks[abs(x)] * (1 if x > 0 else -1) for x in d if x)
    flips = [
        abs(sum(sign * ranks[x] for sign, x in zip(signs, moved, strict=True))) >= abs(total)
        for signs in product((1, -1), repeat=len(moved))
    ]
    if moved:
        assert found.p_value == pytest.approx(sum(flips) / len(flips))
    else:
        assert isnan(found.p_value)
    assert found.n_zero == len(d) - len(moved)


@given(d=DIFFERENCES)
def test_turned_round_it_is_mirrored(d: list[float]) -> None:
    zeros = [0.0] * len(d)
    there, back = signed_rank_test(zeros, d), signed_rank_test(d, zeros)
    assert (isnan(there.p_value) and isnan(back.p_value)) or there.p_value == back.p_value
    assert isnan(there.value) or there.value == pytest.approx(-back.value)


def test_with_many_items_it_is_the_normal_law() -> None:
    """scipy 1.17.1: wilcoxon(range(-40, 80), method="approx", correction=False)."""
    d = [float(k) for k in range(-40, 80)]
    found = signed_rank_test([0.0] * 120, d)
    assert found.method == "signed ranks, normal"
    assert found.p_value == pytest.approx(2.326921468571165e-07)


def test_what_is_missing_is_left_out_and_rounding_is_no_difference() -> None:
    found = signed_rank_test([0.1 + 0.2, 1.0, None, 2.0], [0.3, 2.0, 1.0, nan])
    assert (found.n, found.n_zero, found.n_missing) == (2, 1, 2)
    assert found.value == 1


def test_without_a_difference_there_is_no_p() -> None:
    found = signed_rank_test([1.0, 2.0], [1.0, 2.0])
    assert isnan(found.p_value)
    assert found.reason == "no item differs"


def test_nothing_to_compare_is_refused() -> None:
    with pytest.raises(NotEnoughDataError, match="no item has a value of both"):
        signed_rank_test([None], [1.0])
    with pytest.raises(ValueError, match="have to be equally long"):
        signed_rank_test([1.0], [1.0, 2.0])
