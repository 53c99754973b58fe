"""Tells a page how far a running run is, by server-sent events, until the run ends."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from judgekit.errors import JudgekitError
from judgekit.report import format_count, message, numbers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.requests import Request

    from judgekit.records import RunInfo
    from judgekit.store import RunStore, VariantProgress
    from judgekit.web.context import ViewContext

# The store is read once for each page that follows a run.
_INTERVAL_S = 1.0
# A killed run is still `running` in the store: after this time without an answer, say so.
_QUIET_S = 60.0


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a run is."""

    run: RunInfo
    variants: tuple[VariantProgress, ...]

    @property
    def is_over(self) -> bool:
        """Whether nothing more is added to it."""
        return self.run.status != "running"

    @property
    def n_done(self) -> int:
        """Answers with all their judgments."""
        return sum(one.n_done for one in self.variants)

    @property
    def n_of_variant(self) -> int | None:
        """The answers that each variant will have; None where that is unknown."""
        return None if self.run.n_cases is None else self.run.n_cases * self.run.repeats

    @property
    def n_total(self) -> int | None:
        """The answers that there will be; None where that is unknown."""
        n = self.n_of_variant
        return None if n is None else n * len(self.variants)

    def text(self) -> str:
        """The progress in words: `12 of 40 answers, 1 judge failure`."""
        n_errors = sum(one.n_errors for one in self.variants)
        n_failures = sum(one.n_failures for one in self.variants)
        return _words(self.n_done, self.n_total, n_errors, n_failures)

    def lines(self) -> tuple[tuple[str, str], ...]:
        """The progress of all, and the name and the progress of each variant."""
        n = self.n_of_variant
        variants = (
            (message.printable(one.variant), _words(one.n_done, n, one.n_errors, one.n_failures))
            for one in self.variants
        )
        return ("all", self.text()), *variants


def _words(n_done: int, n_total: int | None, n_errors: int, n_failures: int) -> str:
    words = [
        format_count(n_done, "answer")
        if n_total is None
        else f"{n_done:,} of {format_count(n_total, 'answer')}"
    ]
    words += [format_count(n_errors, "error")] if n_errors else []
    words += [format_count(n_failures, "judge failure")] if n_failures else []
    return ", ".join(words)


def read_progress_of(store: RunStore, name: str) -> RunProgress:
    """How far a run is now."""
    run = store.run(name)
    return RunProgress(run, tuple(store.variant_progress(run.id)))


class ProgressEvents:
    """Sends the progress of a run to the pages that follow it."""

    def __init__(
        self,
        context: ViewContext,
        *,
        interval_s: float = _INTERVAL_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._context = context
        self._interval_s = interval_s
        self._clock = clock

    async def follow(self, request: Request) -> Response:
        """A stream of `progress` events, and one `end` event when the run has ended."""
        name = request.query_params.get("run", "")
        # Before the stream begins: an unknown run is a 404.
        first = await run_in_threadpool(read_progress_of, self._context.store, name)
        return StreamingResponse(self._events(first), media_type="text/event-stream")

    async def _events(self, now: RunProgress) -> AsyncIterator[str]:
        store, closing = self._context.store, self._context.closing
        changed_at, before = self._clock(), ""
        while not closing.is_set():
            text = now.text()
            if text != before:
                changed_at, before = self._clock(), text
            yield _event("progress", self._progress_json(now, self._clock() - changed_at))
            if now.is_over:
                yield _event("end", {})
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(closing.wait(), self._interval_s)
            try:
                now = await run_in_threadpool(read_progress_of, store, now.run.id)
            except JudgekitError as error:
                yield _event("problem", {"text": str(error)})
                return

    def _progress_json(self, now: RunProgress, quiet_s: float) -> dict[str, object]:
        hint = ""
        if quiet_s >= _QUIET_S:
            hint = f"No new answer for {numbers.format_duration(quiet_s)}."
        return {
            "done": now.n_done,
            "total": now.n_total,
            "text": now.text(),
            "hint": hint,
            "lines": [text for _, text in now.lines()],
        }


def _event(kind: str, data: object) -> str:
    return f"event: {kind}\ndata: {json.dumps(data)}\n\n"


def event_routes(context: ViewContext) -> list[Route]:
    """The route of the events."""
    return [Route("/api/events", ProgressEvents(context).follow)]
