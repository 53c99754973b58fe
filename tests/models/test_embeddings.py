from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import BudgetExceededError, FrozenCacheError, ModelError
from judgekit.models import Budget, Embeddings, ModelPrice, PriceTable, open_embeddings
from judgekit.models.cache import MemoryCache
from judgekit.models.embeddings import EmbeddingModel, embedding_request, reply_vector
from judgekit.models.request import ModelReply
from judgekit.testing import ServedReply
from tests.models.embedding import embedded, vector
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from judgekit.testing import ServedRequest

MODEL = "openai/text-embedding-3-small"
DEAR = PriceTable({MODEL: ModelPrice.per_million(input_usd=1000.0, output_usd=0.0)})


def opened(server: OpenAILikeServer, **settings: Any) -> Embeddings:
    return open_embeddings(MODEL, api_base=server.url, **settings)


async def test_the_vectors_of_texts_are_at_hand_while_they_are_held() -> None:
    with OpenAILikeServer(embedded) as server:
        embeddings = opened(server)
        async with embeddings.holding(["a refund", "30 days", "a refund"]):
            first, second = embeddings(["a refund", "30 days"])
        await embeddings.aclose()
    assert (list(first), list(second)) == (vector("a refund"), vector("30 days"))
    assert sorted(seen.path for seen in server.requests) == ["/v1/embeddings"] * 2
    assert server.requests[0].body["model"] == "text-embedding-3-small"
    with pytest.raises(KeyError):
        embeddings(["a refund"])
    assert embeddings.name == MODEL


async def test_a_text_is_never_paid_for_twice() -> None:
    cache = MemoryCache()
    with OpenAILikeServer(embedded) as server:
        for _ in range(2):
            embeddings = opened(server, cache=cache, prices=DEAR)
            async with embeddings.holding(["a refund"]):
                assert list(embeddings(["a refund"])[0]) == vector("a refund")
            await embeddings.aclose()
        assert server.n_requests == 1
        (key,) = cache.keys()
        assert key == embedding_request(MODEL, "a refund", api_base=server.url).key
    reply = cache.get(key)
    assert reply is not None
    assert reply.cost_usd == pytest.approx(7 * 0.001)


async def test_money_is_counted_and_never_crossed() -> None:
    budget = Budget(0.01, DEAR)
    with OpenAILikeServer(embedded) as server:
        embeddings = opened(server, budget=budget)
        with pytest.raises(BudgetExceededError):
            async with embeddings.holding(["a refund"]):
                pass
        assert server.n_requests == 0
        roomy = opened(server, budget=(budget := Budget(50, DEAR)))
        async with roomy.holding(["a refund"]):
            pass
        await roomy.aclose()
    assert budget.spent_usd == pytest.approx(0.007)


async def test_a_frozen_cache_asks_nobody() -> None:
    embeddings = open_embeddings(MODEL, cache=MemoryCache(), frozen=True)
    with pytest.raises(FrozenCacheError):
        async with embeddings.holding(["a refund"]):
            pass


async def test_what_the_model_will_not_take_is_told_when_it_is_looked_up() -> None:
    def too_long(seen: ServedRequest) -> str | ServedReply:
        return "context" if "long" in seen.body["input"] else embedded(seen)

    with OpenAILikeServer(too_long) as server:
        embeddings = opened(server)
        async with embeddings.holding(["days", "a long text"]):
            assert len(embeddings(["days"])) == 1
            with pytest.raises(ModelError, match="longer than the model can take"):
                embeddings(["days", "a long text"])
        await embeddings.aclose()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("401", "auth"),
        (ServedReply(body={"data": []}), "protocol"),
        (ServedReply(body={"data": [{"embedding": []}]}), "protocol"),
        (ServedReply(body={"data": [{"embedding": ["x"]}]}), "protocol"),
        (ServedReply(body={"data": [{"embedding": [0.5, float("inf")]}]}), "protocol"),
        (ServedReply(body={"data": [{"embedding": [0.5, float("nan")]}]}), "protocol"),
        (ServedReply(body=b"[1]"), "protocol"),
    ],
)
async def test_a_model_that_cannot_be_asked_is_an_error_now(
    answer: str | ServedReply, kind: str
) -> None:
    with OpenAILikeServer(answer) as server:
        model = EmbeddingModel(MODEL, api_base=server.url)
        with pytest.raises(ModelError) as raised:
            await model.complete(embedding_request(MODEL, "a"))
        await model.aclose()
    assert raised.value.kind == kind


async def test_a_model_that_refuses_leaves_nothing_held() -> None:
    with OpenAILikeServer("401") as server:
        refused = opened(server)
        with pytest.raises(ModelError, match="key"):
            async with refused.holding(["a", "b"]):
                pass
        await refused.aclose()
    assert (refused._held, +refused._holders) == ({}, {})


async def test_litellm_gives_the_same_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_PROXY_API_KEY", "k")
    with OpenAILikeServer(embedded) as server:
        model = EmbeddingModel("litellm_proxy/some-embedder", api_base=server.url)
        reply = await model.complete(embedding_request("litellm_proxy/some-embedder", "30 days"))
        await model.aclose()
    assert list(reply_vector(reply)) == vector("30 days")
    assert reply.usage is not None
    assert reply.usage.input_tokens == 7


@pytest.mark.parametrize("text", [None, "no base64!", "AAA=", "AACAfw=="])  # the last: infinity
def test_a_kept_reply_that_holds_no_vector_is_named(text: str | None) -> None:
    with pytest.raises(ModelError, match="holds no vector"):
        reply_vector(ModelReply(text=text))
