from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from judgekit.targets.python import EventLoopThread

if TYPE_CHECKING:
    from collections.abc import Iterator


class Block:
    """Holds up whatever thread waits for it, until the test lets go."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.over = threading.Event()

    async def hold(self) -> str:
        self.begun.set()
        self.over.wait(30)
        return "late"


@pytest.fixture
def block() -> Iterator[Block]:
    made = Block()
    yield made
    made.over.set()


async def loop_of() -> object:
    return asyncio.get_running_loop()


async def test_all_calls_share_a_loop_that_is_not_the_callers() -> None:
    own = EventLoopThread(grace_s=30)
    first, second = await asyncio.gather(own.run(loop_of), own.run(loop_of))
    await own.aclose()
    assert first is second is not asyncio.get_running_loop()
    assert isinstance(first, asyncio.AbstractEventLoop)
    assert first.is_closed()


async def test_who_blocks_it_does_not_hold_up_those_that_come_after(block: Block) -> None:
    own = EventLoopThread(grace_s=0.05, patience_s=0.05)
    blocking = asyncio.create_task(own.run(block.hold))
    await asyncio.to_thread(block.begun.wait, 30)
    other = await own.run(loop_of)  # in a new loop, while the old one is still held up
    assert other is not asyncio.get_running_loop()
    assert await own.is_blocked()
    block.over.set()
    assert await blocking == "late"  # what was begun goes on
    await own.aclose()


async def test_a_call_that_was_called_off_before_it_began_never_begins(block: Block) -> None:
    own, begun = EventLoopThread(grace_s=30, patience_s=30), []

    async def note() -> None:
        begun.append(1)

    blocking = asyncio.create_task(own.run(block.hold))
    await asyncio.to_thread(block.begun.wait, 30)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(own.run(note), 0.01)
    block.over.set()
    await blocking
    await own.run(loop_of)
    await own.aclose()
    assert begun == []


async def test_a_loop_that_does_not_answer_is_blocked(block: Block) -> None:
    own = EventLoopThread(grace_s=0.05, patience_s=0.05)
    assert not await own.is_blocked()
    await own.run(loop_of)
    blocking = asyncio.create_task(own.run(block.hold))
    await asyncio.to_thread(block.begun.wait, 30)
    assert await own.is_blocked()
    block.over.set()
    await blocking
    await own.aclose()


async def test_a_loop_that_is_blocked_is_left_behind_in_the_end(block: Block) -> None:
    own = EventLoopThread(grace_s=0.05, patience_s=0.05)
    waiting = asyncio.create_task(own.run(block.hold))
    await asyncio.to_thread(block.begun.wait, 30)
    await own.aclose()
    waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting


async def test_a_call_that_was_cancelled_elsewhere_leaves_the_loop_in_use() -> None:
    own = EventLoopThread(grace_s=30)
    before = await own.run(loop_of)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(own.run(lambda: asyncio.sleep(60)), 0.01)
    assert await own.run(loop_of) is before
    await own.aclose()


async def test_the_end_cancels_what_still_runs_there() -> None:
    own, said = EventLoopThread(grace_s=30), list[str]()

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            said.append("called off")

    task = asyncio.create_task(own.run(hang))
    await asyncio.sleep(0)  # its call comes first
    await own.run(loop_of)  # by now it is begun
    await own.aclose()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert said == ["called off"]
    await own.aclose()
    assert not await own.is_blocked()


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), ValueError("no")])
async def test_what_would_end_a_loop_ends_the_call_alone(error: BaseException) -> None:
    own = EventLoopThread(grace_s=30)

    async def raise_it() -> None:
        raise error

    before = await own.run(loop_of)
    expected = RuntimeError if isinstance(error, KeyboardInterrupt) else type(error)
    with pytest.raises(expected):
        await own.run(raise_it)
    assert await own.run(loop_of) is before
    await own.aclose()


async def test_the_end_cancels_what_is_not_begun_yet(block: Block) -> None:
    own = EventLoopThread(grace_s=30, patience_s=0.01)
    blocking = asyncio.create_task(own.run(block.hold))
    await asyncio.to_thread(block.begun.wait, 30)
    waiting = asyncio.create_task(own.run(asyncio.Event().wait))
    await asyncio.sleep(0)  # its call waits behind the one that blocks
    await own.aclose()
    block.over.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await blocking == "late"
