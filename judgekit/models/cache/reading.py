"""Reads the rows of a cache's database, and tells a damaged file from a busy or full one."""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING, Any

from judgekit.errors import StoreError
from judgekit.models.cache.rows import (
    CountsUpdate,
    DamagedEntryError,
    WriteFailedError,
    is_row_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    Query = Callable[[str, tuple[object, ...]], list[tuple[Any, ...]]]

MODE_RAW = 1
"""The mode of a row whose value stands in the row itself, as text."""

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PAGE = 500
_OURS = "raw = 1 AND typeof(key) = 'text'"


class DamagedFileError(StoreError):
    """The database file itself is damaged."""


class RowReader:
    """Reads named text out of a database of diskcache's layout."""

    def __init__(self, query: Query) -> None:
        self._query = query

    def text(self, name: str) -> str | None:
        """The text of a row, or None when there is none."""
        rows = self._ask(
            "SELECT mode, filename, value FROM Cache WHERE key = ? AND raw = 1", (name,)
        )
        return plain_text(*rows[0]) if rows else None

    def texts(self, names: Sequence[str]) -> dict[str, str]:
        """The texts of several rows, by name; one statement for many is half the work."""
        found: dict[str, str] = {}
        for start in range(0, len(names), _PAGE):
            page = tuple(names[start : start + _PAGE])
            marks = ",".join("?" * len(page))
            of_page = (
                f"SELECT key, mode, filename, value FROM Cache WHERE key IN ({marks}) AND raw = 1"  # noqa: S608 - question marks only
            )
            found.update((name, plain_text(*row)) for name, *row in self._ask(of_page, page))
        return found

    def names(self) -> Iterator[str]:
        """The names of all rows of ours, ascending; in pages, so that writers are not held up."""
        after = ""
        page_of = f"SELECT key FROM Cache WHERE {_OURS} AND key > ? ORDER BY key LIMIT {_PAGE}"  # noqa: S608 - constants
        while page := [row[0] for row in self._ask(page_of, (after,))]:
            after = page[-1]
            yield from filter(is_row_name, page)

    def count_replies(self) -> int:
        """How many rows are named by a bare key."""
        count = f"SELECT COUNT(*) FROM Cache WHERE {_OURS} AND length(key) = 64"  # noqa: S608 - constants
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

    def _ask(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        try:
            return self._query(statement, values)
        except sqlite3.Error as error:
            raise _read_error(error) from error


class ReadOnlyRows:
    """The rows of a database that is only read; see `judgekit.models.cache.rows.Rows`."""

    def __init__(self, database: Path | None, *, immutable: bool, reason: str) -> None:
        self._reason = reason
        self._lock = threading.Lock()
        self._connection = _connect(database, immutable=immutable)
        self._reader = RowReader(self._query)
        try:
            self._reader.count_replies()
        except StoreError:
            self.close()
            raise

    def text(self, name: str) -> str | None:
        """See `Rows.text`."""
        return self._reader.text(name)

    def texts(self, names: Sequence[str]) -> Mapping[str, str]:
        """See `Rows.texts`."""
        return self._reader.texts(names)

    def names(self) -> Iterator[str]:
        """See `Rows.names`."""
        return self._reader.names()

    def count_replies(self) -> int:
        """See `Rows.count_replies`."""
        return self._reader.count_replies()

    def problems(self) -> tuple[str, ...]:
        """See `Rows.problems`."""
        return self._reader.problems()

    def write(self, rows: Mapping[str, str]) -> None:
        """Always raises `WriteFailedError`, with nothing written."""
        raise WriteFailedError(f"{len(rows)} rows were not written: {self._reason}")

    def remove(self, names: Sequence[str]) -> None:
        """Always raises `WriteFailedError`, with nothing removed."""
        raise WriteFailedError(f"{len(names)} rows were not removed: {self._reason}")

    def clear(self) -> None:
        """Always raises `WriteFailedError`, with nothing removed."""
        raise WriteFailedError(f"the cache was not cleared: {self._reason}")

    def add_counts(self, text_of: CountsUpdate) -> None:
        """Nothing: a cache that is only read keeps no counts; opening it said so."""

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    def _query(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(statement, values).fetchall()


def plain_text(mode: object, filename: object, value: object) -> str:
    """The value of a row, if it is text that stands in the row itself."""
    if mode != MODE_RAW or filename is not None or not isinstance(value, str):
        raise DamagedEntryError("the row is not plain text (a pickle or a file is refused)")
    return value


def is_damage(error: BaseException | None) -> bool:
    """Whether an error of SQLite says that the file is damaged, not busy, full or read-only."""
    if not isinstance(error, sqlite3.Error):
        return False
    code = getattr(error, "sqlite_errorcode", None)
    is_emptied = "no such table" in str(error)
    return is_emptied or (code is not None and code & 0xFF in _DAMAGED)


def _read_error(error: sqlite3.Error) -> StoreError:
    if is_damage(error):
        return DamagedFileError(f"the cache's database is damaged: {error}")
    if "Could not decode" in str(error):
        return DamagedEntryError("the row is not UTF-8 text")
    return StoreError(f"the cache cannot be read: {error}")


def _connect(database: Path | None, *, immutable: bool) -> sqlite3.Connection:
    if database is None:
        connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        connection.execute("CREATE TABLE Cache (key, raw, mode, filename, value)")
        return connection
    uri = f"{database.resolve().as_uri()}?mode=ro{'&immutable=1' if immutable else ''}"
    try:
        return sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None)
    except sqlite3.Error as error:
        raise _read_error(error) from error
