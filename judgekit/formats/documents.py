"""Reads and writes one JSON or YAML document; remembers the line of every value."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, NoReturn, cast

import yaml

from judgekit.errors import DatasetError
from judgekit.formats.text import (
    MAX_JSON_DEPTH,
    TEXT_REPAIRED,
    KeyPath,
    ValueSpan,
    as_path,
    json_lines,
    json_spans,
    parse_strict_json,
    read_text,
    without_comments,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pydantic import JsonValue
    from yaml.error import Mark

YAML_SUFFIXES = (".yaml", ".yml")

# All aliases (`*name`) together; a bomb of nested aliases repeats millions of values.
MAX_ALIASED = 1000
_TAG = "tag:yaml.org,2002:"
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})

# The core schema of YAML 1.2 (section 10.3.2), not the rules of YAML 1.1 that PyYAML has.
_INTEGER = re.compile(r"[-+]?[0-9]++|0o[0-7]++|0x[0-9a-fA-F]++")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]++|[0-9]++(?:\.[0-9]*+)?)(?:[eE][-+]?[0-9]++)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")

# Stands for a merge key; no text of a file holds a lone surrogate.
_MERGE = "\udc3c<<"

# Python refuses longer ones with an error of its own, and converting takes quadratic time.
_MAX_DIGITS = 3000


@dataclass(frozen=True)
class ParsedDocument:
    """One document, with the line of every value in it."""

    path: Path
    value: JsonValue  # None for an empty YAML file
    notes: tuple[str, ...] = ()  # what was repaired while reading: `text_repaired`
    find_lines: Callable[[], Mapping[KeyPath, int]] = field(
        default=dict[KeyPath, int], repr=False, compare=False
    )  # computes the lines; called once, when the first line is needed

    @cached_property
    def lines(self) -> Mapping[KeyPath, int]:
        return self.find_lines()

    def line_of(self, *where: str | int) -> int:
        """The line of a value, or that of the nearest value around it."""
        for length in range(len(where), -1, -1):
            if (line := self.lines.get(where[:length])) is not None:
                return line
        return 1


def read_document(path: Path | str) -> ParsedDocument:
    # YAML is read by the core rules of YAML 1.2: `no`, `on`, `12:30` and `2024-01-01` are texts;
    # merge keys are those of YAML 1.1. A key given twice, a tag, NaN, infinities, nesting deeper
    # than 100 and aliases that repeat more than 1,000 values are errors in either format. Comments
    # in JSON are skipped, as in annotated examples.
    path = as_path(path)
    return parse_document(read_text(path), path)


def parse_document(text: str, path: Path) -> ParsedDocument:
    """The document in a text, by the rules of `read_document` for a file with this suffix."""
    if path.suffix.lower() in YAML_SUFFIXES:
        return _read_yaml(text, path)
    if not text.strip():
        raise DatasetError("the file is empty", path=path, line=1)
    try:
        value, is_repaired = parse_strict_json(text, path=path)
    except DatasetError:
        # Only after the strict reading failed, so that a text that contains `//` is never touched.
        bare = without_comments(text)
        if bare == text:
            raise
        text, (value, is_repaired) = bare, parse_strict_json(bare, path=path)
    notes = (TEXT_REPAIRED,) if is_repaired else ()
    return ParsedDocument(path, value, notes, partial(json_lines, text))


def value_spans(text: str, path: Path) -> Mapping[KeyPath, ValueSpan]:
    """Where every value of a valid document stands in its text; what aliases repeat is left out."""
    if path.suffix.lower() in YAML_SUFFIXES:
        return _yaml_spans(text)
    return json_spans(without_comments(text))


def dump_yaml(value: object, *, is_flow: bool = False, width: int = 100) -> str:
    """A value as YAML that every reader, of YAML 1.1 or 1.2, reads as the same value."""
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=width,
        default_flow_style=is_flow,
    )
    return text


class _Dumper(yaml.CSafeDumper):
    """Quotes also the texts that only YAML 1.2 reads as numbers; writes no aliases."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the library's signature
        return True


_Dumper.add_implicit_resolver(f"{_TAG}int", re.compile(rf"(?:{_INTEGER.pattern})$"), None)
_Dumper.add_implicit_resolver(f"{_TAG}float", re.compile(rf"(?:{_FLOAT.pattern})$"), None)


def _read_yaml(text: str, path: Path) -> ParsedDocument:
    builder = _Builder(path)
    try:
        # Events, not nodes: the library composes nodes by recursion in C, which deep nesting
        # crashes.
        for event in _events(text):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(part for part in (error.context, error.problem) if part)
        message = f"not YAML: {what}"
        if mark is None:
            raise DatasetError(message, path=path) from None
        where = f"{message} (column {mark.column + 1})"
        lines = _YAML_BREAK.split(text)
        hint = _pair_hint(lines, mark.line) if _NO_PAIR in message else None
        if lines[mark.line : mark.line + 1] and lines[mark.line][mark.column :].startswith("\t"):
            hint = "indent with spaces: YAML allows no tabs here"
        raise DatasetError(where, path=path, line=mark.line + 1, hint=hint) from None
    except (yaml.YAMLError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DatasetError(f"not YAML: {reason}", path=path) from None
    return ParsedDocument(path, builder.root, (), lambda: builder.lines)


# Line ends as YAML counts them, which are more than those of text files.
_YAML_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_NO_PAIR = "mapping values are not allowed"
_PAIR = re.compile(r"(?P<indent>[ -]*)(?P<name>[^\s:#'\"][^:]*):\s+(?P<value>[^\s#].*)")


def _pair_hint(lines: list[str], place: int) -> str:
    """What to do about a name with a value where YAML allows none."""
    above = next((n for n in range(place - 1, -1, -1) if lines[n].strip()), place)
    pair, line = _PAIR.match(lines[above]), lines[place]
    # A reader that took the value for one of the names below would guess what it is called.
    if pair is None or above == place or len(line) - len(line.lstrip()) <= len(pair["indent"]):
        return "a text that contains `: ` needs quotes"
    return (
        f"line {above + 1} gives `{pair['name'][:40]}` a value, so nothing can be indented below "
        f"it: move `{pair['value'][:40].rstrip()}` to a line of its own with a name, such as "
        f"`score:`, or indent line {place + 1} less"
    )


def _events(text: str) -> Iterator[yaml.Event]:
    loader = yaml.CSafeLoader(text)
    while loader.check_event():
        if (event := loader.get_event()) is not None:
            yield event


@dataclass(slots=True)
class _OpenSpan:
    """A mapping or list whose end has not been read, and the place of its next value."""

    where: KeyPath
    start: int
    key: int | None
    is_flow: bool
    column: int | None
    next: str | int | None  # None in a mapping before a key
    next_key: int | None = None
    end: int = 0


def _yaml_spans(text: str) -> dict[KeyPath, ValueSpan]:
    spans: dict[KeyPath, ValueSpan] = {}
    unclosed: list[_OpenSpan] = []
    for event in _events(text):
        top = unclosed[-1] if unclosed else None
        start, end = _mark_of(event).index, cast("Mark", event.end_mark).index
        if top is not None and top.next is None and isinstance(event, yaml.ScalarEvent):
            top.next, top.next_key = event.value, start
            continue
        where: KeyPath = () if top is None or top.next is None else (*top.where, top.next)
        key, is_flow = (None, False) if top is None else (top.next_key, top.is_flow)
        if isinstance(event, yaml.CollectionStartEvent):
            column = None if event.flow_style else _mark_of(event).column
            first = None if isinstance(event, yaml.MappingStartEvent) else 0
            unclosed.append(_OpenSpan(where, start, key, column is None, column, first))
        elif isinstance(event, yaml.CollectionEndEvent):
            done = unclosed.pop()
            # Without brackets its end event comes only where the next line begins.
            last = end if done.column is None else done.end
            _close(done.where, ValueSpan(done.start, last, done.key, done.is_flow, done.column),
                   spans, unclosed)  # fmt: skip
        elif isinstance(event, yaml.NodeEvent):
            # The blank lines below a text of several lines are no part of what it is.
            if getattr(event, "style", None) in {"|", ">"}:
                line_end = text.find("\n", start + len(text[start:end].rstrip("\n ")), end)
                end = end if line_end < 0 else line_end
            _close(where, ValueSpan(start, end, key, is_flow), spans, unclosed)
    return spans


def _close(
    where: KeyPath, span: ValueSpan, spans: dict[KeyPath, ValueSpan], unclosed: list[_OpenSpan]
) -> None:
    spans[where] = span
    if unclosed:
        top = unclosed[-1]
        top.end = max(top.end, span.end)
        top.next = top.next + 1 if isinstance(top.next, int) else None


def _mark_of(event: yaml.Event) -> Mark:
    return cast("Mark", event.start_mark)


@dataclass(slots=True)
class _Open:
    """A mapping or list whose end has not been read."""

    value: dict[str, JsonValue] | list[JsonValue]
    where: KeyPath
    anchor: str | None
    n_values: int = 1
    key: str | None = None
    # What merge keys name; fields of the mapping itself and those of earlier ones come first.
    merged: list[JsonValue] = field(default_factory=list)


class _Builder:
    """Builds the value from events with a stack of its own, and records lines on the way."""

    def __init__(self, path: Path) -> None:
        self.root: JsonValue = None
        self.lines: dict[KeyPath, int] = {}
        self._path = path
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[JsonValue, int]] = {}
        self._n_aliased = 0
        self._n_documents = 0

    def take(self, event: yaml.Event) -> None:
        match event:
            case yaml.ScalarEvent() if self._wants_key():
                self._key(event)
            case yaml.ScalarEvent():
                self._record_line(event)
                self._place(self._value(event), 1, event.anchor)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._start(event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                done = self._open.pop()
                self._merge(done, event)
                self._place(done.value, done.n_values, done.anchor)
            case yaml.AliasEvent():
                self._alias(event)
            case yaml.DocumentStartEvent():
                self._n_documents += 1
                if self._n_documents > 1:
                    self._fail(event, "a second document begins; one file holds one document")

    def _wants_key(self) -> bool:
        top = self._open[-1] if self._open else None
        return top is not None and isinstance(top.value, dict) and top.key is None

    def _key(self, event: yaml.ScalarEvent) -> None:
        top, key = self._open[-1], event.value
        # A quoted "<<" is an ordinary key.
        if key == "<<" and event.implicit[0]:
            key = _MERGE
        elif key in top.value:
            first = self.lines[(*top.where, key)]
            self._fail(event, f"the key {key!r} appears twice; first in line {first}")
        if event.anchor is not None:
            self._anchors[event.anchor] = (key, 1)
        top.key = key
        self._record_line(event)

    def _merge(self, done: _Open, event: yaml.Event) -> None:
        for value in done.merged:
            for each in value if isinstance(value, list) else [value]:
                if not isinstance(each, dict) or not isinstance(done.value, dict):
                    self._fail(event, "a merge key (<<) names a mapping, or a list of mappings")
                for name, item in each.items():
                    done.value.setdefault(name, item)

    def _start(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent) -> None:
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        if self._wants_key():
            self._fail(event, "a key must be a text, not a list or a mapping")
        if len(self._open) >= MAX_JSON_DEPTH:
            self._fail(event, f"nested deeper than {MAX_JSON_DEPTH} levels")
        if event.tag not in {None, "!", f"{_TAG}{'map' if is_mapping else 'seq'}"}:
            self._fail(event, f"the tag {event.tag!r} is not data; files hold plain values only")
        self._record_line(event)
        # Until it ends, an alias to it would refer to itself.
        self._anchors.pop(event.anchor or "", None)
        self._open.append(_Open({} if is_mapping else [], self._where(), event.anchor))

    def _alias(self, event: yaml.AliasEvent) -> None:
        if self._wants_key():
            self._fail(event, "a key must be written out, not an alias")
        if event.anchor not in self._anchors:
            self._fail(event, f"the alias *{event.anchor} names nothing that ends before it")
        value, n_values = self._anchors[event.anchor]
        # Aliases of aliases multiply, so what they stand for is counted ("billion laughs").
        self._n_aliased += n_values
        if self._n_aliased > MAX_ALIASED:
            self._fail(event, f"aliases repeat more than {MAX_ALIASED} values; write them out")
        self._record_line(event)
        self._place(value, n_values, None)

    def _where(self) -> KeyPath:
        if not self._open:
            return ()
        top = self._open[-1]
        if isinstance(top.value, list):
            return (*top.where, len(top.value))
        return (*top.where, top.key or "")

    def _record_line(self, event: yaml.Event) -> None:
        self.lines.setdefault(self._where(), _mark_of(event).line + 1)

    def _place(self, value: JsonValue, n_values: int, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = (value, n_values)
        if not self._open:
            self.root = value
            return
        top = self._open[-1]
        top.n_values += n_values
        if isinstance(top.value, list):
            top.value.append(value)
        elif top.key is not None:
            if top.key == _MERGE:
                top.merged.append(value)
            else:
                top.value[top.key] = value
            top.key = None

    def _value(self, event: yaml.ScalarEvent) -> JsonValue:
        tag, text = event.tag, event.value
        # Quotes mean text in every schema of YAML, so "12" stays a text.
        if tag in {"!", f"{_TAG}str"} or (tag is None and not event.implicit[0]):
            return str(text)
        if tag is not None and tag not in {f"{_TAG}{n}" for n in ("int", "float", "bool", "null")}:
            self._fail(event, f"the tag {tag!r} is not data; files hold plain values only")
        value = self._plain(event, text)
        if tag is not None and isinstance(value, str):
            self._fail(event, f"{text!r} is not what its tag says")
        return value

    def _plain(self, event: yaml.ScalarEvent, text: str) -> JsonValue:
        if text in _NULLS:
            return None
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
        if _INTEGER.fullmatch(text):
            if len(text) > _MAX_DIGITS:
                self._fail(event, "a number with too many digits")
            return int(text, 0) if text[:2] in {"0o", "0x"} else int(text)
        if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
            return float(text)
        if _FLOAT.fullmatch(text) or _NOT_FINITE.fullmatch(text):
            self._fail(event, f"{text[:40]} is not a number that can be held; quote it as a text")
        return text

    def _fail(self, event: yaml.Event, message: str) -> NoReturn:
        mark = _mark_of(event)
        line, column = mark.line + 1, mark.column + 1
        raise DatasetError(f"{message} (column {column})", path=self._path, line=line)
