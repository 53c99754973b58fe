"""The routes of the viewer that show results; each request is answered in a thread of its own."""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from judgekit.errors import InputError
from judgekit.report import asset_text, page_path
from judgekit.web.documents import ResultDocuments
from judgekit.web.replies import page_reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from judgekit.report import Document
    from judgekit.web.replies import ViewContext

_ASSETS = {"page.js": "text/javascript", "page.css": "text/css"}
_PAGE_NUMBER = re.compile("[1-9][0-9]{0,5}")


class ResultPages:
    """Answers requests for pages of results, and for their cases in full."""

    def __init__(self, context: ViewContext) -> None:
        self._store = context.store
        self._has_editor = context.edit_folder is not None
        self.documents = ResultDocuments(context.store, context.replies)

    def home(self, request: Request) -> Response:
        page = request.query_params.get("page", "1")
        if _PAGE_NUMBER.fullmatch(page) is None:
            raise InputError(f"{page!r} is no page number", hint="pages are numbered from 1")
        return self._reply(self.documents.home(int(page)), here="" if page == "1" else "?")

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
            raise HTTPException(404, "these cases are not held any more: reload the page")
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


def page_routes(context: ViewContext) -> list[Route]:
    pages = ResultPages(context)
    documents = pages.documents
    return [
        Route("/", pages.home),
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
        Route("/assets/{name}", asset),
    ]


def asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _ASSETS:
        raise HTTPException(404)
    return Response(asset_text(name), media_type=_ASSETS[name])
