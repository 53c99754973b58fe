"""Asks why the losing outputs of a comparison lost, and keeps every answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from judgekit.evaluation.comparing.stored import counted_pairs
from judgekit.judge.pair_analysis import Analyst
from judgekit.prompts.pair_analysis import AnalysisTemplate
from judgekit.records.compared import Analysis, AnalysisFailure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from judgekit.judge.judge import Judge
    from judgekit.records.compared import ComparedPair, ComparisonInfo
    from judgekit.records.comparison import Comparison
    from judgekit.store.comparisons import StoredComparisons

_IN_FLIGHT = 8


def to_analyse(
    store: StoredComparisons, info: ComparisonInfo
) -> list[tuple[ComparedPair, Comparison]]:
    """The pairs of a comparison that have a winner and no analysis yet."""
    known = store.analyses(info.id)
    return [
        (pair, found)
        for pair, found in counted_pairs(store, info)
        if found.winner in {"a", "b"} and pair.place not in known
    ]


async def analyse_pairs(
    store: StoredComparisons,
    info: ComparisonInfo,
    judge: Judge,
    pairs: Sequence[tuple[ComparedPair, Comparison]],
    *,
    template_folders: Sequence[Path] = (),
    told: Callable[[Analysis | AnalysisFailure], None] = lambda _: None,
) -> list[AnalysisFailure]:
    """Ask about pairs, several at a time; each answer is on disk before the next is told."""
    analyst = Analyst(judge.comparer, AnalysisTemplate(folders=template_folders))
    slots = asyncio.Semaphore(max(_IN_FLIGHT, judge.connection.max_concurrency))
    failures: list[AnalysisFailure] = []

    async def one(pair: ComparedPair, found: Comparison) -> None:
        async with slots:
            said = await analyst.analyse(pair.case, (pair.a, pair.b), info.rubric, found)
        if isinstance(said, Analysis):
            store.add_analysis(info.id, pair.place, said)
        elif said is not None:
            failures.append(said)
        if said is not None:
            told(said)

    try:
        async with asyncio.TaskGroup() as group:
            for pair, found in pairs:
                group.create_task(one(pair, found))
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None  # one comparison, one error: the first there was
    return failures
