"""A loopback server that speaks OpenAI's batch protocol: files, batches, and their results."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import threading
from collections import Counter
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qs, urlsplit

from judgekit.testing import ServedReply, ServedRequest
from tests.servers.answers import GOOD

if TYPE_CHECKING:
    from collections.abc import Callable

    Script = Callable[[ServedRequest], ServedReply | str | None]

_PAGE = 2
"""Entries of a list in one page, so that lists have several."""


class BatchServer:
    """Stores files and batches; a batch is done when a test calls `finish`.

    `kill_at` names a step (`METHOD route`, with `before ` or `after ` in front of it) at which the
    client, whose process id a test sets, is killed.
    """

    def __init__(self) -> None:
        self.files: dict[str, dict[str, Any]] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.calls: Counter[str] = Counter()
        self.n_answered: Counter[str] = Counter()
        """How often each request was answered, by its custom id: what a user would pay for."""
        self.kill_at: str | None = None
        self.client: Callable[[], int] = lambda: 0
        self.clock = 4_000_000_000
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def lines(self, batch: dict[str, Any]) -> list[dict[str, Any]]:
        """The requests of a batch."""
        content: bytes = self.files[batch["input_file_id"]]["content"]
        return [json.loads(line) for line in content.splitlines()]

    def finish(self, script: Script = lambda _: GOOD, *, status: str = "completed") -> None:
        """Answer every open batch; a script returns None for a request that is not reached."""
        for batch in self.batches.values():
            if batch["status"] not in {"in_progress", "cancelling"}:
                continue
            good: list[dict[str, Any]] = []
            bad: list[dict[str, Any]] = []
            for number, line in enumerate(self.lines(batch)):
                request = ServedRequest(line["url"], {}, line["body"], number)
                found = script(request)
                name = line["custom_id"]
                if found is None:
                    error = {"code": "batch_expired", "message": "This request was not reached."}
                    bad.append({"custom_id": name, "response": None, "error": error})
                    continue
                reply = ServedReply(found) if isinstance(found, str) else found
                body = json.loads(reply.payload(request))
                response = {"status_code": reply.status, "request_id": "r", "body": body}
                is_good = reply.status == 200
                self.n_answered[name] += is_good
                (good if is_good else bad).append({"custom_id": name, "response": response})
            # The protocol promises no order.
            random.Random(0).shuffle(good)
            batch["output_file_id"] = self._store("output.jsonl", good) if good else None
            batch["error_file_id"] = self._store("error.jsonl", bad) if bad else None
            n = {"total": len(good) + len(bad), "completed": len(good), "failed": len(bad)}
            batch |= {"status": status, "request_counts": n}

    def _store(self, name: str, lines: list[dict[str, Any]]) -> str:
        content = "".join(json.dumps(line) + "\n" for line in lines).encode()
        return str(self._add(self.files, "file", {"filename": name, "content": content})["id"])

    def _add(self, where: dict[str, Any], kind: str, fields: dict[str, Any]) -> dict[str, Any]:
        self.clock += 1
        made = {"id": f"{kind}-{len(where)}", "object": kind, "created_at": self.clock, **fields}
        where[made["id"]] = made
        return made

    def _answer(  # noqa: PLR0911 - one return for each route
        self, method: str, path: str, headers: Any, body: bytes
    ) -> tuple[int, Any]:
        route = path.removeprefix("/v1/")
        match method, route.split("/"):
            case "POST", ["files"]:
                head = f"Content-Type: {headers['Content-Type']}\r\n\r\n".encode()
                parts: Any = BytesParser().parsebytes(head + body).get_payload()
                fields = {one.get_param("name", header="content-disposition"): one for one in parts}
                assert fields["purpose"].get_payload() == "batch"
                file = fields["file"]
                content = file.get_payload(decode=True)
                named = {"filename": file.get_filename(), "content": content, "purpose": "batch"}
                return 200, self._add(self.files, "file", named)
            case "POST", ["batches"]:
                wanted = json.loads(body)
                assert wanted["endpoint"] == "/v1/chat/completions"
                assert wanted["completion_window"] == "24h"
                return 200, self._add(self.batches, "batch", wanted | {"status": "in_progress"})
            case "POST", ["batches", name, "cancel"]:
                self.batches[name]["status"] = "cancelling"
                return 200, self.batches[name]
            case "GET", ["batches", name]:
                return 200, self.batches[name]
            case "GET", ["files", name, "content"]:
                return 200, self.files[name]["content"]
            case "GET", ["files" | "batches"]:
                return 200, self._page(self.files if route == "files" else self.batches)
        return 404, {"error": {"message": f"no route {method} {route}"}}

    def _page(self, where: dict[str, Any]) -> dict[str, Any]:
        newest = list(where.values())[::-1]
        start = next((n + 1 for n, one in enumerate(newest) if one["id"] == self.after), 0)
        page = newest[start : start + _PAGE]
        return {"data": page, "has_more": start + _PAGE < len(newest)}

    after = ""

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                url = urlsplit(self.path)
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                step = f"{self.command} {re.sub(r'-[0-9]+', '', url.path.removeprefix('/v1/'))}"
                server.after = parse_qs(url.query).get("after", [""])[0]
                server.calls[step] += 1
                if server.kill_at == f"before {step}":
                    server.kill_at = None
                    os.kill(server.client(), signal.SIGKILL)
                    return
                status, answer = server._answer(self.command, url.path, self.headers, body)
                if server.kill_at == f"after {step}":
                    server.kill_at = None
                    os.kill(server.client(), signal.SIGKILL)
                    return
                raw = (
                    answer
                    if isinstance(answer, bytes)
                    else json.dumps(answer, default=str).encode()
                )
                self.send_response(status)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            do_GET = do_POST = _serve  # noqa: N815 - the names that http.server calls

            def log_message(self, *_: object) -> None:
                pass

        return Handler
