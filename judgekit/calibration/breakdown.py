"""Where judge and labels differ: figures per group, correlations within groups.

The largest disagreements, and the items to label next.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from judgekit.calibration.agreement import clustered_correlation, scale_kappa
from judgekit.calibration.confidence import judge_correctness
from judgekit.calibration.correction import CorrectedFigure, correct_figure
from judgekit.calibration.items import (
    NO_ORDER,
    clustered_estimate,
    clustered_mean,
    clustered_rate,
    estimate_or_undefined,
    mean_rating,
)
from judgekit.calibration.pairs import PairOrders, pair_orders
from judgekit.stats.correlations import CorrelationMethod, grouped_correlation
from judgekit.stats.estimate import Estimate, undefined_estimate
from judgekit.stats.pair_accuracy import pairwise_accuracy

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from judgekit.calibration.inputs import CalibrationOptions, OutputKey, PairJudgment
    from judgekit.calibration.items import AlignedItems, JudgedItem
    from judgekit.stats.intervals import Rate

_METHODS: tuple[CorrelationMethod, ...] = ("pearson", "spearman", "kendall")
_TWO = 2
_CASE, _VARIANT, _CRITERION = "case", "variant", "criterion"


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The results of one group of items.

    Attributes:
        kind: `variant`, `stratum`, `tag`, `criterion`, or a metadata key.
        n: Items with a score and a label.
        n_labels: Labels of its items, including items on which the judge failed.
        right: Share on which the judge is right.
        kappa: Quadratic kappa (Cohen's for two levels).
        bias: Mean of judge - human, on the scale.
        judge_rate: The judge's pass rate; undefined if nothing passes.
        corrected: The corrected pass rate (win rate for comparisons); for variants only.
        orders: For comparisons, the results of both orders.
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
    orders: PairOrders | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Correlations that a grouping hides or creates.

    Attributes:
        kind: `case`, `variant`, or a metadata key.
        within: By method, the mean correlation inside the groups, which measures how outputs of one
            prompt are ranked. Groups in which one side is constant are left out, and `n` counts the
            others. Groups count as independent unless each lies inside one cluster of `--cluster`.
        between: By method, the correlation of the group means, which measures how the groups are
            ranked.
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
    """The figures of each group, where a kind of group has two or more."""
    found: list[Segment] = []
    for kind in (_VARIANT, "stratum", "tag", _CRITERION, *options.by):
        names = dict.fromkeys(name for item in aligned.items for name in groups_in(item, kind))
        # One group is the whole again; a single tag still parts tagged items from the rest.
        if len(names) < _TWO and kind != "tag":
            continue
        for name in names:
            part = aligned.where(lambda item, n=name, k=kind: n in groups_in(item, k))  # type: ignore[misc] # bound in the loop
            found.append(_segment(kind, name, part, options, pairs))
    return tuple(found)


def build_groupings(aligned: AlignedItems, options: CalibrationOptions) -> tuple[Grouping, ...]:
    """Correlations within groups and between them, where groups hold several items."""
    found: list[Grouping] = []
    if aligned.is_nominal:
        return ()
    for kind in (_CASE, _VARIANT, *options.by):
        names = [next(iter(groups_in(item, kind)), None) for item in aligned.both]
        groups = {name for name in names if name is not None}
        if _TWO <= len(groups) < len(names) and None not in names:
            found.append(_grouping(aligned, kind, [str(name) for name in names], options.level))
    return tuple(found)


def groups_in(item: JudgedItem, kind: str) -> tuple[str, ...]:
    """The groups of a kind that an item belongs to."""
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
        right=clustered_rate(judge_correctness(part, options).tolist(), clusters, level=level),
        kappa=scale_kappa(part, "quadratic", level),
        bias=_mean(part, part.judge - part.human, level),
        judge_mean=_mean(part, part.judge, level),
        human_mean=_mean(part, part.human, level),
        judge_rate=clustered_rate(part.judge_pass.tolist(), clusters, level=level),
        human_rate=clustered_rate(part.human_pass.tolist(), clusters, level=level),
        # Only variants are compared by their corrected rate; every group would need labels enough.
        corrected=correct_figure(part, what, options) if kind == _VARIANT else None,
        orders=None if pairs is None else pair_orders(part, pairs, level=level),
    )


def _mean(part: AlignedItems, scores: np.ndarray, level: float) -> Estimate:
    if part.is_nominal:
        return undefined_estimate(NO_ORDER, n=len(scores), method="t", level=level)
    return clustered_mean(scores.tolist(), part.clusters, level=level)


def _grouping(aligned: AlignedItems, kind: str, names: list[str], level: float) -> Grouping:
    people, judge = aligned.human, aligned.judge
    members: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        members[name].append(place)
    a = np.array([people[places].mean() for places in members.values()])
    b = np.array([judge[places].mean() for places in members.values()])
    owners = _owners(aligned, members)
    above = None if owners is None else list(owners.values())
    inside = _Inside(people, judge, names, owners, level)
    return Grouping(
        kind=kind,
        n_groups=len(members),
        within={method: inside.correlation(method) for method in _METHODS},
        between={
            method: clustered_correlation(a, b, method, above, level=level) for method in _METHODS
        },
        order_accuracy=inside.order_accuracy(),
    )


def _owners(aligned: AlignedItems, members: Mapping[str, list[int]]) -> dict[str, Hashable] | None:
    """The cluster that holds each group whole; None where groups are clusters, or cut across."""
    owners: dict[str, Hashable] = {}
    for name, places in members.items():
        clusters = {aligned.both[place].cluster for place in places}
        # A group cut across clusters belongs to none, and groups count as independent.
        if len(clusters) > 1:
            return None
        owners[name] = clusters.pop()
    return owners if len(set(owners.values())) < len(owners) else None


@dataclass(frozen=True, slots=True)
class _Inside:
    """Figures inside groups; where groups share a cluster, whole clusters are left out."""

    people: np.ndarray
    judge: np.ndarray
    names: list[str]
    owners: Mapping[str, Hashable] | None
    level: float

    def correlation(self, method: CorrelationMethod) -> Estimate:
        def of(places: np.ndarray) -> Estimate:
            sides = self._at(places)
            return estimate_or_undefined(
                lambda: grouped_correlation(*sides, method, level=self.level), level=self.level
            )

        return clustered_estimate(of(self._all), lambda places: of(places).value, self._clusters)

    def order_accuracy(self) -> Estimate:
        def of(places: np.ndarray) -> Estimate:
            sides = self._at(places)
            return estimate_or_undefined(
                lambda: pairwise_accuracy(*sides, level=self.level), level=self.level
            )

        found = of(self._all)
        if self.owners is None:
            return found
        wide = replace(found, value=2 * found.value - 1)  # in (-1, 1), as coefficients are
        wide = clustered_estimate(wide, lambda places: 2 * of(places).value - 1, self._clusters)
        return replace(wide, value=found.value, low=(wide.low + 1) / 2, high=(wide.high + 1) / 2)

    @property
    def _all(self) -> np.ndarray:
        return np.arange(len(self.names))

    @property
    def _clusters(self) -> list[Hashable] | None:
        return None if self.owners is None else [self.owners[name] for name in self.names]

    def _at(self, places: np.ndarray) -> tuple[list[float], list[float], list[str]]:
        names = [self.names[place] for place in places]
        return self.people[places].tolist(), self.judge[places].tolist(), names


_SAME = 1e-9
_UNSURE = 0.75
_NEAR = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """An item on which judge and annotators differ, with the reasons of both.

    Attributes:
        repeat: Which of the variant's answers.
        criterion: The criterion; empty for the whole output.
        human: The annotators' mean.
        ratings: Each annotator's score.
        distance: judge - human as a share of the scale; 1 for different categories.
        rationale: The judge's reason.
        reasons: The annotators' reasons.
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
    """An unlabelled item whose label would be most informative.

    Attributes:
        repeat: Which of the variant's answers.
        criterion: The criterion; empty for the whole output.
        score: Expected information, from 0 to 1; used for ordering only.
    """

    case_id: str
    variant: str | None
    repeat: int
    criterion: str
    score: float
    why: str


def largest_disagreements(aligned: AlignedItems, most: int) -> tuple[Disagreement, ...]:
    """The items on which judge and people are furthest apart.

    Of equals those it is sure of first.
    """
    found = []
    for item in aligned.both:
        human = aligned.label(item) if aligned.is_nominal else mean_rating(item)
        distance = aligned.value(item.judge or 0.0) - aligned.value(human)
        if aligned.is_nominal and abs(distance) > _SAME:
            distance = 1.0  # another category is another category
        if abs(distance) > _SAME:
            found.append((abs(distance), item.confidence or 0.0, item, distance, human))
    # Confident errors first: they are what a template can be improved by.
    found.sort(key=lambda row: (-row[0], -row[1], row[2].place.case_id))
    return tuple(
        Disagreement(
            case_id=item.place.case_id,
            variant=item.place.variant,
            repeat=item.place.repeat,
            criterion=item.criterion,
            judge=item.judge or 0.0,
            human=human,
            ratings=dict(item.ratings),
            distance=distance,
            confidence=item.confidence,
            rationale=item.rationale,
            reasons=dict(item.reasons),
        )
        for _, _, item, distance, human in found[:most]
    )


def suggest_labels(parts: Sequence[AlignedItems], most: int) -> tuple[LabelSuggestion, ...]:
    """The items that a label would tell most about.

    Where the judge is unsure or people are split.
    """
    # They are spread over the judge's scores, so that no part of the scale is without labels. They
    # are chosen, not drawn: labels of them alone are no random subset.
    found = [one for part in parts for one in _of_part(part)]
    by_level: defaultdict[tuple[str, float], list[tuple[LabelSuggestion, float]]] = defaultdict(
        list
    )
    for suggestion, at in sorted(found, key=lambda pair: (-pair[0].score, pair[0].case_id)):
        by_level[suggestion.criterion, round(at, 1)].append((suggestion, at))
    ranked = [
        (rank, -suggestion.score, suggestion)
        for group in by_level.values()
        for rank, (suggestion, _) in enumerate(group)
    ]
    # Two of each level in turn, then by score: neither the scale nor the uncertainty alone
    # decides.
    ranked.sort(key=lambda row: (row[0] // 2, row[1], row[2].case_id))
    return tuple(suggestion for _, _, suggestion in ranked[:most])


def _of_part(part: AlignedItems) -> Iterable[tuple[LabelSuggestion, float]]:
    for item in part.unlabelled:
        at = part.value(item.judge or 0.0)
        score, why = _unsure(part, item, at)
        yield _suggestion(item, score, why), at
    span = part.scale.max - part.scale.min
    for item in part.items:
        spread = max(item.ratings.values()) - min(item.ratings.values())
        if len(item.ratings) == 2 and spread > span / 4:  # noqa: PLR2004 - two against each other
            at = part.value(mean_rating(item))
            why = "two annotators are split; a third would settle it"
            yield _suggestion(item, 0.5 + spread / span / 2, why), at


def _unsure(part: AlignedItems, item: JudgedItem, at: float) -> tuple[float, str]:
    """How unsure the judge is of an item, and in what words."""
    if item.confidence is not None:
        score = 1 - item.confidence
        if item.confidence < _UNSURE:
            return score, f"the judge is unsure ({item.confidence:.2f})"
        return score, f"not labelled; the judge is {item.confidence:.2f} sure"
    if part.threshold is not None and not part.is_binary:
        near = 1 - min(1.0, abs(at - part.threshold))
        if abs(at - part.threshold) < _NEAR:
            return near, f"its score is near what passes ({at:.2f}, passes from {part.threshold:g})"
        return near, "not labelled"
    return 0.5, "not labelled"


def _suggestion(item: JudgedItem, score: float, why: str) -> LabelSuggestion:
    return LabelSuggestion(
        case_id=item.place.case_id,
        variant=item.place.variant,
        repeat=item.place.repeat,
        criterion=item.criterion,
        score=score,
        why=why,
    )
