"""Runs an audit: asks each planned question once, stops on budget or model errors.

Counts cost and failures.
"""

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
    from judgekit.bias_audit.probe import PairSaid, ProbeQuestion, ProbeRunner
    from judgekit.records import JudgeFailure, Judgment, Preference

AuditStopReason = Literal["interrupted", "budget", "model"]
"""Why an audit ended before everything was asked."""

# Failures that every further call would repeat.
_FATAL = frozenset({"auth", "not_found", "quota"})
"""Kinds of a model's errors after which every further call would fail in the same way."""

_NOT_ASKED = {
    "interrupted": "it was interrupted",
    "budget": "the money that may be spent is used up",
    "model": "the model cannot be asked",
}

_WITHHELD = {
    "budget": "the money that may be spent is used up",
    "frozen_miss": "the frozen cache lacks replies",
}

if TYPE_CHECKING:
    Said: TypeAlias = Verdict | PairSaid


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
    watch: Callable[[Said], None] = field(default=lambda _: None)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    reason: AuditStopReason | None = None

    def end(self, reason: AuditStopReason) -> None:
        """Ask nothing further."""
        # The first reason stays: an interruption after the budget ran out is not why it ended.
        self.reason = self.reason or reason
        self.stop.set()


async def run_audit(
    bench: ProbeRunner, material: AuditInputs, plan: AuditPlan, session: ProbeSession | None = None
) -> Audit:
    """Ask everything that is planned, and say what each probe found."""
    going = session or ProbeSession()
    answers = await ask_all(bench, plan.wanted, going)
    failures, messages = count_failures(answers.values())
    return Audit(
        judge=bench.judge.id,
        pair_judge=bench.judge.comparer.id,
        models=answering_models(answers.values()),
        rubric=material.rubric.name,
        rubric_fingerprint=material.rubric.fingerprint,
        n_cases=len({case.id for case, _ in material.items}),
        n_outputs=len(material.items),
        seed=material.seed,
        level=material.level,
        probes=evaluate_probes(plan, material, answers, going),
        failures=failures,
        failure_messages=messages,
        spent=total_spent(answers.values()),
    )


def evaluate_probes(
    plan: AuditPlan,
    material: AuditInputs,
    answers: Mapping[tuple[object, ...], Said],
    session: ProbeSession | None = None,
) -> tuple[ProbeResult, ...]:
    """What answers come to, probe by probe; asks nothing."""
    going = session or ProbeSession()
    found = [_found(one, answers, material, going) for one in plan.probes]
    return adjust_p_values(found, level=material.level)


async def ask_all(
    bench: ProbeRunner, wanted: Iterable[ProbeQuestion], session: ProbeSession
) -> dict[tuple[object, ...], Said]:
    """Ask several questions at a time, until all are answered or the session is ended."""
    answers: dict[tuple[object, ...], Said] = {}
    source = iter(wanted)

    async def worker() -> None:
        while not session.stop.is_set() and (ask := next(source, None)) is not None:
            said = await (bench.graded(ask) if isinstance(ask, GradeProbe) else bench.compared(ask))
            answers[ask.key] = said
            session.watch(said)
            for failure in answer_failures(said):
                if failure.kind == "budget":
                    session.end("budget")
                elif failure.kind in _FATAL:
                    session.end("model")

    await gather_in_order([worker() for _ in range(max(1, session.in_flight))])
    return answers


def _found(
    planned: PlannedProbe,
    answers: Mapping[tuple[object, ...], Said],
    material: AuditInputs,
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
    heard = [
        TrialAnswers(
            trial, {arm: answers[ask.key] for arm, ask in trial.arms.items() if ask.key in answers}
        )
        for trial in trials.trials
    ]
    asked = {ask.key for ask in planned.asks}
    failed = [found for key in asked if key in answers and (found := answer_failures(answers[key]))]
    unasked = any(key not in answers for key in asked)
    withheld = next((_WITHHELD[f.kind] for one in failed for f in one if f.kind in _WITHHELD), None)
    reason = _NOT_ASKED.get(session.reason or "") if unasked else withheld
    findings = probe.find(heard, material)
    return ProbeResult(
        name=probe.name,
        question=probe.question,
        status="done" if reason is None else "incomplete",
        reason=reason,
        effects=findings.effects,
        parts=findings.parts,
        counts=findings.counts,
        n_cases=len({trial.case_id for trial in trials.trials}),
        n_left_out=trials.n_left_out,
        n_failed=len(failed),
        n_asked=len(asked & answers.keys()),
    )


if TYPE_CHECKING:
    Failure = JudgeFailure | PreferenceFailure


def answer_failures(answer: Said) -> Sequence[Failure]:
    """What the judge failed to say in one answer."""
    if isinstance(answer, Verdict):
        return answer.failures
    return [one for one in answer if isinstance(one, PreferenceFailure)]


def count_failures(answers: Iterable[Said]) -> tuple[dict[str, int], dict[str, str]]:
    """Failures by kind, and what the first of each kind says."""
    failures = [failure for answer in answers for failure in answer_failures(answer)]
    counts = Counter(str(failure.kind) for failure in failures)
    return dict(counts.most_common()), {str(f.kind): f.message for f in reversed(failures)}


def answering_models(answers: Iterable[Said]) -> tuple[str, ...]:
    """The models that answered, in the providers' words."""
    names: dict[str, None] = {}
    for answer in answers:
        said = answer.judgments if isinstance(answer, Verdict) else answer
        for one in said:
            model = None if isinstance(one, PreferenceFailure) else one.model
            if model:
                names[model] = None
    return tuple(names)


def total_spent(answers: Iterable[Said]) -> JudgeUsage:
    """What answers took."""
    judgments: list[Judgment] = []
    failures: list[JudgeFailure] = []
    pairs: list[PairSaid] = []
    for answer in answers:
        if isinstance(answer, Verdict):
            judgments += answer.judgments
            failures += answer.failures
        else:
            pairs.append(answer)
    return _sum(judge_usage(judgments, failures), _pair_spent(pairs))


def _pair_spent(pairs: Iterable[PairSaid]) -> JudgeUsage:
    """Questions that share a reply (joint mode) share its cost already."""
    replies: list[Preference | PreferenceFailure] = []
    parts: list[Preference | PreferenceFailure] = []
    for said in pairs:
        replies += one_per_reply(list(said))
        parts += said
    bought = [one for one in parts if not one.cached and one.n_calls]
    usages = [one.usage for one in bought if one.usage is not None]
    return JudgeUsage(
        n_replies=sum(one.n_calls for one in replies),
        n_cached=sum(one.n_calls for one in replies if one.cached),
        cost_usd=sum(one.cost_usd or 0.0 for one in bought),
        saved_usd=sum(one.price_usd or 0.0 for one in parts if one.cached),
        cost_unknown=any(one.cost_usd is None for one in bought),
        input_tokens=sum(usage.input_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
    )


def _sum(a: JudgeUsage, b: JudgeUsage) -> JudgeUsage:
    return JudgeUsage(
        n_replies=a.n_replies + b.n_replies,
        n_cached=a.n_cached + b.n_cached,
        cost_usd=a.cost_usd + b.cost_usd,
        saved_usd=a.saved_usd + b.saved_usd,
        cost_unknown=a.cost_unknown or b.cost_unknown,
        input_tokens=a.input_tokens + b.input_tokens,
        output_tokens=a.output_tokens + b.output_tokens,
    )
