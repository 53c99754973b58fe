"""Reads the objects of a quality memory (S0): test cases with their rubrics and criteria."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from judgekit.datasets.faults import suggestion
from judgekit.datasets.foreign.marks import RECORD_LISTS, is_object
from judgekit.datasets.foreign.quality_additions import BENCHMARKS, added_to_case
from judgekit.datasets.foreign.quality_format import (
    BenchmarkFields,
    CriterionFields,
    JudgmentFields,
    QualityObject,
    RubricFields,
    TestCaseFields,
    TestRunFields,
)
from judgekit.datasets.foreign.quality_rubrics import rubric_of
from judgekit.datasets.foreign.reading import Reading
from judgekit.datasets.foreign.shape import CamelRecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pydantic import JsonValue

    from judgekit.datasets.documents import Document
    from judgekit.datasets.json_text import KeyPath
    from judgekit.records.record import JsonObject

MODELS: Mapping[str, type[CamelRecord]] = {
    "test-case": TestCaseFields,
    "rubric": RubricFields,
    "rubric-criterion": CriterionFields,
    "test-run": TestRunFields,
    "eval-judgment": JudgmentFields,
    "benchmark": BenchmarkFields,
}
"""The types that are read; others are counted."""

UNREAD = ("benchmark-run", "eval-trend", "prompt-comparison", "eval-failure")
"""Types that hold conclusions, which are computed anew."""

_KEPT = {"rubric_id": "rubricId", "created_at": "createdAt", "created_by": "createdBy"}
"""Fields of a test case that a case has no place for, with their names in its metadata."""

_NOT_OF_CASES = frozenset({"id", "lastRunAt", "lastScore", "testCaseIds"})
"""Fields of a benchmark that are not kept with its cases."""

_Fields = TypeVar("_Fields", bound=CamelRecord)


@dataclass(frozen=True, slots=True)
class Found(Generic[_Fields]):
    """One object of an export that could be read."""

    id: str
    """Its id."""

    fields: _Fields
    """What it says."""

    at: KeyPath
    """Its place."""


@dataclass(slots=True)
class Export:
    """The objects of an export by type and id."""

    reading: Reading
    """The file."""

    found: dict[str, dict[str, Found[CamelRecord]]] = field(default_factory=dict)
    """The sound objects."""

    n_unread: dict[str, int] = field(default_factory=dict)
    """How many there are of each type that is not read."""

    def of(self, name: str, model: type[_Fields]) -> dict[str, Found[_Fields]]:
        """The sound objects of a type."""
        return {
            key: Found(found.id, found.fields, found.at)
            for key, found in self.found.get(name, {}).items()
            if isinstance(found.fields, model)
        }

    def refer(self, name: str, given: str, at: KeyPath, *, case_id: str | None = None) -> bool:
        """Whether an object there is; where there is none, that is noted."""
        # Where the export has no object of the type at all, it is a warning: it is a part of one.
        known = self.found.get(name, {})
        if given in known:
            return True
        message = (
            f"`{at[-1] if isinstance(at[-1], str) else at[-2]}`: no {name} has the id {given!r}"
        )
        if known:
            self.reading.add(at, message, suggestion(given, known), case_id=case_id)
        else:
            remedy = f"export the {name} objects too"
            self.reading.warn(at, message, remedy, case_id=case_id)
        return False


def read_quality_records(document: Document) -> Reading:
    """The test cases of an export, each with its rubric in full."""
    export = read_export(document)
    add_cases(export)
    return export.reading


def read_export(document: Document) -> Export:
    """The objects of an export."""
    export = Export(Reading(document))
    for at, item in _objects(document.value, export.reading):
        whole = export.reading.record(QualityObject, item, at)
        if whole is not None:
            _take(whole, at, export)
    return export


def add_cases(export: Export) -> None:
    """Make cases of the test cases of an export."""
    reading = export.reading
    criteria = export.of("rubric-criterion", CriterionFields)
    rubrics: dict[str, JsonObject | None] = {}
    for key, rubric in export.of("rubric", RubricFields).items():
        for index, criterion_id in enumerate(rubric.fields.criteria_ids):
            where = (*rubric.at, "fields", "criteriaIds", index)
            export.refer("rubric-criterion", criterion_id, where)
        own = rubric.fields.criteria_ids or tuple(
            other for other, found in criteria.items() if found.fields.rubric_id == key
        )
        parts = {other: criteria[other].fields for other in own if other in criteria}
        rubrics[key] = rubric_of(rubric.fields, parts, (*rubric.at, "fields"), reading, key=key)
    benchmarks = _benchmarks(export)
    for found in export.of("test-case", TestCaseFields).values():
        _add_case(found, rubrics, benchmarks.get(found.id, []), export)
    for benchmark in export.of("benchmark", BenchmarkFields).values():
        for index, case_id in enumerate(benchmark.fields.test_case_ids):
            export.refer("test-case", case_id, (*benchmark.at, "fields", "testCaseIds", index))


def _objects(value: JsonValue, reading: Reading) -> Iterator[tuple[KeyPath, JsonObject]]:
    if isinstance(value, dict) and is_object(value):
        return iter([((), value)])
    if isinstance(value, dict):
        name = next((name for name in RECORD_LISTS if isinstance(value.get(name), list)), "records")
        return reading.objects(value.get(name), (name,))
    return reading.objects(value, ())


def _take(whole: QualityObject, at: KeyPath, export: Export) -> None:
    reading, name = export.reading, whole.type
    model = MODELS.get(name)
    if model is None:
        export.n_unread[name] = export.n_unread.get(name, 0) + 1
        if name not in UNREAD:
            near = suggestion(name, (*MODELS, *UNREAD))
            reading.warn((*at, "type"), f"the type {name!r} is not known", near)
        return
    fields = reading.record(model, whole.fields, (*at, "fields"))
    if fields is None:
        return
    known = export.found.setdefault(name, {})
    given = whole.id if whole.id is not None else fields.extra.get("id")
    key = (
        str(given)
        if isinstance(given, str | int) and str(given).strip()
        else _own_id(fields, known)
    )
    if key in known:
        first = reading.document.line_of(*known[key].at)
        message = f"a second {name} with the id {key!r}; the first is in line {first}"
        reading.add(at, message, "rename one")
    else:
        known[key] = Found(key, fields, at)


def _own_id(fields: CamelRecord, known: Mapping[str, object]) -> str:
    """An object without an id is called by its name, or its number among its type."""
    name = getattr(fields, "name", None)
    return name if isinstance(name, str) else str(len(known) + 1)


def _benchmarks(export: Export) -> dict[str, list[JsonObject]]:
    """What the benchmarks of each case say of themselves, by its id; not what came out of them."""
    found: dict[str, list[JsonObject]] = {}
    for key, benchmark in export.of("benchmark", BenchmarkFields).items():
        given = benchmark.fields.as_given()
        known = {name: item for name, item in given.items() if name not in _NOT_OF_CASES}
        for case_id in dict.fromkeys(benchmark.fields.test_case_ids):
            found.setdefault(case_id, []).append({**known, "id": key})
    return found


def _add_case(
    found: Found[TestCaseFields],
    rubrics: Mapping[str, JsonObject | None],
    benchmarks: Sequence[JsonObject],
    export: Export,
) -> None:
    given = found.fields
    rubric_id = given.rubric_id
    rubric = None
    if rubric_id is not None:
        where = (*found.at, "fields", "rubricId")
        if export.refer("rubric", rubric_id, where, case_id=found.id):
            rubric = rubrics.get(rubric_id)
    more, metadata = added_to_case({k: v for k, v in given.extra.items() if k != "id"})
    if rubric is None and given.expected_outputs is None and not more.get("assertions"):
        message = "the case has neither a rubric nor expected outputs, so it cannot fail"
        export.reading.warn(found.at, message, "add a `rubricId`", case_id=found.id)
    own = {name: getattr(given, field) for field, name in _KEPT.items()}
    if benchmarks:
        metadata = {**metadata, BENCHMARKS: [*benchmarks]}
    fields: JsonObject = {
        "id": found.id,
        "name": given.name,
        "description": given.description,
        "input": given.inputs,
        "reference": given.expected_outputs,
        "tags": list(given.tags),
        "status": given.status,
        "agent": given.agent_id,
        "skill": given.skill_id,
        "prompt_version": given.prompt_version_ref,
        "rubric": rubric,
        "metadata": {**{name: item for name, item in own.items() if item}, **metadata},
        **more,
    }
    export.reading.add_case(fields, found.at)
