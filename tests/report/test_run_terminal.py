from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from judgekit.evaluation import Outcome, conclude_result, summarize_run
from judgekit.records import AssertionResult, Output
from judgekit.report import WorstAnswers, answer_lines, print_run, run_json
from tests.factories import make_failure, make_judgment
from tests.report.test_run_view import result, run


def concluded(place: int, value: float | None, **fields: Any) -> Outcome:
    return conclude_result(result(place, value, **fields), run())


def printed(*things: Any) -> str:
    console = Console(file=io.StringIO(), width=100)
    for thing in things:
        thing.show(console) if isinstance(thing, WorstAnswers) else console.print(thing)
    file = console.file
    assert isinstance(file, io.StringIO)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def test_the_weakest_answers_are_shown_worst_first() -> None:
    weakest = WorstAnswers(2)
    for place, value in enumerate((0.5, 1.0, 0.0, 0.25)):
        weakest.take(concluded(place, value))
    shown = printed(weakest)
    assert "Not passed (2 of 3; all with -v)" in shown
    assert shown.index("c2") < shown.index("c3")
    assert "c0" not in shown


def test_errors_and_what_is_not_judged_to_the_end_are_no_weak_answers() -> None:
    weakest = WorstAnswers()
    weakest.take(concluded(0, None, output=Output(error="it broke")))
    weakest.take(concluded(1, None, is_done=False))
    assert printed(weakest) == ""


def test_an_answer_is_shown_with_what_failed_and_what_judges_said() -> None:
    checks = (
        AssertionResult(passed=False, message="too long", type="text.word_count"),
        AssertionResult(passed=None, message="so", type="regex", error="it took too long"),
        AssertionResult(passed=True, message="fine", type="contains"),
    )
    shown = printed(answer_lines(concluded(0, 0.25, checks=checks, repeat=1)))
    assert "fail  c0  v #2  0.25" in shown
    assert "text.word_count fails  too long" in shown
    assert "regex error  it took too long" in shown
    assert "contains" not in shown
    assert "It says so." in shown


def test_what_the_assertions_say_as_a_judge_is_not_said_twice() -> None:
    own: dict[str, Any] = {"judge": "heuristic"}
    said = make_judgment("good", 0.0, source="heuristic", rationale="too long", **own)
    check = AssertionResult(passed=False, message="too long", type="text.word_count")
    failed = make_failure("good", message="it took too long", **own)
    fields: dict[str, Any] = {"checks": (check,), "judgments": (said,), "failures": (failed,)}
    shown = printed(answer_lines(concluded(0, None, **fields)))
    assert shown.count("too long") == 1


def test_an_error_is_shown_with_its_message() -> None:
    shown = printed(answer_lines(concluded(0, None, output=Output(error="it\x1b broke"))))
    assert "no output: it" in shown
    assert "\x1b" not in shown


def test_the_table_says_what_passes() -> None:
    summary = summarize_run([result(0), result(1, 0.0)], run())
    console = Console(file=io.StringIO(), width=100)
    print_run(console, summary)
    assert isinstance(console.file, io.StringIO)
    assert "s: 2 cases; support passes from 0.7" in console.file.getvalue()
    bare = summarize_run([], run(rubric=None, n_cases=None))
    print_run(console, bare)
    titles = [line.strip() for line in console.file.getvalue().splitlines()]
    assert "s: 0 cases" in titles


def test_json_has_null_where_nothing_is_known() -> None:
    found: dict[str, Any] = run_json(summarize_run([], run()))
    assert found["variants"][0]["pass_rate"]["value"] is None
    assert found["run"]["id"] == "r1"
