"""The labels of several annotators: joined into one file, and how far they agree.

Nothing is averaged and nobody is overruled: what annotators see differently is listed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations
from math import nan
from typing import TYPE_CHECKING, NamedTuple

from judgekit.calibration.inputs import OutputKey
from judgekit.calibration.items import (
    PREFERENCE_SCALE,
    AlignedItems,
    JudgedItem,
    annotators_of,
    clustered_unit_mean,
    clusters_of,
    estimate_or_undefined,
    level_of,
    measurement_level,
    plain_data,
    scale_alpha,
)
from judgekit.calibration.join import UNNAMED_ANNOTATOR
from judgekit.datasets import score_on_scale
from judgekit.errors import NotEnoughDataError
from judgekit.records import Criterion
from judgekit.stats.agreement import cohen_kappa
from judgekit.stats.raters import fleiss_kappa

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judgekit.calibration.packets import ResolvedLabels
    from judgekit.datasets import LocatedLabel
    from judgekit.records import JsonObject, Label, Rubric, Scale
    from judgekit.stats.agreement_coefficients import Weights
    from judgekit.stats.estimate import Estimate

_PAIR = 2
_LEVEL = 0.95
# Of a scale without levels: further apart than a quarter of it.
_QUARTER = 0.25
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
    """A question to which annotators gave answers that are far apart."""

    key: LabelKey
    labels: tuple[Label, ...]
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorAgreement:
    """How far annotators agree on one criterion, beyond chance and as shares.

    Attributes:
        alpha: Krippendorff's alpha at the level of the scale.
        kappa: Of two annotators Cohen's, with quadratic weights where levels are ordered; of more
            Fleiss'.
        exact: Share of equal answers among pairs of annotators of one item.
        counts: Of two annotators, how often each answer of the first (row) met each of the second.
    """

    name: str
    n_items: int
    n_doubly: int
    alpha: Estimate
    kappa: Estimate
    exact: Estimate
    annotators: tuple[str, ...] = ()
    level_names: tuple[str, ...] = ()
    counts: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedLabels:
    """The labels of several files as one.

    Attributes:
        labels: One for each annotator and question, those without a score included.
        replaced: Earlier answers of an annotator who answered the same question again.
        n_missing: Labels without a score or a winner: the annotator could not judge.
        self_agreement: How many items that were shown again got the same answer, and how many were.
    """

    labels: tuple[Label, ...]
    replaced: tuple[Label, ...]
    conflicts: tuple[Conflict, ...]
    agreement: tuple[AnnotatorAgreement, ...]
    annotators: tuple[str, ...]
    n_missing: int
    self_agreement: Mapping[str, tuple[int, int]]

    def to_json(self) -> JsonObject:
        """The figures, the conflicts and what was replaced, as plain JSON types."""
        data: JsonObject = plain_data(self)
        return {"n_labels": len(self.labels), **{k: v for k, v in data.items() if k != "labels"}}


def merge_labels(found: ResolvedLabels, rubric: Rubric | None) -> MergedLabels:
    """Join labels; the rubric has the scales of those that are of no packet."""
    labels, replaced = _latest(found.labels)
    rubrics = [one.rubric for one in found.packets if one.rubric] + ([rubric] if rubric else [])
    scores = _Scores(rubrics, {one.variants for one in found.packets if one.variants})
    by_key: defaultdict[LabelKey, list[LocatedLabel]] = defaultdict(list)
    for placed in labels:
        if not placed.label.is_missing:
            by_key[LabelKey.of(placed.label)].append(placed)
    conflicts = (scores.conflict(key, own) for key, own in by_key.items())
    return MergedLabels(
        labels=tuple(one.label for one in labels),
        replaced=tuple(one.label for one in replaced),
        conflicts=tuple(one for one in conflicts if one is not None),
        agreement=scores.agreement(by_key),
        annotators=tuple(sorted({_annotator(one) for one in labels})),
        n_missing=sum(one.label.is_missing for one in labels),
        self_agreement=_self_agreement(labels, found.repeats),
    )


def _annotator(placed: LocatedLabel) -> str:
    return placed.label.annotator or UNNAMED_ANNOTATOR


def _answer(placed: LocatedLabel) -> object:
    return placed.label.raw if placed.label.winner is None else placed.label.winner


def _latest(
    labels: Sequence[LocatedLabel],
) -> tuple[tuple[LocatedLabel, ...], tuple[LocatedLabel, ...]]:
    """One label for each annotator and question: the latest; and the different earlier ones."""
    chosen: dict[tuple[LabelKey, str], LocatedLabel] = {}
    replaced: list[LocatedLabel] = []

    def time(placed: LocatedLabel) -> str:
        return str((placed.label.metadata or {}).get("labelled_at", ""))

    # Sorting is stable: without times the later row of the later file wins.
    for placed in sorted(labels, key=time):
        key = LabelKey.of(placed.label), _annotator(placed)
        before = chosen.pop(key, None)
        if before is not None and _answer(before) != _answer(placed):
            replaced.append(before)
        chosen[key] = placed
    return tuple(chosen.values()), tuple(replaced)


def _self_agreement(
    labels: Iterable[LocatedLabel], repeats: Iterable[LocatedLabel]
) -> dict[str, tuple[int, int]]:
    known = {(LabelKey.of(one.label), _annotator(one)): one for one in labels}
    counts: defaultdict[str, list[bool]] = defaultdict(list)
    for again in repeats:
        first = known.get((LabelKey.of(again.label), _annotator(again)))
        if first is not None and not (first.label.is_missing or again.label.is_missing):
            counts[_annotator(again)].append(_answer(first) == _answer(again))
    return {name: (sum(same), len(same)) for name, same in sorted(counts.items())}


class _Scores:
    """The scale of each criterion, and what follows from it for several labels."""

    def __init__(self, rubrics: Sequence[Rubric], sides: Iterable[tuple[str, str]]) -> None:
        self._criteria: dict[str, tuple[Criterion, float]] = {}
        for rubric in rubrics:
            for one in rubric.criteria:
                own = rubric.pass_threshold if one.pass_value is None else one.pass_value
                self._criteria.setdefault(one.name, (one, own))
        self._points = {"a": 1.0, "b": 0.0, "tie": 0.5}
        for a, b in sides:
            self._points |= {a: 1.0, b: 0.0}

    def conflict(self, key: LabelKey, labels: list[LocatedLabel]) -> Conflict | None:
        """What makes the answers to a question a conflict, if they are one."""
        if len(labels) < _PAIR:
            return None
        criterion, threshold = self._of(labels[0])
        scores = [self._score(one) for one in labels]
        why = _conflict(criterion.scale, threshold, min(scores), max(scores))
        return None if why is None else Conflict(key, tuple(one.label for one in labels), why)

    def agreement(
        self, by_key: Mapping[LabelKey, Sequence[LocatedLabel]]
    ) -> tuple[AnnotatorAgreement, ...]:
        items: defaultdict[str, list[JudgedItem]] = defaultdict(list)
        found: dict[str, Criterion] = {}
        for key, labels in by_key.items():
            criterion, _ = self._of(labels[0])
            name = key.criterion or criterion.name
            found[name] = criterion
            items[name].append(
                JudgedItem(
                    place=OutputKey(key.case_id, key.variant, key.repeat),
                    criterion=name,
                    cluster=key.case_id,
                    judge=None,
                    ratings={_annotator(one): self._score(one) for one in labels},
                    reasons={},
                    groups={},
                )
            )
        return tuple(_agreement(name, found[name], own) for name, own in items.items())

    def _of(self, placed: LocatedLabel) -> tuple[Criterion, float | None]:
        label = placed.label
        if label.winner is not None:
            return _PREFERENCE, None
        known = self._criteria
        # A label may leave its criterion out where there is only one.
        only = next(iter(known)) if len(known) == 1 else None
        name = label.criterion or only
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
        if winner not in self._points:
            raise placed.fault(f"{winner!r} is no choice", "a winner is a, b or tie here")
        return self._points[winner]


def _conflict(scale: Scale, threshold: float | None, low: float, high: float) -> str | None:
    """Why two scores are a conflict: one passes and the other does not, or they are far apart."""
    if threshold is not None and scale.value_of(low) < threshold <= scale.value_of(high):
        return "one passes, another does not"
    points = scale.points
    if points is None:
        return "far apart" if scale.value_of(high) - scale.value_of(low) > _QUARTER else None
    # A score may miss its level by a rounding error.
    steps = points.index(level_of(high, points)) - points.index(level_of(low, points))
    return "more than one level apart" if steps > 1 else None


def _agreement(name: str, criterion: Criterion, items: list[JudgedItem]) -> AnnotatorAgreement:
    aligned = AlignedItems(
        name=name, criterion=criterion, scale=criterion.scale, threshold=None, items=tuple(items)
    )
    names, levels = annotators_of(items), aligned.levels
    rows = [[item.ratings.get(one) for one in names] for item in items]
    clusters = clusters_of(items)
    shares = [_equal_share([*item.ratings.values()]) for item in items]
    both = [item.ratings for item in items if len(item.ratings) >= _PAIR]

    def kappa(*, level: float) -> Estimate:
        if levels is None or len(names) < _PAIR:
            reason = "one annotator only" if levels else "the scale has no levels: see alpha"
            raise NotEnoughDataError(reason)
        if len(names) > _PAIR:
            votes = [[own.get(one) for one in names] for own in map(aligned.votes, items)]
            return fleiss_kappa(votes, clusters=clusters, level=level)
        left, right = ([level_of(own[one], levels) for own in both] for one in names)
        cases = clusters_of([item for item in items if len(item.ratings) >= _PAIR])
        weights: Weights | None = None if aligned.is_binary else "quadratic"
        return cohen_kappa(
            left, right, labels=levels, weights=weights, ci="smoothed", clusters=cases, level=level
        )

    counts: tuple[tuple[int, ...], ...] = ()
    if len(names) == _PAIR and levels is not None:
        met = Counter(tuple(level_of(own[one], levels) for one in names) for own in both)
        counts = tuple(tuple(met[a, b] for b in levels) for a in levels)
    return AnnotatorAgreement(
        name=name,
        n_items=len(items),
        n_doubly=len(both),
        alpha=scale_alpha(aligned, rows, measurement_level(aligned), clusters, _LEVEL),
        kappa=estimate_or_undefined(kappa, level=_LEVEL),
        exact=clustered_unit_mean(shares, clusters, level=_LEVEL),
        annotators=tuple(names),
        level_names=tuple(_level_name(criterion.scale, level) for level in levels or ()),
        counts=counts,
    )


def _level_name(scale: Scale, value: float) -> str:
    return next((one.name for one in scale.levels if one.value == value and one.name), f"{value:g}")


def _equal_share(ratings: Sequence[float]) -> float:
    pairs = [a == b for a, b in combinations(ratings, _PAIR)]
    return sum(pairs) / len(pairs) if pairs else nan
