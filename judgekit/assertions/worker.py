"""The worker process that `sandbox` starts by path; it calls functions named in JSON lines."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import sys
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Callable


def search_pattern(pattern: str, text: str, ignore_case: bool, whole: bool) -> str | None:  # noqa: FBT001
    """The first part of a text that a pattern matches."""
    rule = re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    found = rule.fullmatch(text) if whole else rule.search(text)
    return None if found is None else found.group()


MEMORY_BYTES = 2 << 30
"""How much memory it may have, where the system can hold it to that."""


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are no more."""
    # The first line says where modules are found. Every other names a function to `load`, or the
    # one of those to `run`, with its arguments and the seconds it may take; a request that takes
    # longer ends the process, also when whoever asked is gone by then.
    functions: dict[str, Callable[..., object]] = {}
    sys.path[:] = json.loads(requests.readline())
    for line in requests:
        reply = _answer(json.loads(line), functions)
        replies.write(json.dumps(reply).encode("ascii") + b"\n")
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
        with _Alarm(request["timeout_s"]):
            return {"value": functions[str(request["run"])](*_list(request["arguments"]))}
    except RecursionError:
        return {"error": "RecursionError", "message": "it is nested too deeply"}
    except MemoryError:
        return {"error": "MemoryError", "message": "it needs more memory than a check may have"}
    except Exception as error:  # noqa: BLE001 - whoever asked decides what it means
        return {"error": type(error).__name__, "message": str(error)}


class _Alarm:
    """Ends the process when the time is up; a parent that was killed cannot do it any more."""

    def __init__(self, timeout_s: object) -> None:
        self._timeout_s = float(str(timeout_s)) + 1

    def __enter__(self) -> None:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, self._timeout_s)

    def __exit__(self, *_: object) -> None:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _limit_memory() -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not on every system

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        if most == resource.RLIM_INFINITY or most > MEMORY_BYTES:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, most))


def _main() -> None:
    # A pattern or document under test may raise warnings; nobody reads them here.
    warnings.simplefilter("ignore")
    _limit_memory()
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a function prints is no reply
    with suppress(KeyboardInterrupt, BrokenPipeError):
        serve(requests, replies)


if __name__ == "__main__":
    _main()
