"""Grades one output: prompts become questions, replies become judgments or failures.

Judgments become a verdict.
"""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, cast

from pydantic import JsonValue, TypeAdapter

from judgekit.errors import RefusalError, ReplyFormatError, SettingsError
from judgekit.fingerprint import Frozen, canonical_json
from judgekit.judge.concurrency import gather_in_order, stream_results
from judgekit.judge.confidence import reported_confidence, with_repeat_confidence
from judgekit.judge.exchange import (
    JudgeAnswer,
    absent_rationale,
    ask_judge,
    judge_configuration,
    rationale_text,
    replace_surrogates,
    total_spending,
)
from judgekit.models import score_distribution
from judgekit.models.request import ModelRequest, Subject
from judgekit.prompts import judged_text, locate_evidence, steps_text
from judgekit.prompts.parsing import parse_criterion_replies, parse_formatted_reply
from judgekit.records import CalibratedPanel, JudgeFailure, Judgment
from judgekit.scoring import conclude

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        Callable,
        Collection,
        Coroutine,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from judgekit.models import CachedModel, ScoreDistribution
    from judgekit.models.request import Model, ModelReply
    from judgekit.prompts import JudgePrompt, PromptTemplate, TemplateHeader
    from judgekit.prompts.parsing import CriterionReply
    from judgekit.records import Case, Criterion, JsonObject, Output, Rubric, Usage, Verdict

_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


class JudgeQuestion(NamedTuple):
    """One prompt about one output, asked for one repeat."""

    prompt: JudgePrompt
    """What is asked."""

    request: ModelRequest
    """How it is sent."""

    judged: tuple[str, ...]
    """The texts under judgment; a verdict that stands in them is no verdict."""

    @property
    def repeat(self) -> int:
        """Which time it is asked, from 0."""
        return self.request.subject.repeat


if TYPE_CHECKING:
    JudgmentOutcome = Judgment | JudgeFailure

if TYPE_CHECKING:
    _Readings = Mapping[str, CriterionReply]


def _part(amount: float | None, share: float) -> float | None:
    return None if amount is None else amount * share


def _usage(
    criterion: Criterion, answer: JudgeAnswer[_Readings], question: JudgeQuestion
) -> Usage | None:
    """Tokens of a reply to several criteria stand with the first, so that sums are right."""
    return answer.spending.usage if criterion is question.prompt.criteria[0] else None


@dataclass(frozen=True, slots=True)
class JudgmentReader:
    """Reads the replies of one judge."""

    header: TemplateHeader
    """What the template says of the replies it asks for."""

    judge: str
    """Model and template."""

    flags: tuple[str, ...] = ()
    """Marks that every judgment carries."""

    def read(self, reply: ModelReply, question: JudgeQuestion) -> _Readings:
        """What a reply says of each criterion that was asked about."""
        criteria, reply_format = question.prompt.criteria, self.header.reply
        if reply_format.kind == "json":
            readings = parse_criterion_replies(
                reply.text,
                criteria,
                finish_reason=reply.finish_reason,
                judged_text=question.judged,
            )
        else:
            reading = parse_formatted_reply(
                reply.text,
                criteria[0],
                reply_format=reply_format,
                finish_reason=reply.finish_reason,
                judged_text=question.judged,
            )
            readings = {criteria[0].name: reading}
        for name, found in readings.items():
            if found.raw is not None and self._reason(found, reply) is None:
                raise ReplyFormatError(
                    f"Give a rationale for {name!r}: a score without one is not valid.",
                    reason="no_rationale",
                    reply=reply.text,
                )
        return readings

    def _reason(self, reading: CriterionReply, reply: ModelReply) -> str | None:
        said = rationale_text(reading.rationale, reply.text)
        if said is None and not self.header.reply.asks_rationale:
            return absent_rationale(reply.text)
        return said

    def outcomes(
        self, answer: JudgeAnswer[_Readings], question: JudgeQuestion
    ) -> list[JudgmentOutcome]:
        """What an answer comes to, criterion by criterion."""
        return [self._outcome(c, answer, question) for c in question.prompt.criteria]

    def _outcome(
        self, criterion: Criterion, answer: JudgeAnswer[_Readings], question: JudgeQuestion
    ) -> JudgmentOutcome:
        reading = None if answer.readings is None else answer.readings[criterion.name]
        if reading is None or answer.reply is None or reading.raw is None:
            return self._failure(criterion, answer, question, reading)
        return self._judgment(criterion, answer, question, reading, reading.raw, answer.reply)

    def _judgment(
        self,
        criterion: Criterion,
        answer: JudgeAnswer[_Readings],
        question: JudgeQuestion,
        reading: CriterionReply,
        raw: float,
        reply: ModelReply,
    ) -> Judgment:
        share = 1 / len(question.prompt.criteria)
        quotes = [replace_surrogates(quote) for quote in reading.evidence]
        evidence = locate_evidence(quotes, "\n".join(question.judged))
        chances = self._distribution(criterion, reply)
        sure = None if chances is None else chances.confidence
        missing = any(not found.found for found in evidence)
        is_bare = rationale_text(reading.rationale, reply.text) is None
        unexplained = ("no_rationale",) if is_bare else ()
        return Judgment(
            criterion=criterion.name,
            raw=raw,
            value=criterion.scale.value_of(raw),
            rationale=self._reason(reading, reply) or "",
            evidence=evidence,
            confidence=reported_confidence(sure, reading.confidence),
            stated_confidence=reading.confidence,
            logprob_confidence=sure,
            expected_raw=None if chances is None else chances.expected_raw,
            logprob_mass=None if chances is None else chances.mass,
            judge=self.judge,
            model=reply.model,
            case_id=question.request.subject.case_id,
            variant=question.request.subject.variant,
            repeat=question.request.subject.repeat,
            cached=answer.spending.cached,
            cost_usd=_part(answer.spending.cost_usd, share),
            price_usd=_part(answer.spending.price_usd, share),
            usage=_usage(criterion, answer, question),
            n_calls=answer.spending.n_calls,
            duration_ms=reply.duration_ms,
            reply_key=reply.key or question.request.key,
            dropped_parameters=reply.dropped_parameters,
            flags=(*self.flags, *(("evidence_not_found",) if missing else ()), *unexplained),
        )

    def _failure(
        self,
        criterion: Criterion,
        answer: JudgeAnswer[_Readings],
        question: JudgeQuestion,
        reading: CriterionReply | None,
    ) -> JudgeFailure:
        declined = reading is not None and reading.cannot_assess
        said = None if reading is None else reading.rationale
        share = 1 / len(question.prompt.criteria)
        error = answer.error
        return JudgeFailure(
            criterion=criterion.name,
            kind="cannot_assess" if declined else answer.failure_kind,
            message=f"the judge cannot assess this: {said or 'no reason given'}"
            if declined
            else str(error),
            reason=error.reason if isinstance(error, ReplyFormatError) else None,
            case_id=question.request.subject.case_id,
            variant=question.request.subject.variant,
            repeat=question.request.subject.repeat,
            judge=self.judge,
            reply=None if answer.reply is None else answer.reply.text,
            cached=answer.spending.cached,
            cost_usd=_part(answer.spending.cost_usd, share),
            price_usd=_part(answer.spending.price_usd, share),
            usage=_usage(criterion, answer, question),
            n_calls=answer.spending.n_calls,
            reply_key=None if answer.reply is None else answer.reply.key or question.request.key,
        )

    def _distribution(self, criterion: Criterion, reply: ModelReply) -> ScoreDistribution | None:
        points = criterion.scale.points
        if reply.logprobs is None or points is None or self.header.asks != "criterion":
            return None
        return score_distribution(reply, points)


@dataclass(frozen=True, slots=True)
class Grader:
    """Asks one model with one template; knows nothing of caches, limits or files."""

    model: Model
    """Who is asked."""

    model_name: str
    """The model as it stands in requests: provider and name."""

    template: PromptTemplate
    """How it is asked."""

    parameters: JsonObject
    """Sampling parameters of every request."""

    api_base: str | None = None
    """The endpoint, where it is not the provider's own."""

    repeats: int = 1
    """How often each question is asked."""

    max_reasks: int = 2
    """How often an unreadable reply is asked again."""

    flags: tuple[str, ...] = ()
    """Marks that every judgment of this judge carries."""

    shelf: CachedModel | None = None
    """The model again, where it keeps replies: those that are owned are read without waiting."""

    _reader: JudgmentReader = field(init=False, repr=False)
    _asked: CalibratedPanel = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, value in self.parameters.items():
            try:
                canonical_json(_JSON.validate_python(value))
            except ValueError as error:
                raise SettingsError(
                    f"the parameter {name} cannot be sent as JSON: {value!r:.100}",
                    hint="use texts, finite numbers, true, false, lists, and dicts with text keys",
                ) from error
        frozen = Frozen(cast("dict[str, object]", self.parameters))
        object.__setattr__(self, "parameters", frozen)
        object.__setattr__(
            self, "_reader", JudgmentReader(self.template.header, self.id, self.flags)
        )
        asked = judge_configuration(
            self.id,
            self.parameters,
            repeats=self.repeats,
            asks_all=self.template.header.asks == "all",
        )
        object.__setattr__(self, "_asked", CalibratedPanel(judges=(asked,)))

    @property
    def id(self) -> str:
        """Model and template: `openai/gpt-4.1-mini pointwise/criterion@1f3c…`."""
        return f"{self.model_name} {self.template.id}"

    @property
    def asked(self) -> CalibratedPanel:
        """How it is asked: what a calibration is bound to."""
        return self._asked

    def questions(self, case: Case, output: Output, rubric: Rubric) -> list[JudgeQuestion]:
        """Everything that is asked about one output, repeats included."""
        prompts = self.template.prompts(case, output, rubric)
        judged = tuple(text for text in (judged_text(output), steps_text(output)) if text)
        return [
            JudgeQuestion(prompt, self._request(prompt, case, output, repeat), judged)
            for repeat in range(self.repeats)
            for prompt in prompts
        ]

    def begin(
        self, answers: Iterable[tuple[Case, Output]], rubric: Rubric
    ) -> Iterator[PendingGrading]:
        """Grade outputs as far as that goes without asking.

        With one look into the cache for all.
        """
        begun = [
            (case, output, [] if output.error is not None else self.questions(case, output, rubric))
            for case, output in answers
        ]
        replies = iter(self._owned([question for *_, asked in begun for question in asked]))
        for case, output, asked in begun:
            known = [self._known(question, next(replies)) for question in asked]
            yield PendingGrading(case, output, rubric, asked, known, self._result, self.asked)

    async def observe(
        self,
        case: Case,
        output: Output,
        rubric: Rubric,
        *,
        known: Collection[tuple[str, int]] = (),
    ) -> AsyncGenerator[tuple[JudgmentOutcome, ...], None]:
        """Ask about one output what is not known, and tell each answer as it comes."""
        if output.error is not None:
            return
        jobs = [
            self._result(question)
            for question in self.questions(case, output, rubric)
            if not all((c.name, question.repeat) in known for c in question.prompt.criteria)
        ]
        async with aclosing(stream_results(jobs)) as answered:
            async for found in answered:
                yield tuple(found)

    def _request(
        self, prompt: JudgePrompt, case: Case, output: Output, repeat: int
    ) -> ModelRequest:
        single = len(prompt.criteria) == 1 and self.template.header.asks == "criterion"
        return ModelRequest(
            model=self.model_name,
            messages=prompt.messages,
            parameters=self.parameters,
            reply_schema=prompt.reply_schema,
            api_base=self.api_base,
            shared_prefix=prompt.shared_prefix,
            subject=Subject(
                case_id=case.id,
                variant=output.variant,
                criterion=prompt.criteria[0].name if single else None,
                repeat=repeat,
            ),
        )

    def _owned(self, questions: Sequence[JudgeQuestion]) -> list[ModelReply | None]:
        if self.shelf is None:
            return [None] * len(questions)
        return self.shelf.owned([question.request for question in questions])

    def _known(
        self, question: JudgeQuestion, reply: ModelReply | None
    ) -> list[JudgmentOutcome] | None:
        """What the kept reply says, where there is one that can be read."""
        if self.shelf is None or reply is None:
            return None
        try:
            readings = self._reader.read(reply, question)
        except (RefusalError, ReplyFormatError):
            return None  # it is asked again, in other words
        self.shelf.took(reply)
        return self._reader.outcomes(
            JudgeAnswer(readings, None, reply, total_spending([reply])), question
        )

    async def _result(self, question: JudgeQuestion) -> list[JudgmentOutcome]:
        answer = await ask_judge(
            self.model,
            question.request,
            lambda reply: self._reader.read(reply, question),
            max_reasks=self.max_reasks,
            shelf=self.shelf,
        )
        return self._reader.outcomes(answer, question)


if TYPE_CHECKING:
    AskQuestion = Callable[[JudgeQuestion], Coroutine[object, object, list[JudgmentOutcome]]]


@dataclass(frozen=True, slots=True)
class PendingGrading:
    """The grading of one output, begun: what is owned is known, the rest is to be asked."""

    case: Case
    """What was to be answered."""

    output: Output
    """What was produced."""

    rubric: Rubric
    """How it is judged."""

    questions: Sequence[JudgeQuestion]
    """What is asked, in the rubric's order, repeat by repeat; nothing of an output in error."""

    answers: Sequence[list[JudgmentOutcome] | None]
    """What each question came to; None while it is open."""

    ask: AskQuestion
    """Asks one question."""

    asked: CalibratedPanel | None = None
    """How the judge is asked."""

    @property
    def verdict(self) -> Verdict | None:
        """What the rubric concludes; None while a question is open."""
        return None if None in self.answers else self._concluded(self.answers)

    async def finished(self) -> Verdict:
        """Ask what is open, and conclude."""
        paired = list(zip(self.questions, self.answers, strict=True))
        asked = iter(
            await gather_in_order([self.ask(each) for each, known in paired if known is None])
        )
        return self._concluded([next(asked) if known is None else known for _, known in paired])

    def _concluded(self, answers: Iterable[list[JudgmentOutcome] | None]) -> Verdict:
        said = [one for answer in answers for one in answer or ()]
        verdict = conclude(
            self.rubric,
            with_repeat_confidence([one for one in said if isinstance(one, Judgment)]),
            [one for one in said if isinstance(one, JudgeFailure)],
            case_id=self.case.id,
            variant=self.output.variant,
            error=self.output.error,
        )
        return verdict if self.asked is None else verdict.model_copy(update={"asked": self.asked})
