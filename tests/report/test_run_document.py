from __future__ import annotations

from dataclasses import replace

from judgekit.evaluation import GateResult, summarize_run
from judgekit.report import document_data, print_document, run_document, run_json
from judgekit.report.html import render_html
from tests.report.drawing import drawn, plain_console
from tests.report.test_run_view import result, run

SUMMARY = summarize_run([result(0), result(1, 0.0)], run())


def test_a_run_shows_what_passes_first_and_fits_into_80_columns() -> None:
    console = plain_console(80)
    print_document(console, run_document(SUMMARY))
    lines = drawn(console).splitlines()
    assert lines[1:3] == ["s: 2 cases", "v passed 1/2"]
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("run ") and "r1 (complete" in line for line in lines)


def test_a_gate_that_is_not_decided_is_the_conclusion() -> None:
    found = run_document(SUMMARY, GateResult(is_partial=True)).conclusion
    assert found.text == "Gate undecided. v passed 1/2"
    assert found.tone == "inconclusive"


def test_without_answers_nothing_is_concluded() -> None:
    empty = replace(SUMMARY, variants=())
    assert run_document(empty).conclusion.text == "No answers."


def test_a_run_has_a_page_and_the_same_data_as_its_json() -> None:
    made = run_document(SUMMARY)
    assert "<h1>s: 2 cases</h1>" in render_html(made)
    assert document_data(made) == run_json(SUMMARY)
