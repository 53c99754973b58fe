from __future__ import annotations

import math
from itertools import permutations
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.stats.alpha import AlphaLevel, krippendorff_alpha
from tests.stats.rated_items import joint, rated, rated_twice
from tests.stats.simulation import covers_at_its_level

LEVELS = get_args(AlphaLevel)
RATING = st.one_of(st.none(), st.integers(0, 3))
TABLE = st.lists(st.tuples(RATING, RATING, RATING), min_size=2, max_size=9).filter(
    lambda rows: any(sum(r is not None for r in row) > 1 for row in rows)
)
Rows = list[tuple[int | None, ...]]


def brute_alpha(rows: Rows, level: str) -> float:
    """Mean distance of two ratings of one item over that of any two (Krippendorff 2011)."""
    units = [u for row in rows if len(u := [r for r in row if r is not None]) > 1]
    pool = [r for u in units for r in u]

    def distance(c: int, k: int) -> float:
        if level == "nominal":
            return float(c != k)
        if level == "ratio":
            return ((c - k) / (c + k)) ** 2 if c + k else 0.0
        if level == "ordinal":
            between = sum(pool.count(g) for g in range(min(c, k), max(c, k) + 1))
            return (between - (pool.count(c) + pool.count(k)) / 2) ** 2
        return float(c - k) ** 2

    n = len(pool)
    seen = sum(sum(distance(x, y) for x, y in permutations(u, 2)) / (len(u) - 1) for u in units) / n
    chance = sum(distance(x, y) for x, y in permutations(pool, 2)) / (n * (n - 1))
    return 1 - seen / chance if chance else math.nan


@settings(max_examples=30)
@given(TABLE, st.sampled_from(LEVELS))
def test_alpha_follows_its_definition(rows: Rows, level: AlphaLevel) -> None:
    found = krippendorff_alpha(rows, level)
    assert found.value == pytest.approx(brute_alpha(rows, level), nan_ok=True)


@settings(max_examples=30)
@given(TABLE, st.sampled_from(LEVELS))
def test_its_interval_leaves_out_one_item_at_a_time(rows: Rows, level: AlphaLevel) -> None:
    found = krippendorff_alpha(rows, level)
    kept = [row for row in rows if sum(r is not None for r in row) > 1]
    left = [brute_alpha(kept[:i] + kept[i + 1 :], level) if len(kept) > 1 else math.nan
            for i in range(len(kept))]  # fmt: skip
    if found.reason is None:
        se = math.sqrt((len(left) - 1) / len(left) * np.sum((np.array(left) - np.mean(left)) ** 2))
        half = math.atanh(found.high) - math.atanh(found.value)
        from scipy.special import stdtrit  # noqa: PLC0415 - beside the formula it belongs to

        assert half == pytest.approx(stdtrit(len(left) - 1, 0.975) * se / (1 - found.value**2))


@settings(max_examples=30)
@given(TABLE, st.sampled_from(LEVELS))
def test_repeats_of_a_case_fake_no_certainty(rows: Rows, level: AlphaLevel) -> None:
    kept = [row for row in rows if sum(r is not None for r in row) > 1]
    found = krippendorff_alpha(kept * 2, level, clusters=[*range(len(kept))] * 2)
    assert found.n == len(kept)
    assert found.reason is not None or found.low < found.value < found.high


def test_alone_in_its_case_an_item_is_left_out_as_without_cases() -> None:
    rows = [[1, 2], [2, 2], [3, 3], [1, 1], [3, 2]]
    for level in LEVELS:
        once = krippendorff_alpha(rows, level)
        named = krippendorff_alpha(rows, level, clusters=[*"abcde"])
        assert (named.low, named.high) == pytest.approx((once.low, once.high))


def test_equal_ratings_leave_alpha_undefined() -> None:
    found = krippendorff_alpha([[2, 2], [2, None], [2, 2]], "interval")
    assert math.isnan(found.value)
    assert found.reason == "all ratings are equal: alpha is 0/0"
    assert (found.n, found.n_dropped, found.n_missing) == (2, 1, 1)
    assert found.note == "2 items only: the interval is rough"


def test_words_can_be_nominal_only() -> None:
    assert krippendorff_alpha([["x", "x"], ["y", "z"]], "nominal").value == pytest.approx(0.4)
    for level in ("ordinal", "interval", "ratio"):
        with pytest.raises(ValueError, match="use the nominal level"):
            krippendorff_alpha([["x", "y"]], level)


def test_whole_numbers_of_an_array_are_numbers() -> None:
    rows = np.array([[10, 9], [2, 2], [3, 10], [9, 9]])
    for level in ("nominal", "ordinal", "interval"):
        assert krippendorff_alpha(rows, level) == krippendorff_alpha(rows.tolist(), level)
    holes = np.array([[1, np.nan], [2, 2], [1, 2]], dtype=np.float32)
    assert krippendorff_alpha(holes).n_missing == 1


def test_scores_without_steps_take_no_table_of_distinct_scores() -> None:
    rng = np.random.default_rng(5)
    a = rng.normal(size=5_000)
    b = a + rng.normal(size=5_000)
    pool = np.concatenate([a, b])
    want = 1 - (len(pool) - 1) / len(pool) * np.mean((a - b) ** 2) / (2 * pool.var())
    found = krippendorff_alpha(list(zip(a, b, strict=True)), "interval")
    assert found.value == pytest.approx(want, abs=1e-12)
    assert found.n_observations == 10_000


def test_unsound_requests_are_refused() -> None:
    with pytest.raises(ValueError, match="no level is called"):
        krippendorff_alpha([[1, 2]], "rank")  # type: ignore[arg-type] # the error is tested
    with pytest.raises(ValueError, match="the ratio level has a zero"):
        krippendorff_alpha([[-1, 2]], "ratio")
    assert krippendorff_alpha([[1, 2], [1, 1]], ci="none").reason == "no interval was asked for"


@pytest.mark.no_cover
def test_nominal_alpha_covers_at_its_level() -> None:
    p = joint()
    chance = (p.sum(axis=0) ** 2).sum()
    rng = np.random.default_rng(1)
    found = [krippendorff_alpha(rated(rng, 50, 3).tolist(), "nominal") for _ in range(300)]
    assert covers_at_its_level(found, (np.trace(p) - chance) / (1 - chance))


@pytest.mark.no_cover
@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_alpha_of_ratings_covers_at_its_level(level: AlphaLevel) -> None:
    rng = np.random.default_rng(2)
    truth = krippendorff_alpha(rated(rng, 60_000, 3).tolist(), level, ci="none").value
    found = [krippendorff_alpha(rated(rng, 50, 3).tolist(), level) for _ in range(300)]
    assert covers_at_its_level(found, truth)


@pytest.mark.no_cover
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_over_cases_covers_at_its_level(level: AlphaLevel) -> None:
    rng, names = np.random.default_rng(3), np.repeat(np.arange(40), 3).tolist()
    truth = krippendorff_alpha(rated(rng, 40_000, 3).tolist(), level, ci="none").value
    draws = [rated_twice(rng, 40, 3).tolist() for _ in range(200)]
    found = [krippendorff_alpha(x, level, clusters=names) for x in draws]
    assert covers_at_its_level(found, truth)


@pytest.mark.no_cover
def test_alpha_of_ratios_covers_at_its_level() -> None:
    rng = np.random.default_rng(4)
    truth = krippendorff_alpha(rated(rng, 40_000, 3).tolist(), "ratio", ci="none").value
    found = [krippendorff_alpha(rated(rng, 120, 3).tolist(), "ratio") for _ in range(200)]
    assert covers_at_its_level(found, truth)
