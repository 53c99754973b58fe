from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import StoreError
from judgekit.store.runs import RunStore
from tests.store.observing import START, answer, begun, key, make_run

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that are killed when the test ends."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


def work(
    started: list[subprocess.Popen[str]], location: str, run_id: str, *, start: int, stop: int
) -> subprocess.Popen[str]:
    """A process that adds the answers of a run."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.store.worker", location, run_id, str(start), str(stop)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    started.append(process)
    return process


def said_lines(process: subprocess.Popen[str], n: int) -> list[str]:
    """The next lines a process says."""
    assert process.stdout is not None
    return [process.stdout.readline().strip() for _ in range(n)]


def test_a_process_that_is_killed_loses_nothing_it_was_told_is_kept(
    store: RunStore, location: str, started: list[subprocess.Popen[str]]
) -> None:
    process = work(started, location, "killed", start=0, stop=100_000)
    said_lines(process, 60)
    process.kill()
    rest, _ = process.communicate()
    n_told = 60 + len(rest.splitlines())
    found = list(store.progress("killed"))
    assert len(found) in {2 * n_told, 2 * n_told + 2}
    assert all(each.is_done and each.n_judgments == 2 for each in found)
    assert sum(1 for _ in store.results("killed")) == len(found)


def test_a_killed_run_can_be_taken_up_at_once(
    store: RunStore, location: str, started: list[subprocess.Popen[str]]
) -> None:
    process = work(started, location, "killed", start=0, stop=100_000)
    said_lines(process, 5)
    process.kill()
    process.wait()
    assert store.run("killed").status == "running"
    store.end("killed", status="running", at=START)
    before = sum(1 for _ in store.progress("killed"))
    store.add("killed", [answer(key("c0"), place=0)])
    assert sum(1 for _ in store.progress("killed")) == before


def test_a_run_that_another_process_runs_is_locked(
    store: RunStore, location: str, started: list[subprocess.Popen[str]]
) -> None:
    process = work(started, location, "theirs", start=0, stop=1)
    said_lines(process, 1)
    with pytest.raises(StoreError, match=f"still running as process {process.pid}"):
        store.end("theirs", status="running", at=START)
    with pytest.raises(StoreError, match="still running"):
        store.add("theirs", [answer()])
    assert len(list(store.results("theirs"))) == 2
    process.communicate("go on\n")
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


def test_closing_a_store_gives_its_runs_back(store: RunStore, location: str) -> None:
    other = RunStore(location)
    begun(other)
    other.close()
    store.add("run-1", [answer()])


def test_two_processes_keep_two_runs_of_the_same_cases_at_once(
    store: RunStore, location: str, started: list[subprocess.Popen[str]]
) -> None:
    one = work(started, location, "up", start=0, stop=60)
    other = work(started, location, "down", start=59, stop=-1)
    for process in (one, other):
        process.communicate("go on\n")
        assert process.returncode == 0
    for name in ("up", "down"):
        assert [r.place for r in store.results(name)] == [n for n in range(60) for _ in (0, 1)]
    assert len(list(store.cases_of())) == 60


def test_two_processes_may_make_the_database_at_once(
    tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    file = str(tmp_path / "new" / "judgekit.db")
    processes = [work(started, file, name, start=0, stop=2) for name in "abc"]
    for process in processes:
        process.communicate("go on\n")
    assert [process.returncode for process in processes] == [0, 0, 0]
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
