"""The routes of the viewer that show results."""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from judgekit.errors import InputError
from judgekit.report import asset_text, page_path
from judgekit.web.documents import NOT_STORED, ResultDocuments
from judgekit.web.held import HeldCases
from judgekit.web.replies import page_reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from judgekit.evaluation import TrendMeasure
    from judgekit.web.context import ViewContext

_ASSETS = {"page.js": "text/javascript", "page.css": "text/css"}
_PAGE_NUMBER = re.compile("[1-9][0-9]{0,5}")
_MEASURES: dict[str, TrendMeasure] = {"score": "score", "pass_rate": "pass_rate"}


class ResultPages:
    """Answers the requests for pages; each runs in a thread of its own."""

    def __init__(self, context: ViewContext) -> None:
        self._store = context.store
        self._held = HeldCases()
        self._documents = ResultDocuments(context.store, self._held)

    def home(self, request: Request) -> Response:
        page = request.query_params.get("page", "1")
        if _PAGE_NUMBER.fullmatch(page) is None:
            raise InputError(f"{page!r} is no page number", hint="pages are numbered from 1")
        return page_reply(self._documents.home(int(page)), here="" if page == "1" else "?")

    def run(self, request: Request) -> Response:
        info = self._store.run(request.path_params["name"])
        if info.status == "running":
            events = page_path("/api/events", run=info.id)
            return page_reply(self._documents.running(info), events=events)
        cases, document = self._documents.run(info)
        return page_reply(document, page=cases)

    def comparison(self, request: Request) -> Response:
        return page_reply(self._documents.comparison(request.path_params["name"]))

    def calibration(self, request: Request) -> Response:
        return page_reply(self._documents.calibration(request.path_params["name"]))

    def difference(self, request: Request) -> Response:
        query = request.query_params
        return page_reply(self._documents.difference(query.get("a", ""), query.get("b", "")))

    def trend(self, request: Request) -> Response:
        query = request.query_params
        measure = query.get("measure", "score")
        if measure not in _MEASURES:
            raise InputError(f"{measure!r} is no measure", hint="use score or pass_rate")
        suite = request.path_params["name"]
        variant, criterion = query.get("variant", ""), query.get("criterion", "")
        return page_reply(self._documents.trend(suite, variant, criterion, _MEASURES[measure]))

    def findings(self, request: Request) -> Response:
        query = request.query_params
        suite, status = query.get("suite", ""), query.get("status", "open")
        document = self._documents.findings(suite, has_resolved=status == "all")
        return page_reply(document, here="" if suite else "findings")

    def finding(self, request: Request) -> Response:
        suite = request.query_params.get("suite", "")
        return page_reply(self._documents.finding(request.path_params["name"], suite))

    def cost(self, _: Request) -> Response:
        return page_reply(self._documents.cost(), here="cost")

    def chunk(self, request: Request) -> Response:
        """Some cases of a page in full, as JSON."""
        table = self._held.table(request.path_params["page"])
        number = request.path_params["number"]
        if table is None or number >= len(table.chunks):
            raise HTTPException(404, "the results have changed since: reload the page")
        packed = table.chunks[number]
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(gzip.decompress(packed), media_type="application/json")
        headers = {"content-encoding": "gzip", "vary": "accept-encoding"}
        return Response(packed, media_type="application/json", headers=headers)


def _not_stored(kind: str, command: str) -> Callable[[Request], Response]:
    def answer(_: Request) -> Response:
        raise HTTPException(
            404, f"{kind.capitalize()} are not stored; `{command}` writes one as a page"
        )

    return answer


def asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _ASSETS:
        raise HTTPException(404)
    return Response(asset_text(name), media_type=_ASSETS[name])


def page_routes(context: ViewContext) -> list[Route]:
    pages = ResultPages(context)
    named: dict[str, Callable[[Request], Response]] = {
        "runs": pages.run,
        "comparisons": pages.comparison,
        "calibrations": pages.calibration,
        "trends": pages.trend,
        "findings": pages.finding,
    }
    return [
        Route("/", pages.home),
        Route("/findings", pages.findings),
        Route("/cost", pages.cost),
        Route("/diff", pages.difference),
        # Names may hold slashes.
        *(Route(f"/{kind}/{{name:path}}", page) for kind, page in named.items()),
        *(
            Route(f"/{kind}/{{rest:path}}", _not_stored(kind, command))
            for kind, command in NOT_STORED.items()
        ),
        Route("/api/chunk/{page}/{number:int}", pages.chunk),
        Route("/assets/{name}", asset),
    ]
