"""What an audit would ask, probe by probe, and what it would cost.

Asks nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.bias_audit.probe import PairProbe, Trials
from judgekit.evaluation import RequestCounter, estimate_judge_reply_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.bias_audit.inputs import AuditInputs
    from judgekit.bias_audit.probe import Probe, ProbeQuestion, ProbeRunner
    from judgekit.models.request import ModelRequest

_RECORDED = "the judge's answers are recorded, and none is for texts that the probe makes"
_NOT_RECORDED = "the judge's answers are recorded, and those it needs are not among them"
_EXACT = 100
"""So many requests of a probe have their tokens counted; the rest is told from characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedProbe:
    """One probe with what it would ask; what it shares with an earlier one counts there."""

    probe: Probe
    """The probe."""

    trials: Trials
    """What it would ask, or why it is skipped."""

    n_questions: int = 0
    """Questions that no earlier probe asks."""

    n_owned: int = 0
    """Of them, replies that are owned already."""

    n_calls: int = 0
    """Calls that would be made, if every reply is readable at first."""

    price_usd: float | None = 0.0
    """What they would likely cost; None where the price is not known."""

    is_too_dear: bool = False
    """Whether it is skipped for what it would cost."""

    @property
    def asks(self) -> Iterable[ProbeQuestion]:
        """Every question, those shared with other probes too."""
        return (ask for trial in self.trials.trials for ask in trial.arms.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """What an audit would ask."""

    probes: tuple[PlannedProbe, ...]
    """In the order they would be made."""

    model: str
    """Who would be asked."""

    @property
    def n_questions(self) -> int:
        """Questions of all probes; equal ones count once."""
        return sum(one.n_questions for one in self.probes)

    @property
    def n_owned(self) -> int:
        """Of them, replies that are owned already."""
        return sum(one.n_owned for one in self.probes)

    @property
    def n_calls(self) -> int:
        """Calls that would be made."""
        return sum(one.n_calls for one in self.probes)

    @property
    def price_usd(self) -> float | None:
        """What it would likely cost; None where a price is not known."""
        known = [one.price_usd for one in self.probes if one.price_usd is not None]
        return sum(known) if len(known) == len(self.probes) else None

    @property
    def wanted(self) -> tuple[ProbeQuestion, ...]:
        """Every question once, in the order of the probes."""
        found = {ask.key: ask for one in self.probes for ask in one.asks}
        return tuple(found.values())


def unpriced_plan(material: AuditInputs, probes: Sequence[Probe], model: str) -> AuditPlan:
    """What an audit would ask, without working out what that would cost."""
    found = [PlannedProbe(probe=probe, trials=_trials(probe, material)) for probe in probes]
    return AuditPlan(probes=tuple(found), model=model)


def plan_audit(
    bench: ProbeRunner,
    material: AuditInputs,
    probes: Sequence[Probe],
    *,
    refresh: bool = False,
    max_cost_usd: float | None = None,
) -> AuditPlan:
    """Work out what an audit would ask and cost; asks nothing."""
    seen: set[str] = set()
    used = 0.0
    found = []
    for probe in probes:
        trials = _recorded_only(_trials(probe, material), bench, material)
        counting = RequestCounter(
            bench.judge.connection, refresh=refresh, known_keys=set(seen), n_exact=_EXACT
        )
        for ask in {
            ask.key: ask for trial in trials.trials for ask in trial.arms.values()
        }.values():
            for request in bench.requests(ask):
                counting.take(request, _reply_tokens(request, ask, material, bench))
        price = counting.likely().price_usd
        if max_cost_usd is not None and price is not None and used + price > max_cost_usd:
            left = max(0.0, max_cost_usd - used)
            reason = f"it would cost about ${price:.4g}, and ${left:.4g} of the limit is left"
            skipped = Trials(skipped=reason)
            found.append(PlannedProbe(probe=probe, trials=skipped, is_too_dear=True))
            continue
        used += price or 0.0
        seen = counting.known_keys
        found.append(
            PlannedProbe(
                probe=probe,
                trials=trials,
                n_questions=counting.n_questions,
                n_owned=counting.n_owned,
                n_calls=counting.n_calls,
                price_usd=price,
            )
        )
    return AuditPlan(probes=tuple(found), model=bench.judge.connection.name)


def _trials(probe: Probe, material: AuditInputs) -> Trials:
    if material.is_recorded and probe.changes_texts:
        return Trials(skipped=_RECORDED)
    return probe.plan(material)


def _recorded_only(trials: Trials, bench: ProbeRunner, material: AuditInputs) -> Trials:
    """The trials; skipped where one kind of question has no recorded answer at all."""
    if not material.is_recorded or trials.skipped is not None:
        return trials
    owned: dict[str, bool] = {}
    for trial in trials.trials:
        for arm, ask in trial.arms.items():
            found = owned.get(arm) or any(
                bench.judge.connection.cached_reply(request) is not None
                for request in bench.requests(ask)
            )
            owned[arm] = found
    return trials if all(owned.values()) else Trials(skipped=_NOT_RECORDED)


def _reply_tokens(
    request: ModelRequest, ask: ProbeQuestion, material: AuditInputs, bench: ProbeRunner
) -> tuple[int, int]:
    """How many tokens come back; a question about the whole is answered once."""
    rubric = material.rubric
    if isinstance(ask, PairProbe) and bench.judge.comparer.template.header.asks != "all":
        rubric = rubric.model_copy(update={"criteria": rubric.criteria[:1]})
    return estimate_judge_reply_tokens(request, rubric)
