from __future__ import annotations

import numpy as np
import pytest

from judgekit.errors import NotEnoughDataError
from judgekit.stats.calibration import fit_platt


def test_two_scores_get_the_smoothed_share_of_each() -> None:
    """Labels become 3/4 and 1/5 (n1 = 2, n0 = 3); each score's mean is met exactly."""
    found = fit_platt([0, 0, 0, 1, 1, None], [0, 0, 1, 0, 1, 1])
    assert found.predict([0, 1]) == pytest.approx([(0.2 + 0.2 + 0.75) / 3, (0.2 + 0.75) / 2])
    assert found.n_missing == 1


def test_a_separated_score_still_has_a_slope() -> None:
    found = fit_platt([1, 2, 3, 4], [0, 0, 1, 1])
    assert np.isfinite(found.slope)
    assert found.slope > 0


def test_one_score_or_one_label_has_no_map() -> None:
    with pytest.raises(NotEnoughDataError, match="two different scores"):
        fit_platt([1, 1], [0, 1])
    with pytest.raises(NotEnoughDataError, match="both labels"):
        fit_platt([0.1, 0.9], [1, 1])
    with pytest.raises(ValueError, match="a label is neither"):
        fit_platt([0.1, 0.9], [0, 0.5])
