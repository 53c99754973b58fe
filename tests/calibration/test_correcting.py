"""Corrected rates: by which labels, when refused, and how many more would do."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

import pytest

from judgekit.calibration import CalibrationOptions
from judgekit.calibration.correction import correct_figure, label_budget
from judgekit.stats.rogan_gladen import corrected_pass_rate
from tests.calibration.items import OPTIONS, UNIT, YES_NO, aligned, item, several

if TYPE_CHECKING:
    from judgekit.calibration import AlignedItems
    from judgekit.stats.estimate import LabelsAre


def labelled_and_not(n: int = 60, m: int = 140, wrong: int = 6) -> AlignedItems:
    """A yes/no judge, right but for some, with labels of some outputs."""
    items = [item(k % 2, (k % 2) if k >= wrong else 1 - k % 2, case=f"c{k}") for k in range(n)]
    others = [item(k % 2, case=f"d{k}") for k in range(m)]
    return aligned(*items, unlabelled=tuple(others), scale=YES_NO, threshold=0.5)


def test_labels_that_look_random_correct_and_the_assumption_is_told() -> None:
    found = correct_figure(labelled_and_not(), "pass rate", OPTIONS)
    assert found.labels_are == "random, assumed"
    assert found.looks_random
    assert found.corrected.low < found.corrected.value < found.corrected.high
    assert "assumes that" in found.warnings[-1]
    assert found.n_labels_saved > 0
    known = correct_figure(labelled_and_not(), "pass rate", CalibrationOptions(labels_are="random"))
    assert known.corrected.value == found.corrected.value
    assert known.warnings == ()


def test_labels_that_do_not_look_random_are_refused_unless_one_says_so() -> None:
    items = [item(1, 1, case=f"c{k}") for k in range(40)]
    others = [item(0, case=f"d{k}") for k in range(100)]
    odd = aligned(*items, unlabelled=tuple(others), scale=YES_NO, threshold=0.5)
    found = correct_figure(odd, "pass rate", OPTIONS)
    assert isnan(found.corrected.value)
    assert "do not look like a random subset" in (found.corrected.reason or "")
    assert isnan(found.n_labels_saved)


def test_labels_from_elsewhere_are_corrected_by_the_judge_s_error_rates() -> None:
    options = CalibrationOptions(labels_are="other")
    found = correct_figure(labelled_and_not(), "pass rate", options)
    assert found.estimator == "rogan-gladen"
    assert found.corrected.value == pytest.approx(0.5, abs=0.02)
    refused = correct_figure(labelled_and_not(wrong=30), "pass rate", options)
    assert isnan(refused.corrected.value)
    assert "no better than chance" in (refused.corrected.reason or "")


def test_where_all_is_labelled_people_s_own_rate_stands() -> None:
    found = correct_figure(labelled_and_not(m=0), "pass rate", OPTIONS)
    assert found.estimator == "people"
    assert isnan(found.corrected.value)
    assert found.labels_only.value == pytest.approx(0.5)


def test_a_mean_is_corrected_too() -> None:
    found = correct_figure(labelled_and_not(), "mean value", OPTIONS)
    assert found.what == "mean value"
    assert 0 < found.corrected.value < 1


@pytest.mark.parametrize("labels_are", ["random", "other"])
def test_a_correction_knows_of_cases_with_several_outputs(labels_are: LabelsAre) -> None:
    pairs = [(k % 2, (k % 2) if k % 10 else 1 - k % 2) for k in range(80)]
    items = [item(j, h, case=f"c{k // 4}") for k, (j, h) in enumerate(pairs)]
    others = [item(k % 2, case=f"d{k // 4}") for k in range(120)]
    shared = aligned(*items, unlabelled=tuple(others), scale=YES_NO, threshold=0.5)
    options = CalibrationOptions(labels_are=labels_are)
    found = correct_figure(shared, "pass rate", options)
    assert found.raw.n_clusters is not None
    if labels_are == "random":
        assert found.corrected.n_clusters is not None
        assert found.estimator == "ppi++"
    else:
        assert found.corrected.n_clusters == 20 + 30


def test_cases_that_do_not_differ_leave_no_value() -> None:
    items = [item(k % 2, k % 2, case=f"c{k // 2}") for k in range(60)]
    others = [item(k % 2, case=f"d{k // 2}") for k in range(60)]
    same = aligned(*items, unlabelled=tuple(others), scale=YES_NO, threshold=0.5)
    found = correct_figure(same, "pass rate", OPTIONS)
    assert isnan(found.corrected.low)
    assert isnan(found.corrected.value), "no value without its interval"
    assert found.corrected.reason


def test_further_labels_are_counted() -> None:
    found = label_budget(labelled_and_not(), "pass rate", OPTIONS)
    assert found.n_labels == 60
    assert found.n_needed is not None
    assert found.n_needed_alone is not None
    assert 60 < found.n_needed < found.n_needed_alone
    assert found.n_more == found.n_needed - 60


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [([(4, 4)], "fewer than 2 labels show no spread"), ([(4, 4), (5, 4)], "do not vary")],
)
def test_labels_that_do_not_vary_say_nothing_of_how_many_are_needed(
    pairs: list[tuple[float | None, float]], reason: str
) -> None:
    found = label_budget(several(pairs), "pass rate", OPTIONS)
    assert reason in (found.reason or "")
    assert found.n_more is None


def test_a_judge_that_never_varies_does_not_save_labels() -> None:
    found = label_budget(several([(4, 4), (4, 1)] * 10), "pass rate", OPTIONS)
    assert found.n_needed == found.n_needed_alone


def copied(copies: int) -> AlignedItems:
    """Outputs that are labelled, and others, each of them several times over in its case."""
    items = [
        item(k % 2, (k % 2) if k % 10 else 1 - k % 2, case=f"c{k}")
        for k in range(60)
        for _ in range(copies)
    ]
    others = [item(k % 2, case=f"d{k}") for k in range(140) for _ in range(copies)]
    return aligned(*items, unlabelled=tuple(others), scale=YES_NO, threshold=0.5)


def test_copies_of_outputs_take_as_many_labels_more_and_save_none() -> None:
    options = CalibrationOptions(labels_are="random")
    one, five = (label_budget(copied(n), "pass rate", options) for n in (1, 5))
    assert one.n_needed_alone is not None
    assert five.n_needed_alone == pytest.approx(5 * one.n_needed_alone, rel=0.02)
    saved = [correct_figure(copied(n), "mean value", options) for n in (2, 5)]
    assert saved[1].n_labels_saved == pytest.approx(2.5 * saved[0].n_labels_saved, rel=0.02)


def test_labels_from_elsewhere_save_nothing_that_is_known() -> None:
    found = correct_figure(labelled_and_not(), "pass rate", CalibrationOptions(labels_are="other"))
    assert found.corrected.se > 0 or found.corrected.low < found.corrected.high
    assert isnan(found.n_labels_saved)


def test_whole_cases_that_differ_do_not_make_labels_look_chosen() -> None:
    """Three of ten cases are labelled, whole; outputs of a case all pass, or all fail."""
    items = [item(int(c < 1), int(c < 1), case=f"c{c}") for c in range(3) for _ in range(20)]
    others = [item(int(c < 9), case=f"c{c}") for c in range(3, 10) for _ in range(20)]
    part = aligned(*items, unlabelled=tuple(others), scale=YES_NO, threshold=0.5)
    assert correct_figure(part, "pass rate", OPTIONS).looks_random
    apart = [replace(one, cluster=k) for k, one in enumerate((*items, *others))]
    alone = replace(part, items=tuple(apart[:60]), unlabelled=tuple(apart[60:]))
    assert not correct_figure(alone, "pass rate", OPTIONS).looks_random


def test_scores_that_are_all_the_same_say_nothing_of_how_labels_were_drawn() -> None:
    items = [item(1, k % 2, case=f"c{k}") for k in range(30) for _ in range(2)]
    others = [item(1, case=f"d{k}") for k in range(30)]
    part = aligned(*items, unlabelled=tuple(others), scale=YES_NO, threshold=0.5)
    assert correct_figure(part, "pass rate", OPTIONS).looks_random is None


def test_a_share_of_few_does_not_leave_its_range() -> None:
    """How often a wins, of three pairs: ends by t lie far outside."""
    part = several([(1.0, 1.0), (0.5, 1.0), (1.0, 0.5)], scale=UNIT, threshold=None)
    part = replace(part, unlabelled=(item(0.5, case="d"), item(1, case="e")))
    found = correct_figure(part, "mean value", OPTIONS)
    for figure in (found.raw, found.labels_only):
        assert 0 <= figure.low < figure.value < figure.high == 1


def judged_passes(n: int, m: int, *, share: int = 4) -> AlignedItems:
    """Labelled and further outputs; the judge passes three of four and is wrong on one of nine."""
    items = [
        item(int(k % share > 0), int((k % share > 0) ^ (k % 9 == 0)), case=f"c{k:03}")
        for k in range(n)
    ]
    others = [item(int(k % share > 0), case=f"d{k:03}") for k in range(m)]
    return aligned(*items, unlabelled=tuple(others), scale=YES_NO, threshold=0.5)


def test_further_labels_keep_the_shares_of_what_the_judge_decides() -> None:
    found = label_budget(judged_passes(80, 400), "pass rate", OPTIONS)
    passes, fails = found.strata
    assert (passes.name, fails.name) == ("the judge passes", "the judge fails")
    assert (passes.n_labels, fails.n_labels) == (60, 20)
    assert found.n_more == passes.n_more + fails.n_more == (found.n_needed or 0) - 80
    assert passes.n_more == pytest.approx(3 * fails.n_more, abs=1)


def test_a_decision_with_more_than_its_share_of_labels_gets_none() -> None:
    items = [item(1, k % 9 > 0, case=f"c{k}") for k in range(190)]
    items += [item(0, k % 2, case=f"e{k}") for k in range(10)]
    others = [item(0, case=f"d{k}") for k in range(600)]
    odd = aligned(*items, unlabelled=tuple(others), scale=YES_NO, threshold=0.5)
    options = CalibrationOptions(half_width=0.04)
    passes, fails = label_budget(odd, "pass rate", options).strata
    assert passes.n_more == 0
    assert fails.n_more > 0


def test_the_next_outputs_are_unlabelled_ones_drawn_whatever_the_order_of_rows() -> None:
    judged = judged_passes(80, 400)
    found = label_budget(judged, "pass rate", OPTIONS)
    again = replace(judged, unlabelled=judged.unlabelled[::-1])
    assert label_budget(again, "pass rate", OPTIONS) == found
    passing = {one.place for one in judged.unlabelled if one.judge == 1}
    drawn = found.strata[0].next_items
    assert set(drawn) <= passing
    assert len(set(drawn)) == found.strata[0].n_more
    other = label_budget(judged, "pass rate", CalibrationOptions(seed=1))
    assert other.strata[0].next_items != drawn


def test_no_more_outputs_are_drawn_than_there_are() -> None:
    found = label_budget(judged_passes(40, 12), "pass rate", OPTIONS)
    assert sum(len(stratum.next_items) for stratum in found.strata) == found.n_unlabelled == 12
    assert (found.n_more or 0) > 12


def test_labels_from_elsewhere_are_split_as_neyman_does() -> None:
    """So many labels give the interval that was asked for, by the rates of the first labels."""
    options = CalibrationOptions(labels_are="other", half_width=0.08)
    judged = judged_passes(80, 1000)
    found = label_budget(judged, "pass rate", options)
    passes, fails = found.strata
    assert (passes.name, fails.name) == ("humans pass", "humans fail")
    assert passes.next_items == fails.next_items == ()
    assert found.n_more == passes.n_more + fails.n_more
    n_pos, n_neg = passes.n_labels + passes.n_more, fails.n_labels + fails.n_more
    tpr, tnr = judged.judge[judged.human == 1].mean(), 1 - judged.judge[judged.human == 0].mean()
    counts = (750, 1000, round(n_pos * tpr), n_pos, round(n_neg * tnr), n_neg)
    rates = corrected_pass_rate(*counts)
    assert (rates.high - rates.low) / 2 == pytest.approx(0.08, rel=0.1)


@pytest.mark.parametrize(
    ("labelled", "half_width", "reason"),
    [
        (judged_passes(80, 20), 0.05, "over 20 outputs is too imprecise"),
        (judged_passes(80, 0), 0.05, "no other outputs were judged"),
        (labelled_and_not(wrong=60), 0.05, "no better than chance"),
    ],
)
def test_labels_from_elsewhere_that_cannot_be_enough_have_a_reason(
    labelled: AlignedItems, half_width: float, reason: str
) -> None:
    options = CalibrationOptions(labels_are="other", half_width=half_width)
    found = label_budget(labelled, "pass rate", options)
    assert reason in (found.reason or "")
    assert (found.n_needed, found.strata) == (None, ())


def test_labels_from_elsewhere_in_cases_of_copies_take_as_many_more() -> None:
    options = CalibrationOptions(labels_are="other", half_width=0.2)
    one, five = (label_budget(copied(n), "pass rate", options) for n in (1, 5))
    assert one.n_needed is not None
    assert one.n_needed > 20, "more than the least that a correction takes"
    assert five.n_needed == pytest.approx(5 * one.n_needed, rel=0.05)


def test_labels_from_elsewhere_without_an_error_count_a_case_once() -> None:
    options = CalibrationOptions(labels_are="other", half_width=0.12)

    def needed(size: int) -> int | None:
        items = [item(k % 2, k % 2, case=f"c{k}") for k in range(40) for _ in range(size)]
        others = [item(k % 2, case=f"d{k}") for k in range(400)]
        rated = aligned(*items, unlabelled=tuple(others), scale=YES_NO, threshold=0.5)
        return label_budget(rated, "pass rate", options).n_needed

    single, double = needed(1), needed(2)
    assert single is not None
    assert double is not None
    assert double > single
