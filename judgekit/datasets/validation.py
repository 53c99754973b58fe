"""Finds everything that is wrong with a file or dataset at once, each with its line and remedy."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from judgekit.datasets.checking import check_rubric, check_suite, dataset_header
from judgekit.datasets.columns import map_columns
from judgekit.datasets.documents import Document, read_document
from judgekit.datasets.loading import rubric_path
from judgekit.datasets.opening import is_rows, is_whole, rows_document, whole_document
from judgekit.datasets.output_rows import scan_output_rows
from judgekit.datasets.problems import Problem, problem_from_error, problem_from_fault
from judgekit.datasets.recognition import (
    ForeignShape,
    document_kind,
    foreign_row_shape,
    foreign_shape,
)
from judgekit.datasets.row_checks import RowCheck
from judgekit.datasets.rows import Row, document_rows, scan_rows
from judgekit.datasets.texts import as_path
from judgekit.datasets.vagueness import vague_word
from judgekit.errors import DatasetError, SettingsError, UnknownNameError
from judgekit.records.case import Case, Dataset

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from judgekit.datasets.faults import Fault
    from judgekit.datasets.foreign.reading import Reading
    from judgekit.datasets.suite import Suite
    from judgekit.records.rubric import Rubric


def validate_dataset(dataset: Dataset) -> list[Problem]:
    """What should be mended in a dataset, though it is one.

    Args:
        dataset: The cases.

    Returns:
        An error for a dataset without cases; warnings for ids given twice (a run refuses them),
        ids that differ only in case or punctuation, blank inputs, missing references of cases
        that do not say how they are evaluated, and vague descriptions. Empty when all is well.
    """
    if not dataset.cases:
        remedy = "add a case; a result over no cases says nothing"
        return [Problem(severity="error", message="the dataset has no cases", remedy=remedy)]
    problems = list(_id_problems(dataset.cases))
    for case in dataset.cases:
        problems += _weaknesses(case)
    n_missing = sum(map(_lacks_reference, dataset.cases))
    if n_missing:
        message = f"{n_missing} of {len(dataset.cases)} cases have no reference"
        remedy = "add a good answer where one is known; a judge without one guesses"
        problems.append(Problem(severity="warning", message=message, remedy=remedy))
    return problems


def _lacks_reference(case: Case) -> bool:
    """A case that says itself how it is evaluated needs no reference beside that."""
    says_how = bool(case.assertions) or case.rubric is not None or case.evaluation is not None
    return case.reference is None and not says_how


def validate_path(path: Path | str) -> list[Problem]:
    """Everything that is wrong with a file; what it is, is seen from what it holds."""
    # Suites (with the dataset, rubric and outputs they name), rubrics, cases, outputs, recorded
    # replies, labels and files of other tools are known.
    path = as_path(path)
    try:
        document = whole_document(path) if _is_whole(path) else None
        if document is not None:
            return _document_problems(document)
    except DatasetError as error:
        return _damaged_rows(path) or [problem_from_error(error)]
    return _row_problems(RowCheck(path))


def _damaged_rows(path: Path) -> list[Problem]:
    """All that is wrong with another tool's rows of which some cannot be read."""
    try:
        scanned = list(scan_rows(path)) if is_rows(path) else []
    except DatasetError:
        return []
    rows = [row for row in scanned if isinstance(row, Row)]
    if not rows or foreign_row_shape(rows[0].fields) is None:
        return []
    damaged = [problem_from_error(row) for row in scanned if isinstance(row, DatasetError)]
    found = [*_document_problems(rows_document(path, rows)), *damaged]
    return sorted(found, key=lambda problem: problem.line or 0)


def _is_whole(path: Path) -> bool:
    """A file of rows whose first row cannot be read is gone through for all that is wrong."""
    try:
        return is_whole(path)
    except DatasetError:
        return not is_rows(path)


def _id_problems(cases: Iterable[Case]) -> Iterator[Problem]:
    exact: set[str] = set()
    folded: dict[str, str] = {}
    for case in cases:
        near = folded.setdefault(re.sub(r"[\W_]+", "-", case.id.casefold()), case.id)
        if case.id in exact:
            message = "a duplicate id: another case has it too, so that neither can be run"
            yield _warning(case, message, "rename one; ids name results and stored judgments")
        elif near != case.id:
            message = f"the id is nearly the same as {near!r}"
            yield _warning(case, message, "give them names that are told apart at a glance")
        exact.add(case.id)


def _weaknesses(case: Case) -> Iterator[Problem]:
    if case.input is None or (isinstance(case.input, str) and not case.input.strip()):
        yield _warning(case, "the input is blank", "give what the system is asked")
    if word := vague_word(case.description):
        message = f"the description says {word!r}, which nothing can contradict"
        yield _warning(case, message, "say what would be seen in the output, so it can be false")


def _warning(case: Case, message: str, remedy: str) -> Problem:
    return Problem(severity="warning", message=message, case_id=case.id, remedy=remedy)


def _row_problems(check: RowCheck) -> list[Problem]:
    """The problems of a file of rows; cases are looked at as a dataset too."""
    try:
        check.take(scan_output_rows(check.path))
    except DatasetError as error:
        return [*check.problems, problem_from_error(error)]
    return [*check.problems, *_weak_cases(check)]


def _weak_cases(check: RowCheck) -> list[Problem]:
    if not check.cases:
        return []
    found = validate_dataset(Dataset(name=check.path.name, cases=tuple(check.cases)))
    return [
        problem.model_copy(
            update={"path": str(check.path), "line": check.lines.get((problem.case_id,))}
        )
        for problem in found
    ]


def _document_problems(document: Document) -> list[Problem]:
    kind = document_kind(document.value)
    shape = foreign_shape(document.value)
    if shape is not None:
        return _foreign_problems(shape, document)
    if kind == "suite":
        suite = check_suite(document)
        if isinstance(suite, list):
            return _placed(suite, document)
        return list(_suite_problems(suite, document))
    if kind == "rubric":
        return _rubric_problems(document)
    if kind is None and isinstance(document.value, dict):
        return [_unknown_document(document)]
    header = dataset_header(document) if kind == "cases" else []
    problems = _placed(header, document) if isinstance(header, list) else []
    check = RowCheck(document.path, kind).take(document_rows(document))
    return [*problems, *check.problems, *_weak_cases(check)]


def _foreign_problems(shape: ForeignShape, document: Document) -> list[Problem]:
    """The problems of another tool's file; one that is only recognised is told for what it is."""
    if shape.reader is None:
        message = f"this is {shape.title}; it is not checked further"
        path = str(document.path)
        return [Problem(severity="warning", message=message, path=path, remedy=shape.remedy)]
    reading = shape.read(document)
    if shape.has_cases and not reading.cases and not reading.errors:
        reading.add((), "the file holds no cases", "a result over no cases says nothing; add one")
    problems = list(reading.problems)
    if reading.cases:
        weak = validate_dataset(Dataset(name="cases", cases=tuple(reading.cases)))
        problems += [_at_case(problem, reading) for problem in weak if not _is_said(problem)]
    return sorted(problems, key=lambda problem: problem.line or 0)


def _at_case(problem: Problem, reading: Reading) -> Problem:
    where = reading.places.get(problem.case_id or "", ())
    place = {"path": str(reading.document.path), "line": reading.document.line_of(*where)}
    return problem.model_copy(update=place)


def _is_said(problem: Problem) -> bool:
    """Other tools' cases have rubrics and assertions of their own, and need no reference."""
    return problem.case_id is None


def _placed(faults: list[Fault], document: Document) -> list[Problem]:
    return [
        problem_from_fault(fault, document.path, document.line_of(*fault.where)) for fault in faults
    ]


def _unknown_document(document: Document) -> Problem:
    value = document.value
    names = ", ".join(list(value)[:8]) if isinstance(value, dict) else ""
    return Problem(
        severity="error",
        message=f"cannot tell what this file is from its fields: {names or 'none'}",
        path=str(document.path),
        line=1,
        remedy="a rubric has `criteria`, a suite `dataset`, a dataset `cases`",
    )


def _rubric_problems(document: Document) -> list[Problem]:
    rubric = check_rubric(document)
    return _placed(rubric, document) if isinstance(rubric, list) else _weights(rubric, document)


def _weights(rubric: Rubric, document: Document) -> list[Problem]:
    """Weights that look like shares but do not add up to 1 are taken relative; say so."""
    weights = [criterion.weight for criterion in rubric.criteria]
    total = math.fsum(weights)
    if math.isclose(total, 1, abs_tol=1e-6) or max(weights) >= 1:
        return []
    return [
        Problem(
            severity="warning",
            message=f"the weights add up to {total:g}, not 1; each is taken as its share of that",
            path=str(document.path),
            line=document.line_of("criteria"),
            remedy="make them add up to 1, if they were meant as shares",
        )
    ]


def _suite_problems(suite: Suite, document: Document) -> Iterator[Problem]:
    case_ids: Collection[str] | None = None
    if suite.cases is not None:
        case_ids = {case.id for case in suite.cases}
        for problem in validate_dataset(Dataset(name=suite.name, cases=suite.cases)):
            line = document.line_of("cases")
            yield problem.model_copy(update={"path": str(document.path), "line": line})
    elif suite.dataset_path is not None and suite.columns:
        mapped, case_ids = _mapped_cases(suite.dataset_path, suite)
        yield from mapped
    elif suite.dataset_path is not None:
        path = suite.dataset_path
        own = is_rows(path) and not _is_whole(path)
        yield from _row_problems(RowCheck(path, "cases")) if own else validate_path(path)
        case_ids = _case_ids(path)
    yield from _suite_rubric_problems(suite, document)
    for variant in suite.variants:
        if variant.outputs is not None:
            yield from _row_problems(RowCheck(suite.resolve(variant.outputs), "outputs", case_ids))
    if not suite.variants:
        yield Problem(
            severity="warning",
            message="the suite names no variants, so there is nothing to grade",
            path=str(document.path),
            line=1,
            remedy="add `variants: [{id: v1, outputs: outputs.jsonl}]`",
        )


def _mapped_cases(path: Path, suite: Suite) -> tuple[list[Problem], Collection[str] | None]:
    """What is wrong with cases whose columns the suite maps, and their ids."""
    check = RowCheck(path, "cases")
    try:
        document = whole_document(path)
        rows = scan_rows(path) if document is None else document_rows(document)
        check.take(map_columns(_sound_rows(rows, check), suite.columns, path))
    except (DatasetError, SettingsError) as error:
        return [*check.problems, problem_from_error(error)], None
    return [*check.problems, *_weak_cases(check)], {case.id for case in check.cases} or None


def _sound_rows(rows: Iterable[Row | DatasetError], check: RowCheck) -> Iterator[Row]:
    """The rows that can be read; what is wrong with the others is noted."""
    for row in rows:
        if isinstance(row, DatasetError):
            check.problems.append(problem_from_error(row))
        else:
            yield row


def _suite_rubric_problems(suite: Suite, document: Document) -> list[Problem]:
    if suite.rubric_source is None:
        return []
    try:
        return _rubric_problems(read_document(rubric_path(suite.rubric_source)))
    except DatasetError as error:
        return [problem_from_error(error)]
    except UnknownNameError as error:
        problem = problem_from_error(error)
        line = document.line_of("rubric")
        return [problem.model_copy(update={"path": str(document.path), "line": line})]


def _case_ids(path: Path) -> Collection[str] | None:
    """The ids a dataset holds; None where it cannot be read, which was said already."""
    try:
        document = whole_document(path) if _is_whole(path) else None
        shape = None if document is None else foreign_shape(document.value)
        if document is not None and shape is not None and shape.reader is not None:
            return {case.id for case in shape.read(document).cases} or None
        cases = RowCheck(path, "cases").take(scan_rows(path)).cases
    except DatasetError:
        return None
    return {case.id for case in cases} or None
