from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judgekit.evaluation import GateResult, Outcome, conclude_result, summarize_run
from judgekit.records import AssertionResult, Output, Variant
from judgekit.report import (
    Conclusion,
    Document,
    Entries,
    RunAnswers,
    answer_entry,
    document_data,
    print_document,
    run_document,
    run_json,
)
from judgekit.report.html import render_html
from tests.factories import make_failure, make_judgment
from tests.report.drawing import drawn, plain_console
from tests.report.test_run_view import result, run

if TYPE_CHECKING:
    from judgekit.report.document import Block

SUMMARY = summarize_run([result(0), result(1, 0.0)], run())


def concluded(place: int, value: float | None, **fields: Any) -> Outcome:
    return conclude_result(result(place, value, **fields), run())


def printed(*blocks: Block, verbose: bool = False) -> str:
    console = plain_console(100)
    document = Document("", Conclusion(""), blocks, dict)
    print_document(console, document, verbose=verbose)
    return drawn(console).strip()


def shown(answer: Outcome) -> str:
    return printed(Entries((answer_entry(answer),)))


def test_the_weakest_answers_are_shown_worst_first() -> None:
    answers = RunAnswers(run(), most=2)
    for place, value in enumerate((0.5, 1.0, 0.0, 0.25)):
        answers.take(concluded(place, value))
    text = printed(*answers.blocks())
    assert "Not passed  2 of 3; all with -v" in text
    assert text.index("c2") < text.index("c3")
    assert "c0" not in text


def test_of_several_tries_the_last_is_listed_and_of_repeats_all_are() -> None:
    for repeats, listed in ((1, ["c1, v #2"]), (2, ["c0, v,", "c1, v,", "c1, v #2"])):
        answers = RunAnswers(run(config={"settings": {"repeats": repeats}}))
        for place, repeat, value in ((0, 0, 0.0), (0, 1, 1.0), (1, 0, 0.0), (1, 1, 0.25)):
            answers.take(concluded(place, value, repeat=repeat))
        text = printed(*answers.blocks())
        found = [one for one in ("c0, v,", "c0, v #2", "c1, v,", "c1, v #2") if one in text]
        assert found == listed


def test_errors_and_what_is_not_judged_to_the_end_are_no_weak_answers() -> None:
    answers = RunAnswers(run())
    answers.take(concluded(0, None, output=Output(error="it broke")))
    answers.take(concluded(1, None, is_done=False))
    assert printed(*answers.blocks()) == ""


def test_an_answer_is_shown_with_what_failed_and_what_judges_say() -> None:
    checks = (
        AssertionResult(passed=False, message="too long", type="text.word_count"),
        AssertionResult(passed=None, message="so", type="regex", error="it took too long"),
        AssertionResult(passed=True, message="fine", type="contains"),
    )
    text = shown(concluded(0, 0.25, checks=checks, repeat=1))
    assert "fail  c0, v #2, 0.25" in text
    assert "text.word_count fails: too long" in text
    assert "regex error: it took too long" in text
    assert "contains" not in text
    assert "It says so." in text


def test_what_the_assertions_say_as_a_judge_is_not_shown_twice() -> None:
    own: dict[str, Any] = {"judge": "heuristic"}
    repeated = make_judgment("good", 0.0, source="heuristic", rationale="too long", **own)
    check = AssertionResult(passed=False, message="too long", type="text.word_count")
    failed = make_failure("good", message="it took too long", **own)
    fields: dict[str, Any] = {"checks": (check,), "judgments": (repeated,), "failures": (failed,)}
    text = shown(concluded(0, None, **fields))
    assert text.count("too long") == 1


def test_an_error_is_shown_with_its_message() -> None:
    text = shown(concluded(0, None, output=Output(error="it\x1b broke")))
    assert "no output: it" in text
    assert "\x1b" not in text


def test_the_title_says_what_passes() -> None:
    summary = summarize_run([result(0), result(1, 0.0)], run())
    assert run_document(summary).title == "s: 2 cases; support passes from 0.7"
    bare = summarize_run([], run(rubric=None, n_cases=None))
    assert run_document(bare).title == "s: 0 cases"


def test_a_run_shows_what_passes_first_and_fits_into_80_columns() -> None:
    console = plain_console(80)
    print_document(console, run_document(SUMMARY))
    lines = drawn(console).splitlines()
    assert lines[1:3] == ["s: 2 cases; support passes from 0.7", "v passed 1/2"]
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("run ") and "r1 (complete" in line for line in lines)


def test_a_gate_that_is_not_decided_is_the_conclusion() -> None:
    conclusion = run_document(SUMMARY, GateResult(is_partial=True)).conclusion
    assert conclusion.text == "Gate undecided. v passed 1/2"
    assert conclusion.tone == "inconclusive"


def test_without_answers_nothing_is_concluded() -> None:
    empty = replace(SUMMARY, variants=())
    assert run_document(empty).conclusion.text == "No answers."


def test_where_nothing_was_decided_the_conclusion_says_so() -> None:
    conclusion = run_document(summarize_run([result(0, None)], run())).conclusion
    assert conclusion == Conclusion("Nothing was decided: v passed 0/0 +1?", "inconclusive")


def test_of_many_variants_the_conclusion_names_the_worst_and_the_best() -> None:
    names = ("a", "b", "c", "d")
    results = [result(0, float(name != "c"), variant=name) for name in names[:3]]
    variants = tuple(Variant(id=name) for name in names)
    conclusion = run_document(summarize_run(results, run(variants=variants))).conclusion
    assert conclusion.text == "4 variants; passed from c 0/1 to b 1/1"


def test_all_answers_are_details_and_the_worst_are_not() -> None:
    answers = RunAnswers(run(), lists_all=True)
    for place, value in enumerate((1.0, 0.0)):
        answers.take(concluded(place, value))
    assert "c0" not in printed(*answers.blocks())
    assert "pass  c0, v, 1.00" in printed(*answers.blocks(), verbose=True)


def test_a_run_has_a_page_and_the_same_data_as_its_json() -> None:
    document = run_document(SUMMARY)
    assert "<h1>s: 2 cases; support passes from 0.7</h1>" in render_html(document)
    assert document_data(document) == run_json(SUMMARY)


def test_json_has_null_where_nothing_is_known() -> None:
    found: dict[str, Any] = run_json(summarize_run([], run()))
    assert found["variants"][0]["pass_rate"]["value"] is None
    assert found["run"]["id"] == "r1"
