"""Runs an audit: asks each planned question once, and counts cost and failures."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from judgekit.bias_audit.probe import GradeProbe, TrialAnswers
from judgekit.bias_audit.results import Audit, ProbeResult, adjust_p_values
from judgekit.evaluation import JudgeUsage, judge_usage, one_per_reply
from judgekit.judge import gather_in_order
from judgekit.records import PreferenceFailure, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from judgekit.bias_audit.inputs import AuditInputs
    from judgekit.bias_audit.plan import AuditPlan, PlannedProbe
    from judgekit.bias_audit.probe import PairAnswers, ProbeQuestion, ProbeRunner
    from judgekit.records import JudgeFailure, Judgment

AuditStopReason = Literal["interrupted", "budget", "model"]
"""Why an audit ended before every question was asked."""

# After an error of these kinds every further call would fail in the same way.
_FATAL = frozenset({"auth", "not_found", "quota"})

_NOT_ASKED = {
    "interrupted": "it was interrupted",
    "budget": "the budget is spent",
    "model": "the model cannot be called",
}

# Failures of single questions that have the same cause for the whole probe.
_WITHHELD = {"budget": "the budget is spent", "frozen_miss": "the frozen cache lacks replies"}

if TYPE_CHECKING:
    ProbeAnswer: TypeAlias = Verdict | PairAnswers
    _Failure: TypeAlias = JudgeFailure | PreferenceFailure


@dataclass(slots=True)
class ProbeSession:
    """The state of a running audit. Each audit needs its own.

    Attributes:
        in_flight: Questions in flight at a time.
        watch: Called with each answer as it arrives.
        stop: Once set, no further question is asked; those in flight are finished.
        reason: Why it ended early.
    """

    in_flight: int = 32
    watch: Callable[[ProbeAnswer], None] = field(default=lambda _: None)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    reason: AuditStopReason | None = None

    def end(self, reason: AuditStopReason) -> None:
        """Ask no further question."""
        # The first reason stays: an interruption after the budget was spent is not the cause.
        self.reason = self.reason or reason
        self.stop.set()


async def run_audit(
    runner: ProbeRunner, inputs: AuditInputs, plan: AuditPlan, session: ProbeSession | None = None
) -> Audit:
    """Ask all planned questions and compute the result of each probe."""
    running = session or ProbeSession()
    answers = await ask_all(runner, plan.wanted, running)
    failures, messages = count_failures(answers.values())
    return Audit(
        judge=runner.judge.id,
        pair_judge=runner.judge.comparer.id,
        models=_answering_models(answers.values()),
        rubric=inputs.rubric.name,
        rubric_fingerprint=inputs.rubric.fingerprint,
        n_cases=len({case.id for case, _ in inputs.items}),
        n_outputs=len(inputs.items),
        seed=inputs.seed,
        level=inputs.level,
        probes=evaluate_probes(plan, inputs, answers, running),
        failures=failures,
        failure_messages=messages,
        spent=total_spent(answers.values()),
    )


def evaluate_probes(
    plan: AuditPlan,
    inputs: AuditInputs,
    answers: Mapping[tuple[object, ...], ProbeAnswer],
    session: ProbeSession | None = None,
) -> tuple[ProbeResult, ...]:
    """The results computed from answers, probe by probe."""
    running = session or ProbeSession()
    results = [_result(one, answers, inputs, running) for one in plan.probes]
    return adjust_p_values(results, level=inputs.level)


async def ask_all(
    runner: ProbeRunner, wanted: Iterable[ProbeQuestion], session: ProbeSession
) -> dict[tuple[object, ...], ProbeAnswer]:
    """Ask several questions at a time, until all are answered or the session ends."""
    answers: dict[tuple[object, ...], ProbeAnswer] = {}
    source = iter(wanted)

    async def worker() -> None:
        while not session.stop.is_set() and (ask := next(source, None)) is not None:
            answer = await (
                runner.graded(ask) if isinstance(ask, GradeProbe) else runner.compared(ask)
            )
            answers[ask.key] = answer
            session.watch(answer)
            for failure in _failures(answer):
                if failure.kind == "budget":
                    session.end("budget")
                elif failure.kind in _FATAL:
                    session.end("model")

    await gather_in_order([worker() for _ in range(max(1, session.in_flight))])
    return answers


def _result(
    planned: PlannedProbe,
    answers: Mapping[tuple[object, ...], ProbeAnswer],
    inputs: AuditInputs,
    session: ProbeSession,
) -> ProbeResult:
    probe, trials = planned.probe, planned.trials
    if trials.skipped is not None:
        return ProbeResult(
            name=probe.name,
            question=probe.question,
            status="skipped",
            reason=trials.skipped,
            n_left_out=trials.n_left_out,
        )
    keys = {ask.key for ask in planned.asks}
    failed = [failures for key in keys if (failures := _failures(answers.get(key, ())))]
    withheld = next((_WITHHELD[f.kind] for one in failed for f in one if f.kind in _WITHHELD), None)
    is_whole = keys <= answers.keys()
    reason = withheld if is_whole else _NOT_ASKED.get(session.reason or "")
    # What was answered before an interruption is evaluated too: it has been paid for.
    measured = probe.find(
        [
            TrialAnswers(
                trial,
                {arm: answers[ask.key] for arm, ask in trial.arms.items() if ask.key in answers},
            )
            for trial in trials.trials
        ],
        inputs,
    )
    return ProbeResult(
        name=probe.name,
        question=probe.question,
        status="done" if reason is None else "incomplete",
        reason=reason,
        effects=measured.effects,
        parts=measured.parts,
        counts=measured.counts,
        n_cases=len({trial.case_id for trial in trials.trials}),
        n_left_out=trials.n_left_out,
        n_failed=len(failed),
        n_asked=len(keys & answers.keys()),
    )


def _failures(answer: ProbeAnswer) -> Sequence[_Failure]:
    if isinstance(answer, Verdict):
        return answer.failures
    return [one for one in answer if isinstance(one, PreferenceFailure)]


def count_failures(answers: Iterable[ProbeAnswer]) -> tuple[dict[str, int], dict[str, str]]:
    """Failures by kind, and the first message of each kind."""
    failures = [failure for answer in answers for failure in _failures(answer)]
    counts = Counter(str(failure.kind) for failure in failures)
    return dict(counts.most_common()), {str(f.kind): f.message for f in reversed(failures)}


def _answering_models(answers: Iterable[ProbeAnswer]) -> tuple[str, ...]:
    parts = (part for answer in answers
             for part in (answer.judgments if isinstance(answer, Verdict) else answer))  # fmt: skip
    names = (None if isinstance(part, PreferenceFailure) else part.model for part in parts)
    return tuple(dict.fromkeys(name for name in names if name))


def total_spent(answers: Iterable[ProbeAnswer]) -> JudgeUsage:
    """Replies, tokens and money of all answers."""
    judgments: list[Judgment] = []
    failures: list[JudgeFailure] = []
    pairs = JudgeUsage()
    for answer in answers:
        if isinstance(answer, Verdict):
            judgments += answer.judgments
            failures += answer.failures
        else:
            # One pair at a time: the key of a shared reply does not tell one pair from another.
            pairs += _pair_usage(answer)
    return judge_usage(judgments, failures) + pairs


def _pair_usage(answers: PairAnswers) -> JudgeUsage:
    # In joint mode the answers that share a reply have divided its cost already.
    replies = one_per_reply(list(answers))
    paid = [one for one in answers if not one.cached and one.n_calls]
    return JudgeUsage(
        n_replies=sum(one.n_calls for one in replies),
        n_cached=sum(one.n_calls for one in replies if one.cached),
        cost_usd=sum(one.cost_usd or 0.0 for one in paid),
        saved_usd=sum(one.price_usd or 0.0 for one in answers if one.cached),
        cost_unknown=any(one.cost_usd is None for one in paid),
        input_tokens=sum(one.usage.input_tokens for one in paid if one.usage),
        output_tokens=sum(one.usage.output_tokens for one in paid if one.usage),
    )
