"""Grading again what the cache holds, against the least that any tool would have to do.

python -m benchmarks.cached [--quick]
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import diskcache
from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from benchmarks import machine
from benchmarks.figures import Figure, compared, limited, report
from benchmarks.material import (
    MODEL,
    FillingModel,
    PreferringModel,
    answers,
    one_criterion,
    reply_text,
)
from benchmarks.timing import Stopwatch, Took, alternated
from judgekit.datasets import load_rubric
from judgekit.judge import Judge
from judgekit.prompts.messages import criteria_data, criterion_schema
from judgekit.report import verdict_line
from judgekit.resources import shipped_file
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.datasets import JudgeMode
    from judgekit.models.request import Model
    from judgekit.records import Case, JsonObject, Output, Rubric

AT_LEAST = 1 / 3
"""The share of the floor's speed that must be reached."""

JOINT_PER_S = 15_000
"""Joint judgments a CPU second, on the machine of `benchmarks.machine`."""

JOINT_CRITERIA = ("correctness", "tone", "brevity")

UNREACHABLE = "http://127.0.0.1:9/v1"
"""Where nothing is asked, since every reply is cached."""

TYPOGRAPHIC = "\u2019"
"""An apostrophe as models like to write it; it takes the reply reader off its shortest way."""

_INCLUDE = re.compile(r'\{% include "([^"]+)" %\}\n?')
_BLOCK = re.compile(r"\{% (?:end)?block\b[^%]*%\}\n?")
_FENCED = re.compile(r'\{\{ (\w+) \| fenced\("(\w+)", 6\) \}\}')
_PLAIN_FENCE = r"<\2 012345>\n{{ \1 }}\n</\2 012345>"


def measure(quick: bool) -> list[Figure]:  # noqa: FBT001 - what the command line hands in
    """One criterion an output, in plain and in typographic text, and the shipped rubric's five."""
    n, rounds = (1000, 3) if quick else (5000, 5)
    shipped = load_rubric("agent_quality")
    # These outputs have no trace, which one of the five needs.
    criteria = tuple(one.model_copy(update={"needs": ()}) for one in shipped.criteria)
    five = shipped.model_copy(update={"criteria": criteria})
    typographic = list(answers(n, apostrophe=TYPOGRAPHIC))
    return [
        *_measured("1 an output", rounds, one_criterion(), list(answers(n)), score=4),
        *_measured("1 an output, not ASCII", rounds, one_criterion(), typographic, score=4),
        *_measured("5 an output", rounds, five, list(answers(n // 5)), score=0.7),
        *_joint(rounds, list(answers(n))),
    ]


def _joint(rounds: int, work: list[tuple[Case, Output]]) -> list[Figure]:
    """Three criteria in one reply, and both orders of a pair, against rows that are only read."""
    (one,) = one_criterion().criteria
    criteria = tuple(one.model_copy(update={"name": name}) for name in JOINT_CRITERIA)
    rubric = one_criterion().model_copy(update={"criteria": criteria})
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(Path(folder), rubric, work, api_base=UNREACHABLE, mode="joint")
        ours.fill(4)
        pairs = OurPairs(Path(folder), rubric, work[: len(work) // 4])
        pairs.fill()
        floor = machine.RowFloor(Path(folder))
        floor_took, ours_took, pairs_took = alternated(rounds, floor.run, ours.run, pairs.run)
        floor.close()
    rows = [took.per_cpu_s for took in floor_took]
    at_least = JOINT_PER_S / machine.REFERENCE_ROWS_PER_S
    return [
        compared(
            f"{took[0].n:,} cached {what}, 3 criteria a reply / rows read",
            [one.per_cpu_s for one in took],
            rows,
            unit="/s CPU",
            at_least=at_least,
        )
        for what, took in (("judgments", ours_took), ("preferences", pairs_took))
    ]


def _measured(
    name: str, rounds: int, rubric: Rubric, work: list[tuple[Case, Output]], *, score: float
) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder, OpenAILikeServer(own_process=True) as server:
        ours = Ours(Path(folder), rubric, work, api_base=server.url)
        ours.fill(score)
        floor = Floor(Path(folder), rubric, work)
        floor.fill(score)
        if floor.n_characters != ours.n_characters:
            sizes = f"{floor.n_characters} characters, judgekit's {ours.n_characters}"
            raise RuntimeError(f"the floor's prompt has {sizes}; the two are not to be compared")
        floor_took, ours_took = alternated(rounds, floor.run, ours.run)
        n_requests = server.n_requests
    return [
        compared(
            f"{ours_took[0].n:,} cached judgments, {name}",
            [took.per_cpu_s for took in ours_took],
            [took.per_cpu_s for took in floor_took],
            unit="/s CPU",
            at_least=AT_LEAST,
        ),
        limited("  requests sent", n_requests, at_most=0),
        limited("  litellm imported", int("litellm" in sys.modules), at_most=0),
    ]


class Floor:
    """The bare work for each judgment, with no checks of any kind.

    It asks in judgekit's own words, so that both render and fingerprint prompts of one size.

    Args:
        folder: Where its cache and its result file lie.
        rubric: What is asked.
        work: Cases with their outputs.
    """

    def __init__(self, folder: Path, rubric: Rubric, work: list[tuple[Case, Output]]) -> None:
        environment = ImmutableSandboxedEnvironment(
            undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
        )
        self._template = environment.from_string(_flat("pointwise/criterion.j2").rstrip())
        self._criteria = [
            (c.name, criteria_data([c]), criterion_schema(c)) for c in rubric.criteria
        ]
        self._work = work
        self._cache = diskcache.Cache(str(folder / "floor"), eviction_policy="none")
        self._results = folder / "floor.jsonl"

    @property
    def n_characters(self) -> int:
        """The length of the first prompt."""
        (case, output), (_, shown, _) = self._work[0], self._criteria[0]
        return len(self._prompt(case, output, shown))

    def fill(self, score: float) -> None:
        """Put the replies in place."""
        with self._cache.transact():
            for number, (_, _, key) in enumerate(self._asked()):
                self._cache.set(key, reply_text(score, number))

    def run(self) -> Took:
        """Render, fingerprint, read, parse and write a line for every judgment."""
        gc.collect()
        watch = Stopwatch()
        n = 0
        with self._results.open("w", encoding="utf-8") as results:
            for case_id, criterion, key in self._asked():
                reply = json.loads(self._cache.get(key))
                line = {"case_id": case_id, "criterion": criterion, **reply}
                results.write(json.dumps(line, ensure_ascii=False) + "\n")
                n += 1
        return watch.took(n)

    def _asked(self) -> Iterator[tuple[str, str, str]]:
        for case, output in self._work:
            for criterion, shown, schema in self._criteria:
                request = {
                    "model": MODEL,
                    "messages": [{"role": "user", "content": self._prompt(case, output, shown)}],
                    "parameters": {"temperature": 0.0},
                    "reply_schema": schema,
                }
                canonical = json.dumps(request, sort_keys=True, separators=(",", ":"))
                key = hashlib.sha256(canonical.encode()).hexdigest()
                yield case.id, criterion, key

    def _prompt(self, case: Case, output: Output, shown: JsonObject) -> str:
        return self._template.render(
            input=case.input, context=None, reference=case.reference, output=output.text, **shown
        )


class Ours:
    """The same judgments through `Judge.grade_many` and the JSONL export.

    Args:
        folder: Where its cache and its result file lie.
        rubric: What is asked.
        work: Cases with their outputs.
        api_base: The server that must not be asked.
        mode: One call a criterion, or a joint one.
    """

    def __init__(
        self,
        folder: Path,
        rubric: Rubric,
        work: list[tuple[Case, Output]],
        *,
        api_base: str,
        mode: JudgeMode = "per_criterion",
    ) -> None:
        self._cache = folder / "ours"
        self._results = folder / "ours.jsonl"
        self._rubric = rubric
        self._work = work
        self._api_base = api_base
        self._mode = mode
        self._joint = [one.name for one in rubric.criteria] if mode == "joint" else []

    @property
    def n_characters(self) -> int:
        """The length of the first prompt, its system message included."""
        case, output = self._work[0]
        first = Judge(MODEL, cache=None).requests(case, output, self._rubric)[0]
        return sum(len(message["content"]) for message in first.messages)

    def fill(self, score: float) -> None:
        """Buy every reply once, from a model that answers at once."""
        model = FillingModel(score, self._joint)
        judge = Judge(model, cache=self._cache, api_base=self._api_base, mode=self._mode)
        asyncio.run(self._grade(judge))

    def run(self) -> Took:
        """Grade everything again from the cache, and write the result lines."""
        gc.collect()
        watch = Stopwatch()
        judge = Judge(MODEL, cache=self._cache, api_base=self._api_base, mode=self._mode)
        n, n_cached = asyncio.run(self._grade(judge))
        took = watch.took(n)
        if n != n_cached or n != len(self._work) * len(self._rubric.criteria):
            raise RuntimeError(f"{n} judgments, {n_cached} of them from the cache")
        return took

    async def _grade(self, judge: Judge) -> tuple[int, int]:
        n = n_cached = 0
        with self._results.open("w", encoding="utf-8") as results:
            async with judge:
                async for verdict in judge.grade_many(self._work, self._rubric):
                    results.write(verdict_line(verdict))
                    n += len(verdict.judgments)
                    n_cached += sum(judgment.cached for judgment in verdict.judgments)
        judge.close()
        return n, n_cached


class OurPairs:
    """Each output compared with another wording of itself, in both orders, by joint replies.

    Args:
        folder: Where its cache lies.
        rubric: What is asked.
        work: Cases with their outputs.
    """

    def __init__(self, folder: Path, rubric: Rubric, work: list[tuple[Case, Output]]) -> None:
        self._cache = folder / "pairs"
        self._rubric = rubric
        self._work = [
            (case, a, a.model_copy(update={"variant": "b", "text": f"Dear customer, {a.text}"}))
            for case, a in work
        ]

    def fill(self) -> None:
        """Buy every reply once, from a model that answers at once."""
        names = [one.name for one in self._rubric.criteria]
        asyncio.run(self._compare(PreferringModel(names)))

    def run(self) -> Took:
        """Compare everything again from the cache."""
        gc.collect()
        watch = Stopwatch()
        return watch.took(asyncio.run(self._compare(MODEL)))

    async def _compare(self, model: Model | str) -> int:
        n = 0
        async with Judge(model, cache=self._cache, api_base=UNREACHABLE, mode="joint") as judge:
            for case, a, b in self._work:
                comparison = await judge.compare(case, a, b, self._rubric)
                if comparison.failures:
                    raise RuntimeError(str(comparison.failures[0]))
                n += len(comparison.preferences)
        judge.close()
        return n


def _flat(name: str) -> str:
    """judgekit's own template in one piece: nothing to include, no blocks, fences not derived."""
    source = (shipped_file("prompts") / name).read_text(encoding="utf-8")
    whole = _INCLUDE.sub(lambda found: _flat(found[1]), source)
    return _FENCED.sub(_PLAIN_FENCE, _BLOCK.sub("", whole))


if __name__ == "__main__":
    report(measure)
