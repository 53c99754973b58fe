from __future__ import annotations

import io
import json
import os
import select
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from judgekit.subprocess import ProcessFailedError
from judgekit.subprocess.worker import serve
from judgekit.subprocess.worker_pool import _idle_workers, _take, _Worker, call_bounded

SEARCH = "judgekit.subprocess.worker:search_pattern"


def asked(*requests: object) -> list[dict[str, object]]:
    """What the worker answers, run in this process."""
    lines = "".join(f"{json.dumps(request)}\n" for request in (sys.path, *requests))
    replies = io.BytesIO()
    serve(io.BytesIO(lines.encode()), replies)
    return [json.loads(line) for line in replies.getvalue().splitlines()]


def test_a_function_runs_in_the_worker() -> None:
    assert call_bounded(SEARCH, "a+", "baa\ud800", False, timeout_s=60) == "aa"


def test_what_a_function_raises_comes_back() -> None:
    with pytest.raises(ProcessFailedError, match="unterminated"):
        call_bounded(SEARCH, "(a", "a", False, timeout_s=60)


def test_a_missing_package_says_that_something_is_to_be_installed() -> None:
    with pytest.raises(ProcessFailedError, match="install what is missing"):
        call_bounded("no_such_package:x", timeout_s=60)


def test_a_worker_that_dies_is_an_error_and_the_next_call_has_another() -> None:
    with pytest.raises(ProcessFailedError, match="its process died"):
        call_bounded("os:_exit", 3, timeout_s=60)
    assert call_bounded("os.path:basename", "/a/b", timeout_s=60) == "b"


def test_a_function_that_takes_too_long_is_stopped() -> None:
    with pytest.raises(ProcessFailedError, match=r"longer than 0\.1 s and was stopped"):
        call_bounded("time:sleep", 60, timeout_s=0.1)


def test_a_worker_ends_itself_when_nobody_is_there_to_stop_it() -> None:
    worker = _Worker()
    worker._give_up = lambda: None  # type: ignore[method-assign]  # a parent that was killed
    with pytest.raises(ProcessFailedError, match="its process died"):
        worker.run("time:sleep", (60,), 0.01)
    worker.end()


def test_a_worker_may_not_take_all_memory_and_is_not_used_again() -> None:
    idle = _idle_workers(os.getpid())
    n_left = max(len(idle) - 1, 0)
    with pytest.raises(ProcessFailedError, match=r"of memory|died"):
        call_bounded("operator:mul", "a" * 1024, 1 << 28, timeout_s=60)
    assert len(idle) == n_left


def test_a_worker_that_died_while_it_waited_is_replaced() -> None:
    assert call_bounded("operator:add", 1, 1, timeout_s=60) == 2
    for worker in _idle_workers(os.getpid()):
        worker._process.kill()
        worker._process.wait()
    assert call_bounded("operator:add", 1, 2, timeout_s=60) == 3


def test_a_worker_whose_time_ran_out_as_it_answered_is_not_asked_again() -> None:
    idle = _idle_workers(os.getpid())
    worker = _take(idle)
    worker._give_up()
    idle.append(worker)
    assert not worker.is_alive
    assert call_bounded("operator:add", 1, 3, timeout_s=60) == 4


def test_a_worker_that_dies_as_it_is_asked_is_an_error() -> None:
    worker = _Worker()
    worker._process.kill()
    worker._process.wait()
    with pytest.raises(ProcessFailedError, match="its process died"):
        worker.run("operator:add", (1, "a" * 1_000_000), 5)
    worker.end()


def test_ctrl_c_ends_the_worker_it_interrupts() -> None:
    idle = _idle_workers(os.getpid())
    idle.append(_Worker())
    worker = idle[-1]
    main = threading.main_thread().ident or 0
    alarm = threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT))
    alarm.start()
    with pytest.raises(KeyboardInterrupt):
        call_bounded("time:sleep", 30, timeout_s=60)
    alarm.join()
    assert (worker._process.poll(), worker in idle) == (-signal.SIGKILL, False)


def test_a_worker_is_not_in_the_group_that_ctrl_c_reaches() -> None:
    assert call_bounded("os:getpgrp", timeout_s=60) != os.getpgrp()


def test_a_command_that_is_killed_leaves_no_worker(tmp_path: Path) -> None:
    code = (
        "import os\nfrom judgekit.subprocess.worker_pool import call_bounded\n"
        "print(call_bounded('os:getpid', timeout_s=60), flush=True)\nos.kill(os.getpid(), 9)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert found.returncode == -signal.SIGKILL
    # It ends when it sees that nobody can write to it any more.
    with suppress(ProcessLookupError):
        poll = select.poll()
        poll.register(os.pidfd_open(int(found.stdout)), select.POLLIN)
        assert poll.poll(10_000)


def test_threads_have_a_worker_each() -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(
            pool.map(lambda n: call_bounded("operator:add", n, 1, timeout_s=60), range(20))
        )
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
