"""The reply cache in a folder.

It checks who may write there, replaces a damaged database by what can be recovered, and spills
replies to a file when it cannot write.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import tempfile
import threading
import warnings
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from judgekit.errors import StoreError
from judgekit.models.cache.codec import encode_line, is_intact_row
from judgekit.models.cache.interface import (
    CacheEntry,
    CacheRows,
    CacheWarning,
    CountsUpdate,
    DamagedEntryError,
    WriteFailedError,
    is_row_name,
)
from judgekit.models.cache.locks import FileKeyLocks, KeyLocks, LocalKeyLocks
from judgekit.models.cache.reply_cache import RowCache
from judgekit.models.cache.sqlite import (
    MODE_RAW,
    SELECT_TEXT,
    DamagedFileError,
    DiskcacheRows,
    ReadOnlyRows,
    map_read_error,
    stored_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_T = TypeVar("_T")
_BATCH = 500
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_READ_ONLY = ("readonly database", "unable to open database file")  # in SQLite's words


class DiskCache(RowCache):
    """A reply cache in a folder, shared by processes and threads.

    A folder that cannot be written is only read, with a warning; what the run fetches then goes to
    a spill file. A damaged database is set aside as `cache.db.corrupt-<UTC time>`, with a
    warning, and what can still be read of it is copied.

    Args:
        folder: Where it lives; made, with mode 0700, when it is missing. Must be on a local disk.
        read_only: Whether to open it without changing anything in the folder.
        temporary: Where a spill file goes when the folder takes none; None means the
            system's folder of temporary files.
        now: The clock, UTC.

    Raises:
        StoreError: The folder belongs to another user or others may write to it; the database
            cannot be read; or `read_only` and there is none.
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        read_only: bool = False,
        temporary: Path | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        place = CacheFolder(folder)
        if read_only:
            if place.identity() is None:
                raise StoreError(f"there is no cache in {place.path}")
            place.check_owner()
            rows: CacheRows = _open_read_only(place, "the cache was opened read-only")
            leases: KeyLocks = LocalKeyLocks()
            goes_on = True
        else:
            rows, leases, goes_on = _open_writable(place)
        rescue = SpillFile(place.path, goes_on=goes_on, temporary=temporary)
        super().__init__(rows, leases, location=place.path, rescue=rescue, now=now)


class SqliteRows:
    """The rows of a database that is set aside when it is found damaged, and replaced by a new one.

    Another process may set the file aside while this one has it open. Every write is therefore
    checked afterwards: if the database is another file by then, it is written there again.
    """

    def __init__(self, place: CacheFolder) -> None:
        self._place = place
        self._lock = threading.RLock()
        with place.opening():
            self._rows, self._identity = self._open(None)

    def text(self, name: str) -> str | None:
        """See `CacheRows.text`."""
        # Every cache hit comes through here, so the row is read without a detour over the reader.
        rows = self._rows
        try:
            found = rows.execute(SELECT_TEXT, (name,)).fetchone()
        except sqlite3.Error as error:
            failure = map_read_error(error)
            if not isinstance(failure, DamagedFileError):
                raise failure from error
            self._reopen(rows, failure)
            return self._rows.text(name)
        if found is None:
            return None
        mode, filename, value = found
        is_plain = mode == MODE_RAW and filename is None and isinstance(value, str)
        return value if is_plain else stored_text(*found)  # which refuses it

    def texts(self, names: Sequence[str]) -> Mapping[str, str]:
        """See `CacheRows.texts`."""
        return self._repeat_if_damaged(methodcaller("texts", names))

    def names(self) -> Iterator[str]:
        """See `CacheRows.names`."""
        last = ""
        rows = self._rows
        try:
            for last in rows.names():
                yield last
        except DamagedFileError as error:
            self._reopen(rows, error)
            yield from (name for name in self._rows.names() if name > last)

    def count_replies(self) -> int:
        """See `CacheRows.count_replies`."""
        return self._repeat_if_damaged(DiskcacheRows.count_replies)

    def problems(self) -> tuple[str, ...]:
        """See `CacheRows.problems`; it repairs nothing."""
        return self._rows.problems()

    def write(self, rows: Mapping[str, str]) -> None:
        """See `CacheRows.write`."""
        self._write_checked(methodcaller("write", rows))

    def remove(self, names: Sequence[str]) -> None:
        """See `CacheRows.remove`."""
        self._write_checked(methodcaller("remove", names))

    def clear(self) -> None:
        """See `CacheRows.clear`."""
        self._write_checked(methodcaller("clear"))

    def add_counts(self, text_of: CountsUpdate) -> None:
        """See `CacheRows.add_counts`."""
        self._write_checked(methodcaller("add_counts", text_of))

    def close(self) -> None:
        """Let go of the file."""
        self._rows.close()

    def _write_checked(self, action: Callable[[DiskcacheRows], None]) -> None:
        while True:
            rows = self._rows
            try:
                action(rows)
            except DamagedFileError as error:
                self._reopen(rows, error)
                action(self._rows)
            if self._place.identity() == self._identity:
                return
            # Another process set the file aside meanwhile: what was written is in the old one.
            self._reopen(self._rows, None)

    def _repeat_if_damaged(self, action: Callable[[DiskcacheRows], _T]) -> _T:
        rows = self._rows
        try:
            return action(rows)
        except DamagedFileError as error:
            self._reopen(rows, error)
            return action(self._rows)

    def _reopen(self, rows: DiskcacheRows, damage: DamagedFileError | None) -> None:
        with self._lock:
            if self._rows is not rows:
                return  # another thread was first
            try:
                self._place.prepare()
                with self._place.opening():
                    is_present = self._place.identity() == self._identity
                    aside = self._place.set_aside() if damage and is_present else None
                    rows.close()
                    self._rows, self._identity = self._open(aside)
            except OSError as error:
                raise WriteFailedError(f"the cache could not be mended: {error}") from error

    def _open(self, aside: Path | None) -> tuple[DiskcacheRows, tuple[int, int] | None]:
        place = self._place
        if aside is None and place.emptied():
            aside = place.set_aside()
        place.create_private()
        try:
            rows = DiskcacheRows(place.path)
        except DamagedFileError:
            aside = place.set_aside()
            place.create_private()
            rows = DiskcacheRows(place.path)
        place.mark_opened()
        if aside is not None:
            _restore_recovered(aside, rows)
        return rows, place.identity()


def _restore_recovered(aside: Path, rows: DiskcacheRows) -> None:
    n_replies = 0
    for batch in _batches(recover_rows(aside)):
        rows.write(batch)
        n_replies += sum(":" not in name for name in batch)
    warnings.warn(
        f"the cache's database was damaged; it is kept as {aside}, and a new one was begun "
        f"with the {n_replies} replies that could still be read",
        CacheWarning,
        stacklevel=2,
    )


def _batches(rows: Iterator[tuple[str, str]]) -> Iterator[dict[str, str]]:
    while batch := dict(islice(rows, _BATCH)):
        yield batch


def _open_writable(place: CacheFolder) -> tuple[CacheRows, KeyLocks, bool]:
    try:
        place.prepare()
        return SqliteRows(place), FileKeyLocks(place.leases), False
    except (OSError, WriteFailedError) as error:
        number = getattr(error, "errno", None)
        if isinstance(error, OSError) and number not in _FORBIDDEN | _FULL:
            raise StoreError(f"{place.path} cannot be a cache folder: {error.strerror}") from error
        warnings.warn(
            f"the cache folder {place.path} cannot be written ({error}); it is only read",
            CacheWarning,
            stacklevel=3,
        )
        # A folder that may only be read is a choice, and the run continues; on a full or failing
        # disk it must stop at the first reply that cannot be stored.
        goes_on = number in _FORBIDDEN or any(words in str(error) for words in _READ_ONLY)
        return _rows_or_none(place, str(error)), LocalKeyLocks(), goes_on


def _rows_or_none(place: CacheFolder, reason: str) -> CacheRows:
    """The rows of a folder that cannot be written; none where they cannot be read either."""
    try:
        if place.identity() is not None:
            return _open_read_only(place, reason)
    except (StoreError, OSError) as error:
        warnings.warn(
            f"the cache in {place.path} cannot be read and is treated as empty: {error}",
            CacheWarning,
            stacklevel=4,
        )
    return ReadOnlyRows(None, immutable=False, reason=reason)


def _open_read_only(place: CacheFolder, reason: str) -> ReadOnlyRows:
    try:
        return ReadOnlyRows(place.database, immutable=False, reason=reason)
    except DamagedFileError:
        raise
    except StoreError:
        # SQLite reads a write-ahead database only where it can make a shared-memory file, unless
        # it is told that no process writes; with a log left behind that would skip what is in it.
        if place.has_log():
            raise
        return ReadOnlyRows(place.database, immutable=True, reason=reason)


try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]  # the module is optional on Windows

DATABASE_FILE = "cache.db"
_SIDE_FILES = ("-wal", "-shm")
_OPENED_MARK = b"judgekit cache\n"


class CacheFolder:
    """The files of one cache on disk."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.database = self.path / DATABASE_FILE
        self.leases = self.path / "leases.lock"
        self._opening = self.path / "opening.lock"

    def prepare(self) -> None:
        """Make the folder, mode 0700, with its missing parents.

        Refuse one that others can change.
        """
        missing = [self.path, *self.path.parents]
        for folder in reversed([each for each in missing if not each.exists()]):
            folder.mkdir(mode=0o700, exist_ok=True)
        self.check_owner()

    def check_owner(self) -> None:
        """Refuse a folder in which another user could plant a reply."""
        if os.name != "posix":  # pragma: no cover - Windows has no such modes
            return
        status = self.path.stat()
        # What root owns, root could change anyway: an image's folder, mounted to be read.
        if status.st_uid not in {os.geteuid(), 0}:
            raise StoreError(
                f"the cache folder {self.path} belongs to another user",
                hint="name a folder of your own, or export that cache and import its lines",
            )
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise StoreError(
                f"others may write to the cache folder {self.path}, so its replies prove nothing",
                hint=f"chmod 700 {self.path}",
            )

    @contextmanager
    def opening(self) -> Iterator[None]:
        """Hold the lock for opening or replacing the database; other processes wait."""
        descriptor = os.open(self._opening, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def create_private(self) -> None:
        """Make the database file empty and 0600 before SQLite would make it by the umask."""
        # SQLite gives its side files the mode of the database.
        os.close(os.open(self.database, os.O_RDWR | os.O_CREAT, 0o600))
        for file in self._files():
            if stat.S_IMODE(file.stat().st_mode) & 0o077:
                file.chmod(0o600)

    def mark_opened(self) -> None:
        """Note that the database was begun, so that an empty one is known for damage later."""
        if self._opening.stat().st_size == 0:
            self._opening.write_bytes(_OPENED_MARK)

    def emptied(self) -> bool:
        """Whether the database is empty or gone although something was in it once."""
        # SQLite takes an empty file for a new database, and deletes its write-ahead log.
        if _size(self.database):
            return False
        was_opened = self.database.exists() and bool(_size(self._opening))
        return was_opened or self.has_log()

    def has_log(self) -> bool:
        """Whether the database has a write-ahead log with something in it."""
        return bool(_size(Path(f"{self.database}-wal")))

    def identity(self) -> tuple[int, int] | None:
        """Which file the database is; None when there is none, or it cannot be seen."""
        try:
            status = os.stat(self.database)  # noqa: PTH116 - on the path of every write
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def set_aside(self) -> Path:
        """Rename a damaged database and its side files."""
        when = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        aside = self.path / f"{DATABASE_FILE}.corrupt-{when}"
        for suffix in ("", *_SIDE_FILES):
            file = Path(f"{self.database}{suffix}")
            if file.exists():
                file.rename(f"{aside}{suffix}")
        return aside

    def _files(self) -> Iterator[Path]:
        for suffix in ("", *_SIDE_FILES):
            file = Path(f"{self.database}{suffix}")
            if file.exists():
                yield file


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


class SpillFile:
    """Appends entries to one file beside the cache or, where that fails, among temporary files.

    The file is made at the first need, mode 0600, and can be imported like any export.
    """

    def __init__(self, folder: Path, *, goes_on: bool, temporary: Path | None = None) -> None:
        self._folder = folder
        self._goes_on = goes_on
        self._temporary = temporary
        self._path: Path | None = None
        self._lock = threading.Lock()
        self._named: Path | None = None

    def save(self, entry: CacheEntry, cause: StoreError) -> None:
        """Append an entry; see `judgekit.models.cache.reply_cache.Spill.save`."""
        with self._lock:
            path = self._append(encode_line(entry).encode("ascii") + b"\n", entry.key, cause)
        hint = f"once the folder can be written again: judgekit cache import {path}"
        if not self._goes_on:
            raise StoreError(
                f"{cause.message}; the reply {entry.key[:12]} was saved in {path} instead",
                hint=hint,
            ) from cause
        if path != self._named:
            self._named = path
            warnings.warn(
                f"{cause.message}; replies of this run are saved in {path} instead\n  {hint}",
                CacheWarning,
                stacklevel=4,
            )

    def _append(self, line: bytes, key: str, cause: StoreError) -> Path:
        errors = []
        for make in (self._present, self._beside, self._among_temporary):
            path = None
            try:
                path = make()
                _append_synced(path, line)
            except OSError as error:
                errors.append(str(error))
                _remove_if_empty(path)
            else:
                self._path = path
                return path
        raise StoreError(
            f"{cause.message}, and the paid reply {key[:12]} could not be saved anywhere else: "
            f"{'; '.join(errors)}",
            hint="make room on the disk, then run again; only this reply is asked again",
        ) from cause

    def _present(self) -> Path:
        if self._path is None:
            raise FileNotFoundError("no emergency file yet")
        return self._path

    def _beside(self) -> Path:
        when = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        path = self._folder / f"emergency-{when}-{os.getpid()}.jsonl"
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        return path

    def _among_temporary(self) -> Path:
        descriptor, name = tempfile.mkstemp(
            prefix="judgekit-emergency-", suffix=".jsonl", dir=self._temporary
        )
        os.close(descriptor)
        return Path(name)


def _remove_if_empty(path: Path | None) -> None:
    with suppress(OSError):
        if path is not None and path.stat().st_size == 0:
            path.unlink()


def _append_synced(path: Path, line: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        length = os.fstat(descriptor).st_size
        if os.write(descriptor, line) != len(line):
            # A torn line would spoil the file for the import.
            os.ftruncate(descriptor, length)
            raise OSError(f"no room for {len(line)} bytes in {path}")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_SMALLEST_ROW_BYTES = 512  # an entry's text alone is longer


def recover_rows(database: Path) -> Iterator[tuple[str, str]]:
    """The rows of a damaged database that can be read and whose checksum holds."""
    try:
        with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as found:
            # Without this SQLite reads nothing of a file that was cut short.
            found.execute("PRAGMA writable_schema = ON")
            # One damaged page ends a scan, but not a look-up of a row on another page.
            for number in range(1, _last_row_number(found, database) + 1):
                row = _recover_row(found, number)
                if row is not None:
                    yield row
    except sqlite3.Error:
        # Not a database any more: nothing to be had.
        return


def _last_row_number(found: sqlite3.Connection, database: Path) -> int:
    found.execute("SELECT rowid FROM Cache WHERE rowid = 0").fetchall()
    try:
        return int(found.execute("SELECT max(rowid) FROM Cache").fetchone()[0] or 0)
    except sqlite3.Error:
        return database.stat().st_size // _SMALLEST_ROW_BYTES


def _recover_row(found: sqlite3.Connection, number: int) -> tuple[str, str] | None:
    try:
        rows = found.execute(
            "SELECT key, mode, filename, value FROM Cache WHERE rowid = ? AND raw = 1", (number,)
        ).fetchall()
        if not rows or not is_row_name(rows[0][0]):
            return None
        name, text = str(rows[0][0]), stored_text(*rows[0][1:])
    except (sqlite3.Error, DamagedEntryError):
        return None
    return (name, text) if is_intact_row(name, text) else None
