from __future__ import annotations

import math

import numpy as np
import pytest

from judgekit.errors import NotEnoughDataError
from judgekit.stats.correction import corrected_mean, poststratified_mean
from judgekit.stats.ppi import ppi_mean


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
    with pytest.raises(NotEnoughDataError, match="0 labelled items and 1 others"):
        corrected_mean([None], [1], [1], labels_are="random")


def test_one_other_item_allows_no_check() -> None:
    y, f = graded(25)
    found = corrected_mean(y[:24], f[:24], f[24:], labels_are="random")
    assert found.check is None
    assert corrected_mean([1.0], [1.0], [1.0], labels_are="random").n_labels == 1
