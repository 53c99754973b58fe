"""Where judge and labels differ: by group, within groups, the worst items, and what to label next.

`agreement` has the figures of all items together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from judgekit.calibration.agreement import clustered_correlation, scale_kappa
from judgekit.calibration.confidence import judge_correctness
from judgekit.calibration.correction import (
    CorrectedFigure,
    LabelBudget,
    correct_figure,
    label_budget,
)
from judgekit.calibration.items import (
    clustered_rate,
    for_each,
    jackknife,
    mean_rating,
    ordered_mean,
)
from judgekit.calibration.pairs import PairOrders, pair_orders
from judgekit.stats.agreement import pairwise_accuracy
from judgekit.stats.method_comparison import CorrelationMethod, grouped_correlation

if TYPE_CHECKING:
    from judgekit.calibration.inputs import CalibrationOptions, OutputKey, PairJudgment
    from judgekit.calibration.items import AlignedItems, JudgedItem
    from judgekit.stats.estimate import Estimate
    from judgekit.stats.intervals import Rate

_METHODS: tuple[CorrelationMethod, ...] = ("pearson", "spearman", "kendall")
_TWO = 2
_CASE, _VARIANT, _STRATUM, _CRITERION = "case", "variant", "stratum", "criterion"
_SAME = 1e-9

# Below this confidence an item is reported as uncertain, and not only as unlabelled.
_UNSURE = 0.75

# Closer than this to the pass threshold, one level decides whether the output passes.
_NEAR = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The results of one group of items: a variant, stratum, tag, criterion, or metadata key.

    Attributes:
        n: Items with a score and a label; `n_labels` includes items on which the judge failed.
        bias: Mean of judge - human, on the scale.
        judge_rate: The judge's pass rate; undefined if nothing passes.
        corrected: The corrected pass rate (win rate for comparisons); for variants only.
        budget: The labels that an interval of the requested width needs in this group alone; for
            variants and strata only.
    """

    kind: str
    name: str
    n: int
    n_labels: int
    right: Rate
    kappa: Estimate
    bias: Estimate
    judge_mean: Estimate
    human_mean: Estimate
    judge_rate: Rate
    human_rate: Rate
    corrected: CorrectedFigure | None
    budget: LabelBudget | None
    orders: PairOrders | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Correlations that a grouping (by case, variant, or metadata key) hides or creates.

    Attributes:
        within: By method, the mean correlation inside the groups, which measures how outputs of one
            prompt are ranked. Groups in which one side is constant are left out, and `n` counts the
            others. Groups count as independent unless each lies inside one cluster of `--cluster`.
        between: By method, the correlation of the group means.
        order_accuracy: Share of pairs inside a group that the judge orders, or ties, as the
            annotators do.
    """

    kind: str
    n_groups: int
    within: dict[str, Estimate]
    between: dict[str, Estimate]
    order_accuracy: Estimate


def build_segments(
    aligned: AlignedItems,
    options: CalibrationOptions,
    pairs: Mapping[OutputKey, PairJudgment] | None = None,
) -> tuple[Segment, ...]:
    """The results of each group, for kinds with two groups or more."""
    segments: list[Segment] = []
    for kind in (_VARIANT, _STRATUM, "tag", _CRITERION, *options.by):
        names = dict.fromkeys(chain.from_iterable(groups_in(item, kind) for item in aligned.items))
        # A single group is the whole again, but a single tag still selects some of the items.
        if len(names) < _TWO and kind != "tag":
            continue
        for name in names:
            part = aligned.where(lambda item, n=name, k=kind: n in groups_in(item, k))  # type: ignore[misc] # bound in the loop
            segments.append(_segment(kind, name, part, options, pairs))
    return tuple(segments)


def build_groupings(aligned: AlignedItems, options: CalibrationOptions) -> tuple[Grouping, ...]:
    """Correlations within and between groups, for kinds with several items in a group."""
    groupings: list[Grouping] = []
    if aligned.is_nominal:
        return ()
    for kind in (_CASE, _VARIANT, *options.by):
        names = [next(iter(groups_in(item, kind)), None) for item in aligned.both]
        groups = {name for name in names if name is not None}
        if _TWO <= len(groups) < len(names) and None not in names:
            groupings.append(_grouping(aligned, kind, [str(name) for name in names], options.level))
    return tuple(groupings)


def groups_in(item: JudgedItem, kind: str) -> tuple[str, ...]:
    if kind == _VARIANT:
        return () if item.place.variant is None else (item.place.variant,)
    if kind == _CASE:
        return (item.place.case_id,)
    if kind == _CRITERION:
        return (item.criterion,) if item.criterion else ()
    return item.groups.get(kind, ())


def _segment(
    kind: str,
    name: str,
    part: AlignedItems,
    options: CalibrationOptions,
    pairs: Mapping[OutputKey, PairJudgment] | None,
) -> Segment:
    level, clusters = options.level, part.clusters
    what = "mean value" if part.threshold is None else "pass rate"
    return Segment(
        kind=kind,
        name=name,
        n=len(part.both),
        n_labels=sum(len(item.ratings) for item in part.items),
        right=clustered_rate(judge_correctness(part, options), clusters, level=level),
        kappa=scale_kappa(part, "quadratic", level),
        bias=ordered_mean(part, part.judge - part.human, level=level),
        judge_mean=ordered_mean(part, part.judge, level=level),
        human_mean=ordered_mean(part, part.human, level=level),
        judge_rate=clustered_rate(part.judge_pass, clusters, level=level),
        human_rate=clustered_rate(part.human_pass, clusters, level=level),
        # Only variants are compared by their corrected rate; other groups rarely have the labels.
        corrected=correct_figure(part, what, options) if kind == _VARIANT else None,
        budget=label_budget(part, what, options) if kind in (_VARIANT, _STRATUM) else None,
        orders=None if pairs is None else pair_orders(part, pairs, level=level),
    )


def _grouping(aligned: AlignedItems, kind: str, names: list[str], level: float) -> Grouping:
    human, judge = aligned.human, aligned.judge
    members: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        members[name].append(place)
    a = np.array([human[places].mean() for places in members.values()])
    b = np.array([judge[places].mean() for places in members.values()])
    parents = _parent_clusters(aligned, members)
    above = None if parents is None else list(parents.values())
    # If groups share a cluster, the jackknife leaves out whole clusters.
    clusters = None if parents is None else [parents[name] for name in names]

    def sides(places: np.ndarray) -> tuple[list[float], list[float], list[str]]:
        return human[places].tolist(), judge[places].tolist(), [names[place] for place in places]

    def within(method: CorrelationMethod) -> Estimate:
        return jackknife(
            lambda places, level: grouped_correlation(*sides(places), method, level=level),
            len(names),
            clusters,
            level=level,
        )

    order_accuracy = jackknife(
        lambda places, level: pairwise_accuracy(*sides(places), level=level),
        len(names),
        clusters,
        level=level,
        bounds=(0.0, 1.0),
    )
    return Grouping(
        kind=kind,
        n_groups=len(members),
        within={method: within(method) for method in _METHODS},
        between={
            method: clustered_correlation(a, b, method, above, level=level) for method in _METHODS
        },
        order_accuracy=order_accuracy,
    )


def _parent_clusters(
    aligned: AlignedItems, members: Mapping[str, list[int]]
) -> dict[str, Hashable] | None:
    """The cluster that contains each group; None if groups are clusters or span several."""
    parents: dict[str, Hashable] = {}
    for name, places in members.items():
        clusters = {aligned.both[place].cluster for place in places}
        # A group that spans clusters belongs to none, and groups count as independent.
        if len(clusters) > 1:
            return None
        parents[name] = clusters.pop()
    return parents if len(set(parents.values())) < len(parents) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """An item on which judge and annotators differ, with the reasons of both.

    `distance` is judge - human as a share of the scale; 1 for different categories.
    """

    case_id: str
    variant: str | None
    repeat: int
    criterion: str
    judge: float
    human: float
    ratings: Mapping[str, float]
    distance: float
    confidence: float | None
    rationale: str | None
    reasons: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSuggestion:
    """An item whose label would be most informative; `score` is used for ordering only."""

    case_id: str
    variant: str | None
    repeat: int
    criterion: str
    score: float
    why: str


def largest_disagreements(aligned: AlignedItems, most: int) -> tuple[Disagreement, ...]:
    judge, human = (for_each(aligned.value, x) for x in (aligned.judge, aligned.human))
    distances = judge - human
    if aligned.is_nominal:
        # The values of categories are arbitrary, so that no two are further apart than others.
        distances[np.abs(distances) > _SAME] = 1.0
    rows = [
        (abs(distance), item.confidence or 0.0, item, distance, human)
        for item, distance, human in zip(
            aligned.both, distances.tolist(), aligned.human.tolist(), strict=True
        )
        if abs(distance) > _SAME
    ]
    # Confident errors are the most useful ones for improving a rubric or template.
    rows = nsmallest(most, rows, key=lambda row: (-row[0], -row[1], row[2].place.case_id))
    return tuple(
        Disagreement(
            **item.place._asdict(),
            criterion=item.criterion,
            judge=item.judge or 0.0,
            human=human,
            ratings=dict(item.ratings),
            distance=distance,
            confidence=item.confidence,
            rationale=item.rationale,
            reasons=dict(item.reasons),
        )
        for _, _, item, distance, human in rows
    )


def suggest_labels(parts: Sequence[AlignedItems], most: int) -> tuple[LabelSuggestion, ...]:
    # They are spread over the judge's scores, so that every part of the scale gets labels. They are
    # selected, so that labels of them alone are not a random subset.
    candidates = [one for part in parts for one in _suggestions(part)]
    by_level: defaultdict[tuple[str, float], list[LabelSuggestion]] = defaultdict(list)
    for suggestion, value in sorted(candidates, key=lambda pair: (-pair[0].score, pair[0].case_id)):
        by_level[suggestion.criterion, round(value, 1)].append(suggestion)
    ranked = [
        (rank, -suggestion.score, suggestion)
        for group in by_level.values()
        for rank, suggestion in enumerate(group)
    ]
    # Two of each level in turn, then by score: neither the scale nor the uncertainty alone decides.
    ranked.sort(key=lambda row: (row[0] // 2, row[1], row[2].case_id))
    return tuple(suggestion for _, _, suggestion in ranked[:most])


def _suggestions(part: AlignedItems) -> Iterable[tuple[LabelSuggestion, float]]:
    """The candidates of a criterion with their values on [0, 1]."""

    def suggestion(item: JudgedItem, score: float, why: str) -> LabelSuggestion:
        place = item.place._asdict()
        return LabelSuggestion(**place, criterion=item.criterion, score=score, why=why)

    for item in part.unlabelled:
        value = part.value(item.judge or 0.0)
        # Without confidence or threshold nothing distinguishes the items.
        score, why = 0.5, "not labelled"
        if item.confidence is not None:
            words = "is uncertain: confidence" if item.confidence < _UNSURE else "has confidence"
            score = 1 - item.confidence
            why = f"not labelled; the judge {words} {item.confidence:.2f}"
        elif part.threshold is not None and not part.is_binary:
            gap = abs(value - part.threshold)
            score = 1 - min(1.0, gap)
            if gap < _NEAR:
                why = f"its score {value:.2f} is close to the pass threshold {part.threshold:g}"
        yield suggestion(item, score, why), value
    span = part.scale.max - part.scale.min
    for item in part.items:
        spread = max(item.ratings.values()) - min(item.ratings.values())
        # The values of categories are arbitrary: whatever differs is as far apart as can be.
        spread = span if part.is_nominal and spread else spread
        if len(item.ratings) == 2 and spread > span / 4:  # noqa: PLR2004 - one against the other
            why = "two annotators disagree; a third label would decide"
            yield suggestion(item, 0.5 + spread / span / 2, why), part.value(mean_rating(item))
