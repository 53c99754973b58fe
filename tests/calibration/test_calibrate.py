"""The door: what may be given on either side, and what is refused."""

from __future__ import annotations

import json
import random
from math import isnan
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from judgekit.calibration import CalibrationOptions
from judgekit.errors import DatasetError, InputError
from judgekit.records import Dataset
from judgekit.report import write_verdicts
from tests.evaluation.labelled import (
    RUBRIC,
    TWO,
    Crowd,
    comparisons,
    judgment,
    labels,
    verdict,
    verdicts,
    winners,
)
from tests.factories import make_case, make_rubric

if TYPE_CHECKING:
    from pathlib import Path

FOUR = {"a": 5, "b": 4, "c": 2, "d": 1}


def test_a_judge_that_says_what_people_say_agrees_fully() -> None:
    report = jk.calibrate(verdicts(FOUR), labels(FOUR), rubric=RUBRIC)
    found = report.overall.agreement
    assert (found.exact.value, found.kappa_quadratic.value, found.pearson.value) == (1, 1, 1)
    assert report.overall is report.criteria["accuracy"]
    assert report.pooled is report.overall
    assert (report.joined.n_labels, report.joined.n_joined, report.joined.n_judged) == (4, 4, 4)


def test_judgments_with_a_case_will_do_in_place_of_verdicts() -> None:
    said = [judgment(raw, case_id=case) for case, raw in FOUR.items()]
    report = jk.calibrate(
        [*said, judgment(None, case_id="e")], labels(FOUR | {"e": 3}), rubric=RUBRIC
    )
    assert report.overall.n == 4
    assert report.overall.n_judge_missing == 1
    assert report.joined.failures == {"unreadable": 1}


def test_labels_may_be_records_or_a_file(tmp_path: Path) -> None:
    rows = labels(FOUR)
    path = tmp_path / "labels.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    given_records = [jk.Label(**row) for row in rows]
    of_file = jk.calibrate(verdicts(FOUR), path, rubric=RUBRIC)
    of_records = jk.calibrate(verdicts(FOUR), given_records, rubric=RUBRIC)
    assert of_file.overall.confusion == of_records.overall.confusion


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
def test_judgments_may_be_a_file_that_grade_wrote(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"verdicts{suffix}"
    write_verdicts(path, [*verdicts(FOUR | {"e": None})])
    report = jk.calibrate(path, labels(FOUR | {"e": 2}), rubric=RUBRIC)
    assert report.overall.agreement.exact.value == 1
    assert report.overall.n_judge_missing == 1
    assert report.origin == {"file": str(path)}


def test_what_grade_prints_as_json_is_read(tmp_path: Path) -> None:
    path = tmp_path / "graded.json"
    whole = {"summary": {}, "verdicts": [one.to_json() for one in verdicts(FOUR)]}
    path.write_text(json.dumps(whole), encoding="utf-8")
    assert jk.calibrate(path, labels(FOUR)).overall.n == 4


def test_without_a_rubric_the_scale_is_inferred_and_that_is_said() -> None:
    report = jk.calibrate(verdicts({"a": 4, "b": 2}), labels({"a": 5, "b": 1}))
    assert report.overall.scale == (1, 5)
    assert report.rubric is None
    assert "assumed to range from 1 to 5" in report.notes[0]


def test_cases_give_the_segments() -> None:
    cases = Dataset(
        name="d",
        cases=tuple(
            make_case(
                id=c, stratum="simple" if c < "c" else "complex", tags=("t",), metadata={"doc": "x"}
            )
            for c in FOUR
        ),
    )
    report = jk.calibrate(verdicts(FOUR), labels(FOUR), rubric=RUBRIC, cases=cases)
    names = [(segment.kind, segment.name, segment.n) for segment in report.overall.segments]
    assert names == [("stratum", "simple", 2), ("stratum", "complex", 2), ("tag", "t", 4)]


def test_rows_will_do_in_place_of_records() -> None:
    rows: list[dict[str, Any]] = [{"case_id": c, "raw": raw} for c, raw in FOUR.items()]
    report = jk.calibrate(rows, labels(FOUR), rubric=RUBRIC)
    assert report.agreement.exact.value == 1
    assert report.corrected is report.overall.corrected_rate
    pairs = jk.calibrate([{"case_id": "1", "winner": "b"}], winners({"1": "b"}))
    assert pairs.corrected is pairs.overall.corrected_mean
    with pytest.raises(InputError, match="cannot be mixed"):
        jk.calibrate([*rows, *verdicts(FOUR)], labels(FOUR))


def test_nothing_judged_and_no_labels_are_errors() -> None:
    with pytest.raises(InputError, match="there are no judgments"):
        jk.calibrate([], labels(FOUR))
    with pytest.raises(InputError, match="there are no labels"):
        jk.calibrate(verdicts(FOUR), [])


def test_scores_and_comparisons_are_not_mixed() -> None:
    with pytest.raises(InputError, match="calibrated separately"):
        jk.calibrate([*verdicts(FOUR), *comparisons({"a": "a"})], labels(FOUR))


def test_a_judgment_of_no_case_is_an_error() -> None:
    with pytest.raises(InputError, match="does not name its case"):
        jk.calibrate([judgment(3)], labels(FOUR))


def test_labels_that_match_nothing_name_both_sides() -> None:
    with pytest.raises(InputError, match=r"labels: x, …; judged: a, b, c, d, …"):
        jk.calibrate(verdicts(FOUR), labels({"x": 3}), rubric=RUBRIC)


def test_labels_without_any_score_are_an_error() -> None:
    with pytest.raises(InputError, match="no label has a score"):
        jk.calibrate(verdicts(FOUR), labels({"a": None}), rubric=RUBRIC)
    only = CalibrationOptions(annotators=("Eve",))
    with pytest.raises(InputError, match="no label of Eve has a score"):
        jk.calibrate(verdicts(FOUR), labels(FOUR), rubric=RUBRIC, options=only)


def test_every_label_that_cannot_be_used_is_named() -> None:
    bad = [
        *labels({"a": 9}),
        *labels({"b": 3}, criterion="acuracy"),
        *labels({"c": 3}),
        *labels({"c": 4}),
        *winners({"d": "a"}),
        *labels({"x": 3}),
    ]
    with pytest.raises(InputError) as caught:
        jk.calibrate(verdicts(FOUR), bad, rubric=RUBRIC)
    told = str(caught.value)
    assert "4 labels cannot be used" in told
    assert "no criterion 'acuracy' was judged; did you mean `accuracy`?" in told
    assert "'Ada' has labelled this already in label 3" in told
    assert "9 is not a score of 'accuracy'" in told
    assert "it names a winner, but single outputs were judged" in told


def test_a_label_of_one_of_several_variants_has_to_name_it() -> None:
    both = [verdict("a", {"accuracy": 3}, variant=name) for name in ("v1", "v2")]
    with pytest.raises(DatasetError, match=r"does not name its variant; judged were v1, v2"):
        jk.calibrate(both, labels({"a": 3}), rubric=RUBRIC)
    report = jk.calibrate(both, labels({"a": 3}, variant="v2"), rubric=RUBRIC)
    assert report.joined.n_not_labelled == 1
    assert report.joined.not_labelled == ("a of v1",)


def test_what_was_not_judged_is_counted_and_named() -> None:
    report = jk.calibrate(verdicts(FOUR), labels(FOUR | {"x": 1, "y": 2}), rubric=RUBRIC)
    assert report.joined.n_not_judged == 2
    assert report.joined.not_judged == ("x", "y")


def test_a_label_without_a_criterion_is_of_the_only_one_or_of_the_whole() -> None:
    said = [verdict(c, {"accuracy": r, "tone": r}, TWO) for c, r in FOUR.items()]
    whole = {c: (r - 1) / 4 for c, r in FOUR.items()}
    report = jk.calibrate(said, labels(whole), rubric=TWO)
    assert report.criteria == {}
    assert report.overall.name == "whole"
    assert report.overall.agreement.ccc.value == pytest.approx(1)
    with pytest.raises(InputError, match="name its `criterion`"):
        jk.calibrate(said, labels(FOUR), rubric=TWO)


def test_two_criteria_come_to_a_whole_and_a_pool() -> None:
    said = [verdict(c, {"accuracy": r, "tone": 6 - r}, TWO) for c, r in FOUR.items()]
    people = [*labels(FOUR, criterion="accuracy"), *labels(FOUR, criterion="tone")]
    report = jk.calibrate(said, people, rubric=TWO)
    assert list(report.criteria) == ["accuracy", "tone"]
    assert report.criteria["accuracy"].agreement.pearson.value == pytest.approx(1)
    assert report.criteria["tone"].agreement.pearson.value == pytest.approx(-1)
    assert (report.pooled.n, report.overall.n) == (8, 4)
    assert report.overall.leniency.judge_mean.value == pytest.approx(0.5)


def test_the_report_is_json_whole() -> None:
    crowd = Crowd(40, variants=("v1", "v2"))
    report = jk.calibrate(crowd.verdicts(confidence=0.8), crowd.labels(60), rubric=RUBRIC)
    whole: Any = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert whole["overall"]["agreement"]["kappa_quadratic"]["value"] == pytest.approx(
        report.overall.agreement.kappa_quadratic.value
    )
    assert "aligned" not in whole


def test_the_items_are_there_for_a_map_to_be_fitted_on() -> None:
    report = jk.calibrate(verdicts(FOUR), labels(FOUR), rubric=RUBRIC)
    aligned = report.aligned["accuracy"]
    assert aligned.judge.tolist() == aligned.human.tolist() == [5, 4, 2, 1]
    assert [item.cluster for item in aligned.both] == ["a", "b", "c", "d"]
    assert aligned.criterion == RUBRIC.criteria[0]


def test_a_report_of_failures_only_says_so_and_is_never_zero() -> None:
    report = jk.calibrate(verdicts(dict.fromkeys(FOUR)), labels(FOUR), rubric=RUBRIC)
    found = report.overall
    assert (found.n_items, found.n) == (4, 0)
    assert isnan(found.agreement.kappa.value)
    assert isnan(found.agreement.exact.value)
    assert isnan(found.leniency.bias.value)
    assert found.corrected_rate is not None
    assert isnan(found.corrected_rate.corrected.value)
    assert report.stand_in.answer == "open"


def test_one_label_identifies_nothing_but_is_reported() -> None:
    report = jk.calibrate(verdicts({"a": 4}), labels({"a": 4}), rubric=RUBRIC)
    assert isnan(report.overall.agreement.kappa.value)
    assert isnan(report.overall.leniency.bias.low)
    assert report.stand_in.answer == "open"


def test_constant_labels_leave_agreement_undefined() -> None:
    report = jk.calibrate(
        verdicts(dict.fromkeys("abcd", 4)), labels(dict.fromkeys("abcd", 4)), rubric=RUBRIC
    )
    found = report.overall.agreement
    assert isnan(found.kappa.value)
    assert isnan(found.pearson.value)
    assert found.kappa.reason is not None


def test_permuted_labels_bring_agreement_to_chance() -> None:
    crowd = Crowd(120)
    said, people = crowd.verdicts(), crowd.labels()
    order = [place[0] for place in crowd.places]
    random.Random(3).shuffle(order)
    other = dict(zip([place[0] for place in crowd.places], order, strict=True))
    mixed = [row | {"case_id": other[row["case_id"]]} for row in people]
    right = jk.calibrate(said, people, rubric=RUBRIC)
    wrong = jk.calibrate(said, mixed, rubric=RUBRIC)
    assert right.overall.agreement.kappa_quadratic.low > 0.7
    assert right.stand_in.answer == "yes"
    assert (
        wrong.overall.agreement.kappa_quadratic.low
        < 0
        < wrong.overall.agreement.kappa_quadratic.high
    )
    assert wrong.overall.people.alpha.value == pytest.approx(right.overall.people.alpha.value)
    assert wrong.stand_in.answer == "no"


def test_people_who_agree_by_chance_leave_nothing_to_stand_in_for() -> None:
    crowd = Crowd(60)
    rng = random.Random(5)
    mixed = [row | {"raw": rng.randint(1, 5)} for row in crowd.labels()]
    report = jk.calibrate(crowd.verdicts(), mixed, rubric=RUBRIC)
    assert report.stand_in.answer in {"open", "no"}


def test_an_annotator_less_moves_what_it_should() -> None:
    crowd = Crowd(80)
    said, people = crowd.verdicts(), crowd.labels()
    few = [row for row in people if row["annotator"] != "p2"]
    whole = jk.calibrate(said, people, rubric=RUBRIC)
    less = jk.calibrate(said, few, rubric=RUBRIC)
    chosen = jk.calibrate(
        said, people, rubric=RUBRIC, options=CalibrationOptions(annotators=("p0", "p1"))
    )
    assert whole.overall.people.n_annotators == 3
    assert less.overall.people.n_annotators == 2
    assert less.overall.agreement == chosen.overall.agreement
    assert chosen.joined.n_left_out == 80
    gap = less.overall.agreement.pearson.value - whole.overall.agreement.pearson.value
    assert abs(gap) < 0.05


def test_blank_replies_are_left_out_and_move_little() -> None:
    crowd = Crowd(100)
    said, people = crowd.verdicts(), crowd.labels()
    blank = {place[0] for place in crowd.places[::20]}
    holes = [
        verdict(one.case_id or "", {"accuracy": None}) if one.case_id in blank else one
        for one in said
    ]
    whole = jk.calibrate(said, people, rubric=RUBRIC).overall
    less = jk.calibrate(holes, people, rubric=RUBRIC).overall
    assert (less.n, less.n_judge_missing) == (95, 5)
    assert less.agreement.pearson.value == pytest.approx(whole.agreement.pearson.value, abs=0.03)
    assert less.pass_fail is not None
    assert less.pass_fail.accuracy_of_all.value < less.pass_fail.accuracy.value


def test_a_criterion_on_its_own_scale_is_pooled_on_the_unit() -> None:
    rubric = make_rubric("accuracy", TWO.criteria[1].model_copy(update={"pass_value": 0.5}))
    said = [verdict(c, {"accuracy": r, "tone": r}, rubric) for c, r in FOUR.items()]
    people = [*labels(FOUR, criterion="accuracy"), *labels(FOUR, criterion="tone")]
    report = jk.calibrate(
        [*said, verdict("e", {"accuracy": 2, "tone": None}, rubric)], people, rubric=rubric
    )
    assert report.pooled.scale == (0, 1)
    assert report.pooled.agreement.ccc.value == pytest.approx(1)
    assert report.pooled.n_unlabelled == 1
