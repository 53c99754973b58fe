"""The questions of an audit and their price, probe by probe, without any call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from judgekit.bias_audit.probe import PairProbe, Trials
from judgekit.evaluation import RequestCounter, estimate_judge_reply_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.bias_audit.inputs import AuditInputs
    from judgekit.bias_audit.probe import Probe, ProbeQuestion, ProbeRunner

_RECORDED = "the judge's answers are recorded, and the probe makes texts that have none"
_NOT_RECORDED = "the judge's answers are recorded, without those that the probe needs"

# Tokenising is slow: the tokens of further requests are estimated from their characters.
_EXACT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedProbe:
    """One probe with its questions; those shared with an earlier probe count there.

    Attributes:
        trials: Its questions, or why it is skipped.
        n_questions: Questions that no earlier probe asks.
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
    """The questions of an audit and their price.

    Attributes:
        probes: In the order they run.
        model: The judge's model.
    """

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
            runner.judge.connection, refresh=refresh, seen=set(counted), n_exact=_EXACT
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
        counted = counter.seen
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
