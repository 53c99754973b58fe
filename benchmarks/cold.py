"""Grading what was never asked, against bare loops over the same client and the same server.

python -m benchmarks.cold [--quick]
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from benchmarks import machine
from benchmarks.figures import Figure, compared, limited, report
from benchmarks.material import MODEL, answers, one_criterion, reply_text
from benchmarks.timing import QUIET, Stopwatch, Took, alternated
from judgekit.judge import Judge
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from judgekit.models.request import ModelRequest

    Ask = Callable[[ModelRequest], Awaitable[str]]

AT_LEAST_OF_LITELLM = 0.9
"""The share of a bare litellm loop's speed that must be reached."""

AT_LEAST_OF_AIOHTTP = 0.92
"""The share of a bare aiohttp loop's speed that a direct call must reach with latency."""

DIRECT_CPU_MS_AT_MOST = 0.6
"""CPU of a direct call with all that is done about it, on the machine of `benchmarks.machine`."""

LATENCY_S = 0.1


@dataclass(frozen=True, slots=True)
class Load:
    """How much is asked, and how much at a time."""

    url: str
    n: int
    in_flight: int


def measure(quick: bool) -> list[Figure]:  # noqa: FBT001 - what the command line hands in
    """Without latency, where the client's own work decides; with latency, where waiting does."""
    os.environ.update(QUIET)
    rounds = 2 if quick else 5
    with OpenAILikeServer(ok(reply_text()), own_process=True, keep_requests=False) as server:
        busy = Load(server.url, 150 if quick else 400, in_flight=32)
        figures = _without_latency(busy, rounds)
    with OpenAILikeServer(
        ok(reply_text()), own_process=True, keep_requests=False, latency_s=LATENCY_S
    ) as server:
        waiting = Load(server.url, 192 if quick else 640, in_flight=64)
        return figures + _with_latency(waiting, rounds)


def _without_latency(load: Load, rounds: int) -> list[Figure]:
    bare, ours = alternated(rounds, lambda: run_litellm(load), lambda: run_judge(load, "litellm"))
    floor, direct = alternated(rounds, lambda: run_aiohttp(load), lambda: run_judge(load, "direct"))
    name = f"cold, no latency, {load.in_flight} in flight"
    return [
        compared(
            f"{name}: litellm / bare litellm",
            _per_cpu_s(ours),
            _per_cpu_s(bare),
            unit="/s CPU",
            at_least=AT_LEAST_OF_LITELLM,
        ),
        compared("  the same by the clock", _per_s(ours), _per_s(bare), unit="/s"),
        compared("  direct / bare litellm", _per_cpu_s(direct), _per_cpu_s(bare), unit="/s CPU"),
        compared("  direct / bare aiohttp", _per_cpu_s(direct), _per_cpu_s(floor), unit="/s CPU"),
        limited(
            "  CPU of a direct call",
            min(took.cpu_us for took in direct) / 1000,
            unit="ms",
            at_most=DIRECT_CPU_MS_AT_MOST / machine.speed(),
            reference=f"{DIRECT_CPU_MS_AT_MOST} ms on the reference machine",
        ),
    ]


def _with_latency(load: Load, rounds: int) -> list[Figure]:
    more = Load(load.url, 4 * load.n, load.in_flight)  # so that its few seconds can be measured
    bare, ours = alternated(rounds, lambda: run_litellm(load), lambda: run_judge(load, "litellm"))
    floor, direct = alternated(rounds, lambda: run_aiohttp(more), lambda: run_judge(more, "direct"))
    ideal = load.in_flight / LATENCY_S
    name = f"cold, {LATENCY_S * 1000:.0f} ms, {load.in_flight} in flight"
    return [
        compared(
            f"{name}: direct / bare aiohttp",
            _per_s(direct),
            _per_s(floor),
            unit="/s",
            at_least=AT_LEAST_OF_AIOHTTP,
        ),
        compared(
            "  litellm / bare litellm",
            _per_s(ours),
            _per_s(bare),
            unit="/s",
            at_least=AT_LEAST_OF_LITELLM,
        ),
        compared("  direct / ideal", _per_s(direct), [ideal] * rounds, unit="/s"),
    ]


def run_judge(load: Load, transport: Literal["litellm", "direct"]) -> Took:
    """Everything judgekit does for a judgment that nobody owns yet.

    Args:
        load: How much is asked.
        transport: The way to the server.

    Returns:
        What it took, connecting and a first call for each slot left out.
    """
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(
            MODEL,
            api_base=load.url,
            cache=folder,
            transport=transport,
            max_concurrency=load.in_flight,
        )
        return asyncio.run(_judge(judge, load))


async def _judge(judge: Judge, load: Load) -> Took:
    async with judge:
        await _graded(judge, load.in_flight, first=load.n)
        gc.collect()
        watch = Stopwatch()
        await _graded(judge, load.n, first=0)
        took = watch.took(load.n)
    judge.close()
    return took


async def _graded(judge: Judge, n: int, *, first: int) -> None:
    bought = 0
    async for verdict in judge.grade_many(answers(n, first=first), one_criterion()):
        bought += sum(not judgment.cached for judgment in verdict.judgments)
    if bought != n:
        raise RuntimeError(f"{bought} of {n} judgments were bought")


def run_litellm(load: Load) -> Took:
    """The same requests in a bare loop over `litellm.acompletion`.

    Args:
        load: How much is asked.

    Returns:
        What the calls took; making the requests is left out.
    """
    return asyncio.run(_litellm_loop(load))


async def _litellm_loop(load: Load) -> Took:
    import litellm  # noqa: PLC0415 - seconds of import, after the environment is set
    from litellm.llms.custom_httpx.async_client_cleanup import close_litellm_async_clients  # noqa: PLC0415

    litellm.suppress_debug_info = True

    async def ask(request: ModelRequest) -> str:
        reply = await litellm.acompletion(
            model=MODEL,
            api_base=load.url,
            api_key="none",
            messages=[dict(message) for message in request.messages],
            response_format=_response_format(request),
            temperature=0.0,
            timeout=60,
            num_retries=0,
            max_retries=0,
        )
        return str(reply.choices[0].message.content)

    try:
        return await _timed(ask, load)
    finally:
        await close_litellm_async_clients()


def run_aiohttp(load: Load) -> Took:
    """The same requests in a bare loop over aiohttp: the least a call can cost here.

    Args:
        load: How much is asked.

    Returns:
        What the calls took; making the requests is left out.
    """
    return asyncio.run(_aiohttp_loop(load))


async def _aiohttp_loop(load: Load) -> Took:
    import aiohttp  # noqa: PLC0415 - only this loop needs it

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(request: ModelRequest) -> str:
            body: dict[str, Any] = {
                "model": "judge",
                "messages": request.messages,
                "temperature": 0.0,
                "response_format": _response_format(request),
            }
            async with session.post(f"{load.url}/chat/completions", json=body) as response:
                reply = await response.json()
            return str(reply["choices"][0]["message"]["content"])

        return await _timed(ask, load)


async def _timed(ask: Ask, load: Load) -> Took:
    judge = Judge(MODEL, api_base=load.url, cache=None)
    rubric = one_criterion()
    requests = [
        request
        for case, output in answers(load.n + load.in_flight)
        for request in judge.requests(case, output, rubric)
    ]
    await _drained(ask, iter(requests[load.n :]), load.in_flight)
    gc.collect()
    watch = Stopwatch()
    await _drained(ask, iter(requests[: load.n]), load.in_flight)
    return watch.took(load.n)


async def _drained(ask: Ask, requests: Iterator[ModelRequest], in_flight: int) -> None:
    async def worker() -> None:
        for request in requests:
            json.loads(await ask(request))

    await asyncio.gather(*(worker() for _ in range(in_flight)))


def _response_format(request: ModelRequest) -> dict[str, Any]:
    named = {"name": "reply", "schema": request.reply_schema, "strict": True}
    return {"type": "json_schema", "json_schema": named}


def _per_s(runs: Sequence[Took]) -> list[float]:
    return [took.per_s for took in runs]


def _per_cpu_s(runs: Sequence[Took]) -> list[float]:
    return [took.per_cpu_s for took in runs]


if __name__ == "__main__":
    report(measure)
