from __future__ import annotations

import asyncio
import threading
import warnings
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import FrozenCacheError, ModelError, SettingsError, StoreError
from judgekit.models import CachedModel
from judgekit.models.cache import CacheWarning, DiskCache, MemoryCache
from judgekit.models.request import Model, ModelReply, ModelRequest, Subject
from tests.models.cache.buying import CountingModel, make_reply, make_request

if TYPE_CHECKING:
    from pathlib import Path

FAILED = ModelError("the server is busy", kind="overloaded", retryable=True)


class UnkeptModel(CountingModel):
    """A model whose replies are on disk already."""

    cacheable = False


class FullCache(MemoryCache):
    """A cache whose disk is full."""

    def put(self, request: ModelRequest, reply: ModelReply) -> None:
        raise StoreError(f"no room for {request.key} {reply.text}")


class LateCache(MemoryCache):
    """A cache into which another process writes just before the lease is granted."""

    def try_lease(self, key: str) -> bool:
        MemoryCache.put(self, make_request(), make_reply("theirs"))
        return super().try_lease(key)


class BrokenCache(MemoryCache):
    """A cache that breaks once the lease is granted."""

    def get(self, key: str) -> ModelReply | None:
        if key in self._locks._held:
            raise StoreError("the disk is gone")
        return None


async def test_the_second_time_is_free() -> None:
    model = CountingModel()
    cached = CachedModel(model, MemoryCache())
    first = await cached.complete(make_request())
    second = await cached.complete(make_request())
    assert (first.cached, second.cached) == (False, True)
    assert first.key == second.key == make_request().key
    assert second.model_copy(update={"cached": False}) == first
    assert len(model.asked) == 1


async def test_it_is_itself_a_model() -> None:
    model, cache = CountingModel(), MemoryCache()
    cached = CachedModel(model, cache)
    assert isinstance(cached, Model)
    assert (cached.name, cached._model, cached.cache) == ("counting", model, cache)


BASE = make_request()


def changed(changes: dict[str, object]) -> ModelRequest:
    return ModelRequest.model_validate(BASE.model_dump() | changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "openai/large"},
        {"api_base": "http://127.0.0.1:1/v1"},
        {"messages": (*BASE.messages, {"role": "user", "content": "more"})},
        {"messages": BASE.messages[:1]},
        {"messages": (BASE.messages[1], BASE.messages[0])},
        {"messages": ({"role": "user", "content": "You judge."}, BASE.messages[1])},
        {"parameters": {"temperature": 0}},
        {"parameters": {"temperature": 1.0}},
        {"parameters": {"temperature": 0.0, "seed": 7}},
        {"parameters": {"temperature": 0.0, "max_tokens": 100}},
        {"parameters": {"temperature": 0.0, "logprobs": True}},
        {"parameters": {}},
        {"reply_schema": {"type": "object"}},
        {"reply_schema": {}},
        {"subject": Subject(repeat=1)},
    ],
    ids=str,
)
async def test_a_change_of_what_is_asked_is_a_miss(changes: dict[str, object]) -> None:
    model = CountingModel()
    cached = CachedModel(model, MemoryCache())
    await cached.complete(BASE)
    other = await cached.complete(changed(changes))
    assert not other.cached
    assert len(model.asked) == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"subject": Subject(case_id="case", variant="v", criterion="c", order="ab", attempt=2)},
        {"shared_prefix": 10},
        {"parameters": {"temperature": 0.0, "seed": None}},
    ],
    ids=str,
)
async def test_a_change_of_anything_else_is_a_hit(changes: dict[str, object]) -> None:
    model = CountingModel()
    cached = CachedModel(model, MemoryCache())
    await cached.complete(BASE)
    assert (await cached.complete(changed(changes))).cached
    assert len(model.asked) == 1


async def test_a_copied_request_does_not_answer_to_the_originals_key() -> None:
    model = CountingModel()
    cached = CachedModel(model, MemoryCache())
    await cached.complete(BASE)
    copied = BASE.model_copy(update={"parameters": {"temperature": 0.5}})
    reply = await cached.complete(copied)
    assert not reply.cached
    assert reply.key == changed({"parameters": {"temperature": 0.5}}).key
    assert len(cached.cache) == 2


async def test_a_hundred_at_once_are_one_call() -> None:
    model = CountingModel()
    cached = CachedModel(model, MemoryCache())
    replies = await asyncio.gather(*(cached.complete(make_request()) for _ in range(100)))
    assert len(model.asked) == 1
    assert sum(not reply.cached for reply in replies) == 1
    counts = cached.cache.counts()
    assert (counts.n_hits, counts.n_misses, counts.saved_usd) == (99, 1, 99 * 0.25)


async def test_a_cancelled_waiter_takes_nothing_from_the_others() -> None:
    model = CountingModel()
    model.may_answer.clear()
    cached = CachedModel(model, MemoryCache())
    tasks = [asyncio.create_task(cached.complete(make_request())) for _ in range(3)]
    await model.was_asked.wait()
    tasks[1].cancel()
    await asyncio.wait([tasks[1]])
    model.may_answer.set()
    assert (await tasks[0]).text == (await tasks[2]).text
    assert len(model.asked) == 1


async def test_the_call_goes_on_when_the_one_who_began_it_is_cancelled() -> None:
    model = CountingModel()
    model.may_answer.clear()
    cached = CachedModel(model, MemoryCache())
    owner, waiter = [asyncio.create_task(cached.complete(make_request())) for _ in range(2)]
    await model.was_asked.wait()
    owner.cancel()
    await asyncio.wait([owner])
    model.may_answer.set()
    assert (await waiter).cached
    assert owner.cancelled()
    assert len(model.asked) == 1


async def test_the_call_ends_with_the_last_who_waits_for_it() -> None:
    model = CountingModel()
    model.may_answer.clear()
    cached = CachedModel(model, MemoryCache())
    tasks = [asyncio.create_task(cached.complete(make_request())) for _ in range(3)]
    await model.was_asked.wait()
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert all(task.cancelled() for task in tasks)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    model.may_answer.set()
    assert not (await cached.complete(make_request())).cached
    assert len(model.asked) == 2


async def test_an_error_reaches_all_and_is_not_kept() -> None:
    model = CountingModel(FAILED, make_reply())
    cached = CachedModel(model, MemoryCache())
    outcomes = await asyncio.gather(
        *(cached.complete(make_request()) for _ in range(3)), return_exceptions=True
    )
    assert outcomes == [FAILED] * 3
    assert not (await cached.complete(make_request())).cached
    assert len(model.asked) == 2


@pytest.mark.parametrize(
    "reply",
    [
        make_reply(finish_reason="length"),
        make_reply("I cannot do that.", finish_reason="content_filter"),
        make_reply(""),
        make_reply(None),
    ],
    ids=str,
)
async def test_a_reply_that_may_not_be_served_is_kept_for_the_record(reply: ModelReply) -> None:
    model = CountingModel(reply, make_reply())
    cached = CachedModel(model, MemoryCache())
    first = await cached.complete(make_request())
    second = await cached.complete(make_request())
    assert (first.text, second.text) == (reply.text, make_reply().text)
    assert cached.cache.counts().n_misses == 2
    assert [each.reply.text for each in cached.cache.rejected(make_request().key)] == [reply.text]


async def test_a_frozen_cache_asks_nothing() -> None:
    model, cache = CountingModel(), MemoryCache()
    cache.put(make_request("owned"), make_reply())
    cached = CachedModel(model, cache, frozen=True)
    assert (await cached.complete(make_request("owned"))).cached
    request = make_request().model_copy(update={"subject": Subject(case_id="c1", criterion="tone")})
    with pytest.raises(FrozenCacheError, match="case 'c1', criterion 'tone', repeat 0") as caught:
        await cached.complete(request)
    assert caught.value.key == request.key
    assert model.asked == []
    assert cache.try_lease(request.key)


async def test_a_frozen_miss_without_a_subject_names_the_model() -> None:
    cached = CachedModel(CountingModel(), MemoryCache(), frozen=True)
    with pytest.raises(FrozenCacheError, match="no reply of openai/small, repeat 0"):
        await cached.complete(make_request())


def test_a_frozen_cache_cannot_be_refreshed() -> None:
    with pytest.raises(SettingsError, match="choose one"):
        CachedModel(CountingModel(), MemoryCache(), frozen=True, refresh=True)


async def test_a_model_that_wants_no_cache_gets_none() -> None:
    model = UnkeptModel()
    cached = CachedModel(model, MemoryCache())
    await cached.complete(make_request())
    await cached.complete(make_request())
    assert len(model.asked) == 2
    assert len(cached.cache) == 0


async def test_the_reply_is_on_disk_before_it_is_returned(tmp_path: Path) -> None:
    with DiskCache(tmp_path / "cache") as cache, DiskCache(tmp_path / "cache") as other:
        await CachedModel(CountingModel(), cache).complete(make_request())
        assert make_request().key in other


async def test_a_reply_that_cannot_be_kept_is_an_error_for_all_and_frees_the_lease() -> None:
    cached = CachedModel(CountingModel(), FullCache())
    outcomes = await asyncio.gather(
        *(cached.complete(make_request()) for _ in range(2)), return_exceptions=True
    )
    assert all(isinstance(outcome, StoreError) for outcome in outcomes)
    assert cached.cache.try_lease(make_request().key)


async def test_two_caches_over_one_folder_are_one_call(tmp_path: Path) -> None:
    model = CountingModel()
    with DiskCache(tmp_path / "c") as one, DiskCache(tmp_path / "c") as other:
        replies = await asyncio.gather(
            *(CachedModel(model, cache).complete(make_request()) for cache in (one, other))
        )
    assert len(model.asked) == 1
    assert sorted(reply.cached for reply in replies) == [False, True]


async def test_a_reply_bought_between_the_look_and_the_lease_is_served() -> None:
    model, cache = CountingModel(), LateCache()
    reply = await CachedModel(model, cache).complete(make_request())
    assert (reply.text, reply.cached) == ("theirs", True)
    assert model.asked == []
    cache._locks.release(make_request().key)


async def test_a_cache_that_breaks_after_the_lease_gives_it_back() -> None:
    cache = BrokenCache()
    with pytest.raises(StoreError, match="the disk is gone"):
        await CachedModel(CountingModel(), cache).complete(make_request())
    assert cache.try_lease(make_request().key)


async def test_who_waits_for_a_failed_call_of_another_asks_itself(tmp_path: Path) -> None:
    model = CountingModel(FAILED, make_reply())
    with DiskCache(tmp_path / "c") as one, DiskCache(tmp_path / "c") as other:
        outcomes = await asyncio.gather(
            *(CachedModel(model, cache).complete(make_request()) for cache in (one, other)),
            return_exceptions=True,
        )
    assert outcomes[0] is FAILED
    assert isinstance(outcomes[1], ModelReply)


async def test_a_damaged_entry_is_bought_again(tmp_path: Path) -> None:
    model = CountingModel()
    with DiskCache(tmp_path / "cache") as cache:
        cached = CachedModel(model, cache)
        await cached.complete(make_request())
        cache._rows.write({make_request().key: "garbage"})
        with pytest.warns(CacheWarning, match="counts as a miss"):
            await cached.complete(make_request())
        assert (await cached.complete(make_request())).cached
    assert len(model.asked) == 2


@pytest.mark.parametrize("on_disk", [False, True])
def test_threads_with_loops_of_their_own_share_one_model(tmp_path: Path, *, on_disk: bool) -> None:
    asked: list[str] = []

    class ThreadSafeModel:
        name = "threads"

        async def complete(self, request: ModelRequest) -> ModelReply:
            asked.append(request.key)
            await asyncio.sleep(0.001)
            return make_reply()

    requests = [make_request(str(number)) for number in range(20)]
    cache = DiskCache(tmp_path / "cache") if on_disk else MemoryCache()
    cached = CachedModel(ThreadSafeModel(), cache)

    async def ask_all() -> None:
        await asyncio.gather(*(cached.complete(request) for request in requests))

    threads = [threading.Thread(target=asyncio.run, args=(ask_all(),)) for _ in range(4)]
    with cache, warnings.catch_warnings():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert cache.counts().n_misses == 20
    assert sorted(asked) == sorted(request.key for request in requests)
