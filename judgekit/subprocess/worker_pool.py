"""Runs a function in a worker process, so that a hostile input costs at most its limits.

The code of the process is in `worker`.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, cast

from judgekit.subprocess import ProcessFailedError, ProcessFailure

_WORKER = Path(__file__).with_name("worker.py")

# How long a worker may take to start and to import a function's module.
_START_S = 60.0
_MISSING = {"ModuleNotFoundError", "ImportError"}


def call_bounded(function: str, *arguments: object, timeout_s: float) -> object:
    """Call `module:function` with JSON values in a worker; what it raises has the kind `exit`."""
    idle = _idle_workers(os.getpid())
    worker = _take(idle)
    try:
        value = worker.run(function, arguments, timeout_s)
    except ProcessFailedError as error:
        # A worker that answered can be used again; after any other error it may not.
        if error.kind == "exit":
            idle.append(worker)
        else:
            worker.end()
        raise
    except BaseException:
        worker.end()
        raise
    idle.append(worker)
    return value


class _Worker:
    """One process; used by one thread at a time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - judgekit's own file
            # `-I` ignores the environment; the first line it reads says where modules are found.
            [sys.executable, "-I", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Ctrl-C is for this process, which may want to finish what it does; a worker ends when
            # it is killed, or when nobody can write to it any more.
            process_group=0,
        )
        self._loaded: set[str] = set()
        self._is_late = False
        self._send([str(Path.cwd()) if part == "" else part for part in sys.path])

    def run(self, function: str, arguments: tuple[object, ...], timeout_s: float) -> object:
        if function not in self._loaded:
            self._request({"load": function}, _START_S)
            self._loaded.add(function)
        request = {"run": function, "arguments": arguments, "timeout_s": timeout_s}
        return self._request(request, timeout_s)

    @property
    def is_alive(self) -> bool:
        """Whether it can take a call; one that answered as its time ran out is being killed."""
        return not self._is_late and self._process.poll() is None

    def end(self) -> None:
        """Kill it, and wait until it is gone."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                cast("IO[bytes]", pipe).close()
        self._process.wait()

    def _request(self, request: object, timeout_s: float) -> object:
        try:
            self._send(request)
            line = self._reply(timeout_s)
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            if self._is_late:
                message = f"it took longer than {timeout_s:g} s and was stopped"
                raise ProcessFailedError(message, kind="timeout")
            message = "its process died; it may have run out of memory"
            raise ProcessFailedError(message, kind="signal")
        reply: dict[str, object] = json.loads(line.decode("utf-8", "surrogatepass"))
        if "error" not in reply:
            return reply["value"]
        more = "; install what is missing" if reply["error"] in _MISSING else ""
        kind: ProcessFailure = "memory" if reply["error"] == "MemoryError" else "exit"
        raise ProcessFailedError(f"{reply['message']}{more}", kind=kind)

    def _send(self, request: object) -> None:
        # Not escaped as ASCII, because two lone surrogates would come back as one character.
        line = json.dumps(request, ensure_ascii=False).encode("utf-8", "surrogatepass")
        pipe = cast("IO[bytes]", self._process.stdin)
        pipe.write(line + b"\n")
        pipe.flush()

    def _reply(self, timeout_s: float) -> bytes:
        """The line it answers with, cut off where it was stopped."""
        pipe = cast("IO[bytes]", self._process.stdout)
        if sys.platform != "win32":
            # Starting a thread for each call would take ten times as long as the call.
            poll = select.poll()
            poll.register(pipe, select.POLLIN)
            if not poll.poll(timeout_s * 1000):
                self._give_up()
            return pipe.readline()
        alarm = threading.Timer(timeout_s, self._give_up)  # pipes of Windows cannot be polled
        alarm.daemon = True
        alarm.start()
        try:
            return pipe.readline()
        finally:
            alarm.cancel()

    def _give_up(self) -> None:
        # The flag is set first: whoever reads the pipe sees it closed and must know why.
        self._is_late = True
        self._process.kill()


@cache
def _idle_workers(_process_id: int) -> list[_Worker]:
    """Idle workers: as many as there were calls at one time."""
    # By process id, because a fork cannot share the pipes of its parent's workers.
    idle: list[_Worker] = []
    atexit.register(_end_all, idle)
    return idle


def _take(idle: list[_Worker]) -> _Worker:
    with suppress(IndexError):  # another thread may take the last one first
        while True:
            worker = idle.pop()
            if worker.is_alive:
                return worker
            worker.end()
    return _Worker()


def _end_all(idle: list[_Worker]) -> None:
    while idle:
        idle.pop().end()
