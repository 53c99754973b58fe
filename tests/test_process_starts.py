"""Forked and spawned processes that use what their parent has opened, or open it anew."""

from __future__ import annotations

import multiprocessing
import os
import traceback
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

import judgekit as jk
from judgekit.errors import StoreError
from judgekit.testing import ChaosServer
from tests.factories import make_case, make_output, make_rubric
from tests.models.cache.buying import make_reply, make_request
from tests.store.observing import START, answer, begun

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")


def in_child(function: Callable[[], None]) -> int:
    """The exit code of a forked child that calls a function; the test's time limit ends a hang."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            function()
            code = 0
        except BaseException:  # noqa: BLE001 - a child may not go on with the parent's tests
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_cache_that_is_open_at_a_fork_is_one_cache_for_both(tmp_path: Path) -> None:
    one, two, three = (make_request(name) for name in ("1", "2", "3"))
    with jk.DiskCache(tmp_path) as cache:
        cache.put(one, make_reply("one"))

        def child() -> None:
            assert one.key in cache
            cache.put(two, make_reply("two"))
            cache.close()

        assert in_child(child) == 0
        cache.put(three, make_reply("three"))
        assert len(cache) == 3
        assert two.key in cache
        assert cache.problems() == ()


def test_a_judge_that_has_called_before_a_fork_calls_again_in_the_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    case, rubric, old, new = make_case(), make_rubric(), make_output("old"), make_output("new")
    with ChaosServer() as server:
        with jk.Judge("openai/any", api_base=server.url, cache=tmp_path) as judge:
            assert judge.grade_sync(case, old, rubric).passed

            def child() -> None:
                assert judge.grade_sync(case, old, rubric).judgments[0].cached
                assert judge.grade_sync(case, new, rubric).passed
                judge.close()

            assert in_child(child) == 0
            # What the child paid for is the parent's as well.
            assert judge.grade_sync(case, new, rubric).judgments[0].cached
        assert server.n_requests == 2


def test_a_forked_child_reads_the_store_and_does_not_hold_the_runs_of_its_parent(
    tmp_path: Path,
) -> None:
    with closing(jk.RunStore(tmp_path / "runs.db")) as store:
        begun(store, answer())

        def child() -> None:
            assert [run.id for run in store.runs()] == ["run-1"]
            assert len(list(store.results("run-1"))) == 1
            with pytest.raises(StoreError, match="is still running in process"):
                store.add("run-1", [answer()])
            store.close()

        assert in_child(child) == 0
        store.add("run-1", [answer()])
        store.end("run-1", status="complete", at=START)
        store.check()


def test_a_transaction_that_is_open_at_a_fork_stays_the_parents(tmp_path: Path) -> None:
    with closing(jk.RunStore(tmp_path / "runs.db")) as store:
        begun(store, answer())
        with store.writing() as connection:
            connection.exec_driver_sql("UPDATE runs SET reason = 'half done'")

            def child() -> None:
                assert store.run("run-1").reason is None
                store.close()

            assert in_child(child) == 0
        assert store.run("run-1").reason == "half done"
        store.check()


def _grade(url: str, folder: str) -> list[float]:
    """What a spawned child does: it makes a judge of its own."""
    outputs = [{"case_id": f"c{n}", "input": "?", "text": f"Text {n}."} for n in range(6)]
    judge = jk.Judge("openai/any", api_base=url, cache=folder)
    results = jk.grade_sync(outputs, rubric=make_rubric(), judge=judge)
    return [verdict.judgments[0].raw for verdict in results]


def test_spawned_processes_with_judges_of_their_own_share_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with ChaosServer(latency_s=0.05) as server:
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            scores = pool.starmap(_grade, [(server.url, str(tmp_path))] * 2)
        assert scores == [[4.0] * 6] * 2
        assert server.n_requests == 6
