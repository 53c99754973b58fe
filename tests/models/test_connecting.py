from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import DatasetError, SettingsError
from judgekit.models import ModelPrice, PriceTable, connect, factory, local
from judgekit.models.cache import MemoryCache
from judgekit.models.local import LocalModel
from judgekit.models.request import ModelReply
from judgekit.models.transports import LitellmModel
from judgekit.records import Usage
from judgekit.testing import ScriptedModel
from tests.factories import make_request
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from pathlib import Path

TOKENS = Usage(input_tokens=1_000_000, output_tokens=0)
PRICES = PriceTable({"scripted": ModelPrice.per_million(input_usd=2.0, output_usd=8.0)})
SAID = ModelReply(text="x", usage=TOKENS)


async def test_a_strangers_model_gets_prices_and_a_cache() -> None:
    model, cache = ScriptedModel(SAID), MemoryCache()
    connection = connect(model, cache=cache, prices=PRICES)
    first, second = [await connection.model.complete(make_request()) for _ in range(2)]
    assert (first.cost_usd, first.cached) == (2.0, False)
    assert (second.cost_usd, second.cached) == (2.0, True)
    assert (connection.name, connection.cache, len(model.requests)) == ("scripted", cache, 1)


async def test_without_a_cache_every_request_is_asked() -> None:
    model = ScriptedModel(SAID)
    connection = connect(model, prices=PRICES)
    replies = [await connection.model.complete(make_request()) for _ in range(2)]
    assert [reply.cost_usd for reply in replies] == [2.0, 2.0]
    assert len(model.requests) == 2


class Uncacheable(ScriptedModel):
    """Keeps its replies on its own."""

    cacheable = False


async def test_a_model_may_keep_its_replies_out_of_the_cache() -> None:
    model, cache = Uncacheable(SAID), MemoryCache()
    connection = connect(model, cache=cache)
    for _ in range(2):
        await connection.model.complete(make_request())
    assert (len(model.requests), len(cache)) == (2, 0)


async def test_what_is_owned_can_be_told_without_counting_a_hit() -> None:
    cache = MemoryCache()
    connection = connect(ScriptedModel(SAID), cache=cache, prices=PRICES)
    assert connection.cached_reply(make_request()) is None
    await connection.model.complete(make_request())
    before = cache.counts()
    owned = connection.cached_reply(make_request())
    assert owned is not None
    assert owned.text == "x"
    assert cache.counts() == before
    assert connect(ScriptedModel(SAID)).cached_reply(make_request()) is None


async def test_closing_reaches_the_model_only_when_it_was_opened() -> None:
    class Closing(ScriptedModel):
        n_closed = 0

        async def aclose(self) -> None:
            self.n_closed += 1

    model = Closing(SAID)
    connection = connect(model, cache=MemoryCache())
    await connection.aclose()
    assert model.n_closed == 0
    await connection.model.complete(make_request())
    await connection.aclose()
    assert model.n_closed == 1


def test_only_a_cache_that_was_opened_here_is_closed_here(tmp_path: Path) -> None:
    assert connect("x/y", cache=tmp_path / "c").owns_cache
    assert connect("x/y", cache=str(tmp_path / "c")).owns_cache
    assert not connect("x/y", cache=MemoryCache()).owns_cache
    connect("x/y").close()


def rows(folder: Path, *lines: dict[str, Any]) -> str:
    path = folder / "replies.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
    return f"recorded:{path}"


async def test_recorded_replies_need_no_cache_and_no_price(tmp_path: Path) -> None:
    name = rows(tmp_path, {"case_id": "c", "text": "said"})
    connection = connect(name, cache=MemoryCache(), frozen=True)
    request = make_request(subject={"case_id": "c"})
    assert (await connection.model.complete(request)).text == "said"
    assert (connection.cache, connection.name) == (None, connection.model.name)
    owned = connection.cached_reply(request)
    assert owned is not None
    assert owned.text == "said"
    await connection.aclose()
    connection.close()


def test_unsound_recorded_replies_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"replies\.jsonl:1"):
        connect(rows(tmp_path, {"case_id": "c"}))


@pytest.mark.parametrize("transport", ["auto", "direct", "litellm"])
async def test_an_endpoint_of_ones_own_is_asked(
    transport: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with OpenAILikeServer() as server:
        connection = connect("openai/m", api_base=server.url, transport=transport)
        reply = await connection.model.complete(make_request(model="openai/m"))
        await connection.aclose()
        assert (reply.text is not None, server.n_requests) == (True, 1)
    assert (connection.name, connection.api_base) == ("openai/m", server.url)


@pytest.mark.parametrize(
    ("model", "settings", "problem"),
    [
        (" ", {}, "the judge has no name"),
        ("hosted_vllm/m", {"transport": "direct"}, "transport=direct needs api_base"),
        ("cohere/m", {"transport": "direct", "api_base": "http://127.0.0.1/v1"},
         "cannot be called directly"),
        ("openai/m", {"api_base": "127.0.0.1/v1"}, "no HTTP address"),
        ("openai/m", {"frozen": True}, "frozen needs a cache"),
    ],
)  # fmt: skip
def test_settings_that_cannot_work_are_refused_before_anything_is_asked(
    model: str, settings: dict[str, Any], problem: str
) -> None:
    with pytest.raises(SettingsError, match=problem):
        connect(model, **settings)


def test_a_local_model_is_named_by_its_weights_and_asked_one_call_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = tmp_path / "tiny.gguf"
    weights.write_bytes(b"GGUF tiny")
    monkeypatch.setenv("JUDGEKIT_LOCAL_GGUF", str(weights))
    connection = connect("local", max_concurrency=32)
    assert connection.name.startswith("local/tiny@")
    assert (connection.max_concurrency, connection.flags) == (1, ())
    assert connect(connection.name).name == connection.name
    assert connect(connection.name).model.name == connection.name


def test_a_local_model_is_called_through_litellm_with_time_to_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = tmp_path / "tiny.gguf"
    weights.write_bytes(b"GGUF tiny")
    monkeypatch.setenv("JUDGEKIT_LOCAL_GGUF", str(weights))
    opened = factory._open("local", api_base=None, timeout_s=600, transport="auto")
    assert isinstance(opened, LocalModel)
    assert opened._timeout_s == 600
    assert opened._open_inner is LitellmModel


def test_a_smoke_model_is_flagged() -> None:
    name = f"local/smollm2@{local._SMOKE_SHA256[: local._SHORT]}"
    assert connect(name).flags == ("smoke_model",)


def test_connecting_and_hitting_the_cache_imports_no_transport(tmp_path: Path) -> None:
    code = (
        "import sys, asyncio\n"
        "from judgekit.models.factory import connect\n"
        "url = 'http://127.0.0.1:1/v1'\n"
        f"connection = connect('openai/m', api_base=url, cache={str(tmp_path)!r})\n"
        "connect('anthropic/m')\n"
        "asyncio.run(connection.aclose())\n"
        "connection.close()\n"
        "print([m for m in ('litellm', 'aiohttp', 'xllamacpp', 'openai') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
