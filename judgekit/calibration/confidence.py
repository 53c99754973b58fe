"""Whether a judge's confidence is reliable, and from which threshold judgments need no review."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from judgekit.calibration.items import (
    LEVEL_SLACK,
    NO_ORDER,
    clustered_rate,
    for_each,
    level_step,
    shared_clusters,
)
from judgekit.errors import NotEnoughDataError
from judgekit.fingerprint import text_fingerprint
from judgekit.stats.calibration import choose_map, crossfit, fit_platt
from judgekit.stats.reliability import brier_decomposition, ece, log_loss, reliability_table
from judgekit.stats.selective import abstain_threshold, auroc, risk_coverage

if TYPE_CHECKING:
    from judgekit.calibration.inputs import CalibrationOptions
    from judgekit.calibration.items import AlignedItems, JudgedItem
    from judgekit.stats.estimate import Estimate
    from judgekit.stats.intervals import Rate
    from judgekit.stats.reliability import BrierDecomposition, CalibrationError, ReliabilityBin

_FOLDS = 5
_MOST_POINTS = 60

# Platt scaling has two coefficients; on fewer items each fold would fit its noise.
_LEAST = 30
_HALF = 0.5
_NO_MAP = "a choice between two outputs has no map"

_NO_CONFIDENCE = (
    "the judge stated no confidence: use --repeats 3, --logprobs, or a template that requests it"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """How well a stated confidence predicts that the judge is right.

    Attributes:
        ece: Gap of stated confidence and observed accuracy in ten bins of equal width, with the gap
            expected by chance. It has no interval: the gap is biased upwards, and resampling
            doubles the bias. Simulated with 60 and 200 answers, clustered and not, 95 % bootstrap
            intervals (percentile, basic and bias-corrected) cover the true gap in 0 to 70 % of
            samples if the confidence is well calibrated. The expected gap and its p-value express
            the uncertainty instead.
        auroc: Chance that a right answer has a higher confidence than a wrong one.
    """

    ece: CalibrationError
    brier: BrierDecomposition
    log_loss: Estimate
    auroc: Estimate
    bins: tuple[ReliabilityBin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The confidence from which judgments can be accepted without human review.

    Attributes:
        threshold: The lowest confidence to accept; nan with a reason: review everything.
        error_high: Upper bound of the error at 1 - delta; nan if none is accepted.
        n: Items the bound is computed from: one for each case.
    """

    threshold: float
    coverage: float
    error: float
    error_high: float
    max_error: float
    delta: float
    n: int
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """What a judge's confidence is worth, on the items with a label and a confidence.

    Attributes:
        right: When the judge counts as right: `pass`, `exact`, `within_one`, or `winner`.
        accuracy_top_half: The accuracy among the half with the highest confidence.
        after: The confidence after cross-fitted logistic recalibration; None below 30 items, or if
            the judge is always right or always wrong.
        risk: (coverage, error) when only the most confident answers are kept.
        aurc: Mean of the errors over all coverages.
    """

    right: str
    n: int
    mean_confidence: float
    accuracy: Rate
    accuracy_top_half: float
    n_top_half: int
    before: Reliability
    after: Reliability | None
    why_not_after: str | None
    risk: tuple[tuple[float, float], ...]
    aurc: float
    review: Review


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalibration:
    """The judge's scores mapped to the human scale, each by a map fitted without its case.

    `kind` is `shift`, `affine`, `ordinal` or `isotonic`: the simplest that does as well as any.
    The errors are differences of judge and humans, the accuracies shares of equal pass decisions.
    """

    kind: str
    n: int
    mae_before: float
    mae_after: float
    rmse_before: float
    rmse_after: float
    bias_after: float
    accuracy_before: float
    accuracy_after: float


def judge_correctness(aligned: AlignedItems, options: CalibrationOptions) -> np.ndarray:
    """Whether the judge is right on each of `aligned.both`: 1, 0, or nan if unknown."""
    gap = np.abs(aligned.judge_level - aligned.human_level)
    if aligned.is_nominal or aligned.threshold is None or options.right == "exact":
        return np.where(gap <= LEVEL_SLACK, 1.0, 0.0)
    if options.right == "within_one":
        return np.where(gap <= level_step(aligned.levels) + LEVEL_SLACK, 1.0, 0.0)
    known = ~(np.isnan(aligned.judge_pass) | np.isnan(aligned.human_pass))
    return np.where(known, aligned.judge_pass == aligned.human_pass, nan)


def assess_trust(aligned: AlignedItems, options: CalibrationOptions) -> Trust | str:
    """What the judge's confidence is worth, or why that is unknown."""
    right = judge_correctness(aligned, options)
    stated = np.array([item.confidence for item in aligned.both], dtype=float)
    known = np.flatnonzero(~(np.isnan(right) | np.isnan(stated)))
    if not len(known):
        return _NO_CONFIDENCE
    x, y = stated[known].tolist(), right[known].tolist()
    items = [aligned.both[i] for i in known]
    names = [item.cluster for item in items]
    clusters = shared_clusters(names)
    after, why_not = None, None
    try:
        if len(x) >= _LEAST:
            mapped = crossfit(fit_platt, x, y, cluster_folds(names, options.seed))
            after = _reliability(np.clip(mapped, 0, 1).tolist(), y, clusters, options)
        else:
            why_not = f"{len(x)} items; a recalibration needs {_LEAST}"
    except NotEnoughDataError as error:
        why_not = error.message
    curve = risk_coverage(x, y)
    points = list(zip(curve.coverage, curve.risk, strict=True))
    # The curve is drawn on a page, which thousands of points would only slow down.
    step = max(1, len(points) // _MOST_POINTS)
    top = [risk for coverage, risk in points if coverage <= _HALF]
    by_label = "winner" if aligned.threshold is None else options.right
    return Trust(
        right="exact" if aligned.is_nominal else by_label,
        n=len(x),
        mean_confidence=float(np.mean(x)),
        accuracy=clustered_rate(y, clusters, level=options.level),
        accuracy_top_half=1 - top[-1] if top else nan,
        n_top_half=len(top),
        before=_reliability(x, y, clusters, options),
        after=after,
        why_not_after=why_not,
        risk=tuple(dict.fromkeys([*points[::step], points[-1]])),
        aurc=curve.aurc,
        review=_review(x, y, items, options),
    )


def cross_fit_recalibration(
    aligned: AlignedItems, options: CalibrationOptions
) -> Recalibration | str:
    """How much a calibration map improves the judge's scores, or why there is none."""
    if aligned.is_nominal:
        return NO_ORDER
    if aligned.threshold is None:
        return _NO_MAP
    human, judge = aligned.human, aligned.judge
    names = [item.cluster for item in aligned.both]
    try:
        choice = choose_map(judge, human, cluster_folds(names, options.seed))
    except NotEnoughDataError as error:
        return error.message
    # A straight map can leave the scale, where no judge can score.
    mapped = np.clip(np.array(choice.out_of_fold), aligned.scale.min, aligned.scale.max)
    before, after = judge - human, mapped - human
    passed = for_each(aligned.passes, mapped)

    def accuracy(decisions: np.ndarray) -> float:
        known = ~(np.isnan(aligned.human_pass) | np.isnan(decisions))
        equal = aligned.human_pass[known] == decisions[known]
        return float(equal.mean()) if known.any() else nan

    return Recalibration(
        kind=choice.chosen.kind,
        n=len(human),
        mae_before=float(np.abs(before).mean()),
        mae_after=float(np.abs(after).mean()),
        rmse_before=float(np.sqrt((before**2).mean())),
        rmse_after=float(np.sqrt((after**2).mean())),
        bias_after=float(after.mean()),
        accuracy_before=accuracy(aligned.judge_pass),
        accuracy_after=accuracy(passed),
    )


def cluster_folds(names: Sequence[Hashable], seed: int) -> list[int]:
    """A fold for each item, equal for items of one cluster, whatever their order."""
    # Otherwise a case would be predicted by a map that was fitted on it.
    return list(map(_folds(frozenset(names), seed).__getitem__, names))


# Trust and the map of a criterion are of the same items.
@lru_cache(maxsize=1)
def _folds(names: frozenset[Hashable], seed: int) -> dict[Hashable, int]:
    shuffled = sorted(names, key=lambda name: random_key(seed, name))
    return {name: place % _FOLDS for place, name in enumerate(shuffled)}


def random_key(seed: int, *names: object) -> str:
    # A hash instead of a generator: folds and samples depend neither on the order of rows nor on
    # their number.
    return text_fingerprint(repr((seed, *names)))


def _reliability(
    x: list[float], y: list[float], clusters: Sequence[Hashable] | None, options: CalibrationOptions
) -> Reliability:
    rng, level = np.random.default_rng(options.seed), options.level
    return Reliability(
        ece=ece(x, y, clusters=clusters, rng=rng),
        brier=brier_decomposition(x, y, clusters=clusters, level=level),
        log_loss=log_loss(x, y, clusters=clusters, level=level),
        auroc=auroc(x, y, clusters=clusters, level=level),
        bins=reliability_table(x, y, clusters=clusters, level=level),
    )


def _review(
    x: list[float], y: list[float], items: Sequence[JudgedItem], options: CalibrationOptions
) -> Review:
    # The bound assumes independent items, so that one item of each case is sampled.
    names = [item.cluster for item in items]
    one_each: Sequence[int] = range(len(items))
    if shared_clusters(names) is not None:
        keys = [random_key(options.seed, *item.place, item.criterion) for item in items]
        order = sorted(range(len(items)), key=lambda i: keys[i])
        one_each = sorted({names[i]: i for i in order}.values())
    bound = abstain_threshold(
        [x[i] for i in one_each],
        [y[i] for i in one_each],
        max_risk=options.max_error,
        delta=options.delta,
    )
    accepted = [right for stated, right in zip(x, y, strict=True) if stated >= bound.threshold]
    return Review(
        threshold=bound.threshold,
        coverage=len(accepted) / len(x),
        error=1 - sum(accepted) / len(accepted) if accepted else nan,
        error_high=bound.risk_high,
        max_error=options.max_error,
        delta=options.delta,
        n=bound.n,
        reason=bound.reason if isnan(bound.threshold) else None,
    )
