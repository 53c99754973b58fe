"""Which judged output each label is of; what matches nothing is counted, what cannot be is said."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgekit.datasets.faults import is_near, suggestion
from judgekit.datasets.labels import raise_all
from judgekit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from judgekit.datasets.labels import PlacedLabel
    from judgekit.errors import DatasetError
    from judgekit.evaluation.calibrating.material import Place

WHOLE = ""
"""Stands for the output as a whole, where a label or a comparison names no criterion."""

UNNAMED = "unnamed"
"""What the annotator is called whom no label names."""

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Told:
    """A label and what it is of."""

    placed: PlacedLabel
    """The label."""

    place: Place
    """The output, or the pair."""

    criterion: str
    """The criterion; `WHOLE` for the output as a whole."""

    annotator: str
    """Who said it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """How labels and judgments came together."""

    n_labels: int
    """Labels read."""

    n_missing: int
    """Of them, those that hold no score: the person gave none."""

    n_left_out: int
    """Of them, those of annotators who were not asked for."""

    n_joined: int
    """Of them, those of an output that was judged."""

    n_not_judged: int
    """Of them, those of outputs that nobody judged."""

    not_judged: tuple[str, ...]
    """Some of those outputs."""

    n_judged: int
    """Outputs that were judged, with those the judge failed on."""

    n_not_labelled: int
    """Outputs that were judged and nobody labelled."""

    not_labelled: tuple[str, ...]
    """Some of those outputs."""

    n_answers: int
    """Answers of the judge, usable or not: one for each criterion, order and repeat."""

    n_judge_failures: int
    """Of them, those that were not usable."""

    failures: dict[str, int] = field(default_factory=dict)
    """The same by kind, where the kind is known."""

    n_errors: int = 0
    """Outputs that are errors of the system under test; nobody judged them."""

    annotators: tuple[str, ...] = ()
    """Who labelled."""


@dataclass(slots=True)
class Matching:
    """Matches labels with what was judged, and gathers what is wrong with them."""

    places: Iterable[Place]
    """Everything that was judged."""

    criteria: Sequence[str]
    """The criteria that were judged; `WHOLE` where the whole was."""

    only: Collection[str] = ()
    """Only these annotators; empty for all."""

    told: list[Told] = field(default_factory=list)
    """The labels that match."""

    n_labels: int = 0
    n_missing: int = 0
    n_left_out: int = 0
    not_judged: list[Place | str] = field(default_factory=list)
    other_criteria: Counter[str] = field(default_factory=Counter)
    """Labels of criteria that were not judged, by criterion."""
    problems: list[DatasetError] = field(default_factory=list)
    """What is wrong with labels; raised by `check`."""

    def take(self, labels: Iterable[PlacedLabel]) -> None:
        """Match labels; those that are ambiguous, of unknown criteria or given twice are problems."""
        by_case: defaultdict[str, list[Place]] = defaultdict(list)
        for place in self.places:
            by_case[place.case_id].append(place)
        seen: dict[tuple[object, ...], PlacedLabel] = {}
        for placed in labels:
            self.n_labels += 1
            self._take(placed, by_case, seen)

    def check(self, further: Sequence[DatasetError] = ()) -> None:
        """Raise everything that is wrong, at once."""
        raise_all(sorted([*self.problems, *further], key=lambda problem: problem.line or 0))
        if not self.told:
            self._nothing_matched(list(dict.fromkeys(place.case_id for place in self.places)))

    def _take(
        self,
        placed: PlacedLabel,
        by_case: dict[str, list[Place]],
        seen: dict[tuple[object, ...], PlacedLabel],
    ) -> None:
        label = placed.label
        annotator = label.annotator or UNNAMED
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
                self.told.append(Told(placed, found[0], criterion, annotator))
            else:
                hint = "keep one of them, or name the annotators apart"
                problem = f"{annotator!r} has labelled this already in {first.where}"
                self.problems.append(placed.fault(problem, hint))

    def _criterion(self, placed: PlacedLabel) -> str | None:
        """The criterion a label is of; None where there is none such, a slip or a further one."""
        name = placed.label.criterion
        if name is None:
            return self.criteria[0] if len(self.criteria) == 1 else WHOLE
        if name in self.criteria:
            return name
        known = [each for each in self.criteria if each]
        if known and not is_near(name, known):
            self.other_criteria[name] += 1
            self.not_judged.append(f"{placed.label.case_id} on {name}")
            return None
        hint = suggestion(name, known) if known else "the whole was judged; leave `criterion` out"
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
        self, labelled: Collection[Place], n_answers: int, failures: dict[str, int], n_errors: int
    ) -> Joined:
        """The counts."""
        judged = list(self.places)
        open_places = [place for place in judged if place not in labelled]
        return Joined(
            n_labels=self.n_labels,
            n_missing=self.n_missing,
            n_left_out=self.n_left_out,
            n_joined=len(self.told),
            n_not_judged=len(self.not_judged),
            not_judged=tuple(sorted({str(place) for place in self.not_judged})[:_MOST_NAMED]),
            n_judged=len(judged),
            n_not_labelled=len(open_places),
            not_labelled=tuple(str(place) for place in open_places[:_MOST_NAMED]),
            n_answers=n_answers,
            n_judge_failures=sum(failures.values()),
            failures=failures,
            n_errors=n_errors,
            annotators=tuple(sorted({each.annotator for each in self.told})),
        )


def _ambiguous(placed: PlacedLabel, found: Sequence[Place]) -> DatasetError:
    variants = sorted({str(place.variant) for place in found})
    if len(variants) > 1:
        name, known = "variant", variants
    else:
        name, known = "repeat", sorted({str(place.repeat) for place in found})
    return placed.fault(
        f"it does not say which {name} it is of; judged were {', '.join(known)}",
        f'add "{name}" to the label',
    )
