"""One open database, SQLite or PostgreSQL: its errors, locks, transactions and migrations.

Tables are in `schema`.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Select, create_engine, create_mock_engine, event, inspect, select, text
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError, StatementError

from judgekit.byte_lock import FileLocks
from judgekit.datasets import DEFAULT_STORE_FILE
from judgekit.errors import SettingsError, StoreError, is_disk_full, write_error
from judgekit.extras import require_package
from judgekit.models.cache import expand_address, is_misread, mask_address
from judgekit.records import lookup_text, time_text
from judgekit.store.schema import (
    SCHEMA_VERSION,
    declare_postgresql_indexes,
    metadata,
    schema_versions,
)

if TYPE_CHECKING:
    from sqlalchemy.pool import ConnectionPoolEntry
    from sqlalchemy.schema import ExecutableDDLElement

WRITES_OPTION = "judgekit_writes"
"""The execution option of a connection whose transactions change something."""

NOTHING_STORED = "`judgekit run` stores runs there"
"""The hint of an error about a database that is missing, or in which there are no tables yet."""

_POSTGRES = frozenset({"postgres", "postgresql", "postgresql+psycopg"})
_SQLITE = frozenset({"sqlite", "sqlite+pysqlite"})


@dataclass(frozen=True, slots=True)
class DatabaseLocation:
    """Where a database is."""

    url: URL
    """Its address, with the driver judgekit uses."""

    file: Path | None
    """The file, for SQLite."""

    @property
    def name(self) -> str:
        """The location for messages: without its password."""
        if self.file is not None:
            return str(self.file)
        return mask_address(self.url.render_as_string(hide_password=False))


def locate_database(location: str | Path) -> DatabaseLocation:
    """The database that a path or an address names."""
    address = location if isinstance(location, Path) else expand_address(location)
    if isinstance(address, Path) or "://" not in address:
        return _file_location(Path(address))
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        url = None
    if url is None or is_misread(address, url.host, url.database):
        raise SettingsError(
            "the address of the database cannot be read",
            hint="write postgresql://USER@HOST/DATABASE, or the path of a file; @, / and : in a "
            "password are %40, %2F and %3A",
        )
    if url.drivername in _POSTGRES:
        return DatabaseLocation(url.set(drivername="postgresql+psycopg"), None)
    if url.drivername in _SQLITE and url.database and url.database != ":memory:":
        return _file_location(Path(url.database))
    raise SettingsError(
        f"runs cannot be stored in {mask_address(address)}",
        hint="use the path of an SQLite file, or postgresql://USER@HOST/DATABASE",
    )


def _file_location(path: Path) -> DatabaseLocation:
    # Connections are opened when needed; a program may have changed its folder by then.
    return DatabaseLocation(URL.create("sqlite+pysqlite", database=str(path.absolute())), path)


def prepare_database_file(file: Path, *, create: bool) -> None:
    """Create the database's folder (0700) and file (0600) if they are missing."""
    # A file that is there is not touched: closing a second descriptor of it would drop the locks
    # that SQLite holds on it in this process.
    if file.is_dir():
        raise StoreError(f"{file} is a folder, and no database", hint="name a file in it")
    if file.exists():
        return
    if not create:
        raise StoreError(f"there is no database {file}", hint=NOTHING_STORED)
    try:
        missing = [folder for folder in file.absolute().parents if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        if file.exists():
            return  # another process was quicker
        hint = "name a folder that you may write to"
        raise write_error(f"the database {file} cannot be created", error, hint=hint) from error


def open_engine(location: DatabaseLocation, *, patience_s: float, durable: bool = True) -> Engine:
    """The engine of a database; nothing is connected yet."""
    if location.file is not None:
        engine = create_engine(
            location.url, hide_parameters=True, connect_args={"timeout": patience_s}
        )
        event.listen(engine, "connect", partial(_set_up_sqlite, durable))
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    own_options = location.url.query.get("options", ())
    options = [own_options] if isinstance(own_options, str) else [*own_options]
    options.append(f"-c lock_timeout={int(patience_s * 1000)}")
    require_package("psycopg", "a store on PostgreSQL")
    return create_engine(
        location.url,
        hide_parameters=True,
        pool_pre_ping=True,
        # A run reads its parts one after the other; they must be of the same moment.
        isolation_level="REPEATABLE READ",
        # Texts of a database without an encoding (SQL_ASCII) would come as bytes.
        connect_args={"options": " ".join(options), "client_encoding": "utf8"},
    )


def _set_up_sqlite(
    durable: bool,  # noqa: FBT001 - bound by `partial`, as the event passes the others by place
    connection: sqlite3.Connection,
    _entry: ConnectionPoolEntry,
) -> None:
    # judgekit begins transactions itself: Python's module would begin them late, and a
    # transaction that reads first and writes afterwards fails where another wrote in between.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys = ON")
    # With a write-ahead log NORMAL loses nothing when a process is killed; FULL keeps the last
    # commits also in a power failure. It costs 1 to 2 ms a commit, and a run commits in batches.
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'OFF'}")
    connection.execute("PRAGMA cache_size = -8192")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(WRITES_OPTION, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


_OPENING = 0  # the byte held while the schema is made or migrated; runs are counted from 1


class ServerLocks:
    """The locks of runs as advisory locks of a separate PostgreSQL session."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._session: Connection | None = None
        self._pid = 0
        self._schema = ""

    def try_acquire(self, run_no: int) -> bool:
        """Lock a run if no other store has it; never waits."""
        return bool(self._ask("SELECT pg_try_advisory_lock(:key)", run_no))

    def release(self, run_no: int) -> None:
        if self._session is not None:
            self._ask("SELECT pg_advisory_unlock(:key)", run_no)

    def close(self) -> None:
        """Release every lock by ending the session."""
        session, self._session = self._session, None
        if session is None:
            return
        if self._pid != os.getpid():  # a parent process has these locks; it would lose them
            _INHERITED.append(session)
        else:
            session.invalidate()  # returned to the pool, it would keep its locks
            session.close()

    def _ask(self, query: str, run_no: int) -> object:
        if self._session is None:
            self._session = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            self._pid = os.getpid()
            self._schema = str(self._session.scalar(text("SELECT current_schema()")))
        # Locks are known in the whole database by 64 bits that every program shares.
        name = f"judgekit run {run_no} in {self._schema}"
        key = int.from_bytes(sha256(name.encode()).digest()[:8], "big", signed=True)
        return self._session.scalar(text(query), {"key": key})


_BUSY_HINT = "another process is writing; wait for it, or give this run a database of its own"
_FULL_HINT = "free some space and run again, a run with --resume; what was committed is safe"

DAMAGE_HINT = (
    "keep a copy; `sqlite3 FILE .recover | sqlite3 NEW` recovers the readable part, and the cache "
    "still has every reply"
)
"""What to do about a database that is damaged."""

_FORBIDDEN_HINT = "you have no write permission there; name another database"

_WORDS_HINTS = {
    "database is locked": _BUSY_HINT,
    "database table is locked": _BUSY_HINT,
    "database or disk is full": _FULL_HINT,
    "disk i/o error": _FULL_HINT,
    "file is not a database": "name a judgekit database, or a path that does not exist yet",
    "malformed": DAMAGE_HINT,
    "readonly database": _FORBIDDEN_HINT,
    "unable to open database file": _FORBIDDEN_HINT,
    # The locks of runs belong to a session, which such a pooler gives to others.
    "unsupported startup parameter": "name the server itself: runs cannot be stored through a "
    "pooler of transactions (PgBouncer); a cache can",
}

_NO_SERVER_HINT = "check that the server runs, and host, port, user, password and database"

_POSTGRES_HINTS = {
    "08": _NO_SERVER_HINT,
    "22P05": "store runs in a database that takes all texts: createdb -T template0 -E UTF8 NAME",
    "28": _NO_SERVER_HINT,
    "3D": "create the database first: createdb NAME",
    "42501": _FORBIDDEN_HINT,
    "53100": _FULL_HINT,
    "53": "the server has no room for another connection",
    "55P03": _BUSY_HINT,
    "57P": "the server is stopping; start it and run again with --resume",
}

_RESUMABLE = frozenset({_FULL_HINT, _NO_SERVER_HINT, _POSTGRES_HINTS["57P"]})


@contextmanager
def map_database_errors(name: str) -> Iterator[None]:
    """Turn database errors into a `StoreError` with a hint."""
    try:
        yield
    except StatementError as error:  # DBAPIError is one
        is_lost = isinstance(error, DBAPIError) and error.connection_invalidated
        raise _store_error(name, error.orig or error, is_lost=is_lost) from error
    except SQLAlchemyError as error:
        raise StoreError(f"{name}: {error}") from error
    except sqlite3.Error as error:
        raise _store_error(name, error, is_lost=False) from error


def _store_error(name: str, error: BaseException, *, is_lost: bool) -> StoreError:
    words = " ".join(str(error).split()) or type(error).__name__
    state = getattr(error, "sqlstate", None)
    if state:
        near = [code for code in _POSTGRES_HINTS if state.startswith(code)]
        hint = _POSTGRES_HINTS[max(near, key=len)] if near else None
    else:
        lower = words.lower()
        hint = next((hint for part, hint in _WORDS_HINTS.items() if part in lower), None)
    if hint is None and (is_lost or "connection" in words.lower()):
        hint = _NO_SERVER_HINT
    return StoreError(f"{name}: {words}", hint=hint, is_incomplete=hint in _RESUMABLE)


# Connections of parent processes, kept for as long as the process lives.
_INHERITED: list[Connection | None] = []


class Database:
    """A database of runs. Threads may share it; one writes at a time, readers do not wait.

    One that is not durable never waits for the disk: for a file that is deleted when it is closed.
    """

    def __init__(
        self,
        location: str | Path = DEFAULT_STORE_FILE,
        *,
        create: bool = True,
        patience_s: float = 30.0,
        durable: bool = True,
    ) -> None:
        self.location = locate_database(location)
        self._lock = threading.RLock()
        self._writer: Connection | None = None
        self._pid = os.getpid()
        file = self.location.file
        if file is not None:
            prepare_database_file(file, create=create)
        self._is_durable = durable
        self._engine = open_engine(self.location, patience_s=patience_s, durable=durable)
        # Also of a store that nobody closes: Python 3.13 warns of connections that are dropped.
        weakref.finalize(self, self._engine.dispose).atexit = False
        lock_file = None if file is None else FileLocks(Path(f"{file}.lock"))
        self._locks = lock_file or ServerLocks(self._engine)
        try:
            self._open(lock_file, create=create)
        except BaseException as error:
            self.close()
            if isinstance(error, StoreError) and error.hint == _NO_SERVER_HINT:
                error.is_incomplete = False  # nothing was done yet that could be continued
            raise

    def close(self) -> None:
        """Release every lock and close every connection."""
        self._reset_after_fork()
        with self._lock:
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            with map_database_errors(self.location.name):
                self._locks.close()
            self._engine.dispose()

    def _reset_after_fork(self) -> None:
        """Leave the connections and locks of a parent process to it, and open others."""
        if self._pid != os.getpid():
            self._pid = os.getpid()
            # Not closed either: SQLite would end the parent's transaction in the shared memory.
            _INHERITED.append(self._writer)
            self._writer = None
            self._engine.dispose(close=False)
            self._lost()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees the database as it is at this moment."""
        self._reset_after_fork()
        with map_database_errors(self.location.name), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is on disk when the block is left, or has changed nothing."""
        self._reset_after_fork()
        with self._lock, map_database_errors(self.location.name):
            if self._writer is None:
                writer = self._engine.connect().execution_options(**{WRITES_OPTION: True})
                if self._engine.dialect.name == "postgresql":
                    # What two runs both have (a case, a rubric) is taken from whoever stored it
                    # first.
                    writer.execution_options(isolation_level="READ COMMITTED")
                self._writer = writer
            try:
                with self._writer.begin():
                    yield self._writer
            finally:
                if self._writer.invalidated:
                    self._lost()

    def _texts(self, query: Select[str]) -> Sequence[str]:
        """The JSON of the records that a query selects, in its order."""
        with self.reading() as connection:
            return connection.scalars(query).all()

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

    def _open(self, lock_file: FileLocks | None, *, create: bool) -> None:
        with self.reading() as connection:
            found = _schema_version(connection, self.location.name)
        if found == SCHEMA_VERSION:
            return
        if found is None and not create:
            raise StoreError(f"nothing is stored in {self.location.name}", hint=NOTHING_STORED)
        with nullcontext() if lock_file is None else lock_file.holding(_OPENING):
            if found is None and lock_file is not None:
                # Readers then never wait for the writer; the file remembers it.
                self._set_pragma("journal_mode = WAL")
            with self.writing() as connection:
                _migrate_database(connection, self.location)

    def check(self) -> None:
        """Check SQLite's file for damage; takes 0.6 s per GiB."""
        if self.location.file is None or not self._is_durable:
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
        for statement in () if location.file is None else _sqlite_schema():
            connection.exec_driver_sql(statement)
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


@cache
def _sqlite_schema() -> tuple[str, ...]:
    """The statements that make the tables, composed once: that takes longer than running them."""
    statements: list[str] = []

    def take(statement: ExecutableDDLElement, *_: object, **__: object) -> None:
        statements.append(str(statement.compile(dialect=engine.dialect)))

    engine = create_mock_engine("sqlite://", take)
    metadata.create_all(engine, checkfirst=False)
    return tuple(statements)


def _copy_database(file: Path, found: int) -> Path:
    """Copy a database file next to itself before it is migrated."""
    when = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    copy = file.with_name(f"{file.name}.v{found}-{when}")
    try:
        os.close(os.open(copy, os.O_RDWR | os.O_CREAT, 0o600))
        # SQLite's own copying sees what is still in the write-ahead log.
        with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"{file} has schema {found} and must be migrated, but cannot be copied first: {error}",
            hint="free some space, or allow writing in its folder",
            is_incomplete=is_disk_full(error),
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
    6: lambda _: None,  # judgments may have a turn, and rubrics may grade turns
}
"""The migration from each version to the next."""
