"""Loads datasets, rubrics and suites, and stops at the first fault with its file and line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from judgekit.datasets.cases import read_case
from judgekit.datasets.checking import check_rubric, check_suite, dataset_header
from judgekit.datasets.columns import map_columns
from judgekit.datasets.documents import Document, read_document
from judgekit.datasets.opening import whole_document
from judgekit.datasets.recognition import foreign_shape
from judgekit.datasets.rows import Row, document_rows, iter_rows, suffix_of
from judgekit.datasets.suite import Suite, names_a_file
from judgekit.datasets.texts import as_path, is_file
from judgekit.errors import DatasetError, RubricError, SettingsError, UnknownNameError
from judgekit.records.case import Case, Dataset
from judgekit.shipped import shipped_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from judgekit.datasets.faults import Fault
    from judgekit.records.rubric import Rubric


def load_dataset(
    path: Path | str,
    *,
    allow_empty: bool = False,
    columns: Mapping[str, str] | None = None,
    unique: bool = False,
) -> Dataset:
    """The cases of a file.

    Cases with one id are all kept, and `validate_dataset` names them; what runs or grades cases
    loads them as `unique`, for an id names a result.

    Args:
        path: Rows with the fields of a case (JSONL, CSV, TSV, Parquet), or a JSON or YAML
            document: a list of cases, or `{name, version, cases: […]}`; or what another tool
            wrote, such as an `eval/tests.json`, its folder or a zip with it.
        allow_empty: Whether a file without cases is accepted.
        columns: The file's names of columns with the fields of a case they are
            (`{"question": "input"}`); all other columns go into the metadata.
        unique: Whether an id given twice is an error.

    Returns:
        The dataset; without a name of its own it is called as the file.

    Raises:
        DatasetError: At the first unsound case, for a file without cases, and for another tool's
            file that cannot be read, which is named; with `unique` at an id given twice.
    """
    path = as_path(path)
    document = whole_document(path)
    if document is not None:
        dataset = _from_document(document, columns, unique=unique)
    else:
        cases = _cases(iter_rows(path), path, columns, unique=unique)
        dataset = Dataset(name=table_name(path), cases=tuple(cases))
    if not dataset.cases and not allow_empty:
        raise no_cases(path)
    return dataset


def iter_cases(path: Path | str, *, columns: Mapping[str, str] | None = None) -> Iterator[Case]:
    """The cases of a file of rows, one in memory at a time; of them all only the ids are kept."""
    path = as_path(path)
    return _cases(iter_rows(path), path, columns, unique=True)


def table_name(path: Path) -> str:
    """What a file of rows is called as a dataset: its name without the ending."""
    return path.name.removesuffix(suffix_of(path)) or path.name


def no_cases(path: Path) -> DatasetError:
    """The error of a dataset without cases."""
    hint = "a result over no cases says nothing; add a case"
    return DatasetError("holds no cases", path=path, hint=hint)


def load_rubric(source: Path | str) -> Rubric:
    """A rubric from its file, or a shipped one.

    Args:
        source: A YAML or JSON file, or the name of a shipped rubric (`helpfulness`).

    Returns:
        The rubric.

    Raises:
        RubricError: When the file cannot be read or the rubric is unsound; every fault is named
            with file, line, field and remedy.
        UnknownNameError: When no shipped rubric is called so; lists the near ones.
    """
    path = rubric_path(source)
    try:
        document = read_document(path)
    except DatasetError as error:
        raise RubricError(error.message, hint=error.hint) from error
    rubric = check_rubric(document)
    if isinstance(rubric, list):
        raise RubricError(_all(rubric, document))
    return rubric


def rubric_path(source: Path | str) -> Path:
    """The file of a rubric."""
    if isinstance(source, Path) or names_a_file(source):
        return as_path(source)
    names = shipped_rubrics()
    name = source.strip().lower().replace("-", "_").replace(" ", "_")
    if name in names:
        return shipped_file("prompts", "rubrics", f"{name}.yaml")
    if is_file(as_path(source)):
        return as_path(source)
    raise UnknownNameError("rubric", source, names)


def shipped_rubrics() -> tuple[str, ...]:
    """The names of the rubrics that come with judgekit."""
    return tuple(sorted(path.stem for path in shipped_file("prompts", "rubrics").glob("*.yaml")))


def load_suite(path: Path | str) -> Suite:
    """The suite in a YAML or JSON file."""
    path = as_path(path)
    try:
        document = read_document(path)
    except DatasetError as error:
        raise SettingsError(error.message, hint=error.hint) from error
    suite = check_suite(document)
    if isinstance(suite, list):
        raise SettingsError(_all(suite, document))
    return suite


def _from_document(
    document: Document, columns: Mapping[str, str] | None, *, unique: bool
) -> Dataset:
    shape = None if columns else foreign_shape(document.value)
    if shape is not None:
        return shape.read_or_refuse(document, unique=unique)
    header = dataset_header(document)
    if isinstance(header, list):
        _raise_first(header, document.path, document=document)
    cases = _cases(_sound(document_rows(document)), document.path, columns, unique=unique)
    return header.model_copy(update={"cases": tuple(cases)})


def _sound(rows: Iterable[Row | DatasetError]) -> Iterable[Row]:
    for row in rows:
        if isinstance(row, DatasetError):
            raise row
        yield row


def _cases(
    rows: Iterable[Row], path: Path, columns: Mapping[str, str] | None, *, unique: bool
) -> Iterator[Case]:
    lines: dict[str, int] = {}
    for row in map_columns(rows, columns, path) if columns else rows:
        case = read_case(row.fields, is_table=row.is_table, is_repaired=row.is_repaired)
        if isinstance(case, list):
            _raise_first(case, path, line=row.line)
        if unique and case.id in lines:
            raise second_case(case.id, row.line, lines[case.id], path)
        lines[case.id] = row.line
        yield case


def second_case(case_id: str, line: int, first_line: int, path: Path) -> DatasetError:
    """The error of an id given twice."""
    return DatasetError(
        f"a duplicate id; first in line {first_line}",
        path=path,
        line=line,
        case_id=case_id,
        hint="rename one; ids name results and stored judgments",
    )


def _raise_first(
    faults: list[Fault], path: Path, *, line: int | None = None, document: Document | None = None
) -> NoReturn:
    first, others = faults[0], len(faults) - 1
    if document is not None:
        line = document.line_of(*first.where)
    more = f" (and {others} more; `judgekit validate` lists them)" if others else ""
    raise DatasetError(f"{first.message}{more}", path=path, line=line, hint=first.remedy)


def _all(faults: list[Fault], document: Document) -> str:
    path = document.path
    placed = sorted((document.line_of(*fault.where), str(fault)) for fault in faults)
    return "\n".join(f"{path}:{line}: {fault}" for line, fault in placed)
