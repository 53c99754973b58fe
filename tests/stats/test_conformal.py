from __future__ import annotations

import math

import numpy as np
import pytest

from judgekit.stats.reliability import conformal_quantile, conformal_set


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


def test_what_is_no_residual_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        conformal_quantile([-1.0])
    with pytest.raises(ValueError, match="alpha is 1"):
        conformal_quantile([1.0], 1)
