"""What confidence is worth, what needs no review, and maps out of fold."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import pytest

from judgekit.calibration import CalibrationOptions
from judgekit.calibration.confidence import (
    assess_trust,
    cluster_folds,
    cross_fit_recalibration,
    judge_correctness,
)
from judgekit.records import Scale
from tests.calibration.items import OPTIONS, aligned, item, several

if TYPE_CHECKING:
    from judgekit.calibration import AlignedItems, Rightness, Trust


@pytest.mark.parametrize(("right", "share"), [("pass", 1.0), ("exact", 0.0), ("within_one", 0.5)])
def test_right_means_what_was_chosen(right: Rightness, share: float) -> None:
    options = CalibrationOptions(right=right)
    assert judge_correctness(several([(5, 4), (3, 1)]), options).mean() == share


def test_one_level_off_is_one_step_of_the_scale() -> None:
    scale = Scale.model_validate({"levels": [{"value": raw} for raw in (0, 50, 100)]})
    found = several([(50, 100), (0, 100)], scale=scale)
    assert judge_correctness(found, CalibrationOptions(right="within_one")).tolist() == [1, 0]


def sure(pairs: list[tuple[float, float, float | None]], **fields: object) -> AlignedItems:
    """Items with a confidence."""
    return aligned(
        *(item(j, h, case=f"c{k}", confidence=c) for k, (j, h, c) in enumerate(pairs)), **fields
    )


def test_confidence_that_tells_right_from_wrong_allows_a_threshold() -> None:
    found = assess_trust(
        sure([(5, 5, 0.95)] * 70 + [(5, 1, 0.55)] * 15 + [(5, 5, None)] * 3), OPTIONS
    )
    assert not isinstance(found, str)
    assert found.n == 85
    assert found.accuracy.value == pytest.approx(70 / 85)
    assert found.before.auroc.value == 1
    assert found.accuracy_top_half == 1
    assert found.review.coverage == pytest.approx(70 / 85)
    assert found.review.threshold > 0.55
    assert found.review.error == 0
    assert found.after is not None
    assert found.after.ece.value < found.before.ece.value


def test_a_threshold_that_cannot_be_proved_is_refused_with_a_reason() -> None:
    found = assess_trust(sure([(5, 5, 0.9)] * 10), OPTIONS)
    assert not isinstance(found, str)
    assert isnan(found.review.threshold)
    assert found.review.coverage == 0
    assert found.review.reason is not None
    assert found.after is None
    assert found.why_not_after == "10 items; a recalibration needs 30"


def test_a_judge_always_right_is_not_recalibrated() -> None:
    found = assess_trust(sure([(5, 5, 0.9)] * 40), OPTIONS)
    assert not isinstance(found, str)
    assert found.after is None
    assert found.why_not_after is not None


def test_without_confidence_there_is_nothing_to_check() -> None:
    found = assess_trust(several([(5, 5)]), OPTIONS)
    assert isinstance(found, str)
    assert "use --repeats 3" in found


def test_a_map_takes_leniency_out_of_fold() -> None:
    found = cross_fit_recalibration(
        several([(min(5, h + 1), h) for h in (1, 2, 3, 4)] * 10), OPTIONS
    )
    assert not isinstance(found, str)
    assert found.mae_before == 1
    assert found.mae_after < 0.1
    assert found.accuracy_after == 1
    assert isinstance(cross_fit_recalibration(several([(4, 4)]), OPTIONS), str)


def test_choices_between_two_outputs_have_no_map() -> None:
    pairs = [(1, 1), (0, 0), (0.5, 0.5), (1, 0.5)] * 8
    found = cross_fit_recalibration(
        several(pairs, scale=Scale(min=0, max=1), threshold=None), OPTIONS
    )
    assert found == "a choice between two outputs has no map"


def test_more_outputs_of_the_same_cases_make_no_figure_of_confidence_surer() -> None:
    """Four outputs alike in every case: as much is known as of one."""

    def of(copies: int) -> Trust:
        items = [
            item(5, 5 if k % 4 else 1, case=f"c{k}", confidence=0.95 - k % 7 / 10)
            for k in range(60)
            for _ in range(copies)
        ]
        found = assess_trust(aligned(*items), OPTIONS)
        assert not isinstance(found, str)
        return found

    one, four = of(1).before, of(4).before
    for single, several_ in ((one.brier, four.brier), (one.log_loss, four.log_loss)):
        assert several_.value == pytest.approx(single.value)
        assert several_.n == 60
        assert several_.high - several_.low > 0.9 * (single.high - single.low)
    assert four.auroc.method == "jackknife over cases, fisher z"
    assert four.auroc.high - four.auroc.low > 0.9 * (one.auroc.high - one.auroc.low)
    assert four.ece.value == pytest.approx(one.ece.value)
    assert four.ece.expected > 0.7 * one.ece.expected, "and chance is not thought smaller"
    for row, single_row in zip(four.bins, one.bins, strict=True):
        assert row.rate.high - row.rate.low > 0.8 * (single_row.rate.high - single_row.rate.low)


def test_a_case_is_in_one_fold() -> None:
    folds = cluster_folds(["a", "b", "a", "c"], seed=1)
    assert folds[0] == folds[2]
