"""Whether a judge is lenient, how it uses its scale, and how steady it is when asked again."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.evaluation.calibrating.alphas import NO_ORDER, alpha_of
from judgekit.evaluation.calibrating.clustering import average, estimated, rate
from judgekit.stats.closeness import bland_altman
from judgekit.stats.estimate import Estimate, undefined
from judgekit.stats.scale_use import Granularity, granularity, scale_use

if TYPE_CHECKING:
    from judgekit.evaluation.calibrating.aligned import Aligned, Item
    from judgekit.stats.intervals import Rate

_TWICE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Leniency:
    """The judge's scores less the mean of people's, on the criterion's scale."""

    judge_mean: Estimate
    """Mean of the judge's scores."""

    human_mean: Estimate
    """Mean of people's."""

    bias: Estimate
    """Mean of judge - people: above 0 the judge is lenient."""

    mae: Estimate
    """Mean absolute difference."""

    rmse: float
    """Root of the mean squared difference."""

    loa_low: float
    """Lower limit of agreement: as far as differences are normal, as large a share of them as the
    confidence level lies between it and the upper one."""

    loa_high: float
    """Upper limit of agreement."""

    trend: float
    """Slope of the difference on the mean of both: above 0 the judge stretches the scale."""

    scale_use: Estimate
    """Spread of the judge's scores over that of people's: below 1 it uses less of the scale."""

    judge_levels: Granularity | None
    """How many levels the judge really uses."""

    human_levels: Granularity | None
    """How many people do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steadiness:
    """The judge against itself, asked several times of the same output."""

    n_items: int
    """Items it answered twice or more."""

    n_unusable: int
    """Of all its answers, those that were not usable."""

    all_equal: Rate
    """Share of these items with the same score every time."""

    within_sd: float
    """Mean over these items of the standard deviation of their answers, on the scale."""

    alpha_interval: Estimate
    """Krippendorff's alpha of the answers, on numbers."""

    alpha_ordinal: Estimate
    """The same on ranks."""

    alpha_nominal: Estimate
    """The same, all differences alike."""


def leniency(aligned: Aligned, *, level: float) -> Leniency:
    """How far the judge's scores lie from people's."""
    if aligned.is_nominal:
        return _of_categories(aligned, level)
    people, judge, clusters = aligned.human, aligned.judge, aligned.clusters
    gaps = judge - people
    try:
        limits = bland_altman(people.tolist(), judge.tolist(), level=level)
    except NotEnoughDataError:
        limits = None
    use = estimated(
        lambda: scale_use(people.tolist(), judge.tolist(), clusters=clusters, level=level),
        level=level,
    )
    return Leniency(
        judge_mean=average(judge.tolist(), clusters, level=level),
        human_mean=average(people.tolist(), clusters, level=level),
        bias=average(gaps.tolist(), clusters, level=level),
        mae=average(np.abs(gaps).tolist(), clusters, level=level),
        rmse=sqrt(float((gaps**2).mean())) if len(gaps) else nan,
        loa_low=nan if limits is None else limits.loa_low,
        loa_high=nan if limits is None else limits.loa_high,
        trend=nan if limits is None else limits.trend,
        scale_use=use,
        judge_levels=_levels(aligned, aligned.judge_level),
        human_levels=_levels(aligned, aligned.human_level),
    )


def _of_categories(aligned: Aligned, level: float) -> Leniency:
    """Nobody is lenient where no category is higher than another; only their use can be counted."""
    none = undefined(NO_ORDER, n=len(aligned.both), method="t", level=level)
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


def steadiness(aligned: Aligned, *, level: float) -> Steadiness | None:
    """How far the judge agrees with itself."""
    items = [*aligned.items, *aligned.unlabelled]
    if not any(len(item.samples) >= _TWICE for item in items):
        return None
    known = [_known(item) for item in items]
    several = [(row, item) for row, item in zip(known, items, strict=True) if len(row) >= _TWICE]
    rows = [list(item.samples) for item in items]
    clusters = [item.cluster for item in items]
    names = clusters if len(set(clusters)) < len(clusters) else None
    spreads = [float(np.std(row, ddof=1)) for row, _ in several]
    return Steadiness(
        n_items=len(several),
        n_unusable=sum(s is None for item in items for s in item.samples),
        all_equal=rate(
            [float(len(set(row)) == 1) for row, _ in several],
            [item.cluster for _, item in several] if names else None,
            level=level,
        ),
        within_sd=float(np.mean(spreads)) if spreads and not aligned.is_nominal else nan,
        alpha_interval=alpha_of(aligned, rows, "interval", clusters=names, level=level),
        alpha_ordinal=alpha_of(aligned, rows, "ordinal", clusters=names, level=level),
        alpha_nominal=alpha_of(aligned, rows, "nominal", clusters=names, level=level),
    )


def _known(item: Item) -> list[float]:
    return sorted(s for s in item.samples if s is not None and not isnan(s))


def _levels(aligned: Aligned, scores: np.ndarray) -> Granularity | None:
    if aligned.levels is None or not len(scores):
        return None
    return granularity(scores.tolist(), aligned.levels)
