"""Connections that belong to an event loop and are closed with it.

The direct transport and HTTP targets use those of aiohttp, litellm has its own.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    import aiohttp

_T = TypeVar("_T")

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
"""Hosts on this machine; requests to them never go through a proxy."""


class LoopScoped(Generic[_T]):
    """Something that each event loop has its own of, closed before the loop ends."""

    def __init__(self, scope: Callable[[], AsyncGenerator[_T, None]]) -> None:
        self._scope = scope
        self._open: dict[asyncio.AbstractEventLoop, tuple[AsyncGenerator[_T, None], _T]] = {}

    async def current(self) -> _T:
        """That of the running event loop; opened at the first call."""
        loop = asyncio.get_running_loop()
        if loop not in self._open:
            for other in tuple(self._open):
                if other.is_closed():
                    self._open.pop(other, None)
            # A loop closes the async generators that were started in it (`asyncio.run` and its like
            # call `shutdown_asyncgens`), so an open one is a hook for what must be closed inside
            # it. No other call of this loop comes in between: opening does not wait.
            scope = self._scope()
            self._open[loop] = scope, await anext(scope)
        return self._open[loop][1]

    def opened(self) -> _T | None:
        """That of the running event loop, if it was opened."""
        return self._open.get(asyncio.get_running_loop(), (None, None))[1]

    async def aclose(self) -> None:
        """Close that of the running event loop now."""
        scope, _ = self._open.pop(asyncio.get_running_loop(), (None, None))
        if scope is not None:
            await scope.aclose()


class HttpSession(NamedTuple):
    """The connections to one endpoint in one event loop."""

    client: aiohttp.ClientSession
    errors: tuple[type[Exception], ...]


def http_sessions(
    url: str, *, timeout_s: float | None, connect_s: float = 10.0
) -> LoopScoped[HttpSession]:
    """One session for each event loop that calls an endpoint."""

    async def session() -> AsyncGenerator[HttpSession, None]:
        from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415 - as aiohttp does

        import aiohttp  # noqa: PLC0415 - 0.4 s of import

        parts, proxy, certificates = urlsplit(url), None, None
        # Not by `trust_env`: that looks into ~/.netrc too, and sends the passwords that it has to
        # the provider, or refuses the call, which has a key.
        if parts.hostname not in LOOPBACK_HOSTS and not proxy_bypass(parts.hostname or ""):
            proxy = getproxies().get(parts.scheme)
            proxy = f"http://{proxy}" if proxy and "://" not in proxy else proxy
        # Python has none on macOS before a script of it is run; litellm brings some.
        paths = ssl.get_default_verify_paths()
        if sys.platform != "win32" and not (paths.cafile or paths.capath):
            import certifi  # noqa: PLC0415 - seldom needed

            certificates = ssl.create_default_context(cafile=certifi.where())
        async with aiohttp.ClientSession(
            # The callers limit how many calls are in flight; a second limit would hide in timings.
            connector=aiohttp.TCPConnector(limit=0, ssl=certificates or True),
            timeout=aiohttp.ClientTimeout(total=timeout_s, sock_connect=connect_s),
            proxy=proxy,
            # A cookie of one reply must not reach the next request: calls are independent.
            cookie_jar=aiohttp.DummyCookieJar(),
        ) as client:
            yield HttpSession(client, (aiohttp.ClientError, OSError))

    return LoopScoped(session)


async def read_body(response: aiohttp.ClientResponse, most_bytes: int) -> bytes:
    """The body; reading stops once it is larger than `most_bytes`."""
    # Bytes are counted after unpacking: a small compressed body may unpack to gigabytes.
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.content.iter_any():
        chunks.append(chunk)
        size += len(chunk)
        if size > most_bytes:
            break
    return b"".join(chunks)
