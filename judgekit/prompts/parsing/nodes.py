"""A reply as a tree of objects, lists and values, from tolerant JSON or from an outline of lines.

Also the scores and choices that its values state.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, NoReturn

from judgekit.prompts.parsing.fields import SLOTS_BY_SCORE, ExpectedCriterion, fold_key
from judgekit.prompts.parsing.phrases import phrases


@dataclass(frozen=True, slots=True)
class Leaf:
    """A single value."""

    kind: Literal["number", "string", "bare", "bool", "null", "line"]
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Arr:
    """A list."""

    items: tuple[Node, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Obj:
    """An object; a key may stand in it twice."""

    pairs: tuple[KeyValue, ...]
    start: int
    end: int


Node = Leaf | Obj | Arr


@dataclass(frozen=True, slots=True)
class KeyValue:
    """A key with its value; `start` is where the key begins."""

    key: str
    value: Node
    start: int


# No verdict is nested deeper or has more values; without limits a hostile reply costs minutes.
_MAX_DEPTH = 40
_MOST_VALUES = 5_000

# Invisible characters and comments count as white space. Classes are possessive (`*+`), so that an
# unclosed comment is given up in linear time; groups are not, see `scanner`.
_SPACE = re.compile(
    r"(?:[\s\x00\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]++"
    r"|//[^\n]*+|/\*[^*]*(?:\*(?!/)[^*]*)*\*/|#[^\n]*+)*"
)

_STRINGS = {
    '"': re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL),
    "'": re.compile(r"'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL),
    "“": re.compile(r"[“”„]([^“”\\]*(?:\\.[^“”\\]*)*)[“”]", re.DOTALL),
    "\u2018": re.compile(
        r"[\u2018\u2019\u201a]([^\u2018\u2019\\]*(?:\\.[^\u2018\u2019\\]*)*)[\u2018\u2019]",
        re.DOTALL,
    ),
    "\uff02": re.compile(r"\uff02([^\uff02\\]*(?:\\.[^\uff02\\]*)*)\uff02", re.DOTALL),
}

_STRINGS |= {
    "”": _STRINGS["“"],
    "„": _STRINGS["“"],
    "\u2019": _STRINGS["\u2018"],
    "\u201a": _STRINGS["\u2018"],
}

_JSON_NUMBER = re.compile(
    r"[+-]?(?:(?:0|[1-9][0-9]*+)(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
    r"(?=[\s,\uff0c\]}\uff5d\u200b\ufeff\x00]|/[/*]|#|\Z)"
)
_BARE_WORD = re.compile(r"[^\s,\uff0c:\uff1a(){}\uff5b\uff5d\[\]\"'“”\u2018\u2019]{1,200}+")
_BARE_KEY = re.compile(r"[^\W\d][\w$.&/+ -]{0,80}?(?=\s{0,20}[:\uff1a])")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_HALF = re.compile("[\ud800-\udbff]")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_LITERALS: dict[str, Literal["bool", "null"]] = {
    "true": "bool", "false": "bool", "null": "null", "none": "null", "undefined": "null",
}  # fmt: skip
FaultKind = Literal["unclosed", "garbled", "too_deep", "too_long"]


class JsonFaultError(Exception):
    """A structure cannot be read."""

    def __init__(self, position: int, kind: FaultKind) -> None:
        super().__init__(f"{kind} at {position}")
        self.position = position
        self.kind = kind


def parse_tolerant_json(text: str, start: int = 0) -> Node:
    """The value that begins at a place of a text."""
    # Tolerated: trailing commas, quotes of other kinds, Python's literals, comments, bare keys, raw
    # line breaks and bad escapes in strings, odd white space, full-width punctuation, doubled outer
    # braces. Never added: a closing bracket, a comma or a quote, for libraries that add them
    # (json_repair) accept verdicts that the judge only quoted.
    return _Parser(text, start).value(0)


class _Parser:
    """Reads forward from a place; `pos` is the next character."""

    def __init__(self, text: str, pos: int) -> None:
        self.text = text
        self.pos = pos
        self.n_values = 0

    def value(self, depth: int) -> Node:
        first = self._next()
        if depth > _MAX_DEPTH:
            raise JsonFaultError(self.pos, "too_deep")
        self.n_values += 1
        if self.n_values > _MOST_VALUES:
            raise JsonFaultError(self.pos, "too_long")
        if first in "{\uff5b":
            return self._object(depth)
        if first == "[":
            return self._list(depth)
        if first in _STRINGS:
            start = self.pos
            return Leaf("string", self._string(first), start, self.pos)
        return self._word()

    def _object(self, depth: int) -> Obj:
        start = self.pos
        self.pos += 1
        if self._next() in "{\uff5b":
            # `{{...}}`: models copy the escaped braces of a prompt template.
            if depth > 0:
                self._garbled()
            inner = self._object(depth + 1)
            if self._next() not in "}\uff5d":
                self._garbled()
            self.pos += 1
            return inner
        pairs: list[KeyValue] = []
        while self._next() not in "}\uff5d":
            pairs.append(self._pair(depth))
            self._comma_before("}\uff5d")
        self.pos += 1
        return Obj(tuple(pairs), start, self.pos)

    def _pair(self, depth: int) -> KeyValue:
        start = self.pos
        first = self.text[start]
        if first in _STRINGS:
            key = self._string(first)
        elif match := _BARE_KEY.match(self.text, start):
            key, self.pos = match.group(), match.end()
        else:
            self._garbled()
        if self._next() not in ":\uff1a":
            self._garbled()
        self.pos += 1
        return KeyValue(key, self.value(depth + 1), start)

    def _list(self, depth: int) -> Arr:
        start = self.pos
        self.pos += 1
        items: list[Node] = []
        while self._next() != "]":
            items.append(self.value(depth + 1))
            self._comma_before("]")
        self.pos += 1
        return Arr(tuple(items), start, self.pos)

    def _comma_before(self, closers: str) -> None:
        after = self._next()
        if after in ",\uff0c":
            self.pos += 1
        elif after not in closers:
            self._garbled()

    def _string(self, quote: str) -> str:
        match = _STRINGS[quote].match(self.text, self.pos)
        if match is None:
            raise JsonFaultError(len(self.text), "unclosed")
        self.pos = match.end()
        body: str = match.group(1)
        return unescape(body) if "\\" in body else body

    def _word(self) -> Leaf:
        number = _JSON_NUMBER.match(self.text, self.pos)
        match = number or _BARE_WORD.match(self.text, self.pos)
        if match is None:
            self._garbled()
        start, self.pos = self.pos, match.end()
        text = match.group()
        if number is not None:
            return Leaf("number", text, start, self.pos)
        folded = text.casefold()
        kind = _LITERALS.get(folded)
        return Leaf(kind or "bare", folded if kind else text, start, self.pos)

    def _next(self) -> str:
        match = _SPACE.match(self.text, self.pos)
        self.pos = self.pos if match is None else match.end()
        if self.pos >= len(self.text):
            raise JsonFaultError(self.pos, "unclosed")
        return self.text[self.pos]

    def _garbled(self) -> NoReturn:
        raise JsonFaultError(self.pos, "garbled")


def unescape(body: str) -> str:
    r"""The text of a JSON string; an escape JSON does not know (`\d`) stays as it is."""
    text = _ESCAPE.sub(_unescaped, body)
    if _HALF.search(text):
        # JSON writes characters beyond U+FFFF as two escapes, which are one character together.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def _unescaped(match: re.Match[str]) -> str:
    code, char = match.groups()
    if code is not None:
        return chr(int(code, 16))
    if char in _ESCAPED:
        return _ESCAPED[char]
    return char if char in "\"'\\/“”\u2018\u2019" else match.group()


_ROW_PATTERN = re.compile(
    r"(?P<indent>[ \t]*+)(?P<bullet>(?:[-*•+][ \t]++|[0-9]{1,3}[.)][ \t]++|#{1,6}[ \t]++){0,3})"
    r"(?P<key>[^\s:\uff1a=|][^:\uff1a=|\n]{0,99}?)[ \t]{0,20}[:\uff1a=](?P<value>[^\n]*+)"
)
_ROW_DECORATION = " \t*_`\"'“”\u2018\u2019[]"
_BLOCK_SCALAR = re.compile(r"\s*[|>][+-]?[0-9]?\s*")
_OWN_SCALE = re.compile(
    r"[(\[] ?(?:out of |/|max\.? )?"
    r"((?:[+-]?[0-9.]{1,9} ?(?:-|\u2013|—|to|\.\.) ?)?[0-9.]{1,9}) ?[)\]][*_` ]{0,4}\Z"
)
_LIST_BULLET = re.compile(r"[-*•+]")

# A bullet with one of these keys begins the next item of a list.
_ITEM_KEYS = frozenset({"name", "criterion", "metric", "dimension", "aspect"})


@dataclass(slots=True)
class _Open:
    """An object under construction: rows indented deeper than `indent` belong to it."""

    indent: int
    start: int
    key: str = ""
    is_item: bool = False
    pairs: list[KeyValue] = field(default_factory=list)
    items: list[Obj] = field(default_factory=list)
    end: int = 0


class _OutlineRow(NamedTuple):
    """A line `key: value`; `item` is where its bullet is if it begins the next item of a list."""

    key: str
    value: str
    indent: int
    item: int | None
    scale: str | None
    start: int
    value_start: int
    end: int


def read_outline(prose: str) -> Obj:
    """The lines `key: value` of a text as one object; deeper lines belong to the line above."""
    root = _Open(-1, 0)
    stack = [root]
    for row in _rows(prose):
        while len(stack) > 1 and _ends_object(row, stack[-1]):
            _close_object(stack)
        if row.item is not None:
            stack.append(_Open(row.item, row.start, is_item=True))
        top = stack[-1]
        top.end = row.end
        if row.scale is not None:
            scale = Leaf("line", row.scale, row.start, row.start)
            top.pairs.append(KeyValue("scale", scale, row.start))
        if row.value:
            leaf = Leaf("line", row.value, row.value_start, row.end)
            top.pairs.append(KeyValue(row.key, leaf, row.start))
        else:
            stack.append(_Open(row.indent, row.start, row.key, end=row.end))
    while len(stack) > 1:
        _close_object(stack)
    if root.items:
        listed = Arr(tuple(root.items), root.items[0].start, root.items[-1].end)
        root.pairs.append(KeyValue("results", listed, listed.start))
    return Obj(tuple(root.pairs), 0, len(prose))


def _rows(prose: str) -> Iterator[_OutlineRow]:
    block: int | None = None
    start = 0
    for line in prose.splitlines(keepends=True):
        body, at = line.rstrip("\r\n"), start
        start += len(line)
        if not body.strip():
            continue
        indent = len(body) - len(body.lstrip(" \t"))
        if block is not None and indent > block:
            continue
        block = None
        # Tables and tags have readers of their own.
        match = None if body.lstrip().startswith(("|", "<")) else _ROW_PATTERN.match(body)
        if match is None:
            continue
        row = _row(match, at)
        # Below YAML's `key: |` the deeper lines are text, whatever they look like.
        if _BLOCK_SCALAR.fullmatch(match.group("value")):
            block = indent
        yield row


def _row(match: re.Match[str], at: int) -> _OutlineRow:
    indent, key = len(match.group("indent")), match.group("key").strip(_ROW_DECORATION)
    key, scale = split_scale(key)
    is_listed = _LIST_BULLET.match(match.group("bullet")) is not None
    return _OutlineRow(
        key=key,
        value=match.group("value").strip().removeprefix("**").removeprefix("__").strip(),
        indent=indent + len(match.group("bullet")) * is_listed,
        item=indent if is_listed and fold_key(key) in _ITEM_KEYS else None,
        scale=scale,
        start=at + match.start("key"),
        value_start=at + match.start("value"),
        end=at + match.end(),
    )


def split_scale(name: str) -> tuple[str, str | None]:
    """A name without the scale behind it, as in `Rating (1-5)`, and that scale."""
    scale = _OWN_SCALE.search(name)
    if scale is None:
        return name, None
    return name[: scale.start()].strip(_ROW_DECORATION), scale.group(1)


def _ends_object(row: _OutlineRow, top: _Open) -> bool:
    if row.item is None:
        return row.indent <= top.indent
    return top.indent > row.item or (top.is_item and top.indent == row.item)


def _close_object(stack: list[_Open]) -> None:
    done = stack.pop()
    parent = stack[-1]
    parent.end = max(parent.end, done.end)
    if not done.pairs and not done.items:
        return
    obj = Obj(tuple(done.pairs), done.start, done.end)
    if not done.key:
        parent.items.append(obj)
        return
    node: Node = Arr(tuple(done.items), done.start, done.end) if done.items else obj
    parent.pairs.append(KeyValue(done.key, node, done.start))


_SCORE_NUMBER = (
    r"[+-]?(?:(?:0|[1-9][0-9]{0,39})(?:\.[0-9]{1,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,4})?"
)
_PLAIN_NUMBER = re.compile(rf"({_SCORE_NUMBER})")
_FRACTION = re.compile(
    rf"({_SCORE_NUMBER})\s*(?:/|\bout\s+of\b)\s*({_SCORE_NUMBER})", re.IGNORECASE
)
_PERCENT = re.compile(rf"({_SCORE_NUMBER})\s*%")
_LEADING_NUMBER = re.compile(
    rf"[*_`\"'“\[(]*\s*({_SCORE_NUMBER}(?:\s*%|\s*(?:/|\bout\s+of\b)\s*{_SCORE_NUMBER})?)[*_`\"'”\])]*"
    rf"(?:\s*(/|\bout\s+of\b)\s*({_SCORE_NUMBER}))?",
    re.IGNORECASE,
)
# A number that ends its clause is no note on the one before it, but the end of a range.
_NUMBER_TAIL = re.compile(
    r"\s*[.,;]?\s*\Z|(?:\s+(?:[-\u2013—]+\s|#)|\s*[;,.]\s+)(?!\s*[0-9.]+\s*(?:[.,;:)]|\Z))"
    r"|\s*\(|\s*[\u2013—]\s*[^\s\d]"
)
_LOWEST = r"[+-]?[0-9.]{1,9}\s?(?:[-\u2013—]|to\b)\s?"
_SCALE_BEHIND = re.compile(
    rf"[\s*_`\"'”\])]*(?:(?:stars?|points?)\b\s*)?(?:[-\u2013]\s*(?=scale\b))?[,(\[]?\s*"
    rf"(?:/|{phrases('scale_ends')}|(?<=[(\[])(?={_LOWEST}[0-9.]{{1,9}}\s?[)\]]))"
    rf"\s*(?:{_LOWEST})?[*_`]*({_SCORE_NUMBER})",
    re.IGNORECASE,
)
_SCALE_BEFORE = re.compile(
    r"(?:\b(?:score|rating|grade)[*_` ]{0,4}[(\[](?:out of|/|max\.?)?|\bscale (?:of|from)|\bout of)"
    rf"\s?(?:{_LOWEST})?({_SCORE_NUMBER})(?:[*_ ]{{0,4}}[,:)\]]|\s(?:i|it|this|the|we|my)\b)",
    re.IGNORECASE,
)
_SECOND_NUMBER = re.compile(r"[:=]\s*[*_`]*[+-]?[0-9]")
_WORD_SCORES = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_QUOTED_LENGTH = 40


class UnresolvedError(Exception):
    """What was found in a reply is not a verdict, or not a single one."""

    def __init__(self, reason: str, message: str, instruction: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.instruction = instruction


def read_score(leaf: Leaf, wanted: ExpectedCriterion) -> float:
    """The score a value states; never rounded, rescaled or clamped."""
    if wanted.is_choice:
        slot = leaf.text.strip().casefold() if leaf.kind in {"string", "bare"} else ""
        if slot not in SLOTS_BY_SCORE:
            raise _no_score("not_a_choice", leaf, wanted)
        return float(SLOTS_BY_SCORE.index(slot))
    number = _number(leaf, wanted)
    if not math.isfinite(number) or not wanted.scale.holds(number):
        raise _no_score("out_of_range", leaf, wanted)
    return number


def plain_number(leaf: Leaf) -> float | None:
    """The finite number a value states, on whatever scale."""
    # A bare word with digits (`4b`, an id) is no number.
    if leaf.kind not in {"number", "string", "line"}:
        return None
    match = _PLAIN_NUMBER.fullmatch(ascii_digits(leaf.text.strip()))
    number = float(match.group(1)) if match else math.nan
    return number if math.isfinite(number) else None


def leading_number(text: str) -> tuple[str, str] | None:
    """The number a line begins with, unless what follows makes it ambiguous."""
    match = _LEADING_NUMBER.match(ascii_digits(text))
    if match is None or not _NUMBER_TAIL.match(ascii_digits(text), match.end()):
        return None
    if _SECOND_NUMBER.search(text, match.end()):
        return None
    number, _, whole = match.groups()
    if whole is None and _PLAIN_NUMBER.fullmatch(number):
        whole, _ = scale_behind(text, match.end())
    return (number if whole is None else f"{number}/{whole}"), text[match.end() :].strip(
        " -\u2013—.,;"
    )


def scale_behind(text: str, start: int) -> tuple[str | None, int]:
    """The end of the scale behind a number, as in `4 (out of 5)` and `**4**/5`, and its place."""
    scale = _SCALE_BEHIND.match(ascii_digits(text[start : start + 60]))
    return (None, start) if scale is None else (scale[1], start + scale.end())


def scale_before(text: str, start: int) -> str | None:
    """The end of the scale that the sentence of a number states before it."""
    sentence = re.split(r"[.!?]\s|(?<!:)\n", text[max(0, start - 200) : start])[-1]
    return next(reversed(_SCALE_BEFORE.findall(sentence)), None)


def ascii_digits(text: str) -> str:
    """A text with full-width forms and the digits of other scripts as ASCII."""
    if text.isascii():
        return text
    return "".join(_ascii(char) for char in text)


def quote_value(text: str) -> str:
    """A value for a message: quoted, control characters escaped, at most 40 characters."""
    cut = text.strip()
    return repr(cut if len(cut) <= _QUOTED_LENGTH else f"{cut[: _QUOTED_LENGTH - 1]}…")


def _number(leaf: Leaf, wanted: ExpectedCriterion) -> float:
    if leaf.kind == "number":
        return float(leaf.text)
    text, scale = ascii_digits(leaf.text.strip()), wanted.scale
    if leaf.kind != "null" and wanted.is_binary and text.casefold() in _WORD_SCORES:
        return _WORD_SCORES[text.casefold()]
    if leaf.kind not in {"bool", "null"} and (match := _PLAIN_NUMBER.fullmatch(text)):
        return float(match.group(1))
    percent, fraction = _PERCENT.fullmatch(text), _FRACTION.fullmatch(text)
    if leaf.kind not in {"string", "line"} or not (percent or fraction):
        raise _no_score("not_a_number", leaf, wanted)
    if percent and wanted.is_binary:
        return float(percent.group(1)) / 100
    # `8/10` on a scale to 5 is not rescaled: the judge used another scale than was asked.
    if percent and (scale.min, scale.max) == (0, 100):
        return float(percent.group(1))
    if fraction and float(fraction.group(2)) == scale.max:
        return float(fraction.group(1))
    raise _no_score("scale_mismatch", leaf, wanted)


def _no_score(reason: str, leaf: Leaf, wanted: ExpectedCriterion) -> UnresolvedError:
    return not_wanted(reason, quote_value(leaf.text), wanted)


def not_wanted(reason: str, stated: str, wanted: ExpectedCriterion) -> UnresolvedError:
    """The error of a reply that states something else than was asked for."""
    what = f"the reply said {stated}"
    where = " on another scale" if reason == "scale_mismatch" else ""
    return UnresolvedError(reason, f"{what}{where}, not {wanted.wanted}", f"{wanted.ask}; {what}.")


def _ascii(char: str) -> str:
    # The full-width forms stand 0xFEE0 above the ASCII characters.
    if "\uff01" <= char <= "\uff5e":
        return chr(ord(char) - 0xFEE0)
    digit = unicodedata.decimal(char, None)
    return char if digit is None else str(digit)
