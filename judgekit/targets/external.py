"""A program or an HTTP endpoint as the system under test: JSON goes out, an output comes back.

A command reads the case on stdin and writes the output to stdout; an endpoint may answer with text.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Literal
from urllib.parse import urljoin, urlsplit

from judgekit.errors import SettingsError, TemplateError
from judgekit.http_session import http_sessions, read_body
from judgekit.subprocess import (
    ProcessFailedError,
    ProcessFailure,
    ProcessLimits,
    find_program,
    run_process,
)
from judgekit.targets.target import TargetCall, call_timeout_s, encode_call

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import aiohttp
    from pydantic import JsonValue

    from judgekit.records import Case, JsonObject, Output, TargetErrorKind

LARGEST_OUTPUT_BYTES = 10 * 2**20

_MAX_REDIRECTS = 5

# Redirects that keep method and body; the others turn the request into a GET without a case.
_RESENDING = (307, 308)

# An explicit default port is the same origin as none.
_PORTS = {"http": 80, "https": 443}
_SHOWN_BYTES = 200


class EndpointTarget:
    """Sends each case once; a failed call is not retried here."""

    # A retry could run a system under test twice, which may change what it does.

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
        about: JsonObject | None = None,
        body: Callable[[Case], JsonValue] | None = None,
    ) -> None:
        self._body = body
        self._origin = _origin(url)
        if self._origin is None:
            raise SettingsError(f"variant {variant!r}: {url!r} is no HTTP address")
        self.id = variant
        self._url = url
        # Without user, password and query.
        self._where = "{}://{}:{}".format(*self._origin) + urlsplit(url).path
        self._method = method
        # A line end in a value would let a variable's content add headers of its own.
        for name, value in (headers or {}).items():
            if not name.isascii() or not name or not value.isprintable():
                raise SettingsError(
                    f"variant {variant!r}: the header {name!r} cannot be sent",
                    hint="a header is one line; look for a line end in the variable it names",
                )
        self._headers = dict(headers or {})
        # Names of headers ignore case, so that `content-type` of the user is not sent twice.
        if "content-type" not in {name.lower() for name in self._headers}:
            self._headers["Content-Type"] = "application/json"
        self._timeout_s = timeout_s
        self._connect_s = connect_s
        self._secrets = tuple(secrets)
        self._about: JsonObject = {"id": variant} if about is None else about
        self._sessions = http_sessions(url, timeout_s=None, connect_s=connect_s)

    async def answer(self, case: Case, *, repeat: int = 0) -> Output:
        call = TargetCall(case, self.id, self._secrets)
        try:
            if self._body is None:
                body = encode_call(case, repeat, self._about)
            else:
                body = json.dumps(self._body(case)).encode()
        except TemplateError as error:
            return call.failed("exception", str(error))
        session = await self._sessions.current()
        timeout_s = call_timeout_s(case, self._timeout_s)
        # One deadline for redirects and body together: aiohttp's own would begin again with each.
        deadline = asyncio.timeout(timeout_s)
        try:
            async with deadline:
                return await self._sent(session.client, body, call)
        except TimeoutError:
            if not deadline.expired():
                message = f"{self._where} took no connection within {self._connect_s:g} s"
                return call.failed("connection", message)
            return call.failed("timeout", f"{self._where} did not answer within {timeout_s:g} s")
        except session.errors as error:
            reason = str(error) or type(error).__name__
            return call.failed("connection", f"{self._where} could not be called: {reason}")

    async def aclose(self) -> None:
        await self._sessions.aclose()

    async def _sent(self, client: aiohttp.ClientSession, body: bytes, call: TargetCall) -> Output:
        url = self._url
        for _ in range(_MAX_REDIRECTS + 1):
            # Redirects are followed here: aiohttp would send the headers to another host, too.
            async with client.request(
                self._method, url, data=body, headers=self._headers, allow_redirects=False
            ) as response:
                location = response.headers.get("Location")
                if response.status not in _RESENDING or location is None:
                    return await self._read(response, call)
            url = urljoin(url, location)
            # The headers may hold a key, and the case may be confidential: neither goes elsewhere.
            if _origin(url) != self._origin:
                message = f"{self._where} redirects to another host, which is not followed"
                return call.failed("http_status", message)
        return call.failed("http_status", f"{self._where} redirects too often")

    async def _read(self, response: aiohttp.ClientResponse, call: TargetCall) -> Output:
        raw = await read_body(response, LARGEST_OUTPUT_BYTES)
        if response.status not in range(200, 300):
            shown = raw[:_SHOWN_BYTES].decode(errors="replace").strip()
            message = f"{self._where} answered HTTP {response.status}"
            return call.failed("http_status", f"{message}: {shown!r}" if shown else message)
        # After the status: a large error page is reported by its status.
        if len(raw) > LARGEST_OUTPUT_BYTES:
            message = f"{self._where} sent more than {LARGEST_OUTPUT_BYTES >> 20} MiB"
            return call.failed("too_large", message)
        if response.content_type == "text/plain" or self._body is not None:
            return call.read_text(raw, charset=response.charset or "utf-8")
        return call.read_bytes(raw, source="the reply")


def _origin(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port; None for what is no HTTP address."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname:
        return None
    return parts.scheme, parts.hostname, port or _PORTS[parts.scheme]


_KINDS: dict[ProcessFailure, TargetErrorKind] = {
    "timeout": "timeout",
    "signal": "signal",
    "too_large": "too_large",
}

# The end of stderr, since programs write the cause of a failure last.
_SHOWN_STDERR = 500


class CommandTarget:
    """Starts the program once for each case."""

    def __init__(
        self,
        variant: str,
        command: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        limits: ProcessLimits,
        secrets: Sequence[str] = (),
        about: JsonObject | None = None,
    ) -> None:
        try:
            # Looked for now, so that a missing program is reported once, before any case and any
            # payment.
            find_program(command, environment=environment, folder=folder)
        except ProcessFailedError as error:
            message = f"the command of variant {variant!r}: {error.message}"
            raise SettingsError(message, hint=error.hint) from error
        self.id = variant
        self._command = tuple(command)
        self._folder = folder
        self._environment = environment
        self._limits = limits
        self._secrets = tuple(secrets)
        self._about: JsonObject = {"id": variant} if about is None else about

    async def answer(self, case: Case, *, repeat: int = 0) -> Output:
        call = TargetCall(case, self.id, self._secrets, self._folder)
        stdin = encode_call(case, repeat, self._about)
        limits = replace(self._limits, timeout_s=call_timeout_s(case, self._limits.timeout_s))
        try:
            stdout = await run_process(
                self._command,
                stdin,
                limits=limits,
                environment=self._environment,
                folder=self._folder,
            )
        except ProcessFailedError as error:
            # By the kind a report shows whether the program was slow, missing or wrong.
            last = error.stderr[-_SHOWN_STDERR:].strip()
            end = f"; the end of stderr: {last}" if last else ""
            return call.failed(
                _KINDS.get(error.kind, "exit"), f"{self._command[0]}: {error.message}{end}"
            )
        return call.read_bytes(stdout, source="stdout")

    async def aclose(self) -> None:
        """Nothing is held between two cases."""
