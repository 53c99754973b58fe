"""Decides which caller, of whichever process, may send the request of a key; never waits."""

from __future__ import annotations

import os
import threading
import warnings
from typing import TYPE_CHECKING

from judgekit.byte_lock import lock_byte, unlock_byte
from judgekit.models.cache.entries import CacheWarning

if TYPE_CHECKING:
    from pathlib import Path

_OFFSET_DIGITS = 15  # 60 bits, which fit the signed 64-bit offsets of POSIX locks


class LocalKeyLocks:
    """Locks among the threads and event loops of one process."""

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


class FileKeyLocks(LocalKeyLocks):
    """Locks among processes as well: one byte of a file for each key; they die with their holder.

    On Linux the locks belong to the open file, so that two caches in one process exclude each
    other as well. On other POSIX systems they belong to the process: two caches opened on one
    folder in the same process do not see each other's locks. On Windows there are none, and
    two processes may both pay for a request they send at the same moment.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._descriptor: int | None = None
        self._pid = os.getpid()
        self._warned = False

    def try_acquire(self, key: str) -> bool:
        """As for threads; where the system refuses locks, it warns once and grants."""
        with self._lock:
            if self._pid != os.getpid():
                # A forked child shares its parent's open file, and with it the parent's locks.
                self._pid = os.getpid()
                self._held.clear()
                if self._descriptor is not None:
                    os.close(self._descriptor)
                    self._descriptor = None
            # Threads share the open file, so its locks do not keep them apart.
            if key in self._held:
                return False
            self._held.add(key)
        try:
            is_ours = lock_byte(self._open_file(), int(key[:_OFFSET_DIGITS], 16))
        except OSError as error:
            self._warn_once(error)
            return True
        if not is_ours:
            with self._lock:
                self._held.discard(key)
        return is_ours

    def release(self, key: str) -> None:
        """Release the lock of a key, also for other processes."""
        try:
            unlock_byte(self._open_file(), int(key[:_OFFSET_DIGITS], 16))
        except OSError as error:
            self._warn_once(error)
        finally:
            with self._lock:
                self._held.discard(key)

    def close(self) -> None:
        super().close()
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None

    def _open_file(self) -> int:
        with self._lock:
            if self._descriptor is None:
                self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            return self._descriptor

    def _warn_once(self, error: OSError) -> None:
        if self._warned:
            return
        self._warned = True
        warnings.warn(
            f"{self._path}: the system grants no locks ({error}); "
            "two processes may pay twice for a request they ask at the same moment",
            CacheWarning,
            stacklevel=3,
        )
