from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.stats.agreement_coefficients import coefficient_interval
from judgekit.stats.selective import auroc
from tests.stats.repeated_cases import N_CASES, NAMES, REPEATS
from tests.stats.simulation import covers_at_its_level, share_covering

ITEM = st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 1))


@settings(max_examples=60)
@given(st.lists(ITEM, min_size=3, max_size=20))
def test_cases_are_left_out_whole(items: list[tuple[int, int, int]]) -> None:
    """The same as the jackknife over areas of what is left."""
    found = auroc(
        [p for _, p, _ in items], [y for _, _, y in items], clusters=[name for name, _, _ in items]
    )
    names = list(dict.fromkeys(name for name, _, _ in items))
    assert found.n == found.n_clusters == len(names)
    without = [
        auroc(
            [p for name, p, _ in items if name != gone], [y for name, _, y in items if name != gone]
        ).value
        for gone in names
    ]
    left = [2 * v - 1 for v in without]
    low, high, _ = coefficient_interval(2 * found.value - 1, left, level=0.95)
    assert (
        (found.low, found.high) == pytest.approx(((low + 1) / 2, (high + 1) / 2), nan_ok=True)
    ) or (found.reason is not None)
    assert math.isnan(found.low) == (found.reason is not None)


def test_the_area_over_cases_covers_where_that_over_items_does_not() -> None:
    """Confidence and rightness are shared by the answers of a case: P(right > wrong) = .76."""
    rng, found, naive = np.random.default_rng(1), [], []
    for _ in range(300):
        y = np.repeat(rng.integers(0, 2, N_CASES), REPEATS)
        p = np.repeat(rng.normal(size=N_CASES), REPEATS) + y + rng.normal(0, 0.2, len(y))
        found.append(auroc(p.tolist(), y.tolist(), clusters=NAMES))
        naive.append(auroc(p.tolist(), y.tolist()))
    truth = 0.5 * (1 + math.erf(1 / math.sqrt(1 + 0.2**2) / 2))
    assert covers_at_its_level(found, truth)
    assert share_covering(naive, truth) < 0.75


def test_one_case_that_has_all_that_is_wrong_leaves_no_interval() -> None:
    found = auroc([1, 2, 3, 2], [1, 1, 0, 0], clusters=["a", "b", "c", "c"])
    assert found.value == pytest.approx(0.125)
    assert found.reason == "leaving one case out leaves the coefficient undefined"
    assert auroc([1, 2], [1, 1], clusters=["a", "b"]).reason == (
        "2 right and 0 wrong items: there is nothing to distinguish"
    )
    with pytest.raises(ValueError, match="2 pairs, but 3 cluster names"):
        auroc([1, 2], [1, 0], clusters=["a", "b", "c"])


def test_ten_thousand_answers_are_quick() -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 10_000)
    p, right = (rng.normal(size=10_000) + y).tolist(), y.tolist()
    found = auroc(p, right, clusters=np.repeat(np.arange(2500), 4).tolist())
    plain = auroc(p, right)
    assert found.value == plain.value
    assert found.high - found.low == pytest.approx(plain.high - plain.low, rel=0.1)
