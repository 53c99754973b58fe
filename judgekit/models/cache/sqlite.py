"""Cache rows in an SQLite file of diskcache's layout, writable or read-only.

Holds text under text keys, without pickle or eviction; no other module imports diskcache.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import diskcache

from judgekit.errors import StoreError
from judgekit.models.cache.interface import (
    COUNTS_ROW,
    CountsUpdate,
    DamagedEntryError,
    WriteFailedError,
    is_row_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

# NORMAL loses no acknowledged write when a process is killed, only when the power fails, and then
# at most the last commits; FULL costs 2 ms of waiting for each reply. Memory mapping is off: a
# file that another process cuts short would end this one by SIGBUS.
DISKCACHE_SETTINGS: dict[str, int | str] = {
    "size_limit": 2**62,
    "eviction_policy": "none",
    "cull_limit": 0,
    "statistics": 0,
    "tag_index": 0,
    "disk_min_file_size": 2**62,
    "sqlite_journal_mode": "wal",
    "sqlite_synchronous": 1,
    "sqlite_mmap_size": 0,
}
"""Given at every open and compared afterwards: they are stored in the file, where any program that
opens the folder can change them."""

BUSY_TIMEOUT_S = 30.0
"""How long a write waits for another process's write, in seconds."""

# What `Cache.set` does in two statements; there is no old file to clean up.
_UPSERT = (
    "INSERT INTO Cache (key, raw, store_time, access_time, mode, value)"
    " VALUES (?, 1, ?, ?, ?, ?) ON CONFLICT (key, raw) DO UPDATE SET"
    " store_time = excluded.store_time, access_time = excluded.access_time, mode = excluded.mode,"
    " value = excluded.value, filename = NULL, expire_time = NULL, tag = NULL, size = 0"
)


class TextDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
    """Stores text only, in the database only, and refuses everything else on the way out.

    diskcache unpickles by one column of a row, and reads and deletes files by another; a row
    planted in the file would so run code or reach out of the folder. Nothing here opens or
    removes a file.
    """

    def put(self, key: object) -> tuple[str, bool]:
        """The database key of a key, as it stands."""
        if not isinstance(key, str):
            raise TypeError(f"a cache key is a text, not {type(key).__name__}")
        return key, True

    def get(self, key: object, raw: object) -> str:
        """The key of a row."""
        if not raw or not isinstance(key, str):
            raise DamagedEntryError("a row with a pickled key is refused")
        return key

    def store(self, value: object, read: object, key: object = None) -> tuple[int, int, None, str]:
        """The columns of a value; never a file."""
        del key
        if read or not isinstance(value, str):
            raise TypeError(f"a cache value is a text, not {type(value).__name__}")
        return 0, MODE_RAW, None, value

    def fetch(self, mode: object, filename: object, value: object, read: object) -> str:
        """The value of a row."""
        if read:
            raise DamagedEntryError("a cache value is never a file")
        return stored_text(mode, filename, value)

    def remove(self, file_path: object) -> None:
        """Nothing: this cache has no files, so a file name in a row is another program's."""


class DiskcacheRows(diskcache.Cache):  # type: ignore[misc]  # diskcache has no types
    """Named text in one SQLite file; see `judgekit.models.cache.interface.CacheRows`."""

    def __init__(self, folder: Path) -> None:
        try:
            with _map_write_errors("opened"):
                super().__init__(
                    str(folder), timeout=BUSY_TIMEOUT_S, disk=TextDisk, **DISKCACHE_SETTINGS
                )
                self._check_settings(folder)
        except StoreError:
            with suppress(AttributeError, sqlite3.Error):
                self.close()
            raise
        except (TypeError, KeyError, AttributeError, AssertionError) as error:
            # diskcache trusts the settings it finds in the file as names of arguments.
            raise DamagedFileError(f"the cache's settings were altered: {error}") from error
        self._reader = RowReader(self._fetch_all)

    execute = diskcache.Cache._sql  # noqa: SLF001 - diskcache's own way to this thread's connection
    """Runs one statement on the connection of this thread."""

    def text(self, name: str) -> str | None:
        """See `CacheRows.text`."""
        return self._reader.text(name)

    def texts(self, names: Sequence[str]) -> Mapping[str, str]:
        """See `CacheRows.texts`."""
        return self._reader.texts(names)

    def names(self) -> Iterator[str]:
        """See `CacheRows.names`."""
        return self._reader.names()

    def count_replies(self) -> int:
        """See `CacheRows.count_replies`."""
        return self._reader.count_replies()

    def problems(self) -> tuple[str, ...]:
        """See `CacheRows.problems`."""
        return self._reader.problems()

    def write(self, rows: Mapping[str, str]) -> None:
        """See `CacheRows.write`; one transaction."""
        with self._writing():
            now = time.time()
            for name, text in rows.items():
                self._sql(_UPSERT, (name, now, now, MODE_RAW, text))

    def remove(self, names: Sequence[str]) -> None:
        """See `CacheRows.remove`; one transaction, and no file is touched."""
        with self._writing():
            for name in names:
                self._sql("DELETE FROM Cache WHERE key = ? AND raw = 1", (name,))

    def clear(self) -> None:
        """See `CacheRows.clear`; files named in other programs' rows are left alone."""
        with self._writing():
            self._sql("DELETE FROM Cache")

    def add_counts(self, text_of: CountsUpdate) -> None:
        """See `CacheRows.add_counts`; one transaction."""
        with self._writing():
            try:
                present = self.text(COUNTS_ROW)
            except DamagedEntryError:
                present = None
            self.set(COUNTS_ROW, text_of(present))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with self.transact():
                yield
        except (sqlite3.Error, diskcache.Timeout, OSError) as error:
            # A commit that fails may leave the transaction open, which would fail the next.
            if isinstance(error, sqlite3.Error) and self._con.in_transaction:
                with _map_write_errors("written"):
                    self._sql("ROLLBACK")
            raise _write_error(error, "written") from error

    def _check_settings(self, folder: Path) -> None:
        held = dict(self._sql("SELECT key, value FROM Settings").fetchall())
        wrong = sorted(
            name for name, value in DISKCACHE_SETTINGS.items() if held.get(name) != value
        )
        if wrong:
            raise StoreError(
                f"the cache in {folder} did not keep its settings: {', '.join(wrong)}",
                hint="another program changes them; give judgekit a folder of its own",
            )

    def _fetch_all(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        return self._sql(statement, values).fetchall()  # type: ignore[no-any-return]  # diskcache has no types


@contextmanager
def _map_write_errors(what: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, diskcache.Timeout, OSError) as error:
        raise _write_error(error, what) from error


def _write_error(error: BaseException, what: str) -> StoreError:
    # diskcache hides why a transaction could not begin behind its Timeout, and a failed rollback
    # hides why it was rolled back.
    while isinstance(error.__context__, sqlite3.Error):
        error = error.__context__
    if is_corruption(error):
        return DamagedFileError(f"the cache's database is damaged: {error}")
    return WriteFailedError(f"the cache could not be {what}: {error}")


if TYPE_CHECKING:
    Query = Callable[[str, tuple[object, ...]], list[tuple[Any, ...]]]

MODE_RAW = 1
"""The mode of a row whose value stands in the row itself, as text."""

SELECT_TEXT = "SELECT mode, filename, value FROM Cache WHERE key = ? AND raw = 1"
"""The columns from which `stored_text` makes the text of a row."""

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PAGE = 500
_OWN_ROWS = "raw = 1 AND typeof(key) = 'text'"


class DamagedFileError(StoreError):
    """The database file itself is damaged."""


class RowReader:
    """Reads named text out of a database of diskcache's layout."""

    def __init__(self, query: Query) -> None:
        self._query = query

    def text(self, name: str) -> str | None:
        """The text of a row, or None when there is none."""
        rows = self._ask(SELECT_TEXT, (name,))
        return stored_text(*rows[0]) if rows else None

    def texts(self, names: Sequence[str]) -> dict[str, str]:
        """The texts of several rows, by name; one statement for many is half the work."""
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
        """The names of all rows of ours, ascending; in pages, so that writers are not held up."""
        after = ""
        page_of = f"SELECT key FROM Cache WHERE {_OWN_ROWS} AND key > ? ORDER BY key LIMIT {_PAGE}"  # noqa: S608 - constants
        while page := [row[0] for row in self._ask(page_of, (after,))]:
            after = page[-1]
            yield from filter(is_row_name, page)

    def count_replies(self) -> int:
        """How many rows are named by a bare key."""
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

    def _ask(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        try:
            return self._query(statement, values)
        except sqlite3.Error as error:
            raise map_read_error(error) from error


class ReadOnlyRows:
    """The rows of a database that is only read; see `judgekit.models.cache.interface.CacheRows`."""

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
        """See `CacheRows.text`."""
        return self._reader.text(name)

    def texts(self, names: Sequence[str]) -> Mapping[str, str]:
        """See `CacheRows.texts`."""
        return self._reader.texts(names)

    def names(self) -> Iterator[str]:
        """See `CacheRows.names`."""
        return self._reader.names()

    def count_replies(self) -> int:
        """See `CacheRows.count_replies`."""
        return self._reader.count_replies()

    def problems(self) -> tuple[str, ...]:
        """See `CacheRows.problems`."""
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
        """Nothing: a cache that is only read stores no counts; opening it warned of that."""

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    def _query(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(statement, values).fetchall()


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


def map_read_error(error: sqlite3.Error) -> StoreError:
    """What a failed read says: a damaged file, a damaged row, or a cache that cannot be read."""
    if is_corruption(error):
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
        raise map_read_error(error) from error
