"""Calls an OpenAI-compatible endpoint over HTTP, without litellm."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from judgekit.errors import SettingsError
from judgekit.http_session import http_sessions, read_body
from judgekit.models.capabilities import Negotiation, RequestPlan, negotiate_reply
from judgekit.models.error_mapping import (
    OWN_ENDPOINT_KEYS,
    PLACEHOLDER_KEY,
    ProviderFault,
    endpoint_label,
    fault_of_exception,
    fault_of_response,
    key_variable,
)
from judgekit.models.request import ModelReply, ModelRequest, Transport

# What a judge says has some kilobytes. A larger body is no reply, and reading it all would keep the
# other calls waiting.
LARGEST_REPLY_BYTES = 2**20

_OK = 200


class DirectModel:
    """A model behind an OpenAI-compatible endpoint of one's own.

    It sends what `LitellmModel` sends for the same request, and reads replies and errors in the
    same way; a call costs 0.4 ms of CPU, not 7. What the endpoint refuses (parameters, native
    reply schemas) is dropped, and remembered by this object.
    """

    def __init__(self, model: str, *, api_base: str | None, timeout_s: float = 60) -> None:
        if api_base is None:
            raise SettingsError(
                "transport=direct needs api_base", hint="give the endpoint, up to and including /v1"
            )
        provider, _, bare = model.partition("/")
        # Other providers have protocols of their own, which litellm translates.
        if provider not in OWN_ENDPOINT_KEYS or not bare:
            known = " or ".join(f"{name}/NAME" for name in OWN_ENDPOINT_KEYS)
            raise SettingsError(f"{model!r} cannot be called directly", hint=f"name it {known}")
        # Refused at once: aiohttp would report it at the first call, case by case.
        if urlsplit(api_base).scheme not in {"http", "https"}:
            raise SettingsError(f"{api_base!r} is no HTTP address", hint="http://HOST:PORT/v1")
        self.name, self._bare = model, bare
        self._base = api_base.rstrip("/")
        self._key_name = key_variable(provider)
        self._label = endpoint_label(provider, api_base)
        self._negotiation = Negotiation(("json_schema", "plain"))
        self._sessions = http_sessions(self._base, timeout_s=timeout_s)

    async def complete(self, request: ModelRequest) -> ModelReply:
        # Copied once, since a request that is negotiated is sent several times.
        messages = request.chat_messages if request.images else list(map(dict, request.messages))

        async def send(plan: RequestPlan) -> object | ProviderFault:
            body = {"model": self._bare, "messages": messages, **plan.parameters}
            return await self._post("chat/completions", body)

        return await negotiate_reply(self._negotiation, request, send, provider=self._label)

    async def aclose(self) -> None:
        await self._sessions.aclose()

    async def embed(self, text: str) -> object | ProviderFault:
        return await self._post("embeddings", {"model": self._bare, "input": text})

    async def _post(self, route: str, content: Mapping[str, object]) -> object | ProviderFault:
        # Read at a call and not before: planning and cached runs need no key. Servers of one's own
        # mostly want none, but an empty header is refused by some.
        key = os.environ.get(self._key_name, "").strip() or PLACEHOLDER_KEY
        session = await self._sessions.current()
        body = json.dumps(content).encode()
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        try:
            async with session.client.post(
                f"{self._base}/{route}", data=body, headers=headers, allow_redirects=False
            ) as response:
                raw = await read_body(response, LARGEST_REPLY_BYTES)
        except session.errors as error:
            return fault_of_exception(self._label, error)
        if response.status != _OK:
            hint = f"check the key in the environment variable {self._key_name}"
            text = raw.decode(errors="replace")
            return fault_of_response(
                self._label, response.status, text, response.headers, hint=hint
            )
        if len(raw) > LARGEST_REPLY_BYTES:
            text = f"more than {LARGEST_REPLY_BYTES // 2**20} MiB"
            return ProviderFault(self._label, "protocol", text=text)
        try:
            reply: object = json.loads(raw)
        except (ValueError, RecursionError):
            text = raw[:1000].decode(errors="replace") or "an empty body"
            return ProviderFault(self._label, "protocol", text=text)
        return reply


def _is_preferred(model: str, api_base: str | None) -> bool:
    provider, slash, _ = model.partition("/")
    return bool(api_base and slash) and provider in OWN_ENDPOINT_KEYS


DIRECT = Transport(open=DirectModel, is_preferred=_is_preferred)
