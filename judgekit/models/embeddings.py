"""Fetches embedding vectors of texts, through cache, budget and limits like any other call."""

from __future__ import annotations

import asyncio
import base64
import binascii
import sys
from array import array
from collections import Counter
from contextlib import asynccontextmanager
from math import isfinite
from typing import TYPE_CHECKING, Any

from judgekit.errors import ModelError
from judgekit.models.error_mapping import OWN_ENDPOINT_PROVIDERS, ProviderFault, endpoint_label
from judgekit.models.factory import Connection, connect
from judgekit.models.request import ModelAround, ModelReply, ModelRequest
from judgekit.models.transports import DirectModel, LitellmModel
from judgekit.records import EmbeddingUsage, JsonObject, Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Sequence

    from judgekit.models.budget import Budget
    from judgekit.models.cache import ReplyCache
    from judgekit.models.pricing import PriceTable

# Marks these requests in the cache; nothing is generated, so the budget reserves no output.
_PARAMETERS: JsonObject = {"task": "embedding", "max_tokens": 1}

_TIMEOUT_S = 60

# Kinds of errors that the text itself causes, so that a retry would end in the same way.
_TEXT_ERROR_KINDS = frozenset({"bad_request", "content_filter", "context_window", "empty"})


class EmbeddingModel(ModelAround):
    """A model of embeddings as a model that answers a text with its vector.

    As a model it gets cache, limits, prices and budget like any other. The vector
    is the reply's text: base64 of 32-bit floats, little-endian.
    """

    def __init__(self, model: str, *, api_base: str | None = None) -> None:
        provider = model.partition("/")[0]
        is_own = api_base is not None and provider in OWN_ENDPOINT_PROVIDERS
        transport = DirectModel if is_own else LitellmModel
        self._inner = transport(model, api_base=api_base, timeout_s=_TIMEOUT_S)
        super().__init__(self._inner)
        self._label = endpoint_label(provider, api_base)

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer a request with the vector of its last message."""
        body = await self._inner.embed(request.messages[-1]["content"])
        if isinstance(body, ProviderFault):
            raise body.to_error()
        fields: dict[str, Any] = body if isinstance(body, dict) else {}
        try:
            vector = array("f", fields["data"][0]["embedding"])
        except (LookupError, TypeError):
            vector = array("f")
        if not _is_vector(vector):
            text = f"no vector in {str(body)[:200]}"
            raise ProviderFault(self._label, "protocol", text=text).to_error()
        usage, model = fields.get("usage"), fields.get("model")
        sent = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        return ModelReply(
            text=base64.b64encode(_little_endian(vector).tobytes()).decode("ascii"),
            usage=Usage(input_tokens=sent) if isinstance(sent, int) else None,
            model=model if isinstance(model, str) else None,
        )


class Embeddings:
    """Vectors of texts by one model; each text is requested once.

    Requests are asynchronous and comparisons are not: `holding` fetches the vectors of some texts,
    and inside it a call of the object returns them.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.name = connection.name
        self._held: dict[str, Sequence[float] | ModelError] = {}
        self._holders: Counter[str] = Counter()

    def __call__(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """The vectors of texts that are held."""
        vectors = []
        for held in map(self._held.__getitem__, texts):
            # An error of one text fails this comparison only, not the other texts.
            if isinstance(held, ModelError):
                raise held
            vectors.append(held)
        return vectors

    def request(self, text: str) -> ModelRequest:
        return embedding_request(self.name, text, api_base=self.connection.api_base)

    @asynccontextmanager
    async def holding(
        self, texts: Collection[str], usage: dict[str, EmbeddingUsage] | None = None
    ) -> AsyncGenerator[None, None]:
        wanted = set(texts)
        self._holders.update(wanted)
        try:
            # Sorted, so that requests are sent in the same order in each run.
            lacking = sorted(wanted - self._held.keys())
            fetched = await asyncio.gather(*map(self._fetch, lacking), return_exceptions=True)
            known = zip(lacking, fetched, strict=True)
            found = {text: one for text, one in known if isinstance(one, EmbeddingUsage)}
            if usage is not None:
                usage.update(found)
            for one in fetched:  # only once all of them ended, so that none is left unpaid for
                if isinstance(one, BaseException):
                    raise one
            yield
        finally:
            self._holders.subtract(wanted)
            # Vectors are large; they are dropped when the last caller that needs them is done.
            for text in wanted:
                if not self._holders[text]:
                    del self._holders[text]
                    self._held.pop(text, None)

    async def aclose(self) -> None:
        await self.connection.aclose()

    async def _fetch(self, text: str) -> EmbeddingUsage:
        found: Sequence[float] | ModelError
        usage = EmbeddingUsage(n_calls=1, cost_usd=0.0)
        try:
            reply = await self.connection.model.complete(self.request(text))
            if reply.cached:
                saved_usd = reply.cost_usd or 0.0
                usage = EmbeddingUsage(n_owned=1, cost_usd=0.0, saved_usd=saved_usd)
            else:
                sent = 0 if reply.usage is None else reply.usage.input_tokens
                usage = EmbeddingUsage(n_calls=1, input_tokens=sent, cost_usd=reply.cost_usd)
            found = reply_vector(reply)
        except ModelError as error:
            # A refused text is a result for that text; a refused key concerns every text.
            if error.kind not in _TEXT_ERROR_KINDS:
                raise
            found = error
        if self._holders[text]:
            self._held[text] = found
        return usage


def open_embeddings(
    model: str,
    *,
    api_base: str | None = None,
    cache: ReplyCache | None = None,
    frozen: bool = False,
    refresh: bool = False,
    prices: PriceTable | None = None,
    budget: Budget | None = None,
) -> Embeddings:
    """Open a model of embeddings; nothing is sent yet."""
    return Embeddings(
        connect(
            EmbeddingModel(model, api_base=api_base),
            api_base=api_base,
            cache=cache,
            frozen=frozen,
            refresh=refresh,
            prices=prices,
            budget=budget,
        )
    )


def embedding_request(model: str, text: str, *, api_base: str | None = None) -> ModelRequest:
    messages = ({"role": "user", "content": text},)
    return ModelRequest(model=model, messages=messages, parameters=_PARAMETERS, api_base=api_base)


def reply_vector(reply: ModelReply) -> Sequence[float]:
    try:
        found = _little_endian(array("f", base64.b64decode(reply.text or "", validate=True)))
    except (binascii.Error, ValueError):
        found = array("f")
    if not _is_vector(found):
        message = "a cached reply holds no vector"
        raise ModelError(message, kind="protocol", hint="fetch it again with --refresh")
    return found


def _is_vector(numbers: array[float]) -> bool:
    # A server whose numbers overflow sends infinities, which no other text is near to.
    return bool(numbers) and all(map(isfinite, numbers))


def _little_endian(numbers: array[float]) -> array[float]:
    """The numbers as they lie in a file; on nearly every machine as they are."""
    if sys.byteorder == "big":  # pragma: no cover - no test machine is
        numbers.byteswap()
    return numbers
