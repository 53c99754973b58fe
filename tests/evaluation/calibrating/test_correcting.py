"""Corrected rates: by which labels, when refused, and how many more would do."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import pytest

from judgekit.evaluation.calibrating.correcting import budget, corrected
from judgekit.evaluation.calibrating.options import CalibrationOptions
from tests.evaluation.calibrating.items import OPTIONS, YES_NO, aligned, item, several

if TYPE_CHECKING:
    from judgekit.evaluation.calibrating.aligned import Aligned
    from judgekit.evaluation.calibrating.options import LabelsAre


def labelled_and_not(n: int = 60, m: int = 140, wrong: int = 6) -> Aligned:
    """A yes/no judge, right but for some, with labels of some outputs."""
    items = [item(k % 2, (k % 2) if k >= wrong else 1 - k % 2, case=f"c{k}") for k in range(n)]
    others = [item(k % 2, case=f"d{k}") for k in range(m)]
    return aligned(*items, unlabelled=tuple(others), scale=YES_NO, threshold=0.5)


def test_labels_that_look_random_correct_and_the_assumption_is_told() -> None:
    found = corrected(labelled_and_not(), "pass rate", OPTIONS)
    assert found.labels_are == "random, assumed"
    assert found.looks_random
    assert found.corrected.low < found.corrected.value < found.corrected.high
    assert "assumes that" in found.warnings[-1]
    assert found.n_labels_saved > 0
    known = corrected(labelled_and_not(), "pass rate", CalibrationOptions(labels_are="random"))
    assert known.corrected.value == found.corrected.value
    assert known.warnings == ()


def test_labels_that_do_not_look_random_are_refused_unless_one_says_so() -> None:
    items = [item(1, 1, case=f"c{k}") for k in range(40)]
    others = [item(0, case=f"d{k}") for k in range(100)]
    odd = aligned(*items, unlabelled=tuple(others), scale=YES_NO, threshold=0.5)
    found = corrected(odd, "pass rate", OPTIONS)
    assert isnan(found.corrected.value)
    assert "do not look like a random subset" in (found.corrected.reason or "")
    assert isnan(found.n_labels_saved)


def test_labels_from_elsewhere_are_corrected_by_the_judge_s_error_rates() -> None:
    options = CalibrationOptions(labels_are="other")
    found = corrected(labelled_and_not(), "pass rate", options)
    assert found.estimator == "rogan-gladen"
    assert found.corrected.value == pytest.approx(0.5, abs=0.02)
    refused = corrected(labelled_and_not(wrong=30), "pass rate", options)
    assert isnan(refused.corrected.value)
    assert "no better than chance" in (refused.corrected.reason or "")


def test_where_all_is_labelled_people_s_own_rate_stands() -> None:
    found = corrected(labelled_and_not(m=0), "pass rate", OPTIONS)
    assert found.estimator == "people"
    assert isnan(found.corrected.value)
    assert found.labels_only.value == pytest.approx(0.5)


def test_a_mean_is_corrected_too() -> None:
    found = corrected(labelled_and_not(), "mean value", OPTIONS)
    assert found.what == "mean value"
    assert 0 < found.corrected.value < 1


@pytest.mark.parametrize("labels_are", ["random", "other"])
def test_a_correction_knows_of_cases_with_several_outputs(labels_are: LabelsAre) -> None:
    pairs = [(k % 2, (k % 2) if k % 10 else 1 - k % 2) for k in range(80)]
    items = [item(j, h, case=f"c{k // 4}") for k, (j, h) in enumerate(pairs)]
    others = [item(k % 2, case=f"d{k // 4}") for k in range(120)]
    shared = aligned(*items, unlabelled=tuple(others), scale=YES_NO, threshold=0.5)
    options = CalibrationOptions(labels_are=labels_are)
    found = corrected(shared, "pass rate", options)
    assert found.raw.n_clusters is not None
    if labels_are == "random":
        assert found.corrected.n_clusters is not None
        assert found.estimator == "ppi++"
    else:
        assert "takes outputs as independent" in found.warnings[-1]


def test_cases_that_do_not_differ_leave_no_interval() -> None:
    items = [item(k % 2, k % 2, case=f"c{k // 2}") for k in range(60)]
    others = [item(k % 2, case=f"d{k // 2}") for k in range(60)]
    same = aligned(*items, unlabelled=tuple(others), scale=YES_NO, threshold=0.5)
    found = corrected(same, "pass rate", OPTIONS)
    assert isnan(found.corrected.low)


def test_further_labels_are_counted() -> None:
    found = budget(labelled_and_not(), "pass rate", OPTIONS)
    assert found.n_labels == 60
    assert found.n_needed is not None
    assert found.n_needed_alone is not None
    assert 60 < found.n_needed < found.n_needed_alone
    assert found.n_more == found.n_needed - 60


@pytest.mark.parametrize(
    ("pairs", "reason"), [([(4, 4)], "1 labels say nothing"), ([(4, 4), (5, 4)], "do not vary")]
)
def test_labels_that_do_not_vary_say_nothing_of_how_many_are_needed(
    pairs: list[tuple[float | None, float]], reason: str
) -> None:
    found = budget(several(pairs), "pass rate", OPTIONS)
    assert reason in (found.reason or "")
    assert found.n_more is None


def test_a_judge_that_never_varies_does_not_save_labels() -> None:
    found = budget(several([(4, 4), (4, 1)] * 10), "pass rate", OPTIONS)
    assert found.n_needed == found.n_needed_alone
