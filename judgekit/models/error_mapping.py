"""Maps errors of providers, litellm, HTTP clients and sockets to a `ModelError` without secrets.

No other module interprets a foreign exception, or finds the API key of an endpoint.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Literal
from urllib.parse import SplitResult, quote, urlsplit

from judgekit.errors import ModelError, SettingsError
from judgekit.fingerprint import canonical_json

PLACEHOLDER_KEY = "not-needed"
"""The key sent to an endpoint of one's own for which the environment holds none."""

OWN_ENDPOINT_PROVIDERS = frozenset({"openai", "hosted_vllm"})
"""The names by which endpoints of one's own are called."""


def endpoint_label(provider: str, api_base: str | None) -> str:
    """What messages call an endpoint: the provider and the host, without user, path and query."""
    if api_base is None:
        return provider
    host = urlsplit(api_base if "//" in api_base else f"//{api_base}").netloc
    return f"{provider} at {host.rpartition('@')[2] or 'an address without a host'}"


def key_variable(provider: str) -> str:
    """The environment variable that holds a provider's key."""
    return f"{provider.upper()}_API_KEY"


def own_endpoint_key(provider: str) -> str:
    """The key to send to an endpoint of one's own."""
    return os.environ.get(key_variable(provider), "").strip() or PLACEHOLDER_KEY


REDACTED = "[redacted]"

_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_SHORTEST_SECRET = 6  # blanking shorter values would eat ordinary words and digits

_SHAPES = (
    re.compile(r"(?i)(\b(?:bearer|basic)\s+)[\w.~+/=-]{6,}"),
    re.compile(r"(?i)([?&](?:api[-_]?key|key|access_token|token|sig|signature)=)[^&\s\"'<>]+"),
    re.compile(r"(?i)(\b(?:api[-_]?key|authorization)[\"']?\s*[:=]\s*[\"']?)[\w.~+/=-]{12,}"),
    # From the beginning of a word, and possessive: a page of HTML may hold one of 100,000 letters.
    re.compile(r"((?<!\w)\w++://[^/\s:@]*+:)[^/\s@]++(?=@)"),
    re.compile(r"()\bsk-[\w*-]{6,}"),
    re.compile(r"()\bAIza[\w-]{20,}"),
)


def redact(
    text: str, *, secrets: Iterable[str] = (), environ: Mapping[str, str] | None = None
) -> str:
    """A text without the secrets in it."""
    # Removed are the values of environment variables whose names end in KEY, TOKEN, SECRET or
    # PASSWORD (as they are and URL-quoted), the given secrets, and what looks like a key: `Bearer
    # …`, `sk-…`, a `key=` in a query, a password in a URL.
    text = mask_secrets(text, secrets=secrets, environ=environ)
    for shape in _SHAPES:
        text = shape.sub(rf"\g<1>{REDACTED}", text)
    return text


def mask_secrets(
    text: str, *, secrets: Iterable[str] = (), environ: Mapping[str, str] | None = None
) -> str:
    """A text without the values of secrets; what only looks like a key stays, as in a verdict."""
    for value in _forms_of((*secrets, *secret_values(environ))):
        text = text.replace(value, REDACTED)
    return text


def secret_values(environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The values of the environment variables that are named like secrets."""
    environ = os.environ if environ is None else environ
    return tuple(value for name, value in environ.items() if _SECRET_NAME.search(name))


def secret_forms() -> tuple[str, ...]:
    """The values of the variables that are named like secrets, as they are and URL-quoted."""
    return tuple(_forms_of(secret_values()))


@lru_cache(maxsize=8)
def _forms_of(secrets: tuple[str, ...]) -> list[str]:
    # Stripped, as they are sent and as errors repeat them.
    plain = {value.strip() for value in secrets if len(value.strip()) >= _SHORTEST_SECRET}
    # Longest first, so that none is hidden by a part of it.
    return sorted(plain | {quote(value, safe="") for value in plain}, key=len, reverse=True)


def split_address(address: str, *, needs_http: bool = False) -> SplitResult:
    """The parts of an address; one that cannot be read is refused."""
    with suppress(ValueError):
        parts = urlsplit(address)
        if not needs_http or parts.scheme in {"http", "https"}:
            return parts
    shown = redact(address, environ={})  # it may have a password
    raise SettingsError(f"{shown!r} is no HTTP address", hint="http://HOST:PORT/v1")


def refuse_secret_address(address: str | None) -> None:
    """Refuse an address with a password or a key in it, which every run would store."""
    if address is None:
        return
    shown, user = redact(address, environ={}), split_address(address).username
    if shown != address or user is not None:
        shown = shown if user is None else shown.replace(f"{user}:", "").replace(f"{user}@", "")
        raise SettingsError(
            f"the address {shown} has a user, a password or a key in it",
            hint="give keys as environment variables, such as OPENAI_API_KEY; the address is "
            "stored with requests and runs",
        )


_KEY_FIELD = re.compile(
    r'(?i)"([\w-]*(?:api[-_]?key|authorization|-auth|password|secret))":"[^"]{6}'
)


def refuse_secret_parameters(parameters: Mapping[str, object]) -> None:
    """Refuse a key or a password in parameters and headers, which caches and runs would store."""
    if field := _KEY_FIELD.search(canonical_json(parameters)):
        hint = "give it as an environment variable, such as OPENAI_API_KEY: parameters are stored"
        raise SettingsError(f"the parameters have a key or a password in {field[1]!r}", hint=hint)


class RedactingFilter(logging.Filter):
    """A logging filter that takes secrets out of a record's message and traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = redact(record.getMessage())
        record.args = None
        if record.exc_info:
            record.exc_text = redact(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        return True


ProviderErrorKind = Literal[
    "auth", "not_found", "bad_request", "rate_limited", "quota", "overloaded", "timeout",
    "connection", "protocol", "content_filter", "context_window", "empty", "truncated", "internal",
]  # fmt: skip
"""The kinds of `ModelError` that come from a provider."""

RETRYABLE_KINDS: frozenset[str] = frozenset(
    {"rate_limited", "overloaded", "timeout", "connection", "protocol", "empty"}
)
"""The kinds after which a retry may help."""

# How many characters of a provider's message are shown.
_LONGEST_DETAIL = 300

_STATUS_KINDS: dict[int, ProviderErrorKind] = {
    401: "auth", 402: "quota", 403: "auth", 404: "not_found", 408: "timeout", 409: "overloaded",
    425: "overloaded", 429: "rate_limited", 504: "timeout",
}  # fmt: skip

_FIRST_REDIRECT, _FIRST_CLIENT_ERROR, _FIRST_SERVER_ERROR = 300, 400, 500

# Words that distinguish a used-up quota from a rate limit and a refused request, in lower case.
_QUOTA = re.compile(
    r"insufficient[ _]?(quota|credit|balance|fund)|billing_(hard_limit|not_active)|"
    r"credit[ _]balance[ _](is too low|exhausted)|(organization|project)_\w+_limit_exceeded|"
    r"(key|budget) limit exceeded|enforced_spend_limit|reached your specified .{0,20}usage limits"
)
_CONTEXT = re.compile(
    r"context_length_exceeded|context (length|window|size|limit)|maximum (context|prompt)|"
    r"prompt is too long|too many tokens|input (is )?too long|exceeds? the (available )?context|"
    r"input token count"
)

# Errors that pass, as servers word them that send no status of their own.
_PASSING = re.compile(
    r"\bloading\b|overloaded|temporarily|try again|rate limit|too many requests|warming up"
    r"|\Aerror in response object\Z"  # litellm's words for an error of unknown words
)

_FILTERED = re.compile(
    r"content[ _]filter|content[ _]policy|content management policy|safety (system|filter)|"
    r"flagged (as|for)|responsible ?ai|content exists risk"
)
# OpenAI's 403 for a parameter, and OpenRouter's 404: neither the key nor the model is unknown.
_ABOUT_THE_REQUEST = re.compile(r"logprobs|no endpoints found that")

# How OpenAI's reasoning models and Groq's schemas report a reply that was cut off.
_CUT_OFF = re.compile(r"model output limit was reached|max completion tokens reached")

# Gemini has no header for it.
_RETRY_DELAY = re.compile(r'"retryDelay":\s*"(\d+(?:\.\d+)?)s"')

_KIND_WORDS: dict[str, str] = {
    "auth": "refused the key",
    "not_found": "does not know the model or the address",
    "bad_request": "refused the request",
    "rate_limited": "asks for fewer requests",
    "quota": "says that the quota or the credit is used up",
    "overloaded": "failed or is overloaded",
    "timeout": "gave no answer in time",
    "connection": "could not be reached, or broke the connection",
    "protocol": "sent something that is no reply",
    "content_filter": "filtered the request",
    "context_window": "says that the request is longer than the model can take",
    "empty": "sent a reply without an answer",
    "truncated": "cut the reply off at its limit of tokens",
    "internal": "could not be called",
}

_KIND_HINTS: dict[str, str] = {
    "not_found": "check the model name and the api_base",
    "rate_limited": "lower max_concurrency, or set rpm and tpm to your limits",
    "quota": "add credit or raise the limit at the provider, then run again; "
    "what was paid for is in the cache",
    "timeout": "raise timeout_s, or ask for shorter replies",
    "connection": "check that the server runs and that api_base is its address",
    "protocol": "check that api_base speaks the protocol of its provider, and no proxy is between",
    "content_filter": "read the case: the provider does not let it be judged",
    "context_window": "shorten the case, or use a model with a larger context window",
}


@dataclass(frozen=True, slots=True)
class ProviderFault:
    """What went wrong, before anyone decided whether it is final; secrets are still in its text."""

    provider: str
    kind: ProviderErrorKind
    status: int | None = None
    text: str = ""
    parameter: str | None = None  # the parameter the provider blames
    retry_after_s: float | None = None
    request_id: str | None = None
    hint: str | None = None  # what to do about it; the kind's own words when None
    cause: BaseException | None = None

    def to_error(self, *, retryable: bool | None = None) -> ModelError:
        """The error to raise: shortened, without secrets, its cause a redacted stand-in."""
        where = "" if self.status is None else f" (HTTP {self.status})"
        # Redacted before it is shortened: half of a key would no longer be recognized.
        detail = _shortened(redact(self.text))
        error = ModelError(
            f"{self.provider} {_KIND_WORDS[self.kind]}{where}" + (f": {detail}" if detail else ""),
            kind=self.kind,
            provider=self.provider,
            status=self.status,
            retryable=self.kind in RETRYABLE_KINDS if retryable is None else retryable,
            retry_after_s=self.retry_after_s,
            request_id=self.request_id,
            hint=self.hint or _KIND_HINTS.get(self.kind),
        )
        if self.cause is not None:
            # The foreign exception itself is not chained: its arguments may hold keys and prompts.
            name = type(self.cause).__qualname__
            error.__cause__ = ForeignError(f"{name}: {_shortened(redact(str(self.cause)))}")
        return error


class ForeignError(Exception):
    """Stands for an exception of another library, without the secrets it may hold."""


def fault_of_response(
    provider: str, status: int, body: str, headers: Mapping[str, str], *, hint: str | None = None
) -> ProviderFault:
    message, code, parameter = _error_fields(body)
    fields = {name.lower(): value for name, value in headers.items()}
    if (delay := _RETRY_DELAY.search(body)) is not None:
        fields.setdefault("retry-after", delay[1])
    is_cut_off = status == _FIRST_CLIENT_ERROR and _CUT_OFF.search(body)
    kind = "truncated" if is_cut_off else kind_of_status(status, f"{code} {message}".lower())
    return ProviderFault(
        provider=provider,
        kind=kind,
        status=status,
        text=message,
        parameter=parameter,
        retry_after_s=retry_after_s(fields),
        request_id=fields.get("x-request-id") or fields.get("request-id"),
        hint=hint if kind == "auth" else None,
    )


def fault_in_body(provider: str, error: object) -> ProviderFault:
    """Read an error that came with status 200, as some gateways send it."""
    code = error.get("code") if isinstance(error, dict) else None
    message, name, parameter = _error_fields(json.dumps({"error": error}))
    # Gateways put an HTTP status in `code`, or a word; only the number is taken as a status.
    kind: ProviderErrorKind = "bad_request"
    if isinstance(code, int) and code >= _FIRST_CLIENT_ERROR:
        kind = kind_of_status(code, f"{name} {message}".lower())
    elif _PASSING.search(message.lower()):
        kind, code = "overloaded", 503
    else:
        code = 422
    return ProviderFault(provider, kind, status=code, text=message, parameter=parameter)


def kind_of_status(status: int, words: str) -> ProviderErrorKind:
    """What an HTTP status means, together with its message."""
    # Before the status: an empty account is reported as 429 by some, and waiting does not help;
    # Gemini sends 400 for a wrong key.
    if _QUOTA.search(words):
        return "quota"
    if "api_key_invalid" in words:
        status = 401
    elif status in {403, 404} and (_FILTERED.search(words) or _ABOUT_THE_REQUEST.search(words)):
        status = 400
    if status in _STATUS_KINDS:
        return _STATUS_KINDS[status]
    if status >= _FIRST_SERVER_ERROR:
        return "overloaded"
    if status < _FIRST_CLIENT_ERROR:
        # A redirect: the address is another one.
        return "not_found" if status >= _FIRST_REDIRECT else "protocol"
    if _CONTEXT.search(words):
        return "context_window"
    return "content_filter" if _FILTERED.search(words) else "bad_request"


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """How long a provider asks callers to wait."""
    for name, per_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        number = _finite_number(headers.get(name))
        if number is not None:
            return max(0.0, number / per_second)
    until = _date(headers.get("retry-after"))
    if until is None:
        return None
    now = _date(headers.get("date")) or datetime.fromtimestamp(time.time(), tz=UTC)
    return max(0.0, (until - now).total_seconds())


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_DETAIL else f"{text[:_LONGEST_DETAIL]}…"


def _error_fields(body: str) -> tuple[str, str, str | None]:
    """Message, codes and blamed parameter of an error body in any of the usual shapes."""
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return body, "", None
    error = parsed.get("error", parsed) if isinstance(parsed, dict) else body
    if not isinstance(error, dict):
        return error if isinstance(error, str) else body, "", None
    message = error.get("message") or error.get("detail")
    message = message if isinstance(message, str) else body
    # The words of the provider behind a gateway, whose own words say only that there was an error.
    metadata, parameter = error.get("metadata"), error.get("param")
    if isinstance(metadata, dict) and metadata.get("raw"):
        message = f"{message}: {metadata['raw']}"
    # Any of them may be the one that says what happened.
    codes = " ".join(str(error[name]) for name in ("code", "type", "details") if name in error)
    return message, codes, parameter if isinstance(parameter, str) else None


def _finite_number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _date(value: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(value or "")
    except (ValueError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


_EXCEPTIONS: dict[ProviderErrorKind, tuple[str, ...]] = {
    "auth": (
        "AuthenticationError", "PermissionDeniedError", "CallerCredentialAuthenticationError",
    ),
    "not_found": ("NotFoundError", "LiteLLMUnknownProvider"),
    "context_window": ("ContextWindowExceededError",),
    "content_filter": (
        "ContentPolicyViolationError", "GuardrailRaisedException", "BlockedPiiEntityError",
        "ModifyResponseException", "SensitiveDataRouteException", "RejectedRequestError",
    ),
    "quota": ("PaymentRequiredError", "BudgetExceededError"),
    "rate_limited": ("RateLimitError", "CallerCredentialRateLimitError"),
    "timeout": ("Timeout",),
    "bad_request": (
        "UnsupportedParamsError", "InvalidRequestError", "ImageFetchError",
        "VectorStoreSearchError", "UnprocessableEntityError", "BadRequestError",
        "EndpointNotSupportedByModelError", "MalformedRequestFieldError",
        "UnsupportedEndpointError",
    ),
    "protocol": ("JSONSchemaValidationError", "APIResponseValidationError"),
    "overloaded": (
        "MidStreamFallbackError", "ServiceUnavailableError", "BadGatewayError",
        "InternalServerError", "MockException", "APIError",
    ),
    "connection": ("APIConnectionError",),
    "internal": ("ModelNotMappedError", "OpenAIError"),
}  # fmt: skip

EXCEPTION_KINDS = {name: kind for kind, names in _EXCEPTIONS.items() for name in names}
"""What the classes of litellm's exceptions mean when nothing more exact is in their chain."""

_MADE_UP_STATUS = 422
_NO_CREDENTIALS = re.compile(r"missing credentials|(default|locate) credentials", re.IGNORECASE)
_UNREADABLE = re.compile(
    r"Invalid response object|Empty or invalid response|provider returned|Unable to get json"
    r"|Error converting to valid response"
)


def fault_of_exception(
    provider: str, error: BaseException, *, hint: str | None = None
) -> ProviderFault:
    """Read an exception of litellm, of an HTTP client or of the socket under it."""
    # litellm renames what it catches (a refused connection becomes a 500, a 413 a 429), so the
    # chain below its exception is read first: an HTTP response there is the provider's own word.
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        link = link.__cause__ or link.__context__
    fault = _fault_of_http_error(provider, chain, hint) or _fault_of_bare_error(provider, chain)
    if fault is None:
        lacks_key = _NO_CREDENTIALS.search(str(error)) is not None
        kind: ProviderErrorKind = "auth" if lacks_key else _kind_of_chain(chain)
        is_made_up = lacks_key or kind in {"timeout", "connection", "protocol"}
        fault = ProviderFault(
            provider,
            kind,
            status=None if is_made_up else _status(error),
            text=str(error),
            hint=hint if kind == "auth" else None,
        )
    return replace(fault, cause=error)


def _names(error: BaseException) -> set[str]:
    return {cls.__name__ for cls in type(error).__mro__}


def _fault_of_http_error(
    provider: str, chain: list[BaseException], hint: str | None
) -> ProviderFault | None:
    for error in reversed(chain):  # the deepest is the least rewritten
        response = getattr(error, "response", None)
        if response is None or "HTTPStatusError" not in _names(error):
            continue
        try:
            body = response.text
        except RuntimeError:  # httpx: the body was not read before the connection went
            body = str(error)
        return fault_of_response(
            provider, response.status_code, body, dict(response.headers), hint=hint
        )
    return None


def _fault_of_bare_error(provider: str, chain: list[BaseException]) -> ProviderFault | None:
    """The error in a 200 body, for which litellm raises a bare Exception with two attributes."""
    for one in chain:
        if type(one) is Exception and isinstance(getattr(one, "message", None), str):
            found = {"message": vars(one)["message"], "code": vars(one).get("status_code")}
            # Where the body has no status it makes one up, and words in the place of a mere text.
            if found["code"] == _MADE_UP_STATUS:
                del found["code"]
            return fault_in_body(provider, found)
    return None


def _kind_of_chain(chain: list[BaseException]) -> ProviderErrorKind:
    names = set[str]().union(*map(_names, chain))
    if names & {"TimeoutException", "TimeoutError", "APITimeoutError"}:
        return "timeout"
    if "JSONDecodeError" in names or _UNREADABLE.search(str(chain[0])):
        return "protocol"
    if names & {"TransportError", "ClientError", "ConnectionError"}:
        return "connection"
    if "ImportError" in names:
        return "internal"
    return _kind_of_class(chain[0])


def _kind_of_class(error: BaseException) -> ProviderErrorKind:
    words = str(error).lower()
    for cls in type(error).__mro__:
        if cls.__name__ == "APIError":
            status = _status(error)
            return "overloaded" if status is None else kind_of_status(status, words)
        kind = EXCEPTION_KINDS.get(cls.__name__)
        if kind is not None:
            return "quota" if kind == "rate_limited" and _QUOTA.search(words) else kind
    return "internal"


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None
