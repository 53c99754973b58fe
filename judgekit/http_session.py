"""HTTP connections that belong to an event loop and are closed with it.

The direct transport and HTTP targets use them.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import aiohttp

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
"""Hosts on this machine; requests to them never go through a proxy."""


class HttpSession(NamedTuple):
    """The connections to one endpoint in one event loop."""

    client: aiohttp.ClientSession
    errors: tuple[type[Exception], ...]
    scope: AsyncGenerator[None, None]
    """Open as long as the connections are."""


class HttpSessions:
    """One session for each event loop that calls an endpoint."""

    def __init__(self, url: str, *, timeout_s: float | None, connect_s: float = 10.0) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._connect_s = connect_s
        self._sessions: dict[asyncio.AbstractEventLoop, HttpSession] = {}

    async def current(self) -> HttpSession:
        """The session of the running event loop; opened at the first call."""
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is not None:
            return session
        import aiohttp  # noqa: PLC0415 - 0.4 s of import

        for other in tuple(self._sessions):
            if other.is_closed():
                self._sessions.pop(other, None)
        client = aiohttp.ClientSession(
            # The callers limit how many calls are in flight; a second limit would hide in timings.
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=self._timeout_s, sock_connect=self._connect_s),
            trust_env=urlsplit(self._url).hostname not in LOOPBACK_HOSTS,
            # A cookie of one reply must not reach the next request: calls are independent.
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        session = HttpSession(client, (aiohttp.ClientError, OSError), _closing(client))
        # No other call of this loop comes in between: opening does not wait.
        self._sessions[loop] = session
        # A loop closes the async generators that were started in it (`asyncio.run` and its like
        # call `shutdown_asyncgens`), so an open one is a hook for what must be closed inside it.
        await anext(session.scope)
        return session

    async def aclose(self) -> None:
        """Close the connections of the running event loop; they are also closed before it ends."""
        session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.scope.aclose()


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


async def _closing(client: aiohttp.ClientSession) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        await client.close()
