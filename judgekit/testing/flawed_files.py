"""Files and databases below a folder that fail at the n-th operation: `FlawedFiles`."""

from __future__ import annotations

import builtins
import io
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from errno import EACCES, EIO, ENOSPC, EROFS
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal, Self, cast
from unittest.mock import patch

from judgekit.errors import UnknownNameError

__all__ = ["FileFault", "FlawedFiles"]
FileFault = Literal["disk_full", "io_error", "read_only", "forbidden", "short_write", "vanished"]
"""What happens to files: see `FlawedFiles`."""

# What the system says of each fault, and what SQLite says and calls it.
_FULL = (ENOSPC, "database or disk is full", "SQLITE_FULL")
_FAULTS = {
    "disk_full": _FULL,
    "short_write": _FULL,
    "vanished": _FULL,
    "io_error": (EIO, "disk I/O error", "SQLITE_IOERR"),
    "read_only": (EROFS, "attempt to write a readonly database", "SQLITE_READONLY"),
    "forbidden": (EACCES, "unable to open database file", "SQLITE_CANTOPEN"),
}
_READING = ("SELECT", "PRAGMA", "BEGIN", "ROLLBACK")


class FlawedFiles:
    """Makes what this process writes below a folder fail, while the `with` lasts.

    Counted as operations are: opening a file for writing, each write that reaches the system,
    `fsync`, renaming, making a folder, and each statement of Python's `sqlite3` that may change a
    database. Reading and removing never fail.

    SQLite writes in C: its statements fail whole, in its own words, on connections that are opened
    meanwhile. A page that is half written needs a small disk that is full. Other processes are not
    affected, and neither are libraries that open files in C.

    Args:
        folder: The folder; everything outside it works.
        fault: `disk_full`, `io_error`, `read_only` or `forbidden`; `short_write`: half of a write
            arrives, and then the disk is full; `vanished`: the folder is renamed, with `.vanished`
            added to its name.
        after: How many operations succeed before the first that fails.
        times: How many fail; None: all from then on.

    Attributes:
        operations: The operations so far: their kinds, and the names of their files.
        n_failed: How many of them failed.

    Raises:
        UnknownNameError: When a fault is not known.

    Example:
        >>> import pathlib, tempfile
        >>> from judgekit.testing import FlawedFiles
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> with FlawedFiles(folder, "disk_full", after=2) as files:
        ...     for name in ("a.txt", "b.txt"):
        ...         try:
        ...             n = (folder / name).write_text("text")
        ...         except OSError as error:
        ...             print(name, error.strerror)
        b.txt No space left on device
        >>> files.operations
        [('open', 'a.txt'), ('write', 'a.txt'), ('open', 'b.txt')]
    """

    def __init__(
        self,
        folder: Path | str,
        fault: FileFault = "disk_full",
        *,
        after: int = 0,
        times: int | None = None,
    ) -> None:
        if fault not in _FAULTS:
            raise UnknownNameError("fault", fault, _FAULTS)
        self._folder = Path(os.path.realpath(folder))
        self.fault = fault
        self._failing = range(after, sys.maxsize if times is None else after + times)
        self._patches = ExitStack()
        self._paths: dict[int, str] = {}  # of the descriptors opened meanwhile
        self.operations: list[tuple[str, str]] = []
        self.n_failed = 0

    def __enter__(self) -> Self:
        self._rename = os.rename
        connect = partial(sqlite3.connect, factory=partial(_FlawedConnection, flaws=self))
        for module, name, function in (
            (builtins, "open", partial(self._open_file, io.open)),
            (io, "open", partial(self._open_file, io.open)),
            (os, "open", partial(self._open_descriptor, os.open)),
            (os, "fsync", partial(self._sync, os.fsync)),
            (sqlite3, "connect", connect),
            (sqlite3.dbapi2, "connect", connect),
            *((os, n, partial(self._run, getattr(os, n))) for n in ("replace", "rename", "mkdir")),
        ):
            self._patches.enter_context(patch.object(module, name, function))
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.close()

    def fails(self, kind: str, path: object) -> bool:
        """Count an operation on a file below the folder; whether it fails."""
        place = Path(os.path.realpath(path)) if isinstance(path, str | os.PathLike) else Path()
        if self._folder not in (place, *place.parents):
            return False
        self.operations.append((kind, place.name))
        is_failing = len(self.operations) - 1 in self._failing
        self.n_failed += is_failing
        if not is_failing or self.fault != "vanished":
            return is_failing
        with suppress(OSError):  # it has vanished before
            self._rename(self._folder, f"{self._folder}.vanished")
        return False  # what the system says of it is enough

    def check(self, kind: str, path: object) -> None:
        """Count an operation, and raise what the system would raise."""
        if self.fails(kind, path):
            number = _FAULTS[self.fault][0]
            raise OSError(number, os.strerror(number), str(path))

    def _run(self, real: Callable[..., None], path: str, *more: Any, **options: Any) -> None:
        self.check(real.__name__, path)
        real(path, *more, **options)

    def _sync(self, real: Callable[[int], None], descriptor: int) -> None:
        self.check("fsync", self._paths.get(descriptor))
        real(descriptor)

    def _open_descriptor(
        self, real: Callable[..., int], path: str, flags: int, *more: Any, **options: Any
    ) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            self.check("open", path)
        descriptor = real(path, flags, *more, **options)
        self._paths[descriptor] = path
        return descriptor

    def _open_file(
        self, real: Any, file: Any, mode: str = "r", buffering: int = -1, *text: Any, **options: Any
    ) -> IO[Any]:
        if isinstance(file, int) or not set(mode) & set("wax+"):
            return cast("IO[Any]", real(file, mode, buffering, *text, **options))
        self.check("open", file)
        kind = mode.replace("b", "").replace("t", "")
        raw: Any = _FlawedFile(os.fspath(file), kind, opener=options.pop("opener", None))
        raw.flaws, self._paths[raw.fileno()] = self, raw.name
        if buffering:
            raw = (io.BufferedRandom if "+" in mode else io.BufferedWriter)(raw)
        return cast("IO[Any]", raw if "b" in mode else io.TextIOWrapper(raw, *text, **options))


class _FlawedFile(io.FileIO):
    flaws: FlawedFiles

    def write(self, content: Any) -> int:
        first = self.flaws.n_failed == 0
        try:
            self.flaws.check("write", self.name)
        except OSError:
            if self.flaws.fault != "short_write" or not first:
                raise
            content = content[: len(content) // 2]
        return super().write(content)


class _FlawedConnection(sqlite3.Connection):
    def __init__(self, database: Any, *more: Any, flaws: FlawedFiles, **options: Any) -> None:
        super().__init__(database, *more, **options)
        self.flaws, self.file = flaws, None if database == ":memory:" else database

    def cursor(self, factory: Any = None) -> Any:
        return super().cursor(factory or _FlawedCursor)

    def execute(self, *statement: Any) -> Any:
        return self.cursor().execute(*statement)

    def executemany(self, *statement: Any) -> Any:
        return self.cursor().executemany(*statement)


class _FlawedCursor(sqlite3.Cursor):
    def execute(self, statement: str, *values: Any) -> Self:
        self._check(statement)
        return super().execute(statement, *values)

    def executemany(self, statement: str, *values: Any) -> Self:
        self._check(statement)
        return super().executemany(statement, *values)

    def _check(self, statement: str) -> None:
        connection = cast("_FlawedConnection", self.connection)
        flaws = connection.flaws
        is_reading = statement.lstrip().upper().startswith(_READING)
        if not is_reading and flaws.fails("sqlite", connection.file):
            _, words, name = _FAULTS[flaws.fault]
            error = sqlite3.OperationalError(words)
            error.sqlite_errorname, error.sqlite_errorcode = name, getattr(sqlite3, name)
            raise error
