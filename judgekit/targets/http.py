"""An HTTP endpoint as the system under test.

The case is sent as JSON, the output comes back as JSON or text.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal
from urllib.parse import urljoin, urlsplit

from judgekit.errors import SettingsError
from judgekit.targets.target import TargetCall, call_timeout_s, encode_call

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    import aiohttp

    from judgekit.records import Case, Output

LARGEST_OUTPUT_BYTES = 10 * 2**20
"""Bytes of an unpacked reply beyond which it is given up."""

_MAX_REDIRECTS = 5

_RESENDING = (307, 308)
"""Redirects after which the same is sent again; the others turn it into a GET without a case."""

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

_JSON = "application/json"

_SUCCESS = 2
"""The first digit of the statuses that say so."""

_PORTS = {"http": 80, "https": 443}

_SHOWN_BYTES = 200


class EndpointTarget:
    """Sends each case once; an answer is never asked for again by itself."""

    def __init__(
        self,
        variant: str,
        url: str,
        *,
        method: Literal["POST", "PUT"] = "POST",
        headers: Mapping[str, str] | None = None,
        timeout_s: float,
        connect_s: float = 10.0,
        secrets: Sequence[str] = (),
    ) -> None:
        if _origin(url) is None:
            raise SettingsError(f"variant {variant!r}: {url!r} is no HTTP address")
        self.id = variant
        self._url = url
        self._method = method
        self._headers = _checked_headers(headers or {}, variant)
        self._timeout_s = timeout_s
        self._connect_s = connect_s
        self._secrets = tuple(secrets)
        self._sessions: dict[asyncio.AbstractEventLoop, _Session] = {}

    async def answer(self, case: Case, *, repeat: int = 0) -> Output:
        """Send one case; see `Target.answer`."""
        asked = TargetCall(case, self.id, self._secrets)
        body = encode_call(case, repeat)
        session = await self._session()
        timeout_s = call_timeout_s(case, self._timeout_s)
        deadline = asyncio.timeout(timeout_s)
        try:
            async with deadline:
                return await self._sent(session.client, body, asked)
        except TimeoutError:
            if not deadline.expired():
                message = f"{self._where} took no connection within {self._connect_s:g} s"
                return asked.failed("connection", message)
            return asked.failed("timeout", f"{self._where} did not answer within {timeout_s:g} s")
        except (*session.errors, OSError) as error:
            told = str(error) or type(error).__name__
            return asked.failed("connection", f"{self._where} could not be asked: {told}")

    async def aclose(self) -> None:
        """Close the connections of the running event loop; they are also closed before it ends."""
        session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.aclose()

    @property
    def _where(self) -> str:
        """The address without user, password and query."""
        parts = urlsplit(self._url)
        return f"{parts.scheme}://{parts.hostname}:{_port(self._url)}{parts.path}"

    async def _sent(self, client: aiohttp.ClientSession, body: bytes, asked: TargetCall) -> Output:
        url = self._url
        for _ in range(_MAX_REDIRECTS + 1):
            async with client.request(
                self._method, url, data=body, headers=self._headers, allow_redirects=False
            ) as response:
                onward = _redirect_url(url, response)
                if onward is None:
                    return await self._read(response, asked)
            if _origin(onward) != _origin(self._url):
                message = f"{self._where} redirects to another host, which is not followed"
                return asked.failed("http_status", message)
            url = onward
        return asked.failed("http_status", f"{self._where} redirects again and again")

    async def _read(self, response: aiohttp.ClientResponse, asked: TargetCall) -> Output:
        raw = await _read_body(response)
        if response.status // 100 != _SUCCESS:
            shown = raw[:_SHOWN_BYTES].decode(errors="replace").strip()
            message = f"{self._where} answered HTTP {response.status}"
            return asked.failed("http_status", f"{message}: {shown!r}" if shown else message)
        if len(raw) > LARGEST_OUTPUT_BYTES:
            message = f"{self._where} sent more than {LARGEST_OUTPUT_BYTES >> 20} MiB"
            return asked.failed("too_large", message)
        if response.content_type == "text/plain":
            return asked.read_text(raw, charset=response.charset or "utf-8")
        return asked.read_bytes(raw, source="the reply")

    async def _session(self) -> _Session:
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None:
            for ended in [other for other in self._sessions if other.is_closed()]:
                self._sessions.pop(ended, None)
            # no other call of this loop comes in between: opening does not wait
            session = self._sessions[loop] = _Session(self._url, self._connect_s)
            await session.open()
        return session


class _Session:
    """The connections to the endpoint in one event loop."""

    def __init__(self, url: str, connect_s: float) -> None:
        import aiohttp  # noqa: PLC0415 - 0.4 s of import

        self.errors = (aiohttp.ClientError,)
        self.client = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),  # the run says how many at a time
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect_s),
            trust_env=urlsplit(url).hostname not in _LOOPBACK,
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        self._scope = _closing(self.client)

    async def open(self) -> None:
        """Have the loop close the connections before it ends."""
        # A loop closes the async generators that were started in it, so an open one is a hook for
        # what must be closed inside it.
        await anext(self._scope)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._scope.aclose()


async def _closing(client: aiohttp.ClientSession) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        await client.close()


async def _read_body(response: aiohttp.ClientResponse) -> bytes:
    """The body, or as much of it as shows that it is too large."""
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.content.iter_any():
        chunks.append(chunk)
        size += len(chunk)
        if size > LARGEST_OUTPUT_BYTES:
            break
    return b"".join(chunks)


def _redirect_url(url: str, response: aiohttp.ClientResponse) -> str | None:
    """Where the same is to be sent again; None when this is the answer."""
    location = response.headers.get("Location")
    if response.status not in _RESENDING or location is None:
        return None
    return urljoin(url, location)


def _origin(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port; None for what is no HTTP address."""
    try:
        parts, port = urlsplit(url), _port(url)
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname:
        return None
    return parts.scheme, parts.hostname, port


def _port(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or _PORTS.get(parts.scheme, 0)


def _checked_headers(headers: Mapping[str, str], variant: str) -> dict[str, str]:
    for name, value in headers.items():
        if not name.isascii() or not name or not value.isprintable():
            raise SettingsError(
                f"variant {variant!r}: the header {name!r} cannot be sent",
                hint="a header is one line; look for a line end in the variable it names",
            )
    given = {name.lower() for name in headers}
    return {**headers, **({} if "content-type" in given else {"Content-Type": _JSON})}
