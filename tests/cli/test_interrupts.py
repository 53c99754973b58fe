from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from judgekit.cli.progress import Interrupts
from judgekit.store import RunStore
from tests.cli.interrupting import CtrlC
from tests.evaluation.suites import lay_suite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.commanding import Run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to send")


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


async def test_sigterm_asks_to_stop_and_calls_it_off_by_itself_some_time_later() -> None:
    stop, for_ever = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        with Interrupts(stop.set, grace_s=0.01):
            signal.raise_signal(signal.SIGTERM)
            await stop.wait()
            await for_ever.wait()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(work())


async def test_what_ends_before_sigterm_is_out_of_patience_is_not_called_off() -> None:
    stop = asyncio.Event()

    async def work() -> str:
        with Interrupts(stop.set):
            signal.raise_signal(signal.SIGTERM)
            await stop.wait()
        return "ended"

    assert await asyncio.create_task(work()) == "ended"


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
async def test_sigterm_after_another_signal_calls_it_off(first: signal.Signals) -> None:
    stop, for_ever = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        with Interrupts(stop.set):
            signal.raise_signal(first)
            await stop.wait()
            signal.raise_signal(signal.SIGTERM)
            await for_ever.wait()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(work())


async def test_work_that_will_not_be_cancelled_is_left() -> None:
    left: list[int] = []
    is_left = asyncio.Event()
    loop = asyncio.get_running_loop()

    def leave(code: int) -> None:
        left.append(code)
        loop.call_soon_threadsafe(is_left.set)

    async def work() -> None:
        with Interrupts(lambda: None, patience_s=0.01, leave=leave):
            for _ in range(3):
                signal.raise_signal(signal.SIGINT)
            while not is_left.is_set():
                with suppress(asyncio.CancelledError):
                    await is_left.wait()

    await asyncio.create_task(work())
    assert left == [130]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_is_taken_back_when_the_work_has_ended(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with Interrupts(lambda: None):
        assert signal.getsignal(number) is not before
    assert signal.getsignal(number) is before


async def test_where_signals_cannot_be_heard_the_work_goes_on_all_the_same() -> None:
    stop = asyncio.Event()

    async def work() -> None:
        with Interrupts(stop.set):
            await asyncio.sleep(0)

    await asyncio.to_thread(lambda: asyncio.run(work()))
    assert not stop.is_set()


AGENT = """\
import asyncio

import pressing

async def answer(case):
    if case.id == {case!r}:
        await asyncio.to_thread(pressing.{press})
        await asyncio.sleep({seconds})
    return "right"
"""


@pytest.fixture
def lay_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Writes a suite whose agent interrupts us as it answers a case."""

    def lay_out(name: str, case: str, *, press: str, seconds: float) -> None:
        # Not before the test has begun: pytest takes stderr anew for it.
        monkeypatch.setitem(sys.modules, "pressing", CtrlC(monkeypatch))
        variants = [{"id": "v2", "python": f"{name}:answer"}]
        lay_suite(tmp_path, n=20, variants=variants)
        text = AGENT.format(case=case, press=press, seconds=seconds)
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")

    return lay_out


def test_an_interrupt_here_shows_what_there_is_and_the_run_goes_on_later(
    run: Run, lay_out: Callable[..., None]
) -> None:
    lay_out("interrupting_once", "c3", press="press()", seconds=0)
    ran = run("run", "-j", "1")
    assert ran.code == 130
    assert "v2: 4 of 20 cases answered" in ran.out
    assert "interrupted; every answer so far is stored. Resume with: judgekit run" in ran.err
    assert "--resume" in ran.err


def test_two_interrupts_here_stop_at_once(
    run: Run, tmp_path: Path, lay_out: Callable[..., None]
) -> None:
    lay_out("interrupting_twice", "c3", press="press_twice()", seconds=60)
    ran = run("run", "-j", "8")
    assert (ran.code, ran.out) == (130, "")
    assert "stopped at once; every answer so far is stored" in ran.err
    store = RunStore(tmp_path / ".judgekit" / "judgekit.db")
    assert store.run().status == "interrupted"
    store.close()
