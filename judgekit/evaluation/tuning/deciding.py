"""Ranks candidates by training losses, and tells by held-out losses what is shown of the chosen."""

from __future__ import annotations

from dataclasses import replace
from math import fsum, isnan, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

from judgekit.evaluation.calibrating.clustering import average, clustered, estimated
from judgekit.evaluation.tuning.figures import Agreement, Contrast, HeldOut
from judgekit.stats.agreement import cohen_kappa
from judgekit.stats.estimate import cluster_means, undefined
from judgekit.stats.paired import paired_difference

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from judgekit.evaluation.calibrating.aligned import Aligned
    from judgekit.evaluation.calibrating.material import Place
    from judgekit.evaluation.tuning.figures import Decision
    from judgekit.stats.estimate import Estimate

    Scores = Mapping[tuple[Place, str], float | None]

_CONTINUOUS_STEP = 0.05
_NO_KAPPA = "the criteria share no scale with levels"
_NOTHING = "the judge gave no usable answer"


def with_scores(parts: Sequence[Aligned], scores: Scores) -> tuple[Aligned, ...]:
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


def losses(parts: Sequence[Aligned]) -> dict[tuple[Place, str], float]:
    """The squared distance of the judge's score from people's label, on [0, 1]."""
    return {
        (item.place, item.criterion): nan
        if item.judge is None
        else (part.value(item.judge) - part.value(part.label(item))) ** 2
        for part in parts
        for item in part.items
    }


def gain(present: Sequence[Aligned], other: Sequence[Aligned]) -> float:
    """How much farther from people another way of asking is than the present one."""
    a, b = losses(present), losses(other)
    clusters = _clusters(present)
    known = [key for key in a if not isnan(a[key]) and not isnan(b[key])]
    if not known:
        return nan
    means = cluster_means([b[key] - a[key] for key in known], [clusters[key] for key in known])
    return fsum(means.values()) / len(means)


def ranked(present: str, by_name: Mapping[str, Sequence[Aligned]]) -> list[str]:
    """Candidates by how near they come to people, the nearest first."""
    gains = {name: gain(by_name[present], parts) for name, parts in by_name.items()}
    known = [name for name in gains if not isnan(gains[name])]
    return sorted(known, key=lambda name: round(gains[name], 12))  # stable: simpler ones first


def held_out(name: str, parts: Sequence[Aligned], *, level: float) -> HeldOut:
    """How near one way of asking comes to people."""
    each = [part for part in parts if part.items]
    return HeldOut(
        name=name,
        overall=_agreement("", each, level),
        criteria=tuple(_agreement(p.name, [p], level) for p in each) if len(each) > 1 else (),
    )


def contrast(present: Sequence[Aligned], chosen: Sequence[Aligned], *, level: float) -> Contrast:
    """What the chosen way of asking changes, on the same held-out items."""
    a, b = losses(present), losses(chosen)
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
    worst = _worst(present)
    ends = [
        _mean_of_cases(
            [_or(b[key], new * worst[key]) - _or(a[key], old * worst[key]) for key in keys], names
        )
        for new, old in ((0.0, 1.0), (1.0, 0.0))
    ]
    return Contrast(
        distance=found,
        low=ends[0],
        high=ends[1],
        kappa=_kappa_difference(present, chosen, level),
    )


def decide(found: Contrast) -> Decision:
    """What a contrast shows."""
    distance = found.distance
    if not distance.p_value <= 1 - distance.level:
        return "not_shown"
    if distance.high < 0:
        return "better" if found.high < 0 else "open"
    return "worse" if distance.low > 0 else "not_shown"


def _agreement(name: str, parts: Sequence[Aligned], level: float) -> Agreement:
    squared = list(losses(parts).values())
    clusters = [item.cluster for part in parts for item in part.items]
    n_failed = sum(map(isnan, squared))
    if n_failed == len(squared):
        nothing = undefined(_NOTHING, n=0, method="none", level=level)
        return Agreement(name=name, distance=nothing, kappa=nothing, n_items=len(squared),
                         n_failed=n_failed)  # fmt: skip
    return Agreement(
        name=name,
        distance=_root(average(squared, clusters, level=level)),
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


def _levels(parts: Sequence[Aligned]) -> tuple[float, ...] | None:
    found = {part.levels for part in parts}
    return found.pop() if len(found) == 1 else None


def _rated(parts: Sequence[Aligned]) -> dict[tuple[Place, str], tuple[float, float]]:
    """Judge and label of each answered item, as levels."""
    return {
        (item.place, item.criterion): (float(judge), float(label))
        for part in parts
        for item, judge, label in zip(part.both, part.judge_level, part.human_level, strict=True)
    }


def _kappa(parts: Sequence[Aligned], level: float) -> Estimate:
    levels, rated = _levels(parts), _rated(parts)
    if levels is None:
        return undefined(_NO_KAPPA, n=len(rated), method="kappa", level=level)
    clusters = _clusters(parts)
    judge, label = zip(*rated.values(), strict=True)
    return estimated(
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
    present: Sequence[Aligned], chosen: Sequence[Aligned], level: float
) -> Estimate:
    levels, old, new = _levels(present), _rated(present), _rated(chosen)
    both = [key for key in old if key in new]
    if levels is None:
        return undefined(_NO_KAPPA, n=len(both), method="kappa", level=level)
    clusters = _clusters(present)
    a, b = np.array([old[key] for key in both]), np.array([new[key] for key in both])

    def kappa(rated: np.ndarray) -> float:
        judge, label = rated.T.tolist()
        return cohen_kappa(judge, label, labels=levels, weights="quadratic", ci="none").value

    def difference(places: np.ndarray) -> float:
        return (kappa(b[places]) - kappa(a[places])) / 2  # in (-1, 1), as coefficients are

    whole = difference(np.arange(len(both)))
    found = undefined("kappa is undefined", n=len(both), method="kappa difference", level=level)
    if isnan(whole):
        return found
    one = replace(found, value=whole, reason=None)
    half = clustered(one, difference, [clusters[key] for key in both])
    return replace(half, value=2 * half.value, low=2 * half.low, high=2 * half.high)


def _clusters(parts: Sequence[Aligned]) -> dict[tuple[Place, str], Hashable]:
    return {(item.place, item.criterion): item.cluster for part in parts for item in part.items}


def _step(parts: Sequence[Aligned]) -> float:
    """The squared distance of one step of the scale; of several scales the finest."""
    steps = [
        _CONTINUOUS_STEP if part.levels is None else 1 / (len(part.levels) - 1) for part in parts
    ]
    return min(steps) ** 2


def _worst(parts: Sequence[Aligned]) -> dict[tuple[Place, str], float]:
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
