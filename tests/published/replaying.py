"""Recorded judges, asked again through judgekit's own templates."""

from __future__ import annotations

import asyncio
import json
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import judgekit as jk
from judgekit.published.own_forms import own_files
from tests.published.material import judges_of, rows_of, sets_below

if TYPE_CHECKING:
    from judgekit.records.comparison import Comparison
    from judgekit.records.judgment import JudgeFailure, Judgment
    from judgekit.records.verdict import Verdict
    from tests.published.material import Rows

TEMPLATES = {
    "mcq": "five_letters", "rts": "reason_then_score", "stareval": "stars", "geval": "score_only",
    "rate_explain": "rate_explain", "analyze_rate": "analyze_rate",
}  # fmt: skip
"""The template of each prompt style that a judge's name ends with."""

Read = dict[tuple[str, str, str, int], float | None]
"""What was read of each reply, by document, system, criterion and repeat; None unreadable."""


def recorded_judges() -> list[tuple[str, str, str]]:
    """Every judge of single outputs with words: joined file, judge and template."""
    found = []
    for folder in ("summeval_llm", "topical_chat"):
        for name in sets_below(folder, "pointwise_"):
            stem = f"{folder}/pointwise_{name}"
            found += [(stem, j, TEMPLATES[j.split("/")[1]]) for j in judges_of(rows_of(stem))]
    for name in sets_below("prometheus_rubric"):
        stem = f"prometheus_rubric/{name}"
        found += [(stem, judge, "prometheus") for judge in judges_of(rows_of(stem))]
    for name in sets_below("ttcw"):
        if name == "pointwise":
            stem = f"ttcw/{name}"
            found += [(stem, judge, "yes_no") for judge in judges_of(rows_of(stem))]
    return found


@lru_cache(maxsize=64)
def verdicts_of(stem: str, judge: str, template: str) -> list[Verdict]:
    """What `Judge.grade` makes of one judge's recorded replies to all outputs."""
    rows = [row for row in rows_of(stem) if judge in row["judge"]]
    return graded(stem, rows, judge, template)


def graded(stem: str, rows: Rows, judge: str, template: str) -> list[Verdict]:
    """What `Judge.grade` makes of one judge's recorded replies to some rows."""
    name = stem.split("/")[1]
    texts = {"stories": rows_of("ttcw/stories")} if stem.startswith("ttcw/") else {}
    files: dict[str, Any] = dict(own_files({name: rows, **texts}, instrument=name))
    replies = files[f"{name}.replies.{judge.replace('/', '_')}.jsonl"]
    cases = {row["id"]: jk.Case.model_validate(row) for row in files[f"{name}.cases.jsonl"]}
    rubric = jk.Rubric.model_validate(files[f"{name}.rubric.json"][0])
    with TemporaryDirectory() as folder:
        asked = _judge(folder, replies, f"pointwise/{template}", repeats=_repeats(replies))

    async def grade() -> list[Verdict]:
        return [
            await asked.grade(
                cases[row["case_id"]], jk.Output(text=row["text"], variant=row["variant"]), rubric
            )
            for row in files[f"{name}.outputs.jsonl"]
        ]

    return asyncio.run(grade())


def read_of(verdicts: list[Verdict]) -> Read:
    """The raw score of each judgment, None for a failure."""
    found: Read = {}
    for verdict in verdicts:
        for one in verdict.judgments:
            found[_place(one)] = one.raw
        for failure in verdict.failures:
            found[_place(failure)] = None
    return found


def _place(said: Judgment | JudgeFailure) -> tuple[str, str, str, int]:
    return str(said.case_id), str(said.variant), str(said.criterion), said.repeat


def compared(rows: Rows, judge: str, template: str) -> list[Comparison]:
    """What `Judge.compare` makes of one judge's recorded replies to pairs."""
    rubric = jk.Rubric(
        name="r", criteria=[jk.Criterion(name="quality", question="Is it good?", scale="unit")]
    )
    replies = [
        {"case_id": row["id"], "order": order, "text": text}
        for row in rows
        for order, text in row["judge"][judge].items()
        if text
    ]
    with TemporaryDirectory() as folder:
        asked = _judge(folder, replies, template, repeats=1)

    async def compare() -> list[Comparison]:
        return [
            await asked.compare(
                jk.Case(id=row["id"], input=row["input"]),
                jk.Output(text=row["output_a"]), jk.Output(text=row["output_b"]), rubric,
            )
            for row in rows
        ]  # fmt: skip

    return asyncio.run(compare())


def _judge(folder: str, replies: Rows, template: str, *, repeats: int) -> jk.Judge:
    path = Path(folder) / "replies.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in replies), encoding="utf-8")
    return jk.Judge(
        f"recorded:{path}", template=template, repeats=repeats, max_reasks=0, scrub=False
    )


def _repeats(replies: Rows) -> int:
    return 1 + max(int(row["repeat"]) for row in replies)
