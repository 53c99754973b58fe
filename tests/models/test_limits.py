from __future__ import annotations

import asyncio
from typing import Any

import pytest

from judgekit.errors import ModelError, SettingsError
from judgekit.models.rate_limit import LimitedModel, _Slots
from judgekit.models.request import Model, ModelReply, ModelRequest
from judgekit.records import Usage
from tests.models.asking import ask, outcome
from tests.models.limited_endpoint import GOOD, Endpoint, Step, all_of, broken, calls, limited
from tests.models.virtual_time import VirtualTime


@pytest.fixture
def time() -> VirtualTime:
    return VirtualTime()


async def test_it_is_a_model_with_the_name_of_the_one_it_asks(time: VirtualTime) -> None:
    model = limited(Endpoint(time))
    assert isinstance(model, Model)
    assert model.name == "openai/m"
    assert await time.run(model.complete(ask())) == GOOD
    await model.aclose()


async def test_closing_closes_what_is_asked() -> None:
    class Closable(Endpoint):
        closed = False
        cacheable = False

        async def aclose(self) -> None:
            self.closed = True

    time = VirtualTime()
    endpoint = Closable(time)
    model = limited(endpoint)
    await model.aclose()
    assert not endpoint.closed
    await time.run(model.complete(ask()))
    await model.aclose()
    assert endpoint.closed
    assert not model.cacheable


@pytest.mark.parametrize(
    "limits",
    [{"max_concurrency": 0}, {"rpm": 0}, {"tpm": -1}, {"timeout_s": 0}, {"max_retries": -1}],
)
async def test_a_limit_that_lets_nothing_through_is_an_error(
    time: VirtualTime, limits: dict[str, Any]
) -> None:
    with pytest.raises(SettingsError, match="must be greater than 0"):
        limited(Endpoint(time), **limits)


async def test_no_more_calls_are_in_flight_than_allowed(time: VirtualTime) -> None:
    endpoint = Endpoint(time, takes_s=1)
    results = await time.run(calls(limited(endpoint, max_concurrency=4), 20))
    assert results == [GOOD] * 20
    assert endpoint.most_in_flight == 4
    assert time.now == 1005


async def test_requests_a_minute_are_spread_evenly(time: VirtualTime) -> None:
    endpoint = Endpoint(time)
    await time.run(calls(limited(endpoint, rpm=60), 100))
    gaps = [b - a for a, b in zip(endpoint.sent_at, endpoint.sent_at[1:], strict=False)]
    assert min(gaps) == pytest.approx(1)
    assert time.now - 1000 == pytest.approx(99)


async def test_tokens_a_minute_count_the_estimate_before_the_call(time: VirtualTime) -> None:
    endpoint = Endpoint(time)
    request = ask("x" * 3960, parameters={"max_tokens": 500})  # 1492 tokens with the system text
    model = limited(endpoint, tpm=60_000)

    async def three() -> None:
        await asyncio.gather(*(model.complete(request) for _ in range(3)))

    await time.run(three())
    assert time.now - 1000 == pytest.approx((3 * 1492 - 1000) / 1000)


async def test_tokens_a_minute_are_corrected_by_what_was_used(time: VirtualTime) -> None:
    used = ModelReply(text="4", usage=Usage(input_tokens=5000, output_tokens=1000))
    endpoint = Endpoint(time, [used])
    model = limited(endpoint, tpm=60_000)
    await time.run(model.complete(ask()))
    await time.run(model.complete(ask()))
    assert endpoint.sent_at[1] - endpoint.sent_at[0] == pytest.approx(5, abs=0.1)


async def test_what_may_help_is_sent_again_after_growing_waits(time: VirtualTime) -> None:
    endpoint = Endpoint(time, [broken()] * 5)
    assert await time.run(limited(endpoint).complete(ask())) == GOOD
    waits = [b - a for a, b in zip(endpoint.sent_at, endpoint.sent_at[1:], strict=False)]
    assert len(waits) == 5
    assert all(0 <= wait <= 2**i for i, wait in enumerate(waits))


async def test_waits_never_exceed_the_longest(time: VirtualTime) -> None:
    endpoint = Endpoint(time, [broken()] * 30)
    await time.run(limited(endpoint, max_retries=30).complete(ask()))
    waits = [b - a for a, b in zip(endpoint.sent_at, endpoint.sent_at[1:], strict=False)]
    assert 30 < max(waits) <= 60


async def test_a_call_is_given_up_after_the_last_retry(time: VirtualTime) -> None:
    endpoint = Endpoint(time, lambda _: broken())
    with pytest.raises(ModelError, match="it was overloaded"):
        await time.run(limited(endpoint, max_retries=2).complete(ask()))
    assert len(endpoint.sent_at) == 3


@pytest.mark.parametrize("kind", ["bad_request", "context_window", "content_filter"])
async def test_what_cannot_help_is_not_sent_again_and_stops_no_other_call(
    time: VirtualTime, kind: str
) -> None:
    endpoint = Endpoint(time, [broken(kind)])
    model = limited(endpoint)
    with pytest.raises(ModelError, match=kind):
        await time.run(model.complete(ask()))
    assert await time.run(model.complete(ask())) == GOOD
    assert len(endpoint.sent_at) == 2


async def test_a_retry_waits_outside_the_slot(time: VirtualTime) -> None:
    endpoint = Endpoint(time, [broken()])
    results = await time.run(calls(limited(endpoint, max_concurrency=1), 3))
    assert results == [GOOD] * 3
    assert endpoint.sent_at[:3] == [1000] * 3


async def test_retry_after_is_waited_exactly_and_holds_the_call_that_got_it(
    time: VirtualTime,
) -> None:
    endpoint = Endpoint(time, [broken("rate_limited", retry_after_s=7.0)])
    results = await time.run(calls(limited(endpoint, max_concurrency=1), 5))
    assert results == [GOOD] * 5
    assert endpoint.sent_at == [1000] * 5 + [1007]


async def test_pauses_that_keep_coming_hold_every_call(time: VirtualTime) -> None:
    pauses = [broken("rate_limited", retry_after_s=7.0)] * 3
    endpoint = Endpoint(time, pauses, takes_s=1)
    results = await time.run(calls(limited(endpoint, max_concurrency=1), 6))
    assert results == [GOOD] * 6
    assert endpoint.sent_at[:4] == [1000, 1001, 1002, 1010]


async def test_a_success_between_them_ends_the_count_of_pauses(time: VirtualTime) -> None:
    pause = broken("rate_limited", retry_after_s=7.0)
    endpoint = Endpoint(time, [pause, pause, GOOD, pause, pause, GOOD])
    await time.run(calls(limited(endpoint, max_concurrency=1), 6))
    assert endpoint.sent_at[:6] == [1000] * 6


async def test_the_longest_of_several_pauses_holds(time: VirtualTime) -> None:
    pauses = [broken("rate_limited", retry_after_s=float(s)) for s in (2, 9, 4)]
    endpoint = Endpoint(time, pauses, takes_s=1)
    await time.run(calls(limited(endpoint, max_concurrency=3), 3))
    assert endpoint.sent_at == [1000] * 3 + [1010] + [1011, 1011]


async def test_a_pause_of_no_time_is_an_ordinary_wait(time: VirtualTime) -> None:
    endpoint = Endpoint(time, [broken("rate_limited", retry_after_s=0.0)])
    await time.run(limited(endpoint).complete(ask()))
    assert endpoint.sent_at[1] > endpoint.sent_at[0]


async def test_a_pause_that_is_too_long_stops_with_its_length(time: VirtualTime) -> None:
    endpoint = Endpoint(time, [broken("rate_limited", retry_after_s=86400.0)])
    results = await time.run(calls(limited(endpoint, max_concurrency=1), 4))
    assert len(endpoint.sent_at) == 1
    assert [r.kind for r in results if isinstance(r, ModelError)] == ["rate_limited"] * 4
    assert "asks to wait for 86400 s" in str(results[0])
    assert time.now == 1000


async def test_after_a_pause_that_was_too_long_it_is_asked_again(time: VirtualTime) -> None:
    endpoint = Endpoint(time, [broken("rate_limited", retry_after_s=400.0)])
    model = limited(endpoint)
    await time.run(outcome(model, ask()))
    time.now += 200
    assert await time.run(model.complete(ask())) == GOOD
    assert endpoint.sent_at == [1000, 1400]


@pytest.mark.parametrize("kind", ["auth", "not_found", "quota"])
async def test_a_fatal_error_stops_all_but_the_calls_in_flight(
    time: VirtualTime, kind: str
) -> None:
    endpoint = Endpoint(time, lambda _: broken(kind, status=401), takes_s=1)
    results = await time.run(calls(limited(endpoint, max_concurrency=4), 50))
    assert len(endpoint.sent_at) == 4
    assert {r.kind for r in results if isinstance(r, ModelError)} == {kind}
    assert len(results) == 50
    assert time.now == 1001


async def test_later_calls_fail_at_once_with_the_first_fatal_error(time: VirtualTime) -> None:
    first = broken("auth", status=401, provider="openai", hint="set it")
    endpoint = Endpoint(time, [first])
    model = limited(endpoint)
    await time.run(outcome(model, ask()))
    again = await time.run(outcome(model, ask()))
    assert isinstance(again, ModelError)
    assert again is not first
    assert vars(again) == vars(first)
    assert len(endpoint.sent_at) == 1


async def test_a_fatal_error_wakes_the_calls_that_wait_for_a_retry(time: VirtualTime) -> None:
    endpoint = Endpoint(time, [broken("rate_limited", retry_after_s=100.0), broken("auth")])
    model = limited(endpoint)

    async def first_and_second() -> list[ModelReply | ModelError]:
        first = asyncio.ensure_future(outcome(model, ask()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        second = broken("auth")
        model._take_note(second)
        return [await first]

    (result,) = await time.run(first_and_second())
    assert isinstance(result, ModelError)
    assert result.kind == "auth"
    assert time.now == 1000


async def test_calls_queued_for_a_slot_do_not_wait_for_those_in_flight(time: VirtualTime) -> None:
    class Uneven(Endpoint):
        async def complete(self, request: ModelRequest) -> ModelReply:
            self.takes_s = 500 if self.sent_at else 1
            return await super().complete(request)

    endpoint = Uneven(time, [broken("auth")])
    model = limited(endpoint, max_concurrency=2)
    ended: list[float] = []

    async def call() -> None:
        await outcome(model, ask())
        ended.append(time.now)

    async def work() -> None:
        await asyncio.gather(*(call() for _ in range(9)))

    await time.run(work())
    assert ended == [1001] * 8 + [1500]
    assert len(endpoint.sent_at) == 2


async def test_a_call_that_hangs_ends_at_its_deadline() -> None:
    class Hanging(Endpoint):
        async def complete(self, _: ModelRequest) -> ModelReply:
            self.sent_at.append(0)
            await asyncio.get_running_loop().create_future()
            return GOOD

    endpoint = Hanging(VirtualTime())
    model = LimitedModel(endpoint, timeout_s=0.01, max_retries=1, first_backoff_s=0.001)
    with pytest.raises(ModelError, match=r"no answer in time: 0\.01 s") as caught:
        await model.complete(ask())
    assert (caught.value.kind, caught.value.retryable) == ("timeout", True)
    assert len(endpoint.sent_at) == 2


async def test_a_timeout_of_the_model_itself_is_a_timeout_too(time: VirtualTime) -> None:
    endpoint = Endpoint(time, [TimeoutError("slow socket")])
    with pytest.raises(ModelError, match="slow socket"):
        await time.run(limited(endpoint, max_retries=0).complete(ask()))


async def test_a_429_halves_the_calls_in_flight_once_for_a_burst(time: VirtualTime) -> None:
    def answer(turn: int) -> Step:
        return broken("rate_limited", retry_after_s=1.0) if turn < 8 else GOOD

    endpoint = Endpoint(time, answer, takes_s=1)
    model = limited(endpoint, max_concurrency=8)
    await time.run(calls(model, 8))
    assert endpoint.sent_at[8:].count(1002) == 4


async def test_successes_raise_the_calls_in_flight_again(time: VirtualTime) -> None:
    endpoint = Endpoint(time, [broken("rate_limited", retry_after_s=1.0)], takes_s=1)
    await time.run(calls(limited(endpoint, max_concurrency=4), 60))
    late = endpoint.sent_at[-20:]
    assert max(late.count(moment) for moment in late) == 4


async def test_a_limit_of_the_provider_is_met_without_many_429s(time: VirtualTime) -> None:
    admitted: list[float] = []

    def answer(_: int) -> Step:
        recent = [at for at in admitted if at > time.now - 60]
        if len(recent) >= 60:
            return broken("rate_limited", retry_after_s=recent[0] + 60 - time.now)
        admitted.append(time.now)
        return GOOD

    endpoint = Endpoint(time, answer, takes_s=0.5)
    results = await time.run(calls(limited(endpoint, rpm=60), 300))
    refused = len(endpoint.sent_at) - 300
    assert results == [GOOD] * 300
    assert refused <= 6
    assert time.now - 1000 <= 330


async def test_a_cancelled_call_gives_its_slot_back(time: VirtualTime) -> None:
    endpoint = Endpoint(time, takes_s=10)
    model = limited(endpoint, max_concurrency=1)

    async def work() -> list[ModelReply | ModelError]:
        running, queued = (asyncio.ensure_future(outcome(model, ask())) for _ in range(2))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        running.cancel()
        queued.cancel()
        await asyncio.gather(running, queued, return_exceptions=True)
        return await all_of(model, 2)

    assert await time.run(work()) == [GOOD] * 2


async def test_a_call_cancelled_as_its_turn_comes_passes_the_slot_on(time: VirtualTime) -> None:
    endpoint = Endpoint(time, takes_s=1)
    model = limited(endpoint, max_concurrency=1)

    async def work() -> ModelReply | ModelError:
        first, second, third = (asyncio.ensure_future(outcome(model, ask())) for _ in range(3))
        first.add_done_callback(lambda _: second.cancel())
        await asyncio.gather(first, second, return_exceptions=True)
        return await third

    assert await time.run(work()) == GOOD
    assert endpoint.most_in_flight == 1


async def test_a_cancelled_wait_leaves_nothing_running(time: VirtualTime) -> None:
    endpoint = Endpoint(time, [broken("rate_limited", retry_after_s=50.0)])
    task = asyncio.ensure_future(limited(endpoint).complete(ask()))
    for _ in range(5):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) == 1


def test_one_object_serves_loops_one_after_another() -> None:
    time = VirtualTime()
    endpoint = Endpoint(time, takes_s=1)
    model = limited(endpoint, max_concurrency=2)
    for _ in range(3):
        assert asyncio.run(time.run(calls(model, 5))) == [GOOD] * 5
    assert len(model._loops) == 1


def test_a_fatal_error_in_one_loop_holds_in_the_next() -> None:
    time = VirtualTime()
    endpoint = Endpoint(time, [broken("quota")])
    model = limited(endpoint)
    for _ in range(2):
        result = asyncio.run(time.run(outcome(model, ask())))
        assert isinstance(result, ModelError)
        assert result.kind == "quota"
    assert len(endpoint.sent_at) == 1


async def test_a_call_cancelled_in_the_moment_its_turn_is_handed_out_ends_as_cancelled() -> None:
    loop = asyncio.get_running_loop()
    slots = _Slots(1, 1.0, loop.create_future(), loop.create_future())
    await slots.acquire()
    waiting = asyncio.create_task(slots.acquire())
    await asyncio.sleep(0)
    waiting.cancel()
    slots.release()  # takes the cancelled turn out of the queue before its call runs again
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert slots.n_in_flight == 0
