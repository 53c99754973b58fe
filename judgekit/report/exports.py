"""Writes documents, verdicts, run results and comparisons to files.

JSONL and JSON hold them in full; CSV and Parquet have a row for each judgment.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit import formats, records
from judgekit.atomic_write import atomic_writer, check_output_path, write_text_atomically
from judgekit.errors import SettingsError
from judgekit.report.document import Document, T, fields_of
from judgekit.report.numbers import nan_to_null

if TYPE_CHECKING:
    from judgekit.records import (
        CaseResult,
        Comparison,
        EmbeddingUsage,
        JsonObject,
        JudgeFailure,
        Judgment,
        Verdict,
    )

Row = dict[str, "str | float | None"]
"""One row of a table; whole numbers and truth values are floats to the type checker."""

EXPORT_SUFFIXES = (".jsonl", ".json", ".csv", ".parquet")
"""The file types results can be written to."""

VERDICT_COLUMNS: Mapping[str, str] = {
    "case_id": "string", "variant": "string", "criterion": "string", "repeat": "int64",
    "raw": "float64", "value": "float64", "criterion_passed": "bool_", "rationale": "string",
    "evidence": "string", "evidence_found": "int64", "confidence": "float64",
    "expected_raw": "float64", "source": "string", "judge": "string", "model": "string",
    "cached": "bool_", "cost_usd": "float64", "failure_kind": "string",
    "failure_message": "string", "verdict_value": "float64", "verdict_passed": "bool_",
    "turn": "int64", "output_repeat": "int64",
}  # fmt: skip
"""The columns of CSV and Parquet files with their types; one row for each judgment or failure."""

REPORT_SUFFIXES = (".json", ".md", ".html")
"""The file types of a document."""


def document_data(document: Document) -> object:
    """The data of a document as JSON types."""
    # JSON has no nan: what is undefined is null, never 0.
    return nan_to_null(document.data())


def write_document(path: Path, document: Document) -> None:
    """Write a document; the file is replaced as a whole or not at all."""
    suffix = path.suffix.lower()
    if suffix == ".html":
        from judgekit.report.html import html_parts  # noqa: PLC0415 - Jinja, only for pages

        # With all cases in it a page can be large: it is written in parts.
        with atomic_writer(path) as file:
            file.writelines(part.encode("utf-8", "replace") for part in html_parts(document))
        return
    if suffix == ".md":
        from judgekit.report.markdown import render_markdown  # noqa: PLC0415

        text = render_markdown(document)
    else:
        text = json.dumps(document_data(document), ensure_ascii=False, indent=2) + "\n"
    write_text_atomically(path, text)


def check_export_suffix(path: Path) -> None:
    """Refuse a file type that cannot be written, before anything is asked."""
    if path.suffix.lower() not in EXPORT_SUFFIXES:
        is_page = path.suffix.lower() in {".html", ".md"}
        page = f"; a page is written by `judgekit report RUN -o {path.name}`" if is_page else ""
        raise SettingsError(
            f"cannot write {path.name}: its suffix is {path.suffix or 'missing'}",
            hint=f"use {', '.join(EXPORT_SUFFIXES)}, .xml (junit), .yaml (validation){page}",
        )
    if not path.absolute().parent.is_dir():
        raise SettingsError(f"cannot write {path}: there is no folder {path.parent}")
    if path.suffix.lower() == ".parquet":
        formats.require_pyarrow()


def write_verdicts(path: Path, verdicts: Iterable[Verdict]) -> int:
    """Write verdicts in the format of the suffix, all or none; how many were written."""

    def as_list(counted: Iterator[Verdict]) -> Iterator[str]:
        yield json.dumps([*map(verdict_json, counted)], ensure_ascii=False, indent=2) + "\n"

    return _write_export(
        path, verdicts, VERDICT_COLUMNS, line=verdict_line, as_list=as_list, rows=verdict_rows
    )


def _write_export(
    path: Path,
    items: Iterable[T],
    columns: Mapping[str, str],
    *,
    line: Callable[[T], str],
    as_list: Callable[[Iterator[T]], Iterable[str]],
    rows: Callable[[Iterator[T]], Iterable[Row]],
) -> int:
    check_export_suffix(path)
    suffix = path.suffix.lower()
    # An item is taken before its number, so the next number says how many were written.
    numbers = count()
    counted = (item for item, _ in zip(items, numbers, strict=False))
    with atomic_writer(path) as file:
        if suffix == ".jsonl":
            file.writelines(line(item).encode() for item in counted)
        elif suffix == ".json":
            file.writelines(text.encode() for text in as_list(counted))
        elif suffix == ".csv":
            formats.write_csv(file, [*columns], rows(counted))
        else:
            formats.write_parquet(file, columns, rows(counted))
    return next(numbers)


def verdict_json(verdict: Verdict) -> JsonObject:
    """A verdict as JSON types; `Verdict.model_validate` reads it back."""
    return {
        **verdict.model_dump(mode="json", exclude=_apart(verdict)),
        "judgments": [
            each.model_dump(mode="json", exclude_none=True, exclude=_when(each))
            for each in verdict.judgments
        ],
        "failures": [failure.to_json() for failure in verdict.failures],
    }


def verdict_line(verdict: Verdict) -> str:
    """A verdict as one line of a JSONL file: `verdict_json`, written three times as fast."""
    whole = verdict.model_dump_json(exclude=_apart(verdict))
    judgments = ",".join(
        [each.model_dump_json(exclude_none=True, exclude=_when(each)) for each in verdict.judgments]
    )
    failures = ",".join([each.model_dump_json(exclude_none=True) for each in verdict.failures])
    return f'{whole[:-1]},"judgments":[{judgments}],"failures":[{failures}]}}\n'


def _when(judgment: Judgment) -> set[str] | None:
    # Only the store knows when a model judged; the same verdicts make the same bytes without it.
    return None if judgment.source == "human" else {"judged_at"}


def _apart(verdict: Verdict) -> set[str]:
    # The lists are written one by one, and these fields only where they are not empty.
    spare = ("repeat", "uncalibrated", "asked")
    return {"judgments", "failures"} | {name for name in spare if getattr(verdict, name) is None}


def verdict_rows(verdicts: Iterable[Verdict]) -> Iterator[Row]:
    """Verdicts as flat rows with the columns `VERDICT_COLUMNS`."""
    for verdict in verdicts:
        criteria = {criterion.name: criterion for criterion in verdict.criteria}
        found: list[Row] = [
            {
                "repeat": judgment.repeat,
                "criterion_passed": criteria[judgment.criterion].passed,
                **_judgment_row(judgment),
            }
            for judgment in verdict.judgments
        ]
        found += [{"repeat": one.repeat, **_failure_row(one)} for one in verdict.failures]
        # A verdict without judgments has a row all the same: it says why there are none.
        if not found:
            found = [{"failure_kind": "target_error", "failure_message": verdict.error}]
        whole: Row = {
            **fields_of(verdict, "case_id", "variant"),
            "output_repeat": verdict.repeat,
            "verdict_value": verdict.value,
            "verdict_passed": verdict.passed,
        }
        for row in found:
            yield {**dict.fromkeys(VERDICT_COLUMNS), **row, **whole}


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
    "judged_at": "string", "turn": "int64",
}  # fmt: skip
"""The columns of CSV and Parquet files with their types; one row for each judgment or failure."""


def write_results(path: Path, results: Iterable[CaseResult]) -> int:
    """Write results in the format of the suffix; the file is replaced as a whole or not at all."""
    # Memory does not grow with the number of results, and the same results make the same bytes.
    return _write_export(
        path, results, RUN_COLUMNS, line=result_line, as_list=_list_lines, rows=_safe_rows
    )


def result_line(result: CaseResult) -> str:
    """A result as one line of a JSONL file; `CaseResult.model_validate_json` reads it back."""
    fields = {
        "run_id": json.dumps(result.run_id),
        "place": str(result.place),
        "case": records.record_text(result.case),
        "variant": json.dumps(result.variant),
        "repeat": str(result.repeat),
        "output": records.record_text(result.output),
        **{
            name: f"[{','.join(map(records.record_text, getattr(result, name)))}]"
            for name in ("judgments", "failures", "checks", "scores")
        },
        "is_done": json.dumps(result.is_done),
        "ran_at": "null" if result.ran_at is None else json.dumps(result.ran_at.isoformat()),
    }
    return "{" + ",".join(f'"{name}":{text}' for name, text in fields.items()) + "}\n"


def case_result_rows(result: CaseResult) -> list[Row]:
    """A result as flat rows with the columns `RUN_COLUMNS`."""
    rows: list[Row] = [
        {
            "judge_repeat": judgment.repeat,
            "judged_at": None if judgment.judged_at is None else judgment.judged_at.isoformat(),
            **_judgment_row(judgment),
        }
        for judgment in result.judgments
    ]
    rows += [{"judge_repeat": one.repeat, **_failure_row(one)} for one in result.failures]
    output, found = result.output, [check.passed for check in result.checks]
    usage = output.usage
    whole = {
        **fields_of(result, "run_id", "place", "variant", "repeat", "is_done"),
        "case_id": result.case.id,
        "output_text": output.text,
        "output_error": output.error,
        "output_error_kind": output.error_kind,
        **({} if usage is None else fields_of(usage, "input_tokens", "output_tokens")),
        "output_cost_usd": None if usage is None else usage.cost_usd,
        "duration_ms": output.duration_ms,
        "checks_passed": found.count(True),
        "checks_failed": found.count(False),
        "checks_in_error": found.count(None),
        "checks_cost_usd": _checks_usd(result.asked),
        "tags": json.dumps(result.case.tags, ensure_ascii=False),
        "stratum": result.case.stratum,
        "ran_at": None if result.ran_at is None else result.ran_at.isoformat(),
    }
    return [{**dict.fromkeys(RUN_COLUMNS), **row, **whole} for row in rows or [{}]]


def _list_lines(results: Iterable[CaseResult]) -> Iterator[str]:
    """The lines of one JSON list, a result in each, so that none but the last is held."""
    before = "["
    for result in results:
        yield f"{before}\n{result_line(result).rstrip()}"
        before = ","
    yield "[]\n" if before == "[" else "\n]\n"


def _judgment_row(judgment: Judgment) -> Row:
    quotes = [piece.quote for piece in judgment.evidence]
    return {
        **fields_of(judgment, "criterion", "turn", "raw", "value", "rationale", "confidence"),
        **fields_of(judgment, "expected_raw", "source", "judge", "model", "cached", "cost_usd"),
        "evidence": json.dumps(quotes, ensure_ascii=False),
        "evidence_found": sum(piece.found for piece in judgment.evidence),
    }


def _failure_row(failure: JudgeFailure) -> Row:
    return {
        **fields_of(failure, "criterion", "turn", "judge", "cached", "cost_usd"),
        "failure_kind": failure.kind,
        "failure_message": failure.message,
    }


def _checks_usd(asked: Sequence[EmbeddingUsage]) -> float | None:
    """What checks and scorers paid for vectors; None where nothing was asked, or no price known."""
    costs = [each.cost_usd for each in asked if each.cost_usd is not None]
    return fsum(costs) if asked and len(costs) == len(asked) else None


def _safe_rows(results: Iterable[CaseResult]) -> Iterator[Row]:
    for result in results:
        for row in case_result_rows(result):
            yield {k: records.words_text(v) if isinstance(v, str) else v for k, v in row.items()}


def check_comparison_file(output: Path | None, sources: Iterable[str]) -> None:
    """Refuse a place that comparisons cannot be written to: inputs are never altered."""
    if output is None:
        return
    check_output_path(output, (".jsonl", ".json"), what="comparisons", may_be_folder=False)
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
            file.write(f"{between if n else lead}{line}".encode("utf-8", "replace"))
            n += 1

        yield write
        file.write(after.encode() if n else b"[]\n" if is_list else b"")
