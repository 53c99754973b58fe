"""Works on the answers of a run in other processes, which may be on other machines.

`WorkerPool` stands in the run's own process where an `AnswerWorker` otherwise does. It sends each
answer to a `RemoteWorker`, which runs the same `AnswerWorker` there, and stores what comes back.
What starts the processes is a `Cluster`: `judgekit.evaluation.ray_engine` has the one of Ray.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import warnings
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from traceback import format_exception
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeAlias, cast

from judgekit.errors import JudgekitError, ModelError, SettingsError, StoreError
from judgekit.evaluation.schedule import PART_WORDS, run_identity
from judgekit.evaluation.session import RecordedAnswers, open_suite
from judgekit.evaluation.worker import AnswerWorker, PartialAnswer
from judgekit.extras import missing_dependencies
from judgekit.models import (
    CachedModel,
    LimitsClient,
    LostProcessError,
    RecordedModel,
    SharedBudget,
    SharedLimits,
)
from judgekit.models.cache import CacheWarning
from judgekit.records import CaseSource, JudgeFailure
from judgekit.targets import GivenTarget, RecordedTarget

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from judgekit.datasets import Suite
    from judgekit.evaluation.judges import ExecutionOptions
    from judgekit.evaluation.schedule import WorkItem
    from judgekit.evaluation.session import Choice, OpenSuite
    from judgekit.evaluation.worker import ObservationWriter
    from judgekit.models import ProcessHandle
    from judgekit.records import CaseResult, HumanItem, ItemKey, Observation, Output

# What a worker reports: its kind, the number of what it is about, and the content.
_Event: TypeAlias = "tuple[Literal['keep', 'put', 'queue', 'result', 'error', 'counts'], int, Any]"
# After so many dead workers it is probably the answer that ends them.
_MOST_LOST = 3
# How long a run waits for a worker when it has none, in seconds.
_PATIENCE_S = 60.0
# How long the workers may take to start, in seconds: a node may have to be started for them.
_STARTING_S = 300.0
# How long the workers may take to close what they have open, in seconds.
_CLOSING_S = 5.0


class Cluster(Protocol):
    """Where worker processes are started."""

    @property
    def n_nodes(self) -> int:
        """Machines that the workers may be on."""

    @property
    def n_workers(self) -> int:
        """Workers to start."""

    def spawn(self, make: type[object], *arguments: object, is_near: bool) -> ProcessHandle:
        """Make an object in a process of its own; one that `is_near`, on this machine."""


OpenCluster: TypeAlias = Callable[[int], AbstractContextManager[Cluster]]
"""Opens a cluster for at most so many workers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSetup:
    """What a worker needs to open the suite as the run's own process has opened it."""

    suite: Suite
    choice: Choice
    execution: ExecutionOptions
    run_id: str
    recorded: tuple[str, ...]
    """Variants whose outputs the worker is given."""

    compares_variants: bool
    identity: dict[str, str]
    """What the run is made of, which must be the same for the worker."""

    folder: str = field(default_factory=os.getcwd)
    import_path: tuple[str, ...] = field(default_factory=lambda: tuple(sys.path))


class RemoteWorker:
    """Works on answers in its own process; every method runs in one event loop.

    Args:
        name: Name of the worker.
        limits: The `SharedLimits` of all workers.
    """

    def __init__(self, name: str, limits: ProcessHandle) -> None:
        self._limits = LimitsClient(limits, name)
        self._relay = _Relay()
        self._tasks: set[asyncio.Task[CaseResult]] = set()
        self._opened: OpenSuite | None = None
        self._answering: AnswerWorker | None = None

    # Not to the constructor: clusters keep its arguments, and a cache's address has a password.
    async def open(self, setup: WorkerSetup) -> tuple[str, ...] | JudgekitError:
        """Open the suite; the models whose key is missing here, or the error."""
        try:
            self._open(setup)
        except JudgekitError as error:
            return self._placed(error)
        return tuple(one.name for one in self._limits.connections if one.may_lack_key)

    async def check(self, called: Collection[str]) -> JudgekitError | None:
        """Why one of the models that will be called cannot be called from here."""
        try:
            for one in self._limits.connections:
                if one.name in called:
                    one.check()
        except JudgekitError as error:
            return self._placed(error)
        return None

    async def begin(
        self, number: int, item: WorkItem, known: CaseResult | None, output: Output | None
    ) -> None:
        """Begin an answer, of which `known` and `output` are known; its end is an event."""
        answering = cast("AnswerWorker", self._answering)
        if output is not None:
            answering.hold_output(item.key, output)
        task = asyncio.create_task(answering.answer(item, known))
        self._tasks.add(task)
        task.add_done_callback(partial(self._ended, number))

    async def events(self) -> list[_Event]:
        """Wait for what has happened since the last call."""
        events = await self._relay.take()
        limits = [one.limited for one in cast("OpenSuite", self._opened).judges.connections]
        return [
            *events,
            ("counts", 0, [(n.n_asked, n.n_answered) if n else (0, 0) for n in limits]),
        ]

    async def stored(self, number: int, error: JudgekitError | None) -> None:
        """Learn that an observation is on disk, or why it is not."""
        self._relay.stored(number, error)

    async def aclose(self, error: StoreError | None = None) -> list[str]:
        """Close; after an error once calls in flight have ended. Replies that were not cached."""
        models = [one.model for one in self._limits.connections]
        cached = [one for one in models if isinstance(one, CachedModel)]
        if error is not None:
            await asyncio.gather(*(one.finish_calls(error) for one in cached))
        if self._answering is not None:
            self._answering.close()
        if self._opened is not None:
            await self._opened.aclose()
        saved = {one.cache.rescue.path for one in cached if one.cache.rescue is not None}
        return [f"{path} on {socket.gethostname()}" for path in saved if path is not None]

    def _open(self, setup: WorkerSetup) -> None:
        try:
            os.chdir(setup.folder)  # which paths of the suite and of options are relative to
        except OSError as error:
            raise SettingsError(
                f"the folder {setup.folder} cannot be entered: {error.strerror}",
                hint="the suite and its files must have the same path on every node",
            ) from error
        sys.path += [path for path in setup.import_path if path not in sys.path]
        empty = CaseSource("", "", lambda: iter(()))
        recorded = RecordedAnswers(empty, {name: {} for name in setup.recorded}, has_gaps=False)
        opened = self._opened = open_suite(
            setup.suite, setup.choice, setup.execution, recorded=recorded, limits=self._limits
        )
        # Known only to whoever has read all cases.
        opened.plans.compares_variants = setup.compares_variants
        _require_same_suite(setup.identity, run_identity(opened, ""))
        if missing := missing_dependencies(opened.suite.settings.dependencies, opened.suite.folder):
            raise SettingsError(f"the suite needs {', '.join(missing)}", hint="install them here")
        self._answering = AnswerWorker(opened, self._relay, setup.run_id)

    def _placed(self, error: JudgekitError) -> JudgekitError:
        return SettingsError(
            f"a worker on {socket.gethostname()}: {error.message}", hint=error.hint
        )

    def _ended(self, number: int, task: asyncio.Task[CaseResult]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._relay.add("result", number, task.result())
        elif isinstance(error, JudgekitError):
            self._relay.add("error", number, error)
        else:  # of whatever class: it may not be known to the other process
            self._relay.add("error", number, RuntimeError("".join(format_exception(error))))


class _Relay:
    """Passes on the observations of a worker to the process that stores them."""

    def __init__(self) -> None:
        self._events: list[_Event] = []
        self._has_events = asyncio.Event()
        self._unstored: dict[int, asyncio.Future[None]] = {}
        self._numbers = count()

    def add(
        self, kind: Literal["keep", "put", "queue", "result", "error"], number: int, content: object
    ) -> None:
        self._events.append((kind, number, content))
        self._has_events.set()

    async def take(self) -> list[_Event]:
        await self._has_events.wait()
        self._has_events.clear()
        events, self._events = self._events, []
        return events

    async def keep_soon(self, observed: Observation) -> None:
        self.add_soon(observed)

    def add_soon(self, observed: Observation) -> None:
        self.add("keep", 0, observed)

    def put(self, observed: Observation) -> asyncio.Future[None]:
        return self._added("put", observed)

    async def queue_human_items(self, items: Sequence[HumanItem]) -> None:
        await self._added("queue", items)

    def stored(self, number: int, error: JudgekitError | None) -> None:
        waiting = self._unstored.pop(number)
        if waiting.done():
            return
        if error is None:
            waiting.set_result(None)
        else:
            waiting.set_exception(error)
            waiting.exception()  # the run ends with it, whoever awaits this

    def _added(self, kind: Literal["put", "queue"], content: object) -> asyncio.Future[None]:
        number, done = next(self._numbers), asyncio.get_running_loop().create_future()
        self._unstored[number] = done
        self.add(kind, number, content)
        return done


def _require_same_suite(wanted: dict[str, str], here: dict[str, str]) -> None:
    """Refuse files of another state, whose verdicts would be mixed with those of the others."""
    if wanted == here:
        return
    changed = [words for name, words in PART_WORDS.items() if wanted.get(name) != here.get(name)]
    raise SettingsError(
        f"the suite is another one there than where the run was started: {'; '.join(changed)}",
        hint="its files must be the same on every node, and judgekit of the same version",
    )


@dataclass(slots=True, eq=False)
class _PoolMember:
    """A worker as the run's own process sees it."""

    name: str
    handle: ProcessHandle
    answers: dict[int, asyncio.Future[CaseResult]] = field(default_factory=dict)
    counts: Sequence[tuple[int, int]] = ()


@dataclass(slots=True)
class RemoteEngine:
    """How the answers of a run are worked on by other processes.

    Attributes:
        connect: Opens a cluster for at most so many workers.
        find_called: Finds the models that the run will call.
    """

    connect: OpenCluster
    find_called: Callable[[], Awaitable[Collection[str]]]

    @asynccontextmanager
    async def workers(
        self, opened: OpenSuite, run_id: str, *, n_most: int
    ) -> AsyncIterator[WorkerPool]:
        """Start workers that have opened the suite and can call its models."""
        for judge in opened.judges.judges:
            if isinstance(judge.connection.model, RecordedModel):
                raise SettingsError(
                    f"{judge.connection.name} is a file of replies, which one process reads",
                    hint="omit --engine",
                )
        with self.connect(n_most) as cluster:
            if cluster.n_nodes > 1 and isinstance(opened.execution.cache, Path):
                raise SettingsError(
                    f"the cluster has {cluster.n_nodes} nodes, and the folder "
                    f"{opened.execution.cache} is a cache on one of them",
                    hint="name a cache that all of them reach: --cache postgresql://… or "
                    "redis://…; or --no-cache",
                )
            async with WorkerPool(cluster, opened, run_id) as pool:
                await pool.start(self.find_called)
                yield pool


class WorkerPool:
    """Has answers worked on by remote workers, and stores what they observe.

    The answers of a worker that dies go to others, with what is stored of them.
    """

    def __init__(self, cluster: Cluster, opened: OpenSuite, run_id: str) -> None:
        self._cluster, self._opened, self._run_id = cluster, opened, run_id
        files = (GivenTarget, RecordedTarget)
        self._recorded = {n: one for n, one in opened.targets.items() if isinstance(one, files)}
        self._setup = WorkerSetup(
            suite=opened.suite,
            choice=opened.choice,
            execution=opened.execution,
            run_id=run_id,
            recorded=tuple(self._recorded),
            compares_variants=opened.plans.compares_variants,
            identity=run_identity(opened, ""),
        )
        self._budget = budget = opened.budget
        most, spent = (None, 0.0) if budget is None else (budget.limit_usd, budget.spent_usd)
        self._limits = cluster.spawn(SharedLimits, most, spent, is_near=True)
        self._numbers, self._names = count(), count()
        self._members: list[_PoolMember] = []
        self._gone: list[_PoolMember] = []
        self._has_changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._failure: JudgekitError | None = None
        self._keeper: ObservationWriter | None = None
        self._find: Callable[[ItemKey], CaseResult | None] = lambda _: None

    async def start(self, find_called: Callable[[], Awaitable[Collection[str]]]) -> None:
        """Start the workers, and refuse the run if one of them could not do its part."""
        started = [self._new_member() for _ in range(self._cluster.n_workers)]
        try:
            async with asyncio.timeout(_STARTING_S):
                lacking = await asyncio.gather(*map(self._open, started))
        except TimeoutError as error:
            raise SettingsError(
                f"{len(started)} workers have not started within {_STARTING_S:g} s",
                hint="each takes a CPU of the cluster, which may be busy: lower --workers",
            ) from error
        # What is cached needs no key. Whether all of it is takes a plan.
        if any(lacking) and (called := await find_called()):
            found = [one.handle.ask("check", tuple(called)) for one in started]
            for refusal in await asyncio.gather(*found):
                if isinstance(refusal, JudgekitError):
                    raise refusal
        for one in started:
            self._join(one)

    def bound(
        self, keeper: ObservationWriter, find: Callable[[ItemKey], CaseResult | None]
    ) -> WorkerPool:
        """The pool, once it is known what stores observations and finds those that are stored."""
        self._keeper, self._find = keeper, find
        return self

    async def read_ahead(self, items: Sequence[WorkItem]) -> None:
        """Do nothing: the workers read the cache."""

    async def answer(self, item: WorkItem, known: CaseResult | None = None) -> CaseResult:
        """Have one answer worked on, by another worker if the first one dies."""
        output, why = None, f"{_MOST_LOST} workers died while they worked on it"
        if known is None and item.key.variant in self._recorded:
            output = await self._opened.answer(item.case, item.key)
        for _ in range(_MOST_LOST):
            member = await self._least_busy()
            if member is None:
                why = "no worker is left" if self._failure is None else self._failure.message
                break
            try:
                result = await self._answer_of(member, item, known, output)
            except LostProcessError:
                await cast("ObservationWriter", self._keeper).flush()
                known = self._find(item.key)
                if known is not None and known.is_done:
                    return known
                continue
            await self._refresh_budget()
            return result
        # Not asked, as where an endpoint is down: a resumed run begins here.
        unasked = PartialAnswer.of(item, known)
        failure = JudgeFailure(
            criterion="(answer)", kind="cancelled", message=f"{item.key.case_id}: {why}",
            case_id=item.key.case_id, variant=item.key.variant,
        )  # fmt: skip
        unasked.withheld.append(failure)
        return unasked.result(self._run_id)

    def refuse_calls(self, error: ModelError) -> None:
        """Have no further model called."""
        self._limits.tell("refuse", error)

    def close(self) -> None:
        """Do nothing: the end of the context closes the workers."""

    async def __aenter__(self) -> Self:
        if self._budget is not None:
            client = LimitsClient(self._limits, "run")
            own = self._budget
            self._opened.budget = SharedBudget(own.limit_usd, own.prices, client)
        return self

    async def settle_budget(self) -> None:
        """Count what was spent in the budget of this process, which is used again."""
        await self._refresh_budget()
        if self._budget is not None and isinstance(self._opened.budget, SharedBudget):
            spent_usd = self._opened.budget.spent_usd - self._budget.spent_usd
            self._budget.spend(max(0.0, spent_usd))
            self._opened.budget = self._budget

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        for task in self._tasks:
            task.cancel()
        failure = error if isinstance(error, StoreError) else None
        if failure is not None:  # calls in flight are paid for, and end first
            self.refuse_calls(ModelError(failure.message, kind="cancelled"))
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING_S if failure is None else None):
                closing = [one.handle.ask("aclose", failure) for one in self._members]
                for saved in await asyncio.gather(*closing, return_exceptions=True):
                    for place in saved if isinstance(saved, list) else ():
                        words = f"replies that the cache did not take are saved in {place}"
                        warnings.warn(words, CacheWarning, stacklevel=2)
        await self.settle_budget()
        for one in (*self._members, *self._gone):
            one.handle.kill()
        self._limits.kill()

    def _new_member(self) -> _PoolMember:
        name = f"worker {next(self._names)}"
        handle = self._cluster.spawn(RemoteWorker, name, self._limits, is_near=False)
        return _PoolMember(name, handle)

    async def _open(self, member: _PoolMember) -> tuple[str, ...]:
        found = await member.handle.ask("open", self._setup)
        if isinstance(found, JudgekitError):
            raise found
        return cast("tuple[str, ...]", found)

    def _join(self, member: _PoolMember) -> None:
        self._members.append(member)
        self._has_changed.set()
        task = asyncio.create_task(self._listen(member))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _listen(self, member: _PoolMember) -> None:
        error: JudgekitError | None = None
        while not isinstance(error, LostProcessError):
            try:
                for event in cast("list[_Event]", await member.handle.ask("events")):
                    await self._take(member, *event)
            except JudgekitError as raised:  # of the worker, or of the store
                error = raised
                for waiting in member.answers.values():
                    if not waiting.done():
                        waiting.set_exception(error)
        self._members.remove(member)
        self._gone.append(member)
        self._limits.tell("lose", member.name)
        member.handle.kill()
        member = self._new_member()  # in its place
        try:
            await self._open(member)
        except JudgekitError as error:
            self._failure = error
            self._gone.append(member)
        else:
            self._join(member)

    async def _take(self, member: _PoolMember, kind: str, number: int, content: Any) -> None:
        keeper = cast("ObservationWriter", self._keeper)
        if kind == "keep":
            await keeper.keep_soon(content)
        elif kind == "put":
            keeper.put(content).add_done_callback(
                lambda done: member.handle.tell("stored", number, done.exception())
            )
        elif kind == "queue":
            await keeper.queue_human_items(content)
            member.handle.tell("stored", number, None)
        elif kind == "counts":
            member.counts = content
            self._count_calls()
        elif number in member.answers:  # else whoever waited for it was cancelled
            waiting = member.answers[number]
            (waiting.set_result if kind == "result" else waiting.set_exception)(content)

    def _count_calls(self) -> None:
        every = [one.counts for one in (*self._members, *self._gone) if one.counts]
        for place, connection in enumerate(self._opened.judges.connections):
            if connection.limited is not None:
                connection.limited.n_asked = sum(counts[place][0] for counts in every)
                connection.limited.n_answered = sum(counts[place][1] for counts in every)

    async def _least_busy(self) -> _PoolMember | None:
        """The worker with the fewest answers; None where there was none for a while."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                while not self._members:
                    self._has_changed.clear()
                    await self._has_changed.wait()
        return min(self._members, key=lambda one: len(one.answers), default=None)

    async def _answer_of(
        self, member: _PoolMember, item: WorkItem, known: CaseResult | None, output: Output | None
    ) -> CaseResult:
        number, waiting = next(self._numbers), asyncio.get_running_loop().create_future()
        member.answers[number] = waiting
        member.handle.tell("begin", number, item, known, output)
        try:
            return cast("CaseResult", await waiting)
        finally:
            del member.answers[number]

    async def _refresh_budget(self) -> None:
        with suppress(ModelError):  # nobody can say it any more, and nothing more is spent
            if isinstance(self._opened.budget, SharedBudget):
                await self._opened.budget.refresh()
