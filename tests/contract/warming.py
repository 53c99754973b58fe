"""Fills a reply cache as a paid judge would, without a network."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import judgekit as jk
from tests.contract.material import said

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.models.request import ModelRequest

PAID = "openai/gpt-4.1-mini"
_THEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def warm_cache(folder: Path) -> None:
    """Keep what a judge called `openai/…` says of the laboratory's variants `a` and `b`."""
    cases = {case.id: case for case in jk.load_dataset(folder / "cases.jsonl").cases}
    outputs = [
        json.loads(line)
        for variant in "ab"
        for line in (folder / f"outputs/{variant}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    pairs = [(cases[row["case_id"]], jk.Output(text=row["text"])) for row in outputs]
    asyncio.run(_grade(pairs, folder))


async def _grade(pairs: list[tuple[jk.Case, jk.Output]], folder: Path) -> None:
    rubric = jk.load_rubric(folder / "rubric.yaml")
    model = jk.ScriptedModel(_say, name=PAID)
    cache = jk.DiskCache(folder / ".judgekit" / "cache", now=lambda: _THEN)
    judge = jk.Judge(model, cache=cache)
    for case, output in pairs:
        await judge.grade(case, output, rubric)
    judge.close()


def _say(request: ModelRequest) -> jk.ModelReply:
    """A score that the case and the criterion decide, with what it took to say it."""
    place = int(str(request.subject.case_id)[1:])
    score = place % 5 + 1 if request.subject.criterion == "helpful" else place % 2
    usage = jk.Usage(input_tokens=500 + place, output_tokens=40)
    return jk.ModelReply(text=said(score), usage=usage, model="gpt-4.1-mini-2026", duration_ms=900)
