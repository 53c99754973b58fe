"""One open database, its transactions and its migrations.

Tables are in `schema`, connections, errors and locks in `engine`.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from judgekit.datasets import DEFAULT_STORE_FILE
from judgekit.errors import StoreError
from judgekit.records import lookup_text, time_text
from judgekit.store.engine import (
    DAMAGE_HINT,
    WRITES_OPTION,
    FileLocks,
    ServerLocks,
    locate_database,
    map_database_errors,
    open_engine,
    prepare_database_file,
)
from judgekit.store.schema import (
    SCHEMA_VERSION,
    declare_postgresql_indexes,
    metadata,
    schema_versions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sqlalchemy.engine import Connection

    from judgekit.store.engine import DatabaseLocation


class Database:
    """A database of runs. Threads may share it; one writes at a time, readers do not wait."""

    def __init__(
        self,
        location: str | Path = DEFAULT_STORE_FILE,
        *,
        create: bool = True,
        patience_s: float = 30.0,
    ) -> None:
        self.location = locate_database(location)
        self._lock = threading.RLock()
        self._writer: Connection | None = None
        file = self.location.file
        if file is not None:
            prepare_database_file(file, create=create)
        self._engine = open_engine(self.location, patience_s=patience_s)
        lock_file = None if file is None else FileLocks(Path(f"{file}.lock"))
        self._locks = lock_file or ServerLocks(self._engine)
        try:
            self._open(lock_file, create=create)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release every lock and close every connection."""
        with self._lock:
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            with map_database_errors(self.location.name):
                self._locks.close()
            self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees the database as it is at this moment."""
        with map_database_errors(self.location.name), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is on disk when the block is left, or has changed nothing."""
        with self._lock, map_database_errors(self.location.name):
            if self._writer is None:
                self._writer = self._open_writer()
            try:
                with self._writer.begin():
                    yield self._writer
            finally:
                if self._writer.invalidated:
                    self._lost()

    def _lost(self) -> None:
        """Forget a connection that the server closed, and the locks held through it."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self._locks.close()

    def _try_lock(self, run_no: int) -> bool:
        with map_database_errors(self.location.name):
            return self._locks.try_acquire(run_no)

    def _unlock(self, run_no: int) -> None:
        with map_database_errors(self.location.name):
            self._locks.release(run_no)

    def _open_writer(self) -> Connection:
        connection = self._engine.connect().execution_options(**{WRITES_OPTION: True})
        if self._engine.dialect.name == "postgresql":
            # What two runs both have (a case, a rubric) is taken from whoever stored it first.
            connection.execution_options(isolation_level="READ COMMITTED")
        return connection

    def _open(self, lock_file: FileLocks | None, *, create: bool) -> None:
        with self.reading() as connection:
            found = _schema_version(connection, self.location.name)
        if found == SCHEMA_VERSION:
            return
        if found is None and not create:
            raise StoreError(
                f"nothing is stored in {self.location.name}",
                hint="`judgekit run` stores runs there",
            )
        with nullcontext() if lock_file is None else lock_file.opening():
            if found is None and lock_file is not None:
                # Readers then never wait for the writer; the file remembers it.
                self._set_pragma("journal_mode = WAL")
            with self.writing() as connection:
                _migrate_database(connection, self.location)

    def check(self) -> None:
        """Check SQLite's file for damage; takes 0.6 s per GiB."""
        if self.location.file is None:
            return
        with self.reading() as connection:
            found = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
        if found != "ok":
            raise StoreError(f"{self.location.name} is damaged: {found}", hint=DAMAGE_HINT)

    def checkpoint(self) -> None:
        """Move commits from the write-ahead log to SQLite's main file."""
        if self.location.file is not None:
            with self._lock:
                self._set_pragma("wal_checkpoint(PASSIVE)")

    def _set_pragma(self, pragma: str) -> None:
        with map_database_errors(self.location.name), self._engine.connect() as connection:
            # The driver's own connection: SQLite does neither within a transaction.
            raw = connection.connection.driver_connection
            if raw is not None:
                raw.execute(f"PRAGMA {pragma}")


def _schema_version(connection: Connection, name: str) -> int | None:
    tables = set(inspect(connection).get_table_names())
    if schema_versions.name not in tables:
        # A server's database may be shared with others, as long as no name is taken.
        foreign = tables if connection.dialect.name == "sqlite" else tables & set(metadata.tables)
        if foreign:
            tables_named = ", ".join(sorted(foreign)[:5])
            raise StoreError(
                f"{name} is a database of another program: it has the tables {tables_named}",
                hint="name another database, or a path that does not exist yet",
            )
        return None
    newest = connection.execute(
        select(schema_versions.c.version, schema_versions.c.judgekit)
        .order_by(schema_versions.c.version.desc())
        .limit(1)
    ).first()
    if newest is None:
        raise StoreError(f"{name} has no schema version", hint="restore a copy of it")
    if newest.version > SCHEMA_VERSION:
        raise StoreError(
            f"{name} was written by judgekit {newest.judgekit} and has schema {newest.version}; "
            f"this judgekit ({installed_version('judgekit-llm')}) knows {SCHEMA_VERSION} and older",
            hint=f'pip install -U "judgekit-llm>={newest.judgekit}"',
        )
    return int(newest.version)


def _migrate_database(connection: Connection, location: DatabaseLocation) -> None:
    """Create or migrate the schema, inside the only open transaction."""
    if connection.dialect.name == "postgresql":
        # Two processes that make the same tables at once would both fail.
        connection.execute(text("SELECT pg_advisory_xact_lock(7310320463178329443)"))
    found = _schema_version(connection, location.name)
    if found is None:
        if location.file is None:
            declare_postgresql_indexes()
        metadata.create_all(connection, checkfirst=False)
        _record_version(connection, SCHEMA_VERSION)
        return
    if found < SCHEMA_VERSION and location.file is not None:
        _copy_database(location.file, found)
    for step in range(found, SCHEMA_VERSION):
        try:
            MIGRATIONS[step](connection)
        except (ValueError, SQLAlchemyError) as error:
            raise StoreError(
                f"{location.name} cannot be migrated from schema {step} to {step + 1}: {error}",
                hint="nothing was changed; the judgekit that wrote it can still read it",
            ) from error
        _record_version(connection, step + 1)


def _copy_database(file: Path, found: int) -> Path:
    """Copy a database file next to itself before it is migrated."""
    when = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    copy = file.with_name(f"{file.name}.v{found}-{when}")
    try:
        os.close(os.open(copy, os.O_RDWR | os.O_CREAT, 0o600))
        # SQLite's own copying sees what is still in the write-ahead log.
        source, target = sqlite3.connect(file), sqlite3.connect(copy)
        try:
            source.backup(target)
        finally:
            source.close()
            target.close()
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"{file} has schema {found} and must be migrated, but cannot be copied first: {error}",
            hint="free some space, or allow writing in its folder",
        ) from error
    return copy


def _record_version(connection: Connection, version: int) -> None:
    connection.execute(
        schema_versions.insert(),
        {
            "version": version,
            "judgekit": installed_version("judgekit-llm"),
            "applied_at": time_text(datetime.now(UTC)),
        },
    )


def _from_1_to_2(connection: Connection) -> None:
    """Add the queue for human judgment, and the column with the agent's run."""
    connection.execute(text("ALTER TABLE outputs ADD COLUMN agent_run TEXT"))
    rows = connection.execute(text("SELECT no, json FROM outputs WHERE json LIKE '%\"run_id\"%'"))
    known = [
        {"no": row.no, "agent_run": lookup_text(run_id)}
        for row in rows
        if (run_id := json.loads(row.json).get("run_id")) is not None
    ]
    if known:
        change = "UPDATE outputs SET agent_run = :agent_run WHERE no = :no"
        connection.execute(text(change), known)
    connection.execute(text("CREATE INDEX outputs_by_agent_run ON outputs (agent_run)"))
    _add_tables("to_2_queue.sql", connection)


def _add_tables(file: str, connection: Connection) -> None:
    # Plain SQL: the tables of `schema` may change later, and a migration must not.
    statements = (Path(__file__).parent / "migrations" / file).read_text(encoding="utf-8")
    # SQLite numbers rows only in a column of type INTEGER.
    is_sqlite = connection.dialect.name == "sqlite"
    number = "INTEGER NOT NULL" if is_sqlite else "BIGINT GENERATED BY DEFAULT AS IDENTITY"
    for statement in statements.split(";"):
        connection.execute(text(statement.replace("NUMBER", number)))


MIGRATIONS: Mapping[int, Callable[[Connection], None]] = {
    1: _from_1_to_2,
    2: partial(_add_tables, "to_3_comparisons.sql"),
    3: partial(_add_tables, "to_4_gates.sql"),
    4: partial(_add_tables, "to_5_memory.sql"),
    5: partial(_add_tables, "to_6_packets.sql"),
}
"""The migration from each version to the next."""
