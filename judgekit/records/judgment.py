"""What one judge said of one criterion of one output, or why it said nothing usable."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from judgekit.records.output import Usage
from judgekit.records.record import Count, Finite, Fraction, Name, Record

Source = Literal["llm", "human", "heuristic"]

FailureKind = Literal[
    "auth", "not_found", "bad_request", "rate_limited", "quota", "overloaded", "timeout",
    "connection", "protocol", "content_filter", "context_window", "empty", "truncated",
    "refusal", "unreadable", "cannot_assess", "budget", "frozen_miss", "cancelled",
    "target_error", "internal",
]  # fmt: skip
"""Why there is no judgment; a closed list, so that failures can be counted by kind."""


class Evidence(Record):
    """A passage the judge quotes from the output."""

    quote: Name
    """The passage as the judge gave it."""

    match: Literal["exact", "normalized"] | None = None
    """How it was found in the output: to the letter, or after folding white space and Unicode
    forms; None where it was not found."""

    start: Count | None = None
    """Where it begins in the output's text, in characters."""

    end: Count | None = None
    """Where it ends."""

    @property
    def found(self) -> bool:
        """Whether the output holds the passage."""
        return self.match is not None


class Judgment(Record):
    """One judge's score of one criterion of one output; no judgment is without a rationale."""

    criterion: Name
    """Name of the criterion."""

    raw: Finite
    """The score on the criterion's own scale."""

    value: Fraction
    """The score on [0, 1]."""

    rationale: Name
    """Why; never empty."""

    evidence: tuple[Evidence, ...] = ()
    """What the judge quotes, each marked found or not."""

    confidence: Fraction | None = None
    """How sure the judge is: the first there is of `repeat_confidence`, `logprob_confidence` and
    `stated_confidence`."""

    stated_confidence: Fraction | None = None
    """What the judge said of its own confidence."""

    logprob_confidence: Fraction | None = None
    """The probability of the given score among the scores of the scale, from log-probabilities."""

    expected_raw: Finite | None = None
    """The probability-weighted raw score, from log-probabilities."""

    logprob_mass: Fraction | None = None
    """How much probability fell on scores of the scale at all; a low mass is a warning."""

    repeat_confidence: Fraction | None = None
    """How well repeats agree: 1 minus the spread of their values, where there are repeats."""

    source: Source = "llm"
    """Who judged."""

    judge: str = ""
    """Which judge: model and template, or the person's name."""

    model: str | None = None
    """The model that answered, in the provider's own words."""

    case_id: str | None = None
    """The case that was answered."""

    variant: str | None = None
    """The variant that answered."""

    repeat: Count = 0
    """Which time the judge was asked, from 0."""

    cached: bool = False
    """Whether the reply was owned already, so that nothing was paid now."""

    cost_usd: Finite | None = None
    """What was paid now, re-asking included, in US dollars: 0 when cached, None when unknown."""

    price_usd: Finite | None = None
    """What the reply cost when it was bought, in US dollars; None when unknown."""

    usage: Usage | None = None
    """Tokens of the reply, re-asking included."""

    n_calls: Count = 1
    """Replies it took, unreadable ones included."""

    duration_ms: Finite | None = None
    """How long the judge took when the reply was bought, in milliseconds."""

    reply_key: str | None = None
    """The cache key of the reply the score was read from."""

    dropped_parameters: tuple[str, ...] = ()
    """Parameters the model refused, so that they were not sent."""

    flags: tuple[str, ...] = ()
    """Advisory marks (`evidence_not_found`, `degenerate_output`, `smoke_model`); none of them
    alters a score."""


class JudgeFailure(Record):
    """A judge gave no usable answer; counted, shown, left out of means, never 0."""

    criterion: Name
    """Name of the criterion."""

    kind: FailureKind
    """Why."""

    message: str
    """What happened and what to do."""

    reason: str | None = None
    """For an unreadable reply, what was wrong with it."""

    case_id: str | None = None
    """The case that was answered."""

    variant: str | None = None
    """The variant that answered."""

    repeat: Count = 0
    """Which time the judge was asked, from 0."""

    judge: str = ""
    """Which judge."""

    reply: str | None = None
    """The last reply, as it came."""

    cached: bool = False
    """Whether every reply was owned already."""

    cost_usd: Finite | None = None
    """What was paid now, in US dollars; None when unknown."""

    price_usd: Finite | None = None
    """What the replies cost when they were bought; None when unknown."""

    usage: Usage | None = None
    """Tokens of the replies."""

    n_calls: Annotated[int, Field(ge=0)] = 0
    """Replies it took."""

    reply_key: str | None = None
    """The cache key of the last reply."""
