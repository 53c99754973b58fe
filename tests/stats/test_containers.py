"""Values are read by their places, whatever holds them: a series has an index, an array a mask."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from judgekit.stats.agreement import cohen_kappa, lin_ccc, scott_pi
from judgekit.stats.correction import ppi_mean
from judgekit.stats.raters import fleiss_kappa, icc, krippendorff_alpha
from judgekit.stats.resample import bootstrap
from judgekit.stats.trend import item_slopes, should_escalate

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = [[1, 1, 2], [2, 2, 2], [3, 3, 3], [1, 2, 1], [3, 2, 3], [2, 2, 1], [1, 1, 1], [3, 3, 2]]
COLUMNS = ["first", "second", "third"]
FRAMES = [
    pd.DataFrame(ROWS, columns=COLUMNS),
    pl.DataFrame(ROWS, schema=COLUMNS, orient="row"),
    np.array(ROWS).astype(str),
]


@pytest.mark.parametrize("frame", FRAMES[:2])
@pytest.mark.parametrize("statistic", [fleiss_kappa, icc, krippendorff_alpha, item_slopes])
def test_the_items_of_a_frame_are_its_rows(statistic: Callable[[Any], Any], frame: Any) -> None:
    assert statistic(frame) == statistic(ROWS)


def test_ratings_may_be_words_in_an_array() -> None:
    assert fleiss_kappa(FRAMES[2]) == fleiss_kappa(ROWS)


def test_clusters_of_a_sorted_frame_stay_with_their_observations() -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"a": rng.integers(1, 4, 40) * 1.0, "case": np.arange(40) // 4})
    table["b"] = np.where(rng.random(40) < 0.7, table.a, rng.integers(1, 4, 40))
    table.loc[[3, 11], "a"] = math.nan
    table = table.sort_values("b", kind="stable")
    a, b, case = (table[name].tolist() for name in ("a", "b", "case"))
    series: Any = table
    by_index = cohen_kappa(series.a, series.b, labels=[1, 2, 3], clusters=series.case)
    assert by_index == cohen_kappa(a, b, labels=[1, 2, 3], clusters=case)
    resampled = bootstrap(series.a, "mean", clusters=series.case, seed=1)
    assert resampled == bootstrap(a, "mean", clusters=case, seed=1)
    corrected = ppi_mean(series.a, series.b, [1.0, 2.0], clusters=(series.case, [50, 51]))
    assert corrected == ppi_mean(a, b, [1.0, 2.0], clusters=(case, [50, 51]))


def test_runs_are_in_their_order_and_not_in_that_of_an_index() -> None:
    runs: Any = pd.Series(["degrading"] * 3 + ["stable"], index=[3, 2, 1, 0])
    assert not should_escalate(runs).value


MISSING = [
    np.ma.masked_array([1, 2, 3, 2, 99], mask=[False] * 4 + [True]),
    pd.Series([1, 2, 3, 2, None], dtype=object),
    pd.Series([1, 2, 3, 2, None], dtype="Int64"),
]


@pytest.mark.parametrize("labels", MISSING)
def test_what_is_masked_or_not_available_is_missing(labels: Any) -> None:
    known, other = [1, 2, 3, 2, None], [1, 2, 2, 2, 3]
    assert scott_pi(labels, other) == scott_pi(known, other)
    assert cohen_kappa(labels, other, labels=[1, 2, 3]) == cohen_kappa(
        known, other, labels=[1, 2, 3]
    )
    assert lin_ccc(labels, other) == lin_ccc(known, other)


def test_a_masked_rating_is_missing() -> None:
    hidden = [[7, *ROWS[0][1:]], *ROWS[1:]]
    masked: Any = np.ma.masked_array(hidden, mask=np.array(hidden) == 7)
    known: Any = [[None, *ROWS[0][1:]], *ROWS[1:]]
    assert fleiss_kappa(masked) == fleiss_kappa(known)
    assert icc(masked) == icc(known)
    assert fleiss_kappa([[pd.NA, 1, 2], *ROWS[1:]]) == fleiss_kappa(known)
