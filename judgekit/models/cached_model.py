"""Puts a reply cache before a model, so that no request is paid for twice.

Identical requests are one call, across tasks, threads and processes; the cache itself is in
`judgekit.models.cache`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from time import time
from typing import Literal
from weakref import WeakKeyDictionary

from judgekit.errors import FrozenCacheError, JudgeError, SettingsError, StoreError
from judgekit.models.cache import ReplyCache, is_servable
from judgekit.models.request import Model, ModelAround, ModelReply, ModelRequest

Refresh = bool | Literal["unreadable"]
"""Which cached replies are fetched again: all, none, or those that cannot be parsed."""

_KEY = attrgetter("key")
_FIRST_WAIT_S = 0.005
_LONGEST_WAIT_S = 0.1
_LOCK_MAY_END_S = 10.0  # less than a lock on a server lasts without renewal


class CachedModel(ModelAround):
    """A model whose replies are cached: what was paid for once is never fetched again.

    Identical requests at the same moment are one call: within an event loop they wait for the
    same task, across loops, threads and processes for a lock. A reply is stored before it is
    returned. One that was cut short, filtered or empty is returned, and recorded, but not served
    again. Errors are not stored. May be used from several threads and event loops at once.
    """

    def __init__(
        self, model: Model, cache: ReplyCache, *, frozen: bool = False, refresh: Refresh = False
    ) -> None:
        # One forbids every call and the other needs calls.
        if frozen and refresh:
            raise SettingsError("a frozen cache cannot be refreshed: choose one of the two")
        super().__init__(model)
        self.cache = cache
        self._frozen = frozen
        self._refresh = refresh
        # With `refresh` a key is fetched once; later requests with that key would be paid for
        # again.
        self._refreshed: set[str] = set()
        self._unreadable: set[str] = set()
        # Futures and tasks belong to one event loop, and so do the calls that may be joined.
        self._calls: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopCalls] = WeakKeyDictionary()

    async def complete(self, request: ModelRequest) -> ModelReply:
        if not self.cacheable:
            return await self._model.complete(request)
        key = request.key
        is_stale = self._refresh is True or key in self._unreadable
        try:
            reply = None if is_stale and key not in self._refreshed else self.cache.get(key)
        except StoreError as error:
            await self.finish_calls(error)
            raise
        if reply is not None:
            self.cache.count_hit(reply)
            return reply
        if self._frozen:
            self.cache.count_miss()
            if self.cache.missed is not None:
                # Nobody could ask the same again meanwhile: what a batch brought is what a call
                # would return, cut short or not. Otherwise each batch would pay for it once more.
                if rejected := self.rejected_replies(request):
                    return rejected[0]
                self.cache.missed[key] = request
            raise FrozenCacheError(_missed(request), key=key)
        return await self._share_call(request)

    async def finish_calls(self, error: StoreError) -> None:
        """Wait until the calls that are paid for have ended; no other begins meanwhile."""
        calls = self._calls.setdefault(asyncio.get_running_loop(), _LoopCalls())
        await calls.wait_until_stored(error)

    def cached_replies(self, requests: Sequence[ModelRequest]) -> list[ModelReply | None]:
        """The cached replies, None where there is none; no hit is counted."""
        if self._refresh is True or not self.cacheable:
            return [None] * len(requests)
        try:
            # The usual case: one row is read without building lists.
            if len(requests) == 1:
                return [self.cache.get(requests[0].key)]
            keys = list(map(_KEY, requests))
            return list(map(self.cache.get_many(keys).get, keys))
        except StoreError:
            # `complete` meets the same error, and waits for the calls that are paid for.
            return [None] * len(requests)

    def rejected_replies(self, request: ModelRequest) -> list[ModelReply]:
        """The recorded replies to a request that are not served, latest first."""
        if self._refresh is True or not self.cacheable:
            return []
        try:
            entries = self.cache.rejected(request.key)
        except StoreError:
            return []  # as above
        return [entry.reply.model_copy(update={"cached": True}) for entry in entries[::-1]]

    def mark_unreadable(self, key: str) -> bool:
        """Note that the cached reply of a key cannot be parsed; whether it is fetched again."""
        if self._refresh != "unreadable" or key in self._refreshed:
            return False
        self._unreadable.add(key)
        return True

    async def _share_call(self, request: ModelRequest) -> ModelReply:
        """Ask, or wait for the same request of another task in this event loop."""
        key = request.key
        calls = self._calls.setdefault(asyncio.get_running_loop(), _LoopCalls())
        call = calls.by_key.get(key)
        # A call that has ended is not joined: its reply is in the cache, or it failed and may be
        # tried again.
        is_joined = call is not None and not call.task.done()
        if call is None or not is_joined:
            task = asyncio.ensure_future(self._ask(request, calls))
            call = calls.by_key[key] = _SharedCall(task)
        call.n_waiting += 1
        try:
            # Shielded: a caller that is cancelled must not end the call of the others.
            reply = await asyncio.shield(call.task)
        except asyncio.CancelledError:
            if call.n_waiting == 1 and not call.task.done():
                # Nobody may join a call that is being cancelled.
                calls.by_key.pop(key, None)
                call.task.cancel()
                await asyncio.wait([call.task])
                if not call.task.cancelled():
                    call.task.exception()  # retrieved, or asyncio would report it as never seen
            raise
        finally:
            call.n_waiting -= 1
            if call.n_waiting == 0 and calls.by_key.get(key) is call:
                del calls.by_key[key]
        if not is_joined:
            return reply
        self.cache.count_hit(reply)
        return reply if reply.cached else reply.model_copy(update={"cached": True})

    async def _ask(self, request: ModelRequest, calls: _LoopCalls) -> ModelReply:
        """Send a request, unless another process sends it first, and store the reply."""
        cached = await self._wait_for_turn(request.key, calls)
        if cached is not None:
            self.cache.count_hit(cached)
            return cached
        try:
            if calls.error is not None:
                await calls.stop(calls.error)
            calls.n_unstored += 1
            try:
                self.cache.count_miss()
                asked_at = time()  # other clocks stand still while a machine is suspended
                reply = await self._model.complete(request)
                # On disk before anyone sees it: a reply that was paid for survives a kill.
                put = self.cache.put if is_servable(reply) else self.cache.put_rejected
                is_late = time() - asked_at >= _LOCK_MAY_END_S
                store = partial(self._store_late, put=put) if is_late else put
                reply = store(request, reply) or reply
                self._refreshed.add(request.key)
            finally:
                calls.n_unstored -= 1
                waited_for = calls.all_stored
                if waited_for is not None and calls.n_unstored == 0 and not waited_for.done():
                    waited_for.set_result(None)
        except StoreError as error:
            # The caller cancels its other calls on this error; they are paid for and end first.
            await calls.wait_until_stored(error)
            raise
        except JudgeError:
            if calls.error is not None:
                await calls.stop(calls.error)
            raise
        finally:
            # Also after an error: another process may wait for this key.
            self.cache.release(request.key)
        if calls.error is not None:
            await calls.stop(calls.error)
        return reply.model_copy(update={"key": request.key})

    def _store_late(
        self, request: ModelRequest, reply: ModelReply, put: Callable[..., None]
    ) -> ModelReply:
        """Store a reply, unless another process has; then its reply, at what this call cost."""
        # A process that is suspended loses its lock on a shared cache, and verdicts rest on what
        # the next holder stored.
        key = request.key
        with suppress(StoreError):  # then it is saved beside the cache
            is_stale = self._refresh is True or key in self._unreadable
            if not is_stale and (earlier := self.cache.get(key)) is not None:
                own = {"cached": False, "usage": reply.usage, "cost_usd": reply.cost_usd}
                return earlier.model_copy(update=own)
        put(request, reply)
        return reply

    async def _wait_for_turn(self, key: str, calls: _LoopCalls) -> ModelReply | None:
        """The reply, if it was fetched elsewhere meanwhile; None when this caller has the lock."""
        # Polled, because locks of files cannot be awaited; a thread for each waiting call would
        # cost more.
        wait_s = _FIRST_WAIT_S
        while True:
            is_ours = is_kept = False
            try:
                is_ours = self.cache.try_lease(key)
                # Also with the lock: another caller may have fetched it since the first look.
                is_stale = self._refresh is True or key in self._unreadable
                is_refetched = is_stale and key not in self._refreshed
                cached = None if is_refetched else self.cache.get(key)
                is_kept = is_ours and cached is None
            except StoreError as error:
                # A server may be gone before this call, and others are paid for already.
                await calls.wait_until_stored(error)
                raise
            finally:
                if is_ours and not is_kept:
                    self.cache.release(key)
            if cached is not None or is_kept:
                return cached
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)


@dataclass(slots=True, eq=False)
class _SharedCall:
    """One call that several may wait for; it is cancelled when the last of them is."""

    task: asyncio.Task[ModelReply]
    n_waiting: int = 0


@dataclass(slots=True)
class _LoopCalls:
    """The calls of one event loop: those others may join, and those whose replies are not stored.

    After a reply that could not be stored, no other call begins until the last of them has come
    back, and each of them ends with that error.
    """

    by_key: dict[str, _SharedCall] = field(default_factory=dict)
    n_unstored: int = 0
    error: StoreError | None = None
    all_stored: asyncio.Future[None] | None = None
    _n_waiting: int = 0

    async def wait_until_stored(self, error: StoreError) -> None:
        self._n_waiting += 1
        self.error = self.error or error
        try:
            if self.n_unstored:
                self.all_stored = self.all_stored or asyncio.get_running_loop().create_future()
                # Shielded: several calls wait for the same future, and one of them may be
                # cancelled.
                await asyncio.shield(self.all_stored)
        finally:
            self._n_waiting -= 1
            if self._n_waiting == 0:
                self.error = self.all_stored = None

    async def stop(self, error: StoreError) -> None:
        await self.wait_until_stored(error)
        # A new error for each call: one that is raised twice would grow its traceback.
        raise copy(error) from error


def _missed(request: ModelRequest) -> str:
    about = request.subject
    named = {"case": about.case_id, "variant": about.variant, "criterion": about.criterion}
    where = [f"{name} {value!r}" for name, value in named.items() if value is not None]
    of_what = f" for {', '.join(where)}" if where else ""
    return (
        f"the frozen cache holds no reply of {request.model}{of_what}, repeat {about.repeat} "
        f"(key {request.key[:12]})"
    )
