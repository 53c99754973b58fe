"""The judge's rate or mean corrected by human labels, and the labels that an interval needs."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from heapq import nsmallest
from math import ceil, floor, isnan, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

from judgekit.calibration.confidence import random_key
from judgekit.calibration.items import (
    NO_ORDER,
    clip_to_unit,
    clustered_rate,
    clustered_unit_mean,
    for_each,
    level_of,
    shared_clusters,
)
from judgekit.stats.correction import corrected_mean
from judgekit.stats.estimate import Estimate, LabelsAre, undefined_estimate
from judgekit.stats.intervals import mean
from judgekit.stats.power import labels_for_ppi
from judgekit.stats.quantiles import normal_quantile
from judgekit.stats.rogan_gladen import allocate_labels

if TYPE_CHECKING:
    from judgekit.calibration.inputs import CalibrationOptions, OutputKey
    from judgekit.calibration.items import AlignedItems, JudgedItem
    from judgekit.stats.ppi import LamTuning

# A deviation needs two labels.
_FEW = 2

# A smaller standard error is rounding noise of scores that do not vary.
_FLAT = 1e-12

_LABELS_ALONE = "people"
"""The estimator in the JSON of a figure that needs no correction."""

_ASSUMED = (
    "assumes that the labelled items are a random subset of those judged; state it with "
    "--labels-are random, or --labels-are other"
)

_NOT_RANDOM = (
    "the judge scores labelled items differently from the rest, so that they do not look like a "
    "random subset; state how they were chosen: --labels-are random or other"
)

_ALL_LABELLED = "every judged item is labelled: the human figure needs no correction"


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedFigure:
    """A rate or mean of the judge over all it judged, corrected by the labels.

    Attributes:
        what: `pass rate`, `mean value` on [0, 1], or `win rate of a`.
        corrected: nan with a reason if the labels do not allow a correction.
        estimator: `post-stratified`, `ppi++` or `rogan-gladen`; if everything is labelled,
            the labels alone.
        labels_are: How the labelled items were chosen: `random`, `other`, or `random, assumed`.
        n_labels_saved: Further labels needed for the same precision without the judge, in cases of
            the same sizes; nan if unknown.
        looks_random: Whether the judge's scores are consistent with a random subset of labelled
            items.
    """

    what: str
    raw: Estimate
    corrected: Estimate
    labels_only: Estimate
    estimator: str
    labels_are: str = "random"
    n_labels: int
    n_unlabelled: int
    n_labels_saved: float = nan
    looks_random: bool | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelStratum:
    """The share of one stratum in the labels that are needed.

    Attributes:
        name: What the judge decides about its items, such as `the judge passes`; for labels that
            are not a random subset what the annotators decide, `humans pass` or `humans fail`.
        next_items: Unlabelled items to label next, drawn at random; at most `n_more`. Empty where
            only a label shows the stratum of an item.
    """

    name: str
    n_labels: int
    n_more: int
    next_items: tuple[OutputKey, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelBudget:
    """How many labels an interval of a given half-width needs, with and without the judge's help.

    Labels of one case carry less information than labels of different cases. The counts assume that
    further labels come in cases of the same sizes. For labels that are not a random subset they are
    those of Rogan and Gladen's correction.

    Attributes:
        strata: The further labels by stratum: of a random subset in proportion to the sizes of the
            strata, so that all labels together remain one; else by Neyman's allocation.
    """

    half_width: float
    n_labels: int
    n_needed: int | None = None
    n_needed_alone: int | None = None
    reason: str | None = None
    n_unlabelled: int = 0
    strata: tuple[LabelStratum, ...] = ()

    @property
    def n_more(self) -> int | None:
        """Labels still to come; 0 where there are enough."""
        if self.strata:
            return sum(stratum.n_more for stratum in self.strata)
        return None if self.n_needed is None else max(0, self.n_needed - self.n_labels)


@dataclass(frozen=True, slots=True)
class _Sides:
    """Labels, the judge's scores of the same items, and its scores of the other items."""

    labels: np.ndarray
    labeled: np.ndarray
    others: np.ndarray
    clusters: tuple[list[Hashable], list[Hashable]]

    @property
    def is_clustered(self) -> bool:
        return shared_clusters([*self.clusters[0], *self.clusters[1]]) is not None

    def raw(self, labels_are: LabelsAre, level: float) -> Estimate:
        """The judge's own figure over all items, or only over the target of other labels."""
        if labels_are == "other":
            return _plain(self.others, self.clusters[1], level)
        scores = np.concatenate([self.labeled, self.others])
        return _plain(scores, [*self.clusters[0], *self.clusters[1]], level)


def correct_figure(
    aligned: AlignedItems, what: str, options: CalibrationOptions, *, tuning: LamTuning = "plug-in"
) -> CorrectedFigure:
    sides = _sides(aligned, by_pass=what == "pass rate")
    level = options.level
    if aligned.is_nominal or not len(sides.labels) or not len(sides.others):
        return _uncorrected(sides, what, level, is_nominal=aligned.is_nominal)
    labels_are = options.labels_are or "random"
    corrected = corrected_mean(
        *(side.tolist() for side in (sides.labels, sides.labeled, sides.others)),
        labels_are=labels_are,
        tuning=tuning,
        clusters=sides.clusters if sides.is_clustered else None,
        level=level,
    )
    looks = None if corrected.check is None else corrected.check.looks_random
    estimate, warnings = corrected.corrected, [*corrected.warnings]
    raw = sides.raw(labels_are, level) if sides.is_clustered else corrected.raw
    if options.labels_are is None:
        # Without a statement of how items were chosen, the evidence against randomness decides.
        if looks is False:
            estimate = undefined_estimate(
                _NOT_RANDOM, n=corrected.n_labels, method=corrected.estimator, level=level
            )
        else:
            warnings.append(_ASSUMED)
    spread, saved = _spread(sides.labels, sides.clusters[0]), nan
    if labels_are == "random" and min(estimate.se, spread) > 0:
        saved = max(0.0, spread**2 / estimate.se**2 - len(sides.labels))
    return CorrectedFigure(
        what=what,
        raw=clip_to_unit(raw),
        corrected=clip_to_unit(estimate),
        labels_only=_plain(sides.labels, sides.clusters[0], level),
        estimator=corrected.estimator,
        labels_are="random, assumed" if options.labels_are is None else labels_are,
        n_labels=corrected.n_labels,
        n_unlabelled=len(sides.others),
        n_labels_saved=saved,
        looks_random=looks,
        warnings=tuple(warnings),
    )


def label_budget(aligned: AlignedItems, what: str, options: CalibrationOptions) -> LabelBudget:
    sides = _sides(aligned, by_pass=what == "pass rate")
    labels, judge = sides.labels, sides.labeled
    n = len(labels)
    sd = 0.0 if aligned.is_nominal else _spread(labels, sides.clusters[0])
    if sd <= 0:
        reason = "the labels do not vary" if n >= _FEW else "fewer than 2 labels show no spread"
        return LabelBudget(options.half_width, n, reason=NO_ORDER if aligned.is_nominal else reason)
    if options.labels_are == "other" and what == "pass rate":
        return _transferred_budget(sides, options)
    corr = float(np.corrcoef(labels, judge)[0, 1]) if judge.std() > 0 else 0.0
    alpha = 1 - options.level
    # Planned at the correlation seen so far, which small samples overstate: a lower bound.
    needed = labels_for_ppi(len(sides.others), options.half_width, sd, corr, alpha=alpha)
    alone = labels_for_ppi(0, options.half_width, sd, 0.0, alpha=alpha)
    n_more = max(0, needed.value - n)
    return LabelBudget(
        options.half_width,
        n,
        needed.value,
        alone.value,
        n_unlabelled=len(sides.others),
        strata=_allocated(aligned, n_more, options.seed),
    )


# As many of each class as the correction needs (`corrected_pass_rate`).
_MIN_OF_CLASS = 10


def _transferred_budget(sides: _Sides, options: CalibrationOptions) -> LabelBudget:
    """The labels of passes and failures that Rogan and Gladen's correction needs."""
    half, n, n_others = options.half_width, len(sides.labels), len(sides.others)
    names = sides.clusters[0]
    right, is_pass = (sides.labels == sides.labeled).astype(float), sides.labels == 1
    passes, fails = right[is_pass], right[~is_pass]
    pass_effect, fail_effect = (
        _design_effect(right[side], [name for name, one in zip(names, side, strict=True) if one])
        for side in (is_pass, ~is_pass)
    )
    # Smoothed by one success and one failure: a rate of 1 in a few labels would need none at all.
    tpr, tnr = (
        (side.sum() / effect + 1) / (len(side) / effect + 2)
        for side, effect in ((passes, pass_effect), (fails, fail_effect))
    )
    youden = float(tpr + tnr - 1)
    if youden <= 0 or not n_others:
        reason = (
            "the judge is no better than chance" if n_others else "no other outputs were judged"
        )
        return LabelBudget(half, n, reason=reason)
    judged = float(sides.others.mean())
    rate = min(1.0, max(0.0, (judged + tnr - 1) / youden))
    of_pass, of_fail = rate * sqrt(tpr * (1 - tpr)), (1 - rate) * sqrt(tnr * (1 - tnr))
    # The variance of the corrected rate is that of the judge's rate and, with labels shared by
    # Neyman's allocation, (of_pass + of_fail)^2 / labels, both over Youden's index squared (Lang &
    # Reiczigel 2014). Each is multiplied by the design effect of its cases.
    of_labels = (of_pass + of_fail) * (of_pass * pass_effect + of_fail * fail_effect)
    of_judge = judged * (1 - judged) / n_others * _design_effect(sides.others, sides.clusters[1])
    goal = (half * youden / normal_quantile(options.level)) ** 2 - of_judge
    if goal <= 0:
        reason = f"the judge's pass rate over {n_others:,} outputs is too imprecise: judge more"
        return LabelBudget(half, n, reason=reason)
    needed = max(2 * _MIN_OF_CLASS, ceil(of_labels / goal))
    split = allocate_labels(needed, rate, float(tpr), float(tnr), at_least=_MIN_OF_CLASS)
    strata = tuple(
        LabelStratum(name=name, n_labels=have, n_more=max(0, wanted - have))
        for name, have, wanted in (
            ("humans pass", len(passes), split.n_positive),
            ("humans fail", len(fails), split.n_negative),
        )
    )
    return LabelBudget(half, n, needed, reason=None, strata=strata)


def _allocated(aligned: AlignedItems, n_more: int, seed: int) -> tuple[LabelStratum, ...]:
    """Further labels by what the judge decides, in proportion to how often it does."""
    names = _decision_names(aligned)
    labelled: dict[str, int] = dict.fromkeys(names.values(), 0)
    others: dict[str, list[JudgedItem]] = {name: [] for name in names.values()}
    for item in aligned.both:
        if (name := names.get(_decision(aligned, item))) is not None:
            labelled[name] += 1
    for item in aligned.unlabelled:
        if (name := names.get(_decision(aligned, item))) is not None:
            others[name].append(item)
    n = sum(labelled.values()) + sum(map(len, others.values()))
    total = sum(labelled.values()) + n_more
    # A stratum that has more than its share already gets none.
    wanted = [
        max(0.0, total * (labelled[name] + len(others[name])) / n - labelled[name])
        for name in others
    ]
    return tuple(
        LabelStratum(
            name=name,
            n_labels=labelled[name],
            n_more=more,
            next_items=tuple(
                item.place
                # Without the criterion, so that all criteria draw the same outputs.
                for item in nsmallest(more, items, key=lambda one: random_key(seed, *one.place))
            ),
        )
        for (name, items), more in zip(others.items(), _apportioned(n_more, wanted), strict=True)
    )


def _decision_names(aligned: AlignedItems) -> dict[float, str]:
    if aligned.threshold is not None:
        return {1.0: "the judge passes", 0.0: "the judge fails"}
    # Without a threshold the items are comparisons, whose levels are the winners.
    return {level.value: f"the judge chooses {level.name}" for level in aligned.scale.levels}


def _decision(aligned: AlignedItems, item: JudgedItem) -> float:
    if aligned.threshold is not None:
        return aligned.judge_passes(item)
    return level_of(nan if item.judge is None else item.judge, aligned.levels)


def _apportioned(n: int, shares: list[float]) -> list[int]:
    """A number of labels shared out by largest remainders (Hamilton's method)."""
    whole = sum(shares)
    if not whole:
        return [0] * len(shares)
    exact = [n * share / whole for share in shares]
    counts = [floor(x) for x in exact]
    by_rest = sorted(range(len(exact)), key=lambda i: counts[i] - exact[i])
    for i in by_rest[: n - sum(counts)]:
        counts[i] += 1
    return counts


def _sides(aligned: AlignedItems, *, by_pass: bool) -> _Sides:
    both = aligned.both
    if by_pass:
        labels, labeled = aligned.human_pass, aligned.judge_pass
        others = [aligned.judge_passes(item) for item in aligned.unlabelled]
    else:
        # On [0, 1], so that figures of criteria with different scales can be compared.
        labels, labeled = (for_each(aligned.value, x) for x in (aligned.human, aligned.judge))
        others = [nan if i.judge is None else aligned.value(i.judge) for i in aligned.unlabelled]
    known = np.flatnonzero(~(np.isnan(labels) | np.isnan(labeled)))
    rest = [i for i, x in enumerate(others) if not isnan(x)]
    return _Sides(
        labels=labels[known],
        labeled=labeled[known],
        others=np.array([others[i] for i in rest], dtype=float),
        clusters=([both[i].cluster for i in known], [aligned.unlabelled[i].cluster for i in rest]),
    )


def _plain(x: np.ndarray, names: list[Hashable], level: float) -> Estimate:
    clusters = shared_clusters(names)
    if np.isin(x, (0, 1)).all():
        return clustered_rate(x, clusters, level=level)
    return clustered_unit_mean(x.tolist(), clusters, level=level)


def _uncorrected(sides: _Sides, what: str, level: float, *, is_nominal: bool) -> CorrectedFigure:
    """The human figure if everything is labelled; undefined for categories or without labels."""
    n, estimator = len(sides.labels), "none" if is_nominal else _LABELS_ALONE
    # Categories have neither a mean nor a pass rate.
    reason = _ALL_LABELLED if n else "no item has a label and a score"
    reason = NO_ORDER if is_nominal else reason
    undefined = undefined_estimate(reason, n=n, method=estimator, level=level)
    return CorrectedFigure(
        what=what,
        raw=undefined if is_nominal else sides.raw("random", level),
        corrected=undefined,
        labels_only=undefined if is_nominal else _plain(sides.labels, sides.clusters[0], level),
        estimator=estimator,
        n_labels=n,
        n_unlabelled=len(sides.others),
    )


def _spread(labels: np.ndarray, names: list[Hashable]) -> float:
    """The deviation of labels; for clustered ones that of equally informative independent ones."""
    n = len(labels)
    if n < _FEW or not np.ptp(labels):
        return 0.0
    se = mean(labels.tolist(), clusters=shared_clusters(names)).se
    return 0.0 if isnan(se) else se * sqrt(n)


def _design_effect(x: np.ndarray, names: list[Hashable]) -> float:
    """How many times the cases raise the variance of a mean."""
    n, n_cases = len(x), len(set(names))
    if n_cases == n:
        return 1.0
    spread = _spread(x, names)
    # With no error seen, nothing shows how errors of one case go together: a case counts once.
    return max(1.0, spread**2 / float(x.var(ddof=1))) if spread else n / n_cases
