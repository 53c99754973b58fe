from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.agreement import calibrate_ties, pairwise_accuracy
from tests.stats.simulation import covers_at_least

ITEMS = st.lists(
    st.tuples(st.integers(1, 3), st.integers(0, 6), st.integers(0, 2)), min_size=3, max_size=14
)


def brute_accuracy(items: list[tuple[int, int, int]], width: float) -> float:
    shares = []
    for group in sorted({g for *_, g in items}):
        members = [(h, j) for h, j, g in items if g == group]
        right = [
            (abs(j - w) <= width) if h == v else (abs(j - w) > width and (h > v) == (j > w))
            for (h, j), (v, w) in combinations(members, 2)
        ]
        if right:
            shares.append(sum(right) / len(right))
    return sum(shares) / len(shares) if shares else math.nan


@settings(max_examples=25)
@given(ITEMS, st.integers(0, 3))
def test_accuracy_is_the_share_of_pairs_ordered_or_tied_alike(
    items: list[tuple[int, int, int]], width: int
) -> None:
    want = brute_accuracy(items, width)
    if math.isnan(want):
        return
    human, judge, groups = zip(*items, strict=True)
    found = pairwise_accuracy(human, judge, groups, tie_epsilon=width)
    assert found.value == pytest.approx(want)
    assert found.low < found.high or found.reason == "one group only"


@settings(max_examples=30)
@given(ITEMS)
def test_the_calibrated_width_is_the_smallest_best_one(items: list[tuple[int, int, int]]) -> None:
    tried = {width: brute_accuracy(items, width) for width in range(7)}
    if math.isnan(tried[0]):
        return
    human, judge, groups = zip(*items, strict=True)
    found = calibrate_ties(human, judge, groups)
    assert found.value == pytest.approx(max(tried.values()))
    best = [w for w, accuracy in tried.items() if accuracy >= found.value - 1e-9]
    assert found.epsilon == min(best)


def test_each_kind_of_pair_is_counted() -> None:
    found = pairwise_accuracy([1, 2, 2, 3], [1, 1, 2, None])
    kinds = found.concordant, found.discordant, found.ties_human, found.ties_judge, found.ties_both
    assert kinds == (1, 0, 1, 1, 0)
    assert (found.n, found.n_missing, found.reason) == (1, 1, "one group only")
    assert math.isnan(found.low)
    assert pairwise_accuracy([1, 2, 2], [2, 1, 1]).discordant == 2


def test_an_in_sample_width_flatters() -> None:
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(8), 5).tolist()
    human, judge = rng.integers(1, 4, 40).tolist(), rng.normal(size=40).tolist()
    found = calibrate_ties(human, judge, groups)
    assert found.crossfit.value < found.value
    assert found.crossfit.low < found.crossfit.value < found.crossfit.high


def test_one_group_cannot_be_held_out() -> None:
    found = calibrate_ties([1, 2, 3], [1, 2, 3])
    assert (found.epsilon, found.value) == (0, 1)
    assert found.crossfit.reason == "one group only"


def test_pairs_need_two_scored_outputs() -> None:
    with pytest.raises(NotEnoughDataError, match="no group has two outputs"):
        pairwise_accuracy([1, 2], [1, None])
    with pytest.raises(ValueError, match="a width is 0 or more"):
        pairwise_accuracy([1, 2], [1, 2], tie_epsilon=-0.1)
    with pytest.raises(ValueError, match="1 cluster names"):
        pairwise_accuracy([1, 2], [1, 2], ["x"])


def test_the_accuracy_of_pairs_covers_at_its_level() -> None:
    """Scores with noise of equal variance: a pair is ordered alike with 1/2 + asin(rho) / pi."""
    rng, groups = np.random.default_rng(2), np.repeat(np.arange(25), 4).tolist()
    truth, found = 0.5 + math.asin(math.sqrt(0.5)) / math.pi, []
    for _ in range(300):
        human = rng.normal(size=100)
        judge = human + rng.normal(size=100)
        found.append(pairwise_accuracy(human.tolist(), judge.tolist(), groups))
    assert covers_at_least(found, truth)


def test_the_cross_fitted_accuracy_covers_at_its_level() -> None:
    """Humans never tie, so no width helps and the chosen one is 0 or near it."""
    rng, groups = np.random.default_rng(3), np.repeat(np.arange(25), 4).tolist()
    truth, found = 0.5 + math.asin(math.sqrt(0.5)) / math.pi, []
    for _ in range(150):
        human = rng.normal(size=100)
        judge = human + rng.normal(size=100)
        found.append(calibrate_ties(human.tolist(), judge.tolist(), groups).crossfit)
    assert covers_at_least(found, truth - 0.01)


def test_an_infinite_score_is_refused() -> None:
    with pytest.raises(ValueError, match="a value is infinite"):
        pairwise_accuracy([1, math.inf], [1, 2])
