"""Runs as pages for tests: answers in, a case table or a page out."""

from __future__ import annotations

import gzip
import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

from judgekit.evaluation import conclude_result, summarize_run
from judgekit.records import CaseResult, Evidence, Judgment, Output, RunInfo, RunPanel, Variant
from judgekit.report import RunCases, judging_and_cost, run_document, write_document
from tests.evaluation.suites import NOW
from tests.factories import make_case, make_judgment, make_rubric

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from judgekit.report import CaseTable, JudgeReplies

JUDGE = "openai/m pointwise/default@1"


def make_run(*variants: str, **fields: Any) -> RunInfo:
    """A run of the variants named, `v1` without any, that one judge judged by `accuracy`."""
    known: dict[str, Any] = {
        "id": "r1", "suite": "support", "started_at": NOW, "rubric": make_rubric(), "n_cases": 2,
        "panel": RunPanel(judges=(JUDGE,)), "status": "complete",
        "variants": tuple(Variant(id=name) for name in variants or ("v1",)),
    }  # fmt: skip
    return RunInfo(**known | fields)


def judged(value: float = 1.0, criterion: str = "accuracy", **fields: Any) -> Judgment:
    """A judgment by the judge of the run."""
    return make_judgment(criterion, value, **{"judge": JUDGE} | fields)


def make_result(place: int = 0, *judgments: Judgment, **fields: Any) -> CaseResult:
    """An answer with its judgments."""
    known: dict[str, Any] = {
        "run_id": "r1", "place": place, "case": make_case(id=f"case-{place}"), "variant": "v1",
        "output": Output(text="Yes, within 30 days."), "judgments": judgments, "is_done": True,
    }  # fmt: skip
    return CaseResult(**known | fields)


def quote(text: str, of: str, **fields: Any) -> Evidence:
    """A passage of a text, with its place in it."""
    start = of.index(text)
    return Evidence(quote=text, match="exact", start=start, end=start + len(text), **fields)


def case_table(
    results: Iterable[CaseResult], run: RunInfo | None = None, replies: JudgeReplies | None = None
) -> CaseTable:
    """The case table of a run with these answers."""
    run = run or make_run()
    cases = RunCases(run, replies)
    for result in results:
        cases.take(conclude_result(result, run))
    return cases.table()


def full_cases(table: CaseTable) -> list[Any]:
    """The cases of a table in full."""
    return [row for chunk in table.chunks for row in json.loads(gzip.decompress(chunk))]


def only_answer(table: CaseTable) -> Any:
    """The only answer of the only case of a table, in full."""
    (row,) = full_cases(table)
    (answer,) = row["answers"]
    return answer


def filters_of(table: CaseTable) -> list[list[str]]:
    """The filters that each row belongs to."""
    index: Any = table.index
    return [[f["key"] for f in index["filters"] if mask & f["bit"]] for mask in index["masks"]]


def write_run_page(
    path: Path,
    results: Sequence[CaseResult],
    run: RunInfo | None = None,
    replies: JudgeReplies | None = None,
) -> Path:
    """A file with the page of a run, as `judgekit run -o` writes it."""
    ordered = sorted(results, key=lambda one: one.place)
    n_cases = sum(1 for _ in groupby(ordered, key=lambda one: one.place))
    run = (run or make_run()).model_copy(update={"n_cases": n_cases})
    summary = summarize_run(ordered, run)
    cases = RunCases(run, replies)
    for result in ordered:
        cases.take(conclude_result(result, run))
    table = cases.table(about=judging_and_cost(summary))
    write_document(path, run_document(summary, answers=(table,)))
    return path
