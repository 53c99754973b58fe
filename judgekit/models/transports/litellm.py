"""Calls any provider through litellm, which is imported at the first call."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import os
import re
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgekit.errors import SettingsError
from judgekit.fingerprint import thawed
from judgekit.http_session import LoopScoped
from judgekit.models.capabilities import (
    ChatProtocol,
    Negotiation,
    ReplyForm,
    RequestPlan,
    marked_messages,
    negotiate_reply,
)
from judgekit.models.error_mapping import (
    OWN_ENDPOINT_PROVIDERS,
    ProviderFault,
    RedactingFilter,
    endpoint_label,
    fault_of_exception,
    key_variable,
    own_endpoint_key,
)
from judgekit.models.protocols import NATIVE_PROTOCOLS, NativeProtocol
from judgekit.models.request import ModelReply, ModelRequest, Transport

_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else the import asks the network for prices
    "LITELLM_MODE": "PRODUCTION",  # else the import reads a .env file of any parent folder
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOG": "ERROR",
}

# Providers that authenticate in other ways than by a key in one variable.
_CLOUDS = frozenset({"bedrock", "sagemaker", "vertex_ai"})
_AMBIENT_PROVIDERS = frozenset({"azure", "azure_ai", *_CLOUDS})

_CACHE_MARKED = frozenset({"anthropic", "azure_ai", "bedrock", "openrouter", "vertex_ai"})
_PLAIN_ERRORS = (OSError, RuntimeError, ValueError, TypeError, LookupError, AttributeError)

_LEFT_BEHIND = r"coroutine '\w+\.(async_completion|acompletion)' was never awaited"


class LitellmModel:
    """A model behind any provider that litellm knows.

    litellm's own retries are off; wrap it in a `LimitedModel`. What the model refuses
    (parameters, native reply schemas) is dropped, and remembered by this object.
    """

    def __init__(
        self,
        model: str,
        *,
        api_base: str | None = None,
        timeout_s: float = 60,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = model
        self._api_base = api_base
        self._timeout_s = timeout_s
        self._extra = dict(extra or {})
        self._route: _Route | None = None

    async def complete(self, request: ModelRequest) -> ModelReply:
        route = self._found_route()
        messages = marked_messages(request, mark_cache=route.takes_cache_marks)

        async def send(plan: RequestPlan) -> object | ProviderFault:
            parameters = {name: thawed(value) for name, value in plan.parameters.items()}
            if plan.form == "tool":
                # With tools, litellm looks for servers of the Model Context Protocol among them,
                # and fails where that protocol's package is not installed.
                parameters["_skip_mcp_handler"] = True
            return await self._send(
                route, route.litellm.acompletion, {**parameters, "messages": messages}
            )

        return await negotiate_reply(route.negotiation, request, send, provider=route.label)

    def check(self) -> None:
        """Look the provider and its key up, as far as that goes without a request."""
        self._found_route()

    async def aclose(self) -> None:
        # Calls of other models would break, and be paid for twice. The last model, or the end of
        # the loop, closes them.
        connections = _CONNECTIONS.opened()
        if connections is not None and not connections.n_calls:
            await _CONNECTIONS.aclose()

    async def embed(self, text: str) -> object | ProviderFault:
        route = self._found_route()
        return await self._send(route, route.litellm.aembedding, {"input": [text]})

    def _found_route(self) -> _Route:
        if self._route is None:
            self._route = _find_route(self.name, self._api_base, self._extra)
        return self._route

    async def _send(
        self, route: _Route, function: Callable[..., Awaitable[Any]], content: dict[str, Any]
    ) -> object | ProviderFault:
        received: list[object] = []

        def keep(details: Mapping[str, Any]) -> None:
            received.append(details.get("original_response"))

        connections = await _CONNECTIONS.current()
        connections.n_calls += 1
        try:
            async with asyncio.timeout(self._timeout_s):  # litellm's own is no deadline
                response = await function(
                    **(content | route.arguments),
                    timeout=self._timeout_s,
                    num_retries=0,
                    max_retries=0,
                    logger_fn=keep,
                )
        except route.foreign_errors as error:
            # litellm fails on a completion whose usage or parts it does not know, although the
            # text is there and paid for.
            fault = fault_of_exception(route.label, error, hint=route.key_hint)
            return _completion_in(received, route, fault)
        finally:
            connections.n_calls -= 1
        body: object = response.model_dump()
        return body


def _completion_in(received: Sequence[object], route: _Route, fault: ProviderFault) -> object:
    text = received[-1] if received else None
    if not isinstance(text, str):
        return fault
    try:
        body: object = json.loads(text)
    except (ValueError, RecursionError):
        return fault
    if route.protocol is not None:
        return route.protocol.completion(body)
    choices = body.get("choices") if isinstance(body, dict) else None
    return body if isinstance(choices, list) and choices else fault


@dataclass(frozen=True, slots=True)
class _Route:
    """What litellm knows of a model, looked up once."""

    litellm: Any
    foreign_errors: tuple[type[Exception], ...]
    label: str
    key_hint: str
    negotiation: Negotiation
    protocol: NativeProtocol | None
    """How the replies are read that litellm fails on, where they have a form of their own."""

    takes_cache_marks: bool
    arguments: dict[str, Any]


def _find_route(model: str, api_base: str | None, extra: Mapping[str, Any]) -> _Route:
    litellm = _imported()
    own = (
        member
        for member in vars(litellm.exceptions).values()
        if inspect.isclass(member) and issubclass(member, Exception)
    )
    foreign_errors = (*own, litellm.exceptions.openai.OpenAIError, *_PLAIN_ERRORS, ImportError)
    try:
        bare, provider, *_ = litellm.get_llm_provider(model)
    except foreign_errors as error:
        raise SettingsError(
            f"litellm knows no provider of the model {model!r}",
            hint="name it PROVIDER/MODEL, for example openai/gpt-4.1-mini or hosted_vllm/my-model",
        ) from error
    if api_base is None and "api_key" not in extra and not litellm.api_key:
        _require_key(litellm, model, provider)
    native = NATIVE_PROTOCOLS.get(provider)
    arguments: dict[str, Any] = {"model": model}
    if api_base is not None:
        arguments["api_base"] = api_base
        if provider in OWN_ENDPOINT_PROVIDERS:
            arguments["api_key"] = own_endpoint_key(provider)
    elif (key := os.environ.get(key_variable(provider), "")) != key.strip():
        arguments["api_key"] = key.strip()  # a header takes no line break, and files end in one
    return _Route(
        litellm=litellm,
        foreign_errors=foreign_errors,
        label=endpoint_label(provider, api_base),
        key_hint=f"give {provider} its credentials in the variables that litellm documents"
        if provider in _CLOUDS
        else f"check the key in the environment variable {key_variable(provider)}",
        negotiation=_negotiation(litellm, bare, provider, is_own=api_base is not None),
        protocol=native and native(bare, is_own=True),
        takes_cache_marks=provider in _CACHE_MARKED
        and "claude" in bare.lower()
        and bool(litellm.utils.supports_prompt_caching(bare, provider)),
        arguments=arguments | dict(extra),
    )


def _imported() -> Any:
    """Import litellm, quietly and without the network; the user's own settings win."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    import litellm  # noqa: PLC0415 - seconds of import, 160 MB

    litellm.suppress_debug_info = True
    litellm.disable_hf_tokenizer_download = True
    for logger in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        log = logging.getLogger(logger)
        if os.environ["LITELLM_LOG"] == "ERROR":
            log.setLevel(logging.ERROR)
        if not any(isinstance(one, RedactingFilter) for one in log.filters):
            log.addFilter(RedactingFilter())
    # A deadline that falls while litellm still prepares a call, in a thread, leaves the prepared
    # call behind, never begun; Python would warn about it on stderr at some later time.
    warnings.filterwarnings("ignore", _LEFT_BEHIND, RuntimeWarning)
    with warnings.catch_warnings():  # pydantic finds fault with the type when it is first built
        warnings.simplefilter("ignore")
        litellm.ModelResponse()
    return litellm


def _require_key(litellm: Any, model: str, provider: str) -> None:
    if provider in _AMBIENT_PROVIDERS:
        return
    # CI sets the variable of a missing secret to an empty text, which litellm takes for a key.
    blank = {name: value for name, value in os.environ.items() if not value.strip()}
    for name in blank:
        del os.environ[name]
    try:
        missing = litellm.validate_environment(model)["missing_keys"]
    finally:
        os.environ.update(blank)
    names = [name for name in missing if name.endswith(("_KEY", "_TOKEN"))]
    if names:
        raise SettingsError(
            f"no API key for {provider} was found, so {model} cannot be called",
            hint=f"set the environment variable {' or '.join(names)}",
        )


def _negotiation(litellm: Any, bare: str, provider: str, *, is_own: bool) -> Negotiation:
    supported = frozenset(
        litellm.get_supported_openai_params(model=bare, custom_llm_provider=provider) or ()
    )
    standard = frozenset(litellm.OPENAI_CHAT_COMPLETION_PARAMS)

    def accepts(name: str) -> bool:
        return name in supported or name not in standard or not supported

    knows = litellm.utils
    is_known = bare in litellm.model_cost or f"{provider}/{bare}" in litellm.model_cost
    forms: tuple[ReplyForm, ...] = ("plain",)
    if knows.supports_response_schema(bare, provider):
        of_its_own = NATIVE_PROTOCOLS.get(provider, ChatProtocol).own_forms
        forms = ("json_schema", "plain") if is_own else of_its_own
    elif is_known and knows.supports_function_calling(bare, provider):
        forms = ("tool", "plain")
    elif not is_known and "response_format" in supported:
        forms = ("json_schema", "plain")
    return Negotiation(forms, accepts)


@dataclass(slots=True)
class _LoopConnections:
    n_calls: int = 0  # calls in flight


async def _connections() -> AsyncGenerator[_LoopConnections, None]:
    """Nothing is opened here: litellm does that at a call, and would leave it open."""
    try:
        yield _LoopConnections()
    finally:
        import litellm  # noqa: PLC0415 - a call has imported it

        cache = litellm.in_memory_llm_clients_cache
        ours = [
            key for key in cache.cache_dict if key.endswith(f"-{id(asyncio.get_running_loop())}")
        ]
        # All at once: a call that begins while one of them is being closed must not find another.
        clients = [cache.cache_dict.pop(key) for key in ours]
        for key in ours:
            cache.ttl_dict.pop(key, None)
        for client in clients:
            await client.close()
        if not any(re.search(r"-\d{6,}$", key) for key in cache.cache_dict):
            from litellm.llms.custom_httpx.async_client_cleanup import close_litellm_async_clients  # noqa: PLC0415

            await close_litellm_async_clients()
            cache.flush_cache()


# As global as litellm's own cache of clients.
_CONNECTIONS = LoopScoped(_connections)

LITELLM = Transport(open=LitellmModel)
