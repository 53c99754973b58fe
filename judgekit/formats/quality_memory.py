"""Reads and writes objects of a quality memory (S0); `judgekit.exports` writes whole runs."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, Generic, Literal, TypeVar, cast

from pydantic import Field, JsonValue, ValidationError

from judgekit.fingerprint import fingerprint
from judgekit.formats.detection import RECORD_LISTS, WrittenCases, is_object
from judgekit.formats.foreign_file import CamelRecord, ForeignFile, SnakeRecord
from judgekit.formats.problems import suggest_name, threshold_fault, valid_scales
from judgekit.records import (
    Case,
    Criterion,
    Finite,
    Fraction,
    JsonObject,
    JudgmentSource,
    Name,
    Record,
    Rubric,
    Weight,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from judgekit.formats.detection import ConversionSource
    from judgekit.formats.documents import ParsedDocument
    from judgekit.formats.text import KeyPath


class _Object(SnakeRecord):
    type: Name
    id: str | int | None = None  # may stand among the fields instead
    fields: JsonObject


class _TestCase(CamelRecord):
    additions: ClassVar[frozenset[str]] = frozenset(
        {"assertions", "benchmarks", "context", "evaluation", "metadata", "stratum"}
    )
    name: Name
    description: str | None = None
    agent: str | None = Field(default=None, alias="agentId")
    skill: str | None = Field(default=None, alias="skillId")
    prompt_version: str | None = Field(default=None, alias="promptVersionRef")
    input: JsonValue = Field(alias="inputs")
    reference: JsonValue = Field(default=None, alias="expectedOutputs")
    rubric_id: str | None = None
    tags: tuple[str, ...] = ()
    status: Literal["active", "draft", "deprecated"] = "active"
    created_at: str | None = None
    created_by: str | None = None


class _RubricFields(CamelRecord):
    name: Name
    description: str | None = None
    criteria_ids: tuple[str, ...] = ()
    passing_threshold: Finite  # on [0, 1], or on the sum of weighted scores
    version: int | str = 1
    is_active: bool = True


# What judgekit adds to a `rubric-criterion`, with its own names.
_OF_CRITERION = {
    "required": "required", "passValue": "pass_value", "examples": "examples",
    "note": "description",
}  # fmt: skip
_OF_SCALE = {"integer": "integer", "levels": "levels", "betweenLevels": "between_levels"}


class _CriterionFields(CamelRecord):
    additions: ClassVar[frozenset[str]] = frozenset({*_OF_CRITERION, *_OF_SCALE})
    rubric_id: str | None = None
    name: Name
    description: Name
    weight: Weight = 1.0
    scoring_guide: str | None = None
    min_score: Finite = 0.0
    max_score: Finite = 1.0


class _TestRun(CamelRecord):
    additions: ClassVar[frozenset[str]] = frozenset({"checks", "failures", "repeat"})
    case_id: Name = Field(alias="testCaseId")
    run_id: str | None = Field(default=None, alias="agentRunId")
    prompt_version_ref: str | None = None
    variant: str | None = None  # added by judgekit, where several variants share a prompt version
    actual_output: JsonValue
    data: JsonValue = None  # the structured result beside a text; added by judgekit
    error: str | None = None  # why there is no output; added by judgekit
    duration_ms: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    passed: bool | None = None
    total_score: Finite | None = None
    max_possible_score: Finite | None = None
    ran_at: str | None = None
    judge_type: JudgmentSource | None = None


class _JudgmentFields(CamelRecord):
    additions: ClassVar[frozenset[str]] = frozenset({"evidence", "failures", "repeat"})
    test_run_id: Name
    criterion_id: Name
    score: Finite
    max_score: Finite
    rationale: Name
    judged_by: str = ""
    judged_by_type: JudgmentSource = "llm"
    judged_at: str | None = None
    confidence: Fraction | None = None


class _Benchmark(CamelRecord):
    name: Name
    test_case_ids: tuple[str, ...] = ()
    passing_threshold: Finite | None = None
    description: str | None = None
    dimension: str | None = None
    owner_id: str | None = None
    last_run_at: str | None = None
    last_score: Finite | None = None
    status: Literal["active", "retired"] = "active"


# Fields of a case for which a `test-case` has no field; they stand among its fields.
_ADDED_FIELDS = ("context", "stratum", "assertions", "evaluation")
_BENCHMARKS = "benchmarks"  # the entry of a case's metadata with the benchmarks it belongs to

CASE_FIELD_NAMES = frozenset(
    {
        "name", "description", "agentId", "skillId", "promptVersionRef", "expectedOutputs",
        "rubricId", "inputs", "tags", "status", "metadata", *_ADDED_FIELDS,
    }
)  # fmt: skip
"""Names that metadata cannot have beside the fields; such entries stand under `metadata`."""


def _added_fields(extra: JsonObject) -> tuple[JsonObject, JsonObject]:
    """The further fields of a `test-case` as fields of the case, and the rest as metadata."""
    fields = {
        name: extra[name]
        for name in _ADDED_FIELDS
        if extra.get(name) is not None and _fits(name, extra[name])
    }
    rest = {name: item for name, item in extra.items() if name not in fields}
    inner = rest.get("metadata")
    if isinstance(inner, dict) and inner and inner.keys() <= CASE_FIELD_NAMES:
        rest = {**{name: item for name, item in rest.items() if name != "metadata"}, **inner}
    return fields, rest


def split_metadata(metadata: Mapping[str, JsonValue]) -> JsonObject:
    """Metadata of a case as it stands among the fields of a `test-case`; the reverse of reading."""
    plain = {name: item for name, item in metadata.items() if name not in CASE_FIELD_NAMES}
    inner: JsonObject = {
        name: item for name, item in metadata.items() if name in CASE_FIELD_NAMES - {"rubricId"}
    }
    return {**plain, "metadata": inner} if inner else plain


def _criterion(criterion: _CriterionFields, weight: float) -> JsonObject:
    """A criterion, with the further fields of a `rubric-criterion` where they are valid."""
    extra = criterion.extra
    scale: JsonObject = {"min": criterion.min_score, "max": criterion.max_score}
    fields: JsonObject = {
        "name": criterion.name,
        "question": criterion.description,
        "scoring_guide": criterion.scoring_guide,
        "weight": weight,
        "scale": scale,
    }
    more = {own: extra[name] for name, own in _OF_CRITERION.items() if name in extra}
    of_scale = {own: extra[name] for name, own in _OF_SCALE.items() if name in extra}
    whole: JsonObject = {**fields, **more, "scale": scale | of_scale}
    # Fields of the same names may mean something else in a memory that judgekit did not write.
    return whole if _is_valid(Criterion, whole) else fields


def _is_valid(record: type[Record], value: JsonValue) -> bool:
    try:
        record.model_validate(value)
    except ValidationError:
        return False
    return True


def _fits(name: str, value: JsonValue) -> bool:
    specs = value if name == "assertions" and isinstance(value, list) else []
    is_typed = all(isinstance(one, dict) and isinstance(one.get("type"), str) for one in specs)
    return is_typed and _is_valid(Case, {"id": "x", "input": None, name: value})


_MODELS: Mapping[str, type[CamelRecord]] = {
    "test-case": _TestCase,
    "rubric": _RubricFields,
    "rubric-criterion": _CriterionFields,
    "test-run": _TestRun,
    "eval-judgment": _JudgmentFields,
    "benchmark": _Benchmark,
}  # the types that are read

# Types that hold conclusions, which judgekit computes itself.
_UNREAD = ("benchmark-run", "eval-trend", "prompt-comparison", "eval-failure")

# Fields of a test case for which a case has no field; they stand in its metadata.
_KEPT = ("rubricId", "createdAt", "createdBy")
_OF_CASE = _TestCase.model_fields.keys() - {"rubric_id", "created_at", "created_by"}

# Results of a benchmark, and what the case knows already.
_NOT_OF_CASES = frozenset({"id", "lastRunAt", "lastScore", "testCaseIds"})

# Metadata of a rubric whose threshold was on the sum of weighted scores.
_ON_SUM = ("passingThreshold", "weights")
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
        self._found: defaultdict[str, dict[str, _Located[CamelRecord]]] = defaultdict(dict)
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
            if (whole := reading.record(_Object, item, at)) is not None:
                self._take(whole, at)

    def _take(self, whole: _Object, at: KeyPath) -> None:
        reading, name = self.reading, whole.type
        model = _MODELS.get(name)
        if model is None:
            if name not in _UNREAD:
                near = suggest_name(name, (*_MODELS, *_UNREAD))
                reading.warn((*at, "type"), f"the type {name!r} is not known", near)
            return
        fields = reading.record(model, whole.fields, (*at, "fields"))
        if fields is None:
            return
        known = self._found[name]
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
        return cast("dict[str, _Located[_Fields]]", self._found[name])

    def refer(self, name: str, key: str, at: KeyPath, *, case_id: str | None = None) -> bool:
        """Whether an object with this id exists; a missing one is reported."""
        known = self._found[name]
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
    reading, criteria = export.reading, export.of("rubric-criterion", _CriterionFields)
    rubrics: dict[str, JsonObject | None] = {}
    for key, rubric in export.of("rubric", _RubricFields).items():
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
    for key, case in export.of("test-case", _TestCase).items():
        _add_case(key, case, rubrics, [*benchmarks.get(key, {}).values()], export)
    return reading


def _benchmarks(export: _Export) -> dict[str, dict[str, JsonValue]]:
    """The benchmarks of each case by their ids, without their results."""
    found: dict[str, dict[str, JsonValue]] = {}
    for key, benchmark in export.of("benchmark", _Benchmark).items():
        fields = benchmark.fields.as_given()
        known = {name: item for name, item in fields.items() if name not in _NOT_OF_CASES}
        for index, case_id in enumerate(benchmark.fields.test_case_ids):
            export.refer("test-case", case_id, (*benchmark.at, "fields", "testCaseIds", index))
            found.setdefault(case_id, {})[key] = {**known, "id": key}
    return found


def _add_case(
    key: str,
    found: _Located[_TestCase],
    rubrics: Mapping[str, JsonObject | None],
    benchmarks: list[JsonValue],
    export: _Export,
) -> None:
    case = found.fields
    rubric = None
    if case.rubric_id is not None:
        where = (*found.at, "fields", "rubricId")
        if export.refer("rubric", case.rubric_id, where, case_id=key):
            rubric = rubrics.get(case.rubric_id)
    more, metadata = _added_fields({k: v for k, v in case.extra.items() if k != "id"})
    # Only a warning: a reviewer may still label it.
    if rubric is None and case.reference is None and not more.get("assertions"):
        message = "the case has neither a rubric nor expected outputs, so it cannot fail"
        export.reading.warn(found.at, message, "add a `rubricId`", case_id=key)
    fields_there = case.as_given()
    own = {name: fields_there[name] for name in _KEPT if fields_there.get(name)}
    if benchmarks:
        metadata = {**metadata, _BENCHMARKS: benchmarks}
    fields: JsonObject = {
        "id": key,
        **case.model_dump(mode="json", include=_OF_CASE),
        "rubric": rubric,
        "metadata": {**own, **metadata},
    }
    export.reading.add_case(fields | more, found.at)


def _rubric(
    key: str,
    found: _Located[_RubricFields],
    parts: Mapping[str, _CriterionFields],
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
    if [*parts] != [f"{key}/{criterion.name}" for criterion in criteria]:
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
        "criteria": [_criterion(*each) for each in zip(criteria, weights, strict=True)],
        "metadata": metadata,
    }


def _on_sum(
    threshold: float, criteria: Sequence[_CriterionFields], at: KeyPath, reading: ForeignFile
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
    cases = export.of("test-case", _TestCase)
    runs = export.of("test-run", _TestRun)
    for found in runs.values() if cases else ():
        case_id = found.fields.case_id
        export.refer("test-case", case_id, (*found.at, "fields", "testCaseId"), case_id=case_id)
    export.reading.refuse_errors()
    n_seen: Counter[tuple[str, str | None]] = Counter()
    for key, found in runs.items():
        run = found.fields
        variant = run.prompt_version_ref if run.variant is None else run.variant
        metadata = {name: item for name, item in run.as_given().items() if name not in _READ}
        if variant == run.prompt_version_ref:
            metadata.pop("promptVersionRef", None)
        metadata |= {"test_run_id": key, "repeat": n_seen[run.case_id, variant]}
        n_seen[run.case_id, variant] += 1
        row: JsonObject = {
            **run.model_dump(mode="json", include={"case_id", "run_id", "duration_ms", "error"}),
            "variant": variant,
            "metadata": metadata,
        }
        if isinstance(run.actual_output, str):
            row |= {"text": run.actual_output, "data": run.data}
        elif run.actual_output is None:
            row["error"] = run.error or "the run has no output"
        else:
            row["data"] = run.actual_output
        if run.case_id in cases:
            case = cases[run.case_id].fields
            row |= {"input": case.input, "reference": case.reference}
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

    return objects()


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


@dataclass(slots=True)
class RubricIds:
    """Gives each rubric the id of the object it came from, or else one of its own."""

    _ids: dict[str, str] = field(default_factory=dict)

    def of(self, rubric: Rubric, case: Case) -> tuple[str, bool]:
        """The id of a rubric, and whether it is new."""
        print_ = fingerprint(rubric.to_json())
        if print_ in self._ids:
            return self._ids[print_], False
        rubric_id = case.metadata.get("rubricId")
        # Two rubrics may carry one id, as when one of them was edited after reading.
        if not isinstance(rubric_id, str) or not rubric_id or rubric_id in self._ids.values():
            rubric_id = _own_rubric_id(rubric)
        self._ids[print_] = rubric_id
        return rubric_id, True


def criterion_ids(rubric: Rubric, rubric_id: str) -> dict[str, str]:
    """The ids of a rubric's criteria: those of the objects they came from, or else their own."""
    names = [criterion.name for criterion in rubric.criteria]
    ids = rubric.metadata.get("criteriaIds")
    # A rubric with an id of its own has changed since it was read, so its old ids do not fit.
    if isinstance(ids, list) and len(ids) == len(names) and rubric_id != _own_rubric_id(rubric):
        return dict(zip(names, map(str, ids), strict=True))
    return {name: f"{rubric_id}/{name}" for name in names}


def _own_rubric_id(rubric: Rubric) -> str:
    return f"{rubric.name}@{fingerprint(rubric.to_json())[:16]}"


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
