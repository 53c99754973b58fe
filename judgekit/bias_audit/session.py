"""Plans and runs an audit: its questions and their price, then each question asked once."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from judgekit.bias_audit.probe import GradeProbe, PairProbe, TrialAnswers, Trials
from judgekit.bias_audit.results import Audit, ProbeResult, adjust_p_values
from judgekit.evaluation import (
    JudgeUsage,
    RequestCounter,
    estimate_judge_reply_tokens,
    judge_usage,
)
from judgekit.judge import gather_in_order
from judgekit.records import PreferenceFailure, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from judgekit.bias_audit.inputs import AuditInputs
    from judgekit.bias_audit.probe import PairAnswers, Probe, ProbeQuestion, ProbeRunner
    from judgekit.records import JudgeFailure, Judgment


_RECORDED = "the judge's answers are recorded, and the probe makes texts that have none"
_NOT_RECORDED = "the judge's answers are recorded, without those that the probe needs"

# Tokenising is slow: the tokens of further requests are estimated from their characters.
_EXACT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedProbe:
    """One probe with its questions; those shared with an earlier probe count there.

    Attributes:
        n_owned: Replies that are already cached.
        n_calls: Calls, if every reply can be parsed at the first attempt.
        price_usd: The likely price; None if unknown.
    """

    probe: Probe
    trials: Trials
    n_questions: int = 0
    n_owned: int = 0
    n_calls: int = 0
    price_usd: float | None = 0.0
    is_too_dear: bool = False

    @property
    def asks(self) -> tuple[ProbeQuestion, ...]:
        """Its different questions, including those shared with other probes."""
        questions = (ask for trial in self.trials.trials for ask in trial.arms.values())
        return tuple({ask.key: ask for ask in questions}.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """The questions of an audit and their price, probe by probe in the order they run."""

    probes: tuple[PlannedProbe, ...]
    model: str

    @property
    def n_questions(self) -> int:
        """The questions of all probes; equal ones count once."""
        return sum(one.n_questions for one in self.probes)

    @property
    def n_owned(self) -> int:
        """The replies that are already cached."""
        return sum(one.n_owned for one in self.probes)

    @property
    def n_calls(self) -> int:
        """The calls that the audit would make."""
        return sum(one.n_calls for one in self.probes)

    @property
    def price_usd(self) -> float | None:
        """The likely price; None if the price of a probe is unknown."""
        known = [one.price_usd for one in self.probes if one.price_usd is not None]
        return sum(known) if len(known) == len(self.probes) else None

    @property
    def wanted(self) -> tuple[ProbeQuestion, ...]:
        """Every question once, in the order of the probes."""
        questions = {ask.key: ask for one in self.probes for ask in one.asks}
        return tuple(questions.values())


def unpriced_plan(inputs: AuditInputs, probes: Sequence[Probe], model: str) -> AuditPlan:
    """The questions of an audit without their price."""
    planned = [PlannedProbe(probe=probe, trials=_trials(probe, inputs)) for probe in probes]
    return AuditPlan(probes=tuple(planned), model=model)


def plan_audit(
    runner: ProbeRunner,
    inputs: AuditInputs,
    probes: Sequence[Probe],
    *,
    refresh: bool = False,
    max_cost_usd: float | None = None,
) -> AuditPlan:
    """The questions of an audit and their price, without any call."""
    counted: set[str] = set()
    used = 0.0
    plan = []
    for probe in probes:
        planned = PlannedProbe(
            probe=probe, trials=_recorded_only(_trials(probe, inputs), runner, inputs)
        )
        counter = RequestCounter(
            runner.judge.connection, refresh=refresh, known_keys=set(counted), n_exact=_EXACT
        )
        for ask in planned.asks:
            # An overall question is answered once, whatever the number of criteria.
            is_overall = isinstance(ask, PairProbe)
            is_overall &= runner.judge.comparer.template.header.asks != "all"
            criteria = inputs.rubric.criteria[: 1 if is_overall else None]
            rubric = inputs.rubric.model_copy(update={"criteria": criteria})
            for request in runner.requests(ask):
                counter.take(request, estimate_judge_reply_tokens(request, rubric))
        price = counter.likely().price_usd
        if max_cost_usd is not None and price is not None and used + price > max_cost_usd:
            left = max(0.0, max_cost_usd - used)
            reason = f"it would cost about ${price:.4g}, and ${left:.4g} of the limit is left"
            skipped = Trials(skipped=reason)
            plan.append(PlannedProbe(probe=probe, trials=skipped, is_too_dear=True))
            continue
        used += price or 0.0
        counted = counter.known_keys
        plan.append(
            replace(
                planned,
                n_questions=counter.n_questions,
                n_owned=counter.n_owned,
                n_calls=counter.n_calls,
                price_usd=price,
            )
        )
    return AuditPlan(probes=tuple(plan), model=runner.judge.connection.name)


def _trials(probe: Probe, inputs: AuditInputs) -> Trials:
    if inputs.is_recorded and probe.changes_texts:
        return Trials(skipped=_RECORDED)
    return probe.plan(inputs)


def _recorded_only(trials: Trials, runner: ProbeRunner, inputs: AuditInputs) -> Trials:
    """The trials, or a skip if one arm has no recorded answer at all."""
    if not inputs.is_recorded or trials.skipped is not None:
        return trials
    is_recorded: dict[str, bool] = {}
    for trial in trials.trials:
        for arm, ask in trial.arms.items():
            is_recorded[arm] = is_recorded.get(arm, False) or any(
                runner.judge.connection.cached_reply(request) is not None
                for request in runner.requests(ask)
            )
    # Single missing answers are failures of the probe; a missing arm leaves nothing to compare.
    return trials if all(is_recorded.values()) else Trials(skipped=_NOT_RECORDED)


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
    """The state of a running audit, and why it ended early. Each audit needs its own.

    Attributes:
        in_flight: Questions in flight at a time.
        watch: Called with each answer as it arrives.
        stop: Once set, no further question is asked; those in flight are finished.
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
    parts = (
        part
        for answer in answers.values()
        for part in (answer.judgments if isinstance(answer, Verdict) else answer)
    )
    names = (None if isinstance(part, PreferenceFailure) else part.model for part in parts)
    return Audit(
        judge=runner.judge.id,
        pair_judge=runner.judge.comparer.id,
        models=tuple(dict.fromkeys(name for name in names if name)),
        rubric=inputs.rubric.name,
        rubric_fingerprint=inputs.rubric.fingerprint,
        n_cases=len({case.id for case, _ in inputs.items}),
        n_outputs=len(inputs.items),
        seed=inputs.options.seed,
        level=inputs.options.level,
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
    return adjust_p_values(results, level=inputs.options.level)


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
            pairs += judge_usage(answer, ())
    return judge_usage(judgments, failures) + pairs
