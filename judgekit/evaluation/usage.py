"""Sums up what the replies of judges cost, who answered, and what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from judgekit import records  # loaded when used: most answers are not about pairs
from judgekit.records import JudgeFailure, Judgment

if TYPE_CHECKING:
    from judgekit.records import PairAnswer, Preference, PreferenceFailure

AnswerT = TypeVar("AnswerT", bound="Judgment | JudgeFailure | PairAnswer")


@dataclass(frozen=True, slots=True)
class JudgeUsage:
    """What was asked and what it cost.

    Attributes:
        n_replies: Replies that were used, cached ones included.
        saved_usd: What the cached replies cost when they were fetched, as far as known.
        cost_unknown: Whether some of what was paid now has no known price.
        input_tokens: Tokens sent for replies paid now.
    """

    n_replies: int = 0
    n_cached: int = 0
    cost_usd: float = 0.0
    saved_usd: float = 0.0
    cost_unknown: bool = False
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: JudgeUsage) -> JudgeUsage:
        return JudgeUsage(
            n_replies=self.n_replies + other.n_replies,
            n_cached=self.n_cached + other.n_cached,
            cost_usd=self.cost_usd + other.cost_usd,
            saved_usd=self.saved_usd + other.saved_usd,
            cost_unknown=self.cost_unknown or other.cost_unknown,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


def one_per_reply(answers: Iterable[AnswerT]) -> list[AnswerT]:
    """One judgment, preference or failure for each reply of a judge."""
    # In joint mode the answers to all criteria share one reply: its calls count once.
    return list({_reply_id(one, place): one for place, one in enumerate(answers)}.values())


def judge_usage(answers: Sequence[Judgment | JudgeFailure | PairAnswer]) -> JudgeUsage:
    """What answers took; questions that share a reply (joint mode) share its cost already."""
    replies = one_per_reply(answers)
    paid = [item for item in answers if not item.cached and item.n_calls]
    return JudgeUsage(
        n_replies=sum(item.n_calls for item in replies),
        n_cached=sum(item.n_calls for item in replies if item.cached),
        cost_usd=sum(item.cost_usd or 0.0 for item in paid),
        saved_usd=sum(item.price_usd or 0.0 for item in answers if item.cached),
        cost_unknown=any(item.cost_usd is None for item in paid),
        input_tokens=sum(item.usage.input_tokens for item in paid if item.usage),
        output_tokens=sum(item.usage.output_tokens for item in paid if item.usage),
    )


class JudgeTally:
    """Who answered, what failed, and what that cost."""

    def __init__(self) -> None:
        # Dicts, since the order of first appearance is reported.
        self.judges: dict[str, None] = {}
        self.models: dict[str, None] = {}
        self.failures: Counter[str] = Counter()
        self.messages: dict[str, str] = {}
        self.flags: Counter[str] = Counter()
        self.spent = JudgeUsage()

    def take(
        self, answers: Sequence[Judgment | JudgeFailure | Preference | PreferenceFailure]
    ) -> None:
        self.spent += judge_usage(answers)
        for one in answers:
            self.judges[one.judge] = None
            if not isinstance(one, Judgment) and isinstance(
                one, JudgeFailure | records.PreferenceFailure
            ):
                self.failures[one.kind] += 1
                self.messages.setdefault(one.kind, one.message)
                continue
            self.flags.update(one.flags)
            if one.model:
                self.models[one.model] = None


def _reply_id(one: Judgment | JudgeFailure | PairAnswer, place: int) -> tuple[object, ...]:
    """What identifies the reply of an answer; without a key each answer has its own."""
    if one.reply_key is None:
        return (place,)
    # One cached reply can serve two outputs with the same text, so the key alone is not enough.
    about = one.variant if isinstance(one, Judgment | JudgeFailure) else one.order
    return one.reply_key, one.case_id, about, one.repeat
