"""Kills a grading process at random points and counts what it asks twice and what it loses.

python -m benchmarks.killed [--quick]
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from typing import TYPE_CHECKING

from benchmarks.figures import Figure, limited, report
from benchmarks.material import MODEL, answers, one_criterion, reply_text
from judgekit.judge import Judge
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from collections.abc import Iterable

IN_FLIGHT = 16
"""Calls in flight, at most; each kill may repeat so many."""

_LATENCY_S = 0.02
_SEED = 20261121
_OWNED = " owned"
_CUSTOMER = re.compile(r"Customer (\d+) asks")


def measure(quick: bool) -> list[Figure]:  # noqa: FBT001 - what the command line hands in
    """Kill, begin again, until all is graded; then look at what the server was asked."""
    n_kills = 4 if quick else 15
    n_items = 60 * (n_kills + 1)
    rng = random.Random(_SEED)
    with (
        tempfile.TemporaryDirectory() as cache,
        OpenAILikeServer(ok(reply_text()), own_process=True, latency_s=_LATENCY_S) as server,
    ):
        told: list[set[str]] = []
        sent: list[int] = []
        for _ in range(n_kills):
            told.append(_killed(server.url, cache, n_items, rng))
            sent.append(server.n_requests)
        finished = _cases(_grading(server.url, cache, n_items).communicate()[0])
        asked = [_case_id(seen.body["messages"][-1]["content"]) for seen in server.requests]
    return _figures(n_items, asked, sent, told, finished)


def _figures(
    n_items: int, asked: list[str], sent: list[int], told: list[set[str]], finished: set[str]
) -> list[Figure]:
    """What the server saw, run by run, against what the killed runs had said was graded."""
    starts = [0, *sent]
    per_run = [asked[start:end] for start, end in zip(starts, [*sent, len(asked)], strict=True)]
    repeated = [
        len(set(earlier) & set(asked[end:])) for earlier, end in zip(per_run, sent, strict=False)
    ]
    lost = sum(len(known & set(asked[end:])) for known, end in zip(told, sent, strict=True))
    n_told = len(set().union(*told))
    kills = f"{len(sent)} kills, {len(asked)} requests for {n_items} judgments"
    twice_in_a_run = sum(count - 1 for run in per_run for count in Counter(run).values())
    return [
        limited(
            "kill -9: requests repeated, most for one kill",
            max(repeated),
            at_most=IN_FLIGHT,
            reference=kills,
        ),
        limited(
            "  requests repeated, all kills",
            len(asked) - n_items,
            at_most=IN_FLIGHT * len(sent),
            reference=f"{IN_FLIGHT} in flight x {len(sent)} kills",
        ),
        limited("  requests repeated within a run", twice_in_a_run, at_most=0),
        limited("  replies lost", lost, at_most=0, reference=f"of {n_told} told before a kill"),
        limited(
            "  judgments missing in the end",
            n_items - len(finished),
            at_most=0,
            reference=f"of {n_items}",
        ),
    ]


def _killed(url: str, cache: str, n_items: int, rng: random.Random) -> set[str]:
    """Start grading, kill it after some results; the cases it said were graded."""
    with _grading(url, cache, n_items) as process:
        stdout = process.stdout
        if stdout is None:
            raise RuntimeError("the grading process has no stdout")
        said = _up_to_the_first_bought(stdout)
        said += [stdout.readline() for _ in range(rng.randrange(1, 50))]
        time.sleep(rng.uniform(0, 2 * _LATENCY_S))
        process.kill()
        said.append(stdout.read())
    return _cases("".join(said))


def _up_to_the_first_bought(lines: Iterable[str]) -> list[str]:
    """What a new run tells before it has paid for anything, and one line more."""
    said = []
    for line in lines:
        said.append(line)
        if not line.endswith(_OWNED + "\n"):
            break
    return said


def _cases(told: str) -> set[str]:
    """The cases in whole lines; one that the kill cut short was not told."""
    return {line.removesuffix(_OWNED) for line in told.split("\n")[:-1]}


def _grading(url: str, cache: str, n_items: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.killed", "--grade", url, cache, str(n_items)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


async def _grade(url: str, cache: str, n_items: int) -> None:
    """The process that is killed: prints each case on stdout when its verdict comes, in order."""
    async with Judge(MODEL, api_base=url, cache=cache, max_concurrency=IN_FLIGHT) as judge:
        async for verdict in judge.grade_many(answers(n_items), one_criterion()):
            (judgment,) = verdict.judgments
            owned = _OWNED if judgment.cached else ""
            os.write(sys.stdout.fileno(), f"{verdict.case_id}{owned}\n".encode())


def _case_id(prompt: str) -> str:
    found = _CUSTOMER.search(prompt)
    if found is None:
        raise RuntimeError("a request asks about no customer")
    return f"case-{found.group(1)}"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--grade"]:
        asyncio.run(_grade(sys.argv[2], sys.argv[3], int(sys.argv[4])))
    else:
        report(measure)
