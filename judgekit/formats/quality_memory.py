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

    from pydantic import JsonValue

    from judgekit.formats.detection import CasesToWrite
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
"""Types that hold conclusions, which are computed anew."""

# Fields of a test case that a case has no place for, with their names in its metadata.
_KEPT = {"rubric_id": "rubricId", "created_at": "createdAt", "created_by": "createdBy"}

# Fields of a benchmark that are not kept with its cases.
_NOT_OF_CASES = frozenset({"id", "lastRunAt", "lastScore", "testCaseIds"})

# Metadata of a rubric whose threshold was on the sum of weighted scores.
_ON_SUM = ("passingThreshold", "weights")
_ID_LENGTH = 16
_Fields = TypeVar("_Fields", bound=CamelRecord)


@dataclass(frozen=True, slots=True)
class LocatedObject(Generic[_Fields]):
    """One object of an export that could be read."""

    id: str
    """Its id."""

    fields: _Fields
    """What it says."""

    at: KeyPath
    """Its place."""


@dataclass(slots=True)
class QualityExport:
    """The objects of an export by type and id."""

    reading: ForeignFile
    """The file."""

    found: dict[str, dict[str, LocatedObject[CamelRecord]]] = field(default_factory=dict)
    """The sound objects."""

    n_unread: dict[str, int] = field(default_factory=dict)
    """How many there are of each type that is not read."""

    def of(self, name: str, model: type[_Fields]) -> dict[str, LocatedObject[_Fields]]:
        """The sound objects of a type."""
        return {
            key: LocatedObject(found.id, found.fields, found.at)
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
            self.reading.add(at, message, suggest_name(given, known), case_id=case_id)
        else:
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
    export = QualityExport(ForeignFile(document))
    for at, item in _objects(document.value, export.reading):
        whole = export.reading.record(QualityObject, item, at)
        # All objects are read before they are linked: the memory exports them in any order.
        if whole is not None:
            _take(whole, at, export)
    return export


def add_quality_cases(export: QualityExport) -> None:
    """Make cases of the test cases of an export."""
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


def _objects(value: JsonValue, reading: ForeignFile) -> Iterator[tuple[KeyPath, JsonObject]]:
    if isinstance(value, dict) and is_object(value):
        return iter([((), value)])
    if isinstance(value, dict):
        name = next((name for name in RECORD_LISTS if isinstance(value.get(name), list)), "records")
        return reading.objects(value.get(name), (name,))
    return reading.objects(value, ())


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
        known[key] = LocatedObject(key, fields, at)


def _own_id(fields: CamelRecord, known: Mapping[str, object]) -> str:
    """An object without an id is called by its name, or its number among its type."""
    name = getattr(fields, "name", None)
    return name if isinstance(name, str) else str(len(known) + 1)


def _benchmarks(export: QualityExport) -> dict[str, list[JsonObject]]:
    """What the benchmarks of each case say of themselves, by its id; not what came out of them."""
    found: dict[str, list[JsonObject]] = {}
    for key, benchmark in export.of("benchmark", BenchmarkFields).items():
        given = benchmark.fields.as_given()
        known = {name: item for name, item in given.items() if name not in _NOT_OF_CASES}
        for case_id in dict.fromkeys(benchmark.fields.test_case_ids):
            found.setdefault(case_id, []).append({**known, "id": key})
    return found


def _add_case(
    found: LocatedObject[TestCaseFields],
    rubrics: Mapping[str, JsonObject | None],
    benchmarks: Sequence[JsonObject],
    export: QualityExport,
) -> None:
    given = found.fields
    rubric_id = given.rubric_id
    rubric = None
    if rubric_id is not None:
        where = (*found.at, "fields", "rubricId")
        if export.refer("rubric", rubric_id, where, case_id=found.id):
            rubric = rubrics.get(rubric_id)
    more, metadata = added_case_fields({k: v for k, v in given.extra.items() if k != "id"})
    # Only a warning: a person may still judge it.
    if rubric is None and given.expected_outputs is None and not more.get("assertions"):
        message = "the case has neither a rubric nor expected outputs, so it cannot fail"
        export.reading.warn(found.at, message, "add a `rubricId`", case_id=found.id)
    own = {name: getattr(given, field) for field, name in _KEPT.items()}
    if benchmarks:
        metadata = {**metadata, BENCHMARKS_FIELD: [*benchmarks]}
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


def rubric_from_quality(
    rubric: RubricFields,
    parts: Mapping[str, CriterionFields],
    at: KeyPath,
    reading: ForeignFile,
    *,
    key: str,
) -> JsonObject | None:
    """A rubric as the fields of a `Rubric`; what is unsound in it is noted."""
    # There an output passes when the sum of its weighted scores reaches the threshold. A threshold
    # above 1 is on that sum: with weights `w * (max - min)` and the threshold `(t - sum(w * min)) /
    # sum(w * (max - min))` the same outputs pass here.
    criteria = [*parts.values()]
    if not criteria:
        reading.warn((*at, "criteriaIds"), "the rubric has no criteria in this file", None)
        return None
    weights = [criterion.weight for criterion in criteria]
    threshold = rubric.passing_threshold
    total = sum(weights)
    if total <= 0:
        reading.add((*at, "criteriaIds"), "no criterion has a weight above 0")
        return None
    metadata: JsonObject = dict(rubric.extra)
    # Ids that follow from the names are not kept, so that they are made anew after a rename.
    if [*parts] != [criterion_id(key, criterion.name) for criterion in criteria]:
        metadata["criteriaIds"] = [*parts]
    if threshold > 1:
        # A threshold above 1 can only be meant on the sum of weighted scores.
        given, threshold = threshold, _on_sum(threshold, criteria)
        if not 0 <= threshold <= 1:
            _refuse(given, criteria, at, reading)
            return None
        metadata |= {"passingThreshold": given, "weights": [*weights]}
        weights = [w * (c.max_score - c.min_score) for w, c in zip(weights, criteria, strict=True)]
        message = f"`passingThreshold` {given:g} is taken as a sum of weighted scores"
        remedy = f"that is {threshold:.4g} on [0, 1]"
        reading.warn((*at, "passingThreshold"), message, remedy)
    elif threshold < 0:
        reading.add((*at, "passingThreshold"), f"`passingThreshold` is {threshold:g}, below 0")
        return None
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
    """The id of a criterion that has none of its own."""
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


def _on_sum(threshold: float, criteria: Sequence[CriterionFields]) -> float:
    lowest = sum(c.weight * c.min_score for c in criteria)
    width = sum(c.weight * (c.max_score - c.min_score) for c in criteria)
    return (threshold - lowest) / width if width > 0 else math.inf


def _refuse(
    threshold: float, criteria: Sequence[CriterionFields], at: KeyPath, reading: ForeignFile
) -> None:
    fault = threshold_fault(("passingThreshold",), threshold, _scales(criteria))
    message = f"`passingThreshold` is {threshold:g}, which no output can reach"
    remedy = "write 0.7, not 70" if fault is None else fault.remedy
    reading.add((*at, "passingThreshold"), message, remedy)


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
    # A run that names no prompt version has no variant. What it says of its own result (`passed`,
    # `totalScore`, …) is kept in the output's metadata, with the run's id as `test_run_id`.
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
    nothing = text is None and run.actual_output is None
    return Output(
        text=text,
        data=run.data if text is not None else run.actual_output,
        error=run.error or ("the run has no output" if nothing else None),
        case_id=run.test_case_id,
        variant=_variant(run),
        run_id=run.agent_run_id,
        duration_ms=run.duration_ms,
        metadata={**_said(run), "test_run_id": found.id, "repeat": repeat},
    )


def _variant(run: TestRunFields) -> str | None:
    return run.prompt_version_ref if run.variant is None else run.variant


def _said(run: TestRunFields) -> JsonObject:
    """What a run says of itself beside its output."""
    said = {name: item for name, item in run.as_given().items() if name not in _READ}
    if _variant(run) == run.prompt_version_ref:
        said.pop("promptVersionRef", None)
    return said


def _judgment(
    found: LocatedObject[JudgmentFields], runs: Mapping[str, _Run], export: QualityExport
) -> Judgment | None:
    given = found.fields
    at = (*found.at, "fields")
    export.refer("test-run", given.test_run_id, (*at, "testRunId"))
    criteria = export.of("rubric-criterion", CriterionFields)
    criterion = criteria.get(given.criterion_id)
    if criterion is None and criteria:
        export.refer("rubric-criterion", given.criterion_id, (*at, "criterionId"))
    least = 0.0 if criterion is None else criterion.fields.min_score
    most = given.max_score if criterion is None else criterion.fields.max_score
    if not least <= given.score <= most or not least < most:
        message = f"`score` is {given.score:g}, off the scale from {least:g} to {most:g}"
        export.reading.add((*at, "score"), message)
        return None
    run = runs.get(given.test_run_id)
    return Judgment(
        criterion=given.criterion_id if criterion is None else criterion.fields.name,
        raw=given.score,
        value=(given.score - least) / (most - least),
        rationale=given.rationale,
        confidence=given.confidence,
        source=given.judged_by_type,
        judge=given.judged_by,
        case_id=None if run is None else run[0].case_id,
        variant=None if run is None else run[0].variant,
        repeat=0 if run is None else run[1],
    )


def quality_case_objects(source: CasesToWrite) -> WrittenCases:
    """Cases as objects, each rubric before its first case."""
    return WrittenCases(_case_objects(source))


def _case_objects(source: CasesToWrite) -> Iterator[JsonObject]:
    # Objects of a quality memory stay as they are: its runs would be lost with the cases alone.
    if source.quality_records:
        yield from source.quality_records
        return
    rubrics = RubricIds()
    for case in source.cases:
        rubric_id = None
        if isinstance(case.rubric, Rubric):
            rubric_id, is_new = rubrics.of(case.rubric, case)
            yield from rubric_objects(case.rubric, rubric_id) if is_new else ()
        yield case_object(case, rubric_id)


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
    """Gives each rubric an id: that of its objects where they came from, else one of its own."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def of(self, rubric: Rubric, case: Case) -> tuple[str, bool]:
        """The id of a rubric."""
        print_ = fingerprint(rubric.to_json())
        if print_ in self._ids:
            return self._ids[print_], False
        given = case.metadata.get("rubricId")
        if not isinstance(given, str) or not given or given in self._ids.values():
            given = own_rubric_id(rubric)
        self._ids[print_] = given
        return given, True


def criterion_ids(rubric: Rubric, rubric_id: str) -> dict[str, str]:
    """The ids of a rubric's criteria: those of the objects they came from, else their own."""
    names = [criterion.name for criterion in rubric.criteria]
    kept = rubric.metadata.get("criteriaIds")
    is_theirs = (
        isinstance(kept, list) and len(kept) == len(names) and rubric_id != own_rubric_id(rubric)
    )
    if isinstance(kept, list) and is_theirs:
        return dict(zip(names, map(str, kept), strict=True))
    return {name: criterion_id(rubric_id, name) for name in names}


def own_rubric_id(rubric: Rubric) -> str:
    """The id of a rubric that has none, or whose content is another by now."""
    return f"{rubric.name}@{fingerprint(rubric.to_json())[:_ID_LENGTH]}"


def quality_object(kind: str, name: str, fields: JsonObject) -> JsonObject:
    """One object of a quality memory."""
    return {"type": kind, "id": name, "fields": fields}


def rubric_marks(rubric: Rubric) -> tuple[float, list[float]]:
    """Threshold and weights: those it was read with, where they were on the sum of scores."""
    sum_, weights = (rubric.metadata.get(name) for name in _ON_SUM)
    if isinstance(sum_, int | float) and isinstance(weights, list):
        given = [w for w in weights if isinstance(w, int | float)]
        if len(given) == len(rubric.criteria):
            return float(sum_), [float(weight) for weight in given]
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
