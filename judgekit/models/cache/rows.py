"""Where a cache puts its text: named rows, in memory here and on disk elsewhere."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Protocol

from judgekit.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

COUNTS = "counts"
"""Name of the row that holds what the cache has saved."""

_NAME = re.compile(r"[0-9a-f]{64}(:request|:rejected:[0-9]+)?|counts")


class DamagedEntryError(StoreError):
    """A row is there but cannot be trusted; the rest of the cache is unharmed."""


class WriteFailedError(StoreError):
    """Rows could not be written; none of them was."""


class Rows(Protocol):
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
        """Remove every row, those of strangers too."""
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


def is_row_name(name: object) -> bool:
    """Whether a name is one that this package writes."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def request_row(key: str) -> str:
    """Name of the row that holds what was asked under a key."""
    return f"{key}:request"


def rejected_row(key: str, number: int) -> str:
    """Name of the row that holds a key's rejected reply of that number, from 0."""
    return f"{key}:rejected:{number}"


class MemoryRows:
    """Rows in a dict; gone with the process."""

    def __init__(self) -> None:
        self._rows: dict[str, str] = {}
        self._lock = threading.Lock()

    def text(self, name: str) -> str | None:
        """See `Rows.text`; never raises."""
        return self._rows.get(name)

    def texts(self, names: Sequence[str]) -> Mapping[str, str]:
        """See `Rows.texts`; never raises."""
        rows = self._rows
        return {name: rows[name] for name in names if name in rows}

    def names(self) -> Iterator[str]:
        """See `Rows.names`."""
        with self._lock:
            names = sorted(self._rows)
        return iter(names)

    def count_replies(self) -> int:
        """See `Rows.count_replies`."""
        with self._lock:
            return sum(":" not in name and name != COUNTS for name in self._rows)

    def write(self, rows: Mapping[str, str]) -> None:
        """See `Rows.write`; never raises."""
        with self._lock:
            self._rows.update(rows)

    def remove(self, names: Sequence[str]) -> None:
        """See `Rows.remove`; never raises."""
        with self._lock:
            for name in names:
                self._rows.pop(name, None)

    def clear(self) -> None:
        """See `Rows.clear`; never raises."""
        with self._lock:
            self._rows.clear()

    def add_counts(self, text_of: CountsUpdate) -> None:
        """See `Rows.add_counts`; never raises."""
        with self._lock:
            self._rows[COUNTS] = text_of(self._rows.get(COUNTS))

    def problems(self) -> tuple[str, ...]:
        """Nothing; memory is taken to be sound."""
        return ()

    def close(self) -> None:
        """Nothing is held."""
