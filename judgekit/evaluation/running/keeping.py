"""Commits what a run observes, as it arrives; what waits at one moment is one transaction."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Self

from judgekit.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from judgekit.records.label import HumanItem
    from judgekit.records.run import Observed
    from judgekit.store.runs import RunStore

_MOST_FAILURES = 2
"""After so many it is not the observations that are at fault, and trying on takes long."""

_Waiting = tuple["Observed", "asyncio.Future[None]"]


class Keeper:
    """Writes observations of one run from one thread, so that the event loop never waits."""

    def __init__(self, store: RunStore, run_id: str) -> None:
        self._store = store
        self._run_id = run_id
        self._waiting: list[_Waiting] = []
        self._writing: asyncio.Task[None] | None = None
        self._untold: BaseException | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="judgekit-store")

    async def keep(self, observed: Observed) -> None:
        """Keep one observation; on disk when this returns."""
        await self.put(observed)

    def put(self, observed: Observed) -> asyncio.Future[None]:
        """Have one observation kept without waiting for it, so that the next one can come."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((observed, done))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        return done

    async def ask_person(self, items: Sequence[HumanItem]) -> None:
        """Put questions in the queue for a person."""
        await asyncio.get_running_loop().run_in_executor(
            self._thread, self._store.ask_person, self._run_id, items
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write what still waits, also when the run was broken off."""
        try:
            while self._writing is not None:
                await self._writing
        finally:
            self._thread.shutdown(wait=True)
        if self._untold is not None and not isinstance(error, StoreError):
            raise self._untold

    async def _write(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                await self._commit(batch)
        finally:
            self._writing = None

    async def _commit(self, batch: list[_Waiting]) -> None:
        error = await self._add([observed for observed, _ in batch])
        if error is None or len(batch) == 1:
            for _, done in batch:
                self._tell(done, error)
            return
        n_failed = 0
        for observed, done in batch:  # one that cannot be kept takes no other with it
            if n_failed < _MOST_FAILURES:
                error = await self._add([observed])
                n_failed += error is not None
            self._tell(done, error)

    async def _add(self, observed: Sequence[Observed]) -> BaseException | None:
        commit = asyncio.get_running_loop().run_in_executor(
            self._thread, self._store.add, self._run_id, observed
        )
        await asyncio.wait({commit})
        return commit.exception()

    def _tell(self, done: asyncio.Future[None], error: BaseException | None) -> None:
        if done.done():  # whoever waited was cancelled; the observation is kept all the same
            self._untold = self._untold or error
        elif error is None:
            done.set_result(None)
        else:
            done.set_exception(error)
