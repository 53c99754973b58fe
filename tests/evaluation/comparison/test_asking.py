from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import StoreError
from judgekit.evaluation import OutputPair, Pairing, compare_in_order
from judgekit.evaluation.pairing import pair_question
from judgekit.models.cache import MemoryCache
from judgekit.models.request import ModelReply, ModelRequest
from judgekit.testing import ScriptedModel
from tests.evaluation.pairs import RUBRIC, side, summed
from tests.factories import make_case, make_judge, make_output
from tests.judge.comparing import fair_judge, prefers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.evaluation import JudgedPair
    from judgekit.judge import Judge

TEN = [f"c{k}" for k in range(10)]
WORTH = {f"new {c}": float(k % 3) for k, c in enumerate(TEN)} | {f"old {c}": 1.0 for c in TEN}


def sides(*cases: str) -> Pairing:
    return Pairing(side("new", *cases), side("old", *cases))


async def all_of(judge: Judge, pairing: Pairing) -> list[JudgedPair]:
    async with judge:
        return [
            one async for one in compare_in_order(pairing.pairs(), pair_question(judge, RUBRIC))
        ]


async def test_swapping_the_sides_mirrors_the_result_exactly() -> None:
    there = summed(await all_of(make_judge(fair_judge(WORTH)), sides(*TEN)))
    turned = Pairing(side("old", *TEN), side("new", *TEN))
    back = summed(await all_of(make_judge(fair_judge(WORTH)), turned))
    assert (there.whole.wins, there.whole.ties, there.whole.losses) == (3, 3, 4)
    assert (back.whole.wins, back.whole.ties, back.whole.losses) == (4, 3, 3)
    assert there.whole.rate.value == pytest.approx(1 - back.whole.rate.value, abs=1e-12)
    assert there.whole.rate.low == pytest.approx(1 - back.whole.rate.high, abs=1e-12)
    assert there.whole.p == back.whole.p
    assert there.flip_rate == back.flip_rate


async def test_a_judge_that_always_takes_the_first_slot_gives_no_win_and_is_flagged() -> None:
    judge = make_judge(ScriptedModel(lambda _: prefers("first")))
    found = summed(await all_of(judge, sides(*TEN)))
    assert (found.whole.wins, found.whole.losses, found.whole.ties) == (0, 0, 0)
    assert found.whole.inconsistent == 10
    assert found.flip_rate.value == 1
    assert found.flags == ("position_bias", "mostly_inconsistent")
    assert found.decision.winner is None


async def test_outputs_that_are_the_same_cost_nothing_and_are_ties() -> None:
    model = ScriptedModel(lambda _: prefers("first"))
    pairs = [OutputPair(make_case(id=c), make_output("same"), make_output("same")) for c in TEN]
    async with make_judge(model) as judge:
        found = summed([one async for one in compare_in_order(pairs, pair_question(judge, RUBRIC))])
    assert (found.whole.ties, found.n_identical, found.spent.n_replies) == (10, 10, 0)
    assert model.requests == []


async def test_pairs_are_told_in_their_order_however_long_each_takes() -> None:
    async def later(request: ModelRequest) -> ModelReply:
        case = str(request.subject.case_id)
        for _ in range(20 - 2 * int(case[1:])):
            await asyncio.sleep(0)
        return ModelReply(text=prefers("tie"))

    class Slow(ScriptedModel):
        async def complete(self, request: ModelRequest) -> ModelReply:
            return await later(request)

    found = await all_of(make_judge(Slow(lambda _: "")), sides(*TEN))
    assert [one.pair.case.id for one in found] == TEN


async def test_no_more_pairs_are_read_than_are_compared_at_a_time() -> None:
    n_read = 0

    def read() -> Iterator[OutputPair]:
        nonlocal n_read
        for pair in sides(*TEN).pairs():
            n_read += 1
            yield pair

    judge = make_judge(fair_judge(WORTH))
    async with (
        judge,
        aclosing(compare_in_order(read(), pair_question(judge, RUBRIC), in_flight=3)) as told,
    ):
        async for _ in told:
            break
    assert n_read == 3


async def test_what_was_interrupted_goes_on_without_asking_twice() -> None:
    cache, stop = MemoryCache(), asyncio.Event()
    first, again = fair_judge(WORTH), fair_judge(WORTH)
    told = 0
    async with make_judge(first, cache=cache) as judge:
        async for _ in compare_in_order(
            sides(*TEN).pairs(), pair_question(judge, RUBRIC), in_flight=2, stop=stop
        ):
            told += 1
            stop.set()
    assert told == 2
    found = await all_of(make_judge(again, cache=cache), sides(*TEN))
    assert len(found) == 10
    assert len(first.requests) + len(again.requests) == 40


async def test_an_error_ends_it_and_leaves_nothing_running() -> None:
    def fail(request: ModelRequest) -> str:
        if request.subject.case_id == "c1":
            raise StoreError("the disk is full")
        return prefers("tie")

    before = asyncio.all_tasks()
    with pytest.raises(StoreError, match="the disk is full"):
        await all_of(make_judge(ScriptedModel(fail)), sides(*TEN))
    assert asyncio.all_tasks() == before
