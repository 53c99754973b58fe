"""A model server on this machine whose faults are scheduled: `ChaosServer`."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import threading
import urllib.request
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Self

from judgekit.errors import SettingsError, UnknownNameError
from judgekit.testing.server_replies import (
    ARRIVES_WHOLE,
    SERVER_FAULTS,
    ServedReply,
    ServedRequest,
    schema_reply,
)

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


__all__ = ["ChaosServer", "ServerScript"]
ServerScript = (
    None
    | str
    | ServedReply
    | Sequence[str | ServedReply]
    | Mapping[str, float]
    | Callable[[ServedRequest], str | ServedReply]
)
"""What a server answers: see `ChaosServer`."""

_STEP_S = 0.02
_ENDLESS_MIB = 256  # a client that reads an endless reply ends the test, not the machine


class ChaosServer:
    """An OpenAI-compatible server on 127.0.0.1 that answers well, or with faults on a schedule.

    It serves `POST …/chat/completions` on a free port while the `with` lasts, and counts what it
    is sent, so that a test can state what was asked twice, or lost. A good reply is a valid verdict
    for the schema of the request.

    Args:
        script: What to answer. None: good replies. The name of a fault (`SERVER_FAULTS`) or a
            `ServedReply`: the same to every request. A list of them: in turn, then good replies.
            Shares of faults by name, such as `{"429ra_s": 0.05, "reset_mid": 0.01}`: drawn for each
            request. A function of the request: what it returns.
        reply: The text of a good reply, or a function that makes it from the request.
        seed: Of the draws; a request of the same number gets the same fault.
        latency_s: Seconds that every reply takes, in addition to its own delay.
        own_process: Whether to serve from another process, so that its CPU time does not count as
            the client's. What is handed in must be picklable then.
        keep_requests: Whether requests are kept; long tests turn it off.

    Raises:
        UnknownNameError: When a fault is not known.
        SettingsError: When the process does not start.

    Example:
        >>> import judgekit as jk
        >>> from judgekit.testing import ChaosServer
        >>> rubric = jk.Rubric(
        ...     name="r", criteria=[jk.Criterion(name="right", question="Right?", scale="binary")]
        ... )
        >>> with ChaosServer(["503", "reset_mid"]) as server:
        ...     judge = jk.Judge("openai/any", api_base=server.url, cache=None)
        ...     case, output = jk.Case(id="sum", input="2+2?"), jk.Output(text="4")
        ...     verdict = judge.grade_sync(case, output, rubric)
        ...     verdict.passed, server.n_requests, server.n_good_replies
        (True, 3, 1)
    """

    def __init__(
        self,
        script: ServerScript = None,
        *,
        reply: str | Callable[[ServedRequest], str] = schema_reply,
        seed: int = 0,
        latency_s: float = 0.0,
        own_process: bool = False,
        keep_requests: bool = True,
    ) -> None:
        self._core = _Core(script, reply, seed, latency_s, keep_requests=keep_requests)
        self._own_process = own_process
        self._runner: threading.Thread | multiprocessing.process.BaseProcess | None = None
        self._stopper: Connection | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """The `api_base` of a client."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def requests(self) -> list[ServedRequest]:
        """The requests so far, in the order of their arrival."""
        return [ServedRequest(**one) for one in self._state()["requests"]]

    @property
    def n_requests(self) -> int:
        """How many requests arrived, kept or not."""
        return self._count("requests")

    @property
    def n_good_replies(self) -> int:
        """How many good replies were sent whole: what a provider would have been paid for."""
        return self._count("good_replies")

    @property
    def n_connections(self) -> int:
        """How many connections were opened."""
        return self._count("connections")

    @property
    def most_in_flight(self) -> int:
        """The most requests that were being answered at one time."""
        return self._count("most_in_flight")

    @property
    def faults(self) -> dict[str, int]:
        """How often each fault was sent, by its name."""
        faults: dict[str, int] = self._state()["faults"]
        return faults

    def restart(self) -> None:
        """Begin the script again; the requests and counts so far stay."""
        self._call("/_restart")

    def heal(self) -> None:
        """Answer every request well from now on."""
        self._call("/_heal")

    def release(self) -> None:
        """Send the replies that are held, and hold none from now on."""
        self._call("/_release")

    def _count(self, name: str) -> int:
        return int(self._state()["counts"].get(name, 0))

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
        if self._own_process:
            theirs.close()  # else a process that fails as it starts would be waited for
        try:
            self.port = ours.recv()
        except EOFError as error:
            hint = 'in a script, start it below `if __name__ == "__main__":`'
            raise SettingsError("the process of the server did not start", hint=hint) from error
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
    """The server itself; in another process it is all that is there."""

    def __init__(
        self,
        script: ServerScript,
        reply: str | Callable[[ServedRequest], str],
        seed: int,
        latency_s: float,
        *,
        keep_requests: bool,
    ) -> None:
        names = [script] if isinstance(script, str) else script
        for name in names if isinstance(names, Sequence | Mapping) else ():
            if isinstance(name, str) and name not in SERVER_FAULTS:
                raise UnknownNameError("fault", name, SERVER_FAULTS)
        self._script = script
        self._reply = reply
        self._seed = seed
        self._latency_s = latency_s
        self._keep_requests = keep_requests
        self._n_before = 0
        self._in_flight = 0
        self._seen: list[ServedRequest] = []
        self._holding: tuple[asyncio.AbstractEventLoop, asyncio.Event]
        self._counts: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()

    def control(self, path: str) -> bytes:
        if path == "/_restart":
            self._n_before = self._counts["requests"]
        elif path == "/_heal":
            self._script = None
        elif path == "/_release":
            loop, released = self._holding
            loop.call_soon_threadsafe(released.set)
        requests = [asdict(one) for one in self._seen]
        state = {"requests": requests, "counts": self._counts, "faults": self._faults}
        return json.dumps(state).encode()

    async def run(self, control: Connection) -> None:
        connections: set[asyncio.Task[None]] = set()
        self._holding = asyncio.get_running_loop(), asyncio.Event()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None  # noqa: S101 - asyncio calls it in a task
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
                await _send(writer, ServedReply(), self.control(path))
                continue
            self._counts["connections"] += is_new
            is_new = False
            number = self._counts["requests"]
            request = ServedRequest(path, headers, json.loads(raw or b"{}"), number)
            if not await self._answer(writer, request):
                return

    async def _answer(self, writer: asyncio.StreamWriter, request: ServedRequest) -> bool:
        counts = self._counts
        counts["requests"] += 1
        self._in_flight += 1
        counts["most_in_flight"] = max(counts["most_in_flight"], self._in_flight)
        if self._keep_requests:
            self._seen.append(request)
        try:
            reply, is_good = self._choose(request)
            if self._latency_s + reply.delay_s:
                await asyncio.sleep(self._latency_s + reply.delay_s)
            if reply.is_held:
                await self._holding[1].wait()
            # Before it is sent: who has received it may ask for the count at once.
            counts["good_replies"] += is_good
            return await _send(writer, reply, reply.payload(request))
        finally:
            self._in_flight -= 1

    def _choose(self, request: ServedRequest) -> tuple[ServedReply, bool]:
        chosen = self._scheduled(request)
        if isinstance(chosen, str):
            self._faults[chosen] += chosen != "ok"
            fault = SERVER_FAULTS[chosen]
            chosen = fault if isinstance(fault, ServedReply) else fault(request)
        is_made = chosen.body is None and chosen.text is None
        if is_made:
            text = self._reply if isinstance(self._reply, str) else self._reply(request)
            chosen = replace(chosen, text=text)
        # What has its own text was written by the caller, who knows what it is worth.
        is_good = is_made and not chosen.message and not chosen.fields
        return chosen, is_good and chosen.manner in ARRIVES_WHOLE and chosen.finish_reason == "stop"

    def _scheduled(self, request: ServedRequest) -> str | ServedReply:
        script = self._script
        if script is None:
            return "ok"
        if isinstance(script, str | ServedReply):
            return script
        if isinstance(script, Mapping):
            draw = random.Random(f"{self._seed}/{request.number}").random()
            for name, share in script.items():
                draw -= share
                if draw < 0:
                    return name
            return "ok"
        if callable(script):
            return script(request)
        turn = request.number - self._n_before
        return script[turn] if turn < len(script) else "ok"


async def _send(writer: asyncio.StreamWriter, reply: ServedReply, payload: bytes) -> bool:
    """Send a reply in its manner; whether the connection may be used again."""
    manner, head = reply.manner, _head(reply, len(payload))
    if manner == "hang":
        await asyncio.sleep(3600)
    elif manner in {"drip", "slow_headers"}:
        n_at_once = len(head) if manner == "drip" else 0
        writer.write(head[:n_at_once])
        for byte in (head + payload)[n_at_once:]:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(_STEP_S)
    elif manner == "endless":
        writer.write(head)
        for _ in range(_ENDLESS_MIB):
            writer.write(b"100000\r\n" + b" " * (1 << 20) + b"\r\n")
            await writer.drain()
    else:
        chunk = f"{len(payload) * 2:x}\r\n".encode() if manner == "cut_chunks" else b""
        ends = {
            "reset_before": 0,
            "reset_headers": len(head) // 2,
            "reset_mid": len(head) + len(payload) // 2,
            "short": len(head) + len(payload) - 10,
        }
        writer.write((head + chunk + payload)[: ends.get(manner)])
        await writer.drain()
        # What was written arrives before the connection is broken.
        await asyncio.sleep(_STEP_S if manner in {"reset_headers", "reset_mid"} else 0)
    if manner in {"hang", "reset_before", "reset_headers", "reset_mid"}:
        writer.transport.abort()
    return manner in ARRIVES_WHOLE and manner not in {"close_after", "no_length"}


def _head(reply: ServedReply, n_bytes: int) -> bytes:
    fields = {"Content-Type": "application/json", "x-request-id": "req-loopback", **reply.headers}
    if reply.manner in {"cut_chunks", "endless"}:
        fields["Transfer-Encoding"] = "chunked"
    elif reply.manner != "no_length":
        fields["Content-Length"] = str(n_bytes)
    if reply.manner == "huge_header":
        fields["X-Padding"] = "x" * (1 << 20)
    status = "HTTP/9.9 odd" if reply.manner == "bad_status" else f"HTTP/1.1 {reply.status} X"
    return "\r\n".join([status, *(f"{k}: {v}" for k, v in fields.items()), "", ""]).encode()
