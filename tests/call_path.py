"""Counts the functions one judgment runs through: `python -m tests.call_path` prints the table.

The limits stand in `LIMITS`; `test_structure.py` holds them.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
import tempfile
import threading
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import judgekit as jk
from judgekit.testing import ServedReply
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import CodeType, FrameType

PACKAGE = str(Path(jk.__file__).parent)

LIMITS = {"cold_functions": 120, "cold_modules": 25, "hit_functions": 6}
"""The most functions and modules a judgment without a cached reply may need, and a cache hit.

They only go down: 260, 35 and 20 before requests, retries and records of an answer were written
once; 168, 34 and 6 before limits, prices and the transport were set up with the judge.
"""

_REPLY = {
    "evidence": ["Within 30 days"],
    "rationale": "It names the period.",
    "score": 5,
    "confidence": 0.9,
    "assessable": True,
}


class CallCounter:
    """The distinct functions of judgekit that were called while it was counting."""

    def __init__(self) -> None:
        self._codes: set[CodeType] = set()

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count calls in this thread and in those that are started meanwhile."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @property
    def by_module(self) -> Mapping[str, list[str]]:
        """The functions called, by module."""
        found: dict[str, list[str]] = defaultdict(list)
        for code in self._codes:
            found[str(Path(code.co_filename).relative_to(PACKAGE))].append(code.co_qualname)
        return {name: sorted(found[name]) for name in sorted(found)}

    @property
    def n_functions(self) -> int:
        """How many functions were called."""
        return len(self._codes)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        # Bodies of modules and classes are code objects, too, and no functions.
        is_function = bool(code.co_flags & inspect.CO_NEWLOCALS)
        if event == "call" and is_function and code.co_filename.startswith(PACKAGE):
            self._codes.add(code)


def count_judgment(url: str, folder: Path) -> tuple[CallCounter, CallCounter]:
    """The functions from case to verdict with an empty cache, and those of the next cache hit."""
    judge = jk.Judge("openai/gpt-4.1-mini", api_base=url, cache=folder, transport="direct")
    case = jk.Case(id="refund", input="Can I return it?", reference="Within 30 days.")
    output = jk.Output(text="Yes, Within 30 days.")
    criterion = jk.Criterion(name="accuracy", question="Is it right?", scale={"min": 1, "max": 5})
    rubric = jk.Rubric(name="support", criteria=(criterion,))
    cold, hit = CallCounter(), CallCounter()

    async def grade() -> None:
        with cold.counting():
            verdict = await judge.grade(case, output, rubric)
        assert [(found.raw, found.cached) for found in verdict.judgments] == [(5, False)]
        (request,) = judge.requests(case, output, rubric)
        # A judge looks its questions up before it asks, so the key is known when a model is asked.
        model, key = judge.connection.model, request.key
        with hit.counting():
            reply = await model.complete(request)
        assert reply.key == key
        assert reply.cached
        await judge.aclose()

    asyncio.run(grade())
    judge.close()
    return cold, hit


def count_on_loopback(folder: Path) -> tuple[CallCounter, CallCounter]:
    """`count_judgment` with a server of its own."""
    with OpenAILikeServer(ServedReply(text=json.dumps(_REPLY))) as server:
        return count_judgment(server.url, folder)


def main() -> None:
    """Print every function on both paths, and how many they are."""
    with tempfile.TemporaryDirectory() as folder:
        counters = count_on_loopback(Path(folder))
    for title, counter in zip(("cold", "cache hit"), counters, strict=True):
        n_functions, modules = counter.n_functions, counter.by_module
        sys.stdout.write(f"{title}: {n_functions} functions in {len(modules)} modules\n")
        for module, names in modules.items():
            sys.stdout.write(f"  {module} ({len(names)}): {', '.join(names)}\n")


if __name__ == "__main__":
    main()
