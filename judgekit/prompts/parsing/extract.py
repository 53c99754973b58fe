"""Finds the candidate scores of a reply, in documents and in prose; `resolve` decides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice

from judgekit.prompts.parsing.fields import (
    ANSWER_FIELDS,
    LABEL_KEYS,
    LINE_SCORE_KEYS,
    MAXIMUM_KEYS,
    MINIMUM_KEYS,
    SCORE_KEYS,
    UNREAD_KEYS,
    ExpectedCriteria,
    ExpectedCriterion,
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
    Node,
    Obj,
    ascii_digits,
    leading_number,
    parse_tolerant_json,
    plain_number,
    read_outline,
    scale_before,
    split_scale,
)

_RANGE = re.compile(r"\s*([0-9.]+)\s*(?:-|\u2013|—|to|\.\.|,)\s*([0-9.]+)\s*")
_SCORE_DEPTH = 2


@dataclass(frozen=True, slots=True)
class ScoreCandidate:
    """One score found in a reply."""

    criterion: int
    # The value; None where the judge declines to assess the criterion.
    leaf: Leaf | None
    source: str
    start: int
    end: int
    # The objects around it, the innermost first: rationale and evidence are looked up there.
    owners: tuple[Obj, ...] = ()
    # Whether it may be the verdict; other scores can only contradict one.
    trusted: bool = True
    # Why it is refused if it is the verdict: the reason of the error.
    fault: str | None = None
    # Whether it is complete even where the reply was cut off.
    closed: bool = True
    note: str = ""
    # Where the object around it begins in `source`; a quotation may take it in or leave it out.
    inside: int = 0


@dataclass(frozen=True, slots=True)
class _Position:
    """A position in a document: the objects around it, and whether it may have verdicts."""

    source: str
    names: ExpectedCriteria
    owners: tuple[Obj, ...] = ()
    trusted: bool = True
    decoded: bool = False
    # The results of `_other_scale`, which a document may need a thousand times.
    faults: dict[tuple[int, int], str | None] = field(default_factory=dict)

    def below(self, owner: Obj) -> _Position:
        return replace(self, owners=(owner, *self.owners))

    def scale_fault(self, index: int) -> str | None:
        """The fault of an object around it that states another scale than the criterion's."""
        for owner in self.owners:
            key = (id(owner), index)
            if key not in self.faults:
                self.faults[key] = _other_scale(owner, self.names.criteria[index])
            if self.faults[key]:
                return self.faults[key]
        return None


def find_candidates(node: Node, source: str, names: ExpectedCriteria) -> list[ScoreCandidate]:
    return list(_candidates(node, _Position(source, names)))


def stated_refusal(node: Node) -> str | None:
    """The text of a field `refusal`, in which OpenAI's structured outputs decline."""
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
    label = _criterion_label(obj)
    has_score = declines(obj) or any(fold_key(pair.key) in SCORE_KEYS for pair in obj.pairs)
    if label is not None and has_score:
        index = place.names.find(label)
        if index is not None:
            yield from _own_candidates(obj, index, place, obj.start)
        return
    is_own = place.names.single and is_answer(obj)
    named = [(None if is_own else place.names.find(pair.key), pair) for pair in obj.pairs]
    inner = place.below(obj)
    for index, pair in named:
        if index is not None:
            yield from _value_candidates(pair, index, inner, obj.start)
    is_named = any(index is not None for index, _ in named)
    if place.names.single and has_score and place.trusted:
        yield from _own_candidates(obj, 0, place, obj.start, skip=is_named)
    yield from _totals(obj, inner)
    for index, pair in named:
        key = fold_key(pair.key)
        # With one criterion, the object below `score` was read with the object it is in.
        is_read = place.names.single and key in SCORE_KEYS and isinstance(pair.value, Obj)
        if index is None and key not in UNREAD_KEYS and not is_read:
            trusted = place.trusted and is_wrapper(pair.key)
            below = inner if trusted == place.trusted else replace(inner, trusted=trusted)
            yield from _candidates(pair.value, below)


def _totals(obj: Obj, place: _Position) -> Iterator[ScoreCandidate]:
    """Totals beside the only score, such as `final_score`; they can only contradict it."""
    for pair in obj.pairs if place.names.single else ():
        if fold_key(pair.key) in LINE_SCORE_KEYS - SCORE_KEYS:
            yield from _value_candidates(pair, 0, replace(place, trusted=False), obj.start)


def _decoded_candidates(leaf: Leaf, place: _Position) -> Iterator[ScoreCandidate]:
    """Candidates in JSON that is a string of the JSON around it, one level deep."""
    # Arguments of tool calls come so.
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
        if not is_answer(node) and any(place.names.find(p.key) is not None for p in node.pairs):
            yield from _candidates(node, place)
        elif depth < _SCORE_DEPTH:
            yield from _own_candidates(node, index, place, pair.start, inside=inside, depth=depth)
        return
    leaf = node if isinstance(node, Leaf) else Leaf("bare", "[…]", node.start, node.end)
    fault = place.scale_fault(index)
    span, owners = (pair.start, node.end), place.owners
    yield ScoreCandidate(
        index, leaf, place.source, *span, owners, place.trusted, fault, inside=inside
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
    """Candidates of an object that belongs to one criterion; `skip` leaves out named ones."""
    place = place.below(obj)
    outer = obj.start if inside is None else inside
    pairs = [p for p in obj.pairs if fold_key(p.key) in SCORE_KEYS]
    if skip:
        pairs = [p for p in pairs if place.names.find(p.key) is None]
    elif declines(obj):
        # A score beside "cannot assess" contradicts it.
        is_empty = all(isinstance(p.value, Leaf) and p.value.kind == "null" for p in pairs)
        fault, span, owners = None if is_empty else "ambiguous", (start, obj.end), place.owners
        yield ScoreCandidate(
            index, None, place.source, *span, owners, place.trusted, fault, inside=obj.start
        )
        return
    others = [p.value for p in obj.pairs if is_second_score(p.key)]
    leaves = [node for node in others if isinstance(node, Leaf)]
    seconds = {plain_number(leaf) for leaf in leaves if leaf.kind != "null"}
    for pair in pairs:
        for mark in _value_candidates(pair, index, place, outer, depth + 1):
            first = None if mark.leaf is None else plain_number(mark.leaf)
            fault = mark.fault or (None if seconds <= {first} else "ambiguous")
            if fault != mark.fault or start < mark.start:
                yield replace(mark, start=min(start, mark.start), fault=fault)
            else:
                yield mark


def declines(obj: Obj) -> bool:
    """Whether an object states that its criterion cannot be assessed."""
    texts = {fold_key(p.key): _node_text(p.value).casefold() for p in obj.pairs}
    return texts.get("cannot assess") == "true" or texts.get("assessable") == "false"


def is_answer(obj: Obj, verdict: str = "score") -> bool:
    """Whether an object is an answer in the requested layout, whose keys name no criteria."""
    keys = {fold_key(pair.key).removesuffix(" first").removesuffix(" second") for pair in obj.pairs}
    return {"rationale", verdict} <= keys <= ANSWER_FIELDS | {verdict, "raw"}


def _criterion_label(obj: Obj) -> str | None:
    for pair in obj.pairs:
        value = pair.value
        if fold_key(pair.key) not in LABEL_KEYS or not isinstance(value, Leaf):
            continue
        if value.kind in {"string", "line", "bare"}:
            return value.text.strip()
    return None


def _other_scale(obj: Obj, wanted: ExpectedCriterion) -> str | None:
    """The fault of an object that states another scale than the criterion's."""
    # A 4 "out of 10" on a scale to 5 is neither 4 nor 2: the judge used another scale.
    for pair in obj.pairs:
        key = fold_key(pair.key)
        if not isinstance(pair.value, Leaf) or key not in MAXIMUM_KEYS | MINIMUM_KEYS:
            continue
        if pair.key == wanted.name:
            continue  # a criterion may be called `scale`
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


# Code fences, with the language that may follow them.
_FENCES = re.compile(r"(?:`{3,}|~{3,}|'{3}|\"{3})(?:[A-Za-z][\w+-]{0,20}(?=\s|\Z))?")
_SCORE_TAG = re.compile(
    r"<([A-Za-z_][\w.-]{0,60})(?:\s[^<>]{0,100})?>\s{0,20}([^<>]{1,60}?)\s{0,20}</\1>"
)
# The brackets of MT-Bench's judges: `[[7]]`, `[[A]]`.
VERDICT_BRACKETS = re.compile(r"\[\[\s{0,5}(?P<value>[^\[\]\n]{1,20}?)\s{0,5}\]\]")
_RESULT_LINE = re.compile(r"\[RESULT\][ \t]{0,5}[:\uff1a]?[ \t]{0,5}([^\n]{1,200})", re.IGNORECASE)
_TABLE_RULE = re.compile(r"[\s|:\-\u2013—]+")
_DECORATION = " \t*_`"
_STATED = (
    r"[*_`\"' \t]{0,6}(?P<value>[0-9]{1,9}(?:\.[0-9]{1,9})?"
    r"(?:[ \t]{0,3}(?:/|out of)[ \t]{0,3}[0-9]{1,9}(?:\.[0-9]{1,9})?)?)[*_`\"'. \t]{0,8}$"
)
_BELOW_NAME = re.compile(
    r"^[ \t#*_`>-]{0,10}(?P<name>[^\W\d][^\n:\uff1a|<>]{0,60}?)[*_` \t]{0,6}[:\uff1a][*_` \t]{0,6}"
    rf"\n{{1,2}}{_STATED}",
    re.MULTILINE,
)
_AT_LINE_END = re.compile(
    r"(?<=[^\s:\uff1a])[.!?\u3002][\"'”\u2019)\]*_]{0,3}[ \t]{1,4}[*_`]{0,3}"
    rf"(?P<name>(?i:{'|'.join(sorted(map(re.escape, LINE_SCORE_KEYS), key=len, reverse=True))}))"
    rf"[*_`]{{0,3}}[ \t]{{0,3}}[:\uff1a]{_STATED}",
    re.MULTILINE,
)
_SWITCHES = frozenset({"true", "false", "yes", "no"})
_SINGLE_KEYS = ("score", "rating", "grade")
_LONGEST_BARE = 60

# A reply whose prose states more scores or choices than this is no verdict.
MOST_STATED = 1_000
_FEWEST_CELLS = 2


def text_candidates(prose: str, names: ExpectedCriteria) -> list[ScoreCandidate]:
    """All scores in the prose of a reply."""
    text = without_fences(prose)
    marks = [
        *_line_candidates(text, names),
        *_placed_candidates(text, names),
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
    keys = tuple(wanted.name for wanted in names.criteria)
    pattern = _stray_pattern((*keys, *_SINGLE_KEYS) if names.single else keys)
    for match in pattern.finditer(prose):
        before, name, value = match.groups()
        found = leading_number(value)
        # "Maximum score: 5" and "the previous rating: 2" are of something else.
        if found is None or (before and is_of_another(before)):
            continue
        leaf = Leaf("line", found[0], match.start(3), match.end(3))
        place = match.start(2), match.end()
        marks.append(ScoreCandidate(names.find(name) or 0, leaf, prose, *place, trusted=False))
    return marks


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
    # The lines of a reply are no structure: each is compared with the judged text by itself.
    for mark in find_candidates(Obj(pairs, outline.end, outline.end), text, names):
        leaf, note, wanted = mark.leaf, "", names.criteria[mark.criterion]
        if leaf is None or leaf.kind != "line":
            continue
        fault = mark.fault or _stated_scale(scale_before(text, leaf.start), wanted)
        closed = text[leaf.end : leaf.end + 1] in {"\n", "\r"}
        word, number = leaf.text.strip(" .,;*_`\"'"), leading_number(leaf.text)
        if wanted.is_binary and word.casefold() in _SWITCHES:
            leaf = replace(leaf, text=word)
        elif number is not None:
            leaf, note = replace(leaf, text=number[0]), number[1]
        # A line that begins like a number and is none (`4-5`, `3.5 stars of 7`) was meant as one.
        elif ascii_digits(leaf.text.lstrip("*_`\"'~[(+-")[:1]).isdigit():
            fault = "not_a_number"
        else:
            continue
        yield replace(mark, leaf=leaf, note=note, fault=fault, closed=closed)


def _placed_candidates(text: str, names: ExpectedCriteria) -> Iterator[ScoreCandidate]:
    """A number on the line below its name; a named score behind the last sentence of a line."""
    for match in _BELOW_NAME.finditer(text):
        index = names.find(name := match["name"].strip(_DECORATION))
        if index is None and names.single and fold_key(name) in LINE_SCORE_KEYS:
            index = 0
        if index is not None:
            yield _line_end_candidate(match, index, text)
    if names.single:
        yield from (_line_end_candidate(match, 0, text) for match in _AT_LINE_END.finditer(text))


def _line_end_candidate(match: re.Match[str], index: int, text: str) -> ScoreCandidate:
    leaf = Leaf("line", ascii_digits(match["value"]), *match.span("value"))
    closed = text[match.end() : match.end() + 1] in {"\n", "\r"}
    return ScoreCandidate(index, leaf, text, match.start("name"), match.end(), closed=closed)


def _named_score(pair: KeyValue, names: ExpectedCriteria) -> KeyValue:
    """`Final score: 4` is the score of the only criterion; `Value: 4` among prose is not."""
    key = fold_key(pair.key)
    if not names.single or names.find(pair.key) is not None:
        return pair
    if key in LINE_SCORE_KEYS:
        return KeyValue("score", pair.value, pair.start)
    # Another key keeps the line in the outline, and no reader of scores knows it.
    return KeyValue(f"{pair.key} in prose", pair.value, pair.start) if key in SCORE_KEYS else pair


def _table_candidates(text: str, names: ExpectedCriteria) -> Iterator[ScoreCandidate]:
    """Rows of a table whose heading has one column of scores; the first column names criteria."""
    column: int | None = None
    maximum: int | None = None
    scale: str | None = None
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
            heads = [split_scale(cell) for cell in cells]
            scores = [i for i, (head, _) in enumerate(heads) if fold_key(head) in SCORE_KEYS]
            column = scores[0] if len(scores) == 1 and scores[0] > 0 else -1
            ends = [i for i, cell in enumerate(cells) if fold_key(cell) in MAXIMUM_KEYS]
            maximum = ends[0] if ends else None
            scale = heads[column][1] if column > 0 else None
        elif 0 < column < len(cells) and not _TABLE_RULE.fullmatch(line):
            index, value = names.find(cells[0]), cells[column]
            if index is not None:
                leaf, source = Leaf("line", value, at, at + len(line)), f"{cells[0]}|{value}"
                end = cells[maximum] if maximum is not None and maximum < len(cells) else None
                wanted = names.criteria[index]
                fault = _stated_scale(scale, wanted) or _stated_scale(end, wanted)
                closed = line.endswith(("\n", "\r"))
                yield ScoreCandidate(
                    index, leaf, source, 0, len(source), fault=fault, closed=closed
                )


def _stated_scale(scale: str | None, wanted: ExpectedCriterion) -> str | None:
    """The fault of a text beside a score that names another scale, as in `Rating (1-10)`."""
    if scale is None:
        return None
    pair = KeyValue("scale", Leaf("line", scale, 0, 0), 0)
    return _other_scale(Obj((pair,), 0, 0), wanted)


def _tag_candidates(text: str, names: ExpectedCriteria) -> Iterator[ScoreCandidate]:
    for match in _SCORE_TAG.finditer(text):
        name, value = match.groups()
        index = names.find(name)
        if index is None and names.single and fold_key(name) in SCORE_KEYS:
            index = 0
        if index is not None:
            leaf = Leaf("string", value, match.start(2), match.end(2))
            yield ScoreCandidate(index, leaf, text, *match.span())


def _bracket_candidates(text: str) -> Iterator[ScoreCandidate]:
    for match in VERDICT_BRACKETS.finditer(text):
        leaf = Leaf("string", match.group(1), match.start(1), match.end(1))
        if leaf.text[:1].isdigit() or leaf.text[:1] in "+-.":
            yield ScoreCandidate(0, leaf, text, *match.span())
    for match in _RESULT_LINE.finditer(text):
        found = leading_number(match.group(1).strip())
        if found is not None:
            # Only the mark and its number are compared with the judged text, not their line.
            number = found[0].partition("/")[0]
            end = ascii_digits(text).index(number, match.start(1)) + len(number)
            leaf = Leaf("line", found[0], match.start(1), end)
            closed = text[match.end() : match.end() + 1] == "\n"
            yield ScoreCandidate(0, leaf, text, match.start(), end, closed=closed)


def _bare_candidates(text: str) -> Iterator[ScoreCandidate]:
    """The whole reply is a number."""
    bare = text.strip()
    found = leading_number(bare) if len(bare) <= _LONGEST_BARE and "[" not in bare else None
    if found is not None and not found[1]:
        leaf = Leaf("line", found[0], 0, len(bare))
        # A lone digit is in most texts, so it never counts as quoted.
        source = found[0] if "/" in found[0] else ""
        yield ScoreCandidate(0, leaf, source, 0, len(source), closed=False)
