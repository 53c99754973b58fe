"""The viewer's server, and the routes of its pages; each request is answered in its own thread."""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from judgekit.errors import JudgekitError, SettingsError
from judgekit.report import Document, asset_text, page_path
from judgekit.web.documents import ResultDocuments
from judgekit.web.events import event_route
from judgekit.web.guard import LocalGuard
from judgekit.web.replies import ViewContext, error_reply, page_reply

if TYPE_CHECKING:
    from starlette.requests import Request


_HOST = "127.0.0.1"
# More would take longer than it saves: the reader is on the same machine.
_COMPRESSION = 1
_ASSETS = {"page.js": "text/javascript", "page.css": "text/css"}


class ViewServer(uvicorn.Server):
    """The server of the viewer, on `port` of this machine: the pages, and further `routes`."""

    def __init__(
        self, context: ViewContext, *, port: int, routes: Sequence[BaseRoute] = ()
    ) -> None:
        self._context = context
        reply = partial(error_reply, context=context)
        pages = Starlette(
            routes=[*_page_routes(context), event_route(context), *routes],
            exception_handlers=dict.fromkeys((JudgekitError, HTTPException, Exception), reply),
            middleware=[Middleware(GZipMiddleware, compresslevel=_COMPRESSION)],
        )
        config = uvicorn.Config(
            # Around everything, so that an answer to an error has its headers too.
            LocalGuard(pages, port=port, token=context.token, write_token=context.write_token),
            # Requests that are refused are no news for the terminal; errors of ours are.
            log_level="error",
            access_log=False,
            server_header=False,
            # An upgrade would pass by what is checked of requests.
            ws="none",
        )
        super().__init__(config)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop serving; streams of events end before open connections are waited for."""
        self._context.closing.set()
        await super().shutdown(sockets)


def serve_view(
    context: ViewContext,
    *,
    port: int = 0,
    routes: Sequence[BaseRoute] = (),
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve on 127.0.0.1 until interrupted; `ready` gets the address with its token."""
    # Port 0 takes a free one.
    with listening(port) as listener:
        port = listener.getsockname()[1]
        server = ViewServer(context, port=port, routes=routes)
        ready(f"http://{_HOST}:{port}/?token={context.token}")
        # Ctrl-C is how the viewer is ended.
        with suppress(KeyboardInterrupt):
            asyncio.run(server.serve(sockets=[listener]))


@contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """A socket that listens on a port of this machine only."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((_HOST, port))
        except OSError as error:
            raise SettingsError(
                f"port {port} of {_HOST} cannot be used: {error.strerror}",
                hint="choose another with --port, or omit it for any free one",
            ) from error
        # The port answers before its address is known to anybody.
        listener.listen()
        yield listener


class ResultPages:
    """Answers requests for pages of results, and for their cases in full."""

    def __init__(self, context: ViewContext) -> None:
        self._store = context.store
        self._has_editor = context.edit_folder is not None
        self.documents = ResultDocuments(context.store, context.replies)

    def run(self, request: Request) -> Response:
        info = self._store.run(request.path_params["name"])
        is_running = info.status == "running"
        events = page_path("/api/events", run=info.id) if is_running else ""
        return self._reply(self.documents.run(info), events=events)

    def chunk(self, request: Request) -> Response:
        """Some cases of a page in full, as JSON."""
        table = self.documents.held.table(request.path_params["page"])
        number = request.path_params["number"]
        if table is None or number >= len(table.chunks):
            raise HTTPException(404, "these cases are not held any more")
        packed = table.chunks[number]
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(gzip.decompress(packed), media_type="application/json")
        headers = {"content-encoding": "gzip", "vary": "accept-encoding"}
        return Response(packed, media_type="application/json", headers=headers)

    def route(self, path: str, make: Callable[..., Document], *query: str) -> Route:
        """A page whose document follows from its name, and from parts of its query."""

        def answer(request: Request) -> Response:
            values = {
                name: request.query_params[name] for name in query if name in request.query_params
            }
            # Only a page without any of them is one that every page links to.
            here = "?" if values else path.removeprefix("/")
            return self._reply(make(*request.path_params.values(), **values), here=here)

        return Route(path, answer)

    def _reply(self, document: Document, *, here: str = "?", events: str = "") -> Response:
        name = self.documents.held.name_of(document)
        return page_reply(
            document, page=name, here=here, events=events, has_editor=self._has_editor
        )


def _page_routes(context: ViewContext) -> list[Route]:
    pages = ResultPages(context)
    documents = pages.documents
    return [
        pages.route("/", documents.home, "page"),
        # Names may hold slashes.
        Route("/runs/{name:path}", pages.run),
        pages.route("/comparisons/{name:path}", documents.comparison),
        pages.route("/calibrations/{name:path}", documents.calibration),
        pages.route("/trends/{name:path}", documents.trend),
        pages.route("/findings", documents.findings, "suite", "status"),
        pages.route("/findings/{name}", documents.finding, "suite"),
        pages.route("/cost", documents.cost),
        pages.route("/diff", documents.difference, "a", "b"),
        Route("/api/chunk/{page}/{number:int}", pages.chunk),
        Route("/assets/{name}", _asset),
    ]


def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _ASSETS:
        raise HTTPException(404)
    return Response(asset_text(name), media_type=_ASSETS[name])
