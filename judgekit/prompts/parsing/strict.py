"""Reads the scores or preferences of a JSON reply in exactly the requested layout.

All other replies are read in `resolve` and `text_formats`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NoReturn

from judgekit.prompts.parsing.fields import (
    ANSWER_FIELDS,
    HIGHEST_SIDE_SCORE,
    LOWEST_SIDE_SCORE,
    SLOTS_BY_SCORE,
    CriterionReply,
    PreferenceReply,
)
from judgekit.prompts.parsing.quotation import may_hold_verdict
from judgekit.records import Criterion

# `resolve` is imported when a reply needs it: its patterns take longer to compile than a thousand
# strict replies to parse, and a run of cached replies seldom needs them.


def parse_criterion_replies(
    text: str | None,
    criteria: Sequence[Criterion],
    *,
    finish_reason: str | None = "stop",
    judged_text: str | Sequence[str] | None = None,
) -> dict[str, CriterionReply]:
    """What a judge's reply states on each criterion: score, rationale, evidence, confidence."""
    answer = _strict_answer(text, finish_reason, judged_text) or {}
    if len(criteria) == 1 and "score" in answer:
        answer = {"criteria": {criteria[0].name: answer}}
    answers = answer.get("criteria") if len(answer) == 1 else None
    if isinstance(answers, dict) and len(answers) == len(criteria):
        replies: dict[str, CriterionReply] = {}
        for criterion in criteria:
            reply = _strict_criterion(answers.get(criterion.name), criterion)
            if reply is None:
                break
            replies[criterion.name] = reply
        else:
            return replies
    from judgekit.prompts.parsing.resolve import resolve_criteria  # noqa: PLC0415

    return resolve_criteria(text, criteria, finish_reason, judged_text)


def parse_preferences(
    text: str | None,
    questions: Sequence[str],
    *,
    finish_reason: str | None = "stop",
    judged_text: Sequence[str] = (),
) -> dict[str, PreferenceReply]:
    """What a judge's JSON reply prefers, for each question."""
    answer = _strict_answer(text, finish_reason, judged_text)
    if answer is not None and (strict := _strict_preferences(answer, questions)) is not None:
        return strict
    from judgekit.prompts.parsing.resolve import resolve_preferences  # noqa: PLC0415

    return resolve_preferences(text, questions, finish_reason, judged_text)


def _strict_answer(
    text: str | None, finish_reason: str | None, judged_text: str | Sequence[str] | None
) -> dict[str, object] | None:
    """The JSON object that a reply is, where no part of it can be a quotation."""
    # The strict parser cannot tell a quoted verdict from the judge's own, so it is left out if the
    # judged text could contain one.
    judged = (judged_text,) if isinstance(judged_text, str) else judged_text or ()
    if text is None or finish_reason not in {"stop", None} or any(map(may_hold_verdict, judged)):
        return None
    # Many models put the whole object into a code block.
    opening, _, rest = text.lstrip().partition("\n")
    if opening.rstrip().lower() in {"```json", "```"} and rest.rstrip().endswith("\n```"):
        text = rest.rstrip()[:-3]
    try:
        answer = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


# Larger whole numbers lose digits as floats, and the largest raise.
_LARGEST = 10**15
_NEEDED_FIELDS = frozenset({"rationale", "score"})  # templates may leave out the others


def _strict_criterion(answer: object, criterion: Criterion) -> CriterionReply | None:
    if not isinstance(answer, dict) or not _NEEDED_FIELDS <= answer.keys() <= ANSWER_FIELDS:
        return None
    evidence, rationale = answer.get("evidence", []), answer["rationale"]
    kinds = type(rationale), type(evidence)
    if answer.get("assessable", True) is not True or kinds != (str, list):
        return None
    for number in (answer["score"], answer.get("confidence", -1)):
        # A bool is an int to Python; a huge int is no score, and `float` fails on it.
        if type(number) is not float and (type(number) is not int or abs(number) >= _LARGEST):
            return None
    raw, confidence = float(answer["score"]), float(answer.get("confidence", -1))
    if not {str}.issuperset(map(type, evidence)) or not criterion.scale.holds(raw):
        return None
    return CriterionReply(
        raw=raw,
        rationale=rationale.strip() or None,
        evidence=tuple(filter(None, map(str.strip, evidence))),
        confidence=confidence if 0 <= confidence <= 1 else None,
    )


def _unique(pairs: list[tuple[str, object]]) -> Mapping[str, object]:
    # Python keeps the last of two equal keys; here two verdicts make the reply ambiguous.
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _refuse(constant: str) -> NoReturn:
    # Python reads NaN and Infinity, which JSON does not have.
    raise ValueError(f"{constant} is not a score")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)


def _strict_preferences(
    answer: dict[str, object], questions: Sequence[str]
) -> dict[str, PreferenceReply] | None:
    if len(questions) == 1 and "preference" in answer:
        answers: dict[str, object] = {questions[0]: answer}
    elif answer.keys() == {"criteria", "overall"} and isinstance(answer["criteria"], dict):
        answers = {**answer["criteria"], "overall": answer["overall"]}
    else:
        return None
    found = {name: _strict_preference(answers.get(name)) for name in questions}
    replies = {name: reply for name, reply in found.items() if reply is not None}
    return replies if len(replies) == len(questions) == len(answers) else None


_PREFERENCE_FIELDS = frozenset(
    {"evidence_first", "evidence_second", "rationale", "score_first", "score_second"}
    | {"preference", "confidence", "assessable"}
)
_NEEDED_OF_PREFERENCE = frozenset({"rationale", "preference"})


def _strict_preference(answer: object) -> PreferenceReply | None:
    if (
        not isinstance(answer, dict)
        or not _NEEDED_OF_PREFERENCE <= answer.keys() <= _PREFERENCE_FIELDS
        or answer.get("assessable", True) is not True
    ):
        return None
    choice = next((slot for slot in SLOTS_BY_SCORE if slot == answer["preference"]), None)
    rationale = answer["rationale"]
    quotes = answer.get("evidence_first", []), answer.get("evidence_second", [])
    if (
        choice is None
        or not isinstance(rationale, str)
        or not all(
            isinstance(quoted, list) and {str}.issuperset(map(type, quoted)) for quoted in quotes
        )
    ):
        return None
    return PreferenceReply(
        choice=choice,
        rationale=rationale.strip() or None,
        evidence_first=tuple(filter(None, map(str.strip, quotes[0]))),
        evidence_second=tuple(filter(None, map(str.strip, quotes[1]))),
        confidence=_number_within(answer.get("confidence"), 0, 1),
        raw_first=_number_within(answer.get("score_first"), LOWEST_SIDE_SCORE, HIGHEST_SIDE_SCORE),
        raw_second=_number_within(
            answer.get("score_second"), LOWEST_SIDE_SCORE, HIGHEST_SIDE_SCORE
        ),
    )


def _number_within(value: object, low: float, high: float) -> float | None:
    # Scores and confidence beside a choice decide nothing, so an invalid one is left out.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if low <= value <= high else None
