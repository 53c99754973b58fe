"""Loopback servers that speak the batch protocols of OpenAI, Anthropic and Gemini."""

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
from typing import TYPE_CHECKING, Any, Literal, Self
from urllib.parse import parse_qsl, urlsplit

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

    model = "openai/m"
    root = "/v1/"
    """What stands before the routes in the steps."""

    base = "/v1"
    """What the address has after the port."""

    def __init__(self) -> None:
        self.files: dict[str, dict[str, Any]] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.calls: Counter[str] = Counter()
        self.n_answered: Counter[str] = Counter()
        """How often each request was answered, by its custom id: what a user would pay for."""
        self.kill_at: str | None = None
        self.client: Callable[[], int] = lambda: 0
        self.faults: dict[str, int] = {}
        """Steps that are answered with an error, and the status of it."""
        self.clock = 4_000_000_000
        self.query: dict[str, str] = {}
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}{self.base}"

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
            if not self._is_open(batch):
                continue
            good: list[dict[str, Any]] = []
            bad: list[dict[str, Any]] = []
            for number, line in enumerate(self.lines(batch)):
                request = ServedRequest(line["url"], {}, line["body"], number)
                found = script(request)
                reply = ServedReply(found) if isinstance(found, str) else found
                is_good = reply is not None and reply.status == 200
                self.n_answered[line["custom_id"]] += is_good
                body = None if reply is None else json.loads(reply.payload(request))
                result = self._result(line["custom_id"], 0 if reply is None else reply.status, body)
                (good if is_good else bad).append(result)
            # The protocols promise no order.
            random.Random(0).shuffle(good)
            self._end(batch, good, bad, status)

    def _is_open(self, batch: dict[str, Any]) -> bool:
        return batch["status"] in {"in_progress", "cancelling"}

    def _result(self, name: str, status: int, body: Any) -> dict[str, Any]:
        """The line of a request in the results; a status of 0: the request was not reached."""
        if not status:
            error = {"code": "batch_expired", "message": "This request was not reached."}
            return {"custom_id": name, "response": None, "error": error}
        response = {"status_code": status, "request_id": "r", "body": body}
        return {"custom_id": name, "response": response}

    def _end(self, batch: dict[str, Any], good: list[Any], bad: list[Any], status: str) -> None:
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
        route = path.removeprefix(self.root)
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

    def _page(self, where: dict[str, Any], field: str = "after") -> dict[str, Any]:
        newest, after = list(where.values())[::-1], self.query.get(field)
        start = next((n + 1 for n, one in enumerate(newest) if one["id"] == after), 0)
        page = newest[start : start + _PAGE]
        return {"data": page, "has_more": start + _PAGE < len(newest)}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                url = urlsplit(self.path)
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                route = re.sub(r"-[0-9]+(?![.\w])", "", url.path.removeprefix(server.root))
                step = f"{self.command} {route}"
                server.query = dict(parse_qsl(url.query))
                server.calls[step] += 1
                if server.kill_at == f"before {step}":
                    server.kill_at = None
                    os.kill(server.client(), signal.SIGKILL)
                    return
                if status := server.faults.get(step, 0):
                    answer: Any = {"error": {"message": "not now"}}
                else:
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


class AnthropicBatchServer(BatchServer):
    """Anthropic's: no files, no names, and results only once all of a batch is done."""

    model = "anthropic/claude-sonnet-4-5"
    root, base = "/v1/messages/", ""
    fault: Literal["refuses", "creates and fails"] | None = None
    """What comes of the next batch."""

    def lines(self, batch: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"custom_id": one["custom_id"], "body": one["params"], "url": "/v1/messages"}
            for one in self.files[batch["id"]]["requests"]
        ]

    def add(self, requests: list[dict[str, Any]]) -> dict[str, Any]:
        """A new batch, of whomever."""
        counts = {"processing": len(requests), "succeeded": 0, "errored": 0, "expired": 0}
        fields = {"processing_status": "in_progress", "request_counts": counts}
        made = self._add(self.batches, "msgbatch", {**fields, "archived_at": None})
        self.files[made["id"]] = {"requests": requests}
        return made | {"created_at": "2096-10-02T07:06:40.100435Z"}

    def _is_open(self, batch: dict[str, Any]) -> bool:
        return bool(batch["processing_status"] != "ended")

    def _result(self, name: str, status: int, body: Any) -> dict[str, Any]:
        if status == 200:
            return {"custom_id": name, "result": {"type": "succeeded", "message": body}}
        if not status:
            return {"custom_id": name, "result": {"type": "expired"}}
        kind = "api_error" if status >= 500 else "invalid_request_error"
        error = {"type": "error", "error": {"type": kind, "message": body["error"]["message"]}}
        return {"custom_id": name, "result": {"type": "errored", "error": error}}

    def _end(self, batch: dict[str, Any], good: list[Any], bad: list[Any], _: str) -> None:
        lines = "".join(json.dumps(line) + "\n" for line in [*bad, *good])
        self.files[batch["id"]]["results"] = lines.encode()
        counts = {"processing": 0, "succeeded": len(good), "errored": len(bad)}
        batch |= {"processing_status": "ended", "request_counts": counts, "results_url": "http://x"}

    def _answer(  # noqa: PLR0911 - one return for each route
        self, method: str, path: str, headers: Any, body: bytes
    ) -> tuple[int, Any]:
        if headers["anthropic-version"] != "2023-06-01":
            return 400, _anthropic_error("anthropic-version: header is required")
        match method, path.removeprefix(self.root).split("/"):
            case "POST", ["batches"]:
                return self._create(json.loads(body)["requests"], headers["anthropic-beta"] or "")
            case "POST", ["batches", name, "cancel"]:
                self.batches[name]["processing_status"] = "canceling"
                return 200, self.batches[name]
            case "GET", ["batches", name] if name in self.batches:
                return 200, self.batches[name]
            case "GET", ["batches", name, "results"] if "results" in self.files[name]:
                return 200, self.files[name]["results"]
            case "GET", ["batches"]:
                return 200, self._page(self.batches, "after_id")
        return 404, _anthropic_error(f"no route {method} {path}")

    def _create(self, requests: list[dict[str, Any]], beta: str) -> tuple[int, Any]:
        has_schema = any("output_format" in one["params"] for one in requests)
        if has_schema and "structured-outputs" not in beta:
            return 400, _anthropic_error("output_format: Extra inputs are not permitted")
        names = [one["custom_id"] for one in requests]
        fault, self.fault = self.fault, None
        if fault == "refuses":
            return 400, _anthropic_error("not today")
        if fault is not None:
            self.add(requests)
            return 500, _anthropic_error("not today")
        if len({*names}) < len(names) or not all(map(_CUSTOM_ID.fullmatch, names)):
            return 400, _anthropic_error("custom_id")
        return 200, self.add(requests)


_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def _anthropic_error(message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


class GeminiBatchServer(BatchServer):
    """Gemini's: operations over uploaded files, whose lists promise no order."""

    model = "gemini/gemini-2.5-flash"
    root, base = "/v1beta/", "/v1beta"

    def lines(self, batch: dict[str, Any]) -> list[dict[str, Any]]:
        file = self.files[batch["metadata"]["inputConfig"]["fileName"]]
        lines = [json.loads(line) for line in file["content"].splitlines()]
        return [
            {"custom_id": one["key"], "body": one["request"], "url": "/m:generateContent"}
            for one in lines
        ]

    def _is_open(self, batch: dict[str, Any]) -> bool:
        return not batch.get("done")

    def _result(self, name: str, status: int, body: Any) -> dict[str, Any]:
        if status == 200:
            return {"key": name, "response": body}
        if not status:
            return {"key": name, "error": {"code": 4, "message": "The deadline expired."}}
        return {"key": name, "error": {"code": 3, "message": body["error"]["message"]}}

    def _end(self, batch: dict[str, Any], good: list[Any], bad: list[Any], status: str) -> None:
        content = "".join(json.dumps(line) + "\n" for line in [*good, *bad]).encode()
        made = self._named(self.files, "files", {"content": content})
        state = "SUCCEEDED" if status == "completed" else status.upper()
        counts = {"requestCount": str(len(good) + len(bad))}
        counts |= {"successfulRequestCount": str(len(good)), "failedRequestCount": str(len(bad))}
        batch["metadata"] |= {"state": f"BATCH_STATE_{state}", "batchStats": counts}
        batch |= {"done": True, "response": {"responsesFile": made["name"]}}

    def _named(self, where: dict[str, Any], kind: str, fields: dict[str, Any]) -> dict[str, Any]:
        name = f"{kind}/x-{len(where)}"
        made = where[name] = {"name": name, **fields}
        return made

    def _answer(  # noqa: PLR0911 - one return for each route
        self, method: str, path: str, headers: Any, body: bytes
    ) -> tuple[int, Any]:
        route = path.removeprefix(self.root)
        match method, re.split("[/:]", route.strip("/")):
            case "POST", ["upload", "v1beta", "files"]:
                return 200, {"file": self._upload(headers, body)}
            case "POST", ["models", "gemini-2.5-flash", "batchGenerateContent"]:
                about = json.loads(body)["batch"] | {"state": "BATCH_STATE_PENDING"}
                if about["inputConfig"]["fileName"] in self.files:
                    return 200, self._named(self.batches, "batches", {"metadata": about})
                return 403, {"error": {"code": 403, "message": "it may not exist"}}
            case "POST", ["batches", _, "cancel"]:
                return 200, {}
            case "GET", ["batches", _] if route in self.batches:
                return 200, self.batches[route]
            case "GET", ["files", _, "download"]:
                file = self.files.get(route.partition(":")[0])
                error = {"error": {"code": 403, "message": "it may not exist"}}
                return (403, error) if file is None else (200, file["content"])
            case "GET", ["files" | "batches"]:
                return 200, self._tokens(route, self.files if route == "files" else self.batches)
        return 404, {"error": {"code": 404, "message": f"no route {method} {path}"}}

    def _upload(self, headers: Any, body: bytes) -> dict[str, Any]:
        assert headers["X-Goog-Upload-Protocol"] == "multipart"
        head = f"Content-Type: {headers['Content-Type']}\r\n\r\n".encode()
        parts: Any = BytesParser().parsebytes(head + body).get_payload()
        about, file = (one.get_payload(decode=True) for one in parts)
        return self._named(self.files, "files", json.loads(about)["file"] | {"content": file})

    def _tokens(self, route: str, where: dict[str, Any]) -> dict[str, Any]:
        start = int(self.query.get("pageToken") or 0)
        shown = [{k: v for k, v in one.items() if k != "content"} for one in where.values()]
        page: dict[str, Any] = {
            "files" if route == "files" else "operations": shown[start:][:_PAGE]
        }
        return page | ({"nextPageToken": str(start + _PAGE)} if shown[start + _PAGE :] else {})
