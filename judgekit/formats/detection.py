"""The formats of other tools: how each file is recognised, read whole or by rows, and written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import JsonValue

from judgekit.errors import DatasetError
from judgekit.formats.documents import ParsedDocument, read_document
from judgekit.formats.foreign_file import CASE_ALIASES, ForeignFile
from judgekit.formats.messages import decode_value
from judgekit.formats.rows import (
    DOCUMENT_SUFFIXES,
    LINE_SUFFIXES,
    TABLE_SUFFIXES,
    TYPED_SUFFIX,
    FileRow,
    iter_rows,
    scan_rows,
    suffix_of,
)
from judgekit.formats.text import (
    MAX_DOCUMENT_BYTES,
    KeyPath,
    as_mapping,
    folder_exists,
    is_archive,
    objects_in,
)
from judgekit.formats.tool_shapes import ToolShape, tool_items, tool_shape, tool_shapes
from judgekit.records import CaseSource, Dataset, JsonObject

RECORD_LISTS = ("records", "objects", "minions", "items")
"""Names under which an export of a quality memory lists its objects."""

_GRADERS = frozenset(
    {"string_check", "text_similarity", "score_model", "label_model", "multi", "python"}
)

_GRADED = frozenset({"input", "graders", "source"})
_TESTED = frozenset({"tests", "scenarios"})
_ROUND = frozenset({"prompts", "providers", "targets", "defaultTest"})


def is_quality_record(fields: dict[str, JsonValue]) -> bool:
    """Whether an object is of a quality memory, or an export that lists such objects."""
    # Only the first object of a list is checked: a list of a million must not be read to be named.
    lists = (fields.get(name) for name in RECORD_LISTS)
    firsts = (item[0] for item in lists if isinstance(item, list) and item)
    return any(is_object(each) for each in (fields, *firsts))


def is_object(value: JsonValue) -> bool:
    fields = as_mapping(value)
    return isinstance(fields.get("type"), str) and isinstance(fields.get("fields"), dict)


def _is_promptfoo_config(fields: dict[str, JsonValue]) -> bool:
    names = fields.keys()
    # One of these names alone is too common to say that a file is a configuration.
    is_whole = "providers" in names and "prompts" in names
    return is_whole or bool(_TESTED & names and _ROUND & names) or {"vars", "assert"} <= names


def is_promptfoo_results(fields: dict[str, JsonValue]) -> bool:
    inner = fields.get("results")
    listed = inner.get("results") if isinstance(inner, dict) else inner
    return {"vars", "success"} <= _first(listed).keys()


def is_graders(fields: dict[str, JsonValue]) -> bool:
    """Whether an object is a grader, or an evaluation with `testing_criteria`."""
    if isinstance(fields.get("testing_criteria"), list):
        return True
    kind = fields.get("type")
    # `type` alone would take an assertion of a suite for a grader.
    return isinstance(kind, str) and kind in _GRADERS and bool(_GRADED & fields.keys())


FileKind = Literal["suite", "rubric", "cases", "outputs", "replies", "labels"]
"""The kinds of file that are judgekit's own."""

_SUITE_FIELDS = frozenset({"rubric", "judge", "variants", "gate", "assertions"})

_PRODUCED = frozenset(
    {"text", "data", "output", "response", "completion", "trace", "error", "snapshot"}
)

_ASKED = frozenset({"input", *(name for name, own in CASE_ALIASES.items() if own == "input")})
# What only outputs have; a recorded reply with one of these is refused.
_OUTPUTS_OWN = (_PRODUCED - {"text"}) | _ASKED | {
    "reference", "expected", "context", "duration_ms", "run_id", "metadata",
}  # fmt: skip
REPLIES_OWN = frozenset({"criterion", "order", "turn", "attempt", "finish_reason", "logprobs"})
"""Fields that only recorded replies have."""

_PACKAGE = "judgekit.formats"


@dataclass(frozen=True, slots=True)
class ConversionSource:
    """A file whose cases are converted."""

    path: Path  # the file, or a skill's folder or zip
    cases: CaseSource  # can be iterated several times
    # The whole file where it is an `eval/tests.json`, converted to version 2.
    skill_tests: JsonObject | None = None
    # All objects of the file, where it is of a quality memory.
    quality_records: tuple[JsonObject, ...] = ()
    form: str | None = None  # the name of its format, where cases are written in that too
    # The fields of the file that neither its cases nor their dataset have.
    other_fields: JsonObject = field(default_factory=dict)
    is_suite: bool = False  # whether it is one of judgekit's suites already
    # The fields of a suite, where a file also says how its cases are run.
    suite_fields: JsonObject | None = None


# One document or the objects of a list; losses show when the file is read again.
WrittenCases: TypeAlias = "JsonObject | Iterable[JsonObject]"


@dataclass(frozen=True, slots=True)
class Format:
    """A format of another tool: how it is recognised, read and written.

    Readers and writers are named as `module:function` and imported when they are needed, because
    the records of a format take long to build.
    """

    title: str
    # Whether an object has this shape; of a list the first item is tested.
    matches: Callable[[dict[str, JsonValue]], bool]
    has_cases: bool = True
    reader: str | None = None  # None where the format is only recognised
    # Whether its reader finds outputs and labels too.
    is_log: bool = False
    outputs: str | None = None  # the reader of its outputs, where that is another
    # Whether it also says how its cases are run, so that it can be opened as a suite.
    is_suite: bool = False
    in_rows: bool = False  # whether it also occurs with one object per line
    name: str | None = None  # its name for `convert --to`; None where cases are not written in it
    summary: str = ""
    suffixes: tuple[str, ...] = (".json",)
    writer: str | None = None
    # The fields that its cases and their dataset have, where others are kept or listed as lost.
    fields: frozenset[str] = frozenset()
    remedy: str = "it holds results, not cases"

    def read(self, document: ParsedDocument) -> ForeignFile:
        """A file of this shape, with all its faults."""
        if self.reader is None:
            raise self._refusal(document)
        read: Callable[[ParsedDocument], ForeignFile] = _load(self.reader)
        return read(document)

    def output_rows(self, document: ParsedDocument) -> Iterator[FileRow] | None:
        """The outputs of a file of this shape; None for a format without outputs."""
        if self.is_log:
            return self.read(document).rows("outputs")
        if self.outputs is None:
            return None
        rows: Iterator[tuple[int, JsonObject]] = _load(self.outputs)(document)
        return (FileRow(line, fields) for line, fields in rows)

    def write(self, source: ConversionSource) -> WrittenCases:
        if self.writer is None:
            raise ValueError(f"cases are not written as {self.title}")
        write: Callable[[ConversionSource], WrittenCases] = _load(self.writer)
        return write(source)

    def read_or_refuse(self, document: ParsedDocument, *, unique: bool = True) -> Dataset:
        """The dataset of a file of this shape."""
        if self.reader is not None and self.has_cases:
            return self.read(document).dataset(unique=unique)
        raise self._refusal(document)

    def _refusal(self, document: ParsedDocument) -> DatasetError:
        message = f"this is {self.title}; it cannot be loaded as a dataset"
        return DatasetError(message, path=document.path, line=1, hint=self.remedy)


def _load(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(f"{_PACKAGE}.{module}"), name)


def _has(*names: str) -> Callable[[dict[str, JsonValue]], bool]:
    return lambda fields: fields.keys() >= {*names}


def _is_tool_export(shape: ToolShape, fields: dict[str, JsonValue]) -> bool:
    first = _first(tool_items(fields)[1])
    return shape.matches(first) and tool_shape(first) is shape


_SIGNALS = frozenset({"resourceSpans", "resource_spans", "resourceLogs", "resourceMetrics"})
_SPAN_IDS = frozenset({"spanId", "span_id"})


def _has_spans(fields: dict[str, JsonValue]) -> bool:
    # A table of Phoenix is flat.
    if _SIGNALS & fields.keys() or fields.keys() >= {"context.span_id", "context.trace_id"}:
        return True
    span = fields
    if "next_cursor" in fields or "spans" in fields:
        span = _first(fields.get("spans", fields.get("data")))
    is_named = bool(_SPAN_IDS & (span.keys() | as_mapping(span.get("context")).keys()))
    return is_named and {"name", "attributes"} <= span.keys()


# The first format that matches a file reads it. A tests.json may name fields that others have too,
# so its two versions come first.
FORMATS: tuple[Format, ...] = (
    Format(
        "a log of inspect_ai (eval, samples)",
        lambda v: {"task", "model"} <= as_mapping(v.get("eval")).keys(),
        reader="inspect_logs:read_inspect_log",
        is_log=True,
    ),
    Format(
        "an eval/tests.json, version 2 (profile, testCases)",
        lambda v: "testCases" in v,
        reader="skill_tests:read_skill_tests",
        is_suite=True,
        name="skill-tests",
        summary="eval/tests.json, version 2",
        writer="skill_tests:write_skill_tests",
        fields=frozenset({"version", "testCases"}),
    ),
    Format(
        "an eval/tests.json, version 1 (name, input, expectedOutput)",
        lambda v: _is_first_version(v) or _is_first_version(_first(v.get("tests"))),
        reader="skill_tests:read_skill_tests",
        is_suite=True,
        name="skill-tests-v1",
        summary="tests.json, version 1",
        writer="skill_tests:write_first_version",
        fields=frozenset({"version", "tests"}),
    ),
    Format(
        "a skill's evals.json (skill, cases with expectations)",
        lambda v: (
            "workflowName" not in v
            and ("expectations" in _first(v.get("cases")) or {"skill", "cases"} <= v.keys())
        ),
        reader="skill_evals:read_skill_evals",
        name="skill-evals",
        summary="a skill's evals.json",
        writer="skill_evals:write_skill_evals",
        fields=frozenset({"version", "skill", "cases"}),
    ),
    Format(
        "a workflow dataset (workflowName, cases)",
        _has("workflowName", "cases"),
        reader="skill_evals:read_workflow_dataset",
        name="workflow",
        summary="a workflow dataset with assertions",
        writer="skill_evals:write_workflow_dataset",
        fields=frozenset({"id", "workflowName", "version", "cases"}),
    ),
    Format(
        "an object of a quality memory (type, fields)",
        is_quality_record,
        reader="quality_memory:read_quality_records",
        outputs="quality_memory:quality_run_rows",
        in_rows=True,
        name="quality",
        summary="test-case, rubric and rubric-criterion records (.jsonl, .json)",
        suffixes=(".jsonl", ".json"),
        writer="quality_objects:quality_case_objects",
    ),
    Format(
        "results of promptfoo",
        is_promptfoo_results,
        has_cases=False,
        reader="promptfoo:check_promptfoo_results",
        outputs="promptfoo:promptfoo_result_rows",
    ),
    Format(
        "a configuration of promptfoo",
        _is_promptfoo_config,
        reader="promptfoo:read_promptfoo",
        is_suite=True,
    ),
    Format(
        "samples with messages (input, ideal)",
        # judgekit's own cases may have a field `ideal` in a table; only those have a `reference`.
        lambda v: {"input", "ideal"} <= v.keys() and "reference" not in v,
        reader="openai_evals:read_message_samples",
        in_rows=True,
    ),
    Format(
        "an evaluation of OpenAI with its items (testing_criteria, data_source)",
        _has("testing_criteria", "data_source"),
        reader="openai_evals:read_evaluation",
        is_log=True,
    ),
    Format(
        "evals of the registry of openai/evals (class, args)",
        lambda v: any(
            str(as_mapping(one).get("class")).startswith("evals.") and "args" in as_mapping(one)
            for one in v.values()
        ),
        reader="openai_evals:read_registry",
    ),
    Format(
        "a grader (type, name, input)",
        is_graders,
        has_cases=False,
        reader="openai_evals:check_graders",
        remedy="it holds criteria and checks, not cases: `judgekit convert FILE --to rubric -o "
        "rubric.yaml` makes a rubric of it",
    ),
    Format(
        "an export of the judge cache",
        _has("checksum", "key", "request"),
        has_cases=False,
        in_rows=True,
        remedy="it holds replies of judges; read it with `judgekit cache import`",
    ),
    *(
        Format(
            shape.title,
            partial(_is_tool_export, shape),
            has_cases=shape.holds in {"cases", "traces"},
            reader="tool_exports:read_tool_export",
            is_log=True,
            in_rows=True,
            remedy="it holds no cases: `judgekit grade` takes outputs, `judgekit calibrate` labels",
        )
        for shape in tool_shapes()
    ),
    Format(
        "OpenTelemetry spans (resourceSpans, or spans with their ids)",
        _has_spans,
        reader="tool_exports:read_span_file",
        is_log=True,
        in_rows=True,
    ),
    Format(
        "a history.json of skill versions",
        _has("versions", "current_version"),
        has_cases=False,
        reader="skill_evals:check_history",
    ),
    Format(
        "a grading.json",
        _has("case_id", "results", "overall_score"),
        has_cases=False,
        reader="skill_evals:check_grading",
    ),
    Format(
        "a comparison.json",
        _has("winner", "reasoning", "scores"),
        has_cases=False,
        reader="skill_evals:check_comparison",
    ),
    Format(
        "an analysis.json",
        _has("winner_version", "loser_version"),
        has_cases=False,
        reader="skill_evals:check_analysis",
    ),
)

# Columns that only one tool writes, and how its rows can be had in a form that is read.
_UNREAD_TABLES = {
    "__expected": "this is a table of tests of promptfoo: name it in a promptfooconfig.yaml, as "
    "`tests: FILE`, and run that",
    "context.span_id context.trace_id": "these are spans of Phoenix; they are read as JSON lines: "
    'df.reset_index().to_json("spans.jsonl", orient="records", lines=True)',
    "run_type inputs outputs": "these are runs of LangSmith; they are read as JSON, as "
    "`client.list_runs` gives them",
    "trace_id trace spans assessments": "these are traces of MLflow; they are read as JSON: "
    '[trace.toas_mapping() for trace in mlflow.search_traces(return_type="list")]',
}


def foreign_shape(value: JsonValue) -> Format | None:
    sample = value if isinstance(value, dict) else _first(value)
    return next((shape for shape in FORMATS if sample and shape.matches(sample)), None)


def foreign_row_shape(fields: dict[str, JsonValue]) -> Format | None:
    return next((shape for shape in FORMATS if shape.in_rows and shape.matches(fields)), None)


def document_kind(value: JsonValue) -> FileKind | None:
    if isinstance(value, list):
        return row_kind(_first(value))
    if not isinstance(value, dict):
        return None
    if "criteria" in value:
        return "rubric"
    # Cases with a field of a suite beside them are a suite with its cases inline.
    if "dataset" in value or ("cases" in value and _SUITE_FIELDS & value.keys()):
        return "suite"
    if "cases" in value:
        return "cases"
    # Exports wrap their rows in an object with one list.
    lists = [item for item in value.values() if isinstance(item, list)]
    return row_kind(_first(lists[0])) if len(lists) == 1 else None


def row_kind(fields: dict[str, JsonValue]) -> FileKind | None:
    # Its `criterion` or `order` distinguishes a recorded reply from an output; both have `repeat`.
    names = {name.removesuffix(TYPED_SUFFIX) for name in fields}
    if "annotator" in names:
        return "labels"
    is_repeat = "repeat" in names and not names & _OUTPUTS_OWN
    if "text" in names and (is_repeat or names & {"criterion", "order"}):
        return "replies"
    if names & _PRODUCED or ("answer" in names and "case_id" in names):
        return "outputs"
    if names & _ASKED and names & {"id", "case_id", "reference", "expected"}:
        return "cases"
    return None


def unread_table(names: Collection[str]) -> str | None:
    """What to do with a table that only one tool writes, and that is not read as it is."""
    known = (words for marks, words in _UNREAD_TABLES.items() if {*marks.split()} <= {*names})
    return next(known, None)


def _first(value: JsonValue) -> dict[str, JsonValue]:
    return as_mapping(value[0]) if isinstance(value, list) and value else {}


def _is_first_version(fields: dict[str, JsonValue]) -> bool:
    names = fields.keys()
    return {"name", "input"} <= names and bool(names & {"expectedOutput", "expectedPatterns"})


def is_row_file(path: Path) -> bool:
    return not folder_exists(path) and suffix_of(path) in {*LINE_SUFFIXES, *TABLE_SUFFIXES}


def is_read_whole(path: Path) -> bool:
    """Whether a path is read whole, rather than row by row."""
    if folder_exists(path) or is_archive(path) or suffix_of(path) in DOCUMENT_SUFFIXES:
        return True
    if suffix_of(path) not in {*LINE_SUFFIXES, ".csv"}:
        return False
    # The first row is enough: a file does not mix formats. The rows after a damaged one are read.
    first = next(scan_rows(path), None)
    if not isinstance(first, FileRow):
        return False
    # Any table may have such columns, unless the tool documents that it writes it.
    shape = tool_shape(first.fields) if first.is_table else foreign_row_shape(first.fields)
    return shape is not None and (isinstance(shape, Format) or shape.in_tables)


def is_foreign_file(path: Path) -> bool:
    """Whether a file is of another tool; False where it cannot be read."""
    try:
        if is_row_file(path):
            return is_read_whole(path)
        document = read_whole_document(path)
    except (DatasetError, OSError):  # whoever reads it reports why
        return False
    return document is not None and foreign_shape(document.value) is not None


def read_whole_document(path: Path) -> ParsedDocument | None:
    """The content of a path that is read whole; None for a file of rows."""
    if path.suffix.lower() == ".eval" and not folder_exists(path):
        from judgekit.formats.inspect_logs import read_log_archive  # noqa: PLC0415 - only for logs

        return read_log_archive(path)
    if folder_exists(path) or is_archive(path):
        from judgekit.formats.attachments import skill_document  # noqa: PLC0415 - zips

        return skill_document(path)
    if suffix_of(path) in DOCUMENT_SUFFIXES:
        try:
            return _without_index(read_document(path))
        except DatasetError:
            from judgekit.formats.inspect_logs import read_constants  # noqa: PLC0415 - for logs

            document = read_constants(path)
            shape = None if document is None else foreign_shape(document.value)
            if shape is None or not shape.is_log:
                raise
            return document
    if not is_read_whole(path):
        return None
    # Rows of other tools refer to each other, so all of them are in memory, as a document is.
    if path.stat().st_size > MAX_DOCUMENT_BYTES:
        limit = f"{MAX_DOCUMENT_BYTES >> 20} MiB"
        raise DatasetError(f"larger than {limit}", path=path, hint="split it into several files")
    return rows_document(path, list(iter_rows(path)))


def _without_index(document: ParsedDocument) -> ParsedDocument:
    """The rows of an answer of the dataset server of Hugging Face; any other document as it is."""
    value = document.value
    rows = value.get("rows") if isinstance(value, dict) and "features" in value else None
    items = objects_in(rows)
    if not isinstance(rows, list) or not items or "row_idx" not in items[0]:
        return document
    for place, item in enumerate(items):
        if cells := item.get("truncated_cells"):
            message = f"the server cut the cells {str(cells)[:80]} of this row"
            line = document.line_of("rows", place)
            hint = "ask it for fewer rows at a time, or download the whole file"
            raise DatasetError(message, path=document.path, line=line, hint=hint)
    found: list[JsonValue] = [
        {"id": f"row-{item['row_idx']}", **as_mapping(item.get("row"))} for item in items
    ]

    def lines() -> dict[KeyPath, int]:
        return {(place,): document.line_of("rows", place) for place in range(len(found))}

    return ParsedDocument(document.path, found, document.notes, lines)


def rows_document(path: Path, rows: Sequence[FileRow]) -> ParsedDocument:
    """Rows of another tool as one list, with the line of each."""
    value: list[JsonValue] = [
        {n: decode_value(v or None) for n, v in row.fields.items()} if row.is_table else row.fields
        for row in rows
    ]
    lines: dict[KeyPath, int] = {(place,): row.line for place, row in enumerate(rows)}
    return ParsedDocument(path, value, (), lambda: lines)
