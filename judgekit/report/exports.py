"""Writes verdicts, run results and comparisons to data files: JSONL and JSON in full, CSV.

Parquet with a row for each judgment.
"""

from __future__ import annotations

import csv
import io
import json
from contextlib import contextmanager
from itertools import islice
from math import fsum
from pathlib import Path
from typing import IO, TYPE_CHECKING

from judgekit.atomic_write import atomic_writer, check_output_path
from judgekit.errors import SettingsError
from judgekit.formats import escape_formula
from judgekit.records import record_text, words_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import ModuleType

    from judgekit.records import (
        CaseResult,
        Comparison,
        JsonObject,
        JudgeFailure,
        Judgment,
        Record,
        Verdict,
    )

EXPORT_SUFFIXES = (".jsonl", ".json", ".csv", ".parquet")
"""The file types results can be written to."""

VERDICT_COLUMNS: Mapping[str, str] = {
    "case_id": "string", "variant": "string", "criterion": "string", "repeat": "int64",
    "raw": "float64", "value": "float64", "criterion_passed": "bool_", "rationale": "string",
    "evidence": "string", "evidence_found": "int64", "confidence": "float64",
    "expected_raw": "float64", "source": "string", "judge": "string", "model": "string",
    "cached": "bool_", "cost_usd": "float64", "failure_kind": "string",
    "failure_message": "string", "verdict_value": "float64", "verdict_passed": "bool_",
}  # fmt: skip
"""The columns of CSV and Parquet files with their types; one row for each judgment or failure."""

_VERDICT_LISTS = {"judgments", "failures"}
_OPTIONAL = ("uncalibrated", "asked")
"""Fields that are left out where they are None: few verdicts have them."""


def check_export_suffix(path: Path) -> None:
    """Refuse a file type that cannot be written, before anything is asked."""
    if path.suffix.lower() not in EXPORT_SUFFIXES:
        raise SettingsError(
            f"cannot write {path.name}: its suffix is {path.suffix or 'missing'}",
            hint=f"use one of {', '.join(EXPORT_SUFFIXES)}",
        )
    if not path.absolute().parent.is_dir():
        raise SettingsError(f"cannot write {path}: there is no folder {path.parent}")
    # A missing package is found before a judge is paid, not when the results are written.
    if path.suffix.lower() == ".parquet":
        _pyarrow()


def write_verdicts(path: Path, verdicts: Sequence[Verdict]) -> None:
    """Write verdicts to a file, its format chosen by the suffix.

    Replaced as a whole or not at all.
    """
    check_export_suffix(path)
    suffix = path.suffix.lower()
    with atomic_writer(path) as file:
        if suffix == ".jsonl":
            file.writelines(verdict_line(verdict).encode() for verdict in verdicts)
        elif suffix == ".json":
            whole = [verdict_json(verdict) for verdict in verdicts]
            file.write((json.dumps(whole, ensure_ascii=False, indent=2) + "\n").encode())
        else:
            write = _write_csv if suffix == ".csv" else _write_parquet
            write(file, VERDICT_COLUMNS, iter(verdict_rows(verdicts)))


def verdict_json(verdict: Verdict) -> JsonObject:
    """A verdict as JSON types; `Verdict.model_validate` reads it back."""
    whole: JsonObject = verdict.model_dump(mode="json", exclude=_written_apart(verdict))
    whole["judgments"] = [judgment.to_json() for judgment in verdict.judgments]
    whole["failures"] = [failure.to_json() for failure in verdict.failures]
    return whole


def verdict_line(verdict: Verdict) -> str:
    """A verdict as one line of a JSONL file: `verdict_json`, written three times as fast."""
    whole = verdict.model_dump_json(exclude=_written_apart(verdict))
    judgments = ",".join([each.model_dump_json(exclude_none=True) for each in verdict.judgments])
    failures = ",".join([each.model_dump_json(exclude_none=True) for each in verdict.failures])
    return f'{whole[:-1]},"judgments":[{judgments}],"failures":[{failures}]}}\n'


def _written_apart(verdict: Verdict) -> set[str]:
    """The fields that are written by themselves, and optional ones that are None."""
    return _VERDICT_LISTS | {name for name in _OPTIONAL if getattr(verdict, name) is None}


def verdict_rows(verdicts: Sequence[Verdict]) -> list[dict[str, object]]:
    """Verdicts as flat rows with the columns `VERDICT_COLUMNS`."""
    rows = []
    for verdict in verdicts:
        passed = {criterion.name: criterion.passed for criterion in verdict.criteria}
        of_verdict = [
            {**_judgment_row(one, repeat="repeat"), "criterion_passed": passed[one.criterion]}
            for one in verdict.judgments
        ]
        of_verdict += [_failure_row(failure, repeat="repeat") for failure in verdict.failures]
        # An output that records an error has no judgment, and would be missing from the table.
        if not of_verdict:
            of_verdict = [{"failure_kind": "target_error", "failure_message": verdict.error}]
        whole = {
            "case_id": verdict.case_id,
            "variant": verdict.variant,
            "verdict_value": verdict.value,
            "verdict_passed": verdict.passed,
        }
        rows += [{**dict.fromkeys(VERDICT_COLUMNS), **row, **whole} for row in of_verdict]
    return rows


def _pyarrow() -> ModuleType:
    try:
        import pyarrow as pa  # noqa: PLC0415 - costs a second; only Parquet files need it
    except ImportError as error:
        raise SettingsError(
            "Parquet files need pyarrow, which is not installed",
            hint='pip install "judgekit-llm[parquet]", or write .jsonl or .csv',
        ) from error
    module: ModuleType = pa
    return module


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

# Rows of Parquet in memory at a time: a run may be larger than memory.
_GROUP = 5000
_RESULT_LISTS = ("judgments", "failures", "checks", "scores")


def write_results(path: Path, results: Iterable[CaseResult]) -> int:
    """Write results to a file, its format chosen by the suffix.

    Replaced as a whole or not at all.
    """
    # Memory does not grow with the number of results, and the same results make the same bytes.
    check_export_suffix(path)
    suffix = path.suffix.lower()
    n = [0]
    counted = _counted(results, n)
    with atomic_writer(path) as file:
        if suffix == ".jsonl":
            file.writelines(result_line(result).encode() for result in counted)
        elif suffix == ".json":
            file.writelines(line.encode() for line in _list_lines(counted))
        else:
            rows = (row for result in counted for row in case_result_rows(result))
            write = _write_csv if suffix == ".csv" else _write_parquet
            write(file, RUN_COLUMNS, rows)
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
        **{name: _list_text(getattr(result, name)) for name in _RESULT_LISTS},
        "is_done": json.dumps(result.is_done),
        "ran_at": "null" if result.ran_at is None else json.dumps(result.ran_at.isoformat()),
    }
    return "{" + ",".join(f'"{name}":{text}' for name, text in fields.items()) + "}\n"


def case_result_rows(result: CaseResult) -> list[dict[str, object]]:
    """A result as flat rows with the columns `RUN_COLUMNS`."""
    rows = [_judgment_row(judgment) for judgment in result.judgments]
    rows += [_failure_row(failure) for failure in result.failures]
    whole = _answer_row(result)
    return [{**dict.fromkeys(RUN_COLUMNS), **row, **whole} for row in rows or [{}]]


def _list_lines(results: Iterable[CaseResult]) -> Iterator[str]:
    """The lines of one JSON list, a result in each; only one result is in memory at a time."""
    before = "["
    for result in results:
        yield f"{before}\n{result_line(result).rstrip()}"
        before = ","
    yield "[]\n" if before == "[" else "\n]\n"


def _list_text(records: Sequence[Record]) -> str:
    return f"[{','.join(map(record_text, records))}]"


def _judgment_row(judgment: Judgment, *, repeat: str = "judge_repeat") -> dict[str, object]:
    """A judgment; of a run `repeat` is that of the answer, and the judge's has another name."""
    return {
        "criterion": judgment.criterion,
        repeat: judgment.repeat,
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


def _failure_row(failure: JudgeFailure, *, repeat: str = "judge_repeat") -> dict[str, object]:
    return {
        "criterion": failure.criterion,
        repeat: failure.repeat,
        "judge": failure.judge,
        "cached": failure.cached,
        "cost_usd": failure.cost_usd,
        "failure_kind": failure.kind,
        "failure_message": failure.message,
    }


def _answer_row(result: CaseResult) -> dict[str, object]:
    output, checks = result.output, [check.passed for check in result.checks]
    usage = output.usage
    # The price of vectors is unknown where one of them is: a partial sum would look complete.
    costs = [one.cost_usd for one in result.asked if one.cost_usd is not None]
    is_known = bool(costs) and len(costs) == len(result.asked)
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
        "checks_passed": checks.count(True),
        "checks_failed": checks.count(False),
        "checks_in_error": checks.count(None),
        "checks_cost_usd": fsum(costs) if is_known else None,
        "tags": json.dumps(result.case.tags, ensure_ascii=False),
        "stratum": result.case.stratum,
        "is_done": result.is_done,
        "ran_at": None if result.ran_at is None else result.ran_at.isoformat(),
    }


def _encodable(row: Mapping[str, object]) -> dict[str, object]:
    """A row whose texts any file can hold: lone surrogates and NUL are replaced."""
    return {name: words_text(v) if isinstance(v, str) else v for name, v in row.items()}


def _write_csv(
    file: IO[bytes], columns: Mapping[str, str], rows: Iterator[Mapping[str, object]]
) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    # With other line ends the writer leaves a carriage return inside a cell without its quotes.
    writer = csv.DictWriter(text, columns, lineterminator="\r\n")
    writer.writeheader()
    for row in map(_encodable, rows):
        # A spreadsheet would run an output that begins with `=` as a formula.
        writer.writerow({k: escape_formula(v) if isinstance(v, str) else v for k, v in row.items()})
    text.detach()


def _write_parquet(
    file: IO[bytes], columns: Mapping[str, str], rows: Iterator[Mapping[str, object]]
) -> None:
    import pyarrow as pa  # noqa: PLC0415 - costs a second; only Parquet files need it
    import pyarrow.parquet as pq  # noqa: PLC0415 - costs a second; only Parquet files need it

    # Without a schema a column that is None throughout would get a type of its own.
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in columns.items()])
    encodable = map(_encodable, rows)
    with pq.ParquetWriter(file, schema) as writer:
        while group := list(islice(encodable, _GROUP)):
            writer.write_table(pa.Table.from_pylist(group, schema=schema))


def _counted(results: Iterable[CaseResult], numbers: list[int]) -> Iterator[CaseResult]:
    for result in results:
        numbers[0] += 1
        yield result


_COMPARISON_SUFFIXES = (".jsonl", ".json")


def check_comparison_file(output: Path | None, sources: Iterable[str]) -> None:
    """Refuse a place that comparisons cannot be written to: inputs are never altered."""
    if output is None:
        return
    check_output_path(output, _COMPARISON_SUFFIXES, what="comparisons", may_be_folder=False)
    for name in sources:
        source = Path(name if Path(name).exists() else name.rpartition("::")[0])
        if source.is_file() and source.resolve() == output.resolve():
            raise SettingsError(
                f"--output would overwrite {output}, which is compared", hint="choose another file"
            )


@contextmanager
def comparison_writer(path: Path | None) -> Iterator[Callable[[Comparison], None]]:
    """Write comparisons to a file; it appears when all of them are there."""
    if path is None:
        yield lambda _: None
        return
    is_list = path.suffix.lower() == ".json"
    lead, between, after = ("[\n", ",\n", "\n]\n") if is_list else ("", "\n", "\n")
    n = 0
    with atomic_writer(path) as file:

        def write(found: Comparison) -> None:
            nonlocal n
            line = json.dumps(found.to_json(), ensure_ascii=False)
            # A reply may hold half of a surrogate pair, which UTF-8 cannot encode.
            file.write(f"{between if n else lead}{line}".encode("utf-8", "replace"))
            n += 1

        yield write
        file.write(after.encode() if n else b"[]\n" if is_list else b"")
