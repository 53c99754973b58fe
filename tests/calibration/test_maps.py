"""Maps: which one is fitted, when none is, and what they are bound to."""

from __future__ import annotations

import random
from math import exp
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st
from pydantic import ValidationError

import judgekit as jk
from judgekit.calibration import judged_from_grading
from judgekit.errors import InputError, NotEnoughDataError
from judgekit.evaluation import Graded
from judgekit.records import Rubric
from judgekit.scoring import apply_calibration, calibration_in_use, conclude
from tests.calibrations import ASKED, AT, make_calibration, make_map
from tests.evaluation.labelled import (
    RUBRIC,
    TWO,
    Crowd,
    comparisons,
    labels,
    verdict,
    verdicts,
    winners,
)
from tests.factories import make_case, make_criterion, make_judgment, make_output, make_rubric

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.records import Calibration, CalibrationMap

FEW = 30


def fitted(
    judge: dict[str, float], people: dict[str, Any], *, rubric: Rubric = RUBRIC
) -> CalibrationMap:
    (found,) = calibration(judge, people, rubric=rubric).maps
    return found


def calibration(
    judge: dict[str, float], people: dict[str, Any], *, rubric: Rubric = RUBRIC
) -> Calibration:
    said = verdicts(dict(judge))
    return jk.calibrate(said, labels(people), rubric=rubric).maps(fitted_at=AT)


def cases(*raws: float) -> dict[str, float]:
    return {f"c{k:03}": raw for k, raw in enumerate(raws)}


def yes_or_no(judge: dict[str, float], rubric: Rubric) -> list[jk.Verdict]:
    """Verdicts on a scale of 0 and 1."""
    return [
        conclude(rubric, [make_judgment(value=raw, raw=raw, judge="fake")], case_id=case)
        for case, raw in judge.items()
    ]


def test_a_judge_one_level_too_kind_is_shifted_by_hand() -> None:
    found = fitted(cases(*[2, 3, 4, 5] * 10), cases(*[1, 2, 3, 4] * 10))
    assert found.method == "shift"
    assert found.points == ((0, 0), (0.25, 0), (1, 0.75))
    assert (found.error_before.value, found.error_after.value) == (0.0625, 0)
    assert (found.n_labels, found.n_items, found.n_cases, found.n_annotators) == (40, 40, 40, 1)
    assert (found.passed_before, found.passed_after, found.passed_by_people) == (0.5, 0.25, 0.25)
    assert (found.accuracy_before, found.accuracy_after) == (0.75, 1)
    assert [found.value_of(x) for x in (0, 0.25, 0.5, 1)] == [0, 0, 0.25, 0.75]


def test_a_judge_who_says_what_people_say_keeps_the_own_value() -> None:
    found = fitted(cases(*[1, 3, 5] * 10), cases(*[1, 3, 5] * 10))
    assert (found.method, found.reason) == ("identity", "the judge's values equal the labels")
    assert found.value_of(0.3) == 0.3


def test_a_judge_without_bias_keeps_the_own_value() -> None:
    rng = random.Random(5)
    people = [rng.randint(1, 5) for _ in range(60)]
    judge = [min(5, max(1, p + rng.choice((-1, 0, 0, 0, 0, 1)))) for p in people]
    found = fitted(cases(*judge), cases(*people))
    assert found.method == "identity"
    assert found.reason is not None
    assert "than the judge's own value" in found.reason or "comes nearer on the scale" in str(
        found.reason
    )


def test_a_judge_who_ranks_against_people_gets_no_map() -> None:
    found = fitted(cases(*[1, 2, 4, 5] * 20), cases(*[5, 4, 2, 1] * 20))
    assert found.method in {"identity", "isotonic", "shift"}
    low, high = found.value_of(0.0), found.value_of(1.0)
    assert low <= high


def test_a_judge_with_one_score_gets_at_most_a_shift() -> None:
    found = fitted(cases(*[4] * 40), cases(*[2, 3] * 20))
    assert found.method in {"shift", "isotonic"}
    assert found.value_of(0.75) == pytest.approx(0.375)


def test_yes_and_no_are_mapped_to_chances() -> None:
    rubric = Rubric(name="r", criteria=(make_criterion(scale="binary"),), pass_threshold=0.4)
    rng = random.Random(2)
    people = [float(rng.random() < 0.3) for _ in range(200)]
    judge = [1.0 if p or rng.random() < 0.5 else 0.0 for p in people]
    said = yes_or_no(cases(*judge), rubric)
    found = jk.calibrate(said, labels(cases(*people)), rubric=rubric).maps(fitted_at=AT).maps[0]
    yes = [p for p, j in zip(people, judge, strict=True) if j]
    assert found.method != "identity"
    assert found.value_of(1) == pytest.approx(sum(yes) / len(yes), abs=0.03)
    assert found.value_of(0) == pytest.approx(0, abs=0.03)


def test_a_map_keeps_what_passes_though_no_value_reaches_the_threshold() -> None:
    """Of outputs with a yes 65 % are right: mapped to .65, and yet no reason to fail them all."""
    rubric = Rubric(name="r", criteria=(make_criterion(scale="binary"),), pass_threshold=0.9)
    people = cases(*([1] * 13 + [0] * 7 + [0] * 10) * 4)
    judge = cases(*([1] * 20 + [0] * 10) * 4)
    said = yes_or_no(judge, rubric)
    found = jk.calibrate(said, labels(people), rubric=rubric).maps(fitted_at=AT).maps[0]
    assert found.method != "identity"
    assert found.value_of(1) < 0.9
    assert found.mark_of(0.9) < found.value_of(1)
    assert found.passed_after == found.passed_before == pytest.approx(2 / 3)
    assert found.accuracy_after == found.accuracy_before


def test_a_map_that_decides_worse_is_not_used() -> None:
    """To pass as few as humans do it would fail the middle level, where 55 % are right."""
    right = {5: [1] * 12 + [0] * 8, 4: [1] * 11 + [0] * 9, 2: [0] * 27}
    pairs = [(raw, 5 if good else 1) for raw, ones in right.items() for good in ones] * 3
    one = fitted(*(cases(*(pair[side] for pair in pairs)) for side in (0, 1)))
    assert one.method == "identity"
    assert one.reason is not None
    assert "makes fewer correct pass decisions" in one.reason


def scored(rng: random.Random, n: int, names: tuple[str, ...]) -> tuple[list[Any], list[Any]]:
    """Verdicts of a lenient, noisy judge, and labels: levels of 1 to 5, by case and criterion."""
    said, people = [], []
    for k in range(n):
        case, whole = f"c{k:04}", rng.gauss(0, 0.7)
        raws = {}
        for name in names:
            quality = 3 + whole + rng.gauss(0, 0.7)
            raws[name] = level(quality + 0.8 + rng.gauss(0, 0.8))
            raw = level(quality)
            people.append({"case_id": case, "annotator": "Ada", "criterion": name, "raw": raw})
        said.append(verdict(case, raws, rubric=make_rubric(*names)))
    return said, people


def level(x: float) -> int:
    return min(5, max(1, round(x)))


@pytest.mark.no_cover
@pytest.mark.parametrize("names", [("accuracy",), ("accuracy", "tone", "style")])
def test_calibrated_verdicts_pass_about_as_often_as_people_pass(names: tuple[str, ...]) -> None:
    """Maps of 150 labelled outputs, applied to 300 others; the mean over four judges."""
    rubric, own, mapped, by_value = make_rubric(*names), 0.0, 0.0, 0.0
    for seed in range(4):
        rng = random.Random(seed)
        said, people = scored(rng, 150, names)
        maps = jk.calibrate(said, people, rubric=rubric).maps(fitted_at=AT)
        assert all(one.method != "identity" for one in maps.maps)
        use = calibration_in_use(maps, rubric, maps.asked)
        said, people = scored(rng, 300, names)
        found = [apply_calibration(one, rubric, use) for one in said]
        wanted = human_rate(people, rubric)
        own += abs(rate(one.uncalibrated.passed for one in found if one.uncalibrated) - wanted)
        mapped += abs(rate(one.passed for one in found) - wanted)
        reached = (one.value is not None and one.value >= rubric.pass_threshold for one in found)
        by_value += abs(rate(reached) - wanted)
    assert mapped < own / 2
    assert mapped < by_value / 2, "the threshold of the labels is too high for mapped values"


def rate(passed: Iterable[bool | None]) -> float:
    decided = [one for one in passed if one is not None]
    return sum(decided) / len(decided)


def human_rate(people: list[dict[str, Any]], rubric: Rubric) -> float:
    by_case: dict[str, list[float]] = {}
    for label in people:
        by_case.setdefault(label["case_id"], []).append((label["raw"] - 1) / 4)
    return rate(sum(one) / len(one) >= rubric.pass_threshold - 1e-9 for one in by_case.values())


def test_a_map_of_before_has_no_marks_and_passes_by_the_threshold() -> None:
    maps = make_calibration(make_rubric("accuracy"))
    text = maps.model_dump_json()
    assert "pass_marks" not in text, "files and fingerprints stay as they were"
    assert type(maps).model_validate_json(text) == maps
    assert maps.maps[0].mark_of(0.7) == 0.7
    assert maps.overall_mark(maps.rubric, {"accuracy": maps.maps[0]}) == 0.7


def test_a_threshold_between_two_labels_has_the_mark_of_the_higher_one() -> None:
    criterion = make_criterion("accuracy")
    one = make_map(criterion, pass_marks=((0.5, 0.3), (0.75, 0.45), (1, 0.6)))
    assert [one.mark_of(x) for x in (0.4, 0.5, 0.6, 0.75, 0.9, 1)] == [
        0.3, 0.3, 0.45, 0.45, 0.6, 0.6,
    ]  # fmt: skip
    assert make_map(criterion, pass_marks=((0.5, 0.3),)).mark_of(0.8) == 0.8
    again = type(one).model_validate_json(one.model_dump_json())
    assert again.pass_marks == one.pass_marks


@pytest.mark.parametrize("marks", [((0.5, 0.4), (0.75, 0.3)), ((0.5, 0.3), (0.5, 0.4))])
def test_pass_marks_that_fall_are_refused(marks: tuple[tuple[float, float], ...]) -> None:
    with pytest.raises(ValidationError, match="rise in the human value and never fall"):
        make_map(make_criterion("accuracy"), pass_marks=marks)


def test_other_weights_leave_the_overall_value_the_mean_of_the_criteria_s_marks() -> None:
    rubric = make_rubric("accuracy", "tone")
    maps = tuple(
        make_map(one, pass_marks=((0.7, mark),))
        for one, mark in zip(rubric.criteria, (0.4, 0.6), strict=True)
    )
    made = make_calibration(rubric, maps=maps, pass_marks=((0.7, 0.45),))
    by_name = {one.criterion.name: one for one in maps}
    assert made.overall_mark(rubric, by_name) == 0.45
    first, second = rubric.criteria
    heavy = rubric.model_copy(
        update={"criteria": (first.model_copy(update={"weight": 3.0}), second)}
    )
    assert made.overall_mark(heavy, by_name) == pytest.approx(0.45)
    assert made.overall_mark(heavy, {"tone": maps[1]}) == pytest.approx((3 * 0.7 + 0.6) / 4)


def test_a_run_says_from_where_calibrated_values_pass() -> None:
    rubric = make_rubric("accuracy")
    made = make_calibration(rubric, maps=(make_map(rubric.criteria[0], pass_marks=((0.7, 0.4),)),))
    words = calibration_in_use(made, rubric, made.asked).words
    assert words.endswith("; calibrated values pass from 0.40 instead of 0.70")


def test_outputs_of_one_case_alone_fit_no_map() -> None:
    places = [f"v{k}" for k in range(FEW)]
    said = [verdict("c", {"accuracy": k % 4 + 2}, variant=v) for k, v in enumerate(places)]
    people: list[dict[str, Any]] = [
        {"case_id": "c", "variant": v, "annotator": "Ada", "raw": k % 4 + 1}
        for k, v in enumerate(places)
    ]
    (found,) = jk.calibrate(said, people, rubric=RUBRIC).maps(fitted_at=AT).maps
    assert found.method == "identity"
    assert found.reason is not None
    assert found.reason.endswith("no map can be fitted")


def test_a_judge_who_always_says_yes_is_shifted_to_the_share_of_people() -> None:
    rubric = Rubric(name="r", criteria=(make_criterion(scale="binary"),), pass_threshold=0.5)
    said = yes_or_no(cases(*[1] * 80), rubric)
    people = labels(cases(*[1, 1, 1, 0] * 20))
    (found,) = jk.calibrate(said, people, rubric=rubric).maps(fitted_at=AT).maps
    assert found.method == "shift"
    assert found.value_of(1) == pytest.approx(0.75)


def test_fine_values_against_yes_and_no_get_a_curve() -> None:
    rubric = Rubric(name="r", criteria=(make_criterion(scale="unit"),), pass_threshold=0.5)
    rng = random.Random(4)
    judge = [round(rng.random(), 2) for _ in range(150)]
    people = [float(rng.random() < 1 / (1 + exp(-16 * (j - 0.8)))) for j in judge]
    said = yes_or_no(cases(*judge), rubric)
    (found,) = jk.calibrate(said, labels(cases(*people)), rubric=rubric).maps(fitted_at=AT).maps
    assert found.method == "platt"
    assert found.value_of(0.3) < 0.05
    assert 0.3 < found.value_of(0.8) < 0.7
    assert (found.error_after.value or 0) < (found.error_before.value or 0)


def test_a_step_is_followed_at_its_scores_and_level_beyond_them() -> None:
    rubric = Rubric(name="r", criteria=(make_criterion(scale="unit"),), pass_threshold=0.5)
    judge = [0.1, 0.3, 0.5, 0.7, 0.9] * 24
    people = [(0.1 if j < 0.6 else 0.8) + k % 12 / 100 for k, j in enumerate(judge)]
    said = yes_or_no(cases(*judge), rubric)
    (found,) = jk.calibrate(said, labels(cases(*people)), rubric=rubric).maps(fitted_at=AT).maps
    assert found.method == "isotonic"
    assert [x for x, _ in found.points] == [0.1, 0.3, 0.5, 0.7, 0.9]
    assert found.value_of(0.0) == pytest.approx(0.155, abs=0.01)
    assert found.value_of(1.0) == pytest.approx(0.855, abs=0.01)


def test_too_few_labels_say_how_many_are_missing() -> None:
    some = cases(*[2, 4] * 6)
    with pytest.raises(NotEnoughDataError, match=r"accuracy: 12 labelled outputs.*label 18 more"):
        calibration(some, some)


def test_a_criterion_without_labels_is_told_and_the_other_has_its_map() -> None:
    said = [verdict(f"c{k}", {"accuracy": k % 4 + 2, "tone": 3}, TWO) for k in range(FEW)]
    given_labels = labels({f"c{k}": k % 4 + 1 for k in range(FEW)}, criterion="accuracy")
    found = jk.calibrate(said, given_labels, rubric=TWO).maps(fitted_at=AT)
    assert [one.criterion.name for one in found.maps] == ["accuracy"]
    assert found.without == {"tone": "it has no labels"}
    assert calibration_in_use(found, TWO, found.asked).state == "partial"


@pytest.mark.parametrize("names", [("accuracy",), ("accuracy", "clarity")])
def test_the_agreement_of_maps_is_that_of_their_criteria(names: tuple[str, ...]) -> None:
    """The last criterion has five labels, all of them the other way round, and no map."""
    rubric = make_rubric(*names, "tone")
    scores = {f"c{k:02}": 1 + k % 5 for k in range(40)}
    said = [verdict(c, dict.fromkeys((*names, "tone"), raw), rubric) for c, raw in scores.items()]
    people = [row for name in names for row in labels(scores, criterion=name)]
    few = labels({c: 6 - raw for c, raw in list(scores.items())[:5]}, criterion="tone")
    report = jk.calibrate(said, [*people, *few], rubric=rubric)
    found = report.maps(fitted_at=AT)
    assert report.pooled.agreement.kappa_quadratic.value < 1
    assert [one.criterion.name for one in found.maps] == [*names]
    assert found.kappa.value == 1


def test_the_agreement_of_maps_leaves_out_labels_of_chosen_outputs() -> None:
    """Of one criterion with a map as of all of them: labels of hard outputs do not lower it."""
    names = ("accuracy", "tone")
    rubric = make_rubric(*names)
    scores = {f"c{k:02}": 1 + k % 5 for k in range(60)}
    said_of = [verdict(case, dict.fromkeys(names, raw), rubric) for case, raw in scores.items()]
    people: list[dict[str, Any]] = [
        {
            "case_id": case,
            "criterion": name,
            "annotator": "Ada",
            "raw": max(1, raw - 1) if k < 40 else 6 - raw,
            "metadata": {"chosen": "random" if k < 40 else "informative"},
        }
        for name, n in (("accuracy", 60), ("tone", 10))
        for k, (case, raw) in enumerate([*scores.items()][:n])
    ]
    found = jk.calibrate(said_of, people, rubric=rubric).maps()
    assert [one.kappa for one in found.maps] == [found.kappa]


def test_the_set_of_labels_has_one_name_whatever_their_order() -> None:
    crowd = Crowd(40, noise=0.3)
    said, people = crowd.verdicts(), crowd.labels()
    one, other, fewer = (
        jk.calibrate(said, rows, rubric=RUBRIC).maps(fitted_at=AT)
        for rows in (people, people[::-1], people[:-1])
    )
    assert one.label_set == other.label_set != fewer.label_set
    assert one.annotators == ("p0", "p1", "p2")
    assert one.n_labels == 120


def test_a_map_of_verdicts_knows_their_judge_by_name() -> None:
    found = calibration(cases(*[2, 4] * 20), cases(*[1, 3] * 20))
    assert found.asked.judges[0].judge == "fake"
    assert found.asked.judges[0].parameters is None
    assert found.fitted_at == AT


def test_calibrating_again_starts_from_the_judges_own_values() -> None:
    judge, people = cases(*[2, 3, 4, 5] * 10), cases(*[1, 2, 3, 4] * 10)
    first = calibration(judge, people)
    use = calibration_in_use(first, RUBRIC, first.asked)
    said = [apply_calibration(one, RUBRIC, use) for one in verdicts(dict(judge))]
    assert said[0].decided_by == "calibrated"
    graded = [
        Graded(case=make_case(id=one.case_id), output=make_output(), verdict=one) for one in said
    ]
    grades = judged_from_grading(graded, RUBRIC, ASKED)
    again = jk.calibrate(grades, labels(people)).maps(fitted_at=AT)
    assert again.maps == first.maps
    assert again.asked == ASKED


def test_comparisons_have_no_map() -> None:
    found = {f"c{k}": "a" for k in range(4)}
    report = jk.calibrate(comparisons(found), winners(found))
    with pytest.raises(InputError, match="have no map"):
        report.maps()


def test_without_the_rubric_there_is_no_map() -> None:
    some = cases(*[2, 4] * 20)
    with pytest.raises(InputError, match="belongs to a rubric"):
        jk.calibrate(verdicts(dict(some)), labels(some)).maps()


def test_without_the_judges_name_there_is_no_map() -> None:
    some = cases(*[2, 4] * 20)
    said = [verdict(c, {"accuracy": raw}) for c, raw in some.items()]
    nameless = [
        one.model_copy(
            update={"judgments": tuple(j.model_copy(update={"judge": ""}) for j in one.judgments)}
        )
        for one in said
    ]
    with pytest.raises(InputError, match="belongs to a judge"):
        jk.calibrate(nameless, labels(some), rubric=RUBRIC).maps()


@settings(max_examples=12)
@given(st.integers(0, 10_000), st.floats(0.2, 2.5))
def test_every_map_rises_stays_on_the_scale_and_does_no_harm(seed: int, noise: float) -> None:
    crowd = Crowd(36, seed=seed, annotators=1)
    report = jk.calibrate(crowd.verdicts(noise), crowd.labels(), rubric=RUBRIC)
    (found,) = report.maps(fitted_at=AT).maps
    mapped = [found.value_of(k / 40) for k in range(41)]
    assert mapped == sorted(mapped)
    assert 0 <= mapped[0] <= mapped[-1] <= 1
    assert (found.error_after.value or 0) <= (found.error_before.value or 0)
    assert (found.accuracy_after or 0) >= (found.accuracy_before or 0) - 1e-9
