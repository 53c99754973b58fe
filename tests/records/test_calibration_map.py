from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from judgekit.records import UNCALIBRATED, CalibrationInUse
from tests.calibrations import ASKED, make_calibration, make_map
from tests.factories import make_criterion, make_rubric

CRITERION = make_criterion()
UNIT = st.floats(0, 1)
POINTS = st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=6, unique_by=lambda p: p[0]).map(
    lambda points: list(
        zip(sorted(x for x, _ in points), sorted(y for _, y in points), strict=True)
    )
)


@given(POINTS, UNIT, UNIT)
def test_a_map_never_falls_and_stays_within_the_scale(
    points: list[tuple[float, float]], one: float, other: float
) -> None:
    fitted = make_map(CRITERION, *points)
    low, high = (fitted.value_of(x) for x in sorted((one, other)))
    assert 0 <= low <= high <= 1


@given(POINTS)
def test_a_map_goes_through_its_points(points: list[tuple[float, float]]) -> None:
    fitted = make_map(CRITERION, *points)
    assert [fitted.value_of(x) for x, _ in points] == [y for _, y in points]


@pytest.mark.parametrize(
    ("value", "mapped"), [(0, 0.1), (0.25, 0.1), (0.5, 0.25), (0.75, 0.4), (1, 0.4)]
)
def test_a_map_is_straight_between_its_points_and_level_beyond(value: float, mapped: float) -> None:
    assert make_map(CRITERION, (0.25, 0.1), (0.75, 0.4)).value_of(value) == pytest.approx(mapped)


@given(UNIT)
def test_the_identity_changes_nothing(value: float) -> None:
    assert make_map(CRITERION, (0, 0), (1, 1), method="identity").value_of(value) == value


@pytest.mark.parametrize("points", [((0, 0.5), (1, 0.4)), ((0.5, 0), (0.5, 1)), ((1, 0), (0, 1))])
def test_points_that_fall_are_refused(points: tuple[tuple[float, float], ...]) -> None:
    with pytest.raises(ValidationError, match="never fall"):
        make_map(CRITERION, *points)


def test_when_maps_were_fitted_is_no_part_of_what_they_are() -> None:
    one = make_calibration()
    later = make_calibration(fitted_at=one.fitted_at + timedelta(days=1), judgekit="1")
    assert one.fingerprint == later.fingerprint
    assert one.fingerprint != make_calibration(label_set="g").fingerprint


def test_a_map_is_found_by_what_is_asked_not_by_the_name() -> None:
    calibration = make_calibration(make_rubric("accuracy"))
    assert calibration.map_of(make_criterion(weight=7, description="for people")) is not None
    assert calibration.map_of(make_criterion(question="Is it true?")) is None


def test_only_the_maps_that_apply_are_used() -> None:
    rubric = make_rubric("accuracy", "tone")
    use = CalibrationInUse(
        state="stale", words="w", calibration=make_calibration(rubric), applied=("tone",)
    )
    assert list(use.maps(rubric)) == ["tone"]
    assert UNCALIBRATED.maps(rubric) == {}


def test_a_judge_is_a_model_and_a_template() -> None:
    (judge,) = ASKED.judges
    assert (judge.model, judge.template) == ("openai/m", "pointwise/criterion@1f3c")
    person = judge.model_copy(update={"judge": "human"})
    assert (person.model, person.template) == ("human", "")
