"""A viewer that is really served, and requests to it as they come over the wire."""

from __future__ import annotations

import gzip
import json
import secrets
import threading
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.store import RunStore
from judgekit.web import ViewContext, ViewServer
from judgekit.web.app import listening
from tests.store.observing import START, answer, key, make_run, said

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from starlette.routing import BaseRoute

    from judgekit.records import RunInfo, RunStatus


@dataclass
class Reply:
    """An answer, read to its end."""

    status: int
    headers: Mapping[str, str]
    """By their names in lower case."""

    text: str

    def json(self) -> dict[str, object]:
        data = json.loads(self.text)
        assert isinstance(data, dict)
        return data


@dataclass
class Served:
    """A viewer on a port of this machine."""

    context: ViewContext
    port: int

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def cookie(self) -> str:
        return f"judgekit-{self.port}={self.context.token}"

    def request(
        self, method: str, path: str, sent_body: bytes | None = None, **headers: str | None
    ) -> Reply:
        """Send a request as the user's browser would; a header that is None is left out."""
        sent = {"host": f"127.0.0.1:{self.port}", "cookie": self.cookie}
        sent |= {name.replace("_", "-"): text for name, text in headers.items()}  # type: ignore[misc]
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, text in sent.items():
            if text is not None:
                connection.putheader(name, text)
        if sent_body is not None:
            connection.putheader("content-length", str(len(sent_body)))
        connection.endheaders(sent_body)
        reply = connection.getresponse()
        content = reply.read()
        connection.close()
        received = {name.lower(): value for name, value in reply.getheaders()}
        if received.get("content-encoding") == "gzip":
            content = gzip.decompress(content)
        return Reply(reply.status, received, content.decode())

    def get(self, path: str, **headers: str | None) -> Reply:
        return self.request("GET", path, None, **headers)

    def post(self, path: str, data: object, **headers: str | None) -> Reply:
        """Post JSON as a page of the viewer would."""
        own: dict[str, str | None] = {
            "origin": self.origin,
            "content_type": "application/json",
            "x_judgekit_token": self.context.write_token,
        }
        return self.request("POST", path, json.dumps(data).encode(), **(own | headers))


@contextmanager
def serving(context: ViewContext, routes: Sequence[BaseRoute] = ()) -> Iterator[Served]:
    """Serve the viewer in a thread."""
    with listening(0) as listener:
        port = listener.getsockname()[1]
        server = ViewServer(context, port=port, routes=routes)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield Served(context, port)
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """An empty store."""
    with closing(RunStore(tmp_path / "runs.db")) as store:
        yield store


@pytest.fixture
def served(store: RunStore) -> Iterator[Served]:
    """A viewer of the store, for reading only."""
    with serving(ViewContext(store, secrets.token_urlsafe())) as served:
        yield served


def add_run(
    store: RunStore,
    name: str = "run-1",
    *variants: str,
    status: RunStatus = "complete",
    **fields: Any,
) -> RunInfo:
    """A run of three cases, of which the last one fails."""
    info = make_run(name, *variants, n_cases=3, **fields)
    store.begin(info)
    for variant in info.variants:
        for place in range(3):
            value = 0.0 if place == 2 else 1.0
            judged = tuple(
                said(one.name, value) for one in (info.rubric.criteria if info.rubric else ())
            )
            store.add(name, [answer(key(f"case-{place}", variant.id), place=place, said=judged)])
    if status != "running":
        store.end(name, status=status, at=START + timedelta(hours=1))
    return store.run(name)
