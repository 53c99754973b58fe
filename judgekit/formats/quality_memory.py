"""Reads and writes the objects of a quality memory (S0): test cases, rubrics, runs, judgments.

Runs are written in `judgekit.exports.quality_memory`: their figures come from layers above.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from judgekit.fingerprint import fingerprint
from judgekit.formats.detection import RECORD_LISTS, WrittenCases, is_object
from judgekit.formats.foreign_file import CamelRecord, ForeignFile
from judgekit.formats.problems import suggest_name, threshold_fault, valid_scales
from judgekit.formats.quality_memory_schema import (
    BENCHMARKS_FIELD,
    BenchmarkFields,
    CriterionFields,
    JudgmentFields,
    QualityObject,
    RubricFields,
    TestCaseFields,
    TestRunFields,
    added_case_fields,
    criterion_from_quality,
    split_metadata,
)
from judgekit.records import Rubric

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from judgekit.formats.detection import ConversionSource
    from judgekit.formats.documents import ParsedDocument
    from judgekit.formats.text import KeyPath
    from judgekit.records import Case, JsonObject

QUALITY_MODELS: Mapping[str, type[CamelRecord]] = {
    "test-case": TestCaseFields,
    "rubric": RubricFields,
    "rubric-criterion": CriterionFields,
    "test-run": TestRunFields,
    "eval-judgment": JudgmentFields,
    "benchmark": BenchmarkFields,
}  # the types that are read

UNREAD_QUALITY_TYPES = ("benchmark-run", "eval-trend", "prompt-comparison", "eval-failure")
"""Types that hold conclusions, which judgekit computes itself."""

# Fields of a test case for which a case has no field, with their names in its metadata.
_KEPT = {"rubric_id": "rubricId", "created_at": "createdAt", "created_by": "createdBy"}

# Results of a benchmark, and what the case knows already.
_NOT_OF_CASES = frozenset({"id", "lastRunAt", "lastScore", "testCaseIds"})

# Metadata of a rubric whose threshold was on the sum of weighted scores.
_ON_SUM = ("passingThreshold", "weights")
_ID_LENGTH = 16
_Fields = TypeVar("_Fields", bound=CamelRecord)


@dataclass(frozen=True, slots=True)
class _Located(Generic[_Fields]):
    """One valid object of an export, and where it stands."""

    fields: _Fields
    at: KeyPath


class _Export:
    """The valid objects of an export, by type and id."""

    def __init__(self, document: ParsedDocument) -> None:
        value, reading = document.value, ForeignFile(document)
        self.reading = reading
        self._found: dict[str, dict[str, _Located[CamelRecord]]] = {}
        objects: Iterator[tuple[KeyPath, JsonObject]]
        if isinstance(value, dict) and is_object(value):
            objects = iter([((), value)])
        elif isinstance(value, dict):
            lists = (name for name in RECORD_LISTS if isinstance(value.get(name), list))
            name = next(lists, "records")
            objects = reading.objects(value.get(name), (name,))
        else:
            objects = reading.objects(value, ())
        # All objects are read before they are linked: the memory exports them in any order.
        for at, item in objects:
            if (whole := reading.record(QualityObject, item, at)) is not None:
                self._take(whole, at)

    def _take(self, whole: QualityObject, at: KeyPath) -> None:
        reading, name = self.reading, whole.type
        model = QUALITY_MODELS.get(name)
        if model is None:
            if name not in UNREAD_QUALITY_TYPES:
                near = suggest_name(name, (*QUALITY_MODELS, *UNREAD_QUALITY_TYPES))
                reading.warn((*at, "type"), f"the type {name!r} is not known", near)
            return
        fields = reading.record(model, whole.fields, (*at, "fields"))
        if fields is None:
            return
        known = self._found.setdefault(name, {})
        key = whole.id if whole.id is not None else fields.extra.get("id")
        if not isinstance(key, str | int) or not str(key).strip():
            # An object without an id is called by its name, or its number among its type.
            own_name = getattr(fields, "name", None)
            key = own_name if isinstance(own_name, str) else len(known) + 1
        if (key := str(key)) in known:
            first = reading.document.line_of(*known[key].at)
            message = f"a second {name} with the id {key!r}; the first is in line {first}"
            reading.add(at, message, "rename one")
        else:
            known[key] = _Located(fields, at)

    def of(self, name: str, model: type[_Fields]) -> dict[str, _Located[_Fields]]:  # noqa: ARG002 - says the type of the fields
        return cast("dict[str, _Located[_Fields]]", self._found.get(name, {}))

    def refer(self, name: str, key: str, at: KeyPath, *, case_id: str | None = None) -> bool:
        """Whether an object with this id exists; a missing one is reported."""
        known = self._found.get(name, {})
        if key in known:
            return True
        field_name = at[-1] if isinstance(at[-1], str) else at[-2]
        message = f"`{field_name}`: no {name} has the id {key!r}"
        if known:
            self.reading.add(at, message, suggest_name(key, known), case_id=case_id)
        else:
            # An export without any object of the type is a part of a memory, which is no error.
            remedy = f"export the {name} objects too"
            self.reading.warn(at, message, remedy, case_id=case_id)
        return False


def read_quality_records(document: ParsedDocument) -> ForeignFile:
    """The test cases of an export, each with its rubric in full."""
    export = _Export(document)
    reading, criteria = export.reading, export.of("rubric-criterion", CriterionFields)
    rubrics: dict[str, JsonObject | None] = {}
    for key, rubric in export.of("rubric", RubricFields).items():
        for index, criterion_id in enumerate(rubric.fields.criteria_ids):
            where = (*rubric.at, "fields", "criteriaIds", index)
            export.refer("rubric-criterion", criterion_id, where)
        # Some exports name the criteria in the rubric, others the rubric in each criterion.
        own = rubric.fields.criteria_ids or tuple(
            other for other, found in criteria.items() if found.fields.rubric_id == key
        )
        parts = {other: criteria[other].fields for other in own if other in criteria}
        rubrics[key] = _rubric(key, rubric, parts, reading)
    benchmarks = _benchmarks(export)
    for key, case in export.of("test-case", TestCaseFields).items():
        _add_case(key, case, rubrics, benchmarks.get(key, []), export)
    for benchmark in export.of("benchmark", BenchmarkFields).values():
        for index, case_id in enumerate(benchmark.fields.test_case_ids):
            export.refer("test-case", case_id, (*benchmark.at, "fields", "testCaseIds", index))
    return reading


def _benchmarks(export: _Export) -> dict[str, list[JsonObject]]:
    """The benchmarks of each case by its id, without their results."""
    found: dict[str, list[JsonObject]] = {}
    for key, benchmark in export.of("benchmark", BenchmarkFields).items():
        fields = benchmark.fields.as_given()
        known = {name: item for name, item in fields.items() if name not in _NOT_OF_CASES}
        for case_id in dict.fromkeys(benchmark.fields.test_case_ids):
            found.setdefault(case_id, []).append({**known, "id": key})
    return found


def _add_case(
    key: str,
    found: _Located[TestCaseFields],
    rubrics: Mapping[str, JsonObject | None],
    benchmarks: Sequence[JsonObject],
    export: _Export,
) -> None:
    case = found.fields
    rubric = None
    if case.rubric_id is not None:
        where = (*found.at, "fields", "rubricId")
        if export.refer("rubric", case.rubric_id, where, case_id=key):
            rubric = rubrics.get(case.rubric_id)
    more, metadata = added_case_fields({k: v for k, v in case.extra.items() if k != "id"})
    # Only a warning: a reviewer may still label it.
    if rubric is None and case.expected_outputs is None and not more.get("assertions"):
        message = "the case has neither a rubric nor expected outputs, so it cannot fail"
        export.reading.warn(found.at, message, "add a `rubricId`", case_id=key)
    own = {name: getattr(case, field) for field, name in _KEPT.items()}
    if benchmarks:
        metadata = {**metadata, BENCHMARKS_FIELD: [*benchmarks]}
    fields: JsonObject = {
        "id": key,
        "name": case.name,
        "description": case.description,
        "input": case.inputs,
        "reference": case.expected_outputs,
        "tags": [*case.tags],
        "status": case.status,
        "agent": case.agent_id,
        "skill": case.skill_id,
        "prompt_version": case.prompt_version_ref,
        "rubric": rubric,
        "metadata": {**{name: item for name, item in own.items() if item}, **metadata},
    }
    export.reading.add_case(fields | more, found.at)


def _rubric(
    key: str,
    found: _Located[RubricFields],
    parts: Mapping[str, CriterionFields],
    reading: ForeignFile,
) -> JsonObject | None:
    """A rubric as the fields of a `Rubric`; its faults are reported."""
    rubric, at, criteria = found.fields, (*found.at, "fields"), [*parts.values()]
    if not criteria:
        reading.warn((*at, "criteriaIds"), "the rubric has no criteria in this file", None)
        return None
    weights = [criterion.weight for criterion in criteria]
    threshold = rubric.passing_threshold
    if sum(weights) <= 0:
        reading.add((*at, "criteriaIds"), "no criterion has a weight above 0")
        return None
    metadata: JsonObject = dict(rubric.extra)
    # Ids that follow from the names are left out, so that they follow the names after a rename.
    if [*parts] != [criterion_id(key, criterion.name) for criterion in criteria]:
        metadata["criteriaIds"] = [*parts]
    if threshold < 0:
        reading.add((*at, "passingThreshold"), f"`passingThreshold` is {threshold:g}, below 0")
        return None
    if threshold > 1:
        # In the memory an output passes when the sum of its weighted scores reaches the threshold,
        # so a threshold above 1 is on that sum. With weights `w * (max - min)` and the threshold
        # `(t - sum(w * min)) / sum(w * (max - min))` the same outputs pass here.
        fraction = _on_sum(threshold, criteria, at, reading)
        if fraction is None:
            return None
        metadata |= {"passingThreshold": threshold, "weights": [*weights]}
        weights = [w * (c.max_score - c.min_score) for w, c in zip(weights, criteria, strict=True)]
        threshold = fraction
    return {
        "name": rubric.name,
        "description": rubric.description,
        "version": rubric.version,
        "active": rubric.is_active,
        "pass_threshold": threshold,
        "criteria": [criterion_from_quality(*each) for each in zip(criteria, weights, strict=True)],
        "metadata": metadata,
    }


def criterion_id(rubric_id: str, name: str) -> str:
    """The id of a criterion without one of its own."""
    return f"{rubric_id}/{name}"


def _on_sum(
    threshold: float, criteria: Sequence[CriterionFields], at: KeyPath, reading: ForeignFile
) -> float | None:
    """A threshold on the sum of weighted scores as one on [0, 1]; None where out of reach."""
    where = (*at, "passingThreshold")
    lowest = sum(c.weight * c.min_score for c in criteria)
    width = sum(c.weight * (c.max_score - c.min_score) for c in criteria)
    fraction = (threshold - lowest) / width if width > 0 else math.inf
    if 0 <= fraction <= 1:
        message = f"`passingThreshold` {threshold:g} is taken as a sum of weighted scores"
        reading.warn(where, message, f"that is {fraction:.4g} on [0, 1]")
        return fraction
    ends = ({"min": c.min_score, "max": c.max_score} for c in criteria)
    fault = threshold_fault(("passingThreshold",), threshold, valid_scales(ends))
    message = f"`passingThreshold` is {threshold:g}, which no output can reach"
    reading.add(where, message, "write 0.7, not 70" if fault is None else fault.remedy)
    return None


# Fields of a run that an output has itself; the others, such as its `passed`, are metadata.
_READ = frozenset(
    {"id", "testCaseId", "agentRunId", "actualOutput", "durationMs", "variant", "data", "error"}
)


def quality_run_rows(document: ParsedDocument) -> Iterator[tuple[int, JsonObject]]:
    """The runs of an export as the rows of an outputs file."""
    # A run without a prompt version has no variant. The memory does not number runs; their order in
    # the file does.
    export = _Export(document)
    cases = export.of("test-case", TestCaseFields)
    runs = export.of("test-run", TestRunFields)
    for found in runs.values() if cases else ():
        case_id = found.fields.test_case_id
        export.refer("test-case", case_id, (*found.at, "fields", "testCaseId"), case_id=case_id)
    export.reading.refuse_errors()
    n_seen: Counter[tuple[str, str | None]] = Counter()
    for key, found in runs.items():
        run = found.fields
        variant = run.prompt_version_ref if run.variant is None else run.variant
        metadata = {name: item for name, item in run.as_given().items() if name not in _READ}
        if variant == run.prompt_version_ref:
            metadata.pop("promptVersionRef", None)
        place = (run.test_case_id, variant)
        named: JsonObject = {"test_run_id": key, "repeat": n_seen[place]}
        n_seen[place] += 1
        row: JsonObject = {
            "case_id": run.test_case_id,
            "variant": variant,
            "run_id": run.agent_run_id,
            "duration_ms": run.duration_ms,
            "error": run.error,
            "metadata": {**metadata, **named},
        }
        if isinstance(run.actual_output, str):
            row |= {"text": run.actual_output, "data": run.data}
        elif run.actual_output is None:
            row["error"] = run.error or "the run has no output"
        else:
            row["data"] = run.actual_output
        if run.test_case_id in cases:
            case = cases[run.test_case_id].fields
            row |= {"input": case.inputs, "reference": case.expected_outputs}
        row = {name: value for name, value in row.items() if value is not None}
        yield document.line_of(*found.at), row


def quality_case_objects(source: ConversionSource) -> WrittenCases:
    """Cases as objects, each rubric before its first case."""

    def objects() -> Iterator[JsonObject]:
        # Objects of a quality memory pass unchanged: the cases alone would lose its runs.
        yield from source.quality_records
        rubrics = RubricIds()
        for case in () if source.quality_records else source.cases:
            rubric_id = None
            if isinstance(case.rubric, Rubric):
                rubric_id, is_new = rubrics.of(case.rubric, case)
                yield from rubric_objects(case.rubric, rubric_id) if is_new else ()
            yield case_object(case, rubric_id)

    return objects(), ()


def case_object(case: Case, rubric_id: str | None) -> JsonObject:
    """A case as a `test-case`."""
    optional: JsonObject = {
        "description": case.description,
        "agentId": case.agent,
        "skillId": case.skill,
        "promptVersionRef": case.prompt_version,
        "expectedOutputs": case.reference,
        "rubricId": rubric_id,
        "context": case.context,
        "stratum": case.stratum,
        "assertions": [*case.assertions] or None,
        "evaluation": None if case.evaluation is None else case.evaluation.to_json(),
    }
    fields: JsonObject = {"inputs": case.input, "tags": [*case.tags], "status": case.status}
    fields = {**split_metadata(case.metadata), "name": case.name or case.id, **fields}
    return quality_object("test-case", case.id, fields, optional)


def rubric_objects(rubric: Rubric, rubric_id: str) -> Iterator[JsonObject]:
    """A rubric as a `rubric` and a `rubric-criterion` for each of its criteria."""
    threshold, weights = rubric_marks(rubric)
    ids = criterion_ids(rubric, rubric_id)
    fields: JsonObject = {
        "name": rubric.name,
        "criteriaIds": [*ids.values()],
        "passingThreshold": threshold,
        "version": rubric.version,
        "isActive": rubric.active,
    }
    rest = {k: v for k, v in rubric.metadata.items() if k not in {*fields, *_ON_SUM, "id"}}
    described: JsonObject = {"description": rubric.description}
    yield quality_object("rubric", rubric_id, {**rest, **fields}, described)
    for criterion, weight in zip(rubric.criteria, weights, strict=True):
        fields = {
            "rubricId": rubric_id,
            "name": criterion.name,
            "description": criterion.question,
            "weight": weight,
            "minScore": criterion.scale.min,
            "maxScore": criterion.scale.max,
        }
        optional: JsonObject = {
            "scoringGuide": criterion.scoring_guide,
            "required": criterion.required or None,
            "passValue": criterion.pass_value,
            "levels": [level.to_json() for level in criterion.scale.levels] or None,
            "integer": criterion.scale.integer or None,
            "betweenLevels": None if criterion.scale.between_levels else False,
            "examples": [example.to_json() for example in criterion.examples] or None,
            "note": criterion.description,
        }
        yield quality_object("rubric-criterion", ids[criterion.name], fields, optional)


class RubricIds:
    """Gives each rubric the id of the object it came from, or else one of its own."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def of(self, rubric: Rubric, case: Case) -> tuple[str, bool]:
        """The id of a rubric, and whether it is new."""
        print_ = fingerprint(rubric.to_json())
        if print_ in self._ids:
            return self._ids[print_], False
        rubric_id = case.metadata.get("rubricId")
        # Two rubrics may carry one id, as when one of them was edited after reading.
        if not isinstance(rubric_id, str) or not rubric_id or rubric_id in self._ids.values():
            rubric_id = own_rubric_id(rubric)
        self._ids[print_] = rubric_id
        return rubric_id, True


def criterion_ids(rubric: Rubric, rubric_id: str) -> dict[str, str]:
    """The ids of a rubric's criteria: those of the objects they came from, or else their own."""
    names = [criterion.name for criterion in rubric.criteria]
    ids = rubric.metadata.get("criteriaIds")
    # A rubric with an id of its own has changed since it was read, so its old ids do not fit.
    if isinstance(ids, list) and len(ids) == len(names) and rubric_id != own_rubric_id(rubric):
        return dict(zip(names, map(str, ids), strict=True))
    return {name: criterion_id(rubric_id, name) for name in names}


def own_rubric_id(rubric: Rubric) -> str:
    """The id of a rubric without one, or whose content has changed."""
    return f"{rubric.name}@{fingerprint(rubric.to_json())[:_ID_LENGTH]}"


def quality_object(
    kind: str, name: str, fields: JsonObject, optional: JsonObject | None = None
) -> JsonObject:
    """One object of a quality memory; of the optional fields those that are not null."""
    known = {key: value for key, value in (optional or {}).items() if value is not None}
    return {"type": kind, "id": name, "fields": {**fields, **known}}


def rubric_marks(rubric: Rubric) -> tuple[float, list[float]]:
    """Threshold and weights; those it was read with, where they were on the sum of scores."""
    sum_, weights = (rubric.metadata.get(name) for name in _ON_SUM)
    if isinstance(sum_, int | float) and isinstance(weights, list):
        numbers = [float(weight) for weight in weights if isinstance(weight, int | float)]
        if len(numbers) == len(rubric.criteria):
            return float(sum_), numbers
    return rubric.pass_threshold, [criterion.weight for criterion in rubric.criteria]
