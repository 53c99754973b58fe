"""Looks after a reply cache: counts it, lists it, checks it, and forgets what is not wanted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from judgekit.errors import UnknownNameError
from judgekit.models.cache.entries import is_key
from judgekit.models.cache.rows import DamagedEntryError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.models.cache.interface import CacheCounts, CacheEntry, ReplyCache


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What a cache holds and what it has saved."""

    n_entries: int
    """Replies that are served."""

    n_rejected: int
    """Replies that were paid for but may not be served."""

    n_bytes: int | None
    """Size on disk; None in memory."""

    saved: CacheCounts
    """What it has saved, over all runs."""


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What a check of every entry found."""

    n_sound: int
    """Entries whose checksum, key and request hold."""

    damaged: tuple[tuple[str, str], ...]
    """Key and reason of each entry that is a miss, or whose request is lost."""

    problems: tuple[str, ...]
    """What is wrong with the storage itself."""

    @property
    def is_sound(self) -> bool:
        """Whether nothing was found."""
        return not self.damaged and not self.problems


def stats(cache: ReplyCache) -> CacheStats:
    """What a cache holds and what it has saved."""
    n_rejected = sum(len(cache.rejected(key)) for key in cache.rejected_keys())
    folder = cache.location
    n_bytes = None
    if folder is not None:
        n_bytes = sum(file.stat().st_size for file in folder.glob("cache.db*") if file.is_file())
    return CacheStats(
        n_entries=len(cache), n_rejected=n_rejected, n_bytes=n_bytes, saved=cache.counts()
    )


def list_entries(
    cache: ReplyCache,
    *,
    model: str | None = None,
    since: datetime | None = None,
    contains: str | None = None,
) -> Iterator[CacheEntry]:
    """The entries that are served and fit every filter, in order of their keys."""
    for entry in _entries(cache):
        is_wanted = (
            (model is None or _model(entry) == model)
            and (since is None or not _is_before(entry, since))
            and (contains is None or _says(entry, contains))
        )
        if is_wanted:
            yield entry


def verify(cache: ReplyCache) -> VerifyReport:
    """Check every entry's checksum, key and request, and the storage itself."""
    n_sound = 0
    damaged = []
    for key in cache.keys():  # noqa: SIM118 - a cache is no dict
        try:
            entry = cache.entry(key)
        except DamagedEntryError as error:
            damaged.append((key, error.message))
            continue
        if entry is None:
            continue  # forgotten by another process meanwhile
        if entry.rejected:
            damaged.append((key, "a reply that may not be served stands in its place"))
        elif entry.request is None:
            damaged.append((key, "the reply is sound, but what was asked is lost or altered"))
        else:
            n_sound += 1
    return VerifyReport(n_sound=n_sound, damaged=tuple(damaged), problems=cache.problems())


def prune(
    cache: ReplyCache,
    *,
    before: datetime | None = None,
    model: str | None = None,
    rejected: bool = True,
) -> int:
    """Forget entries that were bought before a time, of a model, or both; and rejected replies."""
    # Without a time or a model only rejected replies are forgotten.
    n_forgotten = 0
    if rejected:
        keys = list(cache.rejected_keys())
        n_forgotten += sum(cache.forget_rejected(key) for key in keys)
    if before is None and model is None:
        return n_forgotten
    doomed = [
        entry.key
        for entry in _entries(cache)
        if (before is None or _is_before(entry, before))
        and (model is None or _model(entry) == model)
    ]
    return n_forgotten + sum(cache.delete(key) for key in doomed)


def find_key(cache: ReplyCache, prefix: str) -> str:
    """The one key that begins with some hex digits."""
    if is_key(prefix) and cache.request_parts(prefix) is not None:
        return prefix
    known = {*cache.keys(), *cache.rejected_keys()}
    found = [key for key in known if key.startswith(prefix)]
    if len(found) != 1:
        raise UnknownNameError("one cached reply", prefix, found[:5] or sorted(known)[:5])
    return found[0]


def _entries(cache: ReplyCache) -> Iterator[CacheEntry]:
    for key in cache.keys():  # noqa: SIM118 - a cache is no dict
        try:
            entry = cache.entry(key)
        except DamagedEntryError:
            continue
        if entry is not None and not entry.rejected:
            yield entry


def _model(entry: CacheEntry) -> object:
    return None if entry.request is None else entry.request.get("model")


def _is_before(entry: CacheEntry, when: datetime) -> bool:
    moment = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    return _bought_at(entry) < moment


def _bought_at(entry: CacheEntry) -> datetime:
    bought_at = datetime.fromisoformat(entry.created_at)
    return bought_at if bought_at.tzinfo is not None else bought_at.replace(tzinfo=UTC)


def _says(entry: CacheEntry, text: str) -> bool:
    messages = (entry.request or {}).get("messages")
    said = [str(each.get("content")) for each in _dicts(messages)]
    said.append(entry.reply.text or "")
    return any(text.casefold() in each.casefold() for each in said)


def _dicts(value: object) -> Iterator[dict[str, object]]:
    return (
        (each for each in value if isinstance(each, dict)) if isinstance(value, list) else iter(())
    )
