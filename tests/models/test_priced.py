from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.errors import ModelError
from judgekit.models import ModelPrice, PriceTable
from judgekit.models.pricing import PricedModel
from judgekit.models.request import ModelReply
from judgekit.records import Usage
from judgekit.testing import ScriptedModel
from tests.factories import make_request

if TYPE_CHECKING:
    from judgekit.testing.fake_models import ScriptedAnswer

TOKENS = Usage(input_tokens=1_000_000, output_tokens=500_000)
PRICES = PriceTable({"scripted": ModelPrice.per_million(input_usd=2.0, output_usd=8.0)})


def priced(reply: ScriptedAnswer) -> PricedModel:
    return PricedModel(ScriptedModel(reply), PRICES)


async def test_a_reply_says_what_it_cost() -> None:
    reply = await priced(ModelReply(text="x", usage=TOKENS)).complete(make_request())
    assert reply.cost_usd == pytest.approx(2.0 + 4.0)
    assert reply.text == "x"


async def test_a_cost_that_the_model_knows_better_is_kept() -> None:
    said = ModelReply(text="x", usage=TOKENS, cost_usd=0.0)
    assert (await priced(said).complete(make_request())).cost_usd == 0.0


@pytest.mark.parametrize(("model", "usage"), [("nobody/knows-this", TOKENS), ("scripted", None)])
async def test_an_unknown_price_stays_unknown(model: str, usage: Usage | None) -> None:
    said = ModelReply(text="x", usage=usage)
    assert (await priced(said).complete(make_request(model=model))).cost_usd is None


async def test_an_error_passes_through() -> None:
    with pytest.raises(ModelError, match="no"):
        await priced(ModelError("no", kind="auth")).complete(make_request())


class Closing(ScriptedModel):
    """Remembers that it was closed."""

    closed = False

    async def aclose(self) -> None:
        """Remember."""
        self.closed = True


async def test_closing_it_closes_the_model_inside() -> None:
    model = Closing("x")
    await PricedModel(model, PRICES).aclose()
    assert model.closed
    await priced("x").aclose()


def test_it_is_called_like_the_model_inside() -> None:
    assert priced("x").name == "scripted"
