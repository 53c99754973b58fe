from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import BudgetExceededError, SettingsError
from judgekit.models import Budget, ModelPrice, PriceTable
from judgekit.models.budget import BudgetedModel, Reservation
from judgekit.testing import ScriptedModel
from tests.factories import make_request

if TYPE_CHECKING:
    from collections.abc import Coroutine

STEPS = st.integers(0, 4)
AMOUNTS = st.floats(0, 3)
SHARES = st.floats(0, 1)


async def steps(n: int) -> None:
    for _ in range(n):
        await asyncio.sleep(0)


def spend(budget: Budget, calls: list[tuple[float, float, int, int]]) -> list[Any]:
    """Calls side by side: what is set aside, the share that is used, steps before and during."""

    async def call(most: float, share: float, before: int, during: int) -> None:
        await steps(before)
        reserved = await budget.reserve(most)
        await steps(during)
        reserved.settle(most * share)

    async def all_calls() -> list[Any]:
        return await asyncio.gather(*(call(*each) for each in calls), return_exceptions=True)

    return asyncio.run(all_calls())


@settings(max_examples=100, deadline=None)
@given(st.floats(0, 5), st.lists(st.tuples(AMOUNTS, SHARES, STEPS, STEPS), min_size=1, max_size=20))
def test_calls_within_their_reserves_never_cross_the_limit(limit: float, calls: Any) -> None:
    budget = Budget(limit)
    ends = spend(budget, calls)
    assert budget.spent_usd <= limit
    assert budget._reserved / 10**12 == 0
    refused = [end for end in ends if end is not None]
    assert all(isinstance(end, BudgetExceededError) for end in refused)
    assert budget.is_exhausted is bool(refused)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(AMOUNTS, SHARES, STEPS, STEPS), min_size=1, max_size=20))
def test_nothing_is_refused_while_all_that_could_be_spent_fits(calls: Any) -> None:
    budget = Budget(sum(most for most, *_ in calls) + 1)
    assert spend(budget, calls) == [None] * len(calls)
    assert budget.spent_usd == pytest.approx(sum(most * share for most, share, *_ in calls))


def usd(reserved: Reservation) -> float:
    """How much was set aside."""
    return reserved._amount / 10**12


async def test_a_call_waits_until_another_turns_out_cheaper() -> None:
    budget = Budget(1.0)
    first = await budget.reserve(0.8)
    second = asyncio.ensure_future(budget.reserve(0.8))
    await steps(3)
    assert not second.done()
    first.settle(0.1)
    assert usd(await second) == 0.8
    assert (budget.spent_usd, budget._reserved / 10**12) == (0.1, 0.8)


async def test_a_call_that_no_longer_fits_when_its_turn_comes_is_refused() -> None:
    budget = Budget(1.0)
    first = await budget.reserve(0.8)
    second, third = (asyncio.ensure_future(budget.reserve(most)) for most in (0.8, 0.1))
    await steps(3)
    first.settle(None)
    with pytest.raises(BudgetExceededError, match=r"up to \$0.800000, and \$0.200000 is left"):
        await second
    assert usd(await third) == 0.1


async def test_who_waited_first_comes_first() -> None:
    budget = Budget(1.0)
    first = await budget.reserve(0.5)
    large = asyncio.ensure_future(budget.reserve(0.9))
    await steps(2)
    small = asyncio.ensure_future(budget.reserve(0.1))
    await steps(2)
    assert not small.done()
    first.settle(0.0)
    await asyncio.wait_for(asyncio.gather(large, small), 5)


async def test_what_does_not_fit_even_alone_is_refused_at_once() -> None:
    budget = Budget(1.0)
    assert not budget.is_exhausted
    with pytest.raises(BudgetExceededError, match="the next call may cost up to"):
        await budget.reserve(1.5)
    assert budget.is_exhausted
    assert usd(await budget.reserve(1.0)) == 1.0


@pytest.mark.parametrize("is_granted", [False, True])
async def test_a_call_that_is_cancelled_while_it_waits_leaves_nothing_behind(
    *, is_granted: bool
) -> None:
    budget = Budget(1.0)
    first = await budget.reserve(1.0)
    waiting = asyncio.ensure_future(budget.reserve(0.6))
    behind = asyncio.ensure_future(budget.reserve(1.0))
    await steps(2)
    if is_granted:
        first.settle(0.0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    first.settle(0.0)
    assert usd(await behind) == 1.0
    assert budget._reserved / 10**12 == 1.0


async def test_a_reservation_is_settled_once() -> None:
    budget = Budget(1.0)
    reserved = await budget.reserve(0.5)
    reserved.settle(0.25)
    reserved.settle(0.5)
    reserved.settle(0.0)
    assert (budget.spent_usd, budget._reserved / 10**12) == (0.25, 0.0)


async def test_money_spent_elsewhere_counts_even_beyond_the_limit() -> None:
    budget = Budget(1.0)
    budget.spend(1.5)
    assert budget.spent_usd == 1.5
    with pytest.raises(BudgetExceededError, match=r"\$-0.5"):
        await budget.reserve(0.1)
    budget.spend(-1.0)  # an endpoint may report anything; nothing is given back
    assert budget.spent_usd == 1.5


def test_threads_with_loops_of_their_own_share_one_limit() -> None:
    budget = Budget(1.0)

    async def calls() -> int:
        n_made = 0
        for _ in range(20):
            try:
                reserved: Reservation = await budget.reserve(0.3)
            except BudgetExceededError:
                break
            await asyncio.sleep(0)
            reserved.settle(0.03)
            n_made += 1
        return n_made

    def in_a_thread(_: int) -> int:
        work: Coroutine[Any, Any, int] = calls()
        return asyncio.run(work)

    with ThreadPoolExecutor(4) as pool:
        made = sum(pool.map(in_a_thread, range(4)))
    assert budget.spent_usd == pytest.approx(0.03 * made)
    assert 0.7 < budget.spent_usd <= 1.0


def test_who_waits_in_a_loop_that_ended_is_passed_over() -> None:
    budget = Budget(1.0)
    held = asyncio.run(budget.reserve(1.0))
    left, behind = budget.reserve(0.9), budget.reserve(0.8)

    async def begin() -> None:
        left.send(None)

    async def come() -> Reservation:
        coming = asyncio.ensure_future(behind)
        await steps(2)
        held.settle(0.0)
        return await coming

    asyncio.run(begin())
    assert usd(asyncio.run(come())) == 0.8
    left.close()
    assert budget._reserved / 10**12 == 0.8


@pytest.mark.parametrize("limit", [-1, float("nan"), float("inf")])
def test_a_limit_that_is_no_amount_of_money_is_refused(limit: float) -> None:
    with pytest.raises(SettingsError, match="the limit of money is"):
        Budget(limit)


def test_a_limit_of_nothing_lets_only_free_calls_through() -> None:
    budget = Budget(0)
    assert spend(budget, [(0.0, 1.0, 0, 0)]) == [None]
    assert isinstance(spend(budget, [(1e-12, 1.0, 0, 0)])[0], BudgetExceededError)


OWN_ADDRESS = "http://127.0.0.1/v1"


def most_usd(name: str, budget: Budget, *, api_base: str | None = None) -> float:
    """What a call to a model may cost, as far as its price goes."""
    model = BudgetedModel(ScriptedModel("x", name=name), budget, api_base=api_base)
    return model.most_usd(make_request())


def test_a_listed_price_is_assumed_at_another_endpoint() -> None:
    listed = most_usd("openai/gpt-4.1-mini", Budget(1.0))
    assert most_usd("openai/gpt-4.1-mini", Budget(1.0), api_base=OWN_ADDRESS) == listed > 0


def test_an_own_price_holds_at_any_endpoint() -> None:
    price = ModelPrice.per_million(input_usd=1, output_usd=2)
    budget = Budget(1.0, PriceTable({"openai/m": price}))
    own = most_usd("openai/m", budget, api_base=OWN_ADDRESS)
    assert own == most_usd("openai/m", budget) > 0


def test_a_model_without_a_price_cannot_be_limited() -> None:
    with pytest.raises(SettingsError, match=r"(?s)what nobody/knows charges .*`prices:`"):
        most_usd("nobody/knows", Budget(1.0), api_base=OWN_ADDRESS)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_what_is_spent_only_grows(costs: list[float]) -> None:
    budget, seen = Budget(100.0), []
    for cost in costs:
        budget.spend(cost)
        seen.append(budget.spent_usd)
    assert all(before <= after for before, after in pairwise(seen))
