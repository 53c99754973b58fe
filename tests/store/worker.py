"""A process of its own that keeps a run: begins it, adds answers, and says so line by line."""

from __future__ import annotations

import sys

from judgekit.store.runs import RunStore
from tests.store.observing import answer, key, make_run


def main(location: str, run_id: str, start: int, stop: int) -> None:
    """Begin a run and add an answer for each number; the last line is read before it goes on."""
    store = RunStore(location)
    store.begin(make_run(run_id))
    step = 1 if start < stop else -1
    for n in range(start, stop, step):
        batch = [answer(key(f"c{n}", repeat=r), place=n) for r in (0, 1)]
        store.add(run_id, batch)
        sys.stdout.write(f"{n}\n")
        sys.stdout.flush()
    sys.stdin.readline()
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
