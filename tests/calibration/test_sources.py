"""Runs and panels against labels: who is heard, and what a case belongs to."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from judgekit.calibration import (
    CalibrationOptions,
    OutputKey,
    PacketChoice,
    PairwiseData,
    PointwiseData,
    cluster_of,
    draw_packet,
    pair_source,
)
from judgekit.calibration.inputs import PairJudgment, ScoreSample
from judgekit.evaluation import Run
from judgekit.records import Rubric, RunPanel, Variant
from judgekit.scoring import conclude
from judgekit.store import RunStore
from tests.evaluation.labelled import RUBRIC, TWO, labels, verdict
from tests.factories import make_case, make_criterion, make_judgment, make_output, make_rubric
from tests.store.observing import JUDGE, START, answer, begun, key, said

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.calibration import Groups
    from judgekit.records import Judgment, PanelCombination


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[RunStore]:
    """An empty store."""
    with closing(RunStore(tmp_path / "judgekit.db")) as store:
        yield store


def person(value: float, **fields: Any) -> Judgment:
    """What a person said in a run."""
    return make_judgment("accuracy", value, source="human", judge="Ada", **fields)


def test_what_people_said_in_a_run_is_not_the_judge_s_word(kept: RunStore) -> None:
    heard = answer(said=(said("accuracy", 1.0, raw=5), person(0.0)))
    run = begun(kept, heard, rubric=RUBRIC, panel=RunPanel(judges=(JUDGE, "human")))
    report = jk.calibrate(Run(kept.run(run.id), kept), labels({"refund": 5}))
    assert report.overall.leniency.judge_mean.value == 5
    assert report.judges == (JUDGE,)
    assert report.origin == {"run": run.id}


def test_a_run_gives_strata_tags_and_metadata(kept: RunStore) -> None:
    case = make_case(stratum="simple", tags=("t",), metadata={"doc": "d"})
    heard = answer(
        case=case, said=(said("accuracy", 1.0),), output=make_output(metadata={"via": 1})
    )
    run = begun(kept, heard, rubric=RUBRIC)
    options = CalibrationOptions(cluster="doc")
    report = jk.calibrate(Run(kept.run(run.id), kept), labels({"refund": 4}), options=options)
    (item,) = report.aligned["accuracy"].items
    assert item.groups == {"doc": ("d",), "stratum": ("simple",), "tag": ("t",), "via": ("1",)}
    assert item.cluster == ("d",)


def test_answers_without_a_verdict_and_errors_are_left_out(kept: RunStore) -> None:
    broken = answer(key("broken"), place=1, output=make_output(None, error="timeout"), said=())
    run = begun(kept, answer(said=(said("accuracy"),)), broken, rubric=RUBRIC)
    report = jk.calibrate(Run(kept.run(run.id), kept), labels({"refund": 4}))
    assert (report.joined.n_judged, report.joined.n_errors) == (1, 1)


def test_a_run_that_asked_no_judge_has_nothing_to_hold(kept: RunStore) -> None:
    run = begun(kept, answer(said=()), rubric=RUBRIC, panel=RunPanel())
    with pytest.raises(jk.InputError, match="no label is of an output that was judged"):
        jk.calibrate(Run(kept.run(run.id), kept), labels({"refund": 4}))


def test_answers_of_one_case_are_told_apart_by_their_repeat(kept: RunStore) -> None:
    heard = [answer(key(repeat=n), said=(said("accuracy", n / 1, raw=n * 4 + 1),)) for n in (0, 1)]
    run = begun(kept, *heard, rubric=RUBRIC, config={"settings": {"repeats": 2}})
    held = Run(kept.run(run.id), kept)
    with pytest.raises(jk.DatasetError, match="does not name its repeat; judged were 0, 1"):
        jk.calibrate(held, labels({"refund": 4}))
    report = jk.calibrate(held, labels({"refund": 4}, repeat=1))
    assert report.overall.leniency.judge_mean.value == 5
    assert len(draw_packet(held, PacketChoice(), at=START).items) == 2


def test_of_several_tries_of_a_case_the_last_is_labelled(kept: RunStore) -> None:
    tries = [
        answer(
            key(repeat=n, variant=variant),
            place=0,
            said=(said("accuracy", n / 1, raw=n * 4 + 1),),
            output=make_output(f"try {n}"),
        )
        for variant in ("v1", "v2")
        for n in (0, 1)
    ]
    variants = tuple(Variant(id=name) for name in ("v1", "v2"))
    config = {"settings": {"retry_failed": 1}}
    run = begun(kept, *tries, rubric=RUBRIC, config=config, variants=variants)
    held = Run(kept.run(run.id), kept)
    report = jk.calibrate(held, labels({"refund": 4}, variant="v1"))
    assert (report.joined.n_judged, report.overall.leniency.judge_mean.value) == (2, 5)
    drawn = draw_packet(held, PacketChoice(), at=START)
    assert [(one.variant, one.repeat) for one in drawn.items] == [("v1", 1), ("v2", 1)]
    (pair,) = pair_source(kept, run.id).pairs
    assert [pair.a.text, pair.b.text] == ["try 1", "try 1"]


def test_a_criterion_that_a_rubric_of_a_case_defines_otherwise_is_another(kept: RunStore) -> None:
    """On another scale an 80 by the case's rubric would be far beyond 1 to 5."""
    other = make_criterion("accuracy", scale={"min": 0, "max": 100, "integer": True})
    own = make_case(id="own", rubric=make_rubric(other, "tone", name="own"))
    heard = [
        answer(key("a"), said=(said("accuracy", 0.75, raw=4), said("tone", 0.5, raw=3))),
        answer(key("own"), place=1, case=own, said=(said(value=0.8, raw=80), said("tone", 1))),
    ]
    run = begun(kept, *heard, rubric=TWO)
    people = [
        *labels({"a": 4}, criterion="accuracy"),
        *labels({"own": 80}, criterion="accuracy"),
        *labels({"a": 3, "own": 5}, criterion="tone"),
    ]
    report = jk.calibrate(Run(kept.run(run.id), kept), people)
    assert report.criteria["accuracy"].leniency.judge_mean.value == 4
    assert report.criteria["tone"].n == 2
    assert (report.overall.n, report.joined.n_not_judged) == (1, 1)
    words = "of outputs whose cases have rubrics that ask something else"
    assert report.notes == (f"left out is accuracy {words} (1)",)


def panel(combine: PanelCombination, *scores: float) -> jk.Verdict:
    """What several judges come to."""
    judgments = [
        make_judgment("accuracy", (raw - 1) / 4, raw=raw, judge=f"j{k}", model=f"m{k}")
        for k, raw in enumerate(scores)
    ]
    names = tuple(f"j{k}" for k in range(len(scores)))
    of = RunPanel(combine=combine, judges=names)
    return conclude(RUBRIC, judgments, panel=of, case_id="a")


def test_several_judges_are_taken_as_their_panel_combines_them() -> None:
    report = jk.calibrate([panel("median", 1, 4, 5)], labels({"a": 4}), rubric=RUBRIC)
    assert report.overall.leniency.judge_mean.value == 4
    assert report.models == ("m0", "m1", "m2")


def test_judgments_of_several_judges_without_a_panel_are_averaged() -> None:
    said_alone = [
        make_judgment("accuracy", 0.0, raw=raw, judge=name, case_id="a", model="m")
        for name, raw in (("x", 2), ("y", 4))
    ]
    report = jk.calibrate(said_alone, labels({"a": 4}), rubric=RUBRIC)
    assert report.overall.leniency.judge_mean.value == 3
    assert report.models == ("m",)


def test_repeats_are_averaged_and_unreadable_ones_left_out() -> None:
    grades = PointwiseData(rubric=RUBRIC)
    for raw in (2, 4, None):
        grades.samples.append(ScoreSample(place=OutputKey("a"), criterion=None, raw=raw))
    report = jk.calibrate(grades, labels({"a": 4}), rubric=RUBRIC)
    assert report.overall.leniency.judge_mean.value == 3
    assert report.overall.steadiness is not None
    assert report.overall.steadiness.n_unusable == 1


def test_turns_and_several_judges_are_no_repeats() -> None:
    """Scores 1 and 5 of two turns, or of two judges, do not make a judge unsteady."""
    turns = [make_judgment(value=k % 2, raw=1 + 4 * (k % 2), turn=k + 1) for k in range(2)]
    judges = [make_judgment(value=k, raw=1 + 4 * k, judge=f"j{k}") for k in range(2)]
    for judgments in (turns, judges):
        report = jk.calibrate([conclude(RUBRIC, judgments, case_id="a")], labels({"a": 3}))
        assert report.overall.leniency.judge_mean.value == 3
        assert report.overall.steadiness is None
    twice = [*turns, *(one.model_copy(update={"repeat": 1}) for one in turns)]
    said_of = conclude(RUBRIC, twice, case_id="a")
    found = jk.calibrate([said_of], labels({"a": 3})).overall.steadiness
    assert found is not None
    assert (found.n_items, found.all_equal.value, found.within_sd) == (1, 1, 0)


def test_a_criterion_that_some_outputs_were_not_asked_about_is_no_failure() -> None:
    said_of = [verdict("a", {"accuracy": 4, "tone": 4}, TWO), verdict("b", {"accuracy": 4}, TWO)]
    people = labels({"a": 4, "b": 4}, criterion="accuracy")
    report = jk.calibrate(said_of, [*people, *labels({"a": 2}, criterion="tone")], rubric=TWO)
    assert report.criteria["tone"].n_items == 1


def test_a_criterion_beyond_the_rubric_has_a_scale_of_its_own() -> None:
    grades = PointwiseData(rubric=RUBRIC)
    for case, raw in (("a", 4), ("b", 2)):
        grades.samples.append(ScoreSample(place=OutputKey(case), criterion="accuracy", raw=raw))
        grades.samples.append(ScoreSample(place=OutputKey(case), criterion="extra", raw=raw * 10))
    people = labels({"a": 40, "b": 10}, criterion="extra")
    report = jk.calibrate(grades, people)
    assert report.criteria["extra"].scale == (10, 40)


def test_labels_of_different_people_on_each_criterion_still_make_a_whole() -> None:
    said_of = [verdict(c, {"accuracy": 4, "tone": 2}, TWO, rationale="So.") for c in "ab"]
    people = [
        *labels({"a": 5, "b": 1}, criterion="accuracy", rationale="Right."),
        *labels({"a": 3, "b": 5}, "Ben", criterion="tone"),
    ]
    report = jk.calibrate(said_of, people, rubric=TWO)
    assert report.overall.name == "whole"
    assert report.overall.leniency.human_mean.value == pytest.approx((0.75 + 0.5) / 2)
    assert report.overall.people.n_annotators == 1
    worst = report.overall.disagreements[0]
    assert worst.rationale == "accuracy: So.; tone: So."
    assert worst.reasons == {"Ada": "accuracy: Right."}


def test_a_required_criterion_decides_what_people_pass_too() -> None:
    rubric = Rubric(
        name="r", pass_threshold=0.5,
        criteria=(TWO.criteria[0].model_copy(update={"required": True}), TWO.criteria[1]),
    )  # fmt: skip
    said_of = [verdict("a", {"accuracy": 5, "tone": 5}, rubric)]
    people = [*labels({"a": 1}, criterion="accuracy"), *labels({"a": 5}, criterion="tone")]
    found = jk.calibrate(said_of, people, rubric=rubric).overall.pass_fail
    assert found is not None
    assert (found.false_pos, found.true_pos) == (1, 0)


def test_what_is_independent_can_be_chosen() -> None:
    place = OutputKey("a", "v1")
    groups: Groups = {"doc": ("d",)}
    for cluster, name in (("case", "a"), ("doc", ("d",)), ("gone", ("a",))):
        options = CalibrationOptions(cluster=cluster)
        assert cluster_of(place, groups, "c", options) == name
    assert cluster_of(place, groups, "c", CalibrationOptions(cluster="item")) == (place, "c")


def test_metadata_of_labels_forms_groups() -> None:
    said_of = [verdict(c, {"accuracy": 4}) for c in "ab"]
    people = [
        row | {"metadata": {"doc": row["case_id"], "more": [1]}} for row in labels({"a": 4, "b": 2})
    ]
    options = CalibrationOptions(by=("doc",))
    report = jk.calibrate(said_of, people, rubric=RUBRIC, options=options)
    assert [(s.kind, s.name) for s in report.overall.segments] == [("doc", "a"), ("doc", "b")]


@pytest.mark.parametrize("who", [("Ada", "Zoe"), ("Zoe", "Ada")])
def test_what_one_packet_drew_and_another_chose_counts_as_drawn(who: tuple[str, str]) -> None:
    rows: list[dict[str, Any]] = [{"case_id": name, "raw": 4} for name in "abcd"]
    people = [
        *labels(dict.fromkeys("abc", 4), who[0], metadata={"chosen": "random"}),
        *labels({"a": 2}, who[1], metadata={"chosen": "informative"}),
    ]
    report = jk.calibrate(rows, people, rubric=RUBRIC)
    assert (report.overall.n, report.notes) == (3, ())


def test_pairs_that_nobody_labelled_are_suggested() -> None:
    pairs = PairwiseData(
        pairs=[
            PairJudgment(place=OutputKey(c), criterion=None, choices=(), winner="a", probability=p)
            for c, p in (("1", 0.9), ("2", 0.55))
        ]
    )
    report = jk.calibrate(pairs, [{"case_id": "1", "annotator": "Ada", "winner": "a"}])
    assert [each.case_id for each in report.suggestions] == ["2"]
    assert report.overall.corrected_mean.n_unlabelled == 1
