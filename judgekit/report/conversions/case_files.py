"""Writes cases in judgekit's own form: rows in JSONL, CSV or Parquet, or one JSON or YAML file."""

from __future__ import annotations

import csv
import io
import json
from itertools import islice
from typing import IO, TYPE_CHECKING

from judgekit.datasets.cases import VALUE_COLUMNS
from judgekit.datasets.documents import dump_yaml
from judgekit.datasets.fields import TYPED
from judgekit.datasets.formulas import neutralise
from judgekit.report.exports import check_suffix
from judgekit.report.formats.listing import json_text, write_list
from judgekit.report.replacing import replace_text, replaced
from judgekit.store.texts import words_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.datasets.streaming import CaseSource
    from judgekit.records.case import Case
    from judgekit.records.record import JsonObject

SUFFIXES = (".jsonl", ".json", ".yaml", ".yml", ".csv", ".parquet")
"""The files cases can be written to."""

_TABLES = (".csv", ".parquet")
_FIELDS = (
    "id", "name", "description", "input", "reference", "context", "tags", "stratum", "status",
    "agent", "skill", "prompt_version", "assertions", "rubric", "evaluation", "metadata",
)  # fmt: skip
_GROUP = 5000  # rows of Parquet held at a time


def write_cases(path: Path, cases: CaseSource) -> None:
    """Write cases; the file is replaced as a whole or not at all."""
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        write_list(path, (case.to_json() for case in cases))
    elif suffix in _TABLES:
        _write_table(path, cases, columns_of(cases))
    else:
        _write_document(path, cases)


def columns_of(cases: Iterable[Case]) -> list[str]:
    """The columns of a table of cases: the fields that some case uses."""
    used, typed = {"id", "input"}, set()
    for case in cases:
        used |= case.model_dump(exclude_defaults=True).keys()
        typed |= {name for name in VALUE_COLUMNS if not _is_plain(case, name)}
    return [f"{name}{TYPED}" if name in typed else name for name in _FIELDS if name in used]


def _is_plain(case: Case, name: str) -> bool:
    """Whether a cell can hold the value as it is; an empty one says that there is none."""
    value = getattr(case, name)
    return (isinstance(value, str) and value != "") or (value is None and name != "input")


def _write_document(path: Path, cases: CaseSource) -> None:
    listed: list[JsonValue] = [case.to_json() for case in cases]
    whole: JsonObject = {"name": cases.name, "version": cases.version, "cases": listed}
    if path.suffix.lower() == ".json":
        replace_text(path, json_text(whole, indent=2) + "\n")
    else:
        replace_text(path, dump_yaml(whole))


def _write_table(path: Path, cases: Iterable[Case], columns: Sequence[str]) -> None:
    rows = (_row(case, columns) for case in cases)
    if path.suffix.lower() == ".parquet":
        check_suffix(path)  # says so where pyarrow is missing
        with replaced(path) as file:
            _write_parquet(file, rows, columns)
        return
    with replaced(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        # With other line ends the writer leaves a carriage return in a cell without its quotes.
        writer = csv.DictWriter(text, columns, lineterminator="\r\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: None if v is None else neutralise(v) for k, v in row.items()})
        text.detach()


def _row(case: Case, columns: Sequence[str]) -> dict[str, str | None]:
    whole = case.to_json()
    row: dict[str, str | None] = {}
    for column in columns:
        name = column.removesuffix(TYPED)
        if name == column:
            row[name] = _cell(whole.get(name))
        elif name in whole:
            row[column] = words_text(json.dumps(whole[name], ensure_ascii=False))
        else:
            row[column] = None
    return row


def _cell(value: JsonValue) -> str | None:
    if value is None or value in ([], {}):
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return words_text(text)


def _write_parquet(
    file: IO[bytes], rows: Iterator[dict[str, str | None]], columns: Sequence[str]
) -> None:
    import pyarrow as pa  # noqa: PLC0415 - costs a second; only Parquet files need it
    import pyarrow.parquet as pq  # noqa: PLC0415

    schema = pa.schema([(name, pa.string()) for name in columns])
    with pq.ParquetWriter(file, schema) as writer:
        while group := list(islice(rows, _GROUP)):
            writer.write_table(pa.Table.from_pylist(group, schema=schema))
