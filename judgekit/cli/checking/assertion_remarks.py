"""What is wrong with the assertions of a suite or of cases, found without carrying one out."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.checks.builtin import assertion_registry
from judgekit.checks.custom import ScriptSettings, script_entries
from judgekit.checks.similar import SimilarityMeans, similar_entry
from judgekit.checks.specs import read_specs
from judgekit.cli.remarks import Remark
from judgekit.datasets.opening import whole_document
from judgekit.datasets.recognition import document_kind, foreign_shape
from judgekit.datasets.rows import Row, scan_rows
from judgekit.datasets.texts import is_file, is_folder
from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic import JsonValue

    from judgekit.datasets.documents import Document
    from judgekit.datasets.foreign.reading import Reading
    from judgekit.datasets.json_text import KeyPath
    from judgekit.registry import Registry

_HELD = "assertions"
_OWN = frozenset({"suite", "cases"})


def assertion_remarks(path: Path, known: Sequence[Remark]) -> list[Remark]:
    """The unsound assertions of a file, and of the cases a suite names."""
    try:
        document = whole_document(path)
        if document is None:
            found = list(_of_rows(path))
        else:
            found = [*_of_document(document), *_of_dataset(document)]
    except DatasetError:
        return []  # what cannot be read is among what is known
    return [remark for remark in found if not any(_is_same(remark, one) for one in known)]


def _of_document(document: Document) -> Iterator[Remark]:
    value = document.value
    shape = foreign_shape(value)
    if shape is None:
        if document_kind(value) in _OWN:
            yield from _as_written(document)
    elif shape.reader is not None and shape.has_cases:
        if isinstance(value, dict) and "workflowName" in value:
            yield from _as_written(document)
            return
        yield from _of_cases(shape.read(document))


def _of_cases(reading: Reading) -> Iterator[Remark]:
    """The faults of cases as they were read; one that several cases share is said once."""
    said: set[tuple[int, str]] = set()
    for case in reading.cases:
        places = reading.spec_places.get(case.id)
        for fault in read_specs(case.assertions, registry=_registry())[1]:
            at = reading.places[case.id] if places is None else places[int(fault.where[1])]
            line, message = reading.document.line_of(*at), fault.message
            if places is not None:  # the list in the file has others, too
                message = message.partition(" ")[2]
            told = (line, message.partition("assertions[")[2] if places is None else message)
            if told not in said:
                said.add(told)
                yield _remark(reading.document.path, line, case.id, message, fault.hint)


def _as_written(document: Document) -> Iterator[Remark]:
    """The faults of lists that stand in the file as they are carried out, each with its line."""
    value = document.value
    cases = value.get("cases") if isinstance(value, dict) else value
    held: list[tuple[KeyPath, JsonValue]] = [((), value)] if isinstance(value, dict) else []
    at: KeyPath = ("cases",) if isinstance(value, dict) else ()
    if isinstance(cases, list):
        held += [((*at, place), case) for place, case in enumerate(cases)]
    for place, holder in held:
        if isinstance(holder, dict) and holder.get(_HELD):
            name = holder.get("id") if place else None
            specs, where = holder[_HELD], (*place, _HELD)
            for fault in read_specs(specs, registry=_registry())[1]:
                line = document.line_of(*where, *fault.where[1:])
                yield _remark(document.path, line, name, fault.message, fault.hint)


def _of_dataset(document: Document) -> list[Remark]:
    """Those of the cases in the file a suite names; whether it is there, is known."""
    value = document.value
    if not isinstance(value, dict) or document_kind(value) != "suite":
        return []
    named = value.get("dataset")
    other = document.path.parent / named if isinstance(named, str) else None
    return (
        []
        if other is None or not (is_folder(other) or is_file(other))
        else assertion_remarks(other, ())
    )


def _of_rows(path: Path) -> Iterator[Remark]:
    for row in scan_rows(path):
        if isinstance(row, Row) and isinstance(row.fields.get(_HELD), list):
            yield from _faults(row.fields[_HELD], path, row.line, row.fields.get("id"))


def _faults(specs: JsonValue, path: Path, line: int, case_id: object) -> Iterator[Remark]:
    if specs:
        for fault in read_specs(specs, registry=_registry())[1]:
            yield _remark(path, line, case_id, fault.message, fault.hint)


@cache
def _registry() -> Registry:
    """The assertions a run has: also those that measure as a suite says, and its scripts."""
    scripts = script_entries(ScriptSettings(Path(), is_allowed=True))[0]
    return assertion_registry().plus(similar_entry(SimilarityMeans()), scripts)


def _remark(path: Path, line: int, case_id: object, message: str, hint: str | None) -> Remark:
    case = "" if case_id is None else f"case {case_id!r}: "
    return Remark(str(path), line, "error", f"{case}{message}", hint)


def _is_same(remark: Remark, known: Remark) -> bool:
    """Whether something else has said so: the same fault of a case, or a field an assertion needs."""
    # What is known of a foreign file names the field that the file has it in.
    if remark.path != known.path:
        return False
    case, _, fault = known.message.partition("': ")
    if fault and remark.message.startswith(f"{case}': ") and fault in remark.message:
        return True
    named = remark.message.partition("(")[2].partition(")")[0]
    is_needed = bool(named) and f"`{named}` needs" in known.message
    return is_needed and remark.line == known.line and "needs `" in remark.message
