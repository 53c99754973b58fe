from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tests.factories import reply
from tests.plugin.project import JUDGE, line

if TYPE_CHECKING:
    from tests.plugin.project import Project

GOOD = """
def test_good(judge):
    assert judge.grade("Can I?", "Within 30 days.", case_id="good").passed
"""
BAD = """
def test_bad(judge):
    assert judge.grade("Can I?", "Within 60 days.", case_id="bad").passed
"""
HALF = """
def test_half(judge):
    judge.grade("Can I?", "Within 30 days.", case_id="half")
"""
OURS = {"judgekit", "judgekit.errors", "judgekit.pytest_plugin", "judgekit.pytest_plugin.options"}


def test_a_good_answer_passes(project: Project) -> None:
    ran = project.test(GOOD, *JUDGE)
    assert (ran.code, ran.outcomes) == (0, {"passed": 1})


def test_a_bad_answer_fails_with_every_score_and_reason(project: Project) -> None:
    ran = project.test(BAD, *JUDGE)
    assert ran.outcomes == {"failed": 1}
    assert "<bad failed: value 0.38; accuracy 1: accuracy is 1.>.passed" in ran.out
    assert "bad failed: value 0.38; support passes from 0.7\n" in ran.out
    assert "  accuracy: 0.00 FAILED\n    score 1 (confidence 0.80): accuracy is 1.\n" in ran.out


def test_a_test_that_passes_shows_no_verdict(project: Project) -> None:
    ran = project.test(BAD.replace("assert", "assert not"), *JUDGE)
    assert ran.outcomes == {"passed": 1}
    assert "accuracy is 1." not in ran.out


def test_assert_passes_says_all_of_it_once_in_its_message(project: Project) -> None:
    ran = project.test(BAD.replace("assert judge.grade", "judge.assert_passes"), *JUDGE)
    assert "E       AssertionError: bad failed: value 0.38; support passes from 0.7" in ran.out
    assert "E           score 1 (confidence 0.80): accuracy is 1." in ran.out
    assert ran.out.count("accuracy is 1.") == 1


def test_assert_passes_gives_the_verdict_that_passes(project: Project) -> None:
    ran = project.test(GOOD.replace("grade", "assert_passes"), *JUDGE)
    assert ran.outcomes == {"passed": 1}


def test_a_judge_without_an_answer_is_an_error_not_a_failure(project: Project) -> None:
    ran = project.test(HALF + GOOD + BAD, *JUDGE, "-rA")
    assert ran.outcomes == {"failed": 1, "passed": 1, "error": 1}
    assert "the judge gave no answer: the request was refused; half is undecided\n" in ran.out
    assert "  accuracy: bad_request: " in ran.out
    assert "NO ANSWER test_it.py::test_half - Failed: the judge gave no answer" in ran.out


def test_the_words_for_a_judge_without_an_answer_stand_in_a_verbose_run(project: Project) -> None:
    assert "test_it.py::test_half NO ANSWER" in project.test(HALF, *JUDGE, "-v").out


def test_a_judge_without_an_answer_can_skip_a_test_or_be_expected(project: Project) -> None:
    assert project.test(HALF, *JUDGE, "--judgekit-no-answer=skip").outcomes == {"skipped": 1}
    assert project.test(HALF, *JUDGE, "--judgekit-no-answer=xfail").outcomes == {"xfailed": 1}
    assert project.test(HALF, *JUDGE, "--judgekit-no-answer=error").code == 1


def test_a_failure_that_decides_nothing_leaves_the_verdict(project: Project) -> None:
    project.record(line("half", accuracy=1))
    body = HALF.replace("judge.grade", "assert not judge.grade").replace('half")', 'half").passed')
    ran = project.test(body, *JUDGE)
    assert ran.outcomes == {"passed": 1}
    assert "failed       1 judgment: the request was refused" in ran.out


def test_a_case_has_the_id_of_its_test_where_it_has_none_of_its_own(project: Project) -> None:
    body = "def test_it(judge):\n" + '    judge.assert_passes("Can I?", "Yes.")\n' * 2
    first, second = "test_it.py::test_it", "test_it.py::test_it#2"
    project.record(line(first, accuracy=5, tone=5), line(second, accuracy=1, tone=1))
    assert "test_it.py::test_it#2 failed: value 0.00" in project.test(body, *JUDGE).out


def test_ids_of_a_file_of_cases_stand_for_its_cases(project: Project) -> None:
    project.write("cases.jsonl", '{"id": "good", "input": "Can I?"}\n')
    body = "def test_it(judge):\n" + '    judge.assert_passes("good", "Yes.")\n' * 2
    assert project.test(body, *JUDGE, "--judgekit-cases=cases.jsonl").outcomes == {"passed": 1}
    ran = project.test(body.replace("good", "godo"), *JUDGE, "--judgekit-cases=cases.jsonl")
    assert "no case in " in ran.out
    assert "did you mean good?" in ran.out


def test_a_whole_case_and_a_whole_output_are_taken_as_they_are(project: Project) -> None:
    body = """
import judgekit as jk
CASE = jk.Case(id="good", input="Can I?")
def test_case(judge):
    judge.assert_passes(CASE, jk.Output(text="Yes.", variant="v2"))
def test_data(judge):
    judge.assert_passes(CASE, {"answer": "Yes."}, reference="Within 30 days.")
def test_an_output_that_is_an_error(judge):
    judge.assert_passes(CASE, jk.Output(error="the agent timed out"))
"""
    ran = project.test(body, *JUDGE)
    assert ran.outcomes == {"passed": 2, "failed": 1}
    assert "E         no output to judge: the agent timed out" in ran.out


def test_an_answer_that_is_none_is_no_output(project: Project) -> None:
    ran = project.test('def test_it(judge):\n    judge.grade("Can I?", None)\n', *JUDGE)
    assert "the output to grade is None" in ran.out
    assert "does the function under test return its answer?" in ran.out


def test_what_is_missing_is_said_before_the_test_runs(project: Project) -> None:
    ran = project.test(GOOD)
    assert ran.outcomes == {"error": 1}
    assert "no judge is named\n  give --judgekit-judge " in ran.out
    assert "Traceback" not in ran.out
    assert "During handling" not in ran.out


def test_a_rubric_is_missed_only_where_it_is_needed(project: Project) -> None:
    ran = project.test(GOOD, JUDGE[0])
    assert "no rubric is named\n" in ran.out
    own = GOOD.replace('"good"', '"good", rubric="support.yaml"')
    assert project.test(own, JUDGE[0]).outcomes == {"passed": 1}


def test_the_rubric_fixture_is_the_rubric_of_the_test(project: Project) -> None:
    body = """
import pytest
@pytest.mark.judge(threshold=0.9)
def test_it(judge, rubric):
    assert (rubric.name, rubric.pass_threshold) == ("support", 0.9)
    assert judge.rubric == rubric
    assert judge.grade("Can I?", "Yes.", case_id="good").rubric_fingerprint == rubric.fingerprint

def test_another_threshold_after_the_rubric_was_used(judge):
    assert judge.grade("Can I?", "Yes.", case_id="good").passed

@pytest.mark.judge(threshold=0.8)
def test_and_one_more(rubric):
    assert rubric.pass_threshold == 0.8
"""
    assert project.test(body, *JUDGE).outcomes == {"passed": 3}


def test_it_is_asked_by_the_name_of_a_judge_too(project: Project) -> None:
    body = """
import judgekit as jk
def test_it(judge, rubric):
    case, output = jk.Case(id="good", input="Can I?"), jk.Output(text="Within 30 days.")
    assert judge.grade_sync(case, output, rubric).passed
"""
    assert project.test(body, *JUDGE).outcomes == {"passed": 1}


def test_a_rubric_made_in_python_takes_its_place(project: Project) -> None:
    project.write("conftest.py", """
import judgekit as jk, pytest
@pytest.fixture
def rubric():
    accuracy = jk.Criterion(name="accuracy", question="Is it right?", scale={"min": 1, "max": 5})
    return jk.Rubric(name="own", criteria=[accuracy])
""")  # fmt: skip
    ran = project.test(GOOD, JUDGE[0])
    assert ran.outcomes == {"passed": 1}
    assert "own, passes from 0.7" in ran.out


def test_any_object_can_be_the_model(project: Project) -> None:
    project.write("conftest.py", f"""
import judgekit as jk, pytest
@pytest.fixture
def judge_options():
    return {{"model": jk.ScriptedModel({reply(2)!r}), "cache": None}}
""")  # fmt: skip
    ran = project.test(GOOD, JUDGE[1])
    assert "<good failed: value 0.25; accuracy 2: The policy is quoted.>" in ran.out
    assert not (project.folder / ".judgekit").exists()


def test_asynchronous_tests_grade_several_at_once(project: Project) -> None:
    body = """
import asyncio
async def test_it(judge):
    asked = [judge.grade_async("Can I?", "Yes.", case_id=id) for id in ("good", "bad", "good")]
    assert [v.passed for v in await asyncio.gather(*asked)] == [True, False, True]
    assert judge.grade("Can I?", "Yes.", case_id="good").passed
async def test_no_answer(judge):
    await judge.grade_async("Can I?", "Yes.", case_id="half")
"""
    assert project.test(body, *JUDGE).outcomes == {"passed": 1, "error": 1}


def test_tests_with_the_same_settings_share_a_judge(project: Project) -> None:
    body = """
import pytest
SEEN = []
@pytest.mark.parametrize("n", range(3))
def test_it(judge, n):
    SEEN.append(judge.judge)
@pytest.mark.judge(mode="joint")
def test_other(judge):
    assert len({*map(id, SEEN)}) == 1
    assert judge.judge is not SEEN[0]
    assert repr(judge).startswith("<judge recorded:")
"""
    assert project.test(body, *JUDGE).outcomes == {"passed": 4}


def test_a_run_with_very_many_judges_closes_the_oldest(project: Project) -> None:
    body = """
import pytest
MANY = [pytest.param(marks=pytest.mark.judge(repeats=n)) for n in range(1, 20)]
@pytest.mark.parametrize((), MANY)
def test_it(judge):
    pass
"""
    assert project.test(body, *JUDGE).outcomes == {"passed": 19}


def test_importing_the_plugin_loads_only_pytest_and_the_standard_library() -> None:
    code = """
import sys, pytest, _pytest.config
known = set(sys.modules)
import judgekit.pytest_plugin
new = set(sys.modules) - known
print(*(name for name in new if name.partition(".")[0] not in sys.stdlib_module_names))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(ran.stdout.split()) == {*OURS, "lazy_loader"}


def test_a_project_that_does_not_use_it_notices_nothing(project: Project) -> None:
    project.write("conftest.py", """
import sys
def pytest_unconfigure():
    print("loaded", *sorted(name for name in sys.modules if name.startswith("judgekit")))
""")  # fmt: skip
    project.write("test_it.py", "def test_it():\n    pass\n")
    ran = project.run_alone("-q")
    lines = [part for part in ran.out.splitlines() if part and "[100%]" not in part]
    assert lines[0].startswith("1 passed")
    assert set(lines[1].split()[1:]) == OURS
    assert len(lines) == 2


def test_the_help_has_one_group_and_the_marker_is_known(project: Project) -> None:
    shown = project.run("--help").out
    assert shown.count("LLM judges (judgekit):") == 1
    assert shown.index("LLM judges (judgekit):") < shown.index("--judgekit-report=FILE")
    assert "@pytest.mark.judge(model=, rubric=" in project.run("--markers").out


def test_tests_can_be_chosen_and_a_run_stopped_at_the_first_failure(project: Project) -> None:
    project.write("test_it.py", BAD + GOOD)
    assert project.run(*JUDGE, "-k", "good").outcomes == {"passed": 1, "deselected": 1}
    assert project.run(*JUDGE, "-x", "-p", "no:cacheprovider").outcomes == {"failed": 1}
    project.write("test_it.py", HALF + GOOD)
    assert project.run(*JUDGE, "-x").outcomes == {"error": 1}
