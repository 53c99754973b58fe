"""Streams recorded outputs from a file, judgekit's own or another tool's, each with its case."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pydantic import JsonValue, ValidationError
from pydantic.alias_generators import to_snake

from judgekit import formats
from judgekit.errors import DatasetError, InputError
from judgekit.fingerprint import fingerprint
from judgekit.formats import FieldFault, Fields, FileRow
from judgekit.records import Case, CaseResult, Dataset, Output, Usage, memory_objects, objects_of

OUTPUT_ALIASES: Mapping[str, str] = MappingProxyType({
    "id": "case_id", "output": "text", "response": "text", "answer": "text", "completion": "text",
    "prompt": "input", "question": "input", "expected": "reference",
    "expected_output": "reference", "reference_answer": "reference",
})  # fmt: skip
"""Names other tools give to the columns of an outputs file, with judgekit's own.

An alias whose own name is a column too is an unknown column and goes into the metadata. A
`text` under an alias that is a list, mapping or number is taken as `data`.
"""

USAGE_ALIASES: Mapping[str, str] = MappingProxyType({
    "prompt_tokens": "input_tokens", "completion_tokens": "output_tokens",
    "cache_read_input_tokens": "cached_input_tokens",
    "cache_creation_input_tokens": "cache_write_tokens",
    "prompt_token_count": "input_tokens", "candidates_token_count": "output_tokens",
    "cached_content_token_count": "cached_input_tokens",
    "thoughts_token_count": "reasoning_tokens", "total_token_count": "total_tokens",
})  # fmt: skip
"""Names of OpenAI, Anthropic and Gemini for the fields of usage, with judgekit's own."""

# Within a group of OpenAI's, as `prompt_tokens_details`.
_DETAILS = {"cached_tokens": "cached_input_tokens", "reasoning_tokens": "reasoning_tokens"}
# What Anthropic counts beside the tokens sent, and Gemini beside those received.
_COUNTED_BESIDE = (
    ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
    ("candidates_token_count", "thoughts_token_count"),
)
CASE_COLUMNS = ("input", "reference", "context")
"""Columns that describe the case; with `input` an outputs file needs no separate cases."""

CaseOutput = tuple[Case, Output]
_ID_NAMES = ("case_id", "id", "caseId", "testCaseId")
_ARTIFACT = {"snapshot": "data", "events": "trace", "runId": "run_id", "caseId": "case_id"}
_JSON_COLUMNS = ("data", "usage", "trace", "metadata")
_TEXTS = ("case_id", "variant", "run_id")
_CONTENTS = frozenset({"text", "data", "trace", "error"})
_OUTPUT_FIELDS = frozenset(Output.model_fields)
_REPEAT = re.compile(r"([0-9]{1,2})(?:\.0)?")  # a run has at most 100; a data frame has 1.0


@dataclass(frozen=True, slots=True)
class RecordedOutput:
    """One row of an outputs file: the output and the columns that describe its case."""

    line: int
    output: Output
    case_fields: Fields


def iter_case_outputs(
    path: Path | str,
    cases: Dataset | None = None,
    *,
    variant: str | None = None,
    needs_input: bool = True,
    unmatched: list[str] | None = None,
) -> Iterator[tuple[Case, Output]]:
    """The outputs of a file, each with the case it answers."""
    # An id that no case has is an error, unless there is a list for such ids. A second output of a
    # case and variant is one too, unless each has a `repeat` of its own.
    path = formats.as_path(path)
    by_id = None if cases is None else {case.id: case for case in cases.cases}
    # Of a benchmark: cases of the same memory that it leaves out, whose outputs are no mistake.
    objects = () if cases is None else memory_objects(cases)
    others = {key for key, _ in objects_of(objects, "test-case")}
    for answer in _iter_wanted(path, variant):
        case_id = answer.output.case_id or ""
        if by_id is not None:
            if case_id not in by_id:
                if case_id in others:
                    continue
                if unmatched is not None:
                    unmatched.append(case_id)
                    continue
                hint = formats.suggest_name(case_id, by_id)
                message = f"no case has the id {case_id!r}"
                raise DatasetError(message, path=path, line=answer.line, hint=hint)
            yield by_id[case_id], answer.output
            continue
        yield _described_case(answer, path, needs_input=needs_input), answer.output


def iter_described_cases(path: Path | str) -> Iterator[Case]:
    """The cases that the rows of an outputs file describe, each once, in the order of the rows."""
    path = formats.as_path(path)
    first: dict[str, tuple[int, str]] = {}
    for row in iter_output_rows(path):
        answer = valid_output(row, path, folder=path.parent)
        case_id, fields = answer.output.case_id or "", answer.case_fields
        content = fingerprint({**fields})
        line, known = first.setdefault(case_id, (answer.line, content))
        if line == answer.line:
            yield _described_case(answer, path, needs_input=True)
        # Another variant's output, or another try, need not say again what was asked.
        elif fields and content != known:
            raise DatasetError(
                f"this row describes its case differently from line {line}",
                path=path,
                line=answer.line,
                case_id=case_id,
                hint="give each case an id of its own",
            )


def read_logged_row(raw: bytes, path: Path, *, offset: int = 0) -> tuple[Fields, Output]:
    """One line of a log: its fields, and the output they hold, with a case that can be judged."""
    row = formats.json_row(formats.decode_utf8(raw, path=path, offset=offset).strip(), path, 1)
    answer = valid_output(row, path, folder=path.parent)
    _described_case(answer, path, needs_input=False)
    return dict(row.fields), answer.output


def read_answers(
    data: object, name: str = "outputs", cases: Mapping[str, Case] | None = None
) -> Iterator[CaseOutput]:
    """Outputs in memory with their cases: rows, records, pairs, or a frame."""
    # Rows of which none has an id are called `row-1`, `row-2`, … in their order.
    rows: Iterable[formats.MemoryRow] = formats.memory_rows(data, name)
    if cases is None:
        rows = formats.with_row_ids(rows, _ID_NAMES)
    for place, row in enumerate(rows, start=1):
        if isinstance(row.value, Output) and cases is None:
            # Without a case the judge sees the output alone, as with a row that has no input.
            yield Case(id=row.value.case_id or f"row-{place}", input=None), row.value
        else:
            yield read_answer(row, lambda: cases)


def read_answer(
    row: formats.MemoryRow, cases: Callable[[], Mapping[str, Case] | None] = lambda: None
) -> CaseOutput:
    """One output in memory, with the case that it comes with, or that of its id."""
    value, path = row.value, Path(row.place)
    if isinstance(value, tuple) and tuple(map(type, value)) == (Case, Output):
        return value[0], value[1]
    if isinstance(value, CaseResult):
        return value.case, value.output.model_copy(update={"variant": value.variant})
    if isinstance(value, Output):
        return _known_case(value, cases() or {}, row.place), value
    if not isinstance(value, dict):
        raise InputError(
            f"{row.place}: a {type(value).__name__} is no output",
            hint="write {'input': …, 'text': …}, an Output, or a pair (Case, Output)",
        )
    answer = valid_output(FileRow(0, value, is_table=row.is_table), path)
    known = cases()
    if known is None:
        return _described_case(answer, path, needs_input=False), answer.output
    return _known_case(answer.output, known, row.place), answer.output


def _known_case(output: Output, cases: Mapping[str, Case], place: str) -> Case:
    if output.case_id is None:
        raise DatasetError(
            "the output names no case",
            path=place,
            hint="pass (case, output), or set its `case_id` to the id of a case",
        )
    if output.case_id not in cases:
        message = f"no case has the id {output.case_id!r}"
        raise DatasetError(message, path=place, hint=formats.suggest_name(output.case_id, cases))
    return cases[output.case_id]


def _described_case(answer: RecordedOutput, path: Path, *, needs_input: bool) -> Case:
    case_id, fields = answer.output.case_id or "", answer.case_fields
    # A judge that is not shown the question would judge the text alone.
    if needs_input and fields.get("input") is None:
        raise DatasetError(
            "this row has no input",
            path=path,
            line=answer.line,
            case_id=case_id,
            hint="name the file with the cases (--cases, or `dataset:` in a suite), or add an "
            "`input` column",
        )
    case = formats.read_case({"id": case_id, "input": None, **fields}, path.parent)
    if isinstance(case, Case):
        return case
    text, hint = case[0].message, case[0].remedy
    raise DatasetError(text, path=path, line=answer.line, case_id=case_id, hint=hint)


def valid_output(row: FileRow, path: Path, *, folder: Path | None = None) -> RecordedOutput:
    answer = read_output(row, folder=folder)
    if isinstance(answer, list):
        fault = answer[0]
        raise DatasetError(fault.message, path=path, line=row.line, hint=fault.remedy)
    return answer


def read_output(row: FileRow, *, folder: Path | None = None) -> RecordedOutput | list[FieldFault]:
    found, faults = formats.rename_fields(_from_artifact(row.fields), OUTPUT_ALIASES)
    if row.is_table:
        found, cell_faults = _from_cells(row, found)
        faults += cell_faults
    # An alias such as `output` may hold an object; a `text` that is one is a mistake.
    # Beside other data it stays, and is reported as invalid.
    elif not ("text" in row.fields or "data" in found or isinstance(found.get("text"), str | None)):
        found = {("data" if name == "text" else name): v for name, v in found.items()}
    # Some programs write every field of a row; null is no answer and no error.
    found = {n: v for n, v in found.items() if v is not None or n not in _CONTENTS}
    # Chat systems record the conversation alone, which is the output then.
    if isinstance(found.get("messages"), list) and found.keys().isdisjoint(_CONTENTS):
        found["data"] = {"messages": found.pop("messages")}
    if "trace" in found:
        from judgekit.datasets.traces import fill_from_trace  # noqa: PLC0415 - few outputs have one

        faults += fill_from_trace(found, folder)
    found, case_fields, odd = _sorted_out(formats.as_texts(found, _TEXTS))
    if odd is not None:
        faults.append(odd)
    if row.is_repaired and isinstance(found.get("metadata"), dict):
        found["metadata"] = {**_mapping(found["metadata"]), formats.TEXT_REPAIRED: True}
    return faults or _validated(row.line, found, case_fields, folder)


def _from_cells(row: FileRow, named: Fields) -> tuple[Fields, list[FieldFault]]:
    if remedy := formats.unread_table(row.fields):
        return named, [FieldFault((), "these rows are not read as they are", remedy)]
    found, faults = formats.read_cells(named, json_names=_JSON_COLUMNS)
    # An empty cell is a missing value in a table, but as `text` it is an empty answer.
    if "text" in named and not found.keys() & _CONTENTS:
        found["text"] = ""
    return found, faults


def _validated(
    line: int, found: Fields, case_fields: Fields, folder: Path | None
) -> RecordedOutput | list[FieldFault]:
    faults = []
    if not str(found.get("case_id") or "").strip():
        remedy = "add a `case_id` (or `id`) that names the case it answers"
        faults.append(FieldFault(("case_id",), "the field `case_id` is missing", remedy))
    try:
        output = Output.model_validate(found, context={"folder": folder})
    except ValidationError as error:
        return faults + formats.validation_faults(error, Output, found, synonyms=OUTPUT_ALIASES)
    return faults or RecordedOutput(line, output, case_fields)


def repeat_of(output: Output) -> int:
    """Which repeat a row says that it is, which in a table may be a text; without one the first."""
    found = _REPEAT.fullmatch(str(output.metadata.get("repeat", "")))
    return 0 if found is None else int(found[1])


def has_repeats(answers: Iterable[CaseOutput]) -> bool:
    """Whether a case has several outputs of a variant, so that their numbers have a meaning."""
    met: set[tuple[str, str | None]] = set()
    for case, output in answers:
        if (case.id, output.variant) in met:
            return True
        met.add((case.id, output.variant))
    return False


def number_single_outputs(outputs: Collection[MutableMapping[tuple[str, int], Output]]) -> bool:
    """Make each output the first of its case, whatever its row says, if no case has several."""
    if any(len({case_id for case_id, _ in own}) < len(own) for own in outputs):
        return False
    for own in outputs:
        for case_id, repeat in [key for key in own if key[1]]:
            own[case_id, 0] = own.pop((case_id, repeat))
    return True


def _iter_wanted(path: Path, variant: str | None) -> Iterator[RecordedOutput]:
    lines: dict[tuple[str | None, str | None, int], int] = {}
    others: set[str] = set()
    for row in iter_output_rows(path):
        answer = valid_output(row, path, folder=path.parent)
        named = answer.output.variant
        # A file may hold several variants; one of them was asked for.
        if variant is not None and named not in {None, variant}:
            others.add(str(named))
            continue
        # A row without a variant is of the one that was asked for.
        key = (answer.output.case_id, named or variant, repeat_of(answer.output))
        if key in lines:
            of_variant = "" if named is None else f" from variant {named!r}"
            raise DatasetError(
                f"a second output{of_variant} for the same case; the first is in line {lines[key]}",
                path=path,
                line=answer.line,
                case_id=answer.output.case_id,
                hint="give each its own `variant`, or keep one; answers to the same question "
                "that are repeats have each its own `repeat`: 0, 1, …",
            )
        lines[key] = answer.line
        if named is None and variant is not None:
            output = answer.output.model_copy(update={"variant": variant})
            yield RecordedOutput(answer.line, output, answer.case_fields)
        else:
            yield answer
    # A file without outputs would otherwise mean "nothing failed".
    if not lines:
        hint = f"it has outputs of {', '.join(sorted(others)[:10])}" if others else None
        what = "holds no outputs" if variant is None else f"holds no outputs of {variant!r}"
        raise DatasetError(what, path=path, hint=hint)


def _sorted_out(fields: Fields) -> tuple[Fields, Fields, FieldFault | None]:
    """Fields of the output, of its case, and unknown ones put into the metadata."""
    known = {name: value for name, value in fields.items() if name in _OUTPUT_FIELDS}
    case_fields = {name: fields[name] for name in CASE_COLUMNS if name in fields}
    unknown = {n: v for n, v in fields.items() if n not in known and n not in case_fields}
    if isinstance(known.get("usage"), dict):
        known["usage"], unread = _usage(_mapping(known["usage"]))
        if unread:
            unknown["usage"] = unread
    metadata = known.get("metadata")
    if metadata is None:
        metadata = {}
    if not isinstance(metadata, dict):
        return known, case_fields, None
    if twice := sorted(metadata.keys() & unknown.keys()):
        message = f"`{twice[0]}` is a column and an entry of `metadata` too"
        return known, case_fields, FieldFault((twice[0],), message, "rename one of them")
    known["metadata"] = {**metadata, **unknown}
    return known, case_fields, None


def _from_artifact(fields: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """A workflow's artifact, or an answer or result row of an export, with an output's names."""
    # Rows of `export --format strategies` can be graded again; their conclusions are left out.
    if {"testCaseId", "strategy", "status"} <= fields.keys():
        columns = {"case_id": "testCaseId", "variant": "variant", "duration_ms": "durationMs"}
        row = {own: fields.get(name) for own, name in columns.items()}
        row |= {"repeat": fields.get("repeat") or None}
        if fields["status"] == "error":
            row["error"] = fields.get("feedback") or "an error"
        else:
            row["text"] = fields.get("output")
        return {name: value for name, value in row.items() if value is not None}
    case, output = fields.get("case"), fields.get("output")
    if isinstance(case, dict) and isinstance(output, dict) and "place" in fields:
        of_case = {name: case[name] for name in CASE_COLUMNS if case.get(name) is not None}
        named = {"case_id": case.get("id"), "variant": fields.get("variant")}
        # Of several answers to a case, `repeat` says which this is.
        if repeat := fields.get("repeat"):
            named["metadata"] = {**_mapping(output.get("metadata")), "repeat": repeat}
        return {**of_case, **{k: v for k, v in output.items() if v is not None}, **named}
    # Beside an output, a field `snapshot` is metadata of another tool.
    if "snapshot" not in fields or fields.keys() & {"data", "text", "trace"}:
        return fields
    return {_ARTIFACT.get(name, name): value for name, value in fields.items()}


def _usage(usage: Fields) -> tuple[Fields, Fields]:
    """Usage in judgekit's names, and its fields without a name here."""
    # Gemini's API writes `promptTokenCount`, its library `prompt_token_count`.
    usage = {
        own if (own := to_snake(name)) in USAGE_ALIASES else name: value
        for name, value in usage.items()
        if value is not None
    }
    renamed, faults = formats.rename_fields(usage, USAGE_ALIASES)
    if faults:
        return usage, {}
    for group in map(_mapping, usage.values()):
        for name, own in _DETAILS.items():
            if (count := group.get(name)) is not None:
                renamed.setdefault(own, count)
    # Where these make the total, nothing is counted beside them.
    is_whole = renamed.get("total_tokens") == _sum(renamed, "input_tokens", "output_tokens")
    for name, *others in _COUNTED_BESIDE:
        if name in usage and not is_whole:
            renamed[USAGE_ALIASES.get(name, name)] = _sum(usage, name, *others)
    known = {name: value for name, value in renamed.items() if name in Usage.model_fields}
    unread = {name: value for name, value in renamed.items() if name not in known}
    if {"input_tokens", "output_tokens"} <= known.keys():  # of which the total is the sum
        unread.pop("total_tokens", None)
    return known, unread


def _sum(usage: Fields, *names: str) -> JsonValue:
    """The sum of some counts; the first alone where another is no number."""
    counts = [usage[name] for name in names if name in usage]
    numbers = [count for count in counts if isinstance(count, int)]
    return sum(numbers) if numbers == counts else usage.get(names[0])


def _mapping(value: JsonValue) -> Fields:
    return value if isinstance(value, dict) else {}


def iter_output_rows(path: Path) -> Iterator[FileRow]:
    """The rows of a file of outputs; of results of another tool, one for each answer."""
    return formats.raise_damaged(scan_output_rows(path))


def scan_output_rows(path: Path) -> Iterator[FileRow | DatasetError]:
    """The rows of a file of outputs; a row that cannot be read is yielded as its error."""
    document = formats.read_whole_document(path) if formats.is_read_whole(path) else None
    if document is None:
        yield from formats.scan_rows(path)
        return
    shape = formats.foreign_shape(document.value)
    rows = None if shape is None else shape.output_rows(document)
    yield from formats.document_rows(document) if rows is None else rows
