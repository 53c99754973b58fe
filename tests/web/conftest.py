"""A viewer that is really served, and requests to it as they come over the wire."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import TYPE_CHECKING

import uvicorn

from judgekit.web import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from starlette.routing import BaseRoute

    from judgekit.web import ViewContext


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
    log: list[str] = field(default_factory=list)

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
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, text)

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
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        app = create_app(context, port=port, routes=routes)
        config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield Served(context, port)
        finally:
            server.should_exit = True
            thread.join()
