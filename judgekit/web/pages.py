"""The routes of the viewer that show results: the same documents as those of the commands."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from judgekit.evaluation import Run
from judgekit.report import (
    CaseTable,
    RunCases,
    asset_text,
    listing_document,
    numbers,
    run_document,
    runs_table,
)
from judgekit.web.replies import page_reply

if TYPE_CHECKING:
    from starlette.requests import Request

    from judgekit.web.context import ViewContext

_ASSETS = {"page.js": "text/javascript", "page.css": "text/css"}


class ResultPages:
    """Renders the pages of a store; the case tables of the last ones are held."""

    def __init__(self, context: ViewContext) -> None:
        self._store = context.store
        self._tables: dict[str, CaseTable] = {}

    async def home(self, request: Request) -> Response:
        return await run_in_threadpool(self._home, request)

    async def run(self, request: Request) -> Response:
        return await run_in_threadpool(self._run, request)

    async def chunk(self, request: Request) -> Response:
        """Some cases of a page in full, as JSON."""
        table = self._tables.get(request.path_params["page"])
        number = request.path_params["number"]
        if table is None or number >= len(table.chunks):
            return PlainTextResponse("no such cases: reload the page", 404)
        return Response(gzip.decompress(table.chunks[number]), media_type="application/json")

    def _home(self, _: Request) -> Response:
        runs = self._store.runs(limit=100)
        document = listing_document(
            "Runs", numbers.format_count(len(runs), "run"), runs_table(runs, None), data=dict
        )
        return page_reply(document)

    def _run(self, request: Request) -> Response:
        run = Run(self._store.run(request.path_params["run"]), self._store)
        cases = RunCases(run.info)
        summary = run.summary(watch=cases.take)
        table = cases.table()
        self._tables[f"run-{run.id}"] = table
        document = run_document(summary, run.gate(summary), answers=(table,))
        return page_reply(document, page=f"run-{run.id}")


async def asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _ASSETS:
        return PlainTextResponse("not found", 404)
    return Response(asset_text(name), media_type=_ASSETS[name])


def page_routes(context: ViewContext) -> list[Route]:
    pages = ResultPages(context)
    return [
        Route("/", pages.home),
        Route("/runs/{run}", pages.run),
        Route("/api/chunk/{page}/{number:int}", pages.chunk),
        Route("/assets/{name}", asset),
    ]
