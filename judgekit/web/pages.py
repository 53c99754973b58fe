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
    from judgekit.web.context import ViewContext

_ASSETS = {"page.js": "text/javascript", "page.css": "text/css"}
_PAGE_NUMBER = re.compile("[1-9][0-9]{0,5}")

# Results that no store has.
_NOT_STORED = {
    "rankings": "judgekit rank A B C -o ranking.html",
    "audits": "judgekit audit OUTPUTS -o audit.html",
}


def page_routes(context: ViewContext) -> list[Route]:
    documents = ResultDocuments(context.store)

    def home(request: Request) -> Response:
        page = request.query_params.get("page", "1")
        if _PAGE_NUMBER.fullmatch(page) is None:
            raise InputError(f"{page!r} is no page number", hint="pages are numbered from 1")
        return page_reply(documents.home(int(page)), here="" if page == "1" else "?")

    def run(request: Request) -> Response:
        info = context.store.run(request.path_params["name"])
        if info.status == "running":
            events = page_path("/api/events", run=info.id)
            return page_reply(documents.run(info), events=events)
        cases, document = documents.run_with_cases(info)
        return page_reply(document, page=cases)

    def chunk(request: Request) -> Response:
        """Some cases of a page in full, as JSON."""
        table = documents.cases.table(request.path_params["page"])
        number = request.path_params["number"]
        if table is None or number >= len(table.chunks):
            raise HTTPException(404, "these cases are not held any more: reload the page")
        packed = table.chunks[number]
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(gzip.decompress(packed), media_type="application/json")
        headers = {"content-encoding": "gzip", "vary": "accept-encoding"}
        return Response(packed, media_type="application/json", headers=headers)

    return [
        Route("/", home),
        # Names may hold slashes.
        Route("/runs/{name:path}", run),
        _route("/comparisons/{name:path}", documents.comparison),
        _route("/calibrations/{name:path}", documents.calibration),
        _route("/trends/{name:path}", documents.trend, "variant", "criterion", "measure"),
        _route("/findings", documents.findings, "suite", "status"),
        _route("/findings/{name}", documents.finding, "suite"),
        _route("/cost", documents.cost),
        _route("/diff", documents.difference, "a", "b"),
        *(
            Route(f"/{kind}/{{name:path}}", _not_stored(kind, command))
            for kind, command in _NOT_STORED.items()
        ),
        Route("/api/chunk/{page}/{number:int}", chunk),
        Route("/assets/{name}", asset),
    ]


def _route(path: str, make: Callable[..., Document], *query: str) -> Route:
    """A page whose document follows from its name, and from parts of its query."""

    def answer(request: Request) -> Response:
        values = {
            name: request.query_params[name] for name in query if name in request.query_params
        }
        # Only a page without any of them is one that every page links to.
        here = "?" if values else path.removeprefix("/")
        return page_reply(make(*request.path_params.values(), **values), here=here)

    return Route(path, answer)


def _not_stored(kind: str, command: str) -> Callable[[Request], Response]:
    def answer(_: Request) -> Response:
        words = f"{kind.capitalize()} are not stored; `{command}` writes one as a page"
        raise HTTPException(404, words)

    return answer


def asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _ASSETS:
        raise HTTPException(404)
    return Response(asset_text(name), media_type=_ASSETS[name])
