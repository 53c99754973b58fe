"""Bytes to text, and text to strict JSON, with the line of every fault; escapes formulas."""

from __future__ import annotations

import codecs
import difflib
import gzip
import json
import math
import os
import re
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from io import BufferedReader, BytesIO
from pathlib import Path
from types import ModuleType
from typing import IO, Literal, NamedTuple, NoReturn, cast

from pydantic import JsonValue

from judgekit.errors import DatasetError
from judgekit.extras import require_package

MAX_DOCUMENT_BYTES = 256 * 2**20
_PIECE_BYTES = 2**20
"""The largest JSON or YAML document; rows in JSONL, CSV and Parquet have no such limit."""

MAX_LINE_BYTES = 64 * 2**20
_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
_HEAD_BYTES = 32


def javascript_text(value: JsonValue) -> str:
    """A value as a JavaScript template prints it, but for objects, which are JSON here."""
    if value is None:
        return ""
    if isinstance(value, list):
        return ",".join(map(javascript_text, value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class TextLine(NamedTuple):
    """One line of a file, its line end included, without a byte order mark."""

    number: int  # counted from 1
    text: str


@dataclass(slots=True)
class TextInPlace:
    """A text that is read in the place of a file."""

    path: Path
    content: bytes
    is_read: bool = False


# A variable of the context, so that neither another thread nor another task sees the text.
_typed: ContextVar[TextInPlace | None] = ContextVar("typed", default=None)


@contextmanager
def text_in_place(path: Path, text: str) -> Iterator[TextInPlace]:
    """Read a text wherever this thread or task reads a file, which is not written."""
    # An editor checks with it what was not saved yet, by the same functions as what was.
    try:
        typed = TextInPlace(path.resolve(), text.encode())
    except UnicodeEncodeError as error:
        what = "half of a character that takes two code units, which no file can hold"
        line = text.count("\n", 0, error.start) + 1
        raise DatasetError(what, path=path, line=line) from error
    before = _typed.set(typed)
    try:
        yield typed
    finally:
        _typed.reset(before)


def typed_content(path: Path) -> bytes | None:
    """What is read in the place of a file; None where the file itself is."""
    typed = _typed.get()
    if typed is None or typed.path != path.resolve():
        return None
    typed.is_read = True
    return typed.content


@contextmanager
def packed_stream(file: IO[bytes], name: str, mode: Literal["rb", "wb"]) -> Iterator[IO[bytes]]:
    """A stream that packs or unpacks a file named .gz or .zst; `EOFError` where it is damaged."""
    suffix = Path(name).suffix.lower()
    if suffix == ".gz":
        with gzip.GzipFile("", mode, fileobj=file, mtime=0) as packed:
            yield cast("IO[bytes]", packed)
    elif suffix == ".zst":
        zstd = _zstd()
        try:
            with zstd.ZstdFile(file, mode) as packed:
                yield packed
        except zstd.ZstdError as error:
            raise EOFError(str(error)) from error
    else:
        yield file


def _zstd() -> ModuleType:
    if sys.version_info >= (3, 14):
        return import_module("compression.zstd")
    require_package("backports.zstd", "a .zst file")
    return import_module("backports.zstd")


@contextmanager
def open_file(path: Path) -> Iterator[BufferedReader]:
    """A file opened for reading bytes; one whose name ends in `.gz` or `.zst` is decompressed."""
    if (typed := typed_content(path)) is not None:
        yield BufferedReader(BytesIO(typed))
        return
    try:
        with path.open("rb") as file, packed_stream(file, path.name, "rb") as stream:
            yield cast("BufferedReader", stream)
    except FileNotFoundError as error:
        raise DatasetError("there is no such file", path=path, hint=_near_files(path)) from error
    except IsADirectoryError as error:
        raise DatasetError("this is a folder, not a file", path=path) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        kind = "Zstandard" if path.suffix.lower() == ".zst" else "gzip"
        raise DatasetError(f"damaged {kind} file: {error}", path=path) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DatasetError(f"cannot be read: {reason}", path=path) from error


def read_text(path: Path) -> str:
    # In pieces, since the size of a packed file is not known before, and a single read would
    # reserve all that is allowed.
    pieces, n_left = [], MAX_DOCUMENT_BYTES + 1
    with open_file(path) as stream:
        while n_left > 0 and (piece := stream.read(min(n_left, _PIECE_BYTES))):
            pieces.append(piece)
            n_left -= len(piece)
    raw = b"".join(pieces)
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise DatasetError(
            f"larger than {MAX_DOCUMENT_BYTES >> 20} MiB",
            path=path,
            hint="write it as JSONL, one object a line; that is read piece by piece",
        )
    return decode_utf8(raw, path=path)


def iter_lines(path: Path) -> Iterator[TextLine | DatasetError]:
    """The lines of a file, one in memory at a time."""
    # A line that is not UTF-8 is given as the error it is, and the next lines follow.
    with open_file(path) as stream:
        _refuse_binary(stream.peek(_HEAD_BYTES), path)
        number, offset = 0, 0
        while raw := stream.readline(MAX_LINE_BYTES + 1):
            number += 1
            if len(raw) > MAX_LINE_BYTES:
                message = f"a line longer than {MAX_LINE_BYTES >> 20} MiB"
                raise DatasetError(message, path=path, line=number)
            try:
                yield TextLine(number, decode_utf8(raw, path=path, line=number, offset=offset))
            except DatasetError as error:
                yield error
            offset += len(raw)


def decode_utf8(raw: bytes, *, path: Path, line: int | None = None, offset: int = 0) -> str:
    """Bytes as UTF-8 text, strictly."""
    if offset == 0:
        _refuse_binary(raw, path)
    n_dropped = len(_BOM) if offset == 0 and raw.startswith(_BOM) else 0
    # NUL is valid UTF-8, but databases and terminals cut texts off at it.
    nul = raw.find(b"\0")
    if nul >= 0:
        raise _bad_byte("a NUL byte", raw, nul, path=path, line=line, offset=offset)
    try:
        return raw[n_dropped:].decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start + n_dropped
        what = f"the byte 0x{raw[at]:02x}, which is not UTF-8,"
        raise _bad_byte(what, raw, at, path=path, line=line, offset=offset) from error


def _refuse_binary(raw: bytes, path: Path) -> None:
    """Refuse a file whose first bytes are no UTF-8 text, once and not for each of its lines."""
    head = raw[:_HEAD_BYTES]
    pairs = list(zip(head[::2], head[1::2], strict=False))
    # An ASCII character in UTF-16 is one byte and a NUL.
    n_half_empty = sum((one == 0) != (other == 0) for one, other in pairs)
    if head[:2] in _UTF16_BOMS or n_half_empty > len(pairs) * 3 / 4:
        raise DatasetError("this file is UTF-16", path=path, hint="save it as UTF-8")
    # A text may have one wrong byte by mistake, and control characters.
    is_text = b"\0" not in head and _is_utf8(head)
    if not is_text and sum(byte < ord(" ") and byte not in b"\t\n\r\f" for byte in head) > 1:
        raise DatasetError("this is a binary file, not text", path=path)


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # its last character may be cut off
    except UnicodeDecodeError:
        return False
    return True


def _bad_byte(
    what: str, raw: bytes, at: int, *, path: Path, line: int | None, offset: int
) -> DatasetError:
    where = line if line is not None else raw.count(b"\n", 0, at) + 1
    return DatasetError(
        f"{what} at byte {offset + at} of the file",
        path=path,
        line=where,
        hint="save the file as UTF-8; nothing is replaced in silence",
    )


def _near_files(path: Path) -> str | None:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except (OSError, ValueError):
        return None
    near = difflib.get_close_matches(path.name, names, n=3)
    return f"did you mean {' or '.join(near)}?" if near else None


def as_path(path: Path | str) -> Path:
    """A path from the argument of a caller, with `~` expanded."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def folder_exists(path: Path) -> bool:
    """Whether there is a folder; False for what cannot be a path."""
    return os.path.isdir(path)  # noqa: PTH112 - as the docstring says


def file_exists(path: Path) -> bool:
    """Whether there is a file; False for what cannot be a path."""
    return os.path.isfile(path)  # noqa: PTH113 - as for folders


ARCHIVE_SUFFIXES = (".zip", ".eval")


def is_archive(path: Path) -> bool:
    """Whether a path is named as a zip, or as a log of inspect_ai, which is one."""
    return path.suffix.lower() in ARCHIVE_SUFFIXES and not folder_exists(path)


KeyPath = tuple[str | int, ...]
"""Where a value stands in a document: keys and list positions from the root."""


# Files of other tools may hold any value at any place; what does not belong there counts as empty.
def as_mapping(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def as_items(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def objects_in(value: JsonValue) -> list[dict[str, JsonValue]]:
    return [item for item in as_items(value) if isinstance(item, dict)]


def one_or_several(value: JsonValue) -> list[JsonValue]:
    """The items of a list, or another value alone."""
    return value if isinstance(value, list) else [value]


def without_nulls(fields: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: value for name, value in fields.items() if value is not None}


MAX_JSON_DEPTH = 100
TEXT_REPAIRED = "text_repaired"
"""The mark of a text in which a lone surrogate, which no file can hold, became U+FFFD."""

# Python itself refuses to convert more digits (CVE-2020-10735).
_MAX_DIGITS = 4300
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")

# Possessive quantifiers (`*+`) keep the search linear on hostile texts.
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]|[^\s\[\]{},:"]++', re.DOTALL)
_COMMENT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|(?P<comment>//[^\n]*+|/\*.*?\*/)', re.DOTALL)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class _RefusedError(ValueError):
    """The standard library would accept what stands here."""


def parse_strict_json(text: str, *, path: Path, first_line: int = 1) -> tuple[JsonValue, bool]:
    # Refused beyond what JSON's grammar refuses: NaN and infinities, numbers too large to hold, a
    # key given twice, nesting deeper than `MAX_DEPTH`.
    try:
        value: JsonValue = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise _syntax_error(error, path=path, first_line=first_line) from None
    except (ValueError, RecursionError):
        raise _fault(text, path=path, first_line=first_line) from None
    # Cheap to count, and most texts need no closer look.
    if text.count("[") + text.count("{") > MAX_JSON_DEPTH and _is_too_deep(value):
        raise _fault(text, path=path, first_line=first_line)
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
    return _COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]) if m["comment"] else m[0], text)


@dataclass(frozen=True, slots=True)
class ValueSpan:
    """Where a value stands in the text of a document."""

    start: int
    end: int
    key: int | None  # where its key begins; None for an item of a list, and for the whole
    is_flow: bool = True  # whether it is in brackets or has them; in JSON everything does
    column: int | None = None  # where the lines of a list or a mapping without brackets begin


def json_spans(text: str) -> dict[KeyPath, ValueSpan]:
    spans: dict[KeyPath, ValueSpan] = {}
    keys: dict[KeyPath, int] = {}
    values: dict[int, KeyPath] = {}
    for where, offset, token in _places(text):
        if token is None:
            keys[where] = offset
        else:
            values[offset] = where
    unclosed: list[tuple[KeyPath, int]] = []
    # Closing brackets are no places of values.
    for match in _TOKEN.finditer(text):
        start, end, piece = match.start(), match.end(), match.group()
        if piece in "]}":
            where, start = unclosed.pop()
        elif start not in values:
            continue
        else:
            where = values[start]
            if piece in "[{":
                unclosed.append((where, start))
                continue
        spans[where] = ValueSpan(start, end, keys.get(where))
    return spans


def json_lines(text: str) -> dict[KeyPath, int]:
    """The line of every value of a valid JSON text; for a field, that of its key."""
    lines: dict[KeyPath, int] = {}
    line, counted = 1, 0
    for where, offset, _ in _places(text):
        line += text.count("\n", counted, offset)
        counted = offset
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


def _fault(text: str, *, path: Path, first_line: int) -> DatasetError:
    """What the decoder's hooks refused, with its place."""
    keys: set[KeyPath] = set()
    message: str | None = None
    for where, offset, token in _places(text):
        if token in {"[", "{"} and len(where) >= MAX_JSON_DEPTH:
            message = f"nested deeper than {MAX_JSON_DEPTH} levels"
        elif token is None and where in keys:
            message = f"the key {where[-1]!r} appears twice in the same object"
        elif token is None:
            keys.add(where)
        else:
            message = _number_fault(token)
        if message is not None:
            column = offset - text.rfind("\n", 0, offset)
            line = first_line + text.count("\n", 0, offset)
            return DatasetError(f"{message} (column {column})", path=path, line=line)
    return DatasetError("not JSON that can be read (column 1)", path=path, line=first_line)


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
    # The text must be JSON up to the place in question, so that commas and colons need no check.
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
    # Level by level: recursion would fail on the very texts that are looked for.
    level = [value]
    for _ in range(MAX_JSON_DEPTH):
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
    if not isinstance(value, dict):
        return value
    fields = {_SURROGATE.sub("\ufffd", key): _repair(item) for key, item in value.items()}
    if len(fields) != len(value):
        raise _RefusedError("two keys differ only in lone surrogates, which no file can hold")
    return fields


FORMULA_ESCAPE = "'"

# The signs that begin a formula (OWASP, "CSV Injection"), and their full-width forms, which some
# spreadsheets read in the same way.
_TRIGGERS = tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20")

# Spreadsheets skip some of these before a formula.
_INVISIBLE = (
    " \n\xa0\xad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff"
)


def escape_formula(text: str) -> str:
    """The text with a `'` before it where a spreadsheet might run it."""
    # A text that begins with `'` and then such a formula gets another, so that `unescape_formula`
    # gives every text back as it was.
    return FORMULA_ESCAPE + text if _is_formula(text.lstrip(FORMULA_ESCAPE)) else text


def unescape_formula(text: str) -> str:
    """The text as it was before `escape_formula`."""
    if text.startswith(FORMULA_ESCAPE) and _is_formula(text.lstrip(FORMULA_ESCAPE)):
        return text[len(FORMULA_ESCAPE) :]
    return text


def _is_formula(text: str) -> bool:
    return text.lstrip(_INVISIBLE).startswith(_TRIGGERS)
