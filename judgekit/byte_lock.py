"""Locks one byte of a file, among threads and processes; the lock dies with its holder.

The reply cache locks a byte for each request, the store a byte for each run.
"""

from __future__ import annotations

import os
import struct

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no byte-range locks of this kind
    fcntl = None  # type: ignore[assignment]  # the module is optional on Windows


def lock_byte(descriptor: int, offset: int, *, wait: bool = False) -> bool:
    """Lock a byte; False where another holder has it and `wait` is not set."""
    try:
        _set_lock(descriptor, offset, take=True, wait=wait)
    except (BlockingIOError, PermissionError):
        # POSIX lets a system report a lock held by another as EAGAIN or as EACCES.
        return False
    return True


def unlock_byte(descriptor: int, offset: int) -> None:
    """Unlock a byte; nothing happens where it is not locked."""
    _set_lock(descriptor, offset, take=False, wait=False)


def _set_lock(descriptor: int, offset: int, *, take: bool, wait: bool) -> None:
    if fcntl is None:  # pragma: no cover - Windows: every lock is granted
        return
    # Linux's open-file-description locks belong to the open file, so that two objects of one
    # process exclude each other as well; POSIX locks belong to the whole process.
    command = getattr(fcntl, "F_OFD_SETLKW" if wait else "F_OFD_SETLK", None)
    if command is not None and struct.calcsize("P") == 8:  # noqa: PLR2004 - struct flock, 64 bit
        kind = fcntl.F_WRLCK if take else fcntl.F_UNLCK
        fcntl.fcntl(descriptor, command, struct.pack("hhqqi4x", kind, os.SEEK_SET, offset, 1, 0))
        return
    kind = fcntl.LOCK_EX if take else fcntl.LOCK_UN  # pragma: no cover - not Linux
    if take and not wait:  # pragma: no cover - not Linux
        kind |= fcntl.LOCK_NB
    fcntl.lockf(descriptor, kind, 1, offset)  # pragma: no cover - not Linux
