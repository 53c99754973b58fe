"""Says how an endpoint is called in messages, and where its key comes from."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

PLACEHOLDER_KEY = "not-needed"
"""The key sent to an endpoint of one's own for which the environment holds none."""

OWN_ENDPOINT_KEYS = {"openai": "OPENAI_API_KEY", "hosted_vllm": "HOSTED_VLLM_API_KEY"}
"""The variable that holds the key, for each provider that serves endpoints of one's own."""


def endpoint_label(provider: str, api_base: str | None) -> str:
    """What messages call an endpoint.

    Args:
        provider: The provider, as litellm names it.
        api_base: The endpoint, where it is not the provider's own.

    Returns:
        The provider, and the host of the endpoint without user, path and query.

    Example:
        >>> endpoint_label("openai", "http://user:pass@localhost:8000/v1?key=x")
        'openai at localhost:8000'
    """
    if api_base is None:
        return provider
    host = urlsplit(api_base if "//" in api_base else f"//{api_base}").netloc
    return f"{provider} at {host.rpartition('@')[2] or 'an address without a host'}"


def key_variable(provider: str) -> str:
    """The environment variable that holds a provider's key."""
    return OWN_ENDPOINT_KEYS.get(provider, f"{provider.upper()}_API_KEY")


def own_endpoint_key(provider: str) -> str:
    """The key to send to an endpoint of one's own."""
    return key_in(key_variable(provider)) or PLACEHOLDER_KEY


def key_in(variable: str) -> str | None:
    """A key from the environment, as it can be sent."""
    return os.environ.get(variable, "").strip() or None
