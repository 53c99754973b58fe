from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from judgekit.assertions.scripts import SCRIPT_NAME
from judgekit.errors import SettingsError
from judgekit.exports.tabular import STRATEGIES, STRATEGY_COLUMNS, strategy_row
from judgekit.records import Score
from tests.exports.making import JSON, NAMES, check, make_answer, make_run
from tests.factories import make_case, make_failure, make_output

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.records import RunInfo

UNJUDGED = make_run(rubric=None, panel={})


def row(run: RunInfo = UNJUDGED, **fields: Any) -> Any:
    """The row of an answer nobody judged, unless it says otherwise."""
    return strategy_row(make_answer(None, None, run=run, **fields), run)


def case(strategy: str, *assertions: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A case with a strategy."""
    evaluation = {"strategy": strategy} | fields.pop("evaluation", {})
    known = {"id": "c", "input": "Q", "assertions": assertions, "evaluation": evaluation}
    return {"case": known | fields}


def test_a_judged_answer_has_every_field_of_the_format() -> None:
    run = make_run()
    found: Any = strategy_row(make_answer(4, 5), run)
    assert tuple(found) == STRATEGY_COLUMNS
    assert (found["testName"], found["testCaseId"], found["status"]) == (
        "refund",
        "refund",
        "passed",
    )
    assert (found["strategy"], found["score"]) == ("llm_judge", 0.875)
    assert found["rubricScores"]["accuracy"] == {
        "score": 4.0, "min": 1.0, "max": 5.0, "value": 0.75, "passed": True,
        "feedback": "It says so.",
    }  # fmt: skip
    assert found["feedback"] == "accuracy: It says so.\nclarity: It says so."
    assert (found["output"], found["expectedOutput"]) == ("Yes, within 30 days.", "Within 30 days.")
    assert (found["durationMs"], found["createdAt"]) == (12.5, "2026-11-22T09:30:00+00:00")


def test_patterns_that_matched_and_those_that_did_not() -> None:
    patterns = [{"type": "regex", "value": value} for value in ("^Yes", "\\d{9}")]
    found = row(checks=[check("regex"), check("regex", passed=False)],
                **case("regex_match", *patterns))  # fmt: skip
    assert (found["strategy"], found["status"], found["score"]) == ("regex_match", "failed", 0.0)
    assert found["matchedPatterns"] == ["^Yes"]
    assert found["feedback"] == "regex says so"


def test_schema_errors_are_listed() -> None:
    schema = {"type": "is-json", "value": {"type": "object"}}
    failed = check("is-json", passed=False, message="`total` is missing")
    found = row(checks=[failed], **case("json_schema", schema))
    assert found["schemaErrors"] == ["`total` is missing"]
    assert found["status"] == "failed"


def test_a_comparison_with_the_reference_is_made_when_it_was_not() -> None:
    found = row(**case("exact_match", reference="Yes, within 30 days."))
    assert (found["status"], found["score"], found["strategy"]) == ("passed", 1.0, "exact_match")
    assert row(**case("exact_match", reference="No."))["status"] == "failed"


def test_an_assertion_of_the_suite_must_hold_besides() -> None:
    run = make_run(rubric=None, panel={}, config={"assertions": [{"type": "contains"}]})
    fields = case("exact_match", reference="Yes, within 30 days.")
    assert row(run, checks=[check()], **fields)["status"] == "passed"
    assert row(run, checks=[check(passed=False)], **fields)["status"] == "failed"
    assert row(run, checks=[check(passed=None)], **fields)["status"] == "undecided"


def test_a_hybrid_case_passes_by_its_weights_though_a_part_fails() -> None:
    exact, pattern = {"type": "equals", "value": "x"}, {"type": "regex", "value": "Yes"}
    weights = {"exact_match": 0.2, "regex_match": 0.8}
    fields = case("hybrid", exact, pattern, evaluation={"weights": weights})
    found = row(checks=[check("equals", passed=False), check("regex")], **fields)
    assert (found["strategy"], found["status"]) == ("hybrid", "passed")
    assert found["score"] == pytest.approx(0.8)


def test_a_similarity_is_taken_from_scores_or_from_the_assertion() -> None:
    fields = case("semantic_sim", reference="Within 30 days.", evaluation={"threshold": 0.5})
    scored = row(scores=[Score(name="similarity", value=0.6, method="lexical")], **fields)
    assert (scored["score"], scored["status"]) == (0.6, "passed")
    spec = {"type": "similar", "value": "Within 30 days.", "threshold": 0.9}
    found = row(checks=[check("similar", value=0.8)], **case("semantic_sim", spec))
    assert (found["score"], found["status"]) == (0.8, "failed")
    assert row(**fields)["status"] == "undecided"


def test_what_was_observed_is_used_beside_what_is_compared_now() -> None:
    pattern = {"type": "regex", "value": "^No"}
    fields = case(
        "hybrid", pattern, reference="Yes, within 30 days.",
        evaluation={"weights": {"exact_match": 1, "regex_match": 1}, "threshold": 0.5},
    )  # fmt: skip
    found = row(checks=[check("regex", passed=False)], **fields)
    assert (found["status"], found["score"]) == ("passed", 0.5)
    assert found["matchedPatterns"] == []


def test_a_script_that_was_not_run_leaves_the_answer_open() -> None:
    found = row(**case("custom", evaluation={"script": "a.py"}))
    assert (found["status"], found["score"]) == ("undecided", None)
    assert "it was not checked in this run" in found["feedback"]


def test_a_script_that_was_run_decides() -> None:
    result = check(SCRIPT_NAME, value=0.9)
    found = row(checks=[result], **case("custom", evaluation={"script": "a.py"}))
    assert (found["status"], found["score"]) == ("passed", 0.9)


def test_a_case_that_lacks_what_its_strategy_needs_keeps_its_own_conclusion() -> None:
    found = row(checks=[check(passed=False)], **case("regex_match"))
    assert (found["strategy"], found["status"]) == ("regex_match", "failed")


def test_a_judge_decides_a_case_with_that_strategy() -> None:
    run = make_run()
    failure = make_failure("accuracy", message="no reply")
    answer = make_answer(None, 5, failures=[failure], **case("llm_judge"))
    found: Any = strategy_row(answer, run)
    assert (found["status"], found["score"], found["strategy"]) == ("undecided", None, "llm_judge")
    assert found["rubricScores"]["accuracy"]["score"] is None
    assert "accuracy: no judgment: no reply" in found["feedback"]


def test_a_case_without_a_strategy_is_named_by_what_was_done() -> None:
    assert row(checks=[check(passed=False)])["strategy"] == "assertions"
    assert row()["status"] == "undecided"


def test_an_error_of_what_is_tested_is_its_own_status() -> None:
    output = make_output(None, error="it crashed", error_kind="exit")
    found = row(output=output, **case("exact_match", reference="x"))
    assert (found["status"], found["feedback"], found["output"]) == ("error", "it crashed", None)


@given(JSON, NAMES)
def test_a_row_is_json_whatever_the_output_holds(data: Any, name: str) -> None:
    output = make_output(None, data=data, error=None if data is not None else "none")
    found = row(output=output, case=make_case(name=name, reference=data))
    assert json.loads(json.dumps(found)) == found
    if data is not None and not isinstance(data, str):
        assert json.loads(found["output"]) == data


@pytest.mark.parametrize("suffix", STRATEGIES.suffixes)
def test_rows_are_written_in_each_form(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rows{suffix}"
    answers = [make_answer(), make_answer(2, output=make_output("=1+1\x00"), repeat=1)]
    assert STRATEGIES.write(path, make_run(), iter(answers)) == 2
    text = path.read_text(encoding="utf-8")
    if suffix == ".csv":
        first, second = csv.DictReader(text.splitlines())
        assert (first["status"], second["output"]) == ("passed", "'=1+1\ufffd")
        assert json.loads(first["rubricScores"])["clarity"]["score"] == 5
    else:
        rows = json.loads(text) if suffix == ".json" else [*map(json.loads, text.splitlines())]
        assert [one["status"] for one in rows] == ["passed", "failed"]


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="result rows to"):
        STRATEGIES.write(tmp_path / "a.xml", make_run(), [])
