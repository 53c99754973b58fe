"""Compares two runs by the scores their answers have, case by case; no judge is asked."""

from __future__ import annotations

from dataclasses import replace
from math import fsum, isnan
from typing import TYPE_CHECKING, get_args

from judgekit.errors import NotEnoughDataError
from judgekit.evaluation.comparing.figures import Decision
from judgekit.evaluation.comparing.score_figures import ScoreComparison, ScoreDifference
from judgekit.evaluation.figures.concluding import conclude_result
from judgekit.records.case import Stratum
from judgekit.stats.estimate import cluster_means
from judgekit.stats.multiplicity import adjust
from judgekit.stats.paired import (
    PairedProportions,
    paired_difference,
    pass_rate_difference,
    win_rate,
)
from judgekit.stats.power import mde_paired, sample_size_paired
from judgekit.stats.quantiles import SLACK
from judgekit.stats.resample import bootstrap
from judgekit.stats.signed_ranks import signed_rank_test

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from judgekit.evaluation.comparing.figures import Choice
    from judgekit.records.run import CaseResult, RunInfo
    from judgekit.stats.paired import PairedDifference
    from judgekit.stats.resample import BootstrapEstimate

_FINEST_STEP = 0.05
"""Half pseudo-items of a difference of values stand this far from 0 (a twentieth of the scale)."""

_SEED = 0
"""Of the resampling: the same numbers give the same interval."""

Points = dict[str, list[float]]
"""Known numbers by case."""


class Scored:
    """The numbers of one side, a few bytes for each answer."""

    def __init__(
        self, results: Iterable[CaseResult], run: RunInfo, tags: Collection[str] = ()
    ) -> None:
        wanted = frozenset(tags)
        self.cases: set[str] = set()
        self.values: Points = {}
        self.passed: Points = {}
        self.criteria: dict[str, Points] = {}
        self.tags: dict[str, set[str]] = {}
        self.strata: dict[str, set[str]] = {}
        for result in results:
            if wanted and not wanted & set(result.case.tags):
                continue
            self._group(result)
            found = conclude_result(result, run)
            _add(self.values, result.case.id, found.value)
            _add(self.passed, result.case.id, found.passed)
            for criterion in () if found.verdict is None else found.verdict.criteria:
                points = self.criteria.setdefault(criterion.name, {})
                _add(points, result.case.id, criterion.value)

    def _group(self, result: CaseResult) -> None:
        case = result.case
        self.cases.add(case.id)
        for tag in case.tags:
            self.tags.setdefault(tag, set()).add(case.id)
        if case.stratum is not None:
            self.strata.setdefault(case.stratum, set()).add(case.id)


def compare_scored(
    a: Scored, b: Scored, labels: tuple[str, str], *, alpha: float = 0.05
) -> ScoreComparison:
    """Compare two sides, paired by case."""
    if not a.cases & b.cases:
        raise NotEnoughDataError("no case is answered by both sides")
    value = _difference(a.values, b.values, alpha, _FINEST_STEP)
    pass_rate = _difference(a.passed, b.passed, alpha, None)
    criteria = {
        name: found
        for name in a.criteria
        if name in b.criteria
        and (found := _difference(a.criteria[name], b.criteria[name], alpha, _FINEST_STEP))
    }
    both = a.cases & b.cases
    bounds = _bounds(a, b, both)
    return ScoreComparison(
        a=labels[0],
        b=labels[1],
        value=value,
        pass_rate=pass_rate,
        criteria=_adjusted(criteria),
        n_only_a=len(a.cases - b.cases),
        n_only_b=len(b.cases - a.cases),
        n_unscored=len(both - (a.values.keys() & b.values.keys())),
        decision=_decision(value or pass_rate, alpha, bounds if value else None),
        n_unscored_a=len(both - a.values.keys()),
        n_unscored_b=len(both - b.values.keys()),
        bounds=bounds,
        strata=_grouped(a, b, {s: a.strata[s] for s in get_args(Stratum) if s in a.strata}, alpha),
        tags=_grouped(a, b, {tag: a.tags[tag] for tag in sorted(a.tags)}, alpha),
    )


def _add(points: Points, case: str, value: float | None) -> None:
    if value is not None:
        points.setdefault(case, []).append(float(value))


def _difference(
    a: Points, b: Points, alpha: float, step: float | None, of: Collection[str] | None = None
) -> ScoreDifference | None:
    """B less A over the cases that both have; a step of None means pass or fail."""
    cases = sorted(case for case in a if case in b and (of is None or case in of))
    if not cases:
        return None
    sides = [
        list(cluster_means([v for c in cases for v in side[c]], [c for c in cases for _ in side[c]])
             .values())
        for side in (a, b)
    ]  # fmt: skip
    plain = paired_difference(*sides, step=step or 1.0, level=1 - alpha)
    estimate: PairedDifference | PairedProportions = plain
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
        estimate=_within_scale(estimate),
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


def _within_scale(
    found: PairedDifference | PairedProportions,
) -> PairedDifference | PairedProportions:
    """Values lie in [0, 1], so that no difference is beyond 1."""
    if isnan(found.low):
        return found
    return replace(found, low=max(-1.0, found.low), high=min(1.0, found.high))


def _resampled(d: list[float], level: float) -> BootstrapEstimate:
    """Of the differences in an order and with a sign of their own: turned round it is mirrored."""
    there, back = sorted(d), sorted(-x for x in d)
    found = bootstrap(max(there, back), "mean", level=level, seed=_SEED)
    if there >= back:
        return found
    return replace(found, value=-found.value, low=-found.high, high=-found.low)


def _grouped(
    a: Scored, b: Scored, groups: Mapping[str, Collection[str]], alpha: float
) -> dict[str, ScoreDifference]:
    """The values of each group of cases that both sides have some of."""
    found = {
        name: _difference(a.values, b.values, alpha, _FINEST_STEP, cases)
        for name, cases in groups.items()
    }
    return {name: one for name, one in found.items() if one is not None}


def _bounds(a: Scored, b: Scored, both: set[str]) -> tuple[float, float] | None:
    """B less A with the worst and the best value, 0 and 1, in place of every missing one."""
    if both <= a.values.keys() & b.values.keys():
        return None
    low = fsum(_mean(b, case, 0.0) - _mean(a, case, 1.0) for case in both)
    high = fsum(_mean(b, case, 1.0) - _mean(a, case, 0.0) for case in both)
    return low / len(both), high / len(both)


def _mean(side: Scored, case: str, missing: float) -> float:
    points = side.values.get(case)
    return missing if points is None else fsum(points) / len(points)


def _adjusted(criteria: dict[str, ScoreDifference]) -> dict[str, ScoreDifference]:
    found = adjust([one.p for one in criteria.values()], "holm").value
    return {
        name: replace(one, p_adjusted=None if isnan(p) else p)
        for (name, one), p in zip(criteria.items(), found, strict=True)
    }


def _decision(
    found: ScoreDifference | None, alpha: float, bounds: tuple[float, float] | None
) -> Decision:
    if found is None:
        return Decision(
            winner=None, reason="no case has a score on both sides", p=None, alpha=alpha
        )
    if found.p is None:
        return Decision(winner=None, reason="no case differs", p=None, alpha=alpha)
    difference, n = found.estimate.value, found.estimate.n
    reason = f"a difference of {difference:+.3f} over {n} case{'s' if n != 1 else ''}"
    is_open = bounds is not None and bounds[0] <= 0 <= bounds[1]
    if found.p <= alpha and difference and is_open:
        reason = f"{reason}, but the cases without a value could turn it"
        return Decision(winner=None, reason=reason, p=found.p, alpha=alpha)
    if found.p <= alpha and difference:
        winner: Choice = "b" if difference > 0 else "a"
        return Decision(winner=winner, reason=reason, p=found.p, alpha=alpha)
    return Decision(
        winner=None,
        reason=f"{reason} may be chance (alpha {alpha:g})",
        p=found.p,
        alpha=alpha,
        n_to_decide=_n_to_decide(found, alpha),
    )


def _n_to_decide(found: ScoreDifference, alpha: float) -> int | None:
    if not found.effect_size:
        return None
    return max(found.estimate.n + 1, sample_size_paired(found.effect_size, 1.0, alpha=alpha).value)
