"""The choice between two outputs in a JSON reply, in the form in which scores are read.

`resolve` then treats a preference as a score on the scale second, tie, first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from judgekit.prompts.parsing.extract import declines
from judgekit.prompts.parsing.fields import (
    EVIDENCE_KEYS,
    LABEL_KEYS,
    MAXIMUM_KEYS,
    MINIMUM_KEYS,
    PREFERENCE_KEYS,
    SCORE_KEYS,
    SLOTS_BY_SCORE,
    fold_key,
    is_second_score,
)
from judgekit.prompts.parsing.nodes import Arr, Leaf, Obj, plain_number
from judgekit.prompts.parsing.strict import HIGHEST_SIDE_SCORE, LOWEST_SIDE_SCORE, PreferenceReply

if TYPE_CHECKING:
    from judgekit.prompts.parsing.extract import ScoreCandidate
    from judgekit.prompts.parsing.fields import ExpectedCriteria
    from judgekit.prompts.parsing.nodes import KeyValue, Node
    from judgekit.prompts.parsing.strict import CriterionReply

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
    pairs = [_choice_as_score(pair, names, is_declined=is_declined) for pair in node.pairs]
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
    """The preference that was read as a score, with the fields beside it."""
    owner = candidate.owners[0] if candidate.owners else Obj((), 0, 0)
    # The first of two equal keys counts, as everywhere in a reply.
    beside = {pair.key: pair.value for pair in reversed(owner.pairs)}
    return PreferenceReply(
        choice=None if reply.raw is None else SLOTS_BY_SCORE[int(reply.raw)],
        rationale=reply.rationale,
        evidence_first=_quotes(beside.get("evidence_first")),
        evidence_second=_quotes(beside.get("evidence_second")),
        confidence=reply.confidence,
        raw_first=_side_score(beside.get("raw first")),
        raw_second=_side_score(beside.get("raw second")),
    )


def _quotes(node: Node | None) -> tuple[str, ...]:
    items = node.items if isinstance(node, Arr) else () if node is None else (node,)
    texts = [
        item.text.strip() for item in items if isinstance(item, Leaf) and item.kind == "string"
    ]
    return tuple(filter(None, texts))


def _side_score(node: Node | None) -> float | None:
    number = plain_number(node) if isinstance(node, Leaf) else None
    in_range = number is not None and LOWEST_SIDE_SCORE <= number <= HIGHEST_SIDE_SCORE
    return number if in_range else None
