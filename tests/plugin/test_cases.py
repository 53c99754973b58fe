"""Tests over the cases of a file, asynchronous tests, and calibrated judges."""

from __future__ import annotations

import judgekit as jk
from tests.calibrations import make_calibration
from tests.plugin.project import JUDGE, Project, line

CASES = '{"id": "good", "input": "Can I?"}\n{"id": "bad", "input": "May I?"}\n'
EACH = """
def test_it(case, judge):
    judge.assert_passes(case, f"{case.input} Within 30 days.")
"""
ASYNC = EACH.replace("def", "async def").replace("judge.", "await judge.").replace("s(", "s_async(")


def test_a_test_that_takes_a_case_runs_once_for_each_case_of_the_file(project: Project) -> None:
    project.write("cases.jsonl", CASES)
    marker = 'import pytest\n@pytest.mark.judge(cases="cases.jsonl")'
    ran = project.test(marker + EACH, *JUDGE, "-v")
    assert ran.outcomes == {"passed": 1, "failed": 1}
    assert "test_it.py::test_it[good] PASSED" in ran.out
    assert "AssertionError: bad failed: value 0.38" in ran.out
    # Without a marker the file comes from the options; ids select tests.
    ran = project.test(EACH, *JUDGE, "--judgekit-cases=cases.jsonl", "-k", "good")
    assert ran.outcomes == {"passed": 1, "deselected": 1}


def test_a_file_of_cases_that_cannot_be_used_is_an_error_that_names_it(project: Project) -> None:
    empty = project.write("empty.jsonl", "")
    twice = project.write("twice.jsonl", CASES + CASES)
    ran = project.test(EACH, *JUDGE, f"--judgekit-cases={empty}")
    assert (ran.code, ran.outcomes) == (2, {"error": 1})
    assert "empty.jsonl" in ran.out
    ran = project.test(EACH, *JUDGE, f"--judgekit-cases={twice}")
    assert "twice.jsonl" in ran.out
    assert "Traceback" not in ran.out
    ran = project.test(EACH, *JUDGE)
    assert "no file of cases is named\n  give @pytest.mark.judge(cases=" in ran.out


def test_a_project_keeps_its_own_fixtures_and_parameters_named_case(project: Project) -> None:
    project.write("cases.jsonl", CASES)
    body = """
import pytest
@pytest.fixture(params=["a", "b"])
def case(request):
    return request.param
def test_fixture(case):
    assert case in "ab"
class TestOther:
    @pytest.mark.parametrize("n, case", [(1, "x")])
    def test_parameter(self, n, case):
        assert case == "x"
"""
    ran = project.test(body, "--judgekit-cases=cases.jsonl")
    assert ran.outcomes == {"passed": 3}


def test_an_asynchronous_test_runs_without_a_plugin_for_it_and_in_every_mode(
    project: Project,
) -> None:
    project.write("cases.jsonl", CASES)
    arguments = (*JUDGE, "--judgekit-cases=cases.jsonl")
    both = {"passed": 1, "failed": 1}
    assert project.test(ASYNC, *arguments).outcomes == both
    assert project.test(ASYNC, *arguments, "-o", "asyncio_mode=strict").outcomes == both
    # Marked tests are left to the plugin that knows the marker.
    marked = "import pytest\n@pytest.mark.asyncio" + ASYNC
    assert project.test(marked, *arguments, "-o", "asyncio_mode=strict").outcomes == both
    project.write("pytest.ini", "[pytest]\n")
    ran = project.test(ASYNC, *arguments, "-p", "no:pytest_asyncio.plugin")
    assert ran.outcomes == both
    assert "AssertionError: bad failed: value 0.38; support passes from 0.7\n" in ran.out
    # What uses no fixture of judgekit is none of its business.
    other = "async def test_it():\n    pass\n"
    ran = project.test(other, "-p", "no:pytest_asyncio.plugin")
    assert "async def functions are not natively supported" in ran.out


def test_calibration_maps_decide_and_the_summary_says_so(project: Project) -> None:
    project.write("cases.jsonl", CASES)
    project.record(line("good", accuracy=5, tone=5), line("bad", accuracy=1, tone=4))
    with jk.Judge("recorded:replies.jsonl") as judge:
        maps = make_calibration(jk.load_rubric("support.yaml"), asked=judge.grader.configuration)
    jk.save_calibration(project.folder / "maps.json", maps)
    arguments = (*JUDGE, "--judgekit-cases=cases.jsonl", "-k", "good")
    assert "calibration  uncalibrated: " in project.test(EACH, *arguments).out
    ran = project.test(EACH, *arguments, "--judgekit-calibration=maps.json")
    assert ran.outcomes == {"failed": 1, "deselected": 1}
    assert "good failed: value 0.50" in ran.out
    assert "calibration  calibrated on 120 labels" in ran.out
    marker = "import pytest\n@pytest.mark.judge(min_pass=1)"
    ran = project.test(marker + EACH, *arguments, "--judgekit-calibration=maps.json")
    assert "min_pass and calibration contradict each other" in ran.out
