from __future__ import annotations

import io
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from judgekit.assertions import UndecidedError
from judgekit.assertions.sandbox import (
    RefusedInputError,
    _idle_workers,
    _take,
    _Worker,
    run_bounded,
)
from judgekit.assertions.worker import serve

SEARCH = "judgekit.assertions.worker:search_pattern"


def asked(*requests: object) -> list[dict[str, object]]:
    """What the worker answers, run in this process."""
    lines = "".join(f"{json.dumps(request)}\n" for request in (sys.path, *requests))
    replies = io.BytesIO()
    serve(io.BytesIO(lines.encode()), replies)
    return [json.loads(line) for line in replies.getvalue().splitlines()]


def test_a_function_runs_in_the_worker() -> None:
    assert run_bounded(SEARCH, "a+", "baa\ud800", False, timeout_s=60) == "aa"


def test_what_a_function_raises_comes_back() -> None:
    with pytest.raises(RefusedInputError, match="unterminated"):
        run_bounded(SEARCH, "(a", "a", False, timeout_s=60)


def test_a_missing_package_says_that_something_is_to_be_installed() -> None:
    with pytest.raises(RefusedInputError, match="install what is missing"):
        run_bounded("no_such_package:x", timeout_s=60)


def test_a_worker_that_dies_is_an_error_and_the_next_call_has_another() -> None:
    with pytest.raises(UndecidedError, match="the process that checked it died"):
        run_bounded("os:_exit", 3, timeout_s=60)
    assert run_bounded("os.path:basename", "/a/b", timeout_s=60) == "b"


def test_a_function_that_takes_too_long_is_stopped() -> None:
    with pytest.raises(UndecidedError, match=r"longer than 0\.1 s and was stopped"):
        run_bounded("time:sleep", 60, timeout_s=0.1)


def test_a_worker_ends_itself_when_nobody_is_there_to_stop_it() -> None:
    worker = _Worker()
    worker._give_up = lambda: None  # type: ignore[method-assign]  # a parent that was killed
    with pytest.raises(UndecidedError, match="the process that checked it died"):
        worker.run("time:sleep", (60,), 0.01)
    worker.end()


def test_a_worker_may_not_take_all_memory() -> None:
    with pytest.raises(UndecidedError, match=r"more memory|died"):
        run_bounded("operator:mul", "a" * 1024, 1 << 28, timeout_s=60)


def test_a_worker_that_died_while_it_waited_is_replaced() -> None:
    assert run_bounded("operator:add", 1, 1, timeout_s=60) == 2
    for worker in _idle_workers(os.getpid()):
        worker._process.kill()
        worker._process.wait()
    assert run_bounded("operator:add", 1, 2, timeout_s=60) == 3


def test_a_worker_whose_time_ran_out_as_it_answered_is_not_asked_again() -> None:
    idle = _idle_workers(os.getpid())
    worker = _take(idle)
    worker._give_up()
    idle.append(worker)
    assert not worker.is_alive
    assert run_bounded("operator:add", 1, 3, timeout_s=60) == 4


def test_a_worker_that_dies_as_it_is_asked_is_an_error() -> None:
    worker = _Worker()
    worker._process.kill()
    worker._process.wait()
    with pytest.raises(UndecidedError, match="the process that checked it died"):
        worker.run("operator:add", (1, "a" * 1_000_000), 5)
    worker.end()


def test_threads_have_a_worker_each() -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: run_bounded("operator:add", n, 1, timeout_s=60), range(20)))
    assert found == list(range(1, 21))


def test_the_worker_answers_line_by_line() -> None:
    run = {"run": SEARCH, "arguments": ["b", "abc", False], "timeout_s": 60}
    assert asked({"load": SEARCH}, run) == [{"value": None}, {"value": "b"}]


def test_what_is_nested_too_deeply_is_said_plainly() -> None:
    name = "judgekit.assertions.parsers:read_json"
    run = {"run": name, "arguments": ["[" * 100_000], "timeout_s": 60}
    assert asked({"load": name}, run)[1]["error"] == "RecursionError"


def test_errors_in_the_worker_are_named() -> None:
    name = "operator:mul"
    run = {"run": name, "arguments": ["a", 1 << 62], "timeout_s": 60}
    too_much, unknown = asked({"load": name}, run, {"load": "operator:no_such"})[1:]
    assert too_much["error"] == "MemoryError"
    assert unknown["error"] == "AttributeError"
