"""Checks a run against its suite's gate, by the rules in `judgekit.scoring.gate`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import fsum
from statistics import fmean
from typing import TYPE_CHECKING, get_args

from judgekit.datasets import BaselineName, Gate
from judgekit.errors import NotComparableError
from judgekit.evaluation.judges import calibration_of_run, has_model_judges, meets_calibration_gate
from judgekit.records import FINISHED_STATUSES, GateDecision, config_part
from judgekit.scoring import TIERS, check_drop, check_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from judgekit.evaluation.comparability import EarlierRuns, PassRateTrend
    from judgekit.evaluation.summary import GroupFigures, RunSummary, VariantFigures
    from judgekit.records import CalibrationState, RunInfo
    from judgekit.scoring import GateOutcome, GateRule, Tier
    from judgekit.stats.estimate import Estimate
    from judgekit.store import RunStore, StoredRuns


@dataclass(frozen=True, slots=True, kw_only=True)
class TierGateResult:
    """Whether a variant's value reaches the tier or the threshold, or a criterion its least.

    Attributes:
        tier: The tier; None where the gate has a threshold instead, and for a criterion.
        least: The value that is asked for.
        low: The lower end of the interval, by the rule `point` the value, with answers without a
            value counted as worst.
        high: The upper end, with those answers counted as best.
        n_without: Answers without a value: undecided, or errors of the variant.
    """

    variant: str
    tier: Tier | None
    least: float
    value: Estimate
    low: float
    high: float
    n_without: int
    held: GateOutcome
    rule: GateRule = "interval"
    # The required criterion whose mean value this is; None for the overall value
    criterion: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DropGateResult:
    """Whether a variant's pass rate fell further than allowed since an earlier run.

    Attributes:
        against: Which run it is compared with: the name of the baseline, or `best`.
        baseline: The id of that run; None where there is none.
        change: The pass rate less that before, in points, over the cases both have; None where
            there is none.
        relative: The drop as a share of the rate before; None where there is none.
        is_critical: Whether more than a tenth of the rate before was lost.
        n_undecided: Cases that were decided then, are among those of this run, and are undecided
            now.
        notes: How the runs were made comparable.
        problem: Why nothing could be compared although a baseline was asked for.
        hint: What to do about it.
        held: Whether it was met; None where there is nothing to compare with.
    """

    variant: str
    max_drop: float
    against: str
    baseline: str | None = None
    change: Estimate | None = None
    relative: float | None = None
    is_critical: bool = False
    n_undecided: int = 0
    notes: tuple[str, ...] = ()
    problem: str | None = None
    hint: str | None = None
    held: GateOutcome | None = None
    rule: GateRule = "interval"


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageGateResult:
    """Whether enough answers of a variant have a verdict."""

    variant: str
    least: float
    n_decided: int
    n_answers: int
    # `inconclusive` where they are too few: what was not decided could be anything
    held: GateOutcome


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
    coverages: tuple[CoverageGateResult, ...] = ()
    # The direction of the pass rates; it fails nothing, and shows a slow fall
    trends: tuple[PassRateTrend, ...] = ()
    # Where the gate requires a calibration, and a model judges
    calibration: CalibrationGateResult | None = None
    # Whether the run did not finish, so that nothing was decided
    is_partial: bool = False

    @property
    def held(self) -> GateOutcome:
        """The worst of all: a gate fails where one of its wishes does."""
        outcomes = [*(one.held for one in self.tiers), *(one.held for one in self.drops)]
        outcomes += [one.held for one in self.coverages]
        outcomes += [] if self.calibration is None else [self.calibration.held]
        if "failed" in outcomes:
            return "failed"
        return "inconclusive" if self.is_partial or "inconclusive" in outcomes else "passed"


def check_gate(summary: RunSummary, store: RunStore, gate: Gate | None = None) -> GateResult | None:
    """What a gate, by default that of the run's suite, decides about a run."""
    # A variant reaches a tier or threshold where its value does with all of its interval, answers
    # without a value counted as worst; it is below where not even the upper end, those counted as
    # best, reaches it. Its pass rate is compared with those of earlier runs, paired by case.
    run = summary.run
    gate = gate or gate_of_run(run)
    calibration: CalibrationGateResult | None = None
    if gate.require_calibration and has_model_judges(run):
        use = calibration_of_run(run)
        held: GateOutcome = "passed" if meets_calibration_gate(gate, run) else "inconclusive"
        calibration = CalibrationGateResult(state=use.state, words=use.words, held=held)
    limits = (gate.tier, gate.threshold, gate.max_drop, gate.min_coverage, gate.min_required)
    if calibration is None and all(limit is None for limit in limits):
        return None
    if run.status not in FINISHED_STATUSES:
        return GateResult(is_partial=True)
    variants = [variant.variant for variant in summary.variants]
    result = GateResult(
        calibration=calibration,
        coverages=tuple(_coverages(summary.variants, gate.min_coverage)),
        tiers=(*_tiers(summary.variants, gate), *_required(summary, gate)),
    )
    if gate.max_drop is None:
        return result
    # Comparing imports numpy, a sixth of the time of grading from the cache.
    from judgekit.evaluation.comparability import EarlierRuns  # noqa: PLC0415

    earlier = EarlierRuns(run, store)
    return replace(
        result,
        drops=tuple(drop for name in variants for drop in _drops(name, run, earlier, gate, store)),
        trends=tuple(found for name in variants if (found := earlier.trend(name)) is not None),
    )


def decide_gate(
    result: GateResult | None, run: RunInfo, at: datetime, reason: str = ""
) -> GateDecision | None:
    """The decision to be stored; None where nothing was decided."""
    if result is None or result.is_partial:
        return None
    return GateDecision(run_id=run.id, at=at, outcome=result.held, reason=reason)


def gate_of_run(run: RunInfo) -> Gate:
    return Gate.model_validate(config_part(run, "gate"))


def required_value(gate: Gate) -> float | None:
    """The least overall value that a gate asks for, by its tier or its threshold."""
    return gate.threshold if gate.tier is None else TIERS[gate.tier]


def check_baseline(gate: Gate | None, store: StoredRuns) -> None:
    """Refuse a baseline that does not exist, before anything is paid for."""
    if gate is not None and gate.baseline not in get_args(BaselineName):
        store.run(gate.baseline)


def _coverages(
    variants: Iterable[VariantFigures], least: float | None
) -> Iterator[CoverageGateResult]:
    for one in variants if least is not None else ():
        n_decided = one.n_passed + one.n_failed
        is_met = n_decided >= (least or 0.0) * one.n_answers
        yield CoverageGateResult(
            variant=one.variant,
            least=least or 0.0,
            n_decided=n_decided,
            n_answers=one.n_answers,
            held="passed" if is_met else "inconclusive",
        )


def _tiers(variants: Iterable[VariantFigures], gate: Gate) -> Iterator[TierGateResult]:
    least = required_value(gate)
    if least is not None:
        yield from (_tier(variant, gate, least) for variant in variants)


def _required(summary: RunSummary, gate: Gate) -> Iterator[TierGateResult]:
    """The required criteria of each variant, whose means are looked at one by one."""
    rubric = summary.run.rubric
    names = [one.name for one in rubric.criteria if one.required] if rubric is not None else []
    for variant in summary.variants if gate.min_required is not None else ():
        for name in names:
            if (value := variant.criteria.get(name)) is not None:
                found = _tier(replace(variant, value=value), gate, gate.min_required or 0.0)
                yield replace(found, tier=None, criterion=name)


def tier_bounds(group: GroupFigures, rule: GateRule) -> tuple[float, float]:
    """The least and the most that a value may be, by the rule of a gate."""
    # Answers without a value could have any: the interval is widened as if they were all 0, and all
    # 1.
    value = group.value
    n_without = value.n_missing + group.n_errors
    known = 1.0 if not n_without else 1.0 - n_without / group.n_answers
    low, high = (value.value, value.value) if rule == "point" else (value.low, value.high)
    return low * known, high * known + (1.0 - known)


def _tier(variant: VariantFigures, gate: Gate, least: float) -> TierGateResult:
    low, high = tier_bounds(variant, gate.rule)
    return TierGateResult(
        variant=variant.variant,
        tier=gate.tier,
        least=least,
        value=variant.value,
        low=low,
        high=high,
        n_without=variant.value.n_missing + variant.n_errors,
        held=check_value(low, high, least),
        rule=gate.rule,
    )


def _drops(
    variant: str, run: RunInfo, earlier: EarlierRuns, gate: Gate, store: RunStore
) -> Iterator[DropGateResult]:
    """The drop since the baseline, and since the best run: small drops in a row add up."""
    result = DropGateResult(
        variant=variant, max_drop=gate.max_drop or 0.0, against=gate.baseline, rule=gate.rule
    )
    baseline = None
    try:
        baseline = earlier.baseline(gate.baseline, variant)
    except NotComparableError as error:
        yield replace(result, problem=error.message, hint=error.hint, held="inconclusive")
    else:
        yield result if baseline is None else _drop(result, (baseline, run), gate.alpha, store)
    best = earlier.best(variant)
    if best is not None and (baseline is None or best.id != baseline.id):
        yield _drop(replace(result, against="best"), (best, run), gate.alpha, store)


def _drop(
    result: DropGateResult, runs: tuple[RunInfo, RunInfo], alpha: float, store: RunStore
) -> DropGateResult:
    from judgekit.evaluation.comparability import paired_sides  # noqa: PLC0415 - as above
    from judgekit.evaluation.score_comparison import compare_side_scores  # noqa: PLC0415
    from judgekit.stats.trend import pass_rate_drop  # noqa: PLC0415

    before, run = runs
    result = replace(result, baseline=before.id)
    try:
        then, now, measure = paired_sides(store, (before, result.variant), (run, result.variant))
    except NotComparableError as error:
        accept = f"judgekit gate accept {run.id} --because WHY"
        hint = f"{error.hint}; or make this run the next baseline: {accept}"
        return replace(result, problem=error.message, hint=hint, held="inconclusive")
    result = replace(result, notes=measure.notes)
    undecided = (then.passed.keys() & now.cases) - now.passed.keys()
    if not then.passed.keys() & now.cases:
        return result
    result = replace(result, n_undecided=len(undecided))
    found = compare_side_scores(then, now, (before.id, run.id), alpha=alpha).pass_rate
    if found is None:
        return replace(result, held="inconclusive")
    known = then.passed.keys() & now.passed.keys()
    # Undecided cases count as failed in the worst case: a gate must not pass because a judge failed
    # to answer.
    lost = [-fmean(then.passed[case]) for case in undecided]
    worst = (found.estimate.value * len(known) + fsum(lost)) / (len(known) + len(lost))
    fall = pass_rate_drop(found.a, found.b)
    return replace(
        result,
        change=found.estimate,
        relative=fall.relative,
        is_critical=fall.critical,
        held=check_drop(found.estimate, worst, result.max_drop, result.rule),
    )
