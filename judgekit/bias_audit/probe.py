"""What a probe is (trials, arms, answers) and how its questions are put to the judge.

The probes are in `order_effects`, `perturbation`, `consistency` and `injection`.
"""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import chain
from math import fsum
from typing import TYPE_CHECKING, TypeAlias

from judgekit.judge import (
    BlindPair,
    Grader,
    gather_in_order,
    prepare_pair,
)
from judgekit.prompts import PromptTemplate
from judgekit.records import JudgeFailure, Judgment, Preference, Verdict
from judgekit.scoring import conclude

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from judgekit.bias_audit.inputs import AuditInputs
    from judgekit.bias_audit.results import Effect
    from judgekit.judge import Judge, JudgeQuestion
    from judgekit.models.request import ModelRequest
    from judgekit.records import (
        Case,
        Output,
        PreferenceFailure,
        PresentationOrder,
        Rubric,
    )

if TYPE_CHECKING:
    PairSaid: TypeAlias = tuple[Preference | PreferenceFailure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeProbe:
    """Grade one text as the judge always does."""

    case: Case
    """What was to be answered."""

    output: Output
    """What is graded."""

    rubric: Rubric
    """By which criteria, in their order."""

    template: str | None = None
    """Another template than the judge's own."""

    asking: int = 0
    """Which time the same is asked, from 0; each has repeats of its own."""

    @property
    def key(self) -> tuple[object, ...]:
        """Two questions with the same key are asked once."""
        # Order matters: reversed criteria are another question in joint mode.
        names = tuple(criterion.name for criterion in self.rubric.criteria)
        return (self.case.id, self.output.variant, self.output.text, names, self.template,
                self.asking)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class PairProbe:
    """Compare two texts on the whole, whether or not they are the same."""

    case: Case
    """What was to be answered."""

    a: Output
    """Shown first in order `ab`."""

    b: Output
    """Shown second in order `ab`."""

    rubric: Rubric
    """How they are compared."""

    orders: tuple[PresentationOrder, ...] = ("ab", "ba")
    """The orders they are shown in."""

    @property
    def key(self) -> tuple[object, ...]:
        """Two questions with the same key are asked once."""
        sides = ((one.variant, one.text) for one in (self.a, self.b))
        return (self.case.id, "pair", *sides, self.orders)


ProbeQuestion = GradeProbe | PairProbe


@dataclass(frozen=True, slots=True)
class _Shown(BlindPair):
    """Two outputs that are asked about even where they are the same."""

    @property
    def is_identical(self) -> bool:
        """Never: whether the judge sees that they are is the question."""
        return False


@dataclass(frozen=True, slots=True)
class ProbeRunner:
    """A judge, and the judge again with another template or asked again."""

    judge: Judge
    """Who is audited."""

    template_folders: tuple[Path, ...] = ()
    """The caller's own template folders; they come before the shipped."""

    _graders: dict[tuple[str | None, int], Grader] = field(default_factory=dict, repr=False)

    async def graded(self, wanted: GradeProbe) -> Verdict:
        """Grade."""
        grader, known = self._grader(wanted)
        said: list[Judgment | JudgeFailure] = []
        answers = grader.observe(wanted.case, wanted.output, wanted.rubric, known=known)
        async with aclosing(answers) as told:
            async for found in told:
                said += found
        return conclude(
            wanted.rubric,
            [one for one in said if isinstance(one, Judgment)],
            [one for one in said if isinstance(one, JudgeFailure)],
            case_id=wanted.case.id,
            variant=wanted.output.variant,
        )

    async def compared(self, wanted: PairProbe) -> PairSaid:
        """Compare."""
        comparer = self.judge.comparer
        outcomes = await gather_in_order(
            [comparer.ask(question) for question in self._pair_questions(wanted)]
        )
        return tuple(chain.from_iterable(outcomes))

    def requests(self, wanted: ProbeQuestion) -> list[ModelRequest]:
        """What would be sent, without sending it."""
        if isinstance(wanted, PairProbe):
            return [question.request for question in self._pair_questions(wanted)]
        grader, known = self._grader(wanted)
        skipped = {repeat for _, repeat in known}
        questions = grader.questions(wanted.case, wanted.output, wanted.rubric)
        return [q.request for q in questions if q.repeat not in skipped]

    def _pair_questions(self, wanted: PairProbe) -> list[JudgeQuestion]:
        """Those about the whole, where the template has any; they are what decides a winner."""
        comparer = self.judge.comparer
        seen = prepare_pair(wanted.a, wanted.b, scrubs=comparer.scrubs)
        shown = _Shown(seen.texts, seen.variants, seen.scrubbed)
        questions = [
            question
            for question in comparer.questions(wanted.case, shown, wanted.rubric)
            if question.order in wanted.orders
        ]
        # The preference on the whole is what probes compare; criteria are asked only where it is
        # not.
        return [one for one in questions if None in one.criteria] or questions

    def _grader(self, wanted: GradeProbe) -> tuple[Grader, Sequence[tuple[str, int]]]:
        """Who grades, and the repeats of earlier askings, which are not asked here."""
        own = self.judge.comparer.repeats
        key = wanted.template, wanted.asking
        if key not in self._graders:
            self._graders[key] = self._new_grader(wanted.template, (wanted.asking + 1) * own)
        # Asking again is a later repeat: earlier repeats are in the cache and cost nothing.
        earlier = range(wanted.asking * own)
        names = [criterion.name for criterion in wanted.rubric.criteria]
        return self._graders[key], [(name, repeat) for name in names for repeat in earlier]

    def _new_grader(self, template: str | None, repeats: int) -> Grader:
        same = self.judge.comparer
        return Grader(
            model=same.model,
            model_name=same.model_name,
            template=self.judge.template
            if template is None
            else PromptTemplate(template, self.template_folders),
            parameters=same.parameters,
            api_base=same.api_base,
            repeats=repeats,
            max_reasks=same.max_reasks,
            flags=same.flags,
            cache=self.judge.connection.cached_model,
        )


_POINTS = {"first": 1.0, "tie": 0.5, "second": 0.0}


@dataclass(frozen=True, slots=True)
class Trial:
    """The questions about one output or pair that belong together, by name."""

    case_id: str
    """The case."""

    arms: Mapping[str, ProbeQuestion]
    """What is asked; the same question in several trials is asked once."""

    about: str = ""
    """What tells it from other trials of the case: an attack, a template."""


@dataclass(frozen=True, slots=True)
class Trials:
    """What a probe would ask, or why it cannot be made."""

    trials: tuple[Trial, ...] = ()
    """What it would ask."""

    skipped: str | None = None
    """Why it is skipped."""

    n_left_out: int = 0
    """Outputs it cannot be tried on."""


@dataclass(frozen=True, slots=True)
class TrialAnswers:
    """A trial with the answers that came."""

    trial: Trial
    """What was asked."""

    answers: Mapping[str, Verdict | PairSaid]
    """What was said, by arm; without those that were not asked any more."""

    def verdict(self, arm: str) -> Verdict | None:
        """The verdict of an arm that was graded; None where it was not asked."""
        found = self.answers.get(arm)
        return found if isinstance(found, Verdict) else None

    def value(self, arm: str) -> float | None:
        """The value of an arm that was graded; None where it has none."""
        found = self.verdict(arm)
        return None if found is None else found.value

    def criterion_values(self, arm: str) -> dict[str, float]:
        """The values of an arm's criteria, those that are known."""
        found = self.verdict(arm)
        known = () if found is None else found.criteria
        return {one.name: one.value for one in known if one.value is not None}

    def passed(self, arm: str) -> bool | None:
        """Whether an arm passes; None where that is not known."""
        found = self.verdict(arm)
        return None if found is None else found.passed

    def first(self, arm: str, order: PresentationOrder) -> float | None:
        """How far the output shown first was preferred in an order; None after a failure."""
        # On the whole where that was asked, else over all criteria.
        said = self.answers.get(arm, ())
        every = [] if isinstance(said, Verdict) else [one for one in said if one.order == order]
        found = [one for one in every if one.criterion is None] or every
        points = [_POINTS[one.choice] for one in found if isinstance(one, Preference)]
        return fsum(points) / len(points) if points and len(points) == len(found) else None

    def preferred(self, arm: str) -> float | None:
        """How far output a was preferred over both orders, from 0 to 1; None after a failure."""
        sides = self.first(arm, "ab"), self.first(arm, "ba")
        return None if sides[0] is None or sides[1] is None else (sides[0] + 1 - sides[1]) / 2


@dataclass(frozen=True, slots=True)
class ProbeEffects:
    """What a probe makes of the answers."""

    effects: tuple[Effect, ...]
    """What it measured."""

    counts: Mapping[str, float | int | str] = field(default_factory=dict)
    """Further figures."""

    parts: tuple[Effect, ...] = ()
    """The same for each kind of what was tried; their intervals hold for all of them at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One question about a judge, and how it is answered."""

    name: str
    """What it is called on the command line."""

    question: str
    """What it asks about the judge, in plain words."""

    needs: str
    """What it cannot be made without."""

    cost: str
    """What it asks, in questions an output; many are shared with other probes."""

    plan: Callable[[AuditInputs], Trials]
    """What it would ask of this material."""

    find: Callable[[Sequence[TrialAnswers], AuditInputs], ProbeEffects]
    """What the answers come to."""

    changes_texts: bool = True
    """Whether it shows the judge texts that nobody has recorded."""


def plain_question(
    case: Case, output: Output, material: AuditInputs, *, asking: int = 0
) -> GradeProbe:
    """The question every probe compares with: the output as it is."""
    return GradeProbe(case=case, output=output, rubric=material.rubric, asking=asking)


def excess_change(
    heard: Sequence[TrialAnswers], changed: str
) -> tuple[list[float | None], list[float | None]]:
    """How far an arm is from `plain`, beside how far the same question is when asked `again`."""
    rows: list[tuple[float | None, float | None]] = []
    for one in heard:
        plain, again = one.criterion_values("plain"), one.criterion_values("again")
        other = one.criterion_values(changed)
        names = [name for name in plain if name in again and name in other]
        if not names:
            rows.append((None, None))
            continue
        # Noise of asking twice is the baseline: only what exceeds it is an effect of the change.
        gaps = [[abs(plain[name] - side[name]) for name in names] for side in (again, other)]
        rows.append((fsum(gaps[0]) / len(names), fsum(gaps[1]) / len(names)))
    return [row[0] for row in rows], [row[1] for row in rows]


def verdict_changes(heard: Sequence[TrialAnswers], changed: str) -> list[float | None]:
    """Whether the verdict of an arm is another than that of `plain`."""
    sides = [(one.passed("plain"), one.passed(changed)) for one in heard]
    return [None if x is None or y is None else float(x != y) for x, y in sides]
