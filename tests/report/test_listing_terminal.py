from __future__ import annotations

from judgekit.evaluation import conclude_result
from judgekit.records import CaseResult, Output
from judgekit.report import (
    Conclusion,
    Document,
    answers_table,
    cases_table,
    judgments_table,
    print_document,
    runs_table,
)
from judgekit.report.document import Column, Table
from judgekit.store import StoredJudgment
from tests.factories import make_case, make_output
from tests.report.drawing import drawn, plain_console
from tests.store.observing import key, make_run, said


def cells(table: Table) -> list[list[str]]:
    """The rows of a table as a terminal shows them."""
    console = plain_console(140)
    print_document(console, Document("", Conclusion(""), (table,), dict))
    lines = [line for line in drawn(console).splitlines() if line.strip() and "──" not in line]
    return [[cell.strip() for cell in line.split("   ") if cell.strip()] for line in lines][1:]


def test_runs_show_status_cases_and_variants() -> None:
    runs = [make_run("run-1", "v1", "v2", n_cases=1200, status="waiting"), make_run("run-2")]
    assert cells(runs_table(runs)) == [
        ["run-1", "support", "2026-11-22 09:30", "waits for human labels", "1,200", "v1, v2"],
        ["run-2", "support", "2026-11-22 09:30", "running, or killed", "–", "v1"],
    ]


def test_answers_show_verdict_and_the_beginning_of_the_output() -> None:
    run = make_run()
    known = {"run_id": "run-1", "place": 0, "case": make_case(), "variant": "v1"}
    answers = [
        CaseResult(**known, output=make_output("Yes\x1b."), judgments=(said(), said("clarity"))),
        CaseResult(**known, output=Output(error="boom", run_id="ar-1"), repeat=1),
        CaseResult(**known, output=Output(data={"days": 3})),
    ]
    assert cells(answers_table([(run, conclude_result(each, run)) for each in answers])) == [
        ["run-1", "refund", "v1", "–", "pass", "1.00", "Yes\\x1b."],
        ["run-1", "refund", "v1 #2", "ar-1", "error", "–", "boom"],
        ["run-1", "refund", "v1", "–", "open", "–", '{ "days": 3 }'],
    ]


def test_cases_show_to_whom_they_belong_and_their_last_run() -> None:
    case = make_case(agent="desk", tags=("hard", "new"))
    assert cells(
        cases_table([(case, [make_run("run-2"), make_run("run-1")]), (make_case(id="b"), [])])
    ) == [["refund", "desk", "hard, new", "2", "run-2"], ["b", "–", "–", "0", "–"]]


def test_what_no_case_has_is_no_column() -> None:
    assert [one.name for one in cases_table([(make_case(), [])]).columns] == [
        "case", "runs", "last run"
    ]  # fmt: skip


def test_judgments_show_judge_score_and_reason() -> None:
    one = said(judge="", source="human", raw=4, value=0.75, rationale="Fine [red]then[/red].")
    assert cells(judgments_table([StoredJudgment("run-1", key(repeat=1), one)])) == [
        ["run-1", "refund", "v1 #2", "human", "4", "0.75", "Fine [red]then[/red]."]
    ]


LONG_RUN = "20261123T023800Z-support-replies-regression-nightly-ebbe"
LONG_VARIANT = "claude-sonnet-4-5-prompt-v12-temperature-0"


def lines_of(table: Table, width: int) -> list[str]:
    console = plain_console(width)
    print_document(console, Document("", Conclusion(""), (table,), dict))
    return [line.strip() for line in drawn(console).splitlines()]


def test_rows_with_long_ids_are_a_list_of_whole_ids() -> None:
    lines = lines_of(runs_table([make_run(LONG_RUN, LONG_VARIANT)]), 80)
    assert LONG_RUN in lines
    assert f"variants  {LONG_VARIANT}" in lines


def test_an_id_in_a_table_wraps_after_a_separator() -> None:
    columns = (Column("variant", "text", max_width=30), Column("value"))
    lines = lines_of(Table(columns, ((LONG_VARIANT, "0.75"),)), 80)
    assert lines[-2:] == ["claude-sonnet-4-5-prompt-v12-     0.75", "temperature-0"]
