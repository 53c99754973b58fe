"""Ctrl-C in a process of its own: what was paid for is kept, and nothing is asked twice."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from judgekit.cli.interrupts import Interrupts
from judgekit.models.cache.on_disk import DiskCache
from tests.cli.bench import output
from tests.factories import reply
from tests.servers.answers import Answer, SeenRequest, ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.cli.bench import Bench

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to send")

GOOD = reply(5)
CASES = [f"case-{n:02}" for n in range(12)]
IN_FLIGHT = 4
QUICK = 6
"""So many requests are answered at once; those after them take longer than a test may."""


def slow_after_some(delay_s: float) -> Callable[[SeenRequest], Answer]:
    def rule(seen: SeenRequest) -> Answer:
        return ok(GOOD, delay_s=0 if seen.number < QUICK else delay_s)

    return rule


@contextmanager
def grading(
    bench: Bench, server: OpenAILikeServer, *options: str
) -> Iterator[subprocess.Popen[str]]:
    """A grading in a process of its own, begun and in the middle of its calls."""
    what = ("grade", "outputs.jsonl", "--rubric", "rubric.yaml", "-j", str(IN_FLIGHT), *options)
    judge = ("--judge", "openai/m", "--api-base", server.url)
    with subprocess.Popen(
        [sys.executable, "-m", "judgekit", *what, *judge],
        cwd=bench.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            wait_for(lambda: server.n_requests >= QUICK + 2)
            yield process
        finally:
            process.kill()


def wait_for(happened: Callable[[], bool], timeout_s: float = 30) -> None:
    end = time.monotonic() + timeout_s
    while not happened():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def n_owned(bench: Bench) -> int:
    with DiskCache(bench.folder / ".judgekit" / "cache") as cache:
        return len(cache)


def test_the_first_interrupt_finishes_what_is_in_flight_and_keeps_it(bench: Bench) -> None:
    bench.write("outputs.jsonl", *(output(case) for case in CASES))
    with OpenAILikeServer(slow_after_some(0.3)) as server:
        with grading(bench, server, "-o", "verdicts.jsonl") as process:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        n_asked = server.n_requests
        assert process.returncode == 130
        assert QUICK < n_asked < 2 * len(CASES)
        assert n_owned(bench) == n_asked
        assert "finishing the calls in flight" in err
        assert "interrupted; run the same command again to go on" in err
        assert "answers: passes from 0.7" in out
        written = (bench.folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
        assert len(written) == n_asked // 2
        assert bench.grade(server).code == 0
        assert server.n_requests == 2 * len(CASES)


def test_the_second_interrupt_stops_at_once_and_keeps_what_had_arrived(bench: Bench) -> None:
    bench.write("outputs.jsonl", *(output(case) for case in CASES))
    with OpenAILikeServer(slow_after_some(60)) as server:
        with grading(bench, server) as process:
            stderr = process.stderr
            assert stderr is not None
            process.send_signal(signal.SIGINT)
            wait_for(lambda: "in flight" in stderr.readline())
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert out == ""
        assert "stopped at once; run the same command again to go on" in err
        assert "Traceback" not in err
        assert n_owned(bench) == QUICK
        assert server.n_requests <= QUICK + IN_FLIGHT


def test_without_a_cache_an_interrupt_promises_nothing(bench: Bench) -> None:
    bench.write("outputs.jsonl", *(output(case) for case in CASES))
    with (
        OpenAILikeServer(slow_after_some(0.3)) as server,
        grading(bench, server, "--no-cache") as process,
    ):
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "to go on: from the beginning" in err


def interrupting(*numbers: int, delay_s: float) -> Callable[[SeenRequest], Answer]:
    """Ctrl-C, in this process, as these requests arrive; those after the first take longer."""

    def rule(seen: SeenRequest) -> Answer:
        if seen.number in numbers:
            signal.raise_signal(signal.SIGINT)
        return ok(GOOD, delay_s=0 if seen.number < numbers[0] else delay_s)

    return rule


def test_an_interrupt_here_shows_what_there_is_and_goes_on_later(bench: Bench) -> None:
    bench.write("outputs.jsonl", *(output(case) for case in CASES))
    with OpenAILikeServer(interrupting(QUICK, delay_s=0.05)) as server:
        ran = bench.grade(server, "-j", 1)
        assert bench.grade(server).code == 0
        assert server.n_requests == 2 * len(CASES)
    assert ran.code == 130
    assert "answers: passes from 0.7" in ran.out
    assert "nothing that was answered is asked twice" in ran.err


def test_two_interrupts_here_stop_at_once(bench: Bench) -> None:
    bench.write("outputs.jsonl", *(output(case) for case in CASES))
    with OpenAILikeServer(interrupting(QUICK, QUICK + 1, delay_s=60)) as server:
        ran = bench.grade(server, "-j", 2)
    assert (ran.code, ran.out) == (130, "")
    assert "stopped at once" in ran.err
    assert n_owned(bench) == QUICK


async def test_the_first_interrupt_asks_to_stop_and_the_second_calls_it_off() -> None:
    stop, for_ever = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        with Interrupts(stop.set):
            signal.raise_signal(signal.SIGINT)
            await stop.wait()
            signal.raise_signal(signal.SIGINT)
            await for_ever.wait()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(work())


async def test_where_signals_cannot_be_heard_a_grading_runs_all_the_same() -> None:
    stop = asyncio.Event()

    async def work() -> None:
        with Interrupts(stop.set):
            await asyncio.sleep(0)

    await asyncio.to_thread(lambda: asyncio.run(work()))
    assert not stop.is_set()
