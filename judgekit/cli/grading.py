"""Grades outputs with one judge, with progress and Ctrl-C, for commands that store no run."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from judgekit.cli.progress import attend
from judgekit.cli.suite_setup import note_without_inputs
from judgekit.evaluation import grade_answers

if TYPE_CHECKING:
    from judgekit.cli.options import TalkOptions
    from judgekit.cli.setup import GradeSetup
    from judgekit.evaluation import Graded


async def grade_all(
    setup: GradeSetup, options: TalkOptions, *, verb: tuple[str, str] = ("grading", "graded")
) -> tuple[list[Graded], bool]:
    """Grade everything, in order, and report whether Ctrl-C ended it early."""
    stop = asyncio.Event()
    graded: list[Graded] = []
    total, n_without_input = setup.counts()
    note_without_inputs(n_without_input, total)
    # Enough outputs at a time to keep every slot of the judge busy.
    in_flight = max(4, setup.judge.connection.max_concurrency)
    with attend(options, total, interrupt=stop.set, verb=verb) as display:
        async with setup.judge:
            async for item in grade_answers(
                setup.judge, setup.answers(), setup.rubric, in_flight=in_flight, stop=stop
            ):
                graded.append(item)
                display.advance([*item.verdict.judgments, *item.verdict.failures])
    return sorted(graded, key=lambda item: item.index), stop.is_set()
