"""Compares two outputs blind, in both orders: the questions, the preferences and the comparison.

`exchange` sends the questions: a preference is a choice among two places.
"""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from judgekit.errors import InputError
from judgekit.judge.exchange import (
    Asker,
    JudgeQuestion,
    gather_in_order,
    replace_surrogates,
    stream_results,
)
from judgekit.models import ChoiceDistribution, choice_distribution
from judgekit.prompts import (
    IMAGE_MARKER,
    OVERALL_KEY,
    SLOT_LABELS,
    PairTemplate,
    Redaction,
    case_texts,
    draw_labels,
    locate_evidence,
    output_flags,
    pairwise_text,
    scrub,
)
from judgekit.prompts.parsing import PreferenceReply, may_hold_verdict, parse_preferences
from judgekit.records import (
    Case,
    Comparison,
    Criterion,
    Output,
    Preference,
    PreferenceFailure,
    PreferenceSlot,
    PresentationOrder,
    ReconciliationRule,
    Rubric,
    ScrubbedPassage,
    inactive_rubric_error,
)
from judgekit.scoring import conclude_comparison

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Iterable, Mapping, Sequence

    from judgekit.judge.concurrency import SyncRunner
    from judgekit.models.request import ModelReply

PreferenceOutcome = Preference | PreferenceFailure
_ORDERS: tuple[PresentationOrder, PresentationOrder] = ("ab", "ba")

# The pattern before the choice, by the form of the reply; two scores state no choice.
_LEADS = {
    "json": r'(?<!\\)"preference"\s*:\s*"',
    "brackets": r"\[\[",
    "stated": r"Output \(",
    "choice": r"\A",
}

_WORDS: Mapping[str, PreferenceSlot] = {"first": "first", "second": "second", "tie": "tie"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparer(Asker[PreferenceReply, PreferenceOutcome]):
    """Asks one model with one template which of two outputs is better, in both orders."""

    _answer: ClassVar[str] = "preference"
    _stated = attrgetter("choice")
    _declined: ClassVar[str] = "the judge cannot compare the two"
    _failure: ClassVar[type[Any]] = PreferenceFailure

    template: PairTemplate
    scrubs: bool = True
    draws_labels: bool = False
    seed: int = 0
    rule: ReconciliationRule = "consistent"
    asks_overall: bool = True
    """Whether it asks which is better overall, beside the criteria. Recorded replies may hold
    answers to the criteria only; the overall winner then follows from them."""

    def questions(self, case: Case, pair: BlindPair, rubric: Rubric) -> list[JudgeQuestion]:
        """Everything that is asked about two outputs, both orders and repeats included."""
        if not rubric.active:
            raise inactive_rubric_error(rubric)
        # The same text twice is a tie by definition; a call could only measure position bias.
        if pair.is_identical:
            return []
        rubric = comparable_part(case, rubric)
        if not rubric.criteria:
            return []
        # Drawn once for a case, so that both orders and all repeats use the same labels.
        labels = self.labels(case)
        named = [name for name in pair.variants if name]
        variant = " vs ".join(named) if len(named) == len(pair.variants) else None
        names = [criterion.name for criterion in rubric.criteria]
        both = [output_flags(text, names) for text in pair.in_order("ab")[0]]
        flags = tuple(dict.fromkeys(chain.from_iterable(both)))
        questions: list[JudgeQuestion] = []
        # Always both orders: a preference for the first place shows only in the comparison of the
        # two.
        for order in _ORDERS:
            shown, (first, second) = pair.in_order(order)
            prompts = self.template.prompts(case, *shown, rubric, labels=labels)
            # Recorded replies may answer the criteria only; the overall question would fail for
            # each pair.
            if not self.asks_overall and self.template.header.asks == "criterion":
                prompts = [prompt for prompt in prompts if prompt.criteria]
            about = {"order": order, "variant_first": first, "variant_second": second}
            for repeat in range(self.repeats):
                subject = {"case_id": case.id, "variant": variant, "order": order, "repeat": repeat}
                of = (case, *pair.outputs)
                questions += [
                    self.question(prompt, shown, subject, about, of, flags) for prompt in prompts
                ]
        quotable: Any = tuple(filter(may_hold_verdict, filter(None, case_texts(case).values())))
        return [each._replace(texts=each.shown + quotable) for each in questions]

    def labels(self, case: Case) -> tuple[str, str]:
        """What the outputs shown first and second are called for a case."""
        return draw_labels(case.id, self.seed) if self.draws_labels else SLOT_LABELS

    async def answers(self, case: Case, pair: BlindPair, rubric: Rubric) -> list[PreferenceOutcome]:
        """Ask everything about two outputs."""
        questions = self.questions(case, pair, rubric)
        cached = list(self.cached_outcomes(questions))
        return list(chain.from_iterable(await self.complete(questions, cached)))

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
        """Ask about two outputs what is not known yet, and yield each answer as it arrives."""
        if a.error is not None or b.error is not None:
            return
        open_questions = [
            question
            for question in self.questions(case, self.blind_pair(a, b, names), rubric)
            if not all(
                (question.order, name, question.repeat) in known for name in question.criteria
            )
        ]
        jobs = []
        for question, outcomes in zip(
            open_questions, list(self.cached_outcomes(open_questions)), strict=True
        ):
            if outcomes is None:
                jobs.append(self.ask(question))
            else:
                yield tuple(outcomes)
        async with aclosing(stream_results(jobs)) as answers:
            async for outcomes in answers:
                yield tuple(outcomes)

    def blind_pair(self, a: Output, b: Output, names: Iterable[str] = ()) -> BlindPair:
        """The two outputs as this judge sees them."""
        return prepare_pair(a, b, names, scrubs=self.scrubs)

    def conclude(
        self, case: Case, pair: BlindPair, rubric: Rubric, outcomes: Iterable[PreferenceOutcome]
    ) -> Comparison:
        """The comparison that follows from answers, whenever they were given."""
        labels = self.labels(case)
        return pair.conclude(case, rubric, outcomes, rule=self.rule, labels=labels)

    def _parse(
        self, reply: ModelReply, question: JudgeQuestion
    ) -> Mapping[str | None, PreferenceReply]:
        reply_format = self.template.reply
        if reply_format.kind != "json":
            from judgekit.prompts.parsing import parse_formatted_preference  # noqa: PLC0415 - few templates need it

            reading = parse_formatted_preference(
                reply.text,
                reply_format,
                finish_reason=reply.finish_reason,
                judged_text=question.shown,
            )
            return {question.criteria[0]: reading}
        names = {OVERALL_KEY if name is None else name: name for name in question.criteria}
        readings = parse_preferences(
            reply.text, list(names), finish_reason=reply.finish_reason, judged_text=question.texts
        )
        return {names[key]: reading for key, reading in readings.items()}

    def _observed(
        self,
        _index: int,
        /,
        fields: dict[str, Any],
        reading: PreferenceReply,
        reply: ModelReply,
        question: JudgeQuestion,
        more_flags: Sequence[str],
    ) -> Preference:
        quotes = reading.evidence_first, reading.evidence_second
        first, second = (
            locate_evidence(list(map(replace_surrogates, quoted)), text)
            for quoted, text in zip(quotes, question.shown, strict=True)
        )
        chances = self._distribution(reading, question, reply)
        sure = None if chances is None else chances.confidence
        flags = list(self.flags)
        # A quote of the wrong output counts as not found: each side is looked up in its own text.
        if not all(quote.found for quote in (*first, *second)):
            flags.append("evidence_not_found")
        if reading.scores_disagree:
            flags.append("scores_disagree")
        return Preference(
            **fields,
            choice=reading.choice,
            evidence_first=first,
            evidence_second=second,
            confidence=reading.confidence if sure is None else sure,
            logprob_first=None if chances is None else chances.first,
            raw_first=reading.raw_first,
            raw_second=reading.raw_second,
            flags=(*flags, *more_flags),
        )

    def _distribution(
        self, reading: PreferenceReply, question: JudgeQuestion, reply: ModelReply
    ) -> ChoiceDistribution | None:
        form = self.template.reply
        lead = _LEADS.get(form.kind)
        # A joint reply states several choices, and nothing says which tokens belong to which.
        if reply.logprobs is None or lead is None or len(question.criteria) > 1:
            return None
        # Two scores without a choice give no token whose probability could be read.
        if reading.choice is None:
            return None
        return choice_distribution(reply, form.choices or _WORDS, lead=lead, made=reading.choice)


class PairJudge:
    """Compares two outputs, as `Judge` and `Panel` do."""

    _sync_runner: SyncRunner

    def _comparers(self) -> Sequence[Comparer]:
        """How each judge asks; all of them show the same texts and follow one rule."""
        raise NotImplementedError

    async def compare(
        self,
        case: Case,
        output_a: Output,
        output_b: Output,
        rubric: Rubric,
        *,
        names: Iterable[str] = (),
    ) -> Comparison:
        """Compare two outputs blind, in both orders; the same text twice is a tie without a call.

        Args:
            case: What was to be answered.
            output_a: One output.
            output_b: The other; where either is an error nothing is judged.
            rubric: How they are compared.
            names: Names that would give one of them away (models, files), beside the variants';
                they are removed from the outputs before a judge sees them.

        Returns:
            The overall winner and the winner for each criterion, with all answers of both orders;
            for a panel also each judge's own winner.

        Raises:
            TemplateError: When a template does not fit the rubric.
            StoreError: When a cache cannot store what was paid for.
        """
        check_material(rubric, case, output_a, output_b)
        comparers = self._comparers()
        pair = comparers[0].blind_pair(output_a, output_b, names)
        outcomes: list[PreferenceOutcome] = []
        if pair.error is None:
            jobs = [comparer.answers(case, pair, rubric) for comparer in comparers]
            outcomes += chain.from_iterable(await gather_in_order(jobs))
        return comparers[0].conclude(case, pair, rubric, outcomes)

    def compare_sync(
        self,
        case: Case,
        output_a: Output,
        output_b: Output,
        rubric: Rubric,
        *,
        names: Iterable[str] = (),
    ) -> Comparison:
        """`compare`, for callers that are not asynchronous; works inside a running loop too."""
        return self._sync_runner.run(self.compare(case, output_a, output_b, rubric, names=names))


# Marks a rubric that stands for the cases' own ones, also where it is stored.
_OF_CASES = "of_cases"


def check_material(rubric: Rubric, case: Case, *outputs: Output) -> None:
    """Refuse what is no case, no output or no rubric."""
    for kind, value in ((Case, case), *((Output, output) for output in outputs), (Rubric, rubric)):
        if not isinstance(value, kind):
            hint = "pass jk.Case(…), jk.Output(…), jk.load_rubric(…); jk.grade reads rows and names"
            raise InputError(
                f"a {type(value).__name__} is no {kind.__name__}: {value!r:.80}", hint=hint
            )


def rubric_of_cases(cases: Iterable[Case]) -> Rubric | None:
    """One rubric that stands for those of the cases; None where a case has none."""
    # Results are counted by the name of a criterion, in the order of first appearance.
    criteria: dict[str, Criterion] = {}
    for case in cases:
        if not isinstance(case.rubric, Rubric):
            return None
        for criterion in case.rubric.criteria:
            criteria.setdefault(criterion.name, criterion)
    if not criteria:
        return None
    own = "the cases' own rubrics"
    return Rubric(name=own, criteria=tuple(criteria.values()), metadata={_OF_CASES: True})


def is_of_cases(rubric: Rubric) -> bool:
    """Whether a rubric stands for the cases' own ones."""
    return rubric.metadata.get(_OF_CASES) is True


def rubric_of_case(case: Case, rubric: Rubric) -> Rubric:
    """The rubric a case is compared by: its own, where the comparison goes by those."""
    own = case.rubric
    return own if is_of_cases(rubric) and isinstance(own, Rubric) else rubric


def comparable_part(case: Case, rubric: Rubric) -> Rubric:
    """The rubric with the criteria by which two outputs to a case can be compared."""
    rubric = rubric_of_case(case, rubric)
    # No template that compares shows a trace. A criterion that is not asked has no vote. Templates
    # and judges of single criteria are for grading: here each judge compares by all of them.
    lacking = {need for need in ("reference", "context") if getattr(case, need) is None} | {"trace"}
    criteria = tuple(c for c in rubric.criteria if lacking.isdisjoint(c.needs))
    if len(criteria) == len(rubric.criteria):
        return rubric
    return rubric.model_copy(update={"criteria": criteria})


@dataclass(frozen=True, slots=True)
class BlindPair:
    """Two outputs as a judge sees them."""

    texts: tuple[str, str]
    variants: tuple[str | None, str | None]  # their variants; no judge sees these names
    outputs: tuple[Output, Output]  # the outputs themselves, for their images
    scrubbed: tuple[ScrubbedPassage, ...] | None  # what was removed; None where scrubbing is off
    is_identical: bool
    """Whether a judge would see the same text twice, which is a tie without a question."""

    error: str | None  # why there is nothing to compare: the errors of the outputs

    def in_order(
        self, order: PresentationOrder
    ) -> tuple[tuple[str, str], tuple[str | None, str | None]]:
        """The texts as they are shown, the first one first, and their variants."""
        if order == "ab":
            return self.texts, self.variants
        return self.texts[::-1], self.variants[::-1]

    def conclude(
        self,
        case: Case,
        rubric: Rubric,
        outcomes: Iterable[PreferenceOutcome],
        *,
        rule: ReconciliationRule,
        labels: tuple[str, str],
    ) -> Comparison:
        """The comparison that follows from answers, whenever they were given."""
        answers = list(outcomes)
        found = conclude_comparison(
            rubric_of_case(case, rubric),
            [each for each in answers if isinstance(each, Preference)],
            [each for each in answers if isinstance(each, PreferenceFailure)],
            rule=rule,
            case_id=case.id,
            variants=self.variants,
            labels=labels,
            scrubbed=self.scrubbed,
            is_identical=self.is_identical and self.error is None,
            error=self.error,
        )
        if not is_of_cases(rubric):
            return found
        # All of them were asked for together, so that they can be ranked together too.
        about = {"rubric": rubric.name, "rubric_fingerprint": rubric.fingerprint}
        return found.model_copy(update=about)


def prepare_pair(
    a: Output, b: Output, names: Iterable[str] = (), *, scrubs: bool = True
) -> BlindPair:
    """The two outputs as a judge sees them."""
    variants = a.variant, b.variant
    text_a, text_b = pairwise_text(a, IMAGE_MARKER), pairwise_text(b, IMAGE_MARKER)
    passages: list[ScrubbedPassage] = []
    if scrubs:
        # A judge that reads a product or model name may prefer it, whatever the output says.
        own = [*names, *(name for name in variants if name)]
        text_a, out_a = scrub(text_a, own)
        text_b, out_b = scrub(text_b, own)
        passages += [_passage("a", out) for out in out_a] + [_passage("b", out) for out in out_b]
    errors = [
        f"output {side}: {o.error}" for side, o in (("a", a), ("b", b)) if o.error is not None
    ]
    return BlindPair(
        texts=(text_a, text_b),
        variants=variants,
        outputs=(a, b),
        scrubbed=tuple(passages) if scrubs else None,
        is_identical=text_a == text_b,
        error="; ".join(errors) or None,
    )


def _passage(side: Literal["a", "b"], out: Redaction) -> ScrubbedPassage:
    return ScrubbedPassage(side=side, text=out.text, start=out.start, end=out.end)
