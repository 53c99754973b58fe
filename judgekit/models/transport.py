"""Chooses how a named model is called: directly over HTTP, or through litellm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.errors import UnknownNameError
from judgekit.models import transports
from judgekit.models.credentials import OWN_ENDPOINT_KEYS

if TYPE_CHECKING:
    from judgekit.models.transports import DirectModel, LitellmModel

TRANSPORTS = ("auto", "direct", "litellm")
"""What a user may choose from; `auto` calls OpenAI-compatible endpoints directly."""


def open_model(
    name: str, model: str, *, api_base: str | None, timeout_s: float
) -> DirectModel | LitellmModel:
    """The model at an endpoint; it imports and connects at its first request."""
    if name not in TRANSPORTS:
        raise UnknownNameError("transport", name, TRANSPORTS)
    provider, slash, _ = model.partition("/")
    is_compatible = bool(api_base and slash) and provider in OWN_ENDPOINT_KEYS
    if name == "direct" or (name == "auto" and is_compatible):
        return transports.DirectModel(model, api_base=api_base, timeout_s=timeout_s)
    return transports.LitellmModel(model, api_base=api_base, timeout_s=timeout_s)
