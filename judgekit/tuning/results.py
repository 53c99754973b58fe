"""The result of a tuning and its statistics: training losses and the held-out comparison."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, isnan, nan, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from judgekit.calibration import clustered_mean, coefficient_difference, estimate_or_undefined
from judgekit.presentable import Presentable
from judgekit.stats.agreement import cohen_kappa
from judgekit.stats.estimate import Estimate, cluster_means, undefined_estimate
from judgekit.stats.paired import VALUE_STEP, bounded_difference, paired_difference

if TYPE_CHECKING:
    from judgekit.bias_audit import AuditStopReason
    from judgekit.calibration import AlignedItems, OutputKey
    from judgekit.evaluation import JudgeUsage
    from judgekit.records import Rubric
    from judgekit.stats.paired import PairedDifference

    _ItemKey = tuple[OutputKey, str]

_NO_KAPPA = "the criteria share no scale with levels"

TuningDecision = Literal["better", "not_shown", "worse", "open", "none_better", "incomplete"]
"""`better` and `worse`: significant on held-out cases; `not_shown`: neither; `open`: better, unless
the judge's failures hide losses; `none_better`: than the present rubric on training cases;
`incomplete`: interrupted, or without usable answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutAgreement:
    """Agreement of one candidate with human labels on held-out items.

    Attributes:
        name: The criterion; empty for all of them together.
        distance: Root of the mean squared distance from the human label, on [0, 1]; 0 is best.
        kappa: Cohen's kappa with quadratic weights; undefined if scales have no levels or differ.
        n_failed: Items without a usable judge answer; excluded.
    """

    name: str
    distance: Estimate
    kappa: Estimate
    n_items: int
    n_failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutResult:
    """One candidate on the held-out cases, overall and by criterion if there are several."""

    name: str
    overall: HeldOutAgreement
    criteria: tuple[HeldOutAgreement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutContrast:
    """The chosen candidate minus the present rubric, on the same held-out items.

    Attributes:
        distance: Difference of the mean squared distances, a case counting once; below 0 is closer.
        low: The same if every unusable answer had favoured the chosen candidate as much as
            possible; `high` if it had favoured the present rubric.
        kappa: Difference of the kappas; above 0 is closer. Undefined if they are.
    """

    distance: PairedDifference
    low: float
    high: float
    kappa: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedCandidate:
    """A candidate without its training figures, which are optimistic.

    `place` is its rank on the training cases, from 1; None without a usable answer.
    """

    name: str
    place: int | None
    n_failed: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedScore:
    """A held-out item that the chosen candidate scores differently; scores are on its scale."""

    place: OutputKey
    criterion: str
    present: float
    chosen: float
    human: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Tuning(Presentable):
    """The result of tuning a judge.

    Attributes:
        rubric: Name of the rubric.
        rubric_fingerprint: The present rubric.
        judge: The judge, with the template of the present rubric.
        decision: What the held-out cases show.
        chosen: The best candidate on the training cases; None if that is the present rubric.
        tuned: The chosen candidate as a rubric, with examples from all training cases.
        template: The template to use with that rubric; None for the judge's own.
        present_held_out: The present rubric on held-out cases; None if interrupted.
        chosen_held_out: The chosen candidate on held-out cases.
        contrast: The difference of the two.
        tried: All candidates, the present rubric first.
        training_cases: Cases that the choice and the examples come from.
        held_out_cases: Cases that took no part in the choice.
        n_labels: Labels that were used.
        n_unused: Unused labels: without a score, of the whole output, or of unknown outputs.
        n_examples: Cases excluded because a rubric shows their outputs as examples.
        seed: Seed of the split.
        level: Confidence level of every interval.
        spent: Calls and money.
        failures: Unusable answers by kind.
        failure_messages: The first message of each kind.
        reason: Why it was interrupted.
        changed: Held-out items with another score than before, for the page.
    """

    rubric: str
    rubric_fingerprint: str
    judge: str
    decision: TuningDecision
    chosen: str | None
    tuned: Rubric | None
    template: str | None
    present_held_out: HeldOutResult | None
    chosen_held_out: HeldOutResult | None
    contrast: HeldOutContrast | None
    tried: tuple[TriedCandidate, ...]
    training_cases: tuple[str, ...]
    held_out_cases: tuple[str, ...]
    n_labels: int
    n_unused: int
    n_examples: int
    seed: int
    level: float
    spent: JudgeUsage
    failures: dict[str, int] = field(default_factory=dict)
    failure_messages: dict[str, str] = field(default_factory=dict)
    reason: AuditStopReason | Literal["frozen"] | None = None
    changed: tuple[ChangedScore, ...] = ()


def changed_scores(
    present: Sequence[AlignedItems], chosen: Sequence[AlignedItems]
) -> tuple[ChangedScore, ...]:
    """The items that two candidates score differently."""
    before = {(item.place, item.criterion): item.judge for part in present for item in part.both}
    return tuple(
        ChangedScore(
            place=item.place,
            criterion=item.criterion,
            present=old,
            chosen=new,
            human=part.label(item),
        )
        for part in chosen
        for item in part.both
        if (old := before.get((item.place, item.criterion))) is not None
        and (new := item.judge) is not None
        and new != old
    )


def attach_scores(
    parts: Sequence[AlignedItems], scores: Mapping[_ItemKey, float]
) -> tuple[AlignedItems, ...]:
    return tuple(
        replace(
            part,
            items=tuple(
                replace(item, judge=scores.get((item.place, item.criterion))) for item in part.items
            ),
        )
        for part in parts
    )


def squared_losses(parts: Sequence[AlignedItems]) -> dict[_ItemKey, float]:
    """The squared distance of the judge's score from the label, on [0, 1]; nan for a failure."""
    return {
        (item.place, item.criterion): nan
        if item.judge is None
        else (part.value(item.judge) - part.value(part.label(item))) ** 2
        for part in parts
        for item in part.items
    }


def mean_loss_change(present: Sequence[AlignedItems], other: Sequence[AlignedItems]) -> float:
    """The mean loss of a candidate minus that of the present rubric."""
    a, b = squared_losses(present), squared_losses(other)
    clusters = _clusters(present)
    # Only items with both answers, so that a candidate does not gain by failing on hard ones.
    known = [key for key in a if not isnan(a[key]) and not isnan(b[key])]
    if not known:
        return nan
    return _mean_over_cases([b[key] - a[key] for key in known], [clusters[key] for key in known])


def rank_candidates(present: str, by_name: Mapping[str, Sequence[AlignedItems]]) -> list[str]:
    """The candidates by their loss, the smallest first."""
    losses = {name: mean_loss_change(by_name[present], parts) for name, parts in by_name.items()}
    known = [name for name in losses if not isnan(losses[name])]
    # The sort is stable and the simpler candidates come first; rounding makes equal losses equal.
    return sorted(known, key=lambda name: round(losses[name], 12))


def held_out_result(name: str, parts: Sequence[AlignedItems], *, level: float) -> HeldOutResult:
    """The agreement of one candidate with the labels."""
    each = [part for part in parts if part.items]
    return HeldOutResult(
        name=name,
        overall=_agreement("", each, level),
        criteria=tuple(_agreement(p.name, [p], level) for p in each) if len(each) > 1 else (),
    )


def held_out_contrast(
    present: Sequence[AlignedItems], chosen: Sequence[AlignedItems], *, level: float
) -> HeldOutContrast:
    """The difference of the chosen candidate and the present rubric, on the same held-out items."""
    a, b = squared_losses(present), squared_losses(chosen)
    clusters = _clusters(present)
    names = [clusters[key] for key in a]
    # The squared distance of one step of the scale, of the finest one if there are several.
    steps = [VALUE_STEP if part.levels is None else 1 / (len(part.levels) - 1) for part in present]
    distance = paired_difference(
        list(a.values()), [b[key] for key in a], step=min(steps) ** 2, clusters=names, level=level
    )
    # A failure can hide any loss up to the largest one its label allows. The bounds assume the
    # largest loss for one side and none for the other.
    largest = {}
    for part in present:
        for item in part.items:
            value = part.value(part.label(item))
            largest[item.place, item.criterion] = max(value, 1 - value) ** 2

    def bound(new: float, old: float) -> float:
        after = [new * largest[key] if isnan(b[key]) else b[key] for key in a]
        before = [old * largest[key] if isnan(a[key]) else a[key] for key in a]
        return _mean_over_cases([y - x for x, y in zip(before, after, strict=True)], names)

    return HeldOutContrast(
        distance=bounded_difference(distance),
        low=bound(0.0, 1.0),
        high=bound(1.0, 0.0),
        kappa=_kappa_difference(present, chosen, level),
    )


def decide_tuning(contrast: HeldOutContrast) -> TuningDecision:
    distance = contrast.distance
    # Both the test and the interval have to exclude that there is no difference.
    if not distance.p_value <= 1 - distance.level:
        return "not_shown"
    if distance.high < 0:
        return "better" if contrast.high < 0 else "open"
    return "worse" if distance.low > 0 else "not_shown"


def _agreement(name: str, parts: Sequence[AlignedItems], level: float) -> HeldOutAgreement:
    squared = list(squared_losses(parts).values())
    clusters = [item.cluster for part in parts for item in part.items]
    n_failed = sum(map(isnan, squared))
    if n_failed == len(squared):
        reason = "the judge gave no usable answer"
        undefined = undefined_estimate(reason, n=0, method="none", level=level)
        return HeldOutAgreement(name=name, distance=undefined, kappa=undefined,
                                n_items=len(squared), n_failed=n_failed)  # fmt: skip
    mean = clustered_mean(squared, clusters, level=level)
    return HeldOutAgreement(
        name=name,
        # The root keeps the order, so that the ends of the interval of the mean square become the
        # ends of the root's interval. A square lies in [0, 1].
        distance=replace(
            mean,
            value=sqrt(mean.value),
            low=mean.low if isnan(mean.low) else sqrt(max(0.0, mean.low)),
            high=mean.high if isnan(mean.high) else sqrt(min(1.0, mean.high)),
            se=nan,
            method=f"root of {mean.method}",
        ),
        kappa=_kappa(parts, level),
        n_items=len(squared),
        n_failed=n_failed,
    )


def _levels(parts: Sequence[AlignedItems]) -> tuple[float, ...] | None:
    scales = {part.levels for part in parts}
    return scales.pop() if len(scales) == 1 else None


def _rated(parts: Sequence[AlignedItems]) -> dict[_ItemKey, tuple[float, float]]:
    return {
        (item.place, item.criterion): (float(judge), float(label))
        for part in parts
        for item, judge, label in zip(part.both, part.judge_level, part.human_level, strict=True)
    }


def _kappa(parts: Sequence[AlignedItems], level: float) -> Estimate:
    levels, rated = _levels(parts), _rated(parts)
    if levels is None:
        return undefined_estimate(_NO_KAPPA, n=len(rated), method="kappa", level=level)
    clusters = _clusters(parts)
    judge, label = zip(*rated.values(), strict=True)
    return estimate_or_undefined(
        cohen_kappa,
        judge,
        label,
        labels=levels,
        weights="quadratic",
        clusters=[clusters[key] for key in rated],
        level=level,
    )


def _kappa_difference(
    present: Sequence[AlignedItems], chosen: Sequence[AlignedItems], level: float
) -> Estimate:
    levels, old, new = _levels(present), _rated(present), _rated(chosen)
    both = [key for key in old if key in new]
    if levels is None:
        return undefined_estimate(_NO_KAPPA, n=len(both), method="kappa", level=level)
    clusters = _clusters(present)
    a, b = np.array([old[key] for key in both]), np.array([new[key] for key in both])

    def kappa(rated: np.ndarray) -> float:
        judge, label = rated.T.tolist()
        return cohen_kappa(judge, label, labels=levels, weights="quadratic", ci="none").value

    names = [clusters[key] for key in both]
    return coefficient_difference("kappa", a, b, kappa, names, level=level)


def _clusters(parts: Sequence[AlignedItems]) -> dict[_ItemKey, Hashable]:
    return {(item.place, item.criterion): item.cluster for part in parts for item in part.items}


def _mean_over_cases(x: Sequence[float], clusters: Sequence[Hashable]) -> float:
    # Cases count once, however many outputs or criteria they have.
    means = cluster_means(x, clusters)
    return fsum(means.values()) / len(means)
