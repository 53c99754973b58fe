"""Opens a reply cache by its location, a folder or the address of a server, and merges caches.

Replies that a server did not take in an earlier run are written to it when it is opened.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from judgekit.errors import StoreError
from judgekit.extras import require_package
from judgekit.models.cache.admin import ImportReport, copy_entries, import_entries
from judgekit.models.cache.entries import CacheWarning
from judgekit.models.cache.location import CacheUrl, cache_location
from judgekit.models.cache.reply_cache import ReplyCache, locked_spill_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.models.cache.server_cache import ServerRows, SharedCache


def open_reply_cache(named: str | Path | CacheUrl, *, read_only: bool = False) -> ReplyCache:
    """The cache of a folder or an address; `read_only` changes nothing there."""
    location = cache_location(named)
    if isinstance(location, Path):
        from judgekit.models.cache.disk_cache import DiskCache  # noqa: PLC0415 - diskcache is slow

        return DiskCache(location, read_only=read_only)
    from judgekit.models.cache.server_cache import SharedCache  # noqa: PLC0415 - few need a server

    try:
        rows = _connect(location, read_only=read_only)
    except StoreError as error:
        if error.is_incomplete:  # nothing was done yet that could be continued
            error.is_incomplete = False
            error.hint = "check that the server runs, and host, port, user, password and database"
        raise
    try:
        cache = SharedCache(rows, location, read_only=read_only)
        if cache.is_writable:
            _write_waiting(cache, location)
    except BaseException:
        rows.close()
        raise
    return cache


def _connect(location: CacheUrl, *, read_only: bool) -> ServerRows:
    """Only the driver that is used is imported."""
    if location.url.startswith("redis"):
        require_package("redis", "a cache on Redis")
        from judgekit.models.cache.redis_rows import RedisRows  # noqa: PLC0415

        return RedisRows(location.url, location.name, read_only=read_only)
    require_package("psycopg", "a cache on PostgreSQL")
    from judgekit.models.cache.postgres_rows import PostgresRows  # noqa: PLC0415

    return PostgresRows(location.url, location.name, read_only=read_only)


def _write_waiting(cache: SharedCache, location: CacheUrl) -> None:
    """Write to a server what it did not take in earlier runs; its own replies stay."""
    report = ImportReport()
    for path in cache.unwritten.files():
        try:
            with locked_spill_file(path):
                added = import_entries(cache, path, on_error="skip")
                # What could not be added stays in a file.
                is_done = not (added.conflicts or added.problems)
                path.unlink() if is_done else path.rename(path.with_name(f"unmerged-{path.name}"))
        except OSError:
            continue  # another process was first, or has it open on Windows
        report += added
    if report != ImportReport():
        more = [f"{len(report.conflicts)} had another answer by then"] if report.conflicts else []
        more += [f"{len(report.problems)} lines are damaged"] if report.problems else []
        left = f"; {' and '.join(more)}: see unmerged-*.jsonl in {path.parent}" if more else ""
        warnings.warn(
            f"replies written to {location} that it did not take earlier: {report.n_added}{left}",
            CacheWarning,
            stacklevel=3,
        )


def merge_caches(
    cache: ReplyCache,
    sources: Sequence[str | Path | CacheUrl],
    *,
    on_error: Literal["stop", "skip"] = "stop",
    overwrite: bool = False,
) -> ImportReport:
    """Add the entries of several exports, folders and servers to one cache, in their order."""
    report = ImportReport()
    for source in map(cache_location, sources):
        if isinstance(source, Path) and not source.is_dir():
            report += import_entries(cache, source, on_error=on_error, overwrite=overwrite)
            continue
        with open_reply_cache(source, read_only=True) as other:
            report += copy_entries(cache, other, source.name, overwrite=overwrite)
    return report
