"""Decides what of the environment a stranger's program gets."""

from __future__ import annotations

import os
import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from judgekit.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEPT_NAMES = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP",
    "VIRTUAL_ENV", "SSL_CERT_FILE", "SSL_CERT_DIR",
})  # fmt: skip
_KEPT_PREFIX = "LC_"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def scrubbed_environment(
    extra: Mapping[str, str] = MappingProxyType({}), *, own: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment a stranger's program gets: where programs and folders are, and the language."""
    # Kept are `PATH`, `HOME`, `LANG`, `LC_*`, `TMPDIR` and their like. Keys, tokens, judgekit's own
    # settings and variables that change what an interpreter loads are not handed on.
    for name, value in extra.items():
        if not _NAME.fullmatch(name) or "\0" in value:
            raise SettingsError(
                f"{name!r} cannot be an environment variable",
                hint="a name has letters, digits and _; a value has no NUL character",
            )
    given = os.environ if own is None else own
    kept = {name: value for name, value in given.items() if _is_harmless(name)}
    return {**kept, **extra}


def _is_harmless(name: str) -> bool:
    return name in _KEPT_NAMES or name.startswith(_KEPT_PREFIX)
