from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import load_dataset, load_rubric, load_suite, suite_from_path
from judgekit.errors import SettingsError, StoreError
from judgekit.exports import open_conversion_source, suite_losses, write_own_suite
from tests.exports.test_converting import own
from tests.factories import make_case, make_rubric
from tests.formats import FOREIGN
from tests.formats.writing import skill_test, skill_tests, write

if TYPE_CHECKING:
    from pathlib import Path


def made(path: Path, folder: Path) -> Path:
    """The suite file made of a file."""
    write_own_suite(folder, open_conversion_source(path))
    return folder / "judgekit.yaml"


def test_a_skills_tests_become_a_suite_with_their_settings_and_groups(tmp_path: Path) -> None:
    shutil.copytree(FOREIGN / "skill", tmp_path / "skill")
    before = suite_from_path(tmp_path / "skill")
    after = load_suite(made(tmp_path / "skill", tmp_path / "skill"))
    assert (after.settings, after.suites) == (before.settings, before.suites)
    assert (after.name, after.version) == (before.name, before.version)
    assert load_dataset(tmp_path / "skill" / "cases.jsonl").cases == before.cases


def test_what_has_no_place_in_a_suite_is_told(tmp_path: Path) -> None:
    shutil.copytree(FOREIGN / "skill", tmp_path / "skill")
    source = open_conversion_source(tmp_path / "skill")
    assert suite_losses(tmp_path / "skill", source) == ()
    elsewhere = suite_losses(tmp_path / "other", source)
    assert elsewhere[0].startswith("the place of scripts/sorted.py, scripts/setup.py")
    assert suite_losses(tmp_path, open_conversion_source(FOREIGN / "evals.json")) == ()


@pytest.mark.parametrize("name", [
    "evals.json", "workflow.json", "quality.json", "promptfooconfig.yaml", "samples.jsonl",
    "tests_v1.json",
])  # fmt: skip
def test_every_foreign_file_becomes_a_suite(tmp_path: Path, name: str) -> None:
    suite = load_suite(made(FOREIGN / name, tmp_path / "new" / "suite"))
    assert suite.dataset_path is not None
    assert load_dataset(suite.dataset_path).cases == load_dataset(FOREIGN / name).cases


def test_a_rubric_that_all_cases_share_stands_in_a_file_of_its_own(tmp_path: Path) -> None:
    rubric = make_rubric("accuracy", "clarity")
    cases = [make_case(id=name, rubric=rubric) for name in "ab"]
    suite = load_suite(made(own(tmp_path, *cases), tmp_path / "s"))
    assert suite.rubric_source is not None
    assert load_rubric(suite.rubric_source) == rubric
    assert [case.rubric for case in load_dataset(tmp_path / "s" / "cases.jsonl").cases] == [
        None
    ] * 2


def test_cases_with_rubrics_of_their_own_keep_them(tmp_path: Path) -> None:
    cases = [make_case(id="a", rubric=make_rubric()), make_case(id="b")]
    suite = load_suite(made(own(tmp_path, *cases), tmp_path / "s"))
    assert suite.rubric is None
    assert load_dataset(tmp_path / "s" / "cases.jsonl").cases == tuple(cases)


def test_a_profile_with_a_rubric_gives_it_to_the_suite(tmp_path: Path) -> None:
    judged = skill_test(evaluation={"strategy": "llm_judge"})
    path = write(tmp_path, skill_tests(judged, profile="creative"), "tests.json")
    assert load_suite(made(path, tmp_path / "s")).rubric == "creative"


def test_a_suite_and_a_folder_with_one_are_refused(tmp_path: Path) -> None:
    made(own(tmp_path, make_case()), tmp_path / "s")
    with pytest.raises(SettingsError, match="is a suite already"):
        made(tmp_path / "s" / "judgekit.yaml", tmp_path / "t")
    with pytest.raises(SettingsError, match="is there already"):
        made(own(tmp_path, make_case()), tmp_path / "s")


def test_a_folder_that_cannot_be_made_is_an_error_of_ours(tmp_path: Path) -> None:
    path = own(tmp_path, make_case())
    with pytest.raises(StoreError, match="cannot make the folder"):
        made(path, path)
