from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.intervals import mean
from judgekit.stats.missing import fold_codes
from judgekit.stats.ppi import crossfit_isotonic_mean, ppi_mean, stratified_ppi_mean
from tests.stats.simulation import covers_at_its_level

if TYPE_CHECKING:
    from judgekit.stats.ppi import Stratum

SCORES = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=3, max_size=20)
OTHERS = st.lists(st.integers(1, 5), min_size=2, max_size=30)


@settings(max_examples=40)
@given(SCORES, OTHERS)
def test_a_judge_of_weight_0_leaves_the_mean_of_the_labels(
    pairs: list[tuple[int, int]], others: list[int]
) -> None:
    y, f = [x for x, _ in pairs], [x for _, x in pairs]
    found, plain = ppi_mean(y, f, others, lam=0), mean(y)
    assert found.value == pytest.approx(plain.value)
    assert found.reason is not None or found.low == pytest.approx(plain.low)


def test_a_perfect_judge_gives_the_mean_of_its_scores() -> None:
    y, others = [1, 2, 3, 4, 5], [5, 4, 4, 3, 1, 1]
    found = ppi_mean(y, y, others, lam=1)
    assert found.value == pytest.approx(np.mean(others))
    tuned = ppi_mean(y, y, others * 100)
    assert 0.8 < tuned.lam < 1
    assert tuned.value == pytest.approx(np.mean(others), abs=0.1)  # the rest leans on the labels


@settings(max_examples=40)
@given(SCORES, OTHERS, st.floats(-3, 3))
def test_leniency_of_the_judge_changes_nothing(
    pairs: list[tuple[int, int]], others: list[int], shift: float
) -> None:
    y, f = [x for x, _ in pairs], [x for _, x in pairs]
    once = ppi_mean(y, f, others)
    moved = ppi_mean(y, [x + shift for x in f], [x + shift for x in others])
    assert 0 <= once.lam <= 1
    assert (moved.value, moved.lam) == pytest.approx((once.value, once.lam), abs=1e-7)


def test_no_variation_no_labels_and_no_others_are_told() -> None:
    flat = ppi_mean([1, 1, 1], [1, 1, 1], [1, 1], lam=1)
    assert flat.reason == "neither labels nor the judge's errors vary"
    assert math.isnan(flat.low)
    one = ppi_mean([1], [1], [1, 0])
    assert one.reason == "1 labelled, and two of each kind are needed for a variance"
    alone = ppi_mean([1, 0, 1, 1], [1, 0, 0, 1], [])
    assert (alone.value, alone.lam) == (0.75, 0)
    assert "the mean of the labels alone" in (alone.note or "")
    assert ppi_mean([1, 0, 1], [0.5, 0.5, 0.5], [0.5], lam=1).reason is not None


def test_few_labels_are_told() -> None:
    assert "15 labels: fewer than 20" in (ppi_mean([1, 0, 1] * 5, [1, 0, 0] * 5, [1, 0]).note or "")
    note = ppi_mean([1, 0, 1] * 10, [1, 0, 0] * 10, [1, 0]).note
    assert note == "30 labels: below 50 the interval is rough"
    cases = [[k // 2 for k in range(60)], [100, 101]]
    twice = ppi_mean([1, 0, 1] * 20, [1, 0, 0] * 20, [1, 0], clusters=(cases[0], cases[1])).note
    assert twice == "30 labelled cases: below 50 the interval is rough"
    against = ppi_mean([1, 0] * 25, [0, 1] * 25, [0, 1]).note
    assert against == "the judge's scores do not predict the labels: lam is 0, only labels count"
    assert ppi_mean([1, 0] * 25, [1, 0] * 25, [0, 1]).note is None


def test_repeats_of_a_case_fake_no_certainty() -> None:
    y, f, others = [1, 0, 1, 1, 0], [1, 0, 0, 1, 1], [1, 0, 1, 0]
    once = ppi_mean(y, f, others, lam=0.5)
    cases = [*range(5)] * 2, [*range(4)] * 2
    twice = ppi_mean(y * 2, f * 2, others * 2, lam=0.5, clusters=cases)
    assert (twice.value, twice.se, twice.n) == pytest.approx((once.value, once.se, 5))


def test_missing_scores_are_counted_out() -> None:
    found = ppi_mean([1, None, 0, 1], [1, 1, None, 0], [1, None, 0])
    assert (found.n, found.n_unlabeled, found.n_missing) == (2, 2, 3)
    named = ppi_mean([1, None, 0], [1, 1, 0], [1, None], clusters=([*"xyz"], [*"xy"]))
    assert (named.n, named.n_missing) == (2, 2)


def test_arguments_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match=r"lies in \[0, 1\]"):
        ppi_mean([1, 0], [1, 0], [1], lam=2)
    with pytest.raises(ValueError, match="known: t, normal"):
        ppi_mean([1, 0], [1, 0], [1], quantile="z")  # type: ignore[arg-type] # the error is tested
    with pytest.raises(ValueError, match="items; each needs the name of its case"):
        ppi_mean([1, 0], [1, 0], [1], clusters=(["x"], ["y"]))
    with pytest.raises(NotEnoughDataError, match="no item has both"):
        ppi_mean([None], [1], [1])


def sample(rng: np.random.Generator, n: int, rest: int) -> tuple[list[float], ...]:
    """Human scores with mean 3; a judge that is lenient and noisy."""
    human = rng.normal(3, 1, n + rest)
    judge = 1 + 0.8 * human + rng.normal(0, 0.5, n + rest)
    return human[:n].tolist(), judge[:n].tolist(), judge[n:].tolist()


@pytest.mark.no_cover
def test_the_mean_covers_and_is_sharper_than_labels_alone() -> None:
    rng = np.random.default_rng(1)
    draws = [sample(rng, 40, 400) for _ in range(400)]
    found = [ppi_mean(*draw) for draw in draws]
    assert covers_at_its_level(found, 3)
    alone = [mean(labels) for labels, _, _ in draws]
    assert np.mean([e.se for e in found]) < 0.75 * np.mean([e.se for e in alone])


def test_each_weight_is_tuned_without_its_own_item() -> None:
    """By the definition: the plug-in lam of all other labels, and that one's error with it."""
    y, f, others = [1, 0.5, 0, 1, 0], [1, 1, 0.5, 0.5, 0], [1, 0, 0.5, 1, 0.5, 0.5]
    lams = [ppi_mean(y[:k] + y[k + 1 :], f[:k] + f[k + 1 :], others).lam for k in range(len(y))]
    found = ppi_mean(y, f, others, tuning="leave-one-out")
    centre = np.mean(others)
    errors = [label - lam * (score - centre) for label, lam, score in zip(y, lams, f, strict=True)]
    assert found.lam == pytest.approx(np.mean(lams))
    assert found.value == pytest.approx(np.mean(errors))
    variance = np.var(errors, ddof=1) / 5 + np.mean(lams) ** 2 * np.var(others, ddof=1) / 6
    assert found.se == pytest.approx(math.sqrt(variance))
    assert found.method == "ppi++, t, leave-one-out"
    by_case = ppi_mean(y, f, others, tuning="leave-one-out", clusters=("vwxyz", range(6)))
    assert by_case.se == pytest.approx(found.se)
    assert ppi_mean(y[:2], f[:2], others, tuning="leave-one-out").lam == 0


@given(st.floats(-5, 5))
def test_where_the_judges_scale_begins_changes_nothing(shift: float) -> None:
    y, f, others = [1, 0.5, 0, 1, 0], [0.6, 0.5, 0.3, 0.4, 0.1], [0.5, 0.1, 0.3, 0.7, 0.2]
    plain, shifted = (
        ppi_mean(y, [v + by for v in f], [v + by for v in others], tuning="leave-one-out")
        for by in (0, shift)
    )
    assert (shifted.value, shifted.se) == pytest.approx((plain.value, plain.se))


def test_few_labels_cover_where_each_weight_is_tuned_without_its_item() -> None:
    """Preferences with ties; the plug-in interval of 20 labels covers about 92 % of the time."""
    rng, found = np.random.default_rng(7), []
    for _ in range(600):
        y = rng.choice([1, 0.5, 0], p=[0.3, 0.2, 0.5], size=100)
        f = np.where((y == 0) & (rng.random(100) < 0.4), 1.0, y)
        scores = y[:20].tolist(), f[:20].tolist(), f[20:].tolist()
        found.append(ppi_mean(*scores, tuning="leave-one-out"))
    assert covers_at_its_level(found, 0.4)


def test_clustered_labels_cover() -> None:
    rng, found = np.random.default_rng(2), []
    names = np.repeat(np.arange(25), 3).tolist(), np.repeat(np.arange(100), 3).tolist()
    for _ in range(300):
        case = np.repeat(rng.normal(3, 1, 125), 3)
        human = case + rng.normal(0, 0.3, 375)
        judge = human + rng.normal(0, 0.7, 375)
        parts = human[:75].tolist(), judge[:75].tolist(), judge[75:].tolist()
        found.append(ppi_mean(*parts, clusters=names))
    assert covers_at_its_level(found, 3)


def test_strata_cover_and_tune_alone_where_they_can() -> None:
    rng, found = np.random.default_rng(3), []
    for _ in range(300):
        strata: list[Stratum] = []
        for n, rest, weight, shift in ((40, 200, 0.7, 0.0), (15, 100, 0.3, 1.0)):
            y, f, others = sample(rng, n, rest)
            labels = [v + shift for v in y]
            strata.append(
                {"labels": labels, "judge_labeled": f, "judge_unlabeled": others, "weight": weight}
            )
        found.append(stratified_ppi_mean(strata))
    assert covers_at_its_level(found, 3.3)
    assert any(own != common for own, common in (e.lam for e in found))


def test_strata_weigh_by_their_size_when_nothing_is_said() -> None:
    small: Stratum = {"labels": [1, 2], "judge_labeled": [1, 2], "judge_unlabeled": []}
    large: Stratum = {"labels": [3, 4], "judge_labeled": [3, 4], "judge_unlabeled": [3, 4, 3, 4]}
    found = stratified_ppi_mean([small, large])
    assert found.weights == (0.25, 0.75)
    assert found.lam[0] == 0
    assert found.value == pytest.approx(0.25 * 1.5 + 0.75 * 3.5)


def test_unsound_strata_are_refused() -> None:
    one: Stratum = {"labels": [1, 2], "judge_labeled": [1, 2], "judge_unlabeled": [1], "weight": 1}
    none: Stratum = {"labels": [1, 2], "judge_labeled": [1, 2], "judge_unlabeled": [1]}
    with pytest.raises(ValueError, match="some have none"):
        stratified_ppi_mean([one, none])
    with pytest.raises(ValueError, match="not more than 0"):
        stratified_ppi_mean([{**one, "weight": 0}])
    with pytest.raises(NotEnoughDataError, match="no stratum"):
        stratified_ppi_mean([])


@pytest.mark.no_cover
def test_recalibrated_scores_cover() -> None:
    """The judge's scale is warped: it gives the cube of what humans think."""
    rng, found = np.random.default_rng(4), []
    for _ in range(200):
        human = rng.uniform(0, 1, 360)
        judge = (human + rng.normal(0, 0.1, 360)) ** 3
        found.append(
            crossfit_isotonic_mean(human[:60].tolist(), judge[:60].tolist(), judge[60:].tolist())
        )
    assert covers_at_its_level(found, 0.5)


def test_each_label_is_recalibrated_by_a_map_that_has_not_seen_it() -> None:
    found = crossfit_isotonic_mean([1, 2, 3, 10], [1, 2, 3, 4], [2.5], folds=["a", "a", "a", "b"])
    assert found.oof == (10, 10, 10, 3)
    assert found.value == pytest.approx((3 + 10) / 2 - 33 / 4 + 16 / 4 - 0.25, abs=0.3)


def test_cross_fitting_needs_folds_and_others() -> None:
    with pytest.raises(NotEnoughDataError, match="two folds"):
        crossfit_isotonic_mean([1, 2], [1, 2], [1], folds=["a", "a"])
    with pytest.raises(NotEnoughDataError, match="without a label"):
        crossfit_isotonic_mean([1, 2], [1, 2], [None])
    with pytest.raises(ValueError, match="2 pairs, but 1 folds"):
        fold_codes(["a"], [1, 2], [1, 2])


@pytest.mark.parametrize(
    ("wrong", "message"), [({"lam": 5.0}, "lam is 5.0"), ({"weight": math.inf}, "or infinite")]
)
def test_a_stratum_that_cannot_be_weighed_is_refused(wrong: Any, message: str) -> None:
    known = {"labels": [1, 0, 1], "judge_labeled": [1, 0, 0], "judge_unlabeled": [1, 0]}
    stratum: Any = known | wrong
    with pytest.raises(ValueError, match=message):
        stratified_ppi_mean([stratum])
