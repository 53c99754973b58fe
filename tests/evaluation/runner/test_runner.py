from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import SettingsError, StoreError
from judgekit.evaluation import Choice, Run, Session
from judgekit.evaluation.comparability import EarlierRuns
from judgekit.evaluation.runner import new_run
from judgekit.records import Output, Usage
from judgekit.report.exports import result_line
from judgekit.store import RunStore
from tests.evaluation.suites import NOW, Bench, Hanging, Told, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.records import Case

    MakeBench = Callable[..., Bench]


def told(bench: Bench) -> list[str]:
    """The exported answers, without what differs from run to run."""
    lines = []
    for result in bench.results():
        undated = tuple(one.model_copy(update={"judged_at": None}) for one in result.judgments)
        same = {"run_id": "r", "ran_at": None, "judgments": undated}
        lines.append(result_line(result.model_copy(update=same)))
    return lines


def failing(*case_ids: str, until: int = 99) -> Callable[[Case, int], str]:
    """Answers some cases wrong, until so many times were tried."""
    return lambda case, repeat: "wrong" if case.id in case_ids and repeat < until else "right"


def ended_after(n: int, session: Session) -> Callable[[Case, int], str]:
    """Interrupts the sitting when the n-th answer is asked for."""
    asked: list[str] = []

    def say(case: Case, _: int) -> str:
        asked.append(case.id)
        if len(asked) == n:
            session.end("interrupted")
        return "right"

    return say


async def test_a_run_asks_every_case_of_every_variant_and_keeps_it(bench: MakeBench) -> None:
    variants = [{"id": "v1", "outputs": "v1.jsonl"}, {"id": "v2", "outputs": "v1.jsonl"}]
    small = bench(variants=variants, texts={"c1": "wrong"})
    run = await small.sit()
    assert (run.status, run.reason, run.n_cases, run.finished_at is None) == (
        "complete", None, 4, False,
    )  # fmt: skip
    found = small.results()
    assert [(r.case.id, r.variant) for r in found][:3] == [("c0", "v1"), ("c0", "v2"), ("c1", "v1")]
    assert [r.judgments[0].value for r in found] == [1, 1, 0, 0, 1, 1, 1, 1]
    assert all(r.is_done and r.checks for r in found)


async def test_a_run_that_is_resumed_asks_only_what_is_missing(bench: MakeBench) -> None:
    small, session, first, second = bench(n=30), Session(in_flight=3), Told(), Told()
    first._say = ended_after(10, session)
    run = await small.sit(first, session=session)
    assert (run.status, run.reason) == ("interrupted", "interrupted by the user")
    assert 10 <= len(first.asked) < 13
    run = await small.sit(second)
    assert (run.status, run.reason) == ("complete", None)
    assert sorted([*first.asked, *second.asked]) == sorted((f"c{k}", 0) for k in range(30))


async def test_a_resumed_run_equals_an_undisturbed_one(bench: MakeBench) -> None:
    halted, whole = bench(n=20), bench(n=20)
    for n in (3, 5, 99):
        session = Session(in_flight=2)
        await halted.sit(Told(ended_after(n, session)), session=session)
    await whole.sit(Told())
    assert told(halted) == told(whole)


async def test_resuming_a_complete_run_asks_nothing(bench: MakeBench) -> None:
    small, again = bench(), Told()
    await small.sit()
    run = await small.sit(again)
    assert (run.status, again.asked) == ("complete", [])


async def test_a_run_is_refused_while_another_sitting_of_it_runs(bench: MakeBench) -> None:
    small, hanging = bench(n=1), Hanging()
    task = asyncio.create_task(small.sit(hanging))
    await hanging.begun.wait()
    with RunStoreAt(small) as other:
        twin = Bench(small.path, other, cache=None)
        twin.run = small.run
        with pytest.raises(StoreError, match="is still running in process"):
            await twin.sit(Told())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert hanging.was_called_off
    assert small.run is not None
    assert small.store.run(small.run.id).status == "interrupted"


class RunStoreAt:
    """A second store on the same file."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def __enter__(self) -> RunStore:
        self._store = RunStore(self._bench.path.parent / "runs.db")
        return self._store

    def __exit__(self, *_: object) -> None:
        self._store.close()


def test_the_id_of_a_run_says_when_and_of_what(bench: MakeBench) -> None:
    run = new_run(bench(name="Answers, 2nd!").open(), now=NOW)
    assert run.id.startswith("20261121T120000Z-answers--2nd-")
    assert run.id != new_run(bench(name="Answers, 2nd!").open(), now=NOW).id


async def test_a_choice_of_cases_is_run_and_drawn_as_ever(bench: MakeBench) -> None:
    small, target = bench(n=20), Told()
    small.choice = Choice(tags=("t1",), sample=4, seed=7)
    run = await small.sit(target)
    drawn = [case for case, _ in target.asked]
    assert run.n_cases == 4
    assert run.config["chosen"] == {"tags": ["t1"], "sample": 4, "seed": 7}
    again = Told()
    other = bench(n=20)
    other.choice = small.choice
    await other.sit(again)
    assert [case for case, _ in again.asked] == drawn


@pytest.mark.parametrize(
    ("settings", "session", "most"),
    [
        ({"max_concurrency": 3}, Session(), 3),
        ({"in_sequence": True}, Session(in_flight=9), 1),
        ({"max_concurrency": 3}, Session(in_flight=5), 5),
        ({}, Session(), 32),
    ],
)
async def test_no_more_are_in_work_than_may_be(
    bench: MakeBench, settings: dict[str, Any], session: Session, most: int
) -> None:
    target = Told()
    variants = [{"id": "v1", "python": "nowhere:answer"}]
    small = bench(n=50, settings=settings, variants=variants)
    (small.path.parent / "nowhere.py").write_text("def answer(case): ...", encoding="utf-8")
    await small.sit(target, session=session)
    assert target.most_in_flight == most


async def test_a_group_in_sequence_goes_one_after_the_other(bench: MakeBench) -> None:
    group = {"name": "g", "case_ids": ["c3", "c0", "c2"], "in_sequence": True}
    target = Told()
    await bench(n=4, suites=[group]).sit(target)
    assert [case for case, _ in target.asked if case != "c1"] == ["c3", "c0", "c2"]


async def test_repeats_ask_each_variant_several_times(bench: MakeBench) -> None:
    target = Told()
    small = bench(n=2, settings={"repeats": 3})
    await small.sit(target)
    assert sorted(target.asked) == [(c, r) for c in ("c0", "c1") for r in range(3)]


async def test_fail_fast_ends_at_the_first_answer_that_does_not_pass(bench: MakeBench) -> None:
    small, session, target = bench(n=30), Session(fail_fast=True, in_flight=1), Told(failing("c2"))
    run = await small.sit(target, session=session)
    assert [case for case, _ in target.asked] == ["c0", "c1", "c2"]
    assert (run.status, session.reason) == ("stopped", "fail_fast")
    assert run.reason == "an answer did not pass: v1, case c2"


async def test_fail_fast_of_the_suite_ends_at_an_error_too(bench: MakeBench) -> None:
    error = Output(error="it broke", error_kind="exit")
    target = Told(lambda case, _: error if case.id == "c1" else "right")
    small = bench(n=9, settings={"fail_fast": True, "in_sequence": True})
    run = await small.sit(target)
    assert (len(target.asked), run.status) == (2, "stopped")


async def test_fail_fast_at_the_last_answer_leaves_a_whole_run(bench: MakeBench) -> None:
    session = Session(fail_fast=True, in_flight=2)
    run = await bench(n=1).sit(Told(failing("c0")), session=session)
    assert (run.status, session.reason) == ("complete", "fail_fast")


async def test_what_fails_is_tried_again_as_often_as_may_be(bench: MakeBench) -> None:
    target = Told(failing("c1", until=1))
    small = bench(n=2, settings={"retry_failed": 3})
    run = await small.sit(target)
    assert sorted(target.asked) == [("c0", 0), ("c1", 0), ("c1", 1)]
    assert run.status == "complete"


async def test_an_error_is_tried_again_too_and_the_last_try_counts(bench: MakeBench) -> None:
    error = Output(error="no model", error_kind="model")
    target = Told(lambda _, repeat: error if repeat == 0 else "right")
    run = await bench(n=1, settings={"retry_failed": 1}).sit(target)
    assert (len(target.asked), run.status) == (2, "complete")


async def test_a_case_may_have_its_own_tries(bench: MakeBench) -> None:
    small = bench(n=2)
    text = rows(
        *(
            {
                "id": name,
                "input": "?",
                "reference": "right",
                "evaluation": {"strategy": "exact_match", "retries": n},
            }
            for name, n in (("c0", 2), ("c1", 0))
        )
    )
    (small.path.parent / "cases.jsonl").write_text(text, encoding="utf-8")
    target = Told(failing("c0", "c1"))
    await small.sit(target)
    assert sorted(target.asked) == [("c0", 0), ("c0", 1), ("c0", 2), ("c1", 0)]


async def test_tries_that_were_interrupted_go_on_where_they_were(bench: MakeBench) -> None:
    small, session = bench(n=3, settings={"retry_failed": 2}), Session(in_flight=1)

    def say(case: Case, repeat: int) -> str:
        if (case.id, repeat) == ("c1", 1):
            session.end("interrupted")
        return "wrong" if case.id == "c1" else "right"

    await small.sit(Told(say), session=session)
    again = Told(failing("c1"))
    run = await small.sit(again)
    assert sorted(again.asked) == [("c1", 2), ("c2", 0)]
    last = Told()
    await small.sit(last)
    assert (last.asked, run.status) == ([], "complete")


def test_repeats_and_tries_contradict_each_other(bench: MakeBench) -> None:
    with pytest.raises(SettingsError, match="`repeats` and `retry_failed` contradict"):
        bench(settings={"repeats": 2, "retry_failed": 1}).open()


async def test_retry_errors_asks_again_what_failed_and_nothing_else(bench: MakeBench) -> None:
    small = bench(n=3)
    error = Output(error="it broke", error_kind="exit")
    await small.sit(Told(lambda case, _: error if case.id == "c1" else "wrong"))
    kept = Told()
    await small.sit(kept)
    again = Told()
    await small.sit(again, session=Session(retry_errors=True))
    assert (kept.asked, again.asked) == ([], [("c1", 0)])
    assert [r.output.text for r in small.results()] == ["wrong", "right", "wrong"]


async def test_a_model_that_cannot_be_asked_ends_the_run_at_once(bench: MakeBench) -> None:
    error = Output(error="no such key", error_kind="model", metadata={"model_error": "auth"})
    small, target, session = bench(n=500), Told(lambda *_: error), Session(in_flight=4)
    run = await small.sit(target, session=session)
    assert len(target.asked) <= 4
    assert (run.status, session.reason) == ("stopped", "model")
    assert run.reason == "a model cannot be called: no such key"
    again = Told()
    run = await small.sit(again, session=Session(retry_errors=True))
    assert (run.status, len(again.asked)) == ("complete", 500)


async def test_a_model_that_failed_for_once_does_not_end_the_run(bench: MakeBench) -> None:
    error = Output(error="busy", error_kind="model", metadata={"model_error": "overloaded"})
    target = Told(lambda case, _: error if case.id == "c0" else "right")
    run = await bench(n=5).sit(target)
    assert (len(target.asked), run.status) == (5, "incomplete")


async def test_the_time_that_a_run_may_take_ends_it(bench: MakeBench) -> None:
    small, session = bench(n=5000), Session(max_seconds=0.02)
    run = await small.sit(Told(), session=session)
    assert (run.status, run.reason) == ("stopped", "the time it may take is used up")
    assert len(small.results()) < 5000


async def test_an_interrupt_when_nothing_is_left_to_do_interrupts_nothing(bench: MakeBench) -> None:
    small, session = bench(n=1), Session()
    run = await small.sit(Told(ended_after(1, session)), session=session)
    assert (run.status, run.reason, session.reason) == ("complete", None, None)


async def test_what_programs_say_they_spent_is_counted_against_the_limit(bench: MakeBench) -> None:
    variants = [{"id": "v1", "python": "spender:answer"}]
    small = bench(n=50, variants=variants, asking={"max_cost_usd": 0.035})
    (small.path.parent / "spender.py").write_text("def answer(case): ...", encoding="utf-8")
    paid = Output(text="right", usage=Usage(cost_usd=0.01))
    session = Session(in_flight=1)
    target = Told(lambda *_: paid)
    run = await small.sit(target, session=session)
    assert (len(target.asked), run.status) == (4, "stopped")
    assert run.reason == "the cost limit allows no further call: v1 has spent it"


async def test_a_stop_that_names_no_reason_is_an_interruption(bench: MakeBench) -> None:
    session = Session()
    session.stop.set()
    run = await bench().sit(Told(), session=session)
    assert (run.status, run.reason) == ("interrupted", None)


async def test_a_session_serves_one_run(bench: MakeBench) -> None:
    session = Session()
    session.end("time")
    with pytest.raises(SettingsError, match="the session has ended already"):
        await bench().sit(session=session)


async def test_an_error_that_ends_a_run_stands_in_it(bench: MakeBench) -> None:
    small = bench(n=2)

    def say(*_: object) -> Output:
        raise StoreError("the disk is full")

    with pytest.raises(StoreError, match="the disk is full"):
        await small.sit(Told(say))
    assert small.run is not None
    run = small.store.run(small.run.id)
    assert (run.status, run.reason) == ("interrupted", "the disk is full")


async def test_each_answer_is_told_of_when_it_is_there(bench: MakeBench) -> None:
    seen: list[str] = []
    await bench(n=3).sit(session=Session(watch=lambda result: seen.append(result.case.id)))
    assert sorted(seen) == ["c0", "c1", "c2"]


async def test_a_run_waits_for_people_until_they_have_judged(bench: MakeBench) -> None:
    small = bench(n=2, judge="human", rubric="rubric.yaml", assertions=None)
    run = await small.sit()
    assert run.status == "waiting"
    assert len(list(small.store.queue(run.id))) == 4
    assert (await small.sit(Told())).status == "waiting"


async def test_a_recorded_output_that_fails_is_no_error_where_failures_are_retried(
    bench: MakeBench,
) -> None:
    small = bench(n=3, texts={"c1": "wrong"}, settings={"retry_failed": 2})
    run = await small.sit()
    assert [(one.case.id, one.repeat, one.output.text) for one in small.results()] == [
        ("c0", 0, "right"), ("c1", 0, "wrong"), ("c2", 0, "right"),
    ]  # fmt: skip
    assert run.status == "complete"
    answers = rows(*({"case_id": "c1", "text": text} for text in ("wrong", "right")))
    again = bench(n=3, settings={"retry_failed": 2})
    (again.path.parent / "v1.jsonl").write_text(answers, encoding="utf-8")
    again.choice = Choice(case_ids=("c1",))
    await again.sit()
    assert [one.output.text for one in again.results()] == ["wrong", "right"]


async def test_an_error_that_a_later_try_made_good_is_not_asked_again(bench: MakeBench) -> None:
    small = bench(n=2, settings={"retry_failed": 2})
    error = Output(error="it broke", error_kind="exit")
    await small.sit(Told(lambda case, n: error if case.id == "c0" and n == 0 else "right"))
    again = Told()
    await small.sit(again, session=Session(retry_errors=True))
    assert again.asked == []
    assert [r.output.error for r in small.results()] == ["it broke", None, None]


async def test_a_run_that_a_dead_model_cut_short_is_no_baseline(bench: MakeBench) -> None:
    error = Output(error="no such key", error_kind="model", metadata={"model_error": "auth"})
    small = bench(n=9, settings={"max_concurrency": 1}, gate={"threshold": 0.1, "max_drop": 0.1})
    run = await small.sit(Told(lambda case, _: error if case.id == "c6" else "right"))
    assert (run.status, len(small.results())) == ("stopped", 7)
    cut = Run(run, small.store).gate()
    assert cut is not None
    assert (cut.held, cut.is_partial) == ("inconclusive", True)
    small.run = None
    later = new_run(small.open(), now=NOW + timedelta(days=1), token="1")
    assert EarlierRuns(later, small.store).baseline("previous", "v1") is None
