from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import validate_path
from judgekit.errors import DatasetError
from judgekit.formats import read_skill_history
from tests.formats import FOREIGN
from tests.formats.writing import errors_of, write

if TYPE_CHECKING:
    from pathlib import Path


def make(*versions: dict[str, Any], current: int = 0) -> dict[str, Any]:
    known = {"timestamp": "2026-01-01T00:00:00Z", "average_score": None}
    return {"versions": [known | version for version in versions], "current_version": current}


def test_a_history_has_its_versions_and_the_current_one() -> None:
    history = read_skill_history(FOREIGN / "history.json")
    assert [version.average_score for version in history.versions] == [3.0, None]
    assert [version.value for version in history.versions] == [0.5, None]
    assert (history.current.version, history.current.git_hash) == (1, "ab12cd3")


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (make({"version": 0}, {"version": 0}), "the version 0 appears twice"),
        (make({"version": 0}, current=3), "no version has the number 3"),
        (make({"version": 0, "average_score": 9}), "`average_score` is 9, but scores are from 1"),
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
        "`average_score` is 9, but scores are from 1 to 5",
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
