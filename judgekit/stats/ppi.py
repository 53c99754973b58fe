"""Prediction-powered inference: means from few human labels and many judge scores."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan, sqrt
from typing import Literal, NamedTuple, NotRequired, TypedDict, get_args

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.calibration import fit_isotonic
from judgekit.stats.estimate import Estimate, by_place, carried, in_units
from judgekit.stats.missing import (
    cluster_codes,
    count_units,
    fold_codes,
    known_columns,
    known_pairs,
    known_scores,
)
from judgekit.stats.quantiles import check_choice, normal_quantile, t_quantile

Quantile = Literal["t", "normal"]
LamTuning = Literal["plug-in", "leave-one-out"]

# Below these counts a tuned lam is noise and the variance of the labels is underestimated.
_FEW_LABELS, _SOME_LABELS = 20, 50
_FLAT = 1e-12


class Stratum(TypedDict):
    """One stratum of outputs, fixed before labels were drawn."""

    labels: Sequence[float | None]
    judge_labeled: Sequence[float | None]
    judge_unlabeled: Sequence[float | None]
    weight: NotRequired[float]
    lam: NotRequired[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PPIMean(Estimate):
    """A mean of human scores, made more precise by a judge."""

    lam: float
    """Weight of the judge's scores: 0 labels only, 1 fully."""

    n_unlabeled: int
    """Judge scores without a label."""

    n_effective: float
    """Labels alone that would be as precise; nan where undefined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StratifiedMean(Estimate):
    """A mean over strata."""

    lam: tuple[float, ...]
    """Weight of the judge's scores in each stratum."""

    weights: tuple[float, ...]
    """Share of each stratum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossfitMean(Estimate):
    """A mean from scores recalibrated out of fold."""

    oof: tuple[float, ...]
    """The labelled items' recalibrated scores, each from a map that has not seen it."""

    n_unlabeled: int
    """Judge scores without a label."""


def ppi_mean(
    labels: Sequence[float | None],
    judge_labeled: Sequence[float | None],
    judge_unlabeled: Sequence[float | None],
    *,
    lam: float | None = None,
    tuning: LamTuning = "plug-in",
    quantile: Quantile = "t",
    clusters: tuple[Sequence[Hashable], Sequence[Hashable]] | None = None,
    level: float = 0.95,
) -> PPIMean:
    """A mean from few human labels and many judge scores (PPI++).

    `lam mean(F') + mean(Y - lam F)` with `SE^2 = lam^2 Var(F') / N + Var(Y - lam F) / n`; tuned,
    `lam = Cov(Y, F) / ((1 + n/N) Var(F, F'))` clipped to [0, 1] (Angelopoulos, Duchi & Zrnic
    2023, arXiv:2311.01453). Right whatever the judge's errors, provided the labelled items are a
    random subset; with others it is wrong without a warning: see `labels_look_random`.

    Args:
        labels: Human scores; pairs that lack a side are left out.
        judge_labeled: The judge's scores of the same items.
        judge_unlabeled: The judge's scores of the other items; None and nan are left out.
        lam: Weight of the judge in [0, 1]; None tunes it.
        tuning: `plug-in` tunes one weight on all labels, which makes intervals of few labels too
            short; `leave-one-out` tunes that of each labelled item (or case) on the others.
        quantile: `t` with n - 1 degrees of freedom, or `normal`.
        clusters: The cases of the labelled and of the other items; variances are then of case
            totals, and t counts cases.
        level: Confidence level in (0, 1).

    Returns:
        The mean; a constant judge has weight 0. `n` counts labelled items (or cases). Without
        variation there is no interval.
    """
    _check_lam(lam)
    check_choice("quantile", quantile, get_args(Quantile))
    check_choice("tuning", tuning, get_args(LamTuning))
    data = LabelledScores.of(labels, judge_labeled, judge_unlabeled, clusters)
    weight: float | np.ndarray = 0.0
    if lam is None:
        weight = data.tuned() if tuning == "plug-in" else data.tuned_without_each()
    elif len(data.others):
        weight = lam
    value, se = data.mean(weight)
    n = data.n_units
    reason = _no_width(se, n)
    z = t_quantile(level, n - 1) if quantile == "t" else normal_quantile(level)
    half = nan if reason else z * se
    tuned = "" if tuning == "plug-in" or lam is not None else f", {tuning}"
    labels_only = _variance_of_mean(data.y, data.cases[0] if data.cases else None)
    n_effective = n * labels_only / se**2 if reason is None else nan
    return PPIMean(
        value=value,
        low=value - half,
        high=value + half,
        level=level,
        **in_units(f"ppi++, {quantile}{tuned}", n, clustered=clusters is not None),
        n_missing=data.n_missing,
        se=se,
        df=n - 1,
        n_observations=len(data.y),
        reason=reason,
        note=_note(n, data, lam),
        lam=float(np.mean(weight)),
        n_unlabeled=len(data.others),
        n_effective=n_effective,
    )


def stratified_ppi_mean(strata: Sequence[Stratum], *, level: float = 0.95) -> StratifiedMean:
    """PPI within strata fixed in advance (Fisch et al. 2024, arXiv:2406.04291).

    `sum W_k m_k` with `SE^2 = sum W_k^2 SE_k^2`. A stratum of 20 labels or more tunes its own
    lam, smaller ones share one.

    Args:
        strata: Each with labels, judge_labeled, judge_unlabeled, and where wanted its weight
            (its share of the target; without, its share of the items) and lam.
        level: Confidence level in (0, 1).

    Returns:
        The mean with a normal interval; `n` counts labelled items.

    Raises:
        ValueError: When weights are not positive, or given to some strata only.
        NotEnoughDataError: When there is no stratum, or one has no label.
    """
    z = normal_quantile(level)
    if not strata:
        raise NotEnoughDataError("no stratum was given")
    data = [
        LabelledScores.of(s["labels"], s["judge_labeled"], s["judge_unlabeled"], None)
        for s in strata
    ]
    own = [s["weight"] for s in strata if "weight" in s]
    if own and len(own) < len(strata):
        raise ValueError("some strata have a weight and some have none")
    weights = own or [float(len(d.y) + len(d.others)) for d in data]
    if not all(0 < w < inf for w in weights):
        raise ValueError("a stratum's weight is not more than 0, or infinite")
    weights = [w / sum(weights) for w in weights]
    y, f, others = map(np.concatenate, zip(*(d[:3] for d in data), strict=True))
    common = LabelledScores(y, f, others, n_missing=0).tuned()
    # A small stratum borrows the common lam: tuned on a few labels it would fit their noise.
    lams = []
    for stratum, d in zip(strata, data, strict=True):
        lam = stratum.get("lam")
        _check_lam(lam)
        if lam is None:
            lam = d.tuned() if len(d.y) >= _FEW_LABELS else common
        lams.append(lam if len(d.others) else 0.0)
    means = [d.mean(lam) for d, lam in zip(data, lams, strict=True)]
    value = float(sum(w * m for w, (m, _) in zip(weights, means, strict=True)))
    se = sqrt(sum((w * s) ** 2 for w, (_, s) in zip(weights, means, strict=True)))
    n = sum(len(d.y) for d in data)
    reason = _no_width(se, n)
    half = z * se if reason is None else nan
    return StratifiedMean(
        value=value,
        low=value - half,
        high=value + half,
        level=level,
        n=n,
        n_missing=sum(d.n_missing for d in data),
        method="stratified ppi++, normal",
        se=se,
        reason=reason,
        lam=tuple(lams),
        weights=tuple(weights),
    )


def crossfit_isotonic_mean(
    labels: Sequence[float | None],
    judge_labeled: Sequence[float | None],
    judge_unlabeled: Sequence[float | None],
    folds: Sequence[Hashable] | int = 5,
    *,
    level: float = 0.95,
) -> CrossfitMean:
    """PPI on scores that an isotonic map, fitted out of fold, converts to the human scale.

    Each fold's items get the map fitted on the other folds, items without a label the mean of all
    maps; then PPI with weight 1 (cross-PPI, Zrnic & Candes 2024; Landesberg & Narayan 2025,
    arXiv:2512.11150). For judges that are monotone but warped, with 50 labels or more.

    Args:
        labels: Human scores; pairs that lack a side are left out.
        judge_labeled: The judge's scores of the same items.
        judge_unlabeled: The judge's scores of the other items.
        folds: The fold of each labelled item (keep a case in one), or how many to deal in turn.
        level: Confidence level in (0, 1).

    Returns:
        The mean with a t interval, and the recalibrated scores of the labelled items.

    Raises:
        NotEnoughDataError: When there are fewer than two folds, or no unlabelled score.
    """
    y, f, n_missing = known_pairs(labels, judge_labeled)
    others = known_scores(judge_unlabeled)
    fold = fold_codes(folds, labels, judge_labeled)
    if len(others) == 0:
        raise NotEnoughDataError("no score of an item without a label")
    maps = [fit_isotonic(f[fold != k].tolist(), y[fold != k].tolist()) for k in np.unique(fold)]
    oof = np.empty(len(y))
    for k, of_fold in enumerate(maps):
        oof[fold == k] = of_fold.predict(f[fold == k])
    # No fold used the unlabelled items, so every map predicts them out of fold.
    recalibrated = np.mean([of_fold.predict(others) for of_fold in maps], axis=0)
    # Weight 1 as in cross-PPI: recalibrated scores are on the human scale already.
    found = ppi_mean(y.tolist(), oof.tolist(), recalibrated.tolist(), lam=1.0, level=level)
    return CrossfitMean(
        **carried(
            found,
            n_missing=n_missing + len(judge_unlabeled) - len(others),
            method=f"cross-fitted isotonic ppi, {len(maps)} folds, t",
            n_observations=None,
        ),
        oof=tuple(oof.tolist()),
        n_unlabeled=len(others),
    )


def _check_lam(lam: float | None) -> None:
    if lam is not None and not 0 <= lam <= 1:
        raise ValueError(f"lam is {lam}; it lies in [0, 1]")


class LabelledScores(NamedTuple):
    """Labels y, judge scores f of the same items, judge scores of others; cases of both."""

    y: np.ndarray
    f: np.ndarray
    others: np.ndarray
    n_missing: int
    cases: tuple[np.ndarray, np.ndarray] | None = None

    @classmethod
    def of(
        cls,
        labels: Sequence[float | None],
        judge_labeled: Sequence[float | None],
        judge_unlabeled: Sequence[float | None],
        clusters: tuple[Sequence[Hashable], Sequence[Hashable]] | None,
    ) -> LabelledScores:
        """The known scores; cases are numbered in order of appearance, labelled items first."""
        (y, f), known = known_columns(labels, judge_labeled)
        (others,), rest = known_columns(judge_unlabeled)
        if len(y) == 0:
            raise NotEnoughDataError("no item has both a label and a judge score")
        n_missing = len(labels) - len(y) + len(judge_unlabeled) - len(others)
        if clusters is None:
            return cls(y, f, others, n_missing)
        sizes = len(labels), len(judge_unlabeled)
        if (len(clusters[0]), len(clusters[1])) != sizes:
            raise ValueError(f"{sizes[0]} and {sizes[1]} items; each needs the name of its case")
        cases = zip(map(by_place, clusters), (known, rest), strict=True)
        names = [case[i] for case, places in cases for i in places]
        codes = cluster_codes(names, range(len(names)))
        return cls(y, f, others, n_missing, (codes[: len(y)], codes[len(y) :]))

    @property
    def n_units(self) -> int:
        """Labelled items, or cases of them."""
        return count_units(self.cases and self.cases[0], len(self.y))

    def tuned(self) -> float:
        """The weight of the judge that gives the mean the least variance."""
        n, rest = len(self.y), len(self.others)
        if rest == 0 or n < 2:  # noqa: PLR2004 - a covariance needs two
            return 0.0
        spread = float(np.concatenate([self.f, self.others]).var(ddof=1))
        # A judge that gives one score has no information: dividing by rounding errors would make
        # lam arbitrary.
        if spread <= _FLAT * max(1.0, float(np.abs(self.f).max())) ** 2:
            return 0.0
        shared = float(((self.y - self.y.mean()) * (self.f - self.f.mean())).mean())
        # Angelopoulos et al. (2023), PPI++: the lam of least variance, kept in [0, 1].
        return min(1.0, max(0.0, shared / ((1 + n / rest) * spread)))

    def tuned_without_each(self) -> np.ndarray:
        """For each labelled item, the lam of `tuned` without its own unit."""
        rest = len(self.others)
        if rest == 0 or self.n_units < 3:  # noqa: PLR2004 - a covariance needs two others
            return np.zeros(len(self.y))
        unit = np.arange(len(self.y)) if self.cases is None else self.cases[0]
        # Centred, so that the sums of squares keep their digits.
        y, f, others = self.y - self.y.mean(), self.f - self.f.mean(), self.others - self.f.mean()
        # Sums over all other units are the totals less the unit's own.
        n, sum_y, sum_f, sum_yf, sum_ff = (
            x.sum() - np.bincount(unit, x) for x in (np.ones(len(y)), y, f, y * f, f * f)
        )
        shared = sum_yf / n - sum_y * sum_f / n**2
        squares = sum_ff + float((others**2).sum())
        spread = (squares - (sum_f + others.sum()) ** 2 / (n + rest)) / (n + rest - 1)
        flat = _FLAT * max(1.0, float(np.abs(self.f).max())) ** 2
        # Tuned without the item, its weight does not depend on its own error.
        lam = shared / ((1 + n / rest) * np.where(spread > flat, spread, np.inf))
        weights: np.ndarray = np.clip(lam, 0, 1)[unit]
        return weights

    def mean(self, lam: float | np.ndarray) -> tuple[float, float]:
        """The mean and its standard error, the judge weighed by `lam`."""
        # The mean error of the judge on labelled items, taken off its mean on the others.
        # The judge's scores count from their mean, so that weights of single items add no variance
        # that depends on where the scale begins.
        centre = float(self.others.mean()) if len(self.others) else 0.0
        rectifier = self.y - lam * (self.f - centre)
        own, rest = self.cases or (None, None)
        variance = _variance_of_mean(rectifier, own)
        value = float(rectifier.mean())
        weight = float(np.mean(lam))
        if weight:
            variance += weight**2 * _variance_of_mean(self.others, rest)
        return value, sqrt(variance) if not isnan(variance) else nan


def _variance_of_mean(x: np.ndarray, cases: np.ndarray | None) -> float:
    """s^2 / n, or that of case totals (Cameron & Miller 2015); nan for one unit."""
    pull = x - x.mean()
    totals = pull if cases is None else np.bincount(np.unique(cases, return_inverse=True)[1], pull)
    # Totals per case instead of single items: outputs of one case are not independent.
    groups = len(totals)
    if groups < 2:  # noqa: PLR2004 - a variance needs two
        return nan
    return float((totals**2).sum()) / len(x) ** 2 * groups / (groups - 1)


def _no_width(se: float, n: int) -> str | None:
    if isnan(se):
        return f"{n} labelled, and two of each kind are needed for a variance"
    return None if se > _FLAT else "neither labels nor the judge's errors vary"


def _note(n: int, data: LabelledScores, lam: float | None) -> str | None:
    notes = []
    what = "labels" if data.cases is None else "labelled cases"
    if n < _FEW_LABELS:
        notes.append(f"{n} {what}: fewer than {_FEW_LABELS}, the interval is too short")
    elif n < _SOME_LABELS:
        notes.append(f"{n} {what}: below {_SOME_LABELS} the interval is rough")
    if len(data.others) == 0:
        notes.append("no score of an unlabelled item: the mean of the labels alone")
    elif lam is None and data.tuned() == 0:
        notes.append("the judge's scores do not predict the labels: lam is 0, only labels count")
    return "; ".join(notes) or None
