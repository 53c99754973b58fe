"""Turns assertion results into judgments, so that rules can judge where no model is asked."""

from __future__ import annotations

import json
from math import fsum
from typing import TYPE_CHECKING

from judgekit.errors import UnknownNameError
from judgekit.records import Criterion, JudgeFailure, Judgment, Rubric
from judgekit.stats.votes import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.records import AssertionResult, JsonObject, Scale

HEURISTIC = "heuristic"
"""The identity of the judge, in a suite and in its judgments."""

_YES_OR_NO = 2


def implied_rubric(
    assertions: Sequence[JsonObject], *, name: str = "assertions", pass_threshold: float = 1.0
) -> Rubric:
    """The rubric that assertions make up where there is no other: each is a yes-or-no criterion."""
    groups: dict[str, list[JsonObject]] = {}
    for place, assertion in enumerate(assertions, start=1):
        groups.setdefault(_criterion_name(assertion, place), []).append(assertion)
    criteria = [
        Criterion(
            name=criterion,
            question=f"Does this hold? {'; '.join(map(_shown, group))}",
            scale="binary",
            weight=fsum(_weight(assertion) for assertion in group),
        )
        for criterion, group in groups.items()
    ]
    return Rubric(name=name, criteria=tuple(criteria), pass_threshold=pass_threshold)


def judge_by_assertions(
    rubric: Rubric,
    assertions: Sequence[JsonObject],
    results: Sequence[AssertionResult],
    *,
    case_id: str | None = None,
    variant: str | None = None,
) -> tuple[Judgment | JudgeFailure, ...]:
    """What assertions say of the criteria they stand for."""
    # An assertion stands for the criterion it names; in an implied rubric, also for its own. On a
    # scale of two scores all assertions of a criterion must hold; on a longer one it gets the score
    # nearest to their weighted mean, the worse of two.
    names = [criterion.name for criterion in rubric.criteria]
    found: dict[str, list[tuple[float, AssertionResult]]] = {}
    for place, (assertion, result) in enumerate(zip(assertions, results, strict=True), start=1):
        name = _criterion_name(assertion, place)
        if name not in names and "criterion" in assertion:
            raise UnknownNameError("criterion", name, names)
        found.setdefault(name, []).append((_weight(assertion), result))
    return tuple(
        _criterion_outcome(criterion, found[criterion.name], case_id=case_id, variant=variant)
        for criterion in rubric.criteria
        if criterion.name in found
    )


def _criterion_outcome(
    criterion: Criterion,
    found: Sequence[tuple[float, AssertionResult]],
    *,
    case_id: str | None,
    variant: str | None,
) -> Judgment | JudgeFailure:
    errors = [f"{result.type}: {result.error}" for _, result in found if result.passed is None]
    if errors:
        return JudgeFailure(
            criterion=criterion.name,
            kind="internal",
            message="\n".join(errors),
            case_id=case_id,
            variant=variant,
            judge=HEURISTIC,
            cost_usd=0.0,
            price_usd=0.0,
        )
    raw = _raw(found, criterion.scale)
    return Judgment(
        criterion=criterion.name,
        raw=raw,
        value=criterion.scale.value_of(raw),
        rationale="\n".join(result.message for _, result in found),
        source="heuristic",
        judge=HEURISTIC,
        case_id=case_id,
        variant=variant,
        cost_usd=0.0,
        price_usd=0.0,
        n_calls=0,
    )


def _raw(found: Sequence[tuple[float, AssertionResult]], scale: Scale) -> float:
    points = scale.points
    if points is not None and len(points) == _YES_OR_NO:
        return points[all(result.passed for _, result in found)]
    total = fsum(weight for weight, _ in found)
    values = [(weight if total else 1.0, _value(result)) for weight, result in found]
    mean = fsum(weight * value for weight, value in values) / (total or len(values))
    raw = min(scale.max, scale.min + mean * (scale.max - scale.min))
    if points is not None:
        return nearest(raw, points)
    return float(round(raw)) if scale.integer else raw


def _value(result: AssertionResult) -> float:
    return float(bool(result.passed)) if result.value is None else result.value


def _criterion_name(assertion: JsonObject, place: int) -> str:
    named = assertion.get("criterion")
    return named if isinstance(named, str) else f"{assertion.get('type')} {place}"


def _weight(assertion: JsonObject) -> float:
    weight = assertion.get("weight")
    return float(weight) if isinstance(weight, int | float) else 1.0


def _shown(assertion: JsonObject) -> str:
    more = {k: v for k, v in assertion.items() if k not in {"type", "weight", "criterion"}}
    return (
        f"{assertion.get('type')} {json.dumps(more, ensure_ascii=False)}"
        if more
        else str(assertion.get("type"))
    )
