from __future__ import annotations

from typing import Any

import pytest

from judgekit.evaluation import conclude_result
from judgekit.records import AssertionResult, CaseResult, RunInfo, RunPanel
from tests.evaluation.suites import NOW
from tests.factories import make_case, make_failure, make_judgment, make_output, make_rubric

RUBRIC = make_rubric("good", pass_threshold=0.5)


def run(**fields: Any) -> RunInfo:
    known = {"id": "r", "suite": "s", "started_at": NOW, "rubric": RUBRIC}
    return RunInfo(**{**known, "panel": RunPanel(judges=("j",)), **fields})


def result(**fields: Any) -> CaseResult:
    known = {"run_id": "r", "place": 0, "case": make_case(), "variant": "v"}
    return CaseResult(**{**known, "output": make_output(), "is_done": True, **fields})


def check(passed: bool | None, weight: float = 1.0) -> AssertionResult:  # noqa: FBT001
    error = "it raised" if passed is None else None
    return AssertionResult(passed=passed, message="so", type="t", weight=weight, error=error)


def test_an_answer_passes_when_its_rubric_and_every_assertion_do() -> None:
    found = conclude_result(
        result(judgments=(make_judgment("good", 0.6, judge="j"),), checks=(check(True),)), run()
    )
    assert (found.value, found.passed) == (0.6, True)
    assert found.verdict is not None
    assert found.verdict.rubric == "support"


@pytest.mark.parametrize(("passed", "expected"), [(False, False), (None, None)])
def test_an_assertion_that_does_not_hold_outweighs_the_rubric(
    passed: bool | None,  # noqa: FBT001
    expected: bool | None,  # noqa: FBT001
) -> None:
    judged = (make_judgment("good", 1.0, judge="j"),)
    found = conclude_result(result(judgments=judged, checks=(check(passed),)), run())
    assert (found.value, found.passed) == (1.0, expected)


def test_without_a_rubric_the_value_is_the_share_of_assertions() -> None:
    checks = (check(True, 3), check(False, 1))
    found = conclude_result(result(checks=checks), run(rubric=None, panel=RunPanel()))
    assert (found.verdict, found.value, found.passed) == (None, 0.75, False)


def test_a_rubric_nobody_was_asked_with_concludes_nothing() -> None:
    found = conclude_result(result(checks=(check(True),)), run(panel=RunPanel()))
    assert (found.verdict, found.passed) == (None, True)


def test_an_error_has_neither_value_nor_verdict_by_which_it_could_pass() -> None:
    failed = make_output(None, error="it broke", error_kind="exit")
    found = conclude_result(result(output=failed), run())
    assert (found.value, found.passed) == (None, None)
    assert found.verdict is not None
    assert found.verdict.error == "it broke"


def test_a_cases_own_rubric_comes_before_the_runs() -> None:
    own = make_rubric("other", name="own", pass_threshold=0.9)
    judged = (make_judgment("other", 0.8, judge="j"),)
    found = conclude_result(result(case=make_case(rubric=own), judgments=judged), run())
    assert found.verdict is not None
    assert (found.verdict.rubric, found.passed) == ("own", False)


def test_a_failure_that_could_decide_leaves_it_open() -> None:
    found = conclude_result(result(failures=(make_failure("good", judge="j"),)), run())
    assert (found.value, found.passed) == (None, None)


def test_confidence_is_of_each_judges_own_repeats() -> None:
    said = tuple(
        make_judgment("good", value, judge=judge, repeat=repeat)
        for judge, values in {"j": (0.0, 1.0), "k": (1.0, 1.0)}.items()
        for repeat, value in enumerate(values)
    )
    found = conclude_result(result(judgments=said), run(panel=RunPanel(judges=("j", "k"))))
    assert found.verdict is not None
    assert [j.repeat_confidence for j in found.verdict.judgments] == [0.0, 0.0, 1.0, 1.0]
