"""The viewer's application and its server: the guard around the routes of pages and of writing."""

from __future__ import annotations

import asyncio
import socket
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from judgekit.errors import JudgekitError, SettingsError
from judgekit.web.events import event_route
from judgekit.web.guard import LocalGuard
from judgekit.web.pages import page_routes
from judgekit.web.replies import error_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from starlette.routing import BaseRoute

    from judgekit.web.replies import ViewContext

_HOST = "127.0.0.1"
# More would take longer than it saves: the reader is on the same machine.
_COMPRESSION = 1


class ViewServer(uvicorn.Server):
    """The server of the viewer, on `port` of this machine: the pages, and further `routes`."""

    def __init__(
        self, context: ViewContext, *, port: int, routes: Sequence[BaseRoute] = ()
    ) -> None:
        self._context = context
        reply = partial(error_reply, context=context)
        pages = Starlette(
            routes=[*page_routes(context), event_route(context), *routes],
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
    """Serve on 127.0.0.1 until interrupted; `ready` gets the address with its token.

    Port 0 takes a free one.
    """
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
