"""Reads JSON with the slips a model makes, as long as there is only one way to read it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NoReturn

from judgekit.prompts.replies.documents import Arr, Leaf, Obj, Pair

if TYPE_CHECKING:
    from judgekit.prompts.replies.documents import Node

MAX_DEPTH = 40
"""Deeper nesting is no verdict."""

MOST_VALUES = 5_000
"""A structure with more values than this is no verdict."""

_SPACE = re.compile(
    r"(?:[\s\x00\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]++"
    r"|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/|#[^\n]*+)*+"
)
_STRINGS = {
    '"': re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL),
    "'": re.compile(r"'([^'\\]*+(?:\\.[^'\\]*+)*+)'", re.DOTALL),
    "“": re.compile(r"[“”„]([^“”\\]*+(?:\\.[^“”\\]*+)*+)[“”]", re.DOTALL),
    "\u2018": re.compile(
        r"[\u2018\u2019\u201a]((?:[^\u2018\u2019\\]|\\.)*+)[\u2018\u2019]", re.DOTALL
    ),
    "\uff02": re.compile(r"\uff02((?:[^\uff02\\]|\\.)*+)\uff02", re.DOTALL),
}
_STRINGS |= {
    "”": _STRINGS["“"],
    "„": _STRINGS["“"],
    "\u2019": _STRINGS["\u2018"],
    "\u201a": _STRINGS["\u2018"],
}
_NUMBER = re.compile(
    r"[+-]?(?:(?:0|[1-9][0-9]*+)(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
    r"(?=[\s,\uff0c\]}\uff5d\u200b\ufeff\x00]|/[/*]|#|\Z)"
)
_BARE = re.compile(r"[^\s,\uff0c:\uff1a(){}\uff5b\uff5d\[\]\"'“”\u2018\u2019]{1,200}+")
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


def parse_json(text: str, start: int = 0) -> Node:
    """The value that begins at a place of a text."""
    # Mended: trailing commas, quotes of other kinds, Python's literals, comments, bare keys, raw
    # line breaks and bad escapes in strings, odd white space, full-width punctuation, doubled outer
    # braces. Nothing that ends early is closed, no comma and no quote is put in.
    return _Parser(text, start).value(0)


class _Parser:
    """Reads forward from a place; `pos` is the next character."""

    def __init__(self, text: str, pos: int) -> None:
        self.text = text
        self.pos = pos
        self.n_values = 0

    def value(self, depth: int) -> Node:
        first = self._next()
        if depth > MAX_DEPTH:
            raise JsonFaultError(self.pos, "too_deep")
        self.n_values += 1
        if self.n_values > MOST_VALUES:
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
            return self._doubled(depth)
        pairs: list[Pair] = []
        while self._next() not in "}\uff5d":
            pairs.append(self._pair(depth))
            self._comma_before("}\uff5d")
        self.pos += 1
        return Obj(tuple(pairs), start, self.pos)

    def _doubled(self, depth: int) -> Obj:
        """`{{...}}`, a template's escaped braces."""
        if depth > 0:
            self._garbled()
        inner = self._object(depth + 1)
        if self._next() not in "}\uff5d":
            self._garbled()
        self.pos += 1
        return inner

    def _pair(self, depth: int) -> Pair:
        start = self.pos
        first = self.text[start]
        key = self._string(first) if first in _STRINGS else self._bare_key()
        if self._next() not in ":\uff1a":
            self._garbled()
        self.pos += 1
        return Pair(key, self.value(depth + 1), start)

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

    def _bare_key(self) -> str:
        match = _BARE_KEY.match(self.text, self.pos)
        if match is None:
            self._garbled()
        self.pos = match.end()
        return match.group()

    def _word(self) -> Leaf:
        number = _NUMBER.match(self.text, self.pos)
        match = number or _BARE.match(self.text, self.pos)
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
        """The next character that is no space and no comment."""
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
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def _unescaped(match: re.Match[str]) -> str:
    code, char = match.groups()
    if code is not None:
        return chr(int(code, 16))
    if char in _ESCAPED:
        return _ESCAPED[char]
    return char if char in "\"'\\/“”\u2018\u2019" else match.group()
