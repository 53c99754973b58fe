"""One open database: short transactions to read and to write, its schema brought up to date."""

from __future__ import annotations

import threading
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.errors import StoreError
from judgekit.store.faults import DAMAGED, mapped
from judgekit.store.location import WRITES, locate, open_engine, prepare_file
from judgekit.store.locks import FileLocks, ServerLocks
from judgekit.store.migrations import bring_up_to_date, schema_version
from judgekit.store.tables import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Connection


class Database:
    """A database of runs. Threads may share it; one writes at a time, readers do not wait."""

    def __init__(
        self,
        location: str | Path = ".judgekit/judgekit.db",
        *,
        create: bool = True,
        patience_s: float = 30.0,
    ) -> None:
        self.location = locate(location)
        self._lock = threading.RLock()
        self._writer: Connection | None = None
        file = self.location.file
        if file is not None:
            prepare_file(file, create=create)
        self._engine = open_engine(self.location, patience_s=patience_s)
        lock_file = None if file is None else FileLocks(Path(f"{file}.lock"))
        self._locks = lock_file or ServerLocks(self._engine)
        try:
            self._open(lock_file, create=create)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give back what is held and close every connection."""
        with self._lock:
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            with mapped(self.location.name):
                self._locks.close()
            self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees the database as it is at this moment."""
        with mapped(self.location.name), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is on disk when the block is left, or has changed nothing."""
        with self._lock, mapped(self.location.name):
            if self._writer is None:
                self._writer = self._open_writer()
            try:
                with self._writer.begin():
                    yield self._writer
            finally:
                if self._writer.invalidated:
                    self._lost()

    def _lost(self) -> None:
        """Forget a connection that the server closed, and with it what was held through it."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self._locks.close()

    def _try_lock(self, run_no: int) -> bool:
        with mapped(self.location.name):
            return self._locks.try_acquire(run_no)

    def _unlock(self, run_no: int) -> None:
        with mapped(self.location.name):
            self._locks.release(run_no)

    def _open_writer(self) -> Connection:
        connection = self._engine.connect().execution_options(**{WRITES: True})
        if self._engine.dialect.name == "postgresql":
            # What two runs both have (a case, a rubric) is taken from whoever stored it first.
            connection.execution_options(isolation_level="READ COMMITTED")
        return connection

    def _open(self, lock_file: FileLocks | None, *, create: bool) -> None:
        with self.reading() as connection:
            found = schema_version(connection, self.location.name)
        if found == VERSION:
            return
        if found is None and not create:
            raise StoreError(
                f"nothing was ever kept in {self.location.name}",
                hint="runs are kept by judgekit run",
            )
        with nullcontext() if lock_file is None else lock_file.opening():
            if found is None and lock_file is not None:
                # Readers then never wait for the writer; the file remembers it.
                with mapped(self.location.name), self._engine.connect() as connection:
                    raw = connection.connection.driver_connection
                    if raw is not None:
                        raw.execute("PRAGMA journal_mode = WAL")
            with self.writing() as connection:
                bring_up_to_date(connection, self.location)

    def check(self) -> None:
        """Look through SQLite's file for damage; 0.6 s for each GiB of it."""
        if self.location.file is None:
            return
        with self.reading() as connection:
            found = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
        if found != "ok":
            raise StoreError(f"{self.location.name} is damaged: {found}", hint=DAMAGED)

    def checkpoint(self) -> None:
        """Put what was committed into SQLite's file itself, where a power cut spares it."""
        if self.location.file is None:
            return
        with self._lock, mapped(self.location.name), self._engine.connect() as connection:
            raw = connection.connection.driver_connection
            if raw is not None:
                raw.execute("PRAGMA wal_checkpoint(PASSIVE)")
