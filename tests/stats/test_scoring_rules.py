from __future__ import annotations

import math

import numpy as np
import pytest

from judgekit.stats.reliability import brier_decomposition, known_probabilities, log_loss
from tests.stats.repeated_cases import N_CASES, NAMES, rated_cases
from tests.stats.simulation import covers_at_its_level, share_covering


@pytest.mark.no_cover
def test_scores_of_repeated_cases_cover_at_their_level() -> None:
    """p uniform on .05 to .95: E p (1 - p) = 1/4 - .9^2 / 12; repeats as items would not cover."""
    rng, found, naive, losses = np.random.default_rng(1), [], [], []
    for _ in range(200):
        p, y = (side.tolist() for side in rated_cases(rng))
        found.append(brier_decomposition(p, y, clusters=NAMES))
        naive.append(brier_decomposition(p, y))
        losses.append(log_loss(p, y, clusters=NAMES))
    truth = 0.25 - 0.81 / 12
    grid = np.linspace(0.05, 0.95, 200_001)
    surprise = float(-(grid * np.log(grid) + (1 - grid) * np.log(1 - grid)).mean())
    assert covers_at_its_level(found, truth)
    assert share_covering(naive, truth) < 0.85
    assert covers_at_its_level(losses, surprise)


def test_clusters_change_the_interval_and_not_the_parts() -> None:
    p, y = (side.tolist() for side in rated_cases(np.random.default_rng(2)))
    plain, clustered = brier_decomposition(p, y), brier_decomposition(p, y, clusters=NAMES)
    for name in ("brier", "reliability", "resolution", "uncertainty", "mcb", "dsc", "skill"):
        assert getattr(plain, name) == pytest.approx(getattr(clustered, name))
    assert (clustered.n, clustered.n_observations) == (N_CASES, len(p))
    assert clustered.design_effect > 1
    assert clustered.high - clustered.low > 1.2 * (plain.high - plain.low)
    loss = log_loss(p, y, clusters=NAMES)
    assert loss.value == pytest.approx(log_loss(p, y).value)
    assert (loss.n, loss.n_clusters) == (N_CASES, N_CASES)


def test_cases_that_do_not_vary_leave_no_interval() -> None:
    found = brier_decomposition([0.5, 0.5, 0.5], [1, 0, 1], clusters=["a", "b", "b"])
    assert (found.value, found.reason) == (0.25, "no variation")
    assert math.isnan(found.low)
    one = brier_decomposition([0.5, 0.7], [1, 0], clusters=["a", "a"])
    assert one.reason == "one cluster only"
    with pytest.raises(ValueError, match="2 pairs, but 1 cluster names"):
        log_loss([0.5, 0.7], [1, 0], clusters=["a"])


def test_missing_pairs_take_their_case_along() -> None:
    found = log_loss([0.5, None, 0.7, 0.2], [1, 1, 0, 1], clusters=["a", "b", "c", "c"])
    assert (found.n, found.n_missing) == (2, 1)
    p, y, _, n_missing = known_probabilities([0.5, None], [1, 0])
    assert (p.tolist(), y.tolist(), n_missing) == ([0.5], [1], 1)
