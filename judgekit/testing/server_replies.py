"""What a model server may answer: good replies, and the named faults of `ChaosServer`."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cache
from typing import Any, Literal

from judgekit.models import SchemaFiller, allowed_scores, nearest_score, typed_score
from judgekit.records import JsonObject

__all__ = ["SERVER_FAULTS", "ServedReply", "ServedRequest"]
Manner = Literal[
    "whole", "close_after", "no_length", "drip", "slow_headers", "hang", "endless", "bad_status",
    "reset_before", "reset_headers", "reset_mid", "short", "cut_chunks", "huge_header",
]  # fmt: skip
"""How a reply is sent. The first five arrive whole; the others misbehave below HTTP."""

ARRIVES_WHOLE = frozenset({"whole", "close_after", "no_length", "drip", "slow_headers"})
_MIB = 1 << 20
_WORTH = 0.75  # of a scale: the score of a good reply, 4 of 5


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """One request as it arrived.

    Attributes:
        path: The path of the address.
        headers: The headers by their names in lower case.
        body: The JSON of the body.
        number: How many requests came before it.
    """

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    number: int


@dataclass(frozen=True, slots=True)
class ServedReply:
    """What the server sends back.

    Attributes:
        text: The text of the completion; None: the server's good reply.
        status: The HTTP status.
        body: The whole body, in place of a completion with `text`.
        headers: Further headers, or others than usual.
        manner: How it is sent.
        delay_s: Seconds before it is sent.
        is_held: Whether it waits until `ChaosServer.release` is called.
        finish_reason: Why the completion ended.
        message: Fields of the completion's message, over the usual ones.
        fields: Fields of the completion, over the usual ones.
    """

    text: str | None = None
    status: int = 200
    body: bytes | Mapping[str, object] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    manner: Manner = "whole"
    delay_s: float = 0.0
    is_held: bool = False
    finish_reason: str | None = "stop"
    message: Mapping[str, object] = field(default_factory=dict)
    fields: Mapping[str, object] = field(default_factory=dict)

    def payload(self, request: ServedRequest) -> bytes:
        """The bytes of the body."""
        if isinstance(self.body, bytes):
            return self.body
        whole = self.body
        if whole is None:
            whole = _native(self._completion(request), request.path)
        return json.dumps(whole).encode()

    def _completion(self, request: ServedRequest) -> dict[str, object]:
        """A completion in OpenAI's form, with the tool call or log-probabilities asked for."""
        asked, text = request.body, self.text or ""
        message: dict[str, object] = {"role": "assistant", "content": self.text}
        finish_reason = self.finish_reason
        choice = asked.get("tool_choice")
        if isinstance(choice, dict) and isinstance(choice.get("function"), dict):
            call = {"name": choice["function"]["name"], "arguments": text}
            message["tool_calls"] = [{"id": "call_1", "type": "function", "function": call}]
            message["content"], finish_reason = None, "tool_calls"
        first: dict[str, object] = {
            "index": 0,
            "message": {**message, **self.message},
            "finish_reason": finish_reason,
            "logprobs": _logprobs(text) if asked.get("logprobs") else None,
        }
        n_sent, n_received = (
            len(json.dumps(asked.get("messages") or asked.get("contents", ""))) // 4,
            len(text) // 4,
        )
        usage = {"prompt_tokens": n_sent, "completion_tokens": n_received}
        completion: dict[str, object] = {
            "id": f"chatcmpl-{request.number}",
            "object": "chat.completion",
            "created": 1_790_000_000,
            "model": asked.get("model", "unknown"),
            "choices": [first],
            "usage": {**usage, "total_tokens": n_sent + n_received},
        }
        return {**completion, **self.fields}


def _native(completion: Mapping[str, Any], path: str) -> Mapping[str, object]:
    """A completion as Anthropic or Gemini sends it, where the address is one of theirs."""
    if not path.endswith(("/v1/messages", ":generateContent")) or not completion["choices"]:
        return completion
    choice, usage, model = completion["choices"][0], completion["usage"], completion["model"]
    text, reason = choice["message"]["content"], choice["finish_reason"]
    sent, received = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if path.endswith("/v1/messages"):
        ends = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
        return {
            "type": "message", "role": "assistant", "model": model,
            "content": [{"type": "text", "text": text}], "stop_reason": ends.get(reason, reason),
            "usage": {"input_tokens": sent, "output_tokens": received},
        }  # fmt: skip
    ends = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
    content = {"role": "model", "parts": [{"text": text}]}
    counts = {"promptTokenCount": sent, "candidatesTokenCount": received}
    counts["totalTokenCount"] = usage.get("total_tokens")
    return {
        "candidates": [{"content": content, "finishReason": ends.get(reason, reason)}],
        "usageMetadata": counts, "modelVersion": model,
    }  # fmt: skip


Fault = ServedReply | Callable[[ServedRequest], ServedReply]


def schema_reply(request: ServedRequest) -> str:
    """A valid verdict for the request's schema: three quarters of each scale, and no preference."""
    wanted = request.body.get("response_format")
    named = wanted.get("json_schema") if isinstance(wanted, dict) else None
    named = named or request.body.get("output_format")  # Anthropic's
    schema = named.get("schema") if isinstance(named, dict) else None
    schema = schema or request.body.get("generationConfig", {}).get("response_json_schema")
    if not isinstance(schema, dict):
        return '{"evidence": [], "rationale": "A good reply.", "score": 4}'

    def score(part: JsonObject, _: str | None) -> float:
        return typed_score(nearest_score(allowed_scores(part, _WORTH), _WORTH), part)

    return json.dumps(SchemaFiller(schema, score, lambda _: "tie").fill())


def http_error(
    status: int, message: str, *, code: str | None = None, param: str | None = None, **headers: str
) -> ServedReply:
    """An error in OpenAI's form; `Retry_After` is the header Retry-After."""
    body: JsonObject = {"message": message, "type": "some_error", "param": param, "code": code}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return ServedReply(status=status, body={"error": body}, headers=named)


def _logprobs(text: str) -> JsonObject:
    tokens = [text[i : i + 4] for i in range(0, len(text), 4)][:8]
    content: list[JsonObject] = [
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
    return {"content": [*content], "refusal": None}


def _http_date(after_s: float) -> str:
    return format_datetime(datetime.now(tz=UTC) + timedelta(seconds=after_s), usegmt=True)


def _dated_limit(_: ServedRequest) -> ServedReply:
    headers = {"Retry-After": _http_date(7), "Date": _http_date(0)}
    return replace(http_error(429, "Rate limit reached"), headers=headers)


def _reflected_key(request: ServedRequest) -> ServedReply:
    sent = request.headers.get("authorization", "")
    return http_error(401, f"Incorrect API key provided: {sent}", code="invalid_api_key")


def _packed(encoding: str, pack: Callable[[bytes], bytes]) -> Fault:
    """The good reply in a compressed body."""

    def fault(request: ServedRequest) -> ServedReply:
        plain = ServedReply(schema_reply(request)).payload(request)
        return ServedReply(body=pack(plain), headers={"Content-Encoding": encoding})

    return fault


@cache
def _bomb() -> bytes:
    return gzip.compress(b" " * (64 * _MIB), compresslevel=9)


def _streamed(request: ServedRequest) -> ServedReply:
    """A stream of events, although none was asked for."""
    chunk = ServedReply(schema_reply(request)).payload(request)
    body = b"data: " + chunk + b"\n\ndata: [DONE]\n\n"
    return ServedReply(body=body, headers={"Content-Type": "text/event-stream"})


def _in_bytes(change: Callable[[bytes], bytes]) -> Fault:
    return lambda request: ServedReply(
        body=change(ServedReply(schema_reply(request)).payload(request))
    )


def _page(status: int, title: str) -> ServedReply:
    body = f"<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>"
    return ServedReply(status=status, body=body.encode(), headers={"Content-Type": "text/html"})


def _without(name: str) -> Fault:
    def fault(request: ServedRequest) -> ServedReply:
        whole = json.loads(ServedReply(schema_reply(request)).payload(request))
        return ServedReply(body={key: value for key, value in whole.items() if key != name})

    return fault


_NO_MESSAGE: JsonObject = {"choices": [{"index": 0, "finish_reason": "stop"}]}
_NO_CONTENT: JsonObject = {"choices": [{"index": 0, "message": {"role": "assistant"}}]}
_FILTERED = "The response was filtered due to the prompt triggering the content management policy"
_LIMITED, _LOADING = "Rate limit reached", "model is loading"

SERVER_FAULTS: dict[str, Fault] = {
    "ok": ServedReply(),
    # Statuses: final ones, passing ones, and limits with and without a time to wait.
    "400": http_error(400, "Invalid value for 'messages'", code="invalid_request"),
    "400_plain": ServedReply(
        status=400, body=b"bad request", headers={"Content-Type": "text/plain"}
    ),
    "401": http_error(401, "Incorrect API key provided", code="invalid_api_key"),
    "402": http_error(402, "Insufficient credits"),
    "403": http_error(403, "Country not supported", code="unsupported_country"),
    "403_page": _page(403, "Access denied"),
    "404": http_error(404, "The model 'm' does not exist", code="model_not_found"),
    "405": http_error(405, "Method not allowed"),
    "408": http_error(408, "Request timeout"),
    "409": http_error(409, "Conflict"),
    "410": http_error(410, "The model has been retired"),
    "413": http_error(413, "Request too large"),
    "422": http_error(422, "Unprocessable: messages.0.role"),
    "425": http_error(425, "Too early"),
    "429": http_error(429, _LIMITED, code="rate_limit_exceeded"),
    "429ra_s": http_error(429, _LIMITED, Retry_After="2"),
    "429ra_fraction": http_error(429, _LIMITED, Retry_After="0.5"),
    "429ra_zero": http_error(429, _LIMITED, Retry_After="0"),
    "429ra_date": _dated_limit,
    "429ra_huge": http_error(429, _LIMITED, Retry_After="86400"),
    "429ra_negative": http_error(429, _LIMITED, Retry_After="-5"),
    "429ra_nonsense": http_error(429, _LIMITED, Retry_After="soon"),
    "429_page": _page(429, "Too many requests"),
    "quota": http_error(429, "You exceeded your current quota", code="insufficient_quota"),
    "quota_text": http_error(429, "insufficient_quota: please check your plan and billing"),
    "500": http_error(500, "The server had an error"),
    "500_empty": ServedReply(status=500, body=b""),
    "501": http_error(501, "Not implemented"),
    "502": _page(502, "502 Bad Gateway"),
    "503": http_error(503, "The engine is currently overloaded"),
    "503ra_s": http_error(503, "Loading model", Retry_After="3"),
    "504": http_error(504, "Gateway timeout"),
    "520": _page(520, "Web server is returning an unknown error"),
    "529": http_error(529, "Overloaded"),
    "context": http_error(
        400,
        "This model's maximum context length is 4096 tokens, your messages have 5000",
        code="context_length_exceeded",
    ),
    "filter400": http_error(400, _FILTERED, code="content_filter"),
    "reflect_key": _reflected_key,
    # The connection: late, slow, cut off, or not HTTP.
    "hang": ServedReply(manner="hang"),
    "drip": ServedReply(manner="drip"),
    "slow_headers": ServedReply(manner="slow_headers"),
    "endless": ServedReply(manner="endless"),
    "reset_before": ServedReply(manner="reset_before"),
    "reset_headers": ServedReply(manner="reset_headers"),
    "reset_mid": ServedReply(manner="reset_mid"),
    "wrong_length": ServedReply(manner="short"),
    "cut_chunks": ServedReply(manner="cut_chunks"),
    "bad_status": ServedReply(manner="bad_status"),
    "huge_header": ServedReply(manner="huge_header"),
    "close_idle": ServedReply(manner="close_after"),
    "no_length": ServedReply(manner="no_length"),
    # The body: not JSON, another encoding, compressed, or too large.
    "trunc_body": ServedReply(body=b'{"id": "x", "choices": [{"message": {"content": "5'),
    "empty_body": ServedReply(body=b""),
    "no_body": ServedReply(status=204, body=b""),
    "html200": _page(200, "Sign in to the guest network"),
    "html_as_json": ServedReply(body=b"<html><body><h1>Sign in</h1></body></html>"),
    "event_stream": _streamed,
    "bad_utf8": _in_bytes(lambda whole: whole.replace(b"assistant", b"ass\xff\xfeistant")),
    "utf16": _in_bytes(lambda whole: whole.decode().encode("utf-16")),
    "bom": _in_bytes(lambda whole: b"\xef\xbb\xbf" + whole),
    "trailing_text": _in_bytes(lambda whole: whole + b"\nOK"),
    "gzip": _packed("gzip", gzip.compress),
    "deflate": _packed("deflate", zlib.compress),
    "gzip_broken": _packed("gzip", lambda whole: gzip.compress(whole)[:-12]),
    "gzip_unpacked": _packed("gzip", lambda whole: whole),
    "gzip_bomb": lambda _: ServedReply(body=_bomb(), headers={"Content-Encoding": "gzip"}),
    "10MiB_reply": ServedReply("x" * (10 * _MIB)),
    "deep_json": ServedReply(body=b'{"choices": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    # The completion: errors with status 200, and parts that are missing or of another type.
    "json_list": ServedReply(body=b"[1, 2]"),
    "json_null": ServedReply(body=b"null"),
    "error200": ServedReply(body={"error": {"message": "upstream failed", "code": 500}}),
    "error200_text": ServedReply(body={"error": _LOADING}),
    "error200_limit": ServedReply(body={"error": {"message": _LIMITED, "code": 429}}),
    "no_choices": ServedReply(fields={"choices": []}),
    "null_choices": ServedReply(fields={"choices": None}),
    "lost_choices": _without("choices"),
    "no_message": ServedReply(body=_NO_MESSAGE),
    "no_content": ServedReply(body=_NO_CONTENT),
    "null_content": ServedReply(message={"content": None}),
    "empty_content": ServedReply(""),
    "blank_content": ServedReply(" \n\t "),
    "number_content": ServedReply(message={"content": 4}),
    "object_content": ServedReply(message={"content": {"score": 4}}),
    "refusal": ServedReply(message={"content": None, "refusal": "I can't help with that."}),
    "content_filter": ServedReply("", finish_reason="content_filter"),
    "length": ServedReply('{"rationale": "it was a long', finish_reason="length"),
    "no_finish_reason": ServedReply(finish_reason=None),
    "odd_finish_reason": ServedReply(finish_reason="weird"),
    "reasoning": ServedReply(message={"reasoning_content": "first I think"}),
    "no_usage": _without("usage"),
    "odd_usage": ServedReply(fields={"usage": {"prompt_tokens": "many", "total_tokens": None}}),
    "negative_usage": ServedReply(fields={"usage": {"prompt_tokens": -5, "completion_tokens": 3}}),
    "malformed": ServedReply('{"rationale": "good", "score": '),
    "prose": ServedReply("The answer is fine, I think."),
    "off_scale": ServedReply('{"evidence": [], "rationale": "Beyond the scale.", "score": 99}'),
    "nan_score": ServedReply('{"evidence": [], "rationale": "No number.", "score": NaN}'),
    "two_verdicts": ServedReply(
        '{"evidence": [], "rationale": "Good.", "score": 5}\n'
        '{"evidence": [], "rationale": "Bad.", "score": 1}'
    ),
}
"""Every fault a `ChaosServer` can be asked for by its name; `ok` is a good reply."""
