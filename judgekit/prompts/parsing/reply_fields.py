"""Reads what stands beside a score or a choice: rationale, evidence, confidence, side scores.

A choice between two outputs is made a score here, so that `resolve` decides on both in one way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from judgekit.prompts.parsing.extract import ScoreCandidate, declines, is_answer
from judgekit.prompts.parsing.fields import (
    EVIDENCE_KEYS,
    HIGHEST_SIDE_SCORE,
    LABEL_KEYS,
    LOWEST_SIDE_SCORE,
    MAXIMUM_KEYS,
    MINIMUM_KEYS,
    PREFERENCE_KEYS,
    RATIONALE_KEYS,
    SCORE_KEYS,
    SLOTS_BY_SCORE,
    CriterionReply,
    ExpectedCriteria,
    PreferenceReply,
    expected_choices,
    fold_key,
    is_second_score,
)
from judgekit.prompts.parsing.nodes import Arr, KeyValue, Leaf, Node, Obj, plain_number

_OWN_KEYS = frozenset({*EVIDENCE_KEYS, *RATIONALE_KEYS, "evidence first", "evidence second"})
"""Keys of lists that belong to one criterion."""


def criterion_reply(
    mark: ScoreCandidate, raw: float | None, names: ExpectedCriteria
) -> CriterionReply:
    # An object around all criteria has the rationale of none of them.
    owners = [owner for owner in mark.owners if names.single or not _is_shared(owner, names)]
    rationale = "\n".join(_texts(_first_value(owners, RATIONALE_KEYS)))
    stated = _first_value(owners, ("confidence",))
    confidence = plain_number(stated) if isinstance(stated, Leaf) else None
    return CriterionReply(
        raw=raw,
        rationale=rationale or mark.note or None,
        evidence=tuple(_texts(_first_value(owners, EVIDENCE_KEYS))),
        confidence=confidence if confidence is not None and 0 <= confidence <= 1 else None,
    )


def _is_shared(owner: Obj, names: ExpectedCriteria) -> bool:
    """Whether an object contains whole criteria, so that its other keys belong to none of them."""
    return not is_answer(owner) and any(
        names.find(pair.key) is not None or isinstance(pair.value, Obj | Arr)
        for pair in owner.pairs
        if fold_key(pair.key) not in _OWN_KEYS
    )


def _first_value(owners: Sequence[Obj], keys: Sequence[str]) -> Node | None:
    for owner in owners:
        found = {fold_key(pair.key): pair.value for pair in reversed(owner.pairs)}
        for key in keys:
            if key in found:
                return found[key]
    return None


def _texts(node: Node | None) -> Iterator[str]:
    if isinstance(node, Arr):
        for item in node.items:
            yield from _texts(item)
    elif isinstance(node, Obj):
        for pair in node.pairs:
            if fold_key(pair.key) in {"quote", "text"}:
                yield from _texts(pair.value)
    elif isinstance(node, Leaf) and node.kind in {"string", "bare", "line"} and node.text.strip():
        yield node.text.strip()


# The scores of the two outputs beside a choice get keys that no reader of scores knows.
_SIDE_KEYS = {
    "evidence first": "evidence_first", "evidence second": "evidence_second",
    "score first": "raw first", "score second": "raw second",
}  # fmt: skip
_IGNORED_KEY = "not the choice"


def choices_as_scores(node: Node, names: ExpectedCriteria) -> Node:
    """A document in which every choice has the key of a score, and nothing else has one."""
    if isinstance(node, Arr):
        return replace(node, items=tuple(choices_as_scores(item, names) for item in node.items))
    if not isinstance(node, Obj):
        return node
    is_declined = declines(node)
    asked = expected_choices([]) if is_answer(node, "preference") else names
    pairs = [_choice_as_score(pair, asked, is_declined=is_declined) for pair in node.pairs]
    return replace(node, pairs=tuple(pairs))


def _choice_as_score(pair: KeyValue, names: ExpectedCriteria, *, is_declined: bool) -> KeyValue:
    key, value = fold_key(pair.key), pair.value
    is_question = names.find(pair.key) is not None
    if isinstance(value, Leaf) and (key in PREFERENCE_KEYS or is_question):
        # Beside `assessable: false` strict modes still demand a choice, which means nothing.
        leaf = replace(value, kind="null") if is_declined else value
        return replace(pair, key=pair.key if is_question else "score", value=leaf)
    if key in _SIDE_KEYS:
        return replace(pair, key=_SIDE_KEYS[key])
    if is_question or key in LABEL_KEYS or key in EVIDENCE_KEYS:
        return replace(pair, value=choices_as_scores(value, names))
    if key in PREFERENCE_KEYS:  # an object around the choice, or a list of them
        return replace(pair, key="result", value=choices_as_scores(value, names))
    if isinstance(value, Leaf) and (
        key in SCORE_KEYS | MAXIMUM_KEYS | MINIMUM_KEYS or is_second_score(pair.key)
    ):
        return replace(pair, key=_IGNORED_KEY)
    return replace(pair, value=choices_as_scores(value, names))


def preference_reply(candidate: ScoreCandidate, reply: CriterionReply) -> PreferenceReply:
    owner = candidate.owners[0] if candidate.owners else Obj((), 0, 0)
    # The first of two equal keys counts, as everywhere in a reply.
    beside = {pair.key: pair.value for pair in reversed(owner.pairs)}
    raws = [beside.get(key) for key in ("raw first", "raw second")]
    numbers = [plain_number(node) if isinstance(node, Leaf) else None for node in raws]
    sides = [
        number if number is not None and LOWEST_SIDE_SCORE <= number <= HIGHEST_SIDE_SCORE else None
        for number in numbers
    ]
    return PreferenceReply(
        choice=None if reply.raw is None else SLOTS_BY_SCORE[int(reply.raw)],
        rationale=reply.rationale,
        evidence_first=tuple(_texts(beside.get("evidence_first"))),
        evidence_second=tuple(_texts(beside.get("evidence_second"))),
        confidence=reply.confidence,
        raw_first=sides[0],
        raw_second=sides[1],
    )
