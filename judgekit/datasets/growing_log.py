"""Reads a file of rows that another program appends to: each complete line once.

A file that is rotated (another one takes its name) is read to its end first; one that is truncated
is read from its beginning, after the rest of its copy, if it was copied (`copytruncate`). A last
line without its end is left for the next look, unless the file is finished.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from judgekit.errors import DatasetError
from judgekit.formats import MAX_LINE_BYTES
from judgekit.records import Count, Record

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
    offset: int
    """Its first byte in its file."""


class GrowingLog:
    """A file that grows.

    Attributes:
        position: What was read so far.
        n_lines: Lines read by this object.
        notes: What was lost or begun again, in words; emptied by whoever reports it.
    """

    def __init__(
        self,
        path: Path,
        position: LogPosition | None = None,
        *,
        max_line_bytes: int = MAX_LINE_BYTES,
    ) -> None:
        self._path = path
        self._max_line_bytes = max_line_bytes
        self._file: IO[bytes] | None = None
        self.position = position
        self.n_lines = 0
        self.notes: list[str] = []

    def read(self) -> Iterator[LogLine]:
        """The lines that were completed since the last look; nothing while there is no file."""
        try:
            while self._file is not None or self._open():
                yield from self._lines()
                following = self._following()
                if following is None:
                    return
                # What was appended between the last line read and the rotation is in this file.
                yield from self._lines(is_finished=True)
                self.close()
                self._file = following.open("rb")
                self.position = _begin(self._file)
        except FileNotFoundError:  # rotated away meanwhile: the next look finds what is there
            return
        except OSError as error:
            reason = error.strerror or str(error)
            raise DatasetError(f"cannot be read: {reason}", path=self._path) from error

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
            if before is not None and _is_file(file, before) and _has_head(file, before):
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
        # Only names that rotation gives: an index or a packed file beside it is no part of the log.
        rotated = re.compile(rf"{re.escape(self._path.name)}(?:[.\-_]\d[\d\-_.:T]*)?")
        found: list[tuple[bool, int, Path]] = []
        for path in self._path.parent.glob(f"{self._path.name}*"):
            with suppress(FileNotFoundError):  # rotated away since it was listed
                if rotated.fullmatch(path.name) and path.is_file():
                    found.append((path == self._path, path.stat().st_mtime_ns, path))
        return [path for *_, path in sorted(found)]

    def _following(self) -> Path | None:
        """The file that took over the name after the one that is read; None if it still has it."""
        own = self.position
        family = self._family()
        if self._path not in family:
            return None
        places = [
            place
            for place, path in enumerate(family)
            if own is not None and _identity(path.stat()) == (own.device, own.inode)
        ]
        # A file that was deleted after its rotation is followed by the present one.
        later = family[places[0] + 1 :] if places else family[family.index(self._path) :]
        # While the next file is empty, the program may still write into this one.
        return next((path for path in later if path.stat().st_size), None)

    def _lines(self, *, is_finished: bool = False) -> Iterator[LogLine]:
        if self._file is not None and self.position is not None:
            self._notice_truncation(self._file, self.position)
        file, position = self._file, self.position
        if file is None or position is None:
            return
        file.seek(position.offset)
        while raw := self._next(file, is_finished=is_finished):
            offset = file.tell()
            start = offset - len(raw)
            # Before the line is handed on: whoever stores the position has taken the line.
            position = self.position = _grown(file, position.model_copy(update={"offset": offset}))
            file.seek(offset)
            self.n_lines += 1
            yield LogLine(raw.rstrip(b"\r\n"), start)

    def _next(self, file: IO[bytes], *, is_finished: bool) -> bytes:
        """The next complete line that is not too long; empty where there is none."""
        most = self._max_line_bytes
        while True:
            start = file.tell()
            raw = file.readline(most + 1)
            if raw.endswith(b"\n") or (is_finished and len(raw) <= most):
                return raw
            if len(raw) <= most:
                return b""
            # A file without line ends must not fill the memory.
            while raw and not raw.endswith(b"\n"):
                raw = file.readline(most)
            if not raw and not is_finished:
                return b""
            self.notes.append(
                f"{self._path.name}: the line at byte {start:,} is left out: it is longer than "
                f"{most:,} bytes"
            )
            if self.position is not None:
                update = {"offset": file.tell()}
                self.position = self.position.model_copy(update=update)

    def _notice_truncation(self, file: IO[bytes], position: LogPosition) -> None:
        """Begin again where the file no longer has what was read, with the rest of its copy."""
        if _size(file) >= position.offset and _has_head(file, position):
            return
        for path in self._family() if position.n_head else ():
            copy = path.open("rb")
            if path != self._path and _size(copy) >= position.offset and _has_head(copy, position):
                # From here on it is as if the file had been renamed.
                self.close()
                self._file, begin = copy, _begin(copy)
                update = {"device": begin.device, "inode": begin.inode}
                self.position = position.model_copy(update=update)
                return
            copy.close()
        self.notes.append(f"{self._path.name} was truncated: it is read from its beginning")
        self.position = _begin(file)


def is_sampled(raw: bytes, rate: float, seed: int = 0) -> bool:
    """Whether a line belongs to a sample of a rate: by its content, so that every reader agrees."""
    print_ = hashlib.sha256(f"{seed}:".encode() + raw).digest()
    return int.from_bytes(print_[:8]) < rate * _FULL


def _begin(file: IO[bytes]) -> LogPosition:
    device, inode = _identity(os.fstat(file.fileno()))
    return LogPosition(device=device, inode=inode, offset=0, head=_head(file, 0), n_head=0)


def _identity(found: os.stat_result) -> tuple[int, int]:
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


def _is_file(file: IO[bytes], position: LogPosition) -> bool:
    return _identity(os.fstat(file.fileno())) == (position.device, position.inode)


def _has_head(file: IO[bytes], position: LogPosition) -> bool:
    return _size(file) >= position.n_head and _head(file, position.n_head) == position.head
