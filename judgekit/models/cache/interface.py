"""What a reply cache offers, and the named rows it is stored in.

Implemented in `reply_cache` (over any rows), `sqlite` and `disk_cache`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from judgekit.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from judgekit.models.request import ModelReply, ModelRequest
    from judgekit.records import JsonObject


class CacheWarning(UserWarning):
    """The cache is damaged or cannot be written, and the run continues; the message says how."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """One reply that was paid for, with its request."""

    key: str
    """SHA-256 of the request, 64 lower-case hex digits."""

    request: JsonObject | None
    """The request's `key_parts`; None when they were lost and only the reply is left."""

    reply: ModelReply
    """The reply, with `cached` true and `key` set."""

    created_at: str
    """When it was fetched, UTC, ISO 8601."""

    imported: str | None = None
    """Name of the file or folder it was imported from; None when this cache fetched it."""

    rejected: bool = False
    """Whether it is stored for the record only and never served: cut short, filtered or empty."""


@dataclass(frozen=True, slots=True)
class CacheCounts:
    """What a cache has saved so far; a sum over all runs when the cache is on disk."""

    n_hits: int = 0
    """Requests answered without a call."""

    n_misses: int = 0
    """Requests the cache could not answer."""

    saved_usd: float = 0.0
    """What the hits had cost when they were fetched, in US dollars, as far as it is known."""

    n_unpriced_hits: int = 0
    """Hits whose price is not known; `saved_usd` leaves them out."""

    saved_ms: float = 0.0
    """How long the hits had taken when they were fetched, in milliseconds."""


class ReplyCache(Protocol):
    """Stores replies by the key of their request; safe to share between threads."""

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
        """Store a reply; it is on disk when this returns, and replaces an older one."""
        ...

    def put_rejected(self, request: ModelRequest, reply: ModelReply) -> None:
        """Store for the record a reply that was paid for but may not be served."""
        ...

    def restore(self, entries: Sequence[CacheEntry]) -> None:
        """Store entries that come from elsewhere, all or none, replacing those of the same key."""
        ...

    def delete(self, key: str) -> bool:
        """Delete the reply that is served for a key, intact or damaged."""
        ...

    def forget_rejected(self, key: str) -> int:
        """Delete the rejected replies of a key, and not the one that is served."""
        ...

    def clear(self) -> None:
        """Delete everything: entries, rejected replies, counts, and rows of other programs."""
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
        """The request of a key, whether its reply is served or rejected."""
        ...

    def problems(self) -> tuple[str, ...]:
        """What is wrong with the storage itself, in words; empty when it is intact."""
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
        """Try to become the only caller that fetches a key; never waits."""
        ...

    def release(self, key: str) -> None:
        """Let other callers fetch a key."""
        ...

    def close(self) -> None:
        """Write the counts and close the files; a closed cache is not used again."""
        ...

    def __contains__(self, key: str) -> bool: ...

    def __len__(self) -> int: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc_info: object) -> None: ...


# An error of its own: damage to one row must not end a run that needs other rows.
class DamagedEntryError(StoreError):
    """A row is there but cannot be trusted; the rest of the cache is unharmed."""


class WriteFailedError(StoreError):
    """Rows could not be written; none of them was."""


class CacheRows(Protocol):
    """Text under names; writes are all or none and on disk when they return."""

    def text(self, name: str) -> str | None:
        """The text of a row, or None when there is none."""
        ...

    def texts(self, names: Sequence[str]) -> Mapping[str, str]:
        """The texts of several rows at once, by name; those that are not there are left out."""
        ...

    def names(self) -> Iterator[str]:
        """The names of all rows of ours, in ascending order."""
        ...

    def count_replies(self) -> int:
        """How many rows are named by a bare key."""
        ...

    def write(self, rows: Mapping[str, str]) -> None:
        """Write rows, replacing those of the same name."""
        ...

    def remove(self, names: Sequence[str]) -> None:
        """Remove rows; those that are not there are passed over."""
        ...

    def clear(self) -> None:
        """Remove every row, those of other programs too."""
        ...

    def add_counts(self, text_of: CountsUpdate) -> None:
        """Replace the row of counts by what `text_of` makes of it, as one step."""
        ...

    def problems(self) -> tuple[str, ...]:
        """What is wrong with the storage itself, in words."""
        ...

    def close(self) -> None:
        """Let go of files."""
        ...


class CountsUpdate(Protocol):
    """Makes the new text of the row of counts from the present one."""

    def __call__(self, present: str | None, /) -> str:
        """The new text."""
        ...
