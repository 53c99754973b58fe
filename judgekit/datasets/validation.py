"""Lists everything that is wrong with a file or a dataset; `loading` stops at the first fault."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import JsonValue, ValidationError

from judgekit import formats
from judgekit.datasets.labels import label_from_row
from judgekit.datasets.loading import (
    check_rubric,
    check_suite,
    map_columns,
    memory_rubric,
    read_dataset_header,
    rubric_path,
)
from judgekit.datasets.outputs import read_output, repeat_of, scan_output_rows
from judgekit.datasets.sources import open_cases
from judgekit.datasets.variants import expand_variants
from judgekit.errors import DatasetError, RubricError, SettingsError, UnknownNameError
from judgekit.formats import FieldFault, FileRow, ParsedDocument, Problem, problem_from_error
from judgekit.records import Case, Count, Dataset, Label, Name, Record, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from judgekit.datasets.suite import Suite


def dataset_problems(dataset: Dataset) -> list[Problem]:
    """What is wrong with cases that are valid one by one, or should be improved."""
    if not dataset.cases:
        remedy = "add a case; a result over no cases says nothing"
        return [Problem(severity="error", message="the dataset has no cases", remedy=remedy)]
    problems = list(_id_problems(dataset.cases))
    for case in dataset.cases:
        if case.input is None or (isinstance(case.input, str) and not case.input.strip()):
            problems.append(
                _warning(case, "the input is blank", "give the input of the system under test")
            )
        if word := formats.vague_word(case.description):
            message = f"the description says {word!r}, which nothing can contradict"
            remedy = "say what would be seen in the output, so it can be false"
            problems.append(_warning(case, message, remedy))
    # A case with an evaluation of its own needs no reference.
    n_missing = sum(
        case.reference is None
        and not (case.assertions or case.rubric is not None or case.evaluation is not None)
        for case in dataset.cases
    )
    if n_missing:
        message = f"cases without a reference: {n_missing} of {len(dataset.cases)}"
        remedy = "add a good answer where one is known; a judge without one guesses"
        problems.append(Problem(severity="warning", message=message, remedy=remedy))
    return problems


def validate_path(path: Path | str) -> list[Problem]:
    """Everything that is wrong with a file; its content determines what it is."""
    # Suites (with the dataset, rubric and outputs they name), rubrics, cases, outputs, recorded
    # replies, labels and files of other tools are known.
    return _file_problems(RowCheck(formats.as_path(path)))


def _file_problems(check: RowCheck) -> list[Problem]:
    path = check.path
    try:
        document = formats.read_whole_document(path) if formats.is_read_whole(path) else None
        if document is not None:
            return _document_problems(document, check)
    except DatasetError as error:
        return _damaged_rows(path) or [problem_from_error(error)]
    return _row_problems(check)


def _damaged_rows(path: Path) -> list[Problem]:
    """The problems of another tool's rows of which some cannot be read."""
    try:
        scanned = list(formats.scan_rows(path)) if formats.is_row_file(path) else []
    except DatasetError:
        return []
    rows = [row for row in scanned if isinstance(row, FileRow)]
    # The rows of judgekit's own files are checked one by one anyway.
    if not rows or formats.foreign_row_shape(rows[0].fields) is None:
        return []
    damaged = [problem_from_error(row) for row in scanned if isinstance(row, DatasetError)]
    found = [*_document_problems(formats.rows_document(path, rows), RowCheck(path)), *damaged]
    return sorted(found, key=lambda problem: problem.line or 0)


def _id_problems(cases: Iterable[Case]) -> Iterator[Problem]:
    exact: set[str] = set()
    folded: dict[str, str] = {}
    for case in cases:
        # Ids that differ only in case collide as file names on macOS and Windows.
        near = folded.setdefault(re.sub(r"[\W_]+", "-", case.id.casefold()), case.id)
        if case.id in exact:
            message = f"{formats.DUPLICATE_ID}: another case has it too, so that neither can be run"
            yield _warning(case, message, formats.DUPLICATE_REMEDY)
        elif near != case.id:
            message = f"the id is nearly the same as {near!r}"
            yield _warning(case, message, "give them names that differ more clearly")
        exact.add(case.id)


def _warning(case: Case, message: str, remedy: str) -> Problem:
    return Problem(severity="warning", message=message, case_id=case.id, remedy=remedy)


def _row_problems(
    check: RowCheck, rows: Iterable[FileRow | DatasetError] | None = None
) -> list[Problem]:
    """The problems of a file of rows; cases are examined as a dataset too."""
    try:
        check.take(scan_output_rows(check.path) if rows is None else rows)
    except (DatasetError, SettingsError) as error:
        # The rest of the file is unread, so nothing may be compared with the ids found so far.
        check.cases.clear()
        return [*check.problems, problem_from_error(error)]
    return [*check.problems, *_weak_rows(check)]


def _weak_rows(check: RowCheck) -> list[Problem]:
    return _weak_cases(check.cases, check.path, lambda case_id: check.lines.get((case_id,)))


def _weak_cases(
    cases: Sequence[Case], path: Path, line_of: Callable[[str | None], int | None]
) -> list[Problem]:
    """What should be improved in valid cases, each with its place."""
    found = dataset_problems(Dataset(name="cases", cases=tuple(cases))) if cases else []
    return [
        one.model_copy(update={"path": str(path), "line": line_of(one.case_id)}) for one in found
    ]


def _document_problems(document: ParsedDocument, check: RowCheck) -> list[Problem]:
    kind, value = formats.document_kind(document.value), document.value
    shape = formats.foreign_shape(value)
    if shape is not None:
        return _foreign_problems(shape, document, check)
    if kind == "suite":
        suite = check_suite(document)
        if isinstance(suite, list):
            return _placed(suite, document)
        return list(_suite_problems(suite, document))
    if kind == "rubric":
        return _rubric_problems(document)
    if kind is None and isinstance(value, dict):
        names = ", ".join(list(value)[:8]) or "none"
        message = f"cannot tell what this file is from its fields: {names}"
        remedy = "a rubric has `criteria`, a suite `dataset`, a dataset `cases`"
        return _placed([FieldFault((), message, remedy)], document)
    header = read_dataset_header(document) if kind == "cases" else []
    problems = _placed(header, document) if isinstance(header, list) else []
    check.kind = kind
    check.take(formats.document_rows(document))
    return [*problems, *check.problems, *_weak_rows(check)]


def _foreign_problems(
    shape: formats.Format, document: ParsedDocument, check: RowCheck
) -> list[Problem]:
    # Results of other tools are recognised so that the message can say what they are.
    if shape.reader is None:
        message = f"this is {shape.title}; it is not checked further"
        path = str(document.path)
        return [Problem(severity="warning", message=message, path=path, remedy=shape.remedy)]
    reading = shape.read(document)
    if shape.has_cases and not reading.cases and not reading.errors:
        reading.add((), "the file holds no cases", "a result over no cases says nothing; add one")
    check.cases += reading.cases
    weak = _weak_cases(
        reading.cases,
        document.path,
        lambda case_id: document.line_of(*reading.places.get(case_id or "", ())),
    )
    # Other tools' cases have rubrics and assertions of their own, and need no reference, so the
    # problem of the dataset as a whole is left out.
    problems = [*reading.problems, *(one for one in weak if one.case_id is not None)]
    return sorted(problems, key=lambda problem: problem.line or 0)


def _placed(
    faults: list[FieldFault], document: ParsedDocument, severity: formats.Severity = "error"
) -> list[Problem]:
    path, line_of = document.path, document.line_of
    return [
        formats.problem_from_fault(f, path, line_of(*f.where), severity=severity) for f in faults
    ]


def _rubric_problems(document: ParsedDocument, *, is_used: bool = False) -> list[Problem]:
    """The problems of a rubric; a suite that uses an inactive one cannot be run."""
    rubric = check_rubric(document)
    if isinstance(rubric, list):
        return _placed(rubric, document)
    problems: list[Problem] = []
    if not rubric.active:
        message = "the rubric is inactive, so nothing is judged by it"
        fault = FieldFault(("active",), message, "set `active: true` to use it again")
        problems += _placed([fault], document, "error" if is_used else "warning")
    weights = [criterion.weight for criterion in rubric.criteria]
    total = math.fsum(weights)
    # Shares that do not add up to 1; weights of 1 and more are plainly not shares.
    if not math.isclose(total, 1, abs_tol=1e-6) and max(weights) < 1:
        message = f"the weights add up to {total:g}, not 1; each counts as its share of that"
        remedy = "make them add up to 1, if they were meant as shares"
        problems += _placed([FieldFault(("criteria",), message, remedy)], document, "warning")
    return problems


def _suite_problems(suite: Suite, document: ParsedDocument) -> Iterator[Problem]:
    # Ids are unknown where no case was read: a broken dataset would make every output an error.
    case_ids: Collection[str] | None = None
    if suite.cases is not None:
        case_ids = {case.id for case in suite.cases}
        yield from _weak_cases(suite.cases, document.path, lambda _: document.line_of("cases"))
    elif suite.has_cases_in_outputs:
        yield from _described_case_problems(suite)
    elif (path := suite.dataset_path) is not None:
        # Rows that a suite names as its dataset are cases, even if they look like something else.
        is_rows = formats.is_row_file(path) and not formats.is_read_whole(path)
        check = RowCheck(path, "cases" if is_rows or suite.columns else None)
        mapped = _row_problems(check, _mapped_rows(path, suite)) if suite.columns else None
        yield from _file_problems(check) if mapped is None else mapped
        case_ids = {case.id for case in check.cases} or None
    yield from _suite_rubric_problems(suite.rubric_source, document, "rubric")
    for name in suite.extra_rubrics:
        yield from _suite_rubric_problems(suite.rubric_named(name), document, "extra_rubrics")
    yield from _variant_problems(suite, document, case_ids)


def _described_case_problems(suite: Suite) -> Iterator[Problem]:
    """What is wrong with the inputs of rows that are valid outputs; others are reported as such."""
    check = RowCheck(suite.resolve(suite.dataset or ""), "outputs")
    if not any(problem.severity == "error" for problem in _row_problems(check)):
        try:
            open_cases(suite).count()
        except DatasetError as error:
            yield problem_from_error(error)


def _variant_problems(
    suite: Suite, document: ParsedDocument, case_ids: Collection[str] | None
) -> Iterator[Problem]:
    for number, variant in enumerate(suite.variants):
        if variant.outputs is not None:
            yield from _row_problems(RowCheck(suite.resolve(variant.outputs), "outputs", case_ids))
        if variant.not_imported is not None:
            yield Problem(
                severity="warning",
                message=f"the variant {variant.id!r} cannot be called: {variant.not_imported}",
                path=str(document.path),
                line=document.line_of("variants", number),
                remedy="give it `model`, `outputs`, `command`, `python` or `http` in the place of "
                "`not_imported`",
            )
    try:
        expand_variants(suite)
    except SettingsError as error:
        place = {"path": str(document.path), "line": document.line_of("variants")}
        yield problem_from_error(error).model_copy(update=place)
    if not suite.variants:
        yield Problem(
            severity="warning",
            message="the suite names no variants, so there is nothing to grade",
            path=str(document.path),
            line=1,
            remedy="add `variants: [{id: v1, outputs: outputs.jsonl}]`",
        )


def _mapped_rows(path: Path, suite: Suite) -> Iterator[FileRow | DatasetError]:
    document = formats.read_whole_document(path)
    rows = formats.scan_rows(path) if document is None else formats.document_rows(document)
    yield from map_columns(rows, suite.columns, path)


def _suite_rubric_problems(
    source: Path | str | None, document: ParsedDocument, field: str
) -> list[Problem]:
    if source is None:
        return []
    try:
        path = rubric_path(source)
        is_of_memory = memory_rubric(path) is not None
        return [] if is_of_memory else _rubric_problems(formats.read_document(path), is_used=True)
    except (DatasetError, RubricError) as error:
        return [problem_from_error(error)]
    except UnknownNameError as error:
        # The name stands in the suite, so the problem does too.
        place = {"path": str(document.path), "line": document.line_of(field)}
        return [problem_from_error(error).model_copy(update=place)]


# The identity of a row in its file; the first entry is the id of the case.
_RowKey = tuple[object, ...]


class _ReplyLine(Record):
    case_id: Name
    variant: str | None = None
    criterion: str | None = None  # None when all criteria were one question
    order: Literal["ab", "ba"] | None = None
    repeat: Count = 0  # the number of the call, from 0
    attempt: Count = 0  # the number of the retry of an unreadable reply
    text: str | None = None
    logprobs: JsonValue = None  # as `recorded:` writes them; read in a layer above
    finish_reason: str | None = None
    model: str | None = None
    usage: Usage | None = None


@dataclass(slots=True)
class RowCheck:
    """The check of the rows of a file, with its results."""

    path: Path
    kind: formats.FileKind | None = None  # None takes it from the first row that can be read
    # The existing cases, for rows that refer to them; None where they are unknown.
    case_ids: Collection[str] | None = None
    problems: list[Problem] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    # The line of every valid row, and of every invalid case that has an id.
    lines: dict[_RowKey, int] = field(default_factory=dict)

    def take(self, rows: Iterable[FileRow | DatasetError]) -> Self:
        n_rows = 0
        for row in rows:
            n_rows += 1
            if isinstance(row, DatasetError):
                self.problems.append(problem_from_error(row))
            elif (self.kind or formats.row_kind(row.fields)) is None:
                # The other rows have the same fields, and would only repeat the message.
                names = ", ".join(list(row.fields)[:8]) or "no fields"
                message = f"cannot tell what these rows are from their fields: {names}"
                remedy = formats.unread_table(row.fields) or (
                    "cases have `id` and `input`, outputs `case_id` and `text`, replies also "
                    "`criterion`, labels `annotator`; to name other columns of cases: judgekit "
                    "convert FILE -o cases.jsonl --column NAME=input --column NAME=reference"
                )
                self._add(row, FieldFault((), message, remedy))
                return self
            else:
                self.kind = self.kind or formats.row_kind(row.fields)
                self._check(row)
        if n_rows == 0:
            hint = "a result over nothing says nothing"
            error = DatasetError("the file holds no rows", path=self.path, hint=hint)
            self.problems.append(problem_from_error(error))
        return self

    def _check(self, row: FileRow) -> None:
        # An unreadable row is reported and the next is read: all faults are listed at once.
        found = self._read(row)
        if isinstance(found, list):
            for fault in found:
                self._add(row, fault)
            name = row.fields.get("id")
            if self.kind == "cases" and isinstance(name, str) and name.strip():
                self._claim(row, (name,))  # outputs may refer to an invalid case, too
            return
        self._claim(row, found)
        if self.case_ids is not None and found[0] not in self.case_ids:
            near = formats.suggest_name(str(found[0]), self.case_ids)
            self._add(row, FieldFault((), f"no case has the id {found[0]!r}", near))
        if row.is_repaired:
            # Half of a character that takes two code units; no encoding can write it.
            warning = "a lone surrogate, which no file can hold, was replaced by U+FFFD"
            self._add(row, FieldFault((), warning), severity="warning")

    def _claim(self, row: FileRow, key: _RowKey) -> None:
        if key in self.lines:
            named = ", ".join(str(part) for part in key if part is not None)
            message = f"a duplicate: it appears twice ({named}); first in line {self.lines[key]}"
            self._add(row, FieldFault((), message, "rename or remove one"))
        else:
            self.lines[key] = row.line

    def _read(self, row: FileRow) -> _RowKey | list[FieldFault]:
        if self.kind == "cases":
            case = formats.read_case(row.fields, self.path.parent, is_table=row.is_table)
            if isinstance(case, list):
                return case
            if (case.id,) not in self.lines:
                self.cases.append(case)
            return (case.id,)
        if self.kind == "outputs":
            answer = read_output(row, folder=self.path.parent)
            if isinstance(answer, list):
                return answer
            return (answer.output.case_id, answer.output.variant, repeat_of(answer.output) or None)
        found = label_from_row(row) if self.kind == "labels" else _read_reply(row)
        if isinstance(found, Label):
            return (found.case_id, found.variant, found.criterion, found.repeat, found.annotator)
        return found

    def _add(
        self, row: FileRow, fault: FieldFault, *, severity: formats.Severity = "error"
    ) -> None:
        named = row.fields.get("id", row.fields.get("case_id"))
        case_id = str(named)[:80] if isinstance(named, str | int) else None
        self.problems.append(
            formats.problem_from_fault(
                fault, self.path, row.line, case_id=case_id, severity=severity
            )
        )


def _read_reply(row: FileRow) -> _RowKey | list[FieldFault]:
    fields = dict(row.fields)
    if row.is_table:
        fields, faults = formats.read_cells(fields, json_names=("usage",))
        if faults:
            return faults
    try:
        line = _ReplyLine.model_validate(formats.as_texts(fields, ("case_id", "variant")))
    except ValidationError as error:
        return formats.validation_faults(error, _ReplyLine, fields)
    return (line.case_id, line.variant, line.criterion, line.order, line.repeat, line.attempt)
