from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.plugin.project import JUDGE, SUPPORT, Project, line

if TYPE_CHECKING:
    from pathlib import Path

SHOW = """
import pytest
{marker}
def test_it(judge):
    print("model", judge.judge.connection.name)
    print("threshold", judge.rubric.pass_threshold, "of", judge.rubric.name)
"""


def shown(project: Project, *arguments: str, marker: str = "") -> str:
    """What a test's judge is made of."""
    ran = project.test(SHOW.format(marker=marker), "-s", *arguments)
    assert ran.code == 0, ran.out
    return ran.out


def test_the_command_line_goes_before_the_environment_and_that_before_the_ini_file(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.ini("judgekit_judge = openai/c", "judgekit_rubric = support.yaml")
    assert "model openai/c" in shown(project)
    monkeypatch.setenv("JUDGEKIT_JUDGE", "openai/b")
    assert "model openai/b" in shown(project)
    assert "model openai/a" in shown(project, "--judgekit-judge=openai/a")


def test_the_nearest_marker_goes_before_the_command_line(project: Project) -> None:
    marker = (
        'pytestmark = pytest.mark.judge(model="openai/module", threshold=0.9)\n'
        '@pytest.mark.judge(model="openai/near")'
    )
    out = shown(project, *JUDGE, "--judgekit-threshold=0.1", marker=marker)
    assert "model openai/near" in out
    assert "threshold 0.9 of support" in out


def test_conftest_goes_before_the_ini_file_and_behind_the_command_line(project: Project) -> None:
    project.ini("judgekit_judge = openai/ini", "judgekit_rubric = support.yaml")
    project.write("conftest.py", """
import pytest
@pytest.fixture
def judge_options():
    return {"model": "openai/conftest"}
""")  # fmt: skip
    assert "model openai/conftest" in shown(project)
    assert "model openai/line" in shown(project, "--judgekit-judge=openai/line")


def test_files_of_a_marker_lie_beside_the_test_or_below_the_root_folder(project: Project) -> None:
    body = SHOW.format(marker='@pytest.mark.judge(rubric="support.yaml")')
    project.write("tests/deep/test_it.py", body)
    ran = project.run("-s", "tests", JUDGE[0])
    assert "threshold 0.7 of support" in ran.out
    project.write("tests/deep/support.yaml", SUPPORT.replace("name: support", "name: beside"))
    assert "threshold 0.7 of beside" in project.run("-s", "tests", JUDGE[0]).out


def test_files_of_the_ini_file_lie_beside_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.ini("judgekit_judge = recorded:replies.jsonl", "judgekit_rubric = support.yaml")
    project.write("tests/test_it.py", SHOW.format(marker=""))
    monkeypatch.chdir(project.folder / "tests")
    ran = project.run("-s")
    assert f"model recorded:{project.folder / 'replies.jsonl'}" in ran.out
    assert "of support" in ran.out


def test_a_shipped_rubric_goes_by_its_name(project: Project) -> None:
    assert "of helpfulness" in shown(project, JUDGE[0], "--judgekit-rubric=helpfulness")
    ran = project.test(SHOW.format(marker=""), JUDGE[0], "--judgekit-rubric=helpfulnes")
    assert "no rubric is called 'helpfulnes'\n  did you mean helpfulness?" in ran.out


@pytest.mark.parametrize(
    ("marker", "said"),
    [
        ("treshold=0.5", "@pytest.mark.judge takes no 'treshold'"),
        ('"support.yaml"', "@pytest.mark.judge takes names only"),
        ("threshold=70", "threshold: 70 is not a number from 0 to 1"),
        ("repeats=True", "repeats: True is not a whole number from 1"),
        ("repeats=2, min_pass=3", "min_pass is 3 of 2 repeats"),
        ('mode="both"', "mode: 'both' is not one of per_criterion, joint"),
        ('template="none"', "no template is called 'none'"),
    ],
)
def test_an_unsound_marker_is_an_error_that_says_so(
    project: Project, marker: str, said: str
) -> None:
    ran = project.test(SHOW.format(marker=f"@pytest.mark.judge({marker})"), *JUDGE)
    assert ran.outcomes == {"error": 1}
    assert said in ran.out


@pytest.mark.parametrize("option", ["--judgekit-no-cache", "--judgekit-refresh"])
def test_settings_that_contradict_each_other_are_an_error(project: Project, option: str) -> None:
    ran = project.test(SHOW.format(marker=""), *JUDGE, "--judgekit-frozen", option)
    assert "and frozen contradict each other" in ran.out


def test_an_unsound_option_is_a_usage_error(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert project.run("--judgekit-max-cost=nothing").code == 4
    assert "argument --judgekit-max-cost: 'nothing' is not a number" in capsys.readouterr().err


def test_an_unsound_variable_or_ini_entry_is_named(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.ini("judgekit_mode = both")
    ran = project.test(SHOW.format(marker=""))
    assert "pytest.ini: judgekit_mode: 'both' is not one of per_criterion, joint" in ran.out
    project.ini()
    monkeypatch.setenv("JUDGEKIT_FROZEN", "perhaps")
    ran = project.test(SHOW.format(marker=""))
    assert "the variable JUDGEKIT_FROZEN: 'perhaps' is neither true nor false" in ran.out


def test_the_cache_lies_where_it_is_told_and_else_below_the_root_folder(
    project: Project, tmp_path: Path
) -> None:
    project.ini("judgekit_judge = openai/m", "judgekit_rubric = support.yaml")
    shown(project)
    assert (tmp_path / ".judgekit" / "cache").is_dir()
    shown(project, "--judgekit-cache-dir=other")
    assert (tmp_path / "other").is_dir()


def test_a_run_may_do_without_the_cache(project: Project, tmp_path: Path) -> None:
    shown(project, "--judgekit-judge=openai/m", JUDGE[1], "--judgekit-no-cache")
    assert not (tmp_path / ".judgekit").exists()


def test_votes_decide_where_a_number_of_repeats_has_to_pass(project: Project) -> None:
    project.record(*(line("good", repeat=n, accuracy=s, tone=s) for n, s in enumerate((5, 1, 5))))
    body = """
import pytest
@pytest.mark.judge(repeats=3{votes})
def test_it(judge):
    judge.assert_passes("Can I?", "Yes.", case_id="good")
"""
    assert project.test(body.format(votes=", min_pass=2"), *JUDGE).outcomes == {"passed": 1}
    assert project.test(body.format(votes=""), *JUDGE).outcomes == {"failed": 1}
    ran = project.test(body.format(votes=", min_pass=3"), *JUDGE)
    assert "value 0.67; support passes from 0.7, in 3 repeats at least" in ran.out
