"""Reads what can still be read out of a damaged database, row by row."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from judgekit.models.cache.entries import is_sound_row
from judgekit.models.cache.reading import plain_text
from judgekit.models.cache.rows import DamagedEntryError, is_row_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SMALLEST_ROW_BYTES = 512  # an entry's text alone is longer


def salvaged_rows(database: Path) -> Iterator[tuple[str, str]]:
    """The rows of a damaged database that can be read and whose checksum holds."""
    try:
        with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as found:
            # Without this SQLite reads nothing of a file that was cut short.
            found.execute("PRAGMA writable_schema = ON")
            # One damaged page ends a scan, but not a look-up of a row on another page.
            for number in range(1, _last_row(found, database) + 1):
                row = _row(found, number)
                if row is not None:
                    yield row
    except sqlite3.Error:
        # Not a database any more: nothing to be had.
        return


def _last_row(found: sqlite3.Connection, database: Path) -> int:
    found.execute("SELECT rowid FROM Cache WHERE rowid = 0").fetchall()
    try:
        return int(found.execute("SELECT max(rowid) FROM Cache").fetchone()[0] or 0)
    except sqlite3.Error:
        return database.stat().st_size // _SMALLEST_ROW_BYTES


def _row(found: sqlite3.Connection, number: int) -> tuple[str, str] | None:
    try:
        rows = found.execute(
            "SELECT key, mode, filename, value FROM Cache WHERE rowid = ? AND raw = 1", (number,)
        ).fetchall()
        if not rows or not is_row_name(rows[0][0]):
            return None
        name, text = str(rows[0][0]), plain_text(*rows[0][1:])
    except (sqlite3.Error, DamagedEntryError):
        return None
    return (name, text) if is_sound_row(name, text) else None
