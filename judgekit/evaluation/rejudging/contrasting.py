"""Contrasts two judges over the same outputs: churn, agreement, shifts, flips."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

from judgekit.errors import NotEnoughDataError
from judgekit.evaluation.calibrating.scales import level_of
from judgekit.evaluation.rejudging.figures import (
    CriterionShift,
    Rejudged,
    SaidOf,
    Side,
    Twice,
)
from judgekit.records.judgment import JudgeFailure
from judgekit.stats.agreement import cohen_kappa
from judgekit.stats.estimate import undefined
from judgekit.stats.intervals import clustered_proportion
from judgekit.stats.multiplicity import adjust
from judgekit.stats.paired import paired_difference

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judgekit.records.judgment import Judgment
    from judgekit.records.rubric import Criterion, Rubric, Scale
    from judgekit.records.verdict import Verdict
    from judgekit.stats.agreement import Kappa
    from judgekit.stats.coefficient import Weights
    from judgekit.stats.estimate import Estimate
    from judgekit.stats.paired import PairedDifference

_STEP = 0.05
"""Half pseudo-items of a shift of values stand this far from 0 (a twentieth of the scale)."""


def side_of(verdict: Verdict, *, passed: bool | None, value: float | None) -> Side:
    """What one output came to, from its verdict."""
    said: dict[str, Judgment | JudgeFailure] = {}
    every: list[Judgment | JudgeFailure] = [*verdict.judgments, *verdict.failures]
    for one in every:
        said.setdefault(one.criterion, one)
    plain = verdict.uncalibrated
    own = {one.name: one.value for one in verdict.criteria} if plain is None else plain.criteria
    return Side(
        passed=passed,
        value=value,
        criteria={
            one.name: replace(_said(one.value, said.get(one.name)), own=own.get(one.name), n=one.n)
            for one in verdict.criteria
        },
        failures=tuple(str(failure.kind) for failure in verdict.failures),
        price_usd=_total([one.price_usd for one in every]),
    )


def own_side(verdict: Verdict) -> Side:
    """What one output came to by the judge's own values, whatever maps made of them."""
    own = verdict.uncalibrated
    if own is None:
        return side_of(verdict, passed=verdict.passed, value=verdict.value)
    criteria = tuple(
        one.model_copy(update={"value": own.criteria.get(one.name)}) for one in verdict.criteria
    )
    plain = verdict.model_copy(update={"criteria": criteria})
    return side_of(plain, passed=own.passed, value=own.value)


def contrast(
    twices: Sequence[Twice],
    rubrics: tuple[Rubric | None, Rubric],
    judges: tuple[Iterable[str], Iterable[str]],
    *,
    calibration: str,
    level: float = 0.95,
    runs: tuple[str | None, str | None] = (None, None),
    left_out: Mapping[str, int] | None = None,
) -> Rejudged:
    """What the new judge changes."""
    if not twices:
        raise NotEnoughDataError("no output was judged before")
    decided = [one for one in twices if None not in (one.old.passed, one.new.passed)]
    cases = [one.case_id for one in decided]
    passed = [[float(bool(side.passed)) for side in both] for both in _sides(decided)]
    old_rubric, new_rubric = rubrics
    same = old_rubric is not None and old_rubric.fingerprint == new_rubric.fingerprint
    return Rejudged(
        old_judges=tuple(dict.fromkeys(judges[0])),
        new_judges=tuple(dict.fromkeys(judges[1])),
        rubric=new_rubric.name,
        same_rubric=same,
        n=len(twices),
        n_cases=len({one.case_id for one in twices}),
        left_out=dict(left_out or {}),
        n_undecided=len(twices) - len(decided),
        churn=_share([float(one.has_flipped) for one in decided], cases, level),
        kappa=_kappa(
            passed[0], passed[1], labels=(0.0, 1.0), cases=cases, level=level, weights=None
        ),
        old_pass_rate=_share(passed[0], cases, level),
        new_pass_rate=_share(passed[1], cases, level),
        value=_shift(
            [one.old.value for one in twices], [one.new.value for one in twices], twices, level
        ),
        criteria=_criteria(twices, old_rubric, new_rubric, level),
        flips=tuple(
            sorted((one for one in twices if one.has_flipped), key=lambda one: -abs(one.shift))
        ),
        old_failures=_kinds(one.old for one in twices),
        new_failures=_kinds(one.new for one in twices),
        old_price_usd=_total([one.old.price_usd for one in twices]),
        new_price_usd=_total([one.new.price_usd for one in twices]),
        calibration=calibration,
        old_run_id=runs[0],
        run_id=runs[1],
    )


def _said(value: float | None, one: Judgment | JudgeFailure | None) -> SaidOf:
    if one is None:
        return SaidOf(value=value, raw=None, rationale=None)
    if isinstance(one, JudgeFailure):
        return SaidOf(value=value, raw=None, rationale=one.message)
    return SaidOf(value=value, raw=one.raw, rationale=one.rationale)


def _criteria(
    twices: Sequence[Twice], old: Rubric | None, new: Rubric, level: float
) -> dict[str, CriterionShift]:
    before = {} if old is None else {criterion.name: criterion for criterion in old.criteria}
    asked = {criterion.name: criterion for criterion in new.criteria}
    seen = dict.fromkeys(name for one in twices for name in one.new.criteria)
    found: dict[str, PairedDifference] = {}
    for name in {**asked, **seen}:
        values = [
            [said.value if (said := side.criteria.get(name)) else None for side in both]
            for both in _sides(twices)
        ]
        shift = _shift(values[0], values[1], twices, level)
        if shift is not None:
            found[name] = shift
    adjusted = adjust([shift.p_value for shift in found.values()], "holm").value
    return {
        name: CriterionShift(
            shift=shift,
            p_adjusted=None if isnan(p) else p,
            kappa=_raw_kappa(twices, before.get(name), asked.get(name), level),
            same_question=_is_same(before.get(name), asked.get(name)),
        )
        for (name, shift), p in zip(found.items(), adjusted, strict=True)
    }


def _sides(twices: Sequence[Twice]) -> tuple[list[Side], list[Side]]:
    return [one.old for one in twices], [one.new for one in twices]


def _is_same(old: Criterion | None, new: Criterion | None) -> bool:
    """Whether a criterion is asked as before; one of a case's own rubric stays with the case."""
    if new is None or old is None:
        return new is old
    return old.fingerprint == new.fingerprint


def _raw_kappa(
    twices: Sequence[Twice], old: Criterion | None, new: Criterion | None, level: float
) -> Kappa | None:
    if old is None or new is None or new.scale.points is None:
        return None
    if new.scale.points != old.scale.points:
        return None
    sides = [
        [_level(side.criteria.get(new.name), new.scale) for side in both] for both in _sides(twices)
    ]
    cases = [one.case_id for one in twices]
    points = new.scale.points
    return _kappa(sides[0], sides[1], labels=points, cases=cases, level=level, weights="quadratic")


def _level(said: SaidOf | None, scale: Scale) -> float | None:
    """The score nearest to what the answers come to."""
    if said is None or said.own is None:
        return None
    return level_of(scale.min + said.own * (scale.max - scale.min), scale.points)


def _kappa(
    old: Sequence[float | None],
    new: Sequence[float | None],
    *,
    labels: Sequence[float],
    cases: Sequence[str],
    level: float,
    weights: Weights | None,
) -> Kappa | None:
    try:
        return cohen_kappa(
            old,
            new,
            labels=labels,
            weights=weights,
            clusters=cases,
            level=level,
        )
    except NotEnoughDataError:
        return None


def _shift(
    old: Sequence[float | None],
    new: Sequence[float | None],
    twices: Sequence[Twice],
    level: float,
) -> PairedDifference | None:
    cases = [one.case_id for one in twices]
    try:
        found = paired_difference(old, new, step=_STEP, clusters=cases, level=level)
    except NotEnoughDataError:
        return None
    return replace(found, low=max(found.low, -1.0), high=min(found.high, 1.0))  # nan stays nan


def _share(outcomes: Sequence[float], cases: Sequence[str], level: float) -> Estimate:
    if not outcomes:
        return undefined("no output has a verdict on both sides", n=0, method="none", level=level)
    return clustered_proportion(outcomes, cases, level=level)


def _kinds(sides: Iterable[Side]) -> Mapping[str, int]:
    return dict(Counter(kind for side in sides for kind in side.failures).most_common())


def _total(prices: Sequence[float | None]) -> float | None:
    known = [price for price in prices if price is not None]
    return sum(known) if len(known) == len(prices) else None
