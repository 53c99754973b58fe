"""The same figures per variant, stratum, tag and further groups, and correlations within them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from judgekit.evaluation.calibrating.agreeing import correlated
from judgekit.evaluation.calibrating.alphas import NO_ORDER
from judgekit.evaluation.calibrating.clustering import average, clustered, estimated, rate
from judgekit.evaluation.calibrating.correcting import Corrected, corrected
from judgekit.evaluation.calibrating.pair_orders import PairOrders, pair_orders
from judgekit.evaluation.calibrating.trusting import rightness
from judgekit.stats.agreement import cohen_kappa
from judgekit.stats.correlations import CorrelationMethod, grouped_correlation
from judgekit.stats.estimate import Estimate, undefined
from judgekit.stats.pair_accuracy import pairwise_accuracy

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from judgekit.evaluation.calibrating.aligned import Aligned, Item
    from judgekit.evaluation.calibrating.material import Pair, Place
    from judgekit.evaluation.calibrating.options import CalibrationOptions
    from judgekit.stats.intervals import Rate

_METHODS: tuple[CorrelationMethod, ...] = ("pearson", "spearman", "kendall")
_TWO = 2
CASE, VARIANT, CRITERION = "case", "variant", "criterion"


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The items of one group."""

    kind: str
    """What the group is by: `variant`, `stratum`, `tag`, `criterion`, or an entry of metadata."""

    name: str
    """The group."""

    n: int
    """Items with a score and a label."""

    n_labels: int
    """Labels of its items, also of those the judge failed on."""

    right: Rate
    """Share on which the judge is right."""

    kappa: Estimate
    """Quadratic kappa (of two levels Cohen's)."""

    bias: Estimate
    """Mean of judge - people, on the scale."""

    judge_mean: Estimate
    """Mean of the judge's scores."""

    human_mean: Estimate
    """Mean of people's."""

    judge_rate: Rate
    """Share the judge passes; undefined where nothing passes."""

    human_rate: Rate
    """Share people pass."""

    corrected: Corrected | None
    """The pass rate, or of comparisons the win rate, corrected; of variants only."""

    orders: PairOrders | None
    """For comparisons, both orders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Correlations that a way of grouping hides or makes."""

    kind: str
    """What the groups are by: `case`, `variant`, or an entry of the metadata."""

    n_groups: int
    """Groups."""

    within: dict[str, Estimate]
    """Mean over groups of the correlation inside each, by method: what ranking outputs of one
    prompt goes by. Groups where a side is constant are left out; `n` counts those used. Groups are
    taken as independent, but for those that lie in one cluster of `--cluster` whole."""

    between: dict[str, Estimate]
    """Correlation of the groups' means: what ranking the groups goes by."""

    order_accuracy: Estimate
    """Share of pairs inside a group that the judge orders, or ties, as people do."""


def segments(
    aligned: Aligned, options: CalibrationOptions, pairs: Mapping[Place, Pair] | None = None
) -> tuple[Segment, ...]:
    """The figures of each group, where a kind of group has two or more."""
    found: list[Segment] = []
    for kind in (VARIANT, "stratum", "tag", CRITERION, *options.by):
        names = dict.fromkeys(name for item in aligned.items for name in groups_in(item, kind))
        if len(names) < _TWO and kind != "tag":
            continue
        for name in names:
            part = aligned.where(lambda item, n=name, k=kind: n in groups_in(item, k))  # type: ignore[misc] # bound in the loop
            found.append(_segment(kind, name, part, options, pairs))
    return tuple(found)


def groupings(aligned: Aligned, options: CalibrationOptions) -> tuple[Grouping, ...]:
    """Correlations within groups and between them, where groups hold several items."""
    found: list[Grouping] = []
    if aligned.is_nominal:
        return ()
    for kind in (CASE, VARIANT, *options.by):
        names = [next(iter(groups_in(item, kind)), None) for item in aligned.both]
        groups = {name for name in names if name is not None}
        if _TWO <= len(groups) < len(names) and None not in names:
            found.append(_grouping(aligned, kind, [str(name) for name in names], options.level))
    return tuple(found)


def groups_in(item: Item, kind: str) -> tuple[str, ...]:
    """The groups of a kind that an item belongs to."""
    if kind == VARIANT:
        return () if item.place.variant is None else (item.place.variant,)
    if kind == CASE:
        return (item.place.case_id,)
    if kind == CRITERION:
        return (item.criterion,) if item.criterion else ()
    return item.groups.get(kind, ())


def _segment(
    kind: str,
    name: str,
    part: Aligned,
    options: CalibrationOptions,
    pairs: Mapping[Place, Pair] | None,
) -> Segment:
    level, clusters = options.level, part.clusters
    what = "mean value" if part.threshold is None else "pass rate"
    return Segment(
        kind=kind,
        name=name,
        n=len(part.both),
        n_labels=sum(len(item.ratings) for item in part.items),
        right=rate(rightness(part, options).tolist(), clusters, level=level),
        kappa=_kappa(part, level),
        bias=_mean(part, part.judge - part.human, level),
        judge_mean=_mean(part, part.judge, level),
        human_mean=_mean(part, part.human, level),
        judge_rate=rate(part.judge_pass.tolist(), clusters, level=level),
        human_rate=rate(part.human_pass.tolist(), clusters, level=level),
        corrected=corrected(part, what, options) if kind == VARIANT else None,
        orders=None if pairs is None else pair_orders(part, pairs, level=level),
    )


def _mean(part: Aligned, scores: np.ndarray, level: float) -> Estimate:
    if part.is_nominal:
        return undefined(NO_ORDER, n=len(scores), method="t", level=level)
    return average(scores.tolist(), part.clusters, level=level)


def _kappa(part: Aligned, level: float) -> Estimate:
    levels = part.levels
    if levels is None:
        return undefined("the scale has no levels", n=len(part.both), method="kappa", level=level)
    return estimated(
        lambda: cohen_kappa(
            part.human_level.tolist(),
            part.judge_level.tolist(),
            labels=levels,
            weights=None if part.is_nominal else "quadratic",
            clusters=part.clusters,
            level=level,
        ),
        level=level,
    )


def _grouping(aligned: Aligned, kind: str, names: list[str], level: float) -> Grouping:
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
        between={method: correlated(a, b, method, above, level=level) for method in _METHODS},
        order_accuracy=inside.order_accuracy(),
    )


def _owners(aligned: Aligned, members: Mapping[str, list[int]]) -> dict[str, Hashable] | None:
    """The cluster that holds each group whole; None where groups are clusters, or cut across."""
    owners: dict[str, Hashable] = {}
    for name, places in members.items():
        clusters = {aligned.both[place].cluster for place in places}
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
            return estimated(
                lambda: grouped_correlation(*sides, method, level=self.level), level=self.level
            )

        return clustered(of(self._all), lambda places: of(places).value, self._clusters)

    def order_accuracy(self) -> Estimate:
        def of(places: np.ndarray) -> Estimate:
            sides = self._at(places)
            return estimated(lambda: pairwise_accuracy(*sides, level=self.level), level=self.level)

        found = of(self._all)
        if self.owners is None:
            return found
        wide = replace(found, value=2 * found.value - 1)  # in (-1, 1), as coefficients are
        wide = clustered(wide, lambda places: 2 * of(places).value - 1, self._clusters)
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
