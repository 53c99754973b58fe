"""Whether the judge can replace a human annotator: human agreement and the alt-test.

The alternative-annotator test is Calderon et al. (2025); the answer comes with its reason.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import fsum, isnan, nan
from typing import TYPE_CHECKING, Literal

import numpy as np

from judgekit.calibration.agreement import ScaleAgreement, order_coefficient, scale_kappa
from judgekit.calibration.items import (
    AlignedItems,
    annotators_of,
    clustered_mean,
    clusters_of,
    estimate_or_undefined,
    for_each,
    level_of,
    measurement_level,
    ordered_mean,
    scale_alpha,
)
from judgekit.errors import NotEnoughDataError
from judgekit.stats.agreement import cohen_kappa
from judgekit.stats.estimate import Estimate, undefined_estimate
from judgekit.stats.raters import fleiss_kappa
from judgekit.stats.replacement import AltTest, CeilingMetric, alt_test, ceiling_gap

if TYPE_CHECKING:
    from judgekit.calibration.inputs import Alignment, CalibrationOptions
    from judgekit.stats.agreement_coefficients import Weights
    from judgekit.stats.alpha import AlphaLevel

StandInAnswer = Literal["yes", "no", "open"]
_PAIR = 2

# Full agreement, up to rounding.
_FULL = 1 - 1e-9

# With fewer items nearly every interval includes chance level.
_FEW = 30

# Agreement up to 0.2 is slight (Landis & Koch 1977).
_SLIGHT = 0.2

# With fewer items the correlation of an annotator is too noisy for a mean.
_ENOUGH = 30

# The number of pairs grows with the square of the annotators.
_MOST_PAIRED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """Whether a judge can replace a human annotator, on one criterion or overall.

    Attributes:
        answer: `yes`, `no`, or `open` if the labels are inconclusive.
        test: The alternative-annotator test; None if the labels do not allow one.
        scoring: The score that the test uses; None over several criteria.
    """

    answer: StandInAnswer
    reason: str
    test: AltTest | None
    why_no_test: str | None
    scoring: Alignment | None = None


def assess_stand_in(
    aligned: AlignedItems,
    agreement: ScaleAgreement,
    humans: HumanCeiling,
    options: CalibrationOptions,
) -> StandIn:
    # Yes requires a passed alternative-annotator test, and annotators who agree beyond chance:
    # otherwise there is nothing to replace. No requires agreement that is slight at best, or a
    # judge significantly further from the annotators than they are from each other. Everything
    # else is inconclusive.
    tested = run_alt_test(aligned, options)
    test, why_no_test = (None, tested) if isinstance(tested, str) else (tested, None)
    decided = _at_chance(aligned, agreement)
    answer: StandInAnswer
    if not aligned.both:
        answer, reason = "open", "no item has both a label and a score"
    elif decided is not None:
        answer, reason = decided
    elif test is not None:
        answer, reason = _tested(test, humans)
    elif humans.n_annotators > 1:
        answer, reason = "open", str(why_no_test)
    else:
        answer = "open"
        reason = "one annotator labelled; two more, on 30 items or more, are needed"
    return StandIn(
        answer=answer,
        reason=reason,
        test=test,
        why_no_test=why_no_test,
        scoring=default_alignment(aligned, options),
    )


def combine_stand_ins(parts: Sequence[tuple[str, StandIn]]) -> StandIn:
    """The answer over several criteria: yes if all are, no if one is."""
    if len(parts) == 1:
        return parts[0][1]
    by_answer: dict[StandInAnswer, list[str]] = {"yes": [], "no": [], "open": []}
    for name, part in parts:
        by_answer[part.answer].append(name)
    words = {"yes": "yes on", "no": "no on", "open": "inconclusive on"}
    reason = "; ".join(
        f"{words[answer]} {', '.join(names)}" for answer, names in by_answer.items() if names
    )
    answer: StandInAnswer = "no" if by_answer["no"] else "open" if by_answer["open"] else "yes"
    return StandIn(answer=answer, reason=reason, test=None, why_no_test="see each criterion")


def _tested(test: AltTest, humans: HumanCeiling) -> tuple[StandInAnswer, str]:
    # Full agreement has no interval, because the data show no variance; it is beyond chance.
    if not (humans.alpha.low > 0 or humans.alpha.value >= _FULL):
        alpha = "undefined" if isnan(humans.alpha.value) else f"{humans.alpha.value:.2f}"
        reason = (
            f"annotators do not agree beyond chance (alpha {alpha}), so nothing to compare with"
        )
        return "open", reason
    beaten = f"it beats {sum(test.rejected)} of {len(test.raters)} annotators"
    beaten += f" (alt-test, ε {test.epsilon:g})"
    if test.passed:
        return "yes", beaten if test.note is None else f"{beaten}; {test.note}"
    if humans.distance_gap.high < 0:
        return "no", f"it is significantly worse than a human; {beaten}"
    return "open", f"{beaten}, but is not significantly worse"


def _at_chance(
    aligned: AlignedItems, agreement: ScaleAgreement
) -> tuple[StandInAnswer, str] | None:
    """The answer if agreement may be due to chance: no if it is slight at best, else open."""
    n = len(aligned.both)
    if n < _FEW:
        return None
    # A judge with a constant score can be right often, but distinguishes nothing.
    if len(set(aligned.judge.tolist())) == 1 and len(set(aligned.human.tolist())) > 1:
        reason = f"it gives all {n} the same score, so agreement is not distinguishable from chance"
        return "open", reason
    name, kappa = "kappa", agreement.kappa_quadratic
    if isnan(kappa.value):
        name, kappa = "concordance", agreement.ccc
    # A bound that is nan is not above 0 either, but decides nothing.
    if not isnan(kappa.value) and kappa.low <= 0:
        figure = f"{name} {kappa.value:.2f} [{kappa.low:.2f}, {kappa.high:.2f}], n {n}"
        reason = f"its agreement with humans is not distinguishable from chance: {figure}"
        return ("no" if kappa.high < _SLIGHT else "open"), reason
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator:
    """One annotator on the items that the judge scored too, and agreement with the judge.

    Attributes:
        kappa: Quadratic kappa of annotator and judge (Cohen's for two levels).
        bias: Mean of judge - annotator.
    """

    name: str
    n: int
    mean: float
    kappa: Estimate
    pearson: Estimate
    bias: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanCeiling:
    """Agreement among annotators, and of the judge with the same annotators.

    Attributes:
        n_doubly: Items with two annotators or more.
        alpha_nominal: Krippendorff's alpha among annotators, nominal level.
        mean_pair_kappa: Mean quadratic kappa over pairs of annotators; nan for one or more than
            twenty.
        gap: Exact agreement of the judge with annotators, minus that of annotators with each other.
        human: Exact agreement of an annotator with the others.
        judge: Exact agreement of the judge with the same others.
        distance_gap: Like `gap` for minus the absolute difference, on the scale; above 0 the judge
            is closer. For categories equal to `gap`.
        mean_pearson: Mean correlation of annotators and judge, among annotators with 30 items or
            more; the interval treats annotators as a sample.
    """

    n_annotators: int
    n_doubly: int
    alpha_nominal: Estimate
    alpha_ordinal: Estimate
    alpha_interval: Estimate
    fleiss_kappa: Estimate
    mean_pair_kappa: float
    gap: Estimate
    human: float
    judge: float
    distance_gap: Estimate
    annotators: tuple[Annotator, ...]
    mean_pearson: Estimate
    measurement: AlphaLevel

    @property
    def alpha(self) -> Estimate:
        """Alpha at the level of the scale: nominal of two levels, ordinal of more, or interval."""
        by_level = {"nominal": self.alpha_nominal, "ordinal": self.alpha_ordinal}
        return by_level.get(self.measurement, self.alpha_interval)


def human_ceiling(aligned: AlignedItems, *, level: float) -> HumanCeiling:
    names = annotators_of(aligned.items)
    columns = [[item.ratings.get(name, nan) for item in aligned.items] for name in names]
    rows = np.array(columns, dtype=float).reshape(len(names), len(aligned.items)).T
    # As `votes`: on two levels a label between them is the mean of several annotators.
    votes = rows
    if aligned.is_binary:
        nearest = for_each(partial(level_of, points=aligned.levels), rows)
        votes = np.where(np.isnan(rows), nan, nearest)
    clusters = clusters_of(aligned.items)
    n_doubly = int(((~np.isnan(rows)).sum(axis=1) >= _PAIR).sum())
    exact = _gap(aligned, "exact", level)
    fleiss = undefined_estimate("the scale has no levels", n=len(rows), method="kappa", level=level)
    if aligned.levels is not None:
        fleiss = estimate_or_undefined(fleiss_kappa, votes, clusters=clusters, level=level)
    annotators = tuple(_annotator(aligned, name, level) for name in names)
    return HumanCeiling(
        n_annotators=len(names),
        n_doubly=n_doubly,
        alpha_nominal=scale_alpha(aligned, votes, "nominal", clusters, level),
        alpha_ordinal=scale_alpha(aligned, rows, "ordinal", clusters, level),
        alpha_interval=scale_alpha(aligned, rows, "interval", clusters, level),
        fleiss_kappa=fleiss,
        mean_pair_kappa=_mean_pair_kappa(aligned, names),
        gap=exact,
        human=getattr(exact, "human", nan),
        judge=getattr(exact, "judge", nan),
        distance_gap=exact if aligned.is_nominal else _gap(aligned, "neg_absolute", level),
        annotators=annotators,
        mean_pearson=clustered_mean(
            [one.pearson.value for one in annotators if one.n >= _ENOUGH], None, level=level
        ),
        measurement=measurement_level(aligned),
    )


def default_alignment(aligned: AlignedItems, options: CalibrationOptions) -> Alignment:
    by_label = aligned.is_binary or aligned.threshold is None
    return options.alignment or ("accuracy" if by_label else "neg_rmse")


def run_alt_test(aligned: AlignedItems, options: CalibrationOptions) -> AltTest | str:
    by_level = default_alignment(aligned, options)
    compares_labels = by_level == "accuracy"
    scores = aligned.judge_level if compares_labels else aligned.judge
    ratings = [aligned.votes(i) if compares_labels else i.ratings for i in aligned.both]
    judge: dict[Hashable, float | None] = {i: float(score) for i, score in enumerate(scores)}
    humans: dict[Hashable, dict[Hashable, float | None]] = {
        name: {i: own[name] for i, own in enumerate(ratings) if name in own}
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


def _mean_pair_kappa(aligned: AlignedItems, names: list[str]) -> float:
    levels = aligned.levels
    if levels is None or not _PAIR <= len(names) <= _MOST_PAIRED:
        return nan
    kappas = []
    weights: Weights | None = None if aligned.is_nominal else "quadratic"
    for a, b in combinations(names, _PAIR):
        both = [i.ratings for i in aligned.items if a in i.ratings and b in i.ratings]
        left, right = ([level_of(ratings[name], levels) for ratings in both] for name in (a, b))
        kappa = estimate_or_undefined(
            cohen_kappa, left, right, labels=levels, weights=weights, ci="none"
        )
        kappas.append(kappa.value)
    known = [value for value in kappas if not isnan(value)]
    return fsum(known) / len(known) if known else nan


def _gap(aligned: AlignedItems, metric: CeilingMetric, level: float) -> Estimate:
    """The judge compared with annotators minus annotators compared with each other."""
    # A mean of repeats equals no label, so that equality is tested on the judge's level.
    is_exact = metric == "exact"
    scores = aligned.judge_level if is_exact else aligned.judge
    rows = [aligned.votes(item) if is_exact else item.ratings for item in aligned.both]
    ratings = [list(row.values()) for row in rows]
    return estimate_or_undefined(
        ceiling_gap, ratings, scores.tolist(), metric, clusters=aligned.clusters, level=level
    )


def _annotator(aligned: AlignedItems, name: str, level: float) -> Annotator:
    """One annotator as if there were no other."""
    own = aligned
    # Items with the labels of one annotator only have everything that was computed of them.
    if any(item.ratings.keys() != {name} for item in aligned.items):
        items = (
            replace(item, ratings={name: item.ratings[name]})
            for item in aligned.items
            if name in item.ratings
        )
        own = replace(aligned, items=tuple(items))
    n = len(own.both)
    return Annotator(
        name=name,
        n=n,
        mean=nan if own.is_nominal or not n else float(own.human.mean()),
        kappa=scale_kappa(own, "quadratic", level),
        pearson=order_coefficient(own, "pearson", level),
        bias=ordered_mean(own, own.judge - own.human, level=level),
    )
