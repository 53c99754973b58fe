"""Limits what a run may spend."""

from __future__ import annotations

import asyncio
import math
import re
import threading
from collections import deque
from dataclasses import dataclass, field

from judgekit.errors import BudgetExceededError, InputError, ModelError, SettingsError
from judgekit.fingerprint import canonical_json
from judgekit.models.pricing import ModelPrice, PriceTable, most_cost
from judgekit.models.rate_limit import complete_in_time
from judgekit.models.request import Model, ModelAround, ModelReply, ModelRequest, output_limit

# Money is counted in whole trillionths of a dollar: a sum of floats could end above its limit.
_PER_USD = 10**12


class Budget:
    """A limit of money that all judges and prompt targets of a run share.

    Before a call the most it can cost is set aside; afterwards what it did cost is counted, and
    the rest is free again. A call waits where it fits only when others in flight turn out
    cheaper than feared, first come first served, and is refused where it does not fit at all. So
    what is spent never crosses the limit, as long as no call costs more than was set aside.
    May be used from several threads and event loops at once.
    """

    def __init__(self, limit_usd: float, prices: PriceTable | None = None) -> None:
        if not 0 <= limit_usd < math.inf:
            raise SettingsError(
                f"the limit of money is {limit_usd}", hint="give US dollars, 0 or more"
            )
        self.limit_usd = limit_usd
        self.prices = prices or PriceTable()
        units = _units(limit_usd)
        self._limit = units if units / _PER_USD <= limit_usd else units - 1
        self._spent = 0
        self._reserved = 0
        self.is_exhausted = False
        """Whether a call was refused, so that the run cannot be whole."""
        self._waiting: deque[_Turn] = deque()
        self._lock = threading.Lock()

    @property
    def spent_usd(self) -> float:
        """What calls that ended have cost, or may be billed for, in US dollars."""
        return self._spent / _PER_USD

    async def reserve(self, amount_usd: float, what: str = "the next call") -> Reservation:
        """Set money aside, waiting where it fits only once calls in flight are settled."""
        amount = _units(amount_usd)
        with self._lock:
            turn = _Turn(amount)
            if not self._waiting and amount <= self._limit - self._spent - self._reserved:
                self._reserved += amount
                return Reservation(self, amount)
            if amount <= self._limit - self._spent:
                self._waiting.append(turn)
            else:
                self.is_exhausted = True
                raise self._refusal(amount, what)
        try:
            is_granted = await turn.granted
        except (asyncio.CancelledError, GeneratorExit):
            with self._lock:
                if turn in self._waiting:
                    self._waiting.remove(turn)
                elif turn.is_reserved:  # it was granted at the moment the call was cancelled
                    self._reserved -= turn.amount
                self._hand_out()
            raise
        if not is_granted:
            raise self._refusal(amount, what)
        return Reservation(self, amount)

    def spend(self, amount_usd: float) -> None:
        """Count money that was spent without a reservation: earlier, or by a target of its own."""
        self._settle(0, _units(amount_usd))

    def _settle(self, reserved: int, spent: int) -> None:
        with self._lock:
            self._reserved -= reserved
            self._spent += max(spent, 0)  # a target of its own may report anything
            self._hand_out()

    def _hand_out(self) -> None:
        """Grant or refuse who waits, in order, as far as that is decided now."""
        while self._waiting:
            turn = self._waiting[0]
            never = turn.amount > self._limit - self._spent
            if not never and turn.amount > self._limit - self._spent - self._reserved:
                return
            self._waiting.popleft()
            if turn.tell(granted=not never):
                turn.is_reserved = not never
                self._reserved += 0 if never else turn.amount
                self.is_exhausted = self.is_exhausted or never

    def _refusal(self, amount: int, what: str) -> BudgetExceededError:
        left = (self._limit - self._spent) / _PER_USD
        return BudgetExceededError(
            f"{what} may cost up to ${amount / _PER_USD:.6f}, and ${left:.6f} is left of the "
            f"limit of ${self.limit_usd:g}; it was not made",
            hint="raise the limit (--max-cost), or lower max_tokens; paid replies are cached",
        )


class Reservation:
    """Money set aside for one call."""

    def __init__(self, budget: Budget, amount: int) -> None:
        self._budget = budget
        self._amount = amount
        self._is_open = True

    def settle(self, cost_usd: float | None) -> None:
        """Count what the call cost and free the rest; later calls of it do nothing."""
        if self._is_open:
            self._is_open = False
            spent = self._amount if cost_usd is None else _units(cost_usd)
            self._budget._settle(self._amount, spent)  # noqa: SLF001 - the other half of `reserve`


@dataclass(slots=True, eq=False)
class _Turn:
    """A call that waits for money, in whichever event loop."""

    amount: int
    is_reserved: bool = False
    granted: asyncio.Future[bool] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    def tell(self, *, granted: bool) -> bool:
        """Wake it in its own loop; False where that loop is gone."""
        try:
            self.granted.get_loop().call_soon_threadsafe(self._resolve, granted)
        except RuntimeError:
            return False
        return True

    def _resolve(self, granted: bool) -> None:  # noqa: FBT001 - a future's result
        if not self.granted.done():
            self.granted.set_result(granted)


def _units(amount_usd: float) -> int:
    """Money in whole units; what costs no more than was set aside does so in units too."""
    return round(amount_usd * _PER_USD)


MOST_OUTPUT_TOKENS = 8192
"""The longest reply that is allowed where a request sets no limit of its own."""

_LEAST_OUTPUT_TOKENS = 512

# Tokens a provider may add: its own instructions for tools, schemas and the chat format.
_PER_REQUEST = 1024

_PER_MESSAGE = 16

# OpenAI counts 37,000 for an image of 1024 x 1024 with its small models, at a price to match.
_PER_IMAGE = 50_000

# Schemas and tools may be shown to the model in a roomier form than they are sent in.
_AS_SHOWN = 2

# Kinds of error after which the provider may have answered, unless its status excludes it.
_MAYBE_BILLED = frozenset({"timeout", "connection", "protocol", "empty", "overloaded", "internal"})

_NEVER_SENT = re.compile(r"ClientConnector|Cannot connect to host|Connection refused|ConnectError")


class BudgetedModel(ModelAround):
    """A model whose every call has its money set aside before it is sent.

    Stands inside the limits, so that each attempt counts, and below the cache, so that hits cost
    nothing. A request without a limit on its reply is sent one: what the model can answer with,
    8,192 tokens at most; a model that says its context has no room for so many is called again
    with half as many. The limit is no part of the cache key.

    What a call can cost at most is bounded by the UTF-8 bytes sent, since no byte-level tokenizer
    makes more tokens than there are bytes, plus 1,024 tokens for what providers add, and by the
    limit on the reply. A call that times out, is interrupted or cancelled counts as spent in full,
    since the provider may bill it; one that is answered with an error costs nothing.
    """

    def __init__(
        self,
        model: Model,
        budget: Budget,
        *,
        api_base: str | None = None,
        prices: PriceTable | None = None,
        timeout_s: float | None = None,
    ) -> None:
        super().__init__(model)
        self._budget = budget
        self._api_base = api_base
        self._prices = prices or budget.prices
        self._timeout_s = timeout_s
        self._own_most = self._prices.max_output_tokens(model.name)
        self._limit = min(self._own_most or MOST_OUTPUT_TOKENS, MOST_OUTPUT_TOKENS)
        self._takes_limit = True
        self._price(0)

    async def complete(self, request: ModelRequest) -> ModelReply:
        # A free model needs no limit on its reply, and an unnecessary limit could cut it short.
        price = self._price(0)
        if price.input_usd == price.output_usd == 0.0:
            return await complete_in_time(self._model, request, self._timeout_s)
        if output_limit(request.parameters) is not None:
            return await self._paid(request)
        while True:
            limit = self._limit
            try:
                return await self._paid(self.with_limit(request))
            except ModelError as error:
                if error.kind != "context_window" or limit // 2 < _LEAST_OUTPUT_TOKENS:
                    raise
                # Remembered for all later requests: each refused call costs a round trip.
                self._limit = min(self._limit, limit // 2)

    def with_limit(self, request: ModelRequest) -> ModelRequest:
        """The request as it is sent: with a limit on its reply."""
        if output_limit(request.parameters) is not None:
            return request
        parameters = {**request.parameters, "max_tokens": self._limit}
        return request.model_copy(update={"parameters": parameters})

    def most_usd(self, request: ModelRequest) -> float:
        """What a request can cost at most."""
        # The most tokens that can come back, over all requested choices.
        limit = output_limit(request.parameters) or MOST_OUTPUT_TOKENS
        if not self._takes_limit:
            if self._own_most is None:
                raise BudgetExceededError(
                    f"{self.name} takes no limit on its replies, so their cost cannot be bounded",
                    hint="use another model or endpoint, or set no limit of money",
                )
            limit = self._own_most
        # `n` choices are billed as `n` replies.
        choices = request.parameters.get("n")
        n_choices = choices if isinstance(choices, int) and choices > 1 else 1
        sent = most_input_tokens(request)
        return most_cost(self._price(sent), sent, limit * n_choices)

    async def _paid(self, request: ModelRequest) -> ModelReply:
        most = self.most_usd(request)
        reserved = await self._budget.reserve(most, f"the next call to {self.name}")
        try:
            reply = await complete_in_time(self._model, request, self._timeout_s)
        # Also for cancelled calls: the provider may bill them, and their money must not stay
        # reserved.
        except BaseException as error:
            reserved.settle(None if _may_be_billed(error) else 0.0)
            raise
        reserved.settle(0.0 if reply.cached else self._cost(request, reply))
        dropped = dict.fromkeys(reply.dropped_parameters, 0)
        self._takes_limit = self._takes_limit and output_limit(dropped) is None
        return reply

    def _cost(self, request: ModelRequest, reply: ModelReply) -> float | None:
        usage = reply.usage
        if reply.cost_usd is not None or usage is None:
            return reply.cost_usd
        price = self._price(usage.input_tokens)
        if usage.cache_write_tokens is not None or not request.shared_prefix:
            return price.cost(usage)
        # Any of the tokens may have been written to a prompt cache, for more than a plain one.
        written = usage.model_copy(update={"cache_write_tokens": usage.input_tokens})
        return max(price.cost(usage), price.cost(written))

    def _price(self, input_tokens: int) -> ModelPrice:
        table, api_base = self._prices, self._api_base
        price = table.price(self.name, input_tokens=input_tokens, api_base=api_base)
        if price is None and api_base is not None:
            # At an endpoint of one's own the listed price may differ, but limits what is spent.
            price = table.price(self.name, input_tokens=input_tokens)
        if price is None:
            raise SettingsError(
                f"what {self.name} charges is not known, so its cost cannot be limited",
                hint=f"give it in the suite's `prices:` ({self.name}: {{input_usd: …, "
                "output_usd: …}, for a million tokens), as Judge(prices=PriceTable({…})), or set "
                "no limit of money",
            )
        return price


def most_input_tokens(request: ModelRequest) -> int:
    """The most tokens a request can count as when it is sent."""
    n_sent = len(request.images) * _PER_IMAGE + sum(
        _PER_MESSAGE + len(text.encode("utf-8", "surrogatepass"))
        for message in request.messages
        for text in message.values()
    )
    beside = canonical_json([request.reply_schema, request.parameters])
    return _PER_REQUEST + n_sent + _AS_SHOWN * len(beside)


def _may_be_billed(error: BaseException) -> bool:
    """Whether a call that ended so can still be on the bill."""
    # An answer with an error status is not billed, except for a time-out on the provider's side:
    # the model may continue after the gateway has given up.
    if isinstance(error, InputError):
        return False
    if not isinstance(error, ModelError):
        return True
    # A call that never reached the server cannot be on the bill.
    if error.kind == "connection" and _NEVER_SENT.search(f"{error.message} {error.__cause__}"):
        return False
    return error.kind == "timeout" or (error.status is None and error.kind in _MAYBE_BILLED)
