"""A judge beside human labels, and beside another judge, item by item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.calibration import CalibrationOptions, OutputKey, calibrate
from judgekit.records import Evidence
from judgekit.rejudgment import PairedVerdict
from judgekit.rejudgment.comparison import CriterionAnswer, JudgedSide
from judgekit.report import KnownAnswer
from judgekit.report.item_cases import calibration_cases, changed_verdicts, score_changes
from judgekit.tuning import ChangedScore
from tests.factories import make_case, make_criterion, make_judgment, make_output, make_rubric
from tests.report.case_pages import ShownCases, cases_of_table

if TYPE_CHECKING:
    from judgekit.calibration import CalibrationReport

SCORES = {"c0": 5, "c1": 1, "c2": 3, "c3": 4, "c4": 2}


def label(case: str, raw: float, annotator: str = "ada", **fields: Any) -> dict[str, Any]:
    return {"case_id": case, "variant": "v1", "annotator": annotator, "raw": raw, **fields}


def report(*labels: dict[str, Any], **options: Any) -> CalibrationReport:
    judgments = [
        make_judgment(
            raw=raw, value=(raw - 1) / 4, case_id=case, variant="v1", rationale=f"It is a {raw}."
        )
        for case, raw in SCORES.items()
    ]
    return calibrate(
        judgments, list(labels), rubric=make_rubric(), options=CalibrationOptions(**options)
    )


def shown(found: CalibrationReport, *answers: tuple[OutputKey, KnownAnswer]) -> ShownCases:
    return cases_of_table(calibration_cases(found, answers))


def test_a_judge_is_higher_lower_or_agrees() -> None:
    found = shown(report(label("c0", 2), label("c1", 4), label("c2", 3)))
    assert found.columns == ["accuracy"]
    cells = {case: found.cells(f"{case} of v1")[0] for case in ("c0", "c1", "c2")}
    assert cells == {
        "c0": ("the judge is higher", 0.25, "5 vs 2"),
        "c1": ("the judge is lower", 0.25, "1 vs 4"),
        "c2": ("judge and humans agree", 1.0, "3 vs 3"),
    }
    assert found.filters("c0 of v1") == {"disagree", "higher"}
    assert found.filters("c1 of v1") == {"disagree", "lower"}
    assert found.ids[-1] == "c2 of v1", "an agreement stands below what is to be labelled"


def test_the_reasons_of_judge_and_annotators_stand_beside_each_other() -> None:
    labels = [label("c0", 2, rationale="Too short."), label("c0", 5, "ben"), label("c1", 1)]
    found = shown(report(*labels))
    assert found.rows_of("c0 of v1", "accuracy") == [
        ("judge", "5", "It is a 5."),
        ("annotator ada", "2", "Too short."),
        ("annotator ben", "5", ""),
    ]
    assert "people" in found.filters("c0 of v1")
    assert "people" not in found.filters("c1 of v1")


def test_what_to_label_next_is_shown_with_why() -> None:
    found = shown(report(label("c0", 5), label("c1", 1), n_suggested=1))
    (case,) = (name for name in found.ids if "next" in found.filters(name))
    (group,) = found.full[case]["opinions"]
    why = "its score 0.75 is close to the pass threshold 0.7"
    assert group["result"] == f"label this next: {why}"
    assert found.cells(case)[0][0] == "to label next"  # type: ignore[index]
    assert len(found.ids) == 3, "other unlabelled items are left out"


def test_the_output_has_the_evidence_of_the_judge_in_place() -> None:
    output = make_output("It takes 30 days.", variant="v1")
    quote = Evidence(quote="30 days", start=9, end=16, match="exact")
    judgment = make_judgment(raw=5, judge="m", evidence=(quote,), confidence=0.7)
    known = KnownAnswer(make_case(id="c0", tags=("refund",)), (output,), (judgment,))
    found = shown(report(label("c0", 5), label("c1", 2)), (OutputKey("c0", "v1"), known))
    row = found.full["c0 of v1"]
    assert row["answers"][0]["marks"] == [{"start": 9, "end": 16, "no": 1, "exact": True}]
    assert row["opinions"][0]["rows"][0]["facts"] == ["m", "confidence 0.70", "price unknown"]
    assert row["texts"][0]["title"] == "input"
    assert found.full["c1 of v1"]["answers"] == [], "an output that is not known is left out"


def test_a_judge_without_an_answer_neither_agrees_nor_disagrees() -> None:
    judgments: list[Any] = [
        {"case_id": "c0", "criterion": "accuracy", "raw": None, "failure_kind": "refusal"},
        {"case_id": "c1", "criterion": "accuracy", "raw": 3},
    ]
    labels = [{"case_id": case, "annotator": "ada", "raw": 3} for case in ("c0", "c1")]
    found = shown(calibrate(judgments, labels, rubric=make_rubric()))
    assert found.cells("c0") == [("no judgment", None, "– vs 3")]
    assert found.filters("c0") == set()
    assert found.rows_of("c0", "accuracy")[0] == ("judge", "no usable answer", "")


def test_choices_between_two_outputs_have_words_and_no_direction() -> None:
    judgments = [{"case_id": case, "winner": "a"} for case in ("c0", "c1")]
    labels = [
        {"case_id": case, "annotator": "ada", "winner": winner}
        for case, winner in (("c0", "a"), ("c1", "b"))
    ]
    found = shown(calibrate(judgments, labels))
    states = {case: found.cells(case)[0] for case in ("c0", "c1")}
    assert states["c0"] is not None
    assert states["c0"][0] == "judge and humans agree"
    assert states["c0"][2] == "a vs a"
    assert states["c1"] is not None
    assert states["c1"][0] == "judge and humans differ"
    assert states["c1"][2] == "a vs b"


def test_categories_are_named_and_have_no_distance() -> None:
    levels = [{"value": n, "name": name} for n, name in enumerate(("bug", "wish", "thanks"))]
    rubric = make_rubric(make_criterion("kind", scale={"levels": levels}))
    judgments: list[Any] = [{"case_id": f"c{n}", "raw": n, "criterion": "kind"} for n in range(3)]
    labels: list[Any] = [{"case_id": f"c{n}", "annotator": "ada", "raw": 2} for n in range(3)]
    options = CalibrationOptions(categories=True)
    found = shown(calibrate(judgments, labels, rubric=rubric, options=options))
    assert found.cells("c0") == [("judge and humans differ", 0.0, "bug vs thanks")]
    assert found.cells("c2") == [("judge and humans agree", 1.0, "thanks vs thanks")]


def side(value: float | None, *, passed: bool | None, **criteria: CriterionAnswer) -> JudgedSide:
    return JudgedSide(passed=passed, value=value, criteria=criteria)


def test_a_changed_decision_has_both_reasons() -> None:
    before = CriterionAnswer(value=1.0, raw=5, rationale="It is right.", n=2)
    now = CriterionAnswer(value=0.0, raw=1, rationale="It is wrong.")
    lost = CriterionAnswer(value=None, raw=None, rationale="refused")
    flip = PairedVerdict(
        case_id="c0",
        variant="v1",
        repeat=0,
        old=side(1.0, passed=True, right=before),
        new=side(0.0, passed=False, right=now, tone=lost),
        tags=("refund",),
    )
    answer = KnownAnswer(None, (make_output("Yes.", variant="v1"),))
    other = KnownAnswer(None, (make_output("Another."),))
    places = [(OutputKey("c9", "v1"), other), (OutputKey("c0", "v1"), answer)]
    found = cases_of_table(changed_verdicts([flip], places))
    assert found.cells("c0 of v1") == [("passes", 1.0, ""), ("fails", 0.0, "")]
    assert found.filters("c0 of v1") == {"down"}
    assert found.rows_of("c0 of v1", "right") == [
        ("before", "5", "It is right."), ("now", "1", "It is wrong."),
    ]  # fmt: skip
    assert found.rows_of("c0 of v1", "tone") == [
        ("before", "not asked", ""), ("now", "no judgment", "refused"),
    ]  # fmt: skip
    assert found.full["c0 of v1"]["answers"][0]["output"] == "Yes."


def test_a_reworded_rubric_moves_scores_closer_or_farther() -> None:
    changed = [
        ChangedScore(
            place=OutputKey(f"c{n}", "v1"), criterion="right", present=4, chosen=now, human=2
        )
        for n, now in enumerate((2, 5, 0))
    ]
    found = cases_of_table(score_changes(changed, ()))
    cells = [found.cells(f"c{n} of v1")[0] for n in range(3)]
    assert cells == [
        ("closer to the human label", None, "4 → 2, human 2"),
        ("farther from the human label", None, "4 → 5, human 2"),
        ("as far from the human label", None, "4 → 0, human 2"),
    ]
    assert found.counts == {"farther": 1, "closer": 1}


def test_a_criterion_without_a_label_has_no_cell_and_close_values_agree() -> None:
    share = {"min": 0, "max": 1}
    rubric = make_rubric(make_criterion("a", scale=share), make_criterion("b", scale=share))
    judgments: list[Any] = [
        {"case_id": case, "criterion": name, "raw": 0.5} for case in ("c0", "c1") for name in "ab"
    ]
    labels: list[Any] = [
        {"case_id": case, "criterion": name, "annotator": "ada", "raw": raw}
        for case, name, raw in (("c0", "a", 0.55), ("c0", "b", 0.7), ("c1", "a", 0.5))
    ]
    options = CalibrationOptions(n_suggested=0)
    found = shown(calibrate(judgments, labels, rubric=rubric, options=options))
    assert [cell and cell[0] for cell in found.cells("c0")[:2]] == [
        "judge and humans agree", "the judge is lower",
    ]  # fmt: skip
    assert found.cells("c1")[1] is None
