"""An event loop in a thread of its own, so that whoever blocks it does not hold up the run."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Begin = Callable[[], Awaitable[object]]

_PATIENCE_S = 1.0
"""How long the end of a loop is waited for; one that is blocked is left behind."""


class OwnLoop:
    """Runs a stranger's coroutines, all in one loop, so that they may share their clients.

    Where one of them blocks the loop, those that were not begun yet, and all that come later, get
    a new loop in another thread; those beside it wait with it, each until its own deadline.
    """

    def __init__(self, *, grace_s: float, patience_s: float = _PATIENCE_S) -> None:
        self._grace_s = grace_s
        self._patience_s = patience_s
        self._served: _Served | None = None
        self._blocked: list[_Served] = []

    async def run(self, begin: Begin) -> object:
        """Run a coroutine there, and wait for it here."""
        while True:
            served = self._served = self._served or _Served()
            call = _Call(begin)
            ended = served.result(call)
            if await self._is_begun(call, ended):
                returned, raised = await ended
                if raised is not None:
                    raise raised
                return returned
            self._leave(served)

    async def is_blocked(self) -> bool:
        """Whether a call has blocked its loop so far, or does at present."""
        if self._blocked or self._served is None:
            return bool(self._blocked)
        ping = _Call(_nothing)
        return not await self._is_begun(ping, self._served.result(ping))

    async def aclose(self) -> None:
        """Cancel what still runs there, and end the loops; one that is blocked ends later."""
        left, self._blocked = self._blocked, []
        served, self._served = self._served, None
        for one in (*left, *(() if served is None else (served,))):
            one.stop()
        if served is not None:
            await asyncio.wait({asyncio.wrap_future(served.ended)}, timeout=self._patience_s)

    async def _is_begun(self, call: _Call, ended: asyncio.Future[_Ended]) -> bool:
        """Whether a call was begun; one that was not will not be."""
        try:
            waiting: set[asyncio.Future[Any]] = {asyncio.wrap_future(call.begun), ended}
            await asyncio.wait(waiting, timeout=self._grace_s, return_when="FIRST_COMPLETED")
        except asyncio.CancelledError:
            call.withdraw()
            ended.cancel()
            raise
        return not call.withdraw()

    def _leave(self, served: _Served) -> None:
        """Use a loop no more; what was begun in it goes on."""
        if self._served is served:
            self._served = None
            self._blocked.append(served)


_Ended = tuple[object, BaseException | None]


class _Call:
    """A coroutine that is to be run, as long as nobody has thought better of it."""

    def __init__(self, begin: Begin) -> None:
        self.begun: Future[None] = Future()
        self._begin = begin
        self._lock = threading.Lock()
        self._is_open = True

    def withdraw(self) -> bool:
        """Have it not run; whether that came in time."""
        with self._lock:
            was_open, self._is_open = self._is_open, False
            return was_open

    async def outcome(self) -> _Ended:
        """A result or an error: what ends a program would end the loop of all calls."""
        if not self.withdraw():
            return None, None
        if self.begun.set_running_or_notify_cancel():
            self.begun.set_result(None)
        try:
            return await self._begin(), None
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - raised again where the call is awaited
            return None, settable(error)


class _Served:
    """A loop and its thread."""

    def __init__(self) -> None:
        self.ended: Future[None] = Future()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._serve, name="judgekit-target-loop", daemon=True).start()

    def result(self, call: _Call) -> asyncio.Future[_Ended]:
        """What a call comes to, for the loop that is running here."""
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(call.outcome(), self._loop))

    def stop(self) -> None:
        """Have the loop end."""
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(_cancelled_all())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()
            if self.ended.set_running_or_notify_cancel():
                self.ended.set_result(None)


async def _nothing() -> None:
    """Answer."""


async def _cancelled_all() -> None:
    others: list[asyncio.Task[Any]] = [
        task for task in asyncio.all_tasks() if task is not asyncio.current_task()
    ]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def settable(error: BaseException) -> BaseException:
    """An exception that a future takes, and that does not end the whole program."""
    if not isinstance(error, StopIteration | KeyboardInterrupt | GeneratorExit):
        return error
    told = f"the function raised {type(error).__name__}"
    return RuntimeError(told).with_traceback(error.__traceback__)
