from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.calibration import fit_isotonic

PAIRS = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 5)), min_size=1, max_size=25)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), min_size=1, max_size=20))
def test_a_fit_is_the_largest_of_the_smallest_means_around_it(rows: list[tuple[int, int]]) -> None:
    y, w = np.array(rows, dtype=float).T
    n = len(y)
    means = {
        (i, j): np.average(y[i : j + 1], weights=w[i : j + 1])
        for i in range(n)
        for j in range(i, n)
    }
    expected = [
        max(min(means[i, j] for j in range(at, n)) for i in range(at + 1)) for at in range(n)
    ]
    found = fit_isotonic(range(n), y, weights=w)
    assert found.knots_y == pytest.approx(expected)


@settings(max_examples=30)
@given(PAIRS)
def test_the_map_rises_and_keeps_the_mean(pairs: list[tuple[int, int]]) -> None:
    x, y = [a for a, _ in pairs], [b for _, b in pairs]
    found = fit_isotonic(x, y)
    assert list(found.knots_y) == sorted(found.knots_y)
    assert found.predict(x).mean() == pytest.approx(np.mean(y))


def test_between_knots_it_is_linear_and_beyond_them_level() -> None:
    found = fit_isotonic([1, 3, None], [0, 1, 5])
    assert found.predict([0, 2, 9]).tolist() == [0, 0.5, 1]
    assert found.n_missing == 1


def test_weights_count_as_repeats() -> None:
    weighted = fit_isotonic([1, 1, 2], [0, 3, 1], weights=[2, 1, 1])
    assert weighted == fit_isotonic([1, 1, 1, 2], [0, 0, 3, 1]).__class__(
        knots_x=(1, 2), knots_y=(1, 1), n=3
    )


def test_a_map_needs_pairs_and_sound_weights() -> None:
    with pytest.raises(NotEnoughDataError, match="no pair"):
        fit_isotonic([None], [1])
    with pytest.raises(ValueError, match="1 weights"):
        fit_isotonic([1, 2], [1, 2], weights=[1])
    with pytest.raises(ValueError, match="not more than 0"):
        fit_isotonic([1, 2], [1, 2], weights=[1, 0])
