"""What a judge's answer about two outputs comes to: preferences, or failures in their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judgekit.errors import ReplyFormatError
from judgekit.judge.confidence import reported_confidence
from judgekit.judge.wording import asked_for_none, encodable, rationale_of
from judgekit.models.choice_logprobs import choice_distribution
from judgekit.prompts.evidence import locate_evidence
from judgekit.prompts.pair_schemas import OVERALL
from judgekit.prompts.replies.pair_forms import read_pair_form
from judgekit.prompts.replies.pair_json import read_preferences
from judgekit.records.comparison import Preference, PreferenceFailure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from judgekit.judge.asking import Answer
    from judgekit.judge.pair_questions import PairQuestion
    from judgekit.models.choice_logprobs import ChoiceDistribution
    from judgekit.models.request import ModelReply
    from judgekit.prompts.replies.formats import PairReplyFormat
    from judgekit.prompts.replies.preferences import PreferenceReply
    from judgekit.records.comparison import Slot
    from judgekit.records.judgment import Evidence

    Said = Preference | PreferenceFailure
    Readings = Mapping[str | None, PreferenceReply]

_LEADS = {
    "json": r'(?<!\\)"preference"\s*:\s*"',
    "brackets": r"\[\[",
    "stated": r"\A\s*Output \(",
    "choice": r"\A",
}
"""What stands before the choice, by the form of the reply; scores state none."""

_WORDS: Mapping[str, Slot] = {"first": "first", "second": "second", "tie": "tie"}


@dataclass(frozen=True, slots=True)
class PairReader:
    """Reads the replies of one judge."""

    reply_format: PairReplyFormat
    """The form the template asks for."""

    judge: str
    """Model and template."""

    flags: tuple[str, ...] = ()
    """Marks that every preference carries."""

    def read(self, reply: ModelReply, question: PairQuestion) -> Readings:
        """What a reply says for each thing that was asked."""
        form = self.reply_format
        readings: dict[str | None, PreferenceReply] = {}
        if form.kind == "json":
            keys = {OVERALL if name is None else name: name for name in question.asked}
            found = read_preferences(
                reply.text,
                list(keys),
                finish_reason=reply.finish_reason,
                judged_text=question.shown,
            )
            readings = {keys[key]: reading for key, reading in found.items()}
        else:
            readings[question.asked[0]] = read_pair_form(
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
        said = rationale_of(reading.rationale, reply.text)
        if said is None and not self.reply_format.asks_rationale:
            return asked_for_none(reply.text)
        return said

    def outcome(
        self, criterion: str | None, answer: Answer[Readings], question: PairQuestion
    ) -> Said:
        """What an answer comes to for one thing that was asked."""
        reading = None if answer.readings is None else answer.readings[criterion]
        if reading is None or answer.reply is None or reading.choice is None:
            return self._failure(criterion, answer, question, reading)
        first = _located(reading.evidence_first, question.shown[0])
        second = _located(reading.evidence_second, question.shown[1])
        chances = self._distribution(reading.choice, question, answer.reply)
        sure = None if chances is None else chances.confidence
        return Preference(
            **_asked(criterion, answer, question, self.judge),
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
        answer: Answer[Readings],
        question: PairQuestion,
        reading: PreferenceReply | None,
    ) -> PreferenceFailure:
        error = answer.error
        said = None if reading is None else reading.rationale
        return PreferenceFailure(
            **_asked(criterion, answer, question, self.judge),
            kind=answer.failure_kind if reading is None else "cannot_assess",
            message=str(error)
            if reading is None
            else f"the judge cannot compare the two: {said or 'no reason given'}",
            reason=error.reason if isinstance(error, ReplyFormatError) else None,
            reply=None if answer.reply is None else answer.reply.text,
        )

    def _distribution(
        self, made: Slot, question: PairQuestion, reply: ModelReply
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
    if rationale_of(reading.rationale, reply.text) is None:
        yield "no_rationale"


def _located(quotes: Iterable[str], text: str) -> tuple[Evidence, ...]:
    return locate_evidence([encodable(quote) for quote in quotes], text)


def _asked(
    criterion: str | None, answer: Answer[Readings], question: PairQuestion, judge: str
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
