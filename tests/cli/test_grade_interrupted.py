"""Ctrl-C in a process of its own: what was paid for is kept, and nothing is asked twice."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from judgekit.models.cache import DiskCache
from judgekit.store import RunStore
from tests.cli.bench import asked, output
from tests.cli.interrupting import CtrlC
from tests.factories import reply
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from judgekit.testing import ServedReply, ServedRequest
    from tests.cli.bench import Bench

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to send")

GOOD = reply(5)
CASES = [f"case-{n:02}" for n in range(12)]
IN_FLIGHT = 4
QUICK = 6
"""So many requests are answered at once; those after them when the test says so."""


def held_after_some(seen: ServedRequest) -> ServedReply:
    return replace(ok(GOOD), is_held=seen.number >= QUICK)


@contextmanager
def grading(
    bench: Bench, server: OpenAILikeServer, *options: str, n_requests: int = QUICK + IN_FLIGHT
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
            wait_for(lambda: server.n_requests == n_requests)
            yield process
        finally:
            process.kill()


def wait_for(happened: Callable[[], bool], timeout_s: float = 120) -> None:
    end = time.monotonic() + timeout_s
    while not happened():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def interrupt(process: subprocess.Popen[str], number: signal.Signals = signal.SIGINT) -> None:
    """Press Ctrl-C, or send another signal, and wait until it was heard."""
    stderr = process.stderr
    assert stderr is not None
    process.send_signal(number)
    wait_for(lambda: "finishing the answers in progress" in stderr.readline())


def n_owned(bench: Bench) -> int:
    with DiskCache(bench.folder / ".judgekit" / "cache") as cache:
        return len(cache)


def test_the_first_interrupt_finishes_what_is_in_flight_and_keeps_it(bench: Bench) -> None:
    bench.write("outputs.jsonl", *(output(case) for case in CASES))
    with OpenAILikeServer(held_after_some) as server:
        with grading(bench, server, "-o", "verdicts.jsonl") as process:
            interrupt(process)
            server.release()
            out, err = process.communicate(timeout=120)
        n_asked = server.n_requests
        assert process.returncode == 130
        assert QUICK < n_asked < 2 * len(CASES)
        assert n_owned(bench) == n_asked
        assert "interrupted; every answer so far is stored" in err
        assert f"{n_asked // 2} of {len(CASES)} cases answered" in out
        assert "answers passes from 0.7" in out
        written = (bench.folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
        assert len(written) == n_asked // 2
        assert bench.grade(server).code == 0
        assert server.n_requests == 2 * len(CASES)


def test_sigterm_is_an_interrupt_and_a_second_one_stops_at_once(bench: Bench) -> None:
    bench.write("outputs.jsonl", *(output(case) for case in CASES))
    with OpenAILikeServer(held_after_some) as server:
        with grading(bench, server) as process:
            interrupt(process, signal.SIGTERM)
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=120)
        assert process.returncode == 130
        assert out == ""
        assert "stopped at once; every answer so far is stored" in err
        assert "Traceback" not in err
        assert n_owned(bench) == QUICK
        assert server.n_requests <= QUICK + IN_FLIGHT


def pressing(ctrl_c: CtrlC) -> Callable[[ServedRequest], ServedReply]:
    """A server during whose last quick answer somebody presses Ctrl-C."""

    def interrupts(seen: ServedRequest) -> ServedReply:
        if seen.number == QUICK:
            ctrl_c.press()
        return ok(GOOD)

    return interrupts


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--no-cache", "with --resume without --no-cache"),
        ("--refresh", "with --resume without --refresh"),
    ],
)
def test_an_interrupt_says_which_option_to_leave_out(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, option: str, told: str
) -> None:
    bench.write("outputs.jsonl", *(output(case) for case in CASES))
    with OpenAILikeServer(pressing(CtrlC(monkeypatch))) as server:
        ran = bench.grade(server, "-j", 1, option)
    assert ran.code == 130
    assert told in ran.err


def test_an_interrupt_here_shows_what_there_is_and_goes_on_later(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("outputs.jsonl", *(output(case) for case in CASES))
    with OpenAILikeServer(pressing(CtrlC(monkeypatch))) as server:
        ran = bench.grade(server, "-j", 1)
        assert bench.grade(server).code == 0
        assert server.n_requests == 2 * len(CASES)
    assert ran.code == 130
    assert "answers passes from 0.7" in ran.out
    assert "Resume with: the same command with --resume" in ran.err


def test_two_interrupts_here_stop_at_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    ctrl_c = CtrlC(monkeypatch)

    def interrupts(seen: ServedRequest) -> ServedReply:
        if seen.number == QUICK:
            ctrl_c.press_twice()
        return held_after_some(seen)

    bench.write("outputs.jsonl", *(output(case) for case in CASES))
    with OpenAILikeServer(interrupts) as server:
        ran = bench.grade(server, "-j", 1)
    assert (ran.code, ran.out) == (130, "")
    assert "stopped at once; every answer so far is stored" in ran.err
    assert "Traceback" not in ran.err
    assert n_owned(bench) == QUICK


def paid(bench: Bench) -> list[tuple[str, str]]:
    """The criteria whose judgments the store remembers as paid for by the last run."""
    store = RunStore(bench.folder / ".judgekit" / "judgekit.db")
    with closing(store):
        results = list(store.results(store.run().id)) if store.runs() else []
    judgments = [judgment for result in results for judgment in result.judgments]
    return [(str(one.case_id), one.criterion) for one in judgments if not one.cached]


def test_a_killed_grading_knows_what_was_paid_for_answers_in_work(bench: Bench) -> None:
    def answers_one_criterion(seen: ServedRequest) -> ServedReply:
        return replace(ok(GOOD), is_held="Is it short?" in asked(seen))

    bench.write("outputs.jsonl", *(output(case) for case in CASES[:2]))
    with OpenAILikeServer(answers_one_criterion) as server:
        with grading(bench, server, n_requests=4) as process:
            wait_for(lambda: len(paid(bench)) == 2)
            process.kill()
        before = paid(bench)
        server.release()
        assert bench.grade(server, "--resume").code == 0
    assert before == [(case, "right") for case in CASES[:2]]
    assert set(before) <= set(paid(bench))
    assert len(paid(bench)) == 4
