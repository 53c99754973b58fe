"""Keeps account of which recorded replies were asked for, and says which never were."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

RowKey = tuple[str | None, str | None, str | None, str | None, int, int]
"""Case, variant, criterion, order, repeat and attempt."""

_FIELDS = ("case", "variant", "criterion", "order", "repeat")
_BY = (3, 0, 1, 2, 4)
"""In which order a row's fields are looked at: one wrong field explains the others."""

_SERVING_ALL = {1, 2}
"""The fields that a row may leave out to serve whatever is asked."""

_PLURALS = {"criterion": "criteria", "line": "lines"}
_SHOWN = 3


class AskedRows:
    """What was asked for, and the rows that answered."""

    def __init__(self) -> None:
        self._used: set[RowKey] = set()
        self._values: tuple[set[str | int | None], ...] = tuple(set() for _ in _FIELDS)

    def take(self, wanted: RowKey, row: RowKey | None) -> None:
        """Note one request."""
        for values, value in zip(self._values, wanted, strict=False):
            values.add(value)
        if row is not None:
            self._used.add(row)

    def told(self, rows: Mapping[RowKey, int]) -> str | None:
        """Which rows nobody asked for, on one line, as far as anything was asked at all."""
        # Left out are rows for being asked again, which are there for replies that cannot be read,
        # and rows that serve every variant or criterion where closer ones answered.
        if not self._values[0]:
            return None
        found: dict[str, list[str | int | None]] = {}
        for key, line in rows.items():
            why = None if key in self._used or key[-1] else self._why(key, line)
            if why is not None:
                found.setdefault(why[0], []).append(why[1])
        n_left = sum(map(len, found.values()))
        if not n_left:
            return None
        parts = [
            _part(name, values, n_rows=None if len(found) == 1 else len(values))
            for name, values in found.items()
        ]
        were = f"row{'' if len(rows) == 1 else 's'} {'was' if n_left == 1 else 'were'}"
        return f"{n_left:,} of {len(rows):,} {were} not asked for: {'; '.join(parts)}"

    def _why(self, key: RowKey, line: int) -> tuple[str, str | int | None] | None:
        """The first field of a row with a value that nobody asked for; else its line."""
        # None for a row that serves all and was not needed.
        for at in _BY:
            value = key[at]
            serves_all = value is None and at in _SERVING_ALL
            if not serves_all and value not in self._values[at]:
                return _FIELDS[at], value
        return None if None in key[1:3] else ("line", line)


def _part(name: str, values: Iterable[str | int | None], *, n_rows: int | None) -> str:
    distinct = list(dict.fromkeys(values))
    shown = ", ".join(_word(value) for value in distinct[:_SHOWN])
    more = f" and {len(distinct) - _SHOWN:,} more" if len(distinct) > _SHOWN else ""
    noun = name if len(distinct) == 1 else _PLURALS.get(name, f"{name}s")
    rows = "" if n_rows is None else f" ({n_rows:,} row{'' if n_rows == 1 else 's'})"
    return f"{noun} {shown}{more}{rows}"


def _word(value: str | int | None) -> str:
    return "none" if value is None else repr(value)
