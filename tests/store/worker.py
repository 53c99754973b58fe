"""A process of its own that keeps a run: begins it, adds answers, and says so one by one."""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING

import psycopg

from judgekit.store import RunStore
from tests.store.observing import answer, key, make_run

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_MOST_LOOKS = 6000


class Worker:
    """Keeps a run; when it has added all its answers it waits until it may go on.

    Args:
        location: The database.
        run_id: The run, which is new.
        numbers: The cases it answers.
    """

    def __init__(self, location: str, run_id: str, numbers: range) -> None:
        # Forked from a process in which everything is imported and nothing runs: in no time.
        forking = multiprocessing.get_context("forkserver")
        forking.set_forkserver_preload([__name__])
        self._location = location
        self._told, theirs = forking.Pipe()
        self._process = forking.Process(
            target=_keep, args=(theirs, location, run_id, numbers), daemon=True
        )
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int | None:
        """The number of its process."""
        return self._process.pid

    def heard(self, n: int) -> list[int]:
        """The next numbers of which it says that they are kept."""
        return [self._told.recv() for _ in range(n)]

    def end(self) -> int | None:
        """Let it go on to its end; its exit code."""
        self._told.send("go on")
        self._process.join()
        return self._process.exitcode

    def kill(self) -> int:
        """Kill it; how many numbers more it has said before."""
        self._process.kill()
        self._process.join()
        n_more = 0
        try:
            while True:
                self._told.recv()
                n_more += 1
        except EOFError:
            self._told.close()
        if self._location.startswith("postgresql"):
            _wait_for_the_server(self._location)
        return n_more


def _wait_for_the_server(location: str) -> None:
    """The locks of a killed process end when the server has noticed that it is gone."""
    with psycopg.connect(location, autocommit=True) as connection:
        for _ in range(_MOST_LOOKS):
            left = connection.execute(
                "SELECT pg_sleep(0.01), pid FROM pg_locks WHERE locktype = 'advisory'"
            )
            if not left.fetchall():
                return
    raise AssertionError("the server still holds the locks of a process that was killed")


def _keep(tell: Connection, location: str, run_id: str, numbers: range) -> None:
    store = RunStore(location)
    store.begin(make_run(run_id))
    for n in numbers:
        store.add(run_id, [answer(key(f"c{n}", repeat=r), place=n) for r in (0, 1)])
        tell.send(n)
    tell.recv()
    store.close()
