"""Changes one value in the text of a document; every other character stays as it is.

Comments, order and quotation marks of a file are its author's. A change is made where the value
stands in the text, and refused where the result would not be the same data but for that change.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from textwrap import indent
from typing import TYPE_CHECKING, Literal, cast

from judgekit.errors import DatasetError, SettingsError
from judgekit.formats.documents import YAML_SUFFIXES, dump_yaml, parse_document, value_spans
from judgekit.formats.rows import LINE_SUFFIXES, suffix_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.formats.text import KeyPath, ValueSpan

EditKind = Literal["set", "remove", "insert", "copy", "move"]
"""`insert` puts an item after another, `copy` that item itself; `move` with the value -1 is up."""

_ONE_LINE = 2**30
_PLAIN_LINES = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\ufeff][^\x00-\x09\x0b-\x1f\x7f-\x9f\ufeff]*")

_KEY = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\n]*?)\s*:(?=\s)""")


def edit_value(
    text: str, path: Path, kind: EditKind, where: KeyPath, value: JsonValue = None
) -> str:
    """The text of a file with one value changed; `where` of JSONL begins with its row."""
    try:
        if suffix_of(path) in LINE_SUFFIXES:
            return _edit_rows(text, path, kind, where, value)
        document = _EditedText(text, path)
        changed: str = getattr(document, kind)(where, value)
        wanted = _expected(document.value, kind, where, value)
    except (LookupError, TypeError):
        raise SettingsError("the file has no such value", hint="load it again") from None
    try:
        # As JSON, in which 1 and true differ, and the order of fields matters.
        is_same = _json(parse_document(changed, path).value) == _json(wanted)
    except DatasetError:
        is_same = False
    # An anchor that other values use, say, or a comment inside of what is replaced by brackets.
    if not is_same:
        raise SettingsError(
            "this value is written in a way that cannot be changed here without changing more",
            hint="change it in the text",
        )
    return changed


def row_lines(text: str) -> list[int]:
    """The line of each row of a JSONL text, from 0: blank lines are no rows."""
    return [number for number, line in enumerate(text.split("\n")) if line.strip()]


def _edit_rows(text: str, path: Path, kind: EditKind, where: KeyPath, value: JsonValue) -> str:
    lines, rows = text.split("\n"), row_lines(text)
    row = cast("int", where[0])
    # Before the first row there is the place for one in an empty file.
    at = -1 if kind == "insert" and row < 0 else rows[row]
    if len(where) > 1:
        own = path.with_suffix(".json")
        lines[at] = edit_value(lines[at], own, kind, where[1:], value)
    elif kind == "remove":
        del lines[at]
    elif kind == "move":
        other = row + cast("int", value)
        if not 0 <= other < len(rows):
            raise _no_place()
        lines[at], lines[rows[other]] = lines[rows[other]], lines[at]
    else:
        lines.insert(at + 1, lines[at] if kind == "copy" else _json(value))
    return "\n".join(lines)


def _expected(before: JsonValue, kind: EditKind, where: KeyPath, value: JsonValue) -> JsonValue:
    if not where:
        return value
    # What an alias repeats is one object, and only one of its places is to change.
    whole: JsonValue = json.loads(_json(before))
    here = _value_at(whole, where[:-1])
    at = where[-1]
    if isinstance(here, dict):
        if kind == "set":
            here[str(at)] = value
        else:
            del here[str(at)]
    elif isinstance(here, list):
        place = cast("int", at)
        if kind == "set":
            here[place] = value
        elif kind == "move":
            here.insert(place + cast("int", value), here.pop(place))
        elif kind == "remove":
            del here[place]
        else:
            here.insert(place + 1, here[place] if kind == "copy" else value)
    return whole


def _value_at(value: JsonValue, where: KeyPath) -> JsonValue:
    for part in where:
        value = value[part]  # type: ignore[index]  # `edit_value` reports what is not there
    return value


@dataclass
class _EditedText:
    """The text of a document with the places of its values; each change gives a new text."""

    text: str
    path: Path

    def __post_init__(self) -> None:
        self.value = parse_document(self.text, self.path).value
        self.is_yaml = self.path.suffix.lower() in YAML_SUFFIXES
        self.spans: Mapping[KeyPath, ValueSpan] = value_spans(self.text, self.path)

    def set(self, where: KeyPath, value: JsonValue) -> str:
        span = self.spans.get(where)
        if span is None:
            return self._add(where, value)
        around = self.spans.get(where[:-1]) if where else None
        column = 0 if around is None else around.column or 0
        new = self._written(value, span, column, self.text[span.start :][:1])
        line_end = self.text.find("\n", span.key or 0)
        # In the place of lines below a key, which what stands on one line must follow.
        is_below = isinstance(value, list | dict) and bool(value)
        if (
            span.key is not None
            and span.column is not None
            and line_end < span.start
            and not is_below
        ):
            key = cast("re.Match[str]", _KEY.match(self.text, span.key))
            return self._with(key.end(), span.end, f" {new}{self.text[key.end() : line_end]}")
        # `key:` without a value ends with its colon.
        is_bare = span.start == span.end and self.text[span.start - 1] == ":"
        return self._with(span.start, span.end, f" {new}" if is_bare else new)

    def _add(self, where: KeyPath, value: JsonValue) -> str:
        around, fields = self._span(where[:-1]), _value_at(self.value, where[:-1])
        if not isinstance(fields, dict):
            raise SettingsError("only a mapping can get a further field")
        key = str(where[-1])
        in_brackets = (_flow if self.is_yaml else _json)({key: value})[1:-1]
        if not fields:
            return self._with(around.start + 1, around.start + 1, in_brackets)
        new = in_brackets
        if around.column is not None:
            plain = replace(around, is_flow=False, column=None)
            written = self._written(value, plain, around.column, "")
            new = f"{dump_yaml({key: 0}).partition(':')[0]}: {written}"
        return self._after((*where[:-1], list(fields)[-1]), new)

    def remove(self, where: KeyPath, _: JsonValue) -> str:
        span, around = self._span(where), self._span(where[:-1])
        values = _value_at(self.value, where[:-1])
        names = values if isinstance(values, dict) else range(len(cast("list[object]", values)))
        beside = [(*where[:-1], name) for name in names]
        at = beside.index(where)
        after = self._span(beside[at + 1]) if at + 1 < len(beside) else None
        start = _begin(span)
        if around.column is None:
            first = start if not at or after is not None else self._span(beside[at - 1]).end
            return self._with(first, span.end if after is None else _begin(after))
        line = self.text.rfind("\n", 0, start if span.key is not None else self._dash(where)) + 1
        if span.key is not None and self.text[line:start].strip():
            # The first field of an item stands behind the dash, which the next field then takes.
            if after is None:
                raise SettingsError("this is the only field there", hint="change it in the text")
            return self._with(start, _begin(after))
        return self._with(line, min(self._line_end(span.end) + 1, len(self.text)))

    def insert(self, where: KeyPath, value: JsonValue) -> str:
        listed = self._span(where[:-1])
        if where not in self.spans:  # the first item of an empty list
            written = _flow(value) if self.is_yaml else _json(value)
            return self._with(listed.start + 1, listed.start + 1, written)
        if listed.column is None:
            gap = self._gap(self.spans[where])
            is_long = "\n" in gap
            new = indent(_json(value, 2), gap.rpartition("\n")[2]) if is_long else _json(value)
            return self._after(where, new.lstrip())
        lines = dump_yaml(value) if isinstance(value, dict) else _flow(value)
        new = indent(lines.rstrip("\n"), " " * (listed.column + 2)).lstrip()
        return self._after(where, f"- {new}")

    def copy(self, where: KeyPath, _: JsonValue) -> str:
        span, lead = self._span(where), ""
        if self._span(where[:-1]).column is not None:
            lead = self.text[self._dash(where) : span.start]
            # A comment between the dash and its value belongs to the one that was there first.
            lead = lead if "\n" not in lead else "- "
        return self._after(where, lead + self.text[span.start : span.end])

    def move(self, where: KeyPath, step: JsonValue) -> str:
        other = (*where[:-1], cast("int", where[-1]) + cast("int", step))
        if other not in self.spans:
            raise _no_place()
        is_flow = self._span(where[:-1]).column is None
        (a0, a1), (b0, b1) = sorted(
            (self.spans[item].start, self.spans[item].end)
            if is_flow
            else (self._dash(item), self._line_end(self.spans[item].end))
            for item in (where, other)
        )
        text = self.text
        return text[:a0] + text[b0:b1] + text[a1:b0] + text[a0:a1] + text[b1:]

    def _with(self, start: int, end: int, new: str = "") -> str:
        return self.text[:start] + new + self.text[end:]

    def _after(self, where: KeyPath, new: str) -> str:
        """The text with a further item or field after another one, written as that one is."""
        span, column = self._span(where), self._span(where[:-1]).column
        if column is None:
            return self._with(span.end, span.end, f",{self._gap(span)}{new}")
        end = self._line_end(span.end)
        return self._with(end, end, f"\n{' ' * column}{new}")

    def _span(self, where: KeyPath) -> ValueSpan:
        span = self.spans.get(where)
        if span is None:
            raise SettingsError("there is an alias", hint="change it in the text")
        return span

    def _gap(self, span: ValueSpan) -> str:
        """The space before a value in brackets, or before its key."""
        before = self.text[: _begin(span)]
        gap = before[len(before.rstrip(" \t\n")) :]
        return gap or " "

    def _line_end(self, at: int) -> int:
        """The end of a line if only a comment follows, else the same place."""
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        rest = self.text[at:end].strip()
        return end if not rest or rest.startswith("#") else at

    def _dash(self, where: KeyPath) -> int:
        """Where the dash of a list's item stands."""
        column, at = cast("int", self._span(where[:-1]).column), self._span(where).start
        # Comments may stand between the dash and its value.
        while True:
            line = self.text.rfind("\n", 0, at) + 1
            if self.text[line : line + column + 1].strip() == "-" or line == 0:
                return line + column
            at = line - 1

    def _written(self, value: JsonValue, span: ValueSpan, column: int, first: str) -> str:
        """A value as it is written in the place of another, whose first character is given."""
        if not self.is_yaml or (isinstance(value, str) and first == '"'):
            return _json(value)
        if span.is_flow:
            return _flow(value)
        if isinstance(value, str):
            lines = value.removesuffix("\n")
            if "\n" in lines and _PLAIN_LINES.fullmatch(lines) and not value.endswith("\n\n"):
                sign = "|" if value.endswith("\n") else "|-"
                return f"{sign}\n{indent(lines, ' ' * (column + 2))}"
        elif span.column is not None and isinstance(value, list | dict) and value:
            return indent(dump_yaml(value).rstrip("\n"), " " * span.column).lstrip()
        return _flow(value, is_flow=isinstance(value, list | dict))


def _begin(span: ValueSpan) -> int:
    return span.start if span.key is None else span.key


def _flow(value: JsonValue, *, is_flow: bool = True) -> str:
    """A value on one line of YAML, by default as it may stand in brackets."""
    text = dump_yaml({"k": value}, is_flow=is_flow, width=_ONE_LINE).rstrip("\n")
    # Line breaks in texts would be written as several lines; JSON has them as `\n`.
    if "\n" in text:
        return _json(value)
    return text.removeprefix("{k: ").removesuffix("}") if is_flow else text.removeprefix("k: ")


def _json(value: JsonValue, spaces: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=spaces)


def _no_place() -> SettingsError:
    return SettingsError("there is no further place in that direction")
