"""Finds the API key of an endpoint, and removes secrets from any text that leaves the process."""

from __future__ import annotations

import logging
import os
import re
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PLACEHOLDER_KEY = "not-needed"
"""The key sent to an endpoint of one's own for which the environment holds none."""

OWN_ENDPOINT_KEYS = {"openai": "OPENAI_API_KEY", "hosted_vllm": "HOSTED_VLLM_API_KEY"}
"""The variable that holds the key, for each provider that serves endpoints of one's own."""


def endpoint_label(provider: str, api_base: str | None) -> str:
    """What messages call an endpoint: the provider and the host, without user, path and query."""
    if api_base is None:
        return provider
    host = urlsplit(api_base if "//" in api_base else f"//{api_base}").netloc
    return f"{provider} at {host.rpartition('@')[2] or 'an address without a host'}"


def key_variable(provider: str) -> str:
    """The environment variable that holds a provider's key."""
    return OWN_ENDPOINT_KEYS.get(provider, f"{provider.upper()}_API_KEY")


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
    re.compile(r"(\w+://[^/\s:@]*:)[^/\s@]+(?=@)"),
    re.compile(r"()\bsk-[\w*-]{6,}"),
    re.compile(r"()\bAIza[\w-]{20,}"),
)


def redact(
    text: str, *, secrets: Iterable[str] = (), environ: Mapping[str, str] | None = None
) -> str:
    """A text without the secrets in it.

    Removed are the values of environment variables whose names end in KEY, TOKEN, SECRET or
    PASSWORD (as they are and URL-quoted), the given secrets, and what looks like a key:
    `Bearer …`, `sk-…`, a `key=` in a query, a password in a URL.
    """
    environ = os.environ if environ is None else environ
    named = (value for name, value in environ.items() if _SECRET_NAME.search(name))
    # Stripped, as they are sent and as errors repeat them.
    stripped = {value.strip() for value in (*secrets, *named)}
    plain = {value for value in stripped if len(value) >= _SHORTEST_SECRET}
    quoted = {quote(value, safe="") for value in plain}
    # Longest first, so that none is hidden by a part of it.
    for value in sorted(plain | quoted, key=len, reverse=True):
        text = text.replace(value, REDACTED)
    for shape in _SHAPES:
        text = shape.sub(rf"\g<1>{REDACTED}", text)
    return text


class RedactingFilter(logging.Filter):
    """A logging filter that takes secrets out of a record's message and traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = redact(record.getMessage())
        record.args = None
        if record.exc_info:
            record.exc_text = redact(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        return True
