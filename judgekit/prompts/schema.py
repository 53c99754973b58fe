"""JSON Schemas of the replies a judge is asked for, pointwise and pairwise; scales in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from judgekit.fingerprint import Frozen
from judgekit.prompts.parsing import HIGHEST_SIDE_SCORE, LOWEST_SIDE_SCORE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.records import Criterion, JsonObject, Scale

# A scale with more points than this is described as a range, not listed.
_MOST_POINTS = 21


def criterion_schema(criterion: Criterion) -> JsonObject:
    """JSON Schema of the answer to one criterion."""
    # Evidence and rationale come before the score: a model that has written a score defends it.
    points = criterion.scale.points
    whole = criterion.scale.integer or (points is not None and all(map(float.is_integer, points)))
    score: JsonObject = {"type": "integer" if whole else "number"}
    # Bounds are given as listed values or in words: strict modes of several providers refuse
    # `minimum` and `maximum`.
    if points is not None and len(points) <= _MOST_POINTS:
        score["enum"] = list(map(int, points)) if whole else list(points)
    return _closed_object(
        {
            "evidence": {"type": "array", "items": {"type": "string"}},
            "rationale": {"type": "string"},
            "score": {"anyOf": [score, {"type": "null"}]},
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
        return f"one of {', '.join(map('{:g}'.format, points))} ({best})"
    kind = "whole number" if scale.integer else "number"
    return f"a {kind} from {scale.min:g} to {scale.max:g} ({best})"


def _closed_object(properties: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


# The key of the overall preference, beside those on criteria.
OVERALL_KEY = "overall"


def preference_schema() -> JsonObject:
    """JSON Schema of one preference: evidence and rationale, then scores, then the choice."""
    quotes: JsonObject = {"type": "array", "items": {"type": "string"}}
    points = list(range(LOWEST_SIDE_SCORE, HIGHEST_SIDE_SCORE + 1))
    score: JsonObject = {"anyOf": [{"type": "integer", "enum": [*points]}, {"type": "null"}]}
    return _closed_object(
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
    """JSON Schema of the preferences on several criteria and overall, in one reply."""
    answers: JsonObject = {criterion.name: preference_schema() for criterion in criteria}
    return _closed_object({"criteria": _closed_object(answers), OVERALL_KEY: preference_schema()})


def freeze_schema(schema: JsonObject) -> JsonObject:
    """The schema as an object whose canonical text is computed once for all cache keys."""
    return cast("JsonObject", Frozen(cast("dict[str, object]", schema)))
