"""How several annotators, levels and thresholds come to what is compared."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np
import pytest

from judgekit.calibration import CalibrationOptions, OutputKey, groups_of, level_of, mean_rating
from judgekit.calibration.inputs import ScoreSample, infer_criterion
from judgekit.calibration.items import PREFERENCE_SCALE, clusters_of, levels_of
from judgekit.errors import InputError, SettingsError
from judgekit.records import Scale
from tests.calibration.items import FIVE, YES_NO, aligned, item
from tests.factories import make_case


@pytest.mark.parametrize(("consensus", "label"), [("median", 2.5), ("mean", 2.75), ("majority", 4)])
def test_annotators_come_to_one_label(consensus: Any, label: float) -> None:
    found = aligned(item(3, 4, 1, 4, 2, 1), consensus=consensus)
    even = aligned(item(3, 4, 1, 4, 2), consensus=consensus)
    assert found.label(found.items[0]) == (
        2.4 if consensus == "mean" else 2 if consensus == "median" else 2.5
    )
    assert even.label(even.items[0]) == {"median": 3, "mean": 2.75, "majority": 4}[consensus]
    assert label


def test_the_majority_does_not_depend_on_who_is_named_first() -> None:
    either = [aligned(item(3, *said), consensus="majority") for said in ((4, 2), (2, 4))]
    assert [one.label(one.items[0]) for one in either] == [3, 3]


@pytest.mark.parametrize("consensus", ["median", "majority"])
def test_of_two_levels_the_label_and_what_passes_agree_where_people_are_split(
    consensus: Any,
) -> None:
    split = aligned(item(1, 1, 0), scale=YES_NO, consensus=consensus)
    assert (split.human_level.tolist(), split.human_pass.tolist()) == ([1], [1])


def test_a_half_goes_up_on_both_sides() -> None:
    found = aligned(item(2.5, 3, 4))
    assert found.judge_level.tolist() == [3]
    assert found.human_level.tolist() == [4]
    assert found.human.tolist() == [3.5]


def test_what_passes_is_decided_by_the_value_not_by_the_level() -> None:
    found = aligned(item(3.7, 4), item(3.9, 3, 4, case="b"))
    assert found.judge_pass.tolist() == [0, 1]
    assert found.human_pass.tolist() == [1, 0]


def test_a_verdict_decides_before_the_value_does() -> None:
    found = aligned(item(5, 5, judge_passed=False, human_passed=False))
    assert (found.judge_pass.tolist(), found.human_pass.tolist()) == ([0], [0])


def test_nothing_passes_without_a_threshold() -> None:
    found = aligned(item(5, 5), threshold=None)
    assert np.isnan(found.judge_pass).all()
    assert isnan(found.passes(3))


def test_an_item_the_judge_failed_on_is_labelled_but_not_in_both() -> None:
    found = aligned(item(None, 4), item(2, 2, case="b"))
    assert (len(found.items), len(found.both)) == (2, 1)
    assert [found.label(each) for each in found.items] == [4, 2]
    assert isnan(found.judge_passes(found.items[0]))


def test_clusters_are_named_only_where_they_are_shared() -> None:
    assert clusters_of([item(1, 1), item(2, 2, case="b")]) is None
    assert clusters_of([item(1, 1), item(2, 2)]) == ["a", "a"]


def test_the_mean_of_ratings_is_rid_of_the_noise_of_floats() -> None:
    assert mean_rating(item(1, 0.1, 0.2, 0.3)) == 0.2


@pytest.mark.parametrize(
    ("scale", "levels"),
    [
        (FIVE, (1, 2, 3, 4, 5)),
        (Scale(min=1, max=3), (1, 2, 3)),
        (Scale(min=0, max=1), None),
        (Scale(min=0, max=100), None),
        (Scale(min=0.5, max=3), None),
        (PREFERENCE_SCALE, (0, 0.5, 1)),
    ],
)
def test_agreement_goes_by_levels_where_a_scale_has_them(
    scale: Scale, levels: tuple[float, ...] | None
) -> None:
    assert levels_of(scale) == levels


def test_a_score_between_two_levels_goes_to_the_nearest() -> None:
    assert [level_of(x, (0, 0.5, 1)) for x in (0.2, 0.25, 0.8)] == [0, 0.5, 1]
    assert level_of(0.123, None) == 0.123


def sample(raw: float | None, value: float | None = None) -> ScoreSample:
    """An answer of a judge."""
    return ScoreSample(place=OutputKey("a"), criterion="c", raw=raw, value=value)


def test_two_scores_with_their_values_reveal_the_ends() -> None:
    found = infer_criterion("c", [sample(3, 0.5), sample(4, 0.75), sample(None)], [5.0])
    assert (found.scale.min, found.scale.max, found.scale.integer) == (1, 5, True)


def test_without_values_the_ends_are_the_scores_seen() -> None:
    found = infer_criterion("c", [sample(3), sample(3.5)], [1.0])
    assert (found.scale.min, found.scale.max, found.scale.integer) == (1, 3.5, False)


def test_one_score_reveals_no_scale() -> None:
    with pytest.raises(InputError, match="its scale is not known"):
        infer_criterion("c", [sample(3, 0.5)], [3.0])


def test_groups_are_the_case_s_and_the_output_s() -> None:
    case = make_case(
        stratum="simple", tags=("x", "y"), metadata={"doc": 3, "more": ["z"], "who": "a"}
    )
    assert groups_of(case, {"who": "b", "gone": " "}) == {
        "doc": ("3",), "who": ("b",), "stratum": ("simple",), "tag": ("x", "y"),
    }  # fmt: skip
    assert groups_of(None) == {}


def test_a_place_reads_as_words() -> None:
    assert str(OutputKey("refund", "v2", 1)) == "refund of v2, answer 1"


@pytest.mark.parametrize(
    "wrong",
    [{"level": 1}, {"max_error": 0}, {"epsilon": 1}, {"n_suggested": -1}, {"half_width": 2}],
)
def test_options_out_of_their_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        CalibrationOptions(**wrong)
