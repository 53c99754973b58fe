from __future__ import annotations

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.stats.agreement import pairwise_accuracy
from judgekit.stats.concordant_pairs import count_pairs
from judgekit.stats.method_comparison import correlation

ITEM = st.tuples(st.integers(0, 2), st.integers(1, 4), st.integers(0, 12).map(lambda k: k / 10))


def by_pair(items: list[tuple[int, int, float]], width: float) -> dict[int, list[int]]:
    """Concordant, discordant, ties of x only, of y only, of both: every pair by itself."""
    found = {group: [0] * 5 for group in range(max(group for group, _, _ in items) + 1)}
    for (g, x, y), (h, v, w) in combinations(items, 2):
        if g == h:
            tied = abs(y - w) <= width + 1e-9
            alike = (x - v) * (y - w) > 0
            place = (4 if x == v else 3) if tied else 2 if x == v else 0 if alike else 1
            found[g][place] += 1
    return found


@settings(max_examples=150)
@given(st.lists(ITEM, min_size=1, max_size=30), st.sampled_from([0, 0.1, 0.3, 2]))
def test_counts_are_those_of_every_pair(items: list[tuple[int, int, float]], width: float) -> None:
    group, x, y = (np.array(column) for column in zip(*items, strict=True))
    found = count_pairs(x, y, group, width=width)
    for name, want in by_pair(items, width).items():
        assert [int(column[name]) for column in found] == want
        assert int(found.pairs[name]) == sum(want)


def test_many_outputs_in_one_group_take_little_memory() -> None:
    """Five thousand outputs have 12 million pairs; listed they would take 800 MiB."""
    rng = np.random.default_rng(1)
    human = rng.normal(size=5000)
    judge = human + rng.normal(size=5000)
    tracemalloc.start()
    found = pairwise_accuracy(human.tolist(), judge.tolist())
    tau = correlation(human.tolist(), judge.tolist(), "kendall")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * 2**20
    assert found.n_observations == 5000 * 4999 // 2
    assert 2 * found.value - 1 == pytest.approx(tau.value)  # without ties they say the same
