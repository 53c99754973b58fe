"""What confidence is worth, what needs no review, and maps out of fold."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import pytest

from judgekit.evaluation.calibrating.options import CalibrationOptions
from judgekit.evaluation.calibrating.trusting import folds_of, recalibration, rightness, trust
from judgekit.records.rubric import Scale
from tests.evaluation.calibrating.items import OPTIONS, aligned, item, several

if TYPE_CHECKING:
    from judgekit.evaluation.calibrating.aligned import Aligned
    from judgekit.evaluation.calibrating.options import Rightness


@pytest.mark.parametrize(("right", "share"), [("pass", 1.0), ("exact", 0.0), ("within_one", 0.5)])
def test_right_means_what_was_chosen(right: Rightness, share: float) -> None:
    options = CalibrationOptions(right=right)
    assert rightness(several([(5, 4), (3, 1)]), options).mean() == share


def test_one_level_off_is_one_step_of_the_scale() -> None:
    scale = Scale.model_validate({"levels": [{"value": raw} for raw in (0, 50, 100)]})
    found = several([(50, 100), (0, 100)], scale=scale)
    assert rightness(found, CalibrationOptions(right="within_one")).tolist() == [1, 0]


def sure(pairs: list[tuple[float, float, float | None]], **fields: object) -> Aligned:
    """Items with a confidence."""
    return aligned(
        *(item(j, h, case=f"c{k}", confidence=c) for k, (j, h, c) in enumerate(pairs)),
        **fields,
    )


def test_confidence_that_tells_right_from_wrong_allows_a_threshold() -> None:
    found = trust(sure([(5, 5, 0.95)] * 70 + [(5, 1, 0.55)] * 15 + [(5, 5, None)] * 3), OPTIONS)
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
    found = trust(sure([(5, 5, 0.9)] * 10), OPTIONS)
    assert not isinstance(found, str)
    assert isnan(found.review.threshold)
    assert found.review.coverage == 0
    assert found.review.reason is not None
    assert found.after is None
    assert found.why_not_after == "10 items; a recalibration needs 30"


def test_a_judge_always_right_is_not_recalibrated() -> None:
    found = trust(sure([(5, 5, 0.9)] * 40), OPTIONS)
    assert not isinstance(found, str)
    assert found.after is None
    assert found.why_not_after is not None


def test_without_confidence_there_is_nothing_to_check() -> None:
    found = trust(several([(5, 5)]), OPTIONS)
    assert isinstance(found, str)
    assert "ask with --repeats 3" in found


def test_a_map_takes_leniency_out_of_fold() -> None:
    found = recalibration(several([(min(5, h + 1), h) for h in (1, 2, 3, 4)] * 10), OPTIONS)
    assert not isinstance(found, str)
    assert found.mae_before == 1
    assert found.mae_after < 0.1
    assert found.accuracy_after == 1
    assert isinstance(recalibration(several([(4, 4)]), OPTIONS), str)


def test_a_map_of_choices_has_nothing_to_pass() -> None:
    pairs = [(1, 1), (0, 0), (0.5, 0.5), (1, 0.5)] * 8
    found = recalibration(several(pairs, scale=Scale(min=0, max=1), threshold=None), OPTIONS)
    assert not isinstance(found, str)
    assert isnan(found.accuracy_after)


def test_a_case_is_in_one_fold() -> None:
    folds = folds_of(["a", "b", "a", "c"], seed=1)
    assert folds[0] == folds[2]
