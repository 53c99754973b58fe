"""Compares two runs by the scores of their outputs, paired by case; no judge is called."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from math import fsum
from typing import TYPE_CHECKING, get_args

from judgekit.errors import NotEnoughDataError, SettingsError, UnknownNameError
from judgekit.evaluation.comparison_result import BetterSide, ComparisonDecision
from judgekit.presentable import Presentable
from judgekit.records import CaseStratum, RunInfo
from judgekit.stats.estimate import Estimate, cluster_means
from judgekit.stats.multiplicity import adjust
from judgekit.stats.paired import (
    VALUE_STEP,
    PairedDifference,
    PairedProportions,
    SignedRanks,
    WinRate,
    bounded_difference,
    paired_difference,
    pass_rate_difference,
    signed_rank_test,
    win_rate,
)
from judgekit.stats.power import mde_paired, sample_size_paired
from judgekit.stats.quantiles import SLACK
from judgekit.stats.resample import BootstrapEstimate, bootstrap
from judgekit.stats.sequential import mean_confidence_sequence

if TYPE_CHECKING:
    from judgekit.evaluation.comparability import CasePoints, SideScores
    from judgekit.store import RunStore

VARIANT_SEPARATOR = "::"
"""What stands between a file or run and its variant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDifference:
    """How far B is above A on one measure, over the cases both have it for.

    Attributes:
        estimate: B less A with its interval; repeats of a case count as one.
        p: Two-sided p of no difference, by `test`; None where no case differs.
        test: What the p is of: `mcnemar` (mid-p) for pass or fail, else `t`, or `sign-flip` with
            fewer than 15 cases or where all differ alike; `none` where no case differs.
        p_adjusted: The same after Holm, over all criteria; None for the measures of the whole.
        ranks: Wilcoxon's signed ranks: whether the cases lean to B whatever the shape of their
            differences; a second opinion, which decides nothing.
        higher: The share of cases on which B is higher, a case that does not differ being half; its
            `net` is Cliff's delta of paired cases.
        changed: Cases that only A passes, and that only B passes; None where it is not pass or
            fail.
        effect_size: The difference in standard deviations of the cases' differences; None where
            undefined.
        detectable: The smallest difference this many cases can show with 80 % power.
    """

    a: float
    b: float
    estimate: PairedDifference | PairedProportions
    p: float | None
    test: str
    p_adjusted: float | None
    resampled: BootstrapEstimate
    ranks: SignedRanks
    higher: WinRate
    changed: tuple[int, int] | None
    effect_size: float | None
    detectable: float | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScoreComparison(Presentable):
    """The comparison of the scores of two runs."""

    a: str
    b: str
    value: ScoreDifference | None
    pass_rate: ScoreDifference | None
    criteria: dict[str, ScoreDifference]
    n_only_a: int
    n_only_b: int
    # Cases that both answered, but a side has no value for: its output is an error, or nobody could
    # judge it
    n_unscored: int
    # Which side has the higher values; without values, which passes more often
    decision: ComparisonDecision
    n_unscored_a: int = 0
    n_unscored_b: int = 0
    # B less A of the values if every missing value were as good as can be for A, and for B; None
    # where none is missing
    bounds: tuple[float, float] | None = None
    strata: dict[str, ScoreDifference] = field(default_factory=dict)
    tags: dict[str, ScoreDifference] = field(default_factory=dict)
    # How the runs were made comparable, and which cases are left out for it
    notes: tuple[str, ...] = ()
    # B less A with an interval that stays valid however often one looks; None where not wanted.
    # Where it is there, the decision rests on it
    anytime: Estimate | None = None


# Of the resampling: the same numbers give the same interval.
_SEED = 0


def compare_side_scores(
    a: SideScores,
    b: SideScores,
    labels: tuple[str, str],
    *,
    alpha: float = 0.05,
    notes: tuple[str, ...] = (),
    anytime: bool = False,
) -> ScoreComparison:
    """Compare two sides, paired by case; `anytime` decides by a confidence sequence."""
    if not a.cases & b.cases:
        raise NotEnoughDataError("no case is answered by both sides")
    # The mean value is the primary test; criteria, tags and strata explain it and decide nothing.
    value = _difference(a.values, b.values, alpha, VALUE_STEP)
    pass_rate = _difference(a.passed, b.passed, alpha, None)
    criteria = {
        name: found
        for name in a.criteria
        if name in b.criteria
        and (found := _difference(a.criteria[name], b.criteria[name], alpha, VALUE_STEP))
    }
    # Pairing by case takes the difficulty of cases out of the difference.
    both = a.cases & b.cases
    bounds = _bounds(a, b, both)
    leading, open_bounds = value or pass_rate, bounds if value else None
    sequence = None
    if anytime and leading is not None:
        sequence = _sequence(*((a.values, b.values) if value else (a.passed, b.passed)), alpha)
    return ScoreComparison(
        a=labels[0],
        b=labels[1],
        value=value,
        pass_rate=pass_rate,
        criteria=_adjusted(criteria),
        n_only_a=len(a.cases - b.cases),
        n_only_b=len(b.cases - a.cases),
        n_unscored=len(both - (a.values.keys() & b.values.keys())),
        decision=(
            _decision(leading, alpha, open_bounds)
            if sequence is None
            else _sequential_decision(sequence, alpha, open_bounds)
        ),
        n_unscored_a=len(both - a.values.keys()),
        n_unscored_b=len(both - b.values.keys()),
        bounds=bounds,
        strata=_grouped(
            a, b, {s: a.strata[s] for s in get_args(CaseStratum) if s in a.strata}, alpha
        ),
        tags=_grouped(a, b, {tag: a.tags[tag] for tag in sorted(a.tags)}, alpha),
        notes=notes,
        anytime=sequence,
    )


def _difference(
    a: CasePoints,
    b: CasePoints,
    alpha: float,
    step: float | None,
    of: Collection[str] | None = None,
) -> ScoreDifference | None:
    """B less A over the cases that both have; a step of None means pass or fail."""
    # Sorted, so that the seeded resampling does not depend on the order of results.
    cases = sorted(case for case in a if case in b and (of is None or case in of))
    if not cases:
        return None
    # Repeats of a case are averaged first: they are not independent evidence.
    sides = [
        list(cluster_means([v for c in cases for v in side[c]], [c for c in cases for _ in side[c]])
             .values())
        for side in (a, b)
    ]  # fmt: skip
    # A few large differences among many small ones: the t interval covers 84 to 92 % of them.
    plain = paired_difference(*sides, step=step or 1.0, ci="skewed", level=1 - alpha)
    estimate: PairedDifference | PairedProportions = plain
    # Repeats make a pass rate per case of shares: then the t test of differences is the right one.
    if step is None and all(value in (0.0, 1.0) for side in sides for value in side):
        estimate = pass_rate_difference(*sides, level=1 - alpha)
    varies = plain.sd > 0
    d = [y - x for x, y in zip(*sides, strict=True)]
    n_up, n_down = sum(x > SLACK for x in d), sum(x < -SLACK for x in d)
    p = estimate.p_value if n_up + n_down else None
    is_binary = isinstance(estimate, PairedProportions)
    test = "none" if p is None else "mcnemar" if is_binary else plain.p_method
    return ScoreDifference(
        a=sum(sides[0]) / len(cases),
        b=sum(sides[1]) / len(cases),
        estimate=bounded_difference(estimate),
        p=p,
        test=test,
        p_adjusted=None,
        resampled=_resampled(d, 1 - alpha),
        ranks=signed_rank_test(*sides),
        higher=win_rate(n_up, len(cases) - n_up - n_down, n_down, level=1 - alpha),
        changed=(n_down, n_up) if is_binary else None,
        effect_size=plain.value / plain.sd if varies else None,
        detectable=mde_paired(len(cases), plain.sd, alpha=alpha).value if varies else None,
    )


def _resampled(d: list[float], level: float) -> BootstrapEstimate:
    """Of the differences in an order and with a sign of their own: turned round it is mirrored."""
    # The bootstrap draws by position: sorting and a fixed sign make A against B the mirror image of
    # B against A.
    there, back = sorted(d), sorted(-x for x in d)
    found = bootstrap(max(there, back), "mean", level=level, seed=_SEED)
    if there == back:
        # Differences that mirror themselves need a mirrored interval; chance made its ends uneven.
        end = max(-found.low, found.high)
        return replace(found, value=0.0, low=-end, high=end)
    if there > back:
        return found
    return replace(found, value=-found.value, low=-found.high, high=-found.low)


def _grouped(
    a: SideScores, b: SideScores, groups: Mapping[str, Collection[str]], alpha: float
) -> dict[str, ScoreDifference]:
    found = {
        name: _difference(a.values, b.values, alpha, VALUE_STEP, cases)
        for name, cases in groups.items()
    }
    return {name: one for name, one in found.items() if one is not None}


def _bounds(a: SideScores, b: SideScores, both: set[str]) -> tuple[float, float] | None:
    """B less A with the worst and the best value, 0 and 1, in place of every missing one."""
    # Of a case's repeats too: those that are known say nothing of its others.
    if all(len(side.values.get(c, ())) == side.n_answers[c] for side in (a, b) for c in both):
        return None
    # The widest bounds: nothing is assumed of why values are missing.
    low, high = (
        fsum(b.mean_with(b.values, c, end) - a.mean_with(a.values, c, 1 - end) for c in both)
        for end in (0.0, 1.0)
    )
    return low / len(both), high / len(both)


def _adjusted(criteria: dict[str, ScoreDifference]) -> dict[str, ScoreDifference]:
    found = adjust([one.p for one in criteria.values()], "holm").known
    return {
        name: replace(one, p_adjusted=p)
        for (name, one), p in zip(criteria.items(), found, strict=True)
    }


def _sequence(a: CasePoints, b: CasePoints, alpha: float) -> Estimate:
    """B less A as a confidence sequence, over the cases in the order in which they came."""
    # A case is there once both sides have it. Runs to which cases are added only ever lengthen the
    # sequence, which is what keeps its error rate over all looks together.
    came = [{case: place for place, case in enumerate(side)} for side in (a, b)]
    cases = sorted(a.keys() & b.keys(), key=lambda c: (max(came[0][c], came[1][c]), c))
    d = [fsum(b[c]) / len(b[c]) - fsum(a[c]) / len(a[c]) for c in cases]
    return mean_confidence_sequence(d, alpha=alpha, low=-1, high=1)


def _sequential_decision(
    found: Estimate, alpha: float, bounds: tuple[float, float] | None
) -> ComparisonDecision:
    """The decision by a confidence sequence: a difference is shown once 0 is outside."""
    cases = f"{found.n} case{'s' if found.n != 1 else ''}"
    reason = f"a difference of {found.value:+.3f} over {cases}"
    interval = f"{100 * found.level:g} % confidence sequence [{found.low:+.3f}, {found.high:+.3f}]"
    if found.low > 0 or found.high < 0:
        return _shown(found.low, f"{reason}, {interval}", None, alpha, bounds)
    why = found.reason or f"may be chance, {interval}"
    return ComparisonDecision(winner=None, reason=f"{reason}: {why}", p=None, alpha=alpha)


def _shown(
    difference: float,
    reason: str,
    p: float | None,
    alpha: float,
    bounds: tuple[float, float] | None,
) -> ComparisonDecision:
    winner: BetterSide | None = "b" if difference > 0 else "a"
    # A significant difference that missing values could reverse is no decision.
    if bounds is not None and bounds[0] <= 0 <= bounds[1]:
        winner, reason = None, f"{reason}, but the cases without a value could turn it"
    return ComparisonDecision(winner=winner, reason=reason, p=p, alpha=alpha)


def _decision(
    found: ScoreDifference | None, alpha: float, bounds: tuple[float, float] | None
) -> ComparisonDecision:
    # Where no case differs there is no test, and p = 1 would look like one.
    if found is None or found.p is None:
        reason = "no case differs" if found else "no case has a score on both sides"
        return ComparisonDecision(winner=None, reason=reason, p=None, alpha=alpha)
    difference, n = found.estimate.value, found.estimate.n
    reason = f"a difference of {difference:+.3f} over {n} case{'s' if n != 1 else ''}"
    # The tests of means ignore skewness; the interval does not, and has to exclude 0 as well.
    includes_zero = found.test != "mcnemar" and found.estimate.low <= 0 <= found.estimate.high
    if found.p <= alpha and difference and not includes_zero:
        return _shown(difference, reason, found.p, alpha, bounds)
    why = ": their interval includes 0" * includes_zero
    n_to_decide = None
    if found.effect_size:
        needed = sample_size_paired(found.effect_size, 1.0, alpha=alpha).value
        n_to_decide = max(n + 1, needed)
    return ComparisonDecision(
        winner=None,
        reason=f"{reason} may be chance{why if found.p <= alpha else ''} (alpha {alpha:g})",
        p=found.p,
        alpha=alpha,
        n_to_decide=n_to_decide,
    )


def run_and_variant(name: str, store: RunStore) -> tuple[RunInfo, str]:
    """The run and the variant that `RUN::VARIANT` names, or `RUN` with only one variant."""
    whole, separator, variant = name.rpartition(VARIANT_SEPARATOR)
    whole, wanted = (whole, variant) if separator else (name, None)
    run = store.run(whole)
    known = [one.id for one in run.variants]
    if wanted is not None and wanted not in known:
        raise UnknownNameError("variant of this run", wanted, known)
    if wanted is None and len(known) != 1:
        example = f"{whole}{VARIANT_SEPARATOR}{known[0] if known else 'VARIANT'}"
        raise SettingsError(
            f"run {run.id} has the variants {', '.join(known)}", hint=f"name one: {example}"
        )
    return run, wanted or known[0]
