"""A small HTTP server on loopback that answers cases as a test says."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable


class Reply:
    """What the server sends back."""

    def __init__(
        self, body: bytes | dict[str, Any] = b"", status: int = 200, **headers: str
    ) -> None:
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status = status
        self.headers = {"Content-Type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }


class Loopback:
    """Serves on a free port of 127.0.0.1 while the `with` lasts; `seen` is what arrived."""

    def __init__(self, answer: Callable[[dict[str, Any], str], Reply]) -> None:
        seen: list[tuple[str, str, dict[str, str], dict[str, Any]]] = []
        self.seen = seen

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                case = json.loads(raw)
                seen.append((self.command, self.path, dict(self.headers), case))
                reply = answer(case, self.path)
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                try:
                    self.wfile.write(reply.body)
                except OSError:  # the client had enough
                    self.close_connection = True

            do_POST = do_PUT = _serve  # noqa: N815 - the library's names

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.port = self._server.server_address[1]

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}/answer"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
