"""Means of judge scores corrected by human labels.

With the estimator that fits how the labels were sampled. The estimators are also in `ppi` and
`rogan_gladen`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Estimate, Result, undefined_estimate
from judgekit.stats.intervals import difference_of_proportions, mean, proportion
from judgekit.stats.missing import DIGITS, floats, known_pairs, known_scores
from judgekit.stats.ppi import (
    CrossfitMean,
    PPIMean,
    StratifiedMean,
    Stratum,
    crossfit_isotonic_mean,
    ppi_mean,
    stratified_ppi_mean,
)
from judgekit.stats.quantiles import check_level, normal_quantile, t_quantile
from judgekit.stats.rogan_gladen import (
    CorrectedRate,
    JudgeRates,
    LabelAllocation,
    allocate_labels,
    corrected_pass_rate,
    judge_rates,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "ActiveMean",
    "CorrectedMean",
    "CorrectedRate",
    "CrossfitMean",
    "JudgeRates",
    "LabelAllocation",
    "LabelCheck",
    "LabelsAre",
    "PPIMean",
    "PoststratifiedMean",
    "StratifiedMean",
    "Stratum",
    "active_mean",
    "allocate_labels",
    "corrected_mean",
    "corrected_pass_rate",
    "crossfit_isotonic_mean",
    "judge_rates",
    "labels_look_random",
    "poststratified_mean",
    "ppi_mean",
    "stratified_ppi_mean",
]

LabelsAre = Literal["random", "other"]
_MIN_LABELS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCheck(Estimate):
    """The judge's mean on labelled items, less that on the others."""

    z: float
    """The difference in standard errors; nan where nothing varies."""

    looks_random: bool | None
    """False where |z| is above 2; None where it cannot be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedMean(Result):
    """A judge's mean, and what labels make of it."""

    corrected: Estimate
    """The corrected mean; nan with the reason where the labels do not allow one."""

    raw: Estimate
    """The judge's own mean over all items it is asked about."""

    labels_only: Estimate
    """The mean of the labels alone; it says nothing of the target where they are from elsewhere."""

    estimator: str
    """`post-stratified`, `ppi++` or `rogan-gladen`."""

    n_labels: int
    """Labels used."""

    n_labels_saved: float
    """Further labels that would be needed for the same precision without a judge; or nan."""

    check: LabelCheck | None
    """Whether the labels can be a random subset, where they are said to be one."""

    warnings: tuple[str, ...]
    """What to bear in mind."""


def corrected_mean(
    labels: Sequence[float | None],
    judge_labeled: Sequence[float | None],
    judge_unlabeled: Sequence[float | None],
    *,
    labels_are: LabelsAre,
    level: float = 0.95,
) -> CorrectedMean:
    """A judge's mean corrected by labels, by the estimator that fits how these were drawn.

    Labels of a random subset of the scored items: post-stratified for pass/fail, PPI++ else.
    Labels from elsewhere (another system, another month, balanced by design) identify the judge's
    error rates only: Rogan & Gladen, for pass/fail. The two fail each other's case without a
    sign, so the caller has to say; labels the judge's prompt was tuned on must not be used.

    Args:
        labels: Human scores; pairs that lack a side are left out.
        judge_labeled: The judge's scores of the same items.
        judge_unlabeled: The judge's scores of the items without a label: with `other` labels,
            the whole target.
        labels_are: `random` or `other`.
        level: Confidence level in (0, 1).

    Returns:
        The corrected mean beside the raw one. Refused with a reason below 20 labels (10 a class
        for Rogan & Gladen), or where the judge cannot be told from chance.

    Raises:
        ValueError: When lengths differ or `labels_are` is neither.
        NotEnoughDataError: When there is no label, or no score of another item.
    """
    check_level(level)
    if labels_are not in ("random", "other"):
        raise ValueError(f"labels are {labels_are!r}; say whether they are random or other")
    y, f, _ = known_pairs(labels, judge_labeled)
    others = known_scores(judge_unlabeled)
    if len(y) == 0 or len(others) == 0:
        raise NotEnoughDataError(f"{len(y)} labelled items and {len(others)} others to correct")
    binary = bool(np.isin(np.concatenate([y, f, others]), (0, 1)).all())
    if labels_are == "other":
        return _from_elsewhere(y, f, others, binary=binary, level=level)
    estimator = "post-stratified" if binary else "ppi++"
    fit = poststratified_mean if binary else ppi_mean
    scores = y.tolist(), f.tolist(), others.tolist()
    reason = f"{len(y)} labels; a correction needs {_MIN_LABELS}"
    corrected = (
        undefined_estimate(reason, n=len(y), method=estimator, level=level)
        if len(y) < _MIN_LABELS
        else fit(*scores, level=level)
    )
    check = (
        labels_look_random(f.tolist(), others.tolist()) if min(len(y), len(others)) > 1 else None
    )
    return CorrectedMean(
        corrected=corrected,
        raw=_plain(np.concatenate([f, others]), level),
        labels_only=_plain(y, level),
        estimator=estimator,
        n_labels=len(y),
        n_labels_saved=_saved(y, corrected),
        check=check,
        warnings=_warnings(corrected, check),
    )


def _from_elsewhere(
    y: np.ndarray, f: np.ndarray, others: np.ndarray, *, binary: bool, level: float
) -> CorrectedMean:
    return CorrectedMean(
        corrected=_rogan_gladen(y, f, others, level) if binary else _unidentified(y, level),
        raw=_plain(others, level),
        labels_only=_plain(y, level),
        estimator="rogan-gladen",
        n_labels=len(y),
        n_labels_saved=nan,
        check=None,
        warnings=("holds only if the judge errs on the target as often as on the labelled items",),
    )


def _rogan_gladen(y: np.ndarray, f: np.ndarray, others: np.ndarray, level: float) -> Estimate:
    n_pos, n_neg = int(y.sum()), int((1 - y).sum())
    true_pos, true_neg = int((y * f).sum()), int(((1 - y) * (1 - f)).sum())
    found = corrected_pass_rate(
        int(others.sum()), len(others), true_pos, n_pos, true_neg, n_neg, level=level
    )
    better = difference_of_proportions(true_pos, n_pos, n_neg - true_neg, n_neg, level=level)
    if found.reason is not None or better.low > 0:
        return found
    reason = (
        f"TPR + TNR - 1 is {better.value:.2f} [{better.low:.2f}, {better.high:.2f}]: too weak a"
        " judge to correct by, it cannot be told from chance"
    )
    return undefined_estimate(reason, n=len(others), method=found.method, level=level)


def _unidentified(y: np.ndarray, level: float) -> Estimate:
    reason = "labels from elsewhere correct a pass rate only; label a random subset of these items"
    return undefined_estimate(reason, n=len(y), method="rogan-gladen", level=level)


def _plain(x: np.ndarray, level: float) -> Estimate:
    if np.isin(x, (0, 1)).all():
        return proportion(int(x.sum()), len(x), level=level)
    return mean(x.tolist(), level=level)


def _saved(y: np.ndarray, corrected: Estimate) -> float:
    spread = float(y.var(ddof=1)) if len(y) > 1 else nan
    return max(0.0, spread / corrected.se**2 - len(y)) if corrected.se > 0 else nan


def _warnings(corrected: Estimate, check: LabelCheck | None) -> tuple[str, ...]:
    notes = [corrected.note] if corrected.note else []
    if check is not None and check.looks_random is False:
        notes.append(
            f"the judge scores labelled items {check.value:+.3f} from the others ({check.z:+.1f}"
            " standard errors): they do not look like a random subset"
        )
    return tuple(notes)


_FLAT = 1e-12
_SUSPECT = 2.0


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
    which all labels agree does not claim certainty. The labelled items have to be a random
    subset, or one drawn by the judge's value alone.

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
        ValueError: When lengths differ.
        NotEnoughDataError: When no judge value has enough labels.
    """
    z = normal_quantile(level)
    y, f, n_missing = known_pairs(labels, judge_labeled)
    others = known_scores(judge_unlabeled)
    f, others = np.round(f, DIGITS), np.round(others, DIGITS)
    smoothed = smooth and bool(np.isin(y, (0, 1)).all())
    values, place, counts = np.unique(f, return_inverse=True, return_counts=True)
    kept = values[counts >= (1 if smoothed else 2)]
    if len(kept) == 0:
        raise NotEnoughDataError("no judge value has labels enough for a variance")
    total = len(y) + len(others)
    own, rest = _nearest(values[place], kept), _nearest(others, kept)
    weights = (
        np.bincount(own, minlength=len(kept)) + np.bincount(rest, minlength=len(kept))
    ) / total
    sizes = np.bincount(own, minlength=len(kept))
    means = np.bincount(own, y, minlength=len(kept)) / sizes
    value = float((weights * means).sum())
    within = _spread(y, own, means, sizes, smoothed=smoothed)
    between = float((weights * (means - value) ** 2).sum()) / total
    se = sqrt(float((weights**2 * within / sizes).sum()) + between)
    half = z * se if se > _FLAT else nan
    low, high = value - half, value + half
    if smoothed:
        low, high = (nan if isnan(end) else min(1.0, max(0.0, end)) for end in (low, high))
    seen = set(values.tolist()) | set(others.tolist())
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
            zip(kept.tolist(), means.tolist(), sizes.tolist(), weights.tolist(), strict=True)
        ),
        merged=tuple(sorted(seen - set(kept.tolist()))),
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
        ValueError: When lengths differ, or the probability of a labelled item lies outside (0, 1].
        NotEnoughDataError: When fewer than two items are scored, or none is labelled.
    """
    z = normal_quantile(level)
    if not len(judge) == len(labels) == len(probs):
        raise ValueError(f"{len(judge)} scores, {len(labels)} labels, {len(probs)} probabilities")
    f, y, p = (floats(x) for x in (judge, labels, probs))
    f, y, p = f[~np.isnan(f)], y[~np.isnan(f)], p[~np.isnan(f)]
    drawn = ~np.isnan(y)
    if not ((p[drawn] > 0) & (p[drawn] <= 1)).all():
        raise ValueError("the probability of a labelled item lies outside (0, 1]")
    if len(f) < 2 or not drawn.any():  # noqa: PLR2004 - a variance needs two
        raise NotEnoughDataError("a mean needs two scored items and one label")
    weight = 1 / p[drawn]
    terms = f.copy()
    terms[drawn] += (y[drawn] - f[drawn]) * weight
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
        n_labels=int(drawn.sum()),
        max_weight=float(weight.max()),
        kish_n=float(weight.sum() ** 2 / (weight**2).sum()),
    )


def labels_look_random(
    judge_labeled: Sequence[float | None],
    judge_unlabeled: Sequence[float | None],
    *,
    level: float = 0.95,
) -> LabelCheck:
    """Can the labelled items be a random subset, to go by the judge's scores?

    The judge's mean on labelled items less that on the others: Newcombe's interval where the
    scores are pass/fail, Welch's (1947) else. A difference of more than two standard errors says
    that labels were chosen by something the judge sees; the contrary proves nothing.

    Args:
        judge_labeled: The judge's scores of labelled items; None and nan are left out.
        judge_unlabeled: The judge's scores of the others.
        level: Confidence level in (0, 1).

    Returns:
        The difference, z and what it says.

    Raises:
        NotEnoughDataError: When either side has fewer than two scores.
    """
    check_level(level)
    a, b = known_scores(judge_labeled), known_scores(judge_unlabeled)
    if min(len(a), len(b)) < 2:  # noqa: PLR2004 - a variance needs two
        raise NotEnoughDataError("two scores of labelled and of unlabelled items are needed")
    binary = bool(np.isin(np.concatenate([a, b]), (0, 1)).all())
    parts = float(a.var(ddof=1)) / len(a), float(b.var(ddof=1)) / len(b)
    value, se = float(a.mean() - b.mean()), sqrt(sum(parts))
    pooled = float(np.concatenate([a, b]).var()) * (1 / len(a) + 1 / len(b))
    scale = sqrt(pooled) if binary else se
    z = value / scale if scale > _FLAT else nan
    if binary:
        exact = difference_of_proportions(int(a.sum()), len(a), int(b.sum()), len(b), level=level)
        low, high, df = exact.low, exact.high, nan
    else:
        low, high, df = _welch(value, parts, (len(a), len(b)), level)
    return LabelCheck(
        value=value,
        low=low,
        high=high,
        level=level,
        n=len(a) + len(b),
        n_missing=len(judge_labeled) + len(judge_unlabeled) - len(a) - len(b),
        method="newcombe" if binary else "welch",
        se=se,
        df=df,
        reason=None if low < high else "the judge's scores do not vary",
        z=z,
        looks_random=None if isnan(z) else abs(z) <= _SUSPECT,
    )


def _nearest(x: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The place of the nearest kept value; the lower of two as near."""
    gaps = np.abs(x[:, None] - kept)
    return np.asarray(np.argmin(np.round(gaps, DIGITS), axis=1))


def _spread(
    y: np.ndarray, group: np.ndarray, means: np.ndarray, sizes: np.ndarray, *, smoothed: bool
) -> np.ndarray:
    """Variance of the labels of each judge value."""
    if smoothed:
        rate = (np.bincount(group, y) + 0.5) / (sizes + 1)
        return np.asarray(rate * (1 - rate))
    return np.asarray(np.bincount(group, (y - means[group]) ** 2) / (sizes - 1))


def _welch(
    value: float, parts: tuple[float, float], sizes: tuple[int, int], level: float
) -> tuple[float, float, float]:
    variance = sum(parts)
    if not variance > _FLAT**2:
        return nan, nan, nan
    df = variance**2 / sum(v * v / (n - 1) for v, n in zip(parts, sizes, strict=True))
    half = t_quantile(level, df) * sqrt(variance)
    return value - half, value + half, df
