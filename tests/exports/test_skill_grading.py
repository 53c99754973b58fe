from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from judgekit.errors import SettingsError, StoreError
from judgekit.exports.skill_results import GRADING, grading, version_of
from judgekit.formats import CONVENTIONS
from judgekit.records import Evidence, TraceEvent
from tests.exports.making import check, make_answer, make_run, said
from tests.factories import make_case, make_criterion, make_failure, make_output, make_rubric

if TYPE_CHECKING:
    from pathlib import Path

FIELDS = [
    "case_id", "version", "run", "overall_score", "required_score", "results", "overall",
    "convention_compliance", "claims", "user_notes_summary", "eval_feedback",
    "execution_metrics", "judgekit",
]  # fmt: skip


def graded(*args: Any, **fields: Any) -> Any:
    return grading(make_answer(*args, **fields), make_run())


def test_a_grading_has_the_fields_of_the_format() -> None:
    found = graded(4, 5)
    assert list(found) == FIELDS
    assert (found["case_id"], found["version"], found["run"]) == ("refund", 1, 1)
    assert (found["overall_score"], found["required_score"]) == (4.5, 4.0)
    assert found["results"][0] == {
        "criterion": "accuracy",
        "score": 4,
        "passed": True,
        "reasoning": "It says so.",
    }
    assert json.loads(json.dumps(found)) == found


def test_only_required_criteria_decide() -> None:
    assert graded(3, 1)["overall"] == "pass"
    assert graded(2, 5)["overall"] == "fail"
    assert [line["passed"] for line in graded(3, 2)["results"]] == [True, False]


def test_without_a_required_criterion_the_own_rules_decide() -> None:
    run = make_run(rubric=make_rubric("accuracy", "clarity", pass_threshold=0.7))
    assert grading(make_answer(5, 5, run=run), run)["overall"] == "pass"
    low = grading(make_answer(3, 3, run=run), run)
    assert (low["overall"], low["required_score"]) == ("fail", None)


def test_what_was_not_judged_has_no_score_and_leaves_the_whole_open() -> None:
    failure = make_failure("accuracy", message="no reply")
    found = graded(None, 5, failures=[failure])
    first = found["results"][0]
    assert (first["score"], first["passed"]) == (None, None)
    assert first["reasoning"] == "no judgment: no reply"
    assert (found["overall"], found["overall_score"], found["required_score"]) == (None,) * 3
    assert graded(None, None)["results"][0]["reasoning"] == "nobody has judged it"


@given(st.floats(0, 1))
def test_a_score_passes_exactly_from_the_value_one_half_on(value: float) -> None:
    judgments = [said("accuracy", 1 + 4 * value, value=value), said("clarity", 5)]
    line = graded(judgments=judgments)["results"][0]
    assert line["passed"] == (line["score"] >= 3) == (value >= 0.5 - 1e-9)
    assert 1 <= line["score"] <= 5
    assert abs(line["score"] - (1 + 4 * value)) < 1


def test_an_assertion_is_a_required_criterion() -> None:
    found = graded(5, 5, checks=[check(passed=False), check("regex"), check("x", passed=None)])
    assert [line["score"] for line in found["results"][2:]] == [1, 5, None]
    assert found["overall"] == "fail"
    assert "The assertion x could not be checked: no path" in found["eval_feedback"]


def test_an_assertion_that_is_a_criterion_already_comes_once() -> None:
    by_rule = said("accuracy", 5, source="heuristic", rationale="contains says so")
    found = graded(judgments=[by_rule, said("clarity", 5)], checks=[check()])
    assert [line["criterion"] for line in found["results"]] == ["accuracy", "clarity"]


def test_conventions_are_those_criteria_and_assertions_that_bear_their_names() -> None:
    run = make_run(rubric=make_rubric(make_criterion("token-efficiency"), "clarity"))
    judgments = [said("token-efficiency", 2), said("clarity", 5)]
    checks = [check("acme.frontmatter")]
    found: Any = grading(make_answer(judgments=judgments, checks=checks, run=run), run)
    conventions = found["convention_compliance"]
    assert tuple(conventions) == CONVENTIONS
    assert conventions["token_efficiency"] == {"passed": False, "details": "It says so."}
    assert conventions["frontmatter"]["passed"] is True
    assert conventions["type_alignment"]["passed"] is None
    assert "not checked" in conventions["type_alignment"]["details"]


def test_claims_are_the_quoted_passages_each_looked_up() -> None:
    lost = Evidence(quote="for ever")
    folded = Evidence(quote="Yes", match="normalized")
    judgments = [said("accuracy", 4), said("clarity", 4, evidence=(lost, folded, lost))]
    first, second, third = graded(judgments=judgments)["claims"]
    assert first == {
        "claim": "30 days",
        "verified": True,
        "evidence": "found in the output at characters 12 to 19; quoted for accuracy",
    }
    assert (second["verified"], second["evidence"]) == (
        False,
        "not found in the output; quoted for clarity",
    )
    assert third["evidence"] == "found in the output; quoted for clarity"


def test_feedback_on_the_test_rests_on_what_was_seen() -> None:
    vague = make_criterion("accuracy", question="Is it appropriate?")
    run = make_run(rubric=make_rubric(vague, "clarity"))
    failure = make_failure("clarity", kind="cannot_assess", message="no link is given")
    found: Any = grading(make_answer(4, None, run=run, failures=[failure]), run)
    first, second = found["eval_feedback"].splitlines()
    assert "accuracy says 'appropriate', which nothing can contradict" in first
    assert second.endswith("could not be assessed from the output: no link is given")
    run = make_run(rubric=None)
    assert grading(make_answer(run=run), run)["eval_feedback"] == ""


def test_metrics_are_the_executors_own_else_what_was_measured() -> None:
    calls = [TraceEvent(type="tool_call", name="search"), TraceEvent(type="message")]
    assert graded(output=make_output(trace=calls))["execution_metrics"] == {"tool_calls": 1}
    measured = graded()["execution_metrics"]
    assert (measured["duration_ms"], measured["input_tokens"]) == (12.5, 10)
    metadata = {"metrics": {"steps": 3}, "user_notes_summary": "unsure of scripts"}
    own = graded(output=make_output(metadata=metadata))
    assert own["execution_metrics"] == {"steps": 3}
    assert own["user_notes_summary"] == "unsure of scripts"


@pytest.mark.parametrize(
    ("variants", "numbers"),
    [(("v0", "v3"), [0, 3]), (("1", "v1"), [0, 1]), (("old", "v7"), [0, 1])],
)
def test_a_version_is_the_number_in_the_name_or_the_place(
    variants: tuple[str, ...], numbers: list[int]
) -> None:
    run = make_run(*variants)
    assert [version_of(name, run) for name in variants] == numbers
    assert version_of("unknown", run) == 2


def test_a_folder_gets_a_file_for_each_answer(tmp_path: Path) -> None:
    folder = tmp_path / "grading"
    answers = [make_answer(), make_answer(repeat=1), make_answer(case=make_case(id="../a b"))]
    for _ in range(2):
        assert GRADING.write(folder, make_run(), iter(answers)) == 3
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["-a-b_v1_run1.json", "refund_v1_run1.json", "refund_v1_run2.json"]
    assert json.loads((folder / names[1]).read_text())["run"] == 1


def test_two_answers_of_one_name_are_refused_in_a_folder(tmp_path: Path) -> None:
    answers = [make_answer(case=make_case(id=name)) for name in ("a b", "A-b")]
    with pytest.raises(StoreError, match="two answers would both be written to A-b_v1"):
        GRADING.write(tmp_path / "g", make_run(), answers)


def test_a_folder_that_cannot_be_made_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "g").write_text("a file")
    with pytest.raises(StoreError, match="cannot make the folder"):
        GRADING.write(tmp_path / "g", make_run(), [])


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_gradings_may_stand_in_one_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert GRADING.write(path, make_run(), [make_answer(), make_answer(2)]) == 2
    text = path.read_text()
    found = json.loads(text) if name == "a.json" else [*map(json.loads, text.splitlines())]
    assert [one["overall"] for one in found] == ["pass", "fail"]


def test_a_single_grading_is_a_file_of_its_own_as_the_form_has_it(tmp_path: Path) -> None:
    assert GRADING.write(tmp_path / "grading.json", make_run(), [make_answer()]) == 1
    assert json.loads((tmp_path / "grading.json").read_text())["overall"] == "pass"


def test_no_answers_are_an_empty_list(tmp_path: Path) -> None:
    assert GRADING.write(tmp_path / "a.json", make_run(), []) == 0
    assert json.loads((tmp_path / "a.json").read_text()) == []
    with pytest.raises(SettingsError, match=r"use \.json, \.jsonl, a folder"):
        GRADING.write(tmp_path / "a.csv", make_run(), [])
