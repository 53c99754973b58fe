"""JSON Schemas of the replies a judge is asked for, pointwise and pairwise.

Scales in words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.records import Criterion, JsonObject, Scale

_MOST_POINTS = 21
"""A scale with more points than this is described as a range, not listed."""


def criterion_schema(criterion: Criterion) -> JsonObject:
    """JSON Schema of the answer to one criterion; evidence and rationale stand before the score."""
    # Bounds are given as listed values or in words: strict modes of several providers refuse
    # `minimum` and `maximum`.
    return _closed_object(
        {
            "evidence": {"type": "array", "items": {"type": "string"}},
            "rationale": {"type": "string"},
            "score": {"anyOf": [_score_schema(criterion.scale), {"type": "null"}]},
            "confidence": {"type": "number"},
            # Last, so that a "true" the judge has just written does not stand before its score.
            "assessable": {"type": "boolean"},
        }
    )


def criteria_schema(criteria: Sequence[Criterion]) -> JsonObject:
    """JSON Schema of the answers to several criteria at once, keyed by their names."""
    answers: JsonObject = {c.name: criterion_schema(c) for c in criteria}
    return _closed_object({"criteria": _closed_object(answers)})


def scale_words(scale: Scale) -> str:
    """The scores of a scale in words, fit for a prompt."""
    points = scale.points
    best = f"{scale.max:g} is best"
    if points is not None and len(points) <= _MOST_POINTS:
        return f"one of {', '.join(f'{point:g}' for point in points)} ({best})"
    kind = "whole number" if scale.integer else "number"
    return f"a {kind} from {scale.min:g} to {scale.max:g} ({best})"


def _score_schema(scale: Scale) -> JsonObject:
    points = scale.points
    whole = scale.integer or (points is not None and all(p.is_integer() for p in points))
    kind = "integer" if whole else "number"
    if points is None or len(points) > _MOST_POINTS:
        return {"type": kind}
    return {"type": kind, "enum": [int(p) if whole else p for p in points]}


def _closed_object(properties: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


OVERALL_KEY = "overall"
"""The key of the preference on the whole, beside those on criteria."""

LOWEST_RAW, HIGHEST_RAW = 1, 10
"""The ends of the scale on which each side may be scored beside the preference."""


def preference_schema() -> JsonObject:
    """JSON Schema of one preference: evidence and rationale, scores, the choice."""
    quotes: JsonObject = {"type": "array", "items": {"type": "string"}}
    points = list(range(LOWEST_RAW, HIGHEST_RAW + 1))
    score: JsonObject = {"anyOf": [{"type": "integer", "enum": [*points]}, {"type": "null"}]}
    return _closed_pair_object(
        {
            "evidence_first": quotes,
            "evidence_second": quotes,
            "rationale": {"type": "string"},
            "score_first": score,
            "score_second": score,
            "preference": {"type": "string", "enum": ["first", "second", "tie"]},
            "confidence": {"type": "number"},
            # Last, so that a "true" the judge has just written does not stand before its choice.
            "assessable": {"type": "boolean"},
        }
    )


def preferences_schema(criteria: Sequence[Criterion]) -> JsonObject:
    """JSON Schema of the preferences on several criteria and on the whole, in one reply."""
    answers: JsonObject = {criterion.name: preference_schema() for criterion in criteria}
    return _closed_pair_object(
        {"criteria": _closed_pair_object(answers), OVERALL_KEY: preference_schema()}
    )


def _closed_pair_object(properties: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
