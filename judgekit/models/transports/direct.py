"""Calls OpenAI, what is compatible with it, Anthropic and Gemini over HTTP, without litellm."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from judgekit.errors import SettingsError
from judgekit.http_session import http_sessions, read_body
from judgekit.models.capabilities import ChatProtocol, Negotiation, marked_messages, negotiate_reply
from judgekit.models.error_mapping import (
    PLACEHOLDER_KEY,
    ProviderFault,
    endpoint_label,
    fault_of_exception,
    fault_of_response,
    split_address,
)
from judgekit.models.protocols import AnthropicProtocol, GeminiProtocol, OpenRouterProtocol
from judgekit.models.request import ModelReply, ModelRequest, Transport
from judgekit.models.transports.litellm import LitellmModel

# What a judge says has some kilobytes. A larger body is no reply, and reading it all would keep the
# other calls waiting.
LARGEST_REPLY_BYTES = 2**20

_OK = 200

_to_json = json.JSONEncoder(separators=(",", ":")).encode


class _Host(NamedTuple):
    """Where a provider is called, and how, as its documentation and litellm have it."""

    base: str | None  # its address; None where it is always one's own
    base_variables: str  # that may hold another address, the first one first
    key_variables: str  # that may hold the key, the first one first
    wants_key: bool = True  # whether its own address refuses a call without a key
    renamed: Mapping[str, str] = MappingProxyType({})  # its names of parameters, by OpenAI's
    protocol: type[ChatProtocol] = ChatProtocol
    payers: Mapping[str, str] = MappingProxyType({})  # variables and headers, the stronger last


_HOSTS = {
    "openai": _Host(
        "https://api.openai.com/v1",
        "OPENAI_BASE_URL OPENAI_API_BASE",
        "OPENAI_API_KEY",
        payers={
            "OPENAI_ORG_ID": "OpenAI-Organization",
            "OPENAI_ORGANIZATION": "OpenAI-Organization",
            "OPENAI_PROJECT_ID": "OpenAI-Project",
        },
    ),
    "mistral": _Host(
        "https://api.mistral.ai/v1",
        "MISTRAL_API_BASE",
        "MISTRAL_API_KEY",
        renamed={"seed": "random_seed", "max_completion_tokens": "max_tokens"},
    ),
    "groq": _Host("https://api.groq.com/openai/v1", "GROQ_API_BASE", "GROQ_API_KEY"),
    "together_ai": _Host(
        "https://api.together.ai/v1",
        "TOGETHER_AI_API_BASE",
        "TOGETHER_API_KEY TOGETHER_AI_API_KEY TOGETHERAI_API_KEY TOGETHER_AI_TOKEN",
    ),
    "deepseek": _Host("https://api.deepseek.com/v1", "DEEPSEEK_API_BASE", "DEEPSEEK_API_KEY"),
    "openrouter": _Host(
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_BASE",
        "OPENROUTER_API_KEY OR_API_KEY",
        protocol=OpenRouterProtocol,
    ),
    "anthropic": _Host(
        "https://api.anthropic.com",
        "ANTHROPIC_API_BASE ANTHROPIC_BASE_URL",
        "ANTHROPIC_API_KEY",
        protocol=AnthropicProtocol,
    ),
    "gemini": _Host(
        "https://generativelanguage.googleapis.com",
        "GEMINI_API_BASE",
        "GOOGLE_API_KEY GEMINI_API_KEY",
        protocol=GeminiProtocol,
    ),
    "hosted_vllm": _Host(None, "HOSTED_VLLM_API_BASE", "HOSTED_VLLM_API_KEY", wants_key=False),
    "llamafile": _Host(
        "http://127.0.0.1:8080/v1", "LLAMAFILE_API_BASE", "LLAMAFILE_API_KEY", wants_key=False
    ),
    "ollama": _Host("http://localhost:11434", "OLLAMA_API_BASE", "OLLAMA_API_KEY", wants_key=False),
}
# litellm has two names for Ollama's two protocols of its own; the compatible one serves both.
_HOSTS["ollama_chat"] = _HOSTS["ollama"]

# OpenAI's models that answer no chat completions; litellm calls them by its other protocol.
_OTHER_PROTOCOL = re.compile(r"responses/|.*(?:-pro|codex|deep-research|computer-use|daybreak)\b")


def _own_address(provider: str, api_base: str | None) -> str | None:
    """The address that takes the place of the provider's own, where one is given."""
    variables = _HOSTS[provider].base_variables.split()
    return api_base or next(
        filter(None, (os.environ.get(one, "").strip() for one in variables)), None
    )


class DirectModel:
    """A model at its provider, or behind an endpoint of one's own, in the protocol it speaks.

    It sends what `LitellmModel` sends for the same request, and reads replies and errors in the
    same way; a call costs 0.4 ms of CPU, not 7. What the endpoint refuses (parameters, native
    reply schemas) is dropped, and remembered by this object. Of Anthropic's and Gemini's protocols
    it knows what judges need; any other request goes through litellm.
    """

    def __init__(self, model: str, *, api_base: str | None, timeout_s: float = 60) -> None:
        provider, _, bare = model.partition("/")
        # Other providers have protocols of their own, which litellm translates.
        if provider not in _HOSTS or not bare:
            known = ", ".join(f"{name}/NAME" for name in _HOSTS)
            raise SettingsError(f"{model!r} cannot be called directly", hint=f"name it {known}")
        self._host, own = _HOSTS[provider], _own_address(provider, api_base)
        base = own or self._host.base
        if base is None:
            raise SettingsError(
                f"transport=direct needs api_base for {provider}",
                hint="give the endpoint, up to and including /v1",
            )
        # Refused at once: aiohttp would report it at the first call, case by case.
        split_address(base, needs_http=True)
        base = base.removesuffix("/v1/messages").rstrip("/")  # as Anthropic's may be given
        # Ollama's variable names the server alone, as its other protocols want it; Mistral's may.
        is_short = provider.startswith(("ollama", "mistral")) and not base.endswith("/v1")
        self.name, self.base = model, f"{base}/v1" if is_short else base
        self.protocol = self._host.protocol(bare, is_own=own is not None)
        # What listens at an address of one's own mostly wants no key.
        wants_key = self._host.wants_key and own is None
        self.check = self._require_key if wants_key else None
        self.label = endpoint_label(provider, own)
        self.negotiation = Negotiation(
            self.protocol.own_forms if wants_key else ("json_schema", "plain"),
            renamed=self._host.renamed,
        )
        self._sessions = http_sessions(self.base, timeout_s=timeout_s)
        self._litellm = LitellmModel(model, api_base=api_base, timeout_s=timeout_s)

    def _require_key(self) -> None:
        names = self._host.key_variables.split()
        if not any(os.environ.get(name, "").strip() for name in names):
            raise SettingsError(
                f"no API key for {self.label} was found, so {self.name} cannot be called",
                hint=f"set the environment variable {' or '.join(names)}",
            )

    async def complete(self, request: ModelRequest) -> ModelReply:
        protocol = self.protocol
        # Copied once, since a request that is negotiated is sent several times.
        messages = (
            marked_messages(request, mark_cache=protocol.marks_cache)
            if request.images or protocol.marks_cache
            else list(map(dict, request.messages))
        )
        if protocol.dropped is not None:
            dropped = protocol.dropped(messages, request)
            if dropped is None:
                return await self._litellm.complete(request)
            self.negotiation.refused |= dropped
        send = partial(protocol.call, self.fetch, messages)
        return await negotiate_reply(self.negotiation, request, send, provider=self.label)

    async def aclose(self) -> None:
        await self._sessions.aclose()
        await self._litellm.aclose()

    async def embed(self, text: str) -> object | ProviderFault:
        return await self.fetch("embeddings", {"model": self.protocol.model, "input": text})

    def _own_headers(self, hint: str) -> dict[str, str]:
        """The key, and who pays, as the environment has them now."""
        # Read at a call and not before: planning and cached runs need no key. Servers of one's own
        # mostly want none, but an empty header is refused by some.
        key = PLACEHOLDER_KEY
        for name in reversed(self._host.key_variables.split()):
            key = os.environ.get(name, "").strip() or key
        if key is PLACEHOLDER_KEY and self.check is not None:
            self.check()  # which says what is missing
        if not key.isprintable():
            raise SettingsError(f"the key for {self.label} has more than one line", hint=hint)
        header, before = self.protocol.key_header
        headers = {header: before + key}
        for name, header in self._host.payers.items():
            if payer := os.environ.get(name, "").strip():
                if not payer.isprintable():
                    raise SettingsError(f"{name} has more than one line", hint=f"correct {name}")
                headers[header] = payer
        return headers

    async def fetch(
        self,
        route: str,
        content: Mapping[str, object] | bytes | None,
        *,
        headers: Mapping[str, str] = MappingProxyType({}),
        method: str = "POST",
        content_type: str = "application/json",
        most_bytes: int = LARGEST_REPLY_BYTES,
        is_json: bool = True,
    ) -> object | ProviderFault:
        """Call a route of the endpoint; what it answers, as JSON or as bytes."""
        session, names = await self._sessions.current(), self._host.key_variables
        hint = f"check the key in the environment variable {names.replace(' ', ' or ')}"
        body = _to_json(content).encode() if isinstance(content, Mapping) else content
        headers = {**self._own_headers(hint), "Content-Type": content_type, **headers}
        try:
            async with session.client.request(
                method, f"{self.base}/{route}", data=body, headers=headers, allow_redirects=False
            ) as response:
                raw = await read_body(response, most_bytes)
        except session.errors as error:
            return fault_of_exception(self.label, error)
        if response.status != _OK:
            text = raw.decode(errors="replace")
            return fault_of_response(self.label, response.status, text, response.headers, hint=hint)
        if len(raw) > most_bytes:
            text = f"more than {most_bytes // 2**20} MiB"
            return ProviderFault(self.label, "protocol", text=text)
        try:
            reply: object = json.loads(raw) if is_json else raw
        except (ValueError, RecursionError):
            text = raw[:1000].decode(errors="replace") or "an empty body"
            return ProviderFault(self.label, "protocol", text=text)
        return reply


def _is_preferred(model: str, api_base: str | None) -> bool:
    provider, _, bare = model.partition("/")
    if provider not in _HOSTS or not bare:
        return False
    own = _own_address(provider, api_base)
    # litellm also knows Anthropic's tokens, which are sent in another way than keys.
    key = os.environ.get("ANTHROPIC_API_KEY", "").strip()
    token = os.environ.get("ANTHROPIC_AUTH_TOKEN")
    if provider == "anthropic" and (key.startswith("sk-ant-oat") or (token and not key)):
        return False
    has_address = (own or _HOSTS[provider].base) is not None
    return has_address and not (provider == "openai" and not own and _OTHER_PROTOCOL.match(bare))


DIRECT = Transport(open=DirectModel, is_preferred=_is_preferred)
