"""Runs on two nodes of a Ray cluster, with a cache in PostgreSQL and a judge on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.chaos.commands import IN_FLIGHT, Bench, essence, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.testing import ServedRequest
    from tests.integration.servers import PostgresServer

pytestmark = pytest.mark.timeout(900)
PYTHON = Path(__file__).parents[2] / ".venv" / "ray" / "bin" / "python"
N_CASES = 20
N_KEYS = 4 * N_CASES
INCOMPLETE, LIMIT, INTERRUPTED = 3, 5, 130
_LONGEST_S = 400


def environment() -> dict[str, str]:
    own = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled", "OPENAI_API_KEY": "k"}
    # Else Ray takes another address of this machine for loopback, where the nodes do not listen.
    own["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    return {**os.environ, **own, "NO_COLOR": "1", "COLUMNS": "100"}


@dataclass
class Nodes:
    """Two Ray nodes; see `ray_nodes`."""

    process: subprocess.Popen[str]
    address: str = ""

    def tell(self, command: str) -> list[int]:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        return [int(word) for word in self.line().split()]

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    if not PYTHON.exists():
        pytest.skip("NOT TESTED WITH RAY: make .venv/.ray")
    process = subprocess.Popen(
        [PYTHON, Path(__file__).with_name("ray_nodes.py")], env=environment(), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    nodes = Nodes(process)
    nodes.address = nodes.line()
    assert nodes.address, "the cluster does not start"
    yield nodes
    process.communicate(timeout=60)


def start(bench: Bench, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [PYTHON, "-m", "judgekit", "run", "-q", "--json", *arguments],
        cwd=bench.folder, env=environment(), text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def ended(process: subprocess.Popen[str]) -> tuple[int, Any, str]:
    out, err = process.communicate(timeout=_LONGEST_S)
    assert "Traceback" not in err, err
    assert not out or out.startswith("{"), out
    return process.returncode, essence(json.loads(out)) if out else None, err


def on(nodes: Nodes, cache: str, *more: str) -> tuple[str, ...]:
    return "--engine", f"ray://{nodes.address}", "--cache", cache, *more


@contextmanager
def undisturbed(folder: Path, latency_s: float = 0.5) -> Iterator[tuple[Bench, object]]:
    """A bench, and the result of one process with a cache and a store of its own."""
    server, laying = serving(folder, n_cases=N_CASES, latency_s=latency_s)
    with server:
        bench = laying()
        code, found, err = ended(start(bench))
        assert (code, server.n_requests) == (0, N_KEYS), err
        bench.forget()
        yield bench, found


def change(bench: Bench, **fields: Any) -> None:
    path = bench.folder / "judgekit.yaml"
    suite = json.loads(path.read_text(encoding="utf-8"))
    judge = {**suite["judge"], **fields.pop("judge", {})}
    path.write_text(json.dumps({**suite, **fields, "judge": judge}), encoding="utf-8")


def until(bench: Bench, n_requests: int) -> None:
    until_s = time.monotonic() + _LONGEST_S
    while bench.server.n_requests < n_requests:
        assert time.monotonic() < until_s, f"{bench.server.n_requests} of {n_requests} requests"
        time.sleep(0.02)


def test_two_nodes_reach_the_verdicts_of_one_process(
    tmp_path: Path, nodes: Nodes, postgres: PostgresServer
) -> None:
    url = postgres.new_url()
    with undisturbed(tmp_path) as (bench, expected):
        process = start(bench, *on(nodes, url, "--workers", "4"))
        until(bench, N_KEYS + 10)
        assert nodes.tell("count RemoteWorker") == [2, 2]
        code, found, err = ended(process)
        assert (code, found) == (0, expected), err
        assert bench.server.n_requests == 2 * N_KEYS
        again, found, err = ended(start(bench, *on(nodes, url, "--frozen")))
        assert (again, found) == (0, expected), err
        code, _, err = ended(start(bench, *on(nodes, "cache")))
        assert code == 2
        assert "the cluster has 2 nodes" in " ".join(err.split())
        assert bench.server.n_requests == 2 * N_KEYS


@pytest.mark.parametrize("what", ["kill RemoteWorker", "kill-node"])
def test_what_is_killed_costs_at_most_what_was_in_flight(
    tmp_path: Path, nodes: Nodes, postgres: PostgresServer, what: str
) -> None:
    url = postgres.new_url()
    with undisturbed(tmp_path) as (bench, expected):
        process = start(bench, *on(nodes, url, "--workers", "4"))
        until(bench, N_KEYS + N_KEYS // 3)
        assert nodes.tell(what) == [1]
        code, found, err = ended(process)
        if what == "kill-node":
            nodes.tell("add-node")
        assert (code, found) == (0, expected), err
        assert bench.server.n_requests <= 2 * N_KEYS + IN_FLIGHT
        before = bench.server.n_requests
        assert ended(start(bench, *on(nodes, url)))[:2] == (0, expected)
        assert bench.server.n_requests == before


def test_what_is_in_flight_in_any_worker_is_saved_when_the_cache_is_lost(
    tmp_path: Path, nodes: Nodes, postgres: PostgresServer
) -> None:
    url = postgres.new_url()
    with undisturbed(tmp_path, latency_s=1.0) as (bench, expected):
        process = start(bench, *on(nodes, url, "--workers", "4", "-j", "16"))
        until(bench, N_KEYS + N_KEYS // 3)
        postgres.stop()
        try:
            code, _, err = ended(process)
        finally:
            postgres.start()
        assert code == INCOMPLETE, err
        assert "did not take are saved in" in " ".join(err.split())
        code, found, err = ended(start(bench, *on(nodes, url, "--resume")))
        assert (code, found) == (0, expected), err
        assert bench.server.n_requests == 2 * N_KEYS


def test_without_the_shared_limits_the_run_stops_and_can_be_resumed(
    tmp_path: Path, nodes: Nodes, postgres: PostgresServer
) -> None:
    url = postgres.new_url()
    with undisturbed(tmp_path) as (bench, expected):
        process = start(bench, *on(nodes, url))
        until(bench, N_KEYS + N_KEYS // 3)
        assert nodes.tell("kill SharedLimits") == [1]
        code, _, err = ended(process)
        assert code == INCOMPLETE, err
        assert "holds the rate limits and the budget" in " ".join(err.split())
        assert bench.server.n_requests < 2 * N_KEYS
        code, found, err = ended(start(bench, *on(nodes, url, "--resume", "--retry-errors")))
        assert (code, found) == (0, expected), err
        assert bench.server.n_requests == 2 * N_KEYS


def test_workers_spend_no_more_than_the_limit_together(
    tmp_path: Path, nodes: Nodes, postgres: PostgresServer
) -> None:
    server, laying = serving(tmp_path, n_cases=N_CASES)
    limit_usd = 0.012
    with server:
        bench = laying()
        # A dollar for a million tokens.
        prices = {"openai/chaos": {"input_usd": 1.0, "output_usd": 1.0}}
        change(bench, judge={"max_tokens": 100}, prices=prices)
        limit = ("--max-cost", str(limit_usd))
        process = start(bench, *on(nodes, postgres.new_url(), "--workers", "4", *limit))
        out, err = process.communicate(timeout=_LONGEST_S)
        assert process.returncode == LIMIT, err
        assert 0 < server.n_requests < N_KEYS
        spent = sum(one["money"]["judges_usd"] for one in json.loads(out)["variants"])
        assert 0 < spent <= limit_usd


def test_the_rate_is_that_of_all_workers(
    tmp_path: Path, nodes: Nodes, postgres: PostgresServer
) -> None:
    times: list[float] = []

    def script(_: ServedRequest) -> str:
        times.append(time.monotonic())
        return "ok"

    server, laying = serving(tmp_path, script, n_cases=N_CASES)
    with server:
        bench = laying()
        per_second = 8
        change(bench, judge={"rpm": 60 * per_second})
        code, _, err = ended(start(bench, *on(nodes, postgres.new_url(), "--workers", "4")))
        assert (code, len(times)) == (0, N_KEYS), err
        # One second's worth may come at once.
        assert times[-1] - times[0] >= (N_KEYS - per_second) / per_second - 1


def test_ctrl_c_finishes_what_is_in_flight(
    tmp_path: Path, nodes: Nodes, postgres: PostgresServer
) -> None:
    url = postgres.new_url()
    with undisturbed(tmp_path) as (bench, expected):
        process = start(bench, *on(nodes, url, "-j", "4"))  # others are not begun then
        until(bench, N_KEYS + N_KEYS // 3)
        os.killpg(process.pid, signal.SIGINT)
        code, _, err = ended(process)
        assert code == INTERRUPTED, err
        assert N_KEYS // 3 <= bench.server.n_requests - N_KEYS < N_KEYS
        code, found, err = ended(start(bench, *on(nodes, url, "--resume")))
        assert (code, found) == (0, expected), err
        assert bench.server.n_requests == 2 * N_KEYS
