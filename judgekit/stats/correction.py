"""What human labels make of a judge's scores: the right correction for how they were drawn."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Literal

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Estimate, undefined
from judgekit.stats.intervals import mean
from judgekit.stats.known import known_pairs, known_scores
from judgekit.stats.ppi import (
    CrossfitMean,
    PPIMean,
    StratifiedMean,
    Stratum,
    crossfit_isotonic_mean,
    ppi_mean,
    stratified_ppi_mean,
)
from judgekit.stats.quantiles import check_level
from judgekit.stats.rates import difference_of_proportions, proportion
from judgekit.stats.result import Result
from judgekit.stats.rogan_gladen import (
    CorrectedRate,
    JudgeRates,
    LabelAllocation,
    allocate_labels,
    corrected_pass_rate,
    judge_rates,
)
from judgekit.stats.sampled_labels import (
    ActiveMean,
    LabelCheck,
    PoststratifiedMean,
    active_mean,
    labels_look_random,
    poststratified_mean,
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
        undefined(reason, n=len(y), method=estimator, level=level)
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
    return undefined(reason, n=len(others), method=found.method, level=level)


def _unidentified(y: np.ndarray, level: float) -> Estimate:
    reason = "labels from elsewhere correct a pass rate only; label a random subset of these items"
    return undefined(reason, n=len(y), method="rogan-gladen", level=level)


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
