"""Writes cases and result rows by strategy (S4.5), and what all formats of a run share."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import chain, count, islice
from typing import TYPE_CHECKING, Literal

from judgekit import assertions, evaluation, formats, records
from judgekit.atomic_write import atomic_writer, check_output_path, write_text_atomically
from judgekit.errors import InputError
from judgekit.formats import TYPED_SUFFIX, Format, write_csv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.assertions import StrategyOutcome
    from judgekit.evaluation import Outcome
    from judgekit.records import AssertionResult, Case, CaseResult, CaseSource, JsonObject, RunInfo
    from judgekit.store import RunStore


@dataclass(frozen=True, slots=True)
class RunFormat:
    """A format in which a run can be written; the module that writes it defines it."""

    name: str
    summary: str  # its content, for the help
    suffixes: tuple[str, ...]
    what: str  # its name in messages
    # Writes the answers; every file is replaced as a whole or not at all.
    writer: Callable[[Path, RunInfo, Iterable[Outcome]], object]
    # The same for a format that also has what a store knows beside the run.
    store_writer: Callable[[Path, RunInfo, Iterable[Outcome], RunStore], object] | None = None
    # Whether it can be written to a folder, with a file for each answer.
    may_be_folder: bool = False
    file_names: tuple[str, ...] = ()  # names of files that imply this format
    own_suffixes: tuple[str, ...] = ()  # suffixes that imply this format

    def check(self, path: Path) -> None:
        """Refuse a path it cannot be written to, before anything is read."""
        check_output_path(path, self.suffixes, what=self.what, may_be_folder=self.may_be_folder)

    def write(
        self, path: Path, run: RunInfo, answers: Iterable[Outcome], *, store: RunStore | None = None
    ) -> int:
        """Write the answers of a run, and return their number."""
        self.check(path)
        # An answer is taken before its number, so the next number says how many were written.
        numbers = count()
        counted = (answer for answer, _ in zip(answers, numbers, strict=False))
        if store is not None and self.store_writer is not None:
            self.store_writer(path, run, counted, store)
        else:
            self.writer(path, run, counted)
        return next(numbers)


def write_object(path: Path, item: JsonObject) -> None:
    """Write one object, as JSON or YAML by the suffix; replaced as a whole or not at all."""
    is_json = path.suffix.lower() == ".json"
    write_text_atomically(
        path, f"{encodable_json(item, indent=2)}\n" if is_json else formats.dump_yaml(item)
    )


def write_json_list(path: Path, items: Iterable[JsonObject], *, one_alone: bool = False) -> int:
    """Write objects to a file, one in memory at a time; replaced as a whole or not at all."""
    is_lines = path.suffix.lower() == ".jsonl"
    coming = iter(items)
    # Two are enough to know whether there is one alone.
    first = list(islice(coming, 2))
    if one_alone and len(first) == 1 and not is_lines:
        write_object(path, first[0])
        return 1
    n = 0
    with atomic_writer(path) as file:
        for item in chain(first, coming):
            if not is_lines:
                file.write(b",\n" if n else b"[\n")
            file.write(encodable_json(item, indent=None if is_lines else 2).encode())
            file.write(b"\n" if is_lines else b"")
            n += 1
        if not is_lines:
            file.write(b"\n]\n" if n else b"[]\n")
    return n


def encodable_json(item: JsonObject, *, indent: int | None = None) -> str:
    """An object as JSON that can be encoded as UTF-8."""
    # NaN and infinities are no JSON, and strict readers refuse the file.
    text = json.dumps(item, ensure_ascii=False, indent=indent, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        # A lone surrogate is written as an escape, which any reader takes.
        return json.dumps(item, indent=indent, allow_nan=False)
    return text


OWN_CASES = Format(
    "judgekit's own cases",
    lambda _: False,
    name="cases",
    summary="judgekit's own cases (.jsonl, .json, .yaml, .csv, .parquet)",
    suffixes=(".jsonl", ".json", ".yaml", ".yml", ".csv", ".parquet"),
)
_TABLES = (".csv", ".parquet")

_FIELDS = (
    "id", "name", "description", "input", "reference", "context", "tags", "stratum", "status",
    "agent", "skill", "prompt_version", "assertions", "rubric", "evaluation", "metadata",
    "transform", "variants",
)  # fmt: skip


def write_cases(path: Path, cases: CaseSource) -> None:
    """Write cases; the file is replaced as a whole or not at all."""
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        write_json_list(path, (case.to_json() for case in cases))
    elif suffix in _TABLES:
        # One pass for the columns, one for the rows: a table names its columns first.
        columns = case_columns(cases)
        rows = (_row(case, columns) for case in cases)
        with atomic_writer(path) as file:
            if suffix == ".parquet":
                formats.write_parquet(file, dict.fromkeys(columns, "string"), rows)
            else:
                write_csv(file, columns, rows, is_data=True)
    else:
        listed: list[JsonValue] = [case.to_json() for case in cases]
        whole: JsonObject = {"name": cases.name, "version": cases.version, "cases": listed}
        write_object(path, whole)


def case_columns(cases: Iterable[Case]) -> list[str]:
    """The columns of a table of cases: the fields that some case uses."""
    used, typed = {"id", "input"}, set()
    for case in cases:
        used |= case.model_dump(exclude_defaults=True).keys()
        for name in formats.VALUE_COLUMNS:
            value = getattr(case, name)
            # In a text column a number looks like its digits, and null like an empty cell.
            is_absent = value is None and name != "input"
            if not is_absent and (not isinstance(value, str) or value == ""):
                typed.add(name)
    return [f"{name}{TYPED_SUFFIX}" if name in typed else name for name in _FIELDS if name in used]


def _row(case: Case, columns: Sequence[str]) -> dict[str, str | None]:
    whole = case.to_json()
    row: dict[str, str | None] = {}
    for column in columns:
        name = column.removesuffix(TYPED_SUFFIX)
        text = _text(whole.get(name)) if whole.get(name) not in ([], {}) else None
        if name != column:
            text = json.dumps(whole[name], ensure_ascii=False) if name in whole else None
        row[column] = None if text is None else records.words_text(text)
    return row


STRATEGY_COLUMNS = (
    "testName", "testCaseId", "status", "strategy", "score", "rubricScores", "feedback", "output",
    "expectedOutput", "matchedPatterns", "schemaErrors", "durationMs", "createdAt", "runId",
    "variant", "repeat",
)  # fmt: skip
"""The fields of a row, in their order; the last three identify the answers of a run."""

StrategyStatus = Literal["passed", "failed", "error", "undecided"]


def strategy_row(answer: Outcome, run: RunInfo) -> JsonObject:
    result, case, outcome = answer.result, answer.result.case, answer.outcome
    output = result.output
    status: StrategyStatus = "undecided"
    if output.error is not None:
        status = "error"
    elif answer.passed is not None:
        status = "passed" if answer.passed else "failed"
    return {
        "testName": case.name or case.id,
        "testCaseId": case.id,
        "status": status,
        "strategy": _strategy(answer, run) if outcome is None else outcome.strategy,
        "score": answer.value,
        "rubricScores": _rubric_scores(answer, run),
        "feedback": _feedback(answer, outcome),
        "output": output.text if output.text is not None else _text(output.data),
        "expectedOutput": _text(case.reference),
        "matchedPatterns": [] if outcome is None else [*outcome.matched_patterns],
        "schemaErrors": [] if outcome is None else [*outcome.schema_errors],
        "durationMs": output.duration_ms,
        "createdAt": None if result.ran_at is None else result.ran_at.isoformat(),
        "runId": result.run_id,
        "variant": result.variant,
        "repeat": result.repeat,
    }


def _write_strategies(path: Path, run: RunInfo, answers: Iterable[Outcome]) -> None:
    rows = (strategy_row(answer, run) for answer in answers)
    if path.suffix.lower() != ".csv":
        write_json_list(path, rows)
        return
    cells = (
        {
            name: value
            if isinstance(value, int | float | None)
            else records.words_text(_text(value) or "")
            for name, value in row.items()
        }
        for row in rows
    )
    with atomic_writer(path) as file:
        write_csv(file, STRATEGY_COLUMNS, cells, is_data=True)


STRATEGIES = RunFormat(
    "strategies",
    "result rows with strategy, score and feedback (.json, .jsonl, .csv)",
    (".json", ".jsonl", ".csv"),
    "result rows",
    _write_strategies,
)


def _strategy(answer: Outcome, run: RunInfo) -> str:
    """The strategy of an answer whose case names none, or whose strategy could not run."""
    case = answer.result.case
    if case.evaluation is not None and case.evaluation.strategy is not None:
        return case.evaluation.strategy
    # Without a judge that asks a model, the rubric is not what decided.
    asks = any(judge != "heuristic" for judge in run.panel.judges)
    try:
        found = assertions.plan_evaluation(case, rubric=run.rubric if asks else None).strategy
    except InputError:
        found = None
    return found or "assertions"


def _rubric_scores(answer: Outcome, run: RunInfo) -> JsonValue:
    """Each criterion's score on its own scale and on [0, 1], with why."""
    rubric = evaluation.rubric_of_result(answer.result, run)
    if answer.verdict is None or rubric is None:
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


def _feedback(answer: Outcome, outcome: StrategyOutcome | None) -> str:
    output = answer.result.output
    if output.error is not None:
        return output.error
    if outcome is not None and outcome.feedback:
        return outcome.feedback
    failed = [
        one.message for one in checks_without_judgment(answer.result) if one.passed is not True
    ]
    return "\n".join([line for line in (evaluation.judge_feedback(answer.result), *failed) if line])


def _text(value: JsonValue) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def failure_reasons(answer: Outcome) -> list[str]:
    """Why an answer does not pass, or may not: assertions, then judges, else its strategy."""
    reasons = [
        f"{check.type or 'assertion'} "
        f"{'failed' if check.passed is False else 'could not be checked'}: {check.message}"
        for check in checks_without_judgment(answer.result)
        if check.passed is not True
    ]
    reasons += _judged(answer)
    # A score alone may decide a strategy, and was not measured where it is open without a judge.
    outcome = answer.outcome
    if not reasons and outcome is not None and answer.passed is not True:
        is_open = any(p.passed is None and p.strategy != "llm_judge" for p in outcome.parts)
        return [outcome.feedback] if is_open or answer.passed is False else []
    return reasons


def _judged(answer: Outcome) -> Iterator[str]:
    if answer.passed is False and answer.verdict is not None:
        for criterion in answer.verdict.criteria:
            if criterion.passed is False:
                must = ", required" if criterion.required else ""
                yield f"{criterion.name} {criterion.value:.3f} is below its pass mark{must}"
                for judgment in answer.result.judgments:
                    if judgment.criterion == criterion.name:
                        yield f"  {judgment.judge or judgment.source}: {judgment.rationale}"
    yield from (f"{one.criterion}: {one.kind}: {one.message}" for one in answer.result.failures)


def checks_without_judgment(result: CaseResult) -> tuple[AssertionResult, ...]:
    # A criterion judged by a rule repeats the words of its assertion.
    rationales = {one.rationale for one in result.judgments if one.source == "heuristic"}
    return tuple(check for check in result.checks if check.message not in rationales)
