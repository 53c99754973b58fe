"""Turns the rubric of a skill's test (S4) into judgekit's, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from judgekit.datasets.thresholds import threshold_fault
from judgekit.datasets.vagueness import vague_word
from judgekit.records.rubric import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from judgekit.datasets.foreign.reading import Reading
    from judgekit.datasets.foreign.skill_tests_format import RubricCriterion, RubricScale, SkillCase
    from judgekit.datasets.json_text import KeyPath
    from judgekit.records.record import JsonObject

OTHER_FIELDS = "other_fields"
"""The entry of a metadata with the fields that have no place elsewhere."""

_SHARES = 1e-6
"""How far weights may be from adding up to 1."""


def rubric_of(case: SkillCase, at: KeyPath, reading: Reading) -> JsonObject | None:
    """The rubric of a test as the fields of a `Rubric`; what is unsound in it is noted."""
    rubric = case.expected.rubric
    if rubric is None:
        return None
    where = (*at, "expected", "rubric")
    _check_weights([criterion.weight for criterion in rubric.criteria], where, reading, case.id)
    criteria: list[JsonValue] = []
    for index, criterion in enumerate(rubric.criteria):
        place = (*where, "criteria", index)
        if word := vague_word(criterion.description):
            message = f"the description says {word!r}, which nothing can contradict"
            remedy = "say what would be seen in the output"
            reading.warn((*place, "description"), message, remedy, case_id=case.id)
        criteria.append(_criterion(criterion, place, reading, case.id))
    metadata = rubric.extra
    unread: JsonObject = {c.name: c.extra for c in rubric.criteria if c.extra}
    if unread:
        metadata[OTHER_FIELDS] = unread
    if rubric.overall_feedback is not None:
        metadata["overallFeedback"] = rubric.overall_feedback
    return {
        "name": case.id,
        "criteria": criteria,
        "pass_threshold": rubric.passing_threshold,
        "metadata": metadata,
    }


def soften_thresholds(item: JsonObject, at: KeyPath, reading: Reading) -> JsonObject:
    """A test in which thresholds on another scale, each noted, are replaced by sound ones."""
    # So the other faults of the test are found at the same time.
    expected = item.get("expected")
    if not isinstance(expected, dict):
        return item
    mended: JsonObject = {}
    if fault := threshold_fault(("semanticThreshold",), expected.get("semanticThreshold"), ()):
        mended["semanticThreshold"] = 1.0
        _add(fault.message, fault.remedy, (*at, "expected", "semanticThreshold"), item, reading)
    rubric = expected.get("rubric")
    if isinstance(rubric, dict) and (
        fault := threshold_fault(
            ("passingThreshold",), rubric.get("passingThreshold"), _scales(rubric)
        )
    ):
        mended["rubric"] = {**rubric, "passingThreshold": 1.0}
        place = (*at, "expected", "rubric", "passingThreshold")
        _add(fault.message, fault.remedy, place, item, reading)
    return item if not mended else {**item, "expected": {**expected, **mended}}


def _add(
    message: str, remedy: str | None, where: KeyPath, item: JsonObject, reading: Reading
) -> None:
    named = item.get("id")
    reading.add(where, message, remedy, case_id=named if isinstance(named, str) else None)


def _scales(rubric: JsonObject) -> Iterator[Scale]:
    criteria = rubric.get("criteria")
    for criterion in criteria if isinstance(criteria, list) else ():
        scale = criterion.get("scale") if isinstance(criterion, dict) else None
        if isinstance(scale, dict):
            try:
                yield Scale.model_validate({name: scale.get(name) for name in ("min", "max")})
            except ValidationError:
                continue


def _check_weights(weights: list[float], where: KeyPath, reading: Reading, case_id: str) -> None:
    total = sum(weights)
    place = (*where, "criteria")
    if total <= 0:
        message = "no criterion has a weight above 0, so nothing is judged"
        reading.add(place, message, "give the weights as shares of 1", case_id=case_id)
    elif abs(total - 1) > _SHARES:
        message = f"the weights add up to {total:g}, not 1; each is taken as its share of that"
        reading.warn(place, message, "make them add up to 1", case_id=case_id)


def _criterion(
    criterion: RubricCriterion, at: KeyPath, reading: Reading, case_id: str
) -> JsonObject:
    return {
        "name": criterion.name,
        "question": criterion.description,
        "weight": criterion.weight,
        "scale": _scale(criterion.scale, (*at, "scale"), reading, case_id),
    }


def _scale(scale: RubricScale, at: KeyPath, reading: Reading, case_id: str) -> JsonObject:
    """The scale with its described scores as levels, best first."""
    levels: list[tuple[float, str]] = []
    for score, text in (scale.descriptions or {}).items():
        try:
            levels.append((float(score), text))
        except ValueError:
            place = (*at, "descriptions", score)
            reading.add(place, f"{score!r} is no score", "name a number", case_id=case_id)
    found: JsonObject = {"min": scale.min, "max": scale.max}
    ends = (scale.min, scale.max, *(value for value, _ in levels))
    if all(float(end).is_integer() for end in ends) and scale.max - scale.min > 1:
        found["integer"] = True
    if levels:
        ordered = sorted(levels, reverse=True)
        found["levels"] = [{"value": value, "description": text} for value, text in ordered]
    return found
