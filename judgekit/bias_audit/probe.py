"""What a probe is (trials, arms, answers), how the judge answers it, and how effects are computed.

The probes are in `consistency` and `perturbation`.
"""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import chain
from math import fsum
from typing import TYPE_CHECKING, TypeAlias

from judgekit.bias_audit.results import share_effect, shift_effect
from judgekit.judge import AnswerKey, gather_in_order, prepare_pair
from judgekit.prompts import PromptTemplate
from judgekit.records import JudgeFailure, Judgment, Preference, Verdict
from judgekit.scoring import conclude

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from judgekit.bias_audit.inputs import AuditInputs
    from judgekit.bias_audit.results import Counts, Effect, EffectScale, Harm
    from judgekit.judge import Grader, Judge, JudgeQuestion
    from judgekit.models.request import ModelRequest
    from judgekit.records import Case, Output, PreferenceFailure, PresentationOrder, Rubric

    PairAnswers: TypeAlias = tuple[Preference | PreferenceFailure, ...]

_POINTS = {"first": 1.0, "tie": 0.5, "second": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeProbe:
    """A question that grades one text; each repeat, from 0, has cache keys of its own."""

    case: Case
    output: Output
    rubric: Rubric
    template: str | None = None
    repeat: int = 0

    @property
    def key(self) -> tuple[object, ...]:
        """Questions with equal keys are asked once."""
        # The names are in order, because reversed criteria are another question in joint mode.
        names = tuple(criterion.name for criterion in self.rubric.criteria)
        return self.case.id, *_content(self.output), names, self.template, self.repeat


@dataclass(frozen=True, slots=True, kw_only=True)
class PairProbe:
    """A question that compares two texts overall, also if they are identical."""

    case: Case
    a: Output
    b: Output
    rubric: Rubric
    orders: tuple[PresentationOrder, ...] = ("ab", "ba")

    @property
    def key(self) -> tuple[object, ...]:
        """Questions with equal keys are asked once."""
        return (self.case.id, "pair", _content(self.a), _content(self.b), self.orders)


ProbeQuestion = GradeProbe | PairProbe


def _content(output: Output) -> tuple[str | None, ...]:
    # Repeats of a case without a text differ in the rest alone.
    return output.variant, output.text, output.model_dump_json(include={"data", "trace"})


@dataclass(frozen=True, slots=True)
class ProbeRunner:
    """Asks the judge, also with another template or for a further repeat."""

    judge: Judge
    template_folders: tuple[Path, ...] = ()
    _graders: dict[tuple[str | None, int], Grader] = field(default_factory=dict, repr=False)

    async def graded(self, wanted: GradeProbe) -> Verdict:
        grader, known = self._grader(wanted)
        stream = grader.observe(wanted.case, wanted.output, wanted.rubric, known=known)
        async with aclosing(stream) as batches:
            answers = [one async for batch in batches for one in batch]
        return conclude(
            wanted.rubric,
            [one for one in answers if isinstance(one, Judgment)],
            [one for one in answers if isinstance(one, JudgeFailure)],
            case_id=wanted.case.id,
            variant=wanted.output.variant,
        )

    async def compared(self, wanted: PairProbe) -> PairAnswers:
        comparer = self.judge.comparer
        outcomes = await gather_in_order(
            [comparer.ask(question) for question in self._pair_questions(wanted)]
        )
        return tuple(chain.from_iterable(outcomes))

    def requests(self, wanted: ProbeQuestion) -> list[ModelRequest]:
        if isinstance(wanted, PairProbe):
            return [question.request for question in self._pair_questions(wanted)]
        grader, known = self._grader(wanted)
        skipped = {repeat for _, repeat, _ in known}
        questions = grader.questions(wanted.case, wanted.output, wanted.rubric)
        return [q.request for q in questions if q.repeat not in skipped]

    def _pair_questions(self, wanted: PairProbe) -> list[JudgeQuestion]:
        comparer = self.judge.comparer
        pair = prepare_pair(wanted.a, wanted.b, scrubs=comparer.scrubs)
        # Identical texts are shown too: the judge has to recognise them itself.
        shown = replace(pair, is_identical=False)
        questions = [
            question
            for question in comparer.questions(wanted.case, shown, wanted.rubric)
            if question.order in wanted.orders
        ]
        # The overall preference decides the winner, so that questions about single criteria would
        # be paid for in vain; they are asked only if the template has no overall question.
        return [one for one in questions if None in one.criteria] or questions

    def _grader(self, wanted: GradeProbe) -> tuple[Grader, Sequence[AnswerKey]]:
        """The grader, and the earlier repeats of each criterion, which it has to skip."""
        own, key = self.judge.grader.repeats, (wanted.template, wanted.repeat)
        if key not in self._graders:
            template = self.judge.template
            if wanted.template is not None:
                template = PromptTemplate(wanted.template, self.template_folders)
            repeats = (wanted.repeat + 1) * own
            self._graders[key] = replace(self.judge.grader, template=template, repeats=repeats)
        # A repeat of a question is a later repeat in the cache: the earlier ones cost nothing.
        earlier = range(wanted.repeat * own)
        keys = self._graders[key].wanted(wanted.case, wanted.output, wanted.rubric)
        return self._graders[key], [known for known in keys if known[1] in earlier]


@dataclass(frozen=True, slots=True)
class Trial:
    """The questions about one output or pair that belong together, by name.

    Attributes:
        arms: The questions by name; a question shared by several trials is asked once.
        about: The attack that is tried.
    """

    case_id: str
    arms: Mapping[str, ProbeQuestion]
    about: str = ""


@dataclass(frozen=True, slots=True)
class Trials:
    """What a probe would ask, or why it is skipped; it does not apply to `n_left_out` outputs."""

    trials: Sequence[Trial] = ()
    skipped: str | None = None
    n_left_out: int = 0


@dataclass(frozen=True, slots=True)
class TrialAnswers:
    """A trial with its answers by arm, without the questions that were not asked."""

    trial: Trial
    answers: Mapping[str, Verdict | PairAnswers]

    def verdict(self, arm: str) -> Verdict | None:
        """The verdict of a graded arm; None if it was not asked."""
        answer = self.answers.get(arm)
        return answer if isinstance(answer, Verdict) else None

    def value(self, arm: str) -> float | None:
        verdict = self.verdict(arm)
        return None if verdict is None else verdict.value

    def criterion_values(self, arm: str) -> dict[str, float]:
        verdict = self.verdict(arm)
        criteria = () if verdict is None else verdict.criteria
        return {one.name: one.value for one in criteria if one.value is not None}

    def passed(self, arm: str) -> bool | None:
        verdict = self.verdict(arm)
        return None if verdict is None else verdict.passed

    def first(self, arm: str, order: PresentationOrder) -> float | None:
        """How far the output shown first was preferred in an order; None after a failure."""
        answers = self.answers.get(arm, ())
        every = [] if isinstance(answers, Verdict) else [x for x in answers if x.order == order]
        # The overall preference if there is one, else the mean over all criteria.
        used = [one for one in every if one.criterion is None] or every
        points = [_POINTS[one.choice] for one in used if isinstance(one, Preference)]
        # A mean over some of the criteria would be another figure, so that a failure makes it None.
        return fsum(points) / len(points) if points and len(points) == len(used) else None

    def preferred(self, arm: str) -> float | None:
        """How far output a was preferred over both orders, from 0 to 1; None after a failure."""
        sides = self.first(arm, "ab"), self.first(arm, "ba")
        return None if sides[0] is None or sides[1] is None else (sides[0] + 1 - sides[1]) / 2


@dataclass(frozen=True, slots=True)
class ProbeEffects:
    """What a probe measured; `parts` are its effects for each kind of attack."""

    effects: tuple[Effect, ...]
    counts: Counts = field(default_factory=dict)
    parts: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One question about a judge, and how it is answered.

    Attributes:
        changes_texts: Whether it shows the judge texts that have no recorded answers.
    """

    name: str
    question: str
    plan: Callable[[AuditInputs], Trials]
    measure: Callable[[ProbeData], ProbeEffects]
    changes_texts: bool = True

    def find(self, answers: Sequence[TrialAnswers], inputs: AuditInputs) -> ProbeEffects:
        return self.measure(ProbeData(answers, inputs))


@dataclass(frozen=True, slots=True)
class ProbeData:
    """The answers of a probe, and effects computed from them with the audit's margins and level.

    Attributes:
        level: Another confidence level than the audit's, for simultaneous intervals.
    """

    answers: Sequence[TrialAnswers]
    inputs: AuditInputs
    level: float | None = None

    @property
    def cases(self) -> list[str]:
        return [one.trial.case_id for one in self.answers]

    def shift(
        self,
        name: str,
        before: Sequence[float | None],
        after: Sequence[float | None],
        *,
        scale: EffectScale = "value",
        harm: Harm = "either",
        best: float | None = None,
    ) -> Effect:
        """The mean of after - before, for each answer."""
        margins = self.inputs.options.margins
        return shift_effect(
            name,
            before,
            after,
            cases=self.cases,
            margin=margins.value if scale == "value" else margins.share,
            scale=scale,
            harm=harm,
            level=self.level or self.inputs.options.level,
            best=best,
        )

    def change(self, name: str, before: str, after: str, *, harm: Harm = "either") -> Effect:
        return self.shift(
            name,
            [one.value(before) for one in self.answers],
            [one.value(after) for one in self.answers],
            harm=harm,
            # Only where a rise is a bias can a judge at the best value hide one.
            best=1.0 if harm == "up" else None,
        )

    def preference(
        self, name: str, shares: Sequence[float | None], *, harm: Harm = "either"
    ) -> Effect:
        """How far shares of choices are from one half."""
        return self.shift(
            name,
            [None if share is None else 0.0 for share in shares],
            [None if share is None else share - 0.5 for share in shares],
            scale="lean",
            harm=harm,
        )

    def share(
        self,
        name: str,
        outcomes: Sequence[float | None],
        *,
        cases: Sequence[str] | None = None,
        margin: float | None = None,
        decides: bool = True,
    ) -> Effect:
        """How often something happens that should not."""
        return share_effect(
            name,
            outcomes,
            cases=self.cases if cases is None else cases,
            margin=self.inputs.options.margins.share if margin is None else margin,
            decides=decides,
            level=self.level or self.inputs.options.level,
        )

    def excess_change(self, name: str) -> Effect:
        """How far `changed` is from `plain`, beyond the distance of the repeat `again`."""
        # The noise of a repeat is the baseline: only what exceeds it is an effect of the change.
        noise: list[float | None] = []
        moved: list[float | None] = []
        for one in self.answers:
            plain, again = one.criterion_values("plain"), one.criterion_values("again")
            changed = one.criterion_values("changed")
            names = [name for name in plain if name in again and name in changed]
            for distances, side in ((noise, again), (moved, changed)):
                gaps = [abs(plain[name] - side[name]) for name in names]
                distances.append(fsum(gaps) / len(gaps) if gaps else None)
        return self.shift(name, noise, moved, harm="up")


def plain_question(case: Case, output: Output, inputs: AuditInputs) -> GradeProbe:
    """The question every probe compares with: the output as it is."""
    return GradeProbe(case=case, output=output, rubric=inputs.rubric)
