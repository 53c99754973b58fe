from __future__ import annotations

import numpy as np
import pytest

from judgekit.errors import NotEnoughDataError
from judgekit.stats.calibration import fit_beta, fit_platt


def test_two_scores_get_the_smoothed_share_of_each() -> None:
    """Labels become 3/4 and 1/5 (n1 = 2, n0 = 3); each score's mean is met exactly."""
    found = fit_platt([0, 0, 0, 1, 1, None], [0, 0, 1, 0, 1, 1])
    assert found.predict([0, 1]) == pytest.approx([(0.2 + 0.2 + 0.75) / 3, (0.2 + 0.75) / 2])
    assert found.n_missing == 1


def test_a_separated_score_still_has_a_slope() -> None:
    found = fit_platt([1, 2, 3, 4], [0, 0, 1, 1])
    assert np.isfinite(found.slope)
    assert found.slope > 0


def test_an_overconfident_judge_is_drawn_in() -> None:
    rng = np.random.default_rng(1)
    true = rng.uniform(0.05, 0.95, 4000)
    labels = (rng.random(4000) < true).astype(float)
    stated = true**3 / (true**3 + (1 - true) ** 3)
    for fit in (fit_beta(stated.tolist(), labels.tolist()),):
        assert (fit.a, fit.b) == pytest.approx((1 / 3, 1 / 3), abs=0.05)
        assert fit.predict(stated) == pytest.approx(true, abs=0.05)


def test_a_beta_map_never_falls() -> None:
    found = fit_beta([0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [1, 1, 0, 1, 0, 0])
    assert (found.a, found.b) == (0, 0)
    rng = np.random.default_rng(3)
    for _ in range(20):
        s, y = rng.uniform(0, 1, 12), rng.integers(0, 2, 12)
        if 0 < y.sum() < 12:
            risen = np.diff(fit_beta(s.tolist(), y.tolist()).predict(np.linspace(0, 1, 20)))
            assert (risen >= -1e-12).all()


def test_two_confidences_leave_one_weight() -> None:
    found = fit_beta([0.2, 0.2, 0.9, 0.9], [0, 1, 1, 1])
    assert found.a > 0
    assert found.b == 0


def test_one_score_or_one_label_has_no_map() -> None:
    with pytest.raises(NotEnoughDataError, match="two different scores"):
        fit_platt([1, 1], [0, 1])
    with pytest.raises(NotEnoughDataError, match="both labels"):
        fit_beta([0.1, 0.9], [1, 1])
    with pytest.raises(ValueError, match="a confidence lies outside"):
        fit_beta([0.1, 1.9], [0, 1])
    with pytest.raises(ValueError, match="a label is neither"):
        fit_platt([0.1, 0.9], [0, 0.5])
