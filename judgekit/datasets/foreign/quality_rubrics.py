"""Turns a rubric of a quality memory (S0) into judgekit's, with the same outputs passing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pydantic import ValidationError

from judgekit.datasets.foreign.quality_additions import added_to_criterion
from judgekit.datasets.thresholds import threshold_fault
from judgekit.records.rubric import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from judgekit.datasets.foreign.quality_format import CriterionFields, RubricFields
    from judgekit.datasets.foreign.reading import Reading
    from judgekit.datasets.json_text import KeyPath
    from judgekit.records.record import JsonObject


def rubric_of(
    rubric: RubricFields,
    parts: Mapping[str, CriterionFields],
    at: KeyPath,
    reading: Reading,
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
    if [*parts] != [criterion_id(key, criterion.name) for criterion in criteria]:
        metadata["criteriaIds"] = [*parts]
    if threshold > 1:
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
    return added_to_criterion(criterion, plain)


def _on_sum(threshold: float, criteria: Sequence[CriterionFields]) -> float:
    lowest = sum(c.weight * c.min_score for c in criteria)
    width = sum(c.weight * (c.max_score - c.min_score) for c in criteria)
    return (threshold - lowest) / width if width > 0 else math.inf


def _refuse(
    threshold: float, criteria: Sequence[CriterionFields], at: KeyPath, reading: Reading
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
