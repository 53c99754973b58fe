from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.attribution import shapley_r2, type2_anova
from tests.stats.simulation import band

SEEDS = st.integers(0, 2**32 - 1)


def sample(seed: int, n: int = 20) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    x[:, 1] += x[:, 0]
    return x, x @ [1.0, 0.5, 0.0] + rng.normal(size=n)


def r2(x: np.ndarray, y: np.ndarray) -> float:
    design = np.column_stack([np.ones(len(y)), x])
    rest = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return float(1 - (rest @ rest) / ((y - y.mean()) ** 2).sum())


@settings(max_examples=20)
@given(SEEDS)
def test_a_share_is_the_mean_gain_over_all_orders(seed: int) -> None:
    x, y = sample(seed)
    gains: dict[int, list[float]] = {0: [], 1: [], 2: []}
    for order in permutations(range(3)):
        for place, k in enumerate(order):
            gains[k].append(r2(x[:, order[: place + 1]], y) - r2(x[:, order[:place]], y))
    found = shapley_r2(x.tolist(), y.tolist(), [[0], [1], [2]])
    assert found.lmg == pytest.approx([np.mean(gains[k]) for k in range(3)])
    assert sum(found.lmg) == pytest.approx(found.r2)
    assert found.r2 == pytest.approx(r2(x, y))


@settings(max_examples=20)
@given(SEEDS)
def test_order_and_units_do_not_matter(seed: int) -> None:
    x, y = sample(seed)
    once = shapley_r2(x.tolist(), y.tolist(), [[0, 1], [2]])
    moved = shapley_r2((100 * x[::-1, ::-1] - 7).tolist(), (3 * y[::-1]).tolist(), [[0], [1, 2]])
    assert moved.lmg == pytest.approx(once.lmg[::-1])


def test_predictors_that_are_one_share_evenly() -> None:
    x = np.arange(12.0)
    found = shapley_r2(np.column_stack([x, 2 * x]).tolist(), (x + x % 3).tolist(), [[0], [1]])
    assert found.lmg[0] == pytest.approx(found.lmg[1])
    assert found.last == pytest.approx((0, 0))
    anova = type2_anova(np.column_stack([x, 2 * x]).tolist(), (x + x % 3).tolist(), [[0], [1]])
    assert anova.df == (0, 0)
    assert all(math.isnan(f) for f in (*anova.f, *anova.p_value, *anova.partial_eta2))


def test_a_constant_column_goes_along_with_nothing() -> None:
    x, y = sample(1)
    x[:, 2] = 4
    found = shapley_r2(x.tolist(), y.tolist(), [[0], [1], [2]])
    assert found.lmg[2] == pytest.approx(0)
    assert "fewer than 10 each" in (found.note or "")


def test_resampling_gives_intervals_and_a_noise_floor() -> None:
    x, y = sample(2, 120)
    rng = np.random.default_rng(3)
    found = shapley_r2(x.tolist(), y.tolist(), [[0], [1], [2]], rng=rng, n_resamples=200)
    ends = zip(found.low, found.lmg, found.high, strict=True)
    assert all(0 <= low < share < high for low, share, high in ends)
    assert found.lmg[0] > 5 * found.noise_floor[0]
    assert found.lmg[2] < 10 * found.noise_floor[2]
    assert found.note is None


@pytest.mark.no_cover
def test_shares_cover_at_their_level() -> None:
    """Independent predictors of variance 1 and weights 1, 1, noise 2: a quarter each."""
    rng, covered = np.random.default_rng(4), 0
    for _ in range(80):
        case = rng.normal(size=(60, 2))
        y = case.sum(axis=1) + rng.normal(0, math.sqrt(2), 60)
        found = shapley_r2(case.tolist(), y.tolist(), [[0], [1]], rng=rng, n_resamples=150)
        covered += found.low[0] <= 0.25 <= found.high[0]
    assert abs(covered / 80 - 0.95) <= band(80)


def test_cases_are_resampled_whole() -> None:
    x, y = sample(5, 30)
    names = [*range(30)] * 3
    rows, scores = np.tile(x, (3, 1)).tolist(), np.tile(y, 3).tolist()
    groups = [[0], [1], [2]]
    whole = shapley_r2(
        rows, scores, groups, clusters=names, rng=np.random.default_rng(6), n_resamples=200
    )
    split = shapley_r2(rows, scores, groups, rng=np.random.default_rng(6), n_resamples=200)
    assert whole.n == 30
    assert whole.high[0] - whole.low[0] > 1.3 * (split.high[0] - split.low[0])


def test_the_test_of_a_group_is_that_of_two_nested_models() -> None:
    x, y = sample(7, 40)
    found = type2_anova(x.tolist(), y.tolist(), [[0], [1, 2]])
    full, without = 1 - r2(x, y), 1 - r2(x[:, :1], y)
    assert found.f[1] == pytest.approx((without - full) / 2 / (full / 36))
    assert found.partial_eta2[1] == pytest.approx(1 - full / without)
    assert (found.df, found.df_error) == ((1, 2), 36)
    single = type2_anova(x.tolist(), y.tolist(), [[0]])
    assert single.partial_eta2[0] == pytest.approx(r2(x[:, :1], y))


def test_rows_with_a_missing_number_are_counted_out() -> None:
    x, y = sample(8)
    rows: list[list[float | None]] = x.tolist()
    rows[0][1] = None
    found = shapley_r2(rows, y.tolist(), [[0], [1]])
    assert (found.n, found.n_missing) == (19, 1)


def test_unsound_designs_are_refused() -> None:
    x, y = sample(9)
    with pytest.raises(ValueError, match="names a column twice"):
        shapley_r2(x.tolist(), y.tolist(), [[0], [0]])
    with pytest.raises(ValueError, match="0 groups of predictors"):
        shapley_r2(x.tolist(), y.tolist(), [])
    with pytest.raises(ValueError, match="20 rows of predictors, 19 scores"):
        type2_anova(x.tolist(), y.tolist()[1:], [[0]])
    with pytest.raises(NotEnoughDataError, match="a score that does not vary"):
        shapley_r2(x.tolist(), [1.0] * 20, [[0]])
    with pytest.raises(NotEnoughDataError, match="leave none for the error"):
        type2_anova(x[:4].tolist(), y[:4].tolist(), [[0], [1], [2]])
    assert math.isnan(shapley_r2(x[:4].tolist(), y[:4].tolist(), [[0], [1], [2]]).adjusted_r2)


def test_without_rows_nothing_is_shared_out() -> None:
    for share in (shapley_r2, type2_anova):
        with pytest.raises(NotEnoughDataError, match="no rows"):
            share([], [], [[0]])
