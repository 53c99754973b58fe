"""Reads the files a case names, from a folder or a zip, and never one outside of it."""

from __future__ import annotations

import hashlib
import mimetypes
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from judgekit.records.record import JsonObject

MAX_SHOWN_BYTES = 2**20
"""The largest file whose text is given with a case; of a larger one, only what it is."""

MAX_FILE_BYTES = 64 * 2**20
"""The largest file that is looked at."""

MAX_SHELF_BYTES = 256 * 2**20
"""What all files of a dataset may come to."""

_TYPES = mimetypes.MimeTypes()  # without the machine's own lists, which differ

MAX_CASE_FILES = 100
"""How many files one case may name."""


class AttachmentError(Exception):
    """A file that a case names cannot be taken; `str()` says why."""

    def __init__(self, message: str, remedy: str | None = None) -> None:
        super().__init__(message)
        self.remedy = remedy


class MissingAttachmentError(AttachmentError):
    """There is no such file."""


class Attachments(Protocol):
    """Where the files of cases lie."""

    def read(self, name: str) -> bytes:
        """The content of a file."""
        ...


@dataclass(frozen=True, slots=True)
class FolderAttachments:
    """Files in a folder; links that lead out of it are refused."""

    root: Path
    """The folder."""

    def read(self, name: str) -> bytes:
        """The content of a file, as `Attachments.read`."""
        try:
            path = (self.root / name).resolve()
            if not path.is_relative_to(self.root.resolve()):
                raise AttachmentError(f"the file {name!r} leads out of the folder {self.root}")
            if not path.is_file():
                raise MissingAttachmentError(f"there is no file {name!r} in {self.root}")
            with path.open("rb") as stream:
                content = stream.read(MAX_FILE_BYTES + 1)
        except (OSError, ValueError, RuntimeError) as error:
            raise AttachmentError(f"the file {name!r} cannot be read: {error}") from error
        if len(content) > MAX_FILE_BYTES:
            raise AttachmentError(f"the file {name!r} is larger than {MAX_FILE_BYTES >> 20} MiB")
        return content


def safe_name(name: str) -> str:
    """A file's path as it may be looked up."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in (path.parts or ("",))[0]:
        remedy = "name files by a path below the file that names them"
        raise AttachmentError(f"the path {name!r} leads out of its folder", remedy)
    if not path.parts or "\0" in name:
        raise AttachmentError(f"{name!r} is no path of a file")
    return path.as_posix()


@dataclass(slots=True)
class Shelf:
    """Files that cases name, each read once, all within `MAX_SHELF_BYTES`."""

    place: Attachments
    """Where they lie."""

    _kept: dict[str, JsonObject] = field(default_factory=dict)
    _n_bytes: int = 0

    def take(self, name: str) -> JsonObject:
        """A file as it is given with a case."""
        path = safe_name(name)
        if path not in self._kept:
            self._kept[path] = self._read(path)
        return {"file": name, **self._kept[path]}

    def _read(self, path: str) -> JsonObject:
        if self._n_bytes > MAX_SHELF_BYTES:
            limit = f"{MAX_SHELF_BYTES >> 20} MiB"
            raise AttachmentError(f"the files the cases name come to more than {limit}")
        content = self.place.read(path)
        self._n_bytes += len(content)
        text = _text(content)
        if text is not None:
            return {"text": text}
        return {
            "media_type": _TYPES.guess_type(path)[0] or "application/octet-stream",
            "n_bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }


def _text(content: bytes) -> str | None:
    if len(content) > MAX_SHOWN_BYTES or b"\0" in content:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
