"""Compares many pairs of outputs at once, in bounded memory, and stops cleanly when told to."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import aclosing
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable

    from judgekit.evaluation.comparing.pairing import Paired
    from judgekit.judge.judge import Judge
    from judgekit.judge.pair_panel import PairPanel
    from judgekit.records.comparison import Comparison
    from judgekit.records.rubric import Rubric


class Compared(NamedTuple):
    """A pair and what the judge made of it."""

    pair: Paired
    """The two outputs."""

    comparison: Comparison
    """What both orders come to."""


async def compare_pairs(
    judge: Judge | PairPanel,
    pairs: Iterable[Paired],
    rubric: Rubric,
    *,
    names: Iterable[str] = (),
    in_flight: int = 64,
    stop: asyncio.Event | None = None,
) -> AsyncGenerator[Compared, None]:
    """Compare pairs, several at a time, and tell them in their own order."""
    given = tuple(names)

    async def ask(_: int, pair: Paired) -> Comparison:
        return await judge.compare(pair.case, pair.a, pair.b, rubric, names=given)

    async with aclosing(told_in_order(pairs, ask, in_flight=in_flight, stop=stop)) as told:
        async for one in told:
            yield one


async def told_in_order(
    pairs: Iterable[Paired],
    ask: Callable[[int, Paired], Coroutine[object, object, Comparison]],
    *,
    in_flight: int = 64,
    stop: asyncio.Event | None = None,
) -> AsyncGenerator[Compared, None]:
    """Ask about pairs, several at a time, and tell what came of them in their own order."""
    # The order matters where somebody stops at what was told so far: were the quick answers told
    # first, what decides could hang on how quickly a judge answers.
    source = enumerate(pairs)
    begun: deque[tuple[Paired, asyncio.Task[Comparison]]] = deque()
    try:
        while True:
            while len(begun) < max(1, in_flight) and not (stop is not None and stop.is_set()):
                found = next(source, None)
                if found is None:
                    break
                begun.append((found[1], asyncio.create_task(ask(*found))))
            if not begun:
                return
            pair, task = begun[0]
            comparison = await task
            begun.popleft()
            yield Compared(pair, comparison)
    finally:
        for _, task in begun:
            task.cancel()
        await asyncio.gather(*(task for _, task in begun), return_exceptions=True)
