"""A clock that moves only when everybody waits for it, so that hours pass in no time."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

T = TypeVar("T")

_STEPS_UNTIL_IDLE = 30


class VirtualTime:
    """Hand `clock` and `sleep` to what is tested, and `run` it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now + seconds, next(self._numbers), woken))
        await woken

    async def run(self, work: Coroutine[None, None, T]) -> T:
        task = asyncio.ensure_future(work)
        while not task.done():
            for _ in range(_STEPS_UNTIL_IDLE):
                await asyncio.sleep(0)
            if self._sleepers and not task.done():
                self.now, _, woken = heapq.heappop(self._sleepers)
                if not woken.done():
                    woken.set_result(None)
        return await task


class LeapingClock:
    """The clock of the running event loop, and so of all its deadlines; it can be put forward."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ahead_s = 0.0
        self._loop.time = self._time  # type: ignore[method-assign]  # the loop ends with its test

    def leap(self, seconds: float) -> None:
        """Put it forward, from any thread."""
        self._loop.call_soon_threadsafe(self._put_forward, seconds)

    def _put_forward(self, seconds: float) -> None:
        self._ahead_s += seconds

    def _time(self) -> float:
        return time.monotonic() + self._ahead_s
