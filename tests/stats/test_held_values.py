"""A statistic is the same whatever holds its numbers, and no number of it is infinite."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from judgekit.stats.agreement import cohen_kappa
from judgekit.stats.attribution import shapley_r2
from judgekit.stats.bias import position_bias
from judgekit.stats.calibration import crossfit, fit_isotonic, fit_shift
from judgekit.stats.confidence import pool_logit, vote_confidence
from judgekit.stats.correction import active_mean, labels_look_random, ppi_mean
from judgekit.stats.intervals import clustered_proportion, mean, rating_mean
from judgekit.stats.multiplicity import adjust
from judgekit.stats.paired import amount_difference, paired_difference, pass_rate_difference
from judgekit.stats.raters import gwet_ac, icc, krippendorff_alpha
from judgekit.stats.reliability import conformal_quantile
from judgekit.stats.replacement import ceiling_gap
from judgekit.stats.trend import cochran_armitage, cusum, item_slopes, mann_kendall
from judgekit.stats.variance import components

if TYPE_CHECKING:
    from collections.abc import Callable

RATES = [1.0, 0.0, 1.0, 1.0, 0.0, None]
OTHER = [0.0, 0.0, 1.0, 0.0, 1.0, 1.0]
CASES = ["a", "a", "b", "b", "c", "c"]
ONE_LIST: list[Callable[[Any], Any]] = [
    mean,
    lambda x: clustered_proportion(x, CASES),
    lambda x: paired_difference(x, OTHER),
    lambda x: amount_difference(x, OTHER),
    lambda x: pass_rate_difference(x, OTHER),
    lambda x: vote_confidence(x, [0, 1]),
    pool_logit,
    adjust,
    conformal_quantile,
    mann_kendall,
    lambda x: cusum(x, 0.5, 1.0),
    lambda x: cochran_armitage(x, [4, 5, 4, 5, 4, 3]),
    lambda x: ceiling_gap([[0, 1], [0, 0], [1, 1], [1, 0], [0, 1], [1, 1]], x),
]


@pytest.mark.parametrize("statistic", ONE_LIST)
@pytest.mark.parametrize("kind", ["masked", "Float64"])
def test_what_is_masked_or_not_available_is_left_out(
    statistic: Callable[[Any], Any], kind: str
) -> None:
    masked = np.ma.masked_array([1.0, 0.0, 1.0, 1.0, 0.0, 9.0], mask=[False] * 5 + [True])
    held = masked if kind == "masked" else pd.Series(RATES, dtype="Float64")
    assert statistic(held) == statistic(RATES)


def test_a_masked_choice_is_missing() -> None:
    choices: Any = np.ma.masked_array(["first", "second", "tie"], mask=[False, False, True])
    other: Any = ["first", "first", "tie"]
    assert position_bias(choices, other) == position_bias(["first", "second", None], other)


def test_rows_of_a_frame_may_hold_what_is_not_available() -> None:
    rows: Any = [[1, 1, 2], [2, 2, 2], [3, 3, 3], [1, 2, 1], [3, None, 3]]
    frame: Any = pd.DataFrame(rows, columns=list("abc")).astype("Int64")
    assert icc(frame) == icc(rows)
    assert item_slopes(frame) == item_slopes(rows)
    assert ceiling_gap(frame, [1, 2, 3, 1, 3]) == ceiling_gap(rows, [1, 2, 3, 1, 3])
    groups = [[0], [1, 2]]
    assert shapley_r2(frame, [1, 2, 3, 1, 4], groups) == shapley_r2(rows, [1, 2, 3, 1, 4], groups)


def test_small_integers_of_numpy_do_not_overflow() -> None:
    few, many, scores = ([10, 20, 30], [5, 30, 20], [90, 70, 50, 40, 30])
    held = [np.array(x, dtype=np.uint8) for x in (few, many, scores)]
    assert amount_difference(*held[:2]) == amount_difference(few, many)  # type: ignore[arg-type] # what is tested
    assert mann_kendall(held[2]) == mann_kendall(scores)  # type: ignore[arg-type] # as above
    totals: Any = np.full(3, 100, dtype=np.int8)
    assert cochran_armitage(held[0], totals) == cochran_armitage(few, [100] * 3)  # type: ignore[arg-type] # as above
    ends: Any = np.array([0, 100], dtype=np.uint8)
    assert rating_mean(scores, ends, continuous=True) == rating_mean(
        scores, [0, 100], continuous=True
    )


def test_levels_in_an_array_are_weighed_by_their_distance() -> None:
    a, b, levels = [1, 2, 5, 5, 2, 1, 2, 5], [1, 1, 5, 2, 2, 1, 5, 5], [1, 2, 5]
    held: Any = np.array(levels)
    for weights in ("linear", "quadratic"):
        of_list = cohen_kappa(a, b, labels=levels, weights=weights)
        assert cohen_kappa(a, b, labels=held, weights=weights) == of_list
        rows = list(zip(a, b, strict=True))
        of_rows = gwet_ac(rows, labels=levels, weights=weights)
        assert gwet_ac(rows, labels=held, weights=weights) == of_rows


def test_a_number_of_folds_may_be_of_numpy() -> None:
    x = [1.0, 2.0, 3.0, 4.0]
    held: Any = np.int64(2)
    assert crossfit(fit_shift, x, x, held).tolist() == crossfit(fit_shift, x, x, 2).tolist()


INF = math.inf


@pytest.mark.parametrize(
    "statistic",
    [
        lambda: krippendorff_alpha([[1, INF], [1, 2]], "interval"),
        lambda: icc([[1, INF], [1, 2], [2, 2]]),
        lambda: item_slopes([[1, INF], [1, 2], [1, 3]]),
        lambda: conformal_quantile([0.1] * 9 + [INF]),
        lambda: components([[[1.0], [2.0]], [[INF], [2.0]]]),
        lambda: ppi_mean([0.0, 1.0, 1.0], [0.0, 1.0, 0.0], [INF, 1.0]),
        lambda: labels_look_random([0.2, 0.4], [0.1, INF]),
        lambda: active_mean([0.5, INF], [1.0, None], [0.5, 0.5]),
        lambda: shapley_r2([[1, 2], [2, INF], [3, 1], [4, 4]], [1, 2, 3, 5], [[0], [1]]),
        lambda: ceiling_gap([[1, INF], [2, 2]], [INF, 2], "neg_absolute"),
        lambda: fit_isotonic([1, 2], [1, 2], weights=[INF, 1]),
        lambda: pool_logit([0.1, 0.2], [INF, 1]),
    ],
)
def test_an_infinite_number_is_refused(statistic: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="infinite"):
        statistic()
