"""Scores and labels to aligned items: per criterion, on the whole, and all criteria together."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

from judgekit.datasets.labels import YES_NO, PlacedLabel, score_on
from judgekit.errors import DatasetError
from judgekit.evaluation.calibrating.aligned import Aligned, Item
from judgekit.evaluation.calibrating.labelling import WHOLE, Matching
from judgekit.evaluation.calibrating.options import CASE, ITEM
from judgekit.evaluation.calibrating.scales import inferred
from judgekit.evaluation.calibrating.whole import whole_of
from judgekit.records.rubric import Criterion, Scale

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from judgekit.evaluation.calibrating.labelling import Joined, Told
    from judgekit.evaluation.calibrating.material import Grades, Groups, Place, Sample
    from judgekit.evaluation.calibrating.options import CalibrationOptions
    from judgekit.records.rubric import Rubric

_THRESHOLD = 0.7
_SCORE = "score"
_TWO = 2

UNIT = Criterion(name="whole", question="How good is it?", scale=Scale(min=0, max=1))
"""The output as a whole, on [0, 1]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Everything a calibration is made from."""

    criteria: tuple[Aligned, ...]
    """Each criterion that has labels."""

    whole: Aligned | None
    """What the rubric concludes, against what people's scores come to."""

    pooled: Aligned | None
    """All criteria together, an item for each; None where there is one only."""

    joined: Joined
    """How both sides came together."""

    judges: tuple[str, ...]
    """Who judged."""

    notes: tuple[str, ...] = ()
    """What was assumed."""


def join(grades: Grades, labels: Sequence[PlacedLabel], options: CalibrationOptions) -> Material:
    """Hold labels against scores."""
    table = _by_place(grades)
    names = _criteria(grades, table)
    matching = Matching(table, names, options.annotators)
    matching.take(labels)
    told: defaultdict[str, list[Told]] = defaultdict(list)
    for each in matching.told:
        told[each.criterion].append(each)
    criteria = [_known(name, grades, told[name]) for name in names]
    notes = [*_assumed(criteria, grades.rubric), *matching.notes()]
    notes += [note for each in criteria for note in _outside(each, table)]
    matching.check(_unscored(told, criteria))
    add_metadata(grades.groups, matching.told)
    builder = _Builder(grades, table, options)
    aligned = [builder.aligned(c, told[c.name]) for c in criteria]
    labelled = tuple(each for each in aligned if each.items)
    rubric = grades.rubric
    whole = None
    if rubric is not None and len(rubric.criteria) > 1 and not any(a.is_nominal for a in aligned):
        whole = whole_of(rubric, aligned, grades.combined, told[WHOLE])
    failures = Counter(s.failure or "unusable" for s in grades.samples if s.raw is None)
    counts = dict(sorted(failures.items(), key=lambda one: (-one[1], one[0])))
    places = {each.place for each in matching.told}
    return Material(
        criteria=labelled,
        whole=whole if whole is not None and whole.items else None,
        pooled=pooled(labelled),
        joined=matching.joined(places, len(grades.samples), counts, grades.n_errors),
        judges=tuple(dict.fromkeys(s.judge for s in grades.samples if s.judge)),
        notes=tuple(notes),
    )


def by_annotator(told: Sequence[Told]) -> list[Told]:
    """The labels of one output in an order that hangs on no order of rows."""
    return sorted(told, key=lambda each: each.annotator)


def add_metadata(groups: dict[Place, Groups], told: Sequence[Told]) -> None:
    """Put what labels say of their items among the items' groups."""
    for each in by_annotator(told):
        for name, value in (each.placed.label.metadata or {}).items():
            if isinstance(value, str | int | float):
                groups.setdefault(each.place, {}).setdefault(name, (str(value),))


def cluster_of(
    place: Place, groups: Groups, criterion: str, options: CalibrationOptions
) -> Hashable:
    """What an item shares with others that are not independent of it."""
    if options.cluster == ITEM:
        return (place, criterion)
    if options.cluster == CASE:
        return place.case_id
    return groups.get(options.cluster, (place.case_id,))


def _by_place(grades: Grades) -> dict[Place, dict[str, list[Sample]]]:
    names = [c.name for c in grades.rubric.criteria] if grades.rubric else []
    named = {s.criterion for s in grades.samples if s.criterion}
    sole = names[0] if len(names) == 1 else next(iter(named)) if len(named) == 1 else _SCORE
    table: dict[Place, dict[str, list[Sample]]] = {}
    for sample in sorted(grades.samples, key=lambda each: (each.judge, each.repeat)):
        table.setdefault(sample.place, {}).setdefault(sample.criterion or sole, []).append(sample)
    return {place: table[place] for place in sorted(table, key=lambda place: place.rank)}


def _criteria(grades: Grades, table: Mapping[Place, Mapping[str, object]]) -> list[str]:
    own = [c.name for c in grades.rubric.criteria] if grades.rubric else []
    seen = {name for said in table.values() for name in said}
    return [name for name in own if name in seen] + sorted(seen.difference(own))


def _known(name: str, grades: Grades, told: Sequence[Told]) -> Criterion:
    if grades.rubric is not None and name in [c.name for c in grades.rubric.criteria]:
        return grades.rubric.criterion(name)
    given = [t.placed.label.raw for t in told]
    raws = [raw for raw in given if isinstance(raw, float | int)]
    if any(isinstance(raw, str) and raw.casefold() in YES_NO for raw in given):
        raws += [0.0, 1.0]
    own = [s for s in grades.samples if s.criterion in (name, None)]
    return inferred(name, own, raws)


def _assumed(criteria: Sequence[Criterion], rubric: Rubric | None) -> list[str]:
    """What is said of scales that no rubric tells, a line for each scale."""
    own = [] if rubric is None else [c.name for c in rubric.criteria]
    by_ends: defaultdict[tuple[float, float], list[str]] = defaultdict(list)
    for each in criteria:
        if each.name not in own:
            by_ends[each.scale.min, each.scale.max].append(each.name)
    return [
        f"no rubric is known: {', '.join(names)} {'is' if len(names) == 1 else 'are'} taken to go "
        f"from {low:g} to {high:g} and to pass from {_THRESHOLD:g} of that range"
        for (low, high), names in by_ends.items()
    ]


def _outside(
    criterion: Criterion, table: Mapping[Place, Mapping[str, Sequence[Sample]]]
) -> list[str]:
    """What is said of scores of the judge that its scale does not reach to."""
    scale = criterion.scale
    raws = [s.raw for said in table.values() for s in said.get(criterion.name, ())]
    n = sum(raw is not None and not scale.min <= raw <= scale.max for raw in raws)
    if not n:
        return []
    which = f"{n:,} of the judge's scores of {criterion.name}"
    return [f"{which} lie outside {scale.min:g} to {scale.max:g}; they are taken as they are"]


def _unscored(
    told: Mapping[str, Sequence[Told]], criteria: Sequence[Criterion]
) -> list[DatasetError]:
    """All labels that are no score of their scale."""
    problems: list[DatasetError] = []
    for criterion in (*criteria, UNIT):
        for each in told.get(WHOLE if criterion is UNIT else criterion.name, ()):
            try:
                scored(each.placed, criterion)
            except DatasetError as error:
                problems.append(error)
    return problems


def scored(placed: PlacedLabel, criterion: Criterion) -> float:
    """The score a label gives."""
    if placed.label.raw is None:
        raise placed.fault("it names a winner, but single outputs were judged", "give `raw`")
    try:
        return score_on(placed, criterion)
    except DatasetError as error:
        if criterion is not UNIT:
            raise
        hint = "name its `criterion`; of the whole a label is a number from 0 to 1"
        raise placed.fault(error.message, hint) from None


@dataclass(frozen=True, slots=True)
class _Builder:
    """Makes items of what was said in one place."""

    grades: Grades
    table: Mapping[Place, Mapping[str, Sequence[Sample]]]
    options: CalibrationOptions

    def aligned(self, criterion: Criterion, told: Sequence[Told]) -> Aligned:
        by_place: defaultdict[Place, list[Told]] = defaultdict(list)
        for each in told:
            by_place[each.place].append(each)
        items, others = [], []
        for place, said in self.table.items():
            samples = said.get(criterion.name)
            if not samples:
                continue
            item = self._item(place, criterion, samples, by_annotator(by_place.get(place, ())))
            if item.ratings:
                items.append(item)
            elif item.judge is not None:
                others.append(item)
        rubric = self.grades.rubric
        threshold = criterion.pass_value
        if threshold is None:
            threshold = _THRESHOLD if rubric is None else rubric.pass_threshold
        return Aligned(
            name=criterion.name,
            criterion=criterion,
            scale=criterion.scale,
            threshold=None if self.is_nominal(criterion) else threshold,
            items=tuple(items),
            unlabelled=tuple(others),
            consensus=self.options.consensus,
            is_nominal=self.is_nominal(criterion),
        )

    def is_nominal(self, criterion: Criterion) -> bool:
        """Whether a criterion's levels are categories; yes and no are a scale all the same."""
        points = criterion.scale.points
        return self.options.categories and points is not None and len(points) > _TWO

    def _item(
        self, place: Place, criterion: Criterion, samples: Sequence[Sample], told: Sequence[Told]
    ) -> Item:
        groups = self.grades.groups.get(place, {})
        usable = [s for s in samples if s.raw is not None]
        sure = [s.confidence for s in usable if s.confidence is not None]
        return Item(
            place=place,
            criterion=criterion.name,
            cluster=cluster_of(place, groups, criterion.name, self.options),
            judge=self._score(place, criterion, usable),
            samples=tuple(s.raw for s in samples),
            ratings={t.annotator: scored(t.placed, criterion) for t in told},
            confidence=fsum(sure) / len(sure) if sure else None,
            rationale=next((s.rationale for s in usable if s.rationale), None),
            reasons={
                t.annotator: t.placed.label.rationale for t in told if t.placed.label.rationale
            },
            groups=groups,
        )

    def _score(self, place: Place, criterion: Criterion, usable: Sequence[Sample]) -> float | None:
        """The mean of the usable answers; of several judges what their panel comes to."""
        if len({s.judge for s in usable}) > 1 and place in self.grades.combined:
            value = self.grades.combined[place].by_criterion.get(criterion.name)
            low, high = criterion.scale.min, criterion.scale.max
            return None if value is None else low + value * (high - low)
        raws = [s.raw for s in usable if s.raw is not None]
        return fsum(raws) / len(raws) if raws else None


def pooled(criteria: Sequence[Aligned]) -> Aligned | None:
    """All criteria together: on their scale where they share one, else on [0, 1]."""
    if len(criteria) < _TWO:
        return None
    first = criteria[0]
    same = all((each.scale, each.threshold) == (first.scale, first.threshold) for each in criteria)
    if not same and any(each.is_nominal for each in criteria):
        return None
    parts = criteria if same else [_on_unit(each) for each in criteria]
    return Aligned(
        name="all criteria",
        scale=first.scale if same else UNIT.scale,
        threshold=first.threshold,
        items=tuple(item for part in parts for item in part.items),
        unlabelled=tuple(item for part in parts for item in part.unlabelled),
        consensus=first.consensus,
        is_nominal=first.is_nominal,
    )


def _on_unit(aligned: Aligned) -> Aligned:
    def moved(item: Item, *, labelled: bool) -> Item:
        return Item(
            place=item.place,
            criterion=item.criterion,
            cluster=item.cluster,
            judge=None if item.judge is None else aligned.value(item.judge),
            samples=tuple(None if s is None else aligned.value(s) for s in item.samples),
            ratings={name: aligned.value(raw) for name, raw in item.ratings.items()},
            confidence=item.confidence,
            rationale=item.rationale,
            reasons=item.reasons,
            groups=item.groups,
            judge_passed=None if item.judge is None else bool(aligned.judge_passes(item)),
            human_passed=bool(aligned.human_passes(item)) if labelled else None,
        )

    return Aligned(
        name=aligned.name,
        scale=UNIT.scale,
        threshold=aligned.threshold,
        items=tuple(moved(item, labelled=True) for item in aligned.items),
        unlabelled=tuple(moved(item, labelled=False) for item in aligned.unlabelled),
        consensus=aligned.consensus,
    )
