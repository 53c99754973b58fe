from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.calibration import choose_map, crossfit, fit_affine, fit_isotonic, fit_shift
from judgekit.stats.logistic import fit_ordinal

PAIRS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=3, max_size=25)


def test_shift_and_line_by_hand() -> None:
    assert fit_shift([1, 2, None], [2, 4, 1]).shift == 1.5
    line = fit_affine([1, 2, 3], [1, 3, 5])
    assert (line.slope, line.intercept) == (2, -1)
    assert fit_shift([1], [2]).predict([3]).tolist() == [4]
    assert line.predict([4]).tolist() == [7]


@settings(max_examples=40)
@given(PAIRS)
def test_the_ordinal_map_is_at_its_maximum(pairs: list[tuple[int, int]]) -> None:
    """At the maximum each level is expected as often as it is seen (the score of a cutpoint)."""
    judge, human = [a for a, _ in pairs], [b for _, b in pairs]
    if len(set(judge)) < 2 or len(set(human)) < 2:
        return
    found = fit_ordinal(judge, human)
    assert list(found.cutpoints) == sorted(found.cutpoints)
    p = found.probabilities(judge)
    assert p.sum(axis=1) == pytest.approx(1)
    assert found.n == len(pairs)
    if len(found.levels) == 2:
        assert p[:, 1].sum() == pytest.approx(human.count(int(found.levels[1])), abs=1e-4)


def test_a_perfect_order_is_held_by_a_ridge() -> None:
    for human in ([1, 1, 2, 3], [3, 3, 2, 1]):
        found = fit_ordinal([1, 2, 3, 4], human)
        assert np.isfinite(found.slope)
        assert "orders the levels perfectly" in (found.note or "")
        assert (found.slope > 0) == (human[0] < human[-1])
        assert found.predict([1, 4]) == pytest.approx([human[0], human[-1]], abs=0.2)


def test_an_unused_level_gets_no_cutpoint() -> None:
    found = fit_ordinal([1, 2, 2, 3, 5, 4], [1, 1, 2, 4, 4, 2])
    assert found.levels == (1, 2, 4)
    assert len(found.cutpoints) == 2
    assert set(found.expected_at) == {"1", "2", "3", "4", "5"}


def test_maps_need_variation() -> None:
    with pytest.raises(NotEnoughDataError, match="two judge scores and two human levels"):
        fit_ordinal([1, 1], [1, 2])
    with pytest.raises(NotEnoughDataError, match="two different judge scores"):
        fit_affine([1, 1], [1, 2])
    with pytest.raises(NotEnoughDataError, match="no pair"):
        fit_shift([None], [1])


def test_a_prediction_out_of_fold_has_not_seen_its_pair() -> None:
    found = crossfit(fit_shift, [0, 0, None, 0], [1, 3, 9, 8], folds=["a", "a", "a", "b"])
    assert found[[0, 1, 3]].tolist() == [8, 8, 2]
    assert np.isnan(found[2])


def test_in_sample_flatters() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=60), rng.normal(size=60)
    inside = ((fit_isotonic(x.tolist(), y.tolist()).predict(x) - y) ** 2).mean()
    outside = ((crossfit(fit_isotonic, x.tolist(), y.tolist()) - y) ** 2).mean()
    assert outside > inside


def test_leniency_alone_is_a_shift() -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(1, 6, 200)
    y = x - 1 + rng.normal(0, 0.5, 200)
    found = choose_map(x.tolist(), y.tolist())
    assert found.chosen.kind == "shift"
    assert [name for name, *_ in found.errors] == ["shift", "affine", "isotonic"]
    assert found.skipped[0][0] == "ordinal"


def test_a_narrow_scale_is_a_line_and_a_bent_one_is_bent() -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 1, 300)
    narrow = choose_map(x.tolist(), (0.2 + 0.3 * x + rng.normal(0, 0.02, 300)).tolist())
    assert narrow.chosen.kind == "affine"
    bent = choose_map(x.tolist(), (np.where(x > 0.8, 1, 0) + rng.normal(0, 0.05, 300)).tolist())
    assert bent.chosen.kind == "isotonic"
    assert len(bent.out_of_fold) == 300


def test_levels_with_labels_enough_are_tried_as_such() -> None:
    rng = np.random.default_rng(4)
    x = rng.integers(1, 6, 120)
    y = np.clip(x + rng.integers(-1, 2, 120), 1, 5)
    assert "ordinal" in [name for name, *_ in choose_map(x.tolist(), y.tolist()).errors]


def test_maps_that_cannot_be_fitted_are_named() -> None:
    with pytest.raises(NotEnoughDataError, match="shift: 3 labels, 10 are needed"):
        choose_map([1, 2, 3], [1, 2, 3])
    found = choose_map([3] * 60, [1, 2, 3] * 20)
    assert ("affine", "a line needs two different judge scores") in found.skipped
    assert found.chosen.kind == "shift"
