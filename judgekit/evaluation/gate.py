"""Checks a run against its suite's gate, and says how many cases a gate needs to decide.

The rules are in `judgekit.scoring.gate`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan, sqrt
from statistics import fmean
from typing import TYPE_CHECKING, get_args

from judgekit.errors import NotComparableError
from judgekit.evaluation.comparability import EarlierRuns, PassRateTrend, paired_sides
from judgekit.evaluation.run_config import (
    calibration_of_run,
    has_model_judges,
    meets_calibration_gate,
)
from judgekit.records import (
    FINISHED_STATUSES,
    BaselineName,
    CaseStratum,
    Gate,
    GateDecision,
    GateRule,
    Tier,
    config_part,
    is_whole_run,
)
from judgekit.scoring import TIERS, GateOutcome, check_drop, check_value
from judgekit.stats.intervals import Rate
from judgekit.stats.trend import pass_rate_drop

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from judgekit.evaluation.summary import GroupFigures, RunSummary, VariantFigures
    from judgekit.records import CalibrationState, RunInfo
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
            now, in all of their answers or some.
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
    least = required_value(gate)
    tiers = () if least is None else (_tier(one, gate, least) for one in summary.variants)
    result = GateResult(
        calibration=calibration,
        coverages=tuple(_coverages(summary.variants, gate.min_coverage)),
        tiers=(*tiers, *_required(summary, gate)),
    )
    if gate.max_drop is None:
        return result
    earlier = EarlierRuns(run, store)
    return replace(
        result,
        drops=tuple(
            drop for one in summary.variants for drop in _drops(one, run, earlier, gate, store)
        ),
        trends=tuple(
            found for one in summary.variants if (found := earlier.trend(one.variant)) is not None
        ),
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
    if least is None:
        return
    for one in variants:
        n_decided = one.n_passed + one.n_failed
        # A share, as 0.55 times 100 is more than 55.
        is_met = not one.n_answers or n_decided / one.n_answers >= least
        yield CoverageGateResult(
            variant=one.variant,
            least=least,
            n_decided=n_decided,
            n_answers=one.n_answers,
            held="passed" if is_met else "inconclusive",
        )


def _required(summary: RunSummary, gate: Gate) -> Iterator[TierGateResult]:
    rubric, least = summary.run.rubric, gate.min_required
    if rubric is None or least is None:
        return
    names = [one.name for one in rubric.criteria if one.required]
    for variant in summary.variants:
        # Of errors alone no value is known, overall or of any criterion.
        unknown = variant.value if variant.n_errors == variant.n_answers else None
        for name in names:
            if (value := variant.criteria.get(name, unknown)) is not None:
                found = _tier(replace(variant, value=value), gate, least)
                yield replace(found, tier=None, criterion=name)


def tier_bounds(value: Estimate | Rate, rule: GateRule) -> tuple[float, float]:
    """The least and the most that a value may be, by the rule of a gate."""
    # Answers without a value could have any: all count as 0, and as 1.
    if isinstance(value, Rate):
        return (value.worst, value.best) if rule == "point" else (value.worst_low, value.best_high)
    return (value.value, value.value) if rule == "point" else (value.low, value.high)


def _tier(variant: VariantFigures, gate: Gate, least: float) -> TierGateResult:
    low, high = tier_bounds(variant.value, gate.rule)
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
    figures: VariantFigures, run: RunInfo, earlier: EarlierRuns, gate: Gate, store: RunStore
) -> Iterator[DropGateResult]:
    """The drop since the baseline, and since the best run: small drops in a row add up."""
    variant = figures.variant
    result = DropGateResult(
        variant=variant, max_drop=gate.max_drop or 0.0, against=gate.baseline, rule=gate.rule
    )
    baseline = None
    ranked = earlier.ranked(variant)
    # The best of many runs is so by chance too: comparing with it is as many tests, which share the
    # error.
    of_best = gate.alpha / max(1, len(ranked))
    try:
        baseline = earlier.baseline(gate.baseline, variant)
    except NotComparableError as error:
        yield replace(result, problem=error.message, hint=error.hint, held="inconclusive")
    else:
        alpha = of_best if gate.baseline == "best" else gate.alpha
        if baseline is not None:
            yield _drop(result, (baseline, run), alpha, store)
        elif figures.n_passed + figures.n_failed:
            yield result
        else:  # a first run passes, but only with something that later ones can fall from
            yield replace(result, problem="no answer has a verdict", held="inconclusive")
    best = next(iter(ranked), None)
    if best is not None and (baseline is None or best.id != baseline.id):
        found = _drop(replace(result, against="best"), (best, run), of_best, store)
        # A best run of other cases says nothing of this one, whatever the baseline does.
        if found.problem is None:
            yield found


def _drop(
    result: DropGateResult, runs: tuple[RunInfo, RunInfo], alpha: float, store: RunStore
) -> DropGateResult:
    # It imports numpy, a sixth of the time of grading from the cache.
    from judgekit.evaluation.score_comparison import compare_side_scores  # noqa: PLC0415

    before, run = runs
    result = replace(result, baseline=before.id)
    try:
        then, now, measure = paired_sides(store, (before, result.variant), (run, result.variant))
    except NotComparableError as error:
        return _undecided(result, error.message, str(error.hint), run)
    both = then.passed.keys() & now.cases
    if then.passed and not both:
        words = f"{before.id} and {run.id} are not comparable: they have no case in common"
        words += f" that has a verdict in {before.id}" * bool(then.cases & now.cases)
        return _undecided(result, words, "run both on the same cases", run)
    result = replace(result, notes=measure.notes)
    if not both:
        return result
    undecided = [case for case in both if len(now.passed.get(case, ())) < now.n_answers[case]]
    result = replace(result, n_undecided=len(undecided))
    found = compare_side_scores(then, now, (before.id, run.id), alpha=alpha).pass_rate
    if found is None:
        return replace(result, held="inconclusive")
    # What is undecided counts as failed in the worst case, of a case's repeats too: a gate must not
    # pass because a judge failed to answer.
    worst = fmean(now.mean_with(now.passed, c, 0.0) - fmean(then.passed[c]) for c in both)
    fall = pass_rate_drop(found.a, found.b)
    return replace(
        result,
        change=found.estimate,
        relative=fall.relative,
        is_critical=fall.critical,
        held=check_drop(found.estimate, worst, result.max_drop, result.rule),
    )


def _undecided(result: DropGateResult, problem: str, hint: str, run: RunInfo) -> DropGateResult:
    hint += f"; or make this run the next baseline: judgekit gate accept {run.id} --because WHY"
    return replace(result, problem=problem, hint=hint, held="inconclusive")


FEWEST_CASES = 10
"""A stratum with fewer cases is too small where no tier says how many it needs: the interval of its
pass rate can be half as wide as the scale."""

ASSUMED_DISTANCE = 0.1
"""How far above the tier a value is assumed to be where no run has measured it."""

CLOSEST_DISTANCE = 0.05
"""A measured value nearer to the tier is assumed to be so far from it: to decide about nearer ones
takes thousands of cases."""

# The standard deviation of graded values, where no run has measured it.
_ASSUMED_SD = 0.25
# Of fewer cases a mean and a spread say nothing; those of all cases are taken.
_FEWEST_OBSERVED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumNeed:
    """The cases of a stratum, and how many a gate needs to decide about its value.

    Attributes:
        stratum: None for all cases.
        least: The value that the gate asks for; None where it asks for none, or decides by the
            measured value alone.
        tier: The tier that asks for it; None where a threshold does.
        n_needed: Cases with which the interval of the value ends on one side of `least`, with 80 %
            power; without it `FEWEST_CASES`. Of several variants that which needs most.
        value: The true value that this assumes; None without `least`.
        sd: The standard deviation of the cases' values that this assumes.
        is_observed: Whether both come from a run.
    """

    stratum: str | None
    n_cases: int
    n_needed: int
    least: float | None = None
    tier: Tier | None = None
    value: float | None = None
    sd: float | None = None
    is_observed: bool = False

    @property
    def n_missing(self) -> int:
        """Cases to add."""
        return max(0, self.n_needed - self.n_cases)


def stratum_needs(
    n_cases: Mapping[str | None, int],
    gate: Gate | None,
    values: Iterable[Mapping[str | None, Estimate]] = (),
    *,
    is_graded: bool = True,
) -> tuple[StratumNeed, ...]:
    """The needs of all cases, and of each stratum where any case has one."""
    # Under None are the cases without a stratum, and a variant's measured value of all cases.
    # Values that are not graded are 0 or 1.
    least = None if gate is None or gate.rule == "point" else required_value(gate)
    measured = list(values)
    has_strata = any(name is not None for name in n_cases)
    needs = []
    for name in (None, *get_args(CaseStratum)) if has_strata else (None,):
        n = sum(n_cases.values()) if name is None else n_cases.get(name, 0)
        if gate is None or least is None:
            needs.append(StratumNeed(stratum=name, n_cases=n, n_needed=FEWEST_CASES))
            continue
        known = [found for one in measured if (found := _observed(one, name)) is not None]
        options = [_need(name, n, least, one, is_graded=is_graded) for one in known]
        options = options or [_need(name, n, least, None, is_graded=is_graded)]
        most = max(options, key=lambda one: one.n_needed)
        needs.append(replace(most, tier=gate.tier))
    return tuple(needs)


def small_strata(summary: RunSummary) -> tuple[StratumNeed, ...]:
    """The strata of a run that are empty, or too small for the gate to decide about them."""
    run = summary.run
    # A part of the cases says nothing about how many the suite has.
    is_whole = is_whole_run(run)
    n_shown = max((one.n_cases for one in summary.variants), default=0)
    if not is_whole or n_shown < (run.n_cases or 0):
        return ()
    groups = [one.strata for one in summary.variants]
    n_cases: dict[str | None, int] = {
        name: max(one[name].n_cases for one in groups if name in one)
        for name in dict.fromkeys(name for one in groups for name in one)
    }
    if not n_cases:
        return ()
    values = [
        {None: one.value, **{name: group.value for name, group in one.strata.items()}}
        for one in summary.variants
    ]
    return tuple(
        need
        for need in stratum_needs(n_cases, gate_of_run(run), values)
        if need.stratum is not None
        and need.n_missing
        and not (need.n_cases and _is_decided(need, groups))
    )


def _is_decided(need: StratumNeed, variants: Iterable[Mapping[str, GroupFigures]]) -> bool:
    """Whether the gate decides about a stratum of all variants, few as its cases are."""
    name, least = need.stratum, need.least
    if name is None or least is None:
        return False
    bounds = [tier_bounds(one[name].value, "interval") for one in variants if name in one]
    return all(check_value(low, high, least) != "inconclusive" for low, high in bounds)


def _observed(values: Mapping[str | None, Estimate], name: str | None) -> Estimate | None:
    for found in (values.get(name), values.get(None)):
        if found is not None and found.n >= _FEWEST_OBSERVED and not isnan(found.se):
            return found
    return None


def _need(
    name: str | None, n: int, least: float, observed: Estimate | None, *, is_graded: bool
) -> StratumNeed:
    # It imports numpy, a sixth of the time of grading from the cache.
    from judgekit.stats.power import sample_size_threshold  # noqa: PLC0415

    # Above a high threshold there is less room than that.
    value = min(least + ASSUMED_DISTANCE, (1 + least) / 2)
    # Values that are 0 or 1 have the standard deviation of a pass rate.
    sd = _ASSUMED_SD if is_graded else sqrt(value * (1 - value))
    if observed is not None:
        value, sd = observed.value, observed.se * sqrt(observed.n)
        if abs(value - least) < CLOSEST_DISTANCE:
            above = min(least + CLOSEST_DISTANCE, (1 + least) / 2)
            value = above if value >= least else least - CLOSEST_DISTANCE
    return StratumNeed(
        stratum=name,
        n_cases=n,
        least=least,
        n_needed=sample_size_threshold(value, least, sd).value,
        value=value,
        sd=sd,
        is_observed=observed is not None,
    )
