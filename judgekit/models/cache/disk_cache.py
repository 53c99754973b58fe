"""The reply cache in a folder: text under text keys, in an SQLite file written by diskcache.

It checks who may write there, replaces a damaged database by what can be recovered, and saves
replies elsewhere when it cannot write. Nothing is pickled or evicted; no other module imports
diskcache.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import threading
import warnings
import weakref
import zlib
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import diskcache

from judgekit.byte_lock import BEYOND_TEXT, FileLocks, lock_byte
from judgekit.errors import StoreError, is_disk_full
from judgekit.models.cache.entries import CacheWarning, WriteFailedError
from judgekit.models.cache.reply_cache import LocalKeyLocks, ReplyCache, SpillFile
from judgekit.models.cache.sql_rows import (
    MODE_RAW,
    MOST_TEXT,
    PACKED_REPLY,
    RAW_DEFLATE,
    REPLY_DICTIONARY,
    SELECT_VALUE,
    DamagedFileError,
    ReadOnlyRows,
    SqlRows,
    fetch_all,
    is_corruption,
    recover_rows,
    stored_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from judgekit.models.cache.sql_rows import Execute

_BATCH = 500
# A folder one may not write to is a choice of its owner; a full disk is a fault that must be seen.
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_CANNOT_OPEN = "unable to open database file"  # in SQLite's words, as these
_READ_ONLY = ("readonly database", _CANNOT_OPEN)


class DiskCache(ReplyCache):
    """A reply cache in a folder, shared by processes and threads.

    A folder that cannot be written is only read, with a warning; what the run fetches then goes to
    a spill file. A damaged database is set aside as `cache.db.corrupt-<UTC time>`, with a
    warning, and what can still be read of it is copied.

    Args:
        folder: Where it lives; made, with mode 0700, when it is missing. Must be on a local disk.
        read_only: Whether to open it without changing anything in the folder.
        temporary: Where a spill file goes when the folder takes none; None means the
            system's folder of temporary files.
        now: The clock, UTC; None takes that of the system.

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
        now: Callable[[], datetime] | None = None,
    ) -> None:
        place = CacheFolder(folder)
        if read_only:
            if place.identity() is None:
                raise StoreError(f"there is no cache in {place.path}")
            place.check_owner()
            rows: SqlRows = _open_read_only(place, "the cache was opened read-only")
            locks: LocalKeyLocks = LocalKeyLocks()
            goes_on = True
        else:
            rows, locks, goes_on = _open_writable(place)
        rescue = SpillFile(place.path, goes_on=goes_on, temporary=temporary)
        super().__init__(
            rows, locks, location=place.path, rescue=rescue, now=now or partial(datetime.now, UTC)
        )
        # Also of a cache that nobody closes: Python 3.13 warns of connections that are dropped.
        weakref.finalize(self, rows.close).atexit = False


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


class _Connections(threading.local):
    """The connection of each thread; none but the thread itself can close it, when it ends."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "con":
            super().__setattr__("closer", _close_later(value))
            next(self.closer)


def _close_later(connection: sqlite3.Connection) -> Iterator[None]:
    # Ended with its thread. From Python 3.13 on, a connection that nobody closes is a warning.
    with suppress(sqlite3.Error), closing(connection):
        yield


class DiskcacheRows(SqlRows, diskcache.Cache):  # type: ignore[misc]  # diskcache has no types
    """The rows of one SQLite file, over the connections and transactions of diskcache.

    Nothing else of diskcache is called: its own methods unpickle what they find in a row, and
    open and delete files that a row names. A planted row could so run code.
    """

    def __init__(self, folder: Path) -> None:
        try:
            super().__init__(str(folder), timeout=BUSY_TIMEOUT_S, **DISKCACHE_SETTINGS)
            stored = dict(self._sql("SELECT key, value FROM Settings").fetchall())
            self._local, opened = _Connections(), self._local
            self._local.pid, self._local.con = opened.pid, opened.con
        # diskcache trusts the settings it finds in the file as text, and as names of arguments.
        except (*_WRITE_ERRORS, *_WRONG_SETTINGS) as error:
            with suppress(AttributeError, sqlite3.Error):
                self.close()
            if not isinstance(error, _WRITE_ERRORS):
                words = f"the cache's settings were altered: {error}"
                raise DamagedFileError(words) from error
            raise _write_error(error, "opened") from error
        wrong = sorted(name for name, v in DISKCACHE_SETTINGS.items() if stored.get(name) != v)
        if wrong:
            self.close()
            raise StoreError(
                f"the cache in {folder} did not keep its settings: {', '.join(wrong)}",
                hint="another program changes them; give judgekit a separate folder",
            )

    execute = diskcache.Cache._sql  # noqa: SLF001 - diskcache's own way to this thread's connection
    """Runs one statement on the connection of this thread."""

    def change(self, action: Callable[[Execute], None]) -> None:
        try:
            try:
                with self.transact():
                    action(self._sql)
            except sqlite3.Error:
                # A commit that fails may leave the transaction open, which would fail the next.
                if self._con.in_transaction:
                    self._sql("ROLLBACK")
                raise
        except _WRITE_ERRORS as error:
            raise _write_error(error, "written") from error

    def close(self) -> None:
        diskcache.Cache.close(self)

    def _ask(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        return fetch_all(self._sql, statement, values)


_WRITE_ERRORS = (sqlite3.Error, diskcache.Timeout, OSError)
_WRONG_SETTINGS = (TypeError, ValueError, KeyError, AttributeError, AssertionError)


def _write_error(error: BaseException, what: str) -> StoreError:
    # diskcache hides why a transaction could not begin behind its Timeout, and a failed
    # rollback hides why it was rolled back.
    cause = error
    while isinstance(cause.__context__, sqlite3.Error):
        cause = cause.__context__
    if is_corruption(cause) or "Could not decode" in str(cause):
        return DamagedFileError(f"the cache's database is damaged: {cause}")
    return WriteFailedError(f"the cache could not be {what}: {cause}")


class SqliteRows(SqlRows):
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
        # Every cache hit comes through here, so the row is read without a detour over the reader.
        try:
            found = self._rows.execute(SELECT_VALUE, (name,)).fetchone()
        except sqlite3.Error:
            return super().text(name)  # which repairs the database, or says what is wrong
        if found is None:
            return None
        mode, filename, value = found
        # A reply, which is nearly every row that is asked for; `stored_text` reads the others and
        # says what is wrong with one.
        if mode == MODE_RAW and filename is None and value.__class__ is bytes:
            with suppress(zlib.error, UnicodeDecodeError):
                if value[:1] == PACKED_REPLY:
                    unpacker = zlib.decompressobj(RAW_DEFLATE, REPLY_DICTIONARY)
                    text = unpacker.decompress(value[1:], MOST_TEXT).decode()
                    if unpacker.eof:
                        return text
        return stored_text(mode, filename, value, self._dictionary)

    def problems(self) -> tuple[str, ...]:
        """It repairs nothing."""
        return self._rows.problems()

    def replace_damaged(self, damage: DamagedFileError) -> None:
        """Set the database aside, and begin a new one with what can be read of it."""
        self._reopen(self._rows, damage)

    def close(self) -> None:
        self._rows.close()

    def change(self, action: Callable[[Execute], None]) -> None:
        while True:
            rows = self._rows
            try:
                rows.change(action)
            except DamagedFileError as error:
                self._reopen(rows, error)
                self._rows.change(action)
            # Compared by device and inode: a database that was replaced has the same path.
            if self._place.identity() == self._identity:
                return
            # Another process set the file aside meanwhile: what was written is in the old one.
            self._reopen(self._rows, None)

    def _ask(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        rows = self._rows
        try:
            return fetch_all(rows.execute, statement, values)
        except DamagedFileError as error:
            self._reopen(rows, error)
            return fetch_all(self._rows.execute, statement, values)

    def _reopen(self, rows: DiskcacheRows, damage: DamagedFileError | None) -> None:
        with self._lock:
            if self._rows is not rows:
                return  # another thread was first
            try:
                # The whole folder may be gone, for example after a clean-up of temporary files.
                self._place.prepare()
                with self._place.opening():
                    is_present = self._place.identity() == self._identity
                    if self._place.identity() is None:
                        warnings.warn(
                            f"the cache's database {self._place.database} was removed while it was "
                            "in use; a new one is begun, and the replies in the old one are lost",
                            CacheWarning,
                            stacklevel=2,
                        )
                    aside = self._place.set_aside() if damage and is_present else None
                    rows.close()
                    self._rows, self._identity = self._open(aside)
            except OSError as error:
                raise WriteFailedError(f"the cache could not be repaired: {error}") from error

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
            n_replies = 0
            recovered = recover_rows(aside)
            while batch := dict(islice(recovered, _BATCH)):
                rows.write(batch)
                n_replies += sum(":" not in name for name in batch)
            warnings.warn(
                f"the cache's database was damaged; it is kept as {aside}, and a new one was begun "
                f"with the {n_replies} replies that could still be read",
                CacheWarning,
                stacklevel=2,
            )
        with suppress(StoreError):  # what is wrong is found when a row is read or written
            rows.pack_plain()
            self.learn_recent(rows)
        return rows, place.identity()


def _open_writable(place: CacheFolder) -> tuple[SqlRows, LocalKeyLocks, bool]:
    try:
        place.prepare()
        return SqliteRows(place), FileKeyLocks(place.lock_file), False
    except (OSError, WriteFailedError) as error:
        rows, goes_on = _open_unwritable(place, error)
    return rows, LocalKeyLocks(), goes_on


def _open_unwritable(place: CacheFolder, error: OSError | WriteFailedError) -> tuple[SqlRows, bool]:
    """What can be read where nothing can be written, and whether a run continues all the same."""
    number, reason = getattr(error, "errno", None), str(error)
    if isinstance(error, OSError) and not (number in _FORBIDDEN or is_disk_full(error)):
        raise StoreError(f"{place.path} cannot be a cache folder: {error.strerror}") from error
    # A folder that may only be read is a choice, and the run continues; on a full or failing
    # disk it must stop at the first reply that cannot be stored.
    is_denied = any(words in reason for words in _READ_ONLY) and place.is_protected()
    goes_on = number in _FORBIDDEN or is_denied
    rows: SqlRows | None = None
    unread: StoreError | OSError | None = None
    try:
        if place.identity() is not None:
            rows = _open_read_only(place, reason)
    except (StoreError, OSError) as second:
        unread = second
    if rows is None and not goes_on and _CANNOT_OPEN in reason:
        # Taken for empty, it would have every reply paid for again, in each run.
        raise StoreError(
            f"{place.database} cannot be the database of a cache: {reason}",
            hint="it must be a file, no folder and no link to nothing; or name another folder",
        ) from error
    warnings.warn(
        f"the cache folder {place.path} cannot be written ({reason}); it is only read",
        CacheWarning,
        stacklevel=4,
    )
    if unread is not None:
        warnings.warn(
            f"the cache in {place.path} cannot be read and is treated as empty: {unread}",
            CacheWarning,
            stacklevel=4,
        )
    return rows or ReadOnlyRows(None, immutable=False, reason=reason), goes_on


def _open_read_only(place: CacheFolder, reason: str) -> ReadOnlyRows:
    try:
        return ReadOnlyRows(place.database, immutable=False, reason=reason)
    except DamagedFileError:
        raise
    except StoreError:
        # SQLite reads a write-ahead database only where it can make a shared-memory file, unless
        # it knows that no process writes; with a log left behind that would skip what is in it.
        if place.has_log():
            raise
        return ReadOnlyRows(place.database, immutable=True, reason=reason)


_OFFSET_DIGITS = 15  # 60 bits, which fit the signed 64-bit offsets of POSIX locks


class FileKeyLocks(LocalKeyLocks):
    """Locks among processes as well: one byte of a file for each key; they die with their holder.

    Where two caches in one process have the same folder, they exclude each other as `FileLocks` do.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._file = FileLocks(path)
        self._pid = os.getpid()
        self._warned = False

    def try_acquire(self, key: str) -> bool:
        """As for threads; where the system refuses locks, it warns once and grants."""
        with self._lock:
            if self._pid != os.getpid():
                # A forked child shares its parent's open file, and with it the parent's locks.
                self._pid = os.getpid()
                self._held.clear()
                self._file.close()
            # Threads share the open file, so its locks do not keep them apart.
            if key in self._held:
                return False
            self._held.add(key)
        try:
            is_ours = self._file.try_acquire(int(key[:_OFFSET_DIGITS], 16))
        except StoreError as error:
            self._warn_once(error)
            return True
        if not is_ours:
            with self._lock:
                self._held.discard(key)
        return is_ours

    def release(self, key: str) -> None:
        """Release the lock of a key, also for other processes."""
        try:
            self._file.release(int(key[:_OFFSET_DIGITS], 16))
        except StoreError as error:
            self._warn_once(error)
        finally:
            with self._lock:
                self._held.discard(key)

    def close(self) -> None:
        super().close()
        self._file.close()

    def _warn_once(self, error: StoreError) -> None:
        if self._warned:
            return
        self._warned = True
        warnings.warn(
            f"{self._path}: the system grants no locks ({error.__cause__}); "
            "two processes may pay twice for a request they send at the same moment",
            CacheWarning,
            stacklevel=3,
        )


try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]  # the module is optional on Windows

DATABASE_FILE = "cache.db"
_SUFFIXES = ("", "-wal", "-shm")
_OPENED_MARK = b"judgekit cache\n"


class CacheFolder:
    """The files of one cache on disk."""

    def __init__(self, path: Path | str) -> None:
        # A program may change its folder while the cache is open.
        self.path = Path(path).absolute()
        self.database = self.path / DATABASE_FILE
        self.lock_file = self.path / "leases.lock"
        self._opening = self.path / "opening.lock"

    def prepare(self) -> None:
        """Make the folder, mode 0700, with its missing parents."""
        # Refuse one that others can change.
        missing = [self.path, *self.path.parents]
        for folder in reversed([each for each in missing if not each.exists()]):
            folder.mkdir(mode=0o700, exist_ok=True)
        self.check_owner()

    def check_owner(self) -> None:
        """Refuse a folder in which another user could plant a reply."""
        if os.name != "posix":  # pragma: no cover - Windows has no such modes
            return
        status = self.path.stat()
        # Folders of root are accepted (in a read-only image): root could change anything anyway.
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
            if fcntl is None:  # pragma: no cover - Windows
                lock_byte(descriptor, BEYOND_TEXT, wait=True)
            else:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def create_private(self) -> None:
        """Make the database file empty and 0600 before SQLite would make it by the umask."""
        # SQLite gives its side files the mode of the database. An existing one is not opened here:
        # closing it would drop the locks that SQLite has on it in this process (POSIX), and another
        # process would then delete the write-ahead log that is in use.
        with suppress(FileExistsError):
            os.close(os.open(self.database, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        for file in (Path(f"{self.database}{suffix}") for suffix in _SUFFIXES):
            if file.exists() and stat.S_IMODE(file.stat().st_mode) & 0o077:
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

    def is_protected(self) -> bool:
        """Whether this user may not write to the folder, the database or a file beside it."""
        files = [Path(f"{self.database}{suffix}") for suffix in _SUFFIXES]
        return any(one.exists() and not os.access(one, os.W_OK) for one in (self.path, *files))

    def identity(self) -> tuple[int, int] | None:
        """Which file the database is; None when there is none, or it cannot be seen."""
        try:
            status = os.stat(self.database)  # noqa: PTH116 - on the path of every write
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def set_aside(self) -> Path:
        when = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        aside = self.path / f"{DATABASE_FILE}.corrupt-{when}"
        for suffix in _SUFFIXES:
            file = Path(f"{self.database}{suffix}")
            if file.exists():
                file.rename(f"{aside}{suffix}")
        return aside


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
