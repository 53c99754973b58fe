"""The question why one of two outputs lost: its template, its schema, and its reply."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from judgekit.errors import ReplyFormatError
from judgekit.prompts.conversation import IMAGE_MARKER
from judgekit.prompts.fences import to_text
from judgekit.prompts.messages import JudgeTemplate, case_texts, closed_object, criteria_data
from judgekit.prompts.parsing import is_cut_off, require_text
from judgekit.records import Case, JsonObject, Rubric

_POINTS = ("quote", "text")
_CHANGES = ("area", "before", "reasoning", "after")
_LISTS = {"strengths": _POINTS, "weaknesses": _POINTS, "suggestions": _CHANGES}

# What is missing from an output cannot be quoted from it.
_MAY_BE_BLANK = {"quote", "before"}


@dataclass(frozen=True, slots=True)
class AnalysisReply:
    """A judge's explanation: strengths of the winner, weaknesses of the loser, what to change."""

    strengths: tuple[dict[str, str], ...]
    weaknesses: tuple[dict[str, str], ...]
    suggestions: tuple[dict[str, str], ...]


class AnalysisTemplate(JudgeTemplate):
    """The compiled template of the question."""

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        super().__init__("analysis/pair", folders)

    def messages(
        self, case: Case, texts: tuple[str, str], rubric: Rubric, reasons: str
    ) -> tuple[dict[str, str], ...]:
        """The messages for one pair: `texts` are those of the winner and of the loser."""
        data: dict[str, JsonValue] = {
            **case_texts(case),
            "input": to_text(case.input, IMAGE_MARKER),
            "winner": texts[0],
            "loser": texts[1],
            "reasons": reasons,
            **criteria_data(rubric.criteria),
        }
        return tuple(
            {"role": role, "content": self._compiled.render(role, data)}
            for role in ("system", "user")
        )


def analysis_schema() -> JsonObject:
    """JSON Schema of the answer: quotes before what they show, reasons before the change."""
    properties: JsonObject = {}
    for name, fields in _LISTS.items():
        item = closed_object({field: {"type": "string"} for field in fields})
        properties[name] = {"type": "array", "items": item}
    return closed_object(properties)


def parse_analysis(text: str | None, finish_reason: str | None) -> AnalysisReply:
    """Read a judge's explanation."""
    reply = require_text(text, finish_reason)
    try:
        # Strict parsing is enough: an explanation decides nothing, so nobody gains by faking one.
        answer = json.loads(reply[reply.index("{") : reply.rindex("}") + 1])
    except (ValueError, RecursionError) as error:
        raise ReplyFormatError(
            "the reply held no JSON object with strengths, weaknesses and suggestions",
            reason="truncated" if is_cut_off(finish_reason) else "no_verdict",
            reply=reply,
            instruction="Answer with one JSON object with strengths, weaknesses and suggestions.",
        ) from error
    found = {}
    for name, fields in _LISTS.items():
        items = answer.get(name) if isinstance(answer, dict) else None
        if not isinstance(items, list) or not all(_is_item(item, fields) for item in items):
            raise ReplyFormatError(
                f'"{name}" of the reply is no list of objects with the texts {", ".join(fields)}',
                reason="missing_criteria",
                reply=reply,
                instruction=(
                    f'"{name}" must be a list of objects with the texts {", ".join(fields)}.'
                ),
            )
        found[name] = tuple({field: item[field].strip() for field in fields} for item in items)
    return AnalysisReply(**found)


def _is_item(item: object, fields: tuple[str, ...]) -> bool:
    return isinstance(item, dict) and all(
        isinstance(text := item.get(field), str) and (text.strip() or field in _MAY_BE_BLANK)
        for field in fields
    )
