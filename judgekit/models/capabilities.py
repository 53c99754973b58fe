"""Negotiates parameters and reply format with a model, and reads completions as replies."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import JsonValue

from judgekit.models.error_mapping import ProviderErrorKind, ProviderFault, fault_in_body
from judgekit.models.request import ModelReply, ModelRequest, TokenLogprob
from judgekit.records import JsonObject, Usage, message_parts

ReplyForm = Literal["json_schema", "tool", "plain"]
"""How a reply schema is made known: natively, as the one tool to call, or by the prompt alone."""

TOOL_NAME = "reply"
"""The name of the schema, and of the tool whose arguments are the reply."""

_UNPROCESSABLE = frozenset({400, 403, 404, 422})

# What a provider says where it refuses the form of the reply, or where its model did not keep to it
# (Groq); the plain form cannot be refused.
_ABOUT_THE_FORM: dict[ReplyForm, re.Pattern[str]] = {
    "json_schema": re.compile(
        r"response_format|json[_ ]schema|structured output|guided|grammar|failed_generation|"
        r"requested parameters",
        re.IGNORECASE,
    ),
    "tool": re.compile(
        r"\btools?\b|tool_choice|function call|failed_generation|requested parameters",
        re.IGNORECASE,
    ),
}

_ABOUT_THE_VALUE = re.compile(
    r"\b(less|greater|at most|at least|between|out of range|minimum|maximum)\b|[<>]=?",
    re.IGNORECASE,
)

# How a message names a parameter: as a name, or as a word, unless it is a common one.
_PLAINLY, _LOOSELY = r"[\"'`]{0}[\"'`]|\b{0}=", r"\b{0}\b"
_COMMON_WORDS = frozenset({"stop", "n", "user"})


@dataclass(frozen=True, slots=True)
class RequestPlan:
    """What is sent beside the messages."""

    parameters: dict[str, JsonValue]
    """Sampling parameters and, by the form, `response_format` or `tools` and `tool_choice`."""

    form: ReplyForm
    dropped: tuple[str, ...]


class Negotiation:
    """What one model has refused so far."""

    def __init__(
        self,
        forms: tuple[ReplyForm, ...],
        accepts: Callable[[str], bool] | None = None,
        *,
        renamed: Mapping[str, str] | None = None,
    ) -> None:
        self._forms = forms
        self._accepts = accepts
        self.refused: set[str] = set()
        self._renamed = dict(renamed or {})

    def plan(self, request: ModelRequest) -> RequestPlan:
        """What to send for a request, as far as is known now."""
        parameters: dict[str, JsonValue] = {}
        dropped: list[str] = []
        for requested, value in request.parameters.items():
            name = self._renamed.get(requested, requested)
            # None means "leave it to the provider"; some endpoints refuse an explicit null.
            if value is None:
                continue
            if name in self.refused or (self._accepts and not self._accepts(name)):
                dropped.append(requested)
            else:
                parameters[name] = value
        if "logprobs" in dropped and parameters.pop("top_logprobs", None) is not None:
            dropped.append("top_logprobs")  # it is an error without logprobs
        form: ReplyForm = "plain"
        if request.reply_schema is not None:
            form, more = _form_parameters(request.reply_schema, self._forms)
            parameters |= more
            dropped += ["response_format"] if form == "plain" else []
        return RequestPlan(parameters, form, tuple(dropped))

    def learns(self, fault: ProviderFault, request: ModelRequest, plan: RequestPlan) -> bool:
        """Take in why a plan was refused."""
        if fault.kind == "bad_request" and fault.status in _UNPROCESSABLE:
            about = _ABOUT_THE_FORM.get(plan.form)
            if about is not None and about.search(f"{fault.parameter or ''} {fault.text}"):
                # The last form is never given up: there would be nothing left to send.
                left = tuple(form for form in self._forms if form != plan.form)
                self._forms = left or self._forms
            elif (name := _blamed(fault, plan)) == "max_tokens":
                # The newer name of it is worth a try before it goes.
                self._renamed[name] = "max_completion_tokens"
            elif name is not None:
                self.refused.add(name)
        return self.plan(request) != plan


Messages = Sequence[Mapping[str, Any]]
"""Chat messages in OpenAI's form; the content of one is a text or a list of parts."""

Fetch = Callable[..., Awaitable[object]]
"""Calls a route with a body, and further headers; what it answers as JSON, or a fault."""


class ChatProtocol:
    """How a model is called over HTTP: by OpenAI's chat completions, as most are.

    Other protocols are in `judgekit.models.protocols`.
    """

    key_header: ClassVar = ("Authorization", "Bearer ")
    """The header of the key, and what stands before the key in it."""

    own_forms: ClassVar[tuple[ReplyForm, ...]] = ("json_schema", "tool", "plain")
    """How a schema may be made known at the provider's own address, the best one first."""

    can_mark_cache: ClassVar = False
    more: ClassVar[Mapping[str, object]] = {}  # what is sent with each request

    def __init__(self, model: str, *, is_own: bool) -> None:
        self.model = model
        self.is_own = is_own
        # Of all models, only Claude wants to know how far a prompt is shared.
        self.marks_cache = self.can_mark_cache and "claude" in model.lower()
        # The parameters that are never sent with a request; None where litellm has to send it.
        self.dropped: Callable[[Messages, ModelRequest], frozenset[str] | None] | None = None

    async def call(self, fetch: Fetch, messages: Messages, plan: RequestPlan) -> object:
        """Send a request; its reply as a chat completion, or a fault."""
        body = {"model": self.model, "messages": messages, **plan.parameters, **self.more}
        return await fetch("chat/completions", body)


async def negotiate_reply(
    negotiation: Negotiation,
    request: ModelRequest,
    send: Callable[[RequestPlan], Awaitable[object]],
    *,
    provider: str,
) -> ModelReply:
    """Ask once; again only where the provider refused a parameter or the form of the reply."""
    while True:
        # Planned again for each attempt: another call may have learned of a refusal meanwhile.
        plan = negotiation.plan(request)
        started = time.perf_counter()
        body = await send(plan)
        duration_ms = (time.perf_counter() - started) * 1000
        if not isinstance(body, ProviderFault):
            body = parse_completion(
                body,
                provider=provider,
                by_tool=plan.form == "tool",
                dropped=plan.dropped,
                duration_ms=duration_ms,
            )
        elif body.kind == "truncated":  # an error to the provider, and paid for all the same
            return ModelReply(
                text=None,
                finish_reason="length",
                dropped_parameters=plan.dropped,
                duration_ms=duration_ms,
            )
        if isinstance(body, ModelReply):
            return body
        # Ends when the plan stays the same: sending it again would bring the same refusal.
        if not negotiation.learns(body, request, plan):
            raise body.to_error()


def marked_messages(request: ModelRequest, *, mark_cache: bool) -> list[dict[str, Any]]:
    """The messages; where it helps, with marks that say how far the prompt is shared."""
    messages: list[dict[str, Any]] = [*request.chat_messages]
    if not mark_cache or not request.shared_prefix:
        return messages
    for message in messages[:-1]:
        if message["role"] == "system" and message["content"]:
            message["content"] = [_marked(message["content"])]
    if messages and messages[-1]["role"] == "user":
        content = request.messages[-1]["content"]
        shared, rest = content[: request.shared_prefix], content[request.shared_prefix :]
        parts = message_parts(shared, request.images)
        # The mark says that everything up to it is shared.
        parts[-1:] = [part | {"cache_control": {"type": "ephemeral"}} for part in parts[-1:]]
        messages[-1]["content"] = parts + message_parts(rest, request.images)
    return messages


def _marked(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}


def _form_parameters(
    schema: JsonObject, forms: tuple[ReplyForm, ...]
) -> tuple[ReplyForm, dict[str, JsonValue]]:
    """The first form that fits a schema, and what is sent for it."""
    for form in forms:
        if form == "json_schema":
            named: JsonObject = {"name": TOOL_NAME, "schema": schema, "strict": True}
            return form, {"response_format": {"type": "json_schema", "json_schema": named}}
        # The arguments of a tool are an object, so other schemas cannot be sent as one.
        if form == "tool" and schema.get("type") == "object":
            function: JsonObject = {
                "name": TOOL_NAME,
                "description": "Give the whole reply by calling this function once.",
                "parameters": schema,
            }
            choice: JsonObject = {"type": "function", "function": {"name": TOOL_NAME}}
            tools: JsonValue = [{"type": "function", "function": function}]
            return form, {"tools": tools, "tool_choice": choice}
    return "plain", {}


def _blamed(fault: ProviderFault, plan: RequestPlan) -> str | None:
    """The parameter a fault refuses; None when it objects to no name, or only to a value."""
    # A refused value is the caller's mistake; dropping the parameter would hide it.
    if _ABOUT_THE_VALUE.search(fault.text):
        return None
    if fault.parameter in plan.parameters:
        return fault.parameter
    names = plan.parameters.keys()
    for pattern, candidates in ((_PLAINLY, names), (_LOOSELY, names - _COMMON_WORDS)):
        found = {name: re.search(pattern.format(name), fault.text) for name in candidates}
        places = {match.start(): name for name, match in found.items() if match}
        if places:
            return places[min(places)]
    return None


LOWEST_LOGPROB = -1e9
"""What stands for the log-probability of something impossible, which records cannot hold."""

_REASONING = re.compile(
    r"<(?:think|thinking|budget:thinking)>.*?</(?:think|thinking|budget:thinking)>(.*)", re.DOTALL
)

_FILTERED = (
    "content_filter", "content_filtered", "refusal", "SAFETY", "RECITATION", "BLOCKLIST",
    "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "OTHER", "NO_IMAGE", "ESCALATION", "IMAGE_SAFETY",
    "IMAGE_RECITATION", "IMAGE_OTHER", "IMAGE_PROHIBITED_CONTENT", "sensitive",
    "guardrail_intervened",
)  # fmt: skip

_CUT_SHORT = (
    "length", "max_tokens", "MAX_TOKENS", "model_length", "model_context_window_exceeded",
    "compaction", "pause_turn",
)  # fmt: skip

# OpenAI's word for each provider's; litellm calls everything else `stop`, and so do we.
_FINISH_REASONS: dict[str | None, str] = {
    **dict.fromkeys(_FILTERED, "content_filter"),
    **dict.fromkeys(_CUT_SHORT, "length"),
    **dict.fromkeys(("tool_calls", "tool_use", "function_call"), "tool_calls"),
    # The provider broke off (OpenRouter, Mistral, DeepSeek, Zhipu): what there is of the text is no
    # reply.
    **dict.fromkeys(("error", "insufficient_system_resource", "network_error"), "error"),
}


def parse_completion(
    body: object,
    *,
    provider: str,
    by_tool: bool = False,
    dropped: tuple[str, ...] = (),
    duration_ms: float | None = None,
) -> ModelReply | ProviderFault:
    """Read the body of a successful chat completion."""
    # Reasoning is no part of the text. A refusal becomes a `content_filter` reply with the refusal
    # as its text. Of a forced tool call the arguments are the text. Usage that is all zero, and
    # usage and log-probabilities that cannot be read, count as not given: the reply is paid for.
    if not isinstance(body, dict):
        return ProviderFault(provider, "protocol", text=f"a JSON {type(body).__name__}, no object")
    if body.get("error"):
        return fault_in_body(provider, body["error"])
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        kind: ProviderErrorKind = "empty" if choices == [] else "protocol"
        return ProviderFault(provider, kind, text=f"no choices in {str(body)[:200]}")
    choice = choices[0]
    try:
        text, finish_reason = _text_and_finish_reason(choice, by_tool=by_tool)
        usage, logprobs, model = body.get("usage"), choice.get("logprobs"), body.get("model")
        if finish_reason == "error":
            broken_off = {"code": 502, "message": "it broke off in the middle of the reply"}
            return fault_in_body(provider, choice.get("error") or broken_off)
        return ModelReply(
            text=text,
            finish_reason=finish_reason,
            usage=_usage(usage),
            cost_usd=_charge(usage) if provider.startswith("openrouter") else None,
            model=model if isinstance(model, str) else None,
            logprobs=_logprobs(logprobs) if logprobs else None,
            dropped_parameters=dropped,
            duration_ms=duration_ms,
        )
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        text = f"no chat completion ({type(error).__name__}): {str(choice)[:200]}"
        return ProviderFault(provider, "protocol", text=text)


def _text_and_finish_reason(choice: Mapping[str, Any], *, by_tool: bool) -> tuple[Any, str]:
    message = choice.get("message") or {}
    # litellm keeps the provider's own word for what it calls `stop`.
    more = message.get("provider_specific_fields") or {}
    own = choice.get("provider_specific_fields") or {}
    finish_reason = _FINISH_REASONS.get(choice.get("finish_reason")) or _FINISH_REASONS.get(
        own.get("native_finish_reason"), "stop"
    )
    refusal = message.get("refusal") or more.get("refusal")
    text: object = message.get("content")
    if isinstance(text, list):
        refusal = refusal or _text_of_parts(text, "refusal")
        text = _text_of_parts(text)
    if refusal and not text:
        return refusal, "content_filter"
    calls = message.get("tool_calls")
    # Of a schema litellm makes a tool, where a model has no schemas, and leaves Groq's calls so.
    if calls and (by_tool or calls[0]["function"].get("name") == "json_tool_call"):
        ended = "stop" if finish_reason == "tool_calls" else finish_reason
        return calls[0]["function"]["arguments"], ended
    if isinstance(text, str) and not message.get("reasoning_content"):
        thought = _REASONING.match(text)
        text = thought.group(1) if thought else text
    return text, finish_reason


def _text_of_parts(parts: Sequence[Any], kind: str = "text") -> str | None:
    """The text of a message whose content is a list of parts; parts of other kinds are left out."""
    # Reasoning comes as a part too, and Mistral's and OpenAI's names of parts differ.
    texts = [
        part if isinstance(part, str) else part[kind]
        for part in parts
        if (isinstance(part, str) and kind == "text")
        or (
            isinstance(part, dict) and str(part.get("type", "text")).endswith(kind) and kind in part
        )
    ]
    return "".join(texts) if texts else None


def _usage(usage: object) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    # Providers add fields of their own; null stands for 0.
    fields = {
        "prompt_tokens": usage.get("prompt_tokens") or 0,
        "completion_tokens": usage.get("completion_tokens") or 0,
        "prompt_tokens_details": usage.get("prompt_tokens_details")
        or {"cached_tokens": usage.get("prompt_cache_hit_tokens")},  # DeepSeek's
        "completion_tokens_details": usage.get("completion_tokens_details"),
    }
    try:
        read = Usage.model_validate(fields)
    except ValueError:
        return None
    return read if read.input_tokens or read.output_tokens else None


def _charge(usage: object) -> float | None:
    """What OpenRouter charged, in dollars; a model has many prices there, and no table them."""
    if not isinstance(usage, dict):
        return None
    parts = [usage.get("cost")]
    if usage.get("is_byok"):  # a key of one's own, so that `cost` is only OpenRouter's fee
        details = usage.get("cost_details")
        parts += [details.get("upstream_inference_cost") if isinstance(details, dict) else None]
    known = [one for one in parts if isinstance(one, int | float) and 0 <= one < math.inf]
    return float(sum(known)) if len(known) == len(parts) else None


def _logprobs(logprobs: object) -> tuple[TokenLogprob, ...] | None:
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not content:
        return None
    try:
        return tuple(
            TokenLogprob(
                token=entry["token"],
                logprob=_clipped(entry["logprob"]),
                top=tuple(
                    (other["token"], _clipped(other["logprob"]))
                    for other in entry.get("top_logprobs") or ()
                ),
            )
            for entry in content
        )
    except (AttributeError, LookupError, TypeError, ValueError):
        return None


def _clipped(logprob: float | None) -> float:
    if logprob is None or math.isnan(logprob):
        return LOWEST_LOGPROB
    return max(LOWEST_LOGPROB, min(0.0, logprob))
