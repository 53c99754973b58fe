"""Decides which process a run belongs to while it runs; the right dies with its holder."""

from __future__ import annotations

import os
import struct
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import text

from judgekit.errors import StoreError

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no byte-range locks of this kind
    fcntl = None  # type: ignore[assignment]  # the module is optional on Windows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy.engine import Connection, Engine

_OPENING = 0  # the byte held while the schema is made or migrated; runs are counted from 1


class RunLocks(Protocol):
    """Who may add to a run."""

    def try_acquire(self, run_no: int) -> bool:
        """Take a run if nobody has it; never waits."""
        ...

    def release(self, run_no: int) -> None:
        """Give a run back."""
        ...

    def close(self) -> None:
        """Give everything back."""
        ...


class FileLocks:
    """Runs held by a lock on one byte each of a file beside the database.

    On Linux the locks belong to the open file, so that two stores in one process exclude each
    other as well; on other POSIX systems they belong to the process. On Windows there are none.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def try_acquire(self, run_no: int) -> bool:
        """See `RunLocks.try_acquire`."""
        try:
            self._lock(run_no, take=True)
        except (BlockingIOError, PermissionError):
            # POSIX lets a system report a lock held by another as EAGAIN or as EACCES.
            return False
        return True

    def release(self, run_no: int) -> None:
        """See `RunLocks.release`."""
        self._lock(run_no, take=False)

    def close(self) -> None:
        """Give everything back and close the lock file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @contextmanager
    def opening(self) -> Iterator[None]:
        """Hold the right to make or migrate the schema; other processes wait."""
        self._lock(_OPENING, take=True, wait=True)
        try:
            yield
        finally:
            self._lock(_OPENING, take=False)

    def _lock(self, byte: int, *, take: bool, wait: bool = False) -> None:
        if fcntl is None:  # pragma: no cover - Windows
            return
        descriptor = self._open_file()
        command = getattr(fcntl, "F_OFD_SETLKW" if wait else "F_OFD_SETLK", None)
        if command is not None and struct.calcsize("P") == 8:  # noqa: PLR2004 - 64-bit flock
            kind = fcntl.F_WRLCK if take else fcntl.F_UNLCK
            fcntl.fcntl(descriptor, command, struct.pack("hhqqi4x", kind, os.SEEK_SET, byte, 1, 0))
        else:  # pragma: no cover - not Linux
            kind = (fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB) if take else 0
            fcntl.lockf(descriptor, kind or fcntl.LOCK_UN, 1, byte)

    def _open_file(self) -> int:
        if self._descriptor is None:
            try:
                self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            except OSError as error:
                raise StoreError(
                    f"{self._path} cannot be written: {error.strerror}",
                    hint="a run needs a database in a folder that you may write to",
                ) from error
        return self._descriptor


class ServerLocks:
    """Runs held by advisory locks of a PostgreSQL session of their own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._session: Connection | None = None
        self._schema = ""

    def try_acquire(self, run_no: int) -> bool:
        """See `RunLocks.try_acquire`."""
        return bool(self._ask("SELECT pg_try_advisory_lock(:key)", run_no))

    def release(self, run_no: int) -> None:
        """See `RunLocks.release`."""
        if self._session is not None:
            self._ask("SELECT pg_advisory_unlock(:key)", run_no)

    def close(self) -> None:
        """Give everything back by ending the session."""
        if self._session is not None:
            if not self._session.invalidated:
                self._session.invalidate()  # given back to the pool it would keep its locks
            self._session.close()
            self._session = None

    def _ask(self, query: str, run_no: int) -> object:
        if self._session is None:
            self._session = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            self._schema = str(self._session.scalar(text("SELECT current_schema()")))
        # Locks are known in the whole database by 64 bits that every program shares.
        name = f"judgekit run {run_no} in {self._schema}"
        key = int.from_bytes(sha256(name.encode()).digest()[:8], "big", signed=True)
        return self._session.scalar(text(query), {"key": key})
