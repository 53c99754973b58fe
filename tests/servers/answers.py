"""The catalogue of answers a loopback model server can give: good replies and named faults."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, Literal

Manner = Literal[
    "whole", "hang", "drip", "reset_before", "reset_mid", "short", "slow_headers", "close_after"
]
"""How an answer goes over the wire; all but `whole` misbehave below HTTP."""


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    number: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server sends back; a `body` of None is a good completion made from the request.

    One that is held is sent when the test says so, by `OpenAILikeServer.release`.
    """

    text: str | None = '{"rationale": "as asked", "score": 4}'
    status: int = 200
    body: bytes | dict[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    manner: Manner = "whole"
    delay_s: float = 0.0
    is_held: bool = False
    finish_reason: str = "stop"
    message: Mapping[str, Any] = field(default_factory=dict)

    def payload(self, seen: SeenRequest) -> bytes:
        """The bytes of the body."""
        if isinstance(self.body, bytes):
            return self.body
        return json.dumps(completion(self, seen) if self.body is None else self.body).encode()


Script = None | str | Answer | Sequence["str | Answer"] | Callable[[SeenRequest], "str | Answer"]
"""One answer for all, answers in turn (then good ones), or a rule; a str names a fault."""


def completion(answer: Answer, seen: SeenRequest) -> dict[str, Any]:
    """An OpenAI-shaped completion that honours forced tools and log-probabilities."""
    asked = seen.body
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    finish_reason = answer.finish_reason
    if isinstance(asked.get("tool_choice"), dict):
        function = {"name": asked["tool_choice"]["function"]["name"], "arguments": answer.text}
        call = {"id": "call_1", "type": "function", "function": function}
        message |= {"content": None, "tool_calls": [call]}
        finish_reason = "tool_calls"
    choice = {
        "index": 0,
        "message": message | dict(answer.message),
        "finish_reason": finish_reason,
        "logprobs": _logprobs(answer.text or "") if asked.get("logprobs") else None,
    }
    sent = len(json.dumps(asked.get("messages", ""))) // 4
    received = len(answer.text or "") // 4
    return {
        "id": f"chatcmpl-{seen.number}",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": asked.get("model", "unknown"),
        "choices": [choice],
        "usage": {
            "prompt_tokens": sent,
            "completion_tokens": received,
            "total_tokens": sent + received,
        },
    }


def _logprobs(text: str) -> dict[str, Any]:
    tokens = [text[i : i + 4] for i in range(0, len(text), 4)][:8]
    content = [
        {
            "token": token,
            "logprob": -0.25,
            "bytes": None,
            "top_logprobs": [
                {"token": token, "logprob": -0.25, "bytes": None},
                {"token": "?", "logprob": -1.5, "bytes": None},
            ],
        }
        for token in tokens
    ]
    return {"content": content, "refusal": None}


def ok(text: str = '{"rationale": "as asked", "score": 4}', *, delay_s: float = 0.0) -> Answer:
    """A good completion."""
    return Answer(text=text, delay_s=delay_s)


def error(
    status: int,
    message: str,
    *,
    code: str | None = None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """An error in the shape OpenAI gives it."""
    body = {"message": message, "type": "some_error", "param": param, "code": code}
    return Answer(status=status, body={"error": body}, headers=headers or {})


def limited(retry_after: str) -> Answer:
    """A 429 that asks to be left alone for a while."""
    return error(429, "Rate limit reached", headers={"Retry-After": retry_after})


def refusing(
    *names: str, complaint: str = "Unsupported parameter: '{}'"
) -> Callable[[SeenRequest], Answer]:
    """A rule that answers 400 while a request holds one of the named fields."""

    def rule(seen: SeenRequest) -> Answer:
        for name in names:
            if name in seen.body:
                return error(400, complaint.format(name), param=name)
        return ok()

    return rule


def schedule(shares: Mapping[str, float], *, seed: int) -> Callable[[SeenRequest], str]:
    """A rule that draws a fault by its share of all requests, the same for the same seed."""

    def rule(seen: SeenRequest) -> str:
        draw = random.Random(f"{seed}/{seen.number}").random()
        for name, share in shares.items():
            draw -= share
            if draw < 0:
                return name
        return "ok"

    return rule


def _http_date(after_s: float) -> str:
    return format_datetime(datetime.now(tz=UTC) + timedelta(seconds=after_s), usegmt=True)


def _reflected_key(seen: SeenRequest) -> Answer:
    sent = seen.headers.get("authorization", "")
    return error(401, f"Incorrect API key provided: {sent}", code="invalid_api_key")


def _bomb(_: SeenRequest) -> Answer:
    packed = gzip.compress(b" " * (64 << 20), compresslevel=9)
    return Answer(body=packed, headers={"Content-Encoding": "gzip"})


_HTML = b"<html><body><h1>Sign in to the guest network</h1></body></html>"
_GATEWAY = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
_AS_HTML = {"Content-Type": "text/html"}
_NO_CHOICES = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": []}

FAULTS: dict[str, Answer | Callable[[SeenRequest], Answer]] = {
    "ok": Answer(),
    "400": error(400, "Invalid value for 'messages'", code="invalid_request"),
    "400_plain": Answer(status=400, body=b"bad request", headers={"Content-Type": "text/plain"}),
    "401": error(401, "Incorrect API key provided", code="invalid_api_key"),
    "402": error(402, "Insufficient credits"),
    "403": error(403, "Country not supported", code="unsupported_country"),
    "404": error(404, "The model 'm' does not exist", code="model_not_found"),
    "408": error(408, "Request timeout"),
    "413": error(413, "Request too large"),
    "422": error(422, "Unprocessable: messages.0.role"),
    "429": error(429, "Rate limit reached", code="rate_limit_exceeded"),
    "429ra_s": limited("2"),
    "429ra_fraction": limited("0.5"),
    "429ra_date": lambda _: replace(
        limited(_http_date(7)), headers={"Retry-After": _http_date(7), "Date": _http_date(0)}
    ),
    "429ra_huge": limited("86400"),
    "429ra_nonsense": limited("soon"),
    "quota": error(429, "You exceeded your current quota", code="insufficient_quota"),
    "quota_text": error(429, "insufficient_quota: please check your plan and billing"),
    "500": error(500, "The server had an error"),
    "502": Answer(status=502, body=_GATEWAY, headers=_AS_HTML),
    "503": error(503, "The engine is currently overloaded"),
    "504": error(504, "Gateway timeout"),
    "529": error(529, "Overloaded"),
    "503ra_s": replace(error(503, "Loading model"), headers={"Retry-After": "3"}),
    "context": error(
        400,
        "This model's maximum context length is 4096 tokens, your messages have 5000",
        code="context_length_exceeded",
    ),
    "filter400": error(
        400,
        "The response was filtered due to the prompt triggering the content management policy",
        code="content_filter",
    ),
    "hang": Answer(manner="hang"),
    "drip": Answer(manner="drip"),
    "slow_headers": Answer(manner="slow_headers"),
    "reset_before": Answer(manner="reset_before"),
    "reset_mid": Answer(manner="reset_mid"),
    "wrong_length": Answer(manner="short"),
    "close_idle": Answer(manner="close_after"),
    "trunc_body": Answer(body=b'{"id": "x", "choices": [{"message": {"content": "5'),
    "html200": Answer(body=_HTML, headers=_AS_HTML),
    "html_as_json": Answer(body=_HTML),
    "empty_body": Answer(body=b""),
    "json_list": Answer(body=b"[1, 2]"),
    "no_choices": Answer(body=_NO_CHOICES),
    "error200": Answer(body={"error": {"message": "upstream failed", "code": 500}}),
    "null_content": Answer(text=None),
    "empty_content": Answer(text=""),
    "refusal": Answer(text=None, message={"refusal": "I can't help with that."}),
    "content_filter": Answer(text="", finish_reason="content_filter"),
    "length": Answer(text='{"rationale": "it was a long', finish_reason="length"),
    "reasoning": Answer(message={"reasoning_content": "first I think"}),
    "malformed": Answer(text='{"rationale": "good", "score": '),
    "gzip_bomb": _bomb,
    "10MiB_reply": Answer(text="x" * (10 << 20)),
    "reflect_key": _reflected_key,
}
"""Every named answer; those that are functions look at the request."""


def resolve(choice: str | Answer, seen: SeenRequest) -> Answer:
    """The answer a choice stands for."""
    if isinstance(choice, Answer):
        return choice
    found = FAULTS[choice]
    return found if isinstance(found, Answer) else found(seen)
