"""An OpenAI-compatible chat server on loopback whose faults are scheduled by the test.

```python
with OpenAILikeServer(script=["429ra_s", "ok"]) as server:
    ...                              # ask server.url
    assert len(server.requests) == 2
```
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import threading
import urllib.request
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

from tests.servers.answers import Answer, Script, SeenRequest, resolve

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_STEP_S = 0.02


class OpenAILikeServer:
    """Serves `POST …/chat/completions` on a free port of 127.0.0.1 while the `with` lasts.

    Args:
        script: What to answer (see `tests.servers.answers.Script`); good replies without one.
        latency_s: Seconds every answer takes, in addition to its own delay.
        own_process: Serve from another process, so that its CPU time does not count as the
            client's; the script must be picklable then.
        keep_requests: Whether requests are kept; benchmarks of many calls turn it off.
    """

    def __init__(
        self,
        script: Script = None,
        *,
        latency_s: float = 0.0,
        own_process: bool = False,
        keep_requests: bool = True,
    ) -> None:
        self._core = _Core(script, latency_s=latency_s, keep_requests=keep_requests)
        self._own_process = own_process
        self._runner: threading.Thread | multiprocessing.process.BaseProcess | None = None
        self._stopper: Connection | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """The `api_base` to hand to a client."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def requests(self) -> list[SeenRequest]:
        """The requests so far, in the order they arrived."""
        return [SeenRequest(**seen) for seen in self._state()["requests"]]

    @property
    def n_requests(self) -> int:
        """How many requests arrived, kept or not."""
        return int(self._state()["n_requests"])

    @property
    def n_connections(self) -> int:
        """How many connections were opened."""
        return int(self._state()["n_connections"])

    @property
    def most_in_flight(self) -> int:
        """The most requests that were being answered at one time."""
        return int(self._state()["most_in_flight"])

    def restart(self) -> None:
        """Begin the script anew; the requests seen stay."""
        self._call("/_restart")

    def release(self) -> None:
        """Send the answers that are held, and hold none from now on."""
        self._call("/_release")

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(self._call("/_state"))
        return state

    def _call(self, path: str) -> bytes:
        if not self._own_process:
            return self._core.control(path)
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as reply:
            answer: bytes = reply.read()
            return answer

    def __enter__(self) -> Self:
        spawn = multiprocessing.get_context("spawn")
        ours, theirs = spawn.Pipe()
        start = spawn.Process if self._own_process else threading.Thread
        self._runner = start(target=_serve, args=(self._core, theirs), daemon=True)
        self._runner.start()
        self._stopper = ours
        self.port = ours.recv()
        return self

    def __exit__(self, *_: object) -> None:
        if self._stopper is None or self._runner is None:
            return
        self._stopper.send("stop")
        self._runner.join(10)
        self._stopper.close()


def _serve(core: _Core, control: Connection) -> None:
    asyncio.run(core.run(control))
    control.close()


class _Core:
    def __init__(self, script: Script, *, latency_s: float, keep_requests: bool) -> None:
        self._script = script
        self._latency_s = latency_s
        self._keep_requests = keep_requests
        self._n_before = 0
        self._seen: list[SeenRequest] = []
        self._holding: tuple[asyncio.AbstractEventLoop, asyncio.Event]
        self._counts = {"n_requests": 0, "n_connections": 0, "in_flight": 0, "most_in_flight": 0}

    def control(self, path: str) -> bytes:
        if path == "/_restart":
            self._n_before = self._counts["n_requests"]
        if path == "/_release":
            loop, released = self._holding
            loop.call_soon_threadsafe(released.set)
        return json.dumps({"requests": [asdict(s) for s in self._seen], **self._counts}).encode()

    async def run(self, control: Connection) -> None:
        connections: set[asyncio.Task[None]] = set()
        self._holding = asyncio.get_running_loop(), asyncio.Event()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            connections.add(task)
            try:
                await self._converse(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass
            finally:
                connections.discard(task)
                writer.close()

        server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=1 << 26, backlog=1024)
        control.send(server.sockets[0].getsockname()[1])
        await asyncio.to_thread(control.recv)
        server.close()
        for task in tuple(connections):
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        is_new = True
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {
                name.strip().lower(): value.strip()
                for name, _, value in (line.partition(":") for line in head[1:] if line)
            }
            raw = await reader.readexactly(int(headers.get("content-length", 0)))
            path = head[0].split(" ")[1]
            if path.startswith("/_"):
                await _send(writer, Answer(), self.control(path))
                continue
            self._counts["n_connections"] += is_new
            is_new = False
            seen = SeenRequest(path, headers, json.loads(raw or b"{}"), self._counts["n_requests"])
            if not await self._answer(writer, seen):
                return

    async def _answer(self, writer: asyncio.StreamWriter, seen: SeenRequest) -> bool:
        counts = self._counts
        counts["n_requests"] += 1
        counts["in_flight"] += 1
        counts["most_in_flight"] = max(counts["most_in_flight"], counts["in_flight"])
        if self._keep_requests:
            self._seen.append(seen)
        try:
            answer = self._choose(seen)
            if self._latency_s + answer.delay_s:
                await asyncio.sleep(self._latency_s + answer.delay_s)
            if answer.is_held:
                await self._holding[1].wait()
            return await _send(writer, answer, answer.payload(seen))
        finally:
            counts["in_flight"] -= 1

    def _choose(self, seen: SeenRequest) -> Answer:
        script = self._script
        if script is None:
            return Answer()
        if isinstance(script, str | Answer):
            return resolve(script, seen)
        if callable(script):
            return resolve(script(seen), seen)
        turn = seen.number - self._n_before
        return resolve(script[turn], seen) if turn < len(script) else Answer()


async def _send(writer: asyncio.StreamWriter, answer: Answer, payload: bytes) -> bool:
    """Send an answer in its manner; whether the connection may be used again."""
    fields = {
        "Content-Type": "application/json",
        "x-request-id": "req-loopback",
        **answer.headers,
        "Content-Length": str(len(payload)),
    }
    lines = [f"HTTP/1.1 {answer.status} X", *(f"{k}: {v}" for k, v in fields.items()), "", ""]
    head = "\r\n".join(lines).encode()
    if answer.manner in {"hang", "reset_before"}:
        if answer.manner == "hang":
            await asyncio.sleep(3600)
        writer.transport.abort()
    elif answer.manner == "slow_headers":
        await _trickle(writer, head + payload)
    elif answer.manner == "drip":
        writer.write(head)
        await _trickle(writer, payload)
    elif answer.manner == "reset_mid":
        writer.write(head + payload[: len(payload) // 2])
        await writer.drain()
        await asyncio.sleep(_STEP_S)
        writer.transport.abort()
    elif answer.manner == "short":
        writer.write(head + payload[:-10])
        await writer.drain()
    else:
        writer.write(head + payload)
        await writer.drain()
    return answer.manner in {"whole", "drip", "slow_headers"}


async def _trickle(writer: asyncio.StreamWriter, data: bytes) -> None:
    for i in range(len(data)):
        writer.write(data[i : i + 1])
        await writer.drain()
        await asyncio.sleep(_STEP_S)
