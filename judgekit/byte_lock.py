"""Locks one byte of a file, among threads and processes; the lock dies with its holder.

The reply cache locks a byte for each request, the store a byte for each run.
"""

from __future__ import annotations

import os
import struct
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from judgekit.errors import StoreError, write_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    import msvcrt

    fcntl = None  # type: ignore[assignment]  # the module is optional


# Linux's open-file-description locks belong to the open file, so that two objects of one process
# exclude each other as well; POSIX locks belong to the whole process. `struct flock` is packed by
# hand, in Linux's 64-bit form; macOS orders its fields in another way.
_HAS_FILE_LOCKS = sys.platform == "linux" and struct.calcsize("P") == 8  # noqa: PLR2004
_FLOCK = struct.Struct("hhqqi4x")

# Windows locks at the position of the file, which threads share.
_POSITION = threading.Lock()
# Its C library counts positions in 32 bits. Two keys on one byte only wait for each other.
_POSITIONS = 1 << 31
BEYOND_TEXT = 1 << 30
"""A byte to lock in a file that holds text: Windows keeps others from writing to a locked byte."""

# Its own waiting gives up after ten seconds.
_RETRY_S = 0.02


def lock_byte(descriptor: int, offset: int, *, wait: bool = False) -> bool:
    """Lock a byte; False where another holder has it and `wait` is not set."""
    try:
        if _HAS_FILE_LOCKS and fcntl is not None:
            command = fcntl.F_OFD_SETLKW if wait else fcntl.F_OFD_SETLK
            fcntl.fcntl(descriptor, command, _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, offset, 1, 0))
        elif fcntl is not None:  # pragma: no cover - not Linux
            kind = fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB
            fcntl.lockf(descriptor, kind, 1, offset)
        else:
            _lock_on_windows(descriptor, offset, wait=wait)
    except (BlockingIOError, PermissionError):
        # POSIX lets a system report a lock held by another as EAGAIN or as EACCES; Windows takes
        # EACCES.
        return False
    return True


def unlock_byte(descriptor: int, offset: int) -> None:
    """Unlock a byte; nothing happens where it is not locked."""
    if _HAS_FILE_LOCKS and fcntl is not None:
        unlocked = _FLOCK.pack(fcntl.F_UNLCK, os.SEEK_SET, offset, 1, 0)
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, unlocked)
    elif fcntl is not None:  # pragma: no cover - not Linux
        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, offset)
    else:
        with suppress(PermissionError):
            _set_on_windows(descriptor, offset, "LK_UNLCK")


class FileLocks:
    """The locks of one file, which is made when the first of them is taken.

    On Linux the locks belong to the open file, so that two objects in one process exclude each
    other as well, and so on Windows; on other POSIX systems they belong to the process. Threads
    that share an object do not exclude each other.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._opening = threading.Lock()

    def try_acquire(self, offset: int, *, wait: bool = False) -> bool:
        """Lock a byte; False where another holder has it and `wait` is not set."""
        try:
            with self._opening:
                if self._descriptor is None:
                    self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            return lock_byte(self._descriptor, offset, wait=wait)
        except OSError as error:
            raise self._refusal(error) from error

    def release(self, offset: int) -> None:
        """Unlock a byte."""
        if self._descriptor is not None:
            try:
                unlock_byte(self._descriptor, offset)
            except OSError as error:
                raise self._refusal(error) from error

    def _refusal(self, error: OSError) -> StoreError:
        hint = "name a folder that you may write to, on a disk whose file system has locks"
        return write_error(f"cannot lock {self._path}", error, hint=hint)

    def close(self) -> None:
        """Unlock all of them."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @contextmanager
    def holding(self, offset: int) -> Iterator[None]:
        """Hold the lock of a byte; other processes wait."""
        self.try_acquire(offset, wait=True)
        try:
            yield
        finally:
            self.release(offset)


def _lock_on_windows(descriptor: int, offset: int, *, wait: bool) -> None:
    while True:
        try:
            return _set_on_windows(descriptor, offset, "LK_NBLCK")
        except PermissionError:
            if not wait:
                raise
        time.sleep(_RETRY_S)


def _set_on_windows(descriptor: int, offset: int, mode: str) -> None:
    # Type stubs know these names on Windows only.
    with _POSITION:
        os.lseek(descriptor, offset % _POSITIONS, os.SEEK_SET)
        getattr(msvcrt, "locking")(descriptor, getattr(msvcrt, mode), 1)  # noqa: B009
