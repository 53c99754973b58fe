from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import load_dataset, validate_path
from judgekit.errors import DatasetError
from judgekit.formats.attachments import MAX_CASE_FILES, MAX_SHOWN_BYTES
from judgekit.records import Rubric
from tests.formats import FOREIGN
from tests.formats.writing import errors_of, line_with, warnings_of, write

if TYPE_CHECKING:
    from pathlib import Path

NEEDED = {"criterion": "dated", "description": "Begins with a date", "required": True}


def make(*expectations: object, **fields: object) -> dict[str, Any]:
    case = {"id": "c", "prompt": "Q", "expectations": list(expectations or [NEEDED])} | fields
    return {"version": "1.0", "skill": "s", "cases": [case]}


def test_expectations_become_the_rubric_of_each_case() -> None:
    dataset = load_dataset(FOREIGN / "evals.json")
    first = dataset.cases[0]
    rubric = first.rubric
    assert isinstance(rubric, Rubric)
    assert (dataset.name, first.skill) == ("changelog", "skills/changelog")
    assert [(c.name, c.required) for c in rubric.criteria] == [("dated", True), ("short", False)]
    dated = rubric.criteria[0]
    assert (dated.scale.min, dated.scale.max, dated.pass_value) == (1, 5, dated.scale.value_of(3))
    assert rubric.pass_threshold == 0


def test_files_are_given_as_context() -> None:
    first, second = load_dataset(FOREIGN / "evals.json").cases
    text = "Fixed the parser.\nAdded a flag.\n"
    assert first.context == {"files": [{"file": "notes.txt", "text": text}]}
    assert (first.metadata, second.context) == ({"files": ["notes.txt"]}, None)


def test_a_file_may_lie_in_the_skills_folder_above(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text("Guide")
    path = write(tmp_path, make(files=["guide.md"]), "evals/evals.json")
    context = load_dataset(path).cases[0].context
    assert context == {"files": [{"file": "guide.md", "text": "Guide"}]}


def test_a_file_that_is_no_text_or_too_large_is_described(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF\0")
    (tmp_path / "b.bin").write_bytes(b"\xff\xfe\xfd")
    (tmp_path / "c.txt").write_text("x" * (MAX_SHOWN_BYTES + 1))
    path = write(tmp_path, make(files=["a.pdf", "b.bin", "c.txt"]))
    context = load_dataset(path).cases[0].context
    assert isinstance(context, dict)
    files = context["files"]
    assert isinstance(files, list)
    kinds = [(file["media_type"], file["n_bytes"]) for file in files if isinstance(file, dict)]
    assert kinds[0] == ("application/pdf", 5)
    assert [n_bytes for _, n_bytes in kinds[1:]] == [3, MAX_SHOWN_BYTES + 1]


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("../x.txt", "leads out of its folder"),
        ("/etc/passwd", "leads out of its folder"),
        ("C:\\x", "leads out of its folder"),
        ("", "is no path of a file"),
        ("missing.txt", "there is no file"),
        ("link.txt", "leads out of the folder"),
        # Python 3.13 and newer find no file where links form a loop; 3.12 cannot read it.
        ("loop.txt", "file 'loop.txt'"),
    ],
)
def test_a_file_that_cannot_be_taken_is_an_error(tmp_path: Path, name: str, what: str) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "skill" / "evals"
    folder.mkdir(parents=True)
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "loop.txt").symlink_to(folder / "loop.txt")
    path = write(folder, make(files=[name]))
    [problem] = errors_of(path)
    assert what in problem.message


def test_too_many_files_are_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, make(files=["x"] * (MAX_CASE_FILES + 1)))
    with pytest.raises(DatasetError, match="may name 100 files, not 101"):
        load_dataset(path)


def test_a_case_without_a_required_expectation_can_never_fail(tmp_path: Path) -> None:
    path = write(tmp_path, make(NEEDED | {"required": False}))
    [problem] = errors_of(path)
    assert problem.message == "no expectation is required, so the case can never fail"
    assert (problem.case_id, problem.line) == ("c", 8)


def test_a_vague_description_is_a_warning(tmp_path: Path) -> None:
    path = write(tmp_path, make(NEEDED | {"description": "Has an appropriate tone"}))
    [warning] = warnings_of(path)
    assert "'appropriate', which nothing can contradict" in warning


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("Case 01", "call it `case-01`"),
        ("firstEntry", "call it `first-entry`"),
        ("first_entry", "call it `first-entry`"),
        ("-first--entry-", "call it `first-entry`"),
        ("case.1/a", "call it `case-1-a`"),
        ("???", "such as `case-01`"),
    ],
)
def test_an_id_that_is_not_in_kebab_case_is_a_warning_with_its_line(
    tmp_path: Path, name: str, better: str
) -> None:
    path = write(tmp_path, make(id=name))
    [problem] = [one for one in validate_path(path) if one.severity == "warning"]
    assert problem.message == f"the id {name!r} is not in kebab-case"
    assert (problem.line, problem.case_id) == (line_with(path, '"id"'), name)
    assert better in str(problem.remedy)
    assert [case.id for case in load_dataset(path).cases] == [name]


@pytest.mark.parametrize("name", ["case-01", "c", "7", "größe-2"])
def test_an_id_in_kebab_case_is_not_told(tmp_path: Path, name: str) -> None:
    assert warnings_of(write(tmp_path, make(id=name))) == []


def test_two_expectations_of_one_name_are_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, make(NEEDED, NEEDED))
    with pytest.raises(DatasetError, match="two expectations are called dated"):
        load_dataset(path)


def test_a_file_without_a_skill_is_called_as_itself(tmp_path: Path) -> None:
    path = write(tmp_path, {"cases": make()["cases"]}, "mine.json")
    assert load_dataset(path).name == "mine"


def test_an_unsound_head_is_told_with_unsound_cases(tmp_path: Path) -> None:
    path = write(tmp_path, {"skill": 7, "cases": [{"id": "c", "expectations": []}]})
    messages = [problem.message for problem in errors_of(path)]
    assert messages == ["`skill` must be a text, not 7", "the field `prompt` is missing"]


def test_every_fault_of_every_case_is_told_at_once(tmp_path: Path) -> None:
    whole = make({**NEEDED, "required": False}, files=["../../secret"])
    whole["cases"] += [
        {"id": "c", "prompt": "Q", "expectations": []},
        {"id": "d", "promt": "Q", "expectations": [NEEDED]},
    ]
    problems = {problem.message: problem for problem in errors_of(write(tmp_path, whole))}
    told = "; ".join(problems)
    assert "the path '../../secret' leads out of its folder" in told
    assert told.count("no expectation is required") == 1
    assert "a duplicate id; first in line" in told
    assert problems["the field `prompt` is missing"].remedy == "is `promt` meant for it? rename it"
