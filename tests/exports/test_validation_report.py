from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import SettingsError
from judgekit.exports.validation_report import VALIDATION
from judgekit.formats import read_document
from judgekit.records import Evidence
from tests.exports.making import check, make_answer, make_run, said
from tests.factories import make_case, make_criterion, make_failure, make_output, make_rubric

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.evaluation import Outcome
    from judgekit.records import RunInfo


def report(folder: Path, *answers: Outcome, run: RunInfo | None = None) -> Any:
    """The report of some answers, read again."""
    path = folder / "report.yaml"
    assert VALIDATION.write(path, run or make_run(), iter(answers)) == len(answers)
    return read_document(path).value


def several(n: int, accuracy: float = 4, clarity: float = 5, **fields: Any) -> list[Outcome]:
    """Answers to cases of their own."""
    return [
        make_answer(accuracy, clarity, place=place, case=make_case(id=f"c{place}"), **fields)
        for place in range(n)
    ]


def test_a_report_has_scores_threshold_and_tier(tmp_path: Path) -> None:
    found = report(tmp_path, *several(4, 4, 5))
    assert (found["component"], found["overall_score"], found["threshold"]) == ("v1", 0.875, 0.7)
    assert (found["passed"], found["tier"], found["threshold_of"]) == (
        True,
        "production",
        "rubric support",
    )
    assert found["timestamp"] == "2026-11-22T09:30:00+00:00"
    assert found["interval"]["low"] < 0.875 <= found["interval"]["high"]
    assert found["answers"] == {"passed": 4, "failed": 0, "undecided": 0, "errors": 0}


@pytest.mark.parametrize(
    ("raw", "tier", "reaches_it"),
    [(4.2, "production", True), (3.8, "development", False), (3.4, "experimental", False),
     (3.3, None, False)],
)  # fmt: skip
def test_the_gate_of_the_suite_sets_the_threshold(
    tmp_path: Path, raw: float, tier: str | None, reaches_it: object
) -> None:
    criteria = (make_criterion("accuracy", scale={"min": 1, "max": 5}),)
    run = make_run(config={"gate": {"tier": "production"}}, rubric=make_rubric(*criteria))
    answers = [make_answer(raw, None, place=n, run=run) for n in range(2)]
    found = report(tmp_path, *answers, run=run)
    assert (found["threshold"], found["threshold_of"]) == (0.8, "tier production")
    assert (found["tier"], found["passed"]) == (tier, reaches_it)


def test_a_rubric_without_a_threshold_leaves_it_to_the_tier(tmp_path: Path) -> None:
    run = make_run(rubric=make_rubric("accuracy", "clarity", pass_threshold=0.0))
    found = report(tmp_path, *several(3, 1, 3, run=run), run=run)
    assert (found["threshold"], found["passed"]) == (0.7, False)


def test_every_dimension_has_evidence_from_its_lowest_judgments(tmp_path: Path) -> None:
    weak = make_answer(place=9, case=make_case(id="c9"), judgments=[
        said("accuracy", 1, rationale="It  invents\na fee."), said("clarity", 5),
    ])  # fmt: skip
    found = report(tmp_path, *several(5), weak)
    accuracy = found["dimensions"]["accuracy"]
    assert accuracy["weight"] == 1
    assert accuracy["evidence"].startswith(
        "6 judgments, 6 of 6 with a passage found in the output; "
        'lowest: c9, 0.00: It invents a fee. ("30 days"); c0, 0.75'
    )
    assert accuracy["evidence"].count(";") == 3


def test_recommendations_begin_with_what_is_below_its_mark(tmp_path: Path) -> None:
    first, *_ = report(tmp_path, *several(3, 2, 5))["recommendations"]
    assert first.startswith("Raise accuracy: 0.25, 0.70 wanted. Lowest: c0, 0.25: It says so.")
    own = make_rubric(make_criterion("accuracy", pass_value=0.2), "clarity")
    found = report(tmp_path, *several(3, 2, 5), run=make_run(rubric=own))
    assert found["recommendations"][0].startswith(
        "Nothing is below its mark; lowest is accuracy with 0.25"
    )


def test_errors_and_missing_judgments_are_told(tmp_path: Path) -> None:
    crashed = make_output(None, error="no", error_kind="exit")
    late = make_failure("accuracy", kind="timeout")
    answers = [
        *several(2),
        make_answer(None, None, place=5, output=crashed),
        make_answer(None, 5, place=6, failures=[late]),
    ]
    told = report(tmp_path, *answers)["recommendations"]
    assert "1 answer could not be had (ended with an error code)" in " ".join(told)
    assert "1 judgment is missing (no answer in time)" in " ".join(told)


def test_judgments_without_found_passages_are_to_be_checked_by_hand(tmp_path: Path) -> None:
    lost = (Evidence(quote="for ever"),)
    judgments = [said("accuracy", 5, evidence=lost), said("clarity", 5)]
    told = report(tmp_path, make_answer(judgments=judgments))["recommendations"]
    assert any("Check accuracy by hand: 1 of 1 judgments quote nothing" in one for one in told)
    assert not any("clarity by hand" in one for one in told)


def test_too_few_cases_are_told(tmp_path: Path) -> None:
    told = report(tmp_path, *several(3, 4, 4))["recommendations"]
    assert any(one.startswith("Add cases: with 3 cases the overall score may") for one in told)


def test_assertions_are_dimensions_where_no_judge_was_asked(tmp_path: Path) -> None:
    run = make_run(rubric=None, panel={})
    answers = [
        make_answer(
            None, None, place=n, run=run, checks=[check(passed=n > 0), check("x", passed=None)]
        )
        for n in range(4)
    ]
    found = report(tmp_path, *answers, run=run)
    assert found["dimensions"]["contains"]["score"] == 0.75
    assert found["dimensions"]["contains"]["evidence"].startswith("holds for 75%")
    assert found["dimensions"]["x"]["evidence"] == "decided for no answer"
    assert (
        "Look at the assertion contains: it holds for 75% of the answers"
        in (found["recommendations"])
    )
    assert (found["overall_score"], found["passed"], found["tier"]) == (None, None, None)
    assert (found["threshold"], found["threshold_of"]) == (0.7, "tier development")


def test_an_assertion_that_is_a_criterion_is_told_once(tmp_path: Path) -> None:
    judgments = [said("accuracy", 1, source="heuristic"), said("clarity", 5)]
    answer = make_answer(judgments=judgments, checks=[check("accuracy", passed=False)])
    found = report(tmp_path, answer)
    assert sum("accuracy" in one for one in found["recommendations"]) == 1
    assert found["dimensions"]["accuracy"]["evidence"].startswith("1 judgment; lowest")


def test_a_dimension_of_a_cases_own_rubric_has_no_weight_of_the_suite(tmp_path: Path) -> None:
    case = make_case(rubric=make_rubric("tone"))
    answer = make_answer(case=case, judgments=[said("tone", 5)])
    found = report(tmp_path, answer)
    assert found["dimensions"]["tone"]["weight"] is None
    missing = make_answer(case=case, judgments=[], failures=[make_failure("tone")])
    assert report(tmp_path, missing)["dimensions"]["tone"]["evidence"] == "no judgment"


def test_several_variants_are_several_reports(tmp_path: Path) -> None:
    run = make_run("v1", "v2", "v3")
    found = report(tmp_path, make_answer(), make_answer(variant="v2"), run=run)
    assert [one["component"] for one in found["reports"]] == ["v1", "v2"]


def test_long_reasons_are_cut_and_what_no_file_holds_is_marked(tmp_path: Path) -> None:
    judgments = [said("accuracy", 5, rationale="x" * 500), said("clarity", 5, rationale="\x00")]
    found = report(tmp_path, make_answer(judgments=judgments))
    assert "x" * 299 + "…" in found["dimensions"]["accuracy"]["evidence"]
    assert "\ufffd" in found["dimensions"]["clarity"]["evidence"]


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="a validation report to"):
        VALIDATION.write(tmp_path / "a.json", make_run(), [])


def test_a_criterion_of_the_cases_own_rubrics_has_the_weight_all_of_them_say(
    tmp_path: Path,
) -> None:
    run = make_run(rubric=None)

    def found(*weights: float) -> Any:
        answers = []
        for place, weight in enumerate(weights):
            own = make_rubric(make_criterion("accuracy", weight=weight, pass_value=0.9))
            case = make_case(id=f"c{place}", rubric=own)
            answers.append(make_answer(4, None, place=place, case=case, run=run))
        return report(tmp_path, *answers, run=run)

    same, other = found(2, 2), found(2, 3)
    assert (same["dimensions"]["accuracy"]["weight"]) == 2
    assert any("Raise accuracy: 0.75, 0.90 wanted" in each for each in same["recommendations"])
    assert (other["dimensions"]["accuracy"]["weight"]) is None
