"""The only door to diskcache: text under text keys, no pickle, no eviction, no files beside."""

from __future__ import annotations

import sqlite3
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import diskcache

from judgekit.errors import StoreError
from judgekit.models.cache.reading import (
    MODE_RAW,
    DamagedFileError,
    RowReader,
    is_damage,
    plain_text,
)
from judgekit.models.cache.rows import (
    COUNTS,
    CountsUpdate,
    DamagedEntryError,
    WriteFailedError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

# NORMAL loses no acknowledged write when a process is killed, only when the power fails, and then
# at most the last commits; FULL costs 2 ms of waiting for each reply. Memory mapping is off: a
# file that another process cuts short would end this one by SIGBUS.
SETTINGS: dict[str, int | str] = {
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
"""Given at every open and compared afterwards: they are kept in the file, where any program that
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
        return plain_text(mode, filename, value)

    def remove(self, file_path: object) -> None:
        """Nothing: this cache has no files, so a file name in a row is a stranger's."""


class DiskRows(diskcache.Cache):  # type: ignore[misc]  # diskcache has no types
    """Named text in one SQLite file; see `judgekit.models.cache.rows.Rows`."""

    def __init__(self, folder: Path) -> None:
        try:
            with _reported("opened"):
                super().__init__(str(folder), timeout=BUSY_TIMEOUT_S, disk=TextDisk, **SETTINGS)
                self._check_settings(folder)
        except StoreError:
            with suppress(AttributeError, sqlite3.Error):
                self.close()
            raise
        except (TypeError, KeyError, AttributeError, AssertionError) as error:
            # diskcache trusts the settings it finds in the file as names of arguments.
            raise DamagedFileError(f"the cache's settings were altered: {error}") from error
        self._reader = RowReader(self._fetch_all)

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
        """See `Rows.write`; one transaction."""
        with self._writing():
            now = time.time()
            for name, text in rows.items():
                self._sql(_UPSERT, (name, now, now, MODE_RAW, text))

    def remove(self, names: Sequence[str]) -> None:
        """See `Rows.remove`; one transaction, and no file is touched."""
        with self._writing():
            for name in names:
                self._sql("DELETE FROM Cache WHERE key = ? AND raw = 1", (name,))

    def clear(self) -> None:
        """See `Rows.clear`; files that strangers' rows name are left alone."""
        with self._writing():
            self._sql("DELETE FROM Cache")

    def add_counts(self, text_of: CountsUpdate) -> None:
        """See `Rows.add_counts`; one transaction."""
        with self._writing():
            try:
                present = self.text(COUNTS)
            except DamagedEntryError:
                present = None
            self.set(COUNTS, text_of(present))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with _reported("written"):
            try:
                with self.transact():
                    yield
            except sqlite3.Error:
                # A commit that fails may leave the transaction open, which would fail the next.
                if self._con.in_transaction:
                    self._sql("ROLLBACK")
                raise

    def _check_settings(self, folder: Path) -> None:
        held = dict(self._sql("SELECT key, value FROM Settings").fetchall())
        wrong = sorted(name for name, value in SETTINGS.items() if held.get(name) != value)
        if wrong:
            raise StoreError(
                f"the cache in {folder} did not keep its settings: {', '.join(wrong)}",
                hint="another program changes them; give judgekit a folder of its own",
            )

    def _fetch_all(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        return self._sql(statement, values).fetchall()  # type: ignore[no-any-return]  # diskcache has no types


@contextmanager
def _reported(what: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, diskcache.Timeout, OSError) as error:
        cause = _first_cause(error)
        if is_damage(cause):
            raise DamagedFileError(f"the cache's database is damaged: {cause}") from error
        raise WriteFailedError(f"the cache could not be {what}: {cause}") from error


def _first_cause(error: BaseException) -> BaseException:
    # diskcache hides why a transaction could not begin behind its Timeout, and a failed rollback
    # hides why it was rolled back.
    while isinstance(error.__context__, sqlite3.Error):
        error = error.__context__
    return error
