from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import DatasetError, StoreError, TemplateError
from judgekit.evaluation import Graded, grade_answers
from judgekit.models.cache import MemoryCache
from judgekit.models.request import ModelReply, ModelRequest
from judgekit.testing import ScriptedModel
from tests.factories import make_case, make_judge, make_output, make_rubric, reply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.records import Case, Output

RUBRIC = make_rubric("accuracy")


class GatedModel:
    """Answers only once its gate is open, and counts how many wait at it."""

    name = "gated"

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.arrived = asyncio.Semaphore(0)
        self.n_waiting = 0
        self.most_waiting = 0
        self.n_asked = 0

    async def complete(self, request: ModelRequest) -> ModelReply:
        del request
        self.n_asked += 1
        self.n_waiting += 1
        self.most_waiting = max(self.most_waiting, self.n_waiting)
        self.arrived.release()
        try:
            await self.gate.wait()
            await asyncio.sleep(0)
        finally:
            self.n_waiting -= 1
        return ModelReply(text=reply(4))

    async def has_asked(self, n: int) -> None:
        for _ in range(n):
            await self.arrived.acquire()


def answers(n: int) -> Iterator[tuple[Case, Output]]:
    return ((make_case(id=f"case-{k}"), make_output(f"answer {k}")) for k in range(n))


async def test_every_output_is_graded_and_knows_its_place() -> None:
    judge = make_judge(ScriptedModel(reply(5)))
    found = [item async for item in grade_answers(judge, answers(9), RUBRIC, in_flight=4)]
    assert sorted(item.index for item in found) == list(range(9))
    assert all(item.case.id == f"case-{item.index}" for item in found)
    assert all(item.verdict.case_id == item.case.id for item in found)
    assert {item.verdict.passed for item in found} == {True}


async def test_nothing_to_grade_ends_at_once() -> None:
    judge = make_judge(ScriptedModel(reply(5)))
    assert [item async for item in grade_answers(judge, [], RUBRIC)] == []


async def test_no_more_outputs_than_asked_for_are_graded_at_a_time() -> None:
    model = GatedModel()
    model.gate.set()
    judge = make_judge(model)
    n = len([item async for item in grade_answers(judge, answers(20), RUBRIC, in_flight=3)])
    assert n == 20
    assert model.most_waiting == 3


async def test_in_flight_of_none_still_grades_one_at_a_time() -> None:
    judge = make_judge(ScriptedModel(reply(5)))
    found = [item async for item in grade_answers(judge, answers(3), RUBRIC, in_flight=0)]
    assert [item.index for item in found] == [0, 1, 2]


async def test_answers_are_read_as_slowly_as_they_are_taken() -> None:
    read: list[str] = []

    def counted() -> Iterator[tuple[Case, Output]]:
        for case, output in answers(1_000):
            read.append(case.id)
            yield case, output

    judge = make_judge(ScriptedModel(reply(5)))
    async for _ in grade_answers(judge, counted(), RUBRIC, in_flight=2):
        await asyncio.sleep(0.01)
        break
    assert len(read) <= 6


async def test_a_stop_begins_nothing_more_and_finishes_what_was_begun() -> None:
    model, stop = GatedModel(), asyncio.Event()
    judge = make_judge(model)
    found: list[Graded] = []

    async def grade() -> None:
        found.extend(
            [
                item
                async for item in grade_answers(judge, answers(50), RUBRIC, in_flight=4, stop=stop)
            ]
        )

    task = asyncio.create_task(grade())
    await model.has_asked(4)
    stop.set()
    model.gate.set()
    await task
    assert sorted(item.index for item in found) == [0, 1, 2, 3]
    assert all(item.verdict.judgments for item in found)


async def test_a_stop_before_the_begin_asks_nothing() -> None:
    model, stop = ScriptedModel(reply(5)), asyncio.Event()
    stop.set()
    judge = make_judge(model)
    assert [item async for item in grade_answers(judge, answers(5), RUBRIC, stop=stop)] == []
    assert model.requests == []


async def test_an_unsound_row_ends_the_grading_with_its_own_error() -> None:
    def unsound() -> Iterator[tuple[Case, Output]]:
        yield from answers(2)
        raise DatasetError("is no JSON", path="outputs.jsonl", line=3)

    judge = make_judge(ScriptedModel(reply(5)))
    with pytest.raises(DatasetError, match=r"outputs\.jsonl:3: is no JSON"):
        _ = [item async for item in grade_answers(judge, unsound(), RUBRIC)]


async def test_a_template_that_does_not_fit_is_one_plain_error() -> None:
    judge = make_judge(ScriptedModel(reply(5)), template="pointwise/trajectory")
    with pytest.raises(TemplateError, match="trace"):
        _ = [item async for item in grade_answers(judge, answers(8), RUBRIC)]


async def test_what_still_runs_is_called_off_when_nobody_takes_results_any_more() -> None:
    model = GatedModel()
    judge = make_judge(model)
    grading = grade_answers(judge, answers(10), RUBRIC, in_flight=3)
    first = asyncio.ensure_future(anext(grading))
    await model.has_asked(3)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert model.n_waiting == 0
    assert model.n_asked == 3


async def test_an_output_that_is_an_error_is_passed_on_without_asking() -> None:
    model = ScriptedModel(reply(5))
    failed = (make_case(), make_output(None, error="timed out"))
    (item,) = [item async for item in grade_answers(make_judge(model), [failed], RUBRIC)]
    assert item.verdict.error == "timed out"
    assert item.verdict.passed is None
    assert model.requests == []


async def test_the_same_output_twice_at_a_time_is_one_call() -> None:
    model = GatedModel()
    model.gate.set()
    judge = make_judge(model, cache=MemoryCache())
    twice = [*answers(1), *answers(1)]
    found = [item async for item in grade_answers(judge, twice, RUBRIC)]
    assert model.n_asked == 1
    assert sorted(j.cached for item in found for j in item.verdict.judgments) == [False, True]


async def test_what_is_owned_does_not_wait_for_what_is_asked() -> None:
    cache = MemoryCache()
    owned = make_judge(ScriptedModel(reply(4)), cache=cache)
    _ = [item async for item in grade_answers(owned, list(answers(100))[1:], RUBRIC)]
    model = GatedModel()
    model.name = "scripted"
    judge = make_judge(model, cache=cache)
    grading = grade_answers(judge, answers(100), RUBRIC, in_flight=2)
    first = [(await anext(grading)).index for _ in range(99)]
    assert first == list(range(1, 100))
    assert model.n_waiting == 1  # it had its turn meanwhile
    model.gate.set()
    assert [item.index async for item in grading] == [0]


async def test_a_stop_ends_a_run_of_owned_outputs_too() -> None:
    cache, stop = MemoryCache(), asyncio.Event()
    judge = make_judge(ScriptedModel(reply(4)), cache=cache)
    _ = [item async for item in grade_answers(judge, answers(9), RUBRIC)]
    found = []
    async for item in grade_answers(judge, answers(9), RUBRIC, stop=stop):
        found.append(item.index)
        if len(found) == 3:
            stop.set()
    assert found == [0, 1, 2]
    assert cache.counts().n_hits == 3


async def test_a_reply_that_cannot_be_kept_ends_the_grading_and_calls_off_the_rest() -> None:
    class FullModel(GatedModel):
        async def complete(self, request: ModelRequest) -> ModelReply:
            if request.subject.case_id == "case-2":
                raise StoreError("disk full")
            return await super().complete(request)

    model = FullModel()
    with pytest.raises(StoreError, match="disk full"):
        _ = [item async for item in grade_answers(make_judge(model), answers(9), RUBRIC)]
    assert model.n_waiting == 0
