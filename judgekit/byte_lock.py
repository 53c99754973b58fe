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


# Linux's open-file-description locks belong to the open file, so that two objects of one process
# exclude each other as well; POSIX locks belong to the whole process. `struct flock` is packed by
# hand, in its 64-bit form.
_HAS_FILE_LOCKS = hasattr(fcntl, "F_OFD_SETLK") and struct.calcsize("P") == 8  # noqa: PLR2004
_FLOCK = struct.Struct("hhqqi4x")


def lock_byte(descriptor: int, offset: int, *, wait: bool = False) -> bool:
    """Lock a byte; False where another holder has it and `wait` is not set."""
    try:
        if _HAS_FILE_LOCKS:
            command = fcntl.F_OFD_SETLKW if wait else fcntl.F_OFD_SETLK
            fcntl.fcntl(descriptor, command, _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, offset, 1, 0))
        elif fcntl is not None:  # pragma: no cover - not Linux
            kind = fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB
            fcntl.lockf(descriptor, kind, 1, offset)
        # On Windows every lock is granted.
    except (BlockingIOError, PermissionError):
        # POSIX lets a system report a lock held by another as EAGAIN or as EACCES.
        return False
    return True


def unlock_byte(descriptor: int, offset: int) -> None:
    """Unlock a byte; nothing happens where it is not locked."""
    if _HAS_FILE_LOCKS:
        unlocked = _FLOCK.pack(fcntl.F_UNLCK, os.SEEK_SET, offset, 1, 0)
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, unlocked)
    elif fcntl is not None:  # pragma: no cover - not Linux
        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, offset)
