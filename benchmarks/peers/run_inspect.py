"""inspect_ai: `eval` of recorded outputs with `model_graded_qa`, no display, a small log."""

from __future__ import annotations

from math import isnan

from inspect_ai import Task, eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, ModelOutput, get_model
from inspect_ai.scorer import Score, Scorer, model_graded_qa, value_to_float
from inspect_ai.solver import Generate, Solver, TaskState, solver

from benchmarks.peers.job import MODEL, Item, Job, Question, Scores, run


@solver  # type: ignore[untyped-decorator]
def recorded() -> Solver:
    """The output that was recorded, in place of a model's."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate
        state.output = ModelOutput.from_content("recorded", state.metadata["recorded"])
        return state

    return solve


def _judge(job: Job, items: list[Item]) -> Scores:
    config = GenerateConfig(max_connections=job.in_flight, cache=job.cache is not None)
    grader = get_model(
        f"openai/{MODEL}",
        base_url=job.url,
        api_key="none",
        config=config,
        responses_api=False,
        memoize=False,
    )

    def scorer(criterion: Question) -> Scorer:
        template = (
            "{question}\n***\n[Expert answer]: {criterion}\n***\n[Submission]: {answer}\n***\n"
        )
        asked = f"{criterion['question']}\n\n{{instructions}}"
        return model_graded_qa(template=template + asked, partial_credit=True, model=grader)

    samples = [
        Sample(
            id=item["id"],
            input=item["question"],
            target=item["reference"],
            metadata={"recorded": item["answer"]},
        )
        for item in items
    ]
    task = Task(dataset=samples, solver=recorded(), scorer=[scorer(one) for one in job.criteria])
    (log,) = evaluate(
        task,
        model=None,
        display="none",
        max_samples=job.in_flight,
        max_connections=job.in_flight,
        fail_on_error=False,
        log_dir="logs",
        log_realtime=False,
        log_model_api=False,
    )
    to_number = value_to_float()

    def number(score: Score) -> float | None:
        value = score.value
        return None if isinstance(value, float) and isnan(value) else to_number(value)

    if log.samples is None:
        raise RuntimeError(f"inspect_ai ended with {log.status}: {log.error}")
    return {
        str(sample.id): [number(score) for score in (sample.scores or {}).values()]
        or [None] * len(job.criteria)
        for sample in log.samples
    }


if __name__ == "__main__":
    run(_judge)
