"""Runs whose answers are worked on by other processes, which here are this one."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import SettingsError
from judgekit.evaluation import Session
from judgekit.evaluation.ray_engine import ray_cluster
from judgekit.models import LostProcessError, SharedLimits
from judgekit.testing import ChaosServer, ServedReply
from tests.chaos.commands import judged, lay_out
from tests.cli.commanding import runner
from tests.evaluation.processes import Process, Processes, run_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from judgekit.testing import ServedRequest

N_CASES = 6
N_CALLS = 4 * N_CASES
"""Two variants, two criteria."""


@pytest.fixture
def script() -> dict[str, Callable[[ServedRequest], ServedReply | str]]:
    """What the judge's endpoint does, where a test has it do anything."""
    return {}


@pytest.fixture
def server(
    script: dict[str, Callable[[ServedRequest], ServedReply | str]], monkeypatch: pytest.MonkeyPatch
) -> Iterator[ChaosServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "k")

    def answer(request: ServedRequest) -> ServedReply | str:
        return script["of"](request) if "of" in script else "ok"

    with ChaosServer(answer, reply=replied) as server:
        yield server


def replied(request: ServedRequest) -> str:
    """A verdict, or an answer where no form is wanted."""
    return judged(request) if "response_format" in request.body else "A plain answer."


@pytest.fixture
def folder(tmp_path: Path, server: ChaosServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    lay_out(tmp_path, server.url, n_cases=N_CASES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def change(folder: Path, **fields: Any) -> None:
    path = folder / "judgekit.yaml"
    suite = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**suite, **fields}), encoding="utf-8")


PRICES = {"openai/chaos": {"input_usd": 1.0, "output_usd": 1.0}}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"settings": {"repeats": 2}},
        {"settings": {"retry_failed": 1}, "assertions": [{"type": "contains", "value": "c1"}]},
        {"panel": {"combine": "cascade", "escalate_below": 0.9}, "twice": True},
        {"assertions": [{"type": "variants.best", "value": "Which is better?"}]},
        {"variants": [{"id": "p", "prompt": "answer.j2", "model": "openai/chaos"}]},
        {"variants": [{"id": "c", "command": ["python3", "-c", 'print(\'{"text": "One."}\')']}]},
    ],
    ids=["plain", "repeats", "retries", "cascade", "select-best", "prompt", "command"],
)
async def test_other_processes_reach_the_same_results(
    folder: Path, server: ChaosServer, fields: dict[str, Any]
) -> None:
    fields = {**fields}
    judge = {"model": "openai/chaos", "api_base": server.url}
    if fields.pop("twice", False):
        fields["judge"] = [judge, {**judge, "model": "openai/second"}]
    for variant in fields.get("variants", ()):
        (folder / "answer.j2").write_text("Answer: {{ input }}", encoding="utf-8")
        if "prompt" in variant:
            variant["api_base"] = server.url
    change(folder, **fields)
    here = await run_in(folder, cache=None)
    n_calls = server.n_requests
    there = await run_in(folder, Processes(3), cache=None)
    assert there.status == here.status == "complete"
    assert there.essence == here.essence
    assert server.n_requests == 2 * n_calls
    assert here.results


async def test_work_is_shared_and_each_key_is_paid_once(folder: Path, server: ChaosServer) -> None:
    processes = Processes(3)
    assert (await run_in(folder, processes)).status == "complete"
    assert server.n_requests == N_CALLS
    asked = [one.made._limits.connections[0].limited.n_asked for one in processes.workers]
    assert sum(asked) == N_CALLS
    assert min(asked) > 0
    assert (await run_in(folder, Processes(2), frozen=True)).status == "complete"


async def test_a_review_is_queued_as_in_one_process(folder: Path) -> None:
    ended = await run_in(folder, Processes(2), review=1.0)
    assert ended.status == "complete"


async def test_the_answers_of_a_killed_worker_go_to_others(
    folder: Path,
    server: ChaosServer,
    script: dict[str, Callable[[ServedRequest], ServedReply | str]],
) -> None:
    processes = Processes(2)
    killed = []

    def kill(request: ServedRequest) -> str:
        if request.number == N_CALLS // 2:
            worker = processes.workers[0]
            killed.append(worker)
            worker.kill_soon()
        return "ok"

    expected = (await run_in(folder, cache=None)).essence
    server_calls = server.n_requests
    script["of"] = lambda one: kill(_numbered(one, server_calls))
    ended = await run_in(folder, processes)
    assert killed
    assert (ended.status, ended.essence) == ("complete", expected)
    assert len(processes.workers) == 3  # one came in its place
    in_flight = 8
    assert N_CALLS <= server.n_requests - server_calls <= N_CALLS + in_flight


def _numbered(request: ServedRequest, before: int) -> ServedRequest:
    return type(request)(request.path, request.headers, request.body, request.number - before)


async def test_a_run_stops_when_no_worker_is_left(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: dict[str, Callable[[ServedRequest], ServedReply | str]],
) -> None:
    monkeypatch.setattr("judgekit.evaluation.remote._PATIENCE_S", 0.2)
    processes = Processes(1)

    def kill(_: ServedRequest) -> str:
        processes.has_room = False
        worker = processes.workers[0]
        worker.kill_soon()
        return "ok"

    script["of"] = kill
    ended = await run_in(folder, processes)
    assert (ended.status, ended.session.reason) == ("stopped", "model")
    assert "the process died" in str(ended.session.words())


async def test_without_the_shared_limits_nothing_more_is_sent(
    folder: Path,
    server: ChaosServer,
    script: dict[str, Callable[[ServedRequest], ServedReply | str]],
) -> None:
    change(folder, prices=PRICES)
    processes = Processes(2)

    def kill(request: ServedRequest) -> str:
        if request.number == 4:
            limits = processes.limits[0]
            limits.kill_soon()
        return "ok"

    script["of"] = kill
    ended = await run_in(folder, processes, max_cost_usd=100)
    assert ended.status in {"incomplete", "stopped"}, "by whether each answer was begun"
    assert ended.session.reason == "model"
    assert "holds the rate limits and the budget" in str(ended.session.words())
    assert 5 <= server.n_requests <= 5 + 8
    again = await run_in(folder, Processes(2))
    assert (again.status, server.n_requests) == ("complete", N_CALLS)


async def test_the_budget_is_one_for_all_workers(folder: Path, server: ChaosServer) -> None:
    change(folder, prices=PRICES)
    whole = await run_in(folder, Processes(3), max_cost_usd=100, cache=None)
    assert whole.status == "complete"
    assert whole.spent_usd > 0
    n_whole = server.n_requests
    half = await run_in(folder, Processes(3), max_cost_usd=whole.spent_usd / 2 + 0.01, cache=None)
    assert (half.status, half.session.reason) == ("stopped", "budget")
    assert 0 < half.spent_usd <= whole.spent_usd / 2 + 0.01
    assert server.n_requests - n_whole < N_CALLS


async def test_calls_in_flight_are_limited_over_all_workers(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    # Replies take a while, so that all the calls that may be in flight are.
    with ChaosServer(lambda _: "ok", reply=replied, latency_s=0.05) as server:
        await _run_with_two_in_flight(folder, server)
    # Without a common limit there would be two of each worker.
    assert 1 <= server.most_in_flight <= 2


async def _run_with_two_in_flight(folder: Path, server: ChaosServer) -> None:
    judge = {"model": "openai/chaos", "api_base": server.url, "max_concurrency": 2}
    change(folder, judge=judge)
    assert (await run_in(folder, Processes(4), cache=None)).status == "complete"


async def test_a_provider_that_asks_for_less_slows_every_worker(
    folder: Path,
    server: ChaosServer,
    script: dict[str, Callable[[ServedRequest], ServedReply | str]],
) -> None:
    script["of"] = lambda one: (
        ServedReply(status=429, headers={"retry-after": "0.01"}) if one.number < 4 else "ok"
    )
    processes = Processes(2)
    assert (await run_in(folder, processes)).status == "complete"
    assert server.n_requests == N_CALLS + 4
    (limited,) = processes.limits[0].made._limited.values()
    (slots,) = limited._loops.values()
    assert slots.n_sent_when_lowered > 0


async def test_time_that_is_over_ends_the_calls_of_workers(folder: Path) -> None:
    ended = await run_in(folder, Processes(2), session=Session(max_seconds=0.0), cache=None)
    assert (ended.status, ended.session.reason) == ("stopped", "time")


async def test_an_interrupt_ends_the_calls_of_workers(
    folder: Path,
    server: ChaosServer,
    script: dict[str, Callable[[ServedRequest], ServedReply | str]],
) -> None:
    session = Session(in_flight=1)
    loop = asyncio.get_running_loop()

    def interrupt(request: ServedRequest) -> str:
        if "response_format" in request.body:
            loop.call_soon_threadsafe(session.end, "interrupted")
        return "ok"

    script["of"] = interrupt
    judge = {"model": "openai/chaos", "api_base": server.url, "repeats": 9, "max_concurrency": 1}
    change(folder, judge=judge)
    ended = await run_in(folder, Processes(1), session=session)
    assert (ended.status, ended.session.reason) == ("interrupted", "interrupted")
    assert server.n_requests <= 3  # an answer, a judgment, and one that was about to be asked for


async def test_a_folder_is_no_cache_of_several_nodes(folder: Path, server: ChaosServer) -> None:
    with pytest.raises(SettingsError, match=r"the cluster has 2 nodes"):
        await run_in(folder, Processes(2, n_nodes=2))
    assert (await run_in(folder, Processes(2, n_nodes=2), cache=None)).status == "complete"
    assert server.n_requests == N_CALLS


async def test_recorded_replies_are_read_by_one_process(folder: Path) -> None:
    reply = {"case_id": "c0", "text": "{}"}
    (folder / "replies.jsonl").write_text(json.dumps(reply), encoding="utf-8")
    change(folder, judge="recorded:replies.jsonl")
    with pytest.raises(SettingsError, match="one process reads"):
        await run_in(folder, Processes(2))


async def test_a_worker_without_a_key_is_one_error(
    folder: Path, server: ChaosServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    change(folder, judge={"model": "openai/chaos"})
    with pytest.raises(SettingsError, match=r"a worker on .*: no API key for openai"):
        await run_in(folder, Processes(2), called=lambda: frozenset({"openai/chaos"}))
    assert server.n_requests == 0


async def test_a_worker_with_other_files_is_refused(folder: Path, server: ChaosServer) -> None:
    processes = Processes(2)
    spawn = processes.spawn

    def altered(make: type[object], *arguments: object, is_near: bool) -> Any:
        rubric = folder / "rubric.yaml"
        rubric.write_text(rubric.read_text(encoding="utf-8").replace("Is it", "Was it"), "utf-8")
        return spawn(make, *arguments, is_near=is_near)

    processes.spawn = altered  # type: ignore[method-assign]
    with pytest.raises(SettingsError, match=r"is another one there .*: the rubric"):
        await run_in(folder, processes)
    assert server.n_requests == 0


async def test_workers_that_do_not_start_are_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judgekit.evaluation.remote._STARTING_S", 0.05)

    class Busy(Processes):
        def spawn(self, make: type[object], *arguments: object, is_near: bool) -> Process:
            process = super().spawn(make, *arguments, is_near=is_near)
            if not is_near:
                monkeypatch.setattr(process, "ask", lambda *_: asyncio.sleep(60))
            return process

    with pytest.raises(SettingsError, match=r"2 workers have not started within"):
        await run_in(folder, Busy(2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engine", "dask"], "no engine is called 'dask'"),
        (["--engine", "ray://"], "no engine is called 'ray://'"),
        (["--workers", "2"], "--workers is for --engine ray"),
        (["--engine", "ray"], 'pip install "judgekit-llm[ray]"'),
    ],
)
def test_an_engine_that_cannot_be_used_is_refused_before_the_run(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    ran = runner(capsys)("run", str(folder / "judgekit.yaml"), *arguments)
    assert ran.code == 2
    assert message in " ".join((ran.out + ran.err).split())


def test_a_batch_is_sent_by_one_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("judgekit.cli.setup.require_package", lambda *_: None)
    ran = runner(capsys)("run", str(folder / "judgekit.yaml"), "--engine", "ray", "--batch")
    assert ran.code == 2
    assert "--batch and --engine contradict each other" in ran.err


class FakeRay(ModuleType):
    """As much of Ray as starts actors; its actors are objects of this process."""

    def __init__(self) -> None:
        super().__init__("ray")
        self.started: dict[str, object] = {}
        self.options: list[dict[str, object]] = []
        self.is_shut = False

    def init(self, **settings: object) -> None:
        self.started = settings
        signal.signal(signal.SIGTERM, lambda *_: None)

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": {"CPU": 3.0}}, {"Alive": False, "Resources": {}}]

    def shutdown(self) -> None:
        self.is_shut = True

    def get_runtime_context(self) -> FakeRay:
        return self

    def get_node_id(self) -> str:
        return "node"

    def kill(self, actor: Any) -> None:
        actor.kill()

    def remote(self, make: type[object]) -> Any:
        def options(**settings: object) -> Any:
            self.options.append(settings)
            return SimpleNamespace(remote=lambda *arguments: _Actor(make(*arguments)))

        return SimpleNamespace(options=options)


class _Actor(Process):
    def __getattr__(self, method: str) -> Any:
        async def ended(task: asyncio.Task[Any]) -> object:
            death = asyncio.ensure_future(self._died.wait())
            await asyncio.wait({task, death}, return_when=asyncio.FIRST_COMPLETED)
            death.cancel()
            if self.is_dead:
                raise _RayError("the actor died")
            return task.result()

        def remote(*arguments: object) -> asyncio.Task[Any]:
            return asyncio.ensure_future(ended(self._begin(method, arguments)))

        return SimpleNamespace(remote=remote)


class _RayError(Exception):
    pass


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    ray = FakeRay()
    strategies = SimpleNamespace(NodeAffinitySchedulingStrategy=lambda node, soft: (node, soft))
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setitem(sys.modules, "ray.exceptions", SimpleNamespace(RayError=_RayError))
    monkeypatch.setitem(sys.modules, "ray.util.scheduling_strategies", strategies)
    monkeypatch.setitem(sys.modules, "ray.util", ModuleType("ray.util"))
    monkeypatch.setattr("judgekit.evaluation.ray_engine.require_package", lambda *_: None)
    return ray


async def test_ray_on_this_machine_listens_on_loopback_and_ends(ray: FakeRay) -> None:
    handler = signal.getsignal(signal.SIGTERM)
    with ray_cluster(None, 2, 8) as cluster:
        assert (cluster.n_nodes, cluster.n_workers) == (1, 2)
        assert ray.started["_node_ip_address"] == "127.0.0.1"
        assert ray.started["include_dashboard"] is False
        assert signal.getsignal(signal.SIGTERM) is handler
        limits = cluster.spawn(SharedLimits, 1.0, 0.25, is_near=True)
        assert await limits.ask("spent_usd") == 0.25
        limits.tell("spend", 0.5)
        assert await limits.ask("spent_usd") == 0.75
        limits.kill()
        with pytest.raises(LostProcessError, match="the actor died"):
            await limits.ask("spent_usd")
    assert ray.is_shut
    assert ray.options[0]["scheduling_strategy"] == ("node", False)
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


def test_a_cluster_has_a_worker_for_each_cpu(ray: FakeRay) -> None:
    with ray_cluster("auto", None, 8) as cluster:
        assert (ray.started["address"], cluster.n_workers) == ("auto", 3)


def test_an_address_where_nobody_listens_is_an_error(ray: FakeRay) -> None:
    with (
        pytest.raises(SettingsError, match=r"Ray cannot be used: .*refused"),
        ray_cluster("127.0.0.1:1", None, 8),
    ):
        pass
    assert ray.started == {}
