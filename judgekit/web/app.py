"""The viewer's application and its server: the guard around the routes of pages and of writing."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from judgekit.errors import JudgekitError
from judgekit.web.guard import LocalGuard
from judgekit.web.pages import page_routes
from judgekit.web.replies import error_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp

    from judgekit.web.context import ViewContext


def create_app(context: ViewContext, *, port: int, routes: Sequence[BaseRoute] = ()) -> ASGIApp:
    """The application: the pages of results and further `routes`; the guard sees requests first."""
    errors = (JudgekitError, HTTPException, Exception)
    pages = Starlette(
        routes=[*page_routes(context), *routes],
        exception_handlers=dict.fromkeys(errors, error_reply),
    )
    # Around everything, so that an answer to an error has its headers too.
    return LocalGuard(pages, port=port, token=context.token, write_token=context.write_token)


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
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen()
        port = listener.getsockname()[1]
        config = uvicorn.Config(
            create_app(context, port=port, routes=routes),
            log_level="warning",
            access_log=False,
            server_header=False,
            # A page that follows a run keeps its connection: it must not hold up the end.
            timeout_graceful_shutdown=1,
        )
        ready(f"http://127.0.0.1:{port}/?token={context.token}")
        asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))
