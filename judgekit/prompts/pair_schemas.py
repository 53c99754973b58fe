"""The JSON a judge of two outputs is asked for: the preference stands after its reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Criterion

OVERALL = "overall"
"""The key of the preference on the whole, beside those on criteria."""

LOWEST_RAW, HIGHEST_RAW = 1, 10
"""The ends of the scale on which each side may be scored beside the preference."""


def preference_schema() -> JsonObject:
    """JSON Schema of one preference: evidence and rationale, scores, the choice."""
    quotes: JsonObject = {"type": "array", "items": {"type": "string"}}
    points = list(range(LOWEST_RAW, HIGHEST_RAW + 1))
    score: JsonObject = {"anyOf": [{"type": "integer", "enum": [*points]}, {"type": "null"}]}
    return _closed(
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
    return _closed({"criteria": _closed(answers), OVERALL: preference_schema()})


def _closed(properties: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
