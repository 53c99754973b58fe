from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.agreement import cohen_kappa, scott_pi
from judgekit.stats.intervals import pooled_proportion, proportion
from judgekit.stats.method_comparison import lin_ccc
from judgekit.stats.raters import fleiss_kappa
from tests.stats.rated_items import joint, rated, rated_twice
from tests.stats.simulation import covers_at_its_level, share_covering

if TYPE_CHECKING:
    from judgekit.stats.agreement_coefficients import Weights

PAIRS = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=2, max_size=25)
SCALE = [1, 2, 3, 4]


def sides(pairs: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [x for x, _ in pairs], [y for _, y in pairs]


def test_a_kappa_by_hand() -> None:
    """po = 3/4, pe = 1/2 * 3/4 + 1/2 * 1/4 = 1/2."""
    found = cohen_kappa(["y", "y", "n", "n"], ["y", "y", "n", "y"], labels=["n", "y"])
    assert (found.po, found.pe, found.value) == (0.75, 0.5, 0.5)


def brute_kappa(pairs: list[tuple[int, int]]) -> float:
    """Quadratic kappa as 1 - mean squared distance of pairs over that of all combinations."""
    near = np.mean([(x - y) ** 2 for x, y in pairs])
    far = np.mean([(x - y) ** 2 for x, _ in pairs for _, y in pairs])
    return float(1 - near / far) if far else math.nan


@settings(max_examples=25)
@given(PAIRS)
def test_quadratic_kappa_is_one_less_a_ratio_of_distances(pairs: list[tuple[int, int]]) -> None:
    a, b = sides(pairs)
    found = cohen_kappa(a, b, labels=SCALE, weights="quadratic")
    assert found.value == pytest.approx(brute_kappa(pairs), nan_ok=True)
    assert found.value == pytest.approx(lin_ccc(a, b).value, nan_ok=True)


@settings(max_examples=25)
@given(PAIRS, st.sampled_from([None, "linear", "quadratic", "ordinal"]))
def test_swapping_raters_or_reversing_the_scale_changes_nothing(
    pairs: list[tuple[int, int]], weights: Weights | None
) -> None:
    a, b = sides(pairs)
    once = cohen_kappa(a, b, labels=SCALE, weights=weights)
    swapped = cohen_kappa(b, a, labels=SCALE, weights=weights)
    turned = cohen_kappa([5 - x for x in a], [5 - y for y in b], labels=SCALE, weights=weights)
    for other in (swapped, turned):
        assert (other.value, other.low, other.high) == pytest.approx(
            (once.value, once.low, once.high), nan_ok=True
        )


@settings(max_examples=25)
@given(PAIRS)
def test_kappa_keeps_its_bounds_and_never_claims_certainty(pairs: list[tuple[int, int]]) -> None:
    found = cohen_kappa(*sides(pairs), labels=SCALE)
    assert math.isnan(found.value) or -1 <= found.value <= 1
    assert found.reason is not None or -1 <= found.low < found.value < found.high <= 1
    assert found.low != found.high


@settings(max_examples=25)
@given(PAIRS, st.integers(2, 3))
def test_repeats_of_a_case_fake_no_certainty(pairs: list[tuple[int, int]], times: int) -> None:
    a, b = sides(pairs)
    once = cohen_kappa(a, b, labels=SCALE)
    cases = [*range(len(a))] * times
    often = cohen_kappa(a * times, b * times, labels=SCALE, clusters=cases)
    assert often.n == len(a)
    assert (often.value, often.low) == pytest.approx((once.value, once.low), nan_ok=True)


def test_constant_raters_agree_neither_fully_nor_not_at_all() -> None:
    found = cohen_kappa([3] * 5, [3] * 5, labels=SCALE)
    assert math.isnan(found.value)
    assert found.reason == "both raters gave one label only: agreement beyond chance is 0/0"
    assert math.isnan(found.se)
    assert cohen_kappa([3] * 4, [1, 2, 3, 3], labels=SCALE).value == 0


def test_the_textbook_interval_is_there_for_those_who_ask() -> None:
    a, b = [1, 2, 3, 4, 1, 2, 3, 4], [1, 2, 3, 4, 2, 1, 3, 4]
    found = cohen_kappa(a, b, labels=SCALE, ci="analytic")
    assert found.high - found.value == pytest.approx(min(1 - found.value, 1.959964 * found.se))
    perfect = cohen_kappa(a, a, labels=SCALE, ci="analytic")
    assert perfect.reason == "the large-sample standard error is 0"
    assert cohen_kappa(a, b, labels=SCALE, ci="none").reason == "no interval was asked for"
    with pytest.raises(ValueError, match="treats items as independent"):
        cohen_kappa(a, b, labels=SCALE, ci="analytic", clusters=[1, 1, 2, 2, 3, 3, 4, 4])


def test_missing_labels_are_counted_and_left_out() -> None:
    found = cohen_kappa([1, None, 2, 1], [1, 2, math.nan, 2], labels=SCALE)
    assert (found.n, found.n_missing) == (2, 2)


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(ValueError, match="9 is not on the scale"):
        cohen_kappa([1, 9], [1, 2], labels=SCALE)
    with pytest.raises(NotEnoughDataError, match="no item has a label of both"):
        cohen_kappa([None], [1], labels=SCALE)
    with pytest.raises(ValueError, match="1 cluster names"):
        cohen_kappa([1, 2], [1, 2], labels=SCALE, clusters=["x"])


@settings(max_examples=25)
@given(PAIRS)
def test_scotts_pi_is_fleiss_kappa_of_two_raters(pairs: list[tuple[int, int]]) -> None:
    if len({label for pair in pairs for label in pair}) < 2:
        return
    pi, fleiss = scott_pi(*sides(pairs)), fleiss_kappa(pairs)
    assert (pi.value, pi.low) == pytest.approx((fleiss.value, fleiss.low), nan_ok=True)


@pytest.mark.no_cover
@pytest.mark.parametrize("weights", [None, "quadratic"])
def test_kappa_covers_at_its_level(weights: Weights | None) -> None:
    p = joint()
    w = np.eye(4) if weights is None else 1 - (np.subtract.outer(range(4), range(4)) / 3) ** 2
    chance = p.sum(axis=1) @ w @ p.sum(axis=0)
    truth = ((w * p).sum() - chance) / (1 - chance)
    rng = np.random.default_rng(1)
    draws = [rated(rng, 40, 2).tolist() for _ in range(400)]
    found = [cohen_kappa(*zip(*x, strict=True), labels=SCALE, weights=weights) for x in draws]
    assert covers_at_its_level(found, truth)


def test_pi_covers_at_its_level() -> None:
    p = joint()
    chance = ((p.sum(axis=0) + p.sum(axis=1)) ** 2 / 4).sum()
    rng = np.random.default_rng(2)
    draws = [rated(rng, 40, 2).tolist() for _ in range(400)]
    found = [scott_pi(*zip(*x, strict=True)) for x in draws]
    assert covers_at_its_level(found, (np.trace(p) - chance) / (1 - chance))


@pytest.mark.no_cover
def test_kappa_and_pi_over_cases_cover_where_items_would_not() -> None:
    p = joint()
    chance = (p.sum(axis=0) @ p.sum(axis=1)).item()
    truth = (np.trace(p) - chance) / (1 - chance)
    rng, names = np.random.default_rng(3), np.repeat(np.arange(40), 3).tolist()
    draws = [zip(*rated_twice(rng, 40, 2).tolist(), strict=True) for _ in range(300)]
    sets = [tuple(map(list, draw)) for draw in draws]
    kappas = [cohen_kappa(a, b, labels=SCALE, clusters=names) for a, b in sets]
    pis = [scott_pi(a, b, clusters=names) for a, b in sets]
    assert covers_at_its_level(kappas, truth)
    assert covers_at_its_level(pis, truth)
    assert share_covering([cohen_kappa(a, b, labels=SCALE) for a, b in sets], truth) < 0.85


@pytest.mark.no_cover
def test_the_large_sample_interval_of_kappa_covers_for_many_items() -> None:
    p = joint()
    chance = (p.sum(axis=0) @ p.sum(axis=1)).item()
    rng = np.random.default_rng(4)
    draws = [rated(rng, 300, 2).tolist() for _ in range(300)]
    found = [cohen_kappa(*zip(*x, strict=True), labels=SCALE, ci="analytic") for x in draws]
    assert covers_at_its_level(found, (np.trace(p) - chance) / (1 - chance))


def test_a_perfect_agreement_has_no_large_sample_interval() -> None:
    """Rounding leaves a standard error of 1e-9, and so an interval of no width, where it is 0."""
    labels = [True] * 27 + [False] * 23
    found = cohen_kappa(labels, labels, labels=[True, False], ci="analytic")
    assert (found.value, found.se, found.reason) == (1, 0, "the large-sample standard error is 0")


def test_repeats_of_a_case_do_not_raise_the_bound_of_agreement() -> None:
    a, b = [1, 2, 3, 4, 1, 2, 3, 4], [1, 2, 3, 4, 2, 1, 3, 4]
    once = cohen_kappa(a, b, labels=SCALE)
    cases = [case for case in range(8) for _ in range(5)]
    often = cohen_kappa(
        [a[case] for case in cases], [b[case] for case in cases], labels=SCALE, clusters=cases
    )
    assert once.agreement_low == pytest.approx(0.349144, abs=1e-6)
    alike = [float(a[case] == b[case]) for case in cases]
    assert often.agreement_low == pooled_proportion(alike, cases).low < 0.4
    assert proportion(30, 40, method="clopper-pearson").low > 0.5
