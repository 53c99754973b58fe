"""Builds everything between the name of a model and its reply.

The parts are in `litellm`, `direct`, `local`, `recorded_replies`, `rate_limit`, `budget`,
`pricing` and `cached_model`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from judgekit.errors import SettingsError
from judgekit.models.budget import Budget, BudgetedModel
from judgekit.models.cache import CacheUrl, ReplyCache, open_reply_cache
from judgekit.models.cached_model import CachedModel, Refresh
from judgekit.models.error_mapping import key_variable, refuse_secret_address
from judgekit.models.local import LocalModel, is_smoke_name, recorded_name
from judgekit.models.pricing import PricedModel, PriceTable
from judgekit.models.rate_limit import LimitedModel
from judgekit.models.recorded_replies import RecordedModel
from judgekit.models.request import (
    Model,
    ModelReply,
    ModelRequest,
    close_model,
    message_text,
    open_model,
)
from judgekit.records import RECORDED_PREFIX

ECHO_MODEL = "echo"
"""The model that answers with the prompt it gets, to see what a prompt becomes."""

# A model on this machine answers one call after the other, on whatever cores there are.
_LOCAL_TIMEOUT_S = 600


@dataclass(frozen=True, slots=True)
class Connection:
    """A model with its limits, prices and cache."""

    name: str
    model: Model
    prices: PriceTable
    api_base: str | None  # the endpoint, where it is not the provider's own
    max_concurrency: int
    cache: ReplyCache | None = None
    owns_cache: bool = False  # whether the cache was opened here, so that it is closed here
    flags: tuple[str, ...] = ()  # marks that every judgment of this model carries
    limited: LimitedModel | None = None  # the limits on its calls; None where none is made

    @property
    def compares_overall(self) -> bool:
        """Whether it can say which of two outputs is better overall, and not by criterion only."""
        return not isinstance(self.model, RecordedModel) or self.model.has_overall_replies

    def cached_reply(self, request: ModelRequest) -> ModelReply | None:
        """The cached or recorded reply to a request; no hit is counted."""
        if isinstance(self.model, RecordedModel):
            return self.model.find(request.subject)
        return None if self.cache is None else self.cache.get(request.key)

    @property
    def may_lack_key(self) -> bool:
        """Whether its transport may want a key and the environment has none; cheap to ask."""
        provider = self.name.partition("/")[0]
        wants_key = self.limited is not None and self.limited.check is not None
        return wants_key and not os.environ.get(key_variable(provider), "").strip()

    def check(self) -> None:
        """Refuse a provider that is unknown or has no key; may import litellm."""
        if self.limited is not None and self.limited.check is not None:
            self.limited.check()

    async def aclose(self) -> None:
        await close_model(self.model)

    def close(self) -> None:
        """Write the cache's counts and close it, where it was opened here."""
        if self.owns_cache and self.cache is not None:
            self.cache.close()


def connect(
    model: str | Model,
    *,
    api_base: str | None = None,
    cache: str | Path | CacheUrl | ReplyCache | None = None,
    max_concurrency: int = 32,
    rpm: int | None = None,
    tpm: int | None = None,
    timeout_s: float = 60,
    max_retries: int = 5,
    frozen: bool = False,
    refresh: Refresh = False,
    transport: str = "auto",
    prices: PriceTable | None = None,
    budget: Budget | None = None,
) -> Connection:
    """Open a model with its limits, prices, budget and cache."""
    # Nothing is sent and nothing slow is imported: transports do both at their first request.
    table = _price_table(prices, budget, cache)
    if isinstance(model, str) and model.startswith(RECORDED_PREFIX):
        return _recorded(model, table, max_concurrency)
    # Without a cache every question of a frozen judge would fail, one by one.
    if frozen and cache is None:
        raise SettingsError("frozen needs a cache", hint="name the folder with the replies")
    opened = open_reply_cache(cache) if isinstance(cache, str | Path | CacheUrl) else cache
    # A local server answers one call at a time and costs nothing.
    if isinstance(model, str) and _is_local(model):
        max_concurrency, timeout_s, budget = 1, max(timeout_s, _LOCAL_TIMEOUT_S), None
        model = recorded_name(model, opened) if frozen and opened is not None else model
    called = _open(model, api_base=api_base, timeout_s=timeout_s, transport=transport)
    # A frozen judge spends nothing, so that it needs no price.
    has_budget = budget is not None and not frozen
    if budget is not None and has_budget:
        called = BudgetedModel(called, budget, api_base=api_base, prices=table, timeout_s=timeout_s)
    limited = LimitedModel(
        called,
        max_concurrency=max_concurrency,
        rpm=rpm,
        tpm=tpm,
        # Waiting for money is no part of a call: the deadline then stands inside the budget.
        timeout_s=None if has_budget else timeout_s,
        max_retries=max_retries,
    )
    # Outside the retries and inside the cache: each reply is priced once, and its price is stored.
    priced = PricedModel(limited, table)
    way = priced if opened is None else CachedModel(priced, opened, frozen=frozen, refresh=refresh)
    return Connection(
        name=priced.name,
        model=way,
        prices=table,
        api_base=api_base,
        max_concurrency=max_concurrency,
        cache=opened,
        owns_cache=opened is not cache,
        # On every judgment, so that reports can warn of verdicts without information.
        flags=("smoke_model",) if is_smoke_name(priced.name) else (),
        limited=None if frozen else limited,
    )


def _price_table(prices: PriceTable | None, budget: Budget | None, cache: object) -> PriceTable:
    """The prices that hold; what would only be noticed after a paid call is refused."""
    caches = str | Path | CacheUrl | ReplyCache
    for value, kind in ((prices, PriceTable), (budget, Budget), (cache, caches)):
        if value is not None and not isinstance(value, kind):
            raise SettingsError(f"{value!r:.80} is no {getattr(kind, '__name__', 'cache')}")
    return prices or (PriceTable() if budget is None else budget.prices)


def _recorded(named: str, prices: PriceTable, max_concurrency: int) -> Connection:
    recorded = RecordedModel(named.removeprefix(RECORDED_PREFIX))
    return Connection(recorded.name, recorded, prices, None, max_concurrency)


def check_together(connections: Iterable[Connection]) -> None:
    """Have a missing key of any of several models found before the first call to one of them."""
    limited = [one.limited for one in connections if one.limited is not None]
    for other in limited[1:]:
        limited[0].check_with(other)


def _open(named: str | Model, *, api_base: str | None, timeout_s: float, transport: str) -> Model:
    """The model that is called, without limits, prices and cache."""
    refuse_secret_address(api_base)
    if not isinstance(named, str):
        is_model = isinstance(getattr(named, "name", None), str) and hasattr(named, "complete")
        if isinstance(named, type) or not is_model:
            raise SettingsError(
                f"the judge is {named!r:.80}, which is no model",
                hint="name one, PROVIDER/MODEL, or pass an object with `name` and `async complete`",
            )
        return named
    if not named.strip():
        raise SettingsError("the judge has no name", hint="name it PROVIDER/MODEL")
    if named == ECHO_MODEL:
        return _EchoModel()
    if _is_local(named):
        return LocalModel(named, timeout_s=timeout_s)
    return open_model(transport, named, api_base=api_base, timeout_s=timeout_s)


def _is_local(model: str) -> bool:
    return model == "local" or model.startswith("local/")


class _EchoModel:
    """Answers with the prompt: one message as it is, a conversation as JSON."""

    name = ECHO_MODEL
    cacheable = False

    async def complete(self, request: ModelRequest) -> ModelReply:
        return ModelReply(
            text=message_text(request.messages), model=self.name, duration_ms=0.0, cost_usd=0.0
        )
