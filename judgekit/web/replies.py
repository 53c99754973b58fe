"""What the routes of the viewer share: what it shows, and how it answers.

It answers with pages, with JSON for their script, and with errors in the form asked for.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from judgekit.errors import JudgekitError, StoreError, UnknownNameError
from judgekit.report import Conclusion, Document, Notes, PageLinks, SitePages, html_parts

if TYPE_CHECKING:
    from starlette.requests import Request

    from judgekit.report import JudgeReplies
    from judgekit.store import RunStore

NAVIGATION = (("Results", ""), ("Findings", "findings"), ("Cost", "cost"))
"""The pages that every page links to, by their labels."""

_LARGEST_BODY = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ViewContext:
    """What the viewer shows, and what it may change."""

    store: RunStore
    token: str
    """What the address holds that the user is given."""

    write_token: str | None = None
    """What pages that change something send with it; None where nothing may be changed.

    It is not the token of the address, which no page ever holds.
    """

    edit_folder: Path | None = None
    """The folder whose files may be edited."""

    replies: JudgeReplies | None = None
    """Where prompts and raw replies of judges are read from; None where they are not shown."""

    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server ends, so that streams of events end with it."""


def page_reply(
    document: Document,
    *,
    page: str = "",
    here: str = "?",
    events: str = "",
    has_editor: bool = False,
    write_token: str | None = None,
    status: int = 200,
) -> HTMLResponse:
    """A document as a page of the viewer."""
    # `page` is the name of its cases in full, `here` its path where it is one that every page links
    # to, and `events` the address of what still happens to its result. Only a page with a
    # `write_token` can change something.
    links = PageLinks("/assets/", f"/api/chunk/{page}/", write_token=write_token, events=events)
    own = (("Editor", "edit"),) if has_editor or here.startswith("edit") else ()
    site = SitePages(lambda path: f"/{path}", (*NAVIGATION, *own), here)
    return HTMLResponse("".join(html_parts(document, links, site)), status)


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


def error_reply(request: Request, error: Exception, context: ViewContext) -> Response:
    """What went wrong, as a page; as JSON where a script asked."""
    # Of the file of the store only its name is shown.
    status, text, store = _status(error), str(error), context.store.location.file
    if isinstance(error, HTTPException):
        text = error.detail
        if status == HTTPStatus.NOT_FOUND and text == HTTPStatus.NOT_FOUND.phrase:
            text = f"there is no page {request.url.path}"
    elif not isinstance(error, JudgekitError):
        # Its words may hold anything; the server's log has them with the place.
        text = "judgekit view met an error of its own; the terminal that runs it has the details"
    if store is not None and store.is_absolute():
        text = text.replace(str(store), store.name)
    if request.url.path.startswith("/api/") or request.method == "POST":
        return JSONResponse({"error": text}, status)
    title = "Not found" if status == HTTPStatus.NOT_FOUND else "This page cannot be shown"
    has_editor = context.edit_folder is not None
    return page_reply(error_document(text, title), has_editor=has_editor, status=status)


def error_document(text: str, title: str = "This page cannot be shown") -> Document:
    """What went wrong, and what to do: the lines of an error after its first."""
    sentence, _, hint = text.partition("\n")
    lines = (hint.strip(), "The start page lists what is stored; so does `judgekit show`.")
    return Document(
        title, Conclusion(sentence, "error"), (Notes(tuple(filter(None, lines))),), dict
    )


def _status(error: Exception) -> int:
    match error:
        case HTTPException():
            return error.status_code
        case UnknownNameError():
            return 404
        case StoreError():
            return 500
        case JudgekitError():
            return 400
    return 500
