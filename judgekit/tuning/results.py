"""The result of a tuning and its statistics: ranking by training loss.

The held-out comparison with the present rubric.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import fsum, isnan, nan, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from judgekit.calibration import clustered_estimate, clustered_mean, estimate_or_undefined
from judgekit.stats.agreement import cohen_kappa
from judgekit.stats.estimate import cluster_means, undefined_estimate
from judgekit.stats.paired import VALUE_STEP, paired_difference

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from judgekit.bias_audit import AuditStopReason
    from judgekit.calibration import AlignedItems, OutputKey
    from judgekit.evaluation import JudgeUsage
    from judgekit.records import Rubric
    from judgekit.stats.estimate import Estimate
    from judgekit.stats.paired import PairedDifference

TuningDecision = Literal["better", "not_shown", "worse", "open", "none_better", "incomplete"]
"""`better` and `worse` are shown on held-out cases; `not_shown` leaves it open; `open` would be
better, but for what the judge failed on; `none_better` than the present one while choosing;
`incomplete` was broken off, or the judge did not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutAgreement:
    """Agreement of one candidate with human labels on held-out items.

    Attributes:
        name: The criterion; empty for all of them together.
        distance: Root of the mean squared distance from the human label, on [0, 1]; 0 is best.
        kappa: Cohen's kappa with quadratic weights; undefined if scales have no levels or differ.
        n_items: Labelled items.
        n_failed: Items without a usable judge answer; excluded.
    """

    name: str
    distance: Estimate
    kappa: Estimate
    n_items: int
    n_failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutResult:
    """One candidate on the held-out cases.

    Attributes:
        overall: All criteria together.
        criteria: Each criterion, if there are several.
    """

    name: str
    overall: HeldOutAgreement
    criteria: tuple[HeldOutAgreement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutContrast:
    """The chosen candidate minus the present rubric, on the same held-out items.

    Attributes:
        distance: Difference of the mean squared distances, a case counting once; below 0 is closer.
        low: The same if every unusable answer had favoured the chosen candidate as much as
            possible.
        high: The same if every unusable answer had favoured the present rubric.
        kappa: Difference of the kappas; above 0 is closer. Undefined if they are.
    """

    distance: PairedDifference
    low: float
    high: float
    kappa: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedCandidate:
    """A candidate without its training figures, which are optimistic.

    Attributes:
        place: Its rank on the training cases, from 1; None without a usable answer.
        n_failed: Training items on which the judge failed; None if interrupted.
    """

    name: str
    place: int | None
    n_failed: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
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


if TYPE_CHECKING:
    Scores = Mapping[tuple[OutputKey, str], float | None]

_NO_KAPPA = "the criteria share no scale with levels"
_NOTHING = "the judge gave no usable answer"


def attach_scores(parts: Sequence[AlignedItems], scores: Scores) -> tuple[AlignedItems, ...]:
    """Labelled items with what a judge said of them."""
    return tuple(
        replace(
            part,
            items=tuple(
                replace(item, judge=scores.get((item.place, item.criterion))) for item in part.items
            ),
        )
        for part in parts
    )


def squared_losses(parts: Sequence[AlignedItems]) -> dict[tuple[OutputKey, str], float]:
    """The squared distance of the judge's score from people's label, on [0, 1]."""
    return {
        (item.place, item.criterion): nan
        if item.judge is None
        else (part.value(item.judge) - part.value(part.label(item))) ** 2
        for part in parts
        for item in part.items
    }


def mean_loss_change(present: Sequence[AlignedItems], other: Sequence[AlignedItems]) -> float:
    """How much farther from people another way of asking is than the present one."""
    a, b = squared_losses(present), squared_losses(other)
    clusters = _clusters(present)
    # Only items that both answered: a candidate may not gain by failing on hard ones.
    known = [key for key in a if not isnan(a[key]) and not isnan(b[key])]
    if not known:
        return nan
    # Cases count once, however many outputs or criteria they have.
    means = cluster_means([b[key] - a[key] for key in known], [clusters[key] for key in known])
    return fsum(means.values()) / len(means)


def rank_candidates(present: str, by_name: Mapping[str, Sequence[AlignedItems]]) -> list[str]:
    """Candidates by how near they come to people, the nearest first."""
    gains = {name: mean_loss_change(by_name[present], parts) for name, parts in by_name.items()}
    known = [name for name in gains if not isnan(gains[name])]
    return sorted(known, key=lambda name: round(gains[name], 12))  # stable: simpler ones first


def held_out_result(name: str, parts: Sequence[AlignedItems], *, level: float) -> HeldOutResult:
    """How near one way of asking comes to people."""
    each = [part for part in parts if part.items]
    return HeldOutResult(
        name=name,
        overall=_agreement("", each, level),
        criteria=tuple(_agreement(p.name, [p], level) for p in each) if len(each) > 1 else (),
    )


def held_out_contrast(
    present: Sequence[AlignedItems], chosen: Sequence[AlignedItems], *, level: float
) -> HeldOutContrast:
    """What the chosen way of asking changes, on the same held-out items."""
    a, b = squared_losses(present), squared_losses(chosen)
    clusters = _clusters(present)
    keys = list(a)
    names = [clusters[key] for key in keys]
    found = paired_difference(
        [a[key] for key in keys],
        [b[key] for key in keys],
        step=_step(present),
        clusters=names,
        level=level,
    )
    # Failures could hide the largest loss their label allows; the bounds assume just that.
    worst = _worst(present)
    ends = [
        _mean_of_cases(
            [_or(b[key], new * worst[key]) - _or(a[key], old * worst[key]) for key in keys], names
        )
        for new, old in ((0.0, 1.0), (1.0, 0.0))
    ]
    return HeldOutContrast(
        distance=found, low=ends[0], high=ends[1], kappa=_kappa_difference(present, chosen, level)
    )


def decide_tuning(found: HeldOutContrast) -> TuningDecision:
    """What a contrast shows."""
    distance = found.distance
    if not distance.p_value <= 1 - distance.level:
        return "not_shown"
    if distance.high < 0:
        return "better" if found.high < 0 else "open"
    return "worse" if distance.low > 0 else "not_shown"


def _agreement(name: str, parts: Sequence[AlignedItems], level: float) -> HeldOutAgreement:
    squared = list(squared_losses(parts).values())
    clusters = [item.cluster for part in parts for item in part.items]
    n_failed = sum(map(isnan, squared))
    if n_failed == len(squared):
        nothing = undefined_estimate(_NOTHING, n=0, method="none", level=level)
        return HeldOutAgreement(name=name, distance=nothing, kappa=nothing, n_items=len(squared),
                         n_failed=n_failed)  # fmt: skip
    return HeldOutAgreement(
        name=name,
        distance=_root(clustered_mean(squared, clusters, level=level)),
        kappa=_kappa(parts, level),
        n_items=len(squared),
        n_failed=n_failed,
    )


def _root(squared: Estimate) -> Estimate:
    """The interval of a mean square, brought to its root; a square lies in [0, 1]."""
    return replace(
        squared,
        value=sqrt(squared.value),
        low=squared.low if isnan(squared.low) else sqrt(max(0.0, squared.low)),
        high=squared.high if isnan(squared.high) else sqrt(min(1.0, squared.high)),
        se=nan,
        method=f"root of {squared.method}",
    )


def _levels(parts: Sequence[AlignedItems]) -> tuple[float, ...] | None:
    found = {part.levels for part in parts}
    return found.pop() if len(found) == 1 else None


def _rated(parts: Sequence[AlignedItems]) -> dict[tuple[OutputKey, str], tuple[float, float]]:
    """Judge and label of each answered item, as levels."""
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
        lambda: cohen_kappa(
            judge,
            label,
            labels=levels,
            weights="quadratic",
            clusters=[clusters[key] for key in rated],
            level=level,
        ),
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

    def difference(places: np.ndarray) -> float:
        return (kappa(b[places]) - kappa(a[places])) / 2  # in (-1, 1), as coefficients are

    whole = difference(np.arange(len(both)))
    found = undefined_estimate(
        "kappa is undefined", n=len(both), method="kappa difference", level=level
    )
    if isnan(whole):
        return found
    one = replace(found, value=whole, reason=None)
    half = clustered_estimate(one, difference, [clusters[key] for key in both])
    return replace(half, value=2 * half.value, low=2 * half.low, high=2 * half.high)


def _clusters(parts: Sequence[AlignedItems]) -> dict[tuple[OutputKey, str], Hashable]:
    return {(item.place, item.criterion): item.cluster for part in parts for item in part.items}


def _step(parts: Sequence[AlignedItems]) -> float:
    """The squared distance of one step of the scale; of several scales the finest."""
    steps = [VALUE_STEP if part.levels is None else 1 / (len(part.levels) - 1) for part in parts]
    return min(steps) ** 2


def _worst(parts: Sequence[AlignedItems]) -> dict[tuple[OutputKey, str], float]:
    """The greatest squared distance an answer can have from each label."""
    return {
        (item.place, item.criterion): max(value, 1 - value) ** 2
        for part in parts
        for item in part.items
        for value in (part.value(part.label(item)),)
    }


def _or(loss: float, otherwise: float) -> float:
    return otherwise if isnan(loss) else loss


def _mean_of_cases(x: Sequence[float], clusters: Sequence[Hashable]) -> float:
    means = cluster_means(x, clusters)
    return fsum(means.values()) / len(means)
