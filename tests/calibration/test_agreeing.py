"""Agreement, people among themselves and leniency, against numbers worked by hand."""

from __future__ import annotations

from math import isnan

import pytest

from judgekit.calibration.agreement import (
    confusion_table,
    judge_leniency,
    judge_steadiness,
    pass_fail_agreement,
    scale_agreement,
)
from judgekit.calibration.substitution import human_ceiling, run_alt_test
from judgekit.records import Scale
from tests.calibration.items import OPTIONS, UNIT, aligned, item, several


def test_agreement_on_four_items_by_hand() -> None:
    """Exact on 2 of 4, one off on 1 more; differences 0, 0, 1, -2."""
    found = scale_agreement(several([(5, 5), (4, 4), (3, 2), (1, 3)]), level=0.95)
    assert found.exact.value == 0.5
    assert found.within_one.value == 0.75
    assert found.kappa.value == pytest.approx((0.5 - 3 / 16) / (1 - 3 / 16))
    assert found.kappa_quadratic.value == pytest.approx(found.ccc.value, abs=1e-9)


def test_levels_further_apart_than_one_count_by_their_step() -> None:
    scale = Scale.model_validate({"levels": [{"value": v} for v in (0, 5, 10)]})
    found = scale_agreement(several([(0, 5), (10, 0)], scale=scale), level=0.95)
    assert found.within_one.value == 0.5


def test_a_scale_without_levels_has_no_kappa_and_says_why() -> None:
    found = scale_agreement(
        several([(0.2, 0.3), (0.8, 0.7), (0.5, 0.5)], scale=Scale(min=0, max=1)), level=0.95
    )
    assert isnan(found.kappa.value)
    assert found.kappa.reason == "the scale has no levels: see ccc and icc"
    assert found.ccc.value > 0.9
    assert found.alpha.value > 0.9
    assert confusion_table(several([(0.2, 0.3)], scale=Scale(min=0, max=1))) is None


def test_pass_and_fail_by_hand() -> None:
    """5 and 4 pass; true positives 2, false positive 1, false negative 1, true negatives 2."""
    found = pass_fail_agreement(
        several([(5, 5), (4, 4), (4, 2), (2, 4), (1, 1), (2, 2), (None, 5)]), level=0.95
    )
    assert found is not None
    counts = (found.true_pos, found.false_pos, found.false_neg, found.true_neg)
    assert counts == (2, 1, 1, 2)
    assert found.accuracy.value == pytest.approx(4 / 6)
    assert found.accuracy_of_all.value == pytest.approx(4 / 7)
    assert found.tpr.value == found.precision.value == pytest.approx(2 / 3)
    assert found.tnr.value == found.npv.value == pytest.approx(2 / 3)
    assert found.f1 == pytest.approx(2 / 3)
    assert found.balanced_accuracy == pytest.approx(2 / 3)
    assert found.judge_rate.value == found.human_rate.value == pytest.approx(0.5)


def test_nothing_that_passes_leaves_rates_undefined() -> None:
    found = pass_fail_agreement(several([(1, 1), (2, 1)]), level=0.95)
    assert found is not None
    assert isnan(found.tpr.value)
    assert isnan(found.f1)
    assert pass_fail_agreement(several([(1, 1)], threshold=None), level=0.95) is None


def test_the_table_of_scores_counts_what_was_not_usable() -> None:
    found = confusion_table(several([(5, 4), (5, 5), (None, 4)]))
    assert found is not None
    assert found.counts[3][4] == found.counts[4][4] == 1
    assert found.unusable == (0, 0, 0, 1, 0)


def test_outputs_of_one_case_widen_every_interval() -> None:
    pairs = [(5, 5), (4, 3), (2, 2), (1, 1), (3, 3), (2, 1), (5, 4), (4, 4)] * 4
    alone = several(pairs)
    shared = aligned(*(item(j, h, case=f"c{k // 8}") for k, (j, h) in enumerate(pairs)))
    single, grouped = scale_agreement(alone, level=0.95), scale_agreement(shared, level=0.95)
    assert grouped.pearson.value == single.pearson.value
    assert grouped.pearson.n_clusters == 4
    assert grouped.kendall.method.endswith("smoothed, clustered")
    assert grouped.icc.method.endswith("smoothed, clustered")
    assert grouped.exact.n_clusters == 4


def test_people_and_the_judge_against_the_same_people() -> None:
    """Two people agree on one of two items; the judge agrees with both on the first only."""
    found = human_ceiling(
        aligned(item(4, 4, 4), item(2, 4, 5, case="b"), item(3, 3, case="c")), level=0.95
    )
    assert (found.n_annotators, found.n_doubly) == (2, 2)
    assert (found.human, found.judge) == (0.5, 0.5)
    assert found.gap.value == 0
    assert found.distance_gap.value == pytest.approx((0 + -2.5 + 1) / 2)
    assert [(each.name, each.n) for each in found.annotators] == [("p0", 3), ("p1", 2)]


def test_one_annotator_has_no_ceiling() -> None:
    found = human_ceiling(several([(4, 4), (2, 3)]), level=0.95)
    assert isnan(found.gap.value)
    assert isnan(found.alpha.value)
    assert isnan(found.mean_pair_kappa)
    assert isnan(found.human)


def test_annotators_of_numbers_have_no_kappa() -> None:
    found = human_ceiling(aligned(item(0.4, 0.5, 0.6), scale=Scale(min=0, max=1)), level=0.95)
    assert isnan(found.annotators[0].kappa.value)
    assert isnan(found.mean_pair_kappa)


def test_too_few_annotators_leave_the_test_untried() -> None:
    found = run_alt_test(several([(4, 4)]), OPTIONS)
    assert isinstance(found, str)
    assert found.startswith("0 of 1 raters have 30 items")


def test_leniency_by_hand() -> None:
    found = judge_leniency(several([(5, 4), (4, 4), (3, 1)]), level=0.95)
    assert found.bias.value == pytest.approx(1)
    assert found.mae.value == pytest.approx(1)
    assert found.rmse == pytest.approx((5 / 3) ** 0.5)
    assert (found.judge_mean.value, found.human_mean.value) == (4, 3)
    assert found.judge_levels is not None


def test_leniency_of_nothing_is_undefined() -> None:
    found = judge_leniency(several([(None, 4)]), level=0.95)
    assert isnan(found.bias.value)
    assert isnan(found.rmse)
    assert isnan(found.loa_low)
    assert found.judge_levels is None


def test_a_judge_asked_twice_is_held_against_itself() -> None:
    one = item(4, 4, samples=((4, 4, None),))
    two = item(3, 4, case="b", samples=((2, 4, 3),))
    found = judge_steadiness(aligned(one, two), level=0.95)
    assert found is not None
    assert (found.n_items, found.n_unusable) == (2, 1)
    assert found.all_equal.value == 0.5
    assert found.within_sd == pytest.approx(0.5)
    assert judge_steadiness(aligned(item(4, 4, samples=((4,),))), level=0.95) is None


def test_unreadable_repeats_leave_nothing_to_hold() -> None:
    found = judge_steadiness(aligned(item(4, 4, samples=((4, None),))), level=0.95)
    assert found is not None
    assert isnan(found.within_sd)


def test_people_on_a_scale_without_levels_agree_by_how_far_apart_they_are() -> None:
    part = aligned(*(item(x, x, x + 0.01, case=f"{x}") for x in (0.1, 0.5, 0.9)), scale=UNIT)
    found = human_ceiling(part, level=0.95)
    assert found.alpha.value == found.alpha_interval.value > 0.99
    assert isnan(found.alpha_ordinal.value)
    assert found.alpha_ordinal.reason == (
        "the scale has no levels: see alpha at the interval level"
    )
    assert isnan(found.fleiss_kappa.value)
