from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.evaluation import Session
from judgekit.models.cache import MemoryCache
from judgekit.records import Output
from tests.evaluation.suites import Bench, Hanging, Told
from tests.factories import reply
from tests.models.virtual_time import LeapingClock
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.testing import ServedReply, ServedRequest

    MakeBench = Callable[..., Bench]

MODEL = {"rubric": "rubric.yaml", "assertions": None}
FROZEN = {"frozen": True, "cache": MemoryCache()}
PRICE = {"openai/m": {"input_usd": 100, "output_usd": 1000}}


def judge(server: OpenAILikeServer, **settings: Any) -> dict[str, Any]:
    return {"model": "openai/m", "api_base": server.url, "max_retries": 0, **settings}


def good(delay_s: float = 0, **by_word: float) -> Callable[[ServedRequest], ServedReply]:
    """A judge that gives 5, and takes its time over a criterion."""

    def rule(seen: ServedRequest) -> ServedReply:
        asked = str(seen.body["messages"])
        slow = max((s for word, s in by_word.items() if f"{word}: " in asked), default=delay_s)
        return ok(reply(5), delay_s=slow)

    return rule


async def test_an_error_of_the_target_is_kept_and_never_judged(bench: MakeBench) -> None:
    error = Output(error="it broke", error_kind="exit")
    with OpenAILikeServer(good()) as server:
        small = bench(n=2, judge=judge(server), **MODEL)
        await small.sit(Told(lambda case, _: error if case.id == "c0" else "right"))
        assert server.n_requests == 2
    first, second = small.results()
    assert (first.output.error_kind, first.judgments, first.failures) == ("exit", (), ())
    assert (first.is_done, len(second.judgments)) == (True, 2)


async def test_an_output_is_named_after_its_case_and_variant_and_not_altered(
    bench: MakeBench,
) -> None:
    small = bench(n=1)
    await small.sit(Told(lambda *_: Output(text="right", case_id="other", metadata={"k": 1})))
    (result,) = small.results()
    assert (result.output.case_id, result.output.variant) == ("c0", "v1")
    assert (result.output.text, result.output.metadata) == ("right", {"k": 1})


async def test_a_case_that_takes_too_long_is_an_error_of_the_target(bench: MakeBench) -> None:
    small, hanging = bench(n=1, settings={"timeout_s": 0.05}), Hanging()
    run = await small.sit(hanging)
    (result,) = small.results()
    assert hanging.was_called_off
    assert (result.output.error_kind, result.is_done) == ("timeout", True)
    assert result.output.error == "the case took longer than 0.05 s (settings.timeout_s)"
    assert run.status == "complete"


async def test_a_judge_that_is_out_when_the_time_is_up_has_failed(bench: MakeBench) -> None:
    with OpenAILikeServer(good(short=60)) as server:
        small = bench(n=1, judge=judge(server), settings={"timeout_s": 600}, **MODEL)
        clock = LeapingClock()
        sitting = asyncio.create_task(small.sit(Told()))
        while small.run is None or not any(r.judgments for r in small.results()):  # noqa: ASYNC110 - a store tells nobody
            await asyncio.sleep(0.001)
        clock.leap(600)
        run = await sitting
    (result,) = small.results()
    assert [j.criterion for j in result.judgments] == ["good"]
    assert [(f.criterion, f.kind) for f in result.failures] == [("short", "timeout")]
    assert (result.is_done, run.status) == (True, "incomplete")


async def test_what_a_judge_said_before_an_interruption_is_not_asked_again(
    bench: MakeBench,
) -> None:
    with OpenAILikeServer(good()) as server:
        small = bench(n=1, judge=judge(server), **MODEL)
        await small.sit(Told())
        first = small.results()
        assert small.run is not None
        small.store.forget(small.run.id, [first[0].key])  # nothing failed: it stays as it is
        await small.sit(Told())
        assert server.n_requests == 2
    assert small.results() == first


async def test_a_judges_failure_that_is_asked_again_leaves_its_other_judgments(
    bench: MakeBench,
) -> None:
    with OpenAILikeServer(["ok", "401"]) as server:
        small = bench(n=1, judge=judge(server, max_concurrency=1), **MODEL)
        session = Session()
        await small.sit(Told(), session=session)
        (before,) = small.results()
        assert (session.reason, len(before.failures)) == ("model", 1)
        run = await small.sit(Told(), session=Session(retry_errors=True))
        assert server.n_requests == 3
    (after,) = small.results()
    assert before.judgments[0] in after.judgments
    assert (len(after.judgments), after.failures, run.status) == (2, (), "complete")


async def test_what_the_budget_does_not_allow_is_not_kept_and_can_be_asked_later(
    bench: MakeBench,
) -> None:
    with OpenAILikeServer(good()) as server:
        settings = judge(server, max_tokens=100)
        small = bench(n=6, judge=settings, prices=PRICE, asking={"max_cost_usd": 0.7}, **MODEL)
        session = Session(in_flight=2)
        run = await small.sit(Told(), session=session)
        n_paid = server.n_requests
        assert (run.status, session.reason) == ("stopped", "budget")
        assert 0 < n_paid < 12
        assert not any(result.failures for result in small.results())
        small.asking = Bench(small.path, small.store, max_cost_usd=20.0).asking
        run = await small.sit(Told())
        assert (run.status, server.n_requests) == ("complete", 12)


async def test_what_a_frozen_cache_lacks_is_not_kept_and_leaves_the_run_incomplete(
    bench: MakeBench,
) -> None:
    with OpenAILikeServer(good()) as server:
        small = bench(n=2, judge=judge(server), asking=FROZEN, **MODEL)
        session = Session()
        run = await small.sit(Told(), session=session)
        assert server.n_requests == 0
        assert (run.status, session.reason, session.n_missed) == ("incomplete", None, 2)
        assert run.reason == "the frozen cache lacks replies"
        small.asking = Bench(small.path, small.store).asking
        assert (await small.sit(Told())).status == "complete"


async def test_a_target_that_a_frozen_cache_stops_is_not_begun(bench: MakeBench) -> None:
    variants = [{"id": "p", "prompt": "ask.j2", "model": "openai/m"}]
    small = bench(n=1, variants=variants, asking=FROZEN)
    (small.path.parent / "ask.j2").write_text("{{ input }}", encoding="utf-8")
    seen: list[Any] = []
    session = Session(watch=seen.append)
    run = await small.sit(session=session)
    assert (run.status, session.n_missed, small.results()) == ("stopped", 1, [])
    assert (seen[0].output.error_kind, seen[0].failures[0].kind) == ("cancelled", "frozen_miss")


SLOW_CHECK = {"type": "regex", "value": "ri.ht"}


@pytest.mark.parametrize("assertion", [SLOW_CHECK, {"type": "contains", "value": "right"}])
async def test_assertions_judge_whether_they_are_quick_or_not(
    bench: MakeBench, assertion: dict[str, Any]
) -> None:
    small = bench(n=2, assertions=[assertion])
    await small.sit(Told(lambda case, _: "right" if case.id == "c0" else "wrong"))
    assert [r.judgments[0].value for r in small.results()] == [1, 0]


async def test_a_cases_own_assertions_are_checked_after_the_suites(bench: MakeBench) -> None:
    small = bench(n=1, assertions=[{"type": "contains", "value": "r"}])
    own = '[{"type": "regex", "value": "x"}]'
    (small.path.parent / "cases.jsonl").write_text(
        f'{{"id": "c0", "input": 1, "assertions": {own}}}\n', encoding="utf-8"
    )
    await small.sit(Told())
    (result,) = small.results()
    assert [(c.type, c.passed) for c in result.checks] == [("contains", True), ("regex", False)]
    assert len(result.judgments) == 1


async def test_an_assertion_that_could_not_be_checked_is_checked_again(bench: MakeBench) -> None:
    latency = {"type": "metric.latency_ms.max", "value": 10}
    small = bench(n=1, assertions=[latency, {"type": "contains", "value": "right"}])
    run = await small.sit(Told())
    (before,) = small.results()
    assert (run.status, len(before.judgments), len(before.failures)) == ("incomplete", 1, 1)
    again = Told()
    run = await small.sit(again, session=Session(retry_errors=True))
    (after,) = small.results()
    assert (again.asked, len(after.judgments), len(after.failures)) == ([], 1, 1)


async def test_an_error_without_a_rubric_or_checks_is_kept_all_the_same(bench: MakeBench) -> None:
    small = bench(n=1, judge=None, assertions=None)
    run = await small.sit(Told())
    (result,) = small.results()
    assert (run.status, result.judgments, result.checks) == ("complete", (), ())


async def test_a_program_killed_before_the_judge_was_asked_is_not_asked_again(
    bench: MakeBench,
) -> None:
    arrived = threading.Event()

    def hangs_once(seen: ServedRequest) -> ServedReply:
        arrived.set()
        return ok(reply(5), delay_s=60 if seen.number == 0 else 0)

    with OpenAILikeServer(hangs_once) as server:
        small = bench(n=1, judge=judge(server, max_concurrency=1), **MODEL)
        task = asyncio.create_task(small.sit(Told()))
        await asyncio.to_thread(arrived.wait, 10)
        task.cancel()
        await asyncio.wait({task})
        again = Told()
        run = await small.sit(again)
    assert (again.asked, run.status) == ([], "complete")
    assert len(small.results()[0].judgments) == 2


async def test_a_panel_in_cascade_that_made_up_for_a_failure_is_complete(bench: MakeBench) -> None:
    with OpenAILikeServer(["500", "500", "ok", "ok"]) as server:
        both = [judge(server), judge(server) | {"model": "openai/n"}]
        panel = {"combine": "cascade", "escalate_below": 0.5}
        run = await bench(n=1, judge=both, panel=panel, **MODEL).sit(Told())
        assert (run.status, server.n_requests) == ("complete", 4)
