"""Matches labels with judged outputs, counts what does not match.

Builds the aligned items of each criterion, of the whole output and pooled. Comparisons are joined
in `pairs`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING

from judgekit.calibration.inputs import CLUSTER_BY_CASE, CLUSTER_BY_ITEM, MatchedLabel
from judgekit.calibration.items import AlignedItems, JudgedItem, infer_criterion, overall_items
from judgekit.datasets import YES_NO, LocatedLabel, raise_problems, score_on_scale
from judgekit.errors import DatasetError, InputError
from judgekit.formats import is_near_name, suggest_name
from judgekit.records import Criterion, Scale

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

    from judgekit.calibration.inputs import (
        CalibrationOptions,
        Groups,
        OutputKey,
        PointwiseData,
        ScoreSample,
    )
    from judgekit.records import Rubric

_THRESHOLD = 0.7
_SCORE = "score"
_TWO = 2
WHOLE_CRITERION = Criterion(name="whole", question="How good is it?", scale=Scale(min=0, max=1))
"""The output as a whole, on [0, 1]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinCounts:
    """How many labels and judgments matched.

    Attributes:
        n_labels: Labels read.
        n_missing: Labels without a score.
        n_left_out: Labels of annotators that were not selected.
        n_joined: Labels of judged outputs.
        n_not_judged: Labels of outputs that were not judged.
        not_judged: Some of those outputs.
        n_judged: Judged outputs, including those on which the judge failed.
        n_not_labelled: Judged outputs without a label.
        not_labelled: Some of those outputs.
        n_answers: Answers of the judge, usable or not: one for each criterion, order and repeat.
        n_judge_failures: Unusable answers.
        failures: Unusable answers by kind.
        n_errors: Outputs that record an error of the system under test; they were not judged.
    """

    n_labels: int
    n_missing: int
    n_left_out: int
    n_joined: int
    n_not_judged: int
    not_judged: tuple[str, ...]
    n_judged: int
    n_not_labelled: int
    not_labelled: tuple[str, ...]
    n_answers: int
    n_judge_failures: int
    failures: dict[str, int] = field(default_factory=dict)
    n_errors: int = 0
    annotators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationData:
    """Everything a calibration is computed from.

    Attributes:
        criteria: Each criterion that has labels.
        whole: The rubric's verdicts, with the human verdicts by the same rubric.
        pooled: All criteria together, one item for each; None for a single criterion.
        notes: What was assumed.
    """

    criteria: tuple[AlignedItems, ...]
    whole: AlignedItems | None
    pooled: AlignedItems | None
    joined: JoinCounts
    judges: tuple[str, ...]
    notes: tuple[str, ...] = ()


def join_labels(
    grades: PointwiseData, labels: Sequence[LocatedLabel], options: CalibrationOptions
) -> CalibrationData:
    """Match labels with scores."""
    table = _by_place(grades)
    names = _criteria(grades, table)
    matching = LabelMatcher(table, names, options.annotators)
    matching.take(labels)
    by_criterion: defaultdict[str, list[MatchedLabel]] = defaultdict(list)
    for each in matching.matched:
        by_criterion[each.criterion].append(each)
    criteria = [_known(name, grades, by_criterion[name]) for name in names]
    notes = [*_assumed(criteria, grades.rubric), *matching.notes()]
    notes += [note for each in criteria for note in _outside(each, table)]
    matching.check(label_problems(by_criterion, (*criteria, WHOLE_CRITERION)))
    add_metadata(grades.groups, matching.matched)
    builder = _Builder(grades, table, options)
    aligned = [builder.aligned(c, by_criterion[c.name]) for c in criteria]
    labelled = tuple(each for each in aligned if each.items)
    rubric = grades.rubric
    whole = None
    if rubric is not None and len(rubric.criteria) > 1 and not any(a.is_nominal for a in aligned):
        whole = overall_items(rubric, aligned, grades.combined, by_criterion[WHOLE_OUTPUT])
    failures = Counter(s.failure or "unusable" for s in grades.samples if s.raw is None)
    counts = dict(sorted(failures.items(), key=lambda one: (-one[1], one[0])))
    places = {each.place for each in matching.matched}
    return CalibrationData(
        criteria=labelled,
        whole=whole if whole is not None and whole.items else None,
        pooled=pool_criteria(labelled),
        joined=matching.joined(places, len(grades.samples), counts, grades.n_errors),
        judges=tuple(dict.fromkeys(s.judge for s in grades.samples if s.judge)),
        notes=tuple(notes),
    )


def _by_annotator(labels: Iterable[MatchedLabel]) -> list[MatchedLabel]:
    """Labels in an order that does not depend on the order of rows."""
    return sorted(labels, key=lambda each: each.annotator)


def labels_by_place(labels: Sequence[MatchedLabel]) -> dict[OutputKey, list[MatchedLabel]]:
    """The labels of each output, in the order of their annotators."""
    by_place: defaultdict[OutputKey, list[MatchedLabel]] = defaultdict(list)
    for label in _by_annotator(labels):
        by_place[label.place].append(label)
    return dict(by_place)


def label_reasons(labels: Iterable[MatchedLabel]) -> dict[str, str]:
    """The reasons that annotators gave with their labels."""
    said = ((label.annotator, label.placed.label.rationale) for label in labels)
    return {annotator: reason for annotator, reason in said if reason}


def add_metadata(groups: dict[OutputKey, Groups], labels: Sequence[MatchedLabel]) -> None:
    """Put what labels say of their items among the items' groups."""
    for each in _by_annotator(labels):
        for name, value in (each.placed.label.metadata or {}).items():
            if isinstance(value, str | int | float):
                groups.setdefault(each.place, {}).setdefault(name, (str(value),))


def cluster_of(
    place: OutputKey, groups: Groups, criterion: str, options: CalibrationOptions
) -> Hashable:
    """What an item shares with others that are not independent of it."""
    if options.cluster == CLUSTER_BY_ITEM:
        return (place, criterion)
    if options.cluster == CLUSTER_BY_CASE:
        return place.case_id
    return groups.get(options.cluster, (place.case_id,))


def _by_place(grades: PointwiseData) -> dict[OutputKey, dict[str, list[ScoreSample]]]:
    names = [c.name for c in grades.rubric.criteria] if grades.rubric else []
    named = {s.criterion for s in grades.samples if s.criterion}
    # A file with one criterion may leave its name out.
    sole = names[0] if len(names) == 1 else next(iter(named)) if len(named) == 1 else _SCORE
    table: dict[OutputKey, dict[str, list[ScoreSample]]] = {}
    # Sorted, so that figures do not depend on the order in which answers arrived.
    for sample in sorted(grades.samples, key=lambda each: (each.judge, each.repeat)):
        table.setdefault(sample.place, {}).setdefault(sample.criterion or sole, []).append(sample)
    return {place: table[place] for place in sorted(table, key=lambda place: place.rank)}


def _criteria(grades: PointwiseData, table: Mapping[OutputKey, Mapping[str, object]]) -> list[str]:
    own = [c.name for c in grades.rubric.criteria] if grades.rubric else []
    seen = {name for said in table.values() for name in said}
    return [name for name in own if name in seen] + sorted(seen.difference(own))


def _known(name: str, grades: PointwiseData, labels: Sequence[MatchedLabel]) -> Criterion:
    if grades.rubric is not None and name in [c.name for c in grades.rubric.criteria]:
        return grades.rubric.criterion(name)
    given = [t.placed.label.raw for t in labels]
    raws = [raw for raw in given if isinstance(raw, float | int)]
    if any(isinstance(raw, str) and raw.casefold() in YES_NO for raw in given):
        # Yes and no are labels on a scale from 0 to 1, even where only one of them occurs.
        raws += [0.0, 1.0]
    own = [s for s in grades.samples if s.criterion in (name, None)]
    return infer_criterion(name, own, raws)


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
    criterion: Criterion, table: Mapping[OutputKey, Mapping[str, Sequence[ScoreSample]]]
) -> list[str]:
    """What is said of scores of the judge that its scale does not reach to."""
    scale = criterion.scale
    raws = [s.raw for said in table.values() for s in said.get(criterion.name, ())]
    n = sum(raw is not None and not scale.min <= raw <= scale.max for raw in raws)
    if not n:
        return []
    which = f"{n:,} of the judge's scores of {criterion.name}"
    return [f"{which} lie outside {scale.min:g} to {scale.max:g}; they are taken as they are"]


def label_problems(
    labels: Mapping[str, Sequence[MatchedLabel]], criteria: Iterable[Criterion]
) -> list[DatasetError]:
    """All labels of these criteria that are no score of their scale."""
    problems: list[DatasetError] = []
    for criterion in criteria:
        for each in labels.get(
            WHOLE_OUTPUT if criterion is WHOLE_CRITERION else criterion.name, ()
        ):
            try:
                label_score(each.placed, criterion)
            except DatasetError as error:
                problems.append(error)
    return problems


def label_score(placed: LocatedLabel, criterion: Criterion) -> float:
    """The score a label gives."""
    if placed.label.raw is None:
        raise placed.fault("it names a winner, but single outputs were judged", "give `raw`")
    try:
        return score_on_scale(placed, criterion)
    except DatasetError as error:
        if criterion is not WHOLE_CRITERION:
            raise
        # Labels of the whole are the usual reason: the name of the criterion was forgotten.
        hint = "name its `criterion`; of the whole a label is a number from 0 to 1"
        raise placed.fault(error.message, hint) from None


@dataclass(frozen=True, slots=True)
class _Builder:
    """Makes items of what was said in one place."""

    grades: PointwiseData
    table: Mapping[OutputKey, Mapping[str, Sequence[ScoreSample]]]
    options: CalibrationOptions

    def aligned(self, criterion: Criterion, labels: Sequence[MatchedLabel]) -> AlignedItems:
        by_place = labels_by_place(labels)
        items, others = [], []
        for place, said in self.table.items():
            samples = said.get(criterion.name)
            if not samples:
                continue
            item = self._item(place, criterion, samples, by_place.get(place, []))
            if item.ratings:
                items.append(item)
            elif item.judge is not None:
                others.append(item)
        rubric = self.grades.rubric
        # The criterion knows best what passes, then the rubric.
        threshold = criterion.pass_value
        if threshold is None:
            threshold = _THRESHOLD if rubric is None else rubric.pass_threshold
        return AlignedItems(
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
        self,
        place: OutputKey,
        criterion: Criterion,
        samples: Sequence[ScoreSample],
        labels: Sequence[MatchedLabel],
    ) -> JudgedItem:
        groups = self.grades.groups.get(place, {})
        usable = [s for s in samples if s.raw is not None]
        sure = [s.confidence for s in usable if s.confidence is not None]
        return JudgedItem(
            place=place,
            criterion=criterion.name,
            cluster=cluster_of(place, groups, criterion.name, self.options),
            judge=self._score(place, criterion, usable),
            samples=tuple(s.raw for s in samples),
            ratings={t.annotator: label_score(t.placed, criterion) for t in labels},
            confidence=fsum(sure) / len(sure) if sure else None,
            rationale=next((s.rationale for s in usable if s.rationale), None),
            reasons=label_reasons(labels),
            groups=groups,
        )

    def _score(
        self, place: OutputKey, criterion: Criterion, usable: Sequence[ScoreSample]
    ) -> float | None:
        """The mean of the usable answers; of several judges what their panel comes to."""
        if len({s.judge for s in usable}) > 1 and place in self.grades.combined:
            value = self.grades.combined[place].by_criterion.get(criterion.name)
            low, high = criterion.scale.min, criterion.scale.max
            return None if value is None else low + value * (high - low)
        raws = [s.raw for s in usable if s.raw is not None]
        return fsum(raws) / len(raws) if raws else None


def pool_criteria(criteria: Sequence[AlignedItems]) -> AlignedItems | None:
    """All criteria together: on their scale where they share one, else on [0, 1]."""
    if len(criteria) < _TWO:
        return None
    first = criteria[0]
    # Pooled on their own scale where they share one: levels keep their names in the tables.
    same = all((each.scale, each.threshold) == (first.scale, first.threshold) for each in criteria)
    if not same and any(each.is_nominal for each in criteria):
        return None
    parts = criteria if same else [_on_unit(each) for each in criteria]
    return AlignedItems(
        name="all criteria",
        scale=first.scale if same else WHOLE_CRITERION.scale,
        threshold=first.threshold,
        items=tuple(item for part in parts for item in part.items),
        unlabelled=tuple(item for part in parts for item in part.unlabelled),
        consensus=first.consensus,
        is_nominal=first.is_nominal,
    )


def _on_unit(aligned: AlignedItems) -> AlignedItems:
    def moved(item: JudgedItem, *, labelled: bool) -> JudgedItem:
        return JudgedItem(
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

    return AlignedItems(
        name=aligned.name,
        scale=WHOLE_CRITERION.scale,
        threshold=aligned.threshold,
        items=tuple(moved(item, labelled=True) for item in aligned.items),
        unlabelled=tuple(moved(item, labelled=False) for item in aligned.unlabelled),
        consensus=aligned.consensus,
    )


WHOLE_OUTPUT = ""
"""Stands for the output as a whole, where a label or a comparison names no criterion."""

UNNAMED_ANNOTATOR = "unnamed"
"""What the annotator is called whom no label names."""

_MOST_NAMED = 5


@dataclass(slots=True)
class LabelMatcher:
    """Matches labels with judged outputs and collects their problems.

    Attributes:
        places: Everything that was judged.
        criteria: The criteria that were judged; `WHOLE_OUTPUT` if the whole output was.
        only: Only these annotators; empty for all.
        matched: The labels that match.
        other_criteria: Labels of criteria that were not judged, by criterion.
        problems: What is wrong with labels; raised by `check`.
    """

    places: Iterable[OutputKey]
    criteria: Sequence[str]
    only: Collection[str] = ()
    matched: list[MatchedLabel] = field(default_factory=list)
    n_labels: int = 0
    n_missing: int = 0
    n_left_out: int = 0
    not_judged: list[OutputKey | str] = field(default_factory=list)
    other_criteria: Counter[str] = field(default_factory=Counter)
    problems: list[DatasetError] = field(default_factory=list)

    def take(self, labels: Iterable[LocatedLabel]) -> None:
        """Match labels; those that are ambiguous.

        Of unknown criteria or given twice are problems.
        """
        by_case: defaultdict[str, list[OutputKey]] = defaultdict(list)
        for place in self.places:
            by_case[place.case_id].append(place)
        seen: dict[tuple[object, ...], LocatedLabel] = {}
        for placed in labels:
            self.n_labels += 1
            self._take(placed, by_case, seen)

    def check(self, further: Sequence[DatasetError] = ()) -> None:
        """Raise everything that is wrong, at once."""
        raise_problems(sorted([*self.problems, *further], key=lambda problem: problem.line or 0))
        if not self.matched:
            self._nothing_matched(list(dict.fromkeys(place.case_id for place in self.places)))

    def _take(
        self,
        placed: LocatedLabel,
        by_case: dict[str, list[OutputKey]],
        seen: dict[tuple[object, ...], LocatedLabel],
    ) -> None:
        label = placed.label
        annotator = label.annotator or UNNAMED_ANNOTATOR
        if self.only and annotator not in self.only:
            self.n_left_out += 1
            return
        if label.is_missing:
            self.n_missing += 1
            return
        criterion = self._criterion(placed)
        if criterion is None:
            return
        found = [
            place
            for place in by_case.get(label.case_id, ())
            if label.variant in (None, place.variant) and label.repeat in (None, place.repeat)
        ]
        if not found:
            self.not_judged.append(f"{label.case_id} {label.variant or ''}".strip())
        elif len(found) > 1:
            self.problems.append(_ambiguous(placed, found))
        else:
            key = (found[0], criterion, annotator)
            first = seen.setdefault(key, placed)
            if first is placed:
                self.matched.append(MatchedLabel(placed, found[0], criterion, annotator))
            else:
                hint = "keep one of them, or name the annotators apart"
                problem = f"{annotator!r} has labelled this already in {first.where}"
                self.problems.append(placed.fault(problem, hint))

    def _criterion(self, placed: LocatedLabel) -> str | None:
        """The criterion a label is of; None where there is none such, a slip or a further one."""
        name = placed.label.criterion
        if name is None:
            return self.criteria[0] if len(self.criteria) == 1 else WHOLE_OUTPUT
        if name in self.criteria:
            return name
        known = [each for each in self.criteria if each]
        if known and not is_near_name(name, known):
            self.other_criteria[name] += 1
            self.not_judged.append(f"{placed.label.case_id} on {name}")
            return None
        hint = suggest_name(name, known) if known else "the whole was judged; leave `criterion` out"
        self.problems.append(placed.fault(f"no criterion {name!r} was judged", hint))
        return None

    def notes(self) -> list[str]:
        """What to say of labels that are left out."""
        if not self.other_criteria:
            return []
        each = ", ".join(f"{name} ({n:,})" for name, n in self.other_criteria.items())
        return [f"labels of criteria that were not judged are left out: {each}"]

    def _nothing_matched(self, cases: Sequence[str]) -> None:
        if self.n_labels == self.n_missing + self.n_left_out:
            kept = f" of {', '.join(self.only)}" if self.only else ""
            raise InputError(f"no label{kept} holds a score or a winner")
        some = ", ".join(cases[:_MOST_NAMED])
        mine = ", ".join(str(place) for place in self.not_judged[:_MOST_NAMED])
        if self.other_criteria.total() == len(self.not_judged):
            others, known = ", ".join(self.other_criteria), ", ".join(self.criteria)
            raise InputError(
                f"no label is of a criterion that was judged; labels: {others}; judged: {known}",
                hint="`criterion` must be the same on both sides",
            )
        raise InputError(
            f"no label is of an output that was judged; labels: {mine}, …; judged: {some}, …",
            hint="`case_id` (and `variant`, where it is given) must be the same on both sides",
        )

    def joined(
        self,
        labelled: Collection[OutputKey],
        n_answers: int,
        failures: dict[str, int],
        n_errors: int,
    ) -> JoinCounts:
        """The counts."""
        judged = list(self.places)
        open_places = [place for place in judged if place not in labelled]
        return JoinCounts(
            n_labels=self.n_labels,
            n_missing=self.n_missing,
            n_left_out=self.n_left_out,
            n_joined=len(self.matched),
            n_not_judged=len(self.not_judged),
            not_judged=tuple(sorted({str(place) for place in self.not_judged})[:_MOST_NAMED]),
            n_judged=len(judged),
            n_not_labelled=len(open_places),
            not_labelled=tuple(str(place) for place in open_places[:_MOST_NAMED]),
            n_answers=n_answers,
            n_judge_failures=sum(failures.values()),
            failures=failures,
            n_errors=n_errors,
            annotators=tuple(sorted({each.annotator for each in self.matched})),
        )


def _ambiguous(placed: LocatedLabel, found: Sequence[OutputKey]) -> DatasetError:
    variants = sorted({str(place.variant) for place in found})
    if len(variants) > 1:
        name, known = "variant", variants
    else:
        name, known = "repeat", sorted({str(place.repeat) for place in found})
    return placed.fault(
        f"it does not say which {name} it is of; judged were {', '.join(known)}",
        f'add "{name}" to the label',
    )
