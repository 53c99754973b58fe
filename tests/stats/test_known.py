from __future__ import annotations

import math

import pytest

from judgekit.stats.estimate import is_missing
from judgekit.stats.missing import cluster_codes, known_labels, known_pairs, outcomes


def test_none_and_nan_are_missing_and_zero_is_not() -> None:
    assert is_missing(None)
    assert is_missing(math.nan)
    assert not is_missing(0)
    assert not is_missing("")


def test_a_pair_counts_when_both_sides_are_known() -> None:
    left, right, n_missing = known_pairs([1, None, 3, 4], [5, 6, math.nan, 8])
    assert (left.tolist(), right.tolist(), n_missing) == ([1, 4], [5, 8], 2)
    assert known_labels(["x", None, "y"], ["x", "x", math.nan]) == ([("x", "x")], [0])


def test_sides_of_unlike_length_are_refused() -> None:
    with pytest.raises(ValueError, match="have to be equally long"):
        known_pairs([1, 2], [1])
    with pytest.raises(ValueError, match="2 labels of one rater, but 1"):
        known_labels(["x", "y"], ["x"])


def test_infinite_values_are_refused() -> None:
    with pytest.raises(ValueError, match="infinite"):
        known_pairs([math.inf], [1])


def test_an_outcome_is_yes_or_no_or_missing() -> None:
    assert outcomes([True, 0, None])[:2].tolist() == [1, 0]
    with pytest.raises(ValueError, match="a label is neither 0 nor 1"):
        outcomes([0.5], "a label")


def test_clusters_are_numbered_as_they_appear() -> None:
    assert cluster_codes(["b", "a", "b", "c"], [0, 2, 3]).tolist() == [0, 0, 1]
