"""Reads which of two outputs a JSON reply prefers, with the care that scores are read with.

A preference is read as a score of three points: the document is rewritten so that `preference`
is the score and nothing else in it can be one, and then goes the way every verdict goes.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from judgekit.errors import RefusalError, ReplyFormatError
from judgekit.prompts.replies.documents import Arr, Leaf, Obj, Pair
from judgekit.prompts.replies.echoes import is_json_like, judged_texts
from judgekit.prompts.replies.layouts import declines, find_marks, names_refusal
from judgekit.prompts.replies.names import (
    EVIDENCE_KEYS,
    LABEL_KEYS,
    MAXIMUM_KEYS,
    MINIMUM_KEYS,
    SCORE_KEYS,
    fold_key,
    is_second_score,
)
from judgekit.prompts.replies.numbers import plain_number
from judgekit.prompts.replies.preferences import PreferenceReply
from judgekit.prompts.replies.reading import (
    checked_text,
    decoded,
    is_cut,
    is_echo,
    raise_unless_readable,
)
from judgekit.prompts.replies.refusals import is_refusal
from judgekit.prompts.replies.scales import wanted_names
from judgekit.prompts.replies.scanning import scan_reply
from judgekit.prompts.replies.settling import UnsettledError, settle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.prompts.replies.answers import CriterionReply
    from judgekit.prompts.replies.documents import Node
    from judgekit.prompts.replies.echoes import Judged
    from judgekit.prompts.replies.layouts import Mark
    from judgekit.prompts.replies.scales import WantedNames
    from judgekit.prompts.replies.scanning import Scan
    from judgekit.records.comparison import Slot

PREFERENCE_KEYS = frozenset({"preference", "winner", "choice", "verdict"})
"""Keys that hold the choice inside an object that belongs to one question."""

_SLOTS: tuple[Slot, Slot, Slot] = ("second", "tie", "first")
"""The choices, by the score that stands for each."""

_SCORES: dict[str, str] = {slot: str(score) for score, slot in enumerate(_SLOTS)}
_SIDES = {
    "evidence first": "evidence_first", "evidence second": "evidence_second",
    "score first": "raw first", "score second": "raw second",
}  # fmt: skip
_NOTED = "noted"
"""The key of what is no choice and must not be taken for one."""

_LOOSE = re.compile(
    r"(?P<key>[^\W\d_][\w -]{0,79})[\"'”\u2019*_`]{0,4}\s{0,9}[:=\uff1a]\s{0,9}"
    r"[\"'“\u2018*_`\[(]{0,4}(?P<slot>first|second|tie)\b",
    re.IGNORECASE,
)
_ASK = 'Answer with one JSON object; "preference" is "first", "second" or "tie"'
_HIGHEST = 10


def read_preferences(
    text: str | None,
    questions: Sequence[str],
    *,
    finish_reason: str | None = "stop",
    judged_text: Sequence[str] = (),
) -> dict[str, PreferenceReply]:
    """What a judge's JSON reply prefers, for each question."""
    if text is not None and finish_reason in {"stop", None} and not is_json_like(judged_text):
        quick = _quick(text, questions)
        if quick is not None:
            return quick
    names = wanted_names(
        [{"name": name, "min": 0, "max": 2, "integer": True} for name in questions]
    )
    reply, judged = checked_text(text, finish_reason), judged_texts(judged_text)
    scan = scan_reply(decoded(reply), names, judged)
    raise_unless_readable(scan.fault, reply)
    nodes = [_as_scores(node, names) for node in scan.documents]
    documents = [find_marks(node, scan.text, names) for node in nodes]
    kept = [marks for marks in documents if not is_echo(marks, names, judged)]
    if not any(mark.trusted for marks in kept for mark in marks):
        n_echoes = len(documents) - len(kept)
        _raise_without_choice(scan, reply, finish_reason, n_echoes=n_echoes)
    try:
        found = settle(kept, (), names)
    except UnsettledError as error:
        cut = is_cut(finish_reason) and error.reason == "missing_criteria"
        raise _unsettled(error, reply, is_truncated=cut) from error
    _check_prose(scan, found, names, judged, reply)
    return {
        name: _reading(found[name], _owner(kept, index)) for index, name in enumerate(questions)
    }


def _quick(text: str, questions: Sequence[str]) -> dict[str, PreferenceReply] | None:
    """The readings of a reply in judgekit's own layout, to the letter; None for any other."""
    try:
        answer = _DECODER.decode(text)
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
    found = {name: _quick_one(answers.get(name)) for name in questions}
    sound = {name: one for name, one in found.items() if one is not None}
    return sound if len(sound) == len(questions) == len(answers) else None


_FIELDS = frozenset(
    {"evidence_first", "evidence_second", "rationale", "score_first", "score_second"}
    | {"preference", "confidence", "assessable"}
)


def _quick_one(answer: object) -> PreferenceReply | None:
    if not isinstance(answer, dict) or answer.keys() != _FIELDS or answer["assessable"] is not True:
        return None
    choice = next((slot for slot in _SLOTS if slot == answer["preference"]), None)
    rationale, confidence = answer["rationale"], answer["confidence"]
    quotes = answer["evidence_first"], answer["evidence_second"]
    if choice is None or not isinstance(rationale, str) or not all(map(_are_texts, quotes)):
        return None
    return PreferenceReply(
        choice=choice,
        rationale=rationale.strip() or None,
        evidence_first=tuple(quote.strip() for quote in quotes[0] if quote.strip()),
        evidence_second=tuple(quote.strip() for quote in quotes[1] if quote.strip()),
        confidence=_within(confidence, 0, 1),
        raw_first=_within(answer["score_first"], 1, _HIGHEST),
        raw_second=_within(answer["score_second"], 1, _HIGHEST),
    )


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _within(value: object, low: float, high: float) -> float | None:
    """A number in its range; anything else is not there, for it decides nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if low <= value <= high else None


def _unique(pairs: list[tuple[str, object]]) -> Mapping[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)


def _as_scores(node: Node, names: WantedNames) -> Node:
    """A document in which choices are scores, and nothing else is one."""
    if isinstance(node, Arr):
        return replace(node, items=tuple(_as_scores(item, names) for item in node.items))
    if not isinstance(node, Obj):
        return node
    is_declined = declines(node)
    pairs = [_as_score(pair, names, is_declined=is_declined) for pair in node.pairs]
    return replace(node, pairs=tuple(pairs))


def _as_score(pair: Pair, names: WantedNames, *, is_declined: bool) -> Pair:
    key, value = fold_key(pair.key), pair.value
    if isinstance(value, Leaf) and (key in PREFERENCE_KEYS or names.find(pair.key) is not None):
        named = pair.key if names.find(pair.key) is not None else "score"
        leaf = replace(value, kind="null") if is_declined else _choice(value)
        return replace(pair, key=named, value=leaf)
    if key in _SIDES:
        return replace(pair, key=_SIDES[key])
    if names.find(pair.key) is not None or key in LABEL_KEYS or key in EVIDENCE_KEYS:
        return replace(pair, value=_as_scores(value, names))
    if key in PREFERENCE_KEYS:  # an object around the choice, or a list of them
        return replace(pair, key="result", value=_as_scores(value, names))
    if isinstance(value, Leaf) and (
        key in SCORE_KEYS | MAXIMUM_KEYS | MINIMUM_KEYS or is_second_score(pair.key)
    ):
        return replace(pair, key=_NOTED)
    return replace(pair, value=_as_scores(value, names))


def _choice(leaf: Leaf) -> Leaf:
    """A choice as its score; a value that is none as something no score can be."""
    score = _SCORES.get(leaf.text.strip().casefold()) if leaf.kind in {"string", "bare"} else None
    if score is None:
        return replace(leaf, kind="bare", text=f"said {leaf.text}")
    return replace(leaf, kind="number", text=score)


def _unsettled(error: UnsettledError, reply: str, *, is_truncated: bool) -> ReplyFormatError:
    messages = {
        "ambiguous": f"{_ASK}, once for each question; the reply gave several that differ.",
        "missing_criteria": f"{_ASK}, for every question; the reply left one out.",
    }
    message = messages.get(error.reason, f"{_ASK}; the reply said something else.")
    reason = "not_a_choice" if error.reason == "not_a_number" else error.reason
    return ReplyFormatError(message, reason="truncated" if is_truncated else reason, reply=reply)


def _check_prose(
    scan: Scan,
    found: Mapping[str, CriterionReply],
    names: WantedNames,
    judged: Judged | None,
    reply: str,
) -> None:
    """What stands beside the JSON must not say something else."""
    for match in _LOOSE.finditer(scan.prose):
        key, slot = match["key"].strip(), match["slot"].casefold()
        last = key.split(" ")[-1]
        index = names.find(key)
        if index is None and fold_key(last) not in PREFERENCE_KEYS:
            continue
        said = found[names.criteria[index or 0].name].raw
        same = said == float(_SCORES[slot]) and (index is not None or names.single)
        if not same and not (judged and judged.has(match.group())):
            message = f"{_ASK}, and nothing else; the reply also said {slot!r} beside it."
            raise ReplyFormatError(message, reason="ambiguous", reply=reply)


def _owner(documents: Sequence[Sequence[Mark]], index: int) -> Obj | None:
    """The object that the choice for a question stands in."""
    marks = (mark for marks in documents for mark in marks if mark.criterion == index)
    owners = next((mark.owners for mark in marks if mark.trusted and mark.owners), ())
    return owners[0] if owners else None


def _reading(found: CriterionReply, owner: Obj | None) -> PreferenceReply:
    beside = {} if owner is None else {pair.key: pair.value for pair in reversed(owner.pairs)}
    return PreferenceReply(
        choice=None if found.raw is None else _SLOTS[int(found.raw)],
        rationale=found.rationale,
        evidence_first=tuple(_quotes(beside.get("evidence_first"))),
        evidence_second=tuple(_quotes(beside.get("evidence_second"))),
        confidence=found.confidence,
        raw_first=_side(beside.get("raw first")),
        raw_second=_side(beside.get("raw second")),
    )


def _quotes(node: Node | None) -> list[str]:
    items = node.items if isinstance(node, Arr) else () if node is None else (node,)
    texts = [
        item.text.strip() for item in items if isinstance(item, Leaf) and item.kind == "string"
    ]
    return [text for text in texts if text]


def _side(node: Node | None) -> float | None:
    number = plain_number(node) if isinstance(node, Leaf) else None
    return number if number is not None and 1 <= number <= _HIGHEST else None


def _raise_without_choice(
    scan: Scan, reply: str, finish_reason: str | None, *, n_echoes: int
) -> NoReturn:
    said = next((text for node in scan.documents if (text := names_refusal(node))), None)
    if said is not None or (not scan.documents and is_refusal(scan.prose)):
        raise RefusalError(f"the judge declined: {(said or scan.prose).strip()[:200]}", reply=reply)
    if is_cut(finish_reason):
        raise_unless_readable("truncated", reply)
    if n_echoes:
        message = f"{_ASK}; the reply only quoted one from an output."
        raise ReplyFormatError(message, reason="echo", reply=reply)
    reason = "missing_criteria" if scan.documents else "no_verdict"
    raise ReplyFormatError(f"{_ASK}; the reply held no choice.", reason=reason, reply=reply)
