"""Compares two runs by the scores their answers have, case by case; no judge is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING

from judgekit.errors import NotEnoughDataError
from judgekit.evaluation.comparing.figures import Decision
from judgekit.evaluation.figures.concluding import conclude_result
from judgekit.stats.estimate import cluster_means
from judgekit.stats.multiplicity import adjust
from judgekit.stats.paired import paired_difference, pass_rate_difference
from judgekit.stats.power import mde_paired, sample_size_paired

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from judgekit.evaluation.comparing.figures import Choice
    from judgekit.records.run import CaseResult, RunInfo
    from judgekit.stats.paired import PairedDifference, PairedProportions

_FINEST_STEP = 0.05
"""Half pseudo-items of a difference of values stand this far from 0 (a twentieth of the scale)."""

Points = dict[str, list[float]]
"""Known numbers by case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDifference:
    """How far B is above A on one measure, over the cases both have it for."""

    a: float
    """Mean over A's cases."""

    b: float
    """Mean over B's cases."""

    estimate: PairedDifference | PairedProportions
    """B less A with its interval; repeats of a case count as one."""

    p: float | None
    """Two-sided p of no difference: mid-p McNemar for pass or fail, else the paired t test (below
    15 cases of all flips of signs); None where no case differs."""

    p_adjusted: float | None
    """The same after Holm, over all criteria; None for the measures of the whole."""

    effect_size: float | None
    """The difference in standard deviations of the cases' differences; None where undefined."""

    detectable: float | None
    """The smallest difference this many cases can show with 80 % power."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreComparison:
    """What two runs come to beside each other."""

    a: str
    """What the first side is called."""

    b: str
    """What the second is called."""

    value: ScoreDifference | None
    """Of the values; None where no case has one on both sides."""

    pass_rate: ScoreDifference | None
    """Of passing."""

    criteria: dict[str, ScoreDifference]
    """Of the values of each criterion that both have."""

    n_only_a: int
    """Cases that only the first side answered."""

    n_only_b: int
    """Cases that only the second side answered."""

    n_unscored: int
    """Cases that both answered, but a side has no value for: its output is an error, or nobody
    could judge it."""

    decision: Decision
    """Which side has the higher values; without values, which passes more often."""


class Scored:
    """The numbers of one side, a few bytes for each answer.

    Args:
        results: Its answers.
        run: The run they are of.
        tags: Only cases with one of these; empty for all.
    """

    def __init__(
        self, results: Iterable[CaseResult], run: RunInfo, tags: Collection[str] = ()
    ) -> None:
        wanted = frozenset(tags)
        self.cases: set[str] = set()
        self.values: Points = {}
        self.passed: Points = {}
        self.criteria: dict[str, Points] = {}
        for result in results:
            if wanted and not wanted & set(result.case.tags):
                continue
            self.cases.add(result.case.id)
            found = conclude_result(result, run)
            _add(self.values, result.case.id, found.value)
            _add(self.passed, result.case.id, found.passed)
            for criterion in () if found.verdict is None else found.verdict.criteria:
                points = self.criteria.setdefault(criterion.name, {})
                _add(points, result.case.id, criterion.value)


def compare_scored(
    a: Scored, b: Scored, labels: tuple[str, str], *, alpha: float = 0.05
) -> ScoreComparison:
    """Compare two sides, paired by case.

    Args:
        a: The first side.
        b: The second.
        labels: What they are called.
        alpha: The error that a decision may have, in (0, 1).

    Returns:
        The differences, B less A, and the decision.

    Raises:
        NotEnoughDataError: When no case was answered by both.
    """
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
    return ScoreComparison(
        a=labels[0],
        b=labels[1],
        value=value,
        pass_rate=pass_rate,
        criteria=_adjusted(criteria),
        n_only_a=len(a.cases - b.cases),
        n_only_b=len(b.cases - a.cases),
        n_unscored=len((a.cases & b.cases) - (a.values.keys() & b.values.keys())),
        decision=_decision(value or pass_rate, alpha),
    )


def _add(points: Points, case: str, value: float | None) -> None:
    if value is not None:
        points.setdefault(case, []).append(float(value))


def _difference(a: Points, b: Points, alpha: float, step: float | None) -> ScoreDifference | None:
    """B less A over the cases that both have; a step of None means pass or fail."""
    cases = [case for case in a if case in b]
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
    return ScoreDifference(
        a=sum(sides[0]) / len(cases),
        b=sum(sides[1]) / len(cases),
        estimate=estimate,
        p=None if isnan(estimate.p_value) else estimate.p_value,
        p_adjusted=None,
        effect_size=plain.value / plain.sd if varies else None,
        detectable=mde_paired(len(cases), plain.sd, alpha=alpha).value if varies else None,
    )


def _adjusted(criteria: dict[str, ScoreDifference]) -> dict[str, ScoreDifference]:
    found = adjust([one.p for one in criteria.values()], "holm").value
    return {
        name: replace(one, p_adjusted=None if isnan(p) else p)
        for (name, one), p in zip(criteria.items(), found, strict=True)
    }


def _decision(found: ScoreDifference | None, alpha: float) -> Decision:
    if found is None:
        return Decision(
            winner=None, reason="no case has a score on both sides", p=None, alpha=alpha
        )
    if found.p is None:
        return Decision(winner=None, reason="no case differs", p=None, alpha=alpha)
    difference, n = found.estimate.value, found.estimate.n
    reason = f"a difference of {difference:+.3f} over {n} cases"
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
