"""How fast this machine is: absolute figures are scaled by it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import tempfile
from functools import cache
from pathlib import Path

from benchmarks.material import reply_text
from benchmarks.timing import Stopwatch, Took

REFERENCE_ROWS_PER_S = 50_000
"""Rows a CPU second that the machine reads on which absolute bars are stated."""

_N = 20_000


class RowFloor:
    """Replies about three criteria in a plain SQLite table: read by their keys and parsed."""

    def __init__(self, folder: Path) -> None:
        self._database = sqlite3.connect(folder / "rows.db")
        self._keys = [hashlib.sha256(b"%d" % number).hexdigest() for number in range(_N)]
        criteria = ("correctness", "tone", "brevity")
        replies = (reply_text(4, number, criteria) for number in range(_N))
        with self._database:
            self._database.execute("CREATE TABLE rows (key TEXT PRIMARY KEY, reply TEXT)")
            rows = zip(self._keys, replies, strict=True)
            self._database.executemany("INSERT INTO rows VALUES (?, ?)", rows)

    def run(self) -> Took:
        """Read and parse every reply."""
        query, watch = "SELECT reply FROM rows WHERE key = ?", Stopwatch()
        for key in self._keys:
            json.loads(self._database.execute(query, (key,)).fetchone()[0])
        return watch.took(_N)

    def close(self) -> None:
        """Close the table."""
        self._database.close()


@cache
def speed() -> float:
    """How many times as fast as the reference machine this one is now."""
    with tempfile.TemporaryDirectory() as folder:
        floor = RowFloor(Path(folder))
        took = [floor.run() for _ in range(4)]
        floor.close()
    return max(one.per_cpu_s for one in took) / REFERENCE_ROWS_PER_S
