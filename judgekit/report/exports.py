"""Writes results to files: JSONL and JSON whole, CSV and Parquet a row for each judgment."""

from __future__ import annotations

import csv
import io
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from judgekit.datasets.formulas import neutralise
from judgekit.errors import SettingsError, StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import ModuleType

    from judgekit.records.judgment import JudgeFailure, Judgment
    from judgekit.records.record import JsonObject
    from judgekit.records.verdict import CriterionVerdict, Verdict

SUFFIXES = (".jsonl", ".json", ".csv", ".parquet")
"""The file types results can be written to."""

COLUMNS = (
    "case_id", "variant", "criterion", "repeat", "raw", "value", "criterion_passed", "rationale",
    "evidence", "evidence_found", "confidence", "expected_raw", "source", "judge", "model",
    "cached", "cost_usd", "failure_kind", "failure_message", "verdict_value", "verdict_passed",
)  # fmt: skip
"""The columns of CSV and Parquet files, one row for each judgment or failure."""


_LISTS = {"judgments", "failures"}
_SPARE = ("uncalibrated", "asked")
"""Fields that are left out where they have nothing to say."""


def check_suffix(path: Path) -> None:
    """Refuse a file type that cannot be written, before anything is asked."""
    if path.suffix.lower() not in SUFFIXES:
        raise SettingsError(
            f"cannot write {path.name}: its suffix is {path.suffix or 'missing'}",
            hint=f"use one of {', '.join(SUFFIXES)}",
        )
    if not path.absolute().parent.is_dir():
        raise SettingsError(f"cannot write {path}: there is no folder {path.parent}")
    if path.suffix.lower() == ".parquet":
        _pyarrow()


def write_verdicts(path: Path, verdicts: Sequence[Verdict]) -> None:
    """Write verdicts to a file, its format chosen by the suffix; replaced as a whole or not at all."""
    check_suffix(path)
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        content = "".join(verdict_line(verdict) for verdict in verdicts).encode()
    elif suffix == ".json":
        whole = [verdict_json(verdict) for verdict in verdicts]
        content = (json.dumps(whole, ensure_ascii=False, indent=2) + "\n").encode()
    elif suffix == ".csv":
        content = _csv(verdict_rows(verdicts)).encode()
    else:
        content = _parquet(verdict_rows(verdicts))
    _replace(path, content)


def verdict_json(verdict: Verdict) -> JsonObject:
    """A verdict as JSON types; `Verdict.model_validate` reads it back."""
    whole: JsonObject = verdict.model_dump(mode="json", exclude=_apart(verdict))
    whole["judgments"] = [judgment.to_json() for judgment in verdict.judgments]
    whole["failures"] = [failure.to_json() for failure in verdict.failures]
    return whole


def verdict_line(verdict: Verdict) -> str:
    """A verdict as one line of a JSONL file: `verdict_json`, written three times as fast."""
    whole = verdict.model_dump_json(exclude=_apart(verdict))
    judgments = ",".join([each.model_dump_json(exclude_none=True) for each in verdict.judgments])
    failures = ",".join([each.model_dump_json(exclude_none=True) for each in verdict.failures])
    return f'{whole[:-1]},"judgments":[{judgments}],"failures":[{failures}]}}\n'


def _apart(verdict: Verdict) -> set[str]:
    """The fields that are written by themselves, or have nothing to say."""
    return _LISTS | {name for name in _SPARE if getattr(verdict, name) is None}


def verdict_rows(verdicts: Sequence[Verdict]) -> list[dict[str, object]]:
    """Verdicts as flat rows with the columns `COLUMNS`."""
    return [row for verdict in verdicts for row in _rows(verdict)]


def _rows(verdict: Verdict) -> list[dict[str, object]]:
    criteria = {criterion.name: criterion for criterion in verdict.criteria}
    rows = [_judgment_row(j, criteria[j.criterion]) for j in verdict.judgments]
    rows += [_failure_row(failure) for failure in verdict.failures]
    if not rows:
        rows = [{"failure_kind": "target_error", "failure_message": verdict.error}]
    whole = {
        "case_id": verdict.case_id,
        "variant": verdict.variant,
        "verdict_value": verdict.value,
        "verdict_passed": verdict.passed,
    }
    return [{**dict.fromkeys(COLUMNS), **row, **whole} for row in rows]


def _judgment_row(judgment: Judgment, criterion: CriterionVerdict) -> dict[str, object]:
    return {
        "criterion": judgment.criterion,
        "repeat": judgment.repeat,
        "raw": judgment.raw,
        "value": judgment.value,
        "criterion_passed": criterion.passed,
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
        "repeat": failure.repeat,
        "judge": failure.judge,
        "cached": failure.cached,
        "cost_usd": failure.cost_usd,
        "failure_kind": failure.kind,
        "failure_message": failure.message,
    }


def _csv(rows: Sequence[dict[str, object]]) -> str:
    text = io.StringIO()
    # With other line ends the writer leaves a carriage return inside a cell without its quotes.
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: neutralise(v) if isinstance(v, str) else v for k, v in row.items()})
    return text.getvalue()


def _parquet(rows: Sequence[dict[str, object]]) -> bytes:
    pa = _pyarrow()
    import pyarrow.parquet as pq  # noqa: PLC0415 - costs a second; only Parquet files need it

    types: dict[str, object] = dict.fromkeys(COLUMNS, pa.string())
    types |= dict.fromkeys(
        ("raw", "value", "confidence", "expected_raw", "cost_usd", "verdict_value"), pa.float64()
    )
    types |= dict.fromkeys(("repeat", "evidence_found"), pa.int64())
    types |= dict.fromkeys(("criterion_passed", "cached", "verdict_passed"), pa.bool_())
    table = pa.Table.from_pylist(list(rows), schema=pa.schema(list(types.items())))
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


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


def _replace(path: Path, content: bytes) -> None:
    """Write beside the file and move into its place, so that no reader sees half of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
    finally:
        with suppress(OSError):  # there is none, or it cannot be removed either
            beside.unlink()
