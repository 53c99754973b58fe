"""How far people agree with one another, and whether the judge comes as near to them as they do."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import fsum, nan
from typing import TYPE_CHECKING

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.evaluation.calibrating.agreeing import correlated
from judgekit.evaluation.calibrating.aligned import annotators_of, clusters_of
from judgekit.evaluation.calibrating.alphas import NO_ORDER, alpha_of, measurement_of
from judgekit.evaluation.calibrating.clustering import average, estimated
from judgekit.evaluation.calibrating.scales import level_of
from judgekit.stats.agreement import cohen_kappa
from judgekit.stats.estimate import Estimate, undefined
from judgekit.stats.raters import fleiss_kappa
from judgekit.stats.replacement import alt_test, ceiling_gap

if TYPE_CHECKING:
    from collections.abc import Hashable

    from judgekit.evaluation.calibrating.aligned import Aligned
    from judgekit.evaluation.calibrating.options import Alignment, CalibrationOptions
    from judgekit.stats.alpha import AlphaLevel
    from judgekit.stats.coefficient import Weights
    from judgekit.stats.replacement import AltTest, CeilingMetric

_PAIR = 2
_ENOUGH = 30
"""Items from which on an annotator's correlation counts in a mean."""

_MOST_PAIRED = 20
"""Annotators up to whom all pairs of them are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator:
    """One annotator: how many labels, how lenient, and how near the judge comes."""

    name: str
    """Who."""

    n: int
    """Items this person and the judge both scored."""

    mean: float
    """Mean of the person's scores of these items."""

    kappa: Estimate
    """Quadratic kappa of person and judge (of two levels Cohen's)."""

    pearson: Estimate
    """Correlation of person and judge."""

    bias: Estimate
    """Mean of judge - person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """People against people, and the judge against the same people."""

    n_annotators: int
    """How many labelled."""

    n_doubly: int
    """Items of two annotators or more."""

    alpha_nominal: Estimate
    """Krippendorff's alpha among people, all differences alike."""

    alpha_ordinal: Estimate
    """The same on ranks."""

    alpha_interval: Estimate
    """The same on numbers."""

    fleiss_kappa: Estimate
    """Kappa of many annotators."""

    mean_pair_kappa: float
    """Mean over pairs of annotators of their quadratic kappa; nan for one, or more than twenty."""

    gap: Estimate
    """Exact agreement of judge and people, less that of people with the same people."""

    human: float
    """Exact agreement of a person with the others."""

    judge: float
    """Exact agreement of the judge with the same others."""

    distance_gap: Estimate
    """The same of minus the absolute difference, on the scale; above 0 the judge is nearer. Of
    categories the same as `gap`."""

    annotators: tuple[Annotator, ...]
    """Each annotator against the judge."""

    mean_pearson: Estimate
    """Mean of the annotators' correlations with the judge, of those with 30 items or more; the
    interval takes annotators as drawn from many."""

    measurement: AlphaLevel
    """How far two scores on the scale are apart."""

    @property
    def alpha(self) -> Estimate:
        """Alpha at the level of the scale: nominal of two levels, ordinal of more, or interval."""
        by_level = {"nominal": self.alpha_nominal, "ordinal": self.alpha_ordinal}
        return by_level.get(self.measurement, self.alpha_interval)


def ceiling(aligned: Aligned, *, level: float) -> Ceiling:
    """How far people agree, and how near the judge comes to that."""
    names = annotators_of(aligned.items)
    rows = [[item.ratings.get(name) for name in names] for item in aligned.items]
    clusters = clusters_of(aligned.items)
    doubly = [row for row in rows if sum(r is not None for r in row) >= _PAIR]
    exact = _gap(aligned, "exact", level)
    annotators = tuple(_annotator(aligned, name, level) for name in names)
    return Ceiling(
        n_annotators=len(names),
        n_doubly=len(doubly),
        alpha_nominal=alpha_of(aligned, rows, "nominal", clusters=clusters, level=level),
        alpha_ordinal=alpha_of(aligned, rows, "ordinal", clusters=clusters, level=level),
        alpha_interval=alpha_of(aligned, rows, "interval", clusters=clusters, level=level),
        fleiss_kappa=_fleiss(aligned, rows, clusters, level),
        mean_pair_kappa=_mean_pair_kappa(aligned, names),
        gap=exact,
        human=getattr(exact, "human", nan),
        judge=getattr(exact, "judge", nan),
        distance_gap=exact if aligned.is_nominal else _gap(aligned, "neg_absolute", level),
        annotators=annotators,
        mean_pearson=average(
            [one.pearson.value for one in annotators if one.n >= _ENOUGH], None, level=level
        ),
        measurement=measurement_of(aligned),
    )


def alignment_of(aligned: Aligned, options: CalibrationOptions) -> Alignment:
    """What the alternative-annotator test goes by."""
    by_label = aligned.is_binary or aligned.threshold is None
    return options.alignment or ("accuracy" if by_label else "neg_rmse")


def replacement(aligned: Aligned, options: CalibrationOptions) -> AltTest | str:
    """The alternative-annotator test."""
    by_level = alignment_of(aligned, options)
    scores = aligned.judge_level if by_level == "accuracy" else aligned.judge
    judge: dict[Hashable, float | None] = {i: float(score) for i, score in enumerate(scores)}
    humans: dict[Hashable, dict[Hashable, float | None]] = {
        name: {i: item.ratings[name] for i, item in enumerate(aligned.both) if name in item.ratings}
        for name in annotators_of(aligned.both)
    }
    names = clusters_of(aligned.both)
    try:
        return alt_test(
            humans,
            judge,
            score=by_level,
            epsilon=options.epsilon,
            clusters=None if names is None else dict(enumerate(names)),
            level=options.level,
        )
    except NotEnoughDataError as error:
        return error.message


def _fleiss(
    aligned: Aligned,
    rows: list[list[float | None]],
    clusters: list[Hashable] | None,
    level: float,
) -> Estimate:
    if aligned.levels is None:
        return undefined("the scale has no levels", n=len(rows), method="kappa", level=level)
    return estimated(lambda: fleiss_kappa(rows, clusters=clusters, level=level), level=level)


def _mean_pair_kappa(aligned: Aligned, names: list[str]) -> float:
    levels = aligned.levels
    if levels is None or not _PAIR <= len(names) <= _MOST_PAIRED:
        return nan
    found = []
    weights: Weights | None = None if aligned.is_nominal else "quadratic"
    for a, b in combinations(names, _PAIR):
        both = [i.ratings for i in aligned.items if a in i.ratings and b in i.ratings]
        left, right = ([level_of(ratings[name], levels) for ratings in both] for name in (a, b))
        kappa = estimated(
            lambda left=left, right=right: cohen_kappa(  # type: ignore[misc] # bound in the loop
                left, right, labels=levels, weights=weights, ci="none"
            )
        )
        found.append(kappa.value)
    known = [value for value in found if not np.isnan(value)]
    return fsum(known) / len(known) if known else nan


def _gap(aligned: Aligned, metric: CeilingMetric, level: float) -> Estimate:
    """The judge on the same levels as people where these are compared for equality."""
    scores = aligned.judge_level if metric == "exact" else aligned.judge
    ratings = [list(item.ratings.values()) for item in aligned.both]
    return estimated(
        lambda: ceiling_gap(
            ratings, scores.tolist(), metric, clusters=aligned.clusters, level=level
        ),
        level=level,
    )


def _unordered(n: int, method: str, level: float) -> Estimate:
    return undefined(NO_ORDER, n=n, method=method, level=level)


def _annotator(aligned: Aligned, name: str, level: float) -> Annotator:
    own = aligned.where(lambda item: name in item.ratings)
    person = np.array([item.ratings[name] for item in own.both], dtype=float)
    levels, clusters = own.levels, own.clusters
    kappa = undefined("the scale has no levels", n=len(person), method="kappa", level=level)
    if levels is not None:
        kappa = estimated(
            lambda: cohen_kappa(
                [level_of(score, levels) for score in person.tolist()],
                own.judge_level.tolist(),
                labels=levels,
                weights=None if own.is_nominal else "quadratic",
                clusters=clusters,
                level=level,
            ),
            level=level,
        )
    return Annotator(
        name=name,
        n=len(person),
        mean=nan if own.is_nominal or not len(person) else float(person.mean()),
        kappa=kappa,
        pearson=_unordered(len(person), "pearson", level)
        if own.is_nominal
        else correlated(person, own.judge, "pearson", clusters, level=level),
        bias=_unordered(len(person), "t", level)
        if own.is_nominal
        else average((own.judge - person).tolist(), clusters, level=level),
    )
