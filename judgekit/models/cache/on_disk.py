"""The reply cache on disk: opens it safely, mends what is damaged, never loses a paid reply."""

from __future__ import annotations

import errno
import threading
import warnings
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from judgekit.errors import StoreError
from judgekit.models.cache.disk import DiskRows
from judgekit.models.cache.emergency import EmergencyFile
from judgekit.models.cache.folder import CacheFolder
from judgekit.models.cache.interface import CacheWarning
from judgekit.models.cache.kept import KeptReplies
from judgekit.models.cache.leases import FileLeases, Leases, LocalLeases
from judgekit.models.cache.reading import DamagedFileError, ReadOnlyRows
from judgekit.models.cache.rows import CountsUpdate, Rows, WriteFailedError
from judgekit.models.cache.salvage import salvaged_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
_T = TypeVar("_T")
_BATCH = 500
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_READ_ONLY = ("readonly database", "unable to open database file")  # in SQLite's words


class DiskCache(KeptReplies):
    """A reply cache in a folder, shared by processes and threads.

    A folder that cannot be written is only read, with a warning; what the run buys then goes to
    an emergency file. A damaged database is set aside as `cache.db.corrupt-<UTC time>`, with a
    warning, and what can still be read of it is taken over.

    Args:
        folder: Where it lives; made, with mode 0700, when it is missing. Must be on a local disk.
        read_only: Whether to open it without changing anything in the folder.
        temporary: Where an emergency file goes when the folder takes none; None means the
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
        rows, leases, goes_on = _read_only(place) if read_only else _writable(place)
        rescue = EmergencyFile(place.path, goes_on=goes_on, temporary=temporary)
        super().__init__(rows, leases, location=place.path, rescue=rescue, now=now)


class MendingRows:
    """The rows of a database that is set aside when it is found damaged, and begun anew.

    Another process may set the file aside while this one has it open. Every write is therefore
    checked afterwards: if the database is another file by then, it is written there again.
    """

    def __init__(self, place: CacheFolder) -> None:
        self._place = place
        self._lock = threading.RLock()
        with place.opening():
            self._rows, self._identity = self._open(None)

    def text(self, name: str) -> str | None:
        """See `Rows.text`."""
        return self._mended(lambda rows: rows.text(name))

    def texts(self, names: Sequence[str]) -> Mapping[str, str]:
        """See `Rows.texts`."""
        return self._mended(lambda rows: rows.texts(names))

    def names(self) -> Iterator[str]:
        """See `Rows.names`."""
        last = ""
        rows = self._rows
        try:
            for last in rows.names():
                yield last
        except DamagedFileError as error:
            self._reopen(rows, error)
            yield from (name for name in self._rows.names() if name > last)

    def count_replies(self) -> int:
        """See `Rows.count_replies`."""
        return self._mended(lambda rows: rows.count_replies())

    def problems(self) -> tuple[str, ...]:
        """See `Rows.problems`; looks only, and mends nothing."""
        return self._rows.problems()

    def write(self, rows: Mapping[str, str]) -> None:
        """See `Rows.write`."""
        self._written(lambda present: present.write(rows))

    def remove(self, names: Sequence[str]) -> None:
        """See `Rows.remove`."""
        self._written(lambda present: present.remove(names))

    def clear(self) -> None:
        """See `Rows.clear`."""
        self._written(lambda present: present.clear())

    def add_counts(self, text_of: CountsUpdate) -> None:
        """See `Rows.add_counts`."""
        self._written(lambda present: present.add_counts(text_of))

    def close(self) -> None:
        """Let go of the file."""
        self._rows.close()

    def _written(self, action: Callable[[DiskRows], None]) -> None:
        self._mended(action)
        while self._place.identity() != self._identity:
            self._reopen(self._rows, None)
            self._mended(action)

    def _mended(self, action: Callable[[DiskRows], _T]) -> _T:
        rows = self._rows
        try:
            return action(rows)
        except DamagedFileError as error:
            self._reopen(rows, error)
            return action(self._rows)

    def _reopen(self, rows: DiskRows, damage: DamagedFileError | None) -> None:
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

    def _open(self, aside: Path | None) -> tuple[DiskRows, tuple[int, int] | None]:
        place = self._place
        if aside is None and place.emptied():
            aside = place.set_aside()
        place.create_private()
        try:
            rows = DiskRows(place.path)
        except DamagedFileError:
            aside = place.set_aside()
            place.create_private()
            rows = DiskRows(place.path)
        place.mark_opened()
        if aside is not None:
            _take_over(aside, rows)
        return rows, place.identity()


def _take_over(aside: Path, rows: DiskRows) -> None:
    n_replies = 0
    for batch in _batches(salvaged_rows(aside)):
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


def _writable(place: CacheFolder) -> tuple[Rows, Leases, bool]:
    try:
        place.prepare()
        return MendingRows(place), FileLeases(place.leases), False
    except (OSError, WriteFailedError) as error:
        number = getattr(error, "errno", None)
        if isinstance(error, OSError) and number not in _FORBIDDEN | _FULL:
            raise StoreError(f"{place.path} cannot be a cache folder: {error.strerror}") from error
        warnings.warn(
            f"the cache folder {place.path} cannot be written ({error}); it is only read",
            CacheWarning,
            stacklevel=3,
        )
        # A folder that may only be read is a choice, and the run goes on; on a full or failing
        # disk it must stop at the first reply that cannot be kept.
        goes_on = number in _FORBIDDEN or any(words in str(error) for words in _READ_ONLY)
        return _readable(place, str(error)), LocalLeases(), goes_on


def _readable(place: CacheFolder, reason: str) -> Rows:
    try:
        if place.identity() is not None:
            return _opened_read_only(place, reason)
    except (StoreError, OSError) as error:
        warnings.warn(
            f"the cache in {place.path} cannot be read and is taken for empty: {error}",
            CacheWarning,
            stacklevel=4,
        )
    return ReadOnlyRows(None, immutable=False, reason=reason)


def _read_only(place: CacheFolder) -> tuple[Rows, Leases, bool]:
    if place.identity() is None:
        raise StoreError(f"there is no cache in {place.path}")
    place.check_owner()
    return _opened_read_only(place, "the cache was opened read-only"), LocalLeases(), True


def _opened_read_only(place: CacheFolder, reason: str) -> ReadOnlyRows:
    try:
        return ReadOnlyRows(place.database, immutable=False, reason=reason)
    except DamagedFileError:
        raise
    except StoreError:
        # SQLite reads a write-ahead database only where it can make a shared-memory file, unless
        # it is told that nobody writes; with a log left behind that would skip what is in it.
        if place.has_log():
            raise
        return ReadOnlyRows(place.database, immutable=True, reason=reason)
