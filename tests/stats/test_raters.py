from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.raters import fleiss_kappa, gwet_ac, icc
from tests.stats.rated_items import joint, rated, rated_twice
from tests.stats.simulation import covers_at_its_level

RATING = st.one_of(st.none(), st.integers(1, 3))
TABLE = st.lists(st.tuples(RATING, RATING, RATING), min_size=2, max_size=12).filter(
    lambda rows: any(sum(r is not None for r in row) > 1 for row in rows)
)


def brute_ac1(rows: list[tuple[int | None, ...]]) -> float:
    known = [[r for r in row if r is not None] for row in rows]
    pairs = [
        [x == y for i, x in enumerate(row) for j, y in enumerate(row) if i != j] for row in known
    ]
    pa = np.mean([np.mean(p) for p in pairs if p])
    shares = [np.mean([row.count(k) / len(row) for row in known if row]) for k in (1, 2, 3)]
    pe = sum(s * (1 - s) for s in shares) / 2
    return float((pa - pe) / (1 - pe))


@settings(max_examples=25)
@given(TABLE)
def test_ac1_follows_its_definition(rows: list[tuple[int | None, ...]]) -> None:
    found = gwet_ac(rows, labels=[1, 2, 3])
    assert found.value == pytest.approx(brute_ac1(rows))
    assert found.reason is not None or -1 <= found.low < found.value < found.high <= 1


@settings(max_examples=25)
@given(TABLE, st.permutations([0, 1, 2]))
def test_raters_have_no_order(rows: list[tuple[int | None, ...]], order: list[int]) -> None:
    mixed = [[row[place] for place in order] for row in reversed(rows)]
    for kind in ("linear", "quadratic", "ordinal"):
        once = gwet_ac(rows, labels=[1, 2, 3], weights=kind)
        again = gwet_ac(mixed, labels=[1, 2, 3], weights=kind)
        assert (once.value, once.low) == pytest.approx((again.value, again.low), nan_ok=True)


@settings(max_examples=30)
@given(TABLE)
def test_repeats_of_a_case_fake_no_certainty(rows: list[tuple[int | None, ...]]) -> None:
    cases = [*range(len(rows))] * 2
    once = gwet_ac(rows, labels=[1, 2, 3])
    twice = gwet_ac(rows * 2, labels=[1, 2, 3], clusters=cases)
    assert (twice.value, twice.low, twice.se) == pytest.approx(
        (once.value, once.low, once.se), nan_ok=True
    )


def test_a_constant_rating_is_full_agreement_for_ac_and_none_for_kappa() -> None:
    found = gwet_ac([[5, 5]] * 4, labels=range(1, 6))
    assert (found.value, found.se) == (1, 0)
    assert "cannot be seen" in (found.reason or "")
    analytic = gwet_ac([[5, 5]] * 4, labels=range(1, 6), ci="analytic")
    assert analytic.reason == "the standard error is 0"
    kappa = fleiss_kappa([[5, 5]] * 4)
    assert math.isnan(kappa.value)
    assert kappa.reason == "all ratings are one label: agreement beyond chance is 0/0"


def test_an_item_with_one_rating_counts_for_the_margins() -> None:
    found = gwet_ac([[1, 1], [2, None], [None, None], [2, 1]], labels=[1, 2])
    assert (found.n, found.n_single, found.n_missing) == (3, 1, 3)
    assert found.pa == 0.5


def test_one_item_has_no_interval() -> None:
    assert gwet_ac([[1, 2]], labels=[1, 2], ci="analytic").reason == "one item only"
    assert gwet_ac([[1, 2]], labels=[1, 2], ci="none").reason == "no interval was asked for"


def test_ratings_have_to_be_on_the_scale_and_in_pairs() -> None:
    with pytest.raises(ValueError, match="4 is not on the scale"):
        gwet_ac([[1, 4]], labels=[1, 2, 3])
    with pytest.raises(NotEnoughDataError, match="no item has 2 ratings"):
        fleiss_kappa([[1, None], [2, None]])
    with pytest.raises(ValueError, match="1 cluster names"):
        fleiss_kappa([[1, 2], [1, 2]], clusters=["x"])


@pytest.mark.no_cover
@pytest.mark.parametrize("ci", ["jackknife", "analytic"])
def test_ac1_covers_at_its_level(ci: str) -> None:
    p = joint()
    pi = p.sum(axis=0)
    chance = (pi * (1 - pi)).sum() / 3
    rng = np.random.default_rng(1)
    draws = [rated(rng, 40, 3).tolist() for _ in range(300)]
    found = [gwet_ac(x, labels=[1, 2, 3, 4], ci=ci) for x in draws]  # type: ignore[arg-type] # a str
    assert covers_at_its_level(found, (np.trace(p) - chance) / (1 - chance))


def test_fleiss_kappa_covers_at_its_level() -> None:
    p = joint()
    chance = (p.sum(axis=0) ** 2).sum()
    rng = np.random.default_rng(2)
    found = [fleiss_kappa(rated(rng, 40, 3).tolist()) for _ in range(300)]
    assert covers_at_its_level(found, (np.trace(p) - chance) / (1 - chance))


@pytest.mark.no_cover
@pytest.mark.parametrize("ci", ["jackknife", "analytic"])
def test_coefficients_over_cases_cover_at_their_level(ci: str) -> None:
    p = joint()
    pi = p.sum(axis=0)
    by_ac, by_fleiss = (pi * (1 - pi)).sum() / 3, (pi**2).sum()
    rng, names = np.random.default_rng(3), np.repeat(np.arange(40), 3).tolist()
    draws = [rated_twice(rng, 40, 3).tolist() for _ in range(200)]
    found = [gwet_ac(x, labels=[1, 2, 3, 4], ci=ci, clusters=names) for x in draws]  # type: ignore[arg-type] # a str
    assert covers_at_its_level(found, (np.trace(p) - by_ac) / (1 - by_ac))
    kappas = [fleiss_kappa(x, clusters=names) for x in draws]
    assert covers_at_its_level(kappas, (np.trace(p) - by_fleiss) / (1 - by_fleiss))


@pytest.mark.parametrize("rows", [[[3, 3], [5, 1]], [[3, 3], [5, 1], [3, 3]]])
def test_opposite_scores_of_few_items_leave_the_limits_undefined(rows: list[list[float]]) -> None:
    found = icc(rows)
    assert found.value == pytest.approx(-1)
    assert math.isnan(found.low)
    assert found.reason == "the limits are undefined in these data"
