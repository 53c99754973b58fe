"""The interface to every language model: one request, one reply, and the protocol between them."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Protocol, Self, cast, runtime_checkable

from pydantic import Field, JsonValue, SkipValidation

from judgekit.fingerprint import Frozen, canonical_json, canonical_part, text_fingerprint
from judgekit.records import Count, Finite, JsonObject, Name, Record, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY_VERSION = 1
"""Grows when the meaning of a request's fields changes, so that old replies are not served."""

_MESSAGE_FIELDS = {"role", "content"}


class Subject(Record):
    """What a request is about; for recorded replies and messages, no part of the cache key."""

    case_id: str | None = None
    """The case."""

    variant: str | None = None
    """The variant whose output is judged."""

    criterion: str | None = None
    """The criterion asked about; None when all are asked at once."""

    order: str | None = None
    """`ab` or `ba` in a comparison."""

    repeat: Count = 0
    """Which time the same question is asked, from 0."""

    attempt: Count = 0
    """0 for the first asking; higher when an unreadable reply is asked again."""


class ModelRequest(Record):
    """One question to a model."""

    model: Name
    """Provider and model, as litellm names them: `openai/gpt-4.1-mini`."""

    messages: tuple[dict[str, str], ...]
    """Chat messages, each `{"role", "content"}`."""

    parameters: SkipValidation[JsonObject] = Field(default_factory=dict)
    """Sampling parameters: temperature, seed, max_tokens, logprobs, top_logprobs, ….

    A parameter that is None is not sent and not part of the key. What is not JSON is refused when
    the key is worked out, not here: a judge's parameters are the same in thousands of requests.
    """

    reply_schema: SkipValidation[JsonObject | None] = None
    """JSON Schema of the reply, where one is wanted; checked as `parameters` are."""

    subject: Subject = Subject()
    """What it is about; of it only `repeat` is part of the key."""

    api_base: str | None = None
    """The endpoint, where it is not the provider's own."""

    shared_prefix: Count | None = None
    """How many characters of the last message other requests share: a hint for providers' prompt
    caches, no part of the key."""

    def model_copy(self, *, update: Mapping[str, object] | None = None, deep: bool = False) -> Self:
        """A copy with some fields changed; it works out a key of its own.

        Args:
            update: The fields to change.
            deep: Whether to copy the values too.

        Returns:
            The copy; the original's cached key is not taken over.
        """
        copy = super().model_copy(update=update, deep=deep)
        for name in ("key_parts", "key"):
            copy.__dict__.pop(name, None)
        return copy

    @cached_property
    def key_parts(self) -> dict[str, JsonValue]:
        """Everything that decides the reply, named; the cache key is its fingerprint."""
        return {
            "version": KEY_VERSION,
            "model": self.model,
            "api_base": self.api_base,
            "messages": [dict(message) for message in self.messages],
            "parameters": _sent(self.parameters),
            "reply_schema": self.reply_schema,
            "repeat": self.subject.repeat,
        }

    @cached_property
    def key(self) -> str:
        """The cache key: SHA-256 of `key_parts` as canonical JSON, 64 hex digits."""
        return text_fingerprint(_canonical_parts(self))


def _canonical_parts(request: ModelRequest) -> str:
    """`canonical_json` of a request's `key_parts`, written straight down in half the time."""
    messages = ",".join([_canonical_message(message) for message in request.messages])
    return (
        f'{{"api_base":{canonical_part(request.api_base)},"messages":[{messages}],'
        f'"model":{canonical_part(request.model)},'
        f'"parameters":{canonical_part(_sent(request.parameters))},'
        f'"repeat":{request.subject.repeat},'
        f'"reply_schema":{canonical_part(request.reply_schema)},"version":{KEY_VERSION}}}'
    )


def _canonical_message(message: dict[str, str]) -> str:
    if message.keys() != _MESSAGE_FIELDS:
        return canonical_json(message)
    role, content = message["role"], message["content"]
    text = _canonical_system(content) if role == "system" else canonical_part(content)
    return f'{{"content":{text},"role":{canonical_part(role)}}}'


@lru_cache(maxsize=16)
def _canonical_system(content: str) -> str:
    """What a judge is told first is the same text in thousands of requests."""
    return canonical_part(content)


def _sent(parameters: JsonObject) -> JsonObject:
    """The parameters that are sent; those of a judge are the same object in every request."""
    if isinstance(parameters, Frozen) and None not in parameters.values():
        return cast("JsonObject", parameters)
    return {name: value for name, value in parameters.items() if value is not None}


class TokenLogprob(Record):
    """One token of a reply and its likeliest alternatives."""

    token: str
    """The token that was emitted."""

    logprob: Finite
    """Its natural-log probability."""

    top: tuple[tuple[str, Finite], ...] = ()
    """The likeliest tokens at this place, each with its log-probability."""


class ModelReply(Record):
    """One answer of a model."""

    text: str | None
    """What it said."""

    finish_reason: str | None = "stop"
    """Why it ended: `stop`, `length`, `content_filter`, `tool_calls`, ….

    A provider's refusal is `content_filter` with the refusal as the text.
    """

    usage: Usage | None = None
    """Tokens; the money is worked out by `judgekit.models.pricing`."""

    model: str | None = None
    """The model that answered, in the provider's words."""

    logprobs: tuple[TokenLogprob, ...] | None = None
    """Log-probabilities per token, where they were asked for and given."""

    dropped_parameters: tuple[str, ...] = ()
    """Parameters the model refused, so that they were not sent."""

    duration_ms: Finite | None = None
    """How long the call took when it was made, in milliseconds."""

    cost_usd: Finite | None = None
    """What the call cost when it was made, in US dollars; None when unknown."""

    cached: bool = False
    """Whether it came from a cache."""

    key: str | None = None
    """Its cache key, where a cache was asked."""


@runtime_checkable
class Model(Protocol):
    """Anything that answers requests; the one seam to every language model.

    A model may set `cacheable = False` to keep its replies out of the cache (recorded replies
    are on disk already).
    """

    @property
    def name(self) -> str:
        """How the model is called in records and messages."""
        ...

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer one request.

        Args:
            request: What is asked.

        Returns:
            The answer, as it came.

        Raises:
            ModelError: The provider, or the way to it, answered with an error.
        """
        ...


async def close_model(model: Model | None) -> None:
    """Close what a model holds open in the running event loop, where it holds anything open."""
    # `aclose` is no part of the protocol: a user's own model needs a name and `complete` only.
    aclose = getattr(model, "aclose", None)
    if aclose is not None:
        await aclose()
