"""Requests that are not the user's own, sent as another site or program could send them."""

from __future__ import annotations

import secrets
import socket
from typing import TYPE_CHECKING

import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from judgekit.errors import SettingsError
from judgekit.web import ViewContext, write_route
from judgekit.web.app import listening
from judgekit.web.guard import SECURITY_HEADERS
from tests.web.conftest import Served, add_run, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request

    from judgekit.store import RunStore


@pytest.fixture
def writing(store: RunStore) -> Iterator[tuple[Served, list[dict[str, object]]]]:
    """A viewer that may write, and what was written."""
    written: list[dict[str, object]] = []

    def write(_: Request, posted: dict[str, object]) -> str:
        written.append(posted)
        return "written"

    def read(_: Request) -> PlainTextResponse:
        return PlainTextResponse("read")

    routes = [write_route("/api/write", write), Route("/api/write", read)]
    context = ViewContext(store, secrets.token_urlsafe(), write_token=secrets.token_urlsafe())
    with serving(context, routes) as served:
        yield served, written


def hosts(port: int) -> list[str | None]:
    """Hosts that the viewer does not go by."""
    return [
        None,
        "",
        "127.0.0.1",
        "localhost",
        f"127.0.0.1:{port + 1}",
        f"evil.example:{port}",
        f"127.0.0.1.evil.example:{port}",
        f"localhost.evil.example:{port}",
        f"0.0.0.0:{port}",
        f"[::1]:{port}",
        f"127.1:{port}",
        f"127.0.0.1:{port}@evil.example",
        f"127.0.0.1:{port}, evil.example",
        "näme",
    ]


def test_another_host_gets_nothing(store: RunStore, served: Served) -> None:
    add_run(store)
    for host in hosts(served.port):
        for path in ("/", f"/?token={served.context.token}", "/assets/page.js", "/nothing"):
            reply = served.get(path, host=host)
            # A request without any host is refused before the guard sees it.
            assert reply.status in {400, 403}, (host, path)
            assert "run-1" not in reply.text
            assert "set-cookie" not in reply.headers


def test_its_own_names_are_answered(served: Served) -> None:
    assert served.get("/", host=f"localhost:{served.port}").status == 200
    assert served.get("/", host=f"127.0.0.1:{served.port}").status == 200


def send(served: Served, text: str) -> str:
    """Send bytes as they are, and read the answer to its end."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
        connection.sendall(text.encode("latin-1"))
        received = b""
        while part := connection.recv(65536):
            received += part
    return received.decode("latin-1")


def test_two_hosts_are_refused(served: Served) -> None:
    own = f"Host: 127.0.0.1:{served.port}\r\n"
    for lines in (f"{own}Host: evil.example\r\n", f"Host: evil.example\r\n{own}"):
        text = f"GET / HTTP/1.1\r\n{lines}Cookie: {served.cookie}\r\nConnection: close\r\n\r\n"
        assert send(served, text).split()[1] in {"400", "403"}


def test_the_host_of_an_absolute_address_does_not_count(served: Served) -> None:
    text = (
        f"GET http://127.0.0.1:{served.port}/ HTTP/1.1\r\nHost: evil.example\r\n"
        f"Cookie: {served.cookie}\r\nConnection: close\r\n\r\n"
    )
    assert send(served, text).split()[1] == "403"


def test_without_its_token_nothing_is_read(store: RunStore, served: Served) -> None:
    add_run(store)
    old = secrets.token_urlsafe()
    cookies = (
        None, "", "x", f"judgekit-{served.port}=", f"judgekit-{served.port}={old}",
        f"judgekit-{served.port + 1}={served.context.token}", f"other={served.context.token}",
        f"judgekit-{served.port}={served.context.token[:-1]}",
        f"judgekit-{served.port}={served.context.token}x",
        f"judgekit-{served.port}=" + "x" * 30_000, "=;=;\x01", "judgekit-é=ü",
    )  # fmt: skip
    for cookie in cookies:
        for path in ("/", "/runs/run-1", "/api/events?run=run-1", "/assets/page.js", "/nothing"):
            reply = served.get(path, cookie=cookie)
            assert reply.status == 403, (cookie, path)
            assert "run-1" not in reply.text
    assert served.get(f"/?token={old}", cookie=None).status == 403


@pytest.mark.parametrize("other", ["a/b=1", "a(b=1", "=", ";;", "x", '"y"="', "é=ü"])
def test_cookies_of_other_servers_do_not_matter(served: Served, other: str) -> None:
    assert served.get("/", cookie=f"{other}; {served.cookie}").status == 200
    assert served.get("/", cookie=f"{served.cookie}; {other}").status == 200


def test_the_token_becomes_a_cookie_and_leaves_the_address(served: Served) -> None:
    reply = served.get(f"/runs/run-1?token={served.context.token}&q=1", cookie=None)
    assert (reply.status, reply.headers["location"]) == (303, "/runs/run-1?q=1")
    cookie = reply.headers["set-cookie"]
    assert cookie.startswith(f"judgekit-{served.port}={served.context.token};")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {p.strip() for p in cookie.split(";")}


@pytest.mark.parametrize(
    "path", ["//evil.example", "///evil.example/x", "/%2Fevil.example", "/%5Cevil.example"]
)
def test_the_address_with_the_token_leads_nowhere_else(served: Served, path: str) -> None:
    location = served.get(f"{path}?token={served.context.token}").headers["location"]
    assert location.startswith("/")
    assert location[1:2] not in {"/", "\\"}


def test_a_line_break_in_the_address_adds_no_header(served: Served) -> None:
    path = "/x%0D%0ASet-Cookie:%20a=b"
    reply = served.get(f"{path}?token={served.context.token}&y=%0D%0AX-A:%201")
    assert reply.status == 303
    assert "x-a" not in reply.headers
    assert reply.headers["location"] == "/x%0D%0ASet-Cookie%3A%20a%3Db?y=%0D%0AX-A%3A+1"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("mode", ["cors", "no-cors", "same-origin", "websocket"])
def test_a_page_of_another_site_gets_nothing(served: Served, site: str, mode: str) -> None:
    reply = served.get("/", sec_fetch_site=site, sec_fetch_mode=mode)
    assert (reply.status, reply.text) == (403, "another site asked for this")


def test_no_answer_shares_anything_with_another_origin(store: RunStore, served: Served) -> None:
    add_run(store)
    paths = ("/", "/runs/run-1", "/nothing", "/assets/page.js", "/api/chunk/none/0", "/?page=0")
    for path in paths:
        for cookie in (served.cookie, None):
            reply = served.get(path, origin="http://evil.example", cookie=cookie)
            for name, value in SECURITY_HEADERS.items():
                assert reply.headers[name] == value, (path, name)
            assert not [name for name in reply.headers if name.startswith("access-control")]
            assert "server" not in reply.headers


def test_a_viewer_for_reading_is_changed_by_nobody(served: Served) -> None:
    reply = served.post("/api/write", {}, x_judgekit_token=served.context.token)
    assert (reply.status, reply.text) == (403, "judgekit view was started for reading only")


def test_a_page_of_the_viewer_may_write(writing: tuple[Served, list[dict[str, object]]]) -> None:
    served, written = writing
    assert served.post("/api/write", {"x": 1}).status == 200
    assert written == [{"x": 1}]


@pytest.mark.parametrize(
    "changed",
    [
        {"origin": None},
        {"origin": "null"},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1"},
        {"origin": "http://127.0.0.1:1"},
        {"x_judgekit_token": None},
        {"x_judgekit_token": ""},
        {"x_judgekit_token": "x"},
        {"x_judgekit_token": "é"},
        {"x_judgekit_token": "x" * 30_000},
        {"content_type": None},
        {"content_type": "text/plain"},
        {"content_type": "application/x-www-form-urlencoded"},
        {"content_type": "multipart/form-data; boundary=x"},
        {"cookie": None},
        {"host": "evil.example"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "cors"},
    ],
)
def test_a_change_that_another_site_could_send_is_refused(
    writing: tuple[Served, list[dict[str, object]]], changed: dict[str, str | None]
) -> None:
    served, written = writing
    assert served.post("/api/write", {"x": 1}, **changed).status == 403
    assert written == []


def test_the_token_of_the_address_writes_nothing(
    writing: tuple[Served, list[dict[str, object]]],
) -> None:
    served, written = writing
    assert served.post("/api/write", {}, x_judgekit_token=served.context.token).status == 403
    assert written == []


def test_the_origin_must_be_that_of_the_host_asked(
    writing: tuple[Served, list[dict[str, object]]],
) -> None:
    served, written = writing
    assert served.post("/api/write", {}, host=f"localhost:{served.port}").status == 403
    assert written == []


@pytest.mark.parametrize("method", ["TRACE", "OPTIONS", "PUT", "DELETE", "PATCH", "CONNECT"])
def test_other_methods_are_refused(
    writing: tuple[Served, list[dict[str, object]]], method: str
) -> None:
    served, _ = writing
    assert served.request(method, "/api/write").status == 403
    with_token = served.request(
        method,
        "/api/write",
        b"{}",
        origin=served.origin,
        content_type="application/json",
        x_judgekit_token=served.context.write_token,
    )
    assert with_token.status == 405


def test_there_are_no_web_sockets(served: Served) -> None:
    reply = served.get(
        "/api/events?run=x",
        cookie=None,
        connection="Upgrade",
        upgrade="websocket",
        sec_websocket_version="13",
        sec_websocket_key="dGhlIHNhbXBsZSBub25jZQ==",
    )
    assert reply.status == 403


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../app.py",
        "/assets/..%2f..%2fhtml.py",
        "/assets/%2e%2e/html.py",
        "/assets//etc/passwd",
        "/runs/../../etc/passwd",
        "/runs/..%2F..%2Fetc%2Fpasswd",
        "/api/chunk/..%2F..%2Fx/0",
        "/runs/%00",
        "/assets/page.js%00",
    ],
)
def test_names_are_looked_up_and_never_opened(served: Served, path: str) -> None:
    reply = served.get(path)
    assert reply.status == 404
    assert "root:" not in reply.text
    assert "def " not in reply.text


def test_the_server_listens_on_this_machine_only() -> None:
    with listening(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"


def test_a_port_in_use_says_what_to_do() -> None:
    with listening(0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(SettingsError, match=f"port {port} of 127.0.0.1 cannot be used"):
            listening(port).__enter__()
