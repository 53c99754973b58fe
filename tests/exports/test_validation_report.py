from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from judgekit.datasets import Suite
from judgekit.errors import SettingsError
from judgekit.evaluation import evaluate_sync, finding_id
from judgekit.exports.validation_report import VALIDATION, write_validation_report
from judgekit.formats import read_document
from judgekit.records import Evidence, Finding, TraceEvent
from tests.cli.commanding import runner
from tests.exports.making import START, check, make_answer, make_run, said
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


def test_a_run_that_did_not_finish_is_in_no_tier_and_has_not_passed(tmp_path: Path) -> None:
    found = report(tmp_path, *several(4, 4, 5), run=make_run(status="stopped"))
    assert (found["status"], found["passed"], found["tier"]) == ("stopped", None, None)


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
    assert first.startswith(
        "Raise accuracy: 0.25 [0.00, 0.76], 0.70 wanted (weight 1). "
        "The question is: How good is its accuracy? "
        'Lowest: c0 (wrong-output), 0.25: It says so. ("30 days"); c1'
    )
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
        make_answer(None, None, place=5, case=make_case(id="c5"), output=crashed),
        make_answer(None, 5, place=6, case=make_case(id="c6"), failures=[late]),
    ]
    told = report(tmp_path, *answers)["recommendations"]
    assert "Fix crash in 1 case (c5): handle this error" in " ".join(told)
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
    assert same["recommendations"][0].startswith("Raise accuracy: 0.75 [")
    assert "0.90 wanted (weight 2)" in same["recommendations"][0]
    assert (other["dimensions"]["accuracy"]["weight"]) is None


LEVELS = (
    {"value": 1, "description": "Everything is wrong."},
    {"value": 3, "name": "fair", "description": "Half of it is right."},
    {"value": 4, "name": "good", "description": "One slip that misleads nobody"},
    {"value": 5, "name": "excellent", "description": "All of it is right."},
)


def advice(tmp_path: Path, *answers: Outcome, **fields: Any) -> list[str]:
    return list(report(tmp_path, *answers, **fields)["recommendations"])


@pytest.mark.parametrize(
    ("raw", "asked"),
    [
        # "fair" is above 0.25 but below the mark, so that an output that reached it still failed.
        (2, "The rubric asks for good (0.75): One slip that misleads nobody. Lowest"),
        (4, "The rubric asks for excellent (1.00): All of it is right. Lowest"),
        # Nothing is above the best level.
        (5, "The scoring guide says: Count the slips. Lowest"),
    ],
)
def test_a_recommendation_says_what_the_rubric_asks_for(
    tmp_path: Path, raw: float, asked: str
) -> None:
    scale = {"min": 1, "max": 5, "levels": LEVELS}
    criterion = make_criterion("accuracy", scale=scale, scoring_guide="Count the slips")
    run = make_run(rubric=make_rubric(criterion))
    answers = [
        make_answer(raw, None, place=n, case=make_case(id=f"c{n}"), run=run) for n in range(3)
    ]
    assert asked in advice(tmp_path, *answers, run=run)[0]


def test_criteria_come_by_what_they_cost_the_overall_score(tmp_path: Path) -> None:
    criteria = (make_criterion("accuracy", weight=5), make_criterion("clarity", weight=1))
    run = make_run(rubric=make_rubric(*criteria))
    # clarity is farther below its mark (0.45 to 0.20), but weighs a fifth.
    told = advice(tmp_path, *several(3, 3, 2, run=run), run=run)
    assert [one.split(":")[0] for one in told[:2]] == ["Raise accuracy", "Raise clarity"]


def test_each_kind_of_finding_has_its_advice_with_cases_and_what_was_seen(tmp_path: Path) -> None:
    slow = make_output(None, error="no answer after 30 s", error_kind="timeout", duration_ms=30_000)
    broken = make_output(None, error="KeyError: 'user'", error_kind="exit")
    polite = make_output("I'm sorry, but I can't help with that.")
    own = make_rubric(make_criterion("accuracy", finding="hallucination"), "clarity")
    run = make_run(rubric=own)
    answers = [
        make_answer(None, None, place=0, case=make_case(id="c0"), output=slow),
        make_answer(None, None, place=1, case=make_case(id="c1"), output=broken),
        make_answer(1, 1, place=2, case=make_case(id="c2"), output=polite),
        make_answer(1, 5, place=3, case=make_case(id="c3"), run=run),
        make_answer(
            1, 1, place=4, case=make_case(id="c4"), checks=[check("text.is_json", passed=False)]
        ),
    ]
    told = "\n".join(advice(tmp_path, *answers, run=run))
    assert "Fix timeout in 1 case (c0): " in told
    assert "Answers took " in told
    assert "Fix crash in 1 case (c1): " in told
    assert "In c1: KeyError: 'user'" in told
    assert "Fix refusal in 1 case (c2): " in told
    assert "Fix hallucination in 1 case (c3): restrict the system to what its input" in told
    assert 'In c3: "30 days"' in told
    assert "Fix format-error in 1 case (c4): " in told


def test_the_step_that_failed_first_is_named_with_its_cases(tmp_path: Path) -> None:
    trace = (
        TraceEvent(type="tool_call", name="search"),
        TraceEvent(type="tool_result", name="search", status="error"),
        TraceEvent(type="tool_result", name="send", status="error"),
    )
    answers = [
        *several(2, 1, 1, output=make_output("30 days", trace=trace)),
        make_answer(1, 1, place=7, case=make_case(id="c7")),
    ]
    told = advice(tmp_path, *answers)
    step = "Look at tool_result search: the first failing step in 2 of 3 cases with a finding, "
    assert f"{step}c0 (wrong-output), c1 (wrong-output)" in told
    assert not any("send" in one for one in told)


def test_of_several_tries_the_last_is_reported(tmp_path: Path) -> None:
    run = make_run(config={"settings": {"retry_failed": 1}})
    broken = make_output(None, error="no", error_kind="exit")
    first = make_answer(None, None, run=run, output=broken)
    assert any("crash" in one for one in advice(tmp_path, first, run=run))
    second = make_answer(5, 5, run=run, repeat=1)
    assert not any("crash" in one for one in advice(tmp_path, first, second, run=run))


def test_strata_and_tags_have_their_cases_and_figures(tmp_path: Path) -> None:
    answers = [
        make_answer(
            raw, 5, place=n, case=make_case(id=f"c{n}", stratum=stratum, tags=("policy",) * (n % 2))
        )
        for n, (raw, stratum) in enumerate([(1, "simple"), (5, "simple"), (5, "complex")])
    ]
    found = report(tmp_path, *answers)
    assert {name: one["n_cases"] for name, one in found["strata"].items()} == {
        "simple": 2, "complex": 1, "medium": 0, "very_complex": 0,
    }  # fmt: skip
    simple = found["strata"]["simple"]
    assert (simple["score"], simple["pass_rate"]) == (0.75, 0.5)
    assert simple["interval"]["low"] < 0.75 < simple["interval"]["high"]
    assert simple["pass_rate_interval"]["low"] == pytest.approx(0.0945, abs=1e-4)
    assert found["tags"]["policy"]["n_cases"] == 1
    assert found["recommendations"][-1] == (
        "Add cases to the strata: fewer than 10 cases: simple 2, complex 1; "
        "no case: medium, very_complex"
    )
    bare = [make_answer(place=n, case=make_case(id=f"c{n}")) for n in range(2)]
    found = report(tmp_path, *bare)
    assert (found["strata"], found["tags"]) == ({}, {})
    assert not any("strata" in one for one in found["recommendations"])


def finding(case_id: str | None, **fields: Any) -> Finding:
    known: dict[str, Any] = {
        "id": finding_id("support", "v1", case_id), "suite": "support", "variant": "v1",
        "case_id": case_id, "type": "wrong-output", "severity": "major", "status": "open",
        "description": "It is wrong.", "first_run": "run-0", "last_run": "run-1",
        "first_seen_at": START, "last_seen_at": START, "n_runs": 1,
    }  # fmt: skip
    return Finding(**known | fields)


def test_findings_of_the_suite_say_in_how_many_runs_and_what_a_user_decided(tmp_path: Path) -> None:
    fell = "the pass rate fell from 90 % to 40 %, 56 % lower; the run before is run-0"
    followed = [
        finding("c0", n_runs=3),
        finding("c1", n_runs=2, type="hallucination"),  # as a user classified it
        finding(None, type="regression", severity="critical", description=fell),
    ]

    def told(*known: Finding) -> str:
        path = tmp_path / "report.yaml"
        findings = {one.id: one for one in known}
        write_validation_report(path, make_run(), iter(several(3, 1, 1)), findings)
        return "\n".join(cast("dict[str, Any]", read_document(path).value)["recommendations"])

    text = told(*followed)
    assert "c0 (wrong-output in 3 runs), 0.00" in text
    assert "Fix hallucination in 1 case (c1 in 2 runs): " in text
    assert f"Find the cause of the drop: {fell}" in text
    # An earlier drop is no news of this run.
    assert "drop" not in told(finding(None, type="regression", last_run="run-0"))


def test_a_run_exported_with_its_store_counts_the_runs_of_each_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = Suite.model_validate({
        "name": "sums",
        "cases": [{"id": "one", "input": "1+1", "stratum": "simple"}],
        "variants": [{"id": "v1", "outputs": "v1.jsonl"}],
        "judge": "heuristic",
        "assertions": [{"type": "contains", "value": "2"}],
    }).in_folder(tmp_path)  # fmt: skip
    (tmp_path / "v1.jsonl").write_text('{"case_id": "one", "text": "3"}\n', encoding="utf-8")
    store = tmp_path / "runs.db"
    for _ in range(2):
        evaluate_sync(suite, store=store, cache=None).close()
    path = tmp_path / "report.yaml"
    assert runner(capsys)("export", "latest", "--store", store, "-o", path).code == 0
    assert "one (wrong-output in 2 runs)" in " ".join(path.read_text(encoding="utf-8").split())
