"""Grades recorded outputs with one judge, in bounded memory, and summarizes the verdicts.

A whole suite is run by `runner` and summarized by `summary`.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING

from judgekit.evaluation.judges import JudgeUsage, judge_usage
from judgekit.records import UNCALIBRATED
from judgekit.scoring import conclude
from judgekit.stats.estimate import Estimate, undefined_estimate
from judgekit.stats.intervals import proportion, rating_mean

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence

    from judgekit.judge import Judge, PendingGrading
    from judgekit.records import CalibrationInUse, CalibrationState, Case, Output, Rubric, Verdict

_AT_ONCE = 16
"""Outputs for which the cache is looked into at once. What is owned is graded without waiting for
anything, so after as many the caller's own tasks get their turn."""


@dataclass(frozen=True, slots=True)
class Graded:
    """One graded output and its place in the input."""

    index: int
    """Place of the output, from 0."""

    case: Case
    """What was to be answered."""

    output: Output
    """What was produced."""

    verdict: Verdict
    """What the rubric concludes."""


async def grade_answers(
    judge: Judge,
    answers: Iterable[tuple[Case, Output]],
    rubric: Rubric,
    *,
    in_flight: int = 64,
    stop: asyncio.Event | None = None,
) -> AsyncIterator[Graded]:
    """Grade outputs as they come, several at a time."""
    n_workers = max(1, in_flight)
    gradings = enumerate(_begun(judge, answers, rubric, min(n_workers, _AT_ONCE)))
    while (item := None if _is_set(stop) else next(gradings, None)) is not None:
        index, grading = item
        verdict = grading.verdict
        if verdict is None:
            flow = _Flow(chain([item], gradings), asyncio.Queue(n_workers), stop, n_workers)
            async with aclosing(_asked(flow)) as rest:
                async for graded in rest:
                    yield graded
            return
        yield Graded(index, grading.case, grading.output, verdict)
        if (index + 1) % _AT_ONCE == 0:
            await asyncio.sleep(0)


@dataclass(frozen=True, slots=True)
class _Flow:
    """What the workers share: what is to be graded, and a queue with room for what is done."""

    gradings: Iterator[tuple[int, PendingGrading]]
    done: asyncio.Queue[Graded | None]
    stop: asyncio.Event | None
    n_workers: int


async def _asked(flow: _Flow) -> AsyncGenerator[Graded, None]:
    """From the first output on for which a judge is asked, each as it is done."""
    work = asyncio.create_task(_work(flow))
    try:
        while (graded := await flow.done.get()) is not None:
            yield graded
        await work
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def _work(flow: _Flow) -> None:
    """Workers that share one iterator; None in the queue says that all of them have ended."""
    # A worker that has an answer begins its next call at once, whoever still waits for the result:
    # calls would else begin together, and none be under way while the machine is busy.

    async def worker() -> None:
        while (item := None if _is_set(flow.stop) else next(flow.gradings, None)) is not None:
            index, grading = item
            verdict = grading.verdict
            if verdict is None:
                verdict = await grading.finish()
            await flow.done.put(Graded(index, grading.case, grading.output, verdict))

    error: BaseException | None = None
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(flow.n_workers):
                group.create_task(worker())
    except BaseExceptionGroup as problems:
        error = _first(problems)
    await flow.done.put(None)  # not when cancelled: nobody waits for it then
    if error is not None:
        raise error


def _first(problems: BaseExceptionGroup[BaseException]) -> BaseException:
    error = problems.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error


def _begun(
    judge: Judge, answers: Iterable[tuple[Case, Output]], rubric: Rubric, n_at_once: int
) -> Iterator[PendingGrading]:
    source = iter(answers)
    while window := list(islice(source, n_at_once)):
        yield from judge.begin(window, rubric)


def _is_set(stop: asyncio.Event | None) -> bool:
    return stop is not None and stop.is_set()


@dataclass(frozen=True, slots=True)
class VariantSummary:
    """What the verdicts of one variant come to."""

    variant: str
    """Name of the variant; empty where outputs name none."""

    n: int
    """Outputs."""

    n_passed: int
    """Outputs that pass."""

    n_failed: int
    """Outputs that do not pass."""

    n_undecided: int
    """Outputs whose missing judgments could decide either way."""

    n_errors: int
    """Outputs that are errors of the system under test; not judged."""

    pass_rate: Estimate
    """Share of passed among decided outputs, with Wilson's interval."""

    pass_rate_bounds: tuple[float, float]
    """The rate if all outputs without a verdict, errors included, had failed; had passed."""

    value: Estimate
    """Mean value of outputs that have one."""

    criteria: dict[str, Estimate]
    """Mean value per criterion."""


@dataclass(frozen=True, slots=True)
class GradeSummary:
    """What a grading comes to."""

    rubric: str
    """Name of the rubric."""

    pass_threshold: float
    """The value from which an output passes."""

    judges: tuple[str, ...]
    """Who judged: model and template."""

    models: tuple[str, ...]
    """The models that answered, in the providers' words."""

    variants: tuple[VariantSummary, ...]
    """Per variant, in order of appearance."""

    failures: dict[str, int]
    """Judge failures by kind."""

    failure_messages: dict[str, str]
    """For each kind, what the first of them says."""

    n_evidence: int
    """Passages that judges quoted."""

    n_evidence_found: int
    """Of them, those that the outputs hold."""

    spent: JudgeUsage
    """Calls and money."""

    flags: dict[str, int] = field(default_factory=dict)
    """Advisory marks, by name."""

    calibration_state: CalibrationState = "uncalibrated"
    """Whether the judge is calibrated."""

    calibration: str = UNCALIBRATED.words
    """The same in words."""

    uncalibrated: tuple[VariantSummary, ...] = ()
    """The variants by the judge's own values, where calibration maps decide."""

    @property
    def complete(self) -> bool:
        """Whether every criterion of every output has a judgment."""
        return not self.failures


def summarize_verdicts(
    verdicts: Iterable[Verdict], rubric: Rubric, *, calibration: CalibrationInUse = UNCALIBRATED
) -> GradeSummary:
    """Sum up verdicts."""
    kept = list(verdicts)
    judgments = [judgment for verdict in kept for judgment in verdict.judgments]
    failures = [failure for verdict in kept for failure in verdict.failures]
    evidence = [piece for judgment in judgments for piece in judgment.evidence]
    return GradeSummary(
        rubric=rubric.name,
        pass_threshold=rubric.pass_threshold,
        judges=tuple(dict.fromkeys([j.judge for j in judgments] + [f.judge for f in failures])),
        models=tuple(dict.fromkeys(j.model for j in judgments if j.model)),
        variants=_variants(kept, rubric),
        failures=dict(Counter(failure.kind for failure in failures).most_common()),
        failure_messages={failure.kind: failure.message for failure in reversed(failures)},
        n_evidence=len(evidence),
        n_evidence_found=sum(piece.found for piece in evidence),
        spent=judge_usage(judgments, failures),
        flags=dict(Counter(flag for j in judgments for flag in j.flags).most_common()),
        calibration_state=calibration.state,
        calibration=calibration.words,
        uncalibrated=_uncalibrated(kept, rubric),
    )


def _uncalibrated(verdicts: Sequence[Verdict], rubric: Rubric) -> tuple[VariantSummary, ...]:
    """The variants by the judge's own values; nothing where these decide anyway."""
    if all(verdict.uncalibrated is None for verdict in verdicts):
        return ()
    return _variants([_by_own_values(verdict, rubric) for verdict in verdicts], rubric)


def _by_own_values(verdict: Verdict, rubric: Rubric) -> Verdict:
    if verdict.uncalibrated is None:
        return verdict
    return conclude(
        rubric,
        verdict.judgments,
        verdict.failures,
        case_id=verdict.case_id,
        variant=verdict.variant,
        error=verdict.error,
    )


def _variants(verdicts: Sequence[Verdict], rubric: Rubric) -> tuple[VariantSummary, ...]:
    by_variant: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_variant[verdict.variant or ""].append(verdict)
    return tuple(_variant(name, group, rubric) for name, group in by_variant.items())


def _variant(name: str, verdicts: Sequence[Verdict], rubric: Rubric) -> VariantSummary:
    judged = [verdict for verdict in verdicts if verdict.error is None]
    passed = sum(verdict.passed is True for verdict in judged)
    failed = sum(verdict.passed is False for verdict in judged)
    undecided = len(judged) - passed - failed
    return VariantSummary(
        variant=name,
        n=len(verdicts),
        n_passed=passed,
        n_failed=failed,
        n_undecided=undecided,
        n_errors=len(verdicts) - len(judged),
        pass_rate=proportion(passed, passed + failed, n_missing=undecided),
        pass_rate_bounds=_bounds(passed, len(verdicts) - passed - failed, len(verdicts)),
        value=_mean([verdict.value for verdict in judged]),
        criteria={
            criterion.name: _mean(
                [c.value for v in judged for c in v.criteria if c.name == criterion.name]
            )
            for criterion in rubric.criteria
        },
    )


def _bounds(passed: int, unknown: int, n: int) -> tuple[float, float]:
    return (passed / n, (passed + unknown) / n) if n else (0.0, 1.0)


def _mean(values: Sequence[float | None]) -> Estimate:
    known = [value for value in values if value is not None]
    if not known:
        return undefined_estimate("no judgments", n=0, method="t with one pseudo-rating")
    missing = [float("nan")] * (len(values) - len(known))
    return rating_mean([*known, *missing], (0.0, 1.0), continuous=True)
