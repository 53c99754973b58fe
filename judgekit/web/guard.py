"""Lets only the user's own browser reach the viewer, and says what its pages may do.

Another site could otherwise read or change data through the user's browser: by naming 127.0.0.1
itself, by a name that it points there (DNS rebinding), or by sending a form. Such requests are
answered with 403: the host and port must be the viewer's own, a token that only the user has
must be there, and a request that changes something must come from a page of the viewer.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_HEADER = "x-judgekit-token"  # noqa: S105 - the name of a header
"""The header by which a page of the viewer shows that it may change something."""

SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
"""The headers of every answer."""

_READING = frozenset({"GET", "HEAD"})


class LocalGuard:
    """Answers 403 to every request that is not the user's own."""

    def __init__(self, app: ASGIApp, *, port: int, token: str, write_token: str | None) -> None:
        self._app = app
        self._token = token
        self._write_token = write_token
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        # Cookies do not know ports: with its port in the name, several viewers do not mix theirs.
        self._cookie = f"judgekit-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a permitted request on, with the security headers on its answer."""
        # What begins and ends the server, and no request of anybody. There are no web sockets.
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SECURITY_HEADERS)
            await send(message)

        await self._answer(scope)(scope, receive, send_safely)

    def _answer(self, scope: Scope) -> ASGIApp:
        """What answers a request: the application where nothing speaks against it."""
        headers = Headers(scope=scope)
        # One host, and this one: of two, it could be the other that somebody else goes by.
        if [*self._hosts.intersection(headers.getlist("host"))] != headers.getlist("host"):
            return PlainTextResponse("this address is not judgekit view's own", 403)
        if _is_foreign(headers):
            return PlainTextResponse("another site asked for this", 403)
        if (entrance := self._entrance(scope)) is not None:
            return entrance
        problem = self._reading_problem(headers)
        if problem is None and scope["method"] not in _READING:
            problem = self._writing_problem(headers)
        return self._app if problem is None else PlainTextResponse(problem, 403)

    def _entrance(self, scope: Scope) -> RedirectResponse | None:
        """The answer to the address with the token: a cookie, and the address without it."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        sent = dict(query).get("token")
        if sent is None or scope["method"] != "GET" or not _is_same(sent, self._token):
            return None
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        # Two slashes at the beginning would lead to the site that is named after them.
        path = "/" + quote(scope["path"].lstrip("/"))
        answer = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
        answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict")
        return answer

    def _reading_problem(self, headers: Headers) -> str | None:
        # Other servers of this machine set cookies for all its ports, whatever they are called.
        cookies = cookie_parser(headers.get("cookie", ""))
        if _is_same(cookies.get(self._cookie, ""), self._token):
            return None
        return "open judgekit view by the address it printed: its token is missing or old"

    def _writing_problem(self, headers: Headers) -> str | None:
        if self._write_token is None:
            return "judgekit view was started for reading only"
        if headers.get("origin", "") != f"http://{headers['host']}":
            return "only pages of judgekit view may change something"
        if not _is_same(headers.get(TOKEN_HEADER, ""), self._write_token):
            return f"the header {TOKEN_HEADER} is missing or old: reload the page"
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return "the body must be application/json"
        return None


def _is_foreign(headers: Headers) -> bool:
    """Whether a page of another site asks, as browsers say of every request."""
    # To a cookie, every port of this machine is the same site.
    site, mode = headers.get("sec-fetch-site"), headers.get("sec-fetch-mode")
    # A link may lead here: what it opens is not readable to the page with the link.
    return site in {"cross-site", "same-site"} and mode != "navigate"


def _is_same(sent: str, token: str) -> bool:
    """Whether a token is right, in a time that does not tell how much of it is."""
    return secrets.compare_digest(sent.encode("utf-8", "replace"), token.encode())
