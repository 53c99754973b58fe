"""Grades one output: prompts to requests, answers to judgments and failures."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue, TypeAdapter

from judgekit.errors import RefusalError, ReplyFormatError, SettingsError
from judgekit.fingerprint import Frozen, canonical_json
from judgekit.judge.asking import Answer, ask, spending
from judgekit.judge.confidence import reported_confidence, with_repeat_confidence
from judgekit.judge.gathering import as_answered, gathered
from judgekit.judge.wording import encodable, rationale_of
from judgekit.models.logprobs import score_distribution
from judgekit.models.request import ModelRequest, Subject
from judgekit.prompts.evidence import locate_evidence
from judgekit.prompts.rendering import judged_text, steps_text
from judgekit.prompts.replies import read_formatted, read_reply
from judgekit.records.judgment import JudgeFailure, Judgment

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Mapping

    from judgekit.models.caching import CachedModel
    from judgekit.models.logprobs import ScoreDistribution
    from judgekit.models.request import Model, ModelReply
    from judgekit.prompts.rendering import Prompt, PromptTemplate
    from judgekit.prompts.replies import CriterionReply
    from judgekit.records.case import Case
    from judgekit.records.output import Output, Usage
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Criterion, Rubric

    Readings = Mapping[str, CriterionReply]

_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt about one output, asked for one repeat."""

    prompt: Prompt
    """What is asked."""

    request: ModelRequest
    """How it is sent."""

    judged: tuple[str, ...]
    """The texts under judgment; a verdict that stands in them is no verdict."""

    @property
    def repeat(self) -> int:
        """Which time it is asked, from 0."""
        return self.request.subject.repeat


@dataclass(frozen=True, slots=True)
class Grader:
    """Asks one model with one template; knows nothing of caches, limits or files.

    Raises:
        SettingsError: When a parameter is not JSON; no request checks that again.
    """

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

    @property
    def id(self) -> str:
        """Model and template: `openai/gpt-4.1-mini pointwise/criterion@1f3c…`."""
        return f"{self.model_name} {self.template.id}"

    def questions(self, case: Case, output: Output, rubric: Rubric) -> list[Question]:
        """Everything that is asked about one output, repeats included.

        Args:
            case: What was to be answered.
            output: What was produced.
            rubric: How it is judged.

        Returns:
            Questions in the rubric's order, repeat by repeat.

        Raises:
            TemplateError: When the template does not fit the output or the rubric.
        """
        prompts = self.template.prompts(case, output, rubric)
        judged = tuple(text for text in (judged_text(output), steps_text(output)) if text)
        return [
            Question(prompt, self._request(prompt, case, output, repeat), judged)
            for repeat in range(self.repeats)
            for prompt in prompts
        ]

    async def grade(
        self, case: Case, output: Output, rubric: Rubric
    ) -> tuple[tuple[Judgment, ...], tuple[JudgeFailure, ...]]:
        """Ask everything about one output.

        Args:
            case: What was to be answered.
            output: What was produced.
            rubric: How it is judged.

        Returns:
            Judgments and failures; together one for each criterion and repeat.

        Raises:
            TemplateError: When the template does not fit the output or the rubric.
        """
        questions = self.questions(case, output, rubric)
        owned = [self._owned(question) for question in questions]
        if None in owned:
            asked = await gathered(
                [
                    self._result(q)
                    for q, known in zip(questions, owned, strict=True)
                    if known is None
                ]
            )
            left = iter(asked)
            results = [next(left) if known is None else known for known in owned]
        else:
            results = cast("list[list[Judgment | JudgeFailure]]", owned)
        judgments = [found for result in results for found in result if isinstance(found, Judgment)]
        failures = [f for result in results for f in result if isinstance(f, JudgeFailure)]
        return with_repeat_confidence(judgments), tuple(failures)

    async def observe(
        self,
        case: Case,
        output: Output,
        rubric: Rubric,
        *,
        known: Collection[tuple[str, int]] = (),
    ) -> AsyncGenerator[tuple[Judgment | JudgeFailure, ...], None]:
        """Ask about one output what is not known, and tell each answer as it comes.

        Args:
            case: What was to be answered.
            output: What was produced; of one with an error nothing is asked.
            rubric: How it is judged.
            known: Criterion and repeat of what was said before. A question is left out when all
                it asks for is known.

        Yields:
            What one question came to, a judgment or failure for each of its criteria, in the
            order of the answers; without `repeat_confidence`, which needs all repeats.

        Raises:
            TemplateError: When the template does not fit the output or the rubric.
        """
        if output.error is not None:
            return
        jobs = [
            self._result(question)
            for question in self.questions(case, output, rubric)
            if not all((c.name, question.repeat) in known for c in question.prompt.criteria)
        ]
        async with aclosing(as_answered(jobs)) as answered:
            async for found in answered:
                yield tuple(found)

    def _request(self, prompt: Prompt, case: Case, output: Output, repeat: int) -> ModelRequest:
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

    def _owned(self, question: Question) -> list[Judgment | JudgeFailure] | None:
        """What the kept reply says, where there is one that can be read; nothing is waited for."""
        shelf = self.shelf
        reply = None if shelf is None else shelf.owned(question.request)
        if shelf is None or reply is None:
            return None
        try:
            readings = self._read(reply, question)
        except (RefusalError, ReplyFormatError):
            return None  # it is asked again, in other words
        shelf.took(reply)
        answer = Answer(readings, None, reply, spending([reply]))
        return [
            self._outcome(criterion, answer, question) for criterion in question.prompt.criteria
        ]

    async def _result(self, question: Question) -> list[Judgment | JudgeFailure]:
        answer = await ask(
            self.model,
            question.request,
            lambda reply: self._read(reply, question),
            max_reasks=self.max_reasks,
        )
        return [
            self._outcome(criterion, answer, question) for criterion in question.prompt.criteria
        ]

    def _read(self, reply: ModelReply, question: Question) -> Readings:
        criteria, reply_format = question.prompt.criteria, self.template.header.reply
        if reply_format.kind == "json":
            readings = read_reply(
                reply.text,
                criteria,
                finish_reason=reply.finish_reason,
                judged_text=question.judged,
            )
        else:
            reading = read_formatted(
                reply.text,
                criteria[0],
                reply_format=reply_format,
                finish_reason=reply.finish_reason,
                judged_text=question.judged,
            )
            readings = {criteria[0].name: reading}
        for name, found in readings.items():
            if found.raw is not None and rationale_of(found.rationale, reply.text) is None:
                raise ReplyFormatError(
                    f"Give a rationale for {name!r}: a score without one is not valid.",
                    reason="no_rationale",
                    reply=reply.text,
                )
        return readings

    def _outcome(
        self, criterion: Criterion, answer: Answer[Readings], question: Question
    ) -> Judgment | JudgeFailure:
        reading = None if answer.readings is None else answer.readings[criterion.name]
        if reading is None or answer.reply is None or reading.raw is None:
            return self._failure(criterion, answer, question, reading)
        return self._judgment(criterion, answer, question, reading, reading.raw, answer.reply)

    def _judgment(
        self,
        criterion: Criterion,
        answer: Answer[Readings],
        question: Question,
        reading: CriterionReply,
        raw: float,
        reply: ModelReply,
    ) -> Judgment:
        share = 1 / len(question.prompt.criteria)
        quotes = [encodable(quote) for quote in reading.evidence]
        evidence = locate_evidence(quotes, "\n".join(question.judged))
        chances = self._distribution(criterion, reply)
        sure = None if chances is None else chances.confidence
        missing = any(not found.found for found in evidence)
        return Judgment(
            criterion=criterion.name,
            raw=raw,
            value=criterion.scale.value_of(raw),
            rationale=rationale_of(reading.rationale, reply.text) or "",
            evidence=evidence,
            confidence=reported_confidence(sure, reading.confidence),
            stated_confidence=reading.confidence,
            logprob_confidence=sure,
            expected_raw=None if chances is None else chances.expected_raw,
            logprob_mass=None if chances is None else chances.mass,
            judge=self.id,
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
            flags=(*self.flags, *(("evidence_not_found",) if missing else ())),
        )

    def _failure(
        self,
        criterion: Criterion,
        answer: Answer[Readings],
        question: Question,
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
            judge=self.id,
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
        if reply.logprobs is None or points is None or self.template.header.asks != "criterion":
            return None
        return score_distribution(reply, points)


def _usage(criterion: Criterion, answer: Answer[Readings], question: Question) -> Usage | None:
    """Tokens of a reply to several criteria stand with the first, so that sums are right."""
    return answer.spending.usage if criterion is question.prompt.criteria[0] else None


def _part(amount: float | None, share: float) -> float | None:
    return None if amount is None else amount * share
