"""Puts an audit's questions to the judge by its own model, cache, limits and budget."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from judgekit.judge.asking import ask
from judgekit.judge.gathering import gathered
from judgekit.judge.pair_answers import PairReader
from judgekit.judge.pair_questions import Pair, seen_pair
from judgekit.judge.pointwise import Grader
from judgekit.prompts.rendering import PromptTemplate
from judgekit.records.judgment import JudgeFailure, Judgment
from judgekit.verdicts import conclude

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from judgekit.judge.judge import Judge
    from judgekit.judge.pair_questions import PairQuestion
    from judgekit.models.request import ModelRequest
    from judgekit.records.case import Case
    from judgekit.records.comparison import Order, Preference, PreferenceFailure
    from judgekit.records.output import Output
    from judgekit.records.rubric import Rubric
    from judgekit.records.verdict import Verdict

    PairSaid: TypeAlias = tuple[Preference | PreferenceFailure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeAsk:
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
        names = tuple(criterion.name for criterion in self.rubric.criteria)
        return (self.case.id, self.output.variant, self.output.text, names, self.template,
                self.asking)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAsk:
    """Compare two texts on the whole, whether or not they are the same."""

    case: Case
    """What was to be answered."""

    a: Output
    """Shown first in order `ab`."""

    b: Output
    """Shown second in order `ab`."""

    rubric: Rubric
    """How they are compared."""

    orders: tuple[Order, ...] = ("ab", "ba")
    """The orders they are shown in."""

    @property
    def key(self) -> tuple[object, ...]:
        """Two questions with the same key are asked once."""
        sides = ((one.variant, one.text) for one in (self.a, self.b))
        return (self.case.id, "pair", *sides, self.orders)


Ask = GradeAsk | PairAsk


@dataclass(frozen=True, slots=True)
class _Shown(Pair):
    """Two outputs that are asked about even where they are the same."""

    @property
    def is_identical(self) -> bool:
        """Never: whether the judge sees that they are is the question."""
        return False


@dataclass(frozen=True, slots=True)
class Bench:
    """A judge, and the judge again with another template or asked again."""

    judge: Judge
    """Who is audited."""

    template_folders: tuple[Path, ...] = ()
    """The caller's own template folders; they come before the shipped."""

    _graders: dict[tuple[str | None, int], Grader] = field(default_factory=dict, repr=False)

    async def graded(self, wanted: GradeAsk) -> Verdict:
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

    async def compared(self, wanted: PairAsk) -> PairSaid:
        """Compare."""
        comparer = self.judge.comparer
        reader = PairReader(comparer.template.reply, comparer.id, comparer.flags)

        async def answered(question: PairQuestion) -> list[Preference | PreferenceFailure]:
            answer = await ask(
                comparer.model,
                question.request,
                lambda reply: reader.read(reply, question),
                max_reasks=comparer.max_reasks,
            )
            return [reader.outcome(criterion, answer, question) for criterion in question.asked]

        found = await gathered([answered(question) for question in self._pair_questions(wanted)])
        return tuple(one for said in found for one in said)

    def requests(self, wanted: Ask) -> list[ModelRequest]:
        """What would be sent, without sending it."""
        if isinstance(wanted, PairAsk):
            return [question.request for question in self._pair_questions(wanted)]
        grader, known = self._grader(wanted)
        skipped = {repeat for _, repeat in known}
        questions = grader.questions(wanted.case, wanted.output, wanted.rubric)
        return [q.request for q in questions if q.repeat not in skipped]

    def _pair_questions(self, wanted: PairAsk) -> list[PairQuestion]:
        """Those about the whole, where the template has any; they are what decides a winner."""
        comparer = self.judge.comparer
        seen = seen_pair(wanted.a, wanted.b, scrubs=comparer.scrubs)
        shown = _Shown(seen.texts, seen.variants, seen.scrubbed)
        questions = [
            question
            for question in comparer.questions(wanted.case, shown, wanted.rubric)
            if question.order in wanted.orders
        ]
        return [one for one in questions if None in one.asked] or questions

    def _grader(self, wanted: GradeAsk) -> tuple[Grader, Sequence[tuple[str, int]]]:
        """Who grades, and the repeats of earlier askings, which are not asked here."""
        own = self.judge.comparer.repeats
        key = wanted.template, wanted.asking
        if key not in self._graders:
            self._graders[key] = self._new_grader(wanted.template, (wanted.asking + 1) * own)
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
            shelf=self.judge.connection.shelf,
        )
