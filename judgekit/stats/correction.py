"""Means of judge scores corrected by human labels, by the estimator that fits their sampling.

The estimators are also in `ppi` and `rogan_gladen`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan, nan, sqrt

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import (
    Estimate,
    LabelsAre,
    Result,
    in_units,
    known_observations,
    undefined_estimate,
)
from judgekit.stats.intervals import difference_of_proportions, mean, proportion, wilson
from judgekit.stats.missing import (
    DIGITS,
    cluster_codes,
    count_units,
    floats,
    known_pairs,
    known_scores,
)
from judgekit.stats.ppi import (
    LabelledScores,
    LamTuning,
    crossfit_isotonic_mean,
    ppi_mean,
    stratified_ppi_mean,
)
from judgekit.stats.quantiles import check_level, normal_quantile, t_quantile
from judgekit.stats.rogan_gladen import allocate_labels, corrected_pass_rate, judge_rates

__all__ = [
    "active_mean",
    "allocate_labels",
    "corrected_pass_rate",
    "crossfit_isotonic_mean",
    "judge_rates",
    "poststratified_mean",
    "ppi_mean",
    "stratified_ppi_mean",
]

_MIN_LABELS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCheck(Estimate):
    """The judge's mean on labelled items, less that on the others."""

    z: float
    """The difference in standard errors; nan where nothing varies."""

    looks_random: bool | None
    """False where |z| is above 2 (with clusters: the 95 % quantile of t); None without a z."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedMean(Result):
    """A judge's mean, before and after correction by labels."""

    corrected: Estimate
    """The corrected mean; nan with the reason where the labels do not allow one."""

    raw: Estimate
    """The judge's own mean over the items of the target."""

    labels_only: Estimate
    """The mean of the labels alone; it says nothing of the target where they are from elsewhere."""

    estimator: str
    """`post-stratified`, `ppi++` or `rogan-gladen`."""

    n_labels: int
    """Labels used."""

    n_labels_saved: float
    """Further labels that would be needed for the same precision without a judge; or nan."""

    check: LabelCheck | None
    """Whether the labels can be a random subset; None where they do not claim to be one."""

    warnings: tuple[str, ...]
    """A caveat."""


def corrected_mean(
    labels: Sequence[float | None],
    judge_labeled: Sequence[float | None],
    judge_unlabeled: Sequence[float | None],
    *,
    labels_are: LabelsAre,
    tuning: LamTuning = "plug-in",
    clusters: tuple[Sequence[Hashable], Sequence[Hashable]] | None = None,
    level: float = 0.95,
) -> CorrectedMean:
    """A judge's mean corrected by human labels, with the estimator that fits their sampling.

    Labels of a random subset of the scored items: post-stratified for pass/fail, PPI++ else, and
    with `clusters` (the case of each labelled item, and of each other item) always PPI++.
    Labels from elsewhere (another system, another month, balanced by design) identify the judge's
    error rates only: Rogan & Gladen, for pass/fail, the counts divided by the design effect of the
    cases; `judge_unlabeled` is then the whole target. Used on the other kind of labels, either
    estimator is wrong without a warning, so the caller states the kind. Labels that the judge's
    prompt was tuned on must not be used.

    Never a mean without its interval: refused with a reason below 20 labels (10 a class for Rogan
    & Gladen), or where the judge may be no better than chance. `raw` and `labels_only` treat items
    as independent.
    """
    if labels_are not in ("random", "other"):
        raise ValueError(f"labels are {labels_are!r}; say whether they are random or other")
    data = LabelledScores.of(labels, judge_labeled, judge_unlabeled, clusters)
    y, f, others, _, cases = data
    if len(others) == 0:
        raise NotEnoughDataError(f"{len(y)} labelled items and no others to correct")
    binary = bool(np.isin(np.concatenate([y, f, others]), (0, 1)).all())
    if labels_are == "other":
        return _from_elsewhere(data, binary=binary, level=level)
    # Post-stratification has no clustered variance here, and PPI++ has.
    estimator = "post-stratified" if binary and cases is None else "ppi++"
    names = None if cases is None else (cases[0].tolist(), cases[1].tolist())
    sides = [side.tolist() for side in (y, f, others)]
    corrected = _of_random_subset(sides, names, estimator=estimator, tuning=tuning, level=level)
    check = None
    if min(len(y), len(others)) > 1:
        check = labels_look_random(*sides[1:], clusters=names)
    notes = [corrected.note] if corrected.note else []
    if check is not None and check.looks_random is False:
        notes.append(
            f"the judge scores labelled items {check.value:+.3f} from the others ({check.z:+.1f}"
            " standard errors): they do not look like a random subset"
        )
    # A mean of n labels has variance s^2 / n: so many labels would give the same standard error.
    spread = float(y.var(ddof=1)) if len(y) > 1 else nan
    saved = max(0.0, spread / corrected.se**2 - len(y)) if corrected.se > 0 else nan
    return CorrectedMean(
        corrected=corrected,
        raw=_plain(np.concatenate([f, others]), level),
        labels_only=_plain(y, level),
        estimator=estimator,
        n_labels=len(y),
        n_labels_saved=saved,
        check=check,
        warnings=tuple(notes),
    )


def _of_random_subset(
    sides: Sequence[list[float]],
    names: tuple[list[Hashable], list[Hashable]] | None,
    *,
    estimator: str,
    tuning: LamTuning,
    level: float,
) -> Estimate:
    n = len(sides[0])
    reason: str | None = f"{n} labels; a correction needs {_MIN_LABELS}"
    if n >= _MIN_LABELS:
        found: Estimate = (
            ppi_mean(*sides, tuning=tuning, clusters=names, level=level)
            if estimator == "ppi++"
            else poststratified_mean(*sides, level=level)
        )
        if isnan(found.value) or not isnan(found.low):
            return found
        reason = found.reason
    return undefined_estimate(reason or "it has no interval", n=n, method=estimator, level=level)


def _from_elsewhere(data: LabelledScores, *, binary: bool, level: float) -> CorrectedMean:
    y, others = data.y, data.others
    if binary:
        corrected = _rogan_gladen(data, level)
    else:
        # Error rates by class are all that such labels identify; a score has no two classes.
        reason = (
            "labels from elsewhere correct a pass rate only; label a random subset of these items"
        )
        corrected = undefined_estimate(reason, n=len(y), method="rogan-gladen", level=level)
    return CorrectedMean(
        corrected=corrected,
        raw=_plain(others, level),
        labels_only=_plain(y, level),
        estimator="rogan-gladen",
        n_labels=len(y),
        n_labels_saved=nan,
        check=None,
        warnings=("holds only if the judge errs on the target as often as on the labelled items",),
    )


def _rogan_gladen(data: LabelledScores, level: float) -> Estimate:
    y, f, others, _, cases = data
    n_pos, n_neg = int(y.sum()), int((1 - y).sum())
    true_pos, true_neg = int((y * f).sum()), int(((1 - y) * (1 - f)).sum())
    effect, df = (1.0, inf) if cases is None else _case_effect(y, f, others, cases)
    if not df > 0:
        reason = "the labels of a class, or the other items, are of one case"
        return undefined_estimate(reason, n=len(others), method="rogan-gladen, lee", level=level)
    found = corrected_pass_rate(
        int(others.sum()), len(others), true_pos, n_pos, true_neg, n_neg, design_effect=effect,
        df=df, level=level,
    )  # fmt: skip
    if found.reason is not None:
        return found
    # TPR + TNR - 1 is the difference of two rates. Where its interval (Newcombe 1998, from
    # Wilson's) reaches 0 the correction divides by what may be nothing.
    tpr_low, tnr_low = (
        wilson(rate, n / effect, level=level)[0]
        for rate, n in ((found.tpr, n_pos), (found.tnr, n_neg))
    )
    youden = found.tpr + found.tnr - 1
    low = youden - sqrt((found.tpr - tpr_low) ** 2 + (found.tnr - tnr_low) ** 2)
    if low > 0:
        n_cases = None if cases is None else int(np.concatenate(cases).max()) + 1
        return replace(found, n_clusters=n_cases)
    reason = (
        f"TPR + TNR - 1 is {youden:.2f} and may be as low as {low:.2f}: too weak a judge to correct"
        " by, which may be no better than chance"
    )
    return undefined_estimate(reason, n=len(others), method=found.method, level=level)


def _case_effect(
    y: np.ndarray, f: np.ndarray, others: np.ndarray, clusters: tuple[np.ndarray, np.ndarray]
) -> tuple[float, float]:
    """The design effect of cases on Rogan & Gladen's rate, and the degrees of freedom left."""
    # The contribution of each item to the rate by the delta method. The rates are smoothed: with no
    # error seen, nothing would tell how errors of one case go together, and cases then count once.
    tpr, fpr = ((f[y == side].sum() + 1) / ((y == side).sum() + 2) for side in (1, 0))
    p = (others.sum() + 1) / (len(others) + 2)
    youden = max(tpr - fpr, _FLAT)
    rate = min(1.0, max(0.0, (p - fpr) / youden))
    of_labels = np.where(
        y == 1,
        -rate * (f - tpr) / max(1.0, y.sum()),
        -(1 - rate) * (f - fpr) / max(1.0, (1 - y).sum()),
    )
    pulls = np.concatenate([of_labels, (others - p) / len(others)])
    cases = np.bincount(np.concatenate(clusters), pulls)
    # The sample with the fewest cases bounds what is known of the variance between cases.
    fewest = min(
        len(np.unique(part)) for part in (clusters[0][y == 1], clusters[0][y == 0], clusters[1])
    )
    effect = float((cases**2).sum() / (pulls**2).sum()) if pulls.any() else 1.0
    return max(1.0, effect), fewest - 1


def _plain(x: np.ndarray, level: float) -> Estimate:
    if np.isin(x, (0, 1)).all():
        return proportion(int(x.sum()), len(x), level=level)
    return mean(x.tolist(), level=level)


_FLAT = 1e-12

# A gap beyond so many standard errors, or beyond the interval of this level where there are few
# cases, is evidence that the labelled items were selected.
_SUSPECT = 2.0
_EXPECTED = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class PoststratifiedMean(Estimate):
    """Human mean per judge value, weighted by how often the judge gives it."""

    by_value: tuple[tuple[float, float, int, float], ...]
    """For each judge value: the value, human mean, labels, share of all items."""

    merged: tuple[float, ...]
    """Judge values without enough labels, counted with the nearest one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveMean(Estimate):
    """A mean from labels drawn with known probabilities."""

    n_labels: int
    """Labels."""

    max_weight: float
    """Largest 1 / probability of a labelled item."""

    kish_n: float
    """Labels of equal weight that would be worth as much (Kish 1965)."""


def poststratified_mean(
    labels: Sequence[float | None],
    judge_labeled: Sequence[float | None],
    judge_unlabeled: Sequence[float | None],
    *,
    smooth: bool = True,
    level: float = 0.95,
) -> PoststratifiedMean:
    """Human mean per judge value, weighted by how often the judge gives that value.

    `sum W_k m_k` with W_k over all items, labelled or not, and
    `Var = sum W_k^2 s_k^2 / n_k + sum W_k (m_k - mean)^2 / (n + N)` (Holt & Smith 1979). For
    pass/fail labels s_k^2 is that of the rate `(passes + 1/2) / (n_k + 1)`, so that a value of
    which all labels agree does not claim certainty, and each value without a label adds W_k^2 / 4.
    The labelled items have to be a random subset, or one drawn by the judge's value alone.

    Args:
        labels: Human scores; pairs that lack a side are left out.
        judge_labeled: The judge's values of the same items; few distinct ones.
        judge_unlabeled: The judge's values of the other items.
        smooth: Whether pass/fail variances are smoothed.
        level: Confidence level in (0, 1).

    Returns:
        The mean with a normal interval; judge values without labels (without two, where no
        variance is smoothed) are merged with the nearest.

    Raises:
        NotEnoughDataError: When no judge value has enough labels.
    """
    check_level(level)
    y, f, n_missing = known_pairs(labels, judge_labeled)
    f, others = np.round(f, DIGITS), np.round(known_scores(judge_unlabeled), DIGITS)
    smoothed = smooth and bool(np.isin(y, (0, 1)).all())
    values, place, counts = np.unique(f, return_inverse=True, return_counts=True)
    # A smoothed variance exists for one label; a plain one needs two.
    strata = values[counts >= (1 if smoothed else 2)]
    if len(strata) == 0:
        raise NotEnoughDataError("no judge value has labels enough for a variance")
    total = len(y) + len(others)
    own, rest = _nearest(values[place], strata), _nearest(others, strata)
    sizes = np.bincount(own, minlength=len(strata))
    weights = (sizes + np.bincount(rest, minlength=len(strata))) / total
    means = np.bincount(own, y, minlength=len(strata)) / sizes
    value = float((weights * means).sum())
    rate = (np.bincount(own, y) + 0.5) / (sizes + 1)
    spread = (
        rate * (1 - rate) if smoothed else np.bincount(own, (y - means[own]) ** 2) / (sizes - 1)
    )
    # The weights are estimates too: the last term is what their sampling adds (Holt & Smith 1979).
    between = (weights * (means - value) ** 2).sum() / total
    # Humans may pass all or none of a value without labels, whatever the nearest value's mean.
    alone = np.unique(others[~np.isin(others, strata)], return_counts=True)[1] / total
    within = (weights**2 * spread / sizes).sum() + smoothed * (alone**2).sum() / 4
    se = sqrt(within + between)
    half = normal_quantile(level) * se if se > _FLAT else nan
    low, high = value - half, value + half
    if smoothed:
        low, high = (nan if isnan(end) else min(1.0, max(0.0, end)) for end in (low, high))
    return PoststratifiedMean(
        value=value,
        low=low,
        high=high,
        level=level,
        n=len(y),
        n_missing=n_missing + len(judge_unlabeled) - len(others),
        method="post-stratified" + (", smoothed" if smoothed else ""),
        se=se,
        n_observations=total,
        reason=None if se > _FLAT else "labels do not vary within the judge's values",
        by_value=tuple(
            zip(strata.tolist(), means.tolist(), sizes.tolist(), weights.tolist(), strict=True)
        ),
        merged=tuple(sorted({*values.tolist(), *others.tolist()} - {*strata.tolist()})),
    )


def active_mean(
    judge: Sequence[float | None],
    labels: Sequence[float | None],
    probs: Sequence[float | None],
    *,
    level: float = 0.95,
) -> ActiveMean:
    """A mean from labels drawn with known probabilities, more where the judge is unsure.

    `mean(F + (Y - F) drawn / prob)`, SE `sd / sqrt(N)` (Zrnic & Candes 2024, arXiv:2403.03208).
    Without the probability each item was drawn with, such labels are of no use for a mean.

    Args:
        judge: The judge's score of every item.
        labels: The human score where the item was drawn, else None or nan.
        probs: The probability each item was drawn with, in (0, 1].
        level: Confidence level in (0, 1).

    Returns:
        The mean with a normal interval. Items without a judge score are left out and counted.

    Raises:
        NotEnoughDataError: When fewer than two items are scored, or none is labelled.
    """
    z = normal_quantile(level)
    if not len(judge) == len(labels) == len(probs):
        raise ValueError(f"{len(judge)} scores, {len(labels)} labels, {len(probs)} probabilities")
    f, y, p = (floats(x) for x in (judge, labels, probs))
    f, y, p = f[~np.isnan(f)], y[~np.isnan(f)], p[~np.isnan(f)]
    labelled = ~np.isnan(y)
    if not ((p[labelled] > 0) & (p[labelled] <= 1)).all():
        raise ValueError("the probability of a labelled item lies outside (0, 1]")
    if len(f) < 2 or not labelled.any():  # noqa: PLR2004 - a variance needs two
        raise NotEnoughDataError("a mean needs two scored items and one label")
    weight = 1 / p[labelled]
    terms = f.copy()
    # Weighted by 1 / probability, the judge's errors on the labelled items stand for all items.
    terms[labelled] += (y[labelled] - f[labelled]) * weight
    se = float(terms.std(ddof=1)) / sqrt(len(f))
    value, half = float(terms.mean()), z * se if se > _FLAT else nan
    return ActiveMean(
        value=value,
        low=value - half,
        high=value + half,
        level=level,
        n=len(f),
        n_missing=len(judge) - len(f),
        method="active, inverse probability",
        se=se,
        reason=None if se > _FLAT else "no variation",
        n_labels=int(labelled.sum()),
        max_weight=float(weight.max()),
        kish_n=float(weight.sum() ** 2 / (weight**2).sum()),
    )


def labels_look_random(
    judge_labeled: Sequence[float | None],
    judge_unlabeled: Sequence[float | None],
    *,
    clusters: tuple[Sequence[Hashable], Sequence[Hashable]] | None = None,
    level: float = 0.95,
) -> LabelCheck:
    """Whether the labelled items can be a random subset, judging by the judge's scores.

    The judge's mean on labelled items less that on the others, with Newcombe's interval for
    pass/fail scores and Welch's (1947) for others; with `clusters`, the cases of both, by sums of
    cases and t(G - 1). A difference of more than two standard errors shows that labels were chosen
    by something the judge sees; a smaller one proves nothing.
    """
    check_level(level)
    sides = judge_labeled, judge_unlabeled
    a, b = map(known_scores, sides)
    if min(len(a), len(b)) < 2:  # noqa: PLR2004 - a variance needs two
        raise NotEnoughDataError("two scores of labelled and of unlabelled items are needed")
    codes = None
    if clusters is not None:
        both = zip(sides, clusters, strict=True)
        names = [name for side, own in both for name in known_observations(side, own)[1]]
        codes = cluster_codes(names, range(len(names)))
    binary = codes is None and bool(np.isin(np.concatenate([a, b]), (0, 1)).all())
    value, (se, df) = float(a.mean() - b.mean()), _error_of_difference(a, b, codes)
    pooled = float(np.concatenate([a, b]).var()) * (1 / len(a) + 1 / len(b))
    scale = sqrt(pooled) if binary else se
    z = value / scale if scale > _FLAT else nan
    half = t_quantile(level, df) * se
    low, high = value - half, value + half
    if binary:
        exact = difference_of_proportions(int(a.sum()), len(a), int(b.sum()), len(b), level=level)
        low, high, df = exact.low, exact.high, nan
    method = "newcombe" if binary else "welch" if codes is None else "sums of cases"
    largest = _SUSPECT if codes is None else t_quantile(_EXPECTED, df)
    flat = "one cluster only" if isnan(se) else "the judge's scores do not vary"
    return LabelCheck(
        value=value,
        low=low,
        high=high,
        level=level,
        **in_units(method, count_units(codes, len(a) + len(b)), clustered=codes is not None),
        n_missing=sum(map(len, sides)) - len(a) - len(b),
        se=se,
        df=df,
        reason=None if low < high else flat,
        z=z,
        looks_random=None if isnan(z) else abs(z) <= largest,
    )


def _error_of_difference(
    a: np.ndarray, b: np.ndarray, codes: np.ndarray | None
) -> tuple[float, float]:
    """The standard error of the difference of two means, and its degrees of freedom or nan."""
    if codes is None:
        parts = float(a.var(ddof=1)) / len(a), float(b.var(ddof=1)) / len(b)
        se = sqrt(sum(parts))
        spread = sum(v * v / (len(x) - 1) for v, x in zip(parts, (a, b), strict=True))
        return se, se**4 / spread if se > _FLAT else nan
    # What each case contributes to the difference; one on both sides counts once.
    pulls = np.concatenate([(a - a.mean()) / len(a), -(b - b.mean()) / len(b)])
    cases = np.bincount(codes, pulls)
    n = len(cases)
    se = sqrt(float((cases**2).sum()) * n / (n - 1)) if n > 1 else nan
    return se, n - 1 if se > _FLAT else nan


def _nearest(x: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The position of the nearest of some values; the lower of two as near."""
    gaps = np.abs(x[:, None] - values)
    return np.asarray(np.argmin(np.round(gaps, DIGITS), axis=1))
