"""Reads single files out of a zip that may be hostile: limits are held, nothing is unpacked."""

from __future__ import annotations

import lzma
import stat
import struct
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.datasets.foreign.attachments import (
    MAX_FILE_BYTES,
    AttachmentError,
    MissingAttachmentError,
    safe_name,
)
from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_ZIP_BYTES = 256 * 2**20
"""The largest zip that is opened."""

MAX_ENTRIES = 10_000
"""How many files and folders a zip may hold."""

MAX_UNPACKED_BYTES = 2**30
"""What all its files may come to, as it declares them."""

MAX_RATIO = 1_000
"""How many times larger than packed a file may be; text packs 3 to 20 times."""

_RATIO_FREE_BYTES = 2**20
_CHUNK = 2**16
_END = b"PK\x05\x06"
_WIDE_END = b"PK\x06\x07"
_END_BYTES = 22
_WIDE_END_BYTES = 20
_LONGEST_COMMENT = 2**16
_ENCRYPTED = 0x1
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, NotImplementedError,
    RuntimeError, ValueError, KeyError, IndexError, OverflowError, struct.error,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ZipAttachments:
    """Files in a zip, below one of its folders."""

    path: Path
    """The zip."""

    prefix: str = ""
    """The folder in it, with `/` at its end; empty for its root."""

    def read(self, name: str) -> bytes:
        """The content of a file, as `Attachments.read`."""
        try:
            with opened(self.path) as archive:
                return read_member(archive, self.prefix + name)
        except DatasetError as error:
            raise AttachmentError(error.message, error.hint) from error


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """A zip whose list of files has been found harmless."""
    try:
        n_entries = _declared_entries(path)
        if n_entries > MAX_ENTRIES:
            raise DatasetError(
                f"the zip holds {n_entries} files, more than {MAX_ENTRIES}", path=path
            )
        with zipfile.ZipFile(path) as archive:
            _check(archive, path)
            yield archive
    except FileNotFoundError as error:
        raise DatasetError("there is no such file", path=path) from error
    except _DAMAGE as error:
        reason = str(error) or type(error).__name__
        raise DatasetError(f"not a sound zip: {reason}", path=path) from error


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """The content of one file of a zip; what it declares is not trusted."""
    if name not in archive.NameToInfo:
        raise MissingAttachmentError(f"there is no file {name!r} in {archive.filename}")
    parts: list[bytes] = []
    n_bytes = 0
    try:
        with archive.open(name) as stream:
            while part := stream.read(_CHUNK):
                n_bytes += len(part)
                if n_bytes > MAX_FILE_BYTES:
                    raise AttachmentError(
                        f"the file {name!r} unpacks to more than {MAX_FILE_BYTES >> 20} MiB"
                    )
                parts.append(part)
    except _DAMAGE as error:
        raise AttachmentError(f"the file {name!r} is damaged: {error}") from error
    return b"".join(parts)


def _declared_entries(path: Path) -> int:
    """How many entries the zip's end names; read first, since the library lists them all."""
    # A zip of the 64-bit kind has no such number here and is refused.
    size = path.stat().st_size
    if size > MAX_ZIP_BYTES:
        raise DatasetError(f"the zip is larger than {MAX_ZIP_BYTES >> 20} MiB", path=path)
    with path.open("rb") as stream:
        stream.seek(max(0, size - _END_BYTES - _LONGEST_COMMENT - _WIDE_END_BYTES))
        tail = stream.read()
    if _WIDE_END in tail:
        raise DatasetError("the zip is of the 64-bit kind, which is not read", path=path)
    # The library takes the last 22 bytes or, failing that, the last mark; both are looked at.
    ends = {len(tail) - _END_BYTES, tail.rfind(_END)}
    counts = [
        struct.unpack_from("<H", tail, end + 10)[0]
        for end in ends
        if end >= 0 and tail[end : end + 4] == _END and end + _END_BYTES <= len(tail)
    ]
    return max(counts, default=0)


def _check(archive: zipfile.ZipFile, path: Path) -> None:
    infos = archive.infolist()
    if len(infos) > MAX_ENTRIES:
        raise DatasetError(f"the zip holds more than {MAX_ENTRIES} files", path=path)
    if sum(info.file_size for info in infos) > MAX_UNPACKED_BYTES:
        raise DatasetError(
            f"the zip unpacks to more than {MAX_UNPACKED_BYTES >> 20} MiB", path=path
        )
    for info in infos:
        if complaint := _complaint(info):
            raise DatasetError(complaint, path=path, hint="pack the skill's folder anew")
    names = [info.filename for info in infos]
    if len(set(names)) != len(names):
        raise DatasetError("the zip holds two files of the same name", path=path)


def _complaint(info: zipfile.ZipInfo) -> str | None:
    name = info.filename
    if info.flag_bits & _ENCRYPTED:
        return f"the file {name!r} is encrypted; keys and passwords are not taken"
    if stat.S_ISLNK(info.external_attr >> 16):
        return f"{name!r} is a link, which may lead anywhere"
    large = info.file_size > max(_RATIO_FREE_BYTES, MAX_RATIO * info.compress_size)
    if info.file_size > MAX_FILE_BYTES or large:
        return f"the file {name!r} unpacks to {info.file_size} bytes from {info.compress_size}"
    try:
        safe_name(name)
    except AttachmentError as error:
        return str(error)
    return None
