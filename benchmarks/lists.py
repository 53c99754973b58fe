"""Grading a list by one synchronous call, against `asyncio.gather` over its items.

python -m benchmarks.lists [--quick]
"""

from __future__ import annotations

import asyncio

import judgekit as jk
from benchmarks.figures import Figure, compared, report
from benchmarks.material import one_criterion, reply_text
from benchmarks.timing import Stopwatch, Took, alternated

AT_LEAST = 0.85
"""The share of the speed of `gather` that one call of `grade_sync` must reach.

The calls take as long as with `gather`; a store and the figures add 0.02 s of CPU, however many
outputs there are and however long the replies take. One call after the other would reach 0.05.
"""

N = 20
LATENCY_S = 0.3


class SlowModel:
    """Answers after a while, as a provider does."""

    name = "slow"

    async def complete(self, _: jk.ModelRequest) -> jk.ModelReply:
        await asyncio.sleep(LATENCY_S)
        return jk.ModelReply(text=reply_text())


def measure(quick: bool) -> list[Figure]:  # noqa: FBT001 - what the command line hands in
    """A list of 20 outputs whose replies take 0.3 s each."""
    rubric = one_criterion()
    pairs = [(jk.Case(id=f"c{k}", input="?"), jk.Output(text=f"Answer {k}.")) for k in range(N)]
    judge = jk.Judge(SlowModel(), cache=None)

    async def gathered() -> None:
        await asyncio.gather(*(judge.grade(case, output, rubric) for case, output in pairs))

    def by_gather() -> Took:
        watch = Stopwatch()
        asyncio.run(gathered())
        return watch.took(N)

    def by_list() -> Took:
        watch = Stopwatch()
        jk.grade_sync(pairs, rubric=rubric, judge=judge, progress=False)
        return watch.took(N)

    bare, ours = alternated(2 if quick else 5, by_gather, by_list)
    return [
        compared(
            f"grade_sync of {N} outputs, {LATENCY_S:g} s a reply / gather",
            [took.n / took.wall_s for took in ours],
            [took.n / took.wall_s for took in bare],
            unit="/s",
            at_least=AT_LEAST,
        )
    ]


if __name__ == "__main__":
    report(measure)
