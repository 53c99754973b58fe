from __future__ import annotations

import math

import numpy as np
import pytest

from judgekit.errors import NotEnoughDataError
from judgekit.stats.correction import corrected_mean, poststratified_mean
from judgekit.stats.ppi import ppi_mean
from tests.stats.simulation import covers_at_least


def graded(n: int, *, rate: float = 0.7, seed: int = 1) -> tuple[list[float], list[float]]:
    """Truth, and a judge that is right in 9 of 10."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < rate
    right = rng.random(n) < 0.9
    return truth.astype(float).tolist(), (truth == right).astype(float).tolist()


def test_a_random_subset_of_pass_fail_is_post_stratified() -> None:
    y, f = graded(400)
    found = corrected_mean(y[:100], f[:100], f[100:], labels_are="random")
    assert found.estimator == "post-stratified"
    assert found.corrected == poststratified_mean(y[:100], f[:100], f[100:])
    assert found.raw.value == pytest.approx(np.mean(f))
    assert found.n_labels_saved > 20
    assert found.check is not None
    assert found.warnings == ()


def test_a_random_subset_of_scores_is_powered_by_predictions() -> None:
    rng = np.random.default_rng(2)
    y = rng.normal(3, 1, 300)
    f = y + rng.normal(0, 0.4, 300)
    parts = y[:60].tolist(), f[:60].tolist(), f[60:].tolist()
    found = corrected_mean(*parts, labels_are="random")
    assert (found.estimator, found.corrected) == ("ppi++", ppi_mean(*parts))
    assert found.labels_only.value == pytest.approx(y[:60].mean())


def test_labels_from_elsewhere_give_error_rates_only() -> None:
    y, f = graded(200, rate=0.5)
    _, others = graded(500, rate=0.9, seed=3)
    found = corrected_mean(y, f, others, labels_are="other")
    assert found.estimator == "rogan-gladen"
    assert found.corrected.low < 0.9 < found.corrected.high
    assert found.check is None
    assert "errs on the target as often" in found.warnings[0]


def test_labels_that_do_not_look_random_are_told() -> None:
    y, f = graded(100, rate=0.3)
    _, others = graded(300, rate=0.9, seed=4)
    found = corrected_mean(y, f, others, labels_are="random")
    assert "do not look like a random subset" in found.warnings[-1]


def test_below_twenty_labels_nothing_is_corrected() -> None:
    y, f = graded(100)
    found = corrected_mean(y[:19], f[:19], f[19:], labels_are="random")
    assert found.corrected.reason == "19 labels; a correction needs 20"
    assert math.isnan(found.corrected.value)
    assert math.isnan(found.n_labels_saved)
    assert found.raw.value > 0


def test_a_judge_that_cannot_be_told_from_chance_is_refused() -> None:
    y, f = [1.0] * 12 + [0.0] * 12, [1.0] * 7 + [0.0] * 5 + [1.0] * 6 + [0.0] * 6
    found = corrected_mean(y, f, [1.0, 0.0] * 50, labels_are="other")
    assert "too weak a judge to correct by" in (found.corrected.reason or "")
    worse = corrected_mean(y, [1 - x for x in f], [1.0, 0.0], labels_are="other")
    assert "no better than chance" in (worse.corrected.reason or "")


def test_scores_from_elsewhere_cannot_be_corrected() -> None:
    found = corrected_mean([1, 2, 3], [1, 2, 2], [3, 2], labels_are="other")
    assert "label a random subset of these items" in (found.corrected.reason or "")


def test_how_labels_were_drawn_has_to_be_said() -> None:
    with pytest.raises(ValueError, match="random or other"):
        corrected_mean([1], [1], [1], labels_are="some")  # type: ignore[arg-type] # tested
    with pytest.raises(NotEnoughDataError, match="no item has both a label and a judge score"):
        corrected_mean([None], [1], [1], labels_are="random")


def test_one_other_item_allows_no_check() -> None:
    y, f = graded(25)
    found = corrected_mean(y[:24], f[:24], f[24:], labels_are="random")
    assert found.check is None
    assert corrected_mean([1.0], [1.0], [1.0], labels_are="random").n_labels == 1


def in_cases(
    rng: np.random.Generator, n_cases: int, *, rate: float
) -> tuple[list[float], list[float], list[int]]:
    """Truth and judge of cases of 1 to 7 outputs; six of ten share their fate with their case."""
    names = np.repeat(np.arange(n_cases), rng.integers(1, 8, n_cases))
    truth, luck = (
        np.where(rng.random(len(names)) < 0.6, rng.random(n_cases)[names], rng.random(len(names)))
        for _ in range(2)
    )
    passed = truth < rate
    judged = np.where(passed, luck < 0.9, luck >= 0.8)
    return passed.astype(float).tolist(), judged.astype(float).tolist(), names.tolist()


@pytest.mark.no_cover
@pytest.mark.parametrize("n_cases", [20, 60])
def test_labels_from_elsewhere_in_cases_cover_where_outputs_would_not(n_cases: int) -> None:
    rng = np.random.default_rng(6)
    plain, clustered = [], []
    for _ in range(250):
        y, f, names = in_cases(rng, n_cases, rate=0.5)
        _, others, theirs = in_cases(rng, 2 * n_cases, rate=0.8)
        named = names, [f"target {name}" for name in theirs]
        plain.append(corrected_mean(y, f, others, labels_are="other").corrected)
        by_case = corrected_mean(y, f, others, labels_are="other", clusters=named).corrected
        clustered.append(by_case)
    known = [one for one in clustered if not math.isnan(one.value)]
    assert len(known) > 0.9 * len(clustered)
    assert covers_at_least(known, 0.8)
    assert not covers_at_least([one for one in plain if not math.isnan(one.value)], 0.8)
    assert known[0].n_clusters == 3 * n_cases


def test_clusters_of_one_output_each_change_nothing_but_the_degrees_of_freedom() -> None:
    y, f = graded(400)
    scores = y[:300], f[:300], f[300:]
    plain = corrected_mean(*scores, labels_are="other").corrected
    apart = corrected_mean(*scores, labels_are="other", clusters=(range(300), range(300, 400)))
    assert apart.corrected.value == plain.value
    width = apart.corrected.high - apart.corrected.low
    assert width == pytest.approx(plain.high - plain.low, rel=0.05)


def test_labels_of_one_case_correct_nothing() -> None:
    y, f = graded(200)
    found = corrected_mean(
        y[:100], f[:100], f[100:], labels_are="other", clusters=(["c"] * 100, range(100))
    ).corrected
    assert math.isnan(found.value)
    assert found.reason == "the labels of a class, or the other items, are of one case"


def test_each_item_needs_the_name_of_its_case() -> None:
    y, f = graded(60)
    with pytest.raises(ValueError, match="30 and 30 items; each needs the name of its case"):
        corrected_mean(y[:30], f[:30], f[30:], labels_are="other", clusters=([1], [2]))


def test_a_mean_without_an_interval_is_not_given() -> None:
    """Cases that are all alike leave no variance between them."""
    y, f = [0.0, 1.0] * 15, [0.0, 1.0] * 15
    named = [k // 2 for k in range(30)]
    found = corrected_mean(y, f, f, labels_are="random", clusters=(named, [-k for k in named]))
    assert math.isnan(found.corrected.value)
    assert found.corrected.reason
