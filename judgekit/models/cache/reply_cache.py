"""The rules of a reply cache over any rows, and the cache in memory.

They say what is stored, what may be served and what it saved; the cache on disk is in
`disk_cache`.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
import threading
import warnings
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import count, islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Self

from judgekit.byte_lock import BEYOND_TEXT, lock_byte
from judgekit.errors import SettingsError, StoreError
from judgekit.fingerprint import canonical_json
from judgekit.models.cache.entries import (
    COUNTS_ROW,
    CacheCounts,
    CacheEntry,
    CacheWarning,
    DamagedEntryError,
    Rows,
    decode_entry,
    decode_request,
    decode_row,
    encode_entry,
    encode_line,
    is_cache_key,
    is_servable,
    rejected_row,
    request_row,
)
from judgekit.models.cache.sql_rows import MemoryRows

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
    from io import FileIO

    from judgekit.models.request import ModelReply, ModelRequest
    from judgekit.records import JsonObject

FLUSH_EVERY = 512
"""Hits between two writes of the counts; a killed process loses at most so many."""

_PAGE = 250
_FIRST_REJECTED = ":rejected:0"  # the end of a name as `rejected_row` makes it


class ReplyCache:
    """Stores replies by the key of their request; safe to share between threads."""

    def __init__(
        self,
        rows: Rows,
        locks: LocalKeyLocks,
        *,
        location: Path | None = None,
        rescue: SpillFile | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._rows = rows
        self._locks = locks
        self._location = location
        self.rescue = rescue
        self._now = now
        self._rescued: dict[str, ModelReply] = {}
        self.missed: dict[str, ModelRequest] | None = None
        """The requests that a frozen judge could not be answered, by key, where they are wanted:
        they are sent as batches."""
        self._counted = CacheCounts()  # since the counts were last written, by this process
        self._pid = os.getpid()
        self._counting = threading.Lock()

    def __reduce__(self) -> NoReturn:
        raise SettingsError(
            "a cache that is open cannot be pickled", hint="name its folder instead"
        )

    @property
    def location(self) -> Path | None:
        """The folder it lives in; None when it lives in memory or on a server."""
        return self._location

    def n_bytes(self) -> int | None:
        """What it takes on disk or on a server; None in memory."""
        if self._location is None:
            return self._rows.n_bytes()
        files = self._location.glob("cache.db*")
        return sum(file.stat().st_size for file in files if file.is_file())

    def get(self, key: str) -> ModelReply | None:
        """The reply to serve for a key; nothing is counted."""
        try:
            text = self._rows.text(key)
            if text is not None:
                return decode_row(text, key)[0]
        except DamagedEntryError as error:
            _warn_damaged(key, error)
        return self._rescued.get(key)

    def get_many(self, keys: Sequence[str]) -> dict[str, ModelReply]:
        """The replies to serve for several keys, with one look; nothing is counted."""
        try:
            texts = self._rows.texts(keys)
        except DamagedEntryError:
            found = {key: self.get(key) for key in keys}  # one by one, to know which it is
        else:
            found = {key: self._rescued.get(key) for key in keys}
            for key, text in texts.items():
                try:
                    found[key] = decode_row(text, key)[0]
                except DamagedEntryError as error:
                    _warn_damaged(key, error)
        return {key: reply for key, reply in found.items() if reply is not None}

    def put(self, request: ModelRequest, reply: ModelReply) -> None:
        """Store a reply; it is on disk when this returns, and replaces an older one."""
        # A programming error, not damage: a truncated reply would be served for ever.
        if not is_servable(reply):
            raise ValueError(f"a reply that ended by {reply.finish_reason!r} may not be served")
        self._write_entry(request, reply, request.key)

    def put_rejected(self, request: ModelRequest, reply: ModelReply) -> None:
        """Store for the record a reply that was paid for but may not be served."""
        name = self._free_rejected_row(request.key, {})
        self._write_entry(request, reply, name, rejected=True)

    def restore(self, entries: Sequence[CacheEntry]) -> None:
        """Store entries that come from elsewhere, all or none, replacing those of the same key."""
        rows: dict[str, str] = {}
        for entry in entries:
            name = self._free_rejected_row(entry.key, rows) if entry.rejected else entry.key
            rows[name] = encode_entry(entry)
            if entry.request is not None:
                rows[request_row(entry.key)] = entry.canonical_request
        self._rows.write(rows)

    def delete(self, key: str) -> bool:
        """Delete the reply that is served for a key, intact or damaged."""
        was_rescued = self._rescued.pop(key, None) is not None
        if not self._has(key):
            return was_rescued
        # A rejected reply of the same key still needs the request row.
        is_needed = self._has(rejected_row(key, 0))
        self._rows.remove([key] if is_needed else [key, request_row(key)])
        return True

    def delete_all(self, keys: Iterable[str]) -> None:
        """Delete the replies that are served for several keys."""
        needed = {*self.rejected_keys()}  # as in `delete`
        for page in _pages(keys):
            self._rows.remove([*page, *(request_row(key) for key in page if key not in needed)])

    def forget_rejected(self, key: str) -> int:
        """Delete the rejected replies of a key, and not the one that is served."""
        names = list(self._rejected_rows(key))
        if names:
            self._rows.remove(names if self._has(key) else [*names, request_row(key)])
        return len(names)

    def clear(self) -> None:
        """Delete everything: entries, rejected replies, counts, and rows of other programs."""
        self._rescued.clear()
        with self._counting:
            self._counted = CacheCounts()
        self._rows.clear()

    def keys(self) -> Iterator[str]:
        """The keys that hold a reply to serve, in ascending order."""
        return (name for name in self._rows.names() if is_cache_key(name))

    def entry(self, key: str) -> CacheEntry | None:
        """The whole entry of a key; no hit is counted."""
        text = self._rows.text(key)
        return None if text is None else decode_entry(text, key, self.request_parts(key))

    def entries(
        self, keys: Iterable[str] | None = None
    ) -> Iterator[tuple[str, CacheEntry | DamagedEntryError]]:
        """Each of the keys, or every key, with its entry or what is wrong with it."""
        for page in _pages(self.keys() if keys is None else keys):
            try:
                texts = self._rows.texts([*page, *map(request_row, page)])
            except DamagedEntryError:
                texts = None  # one by one, to know which it is
            for key in page:
                try:
                    entry = self.entry(key) if texts is None else _entry_in(texts, key)
                except DamagedEntryError as error:
                    yield key, error
                else:
                    if entry is not None:  # else another process deleted it meanwhile
                        yield key, entry

    def rejected_keys(self) -> Iterator[str]:
        """The keys that hold rejected replies, in ascending order."""
        return (name[:64] for name in self._rows.names() if name.endswith(_FIRST_REJECTED))

    def has_rejected(self, key: str) -> bool:
        """Whether there are rejected replies of a key."""
        try:
            return self._rows.text(f"{key}{_FIRST_REJECTED}") is not None
        except DamagedEntryError:
            return True

    def rejected(self, key: str) -> tuple[CacheEntry, ...]:
        """The rejected replies of a key, oldest first; damaged ones are left out."""
        parts = self.request_parts(key)
        entries = []
        for name in self._rejected_rows(key):
            try:
                entries.append(decode_entry(self._rows.text(name) or "", key, parts))
            except DamagedEntryError as error:
                _warn(f"a rejected reply of {key[:12]} is damaged and left out: {error.message}")
        return tuple(entries)

    def request_parts(self, key: str) -> JsonObject | None:
        """The request of a key, whether its reply is served or rejected."""
        name = request_row(key)
        try:
            text = self._rows.text(name)
        except DamagedEntryError:
            return None
        return _request_in({} if text is None else {name: text}, key)

    def problems(self) -> tuple[str, ...]:
        """What is wrong with the storage itself, in words; empty when it is intact."""
        return self._rows.problems()

    def count_hit(self, reply: ModelReply) -> None:
        """Count a request that was answered without a call of its own."""
        with self._counting:
            counted = self._counted if self._pid == os.getpid() else self._begin_counts()
            # Written out: it is on the path of every hit.
            self._counted = CacheCounts(
                n_hits=counted.n_hits + 1,
                n_misses=counted.n_misses,
                saved_usd=counted.saved_usd + (reply.cost_usd or 0.0),
                n_unpriced_hits=counted.n_unpriced_hits + (reply.cost_usd is None),
                saved_ms=counted.saved_ms + (reply.duration_ms or 0.0),
            )
            # Counts are written in batches: one write for each hit would cost more than the hit.
            is_due = self._counted.n_hits >= FLUSH_EVERY
        if is_due:
            self._flush_counts()

    def count_miss(self) -> None:
        """Count a request that the cache could not answer."""
        with self._counting:
            counted = self._counted if self._pid == os.getpid() else self._begin_counts()
            self._counted = replace(counted, n_misses=counted.n_misses + 1)

    def counts(self) -> CacheCounts:
        """What the cache has saved so far, this run included."""
        text = None
        with self._counting:
            try:
                text = self._rows.text(COUNTS_ROW)
            except DamagedEntryError as error:
                _warn(f"the counts of the cache are damaged: {error.message}")
            return _decode_counts(text) + self._counted

    def try_lease(self, key: str) -> bool:
        """Try to become the only caller that fetches a key; never waits."""
        return self._locks.try_acquire(key)

    def release(self, key: str) -> None:
        """Let other callers fetch a key."""
        self._locks.release(key)

    def close(self) -> None:
        """Write the counts and close the files; a closed cache is not used again."""
        self._flush_counts()
        self._locks.close()
        self._rows.close()

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def __len__(self) -> int:
        return self._rows.count_replies()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _write_entry(
        self, request: ModelRequest, reply: ModelReply, name: str, *, rejected: bool = False
    ) -> None:
        entry = CacheEntry(
            key=request.key,
            request=None,  # its text does
            reply=reply,
            created_at=self._now().astimezone(UTC).isoformat(timespec="milliseconds"),
            rejected=rejected,
        )
        rows = {name: encode_entry(entry), request_row(entry.key): request.key_text}
        try:
            self._rows.write(rows)
        except StoreError as error:
            if self.rescue is None:
                raise
            if not rejected:
                # Also in memory: the same question in this run must not be paid for twice.
                self._rescued[entry.key] = decode_row(rows[name], entry.key)[0]
            self.rescue.save(replace(entry, request=request.key_parts), error)

    def _has(self, name: str) -> bool:
        try:
            return self._rows.text(name) is not None
        except DamagedEntryError:
            return True

    def _rejected_rows(self, key: str) -> Iterator[str]:
        # Rows are numbered without gaps, so the first free number is found without a scan.
        return takewhile(self._has, (rejected_row(key, number) for number in count()))

    def _free_rejected_row(self, key: str, names: Container[str]) -> str:
        numbers = count(len(list(self._rejected_rows(key))))
        return next(row for n in numbers if (row := rejected_row(key, n)) not in names)

    def _begin_counts(self) -> CacheCounts:
        # A forked child would write its parent's counts a second time.
        self._pid, self._counted = os.getpid(), CacheCounts()
        return self._counted

    def _flush_counts(self) -> None:
        with self._counting:
            if self._pid != os.getpid():
                self._begin_counts()
            # Swapped under the lock, written outside it: a slow disk must not stop other threads.
            counted, self._counted = self._counted, CacheCounts()
        if counted == CacheCounts():
            return
        try:
            self._rows.add_counts(
                lambda present: canonical_json(asdict(_decode_counts(present) + counted))
            )
        except StoreError as error:
            # The counts are a convenience; the run continues without them.
            _warn(f"the counts of the cache could not be written: {error.message}")


def _pages(keys: Iterable[str]) -> Iterator[list[str]]:
    """In parts: an answer of a server takes as long for many rows as for one."""
    left = iter(keys)
    while page := [*islice(left, _PAGE)]:
        yield page


def _request_in(texts: Mapping[str, str], key: str) -> JsonObject | None:
    text = texts.get(request_row(key))
    try:
        return None if text is None else decode_request(text, key)
    except DamagedEntryError:
        return None


def _entry_in(texts: Mapping[str, str], key: str) -> CacheEntry | None:
    text = texts.get(key)
    request = _request_in(texts, key)
    request_text = None if request is None else texts[request_row(key)]
    return None if text is None else decode_entry(text, key, request, request_text)


def _decode_counts(text: str | None) -> CacheCounts:
    if text is None:
        return CacheCounts()
    try:
        stored = json.loads(text)
        counts = CacheCounts(
            n_hits=int(stored["n_hits"]),
            n_misses=int(stored["n_misses"]),
            saved_usd=float(stored["saved_usd"]),
            n_unpriced_hits=int(stored["n_unpriced_hits"]),
            saved_ms=float(stored["saved_ms"]),
        )
        if math.isfinite(counts.saved_usd + counts.saved_ms):
            return counts
    except (ValueError, TypeError, LookupError, OverflowError):
        pass
    _warn("the counts of the cache are damaged; they begin again from zero")
    return CacheCounts()


def _warn_damaged(key: str, error: DamagedEntryError) -> None:
    _warn(f"the entry {key[:12]} is damaged and counts as a miss: {error.message}")


def _warn(message: str) -> None:
    warnings.warn(message, CacheWarning, stacklevel=3)


class LocalKeyLocks:
    """Decides which thread or event loop may send the request of a key."""

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._lock = threading.Lock()

    def try_acquire(self, key: str) -> bool:
        """Take the lock of a key if it is free; never waits."""
        with self._lock:
            if key in self._held:
                return False
            self._held.add(key)
            return True

    def release(self, key: str) -> None:
        with self._lock:
            self._held.discard(key)

    def close(self) -> None:
        with self._lock:
            self._held.clear()


class MemoryCache(ReplyCache):
    """A reply cache in memory; shared by the threads of one process.

    Args:
        now: The clock, UTC.
    """

    def __init__(self, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        super().__init__(MemoryRows(), LocalKeyLocks(), now=now)


class SpillFile:
    """Appends entries to one file beside the cache or, where that fails, among temporary files.

    The file is made at the first need, mode 0600, and can be imported like any export.
    """

    def __init__(self, folder: Path, *, goes_on: bool, temporary: Path | None = None) -> None:
        self._folder = folder
        self._goes_on = goes_on
        self._temporary = temporary
        self.path: Path | None = None
        self._lock = threading.Lock()
        self._named: Path | None = None

    def save(self, entry: CacheEntry, cause: StoreError) -> None:
        """Append an entry that its cache could not write."""
        with self._lock:
            path = self._append(encode_line(entry).encode("ascii") + b"\n", entry.key, cause)
        hint = self.hint(path)
        if not self._goes_on:
            raise StoreError(
                f"{cause.message}; the reply {entry.key[:12]} was saved in {path} instead",
                hint=hint,
                is_incomplete=True,
            ) from cause
        if path != self._named:
            self._named = path
            warnings.warn(
                f"{cause.message}; replies of this run are saved in {path} instead\n  {hint}",
                CacheWarning,
                stacklevel=4,
            )

    def hint(self, path: Path) -> str:
        """How the saved replies come into the cache."""
        return f"once the folder can be written again: judgekit cache import {path}"

    def _append(self, line: bytes, key: str, cause: StoreError) -> Path:
        errors = []
        # The file of this run, else a new one, which `mkstemp` makes with mode 0600.
        places = ((self._folder, "emergency-"), (self._temporary, "judgekit-emergency-"))
        for folder, prefix in ((None, None), *places):
            path = self.path
            try:
                if prefix is not None:
                    descriptor, name = tempfile.mkstemp(".jsonl", prefix, folder)
                    os.close(descriptor)
                    path = Path(name)
                if path is not None:
                    _append_synced(path, line)
                    self.path = path
                    return path
            except OSError as error:
                errors.append(str(error))
                with suppress(OSError):
                    if path is not None and path.stat().st_size == 0:
                        path.unlink()
        raise StoreError(
            f"{cause.message}, and the paid reply {key[:12]} could not be saved anywhere else: "
            f"{'; '.join(errors)}",
            hint="make room on the disk, then run again; only this reply is fetched again",
            is_incomplete=True,
        ) from cause


@contextmanager
def locked_spill_file(path: Path) -> Iterator[FileIO]:
    """A spill file, open at its end, that no other process writes to or takes away meanwhile."""
    with path.open("r+b", buffering=0) as file:
        with suppress(OSError):  # a file system without locks is no reason to lose a reply
            lock_byte(file.fileno(), BEYOND_TEXT, wait=True)
        # Whoever had the lock may have written it to the cache and deleted it.
        if not path.exists() or not os.path.samestat(os.fstat(file.fileno()), path.stat()):
            raise FileNotFoundError(f"{path} was taken away")
        file.seek(0, os.SEEK_END)
        yield file


def _append_synced(path: Path, line: bytes) -> None:
    with locked_spill_file(path) as file:
        length = os.fstat(file.fileno()).st_size
        if file.write(line) != len(line):
            # A torn line would spoil the file for the import.
            file.truncate(length)
            raise OSError(f"no room for {len(line)} bytes in {path}")
        os.fsync(file.fileno())
