"""Submits requests as batches, asks how far they are, and brings their replies into the cache.

A reply is cached under the key that a call would have, so that any later run is answered by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from judgekit.batches.providers import MOST_BYTES, MOST_REQUESTS, open_batches
from judgekit.batches.records import BatchRecord, BatchRequest, RefusedRequest
from judgekit.errors import BudgetExceededError, JudgekitError, ModelError, SettingsError
from judgekit.models import pricing
from judgekit.models.budget import Budget, BudgetedModel
from judgekit.models.cache import CacheEntry, is_servable
from judgekit.models.error_mapping import ProviderFault, redact

if TYPE_CHECKING:
    from judgekit.batches.providers import ProviderBatches
    from judgekit.batches.records import BatchFolder
    from judgekit.models.cache import ReplyCache
    from judgekit.models.request import ModelReply, ModelRequest

_STORED_AT_ONCE = 500
_GONE = frozenset({404, 410})
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


async def submit_requests(
    folder: BatchFolder,
    requests: Mapping[str, ModelRequest],
    *,
    cache: ReplyCache,
    prices: pricing.PriceTable,
    max_cost_usd: float | None = None,
    most_requests: int = MOST_REQUESTS,
    most_bytes: int = MOST_BYTES,
) -> Submission:
    """Send what no open batch holds, and finish the interrupted submissions of these requests."""
    refuse_other_requests(requests.values())
    with folder.lock():
        # What another process has collected since these were found to be missing is not sent.
        there = {*cache.get_many([*requests]), *cache.rejected_keys()}
        requests = {key: one for key, one in requests.items() if key not in there}
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
                        created_at=datetime.now(UTC).isoformat(),
                        n_requests=len(own),
                        most_usd=None if most_usd is None else sum(most_usd[r.key] for r in own),
                    )
                    # All are written before the first is sent: what is not submitted after an
                    # interruption is found here.
                    tried.append(folder.write(record, own))
            tried = [await clients.of(one).submit(one, folder) for one in tried]
    now = {one.name: one for one in (*pending.values(), *tried)}
    sent = {one.name: one for one in tried if not one.is_interrupted}
    held = [one.name for key in requests if (one := pending.get(key)) and one.name not in sent]
    waiting = tuple(now[name] for name in dict.fromkeys(held))
    return Submission(tuple(sent.values()), waiting, len(held), sum((most_usd or {}).values()))


async def _find_interrupted(
    folder: BatchFolder, clients: _Clients, requests: Mapping[str, ModelRequest]
) -> list[BatchRecord]:
    """The interrupted submissions of some of these requests, looked for at their providers."""
    found = []
    for record in folder.records():
        keys = {*folder.keys(record)} if record.is_interrupted else set[str]()
        # The others would be sent unasked, and beyond the limit of money.
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


async def refresh_batches(
    folder: BatchFolder, name: str | None = None, *, cache: ReplyCache | None = None
) -> tuple[list[BatchRecord], list[JudgekitError]]:
    """Ask how far the named batch is, or all; a cache gets the replies of those that have ended."""
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
                        record = await _collect(clients.of(record), record, folder, cache)  # noqa: PLW2901
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
                try:
                    record = await client.refresh(record, folder)  # it may have ended
                except ModelError as error:
                    if error.status not in _GONE:
                        raise
                    return folder.save(record, state="collected", status="gone")
            if record.state == "submitted":
                return await client.cancel(record, folder)
            if record.is_interrupted:
                return folder.save(record, state="collected", status="cancelled")
            return record


async def settle_submission(folder: BatchFolder, name: str, batch_id: str | None) -> BatchRecord:
    """Record what the user knows of an interrupted submission: the id of its batch, or no batch."""
    with folder.lock():
        record = folder.record(name)
        if not record.candidates or batch_id not in {None, *record.candidates}:
            raise SettingsError(
                f"{record.name} may be {' or '.join(record.candidates) or 'no batch that is known'}"
                f"{f', not {batch_id}' if batch_id else ''}",
                hint="`judgekit batch submit` looks for the batches that may be it",
            )
        if batch_id is None:
            return folder.save(record, state="written", candidates=())
        async with _Clients() as clients:
            sent = {"state": "submitted", "batch_id": batch_id, "candidates": ()}
            return await clients.of(record).refresh(record.model_copy(update=sent), folder)


def refuse_other_requests(requests: Iterable[ModelRequest]) -> None:
    """Refuse requests of which no batch can be made."""
    for request in requests:
        if not pricing.can_batch(request.model):
            raise SettingsError(
                f"{request.model} cannot be called in batches: only {_CALLABLE} can",
                hint="run it without --batch",
            )
        if "encoding_format" in request.parameters:
            raise SettingsError(
                f"embeddings ({request.model}) cannot be fetched in batches",
                hint="run it without --batch once, which caches them, or leave out the check",
            )


_CALLABLE = ", ".join(f"{one}/NAME" for one in pricing.BATCH_PROVIDERS)


class _Clients(AsyncExitStack):
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
        prices: pricing.PriceTable,
        max_cost_usd: float | None,
    ) -> None:
        self.requests = requests
        self.model, self.api_base = requests[0].model, requests[0].api_base
        self.client = clients.of(requests[0])
        # Before anything is written: a request that is refused takes no other with it.
        for request in requests:
            self.client.messages(request)
        self._prices = BatchPrices(prices)
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


class BatchPrices(pricing.PriceTable):
    """What models charge in batches: half, except where litellm's table has another price."""

    def __init__(self, prices: pricing.PriceTable) -> None:
        super().__init__(prices.overrides, path=prices.path)

    def price(
        self, model: str, *, input_tokens: int = 0, api_base: str | None = None
    ) -> pricing.ModelPrice | None:
        """What a model charges for a request of that size in a batch."""
        price = super().price(model, input_tokens=input_tokens, api_base=api_base)
        listed: Any = {}
        if model not in self.overrides:
            listed = pricing.listed_facts(model, api_base, table=self.path)

        def share(name: str) -> float:
            # Cached tokens have no discount in batches where the table has no price of them.
            plain = listed.get("input_cost_per_token_batches") if name == _RATES[2] else None
            batched, called = listed.get(f"{name}_batches", plain), listed.get(name)
            return batched / called if batched and called else pricing.BATCH_PRICE_SHARE

        rates = () if price is None else zip(astuple(price), _RATES, strict=True)
        return price and pricing.ModelPrice(*(rate and rate * share(name) for rate, name in rates))


# What litellm's table calls the fields of a `ModelPrice`; hidden reasoning is output.
_RATES = (
    "input_cost_per_token",
    "output_cost_per_token",
    "cache_read_input_token_cost",
    "output_cost_per_token",
    "cache_creation_input_token_cost",
)


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
    client: ProviderBatches, record: BatchRecord, folder: BatchFolder, cache: ReplyCache
) -> BatchRecord:
    """Store the replies of a batch; interrupted, it does so again and stores nothing twice."""
    # Bodies are large, and no longer needed.
    requests = {one.key: replace(one, body={}) for one in folder.requests(record)}
    source = f"batch {record.batch_id}"
    created_at = datetime.now(UTC).isoformat(timespec="milliseconds")
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
    price = pricing.ModelPrice(sent or 0.0, received or 0.0, *more)
    return reply.model_copy(update={"cost_usd": price.cost(reply.usage)})
