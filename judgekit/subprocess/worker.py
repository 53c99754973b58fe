"""The worker process that `worker_pool` starts by path; it calls functions named in JSON lines."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, cast


def search_pattern(pattern: str, text: str, ignore_case: bool) -> str | None:  # noqa: FBT001
    """The first part of a text that a pattern matches."""
    found = re.search(pattern, text, re.IGNORECASE if ignore_case else 0)
    return None if found is None else found.group()


# How much memory the process may have, where the system can limit it.
MEMORY_BYTES = 2 << 30


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are no more."""
    # The first line has the import path. Every other line names a function to `load`, or one of
    # those to `run`, with its arguments and its time limit; a request that takes longer ends the
    # process, also when the parent is gone by then.
    functions: dict[str, Callable[..., object]] = {}
    sys.path[:] = json.loads(requests.readline())
    for request in requests:
        reply = _answer(json.loads(request.decode("utf-8", "surrogatepass")), functions)
        line = json.dumps(reply, ensure_ascii=False).encode("utf-8", "surrogatepass")
        replies.write(line + b"\n")
        replies.flush()


def _answer(
    request: dict[str, object], functions: dict[str, Callable[..., object]]
) -> dict[str, object]:
    try:
        if "load" in request:
            name = str(request["load"])
            module, _, attribute = name.partition(":")
            functions[name] = getattr(importlib.import_module(module), attribute)
            return {"value": None}
        with _alarm(float(str(request["timeout_s"]))):
            arguments = cast("list[object]", request["arguments"])
            return {"value": functions[str(request["run"])](*arguments)}
    except RecursionError:
        return {"error": "RecursionError", "message": "it is nested too deeply"}
    except MemoryError:
        return {
            "error": "MemoryError",
            "message": f"it needs more than {MEMORY_BYTES >> 20} MiB of memory",
        }
    except Exception as error:  # noqa: BLE001 - the caller decides what it means
        return {"error": type(error).__name__, "message": str(error)}


@contextmanager
def _alarm(timeout_s: float) -> Iterator[None]:
    """Ends the process when the time is up; a parent that was killed cannot do it any more."""
    set_timer = getattr(signal, "setitimer", None)
    if set_timer is not None:
        set_timer(signal.ITIMER_REAL, timeout_s + 1)
    try:
        yield
    finally:
        if set_timer is not None:
            set_timer(signal.ITIMER_REAL, 0)


def _main() -> None:
    # A pattern or document under test may raise warnings; nobody reads them here.
    warnings.simplefilter("ignore")
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not on every system

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        if most == resource.RLIM_INFINITY or most > MEMORY_BYTES:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, most))
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a function prints must not be read as a reply
    with suppress(BrokenPipeError):
        serve(requests, replies)


if __name__ == "__main__":
    _main()
