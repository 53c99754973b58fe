"""A server of files on loopback that can fail in every way a download can.

```python
with FileServer({"a/b.json": b"[]"}, faults={"a/b.json": "cut"}) as server:
    ...                              # fetch server.url + "/a/b.json"
    assert server.asked == ["/a/b.json"]
```
"""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

Fault = Literal["cut", "slow", "large", "elsewhere", "moved", "broken"]
"""`cut` ends early, `slow` stops sending, `large` sends more, `moved` redirects to the path with
`.moved`, `elsewhere` to another machine without https, `broken` speaks no HTTP."""


class FileServer:
    """Serves files on a free port of 127.0.0.1 while the `with` lasts.

    Args:
        files: Contents by path, without a leading slash; all else is 404.
        faults: How the answer for a path fails.
    """

    def __init__(
        self, files: Mapping[str, bytes], faults: Mapping[str, Fault] | None = None
    ) -> None:
        self.asked: list[str] = []
        self._files, self._faults = files, faults or {}
        self._done = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._runner = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        """The address below which the files lie."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._runner.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._server.shutdown()
        self._server.server_close()
        self._runner.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.answer(self)

            def log_message(self, *_: object) -> None:
                return

        return Handler

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request as the faults say."""
        self.asked.append(handler.path)
        name = handler.path.removeprefix("/")
        fault = self._faults.get(name)
        body = self._files.get(name.removesuffix(".moved"))
        if fault == "broken":
            handler.wfile.write(b"no http\r\n\r\n")
        elif fault in {"moved", "elsewhere"}:
            handler.send_response(302)
            places = {"moved": f"{self.url}/{name}.moved", "elsewhere": "http://192.0.2.1/x"}
            handler.send_header("Location", places[fault])
            handler.end_headers()
        elif body is None:
            handler.send_error(404)
        else:
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(body) * (2 if fault == "large" else 1)))
            handler.end_headers()
            half = body[: len(body) // 2]
            handler.wfile.write(
                {"cut": half, "slow": half, "large": body * 2}.get(fault or "", body)
            )
            if fault == "slow":
                handler.wfile.flush()
                self._done.wait(30)
