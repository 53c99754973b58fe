"""Reads a provider's JSON body into a `ModelReply`; the same for every transport."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from judgekit.models.provider_errors import Fault, fault_in_body
from judgekit.models.request import ModelReply, TokenLogprob
from judgekit.records.output import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

LOWEST_LOGPROB = -1e9
"""What stands for the log-probability of something impossible, which records cannot hold."""

_REASONING = re.compile(
    r"<(?:think|thinking|budget:thinking)>.*?</(?:think|thinking|budget:thinking)>(.*)", re.DOTALL
)
_FILTERED = frozenset(
    {"content_filter", "refusal", "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT",
     "SPII", "sensitive", "guardrail_intervened"}
)  # fmt: skip
_CUT_OFF = frozenset({"length", "max_tokens", "MAX_TOKENS"})


def read_reply(
    body: object,
    *,
    provider: str,
    by_tool: bool = False,
    dropped: tuple[str, ...] = (),
    duration_ms: float | None = None,
) -> ModelReply | Fault:
    """Read the body of a successful chat completion."""
    # Reasoning is no part of the text. A refusal becomes a `content_filter` reply with the refusal
    # as its text. Of a forced tool call the arguments are the text. Usage that is all zero counts
    # as not given.
    if not isinstance(body, dict):
        return Fault(provider, "protocol", text=f"a JSON {type(body).__name__}, no object")
    fault = fault_in_body(provider, body)
    if fault is not None:
        return fault
    choices = body.get("choices")
    if not isinstance(choices, list):
        return Fault(provider, "protocol", text=f"no list of choices among {sorted(body)}")
    if not choices:
        return Fault(provider, "empty", text="the list of choices is empty")
    try:
        reply = _reply(body, choices[0], by_tool=by_tool)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        text = f"no chat completion ({type(error).__name__}): {str(choices[0])[:200]}"
        return Fault(provider, "protocol", text=text)
    return reply.model_copy(update={"dropped_parameters": dropped, "duration_ms": duration_ms})


def _reply(body: Mapping[str, Any], choice: Mapping[str, Any], *, by_tool: bool) -> ModelReply:
    text, finish_reason = _said(choice, by_tool=by_tool)
    return ModelReply(
        text=text,
        finish_reason=finish_reason,
        usage=_usage(body.get("usage")),
        model=body.get("model") if isinstance(body.get("model"), str) else None,
        logprobs=_logprobs(choice.get("logprobs")),
    )


def _said(choice: Mapping[str, Any], *, by_tool: bool) -> tuple[Any, str]:
    message = choice.get("message") or {}
    finish_reason = _finish_reason(choice.get("finish_reason"))
    refusal = message.get("refusal") or (message.get("provider_specific_fields") or {}).get(
        "refusal"
    )
    text = message.get("content")
    if refusal and not text:
        return refusal, "content_filter"
    calls = message.get("tool_calls")
    if by_tool and calls:
        ended = "stop" if finish_reason == "tool_calls" else finish_reason
        return calls[0]["function"]["arguments"], ended
    if isinstance(text, str) and not message.get("reasoning_content"):
        thought = _REASONING.match(text)
        text = thought.group(1) if thought else text
    return text, finish_reason


def _finish_reason(reason: str | None) -> str:
    """OpenAI's word for it; litellm calls everything else `stop`, and so do we."""
    if reason in _FILTERED:
        return "content_filter"
    if reason in _CUT_OFF:
        return "length"
    return "tool_calls" if reason in {"tool_calls", "tool_use", "function_call"} else "stop"


def _usage(usage: Mapping[str, Any] | None) -> Usage | None:
    if not usage:
        return None
    sent, received = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
    if not sent and not received:
        return None
    return Usage(
        input_tokens=sent,
        output_tokens=received,
        cached_input_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
        reasoning_tokens=(usage.get("completion_tokens_details") or {}).get("reasoning_tokens")
        or 0,
    )


def _logprobs(logprobs: Mapping[str, Any] | None) -> tuple[TokenLogprob, ...] | None:
    content = (logprobs or {}).get("content")
    if not content:
        return None
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


def _clipped(logprob: float | None) -> float:
    if logprob is None or math.isnan(logprob):
        return LOWEST_LOGPROB
    return max(LOWEST_LOGPROB, min(0.0, logprob))
