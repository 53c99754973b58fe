"""Files and databases below a folder that fail at the n-th operation: `FlawedFiles`."""

from __future__ import annotations

import builtins
import io
import os
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from errno import EACCES, EIO, ENOSPC, EROFS
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal, Self, cast, get_args
from unittest.mock import patch

from judgekit.errors import UnknownNameError

__all__ = ["FileFault", "FlawedFiles"]
FileFault = Literal["disk_full", "io_error", "read_only", "forbidden", "short_write", "vanished"]
"""What happens to files: see `FlawedFiles`."""

_NUMBERS = {"io_error": EIO, "read_only": EROFS, "forbidden": EACCES}
_SQLITE = {
    "io_error": ("disk I/O error", sqlite3.SQLITE_IOERR),
    "read_only": ("attempt to write a readonly database", sqlite3.SQLITE_READONLY),
    "forbidden": ("unable to open database file", sqlite3.SQLITE_CANTOPEN),
}
_FULL = ("database or disk is full", sqlite3.SQLITE_FULL)
# Statements that change nothing on the disk.
_READING = ("SELECT", "PRAGMA", "BEGIN", "ROLLBACK", "EXPLAIN")


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
        if fault not in get_args(FileFault):
            raise UnknownNameError("fault", fault, get_args(FileFault))
        self._folder = Path(os.path.realpath(folder))
        self.fault = fault
        self._failing = range(after, sys.maxsize if times is None else after + times)
        self._lock = threading.Lock()
        self._patches = ExitStack()
        self._paths: dict[int, str] = {}  # of the descriptors opened meanwhile
        self.operations: list[tuple[str, str]] = []
        self.n_failed = 0

    def __enter__(self) -> Self:
        real_open, connect = io.open, partial(sqlite3.connect, factory=self._connection)
        self._rename = os.rename
        for module, name, function in (
            (builtins, "open", partial(self._open_file, real_open)),
            (io, "open", partial(self._open_file, real_open)),
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
        if not isinstance(path, str | os.PathLike):
            return False
        place = Path(os.path.realpath(path))
        if self._folder not in (place, *place.parents):
            return False
        with self._lock:
            is_failing = len(self.operations) in self._failing
            self.operations.append((kind, place.name))
            self.n_failed += is_failing
        if is_failing and self.fault == "vanished":
            with suppress(OSError):  # it has vanished before
                self._rename(self._folder, f"{self._folder}.vanished")
            return False  # what the system says of it is enough
        return is_failing

    def check(self, kind: str, path: object) -> None:
        """Count an operation, and raise what the system would raise."""
        if self.fails(kind, path):
            number = _NUMBERS.get(self.fault, ENOSPC)
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
        self,
        real: Callable[..., IO[Any]],
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        *text: Any,
        opener: Any = None,
        closefd: bool = True,
        **options: Any,
    ) -> IO[Any]:
        if isinstance(file, int) or not set(mode) & set("wax+"):
            return real(file, mode, buffering, *text, opener=opener, closefd=closefd, **options)
        self.check("open", file)
        raw = _FlawedFile(os.fspath(file), mode.replace("b", "").replace("t", ""), opener=opener)
        raw.flaws = self
        self._paths[raw.fileno()] = raw.name
        if buffering == 0:
            return cast("IO[Any]", raw)
        binary: Any = (io.BufferedRandom if "+" in mode else io.BufferedWriter)(raw)
        return binary if "b" in mode else io.TextIOWrapper(binary, *text, **options)

    def _connection(self, database: Any, *more: Any, **options: Any) -> sqlite3.Connection:
        connection = _FlawedConnection(database, *more, **options)
        connection.check = partial(self._check_statement, database)
        return connection

    def _check_statement(self, database: object, statement: str) -> None:
        is_reading = statement.lstrip().upper().startswith(_READING)
        if not is_reading and self.fails("sqlite", database):
            words, code = _SQLITE.get(self.fault, _FULL)
            error = sqlite3.OperationalError(words)
            error.sqlite_errorcode = code
            raise error


class _FlawedFile(io.FileIO):
    flaws: FlawedFiles
    name: str

    def write(self, content: Any) -> int:
        first = self.flaws.n_failed == 0
        try:
            self.flaws.check("write", self.name)
        except OSError:
            if self.flaws.fault != "short_write" or not first or len(content) < 2:  # noqa: PLR2004
                raise
            content = content[: len(content) // 2]
        return super().write(content)


class _FlawedConnection(sqlite3.Connection):
    check: Callable[[str], None]

    def cursor(self, factory: Any = None) -> Any:
        # `execute` of a connection comes through here as well.
        return super().cursor(factory or _FlawedCursor)


class _FlawedCursor(sqlite3.Cursor):
    def execute(self, statement: str, *values: Any) -> Self:
        cast("_FlawedConnection", self.connection).check(statement)
        return super().execute(statement, *values)

    def executemany(self, statement: str, *values: Any) -> Self:
        cast("_FlawedConnection", self.connection).check(statement)
        return super().executemany(statement, *values)
