from __future__ import annotations

import math

import numpy as np
import pytest

from judgekit.errors import NotEnoughDataError
from judgekit.stats.trend import baseline, changepoint


def test_a_baseline_spreads_at_least_as_drawing_the_cases() -> None:
    scores = [0.8, 0.81] * 4
    assert baseline(scores).sd == pytest.approx(0.01 * math.sqrt(2 / 7))
    rate = (0.805 * 50 + 1) / 52
    assert baseline(scores, n_cases=50).sd == pytest.approx(math.sqrt(rate * (1 - rate) / 50))
    assert baseline([1.0] * 8, n_cases=50).sd > 0


def test_what_is_no_baseline_is_refused() -> None:
    with pytest.raises(NotEnoughDataError, match="7 runs"):
        baseline([0.5] * 7)
    with pytest.raises(NotEnoughDataError, match="do not vary"):
        baseline([0.5] * 8)
    with pytest.raises(ValueError, match="scores are rates"):
        baseline([2, 3] * 4, n_cases=10)


def test_a_fall_is_found_where_it_is() -> None:
    scores = [0.8, 0.82, None, 0.81, 0.79, 0.6, 0.62, 0.61, 0.6]
    found = changepoint(scores, rng=np.random.default_rng(1))
    assert (found.at, found.n) == (5, 8)
    assert found.z < 0
    assert found.p_value < 0.05


def test_noise_has_no_changepoint_at_its_level() -> None:
    rng = np.random.default_rng(2)
    found = [
        changepoint(rng.normal(size=12).tolist(), rng=rng, n_resamples=199) for _ in range(200)
    ]
    share = sum(c.p_value <= 0.1 for c in found) / 200
    assert share == pytest.approx(0.1, abs=3 * math.sqrt(0.09 / 200))


@pytest.mark.parametrize("scores", [[1, 2, 3], [0.1] * 6])
def test_without_a_series_there_is_no_change(scores: list[float]) -> None:
    with pytest.raises(NotEnoughDataError, match="four scores"):
        changepoint(scores, rng=np.random.default_rng(1))
