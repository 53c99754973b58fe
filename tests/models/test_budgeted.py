from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import BudgetExceededError, InputError, ModelError, SettingsError
from judgekit.judge import Judge
from judgekit.models import Budget, ModelPrice, PriceTable, connect, count_messages
from judgekit.models.budget import MOST_OUTPUT_TOKENS, BudgetedModel, most_input_tokens
from judgekit.models.cache import MemoryCache
from judgekit.models.request import ModelReply, ModelRequest
from judgekit.records import Usage
from judgekit.testing import ScriptedModel, ServedReply, ServedRequest
from tests.factories import make_case, make_output, make_request, make_rubric, reply
from tests.models.virtual_time import LeapingClock
from tests.servers.answers import limited, refusing
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from collections.abc import Callable

PRICE = ModelPrice.per_million(input_usd=1, output_usd=100)
PRICES = PriceTable({"scripted": PRICE, "openai/m": PRICE})
SENT = most_input_tokens(make_request())
USED = Usage(input_tokens=20, output_tokens=1000)
SHORT = {"max_tokens": 1000}
MOST = (most_input_tokens(make_request(parameters=SHORT)) + 100_000) / 1e6
"""What a request with `SHORT` can cost at most, in US dollars."""


def budgeted(script: Any, limit: float = 10.0, **more: Any) -> BudgetedModel:
    return BudgetedModel(ScriptedModel(script), Budget(limit, PRICES), **more)


async def ask(asked: BudgetedModel, **fields: Any) -> ModelReply:
    return await asked.complete(make_request(**fields))


async def test_a_call_is_settled_with_what_it_used() -> None:
    model = budgeted(ModelReply(text="x", usage=USED))
    await ask(model)
    assert model._budget.spent_usd == pytest.approx((20 + 100_000) / 1e6)
    assert model._budget._reserved / 10**12 == 0


@pytest.mark.parametrize(
    ("said", "spent"),
    [
        (ModelReply(text="x"), MOST),
        (ModelReply(text="x", cost_usd=0.01, usage=USED), 0.01),
        (ModelReply(text="x", cached=True, usage=USED), 0.0),
        (ModelError("503", kind="overloaded", status=503), 0.0),
        (ModelError("400", kind="bad_request", status=400), 0.0),
        (ModelError("no key", kind="auth"), 0.0),
        (ModelError("late", kind="timeout"), MOST),
        (ModelError("gateway", kind="timeout", status=504), MOST),
        (ModelError("broke", kind="connection"), MOST),
        (ModelError("Cannot connect to host h:1", kind="connection"), 0.0),
        (ModelError("garbage", kind="protocol"), MOST),
        (InputError("no weights"), 0.0),
        (ValueError("a stranger's"), MOST),
    ],
)
async def test_what_may_be_billed_counts_and_what_may_not_is_freed(said: Any, spent: float) -> None:
    model = budgeted(said)
    await asyncio.gather(ask(model, parameters=SHORT), return_exceptions=True)
    assert model._budget.spent_usd == pytest.approx(spent)
    assert model._budget._reserved / 10**12 == 0


class Silent:
    """Never answers."""

    name = "scripted"

    async def complete(self, _request: ModelRequest) -> ModelReply:
        await asyncio.Event().wait()
        raise AssertionError


async def test_a_call_that_is_late_or_cancelled_counts_in_full() -> None:
    budget = Budget(10.0, PRICES)
    with pytest.raises(ModelError, match=r"0\.01 s are over"):
        await ask(BudgetedModel(Silent(), budget, timeout_s=0.01), parameters=SHORT)
    call = asyncio.ensure_future(ask(BudgetedModel(Silent(), budget), parameters=SHORT))
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    assert budget.spent_usd == pytest.approx(2 * MOST)


async def test_what_does_not_fit_is_never_sent() -> None:
    inner = ScriptedModel("x")
    with pytest.raises(BudgetExceededError, match="the next call to scripted may cost up to"):
        await ask(BudgetedModel(inner, Budget(0.8, PRICES)))
    assert inner.requests == []


def sent_limit(inner: ScriptedModel) -> object:
    return inner.requests[-1].parameters.get("max_tokens")


async def test_a_request_without_a_limit_is_sent_one_that_is_no_part_of_its_key() -> None:
    inner, cache = ScriptedModel("x"), MemoryCache()
    connection = connect(inner, cache=cache, budget=Budget(10.0, PRICES))
    answered = await connection.model.complete(make_request())
    assert sent_limit(inner) == MOST_OUTPUT_TOKENS
    assert answered.key == make_request().key


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
async def test_a_limit_of_ones_own_is_sent_as_it_is(name: str) -> None:
    inner = ScriptedModel("x")
    await ask(BudgetedModel(inner, Budget(10.0, PRICES)), parameters={name: 7})
    assert inner.requests[-1].parameters == {name: 7}


@pytest.mark.parametrize(("model", "most"), [("gpt-4", 4096), ("openai/gpt-4.1-mini", 8192)])
async def test_a_model_is_not_asked_for_more_than_it_can_say(model: str, most: int) -> None:
    inner = ScriptedModel("x", name=model)
    await ask(BudgetedModel(inner, Budget(10.0)), model=model)
    assert sent_limit(inner) == most


async def test_a_context_without_room_for_the_limit_is_asked_for_less() -> None:
    def small(request: ModelRequest) -> Any:
        full = ModelError("too long", kind="context_window", status=400)
        return full if int(str(request.parameters["max_tokens"])) > 2048 else "x"

    inner = ScriptedModel(small)
    model = BudgetedModel(inner, Budget(10.0, PRICES))
    await ask(model)
    await ask(model)
    assert [r.parameters["max_tokens"] for r in inner.requests] == [8192, 4096, 2048, 2048]


async def test_a_prompt_that_is_too_long_for_any_limit_fails() -> None:
    model = budgeted(ModelError("too long", kind="context_window", status=400))
    with pytest.raises(ModelError, match="too long"):
        await ask(model)
    assert model._budget.spent_usd == 0


async def test_a_model_that_takes_no_limit_is_asked_no_more() -> None:
    said = ModelReply(text="x", usage=USED, dropped_parameters=("max_tokens",))
    model = budgeted(said)
    await ask(model)
    with pytest.raises(BudgetExceededError, match="takes no limit on its replies"):
        await ask(model)


async def test_a_model_that_takes_no_limit_counts_with_all_it_can_say() -> None:
    said = ModelReply(text="x", usage=USED, dropped_parameters=("max_tokens",))
    model = BudgetedModel(ScriptedModel(said, name="gpt-4.1-mini"), Budget(0.02))
    await ask(model)
    with pytest.raises(BudgetExceededError, match=r"may cost up to \$0\.05"):
        await ask(model)


async def test_each_of_several_choices_is_reserved_for() -> None:
    model = budgeted("x", limit=0.15)
    with pytest.raises(BudgetExceededError, match=r"up to \$0\.20"):
        await ask(model, parameters={**SHORT, "n": 2})


@pytest.mark.parametrize(
    ("prefix", "written", "spent"),
    [(5, None, 50e-6), (None, None, 30e-6), (5, 0, 30e-6), (5, 4, 34e-6)],
)
async def test_what_is_written_to_a_prompt_cache_costs_more(
    prefix: int | None, written: int | None, spent: float
) -> None:
    # What is not reported counts as written, all of it.
    price = ModelPrice(1e-6, 1e-4, cache_write_usd=2e-6)
    usage = Usage(input_tokens=30, cached_input_tokens=10, cache_write_tokens=written)
    said = ModelReply(text="x", usage=usage)
    budget = Budget(10.0, PriceTable({"scripted": price}))
    await ask(BudgetedModel(ScriptedModel(said), budget), shared_prefix=prefix)
    assert budget.spent_usd == pytest.approx(spent)


def test_what_a_provider_writes_to_its_prompt_cache_unasked_is_reserved_for() -> None:
    # As OpenAI does with gpt-5.6, for a quarter more than it charges for a plain token.
    price = ModelPrice(1e-6, 0.0, cache_write_usd=2e-6)
    model = BudgetedModel(ScriptedModel("x"), Budget(10.0, PriceTable({"scripted": price})))
    asked = make_request("回" * 10_000, parameters=SHORT)
    written = Usage(input_tokens=30_000, cache_write_tokens=30_000)
    assert model.most_usd(asked) >= price.cost(written)


async def test_a_free_model_is_asked_as_it_is() -> None:
    inner, free = ScriptedModel("x"), PriceTable({"scripted": ModelPrice(0.0, 0.0)})
    await ask(BudgetedModel(inner, Budget(0), prices=free))
    assert sent_limit(inner) is None


async def test_closing_reaches_the_model_inside() -> None:
    class Closing(ScriptedModel):
        is_closed = False

        async def aclose(self) -> None:
            self.is_closed = True

    inner = Closing("x")
    await BudgetedModel(inner, Budget(1.0, PRICES)).aclose()
    await budgeted("x").aclose()
    assert inner.is_closed


@given(text=st.text(max_size=200), has_schema=st.booleans())
def test_no_request_has_more_tokens_than_are_reserved(text: str, *, has_schema: bool) -> None:
    schema = {"type": "object", "title": text} if has_schema else None
    request = make_request(text, reply_schema=schema)
    assert count_messages(request.messages, "gpt-4o").n < most_input_tokens(request)


@settings(max_examples=30, deadline=None)
@given(
    limit=st.floats(0, 1),
    usages=st.lists(
        st.tuples(st.integers(0, SENT), st.integers(0, 1000), st.integers(0, 3)),
        min_size=1,
        max_size=12,
    ),
)
def test_many_calls_at_once_never_spend_more_than_the_limit(limit: float, usages: Any) -> None:
    class Answering:
        name = "scripted"

        async def complete(self, _request: ModelRequest) -> ModelReply:
            sent, received, n_steps = usages.pop()
            for _ in range(n_steps):
                await asyncio.sleep(0)
            return ModelReply(text="x", usage=Usage(input_tokens=sent, output_tokens=received))

    budget = Budget(limit, PRICES)
    model = connect(Answering(), budget=budget, max_concurrency=8).model

    async def ask_all() -> None:
        calls = [model.complete(make_request(parameters=SHORT)) for _ in list(usages)]
        await asyncio.gather(*calls, return_exceptions=True)

    asyncio.run(ask_all())
    assert budget.spent_usd <= limit
    assert budget._reserved / 10**12 == 0


async def over_loopback(script: Any, limit: float, n: int, **settings: Any) -> tuple[Any, Any, Any]:
    """Ask a loopback server; the ends, the budget and the requests that arrived."""
    budget = Budget(limit, PRICES)
    with OpenAILikeServer(script=script) as server:
        known = {"max_retries": 0, "timeout_s": 60}
        connection = connect("openai/m", api_base=server.url, budget=budget, **known | settings)
        requests = [
            make_request(f"Question {i}", model="openai/m", api_base=server.url, parameters=SHORT)
            for i in range(n)
        ]
        calls = [connection.model.complete(request) for request in requests]
        ends = await asyncio.gather(*calls, return_exceptions=True)
        await connection.aclose()
        return ends, budget, server.requests


def using(tokens: int) -> Callable[[Any], ServedReply]:
    usage = {"prompt_tokens": 100, "completion_tokens": tokens}
    choice = {"index": 0, "message": {"content": "x"}, "finish_reason": "stop"}
    return lambda _: ServedReply(body={"choices": [choice], "usage": usage}, delay_s=0.01)


async def test_a_server_is_asked_until_the_money_is_gone_and_never_beyond() -> None:
    ends, budget, seen = await over_loopback(using(900), 0.5, 12)
    made = [end for end in ends if isinstance(end, ModelReply)]
    assert len(made) == len(seen) == 5
    assert all(isinstance(end, BudgetExceededError) for end in ends if end not in made)
    assert budget.spent_usd == pytest.approx(5 * (100 + 90_000) / 1e6)
    assert budget.spent_usd == pytest.approx(sum(reply.cost_usd or 0 for reply in made))


async def test_waiting_for_money_does_not_count_as_waiting_for_the_server() -> None:
    clock = LeapingClock()

    def slow(_: ServedRequest) -> ServedReply:
        clock.leap(25)
        return ServedReply()

    ends, _, seen = await over_loopback(slow, MOST * 1.1, 6, timeout_s=60)
    assert len(seen) == 6
    assert all(isinstance(end, ModelReply) for end in ends)


async def test_every_attempt_is_counted_and_errors_are_free() -> None:
    script = [limited("0.01"), ServedReply(manner="reset_mid"), ServedReply()]
    ends, budget, seen = await over_loopback(script, 1.0, 1, max_retries=3)
    assert isinstance(ends[0], ModelReply)
    assert len(seen) == 3
    assert budget.spent_usd == pytest.approx(MOST + (ends[0].cost_usd or 0), rel=0.01)


async def test_a_server_that_cannot_be_reached_costs_nothing() -> None:
    budget = Budget(1.0, PRICES)
    url = "http://127.0.0.1:9/v1"
    connection = connect("openai/m", api_base=url, budget=budget, max_retries=0)
    with pytest.raises(ModelError, match="could not be reached"):
        await connection.model.complete(make_request(model="openai/m", api_base=url))
    await connection.aclose()
    assert (budget.spent_usd, budget._reserved / 10**12) == (0, 0)


async def test_the_limit_goes_by_its_newer_name_where_the_older_is_refused() -> None:
    budget = Budget(10.0, PRICES)
    with OpenAILikeServer(script=refusing("max_tokens")) as server:
        connection = connect("openai/m", api_base=server.url, budget=budget)
        for text in ("a", "b"):
            request = make_request(text, model="openai/m", api_base=server.url)
            await connection.model.complete(request)
        await connection.aclose()
        limits = [seen.body.get("max_completion_tokens") for seen in server.requests]
    assert limits == [None, 8192, 8192]


def test_a_price_nobody_knows_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(SettingsError, match="what nobody/knows charges is not known"):
        Judge("nobody/knows", cache=None, budget=Budget(1.0))


def test_what_is_never_asked_needs_no_price() -> None:
    connect("nobody/knows", cache=MemoryCache(), frozen=True, budget=Budget(1.0))


def test_a_judges_own_prices_come_before_the_budgets() -> None:
    with Judge("scripted", cache=None, prices=PRICES, budget=Budget(1.0)) as judge:
        assert judge.connection.prices is PRICES
    with Judge("scripted", cache=None, budget=Budget(1.0, PRICES)) as judge:
        assert judge.connection.prices is PRICES


def test_a_judge_that_runs_out_of_money_says_so_of_each_question() -> None:
    said = ModelReply(text=reply(4), usage=USED)
    budget, rubric = Budget(1.0, PRICES), make_rubric("accuracy", "style")
    with Judge(ScriptedModel(said), cache=None, budget=budget, max_tokens=8000) as judge:
        verdict = judge.grade_sync(make_case(), make_output(), rubric)
        again = judge.grade_sync(make_case(id="other"), make_output(), rubric)
    assert len(verdict.judgments) == 2
    assert budget.spent_usd == pytest.approx(0.2, rel=0.01)
    assert [failure.kind for failure in again.failures] == ["budget", "budget"]
