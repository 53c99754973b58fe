"""A reply cache on a server that several machines share: locks, outages, and what waits for it.

The servers are in `postgres_rows` and `redis_rows`; `access` opens one by its address.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import warnings
from abc import abstractmethod
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, TypeVar

from judgekit.errors import StoreError
from judgekit.models.cache.entries import CacheWarning, DamagedEntryError, Rows, WriteFailedError
from judgekit.models.cache.reply_cache import LocalKeyLocks, ReplyCache, SpillFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.models.cache.location import CacheUrl

_T = TypeVar("_T")

UNWRITTEN_FOLDER = Path(".judgekit", "unwritten")
"""Where replies wait that a server did not take, in a folder for each server."""

CONNECT_TIMEOUT_S = 5
LOCK_S = 15.0
"""How long a lock lasts that its holder does not renew: the wait after a holder was killed."""

_RENEWALS_PER_LOCK = 4
# A restart of a server takes a second or two; calls in flight wait for each of these.
_RETRY_AFTER_S = (0.1, 0.5, 1.5)
# Then no operation waits again for a while: each would hold up the replies that still arrive.
_DOWN_S = 5.0


class ServerRows(Rows):
    """The rows and locks of one cache on a server.

    An operation that finds no connection is tried again for two seconds: all but the counts may
    be done twice with the same result.
    """

    foreign_errors: tuple[type[Exception], ...]  # what the driver raises
    read_only_because: str | None = None  # why nothing can be written; None where it can

    def __init__(self, name: str) -> None:
        self._name = name
        self._pid = os.getpid()
        self._down_until = 0.0

    @abstractmethod
    def lock(self, holder: str, *keys: str) -> bool:
        """Take or renew locks for `LOCK_S`, unless other holders have all of them."""

    @abstractmethod
    def unlock(self, key: str, holder: str) -> None:
        """End a lock, if the holder still has it."""

    @abstractmethod
    def is_lost(self, error: Exception) -> bool:
        """Whether an error of the driver means that the server cannot be reached."""

    def forget_connections(self) -> None:
        """Leave the connections of a parent process to it; some drivers do so themselves."""

    def problems(self) -> tuple[str, ...]:
        """Nothing: the server looks after its own files."""
        return ()

    def run(self, action: Callable[[], _T], *, is_write: bool = False, retries: bool = True) -> _T:
        """The result of an operation on the server; errors of the driver are mapped."""
        if is_write and self.read_only_because is not None:
            raise WriteFailedError(f"the cache was not changed: {self.read_only_because}")
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self.forget_connections()
        waits = iter(_RETRY_AFTER_S if retries and time.monotonic() > self._down_until else ())
        while True:
            try:
                return action()
            except self.foreign_errors as error:
                wait_s = next(waits, None) if self.is_lost(error) else None
                if wait_s is None:
                    raise self._mapped(error, is_write=is_write) from error
                time.sleep(wait_s)

    def _mapped(self, error: Exception, *, is_write: bool) -> StoreError:
        if isinstance(error, UnicodeDecodeError):
            return DamagedEntryError("the row is not UTF-8 text")
        words = " ".join(str(getattr(error, "orig", None) or error).split())
        if self.is_lost(error):
            self._down_until = time.monotonic() + _DOWN_S
            words = f"the server of the cache {self._name} cannot be reached: {words}"
            return WriteFailedError(words) if is_write else StoreError(words, is_incomplete=True)
        kind = WriteFailedError if is_write else StoreError
        return kind(
            f"the cache {self._name} cannot be {'written' if is_write else 'read'}: {words}"
        )


class ServerKeyLocks(LocalKeyLocks):
    """Locks among machines: locks on the server, renewed by a thread for as long as they are held.

    A lock that was not renewed for `LOCK_S`, because its process was killed or is cut off, goes to
    whoever asks next.
    """

    def __init__(self, rows: ServerRows) -> None:
        super().__init__()
        self._rows = rows
        self._pid = 0
        self._holder = ""
        self._closed = threading.Event()
        self._renewing: threading.Thread | None = None

    def try_acquire(self, key: str) -> bool:
        self._begin_in_this_process()
        if not super().try_acquire(key):
            return False
        is_ours = False
        try:
            is_ours = self._rows.lock(self._holder, key)
        finally:
            if not is_ours:
                super().release(key)
        return is_ours

    def release(self, key: str) -> None:
        # Without the server the lock ends by itself.
        with suppress(StoreError):
            self._rows.unlock(key, self._holder)
        super().release(key)

    def close(self) -> None:
        self._closed.set()
        if self._pid == os.getpid() and self._renewing is not None:
            self._renewing.join()
            for key in [*self._held]:
                self.release(key)
        super().close()

    def _begin_in_this_process(self) -> None:
        # A forked child has neither its parent's locks nor the thread that renews them.
        if self._pid == os.getpid():
            return
        with self._lock:
            if self._pid != os.getpid():
                self._held.clear()
                self._holder = f"{socket.gethostname()}:{os.getpid()}:{token_hex(8)}"
                self._renewing = threading.Thread(target=self._renew, daemon=True)
                self._renewing.start()
                self._pid = os.getpid()

    def _renew(self) -> None:
        while not self._closed.wait(LOCK_S / _RENEWALS_PER_LOCK):
            with self._lock:
                held = [*self._held]
            with suppress(StoreError):  # tried again at the next turn
                # With one exchange: hundreds would take longer than the locks last.
                if held:
                    self._rows.lock(self._holder, *held)
                for key in held:
                    if key not in self._held:  # it was released while it was renewed
                        self._rows.unlock(key, self._holder)


class UnwrittenReplies(SpillFile):
    """Replies that were paid for and that a server did not take, in files on this machine."""

    def __init__(self, location: CacheUrl, *, goes_on: bool) -> None:
        digest = sha256(location.name.encode()).hexdigest()[:12]
        super().__init__(UNWRITTEN_FOLDER.absolute() / digest, goes_on=goes_on)
        self._location = location

    def files(self) -> list[Path]:
        """The files that wait, oldest first."""
        found = []
        for file in self._folder.glob("emergency-*.jsonl"):
            with suppress(FileNotFoundError):  # another process may have written it meanwhile
                found.append((file.stat().st_mtime, file))
        return [file for _, file in sorted(found)]

    def hint(self, path: Path) -> str:
        importing = f"judgekit cache import {path} --cache '{self._location}'"
        if path.parent != self._folder:
            return f"once the server can be written: {importing}"
        return f"the next command that uses this cache in this folder writes them; or {importing}"

    def _append(self, line: bytes, key: str, cause: StoreError) -> Path:
        from judgekit.models.cache.disk_cache import CacheFolder  # noqa: PLC0415 - diskcache is slow

        with suppress(OSError, StoreError):  # then it goes among the temporary files
            CacheFolder(self._folder).prepare()
        path = super()._append(line, key, cause)
        # The error that ends the run may be that of a request that was not sent.
        if path != self._named:
            self._named = path
            words = f"replies that {self._location} did not take are saved in {path}"
            warnings.warn(f"{words}\n  {self.hint(path)}", CacheWarning, stacklevel=6)
        return path


class SharedCache(ReplyCache):
    """A reply cache on a server.

    A reply that the server does not take is saved in a file on this machine, and ends the run;
    `access` writes it to the server when the cache is opened again.
    """

    def __init__(self, rows: ServerRows, location: CacheUrl, *, read_only: bool) -> None:
        reason = rows.read_only_because
        self.is_writable = reason is None
        if not (self.is_writable or read_only):
            warnings.warn(
                f"the cache {location} cannot be written ({reason}); it is only read",
                CacheWarning,
                stacklevel=3,
            )
        locks = ServerKeyLocks(rows) if self.is_writable else LocalKeyLocks()
        self.unwritten = UnwrittenReplies(location, goes_on=not self.is_writable)
        super().__init__(rows, locks, rescue=self.unwritten)

    def _flush_counts(self) -> None:
        if self.is_writable:
            super()._flush_counts()
