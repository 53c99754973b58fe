from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st
from pydantic import ValidationError

from judgekit.errors import UnknownNameError
from judgekit.records import Example, Level, Scale
from tests.factories import make_criterion, make_rubric

NUMBERS = st.floats(-1e9, 1e9, allow_nan=False)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_a_raw_score_lies_on_the_scale_or_is_refused(low: float, high: float, raw: float) -> None:
    assume(low < high)
    scale = Scale(min=low, max=high)
    if low <= raw <= high:
        assert 0 <= scale.value_of(raw) <= 1
    else:
        with pytest.raises(ValueError, match="is not a score of the scale"):
            scale.value_of(raw)


@given(NUMBERS, NUMBERS, st.lists(NUMBERS, min_size=2))
def test_a_better_raw_score_never_has_a_lower_value(
    low: float, high: float, raws: list[float]
) -> None:
    assume(low < high)
    scale = Scale(min=low, max=high)
    values = [scale.value_of(raw) for raw in sorted(raws) if low <= raw <= high]
    assert values == sorted(values)
    assert (scale.value_of(low), scale.value_of(high)) == (0.0, 1.0)


@given(st.sets(st.integers(-50, 50), min_size=2), st.floats(-60, 60))
def test_between_described_levels_there_is_no_score(points: set[int], raw: float) -> None:
    scale = Scale.model_validate({"levels": [{"value": point} for point in points]})
    assert scale.points == tuple(sorted(points))
    near = min(abs(raw - point) for point in points)
    assert scale.holds(raw) is (near <= 1e-9)


def test_a_score_that_misses_its_point_by_a_rounding_error_is_that_point() -> None:
    scale = Scale.model_validate({"levels": [{"value": 0}, {"value": 0.3}, {"value": 1}]})
    assert scale.holds(0.1 + 0.2)
    assert scale.value_of(1 + 1e-10) == 1.0
    assert scale.value_of(-1e-10) == 0.0


@pytest.mark.parametrize("raw", [math.nan, math.inf, 2.5, 0, 6])
def test_a_whole_number_scale_holds_nothing_else(raw: float) -> None:
    assert not make_criterion(scale={"min": 1, "max": 5, "integer": True}).scale.holds(raw)


def test_a_wide_whole_number_scale_is_not_listed() -> None:
    scale = Scale(min=0, max=10**12, integer=True)
    assert scale.points is None
    assert scale.holds(7)
    assert not scale.holds(7.5)


def test_levels_may_be_points_on_a_scale_that_goes_on_between_them() -> None:
    scale = Scale(min=0, max=10, levels=(Level(value=10), Level(value=0)))
    assert scale.points is None
    assert scale.value_of(2.5) == 0.25


@pytest.mark.parametrize(
    ("scale", "problem"),
    [
        ({"min": 5, "max": 1}, "must lie below its max"),
        ({"min": 1, "max": 1}, "must lie below its max"),
        ({"min": -1e308, "max": 1e308}, "too wide"),
        ({"min": 1, "max": 5, "levels": [{"value": 6}]}, "level 6 lies outside 1..5"),
        ({"levels": [{"value": 1}, {"value": 1}, {"value": 0}]}, "two levels have the same"),
        ({"min": 1, "max": 4.5, "integer": True}, "whole ends and whole levels"),
        ({"min": 1, "max": 5, "between_levels": False}, "needs levels"),
        ({"min": 0, "max": math.nan}, "finite"),
        ({"levels": [{"name": "good"}]}, "min"),
        ({"levels": []}, "min"),
        ({"levels": 5}, "levels"),
        ("five_levels", "five_level"),
        (7, "Scale"),
    ],
)
def test_an_unsound_scale_is_refused(scale: Any, problem: str) -> None:
    with pytest.raises((ValidationError, UnknownNameError), match=problem):
        make_criterion(scale=scale)


@pytest.mark.parametrize(
    ("given_scale", "points"),
    [
        ("binary", (0.0, 1.0)),
        ("five-level", (0.0, 0.3, 0.5, 0.7, 1.0)),
        ([{"value": 1}, {"value": 0}], (0.0, 1.0)),
        ((Level(value=2), Level(value=4)), (2.0, 4.0)),
        (Scale(min=1, max=3, integer=True), (1.0, 2.0, 3.0)),
        ({"min": 0, "max": 1}, None),
    ],
)
def test_a_scale_may_be_named_listed_or_written_out(
    given_scale: Any, points: tuple[float, ...] | None
) -> None:
    assert make_criterion(scale=given_scale).scale.points == points


UNASKED = [
    {"weight": 3}, {"required": True}, {"pass_value": 0.9}, {"description": "for people"},
]  # fmt: skip
ASKED = [
    {"name": "style"}, {"question": "Is it so?"}, {"scoring_guide": "Look."}, {"scale": "binary"},
    {"scale": {"min": 1, "max": 5, "integer": True, "levels": [{"value": 5, "name": "top"}]}},
]  # fmt: skip


@pytest.mark.parametrize("change", UNASKED)
def test_what_the_judge_does_not_see_leaves_a_criterions_fingerprint(
    change: dict[str, Any],
) -> None:
    assert make_criterion(**change).fingerprint == make_criterion().fingerprint


@pytest.mark.parametrize("change", ASKED)
def test_what_the_judge_sees_changes_a_criterions_fingerprint(change: dict[str, Any]) -> None:
    assert make_criterion(**change).fingerprint != make_criterion().fingerprint


@pytest.mark.parametrize("change", [*ASKED, *UNASKED[:-1]])
def test_what_decides_a_verdict_changes_a_rubrics_fingerprint(change: dict[str, Any]) -> None:
    changed = make_rubric(make_criterion(**change), "other")
    assert changed.fingerprint != make_rubric("accuracy", "other").fingerprint


@pytest.mark.parametrize(
    "change", [{"name": "r2"}, {"version": 9}, {"description": "d"}, {"metadata": {"a": 1}}]
)
def test_a_rubrics_fingerprint_follows_what_it_asks_and_not_what_it_is_called(
    change: dict[str, Any],
) -> None:
    assert make_rubric(**change).fingerprint == make_rubric().fingerprint
    assert make_rubric(pass_threshold=0.8).fingerprint != make_rubric().fingerprint


def test_a_criterion_is_found_by_its_name() -> None:
    rubric = make_rubric("accuracy", "style")
    assert rubric.criterion("style") is rubric.criteria[1]
    with pytest.raises(KeyError, match="tone"):
        rubric.criterion("tone")


@pytest.mark.parametrize(
    ("criteria", "problem"),
    [
        ([], "at least 1 item"),
        ([make_criterion(), make_criterion()], "two criteria are called accuracy"),
        ([make_criterion(weight=0)], "needs a weight above 0"),
    ],
)
def test_an_unsound_rubric_is_refused(criteria: list[Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        make_rubric(criteria=criteria)


@pytest.mark.parametrize("weight", [-1, math.nan, math.inf])
def test_a_weight_is_a_number_from_0(weight: float) -> None:
    with pytest.raises(ValidationError, match="weight"):
        make_criterion(weight=weight)


@pytest.mark.parametrize("threshold", [3, -0.1, math.nan])
def test_a_threshold_lies_on_0_to_1(threshold: float) -> None:
    with pytest.raises(ValidationError, match="pass_threshold"):
        make_rubric(pass_threshold=threshold)


def test_an_example_has_a_score_of_the_scale() -> None:
    with pytest.raises(ValidationError, match=r"example 2 has 7, no score of the scale 1\.\.5"):
        make_criterion(examples=[Example(output="a", raw=1), Example(output="b", raw=7)])


def test_examples_are_part_of_what_a_judge_is_asked_but_not_where_they_come_from() -> None:
    plain, shown = make_criterion(), make_criterion(examples=[Example(output="a", raw=1)])
    named = make_criterion(examples=[Example(output="a", raw=1, case_id="c1")])
    other = make_criterion(examples=[Example(output="a", raw=2)])
    prints = [each.fingerprint for each in (plain, shown, other)]
    assert len(set(prints)) == 3
    assert named.fingerprint == shown.fingerprint
    assert make_rubric(named).fingerprint == make_rubric(shown).fingerprint
    assert make_rubric(other).fingerprint != make_rubric(shown).fingerprint


def test_rubrics_without_examples_are_named_and_written_as_before_there_were_any() -> None:
    plain = make_criterion()
    assert "examples" not in plain.to_json()
    assert plain.fingerprint == ("45d5d399be832950b08051da4660804440f431de2235b447fe996b2440db37a4")
    assert make_rubric(plain).fingerprint == (
        "530de8a1d9845272b17eaf0232ae140b01f48e9fc059d8401e7d6cbf4f5bd92f"
    )
