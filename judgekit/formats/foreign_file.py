"""The base of every foreign format: records that keep unknown fields, a file while it is read."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

from pydantic import ConfigDict, JsonValue, ValidationError
from pydantic.alias_generators import to_camel

from judgekit.errors import DatasetError, NotImportedWarning, ScriptsNeededWarning
from judgekit.formats.problems import (
    DUPLICATE_ID,
    FieldFault,
    Problem,
    Severity,
    duplicate_id_fault,
    first_message,
    json_kind,
    problem_from_fault,
    suggest_name,
    vague_word,
    validation_faults,
)
from judgekit.formats.rows import FileRow, as_texts, read_cells, rename_fields
from judgekit.formats.text import TEXT_REPAIRED, KeyPath, without_nulls
from judgekit.records import Case, Dataset, JsonObject, Record, with_memory_objects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from judgekit.formats.documents import ParsedDocument


class SnakeRecord(Record):
    """A part of another tool's file; unknown fields are kept as they are."""

    # `defer_build`: a format's records take long to build, and most runs read no foreign file.
    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    # Names beyond the format that judgekit itself writes.
    additions: ClassVar[frozenset[str]] = frozenset()

    @property
    def extra(self) -> JsonObject:
        return dict(self.model_extra or {})


class CamelRecord(SnakeRecord):
    """The same for files with namesLikeThis."""

    model_config = ConfigDict(alias_generator=to_camel)

    def as_given(self) -> JsonObject:
        """The record under the file's own names, without defaults."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


def unknown_fields(
    record: SnakeRecord, at: KeyPath = ()
) -> Iterator[tuple[KeyPath, tuple[str, ...]]]:
    """The unknown fields of a record and of the records in it, with the known names."""
    fields = type(record).model_fields
    known = tuple(field.alias or name for name, field in fields.items())
    for name in record.extra:
        if name not in record.additions:
            yield (*at, name), known
    for name, field in fields.items():  # noqa: F402
        value = getattr(record, name)
        place = (*at, field.alias or name)
        if isinstance(value, SnakeRecord):
            yield from unknown_fields(value, place)
        for index, item in enumerate(value if isinstance(value, tuple) else ()):
            if isinstance(item, SnakeRecord):
                yield from unknown_fields(item, (*place, index))


NEEDS_SCRIPTS = "is run only with --allow-scripts"
"""In the message on a part of a file that is code and can be run."""

# How many unknown names are compared with the known ones; a file may have millions.
_LOOKED_UP_MAX = 5_000
AnyRecord = TypeVar("AnyRecord", bound="Record")


@dataclass(slots=True)
class ForeignFile:
    """A file of another tool while it is read, and after."""

    document: ParsedDocument
    problems: list[Problem] = field(default_factory=list)  # errors and warnings, in the order found
    cases: list[Case] = field(default_factory=list)  # the valid cases, each id once
    # Valid cases with a duplicate id, each with its position among `cases`.
    doubles: list[tuple[int, Case]] = field(default_factory=list)
    places: dict[str, KeyPath] = field(default_factory=dict)
    # Where each id stands, of invalid cases too, so that a duplicate is found at once.
    claimed: dict[str, KeyPath] = field(default_factory=dict)
    # Where each assertion of a case stands, where the file lists them one by one.
    spec_places: dict[str, list[KeyPath]] = field(default_factory=dict)
    header: JsonObject = field(default_factory=dict)  # the dataset's name, version and description
    # Objects of a quality memory that a run of its cases carries on, as they stand in the file.
    memory_objects: tuple[JsonObject, ...] = ()
    # Rows of an outputs file and of a file of labels, each with its place; only logs have them.
    outputs: list[tuple[KeyPath, JsonObject]] = field(default_factory=list)
    labels: list[tuple[KeyPath, JsonObject]] = field(default_factory=list)
    replies: list[tuple[KeyPath, JsonObject]] = field(default_factory=list)
    head: Record | None = None  # what the file says beside its cases, where that is of use
    _looked_up: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict, repr=False)
    _left_out: set[tuple[KeyPath, str]] = field(default_factory=set, repr=False)

    def add(
        self,
        where: KeyPath,
        message: str,
        remedy: str | None = None,
        *,
        case_id: str | None = None,
        severity: Severity = "error",
    ) -> None:
        fault, line = FieldFault(where, message, remedy), self.document.line_of(*where)
        path = self.document.path
        problem = problem_from_fault(fault, path, line, case_id=case_id, severity=severity)
        self.problems.append(problem)

    def warn(
        self, where: KeyPath, message: str, remedy: str | None = None, *, case_id: str | None = None
    ) -> None:
        self.add(where, message, remedy, case_id=case_id, severity="warning")

    def leave_out(
        self, at: KeyPath, message: str, remedy: str | None = None, *, case_id: str | None = None
    ) -> None:
        # What stands once, in a default or a file, may be met once for every case.
        if (at, message) not in self._left_out:
            self._left_out.add((at, message))
            self.add(at, message, remedy, case_id=case_id, severity="left_out")

    def not_imported(
        self,
        what: str,
        at: KeyPath,
        reason: str,
        remedy: str | None = None,
        *,
        case_id: str | None = None,
        script: JsonObject | None = None,
    ) -> JsonObject:
        """Leave out an assertion or a transform; the spec that marks its case in every result.

        With `script`, the assertion that takes its place where scripts are allowed.
        """
        self.leave_out(at, f"`{what[:60]}` is not imported: {reason}", remedy, case_id=case_id)
        line = self.document.line_of(*at)
        mark: JsonObject = {
            "type": "not_imported",
            "what": what[:60],
            "reason": reason,
            "line": line,
        }
        return mark if script is None else {**mark, "script": script}

    def record(
        self,
        model: type[AnyRecord],
        value: JsonValue,
        at: KeyPath = (),
        *,
        synonyms: Mapping[str, str] | None = None,
    ) -> AnyRecord | None:
        case_id = _id_of(value)
        try:
            record = model.model_validate(value)
        except ValidationError as error:
            for fault in validation_faults(error, model, value, synonyms=synonyms):
                remedy = fault.remedy or _misspelt(fault, model, value)
                self.add((*at, *fault.where), fault.message, remedy, case_id=case_id)
            return None
        if isinstance(record, SnakeRecord):
            for where, known in unknown_fields(record):
                # Other tools' files hold more fields than are read here, so only a misspelt name is
                # reported.
                near = self._near(str(where[-1]), known, synonyms)
                if near.startswith("did you mean"):
                    self.warn((*at, *where), f"the field `{where[-1]}` is not known", near)
        return record

    def _near(self, name: str, known: tuple[str, ...], synonyms: Mapping[str, str] | None) -> str:
        """The suggestion for an unknown name; empty once too many have been looked up."""
        key = (name, known)
        if key not in self._looked_up:
            # Comparing names takes quadratic time; a file with millions of unknown fields must end.
            if len(self._looked_up) >= _LOOKED_UP_MAX:
                return ""
            self._looked_up[key] = suggest_name(name, known, synonyms)
        return self._looked_up[key]

    def objects(self, value: JsonValue, at: KeyPath) -> Iterator[tuple[KeyPath, JsonObject]]:
        """The items of a list of objects; any other item is reported."""
        if not isinstance(value, list):
            name = f"`{at[-1]}`" if at else "the whole"
            self.add(at, f"{name} must be a list, not {json_kind(value)}")
            return
        for index, item in enumerate(value):
            if isinstance(item, dict):
                yield (*at, index), item
            else:
                self.add((*at, index), f"must be a mapping of fields, not {json_kind(item)}")

    def check_description(self, text: str, at: KeyPath, *, case_id: str) -> None:
        """Warn about a description that every output meets."""
        if word := vague_word(text):
            message = f"the description says {word!r}, which nothing can contradict"
            remedy = "say what would be seen in the output, so that it can be false"
            self.warn((*at, "description"), message, remedy, case_id=case_id)

    def records(
        self,
        model: type[AnyRecord],
        value: JsonValue,
        at: KeyPath,
        *,
        synonyms: Mapping[str, str] | None = None,
    ) -> Iterator[tuple[KeyPath, AnyRecord]]:
        """The valid records of a list of cases; ids of invalid ones are in use, too."""
        for place, item in self.objects(value, at):
            name = item.get("id")
            if isinstance(name, str) and self.claimed.setdefault(name, place) != place:
                self._add_double(name, self.claimed[name], place)
            record = self.record(model, item, place, synonyms=synonyms)
            if record is not None:
                yield place, record

    def _add_double(self, name: str, first: KeyPath, at: KeyPath) -> None:
        fault = duplicate_id_fault(self.document.line_of(*first))
        self.add(at, fault.message, fault.remedy, case_id=name)

    def add_case(self, fields: Mapping[str, JsonValue], at: KeyPath) -> Case | None:
        """Add a case; None where it is invalid or its id is a duplicate."""
        # Other tools write null for a missing value; here the field is left out.
        known = without_nulls(fields)
        case = read_case({"input": None, **known}, self.document.path.parent)
        if isinstance(case, list):
            for fault in case:
                self.add(at, fault.message, fault.remedy, case_id=_id_of(known))
            return None
        if case.id in self.places:
            # An id that was claimed has been reported already, with its own line.
            if case.id not in self.claimed:
                self._add_double(case.id, self.places[case.id], at)
            # For readers that accept duplicate ids, which insert it at its place.
            self.doubles.append((len(self.cases), case))
            return None
        self.places[case.id] = at
        self.cases.append(case)
        return case

    @property
    def errors(self) -> list[Problem]:
        errors = [problem for problem in self.problems if problem.severity == "error"]
        return sorted(errors, key=lambda problem: problem.line or 0)

    def dataset(self, *, unique: bool = True) -> Dataset:
        """The cases as a dataset; without a name of its own it is named like the file."""
        self.refuse_errors(unique=unique)
        self.warn_of_omissions()
        name = str(self.header.get("name") or "").strip() or self.document.path.stem
        version = str(self.header.get("version", "1"))
        described = self.header.get("description")
        description = described if isinstance(described, str) else None
        cases = [*self.cases]
        for place, case in [] if unique else reversed(self.doubles):
            cases.insert(place, case)
        dataset = Dataset(name=name, version=version, description=description, cases=tuple(cases))
        return with_memory_objects(dataset, self.memory_objects)

    def rows(self, of: Literal["outputs", "labels", "replies"]) -> Iterator[FileRow]:
        self.refuse_errors()
        self.warn_of_omissions()
        for at, fields in getattr(self, of):
            yield FileRow(self.document.line_of(*at), fields)

    def warn_of_omissions(self) -> None:
        """Warn once about all that was left out; with `--strict` that is an error."""
        left_out = [problem for problem in self.problems if problem.severity == "left_out"]
        code = [problem for problem in left_out if NEEDS_SCRIPTS in problem.message]
        others = [problem for problem in left_out if problem not in code]
        path = self.document.path
        hint = f"list with: judgekit validate {path}"
        for kind, parts, words in (
            (NotImportedWarning, others, "not imported"),
            (ScriptsNeededWarning, code, f"code, which {NEEDS_SCRIPTS}"),
        ):
            if parts:
                n = "1 part" if len(parts) == 1 else f"{len(parts)} parts"
                message = f"{n} of the file {'is' if len(parts) == 1 else 'are'} {words}"
                warning = kind(message, path=path, line=parts[0].line, hint=hint)
                warnings.warn(warning, stacklevel=1)

    def refuse_errors(self, *, unique: bool = True) -> None:
        errors = [one for one in self.errors if unique or not one.message.startswith(DUPLICATE_ID)]
        if not errors:
            return
        first = errors[0]
        raise DatasetError(
            first_message(first.message, len(errors)),
            path=first.path,
            line=first.line,
            case_id=first.case_id,
            hint=first.remedy,
        )


def map_texts(
    value: JsonValue, at: KeyPath, change: Callable[[str, KeyPath], JsonValue]
) -> JsonValue:
    if isinstance(value, dict):
        return {name: map_texts(item, (*at, name), change) for name, item in value.items()}
    if isinstance(value, list):
        return [map_texts(item, (*at, place), change) for place, item in enumerate(value)]
    return change(value, at) if isinstance(value, str) else value


def _misspelt(fault: FieldFault, model: type[Record], value: object) -> str | None:
    """A hint for a missing field where a similar name is present."""
    name = str(fault.where[-1]) if fault.where else ""
    if len(fault.where) != 1 or not isinstance(value, dict) or name in value:
        return None
    known = {field.alias or own for own, field in model.model_fields.items()}
    others = islice((str(key) for key in value if key not in known), _LOOKED_UP_MAX)
    near = get_close_matches(name, others, n=1)
    return f"is `{near[0]}` meant for it? rename it" if near else None


def _id_of(value: object) -> str | None:
    case_id = value.get("id") if isinstance(value, dict) else None
    return case_id[:80] if isinstance(case_id, str) and case_id.strip() else None


# Names other tools give to the fields of a case, with judgekit's own.
CASE_ALIASES: Mapping[str, str] = MappingProxyType({
    "case_id": "id", "prompt": "input", "question": "input", "expected": "reference",
    "expected_output": "reference", "reference_answer": "reference", "answer": "reference",
})  # fmt: skip

VALUE_COLUMNS = ("input", "reference", "context")
"""Fields that may be any JSON value; in a table also as a column `input.json`."""

_TEXTS = ("id", "name", "prompt_version")


def read_case(
    fields: Mapping[str, JsonValue],
    folder: Path | None = None,
    *,
    is_table: bool = False,
    is_repaired: bool = False,
) -> Case | list[FieldFault]:
    # Fields are those of `Case` or their aliases; anything else belongs under `metadata`. A whole
    # number as an id is taken as text. Images are read from the folder.
    found, faults = rename_fields(fields, CASE_ALIASES)
    if is_table:
        found, cell_faults = read_cells(
            found,
            json_names=("assertions", "evaluation", "metadata", "transform", "variants"),
            list_names=("tags",),
            mixed_names=("rubric",),
            typed_names=VALUE_COLUMNS,
        )
        faults += cell_faults
    found = as_texts(found, _TEXTS)
    if faults:
        return faults
    try:
        case = Case.model_validate(found, context={"folder": folder})
    except ValidationError as error:
        faults = validation_faults(error, Case, found, synonyms=CASE_ALIASES)
        if isinstance(found.get("rubric"), dict):
            # pydantic reports the faults of both forms; a rubric given in full is no name.
            faults = [f for f in faults if f.where != ("rubric",) or "a text" not in f.message]
        return [_with_remedy(fault) for fault in faults]
    if is_repaired:
        return case.model_copy(update={"metadata": {**case.metadata, TEXT_REPAIRED: True}})
    return case


def _with_remedy(fault: FieldFault) -> FieldFault:
    """The purpose of a missing field, or the right place for an unknown one."""
    remedy = fault.remedy
    if fault.where == ("id",) and "missing" in fault.message:
        remedy = "give every case an id of its own"
    elif fault.where == ("input",) and "missing" in fault.message:
        remedy = "give the case the input of the system under test"
    elif "is not known" in fault.message and len(fault.where) == 1:
        remedy = f"{fault.remedy} (fields of your own go under `metadata`)"
    return FieldFault(fault.where, fault.message, remedy)
