"""Streams outputs through one judge, so that the benches time a judge and its cache alone.

The product runs outputs with `judgekit.evaluation.runner`, which stores them as well.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator

    from judgekit.judge import Judge, PendingGrading
    from judgekit.records import Case, Output, Rubric, Verdict

_AT_ONCE = 16
"""Outputs for which the cache is looked into at once. What is cached is graded without waiting for
anything, so after as many the caller's own tasks get their turn."""


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
    """Grade outputs as they come, several at a time."""
    n_workers = max(1, in_flight)
    gradings = enumerate(_begun(judge, answers, rubric, min(n_workers, _AT_ONCE)))
    while (item := None if _is_set(stop) else next(gradings, None)) is not None:
        index, grading = item
        verdict = grading.verdict
        if verdict is None:
            flow = _Flow(chain([item], gradings), asyncio.Queue(n_workers), stop, n_workers)
            async with aclosing(_asked(flow)) as rest:
                async for graded in rest:
                    yield graded
            return
        yield Graded(index, grading.case, grading.output, verdict)
        if (index + 1) % _AT_ONCE == 0:
            await asyncio.sleep(0)


@dataclass(frozen=True, slots=True)
class _Flow:
    """What the workers share: what is to be graded, and a queue with room for what is done."""

    gradings: Iterator[tuple[int, PendingGrading]]
    done: asyncio.Queue[Graded | None]
    stop: asyncio.Event | None
    n_workers: int


async def _asked(flow: _Flow) -> AsyncGenerator[Graded, None]:
    """From the first output on for which a judge is asked, each as it is done."""
    work = asyncio.create_task(_work(flow))
    try:
        while (graded := await flow.done.get()) is not None:
            yield graded
        await work
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def _work(flow: _Flow) -> None:
    """Workers that share one iterator; None in the queue says that all of them have ended."""
    # A worker that has an answer begins its next call at once, whoever still waits for the result:
    # calls would else begin together, and none be under way while the machine is busy.

    async def worker() -> None:
        while (item := None if _is_set(flow.stop) else next(flow.gradings, None)) is not None:
            index, grading = item
            verdict = grading.verdict
            if verdict is None:
                verdict = await grading.finish()
            await flow.done.put(Graded(index, grading.case, grading.output, verdict))

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


def _begun(
    judge: Judge, answers: Iterable[tuple[Case, Output]], rubric: Rubric, n_at_once: int
) -> Iterator[PendingGrading]:
    source = iter(answers)
    while window := list(islice(source, n_at_once)):
        yield from judge.begin(window, rubric)


def _is_set(stop: asyncio.Event | None) -> bool:
    return stop is not None and stop.is_set()
