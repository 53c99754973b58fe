from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import InputError
from judgekit.judge import SyncRunner

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def portal() -> Iterator[SyncRunner]:
    made = SyncRunner()
    yield made
    made.close()


async def here() -> tuple[asyncio.AbstractEventLoop, str]:
    return asyncio.get_running_loop(), threading.current_thread().name


def portal_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "judgekit-sync"}


def test_a_coroutine_runs_to_its_end_in_one_loop_of_its_own(portal: SyncRunner) -> None:
    assert portal._opened is None
    assert portal.run(here()) == portal.run(here())
    assert portal.run(here())[1] == "judgekit-sync"
    assert portal._opened is not None


async def test_a_running_loop_is_left_alone(portal: SyncRunner) -> None:
    loop, _ = portal.run(here())
    assert loop is not asyncio.get_running_loop()


def test_what_a_coroutine_raises_is_raised(portal: SyncRunner) -> None:
    async def fail() -> None:
        raise ValueError("odd")

    with pytest.raises(ValueError, match="odd"):
        portal.run(fail())


def test_a_timeout_of_the_coroutines_own_is_not_taken_for_the_waiting() -> None:
    async def late() -> None:
        raise TimeoutError("its own")

    portal = SyncRunner()
    with pytest.raises(TimeoutError, match="its own"):
        portal.run(late())
    portal.close()


def test_many_threads_share_the_loop(portal: SyncRunner) -> None:
    with ThreadPoolExecutor(8) as pool:
        loops = {found[0] for found in pool.map(lambda _: portal.run(here()), range(32))}
    assert len(loops) == 1


def test_calling_it_from_its_own_loop_is_an_error_and_no_deadlock(portal: SyncRunner) -> None:
    async def nested() -> object:
        return portal.run(here())

    with pytest.raises(InputError, match="from inside the judge's own event loop"):
        portal.run(nested())


def test_a_closed_portal_begins_anew(portal: SyncRunner) -> None:
    first, _ = portal.run(here())
    portal.close()
    assert first.is_closed()
    assert portal._opened is None
    assert portal.run(here())[0] is not first


def test_closing_cancels_what_still_runs() -> None:
    portal, began = SyncRunner(), threading.Event()

    async def wait() -> None:
        began.set()
        await asyncio.Event().wait()

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(portal.run, wait())
        began.wait(60)
        portal.close()
        with pytest.raises(CancelledError):
            waiting.result(timeout=60)


def test_the_last_thing_is_done_in_the_loop_before_it_ends(portal: SyncRunner) -> None:
    seen: list[asyncio.AbstractEventLoop] = []

    async def last() -> None:
        seen.append(asyncio.get_running_loop())

    portal.close(last)
    loop, _ = portal.run(here())
    portal.close(last)
    portal.close(last)
    assert seen == [loop]


def test_a_last_thing_that_fails_does_not_keep_the_thread(portal: SyncRunner) -> None:
    async def last() -> None:
        raise ValueError("odd")

    others = portal_threads()
    portal.run(here())
    (own,) = portal_threads() - others
    with pytest.raises(ValueError, match="odd"):
        portal.close(last)
    assert not own.is_alive()


def test_closing_from_inside_does_not_wait_for_itself(portal: SyncRunner) -> None:
    ended = threading.Event()

    async def close() -> None:
        portal.close()
        ended.set()
        await asyncio.Event().wait()

    with pytest.raises(CancelledError):
        portal.run(close())
    assert ended.is_set()


def test_a_portal_that_is_forgotten_takes_its_thread_with_it() -> None:
    gc.collect()  # what earlier tests left behind is not to end in between
    portal, others = SyncRunner(), portal_threads()
    portal.run(here())
    (own,) = portal_threads() - others
    del portal
    gc.collect()
    assert not own.is_alive()


FORK = """
import os
from judgekit.judge.concurrency import SyncRunner
async def answer(): return 42
portal = SyncRunner()
portal.run(answer())
if os.fork():
    os.wait()
portal.close()
print(portal.run(answer()), flush=True)
portal.close()
"""


def test_a_forked_process_has_a_loop_of_its_own() -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK], capture_output=True, text=True, check=True,
        timeout=60,
    )  # fmt: skip
    assert (ran.stdout, ran.stderr) == ("42\n42\n", "")


INTERRUPTED = """
import asyncio
from judgekit.judge.concurrency import SyncRunner
async def wait():
    print("began", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        print("cancelled", flush=True)
portal = SyncRunner()
try:
    portal.run(wait())
except KeyboardInterrupt:
    portal.close()
    print("interrupted", flush=True)
"""


def test_an_interrupt_cancels_the_coroutine() -> None:
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"began\n"
        child.send_signal(signal.SIGINT)
        said, _ = child.communicate(timeout=60)
    assert said.split() == [b"cancelled", b"interrupted"]
    assert child.returncode == 0
