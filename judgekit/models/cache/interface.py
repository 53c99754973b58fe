"""What a reply cache offers, whether it is on disk or in memory, and what it hands out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from judgekit.models.request import ModelReply, ModelRequest
    from judgekit.records.record import JsonObject


class CacheWarning(UserWarning):
    """The cache met damage or a folder it cannot write, and went on; its message says how."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """One reply that was paid for, with what was asked."""

    key: str
    """SHA-256 of what was asked, 64 lower-case hex digits."""

    request: JsonObject | None
    """The request's `key_parts`; None when they were lost and only the reply is left."""

    reply: ModelReply
    """The reply, with `cached` true and `key` set."""

    created_at: str
    """When it was bought, UTC, ISO 8601."""

    imported: str | None = None
    """Name of the file or folder it was imported from; None when this cache bought it."""

    rejected: bool = False
    """Whether it is kept for the record only and never served: cut short, filtered or empty."""


@dataclass(frozen=True, slots=True)
class CacheCounts:
    """What a cache has saved so far; a sum over all runs when the cache is on disk."""

    n_hits: int = 0
    """Requests answered without a call."""

    n_misses: int = 0
    """Requests the cache could not answer."""

    saved_usd: float = 0.0
    """What the hits had cost when they were bought, in US dollars, as far as it is known."""

    n_unpriced_hits: int = 0
    """Hits whose price is not known; `saved_usd` leaves them out."""

    saved_ms: float = 0.0
    """How long the hits had taken when they were bought, in milliseconds."""


class ReplyCache(Protocol):
    """Keeps replies by the key of their request; safe to share between threads."""

    @property
    def location(self) -> Path | None:
        """The folder it lives in; None when it lives in memory."""
        ...

    def get(self, key: str) -> ModelReply | None:
        """The reply to serve for a key; nothing is counted."""
        ...

    def get_many(self, keys: Sequence[str]) -> dict[str, ModelReply]:
        """The replies to serve for several keys, with one look; nothing is counted."""
        ...

    def put(self, request: ModelRequest, reply: ModelReply) -> None:
        """Keep a reply; it is on disk when this returns, and replaces an older one."""
        ...

    def put_rejected(self, request: ModelRequest, reply: ModelReply) -> None:
        """Keep for the record a reply that was paid for but may not be served."""
        ...

    def restore(self, entries: Sequence[CacheEntry]) -> None:
        """Keep entries that come from elsewhere, all or none, replacing those of the same key."""
        ...

    def delete(self, key: str) -> bool:
        """Forget the reply that is served for a key, sound or damaged."""
        ...

    def forget_rejected(self, key: str) -> int:
        """Forget the rejected replies of a key, and not the one that is served."""
        ...

    def clear(self) -> None:
        """Forget everything: entries, rejected replies, counts, and rows of strangers."""
        ...

    def keys(self) -> Iterator[str]:
        """The keys that hold a reply to serve, in ascending order."""
        ...

    def entry(self, key: str) -> CacheEntry | None:
        """The whole entry of a key; no hit is counted."""
        ...

    def rejected_keys(self) -> Iterator[str]:
        """The keys that hold rejected replies, in ascending order."""
        ...

    def rejected(self, key: str) -> tuple[CacheEntry, ...]:
        """The rejected replies of a key, oldest first; damaged ones are left out."""
        ...

    def request_parts(self, key: str) -> JsonObject | None:
        """What was asked under a key, whether its reply is served or rejected."""
        ...

    def problems(self) -> tuple[str, ...]:
        """What is wrong with the storage itself, in words; empty when it is sound."""
        ...

    def count_hit(self, reply: ModelReply) -> None:
        """Count a request that was answered without a call of its own."""
        ...

    def count_miss(self) -> None:
        """Count a request that the cache could not answer."""
        ...

    def counts(self) -> CacheCounts:
        """What the cache has saved so far, this run included."""
        ...

    def try_lease(self, key: str) -> bool:
        """Try to become the only one who asks for a key; never waits."""
        ...

    def release(self, key: str) -> None:
        """Let others ask for a key again."""
        ...

    def close(self) -> None:
        """Write the counts and let go of files; a closed cache is not used again."""
        ...

    def __contains__(self, key: str) -> bool: ...

    def __len__(self) -> int: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc_info: object) -> None: ...
