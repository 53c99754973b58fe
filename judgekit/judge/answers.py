"""What a judge's answer about one output comes to: judgments, or failures in their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.errors import ReplyFormatError
from judgekit.judge.confidence import reported_confidence
from judgekit.judge.wording import asked_for_none, encodable, rationale_of
from judgekit.models.logprobs import score_distribution
from judgekit.prompts.evidence import locate_evidence
from judgekit.prompts.replies import read_formatted, read_reply
from judgekit.records.judgment import JudgeFailure, Judgment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.judge.asking import Answer
    from judgekit.judge.questions import Question
    from judgekit.models.logprobs import ScoreDistribution
    from judgekit.models.request import ModelReply
    from judgekit.prompts.replies import CriterionReply
    from judgekit.prompts.templates import TemplateHeader
    from judgekit.records.output import Usage
    from judgekit.records.rubric import Criterion

    Said = Judgment | JudgeFailure
    Readings = Mapping[str, CriterionReply]


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the replies of one judge."""

    header: TemplateHeader
    """What the template says of the replies it asks for."""

    judge: str
    """Model and template."""

    flags: tuple[str, ...] = ()
    """Marks that every judgment carries."""

    def read(self, reply: ModelReply, question: Question) -> Readings:
        """What a reply says of each criterion that was asked about."""
        criteria, reply_format = question.prompt.criteria, self.header.reply
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
            if found.raw is not None and self._reason(found, reply) is None:
                raise ReplyFormatError(
                    f"Give a rationale for {name!r}: a score without one is not valid.",
                    reason="no_rationale",
                    reply=reply.text,
                )
        return readings

    def _reason(self, reading: CriterionReply, reply: ModelReply) -> str | None:
        said = rationale_of(reading.rationale, reply.text)
        if said is None and not self.header.reply.asks_rationale:
            return asked_for_none(reply.text)
        return said

    def outcomes(self, answer: Answer[Readings], question: Question) -> list[Said]:
        """What an answer comes to, criterion by criterion."""
        return [self._outcome(c, answer, question) for c in question.prompt.criteria]

    def _outcome(self, criterion: Criterion, answer: Answer[Readings], question: Question) -> Said:
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
        is_bare = rationale_of(reading.rationale, reply.text) is None
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


def _usage(criterion: Criterion, answer: Answer[Readings], question: Question) -> Usage | None:
    """Tokens of a reply to several criteria stand with the first, so that sums are right."""
    return answer.spending.usage if criterion is question.prompt.criteria[0] else None


def _part(amount: float | None, share: float) -> float | None:
    return None if amount is None else amount * share
