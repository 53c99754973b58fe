"""Writes cases (JSONL, CSV, Parquet, documents) and result rows by strategy (S4.5).

Also what other forms of a run share: lists of objects, and the reasons why an output failed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Literal

from judgekit.assertions import plan_evaluation
from judgekit.atomic_write import atomic_writer, check_output_path, write_text_atomically
from judgekit.errors import InputError
from judgekit.evaluation import judge_feedback
from judgekit.formats import (
    TYPED_SUFFIX,
    VALUE_COLUMNS,
    dump_yaml,
    require_pyarrow,
    write_csv,
    write_parquet,
)
from judgekit.records import Rubric, words_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.assertions import StrategyOutcome
    from judgekit.evaluation import Outcome
    from judgekit.records import AssertionResult, Case, CaseResult, CaseSource, JsonObject, RunInfo


@dataclass(frozen=True, slots=True)
class RunFormat:
    """A form in which a run can be written; the module that writes it defines it."""

    name: str
    """Its name for `export --format`."""

    summary: str
    """What stands in it, for the help."""

    suffixes: tuple[str, ...]
    """The endings of files it can be written to."""

    what: str
    """What a message calls it."""

    write: Callable[[Path, RunInfo, Iterable[Outcome]], int]
    """Writes the answers, replacing the file as a whole or not at all, and says how many."""

    may_be_folder: bool = False
    """Whether it can be written to a folder, with a file for each answer."""

    file_names: tuple[str, ...] = ()
    """Names of files that mean this form."""

    own_suffixes: tuple[str, ...] = ()
    """Endings of files that mean this form."""

    def check(self, path: Path) -> None:
        """Refuse a path it cannot be written to, before anything is read."""
        check_output_path(path, self.suffixes, what=self.what, may_be_folder=self.may_be_folder)


def write_json_list(path: Path, items: Iterable[JsonObject], *, one_alone: bool = False) -> int:
    """Write objects to a file, one in memory at a time; replaced as a whole or not at all."""
    is_lines = path.suffix.lower() == ".jsonl"
    coming = iter(items)
    first = list(islice(coming, 2))
    if one_alone and len(first) == 1 and not is_lines:
        write_text_atomically(path, f"{encodable_json(first[0], indent=2)}\n")
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
    text = json.dumps(item, ensure_ascii=False, indent=indent, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(item, indent=indent, allow_nan=False)
    return text


CASE_SUFFIXES = (".jsonl", ".json", ".yaml", ".yml", ".csv", ".parquet")
"""The files cases can be written to."""

_TABLES = (".csv", ".parquet")

_FIELDS = (
    "id", "name", "description", "input", "reference", "context", "tags", "stratum", "status",
    "agent", "skill", "prompt_version", "assertions", "rubric", "evaluation", "metadata",
)  # fmt: skip


def write_cases(path: Path, cases: CaseSource) -> None:
    """Write cases; the file is replaced as a whole or not at all."""
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        write_json_list(path, (case.to_json() for case in cases))
    elif suffix in _TABLES:
        _write_table(path, cases, case_columns(cases))
    else:
        _write_document(path, cases)


def case_columns(cases: Iterable[Case]) -> list[str]:
    """The columns of a table of cases: the fields that some case uses."""
    used, typed = {"id", "input"}, set()
    for case in cases:
        used |= case.model_dump(exclude_defaults=True).keys()
        typed |= {name for name in VALUE_COLUMNS if not _is_plain(case, name)}
    return [f"{name}{TYPED_SUFFIX}" if name in typed else name for name in _FIELDS if name in used]


def _is_plain(case: Case, name: str) -> bool:
    """Whether a cell can hold the value as it is; an empty one says that there is none."""
    value = getattr(case, name)
    return (isinstance(value, str) and value != "") or (value is None and name != "input")


def _write_document(path: Path, cases: CaseSource) -> None:
    listed: list[JsonValue] = [case.to_json() for case in cases]
    whole: JsonObject = {"name": cases.name, "version": cases.version, "cases": listed}
    if path.suffix.lower() == ".json":
        write_text_atomically(path, encodable_json(whole, indent=2) + "\n")
    else:
        write_text_atomically(path, dump_yaml(whole))


def _write_table(path: Path, cases: Iterable[Case], columns: Sequence[str]) -> None:
    rows = (_row(case, columns) for case in cases)
    if path.suffix.lower() == ".parquet":
        require_pyarrow()
        with atomic_writer(path) as file:
            write_parquet(file, dict.fromkeys(columns, "string"), rows)
        return
    with atomic_writer(path) as file:
        write_csv(file, columns, rows)


def _row(case: Case, columns: Sequence[str]) -> dict[str, str | None]:
    whole = case.to_json()
    row: dict[str, str | None] = {}
    for column in columns:
        name = column.removesuffix(TYPED_SUFFIX)
        if name == column:
            row[name] = _case_cell(whole.get(name))
        elif name in whole:
            row[column] = words_text(json.dumps(whole[name], ensure_ascii=False))
        else:
            row[column] = None
    return row


def _case_cell(value: JsonValue) -> str | None:
    if value is None or value in ([], {}):
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return words_text(text)


STRATEGY_COLUMNS = (
    "testName", "testCaseId", "status", "strategy", "score", "rubricScores", "feedback", "output",
    "expectedOutput", "matchedPatterns", "schemaErrors", "durationMs", "createdAt", "runId",
    "variant", "repeat",
)  # fmt: skip
"""The fields of a row, in their order; the last three tell the answers of a run apart."""

StrategyStatus = Literal["passed", "failed", "error", "undecided"]


def strategy_row(answer: Outcome, run: RunInfo) -> JsonObject:
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


def write_strategy_results(path: Path, run: RunInfo, answers: Iterable[Outcome]) -> int:
    """Write answers as result rows; the file is replaced as a whole or not at all."""
    STRATEGIES.check(path)
    rows = (strategy_row(answer, run) for answer in answers)
    if path.suffix.lower() != ".csv":
        return write_json_list(path, rows)
    cells = ({name: _strategy_cell(value) for name, value in row.items()} for row in rows)
    with atomic_writer(path) as file:
        return write_csv(file, STRATEGY_COLUMNS, cells)


STRATEGIES = RunFormat(
    "strategies",
    "result rows with strategy, score and feedback (.json, .jsonl, .csv)",
    (".json", ".jsonl", ".csv"),
    "result rows",
    write_strategy_results,
)


def _status(answer: Outcome) -> StrategyStatus:
    if answer.result.output.error is not None:
        return "error"
    if answer.passed is None:
        return "undecided"
    return "passed" if answer.passed else "failed"


def _strategy(answer: Outcome, run: RunInfo) -> str:
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


def _rubric_scores(answer: Outcome, run: RunInfo) -> JsonValue:
    """Each criterion's score on its own scale and on [0, 1], with why."""
    if answer.verdict is None:
        return None
    rubric = rubric_of_result(answer, run)
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


def _feedback(answer: Outcome, outcome: StrategyOutcome | None) -> str:
    output = answer.result.output
    if output.error is not None:
        return output.error
    if outcome is not None and outcome.feedback:
        return outcome.feedback
    failed = [
        one.message for one in checks_without_judgment(answer.result) if one.passed is not True
    ]
    return "\n".join([line for line in (judge_comments(answer), *failed) if line])


def _text(value: JsonValue) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _strategy_cell(value: JsonValue) -> str | float | None:
    if value is None or isinstance(value, int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return words_text(text)


def rubric_of_result(answer: Outcome, run: RunInfo) -> Rubric | None:
    """What an answer is judged by: its case's own rubric, else the suite's."""
    own = answer.result.case.rubric
    return own if isinstance(own, Rubric) else run.rubric


def failure_reasons(answer: Outcome) -> list[str]:
    """Why an answer does not pass, or may not: assertions, then judges, else its strategy."""
    said = [*_checked(answer), *_judged(answer)]
    if not said and answer.passed is False and answer.outcome is not None:
        return [answer.outcome.feedback]
    return said


def _checked(answer: Outcome) -> Iterator[str]:
    for check in checks_without_judgment(answer.result):
        if check.passed is not True:
            state = "failed" if check.passed is False else "could not be checked"
            yield f"{check.type or 'assertion'} {state}: {check.message}"


def _judged(answer: Outcome) -> Iterator[str]:
    if answer.passed is False and answer.verdict is not None:
        for criterion in answer.verdict.criteria:
            if criterion.passed is False:
                must = ", required" if criterion.required else ""
                yield f"{criterion.name} {criterion.value:.3f} is below its pass mark{must}"
                yield from _rationales(criterion.name, answer)
    yield from (f"{one.criterion}: {one.kind}: {one.message}" for one in answer.result.failures)


def _rationales(criterion: str, answer: Outcome) -> Iterator[str]:
    for judgment in answer.result.judgments:
        if judgment.criterion == criterion:
            yield f"  {judgment.judge or judgment.source}: {judgment.rationale}"


def judge_comments(answer: Outcome) -> str:
    """What the judges said of an answer."""
    return judge_feedback(answer.result)


def checks_without_judgment(result: CaseResult) -> tuple[AssertionResult, ...]:
    """What assertions found that no judgment says already."""
    said = {one.rationale for one in result.judgments if one.source == "heuristic"}
    return tuple(check for check in result.checks if check.message not in said)
