"""The files that the editor may open: all in one folder, of the types that judgekit reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from stat import S_IMODE
from threading import Lock
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from judgekit.atomic_write import atomic_writer
from judgekit.errors import DatasetError
from judgekit.formats import decode_utf8, open_file, text_in_place
from judgekit.report import numbers

if TYPE_CHECKING:
    from judgekit.records import JsonObject

# Files with other suffixes are not opened, whatever they hold.
SUFFIXES = (".yaml", ".yml", ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".j2")
# In bytes: typing in a larger file would be slow in a browser, and so would be checking it.
LARGEST_FILE = 2 * 1024 * 1024
_LARGER = f"larger than {numbers.format_file_size(LARGEST_FILE)}"
_BOM = b"\xef\xbb\xbf"
# Dependencies of other projects, whose files are many and never ours.
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """What `judgekit validate` and `judgekit lint` report of a file."""

    kind: str  # its type, as `validate` calls it
    # Each with `path`, `line`, `severity`, `message`, `remedy` and `rule`
    problems: tuple[JsonObject, ...] = ()
    is_listed: bool = True  # whether it is a file of judgekit's
    is_recorded: bool = False  # replies or results, which are evidence that nobody edits

    def count(self, severity: str) -> int:
        return sum(problem["severity"] == severity for problem in self.problems)

    @property
    def summary(self) -> str:
        """How many problems there are: `2 errors, 1 warning`."""
        counts = [(self.count(severity), severity) for severity in ("error", "warning")]
        parts = [numbers.format_count(n, severity) for n, severity in counts if n]
        return ", ".join(parts) or "no problems found"


CheckFile = Callable[[Path], CheckedFile]


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file as it is on disk."""

    text: str  # with line feeds alone at line ends, which is what a browser gives back
    version: str  # its fingerprint, by which a change on disk is noticed
    line_end: str
    has_bom: bool

    def encode(self, text: str) -> bytes:
        """Another text with the line ends and the mark of this file."""
        return (_BOM if self.has_bom else b"") + text.replace("\n", self.line_end).encode()


@dataclass(frozen=True)
class EditFolder:
    """A folder whose files may be edited; nothing outside of it can be named."""

    folder: Path
    check_file: CheckFile
    _saving: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", self.folder.resolve())

    def path_of(self, name: str) -> Path:
        """The file of a name relative to the folder; 403 for what may not be opened."""
        parts = name.split("/")
        if any(part in {"", "..", "."} or part.startswith(".") or "\0" in part for part in parts):
            raise _forbidden("hidden files and paths outside the folder cannot be opened")
        if Path(name).suffix.lower() not in SUFFIXES or "\\" in name:
            raise _forbidden(f"only files that end in {', '.join(SUFFIXES)} can be opened")
        # A link may lead out of the folder, or to a file with another suffix.
        path = (self.folder / name).resolve()
        inside = path.relative_to(self.folder) if path.is_relative_to(self.folder) else None
        is_hidden = inside is not None and any(part.startswith(".") for part in inside.parts)
        if inside is None or is_hidden or path.suffix.lower() not in SUFFIXES:
            raise _forbidden("this is a link to a file that cannot be opened")
        if not path.exists():
            raise HTTPException(404, f"there is no file {name} in the folder")
        if not path.is_file():
            raise _forbidden("this is no file")
        return path

    def name_of(self, path: Path) -> str | None:
        """The name of a file in the folder; None outside of it."""
        path = path.resolve()
        inside = path.is_relative_to(self.folder)
        return path.relative_to(self.folder).as_posix() if inside else None

    def listing(self) -> Iterator[tuple[str, CheckedFile]]:
        """The files of judgekit's in the folder, each with what is wrong with it."""
        for name in sorted(self._names()):
            with suppress(HTTPException):  # may not be opened
                is_large = self.path_of(name).stat().st_size > LARGEST_FILE
                checked = CheckedFile(_LARGER) if is_large else self.check(name)
                if checked.is_listed:
                    yield name, checked

    def check(self, name: str, text: str | None = None) -> CheckedFile:
        """The problems of a file, or of a text in its place; other files are read from disk."""
        path = self.path_of(name)
        with nullcontext() if text is None else text_in_place(path, text):
            return self._with_names(self.check_file(path))

    def read(self, name: str) -> FileContent:
        path = self.path_of(name)
        with open_file(path) as stream:
            raw = stream.read(LARGEST_FILE + 1)
        if len(raw) > LARGEST_FILE:
            raise HTTPException(413, f"{name} is {_LARGER}: edit it in another editor")
        text = decode_utf8(raw, path=Path(name))
        unix = text.replace("\r\n", "\n")
        line_end = "\r\n" if "\r\n" in text else "\n"
        # A browser would replace all of them, and the whole file would be a change.
        if "\r" in unix or unix.replace("\n", line_end) != text:
            raise DatasetError("the file has several kinds of line ends", path=Path(name))
        return FileContent(unix, sha256(raw).hexdigest(), line_end, raw.startswith(_BOM))

    def save(
        self, name: str, text: str, version: str, *, allow_errors: bool = False
    ) -> FileContent | None:
        """Write a file, unless it is not of the version that was edited; that of the disk then."""
        checked = self.check(name, text)
        # By what it is on disk: the text that was typed may look like anything.
        if self.check(name).is_recorded:
            raise _forbidden(f"{name} holds recorded evidence and is not edited")
        if checked.count("error") and not allow_errors:
            raise HTTPException(422, f"not saved: {checked.summary}")
        path = self.path_of(name)
        with self._saving:
            try:
                found = self._of_version(name, version)
                with atomic_writer(path) as file:
                    file.write(found.encode(text))
                    os.chmod(file.name, S_IMODE(path.stat().st_mode))  # noqa: PTH101 - by its name
                    # Again at the last moment: another program may have written meanwhile.
                    self._of_version(name, version)
            except _ChangedError as error:
                return error.found
        return None

    def _of_version(self, name: str, version: str) -> FileContent:
        found = self.read(name)
        if found.version != version:
            raise _ChangedError(found)
        return found

    def _names(self) -> Iterator[str]:
        for place, folders, files in os.walk(self.folder):
            folders[:] = [one for one in folders if one[0] != "." and one not in _SKIPPED]
            for file in files:
                yield (Path(place) / file).relative_to(self.folder).as_posix()

    def _with_names(self, checked: CheckedFile) -> CheckedFile:
        """The problems with names in the place of paths: no page shows where the folder is."""
        problems: list[JsonObject] = []
        for problem in checked.problems:
            path, shown = problem["path"], dict(problem)
            if isinstance(path, str):
                shown["path"] = self.name_of(Path(path)) or Path(path).name
            for key in ("message", "remedy"):
                if isinstance(words := problem[key], str):
                    shown[key] = self.without_folder(words)
            problems.append(shown)
        return replace(checked, problems=tuple(problems))

    def without_folder(self, words: str) -> str:
        """A message without the path of the folder."""
        return words.replace(f"{self.folder}{os.sep}", "").replace(str(self.folder), ".")


class _ChangedError(Exception):
    """The file on disk is not the one that was edited."""

    def __init__(self, found: FileContent) -> None:
        super().__init__()
        self.found = found


def _forbidden(message: str) -> HTTPException:
    return HTTPException(403, message)
