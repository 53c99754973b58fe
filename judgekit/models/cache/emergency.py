"""Saves a paid reply as a line of JSON when the cache cannot be written."""

from __future__ import annotations

import os
import tempfile
import threading
import warnings
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from judgekit.errors import StoreError
from judgekit.models.cache.entries import entry_line
from judgekit.models.cache.interface import CacheEntry, CacheWarning


class EmergencyFile:
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
        """Append an entry; see `judgekit.models.cache.kept.Rescue.save`."""
        with self._lock:
            path = self._append(entry_line(entry).encode("ascii") + b"\n", entry.key, cause)
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
