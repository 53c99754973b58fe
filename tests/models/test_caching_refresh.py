"""What is asked anew although it is owned: everything, or what nobody can read."""

from __future__ import annotations

import asyncio

import pytest

from judgekit.errors import ModelError
from judgekit.models import CachedModel
from judgekit.models.cache import MemoryCache
from tests.models.cache.buying import CountingModel, make_reply, make_request

FAILED = ModelError("the server is busy", kind="overloaded", retryable=True)


async def test_refreshing_asks_once_more_and_replaces() -> None:
    cache = MemoryCache()
    cache.put(make_request(), make_reply("old"))
    model = CountingModel(make_reply("new"))
    cached = CachedModel(model, cache, refresh=True)
    together = await asyncio.gather(*(cached.complete(make_request()) for _ in range(5)))
    later = await cached.complete(make_request())
    assert {reply.text for reply in (*together, later)} == {"new"}
    assert later.cached
    assert len(model.asked) == 1


async def test_a_failed_refresh_leaves_the_old_reply() -> None:
    cache = MemoryCache()
    cache.put(make_request(), make_reply("old"))
    cached = CachedModel(CountingModel(FAILED), cache, refresh=True)
    with pytest.raises(ModelError, match="busy"):
        await cached.complete(make_request())
    assert (await CachedModel(CountingModel(), cache).complete(make_request())).text == "old"


async def test_what_is_kept_and_unreadable_is_asked_anew_once_and_replaced() -> None:
    cache, key = MemoryCache(), make_request().key
    cache.put(make_request(), make_reply("unreadable"))
    model = CountingModel(make_reply("new"))
    cached = CachedModel(model, cache, refresh="unreadable")
    assert cached.cached_replies([make_request()])[0] is not None
    assert (await cached.complete(make_request())).text == "unreadable"
    assert cached.mark_unreadable(key)
    assert (await cached.complete(make_request())).text == "new"
    assert not cached.mark_unreadable(key)
    assert (await cached.complete(make_request())).cached
    assert len(model.asked) == 1


@pytest.mark.parametrize("refresh", [False, True])
async def test_without_being_told_so_nothing_unreadable_is_asked_anew(*, refresh: bool) -> None:
    cached = CachedModel(CountingModel(), MemoryCache(), refresh=refresh)
    assert not cached.mark_unreadable(make_request().key)
