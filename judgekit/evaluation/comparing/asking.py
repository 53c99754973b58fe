"""Compares many pairs of outputs at once, in bounded memory, and stops cleanly when told to."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

    from judgekit.evaluation.comparing.pairing import Paired
    from judgekit.judge.judge import Judge
    from judgekit.records.comparison import Comparison
    from judgekit.records.rubric import Rubric


class Compared(NamedTuple):
    """A pair and what the judge made of it."""

    pair: Paired
    """The two outputs."""

    comparison: Comparison
    """What both orders come to."""


async def compare_pairs(
    judge: Judge,
    pairs: Iterable[Paired],
    rubric: Rubric,
    *,
    names: Iterable[str] = (),
    in_flight: int = 64,
    stop: asyncio.Event | None = None,
) -> AsyncGenerator[Compared, None]:
    """Compare pairs, several at a time, and tell them in their own order.

    The order matters where somebody stops at what was told so far: were the quick answers told
    first, what decides could hang on how quickly a judge answers.

    Args:
        judge: Who compares.
        pairs: What is compared; read as slowly as it is done.
        rubric: How.
        names: Names that would give a side away, beside the variants'.
        in_flight: How many pairs are compared at a time.
        stop: Once set, no further pair is begun; what was begun is finished.

    Yields:
        Each pair once it and all before it are done.

    Raises:
        InputError: When the pairs cannot be read, or the template does not fit them.
        StoreError: When the cache cannot keep what was paid for.
    """
    given, source = tuple(names), iter(pairs)
    begun: deque[tuple[Paired, asyncio.Task[Comparison]]] = deque()
    try:
        while True:
            while len(begun) < max(1, in_flight) and not (stop is not None and stop.is_set()):
                pair = next(source, None)
                if pair is None:
                    break
                asked = judge.compare(pair.case, pair.a, pair.b, rubric, names=given)
                begun.append((pair, asyncio.create_task(asked)))
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
