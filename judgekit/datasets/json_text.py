"""Strict JSON: what the standard library lets through is refused here, with line and column."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, NoReturn

from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pydantic import JsonValue

KeyPath = tuple[str | int, ...]
"""Where a value stands in a document: keys and list positions from the root."""

MAX_DEPTH = 100
"""How deep lists and mappings may be nested."""

REPAIRED = "text_repaired"
"""The mark of a text in which a lone surrogate, which no file can hold, became U+FFFD."""

_MAX_DIGITS = 4300
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},:]|[^\s\[\]{},:"]++', re.DOTALL)
_COMMENT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|(?P<comment>//[^\n]*+|/\*.*?\*/)', re.DOTALL)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class _RefusedError(ValueError):
    """The standard library would accept what stands here."""


def parse_json(text: str, *, path: Path, first_line: int = 1) -> tuple[JsonValue, bool]:
    """A JSON text as a value."""
    # Refused beyond what JSON's grammar refuses: NaN and infinities, numbers too large to hold, a
    # key given twice, nesting deeper than `MAX_DEPTH`.
    try:
        value: JsonValue = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise _syntax_error(error, path=path, first_line=first_line) from None
    except (ValueError, RecursionError):
        _raise_fault(text, path=path, first_line=first_line)
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_too_deep(value):
        _raise_fault(text, path=path, first_line=first_line)
    if _SURROGATE_ESCAPE.search(text) is None:
        return value, False
    try:
        repaired = _repair(value)
    except _RefusedError as error:
        raise DatasetError(str(error), path=path, line=first_line) from None
    return repaired, repaired != value


def without_comments(text: str) -> str:
    """A JSON text with `// …` and `/* … */` blanked out; every other character keeps its place."""
    if "//" not in text and "/*" not in text:
        return text
    return _COMMENT.sub(_blanked, text)


def _blanked(found: re.Match[str]) -> str:
    if found["comment"] is None:
        return found.group()
    return re.sub(r"[^\n]", " ", found.group())


def json_lines(text: str, *, max_depth: int = MAX_DEPTH) -> dict[KeyPath, int]:
    """The line of every value of a sound JSON text; for a field, that of its key."""
    lines: dict[KeyPath, int] = {}
    line, seen = 1, 0
    for where, offset, _ in _places(text):
        if len(where) <= max_depth:
            line += text.count("\n", seen, offset)
            seen = offset
            lines.setdefault(where, line)
    return lines


def _pairs(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RefusedError
    return found


def _finite(token: str) -> float:
    number = float(token)
    if math.isinf(number):
        raise _RefusedError
    return number


def _refuse(token: str) -> NoReturn:
    raise _RefusedError(token)


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_float=_finite, parse_constant=_refuse)


def _syntax_error(error: json.JSONDecodeError, *, path: Path, first_line: int) -> DatasetError:
    rest = error.doc[error.pos : error.pos + 20]
    hint = None
    if rest.startswith("'"):
        hint = "JSON texts and keys stand in double quotes"
    elif rest.startswith(("]", "}")):
        hint = "is there a comma too many before it?"
    elif re.match(r"True|False|None", rest):
        hint = "JSON writes true, false and null"
    elif error.msg.startswith("Extra data"):
        hint = "a file with one object a line is named .jsonl"
    return DatasetError(
        f"not JSON: {error.msg} (column {error.colno})",
        path=path,
        line=first_line + error.lineno - 1,
        hint=hint,
    )


def _raise_fault(text: str, *, path: Path, first_line: int) -> NoReturn:
    """Say where the text holds what the decoder's hooks refused."""
    offset, message = _find_fault(text)
    column = offset - text.rfind("\n", 0, offset)
    line = first_line + text.count("\n", 0, offset)
    raise DatasetError(f"{message} (column {column})", path=path, line=line)


def _find_fault(text: str) -> tuple[int, str]:
    seen: set[KeyPath] = set()
    for where, offset, token in _places(text):
        if token in {"[", "{"} and len(where) >= MAX_DEPTH:
            return offset, f"nested deeper than {MAX_DEPTH} levels"
        if token is None:
            if where in seen:
                return offset, f"the key {where[-1]!r} stands twice in the same object"
            seen.add(where)
        elif complaint := _number_fault(token):
            return offset, complaint
    return 0, "not JSON that can be read"


def _number_fault(token: str) -> str | None:
    if token in {"NaN", "Infinity", "-Infinity"}:
        return f"{token} is not JSON; leave out what is missing, or write null"
    if token[0] not in "-0123456789":
        return None
    if len(token) > _MAX_DIGITS and token.lstrip("-").isdigit():
        return "a number with too many digits"
    number = _NUMBER.match(token)
    is_too_large = number is not None and math.isinf(float(number.group()))
    return "a number too large to hold" if is_too_large else None


def _places(text: str) -> Iterator[tuple[KeyPath, int, str | None]]:
    """Path, offset and first token of every value; for a key the token is None."""
    # It trusts the text to be JSON up to the place that is looked for.
    where: list[str | int] = []
    at_key = False
    for match in _TOKEN.finditer(text):
        piece = match.group()
        if piece in "]}":
            del where[-1:]
        elif piece == ",":
            at_key = bool(where) and isinstance(where[-1], str)
            if where and isinstance(where[-1], int):
                where[-1] += 1
        elif piece == ":":
            at_key = False
        elif at_key and where:
            where[-1] = _key(piece)
            yield tuple(where), match.start(), None
        else:
            yield tuple(where), match.start(), piece
            if piece in "[{":
                at_key = piece == "{"
                where.append("" if at_key else 0)


def _key(token: str) -> str:
    try:
        found = json.loads(token)
    except (ValueError, RecursionError):
        return token
    # Behind a number that was refused, the text need not be JSON.
    return _SURROGATE.sub("\ufffd", found) if isinstance(found, str) else token


def _is_too_deep(value: JsonValue) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _repair(value: JsonValue) -> JsonValue:
    """The value with every lone surrogate replaced; pairs were joined by the decoder."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_repair(item) for item in value]
    if isinstance(value, dict):
        return _repaired_fields(value)
    return value


def _repaired_fields(fields: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    found = {_SURROGATE.sub("\ufffd", key): _repair(item) for key, item in fields.items()}
    if len(found) != len(fields):
        raise _RefusedError("two keys differ only in lone surrogates, which no file can hold")
    return found
