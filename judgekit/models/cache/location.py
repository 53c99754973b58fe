"""Where a reply cache is: a folder, or the address of a server, whose password is never shown."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

from judgekit.errors import SettingsError

_SCHEMES = frozenset({"postgres", "postgresql", "postgresql+psycopg", "redis", "rediss"})


@dataclass(frozen=True, slots=True)
class CacheUrl:
    """The address of a cache on a server; its text has no password."""

    url: str = field(repr=False)
    name: str  # the address for messages

    def __str__(self) -> str:
        return self.name


CacheLocation = Path | CacheUrl
"""Where a cache is."""


def cache_location(named: str | Path | CacheUrl) -> CacheLocation:
    """The folder or server that is named; `${NAME}` in an address is an environment variable."""
    if not isinstance(named, str):
        return named
    url = expand_address(named)
    if not url.strip():
        raise SettingsError("the cache has no name", hint="name a folder or an address")
    if "://" not in url:
        return Path(url)
    name = mask_address(url)
    if url.partition("://")[0] not in _SCHEMES:
        raise unreadable_address(name)
    return CacheUrl(url, name)


def unreadable_address(name: str) -> SettingsError:
    """The error of an address; it has no cause, which may repeat a password."""
    return SettingsError(
        f"replies cannot be cached in {name}",
        hint="name a folder, postgresql://USER@HOST/DATABASE or redis://HOST:PORT/NUMBER; "
        "@, /, : and [ in a password are %40, %2F, %3A and %5B",
    )


def is_misread(address: str, host: str | None, database: str | None) -> bool:
    """Whether a part of an address that was taken for the host or database is of the password."""
    # One that was not quoted is cut at its `@`, and the driver would repeat the rest of it.
    shown = unquote(mask_address(address))
    return bool(host) and not all((part or "") in shown for part in (host, database))


_REFERENCE = re.compile(r"\$\{(\w+)\}")


def expand_address(text: str) -> str:
    """An address with the values of the environment variables that it names as `${NAME}`."""
    # A password may contain `@` and `/`; a variable that is the whole address is taken as it is.
    is_whole = _REFERENCE.fullmatch(text) is not None

    def value(match: re.Match[str]) -> str:
        if match[1] not in os.environ:
            raise SettingsError(
                f"the address {mask_address(text)} names the environment variable {match[1]}, "
                "which is not set",
                hint=f"set {match[1]}",
            )
        found = os.environ[match[1]]
        return found if is_whole else quote(found, safe="")

    return _REFERENCE.sub(value, text)


# Up to the last `@`: a password that was not quoted may contain `@`, `/` and `?` itself.
_PASSWORD = re.compile(r"(?<=://)([^:]*):.*(?=@)", re.DOTALL)
_QUERY_PASSWORD = re.compile(r"(?<=[?&])([^=&\s]*(?:password|token|secret)=)[^&]*", re.IGNORECASE)


def mask_address(text: str) -> str:
    """An address of a database for messages: without its password."""
    return _PASSWORD.sub(r"\1:***", _QUERY_PASSWORD.sub(r"\1***", text))
