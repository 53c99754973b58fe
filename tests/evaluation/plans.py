"""Suites to be planned: four sums, answered and judged by whoever a test says."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from judgekit.datasets import Suite
from judgekit.evaluation import Choice, ExecutionOptions, OpenSuite, open_suite, plan_suite
from judgekit.models.cache import MemoryCache
from judgekit.models.request import ModelReply
from judgekit.records import Usage
from tests.factories import reply

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from judgekit.evaluation import SuitePlan
    from judgekit.models.request import ModelRequest

MINI = "openai/gpt-4.1-mini"
RECORDED = {"id": "old", "outputs": "old.jsonl"}
PROMPT = {"id": "new", "prompt": "ask.j2", "model": MINI}
COMMAND = {"id": "prog", "command": ["python3", "-c", "print()"]}


def suite(folder: Path, *variants: dict[str, Any], n_cases: int = 4, **fields: Any) -> Suite:
    """A suite of sums with a rubric of two criteria."""
    rows = [{"case_id": f"c{n}", "text": f"The answer is {2 * n}."} for n in range(n_cases)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "old.jsonl").write_text(text, encoding="utf-8")
    (folder / "ask.j2").write_text("Answer in one word: {{ input }}", encoding="utf-8")
    rubric = """\
name: sums
criteria:
  - {name: right, question: "Is it right?", scale: binary}
  - {name: short, question: "Is it short?", scale: one_to_five}
"""
    (folder / "rubric.yaml").write_text(rubric, encoding="utf-8")
    cases = [{"id": f"c{n}", "input": f"What is {n}+{n}?"} for n in range(n_cases)]
    known: dict[str, Any] = {
        "name": "sums",
        "cases": cases,
        "rubric": "rubric.yaml",
        "judge": MINI,
        "variants": variants,
    }
    return Suite.model_validate(known | fields).in_folder(folder)


def opened(made: Suite, **asking: Any) -> OpenSuite:
    """The suite, opened with an empty cache, where none is given."""
    choice = asking.pop("choice", Choice())
    return open_suite(made, choice, ExecutionOptions(**{"cache": MemoryCache()} | asking))


def planned(made: Suite, **options: Any) -> SuitePlan:
    """The plan of a suite."""
    of_plan = {
        name: options.pop(name)
        for name in ("store", "begun", "in_flight", "most_cases")
        if name in options
    }
    ready = opened(made, **options)

    async def plan() -> SuitePlan:
        try:
            return await plan_suite(ready, **of_plan)
        finally:
            await ready.aclose()

    return asyncio.run(plan())


def bought(
    cache: MemoryCache, requests: Iterable[ModelRequest], text: str | None = None, **fields: Any
) -> None:
    """Put replies to requests into a cache."""
    known: dict[str, Any] = {
        "cost_usd": 0.01,
        "duration_ms": 500.0,
        "usage": Usage(input_tokens=100, output_tokens=40),
    }
    for request in requests:
        cache.put(request, ModelReply(text=reply(1) if text is None else text, **known | fields))
