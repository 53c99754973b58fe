from __future__ import annotations

import asyncio
import socket
import threading
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import SettingsError
from judgekit.targets.external import EndpointTarget
from tests.factories import make_case
from tests.servers.nobody import unserved_port
from tests.targets.loopback import Loopback, Reply

if TYPE_CHECKING:
    from judgekit.records import Output


async def asked(url: str, **settings: Any) -> Output:
    target = EndpointTarget("v1", url, **{"timeout_s": 10.0} | settings)
    try:
        return await target.answer(make_case(), repeat=1)
    finally:
        await target.aclose()


async def answered(*replies: Reply, **settings: Any) -> Output:
    left = iter(replies)
    with Loopback(lambda _case, _path: next(left)) as server:
        return await asked(server.url, **settings)


@pytest.mark.parametrize("method", ["POST", "PUT"])
async def test_the_case_is_sent_and_the_output_comes_back(method: str) -> None:
    with Loopback(lambda case, _: Reply({"text": case["input"], "data": case})) as server:
        output = await asked(server.url, method=method, headers={"X-Key": "abc"})
    ((verb, path, headers, case),) = server.seen
    assert (verb, path, headers["X-Key"]) == (method, "/answer", "abc")
    assert headers["Content-Type"] == "application/json"
    assert case == {**make_case().to_json(), "repeat": 1, "variant": {"id": "v1"}}
    assert (output.text, output.case_id, output.variant) == ("Can I return it?", "refund", "v1")


async def test_a_plain_text_is_the_text() -> None:
    plain = "text/plain; charset=latin-1"
    output = await answered(Reply("für {}".encode("latin-1"), Content_Type=plain))
    assert output.text == "für {}"


@pytest.mark.parametrize("charset", ["utf-8", "nonesuch"])
async def test_a_text_in_another_encoding_than_it_says_is_unreadable(charset: str) -> None:
    output = await answered(Reply(b"\xff", Content_Type=f"text/plain; charset={charset}"))
    assert output.error_kind == "unreadable"


@pytest.mark.parametrize(
    ("reply", "kind", "told"),
    [
        (Reply(b"out of order", 503), "http_status", "HTTP 503: 'out of order'"),
        (Reply(b"", 404), "http_status", "/answer answered HTTP 404"),
        (Reply({"error": "no"}, 500), "http_status", """HTTP 500: '{"error": "no"}'"""),
        (Reply(b"slow down", 429, Retry_After="1"), "http_status", "HTTP 429: 'slow down'"),
        (Reply({"text": "found nothing"}, 404), "http_status", "HTTP 404"),
        (Reply(b"", 304), "http_status", "HTTP 304"),
        (Reply(b"", 302, Location="/other"), "http_status", "HTTP 302"),
        (Reply(b"", 307), "http_status", "HTTP 307"),
        (Reply(b"<html>"), "unreadable", "it begins: '<html>'"),
        (Reply(b'{"text": "cut'), "unreadable", "it begins"),
        (Reply(b'{"text": NaN}'), "unreadable", ""),
        (Reply(b""), "unreadable", "it begins: nothing"),
        (Reply(b"[1]"), "unreadable", "the reply holds no JSON object"),
        (Reply(b"x" * (11 << 20)), "too_large", "more than 10 MiB"),
    ],
    ids=[
        "503",
        "404",
        "500",
        "429",
        "404 with a text",
        "304",
        "302",
        "307",
        "html",
        "cut",
        "NaN",
        "empty",
        "list",
        "large",
    ],
)
async def test_a_bad_answer_is_an_output_with_its_kind(reply: Reply, kind: str, told: str) -> None:
    output = await answered(reply)
    assert output.error_kind == kind
    assert told in (output.error or "")


async def test_a_redirect_on_the_same_host_is_followed_with_the_case() -> None:
    def answer(case: dict[str, Any], path: str) -> Reply:
        return Reply({"text": case["id"]}) if path == "/b" else Reply(b"", 307, Location="/b")

    with Loopback(answer) as server:
        output = await asked(server.url)
    assert (output.text, [path for _, path, _, _ in server.seen]) == ("refund", ["/answer", "/b"])


async def test_a_redirect_to_another_host_is_not_followed() -> None:
    with Loopback(lambda _case, _path: Reply({"text": "stolen"})) as other:
        output = await answered(Reply(b"", 308, Location=other.url))
    assert (output.error_kind, other.seen) == ("http_status", [])
    assert "redirects to another host" in (output.error or "")


async def test_redirects_without_end_are_given_up() -> None:
    with Loopback(lambda _case, path: Reply(b"", 307, Location=path)) as server:
        output = await asked(server.url)
    assert "redirects too often" in (output.error or "")


async def test_a_slow_endpoint_is_given_up() -> None:
    release = threading.Event()

    def answer(_case: dict[str, Any], _path: str) -> Reply:
        release.wait(10)
        return Reply({"text": "late"})

    with Loopback(answer) as server:
        output = await asked(server.url, timeout_s=0.2)
        release.set()
    assert (output.error_kind, "within 0.2 s" in (output.error or "")) == ("timeout", True)


async def test_an_endpoint_that_takes_no_connection_is_told_apart() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        port = listening.getsockname()[1]
        with socket.socket() as first, socket.socket() as second:
            first.connect(("127.0.0.1", port))  # fills the queue
            second.setblocking(False)
            second.connect_ex(("127.0.0.1", port))
            output = await asked(f"http://127.0.0.1:{port}/", connect_s=0.05)
    assert output.error_kind == "connection"
    assert "took no connection within 0.05 s" in (output.error or "")


async def test_nobody_there_is_a_connection_error_without_secrets() -> None:
    with unserved_port() as port:
        output = await asked(f"http://user:pass1234@127.0.0.1:{port}/a?token=abc")
    assert output.error_kind == "connection"
    assert f"http://127.0.0.1:{port}/a could not be called" in (output.error or "")
    assert "pass1234" not in (output.error or "")
    assert "token" not in (output.error or "")


async def test_a_header_that_comes_back_is_not_shown() -> None:
    headers = {"Authorization": "hush-hush-hush"}
    output = await answered(
        Reply(b"bad key hush-hush-hush", 401), headers=headers, secrets=["hush-hush-hush"]
    )
    assert "bad key [redacted]" in (output.error or "")


@pytest.mark.parametrize("url", ["ftp://x/", "http://", "http://x:99999/", "http://[x/"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="is no HTTP address"):
        EndpointTarget("v1", url, timeout_s=1)


@pytest.mark.parametrize("headers", [{"X-Key": "a\nb"}, {"": "x"}, {"Ü": "x"}])
def test_a_header_of_two_lines_is_refused_without_its_value(headers: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="cannot be sent") as caught:
        EndpointTarget("v1", "http://x/", headers=headers, timeout_s=1)
    assert "a\nb" not in str(caught.value)


def test_it_may_be_asked_in_several_loops() -> None:
    with Loopback(lambda _case, _path: Reply({"text": "yes"})) as server:
        target = EndpointTarget("v1", server.url, timeout_s=5)
        outputs = [asyncio.run(target.answer(make_case())) for _ in range(2)]
        asyncio.run(target.aclose())
    assert [output.text for output in outputs] == ["yes", "yes"]
