"""Runs a function in a worker process, so that a hostile input costs at most its time limit.

The code of the process is in `worker`.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Annotated, cast

from pydantic import Field

from judgekit.assertions.registry import UndecidedError

TimeoutSeconds = Annotated[float, Field(gt=0, le=600, allow_inf_nan=False)]

_WORKER = Path(__file__).with_name("worker.py")

# How long a worker may take to start and to import a function's module.
_START_S = 60.0
_MISSING = {"ModuleNotFoundError", "ImportError"}


class RefusedInputError(UndecidedError):
    """The function in the worker raised."""


def run_bounded(function: str, *arguments: object, timeout_s: float) -> object:
    """Call `module:function` in a worker."""
    idle = _idle_workers(os.getpid())
    worker = _take(idle)
    try:
        value = worker.run(function, arguments, timeout_s)
    # The worker answered, so it can be used again; after any other error it may not.
    except RefusedInputError:
        idle.append(worker)
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
        alarm = threading.Timer(timeout_s, self._give_up)
        alarm.daemon = True
        alarm.start()
        try:
            self._send(request)
            line = cast("IO[bytes]", self._process.stdout).readline()
        except OSError:
            line = b""
        finally:
            alarm.cancel()
        if not line.endswith(b"\n"):
            if self._is_late:
                raise UndecidedError(f"it took longer than {timeout_s:g} s and was stopped")
            raise UndecidedError("the process that checked it died; it may have run out of memory")
        reply: dict[str, object] = json.loads(line)
        if "error" not in reply:
            return reply["value"]
        more = "; install what is missing" if reply["error"] in _MISSING else ""
        raise RefusedInputError(f"{reply['message']}{more}")

    def _send(self, request: object) -> None:
        pipe = cast("IO[bytes]", self._process.stdin)
        pipe.write(json.dumps(request).encode("ascii") + b"\n")
        pipe.flush()

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
