from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import validate_path
from judgekit.errors import DatasetError
from judgekit.formats import objects_in, read_skill_history
from tests.formats import FOREIGN
from tests.formats.writing import errors_of, write

if TYPE_CHECKING:
    from pathlib import Path


def make(*versions: dict[str, Any], current: int = 0) -> dict[str, Any]:
    known = {"timestamp": "2026-01-01T00:00:00Z", "average_score": None}
    return {"versions": [known | version for version in versions], "current_version": current}


def test_a_history_has_its_versions_and_the_current_one() -> None:
    history = read_skill_history(FOREIGN / "history.json")
    assert [version["average_score"] for version in objects_in(history["versions"])] == [3.0, None]
    assert history["current_version"] == 1


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (make({"version": 0}, {"version": 0}), "the version 0 appears twice"),
        (make({"version": 0}, current=3), "no version has the number 3"),
        (make({"version": 0, "average_score": 9}), "average_score` must be 5 or less"),
        (make({"version": 0, "average_score": 10**400}), "a huge number"),
        (make({"version": -1}), "must be 0 or more"),
        (make(), "`versions` must not be empty"),
    ],
)
def test_an_unsound_history_is_refused(tmp_path: Path, value: object, what: str) -> None:
    path = write(tmp_path, value, "history.json")
    with pytest.raises(DatasetError, match=what):
        read_skill_history(path)
    assert any(what in problem.message for problem in errors_of(path))


def test_an_unsound_version_hides_no_other_fault(tmp_path: Path) -> None:
    versions: list[dict[str, Any]] = [
        {"version": "x"},
        {"version": 1},
        {"version": 1, "average_score": 9},
    ]
    told = [problem.message for problem in errors_of(write(tmp_path, make(*versions, current=7)))]
    assert len(told) == 4
    assert {
        "the version 1 appears twice",
        "`versions[2].average_score` must be 5 or less, not 9",
        "no version has the number 7",
    } < set(told)


GRADING: dict[str, Any] = {
    "case_id": "case-01", "version": 0, "run": 1, "overall_score": 4.0, "required_score": 4.0,
    "results": [{"criterion": "dated", "score": 4, "passed": True, "reasoning": "It is."}],
    "overall": "pass",
    "convention_compliance": {"frontmatter": {"passed": None, "details": "not judged"}},
    "claims": [{"claim": "Done", "verified": False, "evidence": "nothing"}],
    "user_notes_summary": "", "eval_feedback": "", "execution_metrics": {},
}  # fmt: skip


def test_a_grading_and_a_list_of_them_are_sound(tmp_path: Path) -> None:
    for value in (GRADING, [GRADING, {**GRADING, "run": 2}]):
        assert validate_path(write(tmp_path, value, "grading.json")) == []


COMPARISON: dict[str, Any] = {
    "eval_prompt": "Write it", "winner": "A", "reasoning": "It is clearer",
    "scores": {"clarity": {"A": 8, "B": None}},
}  # fmt: skip
SUGGESTION = {"area": "tone", "before": "x", "after": "y", "reasoning": "It was asked kindly."}
ANALYSIS: dict[str, Any] = {
    "winner_version": "v1", "loser_version": "v0", "strengths": ["Clear"], "weaknesses": [],
    "suggestions": [SUGGESTION],
}  # fmt: skip


@pytest.mark.parametrize(
    ("whole", "changed", "what"),
    [
        (COMPARISON, {}, None),
        (COMPARISON, {"winner": None, "judgekit": {"case_id": "a"}}, None),
        (COMPARISON, {"winner": "C"}, "`winner` must be 'A', 'B' or 'tie', not 'C'"),
        (COMPARISON, {"scores": {"q": {"A": 11, "B": 1}}}, "must be 10 or less, not 11"),
        (COMPARISON, {"scores": {"q": {"A": 1.5, "B": 1}}}, "must be a whole number"),
        (COMPARISON, {"scores": {"q": {"B": 1}}}, "`scores.q.A` is missing"),
        (COMPARISON, {"scores": {"q": 3}}, "`scores.q` must be"),
        (COMPARISON, {"reasonning": "x"}, "`reasonning` is not known"),
        (ANALYSIS, {}, None),
        (ANALYSIS, {"suggestions": [SUGGESTION | {"verified": False, "before": ""}]}, None),
        (ANALYSIS, {"loser_version": "v1"}, "the winner and the loser are both 'v1'"),
        (ANALYSIS, {"strengths": "Clear"}, "`strengths` must be a list"),
        (
            ANALYSIS,
            {"suggestions": [{**SUGGESTION, "before": None}]},
            "suggestions[0].before` must",
        ),
        (ANALYSIS, {"suggestions": [SUGGESTION | {"after": "x"}]}, "so nothing is suggested"),
        (ANALYSIS, {"suggestion": []}, "`suggestion` is not known"),
    ],
)
def test_comparisons_and_analyses_are_checked(
    tmp_path: Path, whole: dict[str, Any], changed: dict[str, Any], what: str | None
) -> None:
    for value in (whole | changed, [whole, whole | changed]):
        found = [problem.message for problem in validate_path(write(tmp_path, value))]
        assert [(what or "") in message for message in found] == [True] * (what is not None)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"run": 0}, "`run` must be 1 or more"),
        ({"overall": "ok"}, "`overall` must be 'pass' or 'fail'"),
        ({"convention_compliance": {"style": {"passed": True, "details": ""}}}, "'frontmatter'"),
        ({"claims": [{"claim": "Done"}]}, "verified"),
        ({"results": [{**GRADING["results"][0], "score": 6}]}, "must be 5 or less"),
        ({"results": [{**GRADING["results"][0], "score": 2}]}, "contradicts the score 2"),
        ({"results": [{**GRADING["results"][0], "passed": None}]}, "contradicts the score 4"),
    ],
)
def test_an_unsound_grading_is_an_error(tmp_path: Path, changed: dict[str, Any], what: str) -> None:
    found = errors_of(write(tmp_path, [GRADING, {**GRADING, **changed}], "grading.json"))
    assert any(what in problem.message for problem in found)
