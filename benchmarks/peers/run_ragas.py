"""ragas: `DomainSpecificRubrics.ascore` on `llm_factory`, with `DiskCacheBackend`."""

from __future__ import annotations

import asyncio

from openai import AsyncOpenAI
from ragas.cache import DiskCacheBackend
from ragas.llms import llm_factory
from ragas.metrics.collections import DomainSpecificRubrics

from benchmarks.peers.job import MODEL, Item, Job, Question, Scores, judged, run


async def _judge(job: Job, items: list[Item]) -> Scores:
    async with AsyncOpenAI(base_url=job.url, api_key="none") as client:
        cache = DiskCacheBackend(job.cache) if job.cache else None
        llm = llm_factory(MODEL, client=client, cache=cache)
        metrics = {one["name"]: _metric(llm, one) for one in job.criteria}

        async def ask(item: Item, criterion: Question) -> float:
            result = await metrics[criterion["name"]].ascore(
                user_input=item["question"], response=item["answer"], reference=item["reference"]
            )
            return float(result.value)

        return await judged(job, items, ask)


def _metric(llm: object, criterion: Question) -> DomainSpecificRubrics:
    levels = {f"score{n}_description": text for n, text in enumerate(criterion["levels"], 1)}
    metric = DomainSpecificRubrics(llm=llm, rubrics=levels, with_reference=True)
    metric.scoring_prompt.instruction += criterion["question"]
    return metric


if __name__ == "__main__":
    run(lambda job, items: asyncio.run(_judge(job, items)))
