"""The least a call can cost: a loop over aiohttp that keeps and checks nothing."""

from __future__ import annotations

import asyncio
import json

import aiohttp

from benchmarks.peers.job import MODEL, Item, Job, Question, Scores, judged, run

PROMPT = """Judge an answer on a scale from 1 to 5. {criterion}
{levels}

Question: {question}
Reference: {reference}
Answer: {answer}

Reply with JSON: {{"rationale": "...", "score": 1}}"""


async def _judge(job: Job, items: list[Item]) -> Scores:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(item: Item, criterion: Question) -> float:
            levels = "\n".join(f"{n}: {text}" for n, text in enumerate(criterion["levels"], 1))
            prompt = PROMPT.format(**{**item, "criterion": criterion["question"], "levels": levels})
            body = {"model": MODEL, "messages": [{"role": "user", "content": prompt}]}
            async with session.post(f"{job.url}/chat/completions", json=body) as response:
                response.raise_for_status()
                reply = await response.json()
            return float(json.loads(reply["choices"][0]["message"]["content"])["score"])

        return await judged(job, items, ask)


if __name__ == "__main__":
    run(lambda job, items: asyncio.run(_judge(job, items)))
