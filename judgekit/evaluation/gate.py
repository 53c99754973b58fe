"""Checks a run against its suite's gate, by the rules in `judgekit.scoring.gate`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import fsum
from statistics import fmean
from typing import TYPE_CHECKING

from judgekit.datasets import Gate
from judgekit.evaluation.judges import (
    calibration_of_run,
    has_model_judges,
    meets_calibration_gate,
    on_common_scale,
)
from judgekit.evaluation.outcome import last_tries
from judgekit.scoring import TIERS, check_drop, check_tier

if TYPE_CHECKING:
    from judgekit.evaluation.summary import RunSummary, VariantFigures
    from judgekit.records import CalibrationState, RunInfo
    from judgekit.scoring import GateOutcome, GateRule, Tier
    from judgekit.stats.estimate import Estimate
    from judgekit.store import StoredRuns

_FINISHED = frozenset({"complete", "incomplete", "waiting"})
# So many earlier runs of a suite are looked at for one to compare with.
_MOST_RUNS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class TierGateResult:
    """Whether a variant's overall value reaches the tier.

    Attributes:
        least: The value it asks for.
        low: The lower end of the interval, by the rule `point` the value, with answers without a
            value counted as worst.
        high: The upper end, with those answers counted as best.
        n_without: Answers without a value: undecided, or errors of the variant.
    """

    variant: str
    tier: Tier
    least: float
    value: Estimate
    low: float
    high: float
    n_without: int
    held: GateOutcome
    rule: GateRule = "interval"


@dataclass(frozen=True, slots=True, kw_only=True)
class DropGateResult:
    """Whether a variant's pass rate fell further than allowed since an earlier run.

    Attributes:
        baseline: The run before; None where no finished run of the suite has this variant.
        change: The pass rate less that before, over the cases both have; None where there is none.
        n_undecided: Cases that were decided then, are among those of this run, and are undecided
            now.
        held: Whether it was met; None where there is nothing to compare with.
    """

    variant: str
    max_drop: float
    baseline: str | None
    change: Estimate | None
    n_undecided: int = 0
    held: GateOutcome | None = None
    rule: GateRule = "interval"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationGateResult:
    """Whether the judge of a run has the calibration that is required."""

    state: CalibrationState
    words: str
    # `inconclusive` where it is not: what a judge says that nobody checked decides nothing
    held: GateOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """What a suite's gate says of a run."""

    tiers: tuple[TierGateResult, ...] = ()
    drops: tuple[DropGateResult, ...] = ()
    # Where the gate requires a calibration, and a model judges
    calibration: CalibrationGateResult | None = None
    # Whether the run did not finish, so that nothing was decided
    is_partial: bool = False

    @property
    def held(self) -> GateOutcome:
        """The worst of all: a gate fails where one of its wishes does."""
        outcomes = [*(one.held for one in self.tiers), *(one.held for one in self.drops)]
        outcomes += [] if self.calibration is None else [self.calibration.held]
        if "failed" in outcomes:
            return "failed"
        return "inconclusive" if self.is_partial or "inconclusive" in outcomes else "passed"


def check_gate(summary: RunSummary, store: StoredRuns) -> GateResult | None:
    """Hold a run to the gate of its suite, as the suite was then."""
    # A variant reaches a tier where its value does with all of its interval, answers without a
    # value counted as worst; it is below where not even the upper end, those counted as best,
    # reaches it. Its pass rate is compared with that of the run of the same suite before, paired by
    # case.
    run = summary.run
    configured = run.config.get("gate")
    gate = Gate.model_validate(configured) if isinstance(configured, dict) else Gate()
    calibration: CalibrationGateResult | None = None
    if gate.require_calibration and has_model_judges(run):
        use = calibration_of_run(run)
        held: GateOutcome = "passed" if meets_calibration_gate(gate, run) else "inconclusive"
        calibration = CalibrationGateResult(state=use.state, words=use.words, held=held)
    if gate.tier is None and gate.max_drop is None and calibration is None:
        return None
    if run.status not in _FINISHED:
        return GateResult(is_partial=True)
    tier, max_drop, rule = gate.tier, gate.max_drop, gate.rule
    return GateResult(
        calibration=calibration,
        tiers=() if tier is None else tuple(_tier(v, tier, rule) for v in summary.variants),
        drops=()
        if max_drop is None
        else tuple(_drop(v.variant, run, store, max_drop, rule) for v in summary.variants),
    )


def _tier(variant: VariantFigures, tier: Tier, rule: GateRule) -> TierGateResult:
    value = variant.value
    n_without = value.n_missing + variant.n_errors
    # Answers without a value could have any: the interval is widened as if they were all 0, and all
    # 1.
    known = 1.0 if not n_without else 1.0 - n_without / variant.n_answers
    low, high = (value.value, value.value) if rule == "point" else (value.low, value.high)
    low, high = low * known, high * known + (1.0 - known)
    return TierGateResult(
        variant=variant.variant,
        tier=tier,
        least=TIERS[tier],
        value=value,
        low=low,
        high=high,
        n_without=n_without,
        held=check_tier(low, high, tier),
        rule=rule,
    )


def _drop(
    variant: str, run: RunInfo, store: StoredRuns, max_drop: float, rule: GateRule
) -> DropGateResult:
    before = _run_before(variant, run, store)
    result = partial(DropGateResult, variant=variant, max_drop=max_drop, rule=rule)
    if before is None:
        return result(baseline=None, change=None)
    from judgekit.evaluation.score_comparison import (  # noqa: PLC0415 - only with a baseline
        SideScores,
        compare_side_scores,
    )

    # A calibrated run and an uncalibrated one differ by the maps, not by the outputs.
    both = on_common_scale(before, run)
    then, now = (
        SideScores(last_tries(store.results(one.id, variant=variant), one), one) for one in both
    )
    undecided = (then.passed.keys() & now.cases) - now.passed.keys()
    if not then.passed.keys() & now.cases:
        return result(baseline=before.id, change=None)
    found = compare_side_scores(then, now, (before.id, run.id)).pass_rate
    if found is None:
        n = len(undecided)
        return result(baseline=before.id, change=None, n_undecided=n, held="inconclusive")
    known = then.passed.keys() & now.passed.keys()
    # Undecided cases count as failed in the worst case: a gate must not pass because a judge failed
    # to answer.
    lost = [-fmean(then.passed[case]) for case in undecided]
    worst = (found.estimate.value * len(known) + fsum(lost)) / (len(known) + len(lost))
    return result(
        baseline=before.id,
        change=found.estimate,
        n_undecided=len(undecided),
        held=check_drop(found.estimate, worst, max_drop, rule),
    )


def _run_before(variant: str, run: RunInfo, store: StoredRuns) -> RunInfo | None:
    """The latest run of the suite that was begun before, has the variant and finished."""
    # Runs that were stopped have only the first cases, which need not be like the rest.
    for one in store.runs(suite=run.suite, limit=_MOST_RUNS):
        is_earlier = (one.started_at, one.id) < (run.started_at, run.id)
        has_it = any(each.id == variant for each in one.variants)
        if is_earlier and has_it and one.status in _FINISHED:
            return one
    return None
