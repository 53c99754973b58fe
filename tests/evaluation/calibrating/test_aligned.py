"""How several annotators, levels and thresholds come to what is compared."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np
import pytest

from judgekit.errors import InputError, SettingsError
from judgekit.evaluation.calibrating.aligned import clusters_of, mean_rating
from judgekit.evaluation.calibrating.clustering import clustered, rate
from judgekit.evaluation.calibrating.material import Place, Sample, groups_of
from judgekit.evaluation.calibrating.options import CalibrationOptions
from judgekit.evaluation.calibrating.scales import CHOICE, inferred, level_of, levels_of
from judgekit.records.rubric import Scale
from judgekit.stats.estimate import undefined
from judgekit.stats.intervals import mean
from tests.evaluation.calibrating.items import FIVE, aligned, item
from tests.factories import make_case


@pytest.mark.parametrize(("consensus", "label"), [("median", 2.5), ("mean", 2.75), ("majority", 4)])
def test_annotators_come_to_one_label(consensus: Any, label: float) -> None:
    found = aligned(item(3, 4, 1, 4, 2, 1), consensus=consensus)
    even = aligned(item(3, 4, 1, 4, 2), consensus=consensus)
    assert found.label(found.items[0]) == (
        2.4 if consensus == "mean" else 2 if consensus == "median" else 4
    )
    assert even.label(even.items[0]) == {"median": 3, "mean": 2.75, "majority": 4}[consensus]
    assert label


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
    assert found.labels.tolist() == [4, 2]
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
        (CHOICE, (0, 0.5, 1)),
    ],
)
def test_agreement_goes_by_levels_where_a_scale_has_them(
    scale: Scale, levels: tuple[float, ...] | None
) -> None:
    assert levels_of(scale) == levels


def test_a_score_between_two_levels_goes_to_the_nearest() -> None:
    assert [level_of(x, (0, 0.5, 1)) for x in (0.2, 0.25, 0.8)] == [0, 0.5, 1]
    assert level_of(0.123, None) == 0.123


def sample(raw: float | None, value: float | None = None) -> Sample:
    """An answer of a judge."""
    return Sample(place=Place("a"), criterion="c", raw=raw, value=value)


def test_two_scores_with_their_values_reveal_the_ends() -> None:
    found = inferred("c", [sample(3, 0.5), sample(4, 0.75), sample(None)], [5.0])
    assert (found.scale.min, found.scale.max, found.scale.integer) == (1, 5, True)


def test_without_values_the_ends_are_the_scores_seen() -> None:
    found = inferred("c", [sample(3), sample(3.5)], [1.0])
    assert (found.scale.min, found.scale.max, found.scale.integer) == (1, 3.5, False)


def test_one_score_reveals_no_scale() -> None:
    with pytest.raises(InputError, match="its scale is not known"):
        inferred("c", [sample(3, 0.5)], [3.0])


def test_groups_are_the_case_s_and_the_output_s() -> None:
    case = make_case(
        stratum="simple", tags=("x", "y"), metadata={"doc": 3, "more": ["z"], "who": "a"}
    )
    assert groups_of(case, {"who": "b", "gone": " "}) == {
        "doc": ("3",), "who": ("b",), "stratum": ("simple",), "tag": ("x", "y"),
    }  # fmt: skip
    assert groups_of(None) == {}


def test_a_place_reads_as_words() -> None:
    assert str(Place("refund", "v2", 1)) == "refund of v2, answer 1"


@pytest.mark.parametrize(
    "wrong",
    [{"level": 1}, {"max_error": 0}, {"epsilon": 1}, {"n_suggested": -1}, {"half_width": 2}],
)
def test_options_out_of_their_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        CalibrationOptions(**wrong)


def test_a_clustered_rate_is_the_share_of_all_and_wider() -> None:
    outcomes = [1, 1, 1, 1, 1, 1, 0, 0, 0]
    names = [*"aaaaaabbc"]
    plain, found = rate(outcomes, None, level=0.95), rate(outcomes, names, level=0.95)
    assert plain.value == found.value == pytest.approx(6 / 9)
    assert found.high - found.low > plain.high - plain.low
    assert found.n_clusters == 3


def test_a_rate_of_none_or_all_counts_clusters() -> None:
    found = rate([1.0] * 8, [*"aaaabbbb"], level=0.95)
    assert found.low == pytest.approx(rate([1.0, 1.0], None, level=0.95).low)
    assert isnan(rate([float("nan")], ["a"], level=0.95).value)


def test_groups_of_cases_are_left_out_together_when_they_are_many() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(0.3, 0.1, 300)
    names = [i // 2 for i in range(300)]
    seen: list[int] = []

    def statistic(places: np.ndarray) -> float:
        seen.append(len(places))
        return float(x[places].mean())

    found = clustered(mean(x.tolist()), statistic, names)
    assert len(seen) == 60
    assert found.n_clusters == 150
    assert found.low < found.value < found.high


def test_one_case_alone_has_no_interval() -> None:
    found = clustered(mean([1.0, 2.0]), lambda _: 1.0, ["a", "a"])
    assert isnan(found.low)
    assert found.reason == "all items are of one case"


def test_what_is_undefined_or_not_clustered_stays_as_it_is() -> None:
    nothing = undefined("no", n=0, method="m")
    assert clustered(nothing, lambda _: 1.0, ["a"]) is nothing
    known = mean([1.0, 2.0])
    assert clustered(known, lambda _: 1.0, None) is known
