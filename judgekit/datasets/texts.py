"""How the bytes of a file become text: opened, limited, decoded, with every bad byte named."""

from __future__ import annotations

import difflib
import gzip
import os
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DOCUMENT_BYTES = 256 * 2**20
"""The largest JSON or YAML document; rows in JSONL, CSV and Parquet have no such limit."""

MAX_LINE_BYTES = 64 * 2**20
"""The longest line of a JSONL or CSV file."""

_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file, its line end included."""

    number: int
    """Counted from 1."""

    text: str
    """The decoded text, without a byte order mark."""


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """A file opened for reading bytes; one whose name ends in `.gz` is decompressed."""
    try:
        packed = path.suffix.lower() == ".gz"
        with gzip.open(path, "rb") if packed else path.open("rb") as stream:
            yield cast("BinaryIO", stream)
    except FileNotFoundError as error:
        raise DatasetError("there is no such file", path=path, hint=_near_files(path)) from error
    except IsADirectoryError as error:
        raise DatasetError("this is a folder, not a file", path=path) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DatasetError(f"damaged gzip file: {error}", path=path) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DatasetError(f"cannot be read: {reason}", path=path) from error


def read_text(path: Path) -> str:
    """The whole text of a file."""
    with open_file(path) as stream:
        raw = stream.read(MAX_DOCUMENT_BYTES + 1)
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise DatasetError(
            f"larger than {MAX_DOCUMENT_BYTES >> 20} MiB",
            path=path,
            hint="write it as JSONL, one object a line; that is read piece by piece",
        )
    return decode(raw, path=path)


def iter_lines(path: Path) -> Iterator[Line | DatasetError]:
    """The lines of a file, one in memory at a time."""
    # A line that is not UTF-8 is given as the error it is, and the next lines follow.
    with open_file(path) as stream:
        number, offset = 0, 0
        while raw := stream.readline(MAX_LINE_BYTES + 1):
            number += 1
            if len(raw) > MAX_LINE_BYTES:
                message = f"a line longer than {MAX_LINE_BYTES >> 20} MiB"
                raise DatasetError(message, path=path, line=number)
            try:
                yield Line(number, decode(raw, path=path, line=number, offset=offset))
            except DatasetError as error:
                if offset == 0 and looks_like_utf16(raw):
                    raise
                yield error
            offset += len(raw)


def decode(raw: bytes, *, path: Path, line: int | None = None, offset: int = 0) -> str:
    """Bytes as UTF-8 text, strictly."""
    if offset == 0 and looks_like_utf16(raw):
        raise DatasetError("this file is UTF-16", path=path, hint="save it as UTF-8")
    n_dropped = len(_BOM) if offset == 0 and raw.startswith(_BOM) else 0
    nul = raw.find(b"\0")
    if nul >= 0:
        raise _bad_byte("a NUL byte", raw, nul, path=path, line=line, offset=offset)
    try:
        return raw[n_dropped:].decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start + n_dropped
        what = f"the byte 0x{raw[at]:02x}, which is not UTF-8,"
        raise _bad_byte(what, raw, at, path=path, line=line, offset=offset) from error


def looks_like_utf16(raw: bytes) -> bool:
    """Whether bytes begin as UTF-16 text does: with its mark, or a NUL beside an ASCII byte."""
    head = raw[:2]
    half_empty = len(head) == len(_UTF16_BOMS[0]) and (head[0] == 0) != (head[1] == 0)
    return head in _UTF16_BOMS or half_empty


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
    """Names like the missing one in the same folder."""
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except (OSError, ValueError):
        return None
    near = difflib.get_close_matches(path.name, names, n=3)
    return f"did you mean {' or '.join(near)}?" if near else None


def as_path(path: Path | str) -> Path:
    """A path from what a caller gives."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def is_folder(path: Path) -> bool:
    """Whether there is a folder; what cannot be a path, or be looked at, is none."""
    return os.path.isdir(path)  # noqa: PTH112 - as the docstring says


def is_file(path: Path) -> bool:
    """Whether there is a file; what cannot be a path, or be looked at, is none."""
    return os.path.isfile(path)  # noqa: PTH113 - as for folders


def is_archive(path: Path) -> bool:
    """Whether a path is named as a zip."""
    return path.suffix.lower() == ".zip" and not is_folder(path)
