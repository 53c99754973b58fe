from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from judgekit.stats.concordant_pairs import count_below

POINTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=25)


def plane(points: list[tuple[int, int]]) -> np.ndarray:
    return np.array(points, dtype=int).reshape(-1, 2).T


@settings(max_examples=100)
@given(POINTS, POINTS)
def test_what_lies_below_is_what_every_pair_says(
    points: list[tuple[int, int]], corners: list[tuple[int, int]]
) -> None:
    want = [sum(x < a and y < b for x, y in points) for a, b in corners]
    assert count_below(*plane(points), *plane(corners)).tolist() == want
