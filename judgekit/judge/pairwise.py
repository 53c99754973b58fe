"""Compares two outputs blind: both orders always, prompts to requests, answers to preferences."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.errors import RefusalError, ReplyFormatError
from judgekit.judge.asking import Answer, ask, spending
from judgekit.judge.gathering import as_answered, gathered
from judgekit.judge.pair_answers import PairReader
from judgekit.judge.pair_questions import PairQuestion, seen_pair
from judgekit.models.request import ModelRequest, Subject
from judgekit.prompts.pair_rendering import SLOT_LABELS, drawn_labels
from judgekit.records.comparison import Comparison, Preference, PreferenceFailure
from judgekit.verdicts import conclude_comparison

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Iterable, Sequence

    from judgekit.judge.pair_questions import Pair
    from judgekit.models.caching import CachedModel
    from judgekit.models.request import Model, ModelReply
    from judgekit.prompts.pair_rendering import PairPrompt, PairTemplate
    from judgekit.records.case import Case
    from judgekit.records.comparison import Order, Rule
    from judgekit.records.output import Output
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Rubric

    Said = Preference | PreferenceFailure

_ORDERS: tuple[Order, Order] = ("ab", "ba")


@dataclass(frozen=True, slots=True)
class Comparer:
    """Asks one model with one template which of two outputs is better, in both orders."""

    model: Model
    """Who is asked."""

    model_name: str
    """The model as it stands in requests: provider and name."""

    template: PairTemplate
    """How it is asked."""

    parameters: JsonObject
    """Sampling parameters of every request; JSON."""

    api_base: str | None = None
    """The endpoint, where it is not the provider's own."""

    repeats: int = 1
    """How often each question is asked in each order."""

    max_reasks: int = 2
    """How often an unreadable reply is asked again."""

    flags: tuple[str, ...] = ()
    """Marks that every preference of this judge carries."""

    scrubs: bool = True
    """Whether what names an output's maker is taken out before the judge sees it."""

    draws_labels: bool = False
    """Whether the two places get drawn labels beside `first` and `second`."""

    seed: int = 0
    """Seed of the labels."""

    rule: Rule = "consistent"
    """Who wins where the orders differ."""

    shelf: CachedModel | None = None
    """The model again, where it keeps replies: those that are owned are read without waiting."""

    asks_whole: bool = True
    """Whether it is asked of the whole beside the criteria; recorded replies may speak of criteria
    only, and then the whole follows from them."""

    @property
    def id(self) -> str:
        """Model and template: `openai/gpt-4.1-mini pairwise/criterion@1f3c…`."""
        return f"{self.model_name} {self.template.id}"

    def questions(self, case: Case, pair: Pair, rubric: Rubric) -> list[PairQuestion]:
        """Everything that is asked about two outputs, both orders and repeats included."""
        if pair.is_identical:
            return []
        labels = self.labels(case)
        found = []
        for order in _ORDERS:
            shown = pair.in_order(order)
            prompts = self.template.prompts(case, *shown, rubric, labels=labels)
            if not self.asks_whole and self.template.header.asks == "criterion":
                prompts = [prompt for prompt in prompts if prompt.criteria]
            found += [
                PairQuestion(
                    prompt=prompt,
                    request=self._request(prompt, case, pair, order, repeat),
                    order=order,
                    shown=shown,
                    variants=pair.variants_in(order),
                )
                for repeat in range(self.repeats)
                for prompt in prompts
            ]
        return found

    def labels(self, case: Case) -> tuple[str, str]:
        """What the outputs shown first and second are called for a case."""
        return drawn_labels(case.id, self.seed) if self.draws_labels else SLOT_LABELS

    async def compare(
        self, case: Case, a: Output, b: Output, rubric: Rubric, *, names: Iterable[str] = ()
    ) -> Comparison:
        """Compare two outputs."""
        pair = self.seen(a, b, names)
        if a.error is not None or b.error is not None:
            return self.conclude(case, a, b, pair, rubric, ())
        said = await self.answers(case, pair, rubric)
        return self.conclude(case, a, b, pair, rubric, said)

    async def answers(self, case: Case, pair: Pair, rubric: Rubric) -> list[Said]:
        """Ask everything about two outputs."""
        questions = self.questions(case, pair, rubric)
        owned = self._owned(questions)
        open_ones = [q for q, known in zip(questions, owned, strict=True) if known is None]
        asked = iter(await gathered([self._result(question) for question in open_ones]))
        results = [next(asked) if known is None else known for known in owned]
        return [each for result in results for each in result]

    async def observe(
        self,
        case: Case,
        a: Output,
        b: Output,
        rubric: Rubric,
        *,
        names: Iterable[str] = (),
        known: Collection[tuple[Order, str | None, int]] = (),
    ) -> AsyncGenerator[tuple[Said, ...], None]:
        """Ask about two outputs what is not known, and tell each answer as it comes."""
        if a.error is not None or b.error is not None:
            return
        open_ones = [
            question
            for question in self.questions(case, self.seen(a, b, names), rubric)
            if not all(
                (question.order, criterion, question.request.subject.repeat) in known
                for criterion in question.asked
            )
        ]
        waiting = []
        for question, owned in zip(open_ones, self._owned(open_ones), strict=True):
            if owned is None:
                waiting.append(question)
            else:
                yield tuple(owned)
        async with aclosing(as_answered([self._result(each) for each in waiting])) as answered:
            async for found in answered:
                yield tuple(found)

    def seen(self, a: Output, b: Output, names: Iterable[str] = ()) -> Pair:
        """The two outputs as this judge gets to see them."""
        return seen_pair(a, b, names, scrubs=self.scrubs)

    def conclude(
        self, case: Case, a: Output, b: Output, pair: Pair, rubric: Rubric, said: Iterable[Said]
    ) -> Comparison:
        """What answers come to, whenever they were given."""
        errors = [f"output {side}: {o.error}" for side, o in (("a", a), ("b", b)) if o.error]
        answers = list(said)
        return conclude_comparison(
            rubric,
            [each for each in answers if isinstance(each, Preference)],
            [each for each in answers if isinstance(each, PreferenceFailure)],
            rule=self.rule,
            case_id=case.id,
            variants=pair.variants,
            labels=self.labels(case),
            scrubbed=pair.scrubbed,
            is_identical=pair.is_identical and not errors,
            error="; ".join(errors) or None,
        )

    def _request(
        self, prompt: PairPrompt, case: Case, pair: Pair, order: Order, repeat: int
    ) -> ModelRequest:
        one = self.template.header.asks == "criterion" and len(prompt.criteria) == 1
        known = [name for name in pair.variants if name]
        return ModelRequest(
            model=self.model_name,
            messages=prompt.messages,
            parameters=self.parameters,
            reply_schema=prompt.reply_schema,
            api_base=self.api_base,
            shared_prefix=prompt.shared_prefix,
            subject=Subject(
                case_id=case.id,
                variant=" vs ".join(known) if len(known) == len(pair.variants) else None,
                criterion=prompt.criteria[0].name if one else None,
                order=order,
                repeat=repeat,
            ),
        )

    def _owned(self, questions: Sequence[PairQuestion]) -> list[list[Said] | None]:
        """What kept replies say, where they can be read; nothing is waited for."""
        if self.shelf is None or not questions:
            return [None] * len(questions)
        replies = self.shelf.owned([question.request for question in questions])
        return [self._known(*found) for found in zip(questions, replies, strict=True)]

    def _known(self, question: PairQuestion, reply: ModelReply | None) -> list[Said] | None:
        if self.shelf is None or reply is None:
            return None
        reader = PairReader(self.template.reply, self.id, self.flags)
        try:
            readings = reader.read(reply, question)
        except (RefusalError, ReplyFormatError):
            return None  # it is asked again, in other words
        self.shelf.took(reply)
        answer = Answer(readings, None, reply, spending([reply]))
        return [reader.outcome(criterion, answer, question) for criterion in question.asked]

    async def _result(self, question: PairQuestion) -> list[Said]:
        reader = PairReader(self.template.reply, self.id, self.flags)
        answer = await ask(
            self.model,
            question.request,
            lambda reply: reader.read(reply, question),
            max_reasks=self.max_reasks,
            shelf=self.shelf,
        )
        return [reader.outcome(criterion, answer, question) for criterion in question.asked]
