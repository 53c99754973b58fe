from __future__ import annotations

import json
import traceback
from typing import Any

import pytest

from judgekit.errors import ModelError
from judgekit.models.error_mapping import (
    RETRYABLE_KINDS,
    ProviderErrorKind,
    ProviderFault,
    fault_in_body,
    fault_of_response,
    retry_after_s,
)

NO_HEADERS: dict[str, str] = {}


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (301, "not_found"), (400, "bad_request"), (401, "auth"), (402, "quota"), (403, "auth"),
        (404, "not_found"), (408, "timeout"), (409, "overloaded"), (413, "bad_request"),
        (418, "bad_request"), (422, "bad_request"), (429, "rate_limited"), (500, "overloaded"),
        (502, "overloaded"), (503, "overloaded"), (504, "timeout"), (529, "overloaded"),
    ],
)  # fmt: skip
def test_a_status_has_a_kind(status: int, kind: str) -> None:
    fault = fault_of_response("openai", status, "", NO_HEADERS)
    assert (fault.kind, fault.status) == (kind, status)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, '{"error": {"message": "x", "code": "insufficient_quota"}}', "quota"),
        (429, '{"error": {"message": "x", "type": "insufficient_quota"}}', "quota"),
        (429, "insufficient_quota: see your plan", "quota"),
        (403, '{"error": "Insufficient credits"}', "quota"),
        (400, '{"error": {"message": "x", "code": "context_length_exceeded"}}', "context_window"),
        (400, '{"message": "prompt is too long: 9 > 8"}', "context_window"),
        (413, "the input is too long", "context_window"),
        (400, '{"error": {"message": "x", "code": "content_filter"}}', "content_filter"),
        (400, '{"detail": "violates the content policy"}', "content_filter"),
        (400, "[1, 2]", "bad_request"),
        (400, '{"error": {"message": {"deep": 1}}}', "bad_request"),
    ],
)  # fmt: skip
def test_the_words_of_a_body_say_more_than_its_status(status: int, body: Any, kind: str) -> None:
    assert fault_of_response("openai", status, body, NO_HEADERS).kind == kind


SPENT = "You exceeded your current quota, please check your plan and billing details."
FLAGGED = 'openai/m requires moderation on OpenAI. Your input was flagged for "harassment".'
NO_LOGPROBS = "You are not allowed to request logprobs from this model"


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (429, {"message": SPENT, "type": "insufficient_quota", "code": "new_code"}, "quota"),
        (429, {"message": SPENT, "code": "credit_balance_exhausted"}, "quota"),
        (429, {"message": SPENT, "code": "project_spend_limit_exceeded"}, "quota"),
        (429, {"message": "Your account is not active", "code": "billing_not_active"}, "quota"),
        (429, {"message": "x", "details": {"error_code": "enforced_spend_limit_reached"}}, "quota"),
        (400, {"message": "Your credit balance is too low to access the Anthropic API."}, "quota"),
        (400, {"message": "You have reached your specified workspace API usage limits."}, "quota"),
        (403, {"message": "Key limit exceeded (total limit).", "code": 403}, "quota"),
        (429, {"message": SPENT, "status": "RESOURCE_EXHAUSTED", "code": 429}, "rate_limited"),
        (429, {"message": "Rate limit exceeded: limit_rpm", "code": 429}, "rate_limited"),
        (400, {"message": "API key expired.", "details": [{"reason": "API_KEY_INVALID"}]}, "auth"),
        (403, {"message": FLAGGED, "code": 403}, "content_filter"),
        (400, {"message": "Content Exists Risk"}, "content_filter"),
        (403, {"message": NO_LOGPROBS, "type": "invalid_request_error"}, "bad_request"),
        (404, {"message": "No endpoints found that support tool use."}, "bad_request"),
        (404, {"message": "No endpoints found for x/y."}, "not_found"),
        (400, {"message": "input and `max_tokens` exceed context limit: 9 > 8"}, "context_window"),
        (400, {"message": "max_tokens: 9 > 8, which is the maximum allowed"}, "bad_request"),
    ],
)  # fmt: skip
def test_providers_use_one_status_for_different_errors(status: int, error: Any, kind: str) -> None:
    body = json.dumps({"error": error})
    assert fault_of_response("openai", status, body, NO_HEADERS).kind == kind


def test_a_gateway_gives_the_words_of_the_provider_behind_it() -> None:
    error = {"message": "Provider returned error", "metadata": {"raw": "no 'seed' here"}}
    fault = fault_of_response("openrouter", 400, json.dumps({"error": error}), NO_HEADERS)
    assert fault.text == "Provider returned error: no 'seed' here"


@pytest.mark.parametrize(("headers", "seconds"), [({}, 34.5), ({"Retry-After": "2"}, 2)])
def test_gemini_says_in_the_body_how_long_to_wait(headers: dict[str, str], seconds: float) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}]
    body = json.dumps({"error": {"code": 429, "message": SPENT, "details": details}})
    assert fault_of_response("gemini", 429, body, headers).retry_after_s == seconds


def test_the_blamed_parameter_and_the_request_id_are_kept() -> None:
    body = '{"error": {"message": "no", "param": "seed", "code": 7}}'
    fault = fault_of_response("openai", 400, body, {"X-Request-Id": "r-1"})
    assert (fault.text, fault.parameter, fault.request_id) == ("no", "seed", "r-1")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:07 GMT",
          "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 7.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:07 -0000",
          "date": "Wed, 21 Oct 2015 07:28:09 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:07 GMT"}, 0.0),
        ({"retry-after": f"Wed, 21 Oct {'9' * 30} 07:28:07 GMT"}, None),
    ],
)  # fmt: skip
def test_retry_after_is_seconds_or_a_date_by_the_servers_own_clock(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after_s(headers) == seconds


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"message": "slow", "code": 429}, ("rate_limited", 429, "slow")),
        ({"message": "odd", "code": "weird"}, ("bad_request", 422, "odd")),
        ("just text", ("bad_request", 422, "just text")),
    ],
)
def test_an_error_in_a_body_with_status_200_is_an_error(error: Any, expected: Any) -> None:
    fault = fault_in_body("openai", error)
    assert (fault.kind, fault.status, fault.text) == expected


def test_an_error_says_what_who_which_status_and_how_to_go_on() -> None:
    error = ProviderFault("openai", "auth", status=401, text="no", hint="set X").to_error()
    assert str(error) == "openai refused the key (HTTP 401): no\n  set X"
    assert (error.kind, error.provider, error.status) == ("auth", "openai", 401)


def test_an_error_without_words_of_its_own_has_those_of_its_kind() -> None:
    error = ProviderFault("openai", "connection").to_error()
    assert "could not be reached" in error.message
    assert "api_base" in str(error.hint)


@pytest.mark.parametrize("kind", sorted(RETRYABLE_KINDS))
def test_retryable_kinds_are_retryable_unless_told_otherwise(kind: ProviderErrorKind) -> None:
    fault = ProviderFault("openai", kind)
    assert fault.to_error().retryable
    assert not fault.to_error(retryable=False).retryable


def test_a_long_body_is_shortened_and_put_on_one_line() -> None:
    error = ProviderFault("openai", "overloaded", text="<html>\n" + "x" * 5000).to_error()
    assert len(error.message) < 400
    assert "\n" not in error.message


def test_no_secret_is_in_the_message_or_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sentinel-0001")
    foreign = ValueError("sent with sentinel-0001")
    fault = ProviderFault("openai", "auth", text="got sentinel-0001", cause=foreign)
    try:
        raise fault.to_error()
    except ModelError as error:
        shown = "".join(traceback.format_exception(error))
    assert "sentinel-0001" not in shown
    assert "ValueError: sent with [redacted]" in shown


def test_a_secret_cut_in_two_by_the_shortening_does_not_show(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sentinel-0001")
    error = ProviderFault("openai", "auth", text="x" * 292 + " sentinel-0001").to_error()
    assert "sentinel" not in error.message
