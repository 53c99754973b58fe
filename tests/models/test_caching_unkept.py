from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import ModelError, StoreError
from judgekit.models import CachedModel
from judgekit.models.cache import MemoryCache
from tests.models.cache.buying import CountingModel, make_request

if TYPE_CHECKING:
    from judgekit.models.request import ModelReply, ModelRequest

FAILED = ModelError("the server is busy", kind="overloaded", retryable=True)


class GatedModel(CountingModel):
    """A model that answers a question when its gate is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.gates: dict[str, asyncio.Event] = {}

    async def complete(self, request: ModelRequest) -> ModelReply:
        gate = self.gates.setdefault(request.messages[-1]["content"], asyncio.Event())
        await gate.wait()
        if request.messages[-1]["content"] == "fails":
            raise FAILED
        return await super().complete(request)


class FillingCache(MemoryCache):
    """A cache whose disk is full for the first reply, and which notes what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[str] = []

    def put(self, request: ModelRequest, reply: ModelReply) -> None:
        self.given.append(request.messages[-1]["content"])
        if len(self.given) == 1:
            raise StoreError("no room", hint="make some")
        super().put(request, reply)


async def turns() -> None:
    """As many turns of the event loop as anything here takes."""
    for _ in range(20):
        await asyncio.sleep(0)


async def asked_one_after_another(cached: CachedModel, texts: list[str], begun: list[str]) -> None:
    for text in texts:
        begun.append(text)
        try:
            await cached.complete(make_request(text))
        except ModelError:
            continue


async def test_what_is_under_way_when_a_reply_cannot_be_kept_is_kept_before_the_run_stops() -> None:
    model, cache, begun = GatedModel(), FillingCache(), list[str]()
    cached = CachedModel(model, cache)
    work = [["first", "never"], ["second", "never"], ["fails", "never"], ["last"]]

    async def run() -> None:
        async with asyncio.TaskGroup() as group:
            for texts in work:
                group.create_task(asked_one_after_another(cached, texts, begun))

    running = asyncio.ensure_future(run())
    await turns()
    assert len(model.gates) == len(work)
    for text in ("first", "second", "fails", "last"):
        model.gates[text].set()
        await turns()
        assert running.done() == (text == "last")
    with pytest.raises(ExceptionGroup) as caught:
        await running
    assert cache.given == ["first", "second", "last"]
    assert set(begun) == {"first", "second", "fails", "last"}
    told = {(type(one), str(one)) for one in caught.value.exceptions}
    assert told == {(StoreError, str(StoreError("no room", hint="make some")))}
    assert make_request("last").key in cache


async def test_nothing_is_asked_while_what_is_under_way_lands_and_again_afterwards() -> None:
    model, cache = GatedModel(), FillingCache()
    cached = CachedModel(model, cache)
    first, second = (
        asyncio.ensure_future(cached.complete(make_request(text))) for text in ("first", "second")
    )
    await turns()
    assert len(model.gates) == 2
    model.gates["first"].set()
    await turns()
    third = asyncio.ensure_future(cached.complete(make_request("third")))
    await turns()
    assert "third" not in model.gates
    model.gates["second"].set()
    outcomes = await asyncio.gather(first, second, third, return_exceptions=True)
    assert [str(outcome) for outcome in outcomes] == [str(outcomes[0])] * 3
    assert isinstance(outcomes[0], StoreError)
    model.gates["third"] = asyncio.Event()
    model.gates["third"].set()
    assert (await cached.complete(make_request("third"))).cached is False
