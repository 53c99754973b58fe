"""Builds everything between the name of a model and its reply.

The parts are in `litellm`, `direct`, `local`, `recorded_replies`, `rate_limit`, `budget`,
`pricing` and `cached_model`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.errors import SettingsError
from judgekit.models.budget import BudgetedModel
from judgekit.models.cache import DiskCache
from judgekit.models.cached_model import CachedModel, LazyModel
from judgekit.models.local import LocalModel, is_smoke_name, local_weights
from judgekit.models.pricing import PricedModel, PriceTable
from judgekit.models.rate_limit import LimitedModel
from judgekit.models.recorded_replies import RECORDED_PREFIX, RecordedModel
from judgekit.models.request import close_model
from judgekit.models.transport import AUTO_TRANSPORT, Endpoint, transport_opener
from judgekit.models.transports import LitellmModel
from judgekit.records import Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.models.budget import Budget
    from judgekit.models.cache import ReplyCache
    from judgekit.models.cached_model import Refresh
    from judgekit.models.local import OpenEndpointModel
    from judgekit.models.request import Model, ModelReply, ModelRequest

_LOCAL_TIMEOUT_S = 600
"""A model on this machine answers one call after the other, on whatever cores there are."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A model with its limits, prices and cache."""

    name: str
    """The model as it stands in requests and records."""

    model: Model
    """What is asked; everything else is inside it."""

    prices: PriceTable
    """What tokens cost."""

    api_base: str | None
    """The endpoint, where it is not the provider's own."""

    max_concurrency: int
    """Calls in flight at most."""

    cache: ReplyCache | None = None
    """What keeps the replies."""

    owns_cache: bool = False
    """Whether the cache was opened here, so that it is closed here."""

    flags: tuple[str, ...] = ()
    """Marks that every judgment of this model carries."""

    _late: LazyModel | None = field(default=None, repr=False)

    @property
    def shelf(self) -> CachedModel | None:
        """The model, where it keeps replies, so that those that are owned need no waiting."""
        return self.model if isinstance(self.model, CachedModel) else None

    @property
    def speaks_of_the_whole(self) -> bool:
        """Whether it can be asked which of two outputs is better on the whole, beside criteria."""
        return not isinstance(self.model, RecordedModel) or self.model.has_overall_replies

    def owned(self, request: ModelRequest) -> ModelReply | None:
        """The reply that is owned already, without counting a hit."""
        if isinstance(self.model, RecordedModel):
            return self.model.find(request.subject)
        return None if self.cache is None else self.cache.get(request.key)

    def price_range(
        self, input_tokens: int, likely_output: int, most_output: int
    ) -> tuple[float, float] | None:
        """What tokens would cost."""
        known = [
            self.prices.price_of(
                self.name, Usage(input_tokens=input_tokens, output_tokens=n), api_base=self.api_base
            )
            for n in (likely_output, most_output)
        ]
        return None if known[0] is None or known[1] is None else (known[0], known[1])

    async def aclose(self) -> None:
        """Close the connections of the running event loop; the next call opens new ones."""
        await close_model(self.model if self._late is None else self._late.opened)

    def close(self) -> None:
        """Write the cache's counts and close it, where it was opened here."""
        if self.owns_cache and self.cache is not None:
            self.cache.close()


def connect(
    model: str | Model,
    *,
    api_base: str | None = None,
    cache: str | Path | ReplyCache | None = None,
    max_concurrency: int = 32,
    rpm: int | None = None,
    tpm: int | None = None,
    timeout_s: float = 60,
    max_retries: int = 5,
    frozen: bool = False,
    refresh: Refresh = False,
    transport: str = AUTO_TRANSPORT,
    prices: PriceTable | None = None,
    budget: Budget | None = None,
) -> Connection:
    """The whole way to a model."""
    # Nothing is sent and nothing slow is imported: a transport is built when a reply is needed that
    # is not owned.
    table = prices or (PriceTable() if budget is None else budget.prices)
    if isinstance(model, str) and model.startswith(RECORDED_PREFIX):
        recorded = RecordedModel(model.removeprefix(RECORDED_PREFIX))
        return Connection(recorded.name, recorded, table, None, max_concurrency)
    name = _name(model)
    if frozen and cache is None:
        raise SettingsError("frozen needs a cache", hint="name the folder with the replies")

    if isinstance(model, str) and _is_local(model):
        max_concurrency, timeout_s, budget = 1, max(timeout_s, _LOCAL_TIMEOUT_S), None
    if budget is not None and not frozen:
        budget.price(name, api_base=api_base, prices=table)  # refuses what has none, now

    def limited(inner: Model) -> Model:
        counted = budget and BudgetedModel(
            inner, budget, api_base=api_base, prices=table, timeout_s=timeout_s
        )
        return LimitedModel(
            counted or inner,
            max_concurrency=max_concurrency,
            rpm=rpm,
            tpm=tpm,
            # Waiting for money is no part of a call: the deadline then stands inside the budget.
            timeout_s=timeout_s if counted is None else None,
            max_retries=max_retries,
        )

    open_model = _opener(model, api_base=api_base, timeout_s=timeout_s, transport=transport)
    late = LazyModel(
        name,
        lambda: PricedModel(limited(open_model()), table),
        cacheable=getattr(model, "cacheable", True),
    )
    kept = DiskCache(cache) if isinstance(cache, str | Path) else cache
    return Connection(
        name=name,
        model=late if kept is None else CachedModel(late, kept, frozen=frozen, refresh=refresh),
        prices=table,
        api_base=api_base,
        max_concurrency=max_concurrency,
        cache=kept,
        owns_cache=isinstance(cache, str | Path),
        flags=("smoke_model",) if is_smoke_name(name) else (),
        _late=late,
    )


def _name(model: str | Model) -> str:
    if not isinstance(model, str):
        return model.name
    if not model.strip():
        raise SettingsError("the judge has no name", hint="name it PROVIDER/MODEL")
    if _is_local(model) and "@" not in model:
        return local_weights().model_name
    return model


def _is_local(model: str) -> bool:
    return model == "local" or model.startswith("local/")


def _opener(
    model: str | Model, *, api_base: str | None, timeout_s: float, transport: str
) -> Callable[[], Model]:
    """What builds the transport when it is first needed."""
    if not isinstance(model, str):
        return lambda: model
    if _is_local(model):
        return lambda: LocalModel(model, open_inner=_open_litellm(timeout_s))
    return transport_opener(transport, Endpoint(model, api_base, timeout_s))


def _open_litellm(timeout_s: float) -> OpenEndpointModel:
    """A local server is asked like any other provider: through litellm."""

    def open_inner(model: str, *, api_base: str, api_key: str) -> Model:
        return LitellmModel(
            model, api_base=api_base, timeout_s=timeout_s, extra={"api_key": api_key}
        )

    return open_inner
