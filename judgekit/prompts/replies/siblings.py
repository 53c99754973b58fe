"""Reads what stands beside a score: rationale, evidence, confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.prompts.replies.answers import CriterionReply
from judgekit.prompts.replies.documents import Arr, Leaf, Obj
from judgekit.prompts.replies.names import EVIDENCE_KEYS, RATIONALE_KEYS, fold_key
from judgekit.prompts.replies.numbers import plain_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from judgekit.prompts.replies.documents import Node
    from judgekit.prompts.replies.layouts import Mark
    from judgekit.prompts.replies.scales import WantedNames


_QUOTES = frozenset({*EVIDENCE_KEYS, "evidence first", "evidence second"})
"""Keys of lists that belong to one criterion."""


def criterion_reply(mark: Mark, raw: float | None, names: WantedNames) -> CriterionReply:
    """A score with what stands beside it."""
    owners = [owner for owner in mark.owners if names.single or not _is_shared(owner, names)]
    rationale = _first(owners, RATIONALE_KEYS)
    evidence = _first(owners, EVIDENCE_KEYS)
    confidence = _first(owners, ("confidence",))
    return CriterionReply(
        raw=raw,
        rationale=_text(rationale) or mark.note or None,
        evidence=() if evidence is None else tuple(_quotes(evidence)),
        confidence=_share(confidence),
        cannot_assess=raw is None,
    )


def _is_shared(owner: Obj, names: WantedNames) -> bool:
    """Whether an object holds whole criteria, so that its other keys belong to none of them."""
    return any(
        names.find(pair.key) is not None or isinstance(pair.value, Obj | Arr)
        for pair in owner.pairs
        if fold_key(pair.key) not in _QUOTES
    )


def _first(owners: Sequence[Obj], keys: Sequence[str]) -> Node | None:
    for owner in owners:
        found = {fold_key(pair.key): pair.value for pair in reversed(owner.pairs)}
        for key in keys:
            if key in found:
                return found[key]
    return None


def _quotes(node: Node) -> Iterator[str]:
    if isinstance(node, Arr):
        for item in node.items:
            yield from _quotes(item)
    elif isinstance(node, Obj):
        for pair in node.pairs:
            if fold_key(pair.key) in {"quote", "text"}:
                yield from _quotes(pair.value)
    elif text := _text(node):
        yield text


def _text(node: Node | None) -> str | None:
    if not isinstance(node, Leaf) or node.kind in {"null", "bool", "number"}:
        return None
    return node.text.strip() or None


def _share(node: Node | None) -> float | None:
    number = plain_number(node) if isinstance(node, Leaf) else None
    return number if number is not None and 0 <= number <= 1 else None
