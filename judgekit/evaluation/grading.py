"""Grades many outputs at once, in bounded memory, and stops cleanly when told to."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from judgekit.judge.grading import Grading
    from judgekit.judge.judge import Judge
    from judgekit.records.case import Case
    from judgekit.records.output import Output
    from judgekit.records.rubric import Rubric
    from judgekit.records.verdict import Verdict

_AT_ONCE = 16
"""Outputs for which the cache is looked into at once. What is owned is graded without waiting for
anything, so after as many the calls in flight and the caller's own tasks get their turn."""


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
    asked = _Asked(max(1, in_flight))
    gradings = enumerate(_begun(judge, answers, rubric, min(asked.room, _AT_ONCE)))
    try:
        while (item := None if _is_set(stop) else next(gradings, None)) is not None:
            index, grading = item
            verdict = grading.verdict
            if verdict is None:
                asked.begin(index, grading)
            else:
                yield Graded(index, grading.case, grading.output, verdict)
            if (index + 1) % _AT_ONCE == 0:
                await asyncio.sleep(0)
            while asked.is_full:
                yield await asked.ended()
            if asked.has_ended:  # one an output, so that the next calls are not kept waiting
                yield await asked.ended()
        while asked.n:
            yield await asked.ended()
    finally:
        await asked.call_off()


class _Asked:
    """Outputs whose judge is being asked: so many at most, told in the order in which they end."""

    def __init__(self, room: int) -> None:
        self.room = room
        self._tasks: set[asyncio.Task[Graded]] = set()
        self._ended: asyncio.Queue[asyncio.Task[Graded]] = asyncio.Queue()

    @property
    def n(self) -> int:
        return len(self._tasks)

    @property
    def is_full(self) -> bool:
        return len(self._tasks) >= self.room

    @property
    def has_ended(self) -> bool:
        return not self._ended.empty()

    def begin(self, index: int, grading: Grading) -> None:
        task = asyncio.create_task(_graded(index, grading))
        task.add_done_callback(self._ended.put_nowait)
        self._tasks.add(task)

    async def ended(self) -> Graded:
        task = await self._ended.get()
        self._tasks.remove(task)
        return task.result()

    async def call_off(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _graded(index: int, grading: Grading) -> Graded:
    return Graded(index, grading.case, grading.output, await grading.finished())


def _begun(
    judge: Judge, answers: Iterable[tuple[Case, Output]], rubric: Rubric, n_at_once: int
) -> Iterator[Grading]:
    source = iter(answers)
    while window := list(islice(source, n_at_once)):
        yield from judge.begin(window, rubric)


def _is_set(stop: asyncio.Event | None) -> bool:
    return stop is not None and stop.is_set()
