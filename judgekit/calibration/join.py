"""Matches labels with judged outputs and builds the aligned items of each criterion.

Comparisons are joined in `pairs`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import fsum

from judgekit.calibration.inputs import (
    CalibrationOptions,
    Groups,
    JoinCounts,
    MatchedLabel,
    OutputKey,
    PairJudgment,
    PointwiseData,
    ScoreSample,
    cluster_of,
    infer_criterion,
    label_reasons,
    labels_by_place,
)
from judgekit.calibration.items import (
    AlignedItems,
    JudgedItem,
    decision_score,
    levels_of,
    most_frequent,
    overall_items,
)
from judgekit.datasets import YES_NO, LocatedLabel, raise_problems, score_on_scale
from judgekit.errors import DatasetError, InputError
from judgekit.formats import is_near_name, suggest_name
from judgekit.records import CHOSEN_FIELD, Criterion, Scale

_TWO = 2

# A message with more names would not be read.
_MOST_NAMED = 5

# Rubrics pass from 0.7 unless they state a threshold, so that figures without a rubric agree.
_THRESHOLD = 0.7

WHOLE_OUTPUT = ""
"""The criterion of labels and comparisons that name none: the output as a whole."""

UNNAMED_ANNOTATOR = "unnamed"
"""The annotator of labels that name none."""

WHOLE_CRITERION = Criterion(name="whole", question="How good is it?", scale=Scale(min=0, max=1))
"""The output as a whole, on [0, 1]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationData:
    """Everything a calibration is computed from.

    Attributes:
        whole: The rubric's verdicts, with the human verdicts by the same rubric.
        pooled: All criteria together, one item for each; None for a single criterion.
        pairs: The judge's comparisons by criterion (`WHOLE_OUTPUT` for the whole output) and pair.
    """

    criteria: tuple[AlignedItems, ...]
    whole: AlignedItems | None
    pooled: AlignedItems | None
    joined: JoinCounts
    judges: tuple[str, ...]
    notes: tuple[str, ...] = ()
    pairs: Mapping[str, Mapping[OutputKey, PairJudgment]] = field(default_factory=dict)


def join_labels(
    grades: PointwiseData, labels: Iterable[LocatedLabel], options: CalibrationOptions
) -> CalibrationData:
    rubric = grades.rubric
    own = [] if rubric is None else [criterion.name for criterion in rubric.criteria]
    judged = _by_criterion(grades, own)
    places = sorted({sample.place for sample in grades.samples}, key=lambda place: place.rank)
    # The rubric's order, then by name, so that the order of rows changes nothing.
    names = [name for name in own if name in judged] + sorted(judged.keys() - own)
    matching = LabelMatcher(places, names, options.annotators)
    matching.take(labels)
    matching.leave_out(grades.foreign)
    by_criterion = matching.by_criterion()
    criteria = [_criterion_of(name, grades, by_criterion[name]) for name in names]
    notes = [*_scale_notes(criteria, own, judged, by_criterion), *matching.notes()]
    notes += [
        f"left out is {name} of outputs whose cases have rubrics that ask something else ({n:,})"
        for name, n in sorted(Counter(name for _, name in grades.foreign).items())
    ]
    matching.check(label_problems(by_criterion, (*criteria, WHOLE_CRITERION)))
    add_metadata(grades.groups, matching.matched)
    kinds = sorted(s.failure or "unusable" for s in grades.samples if s.raw is None)
    failures = dict(Counter(kinds).most_common())
    joined = matching.joined(len(grades.samples), failures, grades.n_errors)
    # Each label can go as soon as its item is made, if the caller does not hold it.
    del matching
    aligned = [
        align_items(c, by_criterion.pop(c.name, []), grades, _by_place(judged[c.name]), options)
        for c in criteria
    ]
    labelled = tuple(each for each in aligned if each.items)
    whole = None
    # Categories have no values, and without values a rubric concludes nothing.
    if rubric is not None and len(own) > 1 and not any(a.is_nominal for a in aligned):
        # Verdicts by other thresholds would be compared with human ones by those of the rubric.
        combined = {} if grades.is_of_other_version else grades.combined
        whole = overall_items(rubric, aligned, combined, by_criterion[WHOLE_OUTPUT])
    return CalibrationData(
        criteria=labelled,
        whole=whole if whole is not None and whole.items else None,
        pooled=pool_criteria(labelled),
        joined=joined,
        judges=tuple(dict.fromkeys(s.judge for s in grades.samples if s.judge)),
        notes=tuple(notes),
    )


def unlabelled_items(
    grades: PointwiseData, options: CalibrationOptions
) -> tuple[AlignedItems, ...]:
    """The judged items of each criterion of a rubric, before there are labels."""
    own = [] if grades.rubric is None else list(grades.rubric.criteria)
    judged = _by_criterion(grades, [criterion.name for criterion in own])
    return tuple(
        align_items(each, (), grades, _by_place(judged.get(each.name, ())), options) for each in own
    )


def add_metadata(groups: dict[OutputKey, Groups], labels: Sequence[MatchedLabel]) -> None:
    # An item that was drawn for one packet, and chosen for another because it is hard, counts as
    # drawn: without its hard items a random sample would be none. Of everything else the first
    # annotator by name wins, not the first row.
    for each in labels:
        if (each.placed.label.metadata or {}).get(CHOSEN_FIELD) == "random":
            groups.setdefault(each.place, {}).setdefault(CHOSEN_FIELD, ("random",))
    for each in sorted(labels, key=lambda each: each.annotator):
        for name, value in (each.placed.label.metadata or {}).items():
            if isinstance(value, str | int | float):
                groups.setdefault(each.place, {}).setdefault(name, (str(value),))


def _by_criterion(grades: PointwiseData, own: Sequence[str]) -> dict[str, list[ScoreSample]]:
    """The samples of each criterion, those of an output together, in the order of the outputs."""
    named = {s.criterion for s in grades.samples if s.criterion}
    # A file with one criterion may leave its name out.
    sole = own[0] if len(own) == 1 else next(iter(named)) if len(named) == 1 else "score"
    judged: dict[str, list[ScoreSample]] = {}
    # Sorted, so that figures do not depend on the order in which answers arrived.
    for sample in sorted(grades.samples, key=lambda each: (each.judge, each.repeat)):
        judged.setdefault(sample.criterion or sole, []).append(sample)
    for samples in judged.values():
        samples.sort(key=lambda each: each.place.rank)
    return judged


def _by_place(samples: Iterable[ScoreSample]) -> Iterator[tuple[OutputKey, list[ScoreSample]]]:
    for place, own in groupby(samples, key=lambda each: each.place):
        yield place, list(own)


def _criterion_of(name: str, grades: PointwiseData, labels: Sequence[MatchedLabel]) -> Criterion:
    """A criterion of the rubric, or one inferred from scores and labels."""
    if grades.rubric is not None and name in [c.name for c in grades.rubric.criteria]:
        return grades.rubric.criterion(name)
    values = [each.placed.label.raw for each in labels]
    raws = [raw for raw in values if isinstance(raw, float | int)]
    if any(isinstance(raw, str) and raw.casefold() in YES_NO for raw in values):
        # Yes and no are labels on a scale from 0 to 1, even if only one of them occurs.
        raws += [0.0, 1.0]
    own = [s for s in grades.samples if s.criterion in (name, None)]
    return infer_criterion(name, own, raws)


def _scale_notes(
    criteria: Sequence[Criterion],
    own: Sequence[str],
    judged: Mapping[str, Sequence[ScoreSample]],
    labels: Mapping[str, Sequence[MatchedLabel]],
) -> Iterable[str]:
    """Assumed scales, judge scores outside of their scale, and labels between two levels."""
    by_ends: defaultdict[tuple[float, float], list[str]] = defaultdict(list)
    for each in criteria:
        if each.name not in own:
            by_ends[each.scale.min, each.scale.max].append(each.name)
    for (low, high), names in by_ends.items():
        yield (
            f"no rubric is known: the scale of {', '.join(names)} is assumed to range from {low:g} "
            f"to {high:g}, with a pass threshold at {_THRESHOLD:g} of that range"
        )
    # Clipping scores outside would hide a wrong rubric, and would change figures silently.
    for each in criteria:
        scale = each.scale
        raws = [sample.raw for sample in judged[each.name]]
        n = sum(raw is not None and not scale.min <= raw <= scale.max for raw in raws)
        if n:
            which = f"{n:,} of the judge's scores of {each.name}"
            yield f"{which} lie outside {scale.min:g} to {scale.max:g}; they are used unchanged"
    for each in criteria:
        counts = Counter(one.placed.label.raw for one in labels[each.name])
        n = sum(k for raw, k in counts.items() if _mean_of_two(raw, each.scale) is not None)
        if n:
            yield (
                f"{n:,} of the labels of {each.name} lie between its two levels: each is used as a "
                "mean of several annotators; agreement and pass decisions use the nearer level (a "
                "half the upper one), means and correlations the mean itself"
            )


def _mean_of_two(raw: object, scale: Scale) -> float | None:
    """A label between the only two levels of a scale, which can only be a mean; else None."""
    # On more levels it may as well be a wrong score, so that it stays an error there.
    levels = levels_of(scale)
    if levels is None or len(levels) != _TWO or not isinstance(raw, int | float):
        return None
    return float(raw) if scale.min < raw < scale.max else None


def label_problems(
    labels: Mapping[str, Sequence[MatchedLabel]], criteria: Iterable[Criterion]
) -> list[DatasetError]:
    problems: list[DatasetError] = []
    for criterion in criteria:
        known: dict[object, float] = {}
        for each in labels.get(
            WHOLE_OUTPUT if criterion is WHOLE_CRITERION else criterion.name, ()
        ):
            try:
                _known_score(each.placed, criterion, known)
            except DatasetError as error:
                problems.append(error)
    return problems


def label_score(placed: LocatedLabel, criterion: Criterion) -> float:
    if placed.label.raw is None:
        raise placed.fault("it names a winner, but single outputs were judged", "give `raw`")
    if criterion is WHOLE_CRITERION and (decision := decision_score(placed.label.raw)) is not None:
        return decision
    mean = _mean_of_two(placed.label.raw, criterion.scale)
    try:
        return score_on_scale(placed, criterion) if mean is None else mean
    except DatasetError as error:
        if criterion is not WHOLE_CRITERION:
            raise
        # The usual reason is a label whose criterion was forgotten.
        hint = "name its `criterion`; a label of the whole output is a number from 0 to 1"
        raise placed.fault(error.message, hint) from None


def _known_score(placed: LocatedLabel, criterion: Criterion, known: dict[object, float]) -> float:
    """The same, looked up: many labels are few different scores."""
    raw = placed.label.raw
    if raw not in known:
        known[raw] = label_score(placed, criterion)
    return known[raw]


def align_items(
    criterion: Criterion,
    labels: Sequence[MatchedLabel],
    grades: PointwiseData,
    judged: Iterable[tuple[OutputKey, Sequence[ScoreSample]]],
    options: CalibrationOptions,
) -> AlignedItems:
    """All items of a criterion, labelled and unlabelled, in the order of the judged outputs."""
    by_place = labels_by_place(labels)
    del labels
    known: dict[object, float] = {}
    items = []
    for place, samples in judged:
        own = by_place.pop(place, ())
        ratings = {one.annotator: _known_score(one.placed, criterion, known) for one in own}
        items.append(_item(place, criterion, samples, own, ratings, grades, options))
    # A criterion's own threshold takes precedence over the rubric's.
    threshold = criterion.pass_value
    if threshold is None:
        threshold = _THRESHOLD if grades.rubric is None else grades.rubric.pass_threshold
    is_nominal = _is_nominal(criterion, options)
    return AlignedItems(
        name=criterion.name,
        criterion=criterion,
        scale=criterion.scale,
        threshold=None if is_nominal else threshold,
        items=tuple(item for item in items if item.ratings),
        unlabelled=tuple(i for i in items if not i.ratings and i.judge is not None),
        consensus=options.consensus,
        is_nominal=is_nominal,
    )


def _is_nominal(criterion: Criterion, options: CalibrationOptions) -> bool:
    # Two levels are ordered whatever they are named: yes is more than no.
    points = criterion.scale.points
    return options.categories and points is not None and len(points) > _TWO


def _item(
    place: OutputKey,
    criterion: Criterion,
    samples: Sequence[ScoreSample],
    labels: Sequence[MatchedLabel],
    ratings: Mapping[str, float],
    grades: PointwiseData,
    options: CalibrationOptions,
) -> JudgedItem:
    groups = grades.groups.get(place, {})
    usable = [s for s in samples if s.raw is not None]
    confidences = [s.confidence for s in usable if s.confidence is not None]
    score = None
    if len(usable) > 1 and len({s.judge for s in usable}) > 1 and place in grades.combined:
        # Several judges are scored by their panel's rule, which need not be the mean.
        value = grades.combined[place].value_of(criterion.name)
        low, high = criterion.scale.min, criterion.scale.max
        score = None if value is None else low + value * (high - low)
    elif usable:
        raws = [s.raw for s in usable if s.raw is not None]
        # The mean of two categories is a third one, which the judge did not choose.
        score = most_frequent(raws) if _is_nominal(criterion, options) else fsum(raws) / len(raws)
    return JudgedItem(
        place=place,
        criterion=criterion.name,
        cluster=cluster_of(place, groups, criterion.name, options),
        judge=score,
        samples=_by_question(samples),
        ratings=ratings,
        confidence=fsum(confidences) / len(confidences) if confidences else None,
        rationale=next((s.rationale for s in usable if s.rationale), None),
        reasons=label_reasons(labels),
        groups=groups,
    )


def _by_question(samples: Sequence[ScoreSample]) -> tuple[tuple[float | None, ...], ...]:
    """The scores by judge and turn: only repeats of one question show how steady a judge is."""
    scores: dict[tuple[str, int | None], list[float | None]] = {}
    for sample in samples:
        scores.setdefault((sample.judge, sample.turn), []).append(sample.raw)
    return tuple(map(tuple, scores.values()))


def pool_criteria(criteria: Sequence[AlignedItems]) -> AlignedItems | None:
    """All criteria together, on their common scale or else on [0, 1]; None if there is one only."""
    if len(criteria) < _TWO:
        return None
    first = criteria[0]
    # On a common scale the levels keep their values, which the tables show.
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
    def moved(item: JudgedItem) -> JudgedItem:
        return replace(
            item,
            judge=None if item.judge is None else aligned.value(item.judge),
            samples=tuple(
                tuple(None if s is None else aligned.value(s) for s in row) for row in item.samples
            ),
            ratings={name: aligned.value(raw) for name, raw in item.ratings.items()},
            # Decided on the own scale: thresholds of the criteria differ.
            judge_passed=None if item.judge is None else bool(aligned.judge_passes(item)),
            human_passed=bool(aligned.human_passes(item)) if item.ratings else None,
        )

    return replace(
        aligned,
        scale=WHOLE_CRITERION.scale,
        items=tuple(moved(item) for item in aligned.items),
        unlabelled=tuple(moved(item) for item in aligned.unlabelled),
    )


@dataclass(slots=True)
class LabelMatcher:
    """Matches labels with judged outputs and collects their problems.

    Attributes:
        criteria: The criteria that were judged; `WHOLE_OUTPUT` if the whole output was.
        only: Only these annotators; empty for all.
        is_strict: Whether a label of an unknown case or criterion is a problem. Where judgments
            exist, such labels are left out and counted.
        other_criteria: Labels of criteria that were not judged, by criterion.
        other_variants: If strict, labels of variants that no output is of, by variant.
    """

    places: Iterable[OutputKey]
    criteria: Sequence[str]
    only: Collection[str] = ()
    is_strict: bool = False
    matched: list[MatchedLabel] = field(default_factory=list)
    n_labels: int = 0
    n_missing: int = 0
    n_left_out: int = 0
    not_judged: list[OutputKey | str] = field(default_factory=list)
    other_criteria: Counter[str] = field(default_factory=Counter)
    other_variants: dict[str, list[LocatedLabel]] = field(default_factory=dict)
    problems: list[DatasetError] = field(default_factory=list)
    _variants: frozenset[str] = field(default=frozenset(), init=False)

    def take(self, labels: Iterable[LocatedLabel]) -> None:
        """Match labels. Ambiguous, repeated and misnamed labels become problems."""
        by_case: defaultdict[str, list[OutputKey]] = defaultdict(list)
        for place in self.places:
            by_case[place.case_id].append(place)
        self._variants = frozenset(p.variant for p in self.places if p.variant is not None)
        first_labels: dict[tuple[object, ...], LocatedLabel] = {}
        for placed in labels:
            self.n_labels += 1
            if self.only and (placed.label.annotator or UNNAMED_ANNOTATOR) not in self.only:
                self.n_left_out += 1
            elif placed.label.is_missing:
                self.n_missing += 1
            else:
                self._match(placed, by_case.get(placed.label.case_id, ()), first_labels)

    def leave_out(self, foreign: Collection[tuple[OutputKey, str]]) -> None:
        """Count labels of these outputs and criteria as labels of what was not judged."""
        matched, self.matched = self.matched, []
        for each in matched:
            if (each.place, each.criterion) in foreign:
                self.not_judged.append(f"{each.place} on {each.criterion}")
            else:
                self.matched.append(each)

    def by_criterion(self) -> defaultdict[str, list[MatchedLabel]]:
        labels: defaultdict[str, list[MatchedLabel]] = defaultdict(list)
        for each in self.matched:
            labels[each.criterion].append(each)
        return labels

    def check(self, further: Sequence[DatasetError] = ()) -> None:
        """Raise all problems at once."""
        raise_problems(sorted([*self.problems, *further], key=lambda problem: problem.line or 0))
        if not self.matched:
            raise_problems([self._no_variant(*one) for one in self.other_variants.items()])
            raise self._nothing_matched()

    def _match(
        self,
        placed: LocatedLabel,
        of_case: Sequence[OutputKey],
        first_labels: dict[tuple[object, ...], LocatedLabel],
    ) -> None:
        label = placed.label
        criterion = self._criterion(placed)
        if criterion is None:
            return
        places = [
            place
            for place in of_case
            if label.variant in (None, place.variant) and label.repeat in (None, place.repeat)
        ]
        if not places and self.is_strict:
            self._no_output(placed, of_case)
        elif not places:
            of = f" of {label.variant}" if label.variant else ""
            self.not_judged.append(f"{label.case_id}{of}")
        elif len(places) > 1:
            # Choosing one of them silently could pair the label with another output.
            name, known = "variant", sorted({str(place.variant) for place in places})
            if len(known) == 1:
                name, known = "repeat", sorted({str(place.repeat) for place in places})
            self.problems.append(
                placed.fault(
                    f"it does not name its {name}; judged were {', '.join(known)}",
                    f'add "{name}" to the label',
                )
            )
        else:
            annotator = label.annotator or UNNAMED_ANNOTATOR
            first = first_labels.setdefault((places[0], criterion, annotator), placed)
            if first is placed:
                self.matched.append(MatchedLabel(placed, places[0], criterion, annotator))
            else:
                hint = "keep one of them, or give the annotators different names"
                problem = f"{annotator!r} has labelled this already in {first.where}"
                self.problems.append(placed.fault(problem, hint))

    def _no_output(self, placed: LocatedLabel, of_case: Sequence[OutputKey]) -> None:
        label = placed.label
        if label.variant is not None and label.variant not in self._variants:
            # A file may have the labels of many variants, of which some are judged now.
            self.other_variants.setdefault(label.variant, []).append(placed)
        elif not of_case:
            # Near names are searched for the first labels only: it is slow among many cases.
            is_early = len(self.problems) < _MOST_NAMED
            known = {place.case_id for place in self.places} if is_early else ()
            hint = suggest_name(label.case_id, known) if is_early else None
            self.problems.append(placed.fault("no output is of this case", hint))
        elif label.variant not in (None, *(place.variant for place in of_case)):
            own = sorted(str(place.variant) for place in of_case)
            what = f"no output of this case is of variant {label.variant!r}"
            self.problems.append(placed.fault(what, f"there are outputs of {', '.join(own)}"))
        else:
            what = f"no output of this case has repeat {label.repeat}"
            self.problems.append(placed.fault(what, "leave `repeat` out"))

    def _no_variant(self, variant: str, labels: Sequence[LocatedLabel]) -> DatasetError:
        """One error for all labels of a variant that no output is of."""
        hint = "the outputs name no variant: give them one, or leave it out of the labels"
        if self._variants:
            hint = suggest_name(variant, self._variants)
        n = f"{len(labels):,} labels" if len(labels) > 1 else "1 label"
        return labels[0].fault(f"no output is of variant {variant!r} ({n})", hint)

    def _criterion(self, placed: LocatedLabel) -> str | None:
        """The criterion of a label; None if it was not judged or is misspelt."""
        name = placed.label.criterion
        if name is None:
            return self.criteria[0] if len(self.criteria) == 1 else WHOLE_OUTPUT
        if name in self.criteria:
            return name
        known = [each for each in self.criteria if each]
        # A near name is a typing error and an error; any other name is a criterion of its own.
        if known and not self.is_strict and not is_near_name(name, known):
            self.other_criteria[name] += 1
            self.not_judged.append(f"{placed.label.case_id} on {name}")
            return None
        hint = suggest_name(name, known) if known else "the whole was judged; leave `criterion` out"
        strict = f"the rubric has no criterion {name!r}"
        what = strict if self.is_strict else f"no criterion {name!r} was judged"
        self.problems.append(placed.fault(what, hint))
        return None

    def notes(self) -> list[str]:
        if not self.other_criteria:
            return []
        each = ", ".join(f"{name} ({n:,})" for name, n in self.other_criteria.items())
        return [f"labels of criteria that were not judged are left out: {each}"]

    def _nothing_matched(self) -> InputError:
        if self.n_labels == self.n_missing + self.n_left_out:
            annotators = f" of {', '.join(self.only)}" if self.only else ""
            return InputError(f"no label{annotators} has a score or a winner")
        some, mine = (
            ", ".join(list(dict.fromkeys(map(str, places)))[:_MOST_NAMED])
            for places in (self.places, self.not_judged)
        )
        if self.other_criteria.total() == len(self.not_judged):
            others, known = ", ".join(self.other_criteria), ", ".join(self.criteria)
            return InputError(
                f"no label is of a criterion that was judged; labels: {others}; judged: {known}",
                hint="`criterion` must be the same on both sides",
            )
        return InputError(
            f"no label is of an output that was judged; labels: {mine}, …; judged: {some}, …",
            hint="`case_id` (and `variant`, if used) must be the same on both sides",
        )

    def joined(self, n_answers: int, failures: dict[str, int], n_errors: int) -> JoinCounts:
        judged = list(self.places)
        labelled = {each.place for each in self.matched}
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
