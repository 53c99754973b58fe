"""Reads the objects of a quality memory (S0); `quality_objects` writes cases and rubrics."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Generic, Literal, TypeVar, cast

from pydantic import Field, JsonValue, ValidationError

from judgekit.formats.detection import RECORD_LISTS, is_object
from judgekit.formats.foreign_file import CamelRecord, ForeignFile, SnakeRecord
from judgekit.formats.problems import suggest_name, threshold_fault, valid_scales
from judgekit.formats.text import as_items, without_nulls
from judgekit.records import (
    Case,
    Criterion,
    Finite,
    Fraction,
    JsonObject,
    JudgmentSource,
    Name,
    Record,
    Weight,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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

    @property
    def answered_by(self) -> str | None:
        """The variant; without one the prompt version is its name."""
        return self.prompt_version_ref if self.variant is None else self.variant


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


class Benchmark(CamelRecord):
    """Cases that are run together, and what is expected of them."""

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
    specs = as_items(value) if name == "assertions" else []
    is_typed = all(isinstance(one, dict) and isinstance(one.get("type"), str) for one in specs)
    return is_typed and _is_valid(Case, {"id": "x", "input": None, name: value})


_MODELS: Mapping[str, type[CamelRecord]] = {
    "test-case": _TestCase,
    "rubric": _RubricFields,
    "rubric-criterion": _CriterionFields,
    "test-run": _TestRun,
    "eval-judgment": _JudgmentFields,
    "benchmark": Benchmark,
}  # the types that are read

# Types that hold conclusions, which judgekit computes itself.
_UNREAD = ("benchmark-run", "eval-trend", "prompt-comparison", "eval-failure")

# What a run of the cases carries on to its own export: definitions, and conclusions that name no
# answer. Answers with their judgments and failures may be many, and stay in the memory.
_CARRIED = frozenset({"test-case", "rubric", "rubric-criterion", "benchmark", *_UNREAD[:3]})

# Fields of a test case for which a case has no field; they stand in its metadata.
_KEPT = ("rubricId", "createdAt", "createdBy")
_OF_CASE = _TestCase.model_fields.keys() - {"rubric_id", "created_at", "created_by"}

# Results of a benchmark, and what the case knows already.
_NOT_OF_CASES = frozenset({"id", "lastRunAt", "lastScore", "testCaseIds"})

# Metadata of a rubric whose threshold was on the sum of weighted scores.
ON_SUM = ("passingThreshold", "weights")
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
        self._found: defaultdict[type, dict[str, _Located[CamelRecord]]] = defaultdict(dict)
        self.carried: list[JsonObject] = []
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
                if whole.type in _CARRIED:
                    self.carried.append(item)

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
        known = self._found[model]
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

    def of(self, model: type[_Fields]) -> dict[str, _Located[_Fields]]:
        return cast("dict[str, _Located[_Fields]]", self._found[model])

    def refer(self, name: str, key: str, at: KeyPath, *, case_id: str | None = None) -> bool:
        """Whether an object with this id exists; a missing one is reported."""
        known = self._found[_MODELS[name]]
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
    reading, rubrics = export.reading, _rubrics(export)
    benchmarks = _benchmarks(export)
    for key, case in export.of(_TestCase).items():
        _add_case(key, case, rubrics, [*benchmarks.get(key, {}).values()], export)
    reading.memory_objects = tuple(export.carried)
    return reading


def quality_rubrics(document: ParsedDocument) -> dict[str, JsonObject]:
    export = _Export(document)
    rubrics = _rubrics(export)
    export.reading.refuse_errors()
    return {key: fields for key, fields in rubrics.items() if fields is not None}


def _rubrics(export: _Export) -> dict[str, JsonObject | None]:
    criteria = export.of(_CriterionFields)
    rubrics: dict[str, JsonObject | None] = {}
    for key, rubric in export.of(_RubricFields).items():
        for index, criterion_id in enumerate(rubric.fields.criteria_ids):
            where = (*rubric.at, "fields", "criteriaIds", index)
            export.refer("rubric-criterion", criterion_id, where)
        # Some exports name the criteria in the rubric, others the rubric in each criterion.
        own = rubric.fields.criteria_ids or tuple(
            other for other, found in criteria.items() if found.fields.rubric_id == key
        )
        parts = {other: criteria[other].fields for other in own if other in criteria}
        rubrics[key] = _rubric(key, rubric, parts, export.reading)
    return rubrics


def _benchmarks(export: _Export) -> dict[str, dict[str, JsonValue]]:
    """The benchmarks of each case by their ids, without their results."""
    found: dict[str, dict[str, JsonValue]] = {}
    for key, benchmark in export.of(Benchmark).items():
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
        metadata = {**metadata, "benchmarks": benchmarks}
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


def human_judgments(
    document: ParsedDocument,
) -> tuple[list[tuple[int, JsonObject]], Counter[JudgmentSource]]:
    """The human judgments as rows of labels, and the number of all others by their source."""
    export = _Export(document)
    runs, criteria = export.of(_TestRun), export.of(_CriterionFields)
    repeats, rows = _repeats(runs), list[tuple[int, JsonObject]]()
    left_out: Counter[JudgmentSource] = Counter()
    for key, found in export.of(_JudgmentFields).items():
        judgment, at = found.fields, (*found.at, "fields")
        if judgment.judged_by_type != "human":
            left_out[judgment.judged_by_type] += 1
            continue
        run = runs.get(judgment.test_run_id)
        if run is None:
            near = suggest_name(judgment.test_run_id, runs) if runs else "export its test-run too"
            message = f"`testRunId`: no test-run has the id {judgment.test_run_id!r}"
            export.reading.add((*at, "testRunId"), message, near)
            continue
        criterion = None
        if export.refer("rubric-criterion", judgment.criterion_id, (*at, "criterionId")):
            criterion = criteria[judgment.criterion_id].fields
            if judgment.max_score != criterion.max_score:
                message = (
                    f"the judgment is on a scale up to {judgment.max_score:g}, and its criterion "
                    f"on one up to {criterion.max_score:g}"
                )
                export.reading.add((*at, "maxScore"), message, "convert the score")
        row: JsonObject = {
            "case_id": run.fields.case_id,
            "variant": run.fields.answered_by,
            "criterion": judgment.criterion_id if criterion is None else criterion.name,
            "repeat": repeats.get(judgment.test_run_id),
            "annotator": judgment.judged_by or None,
            "raw": judgment.score,
            "rationale": judgment.rationale,
            "confidence": judgment.confidence,
            "metadata": {
                "judgment_id": key,
                "test_run_id": judgment.test_run_id,
                **({} if judgment.judged_at is None else {"judged_at": judgment.judged_at}),
            },
        }
        rows.append((document.line_of(*found.at), without_nulls(row)))
    export.reading.refuse_errors()
    return rows, left_out


def _repeats(runs: Mapping[str, _Located[_TestRun]]) -> dict[str, int]:
    """The number of each run among those of its case and variant, where there are several."""
    # The memory does not number runs; their order in the file does.
    same: defaultdict[tuple[str, str | None], list[str]] = defaultdict(list)
    for key, found in runs.items():
        same[found.fields.case_id, found.fields.answered_by].append(key)
    counted = {key: n for keys in same.values() if len(keys) > 1 for n, key in enumerate(keys)}
    # judgekit's own exports number them, and may hold some of them only.
    own = {key: found.fields.extra.get("repeat") for key, found in runs.items()}
    return counted | {key: n for key, n in own.items() if isinstance(n, int)}


def quality_run_rows(document: ParsedDocument) -> Iterator[tuple[int, JsonObject]]:
    """The runs of an export as the rows of an outputs file."""
    # A run without a prompt version has no variant.
    export = _Export(document)
    cases = export.of(_TestCase)
    runs = export.of(_TestRun)
    for found in runs.values() if cases else ():
        case_id = found.fields.case_id
        export.refer("test-case", case_id, (*found.at, "fields", "testCaseId"), case_id=case_id)
    export.reading.refuse_errors()
    repeats = _repeats(runs)
    for key, found in runs.items():
        run = found.fields
        variant = run.answered_by
        metadata = {name: item for name, item in run.as_given().items() if name not in _READ}
        if variant == run.prompt_version_ref:
            metadata.pop("promptVersionRef", None)
        metadata |= {"test_run_id": key, "repeat": repeats.get(key, 0)}
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
        yield document.line_of(*found.at), without_nulls(row)
