"""Counts what one model would be asked: questions, replies owned, tokens, money, seconds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import fsum
from statistics import median
from typing import TYPE_CHECKING

from judgekit.models.tokens import count_messages
from judgekit.records.output import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.models.connecting import Connection
    from judgekit.models.request import ModelReply, ModelRequest
    from judgekit.records.rubric import Rubric

_LIKELY_REPLY_TOKENS = 180
"""A typical JSON answer to one criterion: evidence, three sentences and a score."""

_LONGEST_REPLY_TOKENS = 700
"""What an answer to one criterion rarely exceeds, where no limit was set."""

_ENOUGH_REPLIES = 10
"""So many owned replies say better than any assumption how long the next ones will be."""

_LOOK_EVERY = 50
"""Where tokens are told from characters, every so many requests are counted in full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Calls with their tokens and what they cost."""

    calls: int
    """Calls."""

    input_tokens: int
    """Tokens sent."""

    output_tokens: int
    """Tokens that come back."""

    price_usd: float | None
    """US dollars; None where the price is not known."""


@dataclass(frozen=True, slots=True)
class Length:
    """How long texts are, in tokens."""

    likely: float
    """On average."""

    most: float
    """What they rarely exceed."""


@dataclass(slots=True)
class _Sum:
    """Calls of one scenario, added up."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    unread: Counter[str] = field(default_factory=Counter)
    """Calls that show a judge an output that is not there yet, by variant."""

    def add(self, n: int, sent: int, back: int, unread: str | None) -> None:
        self.calls += n
        self.input_tokens += n * sent
        self.output_tokens += n * back
        if unread is not None:
            self.unread[unread] += n


@dataclass(slots=True)
class Counting:
    """What one model would be asked, counted question by question.

    Two scenarios are counted: what is likely, and what may be at most.
    """

    connection: Connection
    """The way to the model."""

    refresh: bool = False
    """Whether replies that are owned would be asked anew."""

    asks_once: bool = True
    """Whether equal questions are asked once, as a cache does it."""

    n_exact: int | None = None
    """So many requests have their tokens counted one by one, and of the others every fiftieth; the
    rest is told from their characters. None counts all."""

    seen: set[str] = field(default_factory=set)
    """Keys of the questions so far; may be shared with others that ask the same model."""

    n_questions: int = 0
    """Questions; equal ones count once where they are asked once."""

    n_owned: int = 0
    """Of them, replies that are owned already."""

    saved_usd: float = 0.0
    """What the owned replies cost when they were bought, as far as known."""

    counted_by: str = "none"
    """How the tokens were counted."""

    _likely: _Sum = field(default_factory=_Sum)
    _most: _Sum = field(default_factory=_Sum)
    _durations_s: list[float] = field(default_factory=list)
    _reply_tokens: list[int] = field(default_factory=list)
    _n_sent: int = 0
    _counted_characters: int = 0
    _counted_tokens: int = 0

    def take(
        self,
        request: ModelRequest,
        back: tuple[int, int],
        *,
        is_likely: bool = True,
        n_again: int = 0,
        unread: str | None = None,
    ) -> ModelReply | None:
        """Count a question."""
        is_seen = unread is None and self.asks_once and request.key in self.seen
        reply = None if unread is not None or self.refresh else self.connection.owned(request)
        if not is_seen:
            self.n_questions += 1
            self.seen.update(() if unread is not None else (request.key,))
            self._own(reply)
        is_asked = not is_seen and reply is None
        if is_asked or n_again:
            sent = self._tokens(request)
            if is_asked and is_likely:
                self._likely.add(1, sent, back[0], unread)
            self._most.add(is_asked + n_again, sent, back[1], unread)
        return reply

    @property
    def n_calls(self) -> int:
        """Calls that are likely made, if every reply is readable at first."""
        return self._likely.calls

    @property
    def latency_s(self) -> float | None:
        """How long a call typically takes, in seconds; None where no owned reply says so."""
        return median(self._durations_s) if self._durations_s else None

    @property
    def n_latencies(self) -> int:
        """How many owned replies say how long they took."""
        return len(self._durations_s)

    @property
    def reply_length(self) -> Length | None:
        """How long owned replies are; None where there are too few to tell."""
        known = self._reply_tokens
        return Length(fsum(known) / len(known), max(known)) if self._has_enough else None

    def likely(
        self,
        lengths: Mapping[str, Length] | None = None,
        *,
        reply: Length | None = None,
        scale: float = 1.0,
    ) -> Load:
        """What is likely asked."""
        found = self._likely
        unread = fsum(n * (lengths or {})[name].likely for name, n in found.unread.items())
        known = self.reply_length or reply
        back = found.output_tokens if known is None else found.calls * known.likely
        return self._load(found.calls, found.input_tokens + unread, back, scale)

    def most(
        self,
        lengths: Mapping[str, Length] | None = None,
        *,
        reply: Length | None = None,
        scale: float = 1.0,
    ) -> Load:
        """What may be asked at most."""
        found = self._most
        longest = [length.most for length in (self.reply_length, reply) if length is not None]
        unread = fsum(n * (lengths or {})[name].most for name, n in found.unread.items())
        back = max(found.calls * max(longest, default=0.0), found.output_tokens)
        return self._load(found.calls, found.input_tokens + unread, back, scale)

    @property
    def _has_enough(self) -> bool:
        return len(self._reply_tokens) >= _ENOUGH_REPLIES

    def _own(self, reply: ModelReply | None) -> None:
        if reply is None:
            return
        self.n_owned += 1
        self.saved_usd += reply.cost_usd or 0.0
        if reply.duration_ms is not None:
            self._durations_s.append(reply.duration_ms / 1000)
        if reply.usage is not None and reply.usage.output_tokens:
            self._reply_tokens.append(reply.usage.output_tokens)

    def _tokens(self, request: ModelRequest) -> int:
        self._n_sent += 1
        characters = sum(len(message["content"]) for message in request.messages)
        is_exact = self.n_exact is None or self._n_sent <= self.n_exact
        if is_exact or self._n_sent % _LOOK_EVERY == 0 or not self._counted_characters:
            counted = count_messages(request.messages, request.model)
            self.counted_by = counted.source
            self._counted_characters += characters
            self._counted_tokens += counted.n
            return counted.n
        return round(characters * self._counted_tokens / self._counted_characters)

    def _load(self, calls: int, sent: float, back: float, scale: float) -> Load:
        n, tokens_sent, tokens_back = round(calls * scale), round(sent * scale), round(back * scale)
        return Load(
            calls=n,
            input_tokens=tokens_sent,
            output_tokens=tokens_back,
            price_usd=_price(self.connection, n, tokens_sent, tokens_back),
        )


def judge_reply_tokens(request: ModelRequest, rubric: Rubric) -> tuple[int, int]:
    """How many tokens a judge's reply has."""
    asked = 1 if request.subject.criterion is not None else len(rubric.criteria)
    return reply_tokens(request, asked)


def reply_tokens(request: ModelRequest, asked: int) -> tuple[int, int]:
    """How many tokens a reply to so many questions has."""
    limit = request.parameters.get("max_tokens")
    longest = limit if isinstance(limit, int) else _LONGEST_REPLY_TOKENS * asked
    return min(_LIKELY_REPLY_TOKENS * asked, longest), longest


def _price(connection: Connection, calls: int, sent: int, back: int) -> float | None:
    """What calls cost; those of one plan are charged as calls of their mean size."""
    if not calls:
        return 0.0
    price = connection.prices.price(
        connection.name, input_tokens=sent // calls, api_base=connection.api_base
    )
    return None if price is None else price.cost(Usage(input_tokens=sent, output_tokens=back))
