"""Grades data in memory or a file: a run of recorded outputs by the engine of `evaluate`."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from judgekit.api.inputs import open_store, opened_panel, read_data, rubric_of
from judgekit.api.progress import progress_line
from judgekit.api.results import GradingResults
from judgekit.datasets import DEFAULT_CACHE_FOLDER, Suite
from judgekit.errors import JudgeError
from judgekit.evaluation import (
    Run,
    Session,
    conclude_result,
    judge_usage,
    open_recorded,
    ordered_results,
    prepare_run,
    record_answers,
    run_suite,
)
from judgekit.formats import frame_library
from judgekit.judge import synchronous
from judgekit.records import OUTPUTS_TAG, CaseResult

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from judgekit.api.inputs import CacheSource, JudgeSource
    from judgekit.datasets import CaseData, CaseOutput
    from judgekit.records import Rubric, RunInfo
    from judgekit.store import RunStore


async def grade(
    outputs: object,
    *,
    rubric: Rubric | Path | str,
    judge: JudgeSource,
    cases: CaseData | None = None,
    cache: CacheSource = DEFAULT_CACHE_FOLDER,
    frozen: bool = False,
    max_cost_usd: float | None = None,
    store: RunStore | Path | str | None = None,
    progress: bool = True,
) -> GradingResults:
    """Grade many outputs at once, with as many calls in flight as the judge allows.

    Args:
        outputs: What is graded: a file as `judgekit grade` reads it; a list of mappings
            (`{"input": …, "text": …}`), of outputs, or of pairs of a case and its output; a pandas,
            polars or Arrow table, or a Hugging Face dataset, with the columns of such a file.
        rubric: The rubric, its file, or the name of a shipped one.
        judge: The name of a model, a judge, a panel of judges whose scores are averaged, or
            an object with `name` and `complete`.
        cases: The cases that the outputs answer, where these do not describe them: a file, or
            rows, records or a frame, joined by `case_id`.
        cache: Folder of the reply cache, a cache, or None for none; for a model's name.
        frozen: Whether a reply that is not cached is a failure; for a model's name.
        max_cost_usd: The money that calls may cost, in US dollars; for a model's name.
        store: Where the run is stored, for `judgekit show` and `trend`. By default nowhere, since
            a notebook's cell is executed many times; cached replies are not paid again.
        progress: Whether progress is shown, in a terminal and in a notebook.

    Returns:
        A verdict for each output, in their order, and the figures of all. What was not judged,
        because the money did not suffice, has a verdict that is open.

    Raises:
        InputError: When a row, a file, a name or a setting is invalid, or an output comes twice.
        JudgeError: When no output was judged, since every call would fail: a key is missing.
        StoreError: When the store or the cache cannot be used.

    Example:
        >>> import judgekit as jk
        >>> async def share_of_good(rows: list[dict[str, str]]) -> float:
        ...     results = await jk.grade(rows, rubric="helpfulness", judge="openai/gpt-4.1-mini")
        ...     return results.pass_rate.value
    """
    answers = read_data(outputs, cases, OUTPUTS_TAG)
    asked, (recorded, variants) = rubric_of(rubric), record_answers(answers)
    suite = Suite(name=OUTPUTS_TAG, dataset="outputs.jsonl", tags=(OUTPUTS_TAG,))
    judging = opened_panel(judge, cache=cache, frozen=frozen, max_cost_usd=max_cost_usd)
    async with judging as panel:
        opened = open_recorded(panel, asked, recorded, variants, suite=suite)
        session = Session(in_flight=max(4, panel.max_concurrency))
        arrived: list[CaseResult] = []
        with ExitStack() as stack:
            runs = open_store(store, stack)
            info = prepare_run(opened, runs, None, now=session.now())
            advance = stack.enter_context(progress_line(len(answers), "graded", shown=progress))

            def watch(result: CaseResult) -> None:
                arrived.append(result)
                spent = judge_usage([*result.judgments, *result.failures])
                advance(spent.cost_usd, len(result.failures))

            session.watch = watch
            ended = await run_suite(opened, runs, info, session)
            if session.reason == "model" and not any(one.judgments for one in arrived):
                raise JudgeError(session.detail or "no model could be called")
            results = _whole(ended, answers, arrived)
            summary = Run(ended, runs).summary(results=results)
    return GradingResults(
        [conclude_result(one, ended) for one in results],
        places=_places(answers, results),
        summary=summary,
        stopped=session.words(),
        unnamed=recorded.unnamed,
        library=frame_library(outputs),
    )


grade_sync = synchronous(grade)


def _whole(
    run: RunInfo, answers: Sequence[CaseOutput], arrived: Sequence[CaseResult]
) -> list[CaseResult]:
    """A result for every output; where the run stopped before it, one without judgments."""
    known = {(one.case.id, one.variant) for one in arrived}
    places: dict[str, int] = {}
    missing = []
    for case, output in answers:
        place = places.setdefault(case.id, len(places))
        variant = output.variant or OUTPUTS_TAG
        if (case.id, variant) not in known:
            missing.append(
                CaseResult(run_id=run.id, place=place, case=case, variant=variant, output=output)
            )
    return ordered_results([*arrived, *missing], run)


def _places(answers: Sequence[CaseOutput], results: Sequence[CaseResult]) -> list[int]:
    """Where the result of each output is, in the order of the outputs."""
    places = {(one.case.id, one.variant): n for n, one in enumerate(results)}
    return [places[case.id, output.variant or OUTPUTS_TAG] for case, output in answers]
