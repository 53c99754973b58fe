"""What is tried in place of the present rubric: other wordings, anchors, numbers of examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.errors import RubricError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping

    from judgekit.evaluation.tuning.examples import Shelf
    from judgekit.evaluation.tuning.options import TuneOptions
    from judgekit.prompts.rendering import PromptTemplate
    from judgekit.records.rubric import Criterion, Rubric

PRESENT = "present"
"""What the rubric is called that is in use."""

FEW_SHOT = "pointwise/few_shot"
"""The template that shows examples to a judge who asks with the one below."""

_PLAIN = "pointwise/criterion"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One way of asking."""

    wording: str
    """The rubric its words are from; `present`, or the name of a candidate."""

    rubric: Rubric
    """The present rubric in these words."""

    n_examples: int = 0
    """How many scored outputs it shows with each criterion."""

    anchors: bool = False
    """Whether its scoring guides quote scored outputs."""

    template: str | None = None
    """The template it needs; None for the judge's own."""

    @property
    def name(self) -> str:
        """`present`, `kinder with anchors`, `kinder with 4 examples`."""
        examples = "1 example" if self.n_examples == 1 else f"{self.n_examples} examples"
        how = "anchors" if self.anchors else examples
        return self.wording if self.is_plain else f"{self.wording} with {how}"

    @property
    def is_plain(self) -> bool:
        """Whether it shows nobody's output."""
        return not (self.anchors or self.n_examples)

    def dressed(self, shelf: Shelf, among: Collection[Hashable]) -> Rubric:
        """Its rubric, with anchors or examples from some clusters only."""
        if self.is_plain:
            return self.rubric
        known = {part.name for part in shelf.labels.criteria}
        criteria = tuple(
            self._dressed(criterion, shelf, among) if criterion.name in known else criterion
            for criterion in self.rubric.criteria
        )
        return self.rubric.model_copy(update={"criteria": criteria})

    def _dressed(
        self, criterion: Criterion, shelf: Shelf, among: Collection[Hashable]
    ) -> Criterion:
        if self.anchors:
            return shelf.anchored(criterion, among)
        shown = criterion.examples + shelf.examples(criterion.name, self.n_examples, among)
        return criterion.model_copy(update={"examples": shown})


def candidates(
    rubric: Rubric, others: Mapping[str, Rubric], options: TuneOptions, template: PromptTemplate
) -> tuple[Candidate, ...]:
    """Everything that is tried, the present rubric first."""
    wordings = {PRESENT: rubric}
    for name, other in others.items():
        if name in wordings:
            raise SettingsError(f"a candidate is called {name!r}", hint="choose another name")
        wordings[name] = _in_words_of(rubric, other, name)
    found = []
    for name, worded in wordings.items():
        if 0 in options.few_shot or name == PRESENT:
            found.append(Candidate(wording=name, rubric=worded))
        if options.anchors:
            found.append(Candidate(wording=name, rubric=worded, anchors=True))
        for n in sorted({n for n in options.few_shot if n}):
            how = _template(template)
            found.append(Candidate(wording=name, rubric=worded, n_examples=n, template=how))
    if len(found) == 1:
        raise SettingsError(
            "there is nothing to try beside the present rubric",
            hint="give other wordings (--candidates FILE), --anchors, or --few-shot 2,4",
        )
    return tuple(found)


def _template(own: PromptTemplate) -> str | None:
    if own.header.shows_examples:
        return None
    if own.name == _PLAIN:
        return FEW_SHOT
    raise SettingsError(
        f"examples are shown by {FEW_SHOT}, and the judge asks with {own.name}",
        hint=f"tune a judge that asks with {_PLAIN}, give a template of your own that says "
        "`shows: examples`, or try no examples",
    )


def _in_words_of(rubric: Rubric, other: Rubric, name: str) -> Rubric:
    """The present rubric, its weights and thresholds, in the other's words."""
    theirs = {criterion.name: criterion for criterion in other.criteria}
    mine = {criterion.name for criterion in rubric.criteria}
    if set(theirs) != mine:
        apart = ", ".join(sorted(set(theirs) ^ mine))
        raise RubricError(
            f"candidate {name!r} has other criteria than the present rubric: {apart}",
            hint="a candidate words the same criteria otherwise, under the same names",
        )
    return rubric.model_copy(
        update={"criteria": tuple(_worded(own, theirs[own.name], name) for own in rubric.criteria)}
    )


def _worded(own: Criterion, other: Criterion, name: str) -> Criterion:
    scales = [
        (s.min, s.max, s.integer, s.between_levels, s.points) for s in (own.scale, other.scale)
    ]
    if scales[0] != scales[1]:
        raise RubricError(
            f"candidate {name!r} scores {own.name!r} on another scale than the present rubric",
            hint="labels are of one scale: keep it, and word its levels otherwise",
        )
    words = ("question", "scoring_guide", "scale", "examples")
    return own.model_copy(update={word: getattr(other, word) for word in words})
