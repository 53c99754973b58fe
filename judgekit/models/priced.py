"""Puts a price on every reply, at the moment it is bought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgekit.models.pricing import PriceTable
    from judgekit.models.request import Model, ModelReply, ModelRequest


@dataclass(frozen=True, slots=True)
class PricedModel:
    """A model whose replies say what they cost; stands inside the cache, so that it is kept."""

    model: Model
    """Who answers."""

    prices: PriceTable
    """What tokens cost."""

    @property
    def name(self) -> str:
        """The inner model's name."""
        return self.model.name

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer a request and say what it cost."""
        reply = await self.model.complete(request)
        if reply.cost_usd is not None:
            return reply
        cost = self.prices.price_of(request.model, reply.usage, api_base=request.api_base)
        return reply if cost is None else reply.model_copy(update={"cost_usd": cost})

    async def aclose(self) -> None:
        """Close the inner model's connections of the running event loop."""
        aclose = getattr(self.model, "aclose", None)
        if aclose is not None:
            await aclose()
