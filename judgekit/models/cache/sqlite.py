"""The rows of a cache in an SQLite file of diskcache's layout, intact or damaged."""

from __future__ import annotations

import sqlite3
import threading
import time
import weakref
from abc import ABC, abstractmethod
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from judgekit.errors import StoreError
from judgekit.models.cache.entries import (
    COUNTS_ROW,
    DamagedEntryError,
    WriteFailedError,
    is_intact_row,
    is_row_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    Execute = Callable[[str, tuple[object, ...]], Any]

MODE_RAW = 1
"""The mode of a row whose value stands in the row itself, as text."""

SELECT_TEXT = "SELECT mode, filename, value FROM Cache WHERE key = ? AND raw = 1"
"""The columns from which `stored_text` makes the text of a row."""

# What `Cache.set` of diskcache does in two statements; there is no old file to clean up.
_UPSERT = (
    "INSERT INTO Cache (key, raw, store_time, access_time, mode, value)"
    " VALUES (?, 1, ?, ?, ?, ?) ON CONFLICT (key, raw) DO UPDATE SET"
    " store_time = excluded.store_time, access_time = excluded.access_time, mode = excluded.mode,"
    " value = excluded.value, filename = NULL, expire_time = NULL, tag = NULL, size = 0"
)

_TABLE = (
    "CREATE TABLE Cache (key, raw, store_time, access_time, expire_time, tag, size, mode, filename,"
    " value, UNIQUE (key, raw))"
)

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PAGE = 500
_OWN_ROWS = "raw = 1 AND typeof(key) = 'text'"


class DamagedFileError(StoreError):
    """The database file itself is damaged."""


class SqlRows(ABC):
    """Text under names in a database of diskcache's layout.

    Writes are all or none, and on disk when they return.
    """

    @abstractmethod
    def _ask(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        """Every row of the answer to one statement."""

    @abstractmethod
    def change(self, action: Callable[[Execute], None]) -> None:
        """Run the statements of an action as one transaction."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files."""

    def text(self, name: str) -> str | None:
        return _text(self._ask, name)

    def texts(self, names: Sequence[str]) -> Mapping[str, str]:
        # One statement for many rows is half the work.
        found: dict[str, str] = {}
        for start in range(0, len(names), _PAGE):
            page = tuple(names[start : start + _PAGE])
            marks = ",".join("?" * len(page))
            of_page = (
                f"SELECT key, mode, filename, value FROM Cache WHERE key IN ({marks}) AND raw = 1"  # noqa: S608 - question marks only
            )
            found.update((name, stored_text(*row)) for name, *row in self._ask(of_page, page))
        return found

    def names(self) -> Iterator[str]:
        # In pages, so that writers are not held up.
        after = ""
        page_of = f"SELECT key FROM Cache WHERE {_OWN_ROWS} AND key > ? ORDER BY key LIMIT {_PAGE}"  # noqa: S608 - constants
        while page := [row[0] for row in self._ask(page_of, (after,))]:
            after = page[-1]
            yield from filter(is_row_name, page)

    def count_replies(self) -> int:
        count = f"SELECT COUNT(*) FROM Cache WHERE {_OWN_ROWS} AND length(key) = 64"  # noqa: S608 - constants
        return int(self._ask(count, ())[0][0])

    def problems(self) -> tuple[str, ...]:
        """What SQLite finds wrong with the file, and rows that are not this cache's."""
        try:
            found = [str(row[0]) for row in self._ask("PRAGMA quick_check(20)", ())]
            n_rows = int(self._ask("SELECT COUNT(*) FROM Cache", ())[0][0])
            n_foreign = n_rows - sum(1 for _ in self.names())
        except StoreError as error:
            return (error.message,)
        if n_foreign:
            rows = "1 row is" if n_foreign == 1 else f"{n_foreign} rows are"
            found.append(f"{rows} not this cache's, and never read")
        return tuple(each for each in found if each != "ok")

    def write(self, rows: Mapping[str, str]) -> None:
        def action(execute: Execute) -> None:
            now = time.time()
            for name, text in rows.items():
                execute(_UPSERT, (name, now, now, MODE_RAW, text))

        self.change(action)

    def remove(self, names: Sequence[str]) -> None:
        def action(execute: Execute) -> None:
            for name in names:
                execute("DELETE FROM Cache WHERE key = ? AND raw = 1", (name,))

        self.change(action)

    def clear(self) -> None:
        """Remove every row; files named in other programs' rows are left alone."""
        self.change(lambda execute: execute("DELETE FROM Cache", ()))

    def add_counts(self, text_of: Callable[[str | None], str]) -> None:
        """Replace the row of counts by what `text_of` makes of it, as one step."""

        def action(execute: Execute) -> None:
            try:
                present = _text(partial(fetch_all, execute), COUNTS_ROW)
            except DamagedEntryError:
                present = None
            now = time.time()
            execute(_UPSERT, (COUNTS_ROW, now, now, MODE_RAW, text_of(present)))

        self.change(action)


class MemoryRows(SqlRows):
    """Rows in memory; gone with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(
            ":memory:", check_same_thread=False, isolation_level=None
        )
        self._connection.execute(_TABLE)
        weakref.finalize(self, self._connection.close)

    def change(self, action: Callable[[Execute], None]) -> None:
        with self._lock, self._connection:
            self._connection.execute("BEGIN")
            action(self._connection.execute)

    def close(self) -> None:
        """Nothing: what is only in memory would be lost."""

    def _ask(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        with self._lock:
            return fetch_all(self._connection.execute, statement, values)


class ReadOnlyRows(SqlRows):
    """The rows of a database that is only read; without a database there are none."""

    def __init__(self, database: Path | None, *, immutable: bool, reason: str) -> None:
        self._reason = reason
        self._lock = threading.Lock()
        place = ":memory:"
        if database is not None:
            place = f"{database.resolve().as_uri()}?mode=ro{'&immutable=1' if immutable else ''}"
        try:
            self._connection = sqlite3.connect(
                place, uri=True, check_same_thread=False, isolation_level=None
            )
        except sqlite3.Error as error:
            raise _read_error(error) from error
        if database is None:
            self._connection.execute(_TABLE)
        try:
            self.count_replies()
        except StoreError:
            self.close()
            raise

    def change(self, action: Callable[[Execute], None]) -> None:  # noqa: ARG002 - the interface
        raise WriteFailedError(f"the cache was not changed: {self._reason}")

    def add_counts(self, text_of: Callable[[str | None], str]) -> None:
        """Nothing: a cache that is only read stores no counts; opening it warned of that."""

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _ask(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        with self._lock:
            return fetch_all(self._connection.execute, statement, values)


def stored_text(mode: object, filename: object, value: object) -> str:
    """The value of a row, if it is text that stands in the row itself."""
    if mode != MODE_RAW or filename is not None or not isinstance(value, str):
        raise DamagedEntryError("the row is not plain text (a pickle or a file is refused)")
    return value


def is_corruption(error: BaseException | None) -> bool:
    """Whether an error of SQLite means a damaged file, not a busy, full or read-only one."""
    if not isinstance(error, sqlite3.Error):
        return False
    code = getattr(error, "sqlite_errorcode", None)
    is_emptied = "no such table" in str(error)
    return is_emptied or (code is not None and code & 0xFF in _DAMAGED)


def fetch_all(
    execute: Execute, statement: str, values: tuple[object, ...]
) -> list[tuple[Any, ...]]:
    """Every row of the answer to one statement; an error says what is wrong."""
    try:
        found: list[tuple[Any, ...]] = execute(statement, values).fetchall()
    except sqlite3.Error as error:
        raise _read_error(error) from error
    return found


def _text(ask: Callable[[str, tuple[object, ...]], list[tuple[Any, ...]]], name: str) -> str | None:
    rows = ask(SELECT_TEXT, (name,))
    return stored_text(*rows[0]) if rows else None


def _read_error(error: sqlite3.Error) -> StoreError:
    if is_corruption(error):
        return DamagedFileError(f"the cache's database is damaged: {error}")
    if "Could not decode" in str(error):
        return DamagedEntryError("the row is not UTF-8 text")
    return StoreError(f"the cache cannot be read: {error}")


_SELECT_NUMBERED = "SELECT key, mode, filename, value FROM Cache WHERE rowid = ? AND raw = 1"
_SMALLEST_ROW_BYTES = 512  # an entry's text alone is longer


def recover_rows(database: Path) -> Iterator[tuple[str, str]]:
    """The rows of a damaged database that can be read and whose checksum holds."""
    try:
        with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as found:
            # Without this SQLite reads nothing of a file that was cut short.
            found.execute("PRAGMA writable_schema = ON")
            found.execute("SELECT rowid FROM Cache WHERE rowid = 0").fetchall()
            try:
                last = int(found.execute("SELECT max(rowid) FROM Cache").fetchone()[0] or 0)
            except sqlite3.Error:
                last = database.stat().st_size // _SMALLEST_ROW_BYTES
            # One damaged page ends a scan, but not a look-up of a row on another page.
            for number in range(1, last + 1):
                with suppress(sqlite3.Error, DamagedEntryError):
                    for name, *row in found.execute(_SELECT_NUMBERED, (number,)).fetchall():
                        text = stored_text(*row)
                        if is_row_name(name) and is_intact_row(name, text):
                            yield name, text
    except sqlite3.Error:
        # Not a database any more: nothing to be had.
        return
