"""Puts a reply cache before a model, so that no request is paid for twice.

Identical requests are one call, across tasks, threads and processes; the cache itself is in
`judgekit.models.cache`.
"""

from __future__ import annotations

import asyncio
import threading
from operator import attrgetter
from typing import TYPE_CHECKING, Literal
from weakref import WeakKeyDictionary

from judgekit.errors import FrozenCacheError, JudgeError, SettingsError, StoreError
from judgekit.models.cache import is_servable

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from judgekit.models.cache import ReplyCache
    from judgekit.models.request import Model, ModelReply, ModelRequest

CacheEvent = Literal["hit", "shared", "waited", "asked", "rejected", "frozen_miss"]
"""How a request was answered: from the cache; by the same request already in flight here; by
another process that was asking it; by a call; by a call whose reply may not be served again; not at
all."""

Refresh = bool | Literal["unreadable"]
"""Which cached replies are fetched again: all, none, or those that cannot be parsed."""

_KEY = attrgetter("key")
_FIRST_WAIT_S = 0.005
_LONGEST_WAIT_S = 0.1


class LazyModel:
    """A model that is built at its first request, so that a run of cache hits never builds it."""

    def __init__(
        self, name: str, open_model: Callable[[], Model], *, cacheable: bool = True
    ) -> None:
        self.cacheable = cacheable
        self._name = name
        self._open_model = open_model
        self._model: Model | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """How the model is called in records and messages."""
        return self._name

    @property
    def opened(self) -> Model | None:
        """The model, once it was built; None before."""
        return self._model

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer one request; see `Model.complete`."""
        if self._model is None:
            with self._lock:
                if self._model is None:
                    self._model = self._open_model()
        return await self._model.complete(request)


class CachedModel:
    """A model whose replies are cached: what was paid for once is never asked again.

    Identical requests at the same moment are one call: within an event loop they wait for the
    same task, across loops, threads and processes for a lock. A reply is stored before it is
    returned. One that was cut short, filtered or empty is returned, and recorded, but not served
    again. Errors are not stored. May be used from several threads and event loops at once.
    """

    def __init__(
        self,
        model: Model,
        cache: ReplyCache,
        *,
        frozen: bool = False,
        refresh: Refresh = False,
        on_event: Callable[[CacheEvent], None] | None = None,
    ) -> None:
        if frozen and refresh:
            raise SettingsError("a frozen cache cannot be refreshed: choose one of the two")
        self._model = model
        self._cache = cache
        self._frozen = frozen
        self._refresh = refresh
        self._on_event = on_event
        self._refreshed: set[str] = set()
        self._unreadable: set[str] = set()
        self._flights: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, _SharedCall]] = (
            WeakKeyDictionary()
        )
        self._under_way: WeakKeyDictionary[asyncio.AbstractEventLoop, _CallsInFlight] = (
            WeakKeyDictionary()
        )

    @property
    def name(self) -> str:
        """The name of the model inside."""
        return self._model.name

    @property
    def model(self) -> Model:
        """The model inside."""
        return self._model

    @property
    def cache(self) -> ReplyCache:
        """The cache before it."""
        return self._cache

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer one request, from the cache if it can."""
        if not getattr(self._model, "cacheable", True):
            return await self._model.complete(request)
        key = request.key
        is_stale = self._refresh is True or key in self._unreadable
        reply = None if is_stale and key not in self._refreshed else self._cache.get(key)
        if reply is not None:
            self._cache.count_hit(reply)
            if self._on_event is not None:
                self._on_event("hit")
            return reply
        if self._frozen:
            self._cache.count_miss()
            self._report("frozen_miss")
            raise FrozenCacheError(_missed(request), key=key)
        return await self._share_call(request)

    def cached_replies(self, requests: Sequence[ModelRequest]) -> list[ModelReply | None]:
        """The cached replies, None where there is none; `record_hit` counts those that are used."""
        if self._refresh is True or not getattr(self._model, "cacheable", True):
            return [None] * len(requests)
        if len(requests) == 1:
            return [self._cache.get(requests[0].key)]
        keys = list(map(_KEY, requests))
        return list(map(self._cache.get_many(keys).get, keys))

    def record_hit(self, reply: ModelReply) -> None:
        """Count a reply of `cached_replies` as a hit."""
        self._cache.count_hit(reply)
        self._report("hit")

    def mark_unreadable(self, key: str) -> bool:
        """Note that the cached reply of a key cannot be parsed; whether it is fetched again."""
        if self._refresh != "unreadable" or key in self._refreshed:
            return False
        self._unreadable.add(key)
        return True

    async def _share_call(self, request: ModelRequest) -> ModelReply:
        flights = self._flights.setdefault(asyncio.get_running_loop(), {})
        flight = flights.get(request.key)
        if flight is not None:
            reply = await flight.join()
            self._cache.count_hit(reply)
            self._report("shared")
            return reply if reply.cached else reply.model_copy(update={"cached": True})
        flight = _SharedCall(self._ask(request), flights, request.key)
        return await flight.join()

    async def _ask(self, request: ModelRequest) -> ModelReply:
        cached = await self._lease(request.key)
        if cached is not None:
            self._cache.count_hit(cached)
            self._report("waited")
            return cached
        under_way = self._under_way.setdefault(asyncio.get_running_loop(), _CallsInFlight())
        try:
            await under_way.stop_if_failed()
            with under_way:
                self._cache.count_miss()
                reply = await self._model.complete(request)
                stored = self._store(request, reply)
        except StoreError as error:
            # The caller cancels its other calls on this error; they are paid for and end first.
            await under_way.landed(error)
            raise
        except JudgeError:
            await under_way.stop_if_failed()
            raise
        finally:
            self._cache.release(request.key)
        await under_way.stop_if_failed()
        return stored

    async def _lease(self, key: str) -> ModelReply | None:
        """The reply, if it was fetched elsewhere meanwhile; None when this caller has the lock."""
        wait_s = _FIRST_WAIT_S
        while not self._cache.try_lease(key):
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
            cached = self._look_up(key)
            if cached is not None:
                return cached
        try:
            # Between the first look and the lock another caller may have fetched it.
            cached = self._look_up(key)
        except BaseException:
            self._cache.release(key)
            raise
        if cached is not None:
            self._cache.release(key)
        return cached

    def _look_up(self, key: str) -> ModelReply | None:
        """The cached reply, unless it is to be fetched again."""
        is_stale = self._refresh is True or key in self._unreadable
        return None if is_stale and key not in self._refreshed else self._cache.get(key)

    def _store(self, request: ModelRequest, reply: ModelReply) -> ModelReply:
        can_be_served = is_servable(reply)
        if can_be_served:
            self._cache.put(request, reply)
        else:
            self._cache.put_rejected(request, reply)
        self._refreshed.add(request.key)
        self._report("asked" if can_be_served else "rejected")
        return reply.model_copy(update={"key": request.key})

    def _report(self, event: CacheEvent) -> None:
        if self._on_event is not None:
            self._on_event(event)


class _CallsInFlight:
    """The calls of one event loop that were sent and whose replies are not stored yet.

    After a reply that could not be stored, no other call begins until the last of them has come
    back, and each of them ends with that error.
    """

    def __init__(self) -> None:
        self._n = 0
        self._n_waiting = 0
        self._error: StoreError | None = None
        self._landed: asyncio.Future[None] | None = None

    def __enter__(self) -> None:
        self._n += 1

    def __exit__(self, *exc_info: object) -> None:
        self._n -= 1
        if self._n == 0 and self._landed is not None and not self._landed.done():
            self._landed.set_result(None)

    async def landed(self, error: StoreError) -> None:
        self._n_waiting += 1
        self._error = self._error or error
        try:
            if self._n:
                self._landed = self._landed or asyncio.get_running_loop().create_future()
                await asyncio.shield(self._landed)
        finally:
            self._n_waiting -= 1
            if self._n_waiting == 0:
                self._error = self._landed = None

    async def stop_if_failed(self) -> None:
        error = self._error
        if error is not None:
            await self.landed(error)
            raise StoreError(error.message, hint=error.hint) from error


class _SharedCall:
    """One call that several may wait for; it is cancelled when the last of them is."""

    def __init__(
        self, call: Coroutine[None, None, ModelReply], flights: dict[str, _SharedCall], key: str
    ) -> None:
        self._flights = flights
        self._key = key
        self._n_waiting = 0
        self._task = asyncio.ensure_future(call)
        self._task.add_done_callback(self._land)
        flights[key] = self

    async def join(self) -> ModelReply:
        self._n_waiting += 1
        try:
            return await asyncio.shield(self._task)
        except asyncio.CancelledError:
            if self._n_waiting == 1 and not self._task.done():
                # Nobody may join a call that is cancelled.
                if self._flights.get(self._key) is self:
                    del self._flights[self._key]
                self._task.cancel()
                await asyncio.wait([self._task])
            raise
        finally:
            self._n_waiting -= 1

    def _land(self, task: asyncio.Task[ModelReply]) -> None:
        if self._flights.get(self._key) is self:
            del self._flights[self._key]
        if not task.cancelled():
            task.exception()  # seen, even when no caller waits for it any more


def _missed(request: ModelRequest) -> str:
    about = request.subject
    where = [
        f"{name} {value!r}"
        for name, value in (
            ("case", about.case_id),
            ("variant", about.variant),
            ("criterion", about.criterion),
        )
        if value is not None
    ]
    of_what = f" for {', '.join(where)}" if where else ""
    return (
        f"the frozen cache holds no reply of {request.model}{of_what}, repeat {about.repeat} "
        f"(key {request.key[:12]})"
    )
