"""Streams outputs through one judge, with progress and Ctrl-C, for commands that keep no run."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from judgekit.cli import console
from judgekit.cli.progress import show_progress
from judgekit.cli.setup import MISSING_INPUT_REMEDY
from judgekit.cli.signals import Interrupts
from judgekit.evaluation import grade_answers
from judgekit.report import format_count

if TYPE_CHECKING:
    from judgekit.cli.setup import GradeSetup, Options
    from judgekit.evaluation import Graded


async def grade_all(
    setup: GradeSetup, options: Options, *, verb: tuple[str, str] = ("grading", "graded")
) -> tuple[list[Graded], bool]:
    """Grade everything, in order, and say whether Ctrl-C ended it early."""
    stop = asyncio.Event()
    graded: list[Graded] = []
    total, n_unasked = setup.counts()
    if n_unasked:
        console.note(
            f"{n_unasked} of {format_count(total, 'output')} without what was asked: the judge "
            f"sees the output alone; {MISSING_INPUT_REMEDY}"
        )
    shown = not (options.get("quiet") or options.get("no_progress") or options.get("as_json"))
    # Enough outputs at a time to keep every slot of the judge busy.
    in_flight = max(4, setup.judge.connection.max_concurrency)
    with (
        show_progress(console.stderr(), total, shown=shown, verb=verb) as display,
        Interrupts(stop.set),
    ):
        async with setup.judge:
            async for item in grade_answers(
                setup.judge, setup.answers(), setup.rubric, in_flight=in_flight, stop=stop
            ):
                graded.append(item)
                display.advance([*item.verdict.judgments, *item.verdict.failures])
    return sorted(graded, key=lambda item: item.index), stop.is_set()
