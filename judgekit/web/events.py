"""Sends the progress of a running run to its page, by server-sent events, until the run ends."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from judgekit.errors import JudgekitError
from judgekit.evaluation import UNASKED_CASES_KEY
from judgekit.records import config_part
from judgekit.report import format_count, message, numbers

if TYPE_CHECKING:
    from starlette.requests import Request

    from judgekit.records import RunInfo
    from judgekit.store import RunStore, VariantProgress
    from judgekit.web.replies import ViewContext

# The store is read once for each page that follows a run.
_INTERVAL_S = 1.0
# A killed run is still `running` in the store: after this time its page has a hint.
_QUIET_S = 60.0


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a run is."""

    run: RunInfo
    variants: tuple[VariantProgress, ...]

    @property
    def n_done(self) -> int:
        """Answers with all their judgments."""
        return sum(one.n_done for one in self.variants)

    @property
    def n_total(self) -> int | None:
        """The answers that there will be, without retries; None where that is unknown."""
        return self._n_planned(self.variants)

    def lines(self) -> tuple[tuple[str, str], ...]:
        """The progress of all, and of each variant by its name: `12 of 40 answers, 1 error`."""
        variants = ((message.printable(one.variant), self._words([one])) for one in self.variants)
        return ("all", self._words(self.variants)), *variants

    def _words(self, parts: Sequence[VariantProgress]) -> str:
        n_done, n_planned = sum(one.n_done for one in parts), self._n_planned(parts)
        n_errors = sum(one.n_errors for one in parts)
        n_failures = sum(one.n_failures for one in parts)
        counts = [format_count(n_done, "answer")]
        if n_planned is not None and n_done > n_planned:
            counts.append("retries included")
        elif n_planned is not None:
            counts = [f"{n_done:,} of {format_count(n_planned, 'answer')}"]
        counts += [format_count(n_errors, "error")] if n_errors else []
        counts += [format_count(n_failures, "judge failure")] if n_failures else []
        return ", ".join(counts)

    def _n_planned(self, parts: Sequence[VariantProgress]) -> int | None:
        if self.run.n_cases is None:
            return None
        # Cases may name the variants that they are for.
        unasked = config_part(self.run, UNASKED_CASES_KEY)
        n_unasked = sum(int(str(unasked.get(one.variant, 0))) for one in parts)
        return (self.run.n_cases * len(parts) - n_unasked) * self.run.repeats


def read_progress_of(store: RunStore, name: str) -> RunProgress:
    """How far a run is now."""
    run = store.run(name)
    return RunProgress(run, tuple(store.variant_progress(run.id)))


async def progress_events(
    context: ViewContext,
    now: RunProgress,
    *,
    interval_s: float = _INTERVAL_S,
    clock: Callable[[], float] = time.monotonic,
) -> AsyncIterator[str]:
    """The progress of a run from `now` on: `progress` events, and one `end` when it has ended."""
    changed_at, before = clock(), [""]
    while not context.closing.is_set():
        texts = [text for _, text in now.lines()]
        if texts != before:
            changed_at, before = clock(), texts
        quiet_s = clock() - changed_at
        quiet = f"No new answer for {numbers.format_duration(quiet_s)}."
        shown = {
            "done": now.n_done,
            "total": now.n_total,
            "lines": texts,
            "hint": quiet if quiet_s >= _QUIET_S else "",
        }
        yield _event("progress", shown)
        if now.run.status != "running":
            yield _event("end", {})
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(context.closing.wait(), interval_s)
        try:
            now = await run_in_threadpool(read_progress_of, context.store, now.run.id)
        except JudgekitError as error:
            yield _event("problem", {"text": str(error)})
            return


def _event(kind: str, data: object) -> str:
    return f"event: {kind}\ndata: {json.dumps(data)}\n\n"


def event_route(context: ViewContext) -> Route:
    """The route of the events."""

    async def follow(request: Request) -> Response:
        name = request.query_params.get("run", "")
        # Before the stream begins: an unknown run is a 404.
        first = await run_in_threadpool(read_progress_of, context.store, name)
        return StreamingResponse(progress_events(context, first), media_type="text/event-stream")

    return Route("/api/events", follow)
