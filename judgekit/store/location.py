"""Decides which database a location means, makes its folder private, and opens the engine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from judgekit.errors import SettingsError, StoreError

if TYPE_CHECKING:
    import sqlite3

    from sqlalchemy.engine import Connection, Engine
    from sqlalchemy.pool import ConnectionPoolEntry

WRITES = "judgekit_writes"
"""The execution option of a connection whose transactions change something."""

_POSTGRES = frozenset({"postgres", "postgresql", "postgresql+psycopg"})
_SQLITE = frozenset({"sqlite", "sqlite+pysqlite"})


@dataclass(frozen=True, slots=True)
class Location:
    """Where a database is."""

    url: URL
    """Its address, with the driver judgekit uses."""

    file: Path | None
    """The file, for SQLite."""

    @property
    def name(self) -> str:
        """The location in words fit to be shown: without its password."""
        if self.file is not None:
            return str(self.file)
        return self.url.render_as_string(hide_password=True)


def locate(location: str | Path) -> Location:
    """Which database is meant."""
    if isinstance(location, Path) or "://" not in location:
        return _in_file(Path(location))
    try:
        url = make_url(location)
    except (ArgumentError, ValueError) as error:
        raise SettingsError(
            "the address of the database cannot be read",
            hint="write postgresql://USER@HOST/DATABASE, or the path of a file",
        ) from error
    if url.drivername in _POSTGRES:
        return Location(url.set(drivername="postgresql+psycopg"), None)
    if url.drivername in _SQLITE and url.database and url.database != ":memory:":
        return _in_file(Path(url.database))
    raise SettingsError(
        f"runs cannot be kept in {url.render_as_string(hide_password=True)}",
        hint="use the path of an SQLite file, or postgresql://USER@HOST/DATABASE",
    )


def _in_file(path: Path) -> Location:
    return Location(URL.create("sqlite+pysqlite", database=str(path)), path)


def prepare_file(file: Path, *, create: bool) -> None:
    """Make the database's folder (0700) and file (0600) where they are missing."""
    # A file that is there is not touched: closing a second descriptor of it would drop the locks
    # that SQLite holds on it in this process.
    if file.exists():
        return
    if not create:
        raise StoreError(f"there is no database {file}", hint="runs are kept by judgekit run")
    try:
        missing = [folder for folder in file.absolute().parents if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return  # another process was quicker
    except OSError as error:
        raise StoreError(
            f"the database {file} cannot be made: {error.strerror}",
            hint="name a folder that you may write to",
        ) from error


def open_engine(location: Location, *, patience_s: float) -> Engine:
    """The engine of a database; nothing is connected yet."""
    if location.file is not None:
        engine = create_engine(
            location.url, hide_parameters=True, connect_args={"timeout": patience_s}
        )
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        return create_engine(
            location.url,
            hide_parameters=True,
            pool_pre_ping=True,
            # A run reads its parts one after the other; they must be of the same moment.
            isolation_level="REPEATABLE READ",
            connect_args={"options": _options(location.url, patience_s)},
        )
    except ModuleNotFoundError as error:
        raise SettingsError(
            "PostgreSQL needs psycopg, which is not installed",
            hint='pip install "judgekit-llm[postgres]", or keep runs in a file',
        ) from error


def _options(url: URL, patience_s: float) -> str:
    given = url.query.get("options", "")
    given = given if isinstance(given, str) else " ".join(given)
    return f"{given} -c lock_timeout={int(patience_s * 1000)}".strip()


def _set_up_sqlite(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    # judgekit begins transactions itself: Python's module would begin them late, and a
    # transaction that reads first and writes afterwards fails where another wrote in between.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys = ON")
    # With a write-ahead log NORMAL loses nothing when a process is killed; FULL spares the last
    # commits even when the power goes. It costs 1 to 2 ms a commit, and a run commits in batches.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA cache_size = -32768")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
