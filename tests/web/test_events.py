"""The progress of a running run, as a page gets it."""

from __future__ import annotations

import asyncio
import json
import secrets
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from http.client import HTTPConnection, HTTPResponse
from typing import TYPE_CHECKING, Any

from judgekit.web import ViewContext
from judgekit.web.events import progress_events, read_progress_of
from tests.factories import make_output
from tests.store.observing import START, answer, key, make_run
from tests.web.conftest import Served, add_run, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.store import RunStore


@contextmanager
def open_stream(served: Served, run: str) -> Iterator[HTTPResponse]:
    """A stream of events that stays open."""
    with closing(HTTPConnection("127.0.0.1", served.port, timeout=30)) as connection:
        # As a browser asks: events must not wait until a packet is full.
        headers = {"cookie": served.cookie, "accept-encoding": "gzip"}
        connection.request("GET", f"/api/events?run={run}", headers=headers)
        with connection.getresponse() as stream:
            yield stream


def next_event(stream: HTTPResponse) -> tuple[str, dict[str, Any]]:
    """The kind and the data of the next event."""
    kind, data = stream.readline(), stream.readline()
    assert stream.readline() == b"\n"
    return kind.decode().removeprefix("event: ").strip(), json.loads(data.removeprefix(b"data: "))


def test_a_stream_follows_a_run_to_its_end(store: RunStore, served: Served) -> None:
    store.begin(make_run("run-1", "a", "b", n_cases=2))
    with open_stream(served, "run-1") as stream:
        assert next_event(stream)[1]["lines"][0] == "0 of 4 answers"
        failed = answer(key("c", "b"), output=make_output(None, error="x"))
        store.add("run-1", [answer(key("c", "a")), failed])
        kind, data = next_event(stream)
        while data["done"] < 2:
            kind, data = next_event(stream)
        assert (kind, data) == (
            "progress",
            {
                "done": 2,
                "total": 4,
                "hint": "",
                "lines": ["2 of 4 answers, 1 error", "1 of 2 answers", "1 of 2 answers, 1 error"],
            },
        )
        store.end("run-1", status="complete", at=START)
        while kind != "end":
            kind, _ = next_event(stream)
        assert stream.read() == b""


def test_a_run_that_is_over_ends_its_stream_at_once(store: RunStore, served: Served) -> None:
    add_run(store)
    with open_stream(served, "run-1") as stream:
        assert [next_event(stream)[0] for _ in range(2)] == ["progress", "end"]


def test_events_of_an_unknown_run_are_an_error(served: Served) -> None:
    reply = served.get("/api/events?run=none")
    assert reply.status == 404
    assert "no run is called 'none'" in str(reply.json()["error"])


def test_an_open_stream_does_not_hold_up_the_end(store: RunStore) -> None:
    add_run(store, status="running")
    with ExitStack() as streams:
        with serving(ViewContext(store, secrets.token_urlsafe())) as served:
            stream = streams.enter_context(open_stream(served, "run-1"))
            assert next_event(stream)[0] == "progress"
        # It was ended and not cut off, which would be an error to read.
        while stream.readline():
            pass


def test_a_reader_that_goes_away_ends_its_stream(store: RunStore, served: Served) -> None:
    add_run(store, status="running")
    with open_stream(served, "run-1") as stream:
        next_event(stream)
    assert served.get("/").status == 200


def test_a_run_without_news_is_said_to_be_quiet(store: RunStore) -> None:
    add_run(store, status="running")
    moments = iter((0.0, 0.0, 0.0, 75.0))
    context = ViewContext(store, "token")
    now = read_progress_of(store, "run-1")

    async def hints() -> list[str]:
        found: list[str] = []
        clock = partial(next, moments)
        async for event in progress_events(context, now, interval_s=0.0, clock=clock):
            found.append(json.loads(event.split("data: ")[1])["hint"])
            if len(found) == 2:
                context.closing.set()
        return found

    assert asyncio.run(hints()) == ["", "No new answer for 1 min 15 s."]


def test_a_store_that_breaks_ends_the_stream_with_the_reason(store: RunStore) -> None:
    add_run(store, status="running")
    context = ViewContext(store, "token")
    now = read_progress_of(store, "run-1")

    async def kinds() -> list[str]:
        found = []
        async for event in progress_events(context, now, interval_s=0.0):
            found.append(event.partition("\n")[0])
            with store.writing() as connection:
                connection.exec_driver_sql("DROP TABLE IF EXISTS judge_failures")
        return found

    assert asyncio.run(kinds()) == ["event: progress", "event: problem"]


def test_the_number_of_answers_may_be_unknown(store: RunStore) -> None:
    store.begin(make_run(n_cases=None))
    store.add("run-1", [answer()])
    progress = read_progress_of(store, "run-1")
    assert (progress.n_total, progress.lines()[0]) == (None, ("all", "1 answer"))


def test_cases_that_name_other_variants_are_not_waited_for(store: RunStore) -> None:
    store.begin(make_run("run-1", "a", "b", n_cases=3, config={"n_cases_unasked": {"b": 2}}))
    store.add("run-1", [answer(key("c", "b"))])
    progress = read_progress_of(store, "run-1")
    assert progress.n_total == 4
    assert [text for _, text in progress.lines()] == [
        "1 of 4 answers", "0 of 3 answers", "1 of 1 answer",
    ]  # fmt: skip


def test_answers_that_are_tried_again_may_be_more_than_the_cases(store: RunStore) -> None:
    store.begin(make_run(n_cases=1, config={"settings": {"retry_failed": 1}}))
    store.add("run-1", [answer(key(repeat=n)) for n in range(2)])
    progress = read_progress_of(store, "run-1")
    assert (progress.n_total, progress.lines()[0]) == (1, ("all", "2 answers, retries included"))


def test_the_page_of_a_running_run_has_no_conclusion(store: RunStore, served: Served) -> None:
    add_run(store, status="running")
    page = served.get("/runs/run-1").text
    assert "there is no conclusion yet" in page
    assert "<dt>v1</dt><dd>3 of 3 answers</dd>" in page
    assert 'data-events="/api/events?run=run-1"' in page
    assert "judgekit run --resume run-1" in page
