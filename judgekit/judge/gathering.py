"""Runs questions at the same time: all results in order, or each as it comes."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Coroutine, Sequence

T = TypeVar("T")


async def gathered(jobs: Sequence[Coroutine[object, object, T]]) -> list[T]:
    """All results, in order; a single job needs no task of its own."""
    if len(jobs) == 1:
        return [await jobs[0]]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job) for job in jobs]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None  # one output, one error: the first there was
    return [task.result() for task in tasks]


async def as_answered(jobs: Sequence[Coroutine[object, object, T]]) -> AsyncGenerator[T, None]:
    """Each result as it comes; who stops listening calls off what is still asked."""
    tasks = [asyncio.ensure_future(job) for job in jobs]
    try:
        for result in asyncio.as_completed(tasks):
            yield await result
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def merged(streams: Sequence[AsyncGenerator[T, None]]) -> AsyncGenerator[T, None]:
    """What several streams tell, as it comes; the first error ends all of them."""
    told: asyncio.Queue[tuple[T] | asyncio.Task[None]] = asyncio.Queue()

    async def pour(stream: AsyncGenerator[T, None]) -> None:
        async with aclosing(stream):
            async for found in stream:
                told.put_nowait((found,))

    tasks = [asyncio.ensure_future(pour(stream)) for stream in streams]
    for task in tasks:
        task.add_done_callback(told.put_nowait)
    try:
        n_open = len(tasks)
        while n_open:
            found = await told.get()
            if isinstance(found, asyncio.Task):
                n_open -= 1
                await found  # raises what ended it
            else:
                yield found[0]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
