"""judgekit: `Judge.grade_many`; the option names the transport, or `joint`."""

from __future__ import annotations

import asyncio

from benchmarks.peers.job import MODEL, Item, Job, Scores, run
from judgekit import Case, Criterion, Judge, Level, Output, Rubric, Scale


async def _judge(job: Job, items: list[Item]) -> Scores:
    criteria = []
    for one in job.criteria:
        levels = [Level(value=n, description=text) for n, text in enumerate(one["levels"], 1)]
        scale = Scale(min=1, max=5, integer=True, levels=tuple(levels))
        criteria.append(Criterion(name=one["name"], question=one["question"], scale=scale))
    rubric = Rubric(name="returns", criteria=tuple(criteria))
    pairs = (
        (
            Case(id=item["id"], input=item["question"], reference=item["reference"]),
            Output(text=item["answer"], case_id=item["id"]),
        )
        for item in items
    )
    scores: Scores = {}
    judge = Judge(
        f"openai/{MODEL}",
        api_base=job.url,
        cache=job.cache,
        mode="joint" if job.option == "joint" else "per_criterion",
        transport="litellm" if job.option == "litellm" else "direct",
        max_concurrency=job.in_flight,
    )
    async with judge:
        async for verdict in judge.grade_many(pairs, rubric):
            raw = {judgment.criterion: judgment.raw for judgment in verdict.judgments}
            scores[verdict.case_id or ""] = [raw.get(criterion.name) for criterion in criteria]
    return scores


if __name__ == "__main__":
    run(lambda job, items: asyncio.run(_judge(job, items)))
