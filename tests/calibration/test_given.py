"""What people really hand over: one by itself, files, tables with nan, further criteria."""

from __future__ import annotations

import random
from contextlib import closing
from math import nan
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from judgekit.errors import InputError
from judgekit.evaluation import Run
from judgekit.store import RunStore
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
from tests.factories import make_case, make_criterion, make_rubric
from tests.store.observing import answer, begun, key, said

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FOUR = {"a": 5, "b": 4, "c": 2, "d": 1}


def rows(scores: Mapping[str, float], **fields: Any) -> list[dict[str, Any]]:
    return [{"case_id": case, "raw": raw, **fields} for case, raw in scores.items()]


def test_a_rubric_and_cases_may_be_files(tmp_path: Path) -> None:
    rubric, cases = tmp_path / "rubric.json", tmp_path / "cases.jsonl"
    rubric.write_text(RUBRIC.model_dump_json(exclude_defaults=True), encoding="utf-8")
    strata = dict(zip(FOUR, ("simple", "simple", "complex", "complex"), strict=True))
    lines = [make_case(id=name, stratum=s).model_dump_json() for name, s in strata.items()]
    cases.write_text("\n".join(lines), encoding="utf-8")
    found = jk.calibrate(rows(FOUR), labels(FOUR), rubric=str(rubric), cases=cases)
    assert found.notes == ()
    assert [(each.kind, each.name) for each in found.overall.segments] == [
        ("stratum", "simple"), ("stratum", "complex"),
    ]  # fmt: skip


def test_one_judgment_and_one_label_by_themselves_are_lists_of_one() -> None:
    (said,), (label,) = verdicts({"a": 5}), labels({"a": 4})
    for found in (
        jk.calibrate(said, label, rubric=RUBRIC),
        jk.calibrate(rows({"a": 5})[0], label, rubric=RUBRIC),
    ):
        assert (found.joined.n_judged, found.joined.n_joined) == (1, 1)


@pytest.mark.parametrize("given", [None, 3, [1, 2], ["results.jsonl"]])
def test_what_is_neither_judgment_nor_label_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match=r"judgments: \w+ is not accepted"):
        jk.calibrate(given, labels(FOUR))
    with pytest.raises(InputError, match=r"labels: \w+ is not accepted"):
        jk.calibrate(verdicts(FOUR), given)


def test_a_nan_of_a_table_is_a_score_that_was_not_given() -> None:
    said = rows(FOUR | {"b": nan}, rationale=nan)
    people = [{**row, "rationale": nan} for row in labels(FOUR | {"c": nan})]
    found = jk.calibrate(said, people, rubric=RUBRIC)
    assert (found.joined.n_missing, found.overall.n_judge_missing, found.overall.n) == (1, 1, 2)


def test_labels_of_criteria_that_were_not_judged_are_left_out_and_named() -> None:
    people = [*labels(FOUR), *labels(FOUR, criterion="politeness")]
    found = jk.calibrate(verdicts(FOUR), people, rubric=RUBRIC)
    assert (found.joined.n_joined, found.joined.n_not_judged) == (4, 4)
    assert found.joined.not_judged[0] == "a on politeness"
    assert found.notes == ("labels of criteria that were not judged are left out: politeness (4)",)


def test_labels_of_no_criterion_that_was_judged_are_refused() -> None:
    with pytest.raises(InputError, match="labels: politeness; judged: accuracy"):
        jk.calibrate(verdicts(FOUR), labels(FOUR, criterion="politeness"), rubric=RUBRIC)


def test_scores_outside_the_scale_are_not_taken_silently() -> None:
    found = jk.calibrate(rows(FOUR | {"a": 8}), labels(FOUR), rubric=RUBRIC)
    assert found.notes == (
        "1 of the judge's scores of accuracy lie outside 1 to 5; they are used unchanged",
    )


def test_yes_and_no_tell_the_scale_of_a_judge_that_says_one_thing_only() -> None:
    people = [{"case_id": "a", "raw": "yes"}, {"case_id": "b", "raw": "No"}]
    found = jk.calibrate([*rows({"a": 1, "b": 1})], people)
    assert found.overall.scale == (0, 1)
    assert found.overall.agreement.exact.value == 0.5


def test_criteria_of_one_assumed_scale_share_a_line() -> None:
    said = [*rows(FOUR, criterion="tone"), *rows(FOUR, criterion="wit")]
    people = [*labels(FOUR, criterion="tone"), *labels(FOUR, criterion="wit")]
    (note,) = jk.calibrate(said, people).notes
    assert note.startswith(
        "no rubric is known: the scale of tone, wit is assumed to range from 1 to 5"
    )


def test_two_winners_of_a_pair_without_their_orders_are_refused() -> None:
    said = [{"case_id": "a", "winner": name} for name in ("a", "b")]
    with pytest.raises(InputError, match="case 'a': 2 rows name its winner without an `order`"):
        jk.calibrate(said, winners({"a": "a"}))


def test_labels_of_pairs_on_other_criteria_are_named_too() -> None:
    people = [*winners({"a": "a"}), {"case_id": "a", "criterion": "wit", "winner": "b"}]
    said = [{"case_id": "a", "winner": "a", "criterion": "tone"}]
    found = jk.calibrate(said, [{**people[0], "criterion": "tone"}, people[1]])
    assert found.notes == ("labels of criteria that were not judged are left out: wit (1)",)


def test_the_order_of_rows_changes_no_interval() -> None:
    crowd = Crowd(90, annotators=1, variants=("v1", "v2"))
    said, people = crowd.verdicts(), crowd.labels()
    mixed = random.Random(7).sample(said, len(said))
    one, other = (
        jk.calibrate(each, people, rubric=RUBRIC).overall.agreement.pearson
        for each in (said, mixed)
    )
    assert (one.n_clusters, one.low, one.high) == pytest.approx((90, other.low, other.high))


def grown(edit: dict[str, Any], *, as_run: bool, kept: Path) -> jk.CalibrationReport:
    """A calibration of 40 verdicts with a rubric that was edited since."""
    rubric = make_rubric(make_criterion(**edit.pop("criterion", {})), **edit)
    scores = {f"c{k:02}": 1 + k % 5 for k in range(40)}
    people = labels({name: max(1, raw - 1) for name, raw in scores.items()})
    if not as_run:
        return jk.calibrate(verdicts(scores), people, rubric=rubric)
    with closing(RunStore(kept)) as store:
        answers = [
            answer(key(name), place=k, said=(said(value=(raw - 1) / 4, raw=raw),))
            for k, (name, raw) in enumerate(scores.items())
        ]
        run = begun(store, *answers, rubric=RUBRIC)
        return jk.calibrate(Run(store.run(run.id), store), people, rubric=rubric)


@pytest.mark.parametrize("as_run", [True, False])
def test_judgments_by_another_version_of_the_rubric_give_no_map(
    tmp_path: Path, *, as_run: bool
) -> None:
    same = grown({}, as_run=as_run, kept=tmp_path / "a.db")
    assert same.notes == ()
    assert len(same.maps().maps) == 1
    edited = {"criterion": {"question": "Is it rude?"}}
    found = grown(edited, as_run=as_run, kept=tmp_path / "b.db")
    words = "the judgments were made by another version of support, or by another rubric"
    assert found.notes == (words,)
    with pytest.raises(jk.InputError, match=words):
        found.maps()


def test_scores_of_a_run_are_concluded_by_other_thresholds(tmp_path: Path) -> None:
    found = grown({"pass_threshold": 0.2}, as_run=True, kept=tmp_path / "a.db")
    assert found.notes == ()
    assert found.maps().rubric.pass_threshold == 0.2


@pytest.mark.parametrize("as_run", [True, False])
def test_by_another_threshold_both_judge_and_humans_pass(tmp_path: Path, *, as_run: bool) -> None:
    scores = {f"c{k:02}": 1 + k % 5 for k in range(20)}
    people = [row for name in ("accuracy", "tone") for row in labels(scores, criterion=name)]
    verdict_of = [verdict(c, {"accuracy": raw, "tone": raw}, TWO) for c, raw in scores.items()]
    lenient = make_rubric("accuracy", "tone", pass_threshold=0.2)
    with closing(RunStore(tmp_path / "a.db")) as store:
        answers = [
            answer(key(one.case_id or ""), place=k, said=one.judgments)
            for k, one in enumerate(verdict_of)
        ]
        run = Run(store.run(begun(store, *answers, rubric=TWO).id), store)
        found = jk.calibrate(run if as_run else verdict_of, people, rubric=lenient)
    passed = found.overall.pass_fail
    assert passed is not None
    assert (passed.judge_rate.value, passed.human_rate.value) == (0.8, 0.8)
    assert passed.accuracy.value == 1


def test_two_verdicts_or_comparisons_of_one_output_are_refused() -> None:
    with pytest.raises(jk.InputError, match="a second verdict of a"):
        jk.calibrate([*verdicts({"a": 3}), *verdicts({"a": 5})], labels({"a": 4}))
    twice = [*comparisons({"a": "first"}), *comparisons({"a": "second"})]
    with pytest.raises(jk.InputError, match="a second comparison of a of v1::v2"):
        jk.calibrate(twice, winners({"a": "a"}))
