"""Holds the limits and the budget that several processes share, in one of them.

`SharedLimits` has the one `LimitedModel` of each endpoint and the one `Budget`, whose rules are
thus the same as in a single process. Each worker process has a `LimitsClient`, which asks it before
every attempt of a call; `judgekit.evaluation.remote` connects the two.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Protocol, TypeAlias

from judgekit.errors import BudgetExceededError, JudgekitError, ModelError
from judgekit.models.budget import Budget, Reservation
from judgekit.models.rate_limit import LimitedModel
from judgekit.models.request import ModelReply, ModelRequest, Subject
from judgekit.records import Usage

if TYPE_CHECKING:
    from judgekit.models.factory import Connection
    from judgekit.models.pricing import PriceTable
    from judgekit.models.rate_limit import CallId, CallLimits

Endpoint: TypeAlias = "tuple[str, str | None, CallLimits, int]"
"""A model, its address, its limits, and its number among those that are equal in all of that."""


class LostProcessError(JudgekitError):
    """A process that was asked has died, or cannot be reached any more."""


class ProcessHandle(Protocol):
    """An object in another process."""

    async def ask(self, method: str, *arguments: object) -> object:
        """Call a method and wait for what it returns; raises `LostProcessError`."""

    def tell(self, method: str, *arguments: object) -> None:
        """Call a method without waiting; calls of one caller are begun in their order."""

    def kill(self) -> None:
        """End the process at once."""


@dataclass(slots=True, eq=False)
class _Call:
    """A call of a worker: one that waits until it may be sent, or one that is sent."""

    answer: asyncio.Future[JudgekitError | None]
    """What the worker waits for: None where it may send the call, the error where it may not."""

    outcome: asyncio.Future[ModelReply] | None = None  # the result of the attempt that was sent
    task: asyncio.Task[None] | None = None


_CURRENT: ContextVar[_Call] = ContextVar("_CURRENT")


class _CallsOfWorkers:
    """The model inside of the shared limits: its calls are made by workers."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def complete(self, request: ModelRequest) -> ModelReply:  # noqa: ARG002 - the worker has it
        call = _CURRENT.get()
        call.outcome = asyncio.get_running_loop().create_future()
        call.answer.set_result(None)
        return await call.outcome


class SharedLimits:
    """The limits and the budget of all workers; every method runs in one event loop."""

    def __init__(self, limit_usd: float | None = None, spent_usd: float = 0.0) -> None:
        self._budget = Budget(0.0 if limit_usd is None else limit_usd)
        self._budget.spend(spent_usd)
        self._limited: dict[Endpoint, LimitedModel] = {}
        self._calls: dict[CallId, _Call] = {}
        self._reserved: dict[CallId, Reservation | None] = {}  # None: it waits for money
        self._lost: set[str] = set()
        self._refusal: ModelError | None = None

    async def begin(
        self, call_id: CallId, endpoint: Endpoint, case_id: str, n_tokens: int
    ) -> JudgekitError | None:
        """Wait until a call may be sent; the error where it may not."""
        if call_id[0] in self._lost:  # sent before the worker died, and arrived afterwards
            return _given_up()
        call = _Call(asyncio.get_running_loop().create_future())
        self._calls[call_id] = call
        call.task = asyncio.create_task(self._run(call, endpoint, case_id, n_tokens))
        try:
            return await call.answer
        finally:
            if call.outcome is None:
                self._calls.pop(call_id, None)

    async def failed(self, call_id: CallId, error: ModelError) -> JudgekitError | None:
        """Take an error of a call; wait until it may be sent again, or return why it may not."""
        call = self._calls[call_id]
        call.answer = asyncio.get_running_loop().create_future()
        if call.outcome is not None and not call.outcome.done():
            call.outcome.set_exception(error)
        return await call.answer

    async def ended(self, call_id: CallId, n_tokens: int | None) -> None:
        """Free the slot of a call; with its tokens where it succeeded."""
        call = self._calls.pop(call_id, None)
        if call is None or call.task is None:
            return
        if n_tokens is not None and call.outcome is not None:
            call.answer = asyncio.get_running_loop().create_future()
            call.outcome.set_result(ModelReply(text=None, usage=Usage(input_tokens=n_tokens)))
        else:
            call.task.cancel()

    async def reserve(self, call_id: CallId, amount_usd: float, what: str) -> object:
        """Set money aside for a call; what is spent so far, or the error if that is too much."""
        self._reserved[call_id] = None
        try:
            reserved = await self._budget.reserve(amount_usd, what)
        except BudgetExceededError as error:
            self._reserved.pop(call_id, None)
            return error
        # Whoever waited for it may be gone; nothing was sent then.
        if call_id not in self._reserved or call_id[0] in self._lost:
            self._reserved.pop(call_id, None)
            reserved.settle(0.0)
        else:
            self._reserved[call_id] = reserved
        return self._budget.spent_usd

    async def settle(self, call_id: CallId, cost_usd: float | None) -> None:
        """Count what a call cost; None is all that was set aside."""
        if (reserved := self._reserved.pop(call_id, None)) is not None:
            reserved.settle(cost_usd)

    async def spend(self, amount_usd: float) -> None:
        self._budget.spend(amount_usd)

    async def spent_usd(self) -> float:
        return self._budget.spent_usd

    async def refuse(self, error: ModelError) -> None:
        """Send no further call; those in flight are finished."""
        self._refusal = error
        for limited in self._limited.values():
            limited.refuse_calls(error)

    async def lose(self, worker: str) -> None:
        """Free what a dead worker holds; what it may have spent counts as spent."""
        self._lost.add(worker)
        for call_id in [one for one in self._calls if one[0] == worker]:
            await self.ended(call_id, None)
        for call_id in [one for one in self._reserved if one[0] == worker]:
            await self.settle(call_id, None)

    async def _run(self, call: _Call, endpoint: Endpoint, case_id: str, n_tokens: int) -> None:
        """Have one call sent within the limits, as often as they have it."""
        _CURRENT.set(call)
        # Counts as many tokens as the request of the worker, which is not needed here.
        subject = Subject.model_construct(case_id=case_id)
        request = ModelRequest.model_construct(
            model=endpoint[0], messages=(), parameters={"max_tokens": n_tokens}, subject=subject
        )
        answer: JudgekitError | None = _given_up()
        try:
            await self._limited_model(endpoint).complete(request)
            answer = None
        except JudgekitError as error:
            answer = error
        finally:
            if not call.answer.done():
                call.answer.set_result(answer)

    def _limited_model(self, endpoint: Endpoint) -> LimitedModel:
        if (known := self._limited.get(endpoint)) is not None:
            return known
        name, _, limits, _ = endpoint
        limited = self._limited[endpoint] = LimitedModel(
            _CallsOfWorkers(name),
            max_concurrency=limits.max_concurrency,
            rpm=limits.rpm,
            tpm=limits.tpm,
            max_retries=limits.max_retries,
            timeout_s=None,  # which the worker has
        )
        if self._refusal is not None:
            limited.refuse_calls(self._refusal)
        return limited


def _given_up() -> ModelError:
    return ModelError("the call was given up by the worker that made it", kind="cancelled")


class LimitsClient:
    """A worker's access to the `SharedLimits`, which are in a process of their own."""

    def __init__(self, shared: ProcessHandle, worker: str) -> None:
        self._shared, self._worker = shared, worker
        self._numbers = count()
        self._n_equal: Counter[object] = Counter()
        self.connections: list[Connection] = []

    def share(self, connection: Connection) -> None:
        """Have the calls of a model admitted by the shared limits."""
        self.connections.append(connection)
        if (limited := connection.limited) is not None:
            alike = (connection.name, connection.api_base, limited.limits)
            # Every process opens its models in the same order.
            limited.gate = _Gate(self, (*alike, self._n_equal[alike]))
            self._n_equal[alike] += 1

    def new_id(self) -> CallId:
        return self._worker, next(self._numbers)

    async def ask(self, method: str, *arguments: object) -> object:
        """Ask the shared limits; without them nothing is sent, as nobody holds rates and money."""
        try:
            answer = await self._shared.ask(method, *arguments)
        except LostProcessError as error:
            raise ModelError(
                "the process that holds the rate limits and the budget of all workers is gone, so "
                "no further call was made",
                kind="cancelled",
                hint="resume the run: what was paid for is cached",
            ) from error
        if isinstance(answer, JudgekitError):
            raise answer
        return answer

    def tell(self, method: str, *arguments: object) -> None:
        self._shared.tell(method, *arguments)


class _Gate:
    """The gate of one model: each attempt of a call passes it."""

    def __init__(self, client: LimitsClient, endpoint: Endpoint) -> None:
        self._client, self._endpoint = client, endpoint

    async def begin(self, case_id: str, n_tokens: int) -> CallId:
        call_id = self._client.new_id()
        try:
            await self._client.ask("begin", call_id, self._endpoint, case_id, n_tokens)
        except asyncio.CancelledError:
            self.ended(call_id, None)
            raise
        return call_id

    async def failed(self, call_id: CallId, error: ModelError) -> None:
        await self._client.ask("failed", call_id, error)

    def ended(self, call_id: CallId, n_tokens: int | None) -> None:
        self._client.tell("ended", call_id, n_tokens)


class SharedBudget(Budget):
    """A budget that another process holds."""

    def __init__(self, limit_usd: float, prices: PriceTable, client: LimitsClient) -> None:
        super().__init__(limit_usd, prices)
        self._client = client
        self._known_usd = 0.0

    @property
    def spent_usd(self) -> float:
        """What is known to be spent by all processes, in US dollars."""
        return self._known_usd

    async def reserve(self, amount_usd: float, what: str = "the next call") -> Reservation:
        call_id = self._client.new_id()
        try:
            known = await self._client.ask("reserve", call_id, amount_usd, what)
        except BudgetExceededError:
            self.is_exhausted = True
            raise
        except asyncio.CancelledError:
            self._client.tell("settle", call_id, 0.0)
            raise
        self._known_usd = float(str(known))
        return _SharedReservation(self._client, call_id)

    def spend(self, amount_usd: float) -> None:
        self._known_usd += amount_usd
        self._client.tell("spend", amount_usd)

    async def refresh(self) -> None:
        """Learn what all processes have spent."""
        self._known_usd = float(str(await self._client.ask("spent_usd")))


class _SharedReservation(Reservation):
    def __init__(self, client: LimitsClient, call_id: CallId) -> None:
        self._client, self._call_id = client, call_id

    def settle(self, cost_usd: float | None) -> None:
        self._client.tell("settle", self._call_id, cost_usd)


def open_budget(
    most_usd: float | None, prices: PriceTable, limits: LimitsClient | None
) -> Budget | None:
    """The budget of this process, or its access to the one that the limits have."""
    if most_usd is None:
        return None
    return Budget(most_usd, prices) if limits is None else SharedBudget(most_usd, prices, limits)
