"""Maps what litellm, an HTTP client or a socket raises to a `Fault`; the only place that does."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from judgekit.models.provider_errors import (
    QUOTA,
    Fault,
    Kind,
    fault_in_body,
    fault_of_response,
    kind_of_status,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

FOREIGN_KINDS: dict[str, Kind] = {
    "AuthenticationError": "auth",
    "PermissionDeniedError": "auth",
    "NotFoundError": "not_found",
    "LiteLLMUnknownProvider": "not_found",
    "ContextWindowExceededError": "context_window",
    "ContentPolicyViolationError": "content_filter",
    "GuardrailRaisedException": "content_filter",
    "BlockedPiiEntityError": "content_filter",
    "ModifyResponseException": "content_filter",
    "SensitiveDataRouteException": "content_filter",
    "RejectedRequestError": "content_filter",
    "PaymentRequiredError": "quota",
    "BudgetExceededError": "quota",
    "RateLimitError": "rate_limited",
    "Timeout": "timeout",
    "UnsupportedParamsError": "bad_request",
    "InvalidRequestError": "bad_request",
    "ImageFetchError": "bad_request",
    "VectorStoreSearchError": "bad_request",
    "UnprocessableEntityError": "bad_request",
    "BadRequestError": "bad_request",
    "JSONSchemaValidationError": "protocol",
    "APIResponseValidationError": "protocol",
    "MidStreamFallbackError": "overloaded",
    "ServiceUnavailableError": "overloaded",
    "BadGatewayError": "overloaded",
    "InternalServerError": "overloaded",
    "APIConnectionError": "connection",
    "MockException": "overloaded",
    "APIError": "overloaded",
    "ModelNotMappedError": "internal",
    "OpenAIError": "internal",
}
"""What the classes of litellm's exceptions mean when nothing more exact is in their chain."""

_UNREADABLE = re.compile(
    r"Invalid response object|Empty or invalid response|provider returned|Unable to get json"
)


def fault_of_exception(provider: str, error: BaseException, *, hint: str | None = None) -> Fault:
    """Read an exception of litellm, of an HTTP client or of the socket under it."""
    # litellm renames what it catches (a refused connection becomes a 500, a 413 a 429), so the
    # chain below its exception is asked first: an HTTP response there is the provider's own word.
    chain = list(_chain(error))
    fault = _fault_of_http_error(provider, chain, hint) or _fault_of_error_object(provider, chain)
    if fault is None:
        kind = _kind_of_chain(chain)
        status = _status(error) if kind not in {"timeout", "connection", "protocol"} else None
        fault = Fault(
            provider, kind, status=status, text=str(error), hint=hint if kind == "auth" else None
        )
    return replace(fault, cause=error)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _names(error: BaseException) -> set[str]:
    return {cls.__name__ for cls in type(error).__mro__}


def _fault_of_http_error(
    provider: str, chain: list[BaseException], hint: str | None
) -> Fault | None:
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


def _fault_of_error_object(provider: str, chain: list[BaseException]) -> Fault | None:
    """Read what litellm raises for an error in a 200 body: a bare Exception, two attributes."""
    for error in chain:
        if type(error) is Exception and isinstance(getattr(error, "message", None), str):
            found = {"message": vars(error)["message"], "code": vars(error).get("status_code")}
            return fault_in_body(provider, {"error": found})
    return None


def _kind_of_chain(chain: list[BaseException]) -> Kind:
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


def _kind_of_class(error: BaseException) -> Kind:
    for cls in type(error).__mro__:
        if cls.__name__ == "RateLimitError" and QUOTA.search(str(error).lower()):
            return "quota"
        if cls.__name__ == "APIError":
            status = _status(error)
            return "overloaded" if status is None else kind_of_status(status, str(error).lower())
        if cls.__name__ in FOREIGN_KINDS:
            return FOREIGN_KINDS[cls.__name__]
    return "internal"


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None
