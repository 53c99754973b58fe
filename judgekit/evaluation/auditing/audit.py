"""Makes an audit: asks what its probes want to know, each question once, and says what it found."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from judgekit.evaluation.auditing.asking import GradeAsk
from judgekit.evaluation.auditing.effects import with_adjusted
from judgekit.evaluation.auditing.figures import Audit, ProbeFound
from judgekit.evaluation.auditing.probe import Heard
from judgekit.evaluation.auditing.spending import (
    failures_in,
    models_in,
    spent_in,
    told_failures,
)
from judgekit.judge.gathering import gathered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from judgekit.evaluation.auditing.asking import Ask, Bench
    from judgekit.evaluation.auditing.material import Material
    from judgekit.evaluation.auditing.planning import AuditPlan, PlannedProbe
    from judgekit.evaluation.auditing.spending import Said

StopReason = Literal["interrupted", "budget", "model"]
"""Why an audit ended before everything was asked."""

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


@dataclass(slots=True)
class Sitting:
    """How an audit goes, and why it ended. Each audit needs its own."""

    in_flight: int = 32
    """Questions that are asked at a time."""

    watch: Callable[[Said], None] = field(default=lambda _: None)
    """Told of each answer as it comes."""

    stop: asyncio.Event = field(default_factory=asyncio.Event)
    """Once set, nothing further is asked; what is in flight is finished."""

    reason: StopReason | None = None
    """Why it ended early, once it did."""

    def end(self, reason: StopReason) -> None:
        """Ask nothing further."""
        self.reason = self.reason or reason
        self.stop.set()


async def run_audit(
    bench: Bench, material: Material, plan: AuditPlan, sitting: Sitting | None = None
) -> Audit:
    """Ask everything that is planned, and say what each probe found."""
    going = sitting or Sitting()
    answers = await answered(bench, plan.wanted, going)
    failures, messages = told_failures(answers.values())
    return Audit(
        judge=bench.judge.id,
        pair_judge=bench.judge.comparer.id,
        models=models_in(answers.values()),
        rubric=material.rubric.name,
        rubric_fingerprint=material.rubric.fingerprint,
        n_cases=len({case.id for case, _ in material.items}),
        n_outputs=len(material.items),
        seed=material.seed,
        level=material.level,
        probes=probes_found(plan, material, answers, going),
        failures=failures,
        failure_messages=messages,
        spent=spent_in(answers.values()),
    )


def probes_found(
    plan: AuditPlan,
    material: Material,
    answers: Mapping[tuple[object, ...], Said],
    sitting: Sitting | None = None,
) -> tuple[ProbeFound, ...]:
    """What answers come to, probe by probe; asks nothing."""
    going = sitting or Sitting()
    found = [_found(one, answers, material, going) for one in plan.probes]
    return with_adjusted(found, level=material.level)


async def answered(
    bench: Bench, wanted: Iterable[Ask], sitting: Sitting
) -> dict[tuple[object, ...], Said]:
    """Ask several questions at a time, until all are answered or the sitting is ended."""
    answers: dict[tuple[object, ...], Said] = {}
    source = iter(wanted)

    async def worker() -> None:
        while not sitting.stop.is_set() and (ask := next(source, None)) is not None:
            said = await (bench.graded(ask) if isinstance(ask, GradeAsk) else bench.compared(ask))
            answers[ask.key] = said
            sitting.watch(said)
            for failure in failures_in(said):
                if failure.kind == "budget":
                    sitting.end("budget")
                elif failure.kind in _FATAL:
                    sitting.end("model")

    await gathered([worker() for _ in range(max(1, sitting.in_flight))])
    return answers


def _found(
    planned: PlannedProbe,
    answers: Mapping[tuple[object, ...], Said],
    material: Material,
    sitting: Sitting,
) -> ProbeFound:
    probe, trials = planned.probe, planned.trials
    if trials.skipped is not None:
        return ProbeFound(
            name=probe.name,
            question=probe.question,
            status="skipped",
            reason=trials.skipped,
            n_left_out=trials.n_left_out,
        )
    heard = [
        Heard(
            trial,
            {arm: answers[ask.key] for arm, ask in trial.arms.items() if ask.key in answers},
        )
        for trial in trials.trials
    ]
    asked = {ask.key for ask in planned.asks}
    failed = [found for key in asked if key in answers and (found := failures_in(answers[key]))]
    unasked = any(key not in answers for key in asked)
    withheld = next((_WITHHELD[f.kind] for one in failed for f in one if f.kind in _WITHHELD), None)
    reason = _NOT_ASKED.get(sitting.reason or "") if unasked else withheld
    findings = probe.find(heard, material)
    return ProbeFound(
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
