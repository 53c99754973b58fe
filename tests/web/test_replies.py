"""Routes that are plugged into the viewer: what they get, and how their errors reach the page."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest
from starlette.exceptions import HTTPException
from starlette.routing import Route

from judgekit.errors import InputError
from judgekit.report import Conclusion, Document
from judgekit.web import ViewContext, page_reply, write_route
from tests.web.conftest import Served, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request
    from starlette.responses import HTMLResponse

    from judgekit.store import RunStore


def _page(_: Request) -> HTMLResponse:
    return page_reply(Document("T", Conclusion("c"), (), dict), write_token="may-write")


def _answer(_: Request, posted: dict[str, object]) -> object:
    match posted.get("wish"):
        case "input":
            raise InputError("the case id is missing")
        case "forbidden":
            raise HTTPException(403, "outside the folder")
        case wish:
            return {"wish": wish}


@pytest.fixture
def served(store: RunStore) -> Iterator[Served]:
    context = ViewContext(store, secrets.token_urlsafe(), write_token="may-write")
    with serving(context, [Route("/plug", _page), write_route("/api/plug", _answer)]) as served:
        yield served


def test_a_further_route_gets_what_a_page_posts(served: Served) -> None:
    reply = served.post("/api/plug", {"wish": "é"})
    assert (reply.status, reply.json()) == (200, {"wish": "é"})


@pytest.mark.parametrize(
    ("wish", "status", "message"),
    [("input", 400, "the case id is missing"), ("forbidden", 403, "outside the folder")],
)
def test_an_error_of_a_further_route_is_json_with_its_message(
    served: Served, wish: str, status: int, message: str
) -> None:
    reply = served.post("/api/plug", {"wish": wish})
    assert (reply.status, reply.json()) == (status, {"error": message})


@pytest.mark.parametrize("body", [b"{", b"[1]", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_json_object_is_refused(served: Served, body: bytes) -> None:
    reply = served.request(
        "POST",
        "/api/plug",
        body,
        origin=served.origin,
        content_type="application/json",
        x_judgekit_token="may-write",
    )
    assert reply.status == 400
    assert "JSON" in str(reply.json()["error"])


def test_only_a_page_that_may_write_holds_the_write_token(served: Served) -> None:
    assert 'name="judgekit-token" content="may-write"' in served.get("/plug").text
    assert "may-write" not in served.get("/").text
    assert served.context.token not in served.get("/plug").text


def test_a_body_that_is_too_large_is_refused(served: Served) -> None:
    reply = served.post("/api/plug", {"wish": "x" * 9_000_000})
    assert (reply.status, reply.json()) == (413, {"error": "at most 8 MB can be sent at once"})
