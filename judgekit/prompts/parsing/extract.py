"""Finds the candidate scores of a reply in documents and in prose.

`resolve` decides which of them count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from judgekit.prompts.parsing.fields import (
    LABEL_KEYS,
    LINE_SCORE_KEYS,
    MAXIMUM_KEYS,
    MINIMUM_KEYS,
    SCORE_KEYS,
    UNREAD_KEYS,
    fold_key,
    is_of_another,
    is_second_score,
    is_wrapper,
)
from judgekit.prompts.parsing.nodes import (
    Arr,
    JsonFaultError,
    KeyValue,
    Leaf,
    Obj,
    ascii_digits,
    leading_number,
    parse_tolerant_json,
    plain_number,
    read_outline,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from judgekit.prompts.parsing.fields import ExpectedCriteria, ExpectedCriterion
    from judgekit.prompts.parsing.nodes import Node

_RANGE = re.compile(r"\s*([0-9.]+)\s*(?:-|\u2013|—|to|\.\.|,)\s*([0-9.]+)\s*")
_SCORE_DEPTH = 2


@dataclass(frozen=True, slots=True)
class ScoreCandidate:
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
class _Position:
    """Where in a document one is: the objects around, and whether verdicts may stand here."""

    source: str
    names: ExpectedCriteria
    owners: tuple[Obj, ...] = ()
    trusted: bool = True
    decoded: bool = False
    doubts: dict[tuple[int, int], str | None] = field(default_factory=dict)
    """What `_other_scale` said of an object and a criterion; a document may ask it a thousand
    times."""

    def below(self, owner: Obj) -> _Position:
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


def find_candidates(node: Node, source: str, names: ExpectedCriteria) -> list[ScoreCandidate]:
    """All scores in a document."""
    return list(_candidates(node, _Position(source, names)))


def stated_refusal(node: Node) -> str | None:
    """What a judge says in a field `refusal`."""
    if not isinstance(node, Obj):
        return None
    texts = (_node_text(p.value) for p in node.pairs if fold_key(p.key) == "refusal")
    return next((text for text in texts if text and text.strip()), None)


def _candidates(node: Node, place: _Position) -> Iterator[ScoreCandidate]:
    if isinstance(node, Arr):
        for item in node.items:
            yield from _candidates(item, place)
    elif isinstance(node, Obj):
        yield from _object_candidates(node, place)
    elif node.kind == "string" and not place.decoded:
        yield from _decoded_candidates(node, place)


def _object_candidates(obj: Obj, place: _Position) -> Iterator[ScoreCandidate]:
    label, has_score = _criterion_label(obj), _holds_score(obj)
    if label is not None and has_score:
        index = place.names.find(label)
        if index is not None:
            yield from _own_candidates(obj, index, place, obj.start)
        return
    named = [(place.names.find(pair.key), pair) for pair in obj.pairs]
    inner = place.below(obj)
    for index, pair in named:
        if index is not None:
            yield from _value_candidates(pair, index, inner, obj.start)
    is_named = any(index is not None for index, _ in named)
    if place.names.single and has_score and place.trusted:
        yield from _own_candidates(obj, 0, place, obj.start, skip=is_named)
    for index, pair in named:
        if index is None and fold_key(pair.key) not in UNREAD_KEYS:
            trusted = place.trusted and is_wrapper(pair.key)
            below = inner if trusted == place.trusted else replace(inner, trusted=trusted)
            yield from _candidates_below(pair, below)


def _candidates_below(pair: KeyValue, place: _Position) -> Iterator[ScoreCandidate]:
    """Marks of a wrapper; the value of `score` itself is read where its object is."""
    if place.names.single and fold_key(pair.key) in SCORE_KEYS and isinstance(pair.value, Obj):
        return
    yield from _candidates(pair.value, place)


def _decoded_candidates(leaf: Leaf, place: _Position) -> Iterator[ScoreCandidate]:
    """One level of JSON inside a string."""
    inner = leaf.text.strip()
    if not place.trusted or not inner.startswith(("{", "[")):
        return
    try:
        node = parse_tolerant_json(inner)
    except JsonFaultError:
        return
    if not inner[node.end :].strip():
        yield from _candidates(node, replace(place, source=inner, decoded=True))


def _value_candidates(
    pair: KeyValue, index: int, place: _Position, inside: int, depth: int = 0
) -> Iterator[ScoreCandidate]:
    node = pair.value
    if isinstance(node, Obj):
        if any(place.names.find(p.key) is not None for p in node.pairs):
            yield from _candidates(node, place)
        elif depth < _SCORE_DEPTH:
            yield from _own_candidates(node, index, place, pair.start, inside=inside, depth=depth)
        return
    leaf = node if isinstance(node, Leaf) else Leaf("bare", "[…]", node.start, node.end)
    doubt = place.scale_doubt(index)
    yield ScoreCandidate(
        index, leaf, place.source, inside, pair.start, node.end, place.owners, place.trusted, doubt
    )


def _own_candidates(
    obj: Obj,
    index: int,
    place: _Position,
    start: int,
    *,
    inside: int | None = None,
    depth: int = 0,
    skip: bool = False,
) -> Iterator[ScoreCandidate]:
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
        for mark in _value_candidates(pair, index, place, outer, depth + 1):
            doubt = mark.doubt or _contradicted(mark, seconds)
            if doubt != mark.doubt or start < mark.start:
                yield replace(mark, start=min(start, mark.start), doubt=doubt)
            else:
                yield mark


def _declined(
    pairs: list[KeyValue], index: int, place: _Position, start: int, obj: Obj
) -> ScoreCandidate:
    values = [pair.value for pair in pairs]
    empty = all(isinstance(value, Leaf) and value.kind == "null" for value in values)
    doubt = None if empty else "ambiguous"
    return ScoreCandidate(
        index, None, place.source, obj.start, start, obj.end, place.owners, place.trusted, doubt
    )


def declines(obj: Obj) -> bool:
    """Whether an object says that its criterion cannot be assessed."""
    said = {fold_key(p.key): _node_text(p.value) for p in obj.pairs}
    return said.get("cannot assess", "").casefold() == "true" or (
        said.get("assessable", "").casefold() == "false"
    )


def _criterion_label(obj: Obj) -> str | None:
    for pair in obj.pairs:
        value = pair.value
        if fold_key(pair.key) not in LABEL_KEYS or not isinstance(value, Leaf):
            continue
        if value.kind in {"string", "line", "bare"}:
            return value.text.strip()
    return None


def _holds_score(obj: Obj) -> bool:
    return declines(obj) or any(fold_key(p.key) in SCORE_KEYS for p in obj.pairs)


def _contradicted(mark: ScoreCandidate, seconds: set[float | None]) -> str | None:
    first = None if mark.leaf is None else plain_number(mark.leaf)
    return None if seconds <= {first} else "ambiguous"


def _other_scale(obj: Obj, wanted: ExpectedCriterion) -> str | None:
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


def _node_text(node: Node) -> str:
    return node.text if isinstance(node, Leaf) and node.kind != "null" else ""


_FENCES = re.compile(r"(?:`{3,}|~{3,}|'{3}|\"{3})(?:[A-Za-z][\w+-]{0,20}(?=\s|\Z))?")

_SCORE_TAG = re.compile(
    r"<([A-Za-z_][\w.-]{0,60})(?:\s[^<>]{0,100})?>\s{0,20}([^<>]{1,60}?)\s{0,20}</\1>"
)

_SCORE_BRACKETS = re.compile(r"\[\[\s{0,5}([^\[\]\n]{1,20}?)\s{0,5}\]\]")
_RESULT_LINE = re.compile(r"\[RESULT\][ \t]{0,5}[:\uff1a]?[ \t]{0,5}([^\n]{1,200})", re.IGNORECASE)
_TABLE_RULE = re.compile(r"[\s|:\-\u2013—]+")
_DECORATION = " \t*_`"
_SWITCHES = frozenset({"true", "false", "yes", "no"})
_SINGLE_KEYS = ("score", "rating", "grade")
_LONGEST_BARE = 60
MOST_STATED = 1_000
"""A reply whose prose states more scores or choices than this is no verdict."""

_FEWEST_CELLS = 2


def text_candidates(prose: str, names: ExpectedCriteria) -> list[ScoreCandidate]:
    """All scores in the prose of a reply."""
    text = without_fences(prose)
    marks = [
        *_line_candidates(text, names),
        *_table_candidates(text, names),
        *_tag_candidates(text, names),
    ]
    if names.single:
        marks += islice(_bracket_candidates(text), MOST_STATED + 1)
        if not marks:
            marks += _bare_candidates(text)
    return marks


def stray_candidates(prose: str, names: ExpectedCriteria) -> list[ScoreCandidate]:
    """Scores named anywhere in the prose beside a JSON verdict; they can only contradict it."""
    marks: list[ScoreCandidate] = []
    for match in _stray(names).finditer(prose):
        before, name, value = match.groups()
        found = leading_number(value)
        if found is None or (before and is_of_another(before)):
            continue
        index = names.find(name)
        leaf = Leaf("line", found[0], match.start(3), match.end(3))
        place = match.start(2)
        marks.append(
            ScoreCandidate(
                0 if index is None else index,
                leaf,
                prose,
                place,
                place,
                match.end(),
                trusted=False,
                kind="line",
            )
        )
    return marks


def _stray(names: ExpectedCriteria) -> re.Pattern[str]:
    keys = [wanted.name for wanted in names.criteria]
    return _stray_pattern((*keys, *_SINGLE_KEYS) if names.single else tuple(keys))


@lru_cache(maxsize=64)
def _stray_pattern(keys: tuple[str, ...]) -> re.Pattern[str]:
    alternatives = "|".join(re.escape(key) for key in sorted(keys, key=len, reverse=True))
    return re.compile(
        rf"(?<![\w\"'“\u2018`.-])((?:[a-z]{{1,20}} ){{0,2}})\b({alternatives})"
        r"[*_` ]{0,4}[:=\uff1a][ \t]{0,4}([^\n]{1,80})",
        re.IGNORECASE,
    )


def without_fences(prose: str) -> str:
    """Prose with line breaks in place of fences."""
    return _FENCES.sub("\n", prose)


def _line_candidates(text: str, names: ExpectedCriteria) -> Iterator[ScoreCandidate]:
    outline = read_outline(text)
    pairs = tuple(_named_score(pair, names) for pair in outline.pairs)
    # The lines of a reply are no structure: each is quoted, or not, from its own key on.
    for mark in find_candidates(Obj(pairs, outline.end, outline.end), text, names):
        if mark.leaf is None or mark.leaf.kind != "line":
            continue
        closed = text[mark.leaf.end : mark.leaf.end + 1] in {"\n", "\r"}
        cleared = _cleared(mark, mark.leaf, names)
        if cleared is not None:
            leaf, note, doubt = cleared
            yield replace(
                mark, leaf=leaf, note=note, doubt=doubt or mark.doubt, kind="line", closed=closed
            )


def _named_score(pair: KeyValue, names: ExpectedCriteria) -> KeyValue:
    """`Final score: 4` is the score of the only criterion; `Value: 4` among prose is not."""
    key = fold_key(pair.key)
    if not names.single or names.find(pair.key) is not None:
        return pair
    if key in LINE_SCORE_KEYS:
        return KeyValue("score", pair.value, pair.start)
    return KeyValue(f"{pair.key} said", pair.value, pair.start) if key in SCORE_KEYS else pair


def _cleared(
    mark: ScoreCandidate, leaf: Leaf, names: ExpectedCriteria
) -> tuple[Leaf, str, str | None] | None:
    """A line's number, the text after it, and why it is ambiguous; None when the line is prose."""
    word = leaf.text.strip(" .,;*_`\"'")
    if names.criteria[mark.criterion].is_binary and word.casefold() in _SWITCHES:
        return Leaf(leaf.kind, word, leaf.start, leaf.end), "", None
    found = leading_number(leaf.text)
    if found is not None:
        return Leaf(leaf.kind, found[0], leaf.start, leaf.end), found[1], None
    if ascii_digits(leaf.text.lstrip("*_`\"'~[(+-")[:1]).isdigit():
        return leaf, "", "not_a_number"
    return None


def _table_candidates(text: str, names: ExpectedCriteria) -> Iterator[ScoreCandidate]:
    """Rows of a table whose heading has one column of scores; the first column names criteria."""
    column: int | None = None
    maximum: int | None = None
    start = 0
    for line in text.splitlines(keepends=True):
        at, start = start, start + len(line)
        if not line.lstrip().startswith("|"):
            column = None
            continue
        cells = [cell.strip(_DECORATION) for cell in line.strip().strip("|").split("|")]
        if len(cells) < _FEWEST_CELLS:
            column = None
        elif column is None:
            scores = [i for i, cell in enumerate(cells) if fold_key(cell) in SCORE_KEYS]
            column = scores[0] if len(scores) == 1 and scores[0] > 0 else -1
            ends = [i for i, cell in enumerate(cells) if fold_key(cell) in MAXIMUM_KEYS]
            maximum = ends[0] if ends else None
        elif 0 < column < len(cells) and not _TABLE_RULE.fullmatch(line):
            index, value = names.find(cells[0]), cells[column]
            if index is not None:
                leaf = Leaf("line", value, at, at + len(line))
                closed = line.endswith(("\n", "\r"))
                source = f"{cells[0]}|{value}"
                doubt = _other_maximum(cells, maximum, names.criteria[index].scale.max)
                yield ScoreCandidate(
                    index, leaf, source, 0, 0, len(source), doubt=doubt, kind="line", closed=closed
                )


def _other_maximum(cells: Sequence[str], column: int | None, own: float) -> str | None:
    """Whether a row states a maximum that is not the criterion's own."""
    if column is None or column >= len(cells):
        return None
    number = plain_number(Leaf("line", cells[column], 0, 0))
    return "scale_mismatch" if number is not None and number != own else None


def _tag_candidates(text: str, names: ExpectedCriteria) -> Iterator[ScoreCandidate]:
    for match in _SCORE_TAG.finditer(text):
        name, value = match.groups()
        index = names.find(name)
        if index is None and names.single and fold_key(name) in SCORE_KEYS:
            index = 0
        if index is not None:
            leaf = Leaf("string", value, match.start(2), match.end(2))
            yield ScoreCandidate(
                index, leaf, text, match.start(), match.start(), match.end(), kind="line"
            )


def _bracket_candidates(text: str) -> Iterator[ScoreCandidate]:
    for match in _SCORE_BRACKETS.finditer(text):
        leaf = Leaf("string", match.group(1), match.start(1), match.end(1))
        if leaf.text[:1].isdigit() or leaf.text[:1] in "+-.":
            yield ScoreCandidate(
                0, leaf, text, match.start(), match.start(), match.end(), kind="line"
            )
    for match in _RESULT_LINE.finditer(text):
        found = leading_number(match.group(1).strip())
        if found is not None:
            leaf = Leaf("line", found[0], match.start(1), match.end(1))
            source = f"[RESULT]{found[0]}"
            closed = text[match.end() : match.end() + 1] == "\n"
            yield ScoreCandidate(0, leaf, source, 0, 0, len(source), kind="line", closed=closed)


def _bare_candidates(text: str) -> Iterator[ScoreCandidate]:
    """The whole reply is a number."""
    bare = text.strip()
    found = leading_number(bare) if len(bare) <= _LONGEST_BARE and "[" not in bare else None
    if found is not None and not found[1]:
        leaf = Leaf("line", found[0], 0, len(bare))
        source = found[0] if "/" in found[0] else ""
        yield ScoreCandidate(0, leaf, source, 0, 0, len(source), kind="line", closed=False)
