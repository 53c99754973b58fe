"""Agreement of a judge with human labels, on the scale and on what passes; its bias and stability.

`classify` treats the judge as a classifier. `breakdown` repeats some of the figures by group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from judgekit.calibration.items import (
    LEVEL_SLACK,
    NO_ORDER,
    AlignedItems,
    clustered_estimate,
    clustered_rate,
    clusters_of,
    estimate_or_undefined,
    level_of,
    level_step,
    measurement_level,
    ordered_mean,
    scale_alpha,
    shared_clusters,
)
from judgekit.errors import NotEnoughDataError
from judgekit.stats.agreement import cohen_kappa, scott_pi
from judgekit.stats.bias import Granularity, granularity, scale_use
from judgekit.stats.estimate import Estimate, undefined_estimate
from judgekit.stats.method_comparison import CorrelationMethod, bland_altman, correlation, lin_ccc
from judgekit.stats.raters import gwet_ac, icc

if TYPE_CHECKING:
    from judgekit.stats.agreement_coefficients import Weights
    from judgekit.stats.intervals import Rate

_NO_LEVELS = "the scale has no levels: see ccc and icc"
_TWICE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleAgreement:
    """Agreement of judge and human labels on the criterion's scale.

    Kappa, pi, alpha, AC and the rates compare levels: both sides are rounded to the nearest level,
    halves up. Correlations, concordance and ICC compare the judge's mean score with the annotators'
    mean. Like every correlation, Pearson's does not detect leniency.

    Attributes:
        kappa_quadratic: Cohen's kappa, quadratic weights (QWK); unweighted for categories.
        ac: Gwet's AC1 for two levels, AC2 with quadratic weights for more; less sensitive to
            prevalence.
        alpha: Krippendorff's alpha of the two: nominal for two levels, ordinal for more.
        ccc: Lin's concordance: agreement with the identity line.
        icc: ICC(2,1): absolute agreement of single raters.
    """

    exact: Rate
    within_one: Rate
    kappa: Estimate
    kappa_linear: Estimate
    kappa_quadratic: Estimate
    scott_pi: Estimate
    ac: Estimate
    alpha: Estimate
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    ccc: Estimate
    icc: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class PassFail:
    """Agreement of judge and human labels on what passes; a human pass is the positive class.

    Attributes:
        accuracy: Share of equal decisions among the items that both decided.
        accuracy_of_all: The same among all labelled items; an unusable judge answer counts as
            wrong.
        f1: Harmonic mean of precision and recall; nan if neither side passes anything.
        balanced_accuracy: Mean of TPR and TNR; 0.5 is chance.
    """

    accuracy: Rate
    accuracy_of_all: Rate
    kappa: Estimate
    ac1: Estimate
    phi: Estimate
    tpr: Rate
    tnr: Rate
    precision: Rate
    npv: Rate
    f1: float
    balanced_accuracy: float
    judge_rate: Rate
    human_rate: Rate
    true_pos: int
    false_pos: int
    false_neg: int
    true_neg: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """How often each human label (row) met each level of the judge (column), lowest first.

    `unusable` counts for each human label the items without a usable judge answer.
    """

    levels: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]
    unusable: tuple[int, ...]


def scale_agreement(aligned: AlignedItems, *, level: float) -> ScaleAgreement:
    clusters = aligned.clusters
    gaps = np.abs(aligned.human_level - aligned.judge_level)
    # No category is close to another: "within one" is exact there.
    step = 0.0 if aligned.is_nominal else level_step(aligned.levels)
    rows = np.column_stack([aligned.human_level, aligned.judge_level])
    # With two levels all weights are equal, and unweighted AC1 is the known name.
    weights: Weights | None = None if aligned.is_binary or aligned.is_nominal else "quadratic"

    def ac(_: list[float], __: list[float], labels: Sequence[float], **options: Any) -> Estimate:
        return gwet_ac(rows, labels=labels, weights=weights, **options)

    return ScaleAgreement(
        exact=clustered_rate(gaps <= LEVEL_SLACK, clusters, level=level),
        within_one=clustered_rate(gaps <= step + LEVEL_SLACK, clusters, level=level),
        kappa=scale_kappa(aligned, None, level),
        kappa_linear=scale_kappa(aligned, "linear", level),
        kappa_quadratic=scale_kappa(aligned, "quadratic", level),
        scott_pi=_of_levels(
            aligned, "pi", lambda a, b, _, **options: scott_pi(a, b, **options), level
        ),
        ac=_of_levels(aligned, "ac", ac, level),
        alpha=scale_alpha(aligned, rows, measurement_level(aligned), clusters, level),
        pearson=order_coefficient(aligned, "pearson", level),
        spearman=order_coefficient(aligned, "spearman", level),
        kendall=order_coefficient(aligned, "kendall", level),
        ccc=order_coefficient(aligned, "ccc", level),
        icc=order_coefficient(aligned, "icc", level),
    )


def pass_fail_agreement(aligned: AlignedItems, *, level: float) -> PassFail | None:
    """Agreement of judge and labels on what passes; None without a threshold."""
    if aligned.threshold is None:
        return None
    human, judge = aligned.human_pass, aligned.judge_pass
    clusters = aligned.clusters
    known = ~(np.isnan(human) | np.isnan(judge))
    # nan == nan is False, which would count two missing verdicts as a disagreement.
    same = np.where(known, human == judge, nan)

    def share(outcome: np.ndarray, among: np.ndarray = known) -> Rate:
        return _rate_among(aligned, outcome, known & among, level)

    tpr, tnr = share(judge, human == 1), share(1 - judge, human == 0)
    a, b = human[known].tolist(), judge[known].tolist()
    names = None if clusters is None else [clusters[place] for place in np.flatnonzero(known)]
    true_pos = int((human[known] * judge[known]).sum())
    false_pos, false_neg = int(sum(b)) - true_pos, int(sum(a)) - true_pos
    either = 2 * true_pos + false_pos + false_neg
    # The judge's nan equals nothing, so that its failure counts as wrong.
    every = aligned.items
    truths = np.array([aligned.human_passes(item) for item in every], dtype=float)
    own = np.array([aligned.judge_passes(item) for item in every], dtype=float)
    right_of_all = np.where(np.isnan(truths), nan, truths == own)
    binary = (0.0, 1.0)
    return PassFail(
        accuracy=clustered_rate(same, clusters, level=level),
        accuracy_of_all=clustered_rate(right_of_all, clusters_of(every), level=level),
        kappa=estimate_or_undefined(
            cohen_kappa, a, b, labels=binary, ci="smoothed", clusters=names, level=level
        ),
        ac1=estimate_or_undefined(
            gwet_ac,
            np.column_stack([human[known], judge[known]]),
            labels=binary,
            clusters=names,
            level=level,
        ),
        phi=clustered_correlation(human[known], judge[known], "pearson", names, level=level),
        tpr=tpr,
        tnr=tnr,
        precision=share(human, judge == 1),
        npv=share(1 - human, judge == 0),
        f1=2 * true_pos / either if either else nan,
        balanced_accuracy=(tpr.value + tnr.value) / 2,
        judge_rate=share(judge),
        human_rate=share(human),
        true_pos=true_pos,
        false_pos=false_pos,
        false_neg=false_neg,
        true_neg=len(a) - true_pos - false_pos - false_neg,
    )


def confusion_table(aligned: AlignedItems) -> Confusion | None:
    """Labels by scores; None for a scale without levels."""
    levels = aligned.levels
    if levels is None:
        return None
    met = Counter(zip(aligned.human_level.tolist(), aligned.judge_level.tolist(), strict=True))
    # Failures are shown beside the table: without them, a judge that fails on hard items looks
    # better than it is.
    failed = Counter(
        level_of(aligned.label(item), levels) for item in aligned.items if item.judge is None
    )
    return Confusion(
        levels=levels,
        counts=tuple(tuple(met[human, judge] for judge in levels) for human in levels),
        unusable=tuple(failed[level] for level in levels),
    )


def clustered_correlation(
    a: np.ndarray,
    b: np.ndarray,
    method: CorrelationMethod | Literal["ccc", "icc"],
    clusters: Sequence[Hashable] | None,
    *,
    level: float,
) -> Estimate:
    # Smoothed: the textbook intervals assume normal scores, and ratings are coarse and skewed.
    if method != "ccc" and method != "icc":  # noqa: PLR1714 - only so do types know the rest
        return estimate_or_undefined(
            correlation, a, b, method, ci="smoothed", clusters=clusters, level=level
        )
    near = estimate_or_undefined(lin_ccc, a, b, ci="smoothed", clusters=clusters, level=level)
    if method == "ccc":
        return near
    found = estimate_or_undefined(icc, list(zip(a.tolist(), b.tolist(), strict=True)), level=level)
    if isnan(found.value) or isnan(near.low):
        return found
    # ICC(2,1) of two raters differs from their concordance by a part in n only, so that their
    # intervals are one; the F limits assume normal scores too.
    return replace(
        found,
        low=min(near.low, found.value),
        high=max(near.high, found.value),
        reason=None,
        n=near.n,
        n_clusters=near.n_clusters,
        method=near.method.replace("lin", "icc"),
    )


def coefficient_difference(
    name: str,
    a: np.ndarray,
    b: np.ndarray,
    coefficient: Callable[[np.ndarray], float],
    clusters: Sequence[Hashable],
    *,
    level: float,
) -> Estimate:
    """How much higher a coefficient in [-1, 1] is of `b` than of `a`, rows of the same items."""

    def difference(places: np.ndarray) -> float:
        return coefficient(b[places]) - coefficient(a[places])

    whole = difference(np.arange(len(a))) if len(a) else nan
    undefined = undefined_estimate(
        f"{name} is undefined", n=len(a), method=f"{name} difference", level=level
    )
    if isnan(whole):
        return undefined
    one = replace(undefined, value=whole, reason=None)
    return clustered_estimate(one, difference, clusters, bounds=(-2.0, 2.0))


def scale_kappa(aligned: AlignedItems, weights: Weights | None, level: float) -> Estimate:
    """Cohen's kappa of the levels; categories have no distance, so their kappa is unweighted."""
    weights = None if aligned.is_nominal else weights
    return _of_levels(
        aligned,
        "kappa",
        lambda a, b, labels, **options: cohen_kappa(
            a, b, labels=labels, weights=weights, ci="smoothed", **options
        ),
        level,
    )


def _of_levels(
    aligned: AlignedItems, method: str, statistic: Callable[..., Estimate], level: float
) -> Estimate:
    """A coefficient of the levels on both sides; undefined for a scale without levels."""
    levels = aligned.levels
    if levels is None:
        return undefined_estimate(_NO_LEVELS, n=len(aligned.both), method=method, level=level)
    a, b = aligned.human_level.tolist(), aligned.judge_level.tolist()
    return estimate_or_undefined(statistic, a, b, levels, clusters=aligned.clusters, level=level)


def order_coefficient(
    aligned: AlignedItems, method: CorrelationMethod | Literal["ccc", "icc"], level: float
) -> Estimate:
    n = len(aligned.both)
    if aligned.is_nominal:
        return undefined_estimate(NO_ORDER, n=n, method=method, level=level)
    if method == "icc" and not n:
        return undefined_estimate("no item has both scores", n=0, method="icc", level=level)
    return clustered_correlation(
        aligned.human, aligned.judge, method, aligned.clusters, level=level
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Leniency:
    """The judge's scores minus the annotators' mean, on the criterion's scale.

    Attributes:
        bias: Mean of judge - human; above 0 the judge is lenient.
        loa_low: Lower limit of agreement; between the two limits lies a share of the differences
            equal to the confidence level, if they are normal.
        trend: Slope of the difference on the mean of both; above 0 the judge stretches the scale.
        scale_use: Spread of the judge's scores divided by the human spread; below 1 the judge uses
            less of the scale.
    """

    judge_mean: Estimate
    human_mean: Estimate
    bias: Estimate
    mae: Estimate
    rmse: float
    loa_low: float
    loa_high: float
    trend: float
    scale_use: Estimate
    judge_levels: Granularity | None
    human_levels: Granularity | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Steadiness:
    """Agreement of the judge with itself over repeats.

    Attributes:
        n_items: Items with two or more usable answers.
        all_equal: Share of these items that got the same score every time.
        within_sd: Mean standard deviation of the answers about one item, on the scale.
    """

    n_items: int
    n_unusable: int
    all_equal: Rate
    within_sd: float
    alpha_interval: Estimate
    alpha_ordinal: Estimate
    alpha_nominal: Estimate


def judge_leniency(aligned: AlignedItems, *, level: float) -> Leniency:
    human, judge, clusters = aligned.human, aligned.judge, aligned.clusters
    gaps = judge - human
    limits = None
    # Where no category is higher than another, only the use of categories can be counted.
    if not aligned.is_nominal:
        with suppress(NotEnoughDataError):
            limits = bland_altman(human.tolist(), judge.tolist(), level=level)

    def levels_used(scores: np.ndarray) -> Granularity | None:
        if aligned.levels is None or not len(scores):
            return None
        return granularity(scores.tolist(), aligned.levels)

    bias = ordered_mean(aligned, gaps, level=level)
    return Leniency(
        judge_mean=ordered_mean(aligned, judge, level=level),
        human_mean=ordered_mean(aligned, human, level=level),
        bias=bias,
        mae=ordered_mean(aligned, np.abs(gaps), level=level),
        rmse=sqrt(float((gaps**2).mean())) if len(gaps) and not aligned.is_nominal else nan,
        loa_low=nan if limits is None else limits.loa_low,
        loa_high=nan if limits is None else limits.loa_high,
        trend=nan if limits is None else limits.trend,
        scale_use=bias
        if aligned.is_nominal
        else estimate_or_undefined(
            scale_use, human.tolist(), judge.tolist(), clusters=clusters, level=level
        ),
        judge_levels=levels_used(aligned.judge_level),
        human_levels=levels_used(aligned.human_level),
    )


def judge_steadiness(aligned: AlignedItems, *, level: float) -> Steadiness | None:
    """Agreement of the judge with itself; None without repeats."""
    items = [*aligned.items, *aligned.unlabelled]
    rows = [row for item in items for row in item.samples]
    if not any(len(row) >= _TWICE for row in rows):
        return None
    several = [
        (found, item.cluster)
        for item in items
        if (found := [usable for row in item.samples if len(usable := _usable(row)) >= _TWICE])
    ]
    clusters = shared_clusters([item.cluster for item in items for _ in item.samples])
    # The deviation is taken for each item, because the spread between items is not instability.
    spreads = [float(np.std(row, ddof=1)) for found, _ in several for row in found]
    return Steadiness(
        n_items=len(several),
        n_unusable=sum(s is None for row in rows for s in row),
        all_equal=clustered_rate(
            [float(all(len(set(row)) == 1 for row in found)) for found, _ in several],
            [cluster for _, cluster in several] if clusters_of(items) else None,
            level=level,
        ),
        within_sd=float(np.mean(spreads)) if spreads and not aligned.is_nominal else nan,
        alpha_interval=scale_alpha(aligned, rows, "interval", clusters, level),
        alpha_ordinal=scale_alpha(aligned, rows, "ordinal", clusters, level),
        alpha_nominal=scale_alpha(aligned, rows, "nominal", clusters, level),
    )


def _usable(answers: Iterable[float | None]) -> list[float]:
    return sorted(score for score in answers if score is not None and not isnan(score))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassScores:
    """The judge on one level: how often it is right to choose it, and how often it finds it.

    Attributes:
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
    units: Sequence[Hashable] = range(len(human)) if clusters is None else clusters

    def macro(which: int) -> Estimate:
        def mean_of(places: np.ndarray) -> float:
            return _mean_over_levels(human[places], judge[places], levels, which)

        found = undefined_estimate(
            "no item has both scores", n=len(set(units)), method="", level=level
        )
        value = mean_of(np.arange(len(human)))
        if not isnan(value):
            found = replace(found, value=value, reason=None)
            found = clustered_estimate(found, mean_of, units, bounds=(0.0, 1.0))
        # Items are the units of the jackknife where no two share a case.
        return replace(
            found,
            method="macro mean, jackknife" + ("" if clusters is None else ", clustered"),
            n_clusters=None if clusters is None else found.n_clusters,
        )

    return Classification(
        classes=tuple(_class_scores(aligned, at, level) for at in levels),
        macro_precision=macro(0),
        macro_recall=macro(1),
        macro_f1=macro(2),
    )


def _class_scores(aligned: AlignedItems, at: float, level: float) -> ClassScores:
    human, judge = aligned.human_level == at, aligned.judge_level == at
    both = human & judge
    names = {each.value: each.name for each in aligned.scale.levels}
    # F1 = 2 J / (1 + J) with J, the share of both among the items that either side puts here
    # (Jaccard). J is a plain rate, so that its interval, mapped in the same way, is that of F1.
    overlap = _rate_among(aligned, both, human | judge, level)
    value, low, high = (2 * x / (1 + x) for x in (overlap.value, overlap.low, overlap.high))
    method = f"{overlap.method}, mapped from Jaccard's index"
    return ClassScores(
        level=at,
        name=names.get(at) or f"{at:g}",
        n_human=int(human.sum()),
        n_judge=int(judge.sum()),
        n_both=int(both.sum()),
        precision=_rate_among(aligned, both, judge, level),
        recall=_rate_among(aligned, both, human, level),
        f1=Estimate(
            value=value, low=low, high=high, level=level, n=overlap.n, method=method,
            reason=overlap.reason, note=overlap.note,
        ),
    )  # fmt: skip


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


def _rate_among(
    aligned: AlignedItems, outcome: np.ndarray, among: np.ndarray, level: float
) -> Rate:
    """A rate among some of `both`, with the clusters of exactly these items."""
    places = np.flatnonzero(among)
    clusters = aligned.clusters
    own = None if clusters is None else [clusters[place] for place in places]
    return clustered_rate(outcome[places], own, level=level)
