"""`audit` and `audit_sync`: plan the probes' questions and their price, ask each once.

Start reading here.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from judgekit.bias_audit.consistency import (
    CRITERION_ORDER_PROBE,
    IDENTICAL_PROBE,
    MODE_PROBE,
    PARAPHRASE_PROBE,
    POSITION_PROBE,
    SCALE_PROBE,
    STABILITY_PROBE,
    shipped_paraphrases,
)
from judgekit.bias_audit.inputs import (
    AttackCorpus,
    AuditInputs,
    AuditOptions,
    read_attacks,
    select_cases,
    shipped_corpus,
)
from judgekit.bias_audit.perturbation import (
    AUTHORITY_PROBE,
    FORMATTING_PROBE,
    INJECTION_PROBE,
    SELF_PREFERENCE_PROBE,
    VERBOSITY_PROBE,
    family_of,
)
from judgekit.bias_audit.probe import GradeProbe, PairProbe, ProbeRunner, TrialAnswers, Trials
from judgekit.bias_audit.results import Audit, ProbeResult, adjust_p_values
from judgekit.errors import InputError, UnknownNameError
from judgekit.evaluation import (
    JudgePlan,
    JudgeUsage,
    RequestCounter,
    estimate_judge_reply_tokens,
    judge_plan_fields,
    judge_usage,
)
from judgekit.judge import Judge, gather_in_order, synchronous
from judgekit.models import RecordedModel
from judgekit.records import FATAL_FAILURE_KINDS, PreferenceFailure, Verdict

if TYPE_CHECKING:
    from judgekit.bias_audit.probe import PairAnswers, Probe, ProbeQuestion
    from judgekit.records import Case, JudgeFailure, Judgment, Output, Rubric

    ProbeAnswer: TypeAlias = Verdict | PairAnswers
    _Failure: TypeAlias = JudgeFailure | PreferenceFailure


async def audit(
    judge: Judge,
    answers: Iterable[tuple[Case, Output]],
    rubric: Rubric,
    *,
    options: AuditOptions | None = None,
    template_folders: Sequence[Path | str] = (),
) -> Audit:
    """Probe a judge for known biases with twelve probes on your own outputs.

    Each probe changes one thing that should not matter, repeats the question, and reports the
    effect with an interval. Cached replies are reused.

    Args:
        judge: The judge to audit; with a budget the audit stops when it is spent.
        answers: Cases with their outputs; outputs that record an error are excluded.
        rubric: The rubric to judge by.
        options: Probes, sizes and margins; None takes the defaults.
        template_folders: Folders of your own templates; they take precedence over the shipped one.

    Returns:
        The result of each probe; a probe that cannot run is reported as skipped, with the reason.

    Raises:
        InputError: When there is no output, a template does not fit, or a file of attacks is
            invalid.
        UnknownNameError: When there is no such probe.
        StoreError: When the cache cannot store a reply that was paid for.

    Example:
        >>> async def is_fair(judge, answers, rubric):  # doctest: +SKIP
        ...     result = await jk.audit(judge, answers, rubric)
        ...     return result.is_complete and not result.found_material
    """
    wanted = options or AuditOptions()
    usable = [(case, output) for case, output in answers if output.error is None]
    if not usable:
        raise InputError(
            "there is no output to audit the judge with",
            hint="errors of the system under test are not judged",
        )
    items = select_cases(usable, limit=None, sample=wanted.n_cases, seed=wanted.seed)
    inputs = build_audit_inputs(judge, items, rubric, wanted)
    runner = ProbeRunner(judge, tuple(Path(folder) for folder in template_folders))
    probes = select_probes(wanted.probes)
    plan = plan_audit(runner, inputs, probes, max_cost_usd=wanted.max_cost_usd)
    return await run_audit(runner, inputs, plan)


audit_sync = synchronous(audit)


def build_audit_inputs(
    judge: Judge, items: Sequence[tuple[Case, Output]], rubric: Rubric, options: AuditOptions
) -> AuditInputs:
    corpus = options.attacks
    if not isinstance(corpus, AttackCorpus):
        corpus = shipped_corpus() if corpus is None else read_attacks(Path(corpus))
    return AuditInputs(
        items=tuple(items),
        rubric=rubric,
        asks_all=judge.template.header.asks == "all",
        paraphrases=options.paraphrases or shipped_paraphrases(judge.template.name),
        family=options.family or family_of(judge.connection.name),
        is_recorded=isinstance(judge.connection.model, RecordedModel),
        attacks=corpus.attacks,
        options=options,
    )


PROBES = (
    SCALE_PROBE, STABILITY_PROBE, POSITION_PROBE, IDENTICAL_PROBE, VERBOSITY_PROBE, FORMATTING_PROBE, AUTHORITY_PROBE, SELF_PREFERENCE_PROBE,  # noqa: E501
    PARAPHRASE_PROBE, MODE_PROBE, CRITERION_ORDER_PROBE, INJECTION_PROBE,
)  # fmt: skip
"""Every probe. Those that share most questions come first, because a budget skips the last ones."""


def select_probes(names: Sequence[str] = ()) -> tuple[Probe, ...]:
    known = {probe.name for probe in PROBES}
    wanted = [name.strip().lower().replace("-", "_") for name in names if name.strip()]
    for name in wanted:
        if name not in known:
            raise UnknownNameError("probe", name, known)
    return tuple(probe for probe in PROBES if not wanted or probe.name in wanted)


_RECORDED = "the judge's answers are recorded, and the probe makes texts that have none"
_NOT_RECORDED = "the judge's answers are recorded, without those that the probe needs"

# Tokenising is slow: the tokens of further requests are estimated from their characters.
_EXACT = 100

_NO_CALLS = JudgePlan(template="", **judge_plan_fields([]))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedProbe:
    """One probe with its questions, and the calls for those that no earlier probe shares."""

    probe: Probe
    trials: Trials
    calls: JudgePlan = _NO_CALLS
    is_too_dear: bool = False

    @property
    def asks(self) -> tuple[ProbeQuestion, ...]:
        questions = (ask for trial in self.trials.trials for ask in trial.arms.values())
        return tuple({ask.key: ask for ask in questions}.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """The questions of an audit, probe by probe in the order they run, and the calls for them."""

    probes: tuple[PlannedProbe, ...]
    calls: JudgePlan = _NO_CALLS

    @property
    def wanted(self) -> tuple[ProbeQuestion, ...]:
        questions = {ask.key: ask for one in self.probes for ask in one.asks}
        return tuple(questions.values())


def unpriced_plan(inputs: AuditInputs, probes: Sequence[Probe]) -> AuditPlan:
    planned = (PlannedProbe(probe=probe, trials=probe.plan(inputs)) for probe in probes)
    return AuditPlan(probes=tuple(planned))


def plan_audit(
    runner: ProbeRunner,
    inputs: AuditInputs,
    probes: Sequence[Probe],
    *,
    refresh: bool = False,
    max_cost_usd: float | None = None,
) -> AuditPlan:
    """The questions of an audit and their price, without any call."""
    judge = runner.judge

    def calls_of(counters: Sequence[RequestCounter]) -> JudgePlan:
        # One model answers all probes, which the names of the counters would repeat.
        fields = {**judge_plan_fields(counters), "model": judge.connection.name}
        return JudgePlan(template=judge.template.id, **fields)

    counters: list[RequestCounter] = []
    used = 0.0
    plan = []
    for probe in probes:
        planned = PlannedProbe(probe=probe, trials=_recorded_only(probe, runner, inputs))
        known = set(counters[-1].known_keys) if counters else set()
        counter = RequestCounter(
            judge.connection, refresh=refresh, known_keys=known, n_exact=_EXACT
        )
        for ask in planned.asks:
            # An overall question is answered once, whatever the number of criteria.
            is_overall = isinstance(ask, PairProbe) and judge.comparer.template.header.asks != "all"
            criteria = inputs.rubric.criteria[: 1 if is_overall else None]
            rubric = inputs.rubric.model_copy(update={"criteria": criteria})
            for request in runner.requests(ask):
                counter.take(request, estimate_judge_reply_tokens(request, rubric))
        calls, so_far = calls_of([counter]), calls_of([*counters, counter])
        price = 0.0 if calls.price_usd is None else calls.price_usd[0]
        # As each call is checked: the last probe would end incomplete otherwise.
        if max_cost_usd is not None and so_far.sufficiency(max_cost_usd) == "short":
            left = max(0.0, max_cost_usd - used)
            reason = f"it would cost about ${price:.4g}, and ${left:.4g} of the limit is left"
            reason += f" (${so_far.reserved_usd:.4g} is set aside before a call)"
            plan.append(PlannedProbe(probe=probe, trials=Trials(skipped=reason), is_too_dear=True))
            continue
        used += price
        counters.append(counter)
        plan.append(replace(planned, calls=calls))
    return AuditPlan(probes=tuple(plan), calls=calls_of(counters))


def _recorded_only(probe: Probe, runner: ProbeRunner, inputs: AuditInputs) -> Trials:
    """The probe's trials, or a skip if one arm has no recorded answer at all."""
    if inputs.is_recorded and probe.changes_texts:
        return Trials(skipped=_RECORDED)
    trials = probe.plan(inputs)
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

_NOT_ASKED = {
    "interrupted": "it was interrupted",
    "budget": "the cost limit allows no further call",
    "model": "the model cannot be called",
}

# Failures of single questions that have the same cause for the whole probe.
_WITHHELD = {
    "budget": "the cost limit allows no further call",
    "frozen_miss": "the frozen cache lacks replies",
}


@dataclass(slots=True)
class ProbeSession:
    """The state of a running audit, and why it ended early. Each audit needs its own.

    Attributes:
        in_flight: Questions in flight at a time.
        watch: Called with each answer as it arrives.
        stop: Once set, no further question is asked; those in flight are finished.
        reason: Why it ended early, once it did.
        detail: The error of the model that cannot be called.
    """

    in_flight: int = 32
    watch: Callable[[ProbeAnswer], None] = field(default=lambda _: None)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    reason: AuditStopReason | None = None
    detail: str | None = None

    def end(self, reason: AuditStopReason, detail: str | None = None) -> None:
        # The first reason stays: an interruption after the budget was spent is not the cause.
        if self.reason is None:
            self.reason, self.detail = reason, detail
        self.stop.set()


async def run_audit(
    runner: ProbeRunner, inputs: AuditInputs, plan: AuditPlan, session: ProbeSession | None = None
) -> Audit:
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
                elif failure.kind in FATAL_FAILURE_KINDS:
                    session.end("model", failure.message)

    await gather_in_order([worker() for _ in range(max(1, session.in_flight))])
    return answers


def _result(
    planned: PlannedProbe,
    answers: Mapping[tuple[object, ...], ProbeAnswer],
    inputs: AuditInputs,
    session: ProbeSession,
) -> ProbeResult:
    probe, trials = planned.probe, planned.trials
    result = ProbeResult(
        name=probe.name,
        question=probe.question,
        status="skipped",
        reason=trials.skipped,
        n_left_out=trials.n_left_out,
    )
    if trials.skipped is not None:
        return result
    keys = {ask.key for ask in planned.asks}
    failed = [failures for key in keys if (failures := _failures(answers.get(key, ())))]
    withheld = next((_WITHHELD[f.kind] for one in failed for f in one if f.kind in _WITHHELD), None)
    is_whole = keys <= answers.keys()
    reason = withheld if is_whole else _NOT_ASKED.get(session.reason or "")
    # What was answered before an interruption is evaluated too: it has been paid for.
    answered = [
        TrialAnswers(
            trial, {arm: answers[ask.key] for arm, ask in trial.arms.items() if ask.key in answers}
        )
        for trial in trials.trials
    ]
    measured = probe.find(answered, inputs)
    return replace(
        result,
        status="done" if reason is None else "incomplete",
        reason=reason,
        effects=measured.effects,
        parts=measured.parts,
        counts=measured.counts,
        n_cases=len({trial.case_id for trial in trials.trials}),
        n_failed=len(failed),
        n_asked=len(keys & answers.keys()),
    )


def _failures(answer: ProbeAnswer) -> Sequence[_Failure]:
    if isinstance(answer, Verdict):
        return answer.failures
    return [one for one in answer if isinstance(one, PreferenceFailure)]


def count_failures(answers: Iterable[ProbeAnswer]) -> tuple[dict[str, int], dict[str, str]]:
    failures = [failure for answer in answers for failure in _failures(answer)]
    counts = Counter(str(failure.kind) for failure in failures)
    return dict(counts.most_common()), {str(f.kind): f.message for f in reversed(failures)}


def total_spent(answers: Iterable[ProbeAnswer]) -> JudgeUsage:
    graded: list[Judgment | JudgeFailure] = []
    pairs = JudgeUsage()
    for answer in answers:
        if isinstance(answer, Verdict):
            graded += [*answer.judgments, *answer.failures]
        else:
            # One pair at a time: the key of a shared reply does not tell one pair from another.
            pairs += judge_usage(answer)
    return judge_usage(graded) + pairs
