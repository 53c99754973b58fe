"""Opens the reply cache for a command, and says its warnings in the command's own words."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from judgekit.cli import console as streams
from judgekit.errors import StoreError
from judgekit.models.cache.folder import CacheFolder
from judgekit.models.cache.interface import CacheWarning
from judgekit.models.cache.on_disk import DiskCache

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def opened(folder: Path, *, writing: bool = False) -> Iterator[DiskCache]:
    """Open a cache; what it warns of goes to stderr, once."""
    if not writing and CacheFolder(folder).identity() is None:
        raise StoreError(
            f"there is no cache in {folder}",
            hint="grade something first, or name the folder with --cache-dir",
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CacheWarning)
        try:
            with DiskCache(folder, read_only=not writing) as cache:
                yield cache
        finally:
            said = dict.fromkeys(str(each.message) for each in caught)
            for message in said:
                streams.note(f"warning: {message}")
