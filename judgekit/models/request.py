"""The interface to every language model: request, reply, the protocol between them, transports."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from importlib import import_module
from typing import Protocol, runtime_checkable

from pydantic import BaseModel, Field, JsonValue, SkipValidation

from judgekit.errors import UnknownNameError
from judgekit.fingerprint import Frozen, canonical_json, canonical_part, text_fingerprint
from judgekit.records import Count, Finite, Image, JsonObject, Name, Record, Usage, message_parts

KEY_VERSION = 1
"""Grows when the meaning of a request's fields changes, so that old replies are not served."""

CHARACTERS_PER_TOKEN = 4

IMAGE_TOKENS = 1_000
"""What an image is taken to count as: providers count 250 to 2,500 for one of usual size."""

LIMIT_PARAMETERS = ("max_tokens", "max_completion_tokens")
"""The parameters that limit a reply, in tokens."""

_MESSAGE_FIELDS = {"role", "content"}


class Subject(Record):
    """What a request is about; for recorded replies and messages, no part of the cache key."""

    case_id: str | None = None
    """The case."""

    variant: str | None = None
    """The variant whose output is judged."""

    criterion: str | None = None
    """The criterion; None when one request covers all."""

    order: str | None = None
    """`ab` or `ba` in a comparison."""

    repeat: Count = 0
    """The repeat, from 0."""

    turn: Count | None = None
    """The turn of a conversation, from 1; None where all of it is judged."""

    attempt: Count = 0
    """0 for the first attempt; higher when an unparseable reply is retried."""


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

    images: tuple[Image, ...] = ()
    """The images of the messages, each in the place of its marker in a text."""

    reply_schema: SkipValidation[JsonObject | None] = None
    """JSON Schema of the reply, where one is wanted; checked as `parameters` are."""

    # Nothing in it needs checking, and a validator built here would be built for every help.
    subject: Subject = Subject.model_construct()
    """What it is about; of it only `repeat` is part of the key."""

    api_base: str | None = None
    """The endpoint, where it is not the provider's own."""

    shared_prefix: Count | None = None
    """How many characters of the last message other requests share: a hint for providers' prompt
    caches, no part of the key."""

    @property
    def chat_messages(self) -> list[dict[str, str | list[JsonObject]]]:
        """The messages as they are sent: those with images as parts in OpenAI's form."""
        markers = [image.marker for image in self.images]
        return [
            {**one, "content": message_parts(one["content"], self.images)}
            if any(marker in one.get("content", "") for marker in markers)
            else {**one}
            for one in self.messages
        ]

    @property
    def n_characters(self) -> int:
        """How long its messages are; an image counts as many as `IMAGE_TOKENS` of text have."""
        n_of_images = len(self.images) * IMAGE_TOKENS * CHARACTERS_PER_TOKEN
        return n_of_images + sum(len(message["content"]) for message in self.messages)

    @property
    def key_parts(self) -> dict[str, JsonValue]:
        """Everything that decides the reply, named; the cache key is its fingerprint."""
        parts: dict[str, JsonValue] = json.loads(self.key_text)
        return parts

    @cached_property
    def key(self) -> str:
        """The cache key: SHA-256 of `key_text`, 64 hex digits."""
        return text_fingerprint(self.key_text)

    @property
    def key_text(self) -> str:
        """`key_parts` as canonical JSON."""
        # Written straight down, which takes half the time of `canonical_json` of a mapping.
        messages: list[str] = []
        for message in self.messages:
            # Messages of users may have more fields, such as `name`; they take the general way.
            if message.keys() != _MESSAGE_FIELDS:
                messages.append(canonical_json(message))
                continue
            role, content = message["role"], message["content"]
            text = _canonical_system(content) if role == "system" else canonical_part(content)
            messages.append(f'{{"content":{text},"role":{canonical_part(role)}}}')
        images = ""
        if self.images:  # a request without images has the key it had before there were any
            # By their bytes, which no cache then holds.
            digests: JsonValue = [sha256(image.content).hexdigest() for image in self.images]
            images = f'"images":{canonical_json(digests)},'
        sent = self.parameters
        # The parameters of a judge are the same object in every request, whose text is known.
        if None in sent.values() or not isinstance(sent, Frozen):
            sent = {name: value for name, value in sent.items() if value is not None}
        return (
            f'{{"api_base":{canonical_part(self.api_base)},{images}"messages":[{",".join(messages)}],'
            f'"model":{canonical_part(self.model)},'
            f'"parameters":{canonical_part(sent)},'
            f'"repeat":{self.subject.repeat},'
            f'"reply_schema":{canonical_part(self.reply_schema)},"version":{KEY_VERSION}}}'
        )


def output_limit(parameters: Mapping[str, object]) -> int | None:
    """The most tokens that parameters allow for a reply; None where they set no limit."""
    limits = [parameters.get(name) for name in LIMIT_PARAMETERS]
    # The larger of two names for one limit: which of them the provider obeys is unknown.
    return max((limit for limit in limits if isinstance(limit, int)), default=None)


# The system message of a judge is the same text in thousands of requests.
_canonical_system = lru_cache(maxsize=16)(canonical_part)


class TokenLogprob(Record):
    """One token of a reply and its likeliest alternatives."""

    token: str
    """The token that was emitted."""

    logprob: Finite
    """Its natural-log probability."""

    top: tuple[tuple[str, Finite], ...] = ()
    """The likeliest tokens at this place, each with its log-probability."""


def message_text(messages: Sequence[Mapping[str, str]]) -> str:
    """Messages as one text: a conversation is JSON."""
    return messages[0]["content"] if len(messages) == 1 else json.dumps(messages)


class ModelReply(Record):
    """One answer of a model."""

    text: str | None
    """The text of the reply."""

    finish_reason: str | None = "stop"
    """Why it ended: `stop`, `length`, `content_filter`, `tool_calls`, ….

    A provider's refusal is `content_filter` with the refusal as the text.
    """

    usage: Usage | None = None
    """Tokens; the money is worked out by `judgekit.models.pricing`."""

    model: str | None = None
    """The model that answered, in the provider's words."""

    logprobs: tuple[TokenLogprob, ...] | None = None
    """Log-probabilities per token, where they were requested and returned."""

    dropped_parameters: tuple[str, ...] = ()
    """Parameters the model refused, so that they were not sent."""

    duration_ms: Finite | None = None
    """How long the call took when it was made, in milliseconds."""

    cost_usd: Finite | None = Field(default=None, ge=0)
    """What the call cost when it was made, in US dollars; None when unknown."""

    cached: bool = False
    """Whether it came from a cache."""

    key: str | None = None
    """Its cache key, where there is a cache."""

    # Nothing is worked out from a reply, so the plain copy does; each new reply is copied twice.
    model_copy = BaseModel.model_copy  # type: ignore[pydantic-field]  # a function, no field


@runtime_checkable
class Model(Protocol):
    """Anything that answers requests; the one interface to every language model.

    A model may set `cacheable = False` to keep its replies out of the cache (recorded replies
    are on disk already).
    """

    @property
    def name(self) -> str:
        """How the model is called in records and messages."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer one request.

        Args:
            request: The request.

        Returns:
            The answer, as it came.

        Raises:
            ModelError: The provider, or the way to it, answered with an error.
        """


class ModelAround:
    """What every model that stands before another one shares with it."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name = model.name
        # A model may keep its replies out of the cache: recorded ones are on disk already.
        self.cacheable = bool(getattr(model, "cacheable", True))
        # Raises `SettingsError` where no call can succeed. No part of the protocol, as `aclose`:
        # most models need nothing that could be missing.
        self.check: Callable[[], None] | None = getattr(model, "check", None)

    async def aclose(self) -> None:
        await close_model(self._model)


async def close_model(model: Model | None) -> None:
    """Close what a model holds open in the running event loop, where it holds anything open."""
    # `aclose` is no part of the protocol: a user's own model needs a name and `complete` only.
    aclose = getattr(model, "aclose", None)
    if aclose is not None:
        await aclose()


AUTO_TRANSPORT = "auto"
"""The name that leaves the choice to the transports themselves."""

_PACKAGE = "judgekit.models.transports"
_FALLBACK = "litellm"


@dataclass(frozen=True, slots=True)
class Transport:
    """One way to a model; a module of `judgekit.models.transports` holds one."""

    open: Callable[..., Model]
    """Makes a model from its name, `api_base` and `timeout_s`, which imports and connects at its
    first request. It raises `SettingsError` for an endpoint that the transport cannot reach."""

    is_preferred: Callable[[str, str | None], bool] = lambda _model, _api_base: False
    """Whether `auto` chooses this transport for a model and its `api_base`; if none, litellm."""


def transport_names() -> tuple[str, ...]:
    """What a user may choose from: `auto`, and each transport by its name."""
    # The folder is the list: a second list of names could miss one. Nothing is imported here, as
    # the command line needs the names for `--help`.
    folder = import_module(_PACKAGE).__path__
    return (AUTO_TRANSPORT, *sorted(found.name for found in pkgutil.iter_modules(folder)))


def open_model(name: str, model: str, *, api_base: str | None, timeout_s: float) -> Model:
    """The model at an endpoint, through the named transport."""
    names = transport_names()
    if name not in names:
        raise UnknownNameError("transport", name, names)
    if name == AUTO_TRANSPORT:
        # The transports decide themselves, so that adding one changes no list here.
        preferring = (other for other in names[1:] if _load(other).is_preferred(model, api_base))
        name = next(preferring, _FALLBACK)
    return _load(name).open(model, api_base=api_base, timeout_s=timeout_s)


def _load(name: str) -> Transport:
    module = import_module(f"{_PACKAGE}.{name}")
    (transport,) = (found for found in vars(module).values() if isinstance(found, Transport))
    return transport
