from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import StoreError
from judgekit.store import RunStore
from tests.store.observing import START, answer, begun, key, make_run
from tests.store.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MANY = range(100_000)


def test_a_process_that_is_killed_loses_nothing_it_was_told_is_kept(
    store: RunStore, location: str
) -> None:
    process = Worker(location, "killed", MANY)
    process.heard(60)
    n_told = 60 + process.kill()
    found = list(store.progress("killed"))
    assert len(found) in {2 * n_told, 2 * n_told + 2}
    assert all(each.is_done and each.n_judgments == 2 for each in found)
    assert sum(1 for _ in store.results("killed")) == len(found)


def test_a_killed_run_can_be_taken_up_at_once(store: RunStore, location: str) -> None:
    process = Worker(location, "killed", MANY)
    process.heard(5)
    process.kill()
    assert store.run("killed").status == "running"
    store.end("killed", status="running", at=START)
    before = sum(1 for _ in store.progress("killed"))
    store.add("killed", [answer(key("c0"), place=0)])
    assert sum(1 for _ in store.progress("killed")) == before


def test_a_run_that_another_process_runs_is_locked(store: RunStore, location: str) -> None:
    process = Worker(location, "theirs", range(1))
    process.heard(1)
    with pytest.raises(StoreError, match=f"still running in process {process.pid}"):
        store.end("theirs", status="running", at=START)
    with pytest.raises(StoreError, match="still running"):
        store.add("theirs", [answer()])
    assert len(list(store.results("theirs"))) == 2
    assert process.end() == 0
    store.end("theirs", status="running", at=START)


def test_a_run_is_locked_to_another_store_of_the_same_process(location: str) -> None:
    first, second = RunStore(location), RunStore(location)
    begun(first)
    with pytest.raises(StoreError, match="still running"):
        second.add("run-1", [answer()])
    first.end("run-1", status="interrupted", at=START)
    second.add("run-1", [answer()])
    with pytest.raises(StoreError, match="still running"):
        first.end("run-1", status="running", at=START)
    for each in (second, first):
        each.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
@pytest.mark.parametrize("act", [RunStore.runs, RunStore.close])
def test_a_forked_child_takes_no_lock_from_its_parent(
    store: RunStore, location: str, act: Callable[[RunStore], object]
) -> None:
    begun(store)
    if (child := os.fork()) == 0:
        try:
            act(store)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    other = RunStore(location)
    with pytest.raises(StoreError, match="is still running"):
        other.end("run-1", status="complete", at=START)
    store.end("run-1", status="complete", at=START)
    other.close()


def test_closing_a_store_gives_its_runs_back(store: RunStore, location: str) -> None:
    other = RunStore(location)
    begun(other)
    other.close()
    store.add("run-1", [answer()])


def test_two_processes_keep_two_runs_of_the_same_cases_at_once(
    store: RunStore, location: str
) -> None:
    one = Worker(location, "up", range(60))
    other = Worker(location, "down", range(59, -1, -1))
    assert (one.end(), other.end()) == (0, 0)
    for name in ("up", "down"):
        assert [r.place for r in store.results(name)] == [n for n in range(60) for _ in (0, 1)]
    assert len(list(store.cases_of())) == 60


def test_two_processes_may_make_the_database_at_once(tmp_path: Path) -> None:
    file = str(tmp_path / "new" / "judgekit.db")
    processes = [Worker(file, name, range(2)) for name in "abc"]
    assert [process.end() for process in processes] == [0, 0, 0]
    assert len(RunStore(file, create=False).runs()) == 3


def test_threads_may_share_a_store(store: RunStore) -> None:
    begun(store)

    def add(n: int) -> int:
        store.add("run-1", [answer(key(f"c{n}"), place=n)])
        return sum(1 for _ in store.results("run-1"))

    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(add, range(40)))
    assert max(seen) <= 40
    assert [result.place for result in store.results("run-1")] == list(range(40))


def test_a_store_may_keep_several_runs_at_once(store: RunStore) -> None:
    for name in ("a", "b"):
        store.begin(make_run(name))
    for n in range(3):
        for name in ("a", "b"):
            store.add(name, [answer(key(f"c{n}", f"v-{name}"), place=n)])
    assert [r.variant for r in store.results("b")] == ["v-b"] * 3
