"""Reads and writes the objects of a quality memory (S0): test cases, rubrics, runs, judgments.

Runs are written in `judgekit.exports.quality_memory`: their figures come from layers above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import ValidationError

from judgekit.fingerprint import fingerprint
from judgekit.formats.detection import RECORD_LISTS, WrittenCases, is_object
from judgekit.formats.foreign_file import CamelRecord, ForeignFile, ForeignResults
from judgekit.formats.problems import suggest_name, threshold_fault
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
    added_criterion_fields,
    split_metadata,
)
from judgekit.records import Dataset, Judgment, Output, Rubric, Scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from judgekit.formats.detection import ConversionSource
    from judgekit.formats.documents import ParsedDocument
    from judgekit.formats.text import KeyPath
    from judgekit.records import Case, Criterion, JsonObject

QUALITY_MODELS: Mapping[str, type[CamelRecord]] = {
    "test-case": TestCaseFields,
    "rubric": RubricFields,
    "rubric-criterion": CriterionFields,
    "test-run": TestRunFields,
    "eval-judgment": JudgmentFields,
    "benchmark": BenchmarkFields,
}
"""The types that are read; others are counted."""

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
class LocatedObject(Generic[_Fields]):
    """One valid object of an export, and where it stands."""

    id: str
    fields: _Fields
    at: KeyPath


@dataclass(slots=True)
class QualityExport:
    """The objects of an export."""

    reading: ForeignFile
    found: dict[str, dict[str, LocatedObject[CamelRecord]]] = field(default_factory=dict)
    """The valid objects by type and id."""

    n_unread: dict[str, int] = field(default_factory=dict)
    """How many objects there are of each type that is not read."""

    def of(self, name: str, model: type[_Fields]) -> dict[str, LocatedObject[_Fields]]:
        """The valid objects of a type."""
        return {
            key: LocatedObject(found.id, found.fields, found.at)
            for key, found in self.found.get(name, {}).items()
            if isinstance(found.fields, model)
        }

    def refer(self, name: str, key: str, at: KeyPath, *, case_id: str | None = None) -> bool:
        """Whether an object with this id exists; a missing one is reported."""
        known = self.found.get(name, {})
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
    export = read_quality_export(document)
    add_quality_cases(export)
    return export.reading


def read_quality_export(document: ParsedDocument) -> QualityExport:
    """The objects of an export."""
    value, reading = document.value, ForeignFile(document)
    export = QualityExport(reading)
    objects: Iterator[tuple[KeyPath, JsonObject]]
    if isinstance(value, dict) and is_object(value):
        objects = iter([((), value)])
    elif isinstance(value, dict):
        name = next((name for name in RECORD_LISTS if isinstance(value.get(name), list)), "records")
        objects = reading.objects(value.get(name), (name,))
    else:
        objects = reading.objects(value, ())
    # All objects are read before they are linked: the memory exports them in any order.
    for at, item in objects:
        if (whole := reading.record(QualityObject, item, at)) is not None:
            _take(whole, at, export)
    return export


def add_quality_cases(export: QualityExport) -> None:
    """Turn the test cases of an export into cases."""
    reading = export.reading
    criteria = export.of("rubric-criterion", CriterionFields)
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
        rubrics[key] = rubric_from_quality(
            rubric.fields, parts, (*rubric.at, "fields"), reading, key=key
        )
    benchmarks = _benchmarks(export)
    for found in export.of("test-case", TestCaseFields).values():
        _add_case(found, rubrics, benchmarks.get(found.id, []), export)
    for benchmark in export.of("benchmark", BenchmarkFields).values():
        for index, case_id in enumerate(benchmark.fields.test_case_ids):
            export.refer("test-case", case_id, (*benchmark.at, "fields", "testCaseIds", index))


def _take(whole: QualityObject, at: KeyPath, export: QualityExport) -> None:
    reading, name = export.reading, whole.type
    model = QUALITY_MODELS.get(name)
    if model is None:
        export.n_unread[name] = export.n_unread.get(name, 0) + 1
        if name not in UNREAD_QUALITY_TYPES:
            near = suggest_name(name, (*QUALITY_MODELS, *UNREAD_QUALITY_TYPES))
            reading.warn((*at, "type"), f"the type {name!r} is not known", near)
        return
    fields = reading.record(model, whole.fields, (*at, "fields"))
    if fields is None:
        return
    known = export.found.setdefault(name, {})
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
        known[key] = LocatedObject(key, fields, at)


def _benchmarks(export: QualityExport) -> dict[str, list[JsonObject]]:
    """The benchmarks of each case by its id, without their results."""
    found: dict[str, list[JsonObject]] = {}
    for key, benchmark in export.of("benchmark", BenchmarkFields).items():
        fields = benchmark.fields.as_given()
        known = {name: item for name, item in fields.items() if name not in _NOT_OF_CASES}
        for case_id in dict.fromkeys(benchmark.fields.test_case_ids):
            found.setdefault(case_id, []).append({**known, "id": key})
    return found


def _add_case(
    found: LocatedObject[TestCaseFields],
    rubrics: Mapping[str, JsonObject | None],
    benchmarks: Sequence[JsonObject],
    export: QualityExport,
) -> None:
    case = found.fields
    rubric = None
    if case.rubric_id is not None:
        where = (*found.at, "fields", "rubricId")
        if export.refer("rubric", case.rubric_id, where, case_id=found.id):
            rubric = rubrics.get(case.rubric_id)
    more, metadata = added_case_fields({k: v for k, v in case.extra.items() if k != "id"})
    # Only a warning: a reviewer may still label it.
    if rubric is None and case.expected_outputs is None and not more.get("assertions"):
        message = "the case has neither a rubric nor expected outputs, so it cannot fail"
        export.reading.warn(found.at, message, "add a `rubricId`", case_id=found.id)
    own = {name: getattr(case, field) for field, name in _KEPT.items()}
    if benchmarks:
        metadata = {**metadata, BENCHMARKS_FIELD: [*benchmarks]}
    fields: JsonObject = {
        "id": found.id,
        "name": case.name,
        "description": case.description,
        "input": case.inputs,
        "reference": case.expected_outputs,
        "tags": list(case.tags),
        "status": case.status,
        "agent": case.agent_id,
        "skill": case.skill_id,
        "prompt_version": case.prompt_version_ref,
        "rubric": rubric,
        "metadata": {**{name: item for name, item in own.items() if item}, **metadata},
        **more,
    }
    export.reading.add_case(fields, found.at)


def rubric_from_quality(
    rubric: RubricFields,
    parts: Mapping[str, CriterionFields],
    at: KeyPath,
    reading: ForeignFile,
    *,
    key: str,
) -> JsonObject | None:
    """A rubric as the fields of a `Rubric`; its faults are reported."""
    criteria = [*parts.values()]
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
        "criteria": [_criterion(c, w) for c, w in zip(criteria, weights, strict=True)],
        "metadata": metadata,
    }


def criterion_id(rubric_id: str, name: str) -> str:
    """The id of a criterion without one of its own."""
    return f"{rubric_id}/{name}"


def _criterion(criterion: CriterionFields, weight: float) -> JsonObject:
    plain: JsonObject = {
        "name": criterion.name,
        "question": criterion.description,
        "scoring_guide": criterion.scoring_guide,
        "weight": weight,
        "scale": {"min": criterion.min_score, "max": criterion.max_score},
    }
    return added_criterion_fields(criterion, plain)


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
    fault = threshold_fault(("passingThreshold",), threshold, _scales(criteria))
    message = f"`passingThreshold` is {threshold:g}, which no output can reach"
    reading.add(where, message, "write 0.7, not 70" if fault is None else fault.remedy)
    return None


def _scales(criteria: Sequence[CriterionFields]) -> Iterator[Scale]:
    for criterion in criteria:
        try:
            yield Scale(min=criterion.min_score, max=criterion.max_score)
        except ValidationError:
            continue


_READ = frozenset(
    {"id", "testCaseId", "agentRunId", "actualOutput", "durationMs", "variant", "data", "error"}
)

_Run = tuple[Output, int]


def read_quality_results(document: ParsedDocument) -> ForeignResults:
    """The runs and judgments of an export, with its cases."""
    # A run without a prompt version has no variant. Its own conclusions (`passed`, `totalScore`, …)
    # go into the output's metadata, with the run's id as `test_run_id`.
    export = read_quality_export(document)
    add_quality_cases(export)
    runs = _runs(export)
    judgments = [
        judgment
        for found in export.of("eval-judgment", JudgmentFields).values()
        if (judgment := _judgment(found, runs, export)) is not None
    ]
    reading = export.reading
    reading.refuse_errors()
    dataset = reading.dataset() if reading.cases else Dataset(name=document.path.stem, cases=())
    outputs = tuple(output for output, _ in runs.values())
    return ForeignResults(dataset, outputs, tuple(judgments), dict(export.n_unread))


def quality_run_rows(document: ParsedDocument) -> Iterator[tuple[int, JsonObject]]:
    """The runs of an export as the rows of an outputs file."""
    export = read_quality_export(document)
    runs = _runs(export)
    export.reading.refuse_errors()
    places = {key: found.at for key, found in export.of("test-run", TestRunFields).items()}
    cases = {key: found.fields for key, found in export.of("test-case", TestCaseFields).items()}
    for key, (output, _) in runs.items():
        case = cases.get(output.case_id or "")
        of_case: JsonObject = {}
        if case is not None:
            of_case = {"input": case.inputs, "reference": case.expected_outputs}
        yield document.line_of(*places[key]), {**of_case, **output.to_json()}


def _runs(export: QualityExport) -> dict[str, _Run]:
    """Outputs by the id of their run, each with its number among those of its case and variant."""
    runs: dict[str, _Run] = {}
    n_seen: dict[tuple[str, str | None], int] = {}
    for key, found in export.of("test-run", TestRunFields).items():
        run = found.fields
        where = (*found.at, "fields", "testCaseId")
        if export.of("test-case", TestCaseFields):
            export.refer("test-case", run.test_case_id, where, case_id=run.test_case_id)
        place = (run.test_case_id, _variant(run))
        # The memory does not number runs; their order in the file does.
        repeat = n_seen.get(place, 0)
        n_seen[place] = repeat + 1
        runs[key] = (_output(found, repeat), repeat)
    return runs


def _output(found: LocatedObject[TestRunFields], repeat: int) -> Output:
    run = found.fields
    text = run.actual_output if isinstance(run.actual_output, str) else None
    is_empty = text is None and run.actual_output is None
    # The other fields of a run go into the metadata, such as its `passed`.
    more = {name: item for name, item in run.as_given().items() if name not in _READ}
    if _variant(run) == run.prompt_version_ref:
        more.pop("promptVersionRef", None)
    return Output(
        text=text,
        data=run.data if text is not None else run.actual_output,
        error=run.error or ("the run has no output" if is_empty else None),
        case_id=run.test_case_id,
        variant=_variant(run),
        run_id=run.agent_run_id,
        duration_ms=run.duration_ms,
        metadata={**more, "test_run_id": found.id, "repeat": repeat},
    )


def _variant(run: TestRunFields) -> str | None:
    return run.prompt_version_ref if run.variant is None else run.variant


def _judgment(
    found: LocatedObject[JudgmentFields], runs: Mapping[str, _Run], export: QualityExport
) -> Judgment | None:
    judgment = found.fields
    at = (*found.at, "fields")
    export.refer("test-run", judgment.test_run_id, (*at, "testRunId"))
    criteria = export.of("rubric-criterion", CriterionFields)
    criterion = criteria.get(judgment.criterion_id)
    if criterion is None and criteria:
        export.refer("rubric-criterion", judgment.criterion_id, (*at, "criterionId"))
    least = 0.0 if criterion is None else criterion.fields.min_score
    most = judgment.max_score if criterion is None else criterion.fields.max_score
    if not least <= judgment.score <= most or not least < most:
        message = f"`score` is {judgment.score:g}, off the scale from {least:g} to {most:g}"
        export.reading.add((*at, "score"), message)
        return None
    run = runs.get(judgment.test_run_id)
    return Judgment(
        criterion=judgment.criterion_id if criterion is None else criterion.fields.name,
        raw=judgment.score,
        value=(judgment.score - least) / (most - least),
        rationale=judgment.rationale,
        confidence=judgment.confidence,
        source=judgment.judged_by_type,
        judge=judgment.judged_by,
        case_id=None if run is None else run[0].case_id,
        variant=None if run is None else run[0].variant,
        repeat=0 if run is None else run[1],
    )


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

    return WrittenCases(objects())


def case_object(case: Case, rubric_id: str | None) -> JsonObject:
    """A case as a `test-case`."""
    fields: JsonObject = {
        "name": case.name or case.id,
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
    own: JsonObject = {"inputs": case.input, "tags": [*case.tags], "status": case.status}
    known = {name: value for name, value in fields.items() if value is not None}
    return quality_object("test-case", case.id, {**split_metadata(case.metadata), **known, **own})


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
    if rubric.description is not None:
        fields["description"] = rubric.description
    rest = {k: v for k, v in rubric.metadata.items() if k not in {*fields, *_ON_SUM, "id"}}
    yield quality_object("rubric", rubric_id, {**rest, **fields})
    for criterion, weight in zip(rubric.criteria, weights, strict=True):
        fields = _criterion_object(criterion, weight, rubric_id)
        yield quality_object("rubric-criterion", ids[criterion.name], fields)


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


def quality_object(kind: str, name: str, fields: JsonObject) -> JsonObject:
    """One object of a quality memory."""
    return {"type": kind, "id": name, "fields": fields}


def rubric_marks(rubric: Rubric) -> tuple[float, list[float]]:
    """Threshold and weights; those it was read with, where they were on the sum of scores."""
    sum_, weights = (rubric.metadata.get(name) for name in _ON_SUM)
    if isinstance(sum_, int | float) and isinstance(weights, list):
        numbers = [float(weight) for weight in weights if isinstance(weight, int | float)]
        if len(numbers) == len(rubric.criteria):
            return float(sum_), numbers
    return rubric.pass_threshold, [criterion.weight for criterion in rubric.criteria]


def _criterion_object(criterion: Criterion, weight: float, rubric_id: str) -> JsonObject:
    fields: JsonObject = {
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
    return fields | {name: value for name, value in optional.items() if value is not None}
