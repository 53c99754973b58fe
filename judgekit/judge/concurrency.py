"""Runs coroutines for synchronous callers, in an event loop of the judge's own."""

from __future__ import annotations

import asyncio
import threading
import weakref
from contextlib import closing, suppress
from functools import wraps
from inspect import cleandoc
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from judgekit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future

_R = TypeVar("_R")
_P = ParamSpec("_P")
_LONGEST_WAIT_S = 5
_LONGEST_WAIT_WITHOUT_SIGNALS_S = 0.5


class SyncRunner:
    """One event loop in a thread of its own, begun when it is first needed.

    Connections, limits and calls in flight live in that loop, so that many small synchronous
    calls share them. A notebook's own running loop is never touched.
    """

    def __init__(self) -> None:
        self._opened: tuple[asyncio.AbstractEventLoop, threading.Thread] | None = None
        self._finalizer: weakref.finalize[..., SyncRunner] | None = None
        self._lock = threading.Lock()

    def run(self, coroutine: Coroutine[object, object, _R]) -> _R:
        """Run a coroutine to its end and return what it returns."""
        # An interrupt (Ctrl-C) cancels the coroutine before it is passed on.
        loop, thread = self._running()
        if thread is threading.current_thread():
            coroutine.close()
            raise InputError(
                "a synchronous call was made from inside the judge's own event loop",
                hint="await the asynchronous one there: `await judge.grade(...)`",
            )
        # Filled inside the loop: the future that is returned here does not say which task to
        # cancel.
        tasks: set[asyncio.Task[_R]] = set()
        try:
            return _result(asyncio.run_coroutine_threadsafe(_tracked(coroutine, tasks), loop))
        except BaseException:
            # An interrupt may come before there is a future to cancel; in two steps this comes
            # after the coroutine's first. A loop that is closed has nothing left to cancel.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(loop.call_soon, _cancel, tasks)
            raise

    def close(self, last: Callable[[], Coroutine[object, object, object]] | None = None) -> None:
        """Stop the loop and its thread, and cancel what still runs in it."""
        # A later `run` begins a new one. From inside the loop, where a garbage collection may call
        # it, it does not wait for the end.
        with self._lock:
            opened, self._opened = self._opened, None
            if self._finalizer is not None:
                self._finalizer.detach()
        if opened is not None:
            _stop(*opened, last)

    def _running(self) -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
        with self._lock:
            if self._opened is None or not self._opened[1].is_alive():
                loop = asyncio.new_event_loop()
                thread = threading.Thread(
                    target=_serve, args=(loop,), name="judgekit-sync", daemon=True
                )
                thread.start()
                self._opened = loop, thread
                self._finalizer = weakref.finalize(self, _stop, loop, thread)
                # At exit the owner closes it, who may still need the loop for that.
                self._finalizer.atexit = False
            return self._opened


def synchronous(function: Callable[_P, Coroutine[object, object, _R]]) -> Callable[_P, _R]:
    """A function for callers that are not asynchronous; works inside a running loop too."""

    @wraps(function)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with closing(SyncRunner()) as runner:
            return runner.run(function(*args, **kwargs))

    name = function.__name__
    run.__name__ = run.__qualname__ = f"{name}_sync"
    # `help` shows the arguments of the function; its example awaits, which this one cannot.
    # From Python 3.13 on, docstrings are stored without their indentation.
    about = cleandoc(function.__doc__ or "").partition("\n\nExample:")[0]
    own = f"`{name}`, for callers that are not asynchronous; works inside a running loop too."
    run.__doc__ = f"{own}\n\n{about}\n"
    return run


async def _tracked(coroutine: Coroutine[object, object, _R], tasks: set[asyncio.Task[_R]]) -> _R:
    tasks.add(cast("asyncio.Task[_R]", asyncio.current_task()))
    return await coroutine


def _result(future: Future[_R]) -> _R:
    """The result, once it is there; an interrupt that comes just before a wait is seen after it."""
    # A signal that arrives just before a wait is handled only after it, so no wait is long.
    while not future.done():
        with suppress(TimeoutError):
            return future.result(_LONGEST_WAIT_WITHOUT_SIGNALS_S)
    return future.result()


def _cancel(tasks: set[asyncio.Task[_R]]) -> None:
    for task in tasks:
        task.cancel()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


def _stop(
    loop: asyncio.AbstractEventLoop,
    thread: threading.Thread,
    last: Callable[[], Coroutine[object, object, object]] | None = None,
) -> None:
    if not thread.is_alive():  # after a fork, the thread is the parent's
        return
    if thread is threading.current_thread():
        loop.call_soon(loop.stop)
        return
    try:
        if last is not None:
            asyncio.run_coroutine_threadsafe(last(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_LONGEST_WAIT_S)
