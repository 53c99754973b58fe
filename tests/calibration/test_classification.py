"""The judge as a classifier: precision, recall and F1 of each level and over the levels."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import judgekit as jk
from judgekit.calibration.agreement import Classification, classify
from tests.calibration.items import FIVE, YES_NO, aligned, item
from tests.stats.simulation import covers_at_its_level, covers_at_least

if TYPE_CHECKING:
    from collections.abc import Sequence

CATEGORIES = jk.Scale.model_validate({
    "levels": [{"value": at, "name": name} for at, name in enumerate(("cat", "dog", "pig"))]
})  # fmt: skip
CHOICES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40)


def classified(
    judge: Sequence[float | None], human: Sequence[float], *, n_per_case: int = 1, **fields: Any
) -> Classification:
    """Items of categories; several in a row of one case."""
    items = (
        item(j, h, case=f"c{k // n_per_case}")
        for k, (j, h) in enumerate(zip(judge, human, strict=True))
    )
    known = {"scale": CATEGORIES, "threshold": None, "is_nominal": True}
    found = classify(aligned(*items, **known | fields), level=0.95)
    assert found is not None
    return found


def test_the_figures_of_each_level_and_their_means() -> None:
    """The example of scikit-learn's `precision_recall_fscore_support`: 2/9, 1/3 and 4/15."""
    found = classified([0, 2, 1, 0, 0, 1], [0, 1, 2, 0, 1, 2])
    assert [each.name for each in found.classes] == ["cat", "dog", "pig"]
    assert [each.precision.value for each in found.classes] == pytest.approx([2 / 3, 0, 0])
    assert [each.recall.value for each in found.classes] == [1, 0, 0]
    assert [each.f1.value for each in found.classes] == pytest.approx([0.8, 0, 0])
    assert [(each.n_human, each.n_judge, each.n_both) for each in found.classes] == [
        (2, 3, 2), (2, 2, 0), (2, 1, 0),
    ]  # fmt: skip
    means = (found.macro_precision, found.macro_recall, found.macro_f1)
    assert [mean.value for mean in means] == pytest.approx([2 / 9, 1 / 3, 4 / 15])


@given(CHOICES)
def test_judge_and_humans_exchanged_exchange_precision_and_recall(
    pairs: list[tuple[int, int]],
) -> None:
    judge, human = zip(*pairs, strict=True)
    forth, back = classified(judge, human), classified(human, judge)
    for mine, theirs in zip(forth.classes, back.classes, strict=True):
        # As texts, because an undefined figure is nan and equals nothing.
        assert repr((mine.precision, mine.f1)) == repr((theirs.recall, theirs.f1))
    assert repr(forth.macro_precision) == repr(back.macro_recall)


@given(CHOICES)
def test_f1_is_the_harmonic_mean_inside_its_interval(pairs: list[tuple[int, int]]) -> None:
    for each in classified(*zip(*pairs, strict=True)).classes:
        p, r, f1 = each.precision.value, each.recall.value, each.f1
        if p > 0 and r > 0:
            assert f1.value == pytest.approx(2 * p * r / (p + r))
        assert isnan(f1.value) == (each.n_human + each.n_judge == 0)
        assert isnan(f1.value) or 0 <= f1.low <= f1.value <= f1.high <= 1


def test_a_level_that_nobody_uses_is_undefined_and_in_no_mean() -> None:
    found = classified([0, 1, 1, 0], [0, 1, 0, 0])
    unused = found.classes[2]
    assert all(isnan(one.value) for one in (unused.precision, unused.recall, unused.f1))
    assert unused.f1.reason
    assert found.macro_recall.value == pytest.approx((2 / 3 + 1) / 2)


def test_a_level_that_the_judge_never_chooses_has_no_precision_and_an_f1_of_0() -> None:
    missed = classified([0, 0, 0], [0, 1, 0]).classes[1]
    assert isnan(missed.precision.value)
    assert (missed.recall.value, missed.f1.value) == (0, 0)


def test_an_unusable_answer_is_in_no_figure() -> None:
    failed, without = classified([0, None, 1], [0, 1, 1]), classified([0, 1], [0, 1])
    assert repr(failed) == repr(without)


def test_two_levels_are_classes_and_an_ordered_scale_has_none() -> None:
    two = classified([1, 0, 1], [1, 0, 0], scale=YES_NO, threshold=0.5, is_nominal=False)
    assert [each.name for each in two.classes] == ["0", "1"]
    assert classify(aligned(item(4, 4), scale=FIVE), level=0.95) is None


def test_full_agreement_has_no_interval_of_its_mean() -> None:
    found = classified([0, 1, 2] * 5, [0, 1, 2] * 5)
    assert found.macro_f1.value == 1
    assert isnan(found.macro_f1.low)
    assert found.macro_f1.reason
    assert found.classes[0].f1.low < 1 == found.classes[0].f1.high


def simulated(rng: np.random.Generator, n_cases: int, n_per_case: int) -> Classification:
    """Three levels of shares .5, .3, .2; right in 70 %, and alike within a case."""
    truth = rng.choice(3, n_cases, p=[0.5, 0.3, 0.2])
    right = np.repeat(rng.random(n_cases) < 0.7, n_per_case)
    other = np.repeat((truth + rng.integers(1, 3, n_cases)) % 3, n_per_case)
    truth = np.repeat(truth, n_per_case)
    judge = np.where(right, truth, other)
    return classified(judge.tolist(), truth.tolist(), n_per_case=n_per_case)


# Shares of the judge: 0.5 * 0.7 + 0.5 * 0.15, and alike; each level's overlap over both shares.
SHARES, RIGHT = np.array([0.5, 0.3, 0.2]), 0.7
JUDGED = SHARES * RIGHT + (1 - SHARES) * 0.15
F1 = 2 * SHARES * RIGHT / (SHARES + JUDGED)


@pytest.mark.no_cover
@pytest.mark.parametrize(("n_cases", "n_per_case"), [(80, 1), (60, 3)])
def test_f1_and_its_mean_cover_by_items_and_by_cases(n_cases: int, n_per_case: int) -> None:
    rng = np.random.default_rng(11)
    found = [simulated(rng, n_cases, n_per_case) for _ in range(300)]
    assert covers_at_least([one.classes[1].f1 for one in found], float(F1[1]))
    assert covers_at_its_level([one.macro_f1 for one in found], float(F1.mean()))
    assert covers_at_its_level([one.macro_recall for one in found], RIGHT)


def test_a_category_of_several_answers_is_the_most_frequent_one() -> None:
    """The mean of cat, pig and pig is near dog, which the judge never chose."""
    rubric = jk.Rubric.model_validate({
        "name": "kinds",
        "criteria": [{"name": "kind", "question": "Which is it?", "scale": CATEGORIES}],
    })  # fmt: skip
    answers: list[dict[str, Any]] = [
        {"case_id": f"c{at}", "raw": name, "repeat": repeat}
        for at in range(4)
        for repeat, name in enumerate(("cat", "pig", "pig"))
    ]
    labels: list[dict[str, Any]] = [
        {"case_id": f"c{at}", "annotator": "x", "raw": "pig"} for at in range(4)
    ]
    options = jk.CalibrationOptions(categories=True)
    report = jk.calibrate(answers, labels, rubric=rubric, options=options)
    assert report.overall.agreement.exact.value == 1


VOTES = st.lists(
    st.tuples(st.integers(0, 1), st.lists(st.integers(0, 1), min_size=3, max_size=3)),
    min_size=4,
    max_size=20,
)


def binary_rubric() -> jk.Rubric:
    scale = {"levels": [{"value": 1, "name": "yes"}, {"value": 0, "name": "no"}]}
    asked = [{"name": "right", "question": "Is it right?", "scale": scale}]
    return jk.Rubric.model_validate({"name": "right", "criteria": asked})


@pytest.mark.no_cover
@settings(max_examples=40)
@given(VOTES)
def test_a_mean_of_annotators_on_two_levels_counts_as_their_labels_do(
    rows: list[tuple[int, list[int]]],
) -> None:
    judged: list[dict[str, Any]] = [
        {"case_id": f"c{k}", "raw": raw} for k, (raw, _) in enumerate(rows)
    ]
    means: list[dict[str, Any]] = [
        {"case_id": f"c{k}", "annotator": "all", "raw": sum(votes) / 3}
        for k, (_, votes) in enumerate(rows)
    ]
    each: list[dict[str, Any]] = [
        {"case_id": f"c{k}", "annotator": f"a{who}", "raw": vote}
        for k, (_, votes) in enumerate(rows)
        for who, vote in enumerate(votes)
    ]
    merged, apart = (
        jk.calibrate(judged, labels, rubric=binary_rubric()) for labels in (means, each)
    )
    for name in ("agreement", "pass_fail", "classification", "confusion"):
        assert repr(getattr(merged.overall, name)) == repr(getattr(apart.overall, name))
    assert merged.overall.leniency.human_mean.value == pytest.approx(
        apart.overall.leniency.human_mean.value
    )


def test_the_report_states_how_means_between_two_levels_are_used() -> None:
    judged: list[dict[str, Any]] = [{"case_id": f"c{k}", "raw": k % 2} for k in range(8)]
    labels: list[dict[str, Any]] = [
        {"case_id": f"c{k}", "annotator": "all", "raw": (0.5, 2 / 3)[k % 2]} for k in range(8)
    ]
    report = jk.calibrate(judged, labels, rubric=binary_rubric())
    assert "8 of the labels of right lie between its two levels" in report.notes[0]
    assert "a half the upper one" in report.notes[0]
    assert report.overall.classification is not None
    assert [each.n_human for each in report.overall.classification.classes] == [0, 8]


def test_means_of_several_annotators_have_an_alpha_of_their_majorities() -> None:
    judged: list[dict[str, Any]] = [{"case_id": f"c{k}", "raw": k % 2} for k in range(8)]
    labels: list[dict[str, Any]] = [
        {"case_id": f"c{k}", "annotator": who, "raw": raw}
        for k in range(8)
        for who, raw in (("team", (1 / 3, 2 / 3)[k % 2]), ("lead", k % 2))
    ]
    people = jk.calibrate(judged, labels, rubric=binary_rubric()).overall.people
    assert (people.alpha.value, people.human, people.judge) == (1, 1, 1)


@pytest.mark.parametrize(("raw", "levels"), [(1.2, 2), (-0.1, 2), (1.5, 3)])
def test_a_label_outside_two_levels_or_between_more_is_an_error(raw: float, levels: int) -> None:
    rubric = binary_rubric()
    if levels > 2:
        scale = jk.Scale(min=0, max=2, integer=True)
        rubric = rubric.model_copy(
            update={"criteria": (rubric.criteria[0].model_copy(update={"scale": scale}),)}
        )
    label: dict[str, Any] = {"case_id": "c", "annotator": "x", "raw": raw}
    with pytest.raises(jk.DatasetError, match="is not a score of 'right'"):
        jk.calibrate([{"case_id": "c", "raw": 1}], [label], rubric=rubric)
