"""Finds the transport that carries requests to a named model."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from judgekit.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.models.request import Model

AUTO_TRANSPORT = "auto"
"""The name that leaves the choice to the transports themselves."""

_PACKAGE = "judgekit.models.transports"
_FALLBACK = "litellm"


@dataclass(frozen=True, slots=True)
class Transport:
    """One way to a model; a module of `judgekit.models.transports` holds one."""

    open: Callable[..., Model]
    """Makes a model from its name, `api_base` and `timeout_s`, which imports and connects at its
    first request. It raises `SettingsError` for an endpoint that the transport cannot reach."""

    is_preferred: Callable[[str, str | None], bool] = lambda _model, _api_base: False
    """Whether `auto` chooses this transport for a model and its `api_base`; if none, litellm."""


def transport_names() -> tuple[str, ...]:
    """What a user may choose from: `auto`, and each transport by its name."""
    # The folder is the list: a second list of names could miss one. Nothing is imported here, as
    # the command line needs the names for `--help`.
    folder = import_module(_PACKAGE).__path__
    return (AUTO_TRANSPORT, *sorted(found.name for found in pkgutil.iter_modules(folder)))


def open_model(name: str, model: str, *, api_base: str | None, timeout_s: float) -> Model:
    """The model at an endpoint, through the named transport."""
    names = transport_names()
    if name not in names:
        raise UnknownNameError("transport", name, names)
    if name == AUTO_TRANSPORT:
        # The transports decide themselves, so that adding one changes no list here.
        preferring = (other for other in names[1:] if _load(other).is_preferred(model, api_base))
        name = next(preferring, _FALLBACK)
    return _load(name).open(model, api_base=api_base, timeout_s=timeout_s)


def _load(name: str) -> Transport:
    module = import_module(f"{_PACKAGE}.{name}")
    (transport,) = (found for found in vars(module).values() if isinstance(found, Transport))
    return transport
