"""autoevals: `LLMClassifier.eval_async`, a choice for each level; it has no cache."""

from __future__ import annotations

import asyncio

from autoevals import LLMClassifier, init
from openai import AsyncOpenAI

from benchmarks.peers.job import MODEL, Item, Job, Question, Scores, judged, run

PROMPT = """You are judging a submitted answer to a question beside an expert answer.
[BEGIN DATA]
[Question]: {{input}}
[Expert]: {{expected}}
[Submission]: {{output}}
[END DATA]

"""
CHOICES = "EDCBA"


def _classifier(criterion: Question) -> LLMClassifier:
    options = zip(CHOICES, criterion["levels"], strict=True)
    asked = "\n".join([criterion["question"], *(f"({one}) {text}" for one, text in options)])
    scores = {choice: (n - 1) / 4 for n, choice in enumerate(CHOICES, 1)}
    return LLMClassifier(criterion["name"], PROMPT + asked, scores, model=MODEL, use_cot=True)


async def _judge(job: Job, items: list[Item]) -> Scores:
    async with AsyncOpenAI(base_url=job.url, api_key="none") as client:
        init(client)
        classifiers = {one["name"]: _classifier(one) for one in job.criteria}

        async def ask(item: Item, criterion: Question) -> float:
            classifier = classifiers[criterion["name"]]
            result = await classifier.eval_async(
                input=item["question"], output=item["answer"], expected=item["reference"]
            )
            return float(result.score)

        return await judged(job, items, ask)


if __name__ == "__main__":
    run(lambda job, items: asyncio.run(_judge(job, items)))
