"""Processes with one cache on a server: what is paid for, also when they or it are killed."""

from __future__ import annotations

import json
import random
import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.chaos.commands import IN_FLIGHT, essence, serving

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from judgekit.testing import ServedRequest
    from tests.chaos.commands import Bench
    from tests.integration.servers import PostgresServer, RedisServer

pytestmark = pytest.mark.timeout(600)
N_PROCESSES = 4
N_CASES = 30
N_KEYS = 2 * N_CASES
INCOMPLETE = 3


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=120)
    assert "Traceback" not in err, err
    return process.returncode, out, err


def undisturbed(bench: Bench) -> object:
    """The result of a run with a cache of its own, on disk."""
    found = bench.result("grade")
    assert bench.server.n_requests == N_KEYS
    bench.forget()
    return found


def verify(bench: Bench, url: str) -> None:
    code, out, _ = ended(bench.judgekit("cache", "verify", "--cache", url))
    assert (code, out.split()[:2]) == (0, [str(N_KEYS), "valid"]), out


def test_four_processes_pay_for_each_call_once(tmp_path: Path, url: str) -> None:
    server, laying = serving(tmp_path, n_cases=N_CASES, latency_s=0.05)
    with server:
        bench = laying()
        expected = undisturbed(bench)
        processes = [bench.start("grade", "--cache", url) for _ in range(N_PROCESSES)]
        results = [ended(process) for process in processes]
        assert server.n_requests == 2 * N_KEYS
        assert [code for code, _, _ in results] == [0] * N_PROCESSES, results
        assert [essence(json.loads(out)) for _, out, _ in results] == [expected] * N_PROCESSES
        verify(bench, url)
        frozen = bench.start("grade", "--cache", url, "--frozen")
        assert essence(json.loads(ended(frozen)[1])) == expected
        assert server.n_requests == 2 * N_KEYS


def test_what_killed_processes_paid_for_is_not_paid_for_again(tmp_path: Path, url: str) -> None:
    rng = random.Random(5)
    n_kills = 0
    # Slow enough that processes are killed while others wait for what they are asking.
    server, laying = serving(tmp_path, n_cases=N_CASES, latency_s=0.5)
    with server:
        bench = laying()
        expected = undisturbed(bench)
        processes = [bench.start("grade", "--cache", url) for _ in range(N_PROCESSES)]
        for share in (0.1, 0.4, 0.7):
            at = N_KEYS + int(N_KEYS * (share + rng.uniform(0, 0.2)))
            while server.n_requests < at and None in [one.poll() for one in processes]:
                time.sleep(0.02)
            place = rng.randrange(N_PROCESSES)
            n_kills += processes[place].poll() is None
            processes[place].kill()
            processes[place].communicate()
            processes[place] = bench.start("grade", "--cache", url)
        results = [ended(process) for process in processes]
        assert n_kills > 0
        assert server.n_requests <= 2 * N_KEYS + n_kills * IN_FLIGHT
        assert [essence(json.loads(out)) for _, out, _ in results] == [expected] * N_PROCESSES
        verify(bench, url)


def test_nothing_that_was_paid_for_is_lost_with_the_server(
    tmp_path: Path, server: PostgresServer | RedisServer, url: str
) -> None:
    stopped = threading.Event()

    def script(request: ServedRequest) -> str:
        if request.number == N_KEYS + N_KEYS // 2:
            server.stop()
            stopped.set()
        return "ok"

    judge, laying = serving(tmp_path, script, n_cases=N_CASES, latency_s=0.05)
    with judge:
        bench = laying()
        expected = undisturbed(bench)
        process = bench.start("grade", "--cache", url)
        assert stopped.wait(60)
        code, _, err = ended(process)
        assert code == INCOMPLETE, err
        assert "cannot be reached" in err
        n_paid = judge.n_requests
        server.start()
        code, out, err = ended(bench.start("grade", "--cache", url))
        assert (code, essence(json.loads(out))) == (0, expected), err
        assert judge.n_requests == 2 * N_KEYS
        assert n_paid < 2 * N_KEYS
        assert not [*tmp_path.rglob("*.jsonl.*"), *tmp_path.rglob("emergency-*")]
        verify(bench, url)
