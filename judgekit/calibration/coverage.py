"""What labels are about, found from the files alone: before a judge is called, and paid."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.calibration.inputs import OutputKey, pair_key
from judgekit.calibration.join import WHOLE_CRITERION, WHOLE_OUTPUT, LabelMatcher, label_problems
from judgekit.calibration.pairs import winner_problems
from judgekit.judge import JudgeQuestion, select_criteria

if TYPE_CHECKING:
    from judgekit.datasets import LocatedLabel
    from judgekit.evaluation import OutputPair
    from judgekit.records import Rubric


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledShare:
    """How much of what could be judged has labels.

    Attributes:
        unit: What is judged: `output` or `pair`.
        n_labelled_criteria: Criteria with labels; None if labels are about pairs as a whole.
        n_calls: Calls to judge all of it, cached replies included; None if they are not compared.
        n_labelled_calls: Of them, calls that labels are about.
        n_other_labels: Labels that are left out, because no output is of their variant.
    """

    unit: str
    n_places: int
    n_labelled: int
    n_criteria: int
    n_labelled_criteria: int | None
    n_calls: int | None = None
    n_labelled_calls: int | None = None
    n_other_labels: int = 0


@dataclass(frozen=True, slots=True)
class LabelCoverage:
    """The labelled criteria of each labelled output or pair.

    `WHOLE_OUTPUT` stands for a label of the output, or of the pair, as a whole.

    Attributes:
        n_other: Labels that are left out, because no output is of their variant.
    """

    criteria: Mapping[OutputKey, AbstractSet[str]]
    n_other: int = 0

    def rubrics(self, rubric: Rubric, *, asks_all: bool) -> dict[OutputKey, Rubric]:
        """The part of a rubric that labels of each output are about."""
        parts: dict[frozenset[str], Rubric] = {}
        found: dict[OutputKey, Rubric] = {}
        for place, names in self.criteria.items():
            # A joint question cannot be split, and an overall verdict needs every criterion.
            is_whole = asks_all or WHOLE_OUTPUT in names
            key = frozenset() if is_whole else frozenset(names)
            if key not in parts:
                parts[key] = rubric if is_whole else select_criteria(rubric, key)
            found[place] = parts[key]
        return found

    def questions(
        self, pair: OutputPair, questions: Sequence[JudgeQuestion]
    ) -> list[JudgeQuestion]:
        place = pair_key(pair.case.id, pair.a.variant, pair.b.variant, pair.repeat)
        names = self.criteria.get(place, ())
        # Without an overall question, the winner follows from all criteria.
        has_overall = any(None in question.criteria for question in questions)
        return [
            question
            for question in questions
            if any(name in names for name in question.criteria)
            or (WHOLE_OUTPUT in names and (None in question.criteria or not has_overall))
        ]

    def share(
        self,
        places: Sequence[OutputKey],
        rubric: Rubric,
        *,
        unit: str = "output",
        n_calls: int | None = None,
        n_labelled_calls: int | None = None,
    ) -> LabelledShare:
        labelled = [self.criteria[place] for place in places if place in self.criteria]
        used = {name for each in labelled for name in each}
        n_criteria = len(rubric.criteria)
        n_labelled_criteria: int | None = len(used)
        if WHOLE_OUTPUT in used:
            # An overall verdict takes all criteria; an overall preference has its own question.
            n_labelled_criteria = n_criteria if unit == "output" else None
        return LabelledShare(
            unit=unit,
            n_places=len(places),
            n_labelled=len(labelled),
            n_criteria=n_criteria,
            n_labelled_criteria=n_labelled_criteria,
            n_calls=n_calls,
            n_labelled_calls=n_labelled_calls,
            n_other_labels=self.n_other,
        )


def cover_outputs(
    places: Collection[OutputKey],
    labels: Sequence[LocatedLabel],
    rubric: Rubric,
    *,
    annotators: Collection[str] = (),
    uses_whole: bool = True,
) -> LabelCoverage:
    """Match labels with outputs that are to be judged; each that fits none is an error."""
    names = [criterion.name for criterion in rubric.criteria]
    matching = LabelMatcher(places, names, annotators, is_strict=True)
    matching.take(labels)
    criteria = (*rubric.criteria, *([WHOLE_CRITERION] if uses_whole else ()))
    matching.check(label_problems(matching.by_criterion(), criteria))
    if not uses_whole:
        matching.matched = [label for label in matching.matched if label.criterion != WHOLE_OUTPUT]
    return _coverage(matching)


def cover_pairs(
    places: Collection[OutputKey],
    labels: Sequence[LocatedLabel],
    rubric: Rubric,
    *,
    annotators: Collection[str] = (),
) -> LabelCoverage:
    """Match labels with pairs that are to be compared; each that fits none is an error."""
    names = [criterion.name for criterion in rubric.criteria]
    matching = LabelMatcher(places, [WHOLE_OUTPUT, *names], annotators, is_strict=True)
    matching.take(labels)
    matching.check(winner_problems(matching.matched))
    return _coverage(matching)


def _coverage(matching: LabelMatcher) -> LabelCoverage:
    criteria: dict[OutputKey, set[str]] = {}
    for label in matching.matched:
        criteria.setdefault(label.place, set()).add(label.criterion)
    n_other = sum(map(len, matching.other_variants.values()))
    return LabelCoverage(criteria, n_other)
