"""Estimates what one judge or model would be asked, and its cost (whole suites: `planner`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import fsum
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from judgekit import batches  # loaded when used: most models have none
from judgekit.errors import RefusalError, ReplyFormatError
from judgekit.fingerprint import canonical_part
from judgekit.judge import Panel
from judgekit.models import Budget, Connection, count_messages, count_tokens
from judgekit.models.budget import MOST_OUTPUT_TOKENS, BudgetedModel
from judgekit.models.pricing import ModelPrice, PriceTable, can_batch, listed_facts, most_cost
from judgekit.models.request import IMAGE_TOKENS, ModelReply, ModelRequest, output_limit
from judgekit.records import Case, Output, Rubric, Usage

if TYPE_CHECKING:
    from judgekit.evaluation.pairing import OutputPair, QuestionChoice
    from judgekit.judge import Judge

Sufficiency = Literal["at_most", "likely", "short"]
"""Whether a cost limit suffices in any case, likely, or likely not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePlan:
    """What one judge would be asked.

    Attributes:
        n_questions: Questions, repeats included; with a cache, identical ones count once.
        n_owned: Of them, replies that the cache holds already.
        n_shared: Further questions, each answered by the reply to an identical one.
        input_tokens: Tokens that would be sent for replies not in the cache.
        output_tokens: Tokens that would come back: likely, and at most.
        price_usd: What it would cost, likely and at most, in US dollars; None where the price is
            unknown.
        saved_usd: What the cached replies cost when they were fetched, as far as known.
        reserved_usd: What a limit of money sets aside before the dearest call.
    """

    n_questions: int
    n_owned: int
    n_shared: int
    model: str
    template: str
    input_tokens: int
    output_tokens: tuple[int, int]
    token_source: str
    price_usd: tuple[float, float] | None
    saved_usd: float
    reserved_usd: float = 0.0
    # As `price_usd`, in batches
    batch_usd: tuple[float, float] | None = None

    @property
    def n_calls(self) -> int:
        """Calls that would be made, if every reply is readable at first."""
        return self.n_questions - self.n_owned

    def sufficiency(self, max_cost_usd: float | None) -> Sufficiency | None:
        """Whether a limit suffices; None if there is none, or if the price is unknown."""
        if max_cost_usd is None or self.price_usd is None:
            return None
        loads = [(usd, self.n_calls) for usd in self.price_usd]
        return limit_sufficiency(max_cost_usd, loads, self.reserved_usd)


def limit_sufficiency(
    limit_usd: float, loads: Sequence[tuple[float, int]], reserved_usd: float
) -> Sufficiency:
    """Whether a limit suffices for the price of the calls that are likely, and at most."""
    # The last call is refused where less is left than it may cost, whatever it does cost.
    likely, most = (max(usd, usd - usd / n + reserved_usd) if n else usd for usd, n in loads)
    if likely > limit_usd:
        return "short"
    return "at_most" if most <= limit_usd else "likely"


@dataclass(frozen=True, slots=True, kw_only=True)
class GradePlan(JudgePlan):
    """What a grading would ask.

    Attributes:
        joint: What `mode="joint"` would ask instead; None where that saves no call.
    """

    n_outputs: int
    # Outputs that are errors of the system under test
    n_skipped: int
    joint: CallLoad | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPlan(JudgePlan):
    """What a comparison would ask, each pair in both orders."""

    n_pairs: int
    # Of them, pairs of the same text: ties, nobody is asked
    n_identical: int
    # Of them, pairs with an output that is an error; they are not judged
    n_skipped: int


def plan_grading(
    judge: Judge, answers: Iterable[tuple[Case, Output, Rubric]], *, refresh: bool = False
) -> GradePlan:
    """Estimate the calls and cost of grading each output by its rubric; makes no calls."""
    n_outputs = n_skipped = 0
    counting = _counter(judge.connection, refresh=refresh)
    joint = replace(_counter(judge.connection, refresh=refresh), n_exact=_N_EXACT)
    waiting: list[tuple[Case, Output, Rubric]] = []
    for case, output, rubric in answers:
        n_outputs += 1
        n_skipped += output.error is not None
        for request in judge.requests(case, output, rubric):
            counting.take(request, estimate_judge_reply_tokens(request, rubric))
        # Joint calls can only be fewer where there are calls at all, and counting their tokens
        # loads a tokenizer, which takes as long as all else in a short plan.
        waiting.append((case, output, rubric))
        if counting.n_calls or len(waiting) >= _MOST_WAITING:
            for each in waiting:
                take_joint(joint, judge, *each)
            waiting.clear()
    return GradePlan(
        n_outputs=n_outputs,
        n_skipped=n_skipped,
        joint=counting.fewer_calls(joint),
        template=judge.template.id,
        **judge_plan_fields([counting]),
    )


def take_joint(
    counting: RequestCounter,
    judge: Judge,
    case: Case,
    output: Output,
    rubric: Rubric,
    *,
    unread: Sequence[str] = (),
) -> None:
    """Count what a judge that asks criterion by criterion would ask in one call for all."""
    if judge.joint_grader is not None:
        for question in judge.joint_grader.questions(case, output, rubric):
            back = estimate_judge_reply_tokens(question.request, rubric)
            counting.take(question.request, back, unread=unread)


def plan_comparison(
    judge: Judge | Panel,
    pairs: Iterable[OutputPair],
    rubric: Rubric,
    *,
    names: Iterable[str] = (),
    refresh: bool = False,
    choice: QuestionChoice = lambda _, questions: [*questions],
) -> ComparisonPlan:
    """Estimate the calls and cost of comparing pairs in both orders; makes no calls."""
    n_pairs = n_identical = n_skipped = 0
    panel, hidden_names = Panel.of(judge), tuple(names)
    # One counter per judge, because each has its own price, its own cache keys and its own
    # tokenizer.
    countings = [_counter(one.connection, refresh=refresh) for one in panel.judges]
    for pair in pairs:
        n_pairs += 1
        # Skipped in the plan for the same reason as in the comparison: an error is never shown to a
        # judge.
        if pair.a.error is not None or pair.b.error is not None:
            n_skipped += 1
            continue
        blind = panel.comparers[0].blind_pair(pair.a, pair.b, hidden_names)
        n_identical += blind.is_identical
        for counting, comparer in zip(countings, panel.comparers, strict=True):
            for question in choice(pair, comparer.questions(pair.case, blind, rubric)):
                back = estimate_reply_tokens(question.request, len(question.criteria))
                counting.take(question.request, back)
    return ComparisonPlan(
        n_pairs=n_pairs,
        n_identical=n_identical,
        n_skipped=n_skipped,
        template=", ".join(dict.fromkeys(comparer.template.id for comparer in panel.comparers)),
        **judge_plan_fields(countings),
    )


def _counter(connection: Connection, *, refresh: bool) -> RequestCounter:
    return RequestCounter(connection, refresh, asks_once=connection.cache is not None)


def judge_plan_fields(countings: Sequence[RequestCounter]) -> dict[str, Any]:
    likely, most = [one.likely() for one in countings], [one.most() for one in countings]

    def total(name: str) -> tuple[float, float] | None:
        # One unknown price makes the total unknown; a sum without it would be too low, and it
        # limits money.
        usd = [[getattr(load, name) for load in loads] for loads in (likely, most)]
        return None if None in usd[0] + usd[1] else (fsum(usd[0]), fsum(usd[1]))

    return {
        "n_questions": sum(one.n_questions for one in countings),
        "n_shared": sum(one.n_shared for one in countings),
        "n_owned": sum(one.n_owned for one in countings),
        "model": ", ".join(one.connection.name for one in countings),
        "input_tokens": sum(load.input_tokens for load in likely),
        "output_tokens": (
            sum(load.output_tokens for load in likely),
            sum(load.output_tokens for load in most),
        ),
        "token_source": ", ".join(dict.fromkeys(one.counted_by for one in countings)),
        "price_usd": total("price_usd"),
        "saved_usd": fsum(one.saved_usd for one in countings),
        "reserved_usd": max((one.reserved_usd() for one in countings), default=0.0),
        "batch_usd": total("batch_usd"),
    }


# A typical JSON answer to one criterion: evidence, three sentences and a score.
_LIKELY_REPLY_TOKENS = 180
# What an answer to one criterion rarely exceeds, where no limit was set.
_LONGEST_REPLY_TOKENS = 700
# What an image may count as beyond `IMAGE_TOKENS`.
_MORE_PER_IMAGE = 1_500
# From this many cached replies on, their length predicts the next better than a default.
_ENOUGH_REPLIES = 10
# So many outputs are held until a call is known to be needed.
_MOST_WAITING = 1000
# So many requests of a comparison of modes have their tokens counted one by one.
_N_EXACT = 400
# Where tokens are estimated from characters, one request in this many is counted in full.
_LOOK_EVERY = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLoad:
    """Calls with their tokens and what they cost."""

    calls: int
    input_tokens: int
    output_tokens: int
    price_usd: float | None
    # The same in batches; None where there are none
    batch_usd: float | None = None


@dataclass(frozen=True, slots=True)
class TextLength:
    """How long texts are, in tokens."""

    likely: float
    # What they rarely exceed
    most: float


@dataclass(slots=True)
class _Sum:
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    unread: Counter[str] = field(default_factory=Counter)

    def add(self, n: int, sent: int, back: int, unread: Sequence[str]) -> None:
        self.calls += n
        self.input_tokens += n * sent
        self.output_tokens += n * back
        for name in unread:
            self.unread[name] += n


@dataclass(slots=True)
class RequestCounter:
    """What one model would be asked, counted question by question.

    Two scenarios are counted: what is likely, and what may be at most.

    Attributes:
        n_exact: So many requests have their tokens counted one by one, and of the others every
            fiftieth; the rest is estimated from their characters. None counts all.
        known_keys: Keys of the questions so far; may be shared with others that ask the same model.
        asks_once: Whether identical questions are asked once, as a cache does it.
        n_questions: Questions; identical ones count once where they are asked once.
        n_shared: Further questions, each answered by the reply to an identical one.
    """

    connection: Connection
    refresh: bool = False
    asks_once: bool = True
    n_exact: int | None = None
    known_keys: set[str] = field(default_factory=set)
    n_questions: int = 0
    n_shared: int = 0
    n_owned: int = 0
    saved_usd: float = 0.0
    counted_by: str = "none"
    _likely: _Sum = field(default_factory=_Sum)
    _most: _Sum = field(default_factory=_Sum)
    _durations_s: list[float] = field(default_factory=list)
    _reply_tokens: list[int] = field(default_factory=list)
    _n_sent: int = 0
    _counted_characters: int = 0
    _counted_tokens: int = 0
    # The longest request that is sent, and its tokens
    _longest: ModelRequest | None = None
    _longest_tokens: int = 0

    def take(
        self,
        request: ModelRequest,
        back: tuple[int, int],
        *,
        is_likely: bool = True,
        n_again: int = 0,
        unread: Sequence[str] = (),
        read: Callable[[ModelReply], object] | None = None,
    ) -> ModelReply | None:
        # Identical requests are one call where a cache answers the second. Texts that are not known
        # yet (`unread` names their variants) have no key.
        is_seen = not unread and self.asks_once and request.key in self.known_keys
        self.n_shared += is_seen
        reply = None if unread or self.refresh else self.connection.cached_reply(request)
        if reply is not None and read is not None:
            try:
                read(reply)
            except (RefusalError, ReplyFormatError):
                reply = None  # it is fetched again
        if not is_seen:
            self.n_questions += 1
            self.known_keys.update(() if unread else (request.key,))
            if reply is not None:
                self._take_cached(reply)
        # Tries after a failure can be needed even where the first reply is cached.
        is_asked = not is_seen and reply is None
        if is_asked or n_again:
            sent = self._tokens(request)
            if is_asked and is_likely:
                self._likely.add(1, sent, back[0], unread)
            sent += len(request.images) * _MORE_PER_IMAGE
            self._most.add(is_asked + n_again, sent, back[1], unread)
        return reply

    @property
    def n_calls(self) -> int:
        """Calls that are likely made, if every reply is readable at first."""
        return self._likely.calls

    @property
    def latency_s(self) -> float | None:
        """How long a call typically takes, in seconds; None without a cached reply that has it."""
        return median(self._durations_s) if self._durations_s else None

    @property
    def n_latencies(self) -> int:
        return len(self._durations_s)

    @property
    def reply_length(self) -> TextLength | None:
        """How long cached replies are; None where there are too few."""
        known = self._reply_tokens
        has_enough = len(known) >= _ENOUGH_REPLIES
        return TextLength(fsum(known) / len(known), max(known)) if has_enough else None

    def likely(
        self,
        lengths: Mapping[str, TextLength] | None = None,
        *,
        reply: TextLength | None = None,
        scale: float = 1.0,
    ) -> CallLoad:
        found = self._likely
        unread = fsum(n * (lengths or {})[name].likely for name, n in found.unread.items())
        known = self.reply_length or reply
        # Measured lengths of this model's replies come before the assumed ones.
        back = found.output_tokens if known is None else found.calls * known.likely
        return self._load(found.calls, found.input_tokens + unread, back, scale)

    def most(
        self,
        lengths: Mapping[str, TextLength] | None = None,
        *,
        reply: TextLength | None = None,
        scale: float = 1.0,
    ) -> CallLoad:
        found = self._most
        longest = [length.most for length in (self.reply_length, reply) if length is not None]
        unread = fsum(n * (lengths or {})[name].most for name, n in found.unread.items())
        back = max(found.calls * max(longest, default=0.0), found.output_tokens)
        return self._load(found.calls, found.input_tokens + unread, back, scale, is_most=True)

    def reserved_usd(self, n_unread: float = 0.0) -> float:
        """What a limit of money sets aside before the longest call, with texts not known yet."""
        way, longest = self.connection, self._longest
        price = self._price(self._longest_tokens)
        if longest is None or price is None or not (price.input_usd or price.output_usd):
            return 0.0
        limited = BudgetedModel(way.model, Budget(0.0, way.prices), api_base=way.api_base)
        return limited.most_usd(limited.with_limit(longest)) + n_unread * price.input_usd

    def fewer_calls(
        self,
        joint: RequestCounter,
        lengths: Mapping[str, TextLength] | None = None,
        *,
        scale: float = 1.0,
    ) -> CallLoad | None:
        """What joint calls would take, where there are any and they are fewer."""
        # Of a judge whose replies are known, a joint reply is as much longer or shorter than
        # assumed: the price of assumed replies beside that of known ones compares two measures.
        each, both, reply = self._likely, joint._likely, None
        if (known := self.reply_length) and each.output_tokens and both.calls:
            longer = known.likely * each.calls / each.output_tokens
            reply = TextLength(longer * both.output_tokens / both.calls, known.most)
        load = joint.likely(lengths, reply=reply, scale=scale)
        return load if 0 < load.calls < self.likely(lengths, scale=scale).calls else None

    def _take_cached(self, reply: ModelReply) -> None:
        self.n_owned += 1
        self.saved_usd += reply.cost_usd or 0.0
        if reply.duration_ms is not None:
            self._durations_s.append(reply.duration_ms / 1000)
        if reply.usage is not None and reply.usage.output_tokens:
            self._reply_tokens.append(reply.usage.output_tokens)

    def _tokens(self, request: ModelRequest) -> int:
        self._n_sent += 1
        characters = request.n_characters
        # Tokenizers are slow on large suites; the ratio of tokens to characters is stable within
        # one suite.
        is_exact = self.n_exact is None or self._n_sent <= self.n_exact
        if is_exact or self._n_sent % _LOOK_EVERY == 0 or not self._counted_characters:
            counted = count_messages(request.messages, request.model)
            self.counted_by = counted.source
            self._counted_characters += characters
            n = counted.n + len(request.images) * IMAGE_TOKENS
            self._counted_tokens += n
        else:
            n = round(characters * self._counted_tokens / self._counted_characters)
        if request.reply_schema is not None:  # providers count it as part of what is sent
            n += _schema_tokens(canonical_part(request.reply_schema), request.model)
        if n > self._longest_tokens:
            self._longest, self._longest_tokens = request, n
        return n

    def _price(self, input_tokens: int, prices: PriceTable | None = None) -> ModelPrice | None:
        way, table = self.connection, prices or self.connection.prices
        price = table.price(way.name, input_tokens=input_tokens, api_base=way.api_base)
        # At an endpoint of one's own the list price may differ, but is what a budget assumes too.
        return price or table.price(way.name, input_tokens=input_tokens)

    def _load(
        self, calls: int, sent: float, back: float, scale: float, *, is_most: bool = False
    ) -> CallLoad:
        n, tokens_sent, tokens_back = round(calls * scale), round(sent * scale), round(back * scale)
        # Some models charge more for long prompts, so that the price is looked up at the mean
        # length, or at most that of the longest; all calls are charged as calls of that size.
        size = max(tokens_sent // max(1, n), self._longest_tokens if is_most else 0)

        def cost(prices: PriceTable | None = None) -> float | None:
            price = self._price(size, prices) if n else ModelPrice(0.0, 0.0)
            if price is None:
                return None
            plain = price.cost(Usage(input_tokens=tokens_sent, output_tokens=tokens_back))
            return most_cost(price, tokens_sent, tokens_back) if is_most else plain

        way = self.connection
        return CallLoad(
            calls=n,
            input_tokens=tokens_sent,
            output_tokens=tokens_back,
            price_usd=cost(),
            batch_usd=cost(batches.BatchPrices(way.prices)) if can_batch(way.name) else None,
        )


@lru_cache(maxsize=1024)
def _schema_tokens(schema: str, model: str) -> int:
    return count_tokens(schema, model).n


def estimate_judge_reply_tokens(request: ModelRequest, rubric: Rubric) -> tuple[int, int]:
    asked = 1 if request.subject.criterion is not None else len(rubric.criteria)
    return estimate_reply_tokens(request, asked)


def estimate_reply_tokens(request: ModelRequest, asked: int) -> tuple[int, int]:
    # A limit that is sent is the true maximum, whatever is typical.
    longest = output_limit(request.parameters)
    if longest is None:
        longest = MOST_OUTPUT_TOKENS if _may_reason(request) else _LONGEST_REPLY_TOKENS * asked
    return min(_LIKELY_REPLY_TOKENS * asked, longest), longest


def _may_reason(request: ModelRequest) -> bool:
    """Whether a model may reason before it replies, in tokens that count as received."""
    # Of the models that can, only Claude does not unless it is asked to.
    is_asked = not request.parameters.keys().isdisjoint({"reasoning_effort", "thinking"})
    can = bool(listed_facts(request.model).get("supports_reasoning"))
    return can and (is_asked or "claude" not in request.model)
