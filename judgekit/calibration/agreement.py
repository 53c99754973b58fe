"""Agreement of a judge with human labels, on the scale and on what passes; its bias and stability.

`breakdown` repeats some of these figures by group.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from judgekit.calibration.items import (
    NO_ORDER,
    clustered_mean,
    clustered_rate,
    clusters_of,
    estimate_or_undefined,
    jackknife,
    level_step,
    measurement_level,
    scale_alpha,
)
from judgekit.errors import NotEnoughDataError
from judgekit.stats.agreement import cohen_kappa, scott_pi
from judgekit.stats.bias import Granularity, granularity, scale_use
from judgekit.stats.estimate import Estimate, undefined_estimate
from judgekit.stats.method_comparison import bland_altman, correlation, lin_ccc
from judgekit.stats.raters import gwet_ac, icc

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from judgekit.calibration.items import AlignedItems
    from judgekit.stats.agreement_coefficients import Weights
    from judgekit.stats.alpha import AlphaLevel
    from judgekit.stats.intervals import Rate
    from judgekit.stats.method_comparison import CorrelationMethod

_NO_LEVELS = "the scale has no levels: see ccc and icc"
_TWICE = 2
_MEASUREMENTS: tuple[AlphaLevel, ...] = ("interval", "ordinal", "nominal")

# Distances between levels such as 0.1 and 0.3 are not exact.
_SLACK = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleAgreement:
    """Agreement of judge and human labels on the criterion's scale.

    Kappa, pi, alpha, AC and the rates compare levels: both sides are rounded to the nearest level,
    halves up. Correlations, concordance and ICC compare the judge's mean score with the annotators'
    mean.

    Attributes:
        exact: Share of items with the same level.
        within_one: Share of items at most one level apart.
        kappa: Cohen's kappa, unweighted.
        kappa_linear: Cohen's kappa, linear weights.
        kappa_quadratic: Cohen's kappa, quadratic weights (QWK); unweighted for categories.
        scott_pi: Scott's pi: kappa with common margins.
        ac: Gwet's AC1 for two levels, AC2 with quadratic weights for more; less sensitive to
            prevalence.
        alpha: Krippendorff's alpha of the two: nominal for two levels, ordinal for more.
        pearson: Pearson's correlation; like every correlation, it does not detect leniency.
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
    """Agreement of judge and human labels on what passes.

    Attributes:
        accuracy: Share of equal decisions among the items that both decided.
        accuracy_of_all: The same among all labelled items; an unusable judge answer counts as
            wrong.
        kappa: Cohen's kappa of the two.
        ac1: Gwet's AC1 of the two.
        phi: Their correlation.
        tpr: Share of the human passes that the judge passes (recall).
        tnr: Share of the human fails that the judge fails.
        precision: Share of the judge's passes that are human passes.
        npv: Share of the judge's fails that are human fails.
        f1: Harmonic mean of precision and recall; nan if neither side passes anything.
        balanced_accuracy: Mean of TPR and TNR; 0.5 is chance.
        judge_rate: The judge's pass rate.
        human_rate: The human pass rate.
        true_pos: Items both pass.
        false_pos: Items only the judge passes.
        false_neg: Items only the humans pass.
        true_neg: Items both fail.
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
    """How often each human label met each score of the judge.

    Attributes:
        levels: The levels, lowest first.
        counts: A row for each human label, a column for each level of the judge.
        unusable: For each human label, the items without a usable judge answer.
    """

    levels: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]
    unusable: tuple[int, ...]


def scale_agreement(aligned: AlignedItems, *, level: float) -> ScaleAgreement:
    """Agreement of judge and labels on a scale."""
    clusters = aligned.clusters
    gaps = np.abs(aligned.human_level - aligned.judge_level)
    # No category is close to another: "within one" is exact there.
    step = 0.0 if aligned.is_nominal else level_step(aligned.levels)
    rows = np.column_stack([aligned.human_level, aligned.judge_level]).tolist()
    measured = measurement_level(aligned)
    return ScaleAgreement(
        exact=clustered_rate((gaps <= _SLACK).astype(float).tolist(), clusters, level=level),
        within_one=clustered_rate(
            (gaps <= step + _SLACK).astype(float).tolist(), clusters, level=level
        ),
        kappa=scale_kappa(aligned, None, level),
        kappa_linear=scale_kappa(aligned, "linear", level),
        kappa_quadratic=scale_kappa(aligned, "quadratic", level),
        scott_pi=_by_levels(
            aligned,
            "pi",
            lambda a, b, _: scott_pi(a, b, clusters=clusters, level=level),
            level=level,
        ),
        ac=_by_levels(
            aligned,
            "ac",
            lambda a, b, levels: gwet_ac(
                list(zip(a, b, strict=True)),
                labels=levels,
                # With two levels all weights are equal, and unweighted AC1 is the known name.
                weights=None if aligned.is_binary or aligned.is_nominal else "quadratic",
                clusters=clusters,
                level=level,
            ),
            level=level,
        ),
        alpha=scale_alpha(aligned, rows, measured, clusters=clusters, level=level),
        pearson=_by_order(aligned, "pearson", level),
        spearman=_by_order(aligned, "spearman", level),
        kendall=_by_order(aligned, "kendall", level),
        ccc=_by_order(aligned, "ccc", level),
        icc=_by_order(aligned, "icc", level),
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

    def pick(places: np.ndarray) -> list[Hashable] | None:
        return None if clusters is None else [clusters[i] for i in places]

    def share(outcome: np.ndarray, among: np.ndarray) -> Rate:
        # A rate among the passes or fails of one side needs the clusters of exactly these items.
        places = np.flatnonzero(known & among)
        return clustered_rate(outcome[places].tolist(), pick(places), level=level)

    everywhere = np.ones(len(human), dtype=bool)
    tpr, tnr = share(judge, human == 1), share(1 - judge, human == 0)
    a, b = human[known].tolist(), judge[known].tolist()
    names = pick(np.flatnonzero(known))
    true_pos = int((human[known] * judge[known]).sum())
    false_pos, false_neg = int(sum(b)) - true_pos, int(sum(a)) - true_pos
    either = 2 * true_pos + false_pos + false_neg
    binary = (0.0, 1.0)
    return PassFail(
        accuracy=clustered_rate(same.tolist(), clusters, level=level),
        accuracy_of_all=_accuracy_of_all(aligned, level),
        kappa=estimate_or_undefined(
            lambda: cohen_kappa(a, b, labels=binary, clusters=names, level=level), level=level
        ),
        ac1=estimate_or_undefined(
            lambda: gwet_ac(
                list(zip(a, b, strict=True)), labels=binary, clusters=names, level=level
            ),
            level=level,
        ),
        phi=clustered_correlation(human[known], judge[known], "pearson", names, level=level),
        tpr=tpr,
        tnr=tnr,
        precision=share(human, judge == 1),
        npv=share(1 - human, judge == 0),
        f1=2 * true_pos / either if either else nan,
        balanced_accuracy=(tpr.value + tnr.value) / 2,
        judge_rate=share(judge, everywhere),
        human_rate=share(human, everywhere),
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
    place = {level: i for i, level in enumerate(levels)}
    counts = np.zeros((len(levels), len(levels)), dtype=int)
    for human, judge in zip(aligned.human_level, aligned.judge_level, strict=True):
        counts[place[float(human)], place[float(judge)]] += 1
    unusable = np.zeros(len(levels), dtype=int)
    # Failures are shown beside the table: without them, a judge that fails on hard items looks
    # better than it is.
    failed = aligned.where(lambda item: item.judge is None)
    for label in failed.labels.tolist():
        unusable[place[label]] += 1
    return Confusion(
        levels=levels,
        counts=tuple(tuple(int(n) for n in row) for row in counts),
        unusable=tuple(int(n) for n in unusable),
    )


def clustered_correlation(
    a: np.ndarray,
    b: np.ndarray,
    method: CorrelationMethod,
    clusters: Sequence[Hashable] | None,
    *,
    level: float,
) -> Estimate:
    """A correlation with an interval clustered by case."""
    return jackknife(
        lambda places: correlation(a[places].tolist(), b[places].tolist(), method, level=level),
        len(a),
        clusters,
        level=level,
        # Kendall's tau compares all pairs of items.
        is_quadratic=method == "kendall",
    )


def scale_kappa(aligned: AlignedItems, weights: Weights | None, level: float) -> Estimate:
    """Cohen's kappa of the levels; categories have no distance, so their kappa is unweighted."""
    return _by_levels(
        aligned,
        "kappa",
        lambda a, b, levels: cohen_kappa(
            a,
            b,
            labels=levels,
            weights=None if aligned.is_nominal else weights,
            clusters=aligned.clusters,
            level=level,
        ),
        level=level,
    )


def _by_levels(
    aligned: AlignedItems,
    method: str,
    statistic: Callable[[list[float], list[float], tuple[float, ...]], Estimate],
    *,
    level: float,
) -> Estimate:
    """A coefficient of the levels on both sides; undefined for a scale without levels."""
    levels = aligned.levels
    if levels is None:
        return undefined_estimate(_NO_LEVELS, n=len(aligned.both), method=method, level=level)
    a, b = aligned.human_level.tolist(), aligned.judge_level.tolist()
    return estimate_or_undefined(lambda: statistic(a, b, levels), level=level)


def _by_order(
    aligned: AlignedItems, method: CorrelationMethod | Literal["ccc", "icc"], level: float
) -> Estimate:
    """A coefficient of the mean scores; undefined for categories."""
    a, b = aligned.human, aligned.judge
    if aligned.is_nominal:
        return undefined_estimate(NO_ORDER, n=len(a), method=method, level=level)
    if method == "icc":
        if not len(a):
            return undefined_estimate("no item has both scores", n=0, method="icc", level=level)
        rows = np.column_stack([a, b])
        return jackknife(
            lambda places: icc(rows[places].tolist(), level=level),
            len(a),
            aligned.clusters,
            level=level,
        )
    if method == "ccc":
        return jackknife(
            lambda places: lin_ccc(a[places].tolist(), b[places].tolist(), level=level),
            len(a),
            aligned.clusters,
            level=level,
        )
    return clustered_correlation(a, b, method, aligned.clusters, level=level)


def _accuracy_of_all(aligned: AlignedItems, level: float) -> Rate:
    """The share of right decisions, with the judge's failures counted as wrong."""
    right = []
    for item in aligned.items:
        human, judge = aligned.human_passes(item), aligned.judge_passes(item)
        # The judge's nan equals nothing, so that its failure counts as wrong.
        right.append(nan if isnan(human) else float(human == judge))
    return clustered_rate(right, clusters_of(aligned.items), level=level)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leniency:
    """The judge's scores minus the annotators' mean, on the criterion's scale.

    Attributes:
        bias: Mean of judge - human; above 0 the judge is lenient.
        mae: Mean absolute difference.
        rmse: Root of the mean squared difference.
        loa_low: Lower limit of agreement; between the two limits lies a share of the differences
            equal to the confidence level, if they are normal.
        loa_high: Upper limit of agreement.
        trend: Slope of the difference on the mean of both; above 0 the judge stretches the scale.
        scale_use: Spread of the judge's scores divided by the human spread; below 1 the judge uses
            less of the scale.
        judge_levels: How many levels the judge uses.
        human_levels: How many levels the annotators use.
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
        n_unusable: Unusable answers among all answers.
        all_equal: Share of these items that got the same score every time.
        within_sd: Mean standard deviation of the answers about one item, on the scale.
        alpha_interval: Krippendorff's alpha of the answers, interval level.
        alpha_ordinal: Krippendorff's alpha, ordinal level.
        alpha_nominal: Krippendorff's alpha, nominal level.
    """

    n_items: int
    n_unusable: int
    all_equal: Rate
    within_sd: float
    alpha_interval: Estimate
    alpha_ordinal: Estimate
    alpha_nominal: Estimate


def judge_leniency(aligned: AlignedItems, *, level: float) -> Leniency:
    """The judge's scores minus the annotators' mean, and how much of the scale both use."""
    human, judge, clusters = aligned.human, aligned.judge, aligned.clusters
    gaps = judge - human
    limits = None
    try:
        if not aligned.is_nominal:
            limits = bland_altman(human.tolist(), judge.tolist(), level=level)
    except NotEnoughDataError:
        limits = None

    def mean(x: np.ndarray) -> Estimate:
        # Where no category is higher than another, only the use of categories can be counted.
        if aligned.is_nominal:
            return undefined_estimate(NO_ORDER, n=len(x), method="t", level=level)
        return clustered_mean(x.tolist(), clusters, level=level)

    def levels_used(scores: np.ndarray) -> Granularity | None:
        if aligned.levels is None or not len(scores):
            return None
        return granularity(scores.tolist(), aligned.levels)

    return Leniency(
        judge_mean=mean(judge),
        human_mean=mean(human),
        bias=mean(gaps),
        mae=mean(np.abs(gaps)),
        rmse=sqrt(float((gaps**2).mean())) if len(gaps) and not aligned.is_nominal else nan,
        loa_low=nan if limits is None else limits.loa_low,
        loa_high=nan if limits is None else limits.loa_high,
        trend=nan if limits is None else limits.trend,
        scale_use=mean(gaps)
        if aligned.is_nominal
        else estimate_or_undefined(
            lambda: scale_use(human.tolist(), judge.tolist(), clusters=clusters, level=level),
            level=level,
        ),
        judge_levels=levels_used(aligned.judge_level),
        human_levels=levels_used(aligned.human_level),
    )


def judge_steadiness(aligned: AlignedItems, *, level: float) -> Steadiness | None:
    """Agreement of the judge with itself; None without repeats."""
    items = [*aligned.items, *aligned.unlabelled]
    if not any(len(item.samples) >= _TWICE for item in items):
        return None
    rows = [list(item.samples) for item in items]
    usable = [sorted(s for s in row if s is not None and not isnan(s)) for row in rows]
    several = [(row, i.cluster) for row, i in zip(usable, items, strict=True) if len(row) >= _TWICE]
    clusters = clusters_of(items)
    # The deviation is taken for each item, because the spread between items is not instability.
    spreads = [float(np.std(row, ddof=1)) for row, _ in several]
    alphas = {
        measured: scale_alpha(aligned, rows, measured, clusters=clusters, level=level)
        for measured in _MEASUREMENTS
    }
    return Steadiness(
        n_items=len(several),
        n_unusable=sum(s is None for row in rows for s in row),
        all_equal=clustered_rate(
            [float(len(set(row)) == 1) for row, _ in several],
            [cluster for _, cluster in several] if clusters else None,
            level=level,
        ),
        within_sd=float(np.mean(spreads)) if spreads and not aligned.is_nominal else nan,
        alpha_interval=alphas["interval"],
        alpha_ordinal=alphas["ordinal"],
        alpha_nominal=alphas["nominal"],
    )
