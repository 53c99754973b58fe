"""How far a judge agrees with people: on the scale, in order, and on what passes."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from judgekit.evaluation.calibrating.alphas import NO_ORDER, alpha_of, measurement_of
from judgekit.evaluation.calibrating.clustering import clustered, estimated, rate
from judgekit.evaluation.calibrating.scales import step_of
from judgekit.stats.agreement import cohen_kappa, scott_pi
from judgekit.stats.closeness import lin_ccc
from judgekit.stats.correlations import correlation
from judgekit.stats.estimate import undefined
from judgekit.stats.intraclass import icc
from judgekit.stats.raters import gwet_ac

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from judgekit.evaluation.calibrating.aligned import Aligned
    from judgekit.stats.coefficient import Weights
    from judgekit.stats.correlations import CorrelationMethod
    from judgekit.stats.estimate import Estimate
    from judgekit.stats.intervals import Rate

_NO_LEVELS = "the scale has no levels: see ccc and icc"
_SLACK = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A judge against the label people come to, on the criterion's scale.

    Kappa, pi, alpha, AC and the rates go by levels: both sides at the nearest level, a half up.
    Correlations, concordance and ICC take the judge's mean score and the mean of the annotators.
    """

    exact: Rate
    """Share of items with the same level."""

    within_one: Rate
    """Share of items at most one level apart."""

    kappa: Estimate
    """Cohen's kappa, unweighted."""

    kappa_linear: Estimate
    """Cohen's kappa, linear weights."""

    kappa_quadratic: Estimate
    """Cohen's kappa, quadratic weights (QWK); of categories, as the linear one, unweighted."""

    scott_pi: Estimate
    """Scott's pi: kappa with common margins."""

    ac: Estimate
    """Gwet's AC1 of two levels, AC2 with quadratic weights of more: less bound to prevalence."""

    alpha: Estimate
    """Krippendorff's alpha of the two: nominal of two levels, ordinal of more."""

    pearson: Estimate
    """Pearson's correlation; no correlation sees leniency."""

    spearman: Estimate
    """Spearman's rank correlation."""

    kendall: Estimate
    """Kendall's tau-b."""

    ccc: Estimate
    """Lin's concordance: agreement with the identity line."""

    icc: Estimate
    """ICC(2,1): absolute agreement of single raters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassFail:
    """A judge against people on what passes."""

    accuracy: Rate
    """Share of the items that both decide where both decide alike."""

    accuracy_of_all: Rate
    """The same of all labelled items; where the judge gave nothing usable, it is wrong."""

    kappa: Estimate
    """Cohen's kappa of the two."""

    ac1: Estimate
    """Gwet's AC1 of the two."""

    phi: Estimate
    """Their correlation."""

    tpr: Rate
    """Share of what people pass that the judge passes (recall)."""

    tnr: Rate
    """Share of what people fail that the judge fails."""

    precision: Rate
    """Share of what the judge passes that people pass."""

    npv: Rate
    """Share of what the judge fails that people fail."""

    f1: float
    """Harmonic mean of precision and recall; nan where neither passes anything."""

    balanced_accuracy: float
    """Mean of TPR and TNR; 0.5 is a coin."""

    judge_rate: Rate
    """Share the judge passes."""

    human_rate: Rate
    """Share people pass."""

    true_pos: int
    """Items both pass."""

    false_pos: int
    """Items only the judge passes."""

    false_neg: int
    """Items only people pass."""

    true_neg: int
    """Items both fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """How often each label of people met each score of the judge."""

    levels: tuple[float, ...]
    """The levels, lowest first."""

    counts: tuple[tuple[int, ...], ...]
    """A row for each label of people, a column for each level of the judge."""

    unusable: tuple[int, ...]
    """For each label of people, items on which the judge gave nothing usable."""


def agreement(aligned: Aligned, *, level: float) -> Agreement:
    """How far judge and people agree on a scale."""
    a, b = aligned.human_level.tolist(), aligned.judge_level.tolist()
    clusters = aligned.clusters
    step = 0.0 if aligned.is_nominal else step_of(aligned.levels)
    return Agreement(
        exact=rate(_near(a, b, 0.0), clusters, level=level),
        within_one=rate(_near(a, b, step), clusters, level=level),
        kappa=_kappa(aligned, None, level),
        kappa_linear=_kappa(aligned, "linear", level),
        kappa_quadratic=_kappa(aligned, "quadratic", level),
        scott_pi=estimated(lambda: scott_pi(a, b, clusters=clusters, level=level), level=level)
        if aligned.levels
        else undefined(_NO_LEVELS, n=len(a), method="pi", level=level),
        ac=_gwet(aligned, level),
        alpha=alpha_of(
            aligned,
            list(zip(a, b, strict=True)),
            measurement_of(aligned),
            clusters=clusters,
            level=level,
        ),
        pearson=_related(aligned, "pearson", level),
        spearman=_related(aligned, "spearman", level),
        kendall=_related(aligned, "kendall", level),
        ccc=_concordance(aligned, level),
        icc=_icc(aligned, level),
    )


def pass_fail(aligned: Aligned, *, level: float) -> PassFail | None:
    """How far judge and people agree on what passes."""
    if aligned.threshold is None:
        return None
    people, judge = aligned.human_pass, aligned.judge_pass
    clusters = aligned.clusters
    known = ~(np.isnan(people) | np.isnan(judge))
    same = np.where(known, people == judge, nan)
    true_pos = int((people[known] * judge[known]).sum())
    n_pos, n_judged = int(people[known].sum()), int(judge[known].sum())
    false_pos, false_neg = n_judged - true_pos, n_pos - true_pos

    def share(outcome: np.ndarray, among: np.ndarray) -> Rate:
        places = np.flatnonzero(known & among)
        names = None if clusters is None else [clusters[i] for i in places]
        return rate(outcome[places].tolist(), names, level=level)

    everywhere = np.ones(len(people), dtype=bool)
    tpr, tnr = share(judge, people == 1), share(1 - judge, people == 0)
    pairs = people[known].tolist(), judge[known].tolist()
    names = None if clusters is None else [clusters[i] for i in np.flatnonzero(known)]
    either = 2 * true_pos + false_pos + false_neg
    return PassFail(
        accuracy=rate(same.tolist(), clusters, level=level),
        accuracy_of_all=_of_all(aligned, level),
        kappa=estimated(
            lambda: cohen_kappa(*pairs, labels=(0.0, 1.0), clusters=names, level=level), level=level
        ),
        ac1=estimated(
            lambda: gwet_ac(
                list(zip(*pairs, strict=True)), labels=(0.0, 1.0), clusters=names, level=level
            ),
            level=level,
        ),
        phi=correlated(people[known], judge[known], "pearson", names, level=level),
        tpr=tpr,
        tnr=tnr,
        precision=share(people, judge == 1),
        npv=share(1 - people, judge == 0),
        f1=2 * true_pos / either if either else nan,
        balanced_accuracy=(tpr.value + tnr.value) / 2,
        judge_rate=share(judge, everywhere),
        human_rate=share(people, everywhere),
        true_pos=true_pos,
        false_pos=false_pos,
        false_neg=false_neg,
        true_neg=int(known.sum()) - true_pos - false_pos - false_neg,
    )


def confusion(aligned: Aligned) -> Confusion | None:
    """The table of labels and scores."""
    levels = aligned.levels
    if levels is None:
        return None
    place = {level: i for i, level in enumerate(levels)}
    counts = np.zeros((len(levels), len(levels)), dtype=int)
    for human, judge in zip(aligned.human_level, aligned.judge_level, strict=True):
        counts[place[float(human)], place[float(judge)]] += 1
    unusable = np.zeros(len(levels), dtype=int)
    silent = aligned.where(lambda item: item.judge is None)
    for label in silent.labels.tolist():
        unusable[place[label]] += 1
    return Confusion(
        levels=levels,
        counts=tuple(tuple(int(n) for n in row) for row in counts),
        unusable=tuple(int(n) for n in unusable),
    )


def correlated(
    a: np.ndarray,
    b: np.ndarray,
    method: CorrelationMethod,
    clusters: Sequence[Hashable] | None,
    *,
    level: float,
) -> Estimate:
    """A correlation with an interval that knows of clusters."""
    found = estimated(lambda: correlation(a.tolist(), b.tolist(), method, level=level), level=level)

    def without(places: np.ndarray) -> float:
        part = a[places].tolist(), b[places].tolist()
        return estimated(lambda: correlation(*part, method, level=level)).value

    return clustered(found, without, clusters, is_quadratic=method == "kendall")


def _related(aligned: Aligned, method: CorrelationMethod, level: float) -> Estimate:
    if aligned.is_nominal:
        return undefined(NO_ORDER, n=len(aligned.both), method=method, level=level)
    return correlated(aligned.human, aligned.judge, method, aligned.clusters, level=level)


def _kappa(aligned: Aligned, weights: Weights | None, level: float) -> Estimate:
    levels = aligned.levels
    if levels is None:
        return undefined(_NO_LEVELS, n=len(aligned.both), method="kappa", level=level)
    return estimated(
        lambda: cohen_kappa(
            aligned.human_level.tolist(),
            aligned.judge_level.tolist(),
            labels=levels,
            weights=None if aligned.is_nominal else weights,
            clusters=aligned.clusters,
            level=level,
        ),
        level=level,
    )


def _gwet(aligned: Aligned, level: float) -> Estimate:
    levels = aligned.levels
    if levels is None:
        return undefined(_NO_LEVELS, n=len(aligned.both), method="ac", level=level)
    rows = list(zip(aligned.human_level.tolist(), aligned.judge_level.tolist(), strict=True))
    return estimated(
        lambda: gwet_ac(
            rows,
            labels=levels,
            weights=None if aligned.is_binary or aligned.is_nominal else "quadratic",
            clusters=aligned.clusters,
            level=level,
        ),
        level=level,
    )


def _concordance(aligned: Aligned, level: float) -> Estimate:
    a, b = aligned.human, aligned.judge
    if aligned.is_nominal:
        return undefined(NO_ORDER, n=len(a), method="ccc", level=level)
    found = estimated(lambda: lin_ccc(a.tolist(), b.tolist(), level=level), level=level)

    def without(places: np.ndarray) -> float:
        part = a[places].tolist(), b[places].tolist()
        return estimated(lambda: lin_ccc(*part, ci="none")).value

    return clustered(found, without, aligned.clusters)


def _icc(aligned: Aligned, level: float) -> Estimate:
    rows = np.column_stack([aligned.human, aligned.judge])
    if aligned.is_nominal:
        return undefined(NO_ORDER, n=len(rows), method="icc", level=level)
    if not len(rows):
        return undefined("no item has both scores", n=0, method="icc", level=level)
    found = estimated(lambda: icc(rows.tolist(), level=level), level=level)

    def without(places: np.ndarray) -> float:
        part = rows[places].tolist()
        return estimated(lambda: icc(part)).value

    return clustered(found, without, aligned.clusters)


def _of_all(aligned: Aligned, level: float) -> Rate:
    items = aligned.items
    names = [item.cluster for item in items]
    right = []
    for item in items:
        people, judge = aligned.human_passes(item), aligned.judge_passes(item)
        right.append(nan if np.isnan(people) else float(people == judge))
    return rate(right, names if len(set(names)) < len(names) else None, level=level)


def _near(a: Sequence[float], b: Sequence[float], within: float) -> list[float]:
    return [float(abs(x - y) <= within + _SLACK) for x, y in zip(a, b, strict=True)]
