"""Finds the scores in a document, in any of the layouts a verdict may have."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from judgekit.prompts.replies.documents import Arr, Leaf, Obj
from judgekit.prompts.replies.names import (
    LABEL_KEYS,
    MAXIMUM_KEYS,
    MINIMUM_KEYS,
    SCORE_KEYS,
    UNREAD_KEYS,
    fold_key,
    is_second_score,
    is_wrapper,
)
from judgekit.prompts.replies.numbers import plain_number
from judgekit.prompts.replies.tolerant_json import JsonFaultError, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.prompts.replies.documents import Node, Pair
    from judgekit.prompts.replies.scales import Wanted, WantedNames

_RANGE = re.compile(r"\s*([0-9.]+)\s*(?:-|\u2013|—|to|\.\.|,)\s*([0-9.]+)\s*")
_SCORE_DEPTH = 2


@dataclass(frozen=True, slots=True)
class Mark:
    """One score found in a reply, not yet judged."""

    criterion: int
    leaf: Leaf | None
    source: str
    inside: int
    start: int
    end: int
    owners: tuple[Obj, ...] = ()
    trusted: bool = True
    doubt: str | None = None
    kind: str = "json"
    closed: bool = True
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in a document one is: the objects around, and whether verdicts may stand here."""

    source: str
    names: WantedNames
    owners: tuple[Obj, ...] = ()
    trusted: bool = True
    decoded: bool = False
    doubts: dict[tuple[int, int], str | None] = field(default_factory=dict)
    """What `_other_scale` said of an object and a criterion; a document may ask it a thousand
    times."""

    def below(self, owner: Obj) -> _Place:
        return replace(self, owners=(owner, *self.owners))

    def scale_doubt(self, index: int) -> str | None:
        """Whether an object around states a scale that is not the criterion's own."""
        for owner in self.owners:
            key = (id(owner), index)
            if key not in self.doubts:
                self.doubts[key] = _other_scale(owner, self.names.criteria[index])
            if self.doubts[key]:
                return self.doubts[key]
        return None


def find_marks(node: Node, source: str, names: WantedNames) -> list[Mark]:
    """All scores in a document."""
    return list(_marks(node, _Place(source, names)))


def names_refusal(node: Node) -> str | None:
    """What a judge says in a field `refusal`."""
    if not isinstance(node, Obj):
        return None
    texts = (_text(p.value) for p in node.pairs if fold_key(p.key) == "refusal")
    return next((text for text in texts if text and text.strip()), None)


def _marks(node: Node, place: _Place) -> Iterator[Mark]:
    if isinstance(node, Arr):
        for item in node.items:
            yield from _marks(item, place)
    elif isinstance(node, Obj):
        yield from _object_marks(node, place)
    elif node.kind == "string" and not place.decoded:
        yield from _decoded_marks(node, place)


def _object_marks(obj: Obj, place: _Place) -> Iterator[Mark]:
    label, has_score = _label(obj), _holds_score(obj)
    if label is not None and has_score:
        index = place.names.find(label)
        if index is not None:
            yield from _own(obj, index, place, obj.start)
        return
    named = [(place.names.find(pair.key), pair) for pair in obj.pairs]
    inner = place.below(obj)
    for index, pair in named:
        if index is not None:
            yield from _value(pair, index, inner, obj.start)
    is_named = any(index is not None for index, _ in named)
    if place.names.single and has_score and place.trusted:
        yield from _own(obj, 0, place, obj.start, skip=is_named)
    for index, pair in named:
        if index is None and fold_key(pair.key) not in UNREAD_KEYS:
            trusted = place.trusted and is_wrapper(pair.key)
            below = inner if trusted == place.trusted else replace(inner, trusted=trusted)
            yield from _marks_below(pair, below)


def _marks_below(pair: Pair, place: _Place) -> Iterator[Mark]:
    """Marks of a wrapper; the value of `score` itself is read where its object is."""
    if place.names.single and fold_key(pair.key) in SCORE_KEYS and isinstance(pair.value, Obj):
        return
    yield from _marks(pair.value, place)


def _decoded_marks(leaf: Leaf, place: _Place) -> Iterator[Mark]:
    """One level of JSON inside a string."""
    inner = leaf.text.strip()
    if not place.trusted or not inner.startswith(("{", "[")):
        return
    try:
        node = parse_json(inner)
    except JsonFaultError:
        return
    if not inner[node.end :].strip():
        yield from _marks(node, replace(place, source=inner, decoded=True))


def _value(pair: Pair, index: int, place: _Place, inside: int, depth: int = 0) -> Iterator[Mark]:
    node = pair.value
    if isinstance(node, Obj):
        if any(place.names.find(p.key) is not None for p in node.pairs):
            yield from _marks(node, place)
        elif depth < _SCORE_DEPTH:
            yield from _own(node, index, place, pair.start, inside=inside, depth=depth)
        return
    leaf = node if isinstance(node, Leaf) else Leaf("bare", "[…]", node.start, node.end)
    doubt = place.scale_doubt(index)
    yield Mark(
        index, leaf, place.source, inside, pair.start, node.end, place.owners, place.trusted, doubt
    )


def _own(
    obj: Obj,
    index: int,
    place: _Place,
    start: int,
    *,
    inside: int | None = None,
    depth: int = 0,
    skip: bool = False,
) -> Iterator[Mark]:
    """Marks of an object that belongs to one criterion; `skip` leaves out what has its name."""
    place = place.below(obj)
    outer = obj.start if inside is None else inside
    pairs = [p for p in obj.pairs if fold_key(p.key) in SCORE_KEYS]
    if skip:
        pairs = [p for p in pairs if place.names.find(p.key) is None]
    elif declines(obj):
        yield _declined(pairs, index, place, start, obj)
        return
    others = [p.value for p in obj.pairs if is_second_score(p.key)]
    leaves = [node for node in others if isinstance(node, Leaf)]
    seconds = {plain_number(leaf) for leaf in leaves if leaf.kind != "null"}
    for pair in pairs:
        for mark in _value(pair, index, place, outer, depth + 1):
            doubt = mark.doubt or _contradicted(mark, seconds)
            if doubt != mark.doubt or start < mark.start:
                yield replace(mark, start=min(start, mark.start), doubt=doubt)
            else:
                yield mark


def _declined(pairs: list[Pair], index: int, place: _Place, start: int, obj: Obj) -> Mark:
    values = [pair.value for pair in pairs]
    empty = all(isinstance(value, Leaf) and value.kind == "null" for value in values)
    doubt = None if empty else "ambiguous"
    return Mark(
        index, None, place.source, obj.start, start, obj.end, place.owners, place.trusted, doubt
    )


def declines(obj: Obj) -> bool:
    """Whether an object says that its criterion cannot be assessed."""
    said = {fold_key(p.key): _text(p.value) for p in obj.pairs}
    return said.get("cannot assess", "").casefold() == "true" or (
        said.get("assessable", "").casefold() == "false"
    )


def _label(obj: Obj) -> str | None:
    for pair in obj.pairs:
        value = pair.value
        if fold_key(pair.key) not in LABEL_KEYS or not isinstance(value, Leaf):
            continue
        if value.kind in {"string", "line", "bare"}:
            return value.text.strip()
    return None


def _holds_score(obj: Obj) -> bool:
    return declines(obj) or any(fold_key(p.key) in SCORE_KEYS for p in obj.pairs)


def _contradicted(mark: Mark, seconds: set[float | None]) -> str | None:
    first = None if mark.leaf is None else plain_number(mark.leaf)
    return None if seconds <= {first} else "ambiguous"


def _other_scale(obj: Obj, wanted: Wanted) -> str | None:
    """Whether an object states a scale that is not the criterion's own."""
    for pair in obj.pairs:
        key = fold_key(pair.key)
        if not isinstance(pair.value, Leaf) or key not in MAXIMUM_KEYS | MINIMUM_KEYS:
            continue
        if pair.key == wanted.name:
            continue
        found = _RANGE.fullmatch(pair.value.text)
        number = plain_number(pair.value)
        ends = (found.group(1), found.group(2)) if found else None
        if ends is not None and ends != (f"{wanted.scale.min:g}", f"{wanted.scale.max:g}"):
            return "scale_mismatch"
        end = wanted.scale.min if key in MINIMUM_KEYS else wanted.scale.max
        if number is not None and number != end:
            return "scale_mismatch"
    return None


def _text(node: Node) -> str:
    return node.text if isinstance(node, Leaf) and node.kind != "null" else ""
