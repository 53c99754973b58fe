"""The JSON a judge is asked for: its schema, and its description in words, from criteria."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Criterion, Scale

_MOST_POINTS = 21
"""A scale with more points than this is described as a range, not listed."""


def criterion_schema(criterion: Criterion) -> JsonObject:
    """JSON Schema of the answer to one criterion; evidence and rationale stand before the score."""
    # Bounds are given as listed values or in words: strict modes of several providers refuse
    # `minimum` and `maximum`.
    return _closed(
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
    return _closed({"criteria": _closed(answers)})


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


def _closed(properties: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
