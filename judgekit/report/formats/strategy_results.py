"""Writes a run as result rows of skill evaluations (S4.5): strategy, scores and why they are."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from typing import IO, TYPE_CHECKING, Literal

from judgekit.checks.strategies import plan_evaluation
from judgekit.datasets.formulas import neutralise
from judgekit.errors import InputError
from judgekit.records.rubric import Rubric
from judgekit.report.formats.listing import write_list
from judgekit.report.formats.strategy_outcomes import feedback, unsaid_checks
from judgekit.report.replacing import check_place, replaced
from judgekit.store.texts import words_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.checks.outcomes import StrategyOutcome
    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.records.record import JsonObject
    from judgekit.records.run import RunInfo

SUFFIXES = (".json", ".jsonl", ".csv")
"""The files rows can be written to."""

COLUMNS = (
    "testName", "testCaseId", "status", "strategy", "score", "rubricScores", "feedback", "output",
    "expectedOutput", "matchedPatterns", "schemaErrors", "durationMs", "createdAt", "runId",
    "variant", "repeat",
)  # fmt: skip
"""The fields of a row, in their order; the last three tell the answers of a run apart."""

Status = Literal["passed", "failed", "error", "undecided"]

check_results_place = partial(
    check_place, suffixes=SUFFIXES, what="result rows", may_be_folder=False
)
"""Refuses a path that rows cannot be written to."""


def strategy_row(answer: Concluded, run: RunInfo) -> JsonObject:
    """An answer as one result row."""
    result, case = answer.result, answer.result.case
    output = result.output
    outcome = answer.outcome
    matched: list[JsonValue] = []
    schema: list[JsonValue] = []
    if outcome is not None:
        matched, schema = [*outcome.matched_patterns], [*outcome.schema_errors]
    return {
        "testName": case.name or case.id,
        "testCaseId": case.id,
        "status": _status(answer),
        "strategy": _strategy(answer, run) if outcome is None else outcome.strategy,
        "score": answer.value,
        "rubricScores": _rubric_scores(answer, run),
        "feedback": _feedback(answer, outcome),
        "output": output.text if output.text is not None else _text(output.data),
        "expectedOutput": _text(case.reference),
        "matchedPatterns": matched,
        "schemaErrors": schema,
        "durationMs": output.duration_ms,
        "createdAt": None if result.ran_at is None else result.ran_at.isoformat(),
        "runId": result.run_id,
        "variant": result.variant,
        "repeat": result.repeat,
    }


def write_strategy_results(path: Path, run: RunInfo, answers: Iterable[Concluded]) -> int:
    """Write answers as result rows; the file is replaced as a whole or not at all."""
    check_results_place(path)
    rows = (strategy_row(answer, run) for answer in answers)
    if path.suffix.lower() != ".csv":
        return write_list(path, rows)
    with replaced(path) as file:
        return _write_csv(file, rows)


def _status(answer: Concluded) -> Status:
    if answer.result.output.error is not None:
        return "error"
    if answer.passed is None:
        return "undecided"
    return "passed" if answer.passed else "failed"


def _strategy(answer: Concluded, run: RunInfo) -> str:
    """The strategy of an answer whose case names none, or that could not be carried out."""
    case = answer.result.case
    if case.evaluation is not None:
        return case.evaluation.strategy
    asks = any(judge != "heuristic" for judge in run.panel.judges)
    try:
        found = plan_evaluation(case, rubric=run.rubric if asks else None).strategy
    except InputError:
        found = None
    return found or "assertions"


def _rubric_scores(answer: Concluded, run: RunInfo) -> JsonValue:
    """Each criterion's score on its own scale and on [0, 1], with why."""
    if answer.verdict is None:
        return None
    own = answer.result.case.rubric
    rubric = own if isinstance(own, Rubric) else run.rubric
    if rubric is None:  # pragma: no cover - then there is no verdict
        return None
    found: JsonObject = {}
    for criterion in answer.verdict.criteria:
        scale = rubric.criterion(criterion.name).scale
        value = criterion.value
        why = [j.rationale for j in answer.verdict.judgments if j.criterion == criterion.name]
        found[criterion.name] = {
            "score": None if value is None else scale.min + value * (scale.max - scale.min),
            "min": scale.min,
            "max": scale.max,
            "value": value,
            "passed": criterion.passed,
            "feedback": "\n".join(why) or None,
        }
    return found


def _feedback(answer: Concluded, outcome: StrategyOutcome | None) -> str:
    output = answer.result.output
    if output.error is not None:
        return output.error
    if outcome is not None and outcome.feedback:
        return outcome.feedback
    failed = [one.message for one in unsaid_checks(answer.result) if one.passed is not True]
    return "\n".join([line for line in (feedback(answer), *failed) if line])


def _text(value: JsonValue) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _write_csv(file: IO[bytes], rows: Iterable[JsonObject]) -> int:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    # With other line ends the writer leaves a carriage return inside a cell without its quotes.
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    n = 0
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in row.items()})
        n += 1
    text.detach()
    return n


def _cell(value: JsonValue) -> str | float | None:
    if value is None or isinstance(value, int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return neutralise(words_text(text))
