"""Reads a file of rows that another program appends to: each complete line once.

A file that is rotated (another one takes its name) is read to its end first; one that is truncated
is read from its beginning. A last line without its end is left for the next look.
"""

from __future__ import annotations

import hashlib
import os
from typing import IO, TYPE_CHECKING, NamedTuple

from judgekit.records import Count, Record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HEAD_BYTES = 256
_FULL = 2**64


class LogPosition(Record):
    """How far a file was read, and which file it was: its name may have passed to another one."""

    device: int
    inode: int
    offset: Count
    head: str
    """Fingerprint of its first bytes: a file system gives the number of a deleted file again."""

    n_head: Count


class LogLine(NamedTuple):
    """A complete line, without its end."""

    raw: bytes
    number: int


class GrowingLog:
    """A file that grows.

    Attributes:
        position: What was read so far.
        n_lines: Lines read by this object.
        notes: What was lost or begun again, in words; emptied by whoever reports it.
    """

    def __init__(self, path: Path, position: LogPosition | None = None) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        self.position = position
        self.n_lines = 0
        self.notes: list[str] = []

    def read(self) -> Iterator[LogLine]:
        """The lines that were completed since the last look; nothing while there is no file."""
        while self._file is not None or self._open():
            yield from self._lines()
            following = self._following()
            if following is None:
                return
            # What was appended between the last line read and the rotation is in this file.
            yield from self._lines()
            self.close()
            self._file = following.open("rb")
            self.position = _begin(self._file)

    def close(self) -> None:
        """Close the file; `position` stays."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> bool:
        """Open the file that was read before, whatever its name, else the one of this name."""
        before = self.position
        for path in self._family() if before is not None else ():
            file = path.open("rb")
            if before is not None and _is_same(file, before):
                self._file = file
                return True
            file.close()
        try:
            self._file = self._path.open("rb")
        except FileNotFoundError:
            return False
        self.position = _begin(self._file)
        if before is not None:
            self.notes.append(
                f"{self._path.name} is another file than the one read before, which is gone: it is "
                "read from its beginning"
            )
        return True

    def _family(self) -> list[Path]:
        """The file and those that had its name before (`log.jsonl.1`), the oldest first."""
        found = [path for path in self._path.parent.glob(f"{self._path.name}*") if path.is_file()]
        return sorted(found, key=lambda path: (path == self._path, path.stat().st_mtime_ns))

    def _following(self) -> Path | None:
        """The file that took over the name after the one that is read; None if it still has it."""
        own = self.position
        family = self._family()
        places = [
            place
            for place, path in enumerate(family)
            if own is not None and _identity(path) == (own.device, own.inode)
        ]
        # A file that was deleted after its rotation is followed by the present one.
        later = family[places[0] + 1 :] if places else family[-1:]
        return later[0] if later else None

    def _lines(self) -> Iterator[LogLine]:
        file, position = self._file, self.position
        if file is None or position is None:
            return
        if _size(file) < position.offset:
            self.notes.append(f"{self._path.name} was truncated: it is read from its beginning")
            position = position.model_copy(update={"offset": 0})
        file.seek(position.offset)
        while (raw := file.readline()).endswith(b"\n"):
            offset = position.offset + len(raw)
            # Before the line is handed on: whoever stores the position has taken the line.
            position = self.position = _grown(file, position.model_copy(update={"offset": offset}))
            file.seek(offset)
            self.n_lines += 1
            yield LogLine(raw.rstrip(b"\r\n"), self.n_lines)
        self.position = position


def is_sampled(raw: bytes, rate: float, seed: int = 0) -> bool:
    """Whether a line belongs to a sample of a rate: by its content, so that every reader agrees."""
    print_ = hashlib.sha256(f"{seed}:".encode() + raw).digest()
    return int.from_bytes(print_[:8]) < rate * _FULL


def _begin(file: IO[bytes]) -> LogPosition:
    found = os.fstat(file.fileno())
    return LogPosition(
        device=found.st_dev, inode=found.st_ino, offset=0, head=_head(file, 0), n_head=0
    )


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def _grown(file: IO[bytes], position: LogPosition) -> LogPosition:
    """The position with a fingerprint of more first bytes, once there are more."""
    if position.n_head == _HEAD_BYTES:
        return position
    n_head = min(_HEAD_BYTES, position.offset)
    return position.model_copy(update={"head": _head(file, n_head), "n_head": n_head})


def _head(file: IO[bytes], n: int) -> str:
    file.seek(0)
    return hashlib.sha256(file.read(n)).hexdigest()


def _size(file: IO[bytes]) -> int:
    return file.seek(0, 2)


def _is_same(file: IO[bytes], position: LogPosition) -> bool:
    found = _begin(file)
    is_named = (found.device, found.inode) == (position.device, position.inode)
    return (
        is_named
        and _size(file) >= position.n_head
        and (_head(file, position.n_head) == position.head)
    )
