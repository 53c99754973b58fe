"""Reads the files that cases name, from a folder or a zip only; finds a skill's test file."""

from __future__ import annotations

import hashlib
import lzma
import mimetypes
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol

from judgekit.errors import DatasetError
from judgekit.formats.documents import ParsedDocument, parse_document, read_document
from judgekit.formats.text import decode_utf8, file_exists, is_archive
from judgekit.records import JsonObject

# A case shows only type, size and checksum of a larger file: its text would fill the prompt.
MAX_SHOWN_BYTES = 2**20
MAX_FILE_BYTES = 64 * 2**20

# For all files of a dataset together, since they stay in memory.
MAX_ATTACHMENT_BYTES = 256 * 2**20
_TYPES = mimetypes.MimeTypes()  # without the machine's own lists, which differ
MAX_CASE_FILES = 100

# The folder beyond a file's own from which the files that it names may come.
_root: ContextVar[Path | None] = ContextVar("root", default=None)


@contextmanager
def files_below(root: Path | None) -> Iterator[None]:
    """Let files name others anywhere below a folder, and not in their own folder alone."""
    before = _root.set(None if root is None else root.resolve())
    try:
        yield
    finally:
        _root.reset(before)


class AttachmentError(Exception):
    """A file that a case names cannot be read; `str()` says why."""

    def __init__(self, message: str, remedy: str | None = None) -> None:
        super().__init__(message)
        self.remedy = remedy


class MissingAttachmentError(AttachmentError):
    """There is no such file."""


class Attachments(Protocol):
    """A place with the files of cases."""

    def read(self, name: str) -> bytes: ...


@dataclass(frozen=True, slots=True)
class FolderAttachments:
    """Files in a folder; links that lead out of it are refused."""

    root: Path

    def locate(self, name: str) -> Path:
        """The path of a file, which need not be there."""
        try:
            # After `resolve`, so that a link in the folder cannot lead out of it.
            path, root = (self.root / name).resolve(), self.root.resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise AttachmentError(f"the file {name[:80]!r} cannot be read: {error}") from error
        if not path.is_relative_to(_root.get() or root):
            raise AttachmentError(f"the file {name!r} leads out of the folder {self.root}")
        return path

    def read(self, name: str) -> bytes:
        path = self.locate(name)
        try:
            if not path.is_file():
                raise MissingAttachmentError(f"there is no file {name!r} in {self.root}")
            with path.open("rb") as stream:
                # One byte more than allowed shows that a file is too large without reading it all.
                content = stream.read(MAX_FILE_BYTES + 1)
        except (OSError, ValueError, RuntimeError) as error:
            raise AttachmentError(f"the file {name!r} cannot be read: {error}") from error
        if len(content) > MAX_FILE_BYTES:
            raise AttachmentError(f"the file {name!r} is larger than {MAX_FILE_BYTES >> 20} MiB")
        return content


def safe_file_name(name: str) -> str:
    """The path of a file, checked not to lead out of its folder."""
    # Files written on Windows name paths with backslashes, and mean the same file.
    path = PurePosixPath(name.replace("\\", "/"))
    is_outside = ".." in path.parts and _root.get() is None
    if path.is_absolute() or is_outside or ":" in (path.parts or ("",))[0]:
        remedy = "name files by a path below the file that names them"
        if is_outside:
            remedy += ", or let validate, plan, run or convert read above it with --root DIR"
        raise AttachmentError(f"the path {name!r} leads out of its folder", remedy)
    if not path.parts or "\0" in name:
        raise AttachmentError(f"{name!r} is no path of a file")
    return path.as_posix()


@dataclass(slots=True)
class AttachmentReader:
    """Reads files that cases name, each once, all within `MAX_ATTACHMENT_BYTES`."""

    place: Attachments
    _files: dict[str, JsonObject] = field(default_factory=dict)
    _n_bytes: int = 0

    def take(self, name: str) -> JsonObject:
        path = safe_file_name(name)
        if path in self._files:
            return {"file": name, **self._files[path]}
        if self._n_bytes > MAX_ATTACHMENT_BYTES:
            limit = f"{MAX_ATTACHMENT_BYTES >> 20} MiB"
            raise AttachmentError(f"the files the cases name are larger than {limit} in total")
        content = self.place.read(path)
        self._n_bytes += len(content)
        # A judge reads text; of any other file it gets type, size and checksum.
        shown: JsonObject = {
            "media_type": _TYPES.guess_type(path)[0] or "application/octet-stream",
            "n_bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        if len(content) <= MAX_SHOWN_BYTES and b"\0" not in content:
            with suppress(UnicodeDecodeError):
                shown = {"text": content.decode("utf-8-sig")}
        self._files[path] = shown
        return {"file": name, **shown}


MAX_ZIP_BYTES = 256 * 2**20
MAX_ENTRIES = 10_000

# For all files together, by the sizes that the zip itself declares.
MAX_UNPACKED_BYTES = 2**30

# How many times larger than packed a file may be; text packs 3 to 20 times.
MAX_RATIO = 1_000

# Small files may pack at any ratio: they cannot do harm.
_RATIO_FREE_BYTES = 2**20

# The marks and sizes are those of the ZIP specification (APPNOTE 4.3.14 to 4.3.16).
_END = b"PK\x05\x06"
_WIDE_END = b"PK\x06\x07"
_END_BYTES = 22
_WIDE_END_BYTES = 20
_LONGEST_COMMENT = 2**16
_ENCRYPTED = 0x1

# `zipfile` documents one of these; a damaged or hostile file can raise any of them.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, NotImplementedError,
    RuntimeError, ValueError, KeyError, IndexError, OverflowError, struct.error,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ZipAttachments:
    """Files in a zip, below one of its folders."""

    path: Path
    prefix: str = ""  # the folder in it, with a final `/`; empty for the root

    def read(self, name: str) -> bytes:
        try:
            with open_zip(self.path) as archive:
                return read_member(archive, self.prefix + name)
        except DatasetError as error:
            raise AttachmentError(error.message, error.hint) from error


@contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """A zip whose list of files has been checked."""
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
        raise DatasetError(f"not a valid zip: {reason}", path=path) from error


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """The content of one file of a zip; the size it declares is not trusted."""
    if name not in archive.NameToInfo:
        raise MissingAttachmentError(f"there is no file {name!r} in {archive.filename}")
    try:
        with archive.open(name) as stream:
            content = stream.read(MAX_FILE_BYTES + 1)
    except _DAMAGE as error:
        raise AttachmentError(f"the file {name!r} is damaged: {error}") from error
    if len(content) > MAX_FILE_BYTES:
        raise AttachmentError(f"the file {name!r} unpacks to more than {MAX_FILE_BYTES >> 20} MiB")
    return content


def _declared_entries(path: Path) -> int:
    """The number of entries in the zip's end record; read before the library lists them all."""
    # A zip of the 64-bit kind has no such number here and is refused.
    size = path.stat().st_size
    if size > MAX_ZIP_BYTES:
        raise DatasetError(f"the zip is larger than {MAX_ZIP_BYTES >> 20} MiB", path=path)
    with path.open("rb") as stream:
        stream.seek(max(0, size - _END_BYTES - _LONGEST_COMMENT - _WIDE_END_BYTES))
        tail = stream.read()
    if _WIDE_END in tail:
        raise DatasetError("the zip is of the 64-bit kind, which is not read", path=path)
    # The library takes the last 22 bytes or, failing that, the last mark; both are checked.
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
            raise DatasetError(complaint, path=path, hint="pack the skill's folder again")
    names = [info.filename for info in infos]
    # Readers disagree on which of two entries counts, so what was checked might not be what runs.
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
        safe_file_name(name)
    except AttachmentError as error:
        return str(error)
    return None


SKILL_TEST_FILES = ("eval/tests.json", "tests.json", "evals/evals.json", "evals.json")
"""Where a skill keeps its tests; the first that exists counts."""

_EVAL = "eval"


def skill_document(path: Path) -> ParsedDocument:
    if is_archive(path):
        return _zipped(path)
    name = next((name for name in SKILL_TEST_FILES if file_exists(path / name)), None)
    if name is None:
        raise _no_tests(path)
    if not (path / name).resolve().is_relative_to(path.resolve()):
        raise DatasetError("is a link that leads out of the folder", path=path / name)
    return read_document(path / name)


def attachments_of(document: Path) -> tuple[Attachments, str]:
    """The files that a test file names, and the folder it lies in below their root."""
    folder = document.parent
    inside = f"{_EVAL}/" if folder.name == _EVAL else ""
    root = folder.parent if inside else folder
    zipped = next((path for path in (root, root.parent) if is_archive(path)), None)
    if zipped is None or not file_exists(zipped):
        return FolderAttachments(root), inside
    prefix = "" if root == zipped else f"{root.name}/"
    return ZipAttachments(zipped, prefix), inside


def skill_name(document: Path) -> str:
    """The name of a skill's tests: its folder, its zip, or a test file with another name."""
    if document.stem != "tests":
        return document.stem
    folder = document.parent.parent if document.parent.name == _EVAL else document.parent
    name = folder.resolve().name if not folder.name else folder.name
    return name.removesuffix(".zip").strip() or document.stem


def _zipped(path: Path) -> ParsedDocument:
    with open_zip(path) as archive:
        names = archive.NameToInfo
        # Many tools pack a folder with its name, so the tests may lie one level down.
        tops = sorted({name.split("/")[0] for name in names if "/" in name})
        prefixes = ("", *(f"{top}/" for top in tops))
        places = (prefix + name for prefix in prefixes for name in SKILL_TEST_FILES)
        name = next((place for place in places if place in names), None)
        if name is None:
            raise _no_tests(path)
        try:
            raw = read_member(archive, name)
        except AttachmentError as error:
            raise DatasetError(str(error), path=path, hint=error.remedy) from error
    return parse_document(decode_utf8(raw, path=path / name), path / name)


def _no_tests(path: Path) -> DatasetError:
    return DatasetError(
        "holds no `eval/tests.json`",
        path=path,
        hint=f"a skill keeps its tests in one of {', '.join(SKILL_TEST_FILES)}",
    )
