from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.reliability import (
    conformal_by_group,
    conformal_ordinal_set,
    conformal_quantile,
    conformal_set,
    ordinal_residual,
)


def test_the_quantile_is_an_order_statistic() -> None:
    """(n + 1)(1 - alpha) = 18 of 19: the second largest."""
    residuals = [float(x) for x in range(1, 20)]
    found = conformal_quantile([*residuals, None], 0.1)
    assert (found.value, found.n) == (18, 19)
    assert 0.7 < found.coverage_low < 0.9


@pytest.mark.parametrize(("alpha", "needed"), [(0.1, 9), (0.05, 19), (0.2, 4)])
def test_so_many_residuals_are_needed(alpha: float, needed: int) -> None:
    assert math.isfinite(conformal_quantile([0.5] * needed, alpha).value)
    short = conformal_quantile([0.5] * (needed - 1), alpha)
    assert short.value == math.inf
    assert f"{needed} are needed for" in (short.reason or "")


def test_too_few_residuals_give_the_whole_scale() -> None:
    assert conformal_set([0.1], 0.1, 3.0, [1, 2, 3, 4]).labels == (1, 2, 3, 4)


def test_an_uncertain_item_gets_a_wider_set() -> None:
    residuals = [0.5] * 19
    assert conformal_set(residuals, 0.1, 3.0, [1, 2, 3, 4, 5]).labels == (3,)
    assert conformal_set(residuals, 0.1, 3.0, [1, 2, 3, 4, 5], spread=2).labels == (2, 3, 4)
    with pytest.raises(ValueError, match="more than 0"):
        conformal_set(residuals, 0.1, 3.0, [1, 2], spread=0)


def test_new_items_are_covered_as_often_as_stated() -> None:
    rng = np.random.default_rng(1)
    kept = [
        abs(rng.normal()) <= conformal_quantile(np.abs(rng.normal(size=39)).tolist(), 0.1).value
        for _ in range(1500)
    ]
    assert abs(np.mean(kept) - 0.9) < 3 * math.sqrt(0.09 / 1500)


def test_a_group_of_its_own_size_has_its_own_width() -> None:
    residuals, groups = [1.0] * 25 + [9.0] * 25 + [5.0, None], [*"x" * 25, *"y" * 25, "z", "z"]
    found = conformal_by_group(residuals, groups, 0.1)
    assert (found["x"].value, found["y"].value) == (1, 9)
    assert found["z"] == conformal_quantile(residuals, 0.1)
    with pytest.raises(ValueError, match="1 group names"):
        conformal_by_group([1, 2], ["x"])


def test_mass_is_taken_in_from_the_mode_outwards() -> None:
    p = [0.1, 0.2, 0.5, 0.15, 0.05]
    assert [ordinal_residual(p, k) for k in range(5)] == pytest.approx([0.95, 0.7, 0.5, 0.85, 1])
    held = conformal_ordinal_set([0.7] * 9, 0.1, p, [1, 2, 3, 4, 5])
    assert held.labels == (2, 3)
    assert conformal_ordinal_set([0.2] * 9, 0.1, p, [1, 2, 3, 4, 5]).labels == ()
    assert conformal_ordinal_set([0.2], 0.1, p, [1, 2, 3, 4, 5]).labels == (1, 2, 3, 4, 5)


@settings(max_examples=40)
@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=6), st.floats(0.05, 1))
def test_an_ordinal_set_holds_the_levels_whose_mass_fits(p: list[float], mass: float) -> None:
    held = conformal_ordinal_set([mass] * 9, 0.1, p, list(range(len(p)))).labels
    want = [k for k in range(len(p)) if ordinal_residual(p, k) <= mass + 1e-9]
    assert list(held) == want


def test_what_is_no_residual_or_distribution_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        conformal_quantile([-1.0])
    with pytest.raises(ValueError, match="alpha is 1"):
        conformal_quantile([1.0], 1)
    with pytest.raises(ValueError, match="level 5 of 2"):
        ordinal_residual([0.5, 0.5], 5)
    with pytest.raises(NotEnoughDataError, match="positive mass"):
        ordinal_residual([0.0, 0.0], 0)
    with pytest.raises(ValueError, match="1 levels, but 2"):
        conformal_ordinal_set([0.1], 0.1, [0.5, 0.5], [1])
