from __future__ import annotations

import asyncio
import gc
import subprocess
import sys

import pytest

from judgekit.errors import ModelError, SettingsError
from judgekit.models import connect
from judgekit.models.rate_limit import LimitedModel
from judgekit.models.request import Model
from judgekit.models.transports import DirectModel
from judgekit.testing import ServedReply, ServedRequest
from judgekit.testing.server_replies import http_error
from tests.models.asking import SCHEMA, ask, outcome
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer


def test_only_endpoints_of_ones_own_can_be_asked_directly() -> None:
    for name in ("cohere/command-r", "openai/", "gpt-4o"):
        with pytest.raises(SettingsError, match="cannot be called directly"):
            DirectModel(name, api_base="http://127.0.0.1:1/v1")


def test_an_address_must_be_http() -> None:
    with pytest.raises(SettingsError, match="no HTTP address"):
        DirectModel("openai/m", api_base="localhost:8000/v1")


async def test_a_reply_is_read_with_its_usage_and_duration() -> None:
    with OpenAILikeServer(ok("fine")) as server:
        model = DirectModel("openai/org/m", api_base=server.url + "/")
        reply = await model.complete(ask())
        await model.aclose()
        seen = server.requests[0]
    assert isinstance(model, Model)
    assert (model.name, seen.path, seen.body["model"]) == (
        "openai/org/m", "/v1/chat/completions", "org/m",
    )  # fmt: skip
    assert (reply.text, reply.model) == ("fine", "org/m")
    assert reply.usage is not None
    assert reply.duration_ms is not None
    assert reply.duration_ms > 0


async def test_a_cookie_of_one_reply_is_not_sent_with_the_next_request() -> None:
    replies = [ServedReply(text="fine", headers={"Set-Cookie": "who=ada; Path=/"})] * 2
    with OpenAILikeServer(replies) as server:
        model = DirectModel("openai/m", api_base=server.url)
        for question in ("one?", "two?"):
            await model.complete(ask(question))
        await model.aclose()
        assert ["cookie" in request.headers for request in server.requests] == [False, False]


async def test_what_was_refused_once_is_not_sent_again() -> None:
    def no_schema(seen: ServedRequest) -> ServedReply:
        refused = "response_format" in seen.body
        return http_error(400, "response_format json_schema is not supported") if refused else ok()

    with OpenAILikeServer(no_schema) as server:
        model = DirectModel("openai/m", api_base=server.url)
        for _ in range(3):
            reply = await model.complete(ask(reply_schema=SCHEMA))
        await model.aclose()
        assert server.n_requests == 4
    assert reply.dropped_parameters == ("response_format",)


async def test_a_refused_key_says_which_variable_to_look_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sentinel-4711")
    with OpenAILikeServer("reflect_key") as server:
        model = DirectModel("openai/m", api_base=server.url)
        with pytest.raises(ModelError, match="OPENAI_API_KEY") as caught:
            await model.complete(ask())
        await model.aclose()
    assert "sentinel-4711" not in str(caught.value)


@pytest.mark.parametrize("is_variable", [True, False])
def test_an_address_that_cannot_be_read_is_refused_without_its_password(
    monkeypatch: pytest.MonkeyPatch, *, is_variable: bool
) -> None:
    address = "http://me:sentinel-4711@[::1/v1"
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    if is_variable:
        monkeypatch.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(SettingsError, match="is no HTTP address") as caught:
        connect("openai/m", api_base=None if is_variable else address)
    assert "sentinel" not in str(caught.value)


async def test_an_organization_of_two_lines_is_refused_without_a_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org\nX-Other: 1")
    with OpenAILikeServer() as server:
        model = DirectModel("openai/m", api_base=server.url)
        with pytest.raises(SettingsError, match="OPENAI_ORG_ID has more than one line"):
            await model.complete(ask())
        await model.aclose()
        assert server.n_requests == 0


async def test_a_key_of_two_lines_is_refused_without_a_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sentinel-4711\nOTHER=1")
    with OpenAILikeServer() as server:
        model = DirectModel("openai/m", api_base=server.url)
        with pytest.raises(SettingsError, match=r"more than one line\n.*OPENAI_API_KEY") as caught:
            await model.complete(ask())
        await model.aclose()
        assert server.n_requests == 0
    assert "sentinel" not in str(caught.value)


async def test_more_than_a_judge_can_write_is_no_reply() -> None:
    script: list[str | ServedReply] = [
        ServedReply("x" * 900_000),
        "10MiB_reply",
        "gzip_bomb",
        "endless",
    ]
    with OpenAILikeServer(script) as server:
        model = DirectModel("openai/m", api_base=server.url)
        reply = await model.complete(ask())
        assert len(reply.text or "") == 900_000
        for _ in script[1:]:
            with pytest.raises(ModelError, match="more than 1 MiB"):
                await model.complete(ask())
        await model.aclose()


async def test_a_redirect_is_not_followed() -> None:
    moved = ServedReply(status=302, headers={"Location": "/elsewhere"})
    with OpenAILikeServer(moved) as server:
        model = DirectModel("openai/m", api_base=server.url)
        with pytest.raises(ModelError, match="HTTP 302") as caught:
            await model.complete(ask())
        await model.aclose()
        assert server.n_requests == 1
    assert caught.value.kind == "not_found"


async def test_a_connection_is_used_again() -> None:
    with OpenAILikeServer() as server:
        model = DirectModel("openai/m", api_base=server.url)
        for _ in range(5):
            await model.complete(ask())
        await model.aclose()
        await model.aclose()
        assert server.n_connections == 1


@pytest.mark.parametrize("closes", [True, False])
def test_no_connection_outlives_its_loop(closes: bool) -> None:  # noqa: FBT001
    async def work(model: DirectModel) -> None:
        await asyncio.gather(*(model.complete(ask(str(i))) for i in range(4)))
        if closes:
            await model.aclose()

    with OpenAILikeServer() as server:
        model = DirectModel("openai/m", api_base=server.url)
        for _ in range(3):
            asyncio.run(work(model))
        assert server.n_requests == 12
        assert len(model._sessions._open) <= 1
    del model
    gc.collect()


async def test_a_storm_of_faults_is_weathered_without_a_wrong_reply() -> None:
    storm = {"429": 0.1, "500": 0.1, "reset_mid": 0.1, "html200": 0.1}
    with OpenAILikeServer(storm) as server:
        direct = DirectModel("openai/m", api_base=server.url)
        model = LimitedModel(direct, max_concurrency=8, max_retries=20, first_backoff_s=0.001)
        results = await asyncio.gather(*(outcome(model, ask(str(i))) for i in range(60)))
        await model.aclose()
        assert server.n_requests > 60
        assert server.most_in_flight <= 8
    assert {r.text for r in results if not isinstance(r, ModelError)} == {ok().text}
    assert len(results) == 60


def test_importing_the_transports_imports_neither_litellm_nor_aiohttp() -> None:
    code = (
        "import judgekit.models.transports.direct, judgekit.models.transports.litellm\n"
        "import judgekit.models.rate_limit\n"
        "import sys; print(sorted({'litellm', 'aiohttp', 'openai', 'httpx'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


async def test_an_error_that_passes_is_retried_though_it_came_with_status_200() -> None:
    with OpenAILikeServer(["error200_text", "ok"]) as server:
        direct = DirectModel("openai/m", api_base=server.url)
        model = LimitedModel(direct, max_retries=1, first_backoff_s=0.001)
        assert (await model.complete(ask())).text == ok().text
        await model.aclose()
        assert server.n_requests == 2
