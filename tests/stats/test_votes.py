from __future__ import annotations

from collections import Counter
from itertools import product
from statistics import median as reference

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.stats.votes import median, mode, mode_bounds, nearest

POINTS = (0.0, 0.25, 0.5, 0.75, 1.0)
VOTES = st.lists(st.sampled_from(POINTS), min_size=1, max_size=7)


@given(st.lists(st.floats(0, 1), min_size=1))
def test_the_median_is_the_one_of_the_standard_library(values: list[float]) -> None:
    assert median(values) == reference(values)


def test_no_values_have_no_median_and_no_mode() -> None:
    with pytest.raises(ValueError, match="no values have no median"):
        median([])
    with pytest.raises(ValueError, match="no values"):
        mode([])


@pytest.mark.parametrize(
    ("votes", "value"),
    [([1, 1, 0], 1), ([0, 1], 0.5), ([1, 2, 2, 5, 5], 3.5), ([1, 2, 5], 2), ([3], 3)],
)
def test_the_mode_of_a_tie_is_the_median_of_the_tied(votes: list[float], value: float) -> None:
    assert mode(votes) == value


@given(VOTES)
def test_the_mode_is_that_of_a_count_by_hand(votes: list[float]) -> None:
    counts = Counter(votes)
    leaders = [vote for vote in counts if counts[vote] == max(counts.values())]
    assert mode(votes) == reference(leaders)


@settings(max_examples=100)
@given(st.lists(st.sampled_from(POINTS), max_size=5), st.integers(0, 3))
def test_however_open_votes_fall_the_mode_lies_within_its_bounds(
    votes: list[float], n_open: int
) -> None:
    if not votes and not n_open:
        return
    low, high = mode_bounds(votes, n_open) or (0.0, 1.0)
    for fallen in product(POINTS, repeat=n_open):
        assert low <= mode([*votes, *fallen]) <= high


def test_a_majority_that_cannot_be_lost_is_certain() -> None:
    assert mode_bounds([1, 1, 1, 0], 1) == (1, 1)
    assert mode_bounds([1, 1, 0], 1) == (0, 1)
    assert mode_bounds([1], 1) is None


@pytest.mark.parametrize(
    ("value", "point"),
    [(0.1, 0.0), (0.125, 0.0), (0.13, 0.25), (1.0, 1.0), (0.1 + 0.2 - 0.05, 0.25)],
)
def test_the_nearest_point_is_the_lower_of_two(value: float, point: float) -> None:
    assert nearest(value, POINTS) == point


def test_where_every_number_is_a_point_it_is_its_own() -> None:
    assert nearest(0.1 + 0.2, None) == 0.3
