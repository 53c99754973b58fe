"""What a reply says, as records, and the fast path.

Replies in exactly the requested JSON layout. Everything else goes through `resolve` or `pairwise`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.records import Criterion, PreferenceSlot


@dataclass(frozen=True, slots=True)
class CriterionReply:
    """What a judge's reply says about one criterion."""

    raw: float | None
    rationale: str | None = None
    evidence: tuple[str, ...] = ()
    confidence: float | None = None

    @property
    def cannot_assess(self) -> bool:
        """Whether the judge says that it cannot assess this."""
        return self.raw is None


@dataclass(frozen=True, slots=True)
class PreferenceReply:
    """What a judge's reply says about two outputs, on one criterion or on the whole."""

    choice: PreferenceSlot | None
    rationale: str | None = None
    evidence_first: tuple[str, ...] = ()
    evidence_second: tuple[str, ...] = ()
    confidence: float | None = None
    raw_first: float | None = None
    raw_second: float | None = None

    @property
    def cannot_assess(self) -> bool:
        """Whether the judge says that the two cannot be compared."""
        return self.choice is None

    @property
    def scores_disagree(self) -> bool:
        """Whether its scores say something else than its choice."""
        if self.raw_first is None or self.raw_second is None or self.choice is None:
            return False
        order = (self.raw_first > self.raw_second) - (self.raw_first < self.raw_second)
        return order != {"first": 1, "second": -1, "tie": 0}[self.choice]


_LARGEST = 10**15
_CRITERION_FIELDS = frozenset({"evidence", "rationale", "assessable", "score", "confidence"})


def parse_strict_reply(
    text: str, criteria: Sequence[Criterion]
) -> dict[str, CriterionReply] | None:
    """The readings of a reply in judgekit's own layout, to the letter."""
    try:
        answer = _CRITERION_DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict):
        return None
    if len(criteria) == 1 and "score" in answer:
        reply = _strict_criterion(answer, criteria[0])
        return None if reply is None else {criteria[0].name: reply}
    answers = answer.get("criteria")
    if len(answer) != 1 or not isinstance(answers, dict) or len(answers) != len(criteria):
        return None
    replies: dict[str, CriterionReply] = {}
    for criterion in criteria:
        reply = _strict_criterion(answers.get(criterion.name), criterion)
        if reply is None:
            return None
        replies[criterion.name] = reply
    return replies


def _strict_criterion(answer: object, criterion: Criterion) -> CriterionReply | None:
    if not isinstance(answer, dict) or answer.keys() != _CRITERION_FIELDS:
        return None
    evidence, rationale = answer["evidence"], answer["rationale"]
    if answer["assessable"] is not True or type(rationale) is not str or type(evidence) is not list:
        return None
    for number in (answer["score"], answer["confidence"]):
        # A bool is an int to Python; a huge int is no score, and `float` fails on it.
        if type(number) is not float and (type(number) is not int or abs(number) >= _LARGEST):
            return None
    raw, confidence = float(answer["score"]), float(answer["confidence"])
    if not {str}.issuperset(map(type, evidence)) or not criterion.scale.holds(raw):
        return None
    return CriterionReply(
        raw=raw,
        rationale=rationale.strip() or None,
        evidence=tuple(filter(None, map(str.strip, evidence))),
        confidence=confidence if 0 <= confidence <= 1 else None,
    )


def _unique(pairs: list[tuple[str, object]]) -> Mapping[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no score")


_CRITERION_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)
SLOTS_BY_SCORE: tuple[PreferenceSlot, PreferenceSlot, PreferenceSlot] = ("second", "tie", "first")
"""The choices, by the score of each."""

LOWEST_SIDE_SCORE, HIGHEST_SIDE_SCORE = 1, 10
"""The ends of the scale on which each of two outputs may be scored beside the preference."""


def parse_strict_preferences(
    text: str, questions: Sequence[str]
) -> dict[str, PreferenceReply] | None:
    """The readings of a reply in judgekit's own layout, to the letter; None for any other."""
    try:
        answer = _PREFERENCE_DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict):
        return None
    if len(questions) == 1 and "preference" in answer:
        answers: dict[str, object] = {questions[0]: answer}
    elif answer.keys() == {"criteria", "overall"} and isinstance(answer["criteria"], dict):
        answers = {**answer["criteria"], "overall": answer["overall"]}
    else:
        return None
    found = {name: _strict_preference(answers.get(name)) for name in questions}
    sound = {name: one for name, one in found.items() if one is not None}
    return sound if len(sound) == len(questions) == len(answers) else None


_PREFERENCE_FIELDS = frozenset(
    {"evidence_first", "evidence_second", "rationale", "score_first", "score_second"}
    | {"preference", "confidence", "assessable"}
)


def _strict_preference(answer: object) -> PreferenceReply | None:
    if (
        not isinstance(answer, dict)
        or answer.keys() != _PREFERENCE_FIELDS
        or answer["assessable"] is not True
    ):
        return None
    choice = next((slot for slot in SLOTS_BY_SCORE if slot == answer["preference"]), None)
    rationale, confidence = answer["rationale"], answer["confidence"]
    quotes = answer["evidence_first"], answer["evidence_second"]
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
        confidence=_number_within(confidence, 0, 1),
        raw_first=_number_within(answer["score_first"], LOWEST_SIDE_SCORE, HIGHEST_SIDE_SCORE),
        raw_second=_number_within(answer["score_second"], LOWEST_SIDE_SCORE, HIGHEST_SIDE_SCORE),
    )


def _number_within(value: object, low: float, high: float) -> float | None:
    """A number in its range; anything else is not there, for it decides nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if low <= value <= high else None


_PREFERENCE_DECODER = json.JSONDecoder(object_pairs_hook=_unique)
