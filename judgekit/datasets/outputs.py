"""Streams recorded outputs from a file, judgekit's own or another tool's, each with its case."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING

from pydantic import ValidationError

from judgekit.errors import DatasetError
from judgekit.formats import (
    DOCUMENT_SUFFIXES,
    LINE_SUFFIXES,
    TEXT_REPAIRED,
    FieldFault,
    Fields,
    FileRow,
    as_path,
    as_texts,
    document_rows,
    is_promptfoo_results,
    is_quality_record,
    raise_damaged,
    read_cells,
    read_whole_document,
    rename_fields,
    scan_rows,
    suffix_of,
    suggest_name,
    validation_faults,
)
from judgekit.records import Case, Dataset, Output, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.formats import ParsedDocument

OUTPUT_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "id": "case_id",
        "output": "text",
        "response": "text",
        "answer": "text",
        "completion": "text",
        "prompt": "input",
        "question": "input",
        "expected": "reference",
        "expected_output": "reference",
        "reference_answer": "reference",
    }
)
"""Names other tools give to the columns of an outputs file, with judgekit's own.

An alias whose own name is a column too is an unknown column and goes into the metadata. A
`text` under an alias that is a list, mapping or number is taken as `data`.
"""

USAGE_ALIASES: Mapping[str, str] = MappingProxyType(
    {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
)
"""Names providers give to the fields of `usage`."""

CASE_COLUMNS = ("input", "reference", "context")
"""Columns that describe the case; with `input` an outputs file needs no separate cases."""

_ARTIFACT = {"snapshot": "data", "events": "trace", "runId": "run_id", "caseId": "case_id"}
_JSON_COLUMNS = ("data", "usage", "trace", "metadata")
_TEXTS = ("case_id", "variant", "run_id")
_OUTPUT_FIELDS = frozenset(Output.model_fields)


@dataclass(frozen=True, slots=True)
class RecordedOutput:
    """One row of an outputs file."""

    line: int
    """The line it begins in."""

    output: Output
    """What was produced; `case_id` is set."""

    case_fields: Fields
    """The columns that describe its case, by `CASE_COLUMNS`."""


def iter_case_outputs(
    path: Path | str,
    cases: Dataset | None = None,
    *,
    variant: str | None = None,
    needs_input: bool = True,
) -> Iterator[tuple[Case, Output]]:
    """The outputs of a file, each with the case it answers."""
    path = as_path(path)
    by_id = None if cases is None else {case.id: case for case in cases.cases}
    for answer in _iter_wanted(path, variant):
        if by_id is None:
            yield _own_case(answer, path, needs_input=needs_input), answer.output
        else:
            yield case_of_output(answer, by_id, path), answer.output


def read_output(
    fields: Mapping[str, JsonValue],
    *,
    is_table: bool = False,
    is_repaired: bool = False,
    folder: Path | None = None,
) -> tuple[Output, Fields] | list[FieldFault]:
    """The output a row describes, and the columns of its case."""
    found, faults = rename_fields(_from_artifact(fields), OUTPUT_ALIASES)
    if is_table:
        had_text = "text" in found
        found, cell_faults = read_cells(found, json_names=_JSON_COLUMNS, list_names=())
        faults += cell_faults
        # An empty cell is a missing value in a table; for a system that answered nothing it is its
        # answer.
        if had_text and not found.keys() & {"text", "data", "error", "trace"}:
            found["text"] = ""
    # An alias such as `output` may hold an object; a `text` that is one is a mistake.
    elif "text" not in fields and not isinstance(found.get("text"), str | None):
        found = _as_data(found)
    if "trace" in found and (fault := _fill_from_trace(found, folder)) is not None:
        return [*faults, fault]
    found, case_fields, odd = _sorted_out(as_texts(found, _TEXTS))
    if odd is not None:
        faults.append(odd)
    if is_repaired and isinstance(found.get("metadata"), dict):
        found["metadata"] = {**_mapping(found["metadata"]), TEXT_REPAIRED: True}
    if faults:
        return faults
    return _validated(found, case_fields)


def case_of_output(answer: RecordedOutput, by_id: Mapping[str, Case], path: Path) -> Case:
    """The case an output answers."""
    case_id = answer.output.case_id or ""
    if case_id not in by_id:
        message = f"no case has the id {case_id!r}"
        hint = suggest_name(case_id, by_id)
        raise DatasetError(message, path=path, line=answer.line, hint=hint)
    return by_id[case_id]


def _fill_from_trace(found: dict[str, JsonValue], folder: Path | None) -> FieldFault | None:
    from judgekit.datasets.traces import fill_from_trace  # noqa: PLC0415 - few outputs have one

    return fill_from_trace(found, folder)


def read_output_row(
    row: FileRow, *, folder: Path | None = None
) -> RecordedOutput | list[FieldFault]:
    """A row as an answer."""
    read = read_output(
        row.fields, is_table=row.is_table, is_repaired=row.is_repaired, folder=folder
    )
    return read if isinstance(read, list) else RecordedOutput(row.line, *read)


def _iter_wanted(path: Path, variant: str | None) -> Iterator[RecordedOutput]:
    lines: dict[tuple[str | None, str | None], int] = {}
    others: set[str] = set()
    for answer in _iter_answers(path):
        named = answer.output.variant
        # A file may hold several variants; one of them was asked for.
        if variant is not None and named not in {None, variant}:
            others.add(str(named))
            continue
        # A row without a variant is of the one that was asked for.
        key = (answer.output.case_id, named or variant)
        if key in lines:
            raise duplicate_output_error(answer, lines[key], path)
        lines[key] = answer.line
        if named is None and variant is not None:
            output = answer.output.model_copy(update={"variant": variant})
            yield RecordedOutput(answer.line, output, answer.case_fields)
        else:
            yield answer
    # A file without outputs would otherwise count as "nothing failed".
    if not lines:
        hint = f"it has outputs of {', '.join(sorted(others)[:10])}" if others else None
        what = "holds no outputs" if variant is None else f"holds no outputs of {variant!r}"
        raise DatasetError(what, path=path, hint=hint)


def duplicate_output_error(answer: RecordedOutput, first_line: int, path: Path) -> DatasetError:
    """The error of a second output for one case and variant."""
    variant = answer.output.variant
    of_variant = "" if variant is None else f" from variant {variant!r}"
    return DatasetError(
        f"a second output{of_variant} for the same case; the first is in line {first_line}",
        path=path,
        line=answer.line,
        case_id=answer.output.case_id,
        hint="give each its own `variant`, or keep one",
    )


def _iter_answers(path: Path) -> Iterator[RecordedOutput]:
    for row in iter_output_rows(path):
        answer = read_output_row(row, folder=path.parent)
        if isinstance(answer, list):
            fault = answer[0]
            raise DatasetError(fault.message, path=path, line=row.line, hint=fault.remedy)
        yield answer


def _own_case(answer: RecordedOutput, path: Path, *, needs_input: bool) -> Case:
    if needs_input and answer.case_fields.get("input") is None:
        raise DatasetError(
            "this row does not say what was asked",
            path=path,
            line=answer.line,
            case_id=answer.output.case_id,
            hint="name the file with the cases (--cases), or add an `input` column",
        )
    return Case.model_validate({"id": answer.output.case_id, "input": None, **answer.case_fields})


def _sorted_out(fields: Fields) -> tuple[Fields, Fields, FieldFault | None]:
    """Fields of the output, of its case, and unknown ones put into the metadata."""
    known = {name: value for name, value in fields.items() if name in _OUTPUT_FIELDS}
    case_fields = {name: fields[name] for name in CASE_COLUMNS if name in fields}
    unknown = {
        name: value
        for name, value in fields.items()
        if name not in known and name not in case_fields
    }
    if isinstance(known.get("usage"), dict):
        known["usage"], unread = _usage(_mapping(known["usage"]))
        if unread:
            unknown["usage"] = unread
    given = known.get("metadata")
    if given is None:
        given = {}
    if not isinstance(given, dict):
        return known, case_fields, None
    if twice := sorted(given.keys() & unknown.keys()):
        message = f"`{twice[0]}` is a column and an entry of `metadata` too"
        return known, case_fields, FieldFault((twice[0],), message, "rename one of them")
    known["metadata"] = {**given, **unknown}
    return known, case_fields, None


def _from_artifact(fields: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """A workflow's artifact, or an answer or result row of an export, with an output's names."""
    # Rows of `export --format strategies` can be graded again.
    if {"testCaseId", "strategy", "status"} <= fields.keys():
        return _from_result_row(fields)
    case, output = fields.get("case"), fields.get("output")
    if isinstance(case, dict) and isinstance(output, dict) and "place" in fields:
        asked = {name: case[name] for name in CASE_COLUMNS if case.get(name) is not None}
        named = {"case_id": case.get("id"), "variant": fields.get("variant")}
        return {**asked, **{k: v for k, v in output.items() if v is not None}, **named}
    # A field `snapshot` beside an output is metadata of somebody else.
    if "snapshot" not in fields or fields.keys() & {"data", "text", "trace"}:
        return fields
    return {_ARTIFACT.get(name, name): value for name, value in fields.items()}


def _from_result_row(fields: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """A row of results by strategies (S4.5); what was concluded then is none of the output's."""
    said = {"text": fields.get("output"), "error": None}
    if fields["status"] == "error":
        said = {"text": None, "error": fields.get("feedback") or "an error"}
    named = {"case_id": "testCaseId", "variant": "variant", "duration_ms": "durationMs"}
    found = {own: fields.get(name) for own, name in named.items()} | said
    return {name: value for name, value in found.items() if value is not None}


def _as_data(fields: Fields) -> Fields:
    """The `text` that is none as the `data`; beside other data it stays and is found unsound."""
    if "data" in fields:
        return fields
    return {("data" if name == "text" else name): value for name, value in fields.items()}


def _usage(given: Fields) -> tuple[Fields, Fields]:
    """Usage in judgekit's names, and what of it has no field; a total is the sum of its parts."""
    renamed, faults = rename_fields(given, USAGE_ALIASES)
    if faults:
        return given, {}
    known = {name: value for name, value in renamed.items() if name in Usage.model_fields}
    unread = {name: value for name, value in renamed.items() if name not in known}
    # The total is computed from its parts and would be kept twice.
    return known, {name: value for name, value in unread.items() if name != "total_tokens"}


def _validated(found: Fields, case_fields: Fields) -> tuple[Output, Fields] | list[FieldFault]:
    faults = []
    if not str(found.get("case_id") or "").strip():
        remedy = "add a `case_id` (or `id`) that names the case it answers"
        faults.append(FieldFault(("case_id",), "the field `case_id` is missing", remedy))
    try:
        output = Output.model_validate(found)
    except ValidationError as error:
        return faults + validation_faults(error, Output, found, synonyms=OUTPUT_ALIASES)
    return faults or (output, case_fields)


def _mapping(value: JsonValue) -> Fields:
    return value if isinstance(value, dict) else {}


def iter_output_rows(path: Path) -> Iterator[FileRow]:
    """The rows of a file of outputs; of results of another tool each answer is one."""
    return raise_damaged(scan_output_rows(path))


def scan_output_rows(path: Path) -> Iterator[FileRow | DatasetError]:
    """As `iter_output_rows`, but a row that cannot be read is given as the error it is."""
    if has_own_lines(path):
        yield from scan_rows(path)
        return
    document = read_whole_document(path)
    if document is None:  # pragma: no cover - then it has lines of its own
        raise AssertionError
    yield from _document_rows(document)


def has_own_lines(path: Path) -> bool:
    """Whether each row of a file of outputs can be read without the others."""
    suffix = suffix_of(path)
    if suffix in DOCUMENT_SUFFIXES:
        return False
    if suffix not in LINE_SUFFIXES:
        return True
    # The first row is enough: a file does not mix formats.
    first = next(islice(scan_rows(path), 1), None)
    return not (isinstance(first, FileRow) and is_quality_record(first.fields))


def _document_rows(document: ParsedDocument) -> Iterator[FileRow | DatasetError]:
    value = document.value
    sample = value[0] if isinstance(value, list) and value else value
    fields = sample if isinstance(sample, dict) else {}
    if is_promptfoo_results(fields):
        from judgekit.formats import promptfoo_result_rows as rows  # noqa: PLC0415
    elif is_quality_record(fields):
        from judgekit.formats import quality_run_rows as rows  # noqa: PLC0415
    else:
        yield from document_rows(document)
        return
    for line, found in rows(document):  # their records take long to build, so they come late
        yield FileRow(line, found)
