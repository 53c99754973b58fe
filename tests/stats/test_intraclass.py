from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.raters import ICCKind, icc
from tests.stats.simulation import covers_at_its_level

KINDS = get_args(ICCKind)
TABLE = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).normal(size=(6, 3)).round(2)
)


def test_raters_who_differ_by_leniency_are_consistent_but_do_not_agree() -> None:
    """Items 1, 2, 3 and one point more: MS_R = 2, MS_C = 1.5, MS_E = 0."""
    rows = [[1, 2], [2, 3], [3, 4]]
    assert icc(rows, "3,1").value == 1
    assert icc(rows, "2,1").value == pytest.approx(2 / (2 + 2 * 1.5 / 3))
    assert "raters differ nowhere" in (icc(rows, "3,1").reason or "")


@settings(max_examples=30)
@given(TABLE, st.sampled_from(KINDS))
def test_order_and_unit_do_not_matter(table: np.ndarray, kind: ICCKind) -> None:
    once, moved = icc(table.tolist(), kind), icc((table[::-1, ::-1] * 3 + 7).tolist(), kind)
    assert (moved.value, moved.low, moved.high) == pytest.approx(
        (once.value, once.low, once.high), nan_ok=True
    )
    assert once.reason is not None or once.low <= once.value <= once.high


@settings(max_examples=30)
@given(TABLE)
def test_the_mean_of_raters_follows_spearman_and_brown(table: np.ndarray) -> None:
    one, mean = icc(table.tolist(), "3,1").value, icc(table.tolist(), "3,k").value
    assert mean == pytest.approx(3 * one / (1 + 2 * one))


@pytest.mark.parametrize("kind", KINDS)
def test_ratings_that_do_not_vary_have_no_reliability(kind: ICCKind) -> None:
    found = icc([[3, 3], [3, 3], [3, 3]], kind)
    assert math.isnan(found.value)
    assert found.reason == "items do not vary: the correlation is undefined"


def test_items_with_a_missing_rating_are_left_out() -> None:
    found = icc([[1, 2], [3, None], [4, 4], [2, 3]], "2,1")
    assert (found.n, found.n_dropped, found.n_missing, found.n_raters) == (3, 1, 1, 2)


def test_a_table_needs_two_items_and_two_raters() -> None:
    with pytest.raises(NotEnoughDataError, match="1 complete items of 2 raters"):
        icc([[1, 2], [None, 1]])
    with pytest.raises(ValueError, match="unlike numbers of ratings"):
        icc([[1, 2], [1]])
    with pytest.raises(ValueError, match="no ICC is called '4,1'"):
        icc([[1, 2], [2, 1]], "4,1")  # type: ignore[arg-type] # the error is tested


def test_limits_that_cannot_be_told_are_not_shown() -> None:
    """Both raters contradict each other exactly: the mean square of items is 0."""
    found = icc([[1, 3], [3, 1], [2, 2]], "3,1")
    assert found.value == -1
    assert found.reason == "the limits are undefined in these data"


def test_a_limit_beyond_the_range_of_a_mean_is_not_shown() -> None:
    found = icc([[2, 4, 3], [4, 4, 2]], "2,k")
    assert found.reason == "the limits are undefined in these data"
    assert math.isnan(found.low)


def test_items_alike_and_raters_apart_have_no_limits() -> None:
    found = icc([[1, 2], [1, 2], [1, 2]], "2,1")
    assert (found.value, found.reason) == (0, "the limits are undefined in these data")


@pytest.mark.parametrize(("kind", "truth"), [("1,1", 0.5), ("3,1", 0.5), ("3,k", 0.75)])
def test_reliability_covers_at_its_level(kind: ICCKind, truth: float) -> None:
    rng = np.random.default_rng(1)
    found = []
    for _ in range(400):
        table = rng.normal(size=(25, 1)) + rng.normal(size=(25, 3))
        found.append(icc(table.tolist(), kind))
    assert covers_at_its_level(found, truth)


@pytest.mark.parametrize(("kind", "truth"), [("2,1", 1 / 2.3), ("2,k", 1 / (1 + 1.3 / 8))])
def test_absolute_agreement_covers_at_its_level(kind: ICCKind, truth: float) -> None:
    rng = np.random.default_rng(2)
    found = []
    for _ in range(400):
        leniency = rng.normal(0, math.sqrt(0.3), 8)
        table = rng.normal(size=(25, 1)) + leniency + rng.normal(size=(25, 8))
        found.append(icc(table.tolist(), kind))
    assert covers_at_its_level(found, truth)


def test_without_items_there_is_no_icc() -> None:
    nothing: tuple[list[list[float | None]], ...] = ([], [[], []])
    for rows in nothing:
        with pytest.raises(NotEnoughDataError):
            icc(rows)


def test_limits_that_do_not_hold_the_value_are_not_shown() -> None:
    """Satterthwaite's degrees of freedom fail where raters differ more than items do."""
    found = icc([[5, 2, 5, 1], [3.0, 3.0, 3.0, 3.0]], "2,1", level=0.8)
    assert found.value == pytest.approx(-4 / 13)
    assert found.reason == "the limits are undefined in these data"
    assert math.isnan(found.low)
