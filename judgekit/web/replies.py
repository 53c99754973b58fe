"""How the viewer answers: pages, JSON for their script, and errors in the form asked for."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from judgekit.errors import JudgekitError, StoreError, UnknownNameError
from judgekit.report import Conclusion, Document, Notes, PageLinks, html_parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

_LARGEST_BODY = 8 * 1024 * 1024


def page_reply(
    document: Document, *, page: str = "", write_token: str | None = None, status: int = 200
) -> HTMLResponse:
    """A document as a page of the viewer.

    `page` names its cases in full; only a page with a `write_token` can change something.
    """
    links = PageLinks("/assets/", f"/api/chunk/{page}/", write_token=write_token)
    return HTMLResponse("".join(html_parts(document, links)), status)


def write_route(path: str, answer: Callable[[Request, dict[str, object]], object]) -> Route:
    """A route for `postJson` of `api.js`; `answer` runs in a thread and gives what is sent as JSON.

    It may raise a `JudgekitError` or a Starlette `HTTPException`, whose message the page shows, and
    may return a `Response` for another status.
    """

    async def endpoint(request: Request) -> Response:
        reply = await run_in_threadpool(answer, request, await _posted_json(request))
        return reply if isinstance(reply, Response) else JSONResponse(reply)

    return Route(path, endpoint, methods=["POST"])


async def _posted_json(request: Request) -> dict[str, object]:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _LARGEST_BODY:
            raise HTTPException(413, f"at most {_LARGEST_BODY // 1024**2} MB can be sent at once")
    try:
        posted = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"the body is not JSON: {error}") from error
    if not isinstance(posted, dict):
        raise HTTPException(400, "the body must be a JSON object")
    return posted


def error_reply(request: Request, error: Exception) -> Response:
    """What went wrong, as a page; as JSON where a script asked."""
    if isinstance(error, HTTPException):
        status, text = error.status_code, error.detail
    else:
        status, text = _status(error), str(error)
    if request.url.path.startswith("/api/") or request.method == "POST":
        return JSONResponse({"error": text}, status)
    title = "Not found" if status == HTTPStatus.NOT_FOUND else "This page cannot be shown"
    document = Document(
        title,
        Conclusion(text, "error"),
        (Notes(("The start page lists what the store has.",)),),
        dict,
    )
    return page_reply(document, status=status)


def _status(error: Exception) -> int:
    match error:
        case UnknownNameError():
            return 404
        case StoreError():
            return 500
        case JudgekitError():
            return 400
    return 500
