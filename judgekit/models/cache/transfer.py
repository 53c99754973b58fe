"""Exports, imports and merges cache entries as JSONL that can be committed to git."""

from __future__ import annotations

import io
from dataclasses import astuple, dataclass, replace
from itertools import islice
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

from judgekit.atomic_write import atomic_writer
from judgekit.errors import DatasetError
from judgekit.models.cache.entries import CacheEntry, DamagedEntryError, decode_line, encode_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from judgekit.models.cache.reply_cache import ReplyCache

_BATCH = 500


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was exported."""

    n_entries: int
    skipped: tuple[str, ...] = ()
    """Keys left out because their entry is damaged or its request is lost, with the reason."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import or a merge did."""

    n_added: int = 0
    n_same: int = 0
    """Entries that were there already, with the same answer."""

    n_overwritten: int = 0
    conflicts: tuple[str, ...] = ()
    """Keys that are there with another answer; not changed unless `overwrite` is set."""

    problems: tuple[str, ...] = ()

    def __add__(self, other: ImportReport) -> ImportReport:
        return ImportReport(*map(add, astuple(self), astuple(other)))


def export_entries(
    cache: ReplyCache, target: Path | str | TextIO, *, rejected: bool = False
) -> ExportReport:
    """Write the entries of a cache as JSONL, sorted by key, fit for git."""
    # The text depends on the entries only: it holds no time of export, no path, no provenance.
    if isinstance(target, (str, Path)):
        # Requests and replies may be confidential: only their owner may read an export.
        with atomic_writer(Path(target), is_private=True) as binary:
            file = io.TextIOWrapper(binary, encoding="ascii", newline="\n", write_through=True)
            report = export_entries(cache, file, rejected=rejected)
            file.detach()  # the writer syncs and closes it
            return report
    skipped = []
    n_entries = 0
    for key in cache.keys():  # noqa: SIM118 - a cache is no dict
        try:
            entry = cache.entry(key)
            line = None if entry is None else encode_line(entry)
        except (DamagedEntryError, ValueError) as error:
            skipped.append(f"{key}: {error}")
            continue
        if line is not None:
            target.write(f"{line}\n")
            n_entries += 1
    for key in cache.rejected_keys() if rejected else ():
        for each in cache.rejected(key):
            target.write(f"{encode_line(each)}\n")
            n_entries += 1
    return ExportReport(n_entries=n_entries, skipped=tuple(skipped))


def import_entries(
    cache: ReplyCache,
    path: Path | str,
    *,
    on_error: Literal["stop", "skip"] = "stop",
    overwrite: bool = False,
) -> ImportReport:
    """Add the entries of an export to a cache."""
    # Each line's checksum is compared, and its key with the fingerprint of its request.
    source = Path(path)
    if on_error == "stop":
        for found in _read_file(source):
            if isinstance(found, DatasetError):
                raise found
    return _import_all(cache, _read_file(source), source.name, overwrite=overwrite)


def merge_caches(
    cache: ReplyCache,
    sources: Sequence[Path | str],
    *,
    on_error: Literal["stop", "skip"] = "stop",
    overwrite: bool = False,
) -> ImportReport:
    """Add the entries of several exports and cache folders to one cache, in their order."""
    report = ImportReport()
    for source in map(Path, sources):
        if source.is_dir():
            from judgekit.models.cache.disk_cache import DiskCache  # noqa: PLC0415 - diskcache is slow

            with DiskCache(source, read_only=True) as folder:
                found = _read_cache(folder)
                report += _import_all(cache, found, source.name, overwrite=overwrite)
        else:
            report += import_entries(cache, source, on_error=on_error, overwrite=overwrite)
    return report


def _read_file(path: Path) -> Iterator[CacheEntry | DatasetError]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                try:
                    yield decode_line(line.decode("utf-8"))
                except UnicodeDecodeError as error:
                    yield DatasetError(f"not UTF-8: {error.reason}", path=path, line=number)
                except DamagedEntryError as error:
                    yield DatasetError(
                        error.message,
                        path=path,
                        line=number,
                        hint="export it again, or leave such lines out (--skip-unsound)",
                    )
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror}", path=path) from error


def _read_cache(source: ReplyCache) -> Iterator[CacheEntry | DatasetError]:
    for key in source.keys():  # noqa: SIM118 - a cache is no dict
        try:
            entry = source.entry(key)
        except DamagedEntryError as error:
            yield DatasetError(f"{key}: {error.message}", path=source.location)
            continue
        if entry is not None and entry.request is not None:
            yield entry
        else:
            yield DatasetError(f"{key}: its request is lost", path=source.location)


def _import_all(
    cache: ReplyCache, found: Iterator[CacheEntry | DatasetError], source: str, *, overwrite: bool
) -> ImportReport:
    report = ImportReport()
    while batch := list(islice(found, _BATCH)):
        entries = [each for each in batch if not isinstance(each, DatasetError)]
        report += _import_batch(cache, entries, source, overwrite=overwrite)
        problems = tuple(str(each) for each in batch if isinstance(each, DatasetError))
        report += ImportReport(problems=problems)
    return report


def _import_batch(
    cache: ReplyCache, entries: Iterable[CacheEntry], source: str, *, overwrite: bool
) -> ImportReport:
    new: dict[str, CacheEntry] = {}
    rejected: list[CacheEntry] = []
    n_added = n_same = n_overwritten = 0
    conflicts = []
    for entry in entries:
        present = (
            (*cache.rejected(entry.key), *(each for each in rejected if each.key == entry.key))
            if entry.rejected
            else _present_entries(cache, entry.key, new)
        )
        if any(_same_answer(each, entry) for each in present):
            n_same += 1
            continue
        if present and not entry.rejected:
            conflicts.append(entry.key)
            n_overwritten += overwrite
        else:
            n_added += 1
        # The origin stays visible: an imported reply was not fetched by this user.
        marked = replace(entry, imported=source)
        if entry.rejected:
            rejected.append(marked)
        elif not present or overwrite:
            new[entry.key] = marked
    cache.restore([*new.values(), *rejected])
    return ImportReport(
        n_added=n_added, n_same=n_same, n_overwritten=n_overwritten, conflicts=tuple(conflicts)
    )


def _present_entries(
    cache: ReplyCache, key: str, new: dict[str, CacheEntry]
) -> tuple[CacheEntry, ...]:
    if key in new:
        return (new[key],)
    try:
        entry = cache.entry(key)
    except DamagedEntryError:
        return ()  # a damaged entry is as good as none
    return () if entry is None else (entry,)


def _same_answer(one: CacheEntry, other: CacheEntry) -> bool:
    # Two calls with the same answer differ in time, duration and price; that is no conflict.
    return (
        one.reply.text == other.reply.text
        and one.reply.finish_reason == other.reply.finish_reason
        and one.reply.logprobs == other.reply.logprobs
    )
