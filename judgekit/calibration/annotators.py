"""The labels of several annotators: joined into one file, and how far they agree.

Nothing is averaged and nobody is overruled: what annotators see differently is listed, and the
decision of a third annotator about it is a further label.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from judgekit.calibration.agreement import confusion_table, scale_kappa
from judgekit.calibration.inputs import OutputKey
from judgekit.calibration.items import (
    PREFERENCE_SCALE,
    AlignedItems,
    JudgedItem,
    annotators_of,
    clustered_rate,
    clustered_unit_mean,
    clusters_of,
    level_of,
    shared_clusters,
)
from judgekit.calibration.join import UNNAMED_ANNOTATOR
from judgekit.calibration.packets import SLOT_FIELD, ResolvedLabels
from judgekit.calibration.pairs import winner_share
from judgekit.calibration.report import plain_data
from judgekit.calibration.substitution import human_ceiling
from judgekit.datasets import LocatedLabel, score_on_scale
from judgekit.errors import InputError
from judgekit.evaluation import check_adjudicator
from judgekit.records import CHOSEN_FIELD, Criterion, JsonObject, Label, Rubric
from judgekit.stats.correction import labels_look_random
from judgekit.stats.estimate import Estimate, undefined_estimate

_PAIR = 2
_LEVEL = 0.95
# Of a scale without levels: further apart than a quarter of it.
_QUARTER = 0.25
# A mean of one item has no interval, so that each half of the labelling needs two.
_LEAST_DRIFT = 4
_PREFERENCE = Criterion(name="preference", question="Which is better?", scale=PREFERENCE_SCALE)


class LabelKey(NamedTuple):
    """What a label is about."""

    case_id: str
    variant: str | None
    repeat: int
    criterion: str | None

    @classmethod
    def of(cls, label: Label) -> LabelKey:
        return cls(label.case_id, label.variant, label.repeat or 0, label.criterion)


@dataclass(frozen=True, slots=True)
class Conflict:
    """A question to which annotators gave answers that are far apart.

    `decision` is the label of a third annotator who has decided it, the latest of several.
    """

    key: LabelKey
    labels: tuple[Label, ...]
    why: str
    decision: Label | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorAgreement:
    """How far annotators agree on one criterion, beyond chance and as shares.

    Attributes:
        n_random: The items, labelled by two or more, that were drawn at random.
        alpha: Krippendorff's alpha at the level of the scale.
        kappa: Of two annotators Cohen's, with quadratic weights where levels are ordered; of more
            Fleiss'.
        exact: Share of equal answers among pairs of annotators of one item, of `n_random` only:
            items that were chosen because a judge is unsure of them are harder than others.
        counts: Of two annotators, how often each answer of the first (row) met each of the second.
    """

    name: str
    n_items: int
    n_doubly: int
    n_random: int
    alpha: Estimate
    kappa: Estimate
    exact: Estimate
    annotators: tuple[str, ...] = ()
    level_names: tuple[str, ...] = ()
    counts: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorHabits:
    """How one annotator labels.

    Attributes:
        same_again: Share of equal answers among the items that were shown again.
        drift: Mean value of the second half of their items minus that of the first half. Only of
            the items that were drawn at random, which come in a random order.
        first_slot: Of the pairs in which they prefer one, the share in which it was shown first.
    """

    name: str
    same_again: Estimate
    drift: Estimate
    first_slot: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedLabels:
    """The labels of several files as one.

    Attributes:
        labels: One for each annotator and question, those without a score and decisions included.
        replaced: Earlier answers of an annotator who answered the same question again.
        n_missing: Labels without a score or a winner: the annotator could not judge.
    """

    labels: tuple[Label, ...]
    replaced: tuple[Label, ...]
    conflicts: tuple[Conflict, ...]
    agreement: tuple[AnnotatorAgreement, ...]
    habits: tuple[AnnotatorHabits, ...]
    n_missing: int

    @property
    def annotators(self) -> tuple[str, ...]:
        """Those who have labelled items, without those who only decide conflicts."""
        return tuple(one.name for one in self.habits)

    def to_json(self) -> JsonObject:
        """The figures, the conflicts and what was replaced, as plain JSON types."""
        data: JsonObject = plain_data(self)
        data["annotators"] = [*self.annotators]
        return {"n_labels": len(self.labels), **{k: v for k, v in data.items() if k != "labels"}}


def merge_labels(found: ResolvedLabels, rubric: Rubric | None) -> MergedLabels:
    """Join labels; the rubric has the scales of those that are of no packet."""
    rubrics = [one.rubric for one in found.packets if one.rubric] + ([rubric] if rubric else [])
    pairs = {frozenset(both): "::".join(both) for one in found.packets if (both := one.variants)}
    # A packet's label has its case and its winner alone: those of another pair would replace it.
    if len(pairs) > 1:
        raise InputError(
            f"the labels are of several pairs of variants: {', '.join(sorted(pairs.values()))}",
            hint="merge the files of each pair on their own",
        )
    scores = _Scores(rubrics, next(iter(pairs.values()), None))
    labels, replaced = _latest(scores.with_criterion(found.labels))
    by_key: defaultdict[LabelKey, list[LocatedLabel]] = defaultdict(list)
    decided: dict[LabelKey, Label] = {}
    for placed in labels:
        key = LabelKey.of(placed.label)
        if placed.label.is_missing:
            continue
        if placed.label.adjudicates:
            decided[key] = placed.label
        else:
            by_key[key].append(placed)
    parts = scores.aligned(by_key)
    conflicts = [
        Conflict(key, tuple(one.label for one in by_key[key]), why, decided.get(key))
        for part in parts
        for item in part.items
        if (why := _why_conflict(part, [*item.ratings.values()]))
        for key in [LabelKey(*item.place, item.criterion or None)]
    ]
    return MergedLabels(
        labels=tuple(one.label for one in labels),
        replaced=tuple(one.label for one in replaced),
        conflicts=tuple(conflicts),
        agreement=tuple(map(_agreement, parts)),
        habits=_habits(parts, labels, scores.with_criterion(found.repeats)),
        n_missing=sum(one.label.is_missing for one in labels),
    )


def _annotator(placed: LocatedLabel) -> str:
    return placed.label.annotator or UNNAMED_ANNOTATOR


def _answer(placed: LocatedLabel) -> object:
    return placed.label.raw if placed.label.winner is None else placed.label.winner


def _about(placed: LocatedLabel, name: str) -> object:
    return (placed.label.metadata or {}).get(name)


def _time(placed: LocatedLabel) -> str:
    return str(_about(placed, "labelled_at") or _about(placed, "judged_at") or "")


def _latest(
    labels: Sequence[LocatedLabel],
) -> tuple[tuple[LocatedLabel, ...], tuple[LocatedLabel, ...]]:
    """One label for each annotator and question: the latest; and the different earlier ones."""
    chosen: dict[tuple[LabelKey, str], LocatedLabel] = {}
    replaced: list[LocatedLabel] = []
    # Sorting is stable: without times the later row of the later file wins.
    for placed in sorted(labels, key=_time):
        key = LabelKey.of(placed.label), _annotator(placed)
        before = chosen.pop(key, None)
        if before is not None:
            who = _annotator(placed)
            check_adjudicator(placed, who, is_decision=before.label.adjudicates)
            if _answer(before) != _answer(placed):
                replaced.append(before)
        chosen[key] = placed
    return tuple(chosen.values()), tuple(replaced)


def _habits(
    parts: Sequence[AlignedItems], labels: Sequence[LocatedLabel], repeats: Iterable[LocatedLabel]
) -> tuple[AnnotatorHabits, ...]:
    own: defaultdict[str, list[LocatedLabel]] = defaultdict(list)
    again: defaultdict[str, dict[LabelKey, float]] = defaultdict(dict)
    for placed in labels:
        if not placed.label.adjudicates:
            own[_annotator(placed)].append(placed)
    known = {(LabelKey.of(one.label), _annotator(one)): one for one in labels}
    for second in repeats:
        first = known.get((LabelKey.of(second.label), _annotator(second)))
        if first is not None and not (first.label.is_missing or second.label.is_missing):
            same = float(_answer(first) == _answer(second))
            again[_annotator(second)][LabelKey.of(second.label)] = same
    slots = {
        name: [slot == "first" for one in of if (slot := _about(one, SLOT_FIELD)) in _SLOTS]
        for name, of in own.items()
    }
    return tuple(
        AnnotatorHabits(
            name=name,
            same_again=clustered_rate(
                [*again[name].values()],
                # Criteria of one item are not independent of each other.
                shared_clusters([key.case_id for key in again[name]]),
                level=_LEVEL,
            ),
            drift=_drift(name, parts, own[name]),
            first_slot=clustered_rate(slots[name], None, level=_LEVEL),
        )
        for name in sorted(own)
    )


_SLOTS = ("first", "second")


def _drift(name: str, parts: Sequence[AlignedItems], labels: Sequence[LocatedLabel]) -> Estimate:
    """How an annotator's scores change; an item has the mean of its criteria."""
    values: defaultdict[OutputKey, list[float]] = defaultdict(list)
    for part in parts:
        for item in part.items:
            # A choice between two says nothing of high and low.
            if name in item.ratings and part.threshold is not None and item.is_random:
                values[item.place].append(part.value(item.ratings[name]))
    times = {OutputKey(*LabelKey.of(one.label)[:3]): _time(one) for one in labels}
    known = [(times[place], np.mean(values[place])) for place in values if times[place]]
    # By time alone: in the order of their values, labels of one time would seem to rise.
    order = sorted(known, key=lambda one: one[0])
    if len({time for time, _ in order}) < _LEAST_DRIFT:
        reason = "fewer than four scored items with times of their own"
        return undefined_estimate(reason, n=len(order), method="welch", level=_LEVEL)
    middle = len(order) // 2
    early, late = ([float(value) for _, value in half] for half in (order[:middle], order[middle:]))
    # The difference of two means, whatever the two groups are.
    return labels_look_random(late, early, level=_LEVEL)


class _Scores:
    """The scale of each criterion, and what follows from it for several labels."""

    def __init__(self, rubrics: Sequence[Rubric], pair: str | None) -> None:
        self._criteria: dict[str, tuple[Criterion, float]] = {}
        for rubric in rubrics:
            for one in rubric.criteria:
                own = rubric.pass_threshold if one.pass_value is None else one.pass_value
                self._criteria.setdefault(one.name, (one, own))
        self._pair = pair

    def with_criterion(self, labels: Sequence[LocatedLabel]) -> Sequence[LocatedLabel]:
        """Labels, each with its criterion where there is only one, which it may leave out."""
        # Else the same question had two keys, and annotators of both kinds none in common.
        if len(self._criteria) != 1 or any(one.label.winner is not None for one in labels):
            return labels
        only = {"criterion": next(iter(self._criteria))}
        return [
            one if one.label.criterion else replace(one, label=one.label.model_copy(update=only))
            for one in labels
        ]

    def aligned(
        self, by_key: Mapping[LabelKey, Sequence[LocatedLabel]]
    ) -> tuple[AlignedItems, ...]:
        """The labelled items of each criterion, without a judge."""
        items: defaultdict[str, list[JudgedItem]] = defaultdict(list)
        known: dict[str, tuple[Criterion, float | None]] = {}
        for key, labels in by_key.items():
            criterion, threshold = self._of(labels[0])
            name = key.criterion or criterion.name
            known[name] = criterion, threshold
            chosen = [str(_about(one, CHOSEN_FIELD)) for one in labels]
            items[name].append(
                JudgedItem(
                    place=OutputKey(key.case_id, key.variant, key.repeat),
                    criterion=key.criterion or "",
                    cluster=key.case_id,
                    judge=None,
                    ratings={_annotator(one): self._score(one) for one in labels},
                    reasons={},
                    # What was drawn for any packet counts as drawn.
                    groups={CHOSEN_FIELD: ("random" if "random" in chosen else chosen[0],)},
                )
            )
        return tuple(
            AlignedItems(
                name=name,
                criterion=criterion,
                scale=criterion.scale,
                threshold=threshold,
                items=tuple(items[name]),
            )
            for name, (criterion, threshold) in known.items()
        )

    def _of(self, placed: LocatedLabel) -> tuple[Criterion, float | None]:
        label = placed.label
        if label.winner is not None:
            return _PREFERENCE, None
        known, name = self._criteria, label.criterion
        if name not in known:
            raise placed.fault(
                f"the scale of criterion {name!r} is not known"
                if name
                else "it names no criterion",
                "give the rubric of the labels: --rubric FILE|NAME",
            )
        return known[name]

    def _score(self, placed: LocatedLabel) -> float:
        winner = placed.label.winner
        if winner is None:
            return score_on_scale(placed, self._of(placed)[0])
        share = winner_share(winner, placed.label.variant or self._pair)
        if share is None:
            raise placed.fault(f"{winner!r} is no choice", "a winner is a, b or tie here")
        return share


def _why_conflict(part: AlignedItems, scores: Sequence[float]) -> str | None:
    """Why scores are a conflict: one passes and another does not, or they are far apart."""
    low, high, points = min(scores), max(scores), part.scale.points
    if part.threshold is not None and part.passes(low) != part.passes(high):
        return "one passes, another does not"
    if points is None:
        return "far apart" if part.value(high) - part.value(low) > _QUARTER else None
    # A score may miss its level by a rounding error.
    steps = points.index(level_of(high, points)) - points.index(level_of(low, points))
    apart = "opposite choices" if part.threshold is None else "more than one level apart"
    return apart if steps > 1 else None


def _agreement(part: AlignedItems) -> AnnotatorAgreement:
    names = annotators_of(part.items)
    ceiling = human_ceiling(part, level=_LEVEL)
    in_random_part = [item for item in part.items if len(item.ratings) >= _PAIR and item.is_random]
    names_of = {one.value: one.name for one in part.scale.levels}
    kappa, table = ceiling.fleiss_kappa, None
    if len(names) == _PAIR:
        # Two annotators agree as far as a judge agrees with one of them.
        first, second = names
        items = tuple(
            replace(item, judge=item.ratings.get(second), ratings={first: item.ratings[first]})
            for item in part.items
            if first in item.ratings
        )
        two = replace(part, items=items)
        kappa, table = scale_kappa(two, "quadratic", _LEVEL), confusion_table(two)
    return AnnotatorAgreement(
        name=part.name,
        n_items=len(part.items),
        n_doubly=ceiling.n_doubly,
        n_random=len(in_random_part),
        alpha=ceiling.alpha,
        kappa=kappa,
        exact=clustered_unit_mean(
            [_equal_share([*item.ratings.values()]) for item in in_random_part],
            clusters_of(in_random_part),
            level=_LEVEL,
        ),
        annotators=tuple(names),
        level_names=tuple(names_of.get(level) or f"{level:g}" for level in part.levels or ()),
        counts=table.counts if table else (),
    )


def _equal_share(ratings: Sequence[float]) -> float:
    pairs = [a == b for a, b in combinations(ratings, _PAIR)]
    return sum(pairs) / len(pairs)
