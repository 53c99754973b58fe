"""Compares two outputs blind, always in both orders: questions, preferences or failures.

The comparison.
"""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judgekit.errors import RefusalError, ReplyFormatError
from judgekit.judge.concurrency import gather_in_order, stream_results
from judgekit.judge.confidence import reported_confidence
from judgekit.judge.exchange import (
    JudgeAnswer,
    absent_rationale,
    ask_judge,
    rationale_text,
    replace_surrogates,
    total_spending,
)
from judgekit.models import choice_distribution
from judgekit.models.request import ModelRequest, Subject
from judgekit.prompts import (
    OVERALL_KEY,
    SLOT_LABELS,
    draw_labels,
    locate_evidence,
    pairwise_text,
    scrub,
)
from judgekit.prompts.parsing import parse_formatted_preference, parse_preferences
from judgekit.records import Comparison, Preference, PreferenceFailure, ScrubbedPassage
from judgekit.scoring import conclude_comparison

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Literal

    from judgekit.models import CachedModel, ChoiceDistribution
    from judgekit.models.request import Model, ModelReply
    from judgekit.prompts import PairPrompt, PairTemplate, Redaction
    from judgekit.prompts.parsing import PairReplyFormat, PreferenceReply
    from judgekit.records import (
        Case,
        Evidence,
        JsonObject,
        Output,
        PreferenceSlot,
        PresentationOrder,
        ReconciliationRule,
        Rubric,
    )

if TYPE_CHECKING:
    PreferenceOutcome = Preference | PreferenceFailure

_ORDERS: tuple[PresentationOrder, PresentationOrder] = ("ab", "ba")


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

    rule: ReconciliationRule = "consistent"
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

    def questions(self, case: Case, pair: BlindPair, rubric: Rubric) -> list[PairQuestion]:
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
        return draw_labels(case.id, self.seed) if self.draws_labels else SLOT_LABELS

    async def compare(
        self, case: Case, a: Output, b: Output, rubric: Rubric, *, names: Iterable[str] = ()
    ) -> Comparison:
        """Compare two outputs."""
        pair = self.seen(a, b, names)
        if a.error is not None or b.error is not None:
            return self.conclude(case, a, b, pair, rubric, ())
        said = await self.answers(case, pair, rubric)
        return self.conclude(case, a, b, pair, rubric, said)

    async def answers(self, case: Case, pair: BlindPair, rubric: Rubric) -> list[PreferenceOutcome]:
        """Ask everything about two outputs."""
        questions = self.questions(case, pair, rubric)
        owned = self._owned(questions)
        open_ones = [q for q, known in zip(questions, owned, strict=True) if known is None]
        asked = iter(await gather_in_order([self._result(question) for question in open_ones]))
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
        known: Collection[tuple[PresentationOrder, str | None, int]] = (),
    ) -> AsyncGenerator[tuple[PreferenceOutcome, ...], None]:
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
        async with aclosing(stream_results([self._result(each) for each in waiting])) as answered:
            async for found in answered:
                yield tuple(found)

    def seen(self, a: Output, b: Output, names: Iterable[str] = ()) -> BlindPair:
        """The two outputs as this judge gets to see them."""
        return prepare_pair(a, b, names, scrubs=self.scrubs)

    def conclude(
        self,
        case: Case,
        a: Output,
        b: Output,
        pair: BlindPair,
        rubric: Rubric,
        said: Iterable[PreferenceOutcome],
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
        self, prompt: PairPrompt, case: Case, pair: BlindPair, order: PresentationOrder, repeat: int
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

    def _owned(self, questions: Sequence[PairQuestion]) -> list[list[PreferenceOutcome] | None]:
        """What kept replies say, where they can be read; nothing is waited for."""
        if self.shelf is None or not questions:
            return [None] * len(questions)
        replies = self.shelf.owned([question.request for question in questions])
        return [self._known(*found) for found in zip(questions, replies, strict=True)]

    def _known(
        self, question: PairQuestion, reply: ModelReply | None
    ) -> list[PreferenceOutcome] | None:
        if self.shelf is None or reply is None:
            return None
        reader = PreferenceReader(self.template.reply, self.id, self.flags)
        try:
            readings = reader.read(reply, question)
        except (RefusalError, ReplyFormatError):
            return None  # it is asked again, in other words
        self.shelf.took(reply)
        answer = JudgeAnswer(readings, None, reply, total_spending([reply]))
        return [reader.outcome(criterion, answer, question) for criterion in question.asked]

    async def _result(self, question: PairQuestion) -> list[PreferenceOutcome]:
        reader = PreferenceReader(self.template.reply, self.id, self.flags)
        answer = await ask_judge(
            self.model,
            question.request,
            lambda reply: reader.read(reply, question),
            max_reasks=self.max_reasks,
            shelf=self.shelf,
        )
        return [reader.outcome(criterion, answer, question) for criterion in question.asked]


@dataclass(frozen=True, slots=True)
class BlindPair:
    """Two outputs as a judge gets to see them."""

    texts: tuple[str, str]
    """The texts of a and b, scrubbed where that is wanted."""

    variants: tuple[str | None, str | None]
    """Whose they are; no judge is told."""

    scrubbed: tuple[ScrubbedPassage, ...] | None
    """What was taken out; None where nobody looked."""

    @property
    def is_identical(self) -> bool:
        """Whether a judge would see the same text twice."""
        return self.texts[0] == self.texts[1]

    def in_order(self, order: PresentationOrder) -> tuple[str, str]:
        """The texts as they are shown, the first one first."""
        return self.texts if order == "ab" else (self.texts[1], self.texts[0])

    def variants_in(self, order: PresentationOrder) -> tuple[str | None, str | None]:
        """The variants in the same order."""
        return self.variants if order == "ab" else (self.variants[1], self.variants[0])


@dataclass(frozen=True, slots=True)
class PairQuestion:
    """One prompt about two outputs in one order, asked for one repeat."""

    prompt: PairPrompt
    """What is asked."""

    request: ModelRequest
    """How it is sent."""

    order: PresentationOrder
    """Which output is shown first."""

    shown: tuple[str, str]
    """The texts, the one shown first first; a verdict that stands in them is no verdict."""

    variants: tuple[str | None, str | None]
    """The variants they are of."""

    @property
    def asked(self) -> tuple[str | None, ...]:
        """The criteria it asks about; None is the whole."""
        names: tuple[str | None, ...] = tuple(c.name for c in self.prompt.criteria)
        return (*names, None) if self.prompt.asks_overall else names


def prepare_pair(
    a: Output, b: Output, names: Iterable[str] = (), *, scrubs: bool = True
) -> BlindPair:
    """The two outputs as a judge gets to see them."""
    variants = a.variant, b.variant
    texts = pairwise_text(a), pairwise_text(b)
    if not scrubs:
        return BlindPair(texts, variants, None)
    own = [*names, *(name for name in variants if name)]
    (text_a, out_a), (text_b, out_b) = (scrub(text, own) for text in texts)
    return BlindPair(
        (text_a, text_b), variants, (*_redactions("a", out_a), *_redactions("b", out_b))
    )


def _redactions(side: Literal["a", "b"], removed: Iterable[Redaction]) -> Iterable[ScrubbedPassage]:
    return [
        ScrubbedPassage(side=side, text=out.text, start=out.start, end=out.end) for out in removed
    ]


if TYPE_CHECKING:
    _PairOutcome = Preference | PreferenceFailure

if TYPE_CHECKING:
    _PairReadings = Mapping[str | None, PreferenceReply]

_LEADS = {
    "json": r'(?<!\\)"preference"\s*:\s*"',
    "brackets": r"\[\[",
    "stated": r"\A\s*Output \(",
    "choice": r"\A",
}
"""What stands before the choice, by the form of the reply; scores state none."""

_WORDS: Mapping[str, PreferenceSlot] = {"first": "first", "second": "second", "tie": "tie"}


@dataclass(frozen=True, slots=True)
class PreferenceReader:
    """Reads the replies of one judge."""

    reply_format: PairReplyFormat
    """The form the template asks for."""

    judge: str
    """Model and template."""

    flags: tuple[str, ...] = ()
    """Marks that every preference carries."""

    def read(self, reply: ModelReply, question: PairQuestion) -> _PairReadings:
        """What a reply says for each thing that was asked."""
        form = self.reply_format
        readings: dict[str | None, PreferenceReply] = {}
        if form.kind == "json":
            keys = {OVERALL_KEY if name is None else name: name for name in question.asked}
            found = parse_preferences(
                reply.text,
                list(keys),
                finish_reason=reply.finish_reason,
                judged_text=question.shown,
            )
            readings = {keys[key]: reading for key, reading in found.items()}
        else:
            readings[question.asked[0]] = parse_formatted_preference(
                reply.text, form, finish_reason=reply.finish_reason, judged_text=question.shown
            )
        for name, reading in readings.items():
            if not reading.cannot_assess and self._rationale(reading, reply) is None:
                raise ReplyFormatError(
                    f"Give a rationale for {name or 'the whole'!r}: a preference without one is "
                    "not valid.",
                    reason="no_rationale",
                    reply=reply.text,
                )
        return readings

    def _rationale(self, reading: PreferenceReply, reply: ModelReply) -> str | None:
        said = rationale_text(reading.rationale, reply.text)
        if said is None and not self.reply_format.asks_rationale:
            return absent_rationale(reply.text)
        return said

    def outcome(
        self, criterion: str | None, answer: JudgeAnswer[_PairReadings], question: PairQuestion
    ) -> _PairOutcome:
        """What an answer comes to for one thing that was asked."""
        reading = None if answer.readings is None else answer.readings[criterion]
        if reading is None or answer.reply is None or reading.choice is None:
            return self._failure(criterion, answer, question, reading)
        first = _located(reading.evidence_first, question.shown[0])
        second = _located(reading.evidence_second, question.shown[1])
        chances = self._distribution(reading.choice, question, answer.reply)
        sure = None if chances is None else chances.confidence
        return Preference(
            **_question_fields(criterion, answer, question, self.judge),
            choice=reading.choice,
            rationale=self._rationale(reading, answer.reply) or "",
            evidence_first=first,
            evidence_second=second,
            confidence=reported_confidence(sure, reading.confidence),
            stated_confidence=reading.confidence,
            logprob_first=None if chances is None else chances.first,
            raw_first=reading.raw_first,
            raw_second=reading.raw_second,
            model=answer.reply.model,
            duration_ms=answer.reply.duration_ms,
            dropped_parameters=answer.reply.dropped_parameters,
            flags=(*self.flags, *_flags(reading, answer.reply, (*first, *second))),
        )

    def _failure(
        self,
        criterion: str | None,
        answer: JudgeAnswer[_PairReadings],
        question: PairQuestion,
        reading: PreferenceReply | None,
    ) -> PreferenceFailure:
        error = answer.error
        said = None if reading is None else reading.rationale
        return PreferenceFailure(
            **_question_fields(criterion, answer, question, self.judge),
            kind=answer.failure_kind if reading is None else "cannot_assess",
            message=str(error)
            if reading is None
            else f"the judge cannot compare the two: {said or 'no reason given'}",
            reason=error.reason if isinstance(error, ReplyFormatError) else None,
            reply=None if answer.reply is None else answer.reply.text,
        )

    def _distribution(
        self, made: PreferenceSlot, question: PairQuestion, reply: ModelReply
    ) -> ChoiceDistribution | None:
        form = self.reply_format
        lead = _LEADS.get(form.kind)
        if reply.logprobs is None or lead is None or len(question.asked) > 1:
            return None
        return choice_distribution(reply, form.choices or _WORDS, lead=lead, made=made)


def _flags(
    reading: PreferenceReply, reply: ModelReply, evidence: Iterable[Evidence]
) -> Iterator[str]:
    if not all(found.found for found in evidence):
        yield "evidence_not_found"
    if reading.scores_disagree:
        yield "scores_disagree"
    if rationale_text(reading.rationale, reply.text) is None:
        yield "no_rationale"


def _located(quotes: Iterable[str], text: str) -> tuple[Evidence, ...]:
    return locate_evidence([replace_surrogates(quote) for quote in quotes], text)


def _question_fields(
    criterion: str | None, answer: JudgeAnswer[_PairReadings], question: PairQuestion, judge: str
) -> dict[str, Any]:
    """What preferences and failures have in common; a reply's tokens stand with its first part."""
    spent, parts, subject = answer.spending, len(question.asked), question.request.subject
    reply = answer.reply
    return {
        "order": question.order,
        "criterion": criterion,
        "case_id": subject.case_id,
        "variant_first": question.variants[0],
        "variant_second": question.variants[1],
        "repeat": subject.repeat,
        "judge": judge,
        "cached": spent.cached,
        "cost_usd": None if spent.cost_usd is None else spent.cost_usd / parts,
        "price_usd": None if spent.price_usd is None else spent.price_usd / parts,
        "usage": spent.usage if criterion == question.asked[0] else None,
        "n_calls": spent.n_calls,
        "reply_key": None if reply is None else reply.key or question.request.key,
    }
