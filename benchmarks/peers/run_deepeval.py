"""deepeval: `evaluate` with `GEval`, its steps given, so that there is one call a criterion."""

from __future__ import annotations

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import GEval
from deepeval.metrics.g_eval import Rubric
from deepeval.models import GPTModel
from deepeval.test_case import LLMTestCase, SingleTurnParams

from benchmarks.peers.job import MODEL, Item, Job, Question, Scores, run


def _judge(job: Job, items: list[Item]) -> Scores:
    model = GPTModel(model=MODEL, base_url=job.url, api_key="none")
    cases = [
        LLMTestCase(
            name=item["id"],
            input=item["question"],
            actual_output=item["answer"],
            expected_output=item["reference"],
        )
        for item in items
    ]
    result = evaluate(
        cases,
        [_metric(model, criterion) for criterion in job.criteria],
        async_config=AsyncConfig(run_async=True, max_concurrent=job.in_flight),
        display_config=DisplayConfig(
            show_indicator=False, print_results=False, inspect_after_run=False
        ),
        cache_config=CacheConfig(
            write_cache=job.cache is not None, use_cache=job.cache is not None
        ),
        error_config=ErrorConfig(ignore_errors=True),
    )
    return {
        one.name: [None if metric.error else metric.score for metric in one.metrics_data or ()]
        for one in result.test_results
    }


def _metric(model: GPTModel, criterion: Question) -> GEval:
    levels = [
        Rubric(score_range=(2 * n - 1, 2 * n), expected_outcome=text)
        for n, text in enumerate(criterion["levels"], 1)
    ]
    params = (
        SingleTurnParams.INPUT,
        SingleTurnParams.ACTUAL_OUTPUT,
        SingleTurnParams.EXPECTED_OUTPUT,
    )
    return GEval(
        name=criterion["name"],
        evaluation_params=list(params),
        evaluation_steps=[criterion["question"]],
        rubric=levels,
        model=model,
    )


if __name__ == "__main__":
    run(_judge)
