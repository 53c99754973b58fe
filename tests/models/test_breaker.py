"""An endpoint that has never answered is probed by one call, and then no further call is made."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import ModelError
from judgekit.models.request import Subject
from tests.models.asking import ask, outcome
from tests.models.limited_endpoint import GOOD, Endpoint, Step, all_of, broken, calls, limited
from tests.models.virtual_time import VirtualTime

if TYPE_CHECKING:
    from judgekit.models.request import ModelReply, ModelRequest

RETRIES = 6
"""Requests of one call that fails at each attempt."""


@pytest.fixture
def time() -> VirtualTime:
    return VirtualTime()


class Staggered(Endpoint):
    """Each call takes a tenth of a second longer than the one before it."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.takes_s = 1 + len(self.sent_at) / 10
        return await super().complete(request)


def kinds(results: list[ModelReply | ModelError]) -> list[str]:
    return [one.kind if isinstance(one, ModelError) else "answer" for one in results]


@pytest.mark.parametrize("kind", ["connection", "overloaded", "timeout", "protocol"])
async def test_a_dead_endpoint_costs_the_retries_of_one_call(time: VirtualTime, kind: str) -> None:
    endpoint = Endpoint(time, lambda _: broken(kind, retryable=True))
    results = await time.run(calls(limited(endpoint, max_concurrency=8), 1000))
    # The first eight were in flight together; one of them, or the next, goes on as the probe.
    assert len(endpoint.sent_at) <= 8 + RETRIES
    assert time.now - 1000 <= 31 + 1
    assert sorted(kinds(results)) == ["cancelled"] * 999 + [kind]


async def test_the_error_names_the_calls_the_cause_and_what_to_do(time: VirtualTime) -> None:
    down = broken("connection", provider="openai at host", hint="start the server")
    endpoint = Endpoint(time, lambda _: down, takes_s=1)
    results = await time.run(calls(limited(endpoint, max_retries=1), 32))
    refused = next(one for one in results if isinstance(one, ModelError) and one is not down)
    assert refused.message == (
        "none of 33 calls to openai/m succeeded, and no further call was made; "
        "the last error: it was connection"
    )
    assert (refused.hint, refused.provider) == ("start the server", "openai at host")
    assert not refused.retryable


@pytest.mark.parametrize(
    ("kind", "hint"), [("bad_request", "correct what the error names"), ("internal", "check the")]
)
async def test_a_request_that_is_always_refused_is_sent_once_more(
    time: VirtualTime, kind: str, hint: str
) -> None:
    endpoint = Staggered(time, lambda _: broken(kind))
    results = await time.run(calls(limited(endpoint, max_concurrency=4), 20))
    assert len(endpoint.sent_at) <= 10 + 4
    assert kinds(results).count(kind) == len(endpoint.sent_at)
    last = results[-1]
    assert isinstance(last, ModelError)
    assert (last.kind, str(last.hint).startswith(hint)) == ("cancelled", True)


@pytest.mark.parametrize(("then", "ends"), [("overloaded", "answer"), ("bad_request",) * 2])
async def test_a_probe_that_fails_in_another_way_holds_up_nobody(
    time: VirtualTime, then: str, ends: str
) -> None:
    # One case says nothing about an endpoint that can be reached.
    endpoint = Endpoint(time, [broken("connection"), broken(then)], takes_s=1)
    model = limited(endpoint, max_concurrency=8)

    async def work() -> list[ModelReply | ModelError]:
        probe = asyncio.ensure_future(outcome(model, ask("probe")))
        await time.sleep(2.01)  # by then it is sent for the second time
        return [*await all_of(model, 3), await probe]

    assert kinds(await time.run(work())) == ["answer"] * 3 + [ends]
    assert endpoint.sent_at[2] == endpoint.sent_at[1] + 1


async def test_a_few_requests_that_are_refused_stop_nobody(time: VirtualTime) -> None:
    endpoint = Endpoint(time, [broken("bad_request")] * 9)
    results = await time.run(calls(limited(endpoint, max_concurrency=1), 40))
    assert kinds(results) == ["bad_request"] * 9 + ["answer"] * 31


async def test_refused_requests_stop_nobody_while_another_is_in_flight(time: VirtualTime) -> None:
    endpoint = Staggered(time, [broken("bad_request")] * 15)
    results = await time.run(calls(limited(endpoint, max_concurrency=16), 40))
    assert kinds(results) == ["bad_request"] * 15 + ["answer"] * 25


async def test_one_case_with_many_criteria_is_one_case(time: VirtualTime) -> None:
    endpoint = Endpoint(time, [broken("bad_request")] * 30)
    model = limited(endpoint, max_concurrency=1)

    async def work() -> list[ModelReply | ModelError]:
        too_long = [
            outcome(model, ask(f"criterion {i}", subject=Subject(case_id="c"))) for i in range(30)
        ]
        return [*await asyncio.gather(*too_long), await outcome(model, ask("other"))]

    assert kinds(await time.run(work())) == ["bad_request"] * 30 + ["answer"]


async def test_a_burst_that_heals_within_the_retries_stops_nobody(time: VirtualTime) -> None:
    def answer(_: int) -> Step:
        return broken() if time.now < 1005 else GOOD

    endpoint = Endpoint(time, answer)
    results = await time.run(calls(limited(endpoint, max_concurrency=8), 200))
    assert results == [GOOD] * 200
    assert len(endpoint.sent_at) <= 200 + 8 + RETRIES


async def test_an_endpoint_that_has_answered_once_is_never_suspected(time: VirtualTime) -> None:
    endpoint = Endpoint(time, lambda turn: broken("connection") if turn else GOOD)
    model = limited(endpoint, max_concurrency=4)
    await time.run(model.complete(ask("first")))
    results = await time.run(calls(model, 20))
    assert kinds(results) == ["connection"] * 20
    assert len(endpoint.sent_at) == 1 + 20 * RETRIES


@pytest.mark.parametrize("kind", ["rate_limited", "context_window", "content_filter"])
async def test_an_error_of_a_working_endpoint_lifts_the_suspicion(
    time: VirtualTime, kind: str
) -> None:
    endpoint = Endpoint(time, lambda turn: broken() if turn else broken(kind))
    results = await time.run(calls(limited(endpoint, max_concurrency=1, max_retries=1), 20))
    assert "cancelled" not in kinds(results)


async def test_calls_in_flight_may_still_show_that_the_endpoint_works(time: VirtualTime) -> None:
    class Uneven(Endpoint):
        """Fails at once for two cases; the other calls take longer than all retries of one."""

        async def complete(self, request: ModelRequest) -> ModelReply:
            if request.messages[-1]["content"] in {"case 0", "case 1"}:
                self.sent_at.append(time.now)
                raise broken()
            return await super().complete(request)

    endpoint = Uneven(time, takes_s=100)
    results = await time.run(calls(limited(endpoint, max_concurrency=12), 12))
    assert kinds(results) == ["overloaded"] * 2 + ["answer"] * 10


async def test_a_cancelled_probe_is_replaced(time: VirtualTime) -> None:
    endpoint = Endpoint(time, [broken("connection")], takes_s=1)
    model = limited(endpoint, max_concurrency=1)

    async def work() -> list[ModelReply | ModelError]:
        probe = asyncio.ensure_future(outcome(model, ask("probe")))
        await time.sleep(2.01)  # by then it is sent for the second time
        others = asyncio.ensure_future(all_of(model, 3))
        await time.sleep(0.01)
        assert len(endpoint.sent_at) == 2
        probe.cancel()
        return await others

    assert await time.run(work()) == [GOOD] * 3


async def test_probes_that_are_cancelled_share_the_retries_of_one_call(time: VirtualTime) -> None:
    endpoint = Endpoint(time, lambda _: broken("connection"))
    model = limited(endpoint, first_backoff_s=60)

    async def work() -> list[str]:
        ends = []
        for _ in range(30):
            call = asyncio.ensure_future(outcome(model, ask()))
            await time.sleep(0.01)  # less than the pause before the second attempt
            call.cancel()
            (end,) = await asyncio.gather(call, return_exceptions=True)
            ends.append(end.kind if isinstance(end, ModelError) else "called off")
        return ends

    ends = await time.run(work())
    assert ends[-20:] == ["cancelled"] * 20
    assert len(endpoint.sent_at) == 1 + RETRIES


async def test_after_a_minute_an_endpoint_is_called_again(time: VirtualTime) -> None:
    endpoint = Endpoint(time, lambda _: broken("connection") if time.now < 1040 else GOOD)
    model = limited(endpoint, max_concurrency=4)
    await time.run(calls(model, 4))
    n_sent = len(endpoint.sent_at)
    assert kinds(await time.run(calls(model, 9))) == ["cancelled"] * 9
    assert len(endpoint.sent_at) == n_sent
    time.now += 60
    assert await time.run(calls(model, 9)) == [GOOD] * 9


async def test_an_endpoint_that_stays_down_is_given_up_again(time: VirtualTime) -> None:
    endpoint = Endpoint(time, lambda _: broken("connection"), takes_s=1)
    model = limited(endpoint, max_concurrency=4, max_retries=1)
    messages = []
    for _ in range(2):
        results = await time.run(calls(model, 4))
        messages += [str(one) for one in results if getattr(one, "kind", None) == "cancelled"]
        time.now += 60
        assert endpoint.sent_at[-1] > endpoint.sent_at[-2] + 1  # the retry is paused for
    assert len(messages) == 2 * 3
    assert all(text.startswith("none of 5 calls") for text in messages)


async def test_calls_that_waited_for_the_probe_keep_to_the_rate(time: VirtualTime) -> None:
    endpoint = Endpoint(time, [broken("connection")] * 5)
    results = await time.run(calls(limited(endpoint, rpm=60), 10))
    gaps = [b - a for a, b in zip(endpoint.sent_at, endpoint.sent_at[1:], strict=False)]
    assert (results, len(endpoint.sent_at)) == ([GOOD] * 10, 15)
    assert min(gaps) >= 1 - 1e-9


def test_an_endpoint_that_is_down_is_down_for_every_event_loop() -> None:
    time = VirtualTime()
    endpoint = Endpoint(time, lambda _: broken("connection"))
    model = limited(endpoint)
    for _ in range(2):
        results = asyncio.run(time.run(calls(model, 5)))
        assert "cancelled" in kinds(results)
    assert len(endpoint.sent_at) <= 5 + RETRIES
