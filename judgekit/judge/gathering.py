"""Runs the questions of one grading at the same time: all results in order, or each as it comes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Coroutine, Sequence

T = TypeVar("T")


async def gathered(jobs: Sequence[Coroutine[object, object, T]]) -> list[T]:
    """All results, in order; a single job needs no task of its own.

    Args:
        jobs: What to run.

    Returns:
        One result a job.

    Raises:
        BaseException: The first that a job raised; the others are called off.
    """
    if len(jobs) == 1:
        return [await jobs[0]]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job) for job in jobs]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None  # one output, one error: the first there was
    return [task.result() for task in tasks]


async def as_answered(jobs: Sequence[Coroutine[object, object, T]]) -> AsyncGenerator[T, None]:
    """Each result as it comes; who stops listening calls off what is still asked.

    Args:
        jobs: What to run.

    Yields:
        Results in the order of their coming.

    Raises:
        BaseException: What a job raised.
    """
    tasks = [asyncio.ensure_future(job) for job in jobs]
    try:
        for result in asyncio.as_completed(tasks):
            yield await result
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
