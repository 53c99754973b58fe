"""autorubric: `evaluate` with a `CriterionGrader`; the option `per_item` asks all in one call."""

from __future__ import annotations

import asyncio

from autorubric import Criterion, CriterionOption, LLMConfig, Rubric, RubricDataset
from autorubric.eval import evaluate
from autorubric.graders import CriterionGrader

from benchmarks.peers.job import MODEL, Item, Job, Question, Scores, run


async def _judge(job: Job, items: list[Item]) -> Scores:
    config = LLMConfig(
        model=f"openai/{MODEL}",
        api_base=job.url,
        api_key="none",
        temperature=0.0,
        max_parallel_requests=job.in_flight,
        cache_enabled=job.cache is not None,
        cache_dir=job.cache or "no_cache",
    )
    grader = CriterionGrader(
        judge_model_config=config,
        shuffle_options=False,
        llm_calls="per_item" if job.option == "per_item" else "per_criterion",
    )
    dataset = RubricDataset(rubric=Rubric([_criterion(one) for one in job.criteria]))
    for item in items:
        dataset.add_item(
            submission=item["answer"],
            description=item["id"],
            prompt=item["question"],
            reference_submission=item["reference"],
        )
    result = await evaluate(
        dataset, grader, show_progress=False, max_concurrent_items=job.in_flight, resume=False
    )
    return {
        one.item.description: [_value(report) for report in one.report.report or ()]
        or [None] * len(job.criteria)
        for one in result.item_results
    }


def _criterion(criterion: Question) -> Criterion:
    options = [
        CriterionOption(label=text, value=(n - 1) / 4)
        for n, text in enumerate(criterion["levels"], 1)
    ]
    return Criterion(
        name=criterion["name"],
        requirement=criterion["question"],
        options=options,
        scale_type="ordinal",
    )


def _value(report: object) -> float | None:
    verdict = getattr(report, "final_multi_choice_verdict", None)
    return None if verdict is None or verdict.na else float(verdict.value)


if __name__ == "__main__":
    run(lambda job, items: asyncio.run(_judge(job, items)))
