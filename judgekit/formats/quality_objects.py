"""Writes cases and rubrics as objects of a quality memory (S0); `quality_memory` reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgekit.fingerprint import fingerprint
from judgekit.formats.quality_memory import CASE_FIELD_NAMES, ON_SUM
from judgekit.formats.text import without_nulls
from judgekit.records import Case, JsonObject, Rubric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.formats.detection import ConversionSource, WrittenCases


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
    # Metadata stands among these fields, but for names that they have: the reverse of reading.
    metadata = {n: v for n, v in case.metadata.items() if n not in CASE_FIELD_NAMES}
    if inner := {n: v for n, v in case.metadata.items() if n in CASE_FIELD_NAMES - {"rubricId"}}:
        metadata["metadata"] = inner
    return quality_object("test-case", case.id, {**metadata, **without_nulls(fields), **own})


def rubric_objects(rubric: Rubric, rubric_id: str) -> Iterator[JsonObject]:
    threshold, weights = rubric_marks(rubric)
    ids = criterion_ids(rubric, rubric_id)
    fields: JsonObject = {
        "name": rubric.name,
        "criteriaIds": [*ids.values()],
        "passingThreshold": threshold,
        "version": rubric.version,
        "isActive": rubric.active,
    }
    rest = {k: v for k, v in rubric.metadata.items() if k not in {*fields, *ON_SUM, "id"}}
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
    return {"type": kind, "id": name, "fields": {**fields, **without_nulls(optional or {})}}


def rubric_marks(rubric: Rubric) -> tuple[float, list[float]]:
    """Threshold and weights; those it was read with, where they were on the sum of scores."""
    sum_, weights = (rubric.metadata.get(name) for name in ON_SUM)
    if isinstance(sum_, int | float) and isinstance(weights, list):
        numbers = [float(weight) for weight in weights if isinstance(weight, int | float)]
        if len(numbers) == len(rubric.criteria):
            return float(sum_), numbers
    return rubric.pass_threshold, [criterion.weight for criterion in rubric.criteria]
