"""Asks a model only while its budget holds what the answer can cost at most."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from judgekit.errors import BudgetExceededError, InputError, ModelError
from judgekit.fingerprint import canonical_json
from judgekit.models.limits import complete_in_time

if TYPE_CHECKING:
    from judgekit.models.budget import Budget
    from judgekit.models.pricing import ModelPrice, PriceTable
    from judgekit.models.request import Model, ModelReply, ModelRequest
    from judgekit.records.output import Usage

MOST_OUTPUT_TOKENS = 8192
"""The longest reply that is allowed where a request sets no limit of its own."""

_LEAST_OUTPUT_TOKENS = 512
_LIMITS = ("max_tokens", "max_completion_tokens")
_PER_REQUEST = 1024
"""Tokens a provider may add: its own instructions for tools, schemas and the chat format."""
_PER_MESSAGE = 16
_AS_SHOWN = 2
"""Schemas and tools may be shown to the model in a roomier form than they are sent in."""
_MAYBE_BILLED = frozenset({"timeout", "connection", "protocol", "empty", "overloaded", "internal"})
"""Kinds of error after which the provider may have answered, unless it said so with a status."""
_NEVER_SENT = re.compile(r"ClientConnector|Cannot connect to host|Connection refused|ConnectError")


class BudgetedModel:
    """A model whose every call has its money set aside before it is sent.

    Stands inside the limits, so that each attempt counts, and below the cache, so that hits cost
    nothing. A request without a limit on its reply is sent one: what the model can answer with,
    8,192 tokens at most; a model that says its context has no room for so many is asked again
    with half as many. The limit is no part of the cache key.

    What a call can cost at most is bounded by the UTF-8 bytes sent, since no byte-level tokenizer
    makes more tokens than there are bytes, plus 1,024 tokens for what providers add, and by the
    limit on the reply. A call that times out, breaks off or is cancelled counts as spent in full,
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
        self.cacheable = bool(getattr(model, "cacheable", True))
        self._model = model
        self._budget = budget
        self._api_base = api_base
        self._prices = prices or budget.prices
        self._timeout_s = timeout_s
        self._own_most = self._prices.max_output_tokens(model.name)
        self._limit = min(self._own_most or MOST_OUTPUT_TOKENS, MOST_OUTPUT_TOKENS)
        self._takes_limit = True
        self._price(0)

    @property
    def name(self) -> str:
        """The inner model's name."""
        return self._model.name

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer a request, once there is money for it."""
        price = self._price(0)
        if price.input_usd == price.output_usd == 0.0:
            return await complete_in_time(self._model, request, self._timeout_s)
        if _output_limit(request) is not None:
            return await self._paid(request)
        while True:
            limit = self._limit
            try:
                return await self._paid(_limited(request, limit))
            except ModelError as error:
                if error.kind != "context_window" or limit // 2 < _LEAST_OUTPUT_TOKENS:
                    raise
                self._limit = min(self._limit, limit // 2)

    async def aclose(self) -> None:
        """Close the inner model's connections of the running event loop."""
        aclose = getattr(self._model, "aclose", None)
        if aclose is not None:
            await aclose()

    async def _paid(self, request: ModelRequest) -> ModelReply:
        sent, received = most_input_tokens(request), self._most_output(request)
        most = sent * _dearest_input(self._price(sent), request)
        most += received * self._dearest_output(sent)
        reserved = await self._budget.reserve(most, f"the next call to {self.name}")
        try:
            reply = await complete_in_time(self._model, request, self._timeout_s)
        except BaseException as error:
            reserved.settle(None if _may_be_billed(error) else 0.0)
            raise
        reserved.settle(self._cost(request, reply))
        self._takes_limit = self._takes_limit and not set(_LIMITS) & set(reply.dropped_parameters)
        return reply

    def _cost(self, request: ModelRequest, reply: ModelReply) -> float | None:
        """What a reply cost; None where it does not say."""
        if reply.cached:
            return 0.0
        if reply.cost_usd is not None:
            return reply.cost_usd
        return None if reply.usage is None else self._cost_of(request, reply.usage)

    def _cost_of(self, request: ModelRequest, usage: Usage) -> float:
        price = self._price(usage.input_tokens)
        fresh = max(0, usage.input_tokens - usage.cached_input_tokens)
        return price.cost(usage) + fresh * (_dearest_input(price, request) - price.input_usd)

    def _most_output(self, request: ModelRequest) -> int:
        """The most tokens that can come back, over all the choices that are asked for."""
        limit = _output_limit(request) or MOST_OUTPUT_TOKENS
        if not self._takes_limit:
            if self._own_most is None:
                raise BudgetExceededError(
                    f"{self.name} takes no limit on its replies, so their cost cannot be bounded",
                    hint="use another model or endpoint, or set no limit of money",
                )
            limit = self._own_most
        choices = request.parameters.get("n")
        return limit * (choices if isinstance(choices, int) and choices > 1 else 1)

    def _dearest_output(self, input_tokens: int) -> float:
        price = self._price(input_tokens)
        return max(price.output_usd, price.reasoning_usd or 0.0)

    def _price(self, input_tokens: int) -> ModelPrice:
        return self._budget.price(
            self.name, input_tokens=input_tokens, api_base=self._api_base, prices=self._prices
        )


def most_input_tokens(request: ModelRequest) -> int:
    """The most tokens a request can count as when it is sent."""
    said = sum(
        _PER_MESSAGE + len(text.encode("utf-8", "surrogatepass"))
        for message in request.messages
        for text in message.values()
    )
    beside = canonical_json([request.reply_schema, request.parameters])
    return _PER_REQUEST + said + _AS_SHOWN * len(beside)


def _output_limit(request: ModelRequest) -> int | None:
    limits = [request.parameters.get(name) for name in _LIMITS]
    known = [limit for limit in limits if isinstance(limit, int)]
    return max(known) if known else None


def _limited(request: ModelRequest, limit: int) -> ModelRequest:
    return request.model_copy(update={"parameters": {**request.parameters, "max_tokens": limit}})


def _dearest_input(price: ModelPrice, request: ModelRequest) -> float:
    """The price of a token sent; where a prompt cache is asked for, it may be one written to it."""
    written = price.cache_write_usd if request.shared_prefix else None
    return max(price.input_usd, written or 0.0)


def _may_be_billed(error: BaseException) -> bool:
    """Whether a call that ended so can still be on the bill."""
    # An error that was answered with a status is not, but for a time-out on the provider's side: a
    # gateway may give up on a model that goes on.
    if isinstance(error, InputError):
        return False
    if not isinstance(error, ModelError):
        return True
    if error.kind == "connection" and _NEVER_SENT.search(f"{error.message} {error.__cause__}"):
        return False
    return error.kind == "timeout" or (error.status is None and error.kind in _MAYBE_BILLED)
