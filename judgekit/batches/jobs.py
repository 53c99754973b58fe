"""Submits requests as batches, asks how far they are, and brings their replies into the cache.

A reply is cached under the key that a call would have, so that any later run is answered by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from judgekit.batches.providers import MOST_BYTES, MOST_REQUESTS, open_batches
from judgekit.batches.records import BatchRecord, BatchRequest, RefusedRequest
from judgekit.errors import BudgetExceededError, JudgekitError, ModelError, SettingsError
from judgekit.models.budget import Budget, BudgetedModel
from judgekit.models.cache import CacheEntry, is_servable
from judgekit.models.error_mapping import ProviderFault, redact
from judgekit.models.pricing import (
    BATCH_PRICE_SHARE,
    BATCH_PROVIDERS,
    ModelPrice,
    PriceTable,
    can_batch,
    check_images,
)

if TYPE_CHECKING:
    from judgekit.batches.providers import ProviderBatches
    from judgekit.batches.records import BatchFolder
    from judgekit.models.cache import ReplyCache
    from judgekit.models.request import ModelReply, ModelRequest

_STORED_AT_ONCE = 500
_CHARACTERS_PER_TOKEN = 4
_LONGEST_REASON = 300


@dataclass(frozen=True, slots=True)
class Submission:
    """What was submitted."""

    sent: tuple[BatchRecord, ...]
    waiting: tuple[BatchRecord, ...]
    """Earlier batches that some of the requests are in already, or may be."""

    n_waiting: int
    most_usd: float
    """What all of the requests cost at most, where there is a limit; else 0."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


async def submit_requests(
    folder: BatchFolder,
    requests: Mapping[str, ModelRequest],
    *,
    cache: ReplyCache,
    prices: PriceTable,
    max_cost_usd: float | None = None,
    now: Callable[[], datetime] = _utc_now,
    most_requests: int = MOST_REQUESTS,
    most_bytes: int = MOST_BYTES,
) -> Submission:
    """Send what no open batch holds, and finish the interrupted submissions of these requests."""
    refuse_other_requests(requests.values(), prices)
    with folder.lock():
        # What another process has collected since these were found to be missing is not sent.
        stored = cache.get_many([*requests])
        requests = {
            key: one
            for key, one in requests.items()
            if key not in stored and not (cache.has_rejected(key) and cache.rejected(key))
        }
        async with _Clients() as clients:
            tried = await _find_interrupted(folder, clients, requests)
            pending = folder.pending_keys()
            ordered = sorted(requests.values(), key=_endpoint)
            groups = [
                _Group(clients, folder, list(own), prices, max_cost_usd)
                for _, own in groupby(ordered, _endpoint)
            ]
            most_usd = _check_limit(groups, max_cost_usd)
            for group in groups:
                for own in _parts(group.new(pending), group.client, most_requests, most_bytes):
                    record = BatchRecord(
                        name=f"judgekit-{token_hex(8)}",
                        model=group.model,
                        api_base=group.api_base,
                        created_at=now().isoformat(),
                        n_requests=len(own),
                        most_usd=None if most_usd is None else sum(most_usd[r.key] for r in own),
                    )
                    # All are written before the first is sent: what is not submitted after an
                    # interruption is found here.
                    tried.append(folder.write(record, own))
            tried = await _send(folder, clients, tried)
    earlier = [pending[key] for key in requests if key in pending]
    # As they are now.
    fresh = {one.name: one for one in tried}
    unsure = [one for one in tried if one.is_interrupted]
    waiting = {one.name: fresh.get(one.name, one) for one in (*earlier, *unsure)}
    sent = tuple(one for one in tried if not one.is_interrupted)
    total = sum((most_usd or {}).values())
    return Submission(sent, tuple(waiting.values()), len(earlier), total)


async def _find_interrupted(
    folder: BatchFolder, clients: _Clients, requests: Mapping[str, ModelRequest]
) -> list[BatchRecord]:
    """The interrupted submissions of some of these requests, looked for at their providers."""
    found = []
    for record in folder.records():
        keys = {*folder.keys(record)} if record.is_interrupted else set[str]()
        # Others are left alone: nobody wants their requests at the moment, or the limit of money
        # has not room for them.
        if keys.isdisjoint(requests):
            continue
        if record.state == "sending":
            record = await clients.of(record).find(record, folder)  # noqa: PLW2901
        if record.is_interrupted and not (record.candidates or keys <= requests.keys()):
            # It was not sent. What is still wanted of it goes into a new batch.
            folder.save(record, state="collected", status="cancelled")
        else:
            found.append(record)
    return found


async def _send(
    folder: BatchFolder, clients: _Clients, records: Sequence[BatchRecord]
) -> list[BatchRecord]:
    """Send what is not at its provider, and may not be."""
    tried: list[BatchRecord] = []
    for record in records:
        if record.is_interrupted and not record.candidates:
            try:
                record = await clients.of(record).submit(record, folder)  # noqa: PLW2901
            except ModelError as error:
                if sent := ", ".join(one.batch_id for one in tried if one.batch_id):
                    error.message += f"; sent before it: {sent}"
                what = error.hint if error.kind != "rate_limited" else None
                error.hint = (
                    f"{what or 'try again later'}; the same submission sends what is left, and "
                    f"`judgekit batch cancel {record.name}` gives it up"
                )
                raise
        tried.append(record)
    return tried


async def refresh_batches(
    folder: BatchFolder,
    name: str | None = None,
    *,
    cache: ReplyCache | None = None,
    now: Callable[[], datetime] = _utc_now,
) -> tuple[list[BatchRecord], list[JudgekitError]]:
    """Ask how far batches are, the named one or all; a cache gets the replies of those that ended.

    Of those that could not be asked or read there is an error as well.
    """
    if name is None and not folder.path.is_dir():
        return [], []  # without leaving a folder behind
    found: list[BatchRecord] = []
    errors: list[JudgekitError] = []
    # Under the lock: a second process would store rejected replies a second time.
    with folder.lock():
        async with _Clients() as clients:
            for record in [folder.record(name)] if name is not None else folder.records():
                if cache is not None and name is None and not record.is_open:
                    continue  # it was collected before
                try:
                    if record.state == "submitted":
                        record = await clients.of(record).refresh(record, folder)  # noqa: PLW2901
                    if record.state == "ended" and cache is not None:
                        record = await _collect(clients.of(record), record, folder, cache, now())  # noqa: PLW2901
                except JudgekitError as error:
                    # A provider that is down keeps nobody from the replies of another, which may
                    # not be kept there for long.
                    error.message = f"{record.name}: {error.message}"
                    errors.append(error)
                found.append(record)
    return found, errors


async def cancel_batch(folder: BatchFolder, name: str) -> BatchRecord:
    """Cancel a batch; the replies that it has by then can be collected."""
    with folder.lock():
        async with _Clients() as clients:
            record = folder.record(name)
            client = clients.of(record)
            if record.state == "sending":
                # An interrupted submission may have reached the provider all the same.
                record = await client.find(record, folder)
            if record.candidates:
                raise SettingsError(
                    f"{record.name} may be {' or '.join(record.candidates)}, or none of them",
                    hint="say which first: judgekit batch status NAME --sent-as ID, or --not-sent",
                )
            if record.state == "submitted":
                record = await client.refresh(record, folder)  # one that has ended is collected
            if record.state == "submitted":
                return await client.cancel(record, folder)
            if record.is_interrupted:
                return folder.save(record, state="collected", status="cancelled")
            return record


async def settle_submission(folder: BatchFolder, name: str, batch_id: str | None) -> BatchRecord:
    """Record what the user knows of an interrupted submission: the id of its batch, or no batch.

    Raises:
        SettingsError: If that is not open, or the batch is none of its candidates, or not gone.
    """
    with folder.lock():
        async with _Clients() as clients:
            record = folder.record(name)
            client = clients.of(record)
            is_known = bool(record.candidates) and batch_id in {None, *record.candidates}
            if not (is_known or (batch_id is None and await client.is_gone(record))):
                raise SettingsError(
                    f"{record.name} may be "
                    f"{' or '.join(record.candidates) or 'no batch that is known'}"
                    f"{f', not {batch_id}' if batch_id else ''}",
                    hint="`judgekit batch submit` looks for the batches that may be it",
                )
            if batch_id is None:
                return folder.save(record, state="written", candidates=(), batch_id=None)
            sent = {"state": "submitted", "batch_id": batch_id, "candidates": ()}
            return await client.refresh(record.model_copy(update=sent), folder)


def refuse_other_requests(requests: Iterable[ModelRequest], prices: PriceTable) -> None:
    """Refuse requests of which no batch can be made."""
    for request in requests:
        check_images(request, prices)
        if not can_batch(request.model):
            raise SettingsError(
                f"{request.model} cannot be called in batches: only {_CALLABLE} can",
                hint="run it without --batch",
            )
        if "encoding_format" in request.parameters:
            raise SettingsError(
                f"embeddings ({request.model}) cannot be fetched in batches",
                hint="run it without --batch once, which caches them, or leave out the check",
            )


_CALLABLE = ", ".join(f"{one}/NAME" for one in BATCH_PROVIDERS)


class _Clients(AsyncExitStack):
    """One client for each endpoint."""

    def __init__(self) -> None:
        super().__init__()
        self._opened: dict[tuple[str, str], ProviderBatches] = {}

    def of(self, one: BatchRecord | ModelRequest) -> ProviderBatches:
        endpoint = _endpoint(one)
        if endpoint not in self._opened:
            client = open_batches(one.model, api_base=one.api_base)
            if client.check is not None:
                client.check()
            self.push_async_callback(client.aclose)
            self._opened[endpoint] = client
        return self._opened[endpoint]


class _Group:
    """The requests to one model: a batch has one only."""

    def __init__(
        self,
        clients: _Clients,
        folder: BatchFolder,
        requests: Sequence[ModelRequest],
        prices: PriceTable,
        max_cost_usd: float | None,
    ) -> None:
        self.requests = requests
        self.model, self.api_base = requests[0].model, requests[0].api_base
        self.client = clients.of(requests[0])
        # Before anything is written: a request that is refused takes no other with it.
        for request in requests:
            self.client.messages(request)
        self._prices = _BatchPrices(prices)
        self._bounded: BudgetedModel | None = None
        if max_cost_usd is not None:
            self._bounded = BudgetedModel(
                self.client.model, Budget(max_cost_usd, self._prices), api_base=self.api_base
            )
        for record in folder.records():
            if _endpoint(record) == _endpoint(requests[0]):
                self.client.learn(record, requests[0])

    def most_usd(self) -> Iterator[tuple[str, float]]:
        """What each request costs at most in a batch, where there is a limit."""
        if self._bounded is not None:
            for request in self.requests:
                yield request.key, self._bounded.most_usd(self._sent(request))

    def new(self, pending: Mapping[str, BatchRecord]) -> Iterator[BatchRequest]:
        """The requests that no open batch holds, as they are sent."""
        for request in self.requests:
            if request.key not in pending:
                made = self.client.request(request, self._sent(request))
                yield replace(made, price=self._price(request))

    def _sent(self, request: ModelRequest) -> ModelRequest:
        # The same limit that a call gets where money is limited; it is no part of the key.
        return request if self._bounded is None else self._bounded.with_limit(request)

    def _price(self, request: ModelRequest) -> tuple[float | None, ...]:
        size = request.n_characters // _CHARACTERS_PER_TOKEN
        price = self._prices.price(self.model, input_tokens=size, api_base=self.api_base)
        return () if price is None else astuple(price)


class _BatchPrices(PriceTable):
    """What models charge in batches: half, except where litellm's table has another price."""

    def __init__(self, prices: PriceTable) -> None:
        vars(self).update(vars(prices))

    def price(
        self, model: str, *, input_tokens: int = 0, api_base: str | None = None
    ) -> ModelPrice | None:
        """What a model charges for a request of that size in a batch."""
        price = super().price(model, input_tokens=input_tokens, api_base=api_base)
        if price is None:
            return None
        listed: Any = {} if model in self._overrides else self._entry(model, api_base) or {}
        rates: list[Any] = []
        for name, rate in zip(_RATES, astuple(price), strict=True):
            batched, called = listed.get(f"{name}_batches"), listed.get(name)
            share = batched / called if batched and called else BATCH_PRICE_SHARE
            # Cached tokens have no discount in batches where the table has a price of none.
            is_plain = name == _CACHE_READ and listed.get(f"{_RATES[0]}_batches") and not batched
            rates.append(rate and (None if is_plain else rate * share))
        return ModelPrice(*rates)


_CACHE_READ = "cache_read_input_token_cost"
# What litellm's table calls the fields of a `ModelPrice`; hidden reasoning is output.
_RATES = (
    "input_cost_per_token", "output_cost_per_token", _CACHE_READ, "output_cost_per_token",
    "cache_creation_input_token_cost",
)  # fmt: skip


def _endpoint(one: BatchRecord | ModelRequest) -> tuple[str, str]:
    return one.model, one.api_base or ""


def _check_limit(groups: Sequence[_Group], max_cost_usd: float | None) -> dict[str, float] | None:
    """What each request costs at most; refuses all of them where that is more than the limit."""
    if max_cost_usd is None:
        return None
    most = dict(pair for group in groups for pair in group.most_usd())
    # Also those that wait in a batch: what it may still cost is part of what this run costs.
    total = sum(most.values())
    if total > max_cost_usd:
        raise BudgetExceededError(
            f"{len(most):,} requests may cost up to ${total:.6f} in batches, and the limit is "
            f"${max_cost_usd:g}; none was sent",
            hint="raise the limit (--max-cost), lower max_tokens, or choose fewer cases (--limit)",
        )
    return most


def _parts(
    requests: Iterable[BatchRequest], client: ProviderBatches, most_requests: int, most_bytes: int
) -> Iterator[list[BatchRequest]]:
    """Requests in parts that each fit into one file."""
    part: list[BatchRequest] = []
    size = 0
    for request in requests:
        own = len(client.upload_line(request))
        if part and (len(part) >= most_requests or size + own > most_bytes):
            yield part
            part, size = [], 0
        part.append(request)
        size += own
    if part:
        yield part


async def _collect(
    client: ProviderBatches,
    record: BatchRecord,
    folder: BatchFolder,
    cache: ReplyCache,
    at: datetime,
) -> BatchRecord:
    """Store the replies of a batch; interrupted, it does so again and stores nothing twice."""
    # Bodies are large, and no longer needed.
    requests = {one.key: replace(one, body={}) for one in folder.requests(record)}
    source, created_at = f"batch {record.batch_id}", at.isoformat(timespec="milliseconds")
    replies: dict[str, ModelReply] = {}
    refused: dict[str, RefusedRequest] = {}
    waiting: list[CacheEntry] = []
    async for key, result in client.results(record, requests):
        if isinstance(result, ProviderFault):
            refused[key] = RefusedRequest(
                text=redact(result.text)[:_LONGEST_REASON],
                status=result.status,
                parameter=result.parameter,
            )
            continue
        if key in replies:
            continue
        reply = replies[key] = _priced(result, requests[key])
        if not _is_stored(cache, key, reply, source):
            rejected = not is_servable(reply)
            entry = CacheEntry(key, requests[key].parts, reply, created_at, source, rejected)
            waiting.append(entry)
        if len(waiting) >= _STORED_AT_ONCE:
            cache.restore(waiting)
            waiting = []
    cache.restore(waiting)
    costs = [reply.cost_usd for reply in replies.values() if reply.cost_usd is not None]
    return folder.save(
        record,
        state="collected",
        n_replies=len(replies),
        n_rejected=sum(not is_servable(reply) for reply in replies.values()),
        cost_usd=sum(costs) if costs else None,
        refused={key: why for key, why in refused.items() if key not in replies},
    )


def _is_stored(cache: ReplyCache, key: str, reply: ModelReply, source: str) -> bool:
    # A reply that a call brought meanwhile stays: verdicts may rest on it.
    if is_servable(reply):
        return cache.get(key) is not None
    return any(one.imported == source for one in cache.rejected(key))


def _priced(reply: ModelReply, request: BatchRequest) -> ModelReply:
    if not request.price or reply.usage is None:
        return reply
    sent, received, *more = request.price
    price = ModelPrice(sent or 0.0, received or 0.0, *more)
    return reply.model_copy(update={"cost_usd": price.cost(reply.usage)})
