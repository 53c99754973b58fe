"""Requests that share a long prefix, sent so that a provider's prompt cache makes them cheaper."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from judgekit.errors import ModelError
from judgekit.models import ModelPrice, PriceTable
from judgekit.models.pricing import PricedModel
from judgekit.models.request import ModelReply, ModelRequest
from judgekit.records import Usage
from tests.factories import make_case, make_judge, make_output, make_request, make_rubric, reply

PRICE = ModelPrice.per_million(
    input_usd=3, output_usd=15, cached_input_usd=0.3, cache_write_usd=3.75
)
PLAIN = ModelPrice.per_million(input_usd=3, output_usd=15)
LONG = "A long output. " * 400


class Provider:
    """Has a prefix in its cache once it has answered with it, as providers do."""

    name = "scripted"

    def __init__(self, *, fails: int = 0) -> None:
        self.kept: set[str] = set()
        self.requests: list[ModelRequest] = []
        self.n_read = self.n_written = self.n_now = self.most_at_once = 0
        self.fails = fails
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        self.n_now += 1
        self.most_at_once = max(self.most_at_once, self.n_now)
        prefix = request.messages[-1]["content"][: request.shared_prefix or 0]
        has_it = prefix in self.kept
        try:
            await self.go_on.wait()
            await asyncio.sleep(0)
            if self.fails:
                self.fails -= 1
                raise ModelError("no", kind="auth")
        finally:
            self.n_now -= 1
        self.kept.add(prefix)
        n_cached = 100 if has_it else 0
        n_written = 100 if prefix and not has_it else 0
        self.n_read += has_it
        self.n_written += n_written > 0
        usage = Usage(
            input_tokens=120, cached_input_tokens=n_cached, cache_write_tokens=n_written,
            output_tokens=10,
        )  # fmt: skip
        return ModelReply(text=reply(4), usage=usage)


def priced(provider: Provider, price: ModelPrice = PRICE, **more: Any) -> PricedModel:
    return PricedModel(provider, PriceTable({"scripted": price}), **more)


def requests(n: int, prefix: str = LONG) -> list[ModelRequest]:
    return [make_request(f"{prefix}{number}?", shared_prefix=len(prefix)) for number in range(n)]


async def send(model: PricedModel, asked: list[ModelRequest]) -> list[ModelReply | BaseException]:
    return await asyncio.gather(*map(model.complete, asked), return_exceptions=True)


async def test_the_first_of_a_prefix_goes_alone_and_the_others_together() -> None:
    provider = Provider()
    provider.go_on.clear()
    model = priced(provider)
    sending = asyncio.create_task(send(model, requests(4)))
    for _ in range(10):
        await asyncio.sleep(0)
    assert provider.n_now == 1
    provider.go_on.set()
    await sending
    assert (provider.n_written, provider.n_read, provider.most_at_once) == (1, 3, 3)


async def test_the_length_counts_in_tokens_and_not_in_characters() -> None:
    # 1,400 Chinese characters are more than 1,024 tokens, of which prompt caches take a prompt.
    provider = Provider()
    await send(priced(provider), requests(4, "回答很好" * 350))
    assert (provider.n_written, provider.n_read) == (1, 3)


async def test_prefixes_do_not_wait_for_each_other() -> None:
    provider = Provider()
    await send(priced(provider), [requests(1, f"{number} {LONG}")[0] for number in range(4)])
    assert provider.most_at_once == 4


@pytest.mark.parametrize(
    ("price", "prefix"),
    [(PLAIN, LONG), (PRICE, "A short output."), (PRICE, LONG[:4000]), (ModelPrice(0, 0), LONG)],
)
async def test_nothing_waits_where_a_prompt_cache_saves_nothing(
    price: ModelPrice, prefix: str
) -> None:
    provider = Provider()
    await send(priced(provider, price), requests(4, prefix))
    assert provider.most_at_once == 4


@pytest.mark.parametrize("prices", [{}, {"anthropic/claude-new": PLAIN}], ids=["none", "own"])
async def test_claude_is_asked_in_turn_whatever_price_is_known(
    prices: dict[str, ModelPrice],
) -> None:
    # Its requests are marked, so that each that finds no cached prompt pays for writing it.
    provider = Provider()
    asked = [one.model_copy(update={"model": "anthropic/claude-new"}) for one in requests(4)]
    await send(PricedModel(provider, PriceTable(prices)), asked)
    assert (provider.n_written, provider.n_read) == (1, 3)


async def test_a_prefix_that_was_just_sent_is_waited_for_no_more() -> None:
    now = [0.0]
    provider = Provider()
    model = priced(provider, clock=lambda: now[0])
    await send(model, requests(1))
    now[0] = 200.0
    await send(model, requests(4))
    assert provider.most_at_once == 4
    # Providers drop a prompt after five minutes, counted from when it was last sent.
    now[0], provider.most_at_once = 600.0, 0
    await send(model, requests(4))
    assert provider.most_at_once == 3


async def test_after_a_failure_the_others_are_sent_all_the_same() -> None:
    provider = Provider(fails=1)
    first, *others = await send(priced(provider), requests(4))
    assert isinstance(first, ModelError)
    assert all(isinstance(other, ModelReply) for other in others)


async def test_a_first_request_that_is_cancelled_releases_the_others() -> None:
    provider = Provider()
    provider.go_on.clear()
    model = priced(provider)
    first, *others = [asyncio.create_task(model.complete(one)) for one in requests(3)]
    for _ in range(5):
        await asyncio.sleep(0)
    first.cancel()
    provider.go_on.set()
    assert len(await asyncio.gather(*others)) == 2
    assert len(provider.requests) == 3


async def test_event_loops_do_not_wait_for_each_other() -> None:
    provider = Provider()
    provider.go_on.clear()
    model = priced(provider)
    mine = asyncio.create_task(model.complete(requests(1)[0]))
    await asyncio.sleep(0)
    elsewhere = Provider()
    thread = threading.Thread(target=lambda: asyncio.run(_other_loop(model, elsewhere)))
    thread.start()
    await asyncio.to_thread(thread.join, 10)
    assert len(elsewhere.requests) == 1
    provider.go_on.set()
    await mine


async def _other_loop(model: PricedModel, provider: Provider) -> None:
    provider.go_on = asyncio.Event()
    provider.go_on.set()
    model._model, before = provider, model._model
    try:
        await asyncio.wait_for(model.complete(requests(1)[0]), timeout=5)
    finally:
        model._model = before


async def test_the_criteria_of_an_output_are_written_to_the_cache_once() -> None:
    provider = Provider()
    judge = make_judge(provider, prices=PriceTable({"scripted": PRICE}))
    rubric = make_rubric("accuracy", "tone", "brevity")
    verdict = await judge.grade(make_case(), make_output(LONG), rubric)
    assert (provider.n_written, provider.n_read) == (1, 2)
    # 120 tokens each, 100 of them shared: written at 3.75, then read at 0.30; 10 tokens of reply.
    expected = (100 * 3.75 + 2 * 100 * 0.3 + 3 * 20 * 3 + 3 * 10 * 15) / 1e6
    assert sum(one.cost_usd or 0 for one in verdict.judgments) == pytest.approx(expected)


@pytest.mark.parametrize(("repeats", "is_shared"), [(1, False), (2, True)])
async def test_a_prompt_that_nothing_shares_is_not_written_to_the_cache(
    repeats: int,
    is_shared: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    provider = Provider()
    judge = make_judge(provider, prices=PriceTable({"scripted": PRICE}), repeats=repeats)
    await judge.grade(make_case(), make_output(LONG), make_rubric("accuracy"))
    assert [bool(one.shared_prefix) for one in provider.requests] == [is_shared] * repeats
    assert provider.n_read == repeats - 1
