"""Lets a fake judge answer published pairwise prompts, which ask for words instead of JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgekit.models.request import ModelRequest
    from judgekit.records.record import JsonObject

_SCORES: JsonObject = {"type": "integer", "enum": [*range(1, 11)]}
_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "rationale": {"type": "string"},
        "score_first": _SCORES,
        "score_second": _SCORES,
        "preference": {"type": "string", "enum": ["first", "second", "tie"]},
    },
}
_LETTERS = {"first": "A", "second": "B", "tie": "C"}


def form_schema(request: ModelRequest) -> JsonObject | None:
    """What a request asks for that has no schema, as a schema."""
    return None if _form(request) is None else _SCHEMA


def worded(request: ModelRequest, answer: str) -> str:
    """An answer in the form that a request asks for."""
    form = _form(request)
    if form is None:
        return answer
    said = json.loads(answer)
    why, choice = said["rationale"], said["preference"]
    if form == "two_scores":
        return (
            f"Evaluation evidence: {why}\nThe score of Assistant 1: {said['score_first']}\n"
            f"The score of Assistant 2: {said['score_second']}"
        )
    if form == "brackets":
        return f"{why} [[{_LETTERS[choice]}]]"
    if form == "letter":
        return _LETTERS[choice]
    output = "Output (b)" if choice == "second" else "Output (a)"  # no tie is allowed
    return output if form == "stated" else f"{why} Therefore, {output} is better."


def _form(request: ModelRequest) -> str | None:
    if request.reply_schema is not None or request.subject.order is None:
        return None
    asked = request.messages[-1]["content"]
    for mark, form in (
        ("The score of Assistant 1:", "two_scores"),
        ('"[[A]]"', "brackets"),
        ("Therefore, Output (a)", "reasoned"),
        ('"Output (a)"', "stated"),
        ("the letter A, B or C", "letter"),
    ):
        if mark in asked:
            return form
    return None
