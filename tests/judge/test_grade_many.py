from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import InputError, ModelError
from judgekit.models.request import ModelReply
from tests.factories import make_case, make_judge, make_output, make_rubric, reply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.models.request import ModelRequest
    from judgekit.records import Case, Output

RUBRIC = make_rubric("accuracy")


class Gate:
    """A model whose replies wait until it is opened; one that names `broken` fails."""

    name = "gate"

    def __init__(self, *, is_open: bool) -> None:
        self.opened = asyncio.Event()
        self.arrived = asyncio.Semaphore(0)
        self.n_cancelled = 0
        if is_open:
            self.opened.set()

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.arrived.release()
        try:
            await self.opened.wait()
        except asyncio.CancelledError:
            self.n_cancelled += 1
            raise
        if any("broken" in str(message) for message in request.messages):
            raise ModelError("it fails", kind="bad_request", retryable=False)
        return ModelReply(text=reply(4))


class Pairs:
    """Pairs without end, counted as they are taken."""

    n_taken = 0

    def __iter__(self) -> Iterator[tuple[Case, Output]]:
        while True:
            yield make_case(id=f"c{self.n_taken}"), make_output(f"answer {self.n_taken}")
            self.n_taken += 1


async def test_verdicts_come_in_order_and_a_failure_stays_in_its_place() -> None:
    texts = ["good", "broken", *(f"answer {n}" for n in range(40))]
    pairs = [(make_case(id=text), make_output(text)) for text in texts]
    judge = make_judge(Gate(is_open=True), max_concurrency=3)
    verdicts = [one async for one in judge.grade_many(pairs, RUBRIC)]
    assert [one.case_id for one in verdicts] == texts
    assert [one.passed for one in verdicts[:3]] == [True, None, True]
    assert [failure.kind for failure in verdicts[1].failures] == ["bad_request"]


async def test_pairs_without_end_are_taken_as_verdicts_are_read_and_calls_end_with_the_reader() -> (
    None
):
    pairs = Pairs()
    judge = make_judge(Gate(is_open=True), max_concurrency=4)
    async with aclosing(judge.grade_many(pairs, RUBRIC)) as verdicts:
        async for verdict in verdicts:
            if verdict.case_id == "c20":
                break
    # What was begun ahead of the reader is a few batches, not all.
    assert pairs.n_taken < 100
    assert not [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


async def test_an_error_of_the_source_comes_after_the_verdicts_before_it() -> None:
    def source() -> Iterator[tuple[Case, Output]]:
        for n in range(20):
            yield make_case(id=f"c{n}"), make_output(f"answer {n}")
        raise OSError("the file is gone")

    model = Gate(is_open=True)
    verdicts = make_judge(model, max_concurrency=4).grade_many(source(), RUBRIC)
    assert [(await anext(verdicts)).case_id for _ in range(20)] == [f"c{n}" for n in range(20)]
    with pytest.raises(OSError, match="the file is gone"):
        await anext(verdicts)
    assert model.n_cancelled == 0


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ({"case_id": "c1"}, "a dict is no Case: {"),
        ((make_case(), "Yes."), "a str is no Output: 'Yes.'"),
        ((make_case(),), "a tuple is no Case"),
        ("c1", "a str is no Case: 'c1'"),
    ],
)
async def test_what_is_no_pair_is_refused_after_the_verdicts_before_it(
    pair: Any, words: str
) -> None:
    pairs = [(make_case(), make_output()), pair]
    verdicts = make_judge(Gate(is_open=True)).grade_many(pairs, RUBRIC)
    assert (await anext(verdicts)).passed
    with pytest.raises(InputError, match=words):
        await anext(verdicts)


async def test_outputs_are_graded_at_the_same_time() -> None:
    model = Gate(is_open=False)
    judge = make_judge(model, max_concurrency=8)
    pairs = [(make_case(id=f"c{n}"), make_output(f"answer {n}")) for n in range(8)]

    async def read() -> list[str]:
        return [one.case_id async for one in judge.grade_many(pairs, RUBRIC) if one.case_id]

    reading = asyncio.ensure_future(read())
    for _ in range(8):
        await model.arrived.acquire()
    model.opened.set()
    assert len(await reading) == 8


async def test_calls_in_flight_are_cancelled_when_the_reader_is() -> None:
    model = Gate(is_open=False)
    judge = make_judge(model, max_concurrency=4)

    async def read() -> None:
        async for _ in judge.grade_many(Pairs(), RUBRIC):
            pass

    reading = asyncio.ensure_future(read())
    for _ in range(4):
        await model.arrived.acquire()
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    assert model.n_cancelled == 4
