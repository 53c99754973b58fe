"""Grades many outputs at once, in bounded memory, and stops cleanly when told to."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from judgekit.judge.judge import Judge
    from judgekit.records.case import Case
    from judgekit.records.output import Output
    from judgekit.records.rubric import Rubric
    from judgekit.records.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Graded:
    """One graded output and its place in the input."""

    index: int
    """Place of the output, from 0."""

    case: Case
    """What was to be answered."""

    output: Output
    """What was produced."""

    verdict: Verdict
    """What the rubric concludes."""


async def grade_answers(
    judge: Judge,
    answers: Iterable[tuple[Case, Output]],
    rubric: Rubric,
    *,
    in_flight: int = 64,
    stop: asyncio.Event | None = None,
) -> AsyncIterator[Graded]:
    """Grade outputs as they come, several at a time.

    Args:
        judge: Who grades.
        answers: Cases with their outputs; read as slowly as they are graded.
        rubric: How they are judged.
        in_flight: How many outputs are being graded at a time.
        stop: Once set, no further output is begun; what was begun is finished.

    Yields:
        Each output when it is done; `index` tells its place in the input.

    Raises:
        InputError: When the answers cannot be read, or the template does not fit them.
        StoreError: When the cache cannot keep what was paid for.
    """
    done: asyncio.Queue[Graded | None] = asyncio.Queue(max(1, in_flight))
    flow = _Flow(done, stop, max(1, in_flight))
    work = asyncio.create_task(_work(judge, enumerate(answers), rubric, flow))
    try:
        while (graded := await done.get()) is not None:
            yield graded
        await work
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class _Flow:
    """How results leave the workers: a queue with room for as many as may wait in it."""

    done: asyncio.Queue[Graded | None]
    stop: asyncio.Event | None
    n_workers: int

    @property
    def stopped(self) -> bool:
        return self.stop is not None and self.stop.is_set()


async def _work(
    judge: Judge, source: Iterator[tuple[int, tuple[Case, Output]]], rubric: Rubric, flow: _Flow
) -> None:
    """Workers that share one iterator; None in the queue says that all of them have ended."""

    async def worker() -> None:
        while True:
            item = None if flow.stopped else next(source, None)
            if item is None:
                return
            index, (case, output) = item
            verdict = await judge.grade(case, output, rubric)
            await flow.done.put(Graded(index, case, output, verdict))

    error: BaseException | None = None
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(flow.n_workers):
                group.create_task(worker())
    except BaseExceptionGroup as problems:
        error = _first(problems)
    await flow.done.put(None)  # not when cancelled: nobody waits for it then
    if error is not None:
        raise error


def _first(problems: BaseExceptionGroup[BaseException]) -> BaseException:
    error = problems.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
