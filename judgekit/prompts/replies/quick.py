"""Reads a reply that is exactly what was asked for; anything else is left to `reading`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NoReturn

from judgekit.prompts.replies.answers import CriterionReply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.records.rubric import Criterion

_LARGEST = 10**15
_FIELDS = frozenset({"evidence", "rationale", "assessable", "score", "confidence"})


def quick_reply(text: str, criteria: Sequence[Criterion]) -> dict[str, CriterionReply] | None:
    """The readings of a reply in judgekit's own layout, to the letter."""
    try:
        answer = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict):
        return None
    if len(criteria) == 1 and "score" in answer:
        reply = _quick(answer, criteria[0])
        return None if reply is None else {criteria[0].name: reply}
    answers = answer.get("criteria")
    if len(answer) != 1 or not isinstance(answers, dict) or len(answers) != len(criteria):
        return None
    replies: dict[str, CriterionReply] = {}
    for criterion in criteria:
        reply = _quick(answers.get(criterion.name), criterion)
        if reply is None:
            return None
        replies[criterion.name] = reply
    return replies


def _quick(answer: object, criterion: Criterion) -> CriterionReply | None:
    if not isinstance(answer, dict) or answer.keys() != _FIELDS:
        return None
    evidence, score, confidence = answer["evidence"], answer["score"], answer["confidence"]
    if not (_is_number(score) and _is_number(confidence) and answer["assessable"] is True):
        return None
    if not isinstance(answer["rationale"], str) or not _are_texts(evidence):
        return None
    raw = float(score)
    if not criterion.scale.holds(raw):
        return None
    return CriterionReply(
        raw=raw,
        rationale=answer["rationale"].strip() or None,
        evidence=tuple(quote.strip() for quote in evidence if quote.strip()),
        confidence=float(confidence) if 0 <= confidence <= 1 else None,
    )


def _is_number(value: object) -> bool:
    return type(value) is float or (type(value) is int and abs(value) < _LARGEST)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _unique(pairs: list[tuple[str, object]]) -> Mapping[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no score")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)
