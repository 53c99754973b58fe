from __future__ import annotations

import math

import numpy as np
import pytest

from judgekit.errors import NotEnoughDataError
from judgekit.stats.logistic import expit, fit_logistic, maximise


def test_one_share_has_its_own_log_odds() -> None:
    fit = fit_logistic(np.ones((4, 1)), np.array([1.0, 1, 1, 0]))
    assert fit.coef[0] == pytest.approx(np.log(3))
    assert fit.curvature[0, 0] == pytest.approx(4 * 0.75 * 0.25)


def test_separated_outcomes_have_no_estimate() -> None:
    design = np.column_stack([np.ones(4), [1.0, 2, 3, 4]])
    with pytest.raises(NotEnoughDataError, match="outcomes are separated"):
        fit_logistic(design, np.array([0.0, 0, 1, 1]))


def test_predictors_that_depend_on_one_another_have_no_estimate() -> None:
    with pytest.raises(NotEnoughDataError, match="depend on one another"):
        fit_logistic(np.ones((4, 2)), np.array([0.0, 1, 1, 0]))


def test_large_log_odds_do_not_overflow() -> None:
    assert expit(np.array([-1e4, 0, 1e4])).tolist() == [0, 0.5, 1]


def test_a_step_too_far_is_halved() -> None:
    """Newton's step for -sqrt(1 + x^2) from 3 overshoots to -27."""
    found = maximise(
        lambda x: -float(np.sqrt(1 + x[0] ** 2)),
        lambda x: (-x / np.sqrt(1 + x**2), np.diag((1 + x**2) ** -1.5)),
        np.array([3.0]),
    )
    assert found[0] == pytest.approx(0, abs=1e-8)


def test_a_climb_without_end_is_no_estimate() -> None:
    with pytest.raises(NotEnoughDataError, match="no finite estimate"):
        maximise(lambda x: float(x[0]), lambda _: (np.ones(1), np.eye(1)), np.zeros(1))


def test_where_no_step_helps_the_climb_ends() -> None:
    top = np.array([2.0])
    found = maximise(
        lambda x: 0.0 if x[0] == top[0] else -math.inf, lambda _: (np.ones(1), np.eye(1)), top
    )
    assert found[0] == pytest.approx(2)
