"""The cache's folder: who may use it, which files are in it, and how damage is set aside."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.errors import StoreError

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]  # the module is optional on Windows

if TYPE_CHECKING:
    from collections.abc import Iterator

DATABASE = "cache.db"
_SIDE_FILES = ("-wal", "-shm")
_OPENED = b"judgekit cache\n"


class CacheFolder:
    """The files of one cache on disk."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.database = self.path / DATABASE
        self.leases = self.path / "leases.lock"
        self._opening = self.path / "opening.lock"

    def prepare(self) -> None:
        """Make the folder, mode 0700, with its missing parents; refuse one that others can change."""
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
        """Hold the right to open, set aside or mend the database; other processes wait."""
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
            self._opening.write_bytes(_OPENED)

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
        aside = self.path / f"{DATABASE}.corrupt-{when}"
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
