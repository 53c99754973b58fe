"""The judge as a classifier: precision, recall and F1 of each level, with human labels as truth.

For categories and for two levels; `agreement` has the figures of ordered scales.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from judgekit.calibration.items import clustered_estimate, clustered_rate
from judgekit.stats.estimate import Estimate

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from judgekit.calibration.items import AlignedItems
    from judgekit.stats.intervals import Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassScores:
    """The judge on one level: how often it is right to choose it, and how often it finds it.

    Attributes:
        name: The level's name, or its score.
        n_human: Items that the annotators put on this level.
        n_judge: Items that the judge puts there.
        n_both: Items that both put there.
        precision: `n_both / n_judge`; undefined if the judge never chooses the level.
        recall: `n_both / n_human`; undefined if no label is on the level.
        f1: `2 n_both / (n_human + n_judge)`, the harmonic mean of both.
    """

    level: float
    name: str
    n_human: int
    n_judge: int
    n_both: int
    precision: Rate
    recall: Rate
    f1: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification:
    """Precision, recall and F1 of each level, and their plain (macro) means over the levels.

    Items without a usable judge answer are excluded. A mean leaves out the levels on which its
    figure is undefined, and its `n` counts items, or cases.
    """

    classes: tuple[ClassScores, ...]
    macro_precision: Estimate
    macro_recall: Estimate
    macro_f1: Estimate


def classify(aligned: AlignedItems, *, level: float) -> Classification | None:
    """Precision, recall and F1; None for an ordered scale with more than two levels."""
    levels = aligned.levels
    if levels is None or not (aligned.is_nominal or aligned.is_binary):
        return None
    human, judge, clusters = aligned.human_level, aligned.judge_level, aligned.clusters
    names = {each.value: each.name for each in aligned.scale.levels}

    def macro(which: int) -> Estimate:
        return _macro(human, judge, levels, which, clusters, level)

    return Classification(
        classes=tuple(
            _class_scores(
                at, names.get(at) or f"{at:g}", human == at, judge == at, clusters, level=level
            )
            for at in levels
        ),
        macro_precision=macro(0),
        macro_recall=macro(1),
        macro_f1=macro(2),
    )


def _class_scores(
    at: float,
    name: str,
    human: np.ndarray,
    judge: np.ndarray,
    clusters: Sequence[Hashable] | None,
    *,
    level: float,
) -> ClassScores:
    both = human & judge

    def share(among: np.ndarray) -> Rate:
        places = np.flatnonzero(among)
        own = None if clusters is None else [clusters[i] for i in places.tolist()]
        return clustered_rate(both[places], own, level=level)

    # F1 = 2 J / (1 + J) with J, the share of both among the items that either side puts here
    # (Jaccard). J is a plain rate, so that its interval, mapped in the same way, is that of F1.
    overlap = share(human | judge)
    return ClassScores(
        level=at,
        name=name,
        n_human=int(human.sum()),
        n_judge=int(judge.sum()),
        n_both=int(both.sum()),
        precision=share(judge),
        recall=share(human),
        f1=Estimate(
            value=_f1(overlap.value),
            low=_f1(overlap.low),
            high=_f1(overlap.high),
            level=level,
            n=overlap.n,
            method=f"{overlap.method}, mapped from Jaccard's index",
            reason=overlap.reason,
            note=overlap.note,
        ),
    )


def _f1(overlap: float) -> float:
    return 2 * overlap / (1 + overlap)


def _macro(
    human: np.ndarray,
    judge: np.ndarray,
    levels: Sequence[float],
    which: int,
    clusters: Sequence[Hashable] | None,
    level: float,
) -> Estimate:
    """The mean of a figure over the levels, with a jackknife interval over items or cases."""
    value = _mean_over_levels(human, judge, levels, which)
    units: Sequence[Hashable] = range(len(human)) if clusters is None else clusters
    # The jackknife works on Fisher's z, which needs a coefficient in (-1, 1).
    found = clustered_estimate(
        Estimate(
            value=2 * value - 1,
            low=nan,
            high=nan,
            level=level,
            n=len(set(units)),
            method="macro mean",
            reason="no item has both scores" if isnan(value) else None,
        ),
        lambda places: 2 * _mean_over_levels(human[places], judge[places], levels, which) - 1,
        units,
    )
    return replace(
        found,
        value=value,
        low=(found.low + 1) / 2,
        high=(found.high + 1) / 2,
        method="macro mean, jackknife" + ("" if clusters is None else ", clustered"),
        n_clusters=None if clusters is None else found.n_clusters,
    )


def _mean_over_levels(
    human: np.ndarray, judge: np.ndarray, levels: Sequence[float], which: int
) -> float:
    """The mean over the levels of precision (0), recall (1) or F1 (2)."""
    figures = []
    for at in levels:
        here, there = human == at, judge == at
        size = (there.sum(), here.sum(), (here.sum() + there.sum()) / 2)[which]
        # 0 of 0 is undefined; a level that nobody uses must not count as a failure.
        if size:
            figures.append(float((here & there).sum() / size))
    return sum(figures) / len(figures) if figures else nan
