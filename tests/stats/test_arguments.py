from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from judgekit.errors import NotEnoughDataError
from judgekit.stats.attribution import shapley_r2, type2_anova
from judgekit.stats.intervals import mean, proportion
from judgekit.stats.missing import floats
from judgekit.stats.paired import win_rate
from judgekit.stats.quantiles import require, require_whole
from judgekit.stats.reliability import ece
from judgekit.stats.resample import bootstrap
from judgekit.stats.rogan_gladen import corrected_pass_rate
from judgekit.stats.trend import direction
from judgekit.stats.variance import optimal_samples, pass_at_k

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_count_may_be_a_float_that_is_whole() -> None:
    assert require_whole(k=3.0, n=np.int64(10), m=True) == (3, 10, 1)
    assert {type(count) for count in require_whole(k=np.float64(3), n=np.int8(2))} == {int}
    assert proportion(7.0, 10.0) == proportion(7, 10)  # type: ignore[arg-type] # what is tested
    assert pass_at_k(10.0, 3.0, 5).value == pass_at_k(10, 3, 5).value  # type: ignore[arg-type] # as above


@pytest.mark.parametrize("count", [None, 0.5, math.nan, math.inf, "3"])
def test_what_is_no_count_is_refused_by_name(count: object) -> None:
    with pytest.raises(ValueError, match=f"wins is {count}; a count is a whole number"):
        require_whole(wins=count)
    with pytest.raises(ValueError, match=r"ties is .*; a count is a whole number"):
        win_rate(3, count, 1)  # type: ignore[arg-type] # what is tested


@pytest.mark.parametrize("number", [None, math.nan, math.inf, "3"])
def test_what_is_no_number_is_refused_by_name(number: object) -> None:
    assert require(sd=Fraction(1, 2)) == (0.5,)
    with pytest.raises(ValueError, match=f"sd is {number}; give a number"):
        require(sd=number)


def test_words_among_scores_are_named() -> None:
    with pytest.raises(ValueError, match=re.escape("not all values are numbers")):
        floats([1, "good", None])
    with pytest.raises(ValueError, match="rows differ in length"):
        floats([[1, 2], [3]])
    with pytest.raises(ValueError, match="an observation is no number"):
        mean([1, "good"])  # type: ignore[list-item] # what is tested


@pytest.mark.parametrize("seed", [0.5, math.nan])
def test_a_seed_is_a_whole_number(seed: float) -> None:
    with pytest.raises(ValueError, match="seed is"):
        bootstrap([1, 2], "mean", seed=seed)  # type: ignore[arg-type] # what is tested
    assert bootstrap([1, 2, 4], "mean", seed=1.0).low == bootstrap([1, 2, 4], "mean", seed=1).low  # type: ignore[arg-type] # as above


@pytest.mark.parametrize("fit", [shapley_r2, type2_anova])
def test_columns_are_whole_and_rows_match_scores(fit: Callable[..., object]) -> None:
    rows, y = [[float(i), float(i * i % 7)] for i in range(12)], [float(i % 5) for i in range(12)]
    assert fit(rows, y, [[0.0], [1.0]]) == fit(rows, y, [[0], [1]])
    with pytest.raises(ValueError, match="0 rows of predictors, 12 scores"):
        fit([], y, [[0]])
    with pytest.raises(NotEnoughDataError, match="no rows"):
        fit([], [], [[0]])


def test_an_anova_takes_any_number_of_groups() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(60, 12)).tolist(), rng.normal(size=60).tolist()
    groups = [[column] for column in range(12)]
    assert len(type2_anova(x, y, groups).f) == 12
    with pytest.raises(ValueError, match="12 groups of predictors; 1 to 10"):
        shapley_r2(x, y, groups)


def test_an_unknown_variance_leaves_the_plan_open() -> None:
    found = optimal_samples(math.nan, 0.4, 10, 1)
    assert (found.n_samples, found.reason) == (None, "a variance is unknown")


def test_a_number_of_resamples_is_whole_and_positive() -> None:
    several: Any = 200.0
    assert bootstrap([1, 2, 4], "mean", n_resamples=several, seed=1) == bootstrap(
        [1, 2, 4], "mean", n_resamples=200, seed=1
    )
    rng, counts = np.random.default_rng(1), (80, 100, 45, 50, 40, 50)
    with pytest.raises(ValueError, match="0 resamples; give 1 or more"):
        corrected_pass_rate(*counts, ci="bootstrap", rng=rng, n_resamples=0)
    with pytest.raises(ValueError, match="0 simulations; give 1 or more"):
        ece([0.5, 0.2], [1, 0], rng=rng, n_simulations=0)


def test_an_unknown_spread_is_refused() -> None:
    unknown: Any = "sd"
    with pytest.raises(ValueError, match="no spread is called 'sd'; known: range, cv"):
        direction([0.1, 0.2, 0.3], spread=unknown)
