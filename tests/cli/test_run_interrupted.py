"""Ctrl-C and kill -9 in processes of their own: what was paid for is kept, and runs go on."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.fingerprint import canonical_json
from judgekit.report.exports import result_line
from judgekit.store import RunStore
from tests.cli.interrupting import CtrlC
from tests.evaluation.suites import lay_suite
from tests.factories import reply
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from judgekit.records import CaseResult, RunInfo
    from judgekit.testing import ServedReply, ServedRequest
    from tests.cli.commanding import Run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to send")

N_CASES = 8
N_CALLS = N_CASES * (1 + 3 * 2)
"""The prompt of one variant, and two criteria of three."""

IN_FLIGHT = 4
CALLS_IN_FLIGHT = IN_FLIGHT * 2
"""Each of the answers in work has the questions of two criteria out."""

AGENT = """\
import json, sys
case = json.load(sys.stdin)
print(json.dumps({"text": f"by program: {case['input']}"}))
"""
SLEEPER = """\
import os, pathlib, time
pathlib.Path(f"begun-{os.getpid()}").touch()
time.sleep(3600)
"""
_PASSING = {"run_id", "ran_at", "judged_at", "duration_ms", "cached", "cost_usd"}


def answers(seen: ServedRequest) -> ServedReply:
    """The model of the prompt, and the judge."""
    asked = seen.body["messages"][-1]["content"]
    return ok(f"by model: {asked[5:]}" if asked.startswith("ASK: ") else reply(len(asked) % 5 + 1))


def lay_out(folder: Path, server: OpenAILikeServer) -> Path:
    """Three variants, of each kind one, and a model that judges them."""
    model = {"model": "openai/m", "api_base": server.url}
    path = lay_suite(
        folder,
        n=N_CASES,
        judge={**model, "max_retries": 0},
        rubric="rubric.yaml",
        assertions=[{"type": "contains", "value": "by"}],
        variants=[
            {"id": "v1", "outputs": "v1.jsonl"},
            {"id": "v2", "command": [sys.executable, "agent.py"]},
            {"id": "v3", "prompt": "ask.j2", **model},
        ],
    )
    (folder / "agent.py").write_text(AGENT, encoding="utf-8")
    (folder / "ask.j2").write_text("ASK: {{ input }}", encoding="utf-8")
    return path


def wait_for(happened: Callable[[], bool], timeout_s: float = 120) -> None:
    end = time.monotonic() + timeout_s
    while not happened():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)


@contextmanager
def running(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """`judgekit run` in a process of its own."""
    command = [sys.executable, "-m", "judgekit", "run", "-j", str(IN_FLIGHT), *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def stored(folder: Path) -> tuple[RunInfo, list[CaseResult]]:
    store = RunStore(folder / ".judgekit" / "judgekit.db")
    try:
        run = store.run()
        return run, list(store.results(run.id))
    finally:
        store.close()


def lasting(value: Any) -> Any:
    """What of an exported line does not hang on when it was made."""
    if isinstance(value, dict):
        return {name: lasting(item) for name, item in value.items() if name not in _PASSING}
    return [lasting(item) for item in value] if isinstance(value, list) else value


def exported(results: list[CaseResult]) -> list[Any]:
    return [lasting(json.loads(result_line(result))) for result in results]


def repeats(requests: list[ServedRequest]) -> int:
    """How many requests were sent more than once."""
    counted = Counter(canonical_json(seen.body) for seen in requests)
    return sum(n - 1 for n in counted.values())


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("cache", "n_kills"), [([], 2), (["--no-cache"], 1)], ids=["cache", "no-cache"]
)
def test_a_run_that_is_killed_again_and_again_loses_nothing(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, cache: list[str], n_kills: int
) -> None:
    rng = random.Random(len(cache))
    with OpenAILikeServer(answers, latency_s=0.02) as server:
        lay_out(tmp_path, server)
        before = 0
        for kill in range(n_kills):
            resume = ["--resume"] if kill else []
            with running(tmp_path, *cache, *resume) as process:
                wanted = before + rng.randrange(3, 16)
                wait_for(lambda: server.n_requests >= wanted)  # noqa: B023 - called at once
                time.sleep(rng.uniform(0, 0.04))
                process.kill()
                process.wait()
            before = server.n_requests
            kept, early = stored(tmp_path)
            assert kept.status == "running"
        ran = run("run", *cache, "--resume", "-q")
        kept, late = stored(tmp_path)
        assert (ran.code, kept.status) == (0, "complete")
        assert repeats(server.requests) <= n_kills * CALLS_IN_FLIGHT
        assert server.n_requests <= N_CALLS + n_kills * CALLS_IN_FLIGHT
        said = {one.model_dump_json() for result in late for one in result.judgments}
        known = [one.model_dump_json() for result in early for one in result.judgments]
        assert said.issuperset(known)
        lay_out(tmp_path / "undisturbed", server)
        monkeypatch.chdir(tmp_path / "undisturbed")
        assert run("run", *cache, "-q").code == 0
    assert exported(late) == exported(stored(tmp_path / "undisturbed")[1])


QUICK = 10
"""So many requests are answered at once; those after them when the test says so."""


def held_after_some(seen: ServedRequest) -> ServedReply:
    return replace(answers(seen), is_held=seen.number >= QUICK)


def interrupt(process: subprocess.Popen[str]) -> None:
    """Press Ctrl-C, and wait until it was heard."""
    stderr = process.stderr
    assert stderr is not None
    process.send_signal(signal.SIGINT)
    wait_for(lambda: "finishing the answers in progress" in stderr.readline())


def test_the_first_interrupt_finishes_what_is_in_flight_and_says_how_to_go_on(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ctrl_c = CtrlC(monkeypatch)

    def interrupts(seen: ServedRequest) -> ServedReply:
        if seen.number == QUICK:
            ctrl_c.press_and_wait()
        return answers(seen)

    with OpenAILikeServer(interrupts) as server:
        lay_out(tmp_path, server)
        ran = run("run", "-j", IN_FLIGHT)
        kept, results = stored(tmp_path)
        n_asked = server.n_requests
        assert (ran.code, kept.status) == (130, "interrupted")
        command = ran.err.partition("Resume with: ")[2].split()
        assert command[:2] == ["judgekit", "run"]
        assert command[-2:] == ["--resume", kept.id]
        assert f"{kept.id} (interrupted: interrupted by the user)" in ran.out
        assert "of 8 cases answered; the figures cover only these" in ran.out
        assert all(result.is_done for result in results)
        assert len(results) < 3 * N_CASES
        said = sum(len(result.judgments) for result in results)
        assert said + sum(result.variant == "v3" for result in results) == n_asked
        assert run("run", "--resume", "-q").code == 0
        assert server.n_requests == N_CALLS


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_second_interrupt_ends_at_once_also_the_programs_that_were_asked(
    tmp_path: Path,
) -> None:
    variants = [{"id": "v2", "command": [sys.executable, "sleeper.py"]}]
    lay_suite(tmp_path, n=9, variants=variants)
    (tmp_path / "sleeper.py").write_text(SLEEPER, encoding="utf-8")
    with running(tmp_path) as process:
        wait_for(lambda: len(list(tmp_path.glob("begun-*"))) == IN_FLIGHT)
        interrupt(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert "stopped at once; every answer so far is stored. Resume with: judgekit run" in err
    assert "Traceback" not in err
    pids = [int(path.name.partition("-")[2]) for path in tmp_path.glob("begun-*")]
    assert not any(is_running(pid) for pid in pids)
    assert stored(tmp_path)[0].status == "interrupted"


def test_two_sittings_of_one_run_at_a_time_are_refused(tmp_path: Path, run: Run) -> None:
    with OpenAILikeServer(held_after_some) as server:
        lay_out(tmp_path, server)
        with running(tmp_path) as process:
            wait_for(lambda: server.n_requests > QUICK)
            ran = run("run", "--resume")
            assert (ran.code, process.poll()) == (2, None)
            assert f"is still running in process {process.pid}" in ran.err
