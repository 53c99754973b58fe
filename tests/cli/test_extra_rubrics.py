"""Rubrics that are judged beside the cases' own, and decide nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import validate_path
from tests.cli.source_designs import EVALS, read, record, seen, write
from tests.factories import reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run

CONVENTIONS = (
    "frontmatter", "description_field", "token_efficiency", "progressive_disclosure",
    "type_alignment",
)  # fmt: skip
REVIEW = {
    "executor_claims": "false | The entry is complete | 1.4.1 is missing\n"
    "true | It is dated | The first line\nand one more",
    "eval_feedback": "`short` does not say what counts as a line.",
}


def said(score: float, rationale: str) -> str:
    return json.dumps({"evidence": [], "rationale": rationale, "score": score})


@pytest.fixture
def skill(run: Run, tmp_path: Path) -> tuple[object, ...]:
    """A skill's evals with one output, and a judge that answers everything."""
    del run  # changes to the folder
    path = write(tmp_path / "evals.json", EVALS)
    rows = [("dated", said(4, "It has a date.")), ("short", said(2, "It is long."))]
    rows += [(f"skill_conventions.{name}", said(1, f"{name} holds.")) for name in CONVENTIONS[1:]]
    rows.append(("skill_conventions.frontmatter", said(0, "There is none.")))
    rows += [(f"skill_review.{name}", said(0, text)) for name, text in REVIEW.items()]
    record("judge.jsonl", *(
        {"case_id": "release", "criterion": name, "text": text} for name, text in rows
    ))  # fmt: skip
    outputs = record("v1.jsonl", {"case_id": "release", "text": "2026-02-03: faster"})
    return "run", path, "--outputs", outputs, "--judge", "recorded:judge.jsonl"


def graded(run: Run, tmp_path: Path) -> Any:
    path = tmp_path / "grading.json"
    assert run("export", "-o", path, "-q").err == ""
    assert validate_path(path) == []
    return read(path)


def test_conventions_and_review_are_judged_beside_the_expectations(
    run: Run, tmp_path: Path, skill: tuple[object, ...]
) -> None:
    more = ("--extra-rubric", "skill_conventions", "--extra-rubric", "skill_review")
    plain, found = seen(run(*skill, "--json")), seen(run(*skill, *more, "--json"))
    # They have no say: the verdict and the value are those of the expectations alone.
    (before,), (after,) = plain["variants"], found["variants"]
    for name in ("n_passed", "value", "pass_rate"):
        assert after[name] == before[name]
    assert (len(before["criteria"]), len(after["criteria"])) == (2, 9)
    grading = graded(run, tmp_path)
    assert [line["criterion"] for line in grading["results"]] == ["dated", "short"]
    assert (grading["overall"], grading["overall_score"]) == ("pass", 3.0)
    conventions = grading["convention_compliance"]
    assert [conventions[name]["passed"] for name in CONVENTIONS] == [False, True, True, True, True]
    assert conventions["frontmatter"]["details"] == "There is none."
    assert grading["claims"] == [
        {"claim": "The entry is complete", "verified": False, "evidence": "1.4.1 is missing"},
        {"claim": "It is dated", "verified": True, "evidence": "The first line"},
        {"claim": "and one more", "verified": None, "evidence": ""},
    ]
    assert grading["eval_feedback"] == REVIEW["eval_feedback"]


def test_conventions_that_nobody_judged_are_null(
    run: Run, tmp_path: Path, skill: tuple[object, ...]
) -> None:
    seen(run(*skill, "--json"))
    conventions = graded(run, tmp_path)["convention_compliance"]
    assert {name: one["passed"] for name, one in conventions.items()} == dict.fromkeys(CONVENTIONS)


def test_a_history_has_the_file_and_the_commit_of_a_version(
    run: Run, tmp_path: Path, skill: tuple[object, ...]
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("3f1c\n", encoding="utf-8")
    seen(run(*skill, "--json"))
    assert run("export", "--format", "history", "-o", "history.json").code == 0
    (version,) = read(tmp_path / "history.json")["versions"]
    assert (version["path"], version["git_hash"]) == ("v1.jsonl", "3f1c")


def test_extra_rubrics_need_a_judge(run: Run, skill: tuple[object, ...]) -> None:
    ran = run(*skill[:4], "--extra-rubric", "skill_review")
    assert (ran.code, "`extra_rubrics` need a judge" in ran.err) == (2, True)


def test_a_suite_names_them_and_plans_them(run: Run, tmp_path: Path) -> None:
    record("cases.jsonl", {"id": "a", "input": "Q"})
    outputs = record("v1.jsonl", {"case_id": "a", "text": "A"})
    record("judge.jsonl", {"case_id": "a", "text": reply(1)})
    suite = {
        "name": "s", "dataset": "cases.jsonl", "rubric": "reference_match",
        "extra_rubrics": ["skill_conventions"], "judge": "recorded:judge.jsonl",
        "variants": [{"id": "v1", "outputs": outputs}],
    }  # fmt: skip
    path = write(tmp_path / "judgekit.json", suite)
    assert seen(run("plan", path, "--json"))["models"][0]["n_questions"] == 7
    found = seen(run("run", path, "--json"))["variants"][0]["criteria"]
    assert [name for name in found if "." in name] == [
        f"skill_conventions.{n}" for n in CONVENTIONS
    ]


def test_an_unknown_extra_rubric_is_found_by_validate(run: Run, tmp_path: Path) -> None:
    suite = {
        "name": "s", "cases": [{"id": "a", "input": "Q", "reference": "A"}],
        "extra_rubrics": ["skill_convention"], "judge": "openai/m",
        "assertions": [{"type": "custom.script", "script": "a.py"}],
        "variants": [{"id": "v1", "command": ["agent"]}],
    }  # fmt: skip
    ran = run("validate", write(tmp_path / "judgekit.json", suite), "--json")
    assert ran.code == 2
    (first, *_) = (one for one in ran.json["findings"] if "skill_convention" in one["message"])
    assert (first["line"], "skill_conventions" in first["remedy"]) == (10, True)
