"""The viewer against pages of other servers, in a browser that is logged in to it."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page


class _Stranger(BaseHTTPRequestHandler):
    """An empty page of another server, without any policy of its own."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>stranger</title><body></body>")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Print nothing."""


@contextmanager
def stranger() -> Iterator[str]:
    """The address of another server on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Stranger) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def attacked(page: Page, viewer: str, problems: list[str]) -> Iterator[str]:
    """The viewer's address without its token; `page` knows it, and is now another server's."""
    page.goto(viewer)
    assert page.locator("h1").inner_text() == "Results"
    parts = urlsplit(viewer)
    with stranger() as address:
        page.goto(address)
        yield f"{parts.scheme}://{parts.netloc}"
        # What the browser refuses is an error in its console, and what is tested here.
        problems.clear()


def test_another_origin_cannot_read(page: Page, attacked: str) -> None:
    read = """async (address) => {
        const found = [];
        for (const mode of ["cors", "no-cors"]) {
            for (const credentials of ["include", "omit"]) {
                try {
                    const reply = await fetch(address, { mode, credentials });
                    found.push(await reply.text());
                } catch (error) { found.push(""); }
            }
        }
        return found;
    }"""
    for path in ("/", "/runs/latest", "/assets/page.js", "/api/events?run=latest"):
        assert page.evaluate(read, f"{attacked}{path}") == [""] * 4


def test_the_same_reading_works_in_the_viewer(page: Page, viewer: str) -> None:
    page.goto(viewer)
    text = page.evaluate("async () => (await fetch('/runs/latest')).text()")
    assert "<h1>" in text


def test_another_origin_cannot_load_a_script_or_an_image(page: Page, attacked: str) -> None:
    load = """([tag, name, address]) => new Promise((done) => {
        const element = document.createElement(tag);
        element.onload = () => done("loaded");
        element.onerror = () => done("refused");
        element[name] = address;
        document.body.append(element);
    })"""
    assert page.evaluate(load, ["script", "src", f"{attacked}/assets/page.js"]) == "refused"
    assert page.evaluate(load, ["img", "src", f"{attacked}/runs/latest"]) == "refused"


def test_another_origin_cannot_frame_it(page: Page, attacked: str) -> None:
    page.evaluate(
        """(address) => new Promise((done) => {
            const frame = document.createElement("iframe");
            frame.onload = done;
            frame.src = address;
            document.body.append(frame);
        })""",
        f"{attacked}/runs/latest",
    )
    framed = page.frames[1]
    assert framed.url.startswith("chrome-error:")
    assert framed.locator(".conclusion").count() == 0


def test_another_origin_cannot_post_a_form(page: Page, attacked: str) -> None:
    with page.expect_navigation() as navigated:
        page.evaluate(
            """(address) => {
                const form = document.createElement("form");
                Object.assign(form, { method: "post", action: address, enctype: "text/plain" });
                document.body.append(form);
                form.submit();
            }""",
            f"{attacked}/api/write",
        )
    assert navigated.value is not None
    assert navigated.value.status == 403


def test_another_origin_cannot_follow_events_or_open_a_socket(page: Page, attacked: str) -> None:
    follow = """([kind, address]) => new Promise((done) => {
        const source = kind === "events"
            ? new EventSource(address, { withCredentials: true }) : new WebSocket(address);
        source.onopen = () => done("open");
        source.onerror = () => { source.close(); done("refused"); };
    })"""
    events = f"{attacked}/api/events?run=latest"
    assert page.evaluate(follow, ["events", events]) == "refused"
    assert page.evaluate(follow, ["socket", events.replace("http:", "ws:")]) == "refused"


def test_a_window_that_another_origin_opens_stays_closed_to_it(page: Page, attacked: str) -> None:
    with page.context.expect_page() as opened:
        page.evaluate("(address) => { window.other = window.open(address); }", attacked)
    opened.value.wait_for_load_state()
    read = "() => { try { return window.other.document.title } catch { return 'refused' } }"
    assert page.evaluate(read) in {"refused", None, ""}
    assert page.evaluate("() => window.other.closed || window.other.length === 0")


def test_the_token_is_in_no_page_and_no_referrer(page: Page, viewer: str) -> None:
    token = urlsplit(viewer).query.removeprefix("token=")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(str(request.headers.get("referer"))))
    page.goto(viewer)
    assert "token" not in page.url
    assert token not in page.content()
    page.goto(page.url + "runs/latest")
    assert token not in page.content()
    assert not [referrer for referrer in asked if token in referrer]
    # The cookie is out of reach of scripts.
    assert page.evaluate("document.cookie") == ""
