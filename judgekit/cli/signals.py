"""Handles Ctrl-C and SIGTERM: the first one finishes the calls in flight, the second stops."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from judgekit.cli import console

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

if TYPE_CHECKING:
    Handler = Callable[[int, FrameType | None], object] | int | signal.Handlers | None

_EXIT_INTERRUPTED = 130
_PATIENCE_S = 1.5
_GRACE_S = 5.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """While it is entered, the first Ctrl-C asks for a clean stop and the second cancels."""

    # SIGTERM, with which containers and CI end a job, is a first Ctrl-C whose second follows by
    # itself: its sender kills what has not ended some seconds later.
    # A signal is handled even while a function under test blocks the event loop. If that function
    # cannot be cancelled either, the process exits without waiting for it.

    def __init__(
        self,
        stop: Callable[[], None],
        *,
        grace_s: float = _GRACE_S,
        patience_s: float = _PATIENCE_S,
        leave: Callable[[int], object] = os._exit,
    ) -> None:
        self._stop = stop
        self._is_stopping = False
        self._leave = leave
        self._grace_s = grace_s
        self._grace = _timer(grace_s, self._cancel)
        self._last = _timer(patience_s, self._end)
        self._before: dict[signal.Signals, Handler] = {}
        self._woken: asyncio.AbstractEventLoop | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[object] | None = None

    def __enter__(self) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        with suppress(ValueError):  # not the main thread
            for number in _SIGNALS:
                self._listen(self._loop, number)

    def __exit__(self, *_exc_info: object) -> None:
        self._grace.cancel()
        self._last.cancel()
        for number, before in self._before.items():
            if self._woken is not None:
                self._woken.remove_signal_handler(number)
            signal.signal(number, before)

    def _listen(self, loop: asyncio.AbstractEventLoop, number: signal.Signals) -> None:
        self._before[number] = signal.signal(number, self._interrupt)
        with suppress(NotImplementedError):  # Windows
            # Python runs a handler in the main thread only, and the signal may have reached
            # another: this has the loop wake for it. It sets a handler of its own, hence the next.
            loop.add_signal_handler(number, _nothing)
            self._woken = loop
            signal.signal(number, self._interrupt)

    def _interrupt(self, number: int, _frame: FrameType | None) -> None:
        if self._is_stopping:
            self._cancel()
        elif self._loop is not None:
            self._is_stopping = True
            is_final = number == signal.SIGTERM
            self._loop.call_soon_threadsafe(self._ask, is_final)
            if is_final:
                self._grace.start()

    def _ask(self, is_final: bool) -> None:
        self._stop()
        until = f"SIGTERM ends them in {self._grace_s:g} s"
        console.note(
            "\nfinishing the calls in flight; "
            + (until if is_final else "Ctrl-C again to stop at once")
        )

    def _cancel(self) -> None:
        if self._loop is None or self._task is None:
            return
        with suppress(RuntimeError):  # the loop has ended meanwhile
            self._loop.call_soon_threadsafe(self._task.cancel)
        with suppress(RuntimeError):  # it was started before
            self._last.start()

    def _end(self) -> None:
        console.note("stopped in the middle of an answer; earlier answers are stored")
        self._leave(_EXIT_INTERRUPTED)


def _timer(after_s: float, action: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(after_s, action)
    timer.daemon = True
    return timer


def _nothing() -> None:
    """Does nothing: `_interrupt` has handled the signal."""
