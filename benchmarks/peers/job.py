"""What every runner does: read its job, judge, and report what it took.

It runs in the environments of other tools, so it needs the standard library alone.
"""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

MODEL = "gpt-4.1-mini"
"""A name that every tool knows; the server is always one on this machine."""

Scores = dict[str, list[float | None]]
"""By the id of an item, its score for each criterion; None where a call gave none."""


class Item(TypedDict):
    """One output, and what was asked for."""

    id: str
    question: str
    reference: str
    answer: str


class Question(TypedDict):
    """One criterion on a scale from 1 to 5."""

    name: str
    question: str
    levels: list[str]


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be judged, and how."""

    url: str
    """The server's address, with `/v1`."""

    items: list[Item]
    """What is measured."""

    warm_up: list[Item]
    """What is judged before, so that imports and compiled templates are in place."""

    criteria: list[Question]
    """What each output is judged by; a score for each is wanted."""

    in_flight: int
    """The most calls at a time."""

    cache: str | None
    """The folder of the tool's cache; None: no cache."""

    option: str = ""
    """Which of its ways a tool is to take."""


def run(judge: Callable[[Job, list[Item]], Scores]) -> None:
    """Judge what the first argument's file names, and write what it took to the second one's."""
    job = Job(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    if job.warm_up:
        judge(job, job.warm_up)
    gc.collect()
    cpu_s, wall_s = time.process_time(), time.perf_counter()
    scores = judge(job, job.items)
    took = {
        "scores": scores,
        "wall_s": time.perf_counter() - wall_s,
        "cpu_s": time.process_time() - cpu_s,
        "process_cpu_s": time.process_time(),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    Path(sys.argv[2]).write_text(json.dumps(took), encoding="utf-8")


async def judged(
    job: Job, items: Sequence[Item], judge: Callable[[Item, Question], Awaitable[float]]
) -> Scores:
    """Judge items by every criterion, with so many calls at a time; an error is no score."""
    scores: Scores = {item["id"]: [] for item in items}
    calls = ((item, criterion) for item in items for criterion in job.criteria)

    async def worker() -> None:
        for item, criterion in calls:
            try:
                score = await judge(item, criterion)
            except Exception as error:  # noqa: BLE001 - whatever it raises, the call is lost
                print(f"{item['id']}: {error!r}", file=sys.stderr)
                scores[item["id"]].append(None)
            else:
                scores[item["id"]].append(score)

    await asyncio.gather(*(worker() for _ in range(job.in_flight)))
    return scores
