from __future__ import annotations

import math

import numpy as np
import pytest

from judgekit.errors import NotEnoughDataError
from judgekit.stats.correction import (
    active_mean,
    corrected_mean,
    labels_look_random,
    poststratified_mean,
)
from judgekit.stats.ppi import ppi_mean
from tests.stats.simulation import covers_at_its_level, share_covering


def test_each_judge_value_counts_as_often_as_the_judge_gives_it() -> None:
    """Passes are right in 1 of 2, failures in 1 of 1; the judge passes 6 of 9 in all."""
    found = poststratified_mean([1, 0, 0], [1, 1, 0], [1, 1, 1, 1, 0, 0])
    assert found.value == pytest.approx(6 / 9 * 0.5)
    assert [row[1:3] for row in found.by_value] == [(0, 1), (0.5, 2)]


def test_for_a_pass_fail_judge_it_is_ppi_with_the_slope_as_weight() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 30)
    f, others = np.where(rng.random(30) < 0.8, y, 1 - y), rng.integers(0, 2, 70)
    slope = np.cov(y, f, ddof=0)[0, 1] / f.var()
    want = ppi_mean(y.tolist(), f.tolist(), others.tolist(), lam=slope / (1 + 30 / 70)).value
    assert poststratified_mean(y.tolist(), f.tolist(), others.tolist()).value == pytest.approx(want)


def test_a_judge_value_without_labels_joins_the_nearest() -> None:
    found = poststratified_mean([1, 0, 1], [2, 2, 5], [3, 5, 4, 9])
    assert found.merged == (3, 4, 9)
    assert [row[0] for row in found.by_value] == [2, 5]
    assert [row[3] for row in found.by_value] == pytest.approx([3 / 7, 4 / 7])


def test_a_pass_fail_value_without_labels_is_unknown_from_0_to_1() -> None:
    """By hand: 20 labels of one value pass; a tenth of all items has the value without a label."""
    found = poststratified_mean([1] * 20, [1] * 20, [1] * 70 + [0] * 10)
    within = 20.5 / 21 * 0.5 / 21 / 20
    assert found.value == 1
    assert found.se == pytest.approx(math.sqrt(within + 0.1**2 / 4))
    without = poststratified_mean([1] * 20, [1] * 20, [1] * 80)
    assert without.se == pytest.approx(math.sqrt(within))


def test_a_rare_value_of_a_good_judge_may_have_no_label_and_the_rate_covers_all_the_same() -> None:
    """A judge that fails 5 % of 500: a fifth of samples of 30 labels have none of them."""
    rng, found = np.random.default_rng(3), []
    for _ in range(400):
        truth = rng.random(500) < 0.95
        judge = np.where(truth, rng.random(500) < 0.99, rng.random(500) < 0.1).astype(float)
        labels = truth.astype(float)[:30].tolist()
        found.append(poststratified_mean(labels, judge[:30].tolist(), judge[30:].tolist()))
    assert sum(one.low <= 0.95 <= one.high for one in found) >= 0.93 * 400


def test_unanimous_labels_claim_no_certainty() -> None:
    found = poststratified_mean([1] * 10, [1] * 10, [1] * 50)
    assert found.value == 1
    assert found.low < found.high == 1
    flat = poststratified_mean([1] * 10, [1] * 10, [1] * 50, smooth=False)
    assert flat.reason == "labels do not vary within the judge's values"
    assert math.isnan(flat.low)


def test_ratings_need_two_labels_a_value() -> None:
    found = poststratified_mean([2, 3, 4.5], [1, 1, 2], [1, 2])
    assert found.merged == (2,)
    with pytest.raises(NotEnoughDataError, match="labels enough for a variance"):
        poststratified_mean([2, 3], [1, 2], [1])


@pytest.mark.parametrize("rate", [0.8, 0.95])
def test_the_post_stratified_rate_covers_at_its_level(rate: float) -> None:
    rng, found = np.random.default_rng(2), []
    for _ in range(400):
        truth = rng.random(500) < rate
        judge = np.where(truth, rng.random(500) < 0.9, rng.random(500) < 0.2).astype(float)
        labels = truth.astype(float)[:80].tolist()
        found.append(poststratified_mean(labels, judge[:80].tolist(), judge[80:].tolist()))
    assert covers_at_its_level(found, rate)


def test_post_stratified_ratings_cover_at_their_level() -> None:
    rng, found = np.random.default_rng(3), []
    for _ in range(300):
        judge = rng.integers(1, 5, 400).astype(float)
        human = judge + rng.normal(0.2, 0.7, 400)
        parts = human[:80].tolist(), judge[:80].tolist(), judge[80:].tolist()
        found.append(poststratified_mean(*parts))
    assert covers_at_its_level(found, 2.7)


def test_a_label_counts_for_as_many_as_its_chance_says() -> None:
    """F + (Y - F) / pi: .5 + .5 / .5 = 1.5, and .5 for the item that was not drawn."""
    found = active_mean([0.5, 0.5, None], [1, None, 1], [0.5, 0.5, 0.5])
    assert found.value == 1
    assert (found.n, found.n_labels, found.n_missing) == (2, 1, 1)
    assert (found.max_weight, found.kish_n) == (2, 1)


def test_active_labels_cover_at_their_level() -> None:
    rng, found = np.random.default_rng(4), []
    for _ in range(400):
        p = rng.uniform(0.05, 0.95, 400)
        human = (rng.random(400) < p).astype(float)
        unsure = np.sqrt(p * (1 - p))
        chance = 0.3 * 0.3 + 0.7 * 0.3 * unsure / unsure.mean()
        labels = np.where(rng.random(400) < chance, human, math.nan)
        found.append(active_mean(p.tolist(), labels.tolist(), chance.tolist()))
    assert covers_at_its_level(found, 0.5)


def test_active_labels_need_their_chances() -> None:
    with pytest.raises(ValueError, match="lies outside"):
        active_mean([1, 0], [1, None], [None, 0.5])
    with pytest.raises(ValueError, match="2 scores, 1 labels"):
        active_mean([1, 0], [1], [0.5])
    with pytest.raises(NotEnoughDataError, match="one label"):
        active_mean([1, 0], [None, None], [0.5, 0.5])
    assert active_mean([1, 1], [1, None], [1, 1]).reason == "no variation"


def test_labels_of_hard_cases_do_not_look_random() -> None:
    found = labels_look_random([0] * 30 + [1] * 10, [1] * 80 + [0] * 20)
    assert found.looks_random is False
    assert found.high < 0
    assert found.method == "newcombe"
    assert labels_look_random([1, 2, 3, 4], [1, 2, 3, 4, None]).looks_random is True


def test_equal_scores_say_nothing_of_the_draw() -> None:
    found = labels_look_random([3, 3], [3, 3, 3])
    assert found.looks_random is None
    assert found.reason == "the judge's scores do not vary"
    with pytest.raises(NotEnoughDataError, match="two scores of labelled"):
        labels_look_random([1], [1, 2])


@pytest.mark.no_cover
@pytest.mark.parametrize("binary", [True, False])
def test_the_check_covers_and_seldom_cries_wolf(binary: bool) -> None:  # noqa: FBT001 - a parameter
    rng, found = np.random.default_rng(5), []
    for _ in range(400):
        x = rng.random(200) < 0.7 if binary else rng.gamma(4, 1, 200)
        found.append(
            labels_look_random(x[:50].astype(float).tolist(), x[50:].astype(float).tolist())
        )
    assert covers_at_its_level(found, 0)
    assert share_covering(found, 0) > 0.9
    assert sum(e.looks_random is False for e in found) < 0.08 * len(found)


def test_labels_of_a_few_cases_may_be_random_though_their_outputs_agree() -> None:
    sides = [1.0, 0.0, 1.0] * 20, [0.0, 1.0, 0.0] * 20
    cases = ["a", "b", "c"] * 20, ["d", "e", "f"] * 20
    assert labels_look_random(*sides).looks_random is False
    found = labels_look_random(*sides, clusters=cases)
    assert (found.looks_random, found.n, found.df) == (True, 6, 5)
    assert found.value == pytest.approx(1 / 3)
    assert found.se == pytest.approx(((4 / 27) * 6 / 5) ** 0.5)
    corrected = corrected_mean(sides[0], *sides, labels_are="random", clusters=cases)
    assert not any("random subset" in warning for warning in corrected.warnings)
    one = labels_look_random([0, 1], [1, 0, None], clusters=("aa", "aab"))
    assert (one.looks_random, one.n_missing, one.reason) == (None, 1, "one cluster only")


@pytest.mark.no_cover
def test_the_check_of_repeated_cases_covers_and_seldom_cries_wolf() -> None:
    rng, found = np.random.default_rng(5), []
    cases = np.repeat(np.arange(60), 8)
    for _ in range(400):
        x = rng.normal(size=60)[cases] + rng.normal(size=480) / 3
        sides, names = np.split(x, [160]), np.split(cases, [160])
        a, b = (side.tolist() for side in sides)
        own = (names[0].tolist(), names[1].tolist())
        found.append(labels_look_random(a, b, clusters=own))
    assert covers_at_its_level(found, 0)
    assert sum(e.looks_random is False for e in found) < 0.08 * len(found)
