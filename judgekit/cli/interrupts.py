"""Ctrl-C: once to finish what is in flight and stop, twice to stop at once."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from judgekit.cli import console as streams

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    Handler = Callable[[int, FrameType | None], object] | int | signal.Handlers | None

_EXIT_INTERRUPTED = 130
_PATIENCE_S = 1.5


class Interrupts:
    """While it is entered, the first Ctrl-C asks for a clean stop and the second cancels.

    A signal is taken even while somebody's function holds up the event loop, and a program that
    will not be cancelled, for such a function waits on, is left.

    Args:
        stop: Called at the first interrupt; nothing new is to be begun after it.
        patience_s: How long a cancelled program may take to end, in seconds.
        leave: Ends the process with an exit code, whatever else it is about.
    """

    def __init__(
        self,
        stop: Callable[[], None],
        *,
        patience_s: float = _PATIENCE_S,
        leave: Callable[[int], object] = os._exit,
    ) -> None:
        self._stop = stop
        self._seen = False
        self._leave = leave
        self._last = threading.Timer(patience_s, self._end)
        self._last.daemon = True
        self._before: Handler = None
        self._woken: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def interrupt(_signal: int, _frame: FrameType | None) -> None:
            if not self._seen:
                self._seen = True
                loop.call_soon_threadsafe(self._ask)
            elif task is not None:
                loop.call_soon_threadsafe(task.cancel)
                if self._last.ident is None:
                    self._last.start()

        try:
            self._before = signal.signal(signal.SIGINT, interrupt)
        except ValueError:  # not the main thread
            return
        with suppress(NotImplementedError):  # Windows
            # Python runs a handler in the main thread only, and the signal may have reached
            # another: this has the loop wake for it. It sets a handler of its own, hence the next.
            loop.add_signal_handler(signal.SIGINT, _nothing)
            self._woken = loop
            signal.signal(signal.SIGINT, interrupt)

    def __exit__(self, *_exc_info: object) -> None:
        self._last.cancel()
        if self._woken is not None:
            self._woken.remove_signal_handler(signal.SIGINT)
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _ask(self) -> None:
        self._stop()
        streams.note("\nfinishing the calls in flight; Ctrl-C again to stop at once")

    def _end(self) -> None:
        streams.note("stopped at once, in the middle of an answer; what was kept before it stays")
        self._leave(_EXIT_INTERRUPTED)


def _nothing() -> None:
    """The signal was handled when it came."""
