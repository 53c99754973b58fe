"""Writes a run's results to a file while they are read: whole, or a row for each judgment."""

from __future__ import annotations

import csv
import io
import json
import os
from contextlib import contextmanager, suppress
from itertools import islice
from math import fsum
from typing import IO, TYPE_CHECKING

from judgekit.datasets.formulas import neutralise
from judgekit.errors import StoreError
from judgekit.report.exports import check_suffix
from judgekit.store.texts import record_text, words_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from judgekit.records.check import Asked
    from judgekit.records.judgment import JudgeFailure, Judgment
    from judgekit.records.record import Record
    from judgekit.records.run import CaseResult

RUN_COLUMNS: Mapping[str, str] = {
    "run_id": "string", "place": "int64", "case_id": "string", "variant": "string",
    "repeat": "int64", "criterion": "string", "judge_repeat": "int64", "raw": "float64",
    "value": "float64", "rationale": "string", "evidence": "string", "evidence_found": "int64",
    "confidence": "float64", "expected_raw": "float64", "source": "string", "judge": "string",
    "model": "string", "cached": "bool_", "cost_usd": "float64", "failure_kind": "string",
    "failure_message": "string", "output_text": "string", "output_error": "string",
    "output_error_kind": "string", "input_tokens": "int64", "output_tokens": "int64",
    "output_cost_usd": "float64", "duration_ms": "float64", "checks_passed": "int64",
    "checks_failed": "int64", "checks_in_error": "int64", "checks_cost_usd": "float64",
    "tags": "string", "stratum": "string", "is_done": "bool_", "ran_at": "string",
}  # fmt: skip
"""The columns of CSV and Parquet files with their types; one row for each judgment and failure."""

_GROUP = 5000  # rows of Parquet held at a time
_LISTS = ("judgments", "failures", "checks", "scores")


def write_results(path: Path, results: Iterable[CaseResult]) -> int:
    """Write results to a file, its format chosen by the suffix; replaced as a whole or not at all."""
    # Memory does not grow with the number of results, and the same results make the same bytes.
    check_suffix(path)
    suffix = path.suffix.lower()
    n = [0]
    counted = _counted(results, n)
    with _replaced(path) as file:
        if suffix == ".jsonl":
            file.writelines(result_line(result).encode() for result in counted)
        elif suffix == ".json":
            file.writelines(line.encode() for line in _list_lines(counted))
        elif suffix == ".csv":
            _write_csv(file, counted)
        else:
            _write_parquet(file, counted)
    return n[0]


def result_line(result: CaseResult) -> str:
    """A result as one line of a JSONL file; `CaseResult.model_validate_json` reads it back."""
    fields = {
        "run_id": json.dumps(result.run_id),
        "place": str(result.place),
        "case": record_text(result.case),
        "variant": json.dumps(result.variant),
        "repeat": str(result.repeat),
        "output": record_text(result.output),
        **{name: _list_text(getattr(result, name)) for name in _LISTS},
        "is_done": json.dumps(result.is_done),
        "ran_at": "null" if result.ran_at is None else json.dumps(result.ran_at.isoformat()),
    }
    return "{" + ",".join(f'"{name}":{text}' for name, text in fields.items()) + "}\n"


def result_rows(result: CaseResult) -> list[dict[str, object]]:
    """A result as flat rows with the columns `RUN_COLUMNS`."""
    rows = [_judgment_row(judgment) for judgment in result.judgments]
    rows += [_failure_row(failure) for failure in result.failures]
    whole = _answer_row(result)
    return [{**dict.fromkeys(RUN_COLUMNS), **row, **whole} for row in rows or [{}]]


def _list_lines(results: Iterable[CaseResult]) -> Iterator[str]:
    """The lines of one JSON list, a result in each, so that none but the last is held."""
    before = "["
    for result in results:
        yield f"{before}\n{result_line(result).rstrip()}"
        before = ","
    yield "[]\n" if before == "[" else "\n]\n"


def _list_text(records: Sequence[Record]) -> str:
    return f"[{','.join(map(record_text, records))}]"


def _judgment_row(judgment: Judgment) -> dict[str, object]:
    return {
        "criterion": judgment.criterion,
        "judge_repeat": judgment.repeat,
        "raw": judgment.raw,
        "value": judgment.value,
        "rationale": judgment.rationale,
        "evidence": json.dumps([piece.quote for piece in judgment.evidence], ensure_ascii=False),
        "evidence_found": sum(piece.found for piece in judgment.evidence),
        "confidence": judgment.confidence,
        "expected_raw": judgment.expected_raw,
        "source": judgment.source,
        "judge": judgment.judge,
        "model": judgment.model,
        "cached": judgment.cached,
        "cost_usd": judgment.cost_usd,
    }


def _failure_row(failure: JudgeFailure) -> dict[str, object]:
    return {
        "criterion": failure.criterion,
        "judge_repeat": failure.repeat,
        "judge": failure.judge,
        "cached": failure.cached,
        "cost_usd": failure.cost_usd,
        "failure_kind": failure.kind,
        "failure_message": failure.message,
    }


def _answer_row(result: CaseResult) -> dict[str, object]:
    output, found = result.output, [check.passed for check in result.checks]
    usage = output.usage
    return {
        "run_id": result.run_id,
        "place": result.place,
        "case_id": result.case.id,
        "variant": result.variant,
        "repeat": result.repeat,
        "output_text": output.text,
        "output_error": output.error,
        "output_error_kind": output.error_kind,
        "input_tokens": None if usage is None else usage.input_tokens,
        "output_tokens": None if usage is None else usage.output_tokens,
        "output_cost_usd": None if usage is None else usage.cost_usd,
        "duration_ms": output.duration_ms,
        "checks_passed": found.count(True),
        "checks_failed": found.count(False),
        "checks_in_error": found.count(None),
        "checks_cost_usd": _checks_usd(result.asked),
        "tags": json.dumps(result.case.tags, ensure_ascii=False),
        "stratum": result.case.stratum,
        "is_done": result.is_done,
        "ran_at": None if result.ran_at is None else result.ran_at.isoformat(),
    }


def _checks_usd(asked: Sequence[Asked]) -> float | None:
    """What checks and scorers paid for vectors; None where nothing was asked, or no price known."""
    costs = [each.cost_usd for each in asked if each.cost_usd is not None]
    return fsum(costs) if asked and len(costs) == len(asked) else None


def _rows(results: Iterable[CaseResult]) -> Iterator[dict[str, object]]:
    """Rows whose texts any file can hold."""
    for result in results:
        for row in result_rows(result):
            yield {k: words_text(v) if isinstance(v, str) else v for k, v in row.items()}


def _write_csv(file: IO[bytes], results: Iterable[CaseResult]) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    # With other line ends the writer leaves a carriage return inside a cell without its quotes.
    writer = csv.DictWriter(text, RUN_COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    for row in _rows(results):
        writer.writerow({k: neutralise(v) if isinstance(v, str) else v for k, v in row.items()})
    text.detach()


def _write_parquet(file: IO[bytes], results: Iterable[CaseResult]) -> None:
    import pyarrow as pa  # noqa: PLC0415 - costs a second; only Parquet files need it
    import pyarrow.parquet as pq  # noqa: PLC0415

    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in RUN_COLUMNS.items()])
    rows = _rows(results)
    with pq.ParquetWriter(file, schema) as writer:
        while group := list(islice(rows, _GROUP)):
            writer.write_table(pa.Table.from_pylist(group, schema=schema))


@contextmanager
def _replaced(path: Path) -> Iterator[IO[bytes]]:
    """A file beside the path that takes its place when all went well."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            yield file
        beside.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
    finally:
        with suppress(OSError):  # it is in its place, or cannot be removed either
            beside.unlink()


def _counted(results: Iterable[CaseResult], numbers: list[int]) -> Iterator[CaseResult]:
    for result in results:
        numbers[0] += 1
        yield result
