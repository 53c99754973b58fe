"""The protocols of Anthropic and Gemini: requests as they want them, replies as chat completions.

The direct transport, which sends the requests, hands over and gets back OpenAI's form, whose
protocol is in `judgekit.models.capabilities`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

from judgekit.models.capabilities import ChatProtocol, Fetch, Messages, RequestPlan
from judgekit.models.pricing import listed_facts

if TYPE_CHECKING:
    from judgekit.models.request import ModelRequest
    from judgekit.records import JsonObject

    WrittenRequest = tuple[str, Mapping[str, object], Mapping[str, str]]


_SAMPLING = frozenset({"temperature", "top_p", "top_k"})


class OpenRouterProtocol(ChatProtocol):
    """OpenRouter's: OpenAI's with the marks of Anthropic, and the usage on request."""

    can_mark_cache = True
    more: ClassVar = {"usage": {"include": True}}


class NativeProtocol(ChatProtocol, ABC):
    """What Anthropic and Gemini have in common: litellm calls them by a table of their models."""

    # What the provider's own endpoint refuses is about the schema, and is to be seen.
    own_forms = ("json_schema",)

    provider: ClassVar[str]
    assistant: ClassVar[str]
    content: ClassVar[str]  # their names of the assistant's role and of a message's content
    names: ClassVar[dict[str, str]] = {name: name for name in _SAMPLING}
    """Their names of the parameters that are sent, by OpenAI's."""

    never_sent: ClassVar[frozenset[str]] = frozenset()  # parameters that litellm drops

    # litellm writes the requests of other models, such as older ones, in other ways.
    pattern: ClassVar[str]
    features: ClassVar[tuple[str, ...]]
    """What the names of models match, and what the table has to say of them."""

    def __init__(self, model: str, *, is_own: bool) -> None:
        super().__init__(model, is_own=is_own)
        self.dropped = self._dropped

    @cached_property
    def facts(self) -> Mapping[str, object]:
        """What litellm's table says of the model; nothing where it is left to litellm."""
        facts = listed_facts(f"{self.provider}/{self.model}")
        is_known = facts.get("mode") == "chat" and all(facts.get(one) for one in self.features)
        return facts if is_known and re.match(self.pattern, self.model) else {}

    def _dropped(self, messages: Messages, request: ModelRequest) -> frozenset[str] | None:
        named = {name for name, value in request.parameters.items() if value is not None}
        is_written_here = (
            self.facts
            and named <= self.names.keys() | self.never_sent
            and not named >= {"max_tokens", "max_completion_tokens"}
            and request.parameters.get("stop") != []
            and _is_plain_schema(_without_references(request.reply_schema or {}))
            and _alternates(messages)
        )
        takes_sampling = self.facts.get("supports_sampling_params") is not False
        left_out = self.never_sent if takes_sampling else self.never_sent | _SAMPLING
        return left_out if is_written_here else None

    def _fields(self, parameters: JsonObject) -> tuple[dict[str, object], JsonObject | None]:
        """The parameters by their native names, and the schema of the reply."""
        fields: dict[str, object] = {
            self.names[name]: [value] if name == "stop" and isinstance(value, str) else value
            for name, value in parameters.items()
            if name != "response_format"
        }
        named: Any = parameters.get("response_format")
        return fields, named and named["json_schema"]["schema"]

    def _turns(self, messages: Messages) -> tuple[object, list[dict[str, object]]]:
        """The parts of the system message, if there is one, and the turns."""
        turns: list[dict[str, object]] = [
            {
                "role": self.assistant if one["role"] == "assistant" else one["role"],
                self.content: [self._part(part) for part in _parts(one)],
            }
            for one in messages
        ]
        return turns.pop(0)[self.content] if turns[0]["role"] == "system" else None, turns

    async def call(self, fetch: Fetch, messages: Messages, plan: RequestPlan) -> object:
        route, body, headers = self.request(messages, plan.parameters)
        return self.completion(await fetch(route, body, headers=headers))

    @abstractmethod
    def request(self, messages: Messages, parameters: JsonObject) -> WrittenRequest:
        """The route of a request, its body, and what its headers say of it."""

    def completion(self, body: object) -> object:
        """A reply as a chat completion; what is no reply, as it is."""
        try:
            return self._completion(cast("Mapping[str, Any]", body))
        except (AttributeError, LookupError, TypeError):
            return body

    @abstractmethod
    def _completion(self, body: Mapping[str, Any]) -> Mapping[str, Any]: ...

    @abstractmethod
    def _part(self, part: Mapping[str, Any]) -> Mapping[str, Any]: ...


class AnthropicProtocol(NativeProtocol):
    """Anthropic's Messages API."""

    key_header = ("x-api-key", "")
    can_mark_cache = True
    provider = "anthropic"
    assistant, content = "assistant", "content"
    names: ClassVar = NativeProtocol.names | {
        "stop": "stop_sequences", "max_tokens": "max_tokens", "max_completion_tokens": "max_tokens",
    }  # fmt: skip
    never_sent = frozenset(
        {"seed", "logprobs", "top_logprobs", "presence_penalty", "frequency_penalty"}
    )
    version: ClassVar = {"anthropic-version": "2023-06-01"}
    for_schemas: ClassVar = {"anthropic-beta": "structured-outputs-2025-11-13"}
    """Headers, of each request and of one with a reply schema."""

    pattern = "claude-"
    features = "max_output_tokens", "supports_native_structured_output", "supports_prompt_caching"

    def _dropped(self, messages: Messages, request: ModelRequest) -> frozenset[str] | None:
        dropped = super()._dropped(messages, request)
        # Of all temperatures litellm sends 1 to the models that take no sampling.
        is_sent = request.parameters.get("temperature") == 1
        return None if dropped and dropped >= _SAMPLING and is_sent else dropped

    def request(self, messages: Messages, parameters: JsonObject) -> WrittenRequest:
        (system, turns), (fields, schema) = self._turns(messages), self._fields(parameters)
        # It must be given, so that litellm takes the most that the model can write.
        limit = {"max_tokens": self.facts["max_output_tokens"]}
        body = {"model": self.model, "messages": turns, **limit, **fields}
        headers = {**self.version, "Accept": "application/json"}
        if system:
            body["system"] = system
        if schema:
            body["output_format"] = {"type": "json_schema", "schema": _without_references(schema)}
            headers |= self.for_schemas
        return "v1/messages", body, headers

    def _part(self, part: Mapping[str, Any]) -> Mapping[str, Any]:
        if "image_url" not in part:
            return part
        marks = {name: value for name, value in part.items() if name == "cache_control"}
        source = {"type": "base64", **_image(part, "media_type")}
        return {"type": "image", "source": source, **marks}

    def _completion(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        parts, usage = body["content"], body.get("usage")
        message = {
            "content": "".join(one["text"] for one in parts if one["type"] == "text") or None,
            "reasoning_content": "".join(one.get("thinking") or "" for one in parts),
        }
        if isinstance(usage, dict):
            # What is read from the prompt cache, and written to it, is counted apart.
            sent, stored, cached, received = _counts(
                usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
                "output_tokens",
            )  # fmt: skip
            (thought,) = _counts(usage.get("output_tokens_details"), "thinking_tokens")
            sent += stored + cached
            usage = _usage(sent, received, cached, min(thought, received), stored)
        choice = {"message": message, "finish_reason": body.get("stop_reason")}
        return {"choices": [choice], "model": body.get("model"), "usage": usage}


class GeminiProtocol(NativeProtocol):
    """Gemini's `generateContent`, with a key of Google AI Studio."""

    key_header = ("x-goog-api-key", "")
    provider = "gemini"
    assistant, content = "model", "parts"
    names: ClassVar = NativeProtocol.names | {
        "seed": "seed", "stop": "stop_sequences",
        "max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens",
    }  # fmt: skip
    pattern = r"gemini-([2-9]|[1-9]\d+)[.-]"
    features = "supports_response_schema", "supports_system_messages"
    # Replies that were stopped for what is in them; what there is of the text is not to be read.
    _FLAGGED = frozenset(
        {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"}
        | {"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT"}
    )

    def _dropped(self, messages: Messages, request: ModelRequest) -> frozenset[str] | None:
        # A message that is all image gets a text from litellm.
        has_text = all(any("text" in part for part in _parts(one)) for one in messages)
        return super()._dropped(messages, request) if has_text else None

    def request(self, messages: Messages, parameters: JsonObject) -> WrittenRequest:
        (system, turns), (config, schema) = self._turns(messages), self._fields(parameters)
        body: dict[str, object] = {"contents": turns}
        if system:
            body["system_instruction"] = {"parts": system}
        if schema:
            config |= {"response_mime_type": "application/json", "response_json_schema": schema}
        if config:
            body["generationConfig"] = config
        # An address of one's own ends in the version.
        channel = "beta" if self.model.startswith("gemini-2") else "alpha"
        version = "" if self.is_own else f"v1{channel}/"
        return f"{version}models/{self.model}:generateContent", body, {}

    def _part(self, part: Mapping[str, Any]) -> Mapping[str, Any]:
        return (
            {"text": part["text"]} if "text" in part else {"inline_data": _image(part, "mime_type")}
        )

    def _completion(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        usage = body.get("usageMetadata")
        shown: list[Mapping[str, Any]] = body.get("candidates") or []
        choices = [self._choice(one) for one in shown if one.keys() & {"content", "finishReason"}]
        if (body.get("promptFeedback") or {}).get("blockReason"):
            choices = [{"message": {"content": None}, "finish_reason": "content_filter"}]
        elif not shown and usage is None:
            return body
        if isinstance(usage, dict):
            sent, received, total, cached, thought = _counts(
                usage, "promptTokenCount", "candidatesTokenCount", "totalTokenCount",
                "cachedContentTokenCount", "thoughtsTokenCount",
            )  # fmt: skip
            # Thoughts are counted beside the reply, though some endpoints count them within it.
            received += thought if sent + received != total else 0
            usage = _usage(sent, received, cached, thought)
        named = body.get("modelVersion")
        model = named.partition("@")[0] if named and isinstance(named, str) else self.model
        return {"choices": choices, "model": model, "usage": usage}

    def _choice(self, candidate: Mapping[str, Any]) -> dict[str, Any]:
        reason, parts = candidate.get("finishReason"), candidate.get("content") or {}
        texts = {True: "", False: ""}
        for part in parts.get("parts") or []:
            texts[part.get("thought") is True] += part.get("text", "")
        text = None if reason in self._FLAGGED else texts[False] or None
        return {
            "message": {"content": text, "reasoning_content": texts[True]},
            "finish_reason": reason,
        }


NATIVE_PROTOCOLS = {one.provider: one for one in (AnthropicProtocol, GeminiProtocol)}
"""Those whose replies have another form than OpenAI's, by the names of their providers."""

# Such a schema is not changed on the way. Bounds, for example, Anthropic takes as words only.
_PLAIN_KEYWORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "anyOf", "enum"}
)
_TYPES: dict[object, set[type]] = {"integer": {int}, "number": {int, float}, "string": {str}}


def _without_references(schema: JsonObject) -> JsonObject:
    shared = {f"#/$defs/{name}": one for name, one in (schema.get("$defs") or {}).items()}  # type: ignore[union-attr]  # JSON

    def written_out(part: Any) -> Any:  # JSON
        if isinstance(part, list):
            return [*map(written_out, part)]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return shared.get(part["$ref"], part)
        return {key: written_out(value) for key, value in part.items() if key != "$defs"}

    return cast("JsonObject", written_out(schema)) if shared else schema


def _is_plain_schema(schema: object) -> bool:
    """Whether a schema is sent as it is; the schemas of judgekit's own prompts are."""
    if not isinstance(schema, dict) or not schema.keys() <= _PLAIN_KEYWORDS:
        return False
    kind = schema.get("type", "")
    is_open = kind == "object" and schema.get("additionalProperties") is not False
    if is_open or not isinstance(kind, str):
        return False
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    inner += [schema["items"]] if "items" in schema else []
    values_fit = set(map(type, schema.get("enum", []))) <= _TYPES.get(kind, set())
    return values_fit and all(map(_is_plain_schema, inner))


def _parts(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _alternates(messages: Messages) -> bool:
    """Whether there is at most a system message, then turns from the user to the user, no blank."""
    roles = [one["role"] for one in messages]
    turns = roles[roles[:1] == ["system"] :]
    # Images belong to the user.
    texts = [
        part.get("text", "an image" if one["role"] == "user" else None)
        for one in messages
        for part in _parts(one)
    ]
    return (
        len(turns) % 2 == 1
        and turns == (["user", "assistant"] * len(turns))[: len(turns)]
        and all(one.keys() == {"role", "content"} for one in messages)
        and all(isinstance(text, str) and text.strip() for text in texts)
    )


def _image(part: Mapping[str, Any], field: str) -> dict[str, str]:
    """An image, from its data URL; the providers name its type differently."""
    head, _, data = part["image_url"]["url"].partition(";base64,")
    return {field: head.removeprefix("data:"), "data": data}


def _counts(usage: object, *names: str) -> list[int]:
    """Counts of tokens; 0 for what is not given, or no number."""
    values = [usage.get(name) if isinstance(usage, dict) else None for name in names]
    return [value if isinstance(value, int) else 0 for value in values]


def _usage(
    sent: int, received: int, cached: int, thought: int, stored: int | None = None
) -> JsonObject:
    return {
        "prompt_tokens": sent,
        "completion_tokens": received,
        "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": stored},
        "completion_tokens_details": {"reasoning_tokens": thought},
    }
