"""Agreement of a judge with human labels on the scale and on what passes, with its leniency.

Use of the scale and self-agreement.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

from judgekit.calibration.items import (
    NO_ORDER,
    clustered_estimate,
    clustered_mean,
    clustered_rate,
    estimate_or_undefined,
    level_step,
    measurement_level,
    scale_alpha,
)
from judgekit.errors import NotEnoughDataError
from judgekit.stats.agreement import cohen_kappa, scott_pi
from judgekit.stats.bias import Granularity, granularity, scale_use
from judgekit.stats.correlations import correlation
from judgekit.stats.estimate import Estimate, undefined_estimate
from judgekit.stats.method_comparison import bland_altman, lin_ccc
from judgekit.stats.raters import gwet_ac, icc

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from judgekit.calibration.items import AlignedItems, JudgedItem
    from judgekit.stats.agreement_coefficients import Weights
    from judgekit.stats.correlations import CorrelationMethod
    from judgekit.stats.intervals import Rate

_NO_LEVELS = "the scale has no levels: see ccc and icc"

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
    """How far judge and people agree on a scale."""
    a, b = aligned.human_level.tolist(), aligned.judge_level.tolist()
    clusters = aligned.clusters
    # No category is near another: within one level is exact there.
    step = 0.0 if aligned.is_nominal else level_step(aligned.levels)
    return ScaleAgreement(
        exact=clustered_rate(_near(a, b, 0.0), clusters, level=level),
        within_one=clustered_rate(_near(a, b, step), clusters, level=level),
        kappa=scale_kappa(aligned, None, level),
        kappa_linear=scale_kappa(aligned, "linear", level),
        kappa_quadratic=scale_kappa(aligned, "quadratic", level),
        scott_pi=estimate_or_undefined(
            lambda: scott_pi(a, b, clusters=clusters, level=level), level=level
        )
        if aligned.levels
        else undefined_estimate(_NO_LEVELS, n=len(a), method="pi", level=level),
        ac=_gwet(aligned, level),
        alpha=scale_alpha(
            aligned,
            list(zip(a, b, strict=True)),
            measurement_level(aligned),
            clusters=clusters,
            level=level,
        ),
        pearson=_related(aligned, "pearson", level),
        spearman=_related(aligned, "spearman", level),
        kendall=_related(aligned, "kendall", level),
        ccc=_concordance(aligned, level),
        icc=_icc(aligned, level),
    )


def pass_fail_agreement(aligned: AlignedItems, *, level: float) -> PassFail | None:
    """How far judge and people agree on what passes."""
    if aligned.threshold is None:
        return None
    people, judge = aligned.human_pass, aligned.judge_pass
    clusters = aligned.clusters
    known = ~(np.isnan(people) | np.isnan(judge))
    # nan == nan is False, which would count two missing verdicts as a disagreement.
    same = np.where(known, people == judge, nan)
    true_pos = int((people[known] * judge[known]).sum())
    n_pos, n_judged = int(people[known].sum()), int(judge[known].sum())
    false_pos, false_neg = n_judged - true_pos, n_pos - true_pos

    def share(outcome: np.ndarray, among: np.ndarray) -> Rate:
        # Rates among labelled passes or fails only; their clusters come along.
        places = np.flatnonzero(known & among)
        names = None if clusters is None else [clusters[i] for i in places]
        return clustered_rate(outcome[places].tolist(), names, level=level)

    everywhere = np.ones(len(people), dtype=bool)
    tpr, tnr = share(judge, people == 1), share(1 - judge, people == 0)
    pairs = people[known].tolist(), judge[known].tolist()
    names = None if clusters is None else [clusters[i] for i in np.flatnonzero(known)]
    either = 2 * true_pos + false_pos + false_neg
    return PassFail(
        accuracy=clustered_rate(same.tolist(), clusters, level=level),
        accuracy_of_all=_of_all(aligned, level),
        kappa=estimate_or_undefined(
            lambda: cohen_kappa(*pairs, labels=(0.0, 1.0), clusters=names, level=level), level=level
        ),
        ac1=estimate_or_undefined(
            lambda: gwet_ac(
                list(zip(*pairs, strict=True)), labels=(0.0, 1.0), clusters=names, level=level
            ),
            level=level,
        ),
        phi=clustered_correlation(people[known], judge[known], "pearson", names, level=level),
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


def confusion_table(aligned: AlignedItems) -> Confusion | None:
    """The table of labels and scores."""
    levels = aligned.levels
    if levels is None:
        return None
    place = {level: i for i, level in enumerate(levels)}
    counts = np.zeros((len(levels), len(levels)), dtype=int)
    for human, judge in zip(aligned.human_level, aligned.judge_level, strict=True):
        counts[place[float(human)], place[float(judge)]] += 1
    unusable = np.zeros(len(levels), dtype=int)
    # Failures are shown beside the table: left out, a judge that fails on hard items looks better.
    silent = aligned.where(lambda item: item.judge is None)
    for label in silent.labels.tolist():
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
    """A correlation with an interval that knows of clusters."""
    found = estimate_or_undefined(
        lambda: correlation(a.tolist(), b.tolist(), method, level=level), level=level
    )

    def without(places: np.ndarray) -> float:
        part = a[places].tolist(), b[places].tolist()
        return estimate_or_undefined(lambda: correlation(*part, method, level=level)).value

    return clustered_estimate(found, without, clusters, is_quadratic=method == "kendall")


def _related(aligned: AlignedItems, method: CorrelationMethod, level: float) -> Estimate:
    if aligned.is_nominal:
        return undefined_estimate(NO_ORDER, n=len(aligned.both), method=method, level=level)
    return clustered_correlation(
        aligned.human, aligned.judge, method, aligned.clusters, level=level
    )


def scale_kappa(aligned: AlignedItems, weights: Weights | None, level: float) -> Estimate:
    """Cohen's kappa by levels; weights are for scales, categories have no distance."""
    levels = aligned.levels
    if levels is None:
        return undefined_estimate(_NO_LEVELS, n=len(aligned.both), method="kappa", level=level)
    return estimate_or_undefined(
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


def _gwet(aligned: AlignedItems, level: float) -> Estimate:
    levels = aligned.levels
    if levels is None:
        return undefined_estimate(_NO_LEVELS, n=len(aligned.both), method="ac", level=level)
    rows = list(zip(aligned.human_level.tolist(), aligned.judge_level.tolist(), strict=True))
    return estimate_or_undefined(
        lambda: gwet_ac(
            rows,
            labels=levels,
            # Of two levels any weights are the same, and unweighted AC1 is the name people know.
            weights=None if aligned.is_binary or aligned.is_nominal else "quadratic",
            clusters=aligned.clusters,
            level=level,
        ),
        level=level,
    )


def _concordance(aligned: AlignedItems, level: float) -> Estimate:
    a, b = aligned.human, aligned.judge
    if aligned.is_nominal:
        return undefined_estimate(NO_ORDER, n=len(a), method="ccc", level=level)
    found = estimate_or_undefined(lambda: lin_ccc(a.tolist(), b.tolist(), level=level), level=level)

    def without(places: np.ndarray) -> float:
        part = a[places].tolist(), b[places].tolist()
        return estimate_or_undefined(lambda: lin_ccc(*part, ci="none")).value

    return clustered_estimate(found, without, aligned.clusters)


def _icc(aligned: AlignedItems, level: float) -> Estimate:
    rows = np.column_stack([aligned.human, aligned.judge])
    if aligned.is_nominal:
        return undefined_estimate(NO_ORDER, n=len(rows), method="icc", level=level)
    if not len(rows):
        return undefined_estimate("no item has both scores", n=0, method="icc", level=level)
    found = estimate_or_undefined(lambda: icc(rows.tolist(), level=level), level=level)

    def without(places: np.ndarray) -> float:
        part = rows[places].tolist()
        return estimate_or_undefined(lambda: icc(part)).value

    return clustered_estimate(found, without, aligned.clusters)


def _of_all(aligned: AlignedItems, level: float) -> Rate:
    items = aligned.items
    names = [item.cluster for item in items]
    right = []
    for item in items:
        people, judge = aligned.human_passes(item), aligned.judge_passes(item)
        right.append(nan if np.isnan(people) else float(people == judge))
    return clustered_rate(right, names if len(set(names)) < len(names) else None, level=level)


def _near(a: Sequence[float], b: Sequence[float], within: float) -> list[float]:
    return [float(abs(x - y) <= within + _SLACK) for x, y in zip(a, b, strict=True)]


_TWICE = 2


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
    """How far the judge's scores lie from people's."""
    if aligned.is_nominal:
        return _of_categories(aligned, level)
    people, judge, clusters = aligned.human, aligned.judge, aligned.clusters
    gaps = judge - people
    try:
        limits = bland_altman(people.tolist(), judge.tolist(), level=level)
    except NotEnoughDataError:
        limits = None
    use = estimate_or_undefined(
        lambda: scale_use(people.tolist(), judge.tolist(), clusters=clusters, level=level),
        level=level,
    )
    return Leniency(
        judge_mean=clustered_mean(judge.tolist(), clusters, level=level),
        human_mean=clustered_mean(people.tolist(), clusters, level=level),
        bias=clustered_mean(gaps.tolist(), clusters, level=level),
        mae=clustered_mean(np.abs(gaps).tolist(), clusters, level=level),
        rmse=sqrt(float((gaps**2).mean())) if len(gaps) else nan,
        loa_low=nan if limits is None else limits.loa_low,
        loa_high=nan if limits is None else limits.loa_high,
        trend=nan if limits is None else limits.trend,
        scale_use=use,
        judge_levels=_levels(aligned, aligned.judge_level),
        human_levels=_levels(aligned, aligned.human_level),
    )


def _of_categories(aligned: AlignedItems, level: float) -> Leniency:
    """Nobody is lenient where no category is higher than another; only their use can be counted."""
    none = undefined_estimate(NO_ORDER, n=len(aligned.both), method="t", level=level)
    return Leniency(
        judge_mean=none,
        human_mean=none,
        bias=none,
        mae=none,
        rmse=nan,
        loa_low=nan,
        loa_high=nan,
        trend=nan,
        scale_use=none,
        judge_levels=_levels(aligned, aligned.judge_level),
        human_levels=_levels(aligned, aligned.human_level),
    )


def judge_steadiness(aligned: AlignedItems, *, level: float) -> Steadiness | None:
    """How far the judge agrees with itself."""
    items = [*aligned.items, *aligned.unlabelled]
    if not any(len(item.samples) >= _TWICE for item in items):
        return None
    known = [_known(item) for item in items]
    several = [(row, item) for row, item in zip(known, items, strict=True) if len(row) >= _TWICE]
    rows = [list(item.samples) for item in items]
    clusters = [item.cluster for item in items]
    names = clusters if len(set(clusters)) < len(clusters) else None
    # Of each item by itself: the spread between items is not the judge's unsteadiness.
    spreads = [float(np.std(row, ddof=1)) for row, _ in several]
    return Steadiness(
        n_items=len(several),
        n_unusable=sum(s is None for item in items for s in item.samples),
        all_equal=clustered_rate(
            [float(len(set(row)) == 1) for row, _ in several],
            [item.cluster for _, item in several] if names else None,
            level=level,
        ),
        within_sd=float(np.mean(spreads)) if spreads and not aligned.is_nominal else nan,
        alpha_interval=scale_alpha(aligned, rows, "interval", clusters=names, level=level),
        alpha_ordinal=scale_alpha(aligned, rows, "ordinal", clusters=names, level=level),
        alpha_nominal=scale_alpha(aligned, rows, "nominal", clusters=names, level=level),
    )


def _known(item: JudgedItem) -> list[float]:
    return sorted(s for s in item.samples if s is not None and not isnan(s))


def _levels(aligned: AlignedItems, scores: np.ndarray) -> Granularity | None:
    if aligned.levels is None or not len(scores):
        return None
    return granularity(scores.tolist(), aligned.levels)
