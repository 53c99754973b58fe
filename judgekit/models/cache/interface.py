"""The entries of a reply cache, and the named rows they are stored in."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from operator import add
from typing import TYPE_CHECKING, Protocol

from judgekit.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from judgekit.models.request import ModelReply
    from judgekit.records import JsonObject


class CacheWarning(UserWarning):
    """The cache is damaged or cannot be written, and the run continues; the message says how."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """One reply that was paid for, with its request."""

    key: str
    request: JsonObject | None
    """The request's `key_parts`; None when they were lost and only the reply is left."""

    reply: ModelReply
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
    n_misses: int = 0
    saved_usd: float = 0.0
    """What the hits had cost when they were fetched, in US dollars, as far as it is known."""

    n_unpriced_hits: int = 0
    """Hits whose price is not known; `saved_usd` leaves them out."""

    saved_ms: float = 0.0
    """How long the hits had taken when they were fetched, in milliseconds."""

    def __add__(self, other: CacheCounts) -> CacheCounts:
        return CacheCounts(*map(add, astuple(self), astuple(other)))


# An error of its own: damage to one row must not end a run that needs other rows.
class DamagedEntryError(StoreError):
    """A row is there but cannot be trusted; the rest of the cache is unharmed."""


class WriteFailedError(StoreError):
    """Rows could not be written; none of them was."""


class CacheRows(Protocol):
    """Text under names; writes are all or none and on disk when they return."""

    def text(self, name: str) -> str | None:
        """The text of a row, or None when there is none."""

    def texts(self, names: Sequence[str]) -> Mapping[str, str]:
        """The texts of several rows at once, by name; those that are not there are left out."""

    def names(self) -> Iterator[str]:
        """The names of all rows of ours, in ascending order."""

    def count_replies(self) -> int:
        """How many rows are named by a bare key."""

    def write(self, rows: Mapping[str, str]) -> None:
        """Write rows, replacing those of the same name."""

    def remove(self, names: Sequence[str]) -> None:
        """Remove rows; those that are not there are passed over."""

    def clear(self) -> None:
        """Remove every row, those of other programs too."""

    def add_counts(self, text_of: Callable[[str | None], str]) -> None:
        """Replace the row of counts by what `text_of` makes of it, as one step."""

    def problems(self) -> tuple[str, ...]:
        """What is wrong with the storage itself, in words."""

    def close(self) -> None:
        """Let go of files."""
