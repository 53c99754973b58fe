"""Loads datasets, rubrics, suites, calibrations to the first fault; `validation` lists them all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import JsonValue, ValidationError

from judgekit import formats
from judgekit.datasets.benchmarks import benchmark_dataset
from judgekit.datasets.outputs import iter_described_cases
from judgekit.datasets.suite import Suite, names_a_file, of_file, suite_file
from judgekit.errors import (
    DatasetError,
    InputError,
    RubricError,
    SettingsError,
    UnknownNameError,
    known_names,
)
from judgekit.formats import FieldFault, Fields, FileRow, ParsedDocument, as_path, file_exists
from judgekit.records import Calibration, Case, Dataset, Rubric
from judgekit.resources import shipped_file

CaseData = Path | str | Dataset | Mapping[str, Any] | Iterable[Any]
"""Cases: a file, a dataset, parsed JSON, records, or a data frame."""


def load_dataset(
    path: CaseData,
    *,
    allow_empty: bool = False,
    columns: Mapping[str, str] | None = None,
    unique: bool = False,
    benchmark: str | None = None,
) -> Dataset:
    """The cases of a file, of parsed JSON, of records, or of a data frame.

    Cases with one id are all kept, and `validate_dataset` names them; what runs or grades cases
    loads them as `unique`, for an id names a result.

    Args:
        path: Rows with the fields of a case (JSONL, CSV, TSV, Parquet), or a JSON or YAML
            document: a list of cases, or `{name, version, cases: […]}`; or what another tool
            wrote, such as an `eval/tests.json`, its folder or a zip with it; or a suite, for its
            cases or those of the dataset it names. In memory: a list of mappings or of `Case`s, a
            mapping with `cases`, or a frame of pandas, polars, Arrow or Hugging Face; rows of which
            none has an id are called `row-1`, `row-2`, ….
        allow_empty: Whether a file without cases is accepted.
        columns: The file's names of columns with the fields of a case they are
            (`{"question": "input"}`); all other columns go into the metadata.
        unique: Whether an id given twice is an error.
        benchmark: Only the cases of this benchmark of a quality memory, by its id or name.

    Returns:
        The dataset; without a name of its own it is called as the file.

    Raises:
        DatasetError: At the first invalid case, for a file without cases, and for another tool's
            file that cannot be read, which is named; with `unique` at an id given twice.
        UnknownNameError: When the file has no such benchmark.
        SettingsError: When it has no benchmarks, or several of that name.
    """
    dataset: Dataset | None
    if isinstance(path, Path | str):
        place = as_path(path)
        # Documents and foreign files are read whole: their records refer to each other.
        document, dataset = formats.read_whole_document(place), None
        if document is not None and formats.document_kind(document.value) == "suite":
            suite = check_suite(document)
            if isinstance(suite, list):
                raise _first_error(suite, place, document.line_of(*suite[0].where))
            columns, benchmark = columns or suite.columns, benchmark or suite.benchmark
            dataset = _cases_of_suite(suite, columns)
            # A suite names a dataset, never another suite, which could name the first.
            place = suite.dataset_path or place
            document = formats.read_whole_document(place) if dataset is None else None
        dataset = dataset or _read_dataset(place, document, columns, unique=unique)
    else:
        place = _IN_MEMORY
        dataset = _dataset_in_memory(path, columns, unique=unique)
    if benchmark is not None:
        dataset = benchmark_dataset(dataset, benchmark, place)
    if not dataset.cases and not allow_empty:
        raise no_cases(place)
    return dataset


def _cases_of_suite(suite: Suite, columns: Mapping[str, str]) -> Dataset | None:
    """The cases in a suite, or in the rows of its outputs; None where they are a file's own."""
    if suite.dataset_path is None:
        return Dataset(name=suite.name, version=str(suite.version), cases=suite.cases or ())
    if suite.has_cases_in_outputs and not columns:
        cases = tuple(iter_described_cases(suite.dataset_path))
        return Dataset(name=dataset_name(suite.dataset_path), cases=cases)
    return None


_IN_MEMORY = Path("cases")  # what messages call data that no file has


def _dataset_in_memory(
    data: Dataset | Mapping[str, Any] | Iterable[Any],
    columns: Mapping[str, str] | None,
    *,
    unique: bool,
) -> Dataset:
    # What the JSON or YAML of a file was parsed to; another tool's format is known by its fields.
    parsed = dict(data) if isinstance(data, Mapping) else data
    if isinstance(parsed, dict) or (
        isinstance(parsed, list) and formats.foreign_shape(parsed) is not None
    ):
        document = ParsedDocument(_IN_MEMORY, parsed)
        return _read_dataset(_IN_MEMORY, document, columns, unique=unique)
    if isinstance(data, Dataset):
        cases = data.cases
    else:
        rows = formats.with_row_ids(formats.memory_rows(data, _IN_MEMORY.name), ("id", "case_id"))
        cases = tuple(case for row in rows for case in _memory_cases(row, columns))
    if unique:
        first: dict[str, int] = {}
        for place, case in enumerate(cases):
            if first.setdefault(case.id, place) != place:
                raise DatasetError(
                    f"the id {case.id!r} is a duplicate; first in cases[{first[case.id]}]",
                    path=f"cases[{place}]",
                    hint="rename one",
                )
    return data if isinstance(data, Dataset) else Dataset(name=_IN_MEMORY.name, cases=cases)


def _memory_cases(row: formats.MemoryRow, columns: Mapping[str, str] | None) -> Iterator[Case]:
    if isinstance(row.value, Case):
        return iter((row.value,))
    if not isinstance(row.value, dict):
        raise InputError(
            f"{row.place}: a {type(row.value).__name__} is no case",
            hint="write {'id': …, 'input': …}, or jk.Case(id=…, input=…)",
        )
    only = FileRow(0, row.value, is_table=row.is_table)
    return _cases([only], Path(row.place), columns, unique=False)


def iter_cases(path: Path | str, *, columns: Mapping[str, str] | None = None) -> Iterator[Case]:
    """The cases of a file of rows, one in memory at a time; only their ids are kept."""
    path, is_empty = as_path(path), True
    for case in _cases(formats.iter_rows(path), path, columns, unique=True):
        yield case
        is_empty = False
    # Only the end of a stream shows that it was empty.
    if is_empty:
        raise no_cases(path)


def dataset_name(path: Path) -> str:
    """The name of a file of rows as a dataset: without its suffix."""
    return path.name.removesuffix(formats.suffix_of(path)) or path.name


def no_cases(path: Path, problems: Iterable[formats.Problem] = ()) -> DatasetError:
    hint = "a result over no cases says nothing; add a case"
    for one in problems:
        if one.severity == "left_out":
            message = f"holds no cases: {one.message}"
            return DatasetError(message, path=path, line=one.line, hint=one.remedy or hint)
    return DatasetError("holds no cases", path=path, hint=hint)


def load_rubric(source: Path | str) -> Rubric:
    """A rubric from its file, or a shipped one.

    Args:
        source: A YAML or JSON file, the name of a shipped rubric (`helpfulness`), or a rubric of a
            quality memory by its id (`memory.json#rub-7`).

    Returns:
        The rubric.

    Raises:
        RubricError: When the file cannot be read or the rubric is invalid; every fault is named
            with file, line, field and remedy.
        UnknownNameError: When no shipped rubric is called so; lists the near ones.
    """
    path = rubric_path(source)
    if (found := memory_rubric(path)) is not None:
        return found
    document = _own_document(path, RubricError)
    rubric = check_rubric(document)
    if isinstance(rubric, list):
        raise RubricError(_all(rubric, document))
    return rubric


def memory_rubric(path: Path) -> Rubric | None:
    """The rubric `memory.json#ID` of a quality memory; None for a rubric's own file."""
    path, key = _split_rubric_id(path)
    if key is None and formats.suffix_of(path) not in _MEMORY_SUFFIXES:
        return None
    try:
        document = formats.read_whole_document(path)
        shape = None if document is None else formats.foreign_shape(document.value)
        if document is None or shape is None or shape.name != "quality":
            if key is None:
                return None
            raise RubricError(
                f"{path} is no quality memory, so none of its rubrics is called {key!r}",
                hint=f"name the rubric's own file: {path}",
            )
        rubrics = formats.quality_rubrics(document)
    except DatasetError as error:
        raise RubricError(str(error), hint=error.hint) from error
    key = next(iter(rubrics)) if key is None and len(rubrics) == 1 else key
    if key is None:
        listed = ", ".join(f"{path}#{one}" for one in rubrics) or "export its `rubric` objects"
        raise RubricError(f"{path} holds {len(rubrics)} rubrics", hint=f"name one: {listed}")
    if key not in rubrics:
        raise RubricError(f"no rubric of {path} has the id {key!r}", hint=known_names([*rubrics]))
    rubric = check_rubric(ParsedDocument(path, rubrics[key]))
    if isinstance(rubric, list):
        raise RubricError(f"{path}: the rubric {key!r}: {rubric[0]}")
    return rubric


_MEMORY_SUFFIXES = (".json", ".jsonl")


def _split_rubric_id(path: Path) -> tuple[Path, str | None]:
    text = str(path)
    # Both ids and names of folders may contain the sign: the first part that is a file is the file.
    for place, sign in enumerate(text):
        if sign == "#" and file_exists(base := Path(text[:place])):
            return base, text[place + 1 :]
    return path, None


def rubric_path(source: Path | str) -> Path:
    if isinstance(source, Path) or names_a_file(source):
        return as_path(source)
    # A shipped name wins over a file of that name without an ending; `./name` means the file.
    names = shipped_rubrics()
    name = source.strip().lower().replace("-", "_").replace(" ", "_")
    if name in names:
        return shipped_file("prompts", "rubrics", f"{name}.yaml")
    if file_exists(as_path(source)):
        return as_path(source)
    raise UnknownNameError("rubric", source, names)


def shipped_rubrics() -> tuple[str, ...]:
    """The names of the rubrics that come with judgekit."""
    return tuple(sorted(path.stem for path in shipped_file("prompts", "rubrics").glob("*.yaml")))


def load_suite(path: Path | str) -> Suite:
    """The suite in a YAML or JSON file."""
    document = _own_document(path)
    suite = check_suite(document)
    if isinstance(suite, list):
        raise SettingsError(_all(suite, document))
    return suite


# A message that begins with a file and a line.
_PLACED = re.compile(r"\S+:\d+: ")


def suite_place(suite: Suite, *where: str | int) -> str:
    """Where a field of a suite stands, as `suite.yaml:12: `; empty for one without a file."""
    if (file := suite_file(suite)) is None:
        return ""
    # Read again, because lines are needed only where something is wrong.
    document, name = formats.read_document(file), str(where[0])
    # An option of the command line may have replaced it.
    is_there = getattr(check_suite(document), name, None) == getattr(suite, name)
    return f"{file}:{document.line_of(*where)}: " if is_there else ""


@contextmanager
def naming_place(suite: Suite, *where: str | int) -> Iterator[None]:
    """Say in errors at which field of a suite they arose, unless they name a line themselves."""
    try:
        yield
    except InputError as error:
        if not _PLACED.match(error.message):
            error.message = suite_place(suite, *where) + error.message
        raise


def criterion_place(source: Path | str | None, fault: str) -> str:
    """Where the criterion of a fault stands in its rubric's file; empty if it is of none."""
    # Errors begin so that a judge raises, and not those that name a place already.
    if source is None or not fault.startswith(("criterion ", "template ")):
        return ""
    # A quality memory holds many rubrics.
    if memory_rubric(path := rubric_path(source)) is not None:
        return ""
    for place, criterion in enumerate(load_rubric(path).criteria):
        if f"criterion {criterion.name!r}" in fault:
            return f"{path}:{formats.read_document(path).line_of('criteria', place)}: "
    return ""


def load_suite_rubric(suite: Suite) -> Rubric | None:
    """The rubric that a suite names."""
    with naming_place(suite, "rubric"):
        return None if suite.rubric_source is None else load_rubric(suite.rubric_source)


def _own_document(
    path: Path | str, kind: type[RubricError | SettingsError] = SettingsError
) -> ParsedDocument:
    try:
        return formats.read_document(path)
    except DatasetError as error:
        raise kind(error.message, hint=error.hint) from error


def _read_dataset(
    path: Path, document: ParsedDocument | None, columns: Mapping[str, str] | None, *, unique: bool
) -> Dataset:
    if document is None:
        cases = _cases(formats.iter_rows(path), path, columns, unique=unique)
        return Dataset(name=dataset_name(path), cases=tuple(cases))
    # Columns are only mapped in judgekit's own rows; whoever names them says what the file is.
    shape = None if columns else formats.foreign_shape(document.value)
    if shape is not None:
        return shape.read_or_refuse(document, unique=unique)
    header = read_dataset_header(document)
    if isinstance(header, list):
        raise _first_error(header, path, document.line_of(*header[0].where))
    cases = _cases(
        formats.raise_damaged(formats.document_rows(document)), path, columns, unique=unique
    )
    return header.model_copy(update={"cases": tuple(cases)})


def _cases(
    rows: Iterable[FileRow], path: Path, columns: Mapping[str, str] | None, *, unique: bool
) -> Iterator[Case]:
    lines: dict[str, int] = {}
    for row in formats.raise_damaged(map_columns(rows, columns, path)) if columns else rows:
        case = formats.read_case(
            row.fields, path.parent, is_table=row.is_table, is_repaired=row.is_repaired
        )
        if isinstance(case, list):
            if formats.row_kind(row.fields) == "outputs":
                raise DatasetError(_OUTPUT_ROWS, path=path, line=row.line, hint=_OUTPUTS_HINT)
            raise _first_error(case, path, row.line)
        if unique and case.id in lines:
            raise _first_error(
                [formats.duplicate_id_fault(lines[case.id])], path, row.line, case.id
            )
        lines[case.id] = row.line
        yield case


_OUTPUT_ROWS = "this row is a recorded output, not a case"
_OUTPUTS_HINT = (
    "to grade a file whose rows have outputs and their inputs: `judgekit grade FILE`; in a suite, "
    "name the file both as `dataset` and as the `outputs` of a variant"
)


def _first_error(
    faults: list[FieldFault], path: Path, line: int, case_id: str | None = None
) -> DatasetError:
    message, hint = formats.first_message(faults[0].message, len(faults)), faults[0].remedy
    return DatasetError(message, path=path, line=line, case_id=case_id, hint=hint)


def _all(faults: list[FieldFault], document: ParsedDocument) -> str:
    path = document.path
    placed = sorted((document.line_of(*fault.where), str(fault)) for fault in faults)
    return "\n".join(f"{path}:{line}: {fault}" for line, fault in placed)


_RUBRIC_SYNONYMS = {
    "threshold": "pass_threshold", "passingThreshold": "pass_threshold",
    "passing_threshold": "pass_threshold", "scoringGuide": "scoring_guide",
    "guide": "scoring_guide", "prompt": "question", "dimensions": "criteria", "label": "name",
    "score": "value",
}  # fmt: skip

_SUITE_SYNONYMS = {"judges": "judge", "targets": "variants", "checks": "assertions"}

# Common names of a field with an API key, which some put into a suite.
_KEY_NAMES = frozenset({"api_key", "apiKey", "key", "token"})


def check_rubric(document: ParsedDocument) -> Rubric | list[FieldFault]:
    value = document.value
    if not isinstance(value, dict):
        return [_not_a_mapping(value, "a rubric", "name, criteria, pass_threshold")]
    try:
        return Rubric.model_validate(value)
    except ValidationError as error:
        return formats.validation_faults(error, Rubric, value, synonyms=_RUBRIC_SYNONYMS)


def check_suite(document: ParsedDocument) -> Suite | list[FieldFault]:
    value = document.value
    if not isinstance(value, dict):
        return [_not_a_mapping(value, "a suite", "name, dataset, rubric, judge, variants")]
    fields, faults = _with_cases(value, document.path.parent)
    try:
        suite = Suite.model_validate(fields)
    except ValidationError as error:
        for fault in formats.validation_faults(error, Suite, value, synonyms=_SUITE_SYNONYMS):
            is_key = bool(fault.where) and fault.where[-1] in _KEY_NAMES
            remedy = "keys come from the environment, never from a file" if is_key else fault.remedy
            faults.append(FieldFault(fault.where, fault.message, remedy))
        return faults
    return faults or of_file(suite, document.path)


def read_dataset_header(document: ParsedDocument) -> Dataset | list[FieldFault]:
    """The dataset of a document without its cases, or its faults."""
    stem = document.path.stem
    value = document.value
    if isinstance(value, list):
        return Dataset(name=stem, cases=())
    if not isinstance(value, dict):
        return [_not_a_mapping(value, "a dataset", "name, version, cases")]
    if not isinstance(value.get("cases"), list):
        remedy = "write `cases:` with a list of cases, or a file with one case a line (.jsonl)"
        return [FieldFault((), "a dataset needs a list of `cases`", remedy)]
    header: Fields = {name: item for name, item in value.items() if item is not None}
    version = header.get("version")
    # YAML reads `version: 1.10` as the number 1.1; quoting it keeps it.
    if isinstance(version, float):
        header["version"] = str(version)
    try:
        return Dataset.model_validate(
            {"name": stem, **formats.as_texts(header, ("name", "version")), "cases": ()}
        )
    except ValidationError as error:
        return formats.validation_faults(error, Dataset, value)


def _not_a_mapping(value: JsonValue, what: str, names: str) -> FieldFault:
    kind = "an empty file" if value is None else formats.json_kind(value)
    return FieldFault((), f"{what} is a mapping of fields, not {kind}", f"write {names}")


def _with_cases(suite: Fields, folder: Path) -> tuple[dict[str, object], list[FieldFault]]:
    listed = suite.get("cases")
    if not isinstance(listed, list):
        return dict(suite), []
    cases: list[Case] = []
    faults: list[FieldFault] = []
    first: dict[str, int] = {}
    for index, item in enumerate(listed):
        if isinstance(item, dict):
            case = formats.read_case(item, folder)
        else:
            case = [_not_a_mapping(item, "a case", "id")]
        if isinstance(case, list):
            faults += [FieldFault(("cases", index, *f.where), f.message, f.remedy) for f in case]
        elif case.id in first:
            message = f"the id {case.id!r} is a duplicate; first in case {first[case.id] + 1}"
            faults.append(FieldFault(("cases", index, "id"), message, "rename one"))
        else:
            first[case.id] = index
            cases.append(case)
    # A placeholder prevents the message "cases is empty" where all cases are invalid.
    if listed and not cases:
        cases = [Case(id="invalid", input=None)]
    return {**suite, "cases": tuple(cases)}, faults


_METADATA = "metadata."


def map_columns(
    rows: Iterable[FileRow | DatasetError], columns: Mapping[str, str], path: Path
) -> Iterator[FileRow | DatasetError]:
    """The rows under the names of a case's fields; errors pass unchanged."""
    # A column that is neither mapped nor a field of a case goes into the metadata. A row without an
    # id is called `row-N`, N its place in the file from 1.
    _check(columns)
    unseen = dict(columns)
    known: dict[str, None] = {}
    # Columns may be missing in single rows of JSONL, so a name is only unknown after all rows.
    for place, row in enumerate(rows, start=1):
        if isinstance(row, DatasetError):
            yield row
            continue
        if not known:
            # A wrong name is reported as such, rather than as the field that is then missing.
            for name, field in columns.items():
                if name not in row.fields and field in {"id", "input"}:
                    near = formats.suggest_name(name, row.fields)
                    message = f"there is no column {name!r}"
                    raise DatasetError(message, path=path, line=row.line, hint=near)
        for name in row.fields:
            unseen.pop(name, None)
            known.setdefault(name)
        yield replace(row, fields=_renamed(row, columns, place))
    for name in unseen if known else ():
        message = f"there is no column {name!r}"
        raise DatasetError(message, path=path, hint=formats.suggest_name(name, known))


def _check(columns: Mapping[str, str]) -> None:
    names: dict[str, str] = {}
    for name, field in columns.items():
        if field not in Case.model_fields and not field.startswith(_METADATA):
            hint = formats.suggest_name(field, Case.model_fields, formats.CASE_ALIASES)
            raise SettingsError(
                f"the column {name!r} is mapped to {field!r}, which is no field of a case",
                hint=f"{hint} (or `metadata.{field}`)",
            )
        if field in names:
            both = f"{names[field]!r} and {name!r}"
            raise SettingsError(f"the columns {both} are both mapped to {field!r}")
        names[field] = name


def _renamed(row: FileRow, columns: Mapping[str, str], place: int) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    own: dict[str, JsonValue] = {}
    for name, value in row.fields.items():
        field = columns.get(name, name)
        if field.startswith(_METADATA):
            own[field.removeprefix(_METADATA)] = value
        # An unmapped column may be a field of a case, under its own name or a usual one.
        elif name in columns or (
            (meant := name if name in Case.model_fields else formats.CASE_ALIASES.get(name))
            is not None
            and meant not in columns.values()
        ):
            found[field] = value
        else:
            own[name] = value
    if not {"id", "case_id"} & found.keys():
        found["id"] = f"row-{place}"
    if row.is_table:  # whose cells are read later, when these names join the column `metadata`
        return {**found, **{f"{_METADATA}{name}": value for name, value in own.items()}}
    metadata = found.get("metadata", {})
    if own and isinstance(metadata, dict):
        found["metadata"] = {**own, **metadata}
    return found


_AGAIN = "write it again: judgekit calibrate LABELS … --write-map"


def load_calibration(path: Path | str) -> Calibration:
    """The calibration in a file that `judgekit calibrate --write-map` wrote.

    Args:
        path: The file.

    Returns:
        Its maps.

    Raises:
        SettingsError: When it cannot be read, or is no such file.
    """
    document = _own_document(path)
    try:
        return Calibration.model_validate(document.value)
    except ValidationError as error:
        fault = formats.validation_faults(error, Calibration, document.value)[0]
        line = document.line_of(*fault.where)
        raise SettingsError(
            f"{document.path}:{line}: this is no file of calibration maps: {fault.message}",
            hint=_AGAIN,
        ) from error


def find_calibrations(path: Path | str) -> list[tuple[Path, Calibration]]:
    """The calibrations of a file, or of all files in a folder."""
    place = as_path(path)
    files = sorted(place.glob("*.json")) if formats.folder_exists(place) else [place]
    if not files or not (formats.folder_exists(place) or file_exists(place)):
        raise SettingsError(
            f"there is no calibration {place}" if files else f"{place} holds no calibration maps",
            hint="write one: judgekit calibrate LABELS --write-map",
        )
    return [(file, load_calibration(file)) for file in files]
