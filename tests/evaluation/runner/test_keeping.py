from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, cast

import pytest

from judgekit.errors import StoreError
from judgekit.evaluation.worker import ObservationWriter
from judgekit.records import ItemKey, Observation
from tests.evaluation.suites import NOW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.records import HumanItem
    from judgekit.store import RunStore


class Shelf:
    """A store that notes what is added; a place of 13 cannot be kept."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.asked: list[HumanItem] = []
        self.gate = threading.Event()
        self.gate.set()
        self.is_broken = False

    def add(self, run_id: str, observed: Sequence[Observation]) -> None:
        assert run_id == "r"
        self.gate.wait(10)
        self.batches.append([one.place for one in observed])
        if self.is_broken or any(one.place == 13 for one in observed):
            raise StoreError("it cannot be kept")

    def ask_person(self, run_id: str, items: Sequence[HumanItem]) -> None:
        assert run_id == "r"
        self.asked += items


def seen(place: int) -> Observation:
    return Observation(key=ItemKey(f"c{place}", "v"), place=place, at=NOW)


def keeper(shelf: Shelf) -> ObservationWriter:
    return ObservationWriter(cast("RunStore", shelf), "r")


async def test_what_is_kept_is_in_the_store_when_it_returns() -> None:
    shelf = Shelf()
    async with keeper(shelf) as kept:
        await kept.put(seen(1))
        assert shelf.batches == [[1]]


async def test_what_waits_at_one_moment_is_one_transaction() -> None:
    shelf = Shelf()
    async with keeper(shelf) as kept:
        await asyncio.gather(*(kept.put(seen(place)) for place in range(5)))
    assert shelf.batches == [[0, 1, 2, 3, 4]]


async def test_what_comes_while_one_is_written_waits_for_the_next() -> None:
    shelf = Shelf()
    shelf.gate.clear()
    async with keeper(shelf) as kept:
        first = kept.put(seen(0))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        others = [kept.put(seen(place)) for place in (1, 2)]
        await asyncio.sleep(0)
        shelf.gate.set()
        await asyncio.gather(first, *others)
    assert shelf.batches == [[0], [1, 2]]


async def test_one_that_cannot_be_kept_takes_no_other_with_it() -> None:
    shelf = Shelf()
    async with keeper(shelf) as kept:
        done = await asyncio.gather(
            *(kept.put(seen(place)) for place in (12, 13, 14)), return_exceptions=True
        )
    assert [type(one) for one in done] == [type(None), StoreError, type(None)]
    assert shelf.batches == [[12, 13, 14], [12], [13], [14]]


async def test_a_store_that_is_broken_is_not_tried_for_each() -> None:
    shelf = Shelf()
    shelf.is_broken = True
    async with keeper(shelf) as kept:
        done = await asyncio.gather(*(kept.put(seen(n)) for n in range(9)), return_exceptions=True)
    assert all(isinstance(one, StoreError) for one in done)
    assert len(shelf.batches) == 3


async def test_what_was_observed_is_kept_also_when_whoever_waits_is_called_off() -> None:
    shelf = Shelf()
    shelf.gate.clear()
    async with keeper(shelf) as kept:
        task = kept.put(seen(7))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        shelf.gate.set()
    assert shelf.batches == [[7]]


async def test_a_failure_of_which_nobody_could_be_told_is_told_at_the_end() -> None:
    shelf = Shelf()
    shelf.is_broken = True
    shelf.gate.clear()

    async def broken_off() -> None:
        async with keeper(shelf) as kept:
            task = kept.put(seen(7))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task})
            shelf.gate.set()

    with pytest.raises(StoreError, match="it cannot be kept"):
        await broken_off()


async def test_who_does_not_wait_has_it_kept_all_the_same() -> None:
    shelf = Shelf()
    async with keeper(shelf) as kept:
        for place in range(3):
            kept.put(seen(place)).cancel()
    assert shelf.batches == [[0, 1, 2]]


async def test_people_are_asked_by_the_same_thread() -> None:
    shelf = Shelf()
    async with keeper(shelf) as kept:
        await kept.queue_human_items([])
        await kept.put(seen(1))
    assert (shelf.asked, shelf.batches) == ([], [[1]])
