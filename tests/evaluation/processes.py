"""Processes of a run that are all this one, with everything pickled that passes between them."""

from __future__ import annotations

import asyncio
import pickle  # noqa: TID251 - as what passes between processes is
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.evaluation import (
    Choice,
    ExecutionOptions,
    RemoteEngine,
    Session,
    open_suite,
    prepare_run,
    run_suite,
)
from judgekit.evaluation.remote import RemoteWorker
from judgekit.models import LostProcessError, SharedLimits
from judgekit.store import temporary_store
from tests.chaos.commands import essence
from tests.evaluation.suites import NOW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PROCESSES: dict[int, Process] = {}


def _process(number: int) -> Process:
    return _PROCESSES[number]


def passed(content: Any) -> Any:
    """What arrives in another process."""
    return pickle.loads(pickle.dumps(content))  # noqa: S301 - what the line has written


class Process:
    """An object that can be asked, and killed."""

    def __init__(self, made: Any) -> None:
        self.made = made
        self.is_dead = False
        self._loop = asyncio.get_running_loop()
        self._died = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._number = len(_PROCESSES)
        _PROCESSES[self._number] = self

    def __reduce__(self) -> tuple[object, ...]:
        return _process, (self._number,)

    async def ask(self, method: str, *arguments: object) -> object:
        task, death = self._begin(method, arguments), asyncio.ensure_future(self._died.wait())
        await asyncio.wait({task, death}, return_when=asyncio.FIRST_COMPLETED)
        death.cancel()
        if self.is_dead:
            raise LostProcessError("the process died")
        return passed(task.result())

    def tell(self, method: str, *arguments: object) -> None:
        self._begin(method, arguments)

    def kill_soon(self) -> None:
        """Kill it from another thread."""
        self._loop.call_soon_threadsafe(self.kill)

    def kill(self) -> None:
        self.is_dead = True
        self._died.set()
        for task in (*self._tasks, *getattr(self.made, "_tasks", ())):
            task.cancel()
        if isinstance(self.made, RemoteWorker):
            self.made._relay.add = lambda *_: None  # type: ignore[method-assign]  # nothing leaves it

    def _begin(self, method: str, arguments: tuple[object, ...]) -> asyncio.Task[Any]:
        copied = passed(arguments)
        task = asyncio.create_task(self._run(method, copied))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _run(self, method: str, arguments: tuple[object, ...]) -> object:
        return None if self.is_dead else await getattr(self.made, method)(*arguments)


class Processes:
    """A cluster whose processes are objects of this one."""

    def __init__(self, n_workers: int = 2, n_nodes: int = 1) -> None:
        self.n_workers, self.n_nodes = n_workers, n_nodes
        self.workers: list[Process] = []
        self.limits: list[Process] = []
        self.has_room = True

    @contextmanager
    def connect(self, n_most: int) -> Iterator[Processes]:
        self.n_workers = min(self.n_workers, n_most)
        yield self

    def spawn(self, make: type[object], *arguments: object, is_near: bool) -> Process:
        process = Process(make(*passed(arguments)))
        kind = self.limits if make is SharedLimits else self.workers
        kind.append(process)
        assert is_near is (make is SharedLimits)
        if not self.has_room:
            process.kill()
        return process


class Ended:
    """A run that has ended: its record, its session, and its results as JSON."""

    def __init__(self, info: Any, session: Session, results: list[Any], spent_usd: float) -> None:
        self.status, self.session, self.spent_usd = info.status, session, spent_usd
        self.results = [one.to_json() for one in results]
        self.essence = essence(self.results)


async def run_in(
    folder: Path,
    processes: Processes | None = None,
    *,
    session: Session | None = None,
    called: Callable[[], frozenset[str]] = frozenset,
    **execution: Any,
) -> Ended:
    """Run the suite of a folder, in these processes or in this one."""

    async def find_called() -> frozenset[str]:
        return called()

    session = session or Session()
    execution.setdefault("cache", folder / "cache")
    path = folder / "judgekit.yaml"
    opened = open_suite(path, Choice(), ExecutionOptions(**execution))
    try:
        with temporary_store() as store:
            info = prepare_run(opened, store, None, now=NOW)
            engine = None if processes is None else RemoteEngine(processes.connect, find_called)
            ended = await run_suite(opened, store, info, session, engine=engine)
            spent = 0.0 if opened.budget is None else opened.budget.spent_usd
            return Ended(ended, session, list(store.results(ended.id)), spent)
    finally:
        await opened.aclose()
