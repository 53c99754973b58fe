"""Makes objects of a quality memory (S0) of cases, rubrics, answers and judgments, linked by id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.datasets.foreign.quality_additions import split_metadata
from judgekit.datasets.foreign.quality_rubrics import criterion_id
from judgekit.fingerprint import fingerprint
from judgekit.records.rubric import Rubric
from judgekit.store.texts import time_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic import JsonValue

    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.records.case import Case
    from judgekit.records.judgment import Judgment
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Criterion
    from judgekit.records.run import CaseResult, RunInfo

_ON_SUM = ("passingThreshold", "weights")
"""Metadata of a rubric whose threshold was on the sum of weighted scores."""

_ID_LENGTH = 16


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
            given = _own_id(rubric)
        self._ids[print_] = given
        return given, True


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
    return _object("test-case", case.id, {**split_metadata(case.metadata), **known, **own})


def rubric_objects(rubric: Rubric, rubric_id: str) -> Iterator[JsonObject]:
    """A rubric as a `rubric` and a `rubric-criterion` for each of its criteria."""
    threshold, weights = _marks(rubric)
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
    yield _object("rubric", rubric_id, {**rest, **fields})
    for criterion, weight in zip(rubric.criteria, weights, strict=True):
        fields = _criterion(criterion, weight, rubric_id)
        yield _object("rubric-criterion", ids[criterion.name], fields)


def run_object(answer: Concluded, run: RunInfo) -> JsonObject:
    """An answer as a `test-run`."""
    # `totalScore` is the sum of weighted scores that the rubric's `passingThreshold` speaks of: the
    # overall value on [0, 1], or, where that threshold is on the sum itself, the sum. What is not
    # known is null. Judges that failed stand under `failures`, and what assertions found under
    # `checks`.
    result, output = answer.result, answer.result.output
    total, best = _total(answer, rubric_of(answer, run))
    fields: JsonObject = {
        "testCaseId": result.case.id,
        "promptVersionRef": prompt_version(result.variant, run),
        "actualOutput": output.text if output.text is not None else output.data,
        "passed": answer.passed,
        "totalScore": total,
        "maxPossibleScore": best,
        "variant": result.variant,
        "repeat": result.repeat,
    }
    optional: JsonObject = {
        "agentRunId": output.run_id,
        "ranAt": None if result.ran_at is None else time_text(result.ran_at),
        "durationMs": output.duration_ms,
        "judgeType": _judge_type(result),
        "data": output.data if output.text is not None else None,
        "error": output.error,
        "failures": [failure.to_json() for failure in result.failures] or None,
        "checks": [check.to_json() for check in result.checks] or None,
    }
    fields |= {name: value for name, value in optional.items() if value is not None}
    return _object("test-run", run_object_id(result), fields)


def judgment_objects(answer: Concluded, rubric: Rubric, rubric_id: str) -> Iterator[JsonObject]:
    """The judgments of an answer as `eval-judgment`s."""
    known = {criterion.name: criterion for criterion in rubric.criteria}
    ids = criterion_ids(rubric, rubric_id)
    for place, judgment in enumerate(answer.result.judgments):
        if judgment.criterion in known:
            scale = known[judgment.criterion].scale
            fields = _judgment(judgment, scale.max)
            fields["testRunId"] = run_object_id(answer.result)
            fields["criterionId"] = ids[judgment.criterion]
            yield _object("eval-judgment", f"{run_object_id(answer.result)}/{place}", fields)


def criterion_ids(rubric: Rubric, rubric_id: str) -> dict[str, str]:
    """The ids of a rubric's criteria: those of the objects they came from, else their own."""
    names = [criterion.name for criterion in rubric.criteria]
    kept = rubric.metadata.get("criteriaIds")
    is_theirs = isinstance(kept, list) and len(kept) == len(names) and rubric_id != _own_id(rubric)
    if isinstance(kept, list) and is_theirs:
        return dict(zip(names, map(str, kept), strict=True))
    return {name: criterion_id(rubric_id, name) for name in names}


def run_object_id(result: CaseResult) -> str:
    """The id of an answer."""
    return f"{result.run_id}/{result.case.id}/{result.variant}/{result.repeat}"


def prompt_version(variant: str, run: RunInfo) -> str:
    """What an answer's `promptVersionRef` is."""
    versions = [each.prompt_version for each in run.variants]
    own = next((each.prompt_version for each in run.variants if each.id == variant), None)
    return own if own is not None and versions.count(own) == 1 else variant


def _own_id(rubric: Rubric) -> str:
    """The id of a rubric that has none, or whose content is another by now."""
    return f"{rubric.name}@{fingerprint(rubric.to_json())[:_ID_LENGTH]}"


def _object(kind: str, name: str, fields: JsonObject) -> JsonObject:
    return {"type": kind, "id": name, "fields": fields}


def rubric_of(answer: Concluded, run: RunInfo) -> Rubric | None:
    """What an answer is judged by: its case's own rubric, else the suite's."""
    own = answer.result.case.rubric
    return own if isinstance(own, Rubric) else run.rubric


def _marks(rubric: Rubric) -> tuple[float, list[float]]:
    """Threshold and weights: those it was read with, where they were on the sum of scores."""
    sum_, weights = (rubric.metadata.get(name) for name in _ON_SUM)
    if isinstance(sum_, int | float) and isinstance(weights, list):
        given = [w for w in weights if isinstance(w, int | float)]
        if len(given) == len(rubric.criteria):
            return float(sum_), [float(weight) for weight in given]
    return rubric.pass_threshold, [criterion.weight for criterion in rubric.criteria]


def _criterion(criterion: Criterion, weight: float, rubric_id: str) -> JsonObject:
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


def _total(answer: Concluded, rubric: Rubric | None) -> tuple[float | None, float | None]:
    """The sum of weighted scores and the best it could be, on the threshold's scale."""
    if rubric is None or answer.verdict is None:
        return answer.value, 1.0
    threshold, weights = _marks(rubric)
    if threshold <= 1:
        return answer.verdict.value, 1.0
    scales = [criterion.scale for criterion in rubric.criteria]
    best = sum(w * scale.max for w, scale in zip(weights, scales, strict=True))
    values: Sequence[float | None] = [found.value for found in answer.verdict.criteria]
    total = 0.0
    for weight, scale, value in zip(weights, scales, values, strict=True):
        if value is None:
            return None, best
        total += weight * (scale.min + value * (scale.max - scale.min))
    return total, best


def _judge_type(result: CaseResult) -> str | None:
    """Who judged: a person where one did, else a model, else rules."""
    sources = {judgment.source for judgment in result.judgments}
    found = next((source for source in ("human", "llm", "heuristic") if source in sources), None)
    return found or ("heuristic" if result.checks else None)


def _judgment(judgment: Judgment, best: float) -> JsonObject:
    fields: JsonObject = {
        "score": judgment.raw,
        "maxScore": best,
        "rationale": judgment.rationale,
        "judgedBy": judgment.judge,
        "judgedByType": judgment.source,
    }
    quotes: list[JsonValue] = [piece.quote for piece in judgment.evidence]
    optional: JsonObject = {
        "confidence": judgment.confidence,
        "evidence": quotes or None,
        "repeat": judgment.repeat or None,
    }
    return fields | {name: value for name, value in optional.items() if value is not None}
