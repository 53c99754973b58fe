"""The direct transport and litellm send the same bodies and read replies and errors alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import ModelError
from judgekit.models.transports import DirectModel, LitellmModel
from judgekit.records import Image
from judgekit.testing import SERVER_FAULTS, ServedReply
from tests.models.asking import SCHEMA, ask, outcome
from tests.pictures import data_url, png
from tests.servers.answers import ok, refusing
from tests.servers.nobody import unserved_port
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from judgekit.models.request import ModelReply, ModelRequest
    from judgekit.testing.chaos import ServerScript

# the SDK under litellm warns of a content that is no text, before litellm refuses it
pytestmark = pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")

PROVIDERS = ("openai", "hosted_vllm")
# Those that litellm knows parameters and reply formats of by name; the request is still the same.
NAMED_HOSTS = ("mistral", "groq", "together_ai", "deepseek", "openrouter")
TOO_LARGE = {"gzip_bomb", "10MiB_reply"}
SLOW = {"hang", "drip", "slow_headers"}
# litellm calls what it cannot read a server error or a broken connection. Both are retried.
WORDED_OTHERWISE = {"deep_json", "endless", "gzip_unpacked", "no_body"}
# One of litellm's two clients reads bytes that are no UTF-8.
READ_OTHERWISE = {"bad_utf8"}

IMAGE = Image(data_url(png()), "photo.png")

# What of each named host's request litellm leaves out by a list of its own; a host that does not
# take it says so, and it is dropped then.
LEFT_OUT = {
    "mistral": {"logprobs", "top_logprobs", "reasoning_effort", "presence_penalty"}
    | {"frequency_penalty"},
    "groq": {"reasoning_effort"},
    "together_ai": {"reasoning_effort"},
    "deepseek": {"reasoning_effort", "thinking"},
}

REQUESTS: dict[str, ModelRequest] = {
    "plain": ask(),
    "sampling": ask(
        parameters={"temperature": 0.0, "seed": 7, "max_tokens": 50, "top_p": 0.5, "stop": ["x"]}
    ),
    "none is not sent": ask(parameters={"temperature": None, "seed": 1}),
    "logprobs": ask(parameters={"logprobs": True, "top_logprobs": 2}),
    "schema": ask(reply_schema=SCHEMA),
    "vendor parameters": ask(parameters={"top_k": 4, "min_p": 0.1}),
    "reasoning": ask(parameters={"reasoning_effort": "low", "max_completion_tokens": 9}),
    "penalties": ask(parameters={"presence_penalty": 0.1, "frequency_penalty": 0.2}),
    "shared prefix": ask(shared_prefix=5),
    "image": ask(f"What is {IMAGE.marker}?", images=(IMAGE,)),
    "image and shared prefix": ask(f"{IMAGE.marker} What?", images=(IMAGE,), shared_prefix=30),
    "unicode": ask("Größe \u2028 \U0001f600 \x00"),
}

RULES: dict[str, ServerScript] = {
    "no temperature": refusing("temperature"),
    "neither temperature nor seed": refusing("temperature", "seed"),
    "no logprobs": refusing("logprobs"),
    "no schema": refusing("response_format", complaint="{} is not supported: json_schema"),
    "newer name of max_tokens": refusing(
        "max_tokens", complaint="Unsupported parameter: '{}'. Use 'max_completion_tokens'."
    ),
    "no limit at all": refusing("max_tokens", "max_completion_tokens"),
}

BODIES: dict[str, ServedReply] = {
    "thought aloud": ok("<think>hm\n</think>\n\n4"),
    "reasoning": ServedReply(message={"reasoning": "why"}),
    "eos": ServedReply(finish_reason="eos_token"),
    "unknown end": ServedReply(finish_reason="weird"),
    "cut off": ServedReply(finish_reason="max_tokens"),
    "window full": ServedReply(finish_reason="model_length"),
    "broken off": ServedReply(finish_reason="error"),
    "usage of DeepSeek": ServedReply(
        fields={"usage": {"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 4}}
    ),
    "usage of OpenRouter": ServedReply(
        fields={
            "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10, "cost": 1}
        }
    ),
    "error with a code": ServedReply(body={"error": {"message": "slow down", "code": 429}}),
    "error without a code": ServedReply(body={"error": {"message": "something"}}),
    "error that passes": ServedReply(body={"error": {"message": "The model is overloaded."}}),
    "error as a text": ServedReply(body={"error": "model is loading"}),
    "choices are null": ServedReply(body={"choices": None}),
    "no choices at all": ServedReply(body={"id": "x"}),
    "content is a list": ServedReply(message={"content": [{"type": "text", "text": "4"}]}),
    "content is a list with reasoning": ServedReply(
        message={"content": [{"type": "reasoning", "text": "5?"}, {"type": "text", "text": "4"}]}
    ),
    "content is a number": ServedReply(message={"content": 4}),
}


def comparable(result: ModelReply | ModelError) -> dict[str, Any]:
    if isinstance(result, ModelError):
        return {
            name: getattr(result, name)
            for name in ("kind", "provider", "status", "retryable", "request_id", "hint", "fatal")
        } | {"retry_after_s": result.retry_after_s and round(result.retry_after_s)}
    return result.model_dump(exclude={"duration_ms"})


async def both(
    provider: str, script: ServerScript, request: ModelRequest, *, timeout_s: float = 60
) -> tuple[list[list[dict[str, Any]]], list[ModelReply | ModelError]]:
    bodies, results = [], []
    with OpenAILikeServer(script) as server:
        for kind in (DirectModel, LitellmModel):
            before = server.n_requests
            server.restart()
            model = kind(f"{provider}/m", api_base=server.url, timeout_s=timeout_s)
            results.append(await outcome(model, request))
            await model.aclose()
            bodies.append([seen.body for seen in server.requests[before:]])
    return bodies, results


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", REQUESTS)
async def test_the_same_request_is_the_same_body_and_the_same_reply(
    provider: str, name: str
) -> None:
    bodies, results = await both(provider, None, REQUESTS[name])
    assert bodies[0] == bodies[1]
    assert comparable(results[0]) == comparable(results[1])
    assert not isinstance(results[0], ModelError)


@pytest.mark.parametrize("provider", NAMED_HOSTS)
@pytest.mark.parametrize(
    "name", sorted(REQUESTS.keys() - {"schema", "image", "image and shared prefix"})
)
async def test_a_named_host_gets_the_request_that_litellm_sends(
    provider: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("MISTRAL", "GROQ", "TOGETHER", "DEEPSEEK", "OPENROUTER"):
        monkeypatch.setenv(f"{variable}_API_KEY", "k")
    (direct, litellm), results = await both(provider, None, REQUESTS[name])
    left_out = LEFT_OUT.get(provider, set())
    shown = [{k: v for k, v in body.items() if k not in left_out} for body in direct + litellm]
    # Groq and Mistral know one name of the limit, which litellm puts in.
    if provider == "groq" and "max_completion_tokens" in shown[0]:
        shown[0]["max_tokens"] = shown[0].pop("max_completion_tokens")
    assert shown[0] == shown[1]
    assert len(shown) == 2
    assert not isinstance(results[0], ModelError)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", RULES)
async def test_what_an_endpoint_refuses_is_dropped_alike(provider: str, name: str) -> None:
    parameters = {"temperature": 0.0, "seed": 1, "max_tokens": 9, "logprobs": True}
    request = ask(parameters=parameters, reply_schema=SCHEMA)
    bodies, results = await both(provider, RULES[name], request)
    assert bodies[0] == bodies[1]
    assert len(bodies[0]) >= 2
    assert comparable(results[0]) == comparable(results[1])
    assert not isinstance(results[0], ModelError)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", sorted(SERVER_FAULTS.keys() - TOO_LARGE - SLOW - READ_OTHERWISE))
async def test_every_fault_means_the_same(provider: str, name: str) -> None:
    bodies, results = await both(provider, name, ask())
    assert len(bodies[0]) == len(bodies[1]) == 1
    direct, litellm = map(comparable, results)
    if name in WORDED_OTHERWISE:
        assert [direct["retryable"], litellm["retryable"]] == [True, True]
    else:
        assert direct == litellm


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", sorted(SLOW))
async def test_every_slow_answer_ends_at_the_same_deadline(provider: str, name: str) -> None:
    _, results = await both(provider, name, ask(), timeout_s=0.15)
    assert comparable(results[0]) == comparable(results[1])
    assert isinstance(results[0], ModelError)
    assert results[0].kind == "timeout"


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", BODIES)
async def test_every_shape_of_a_body_is_read_alike(provider: str, name: str) -> None:
    _, results = await both(provider, BODIES[name], ask())
    assert comparable(results[0]) == comparable(results[1])


CUT_OFF: dict[str, dict[str, str]] = {
    "openai": {
        "message": "Could not finish the message because max_tokens or model output limit was "
        "reached. Please try again with higher max_tokens."
    },
    "groq": {
        "message": "Failed to generate JSON. See 'failed_generation' for more details.",
        "code": "json_validate_failed",
        "failed_generation": "max completion tokens reached before generating a valid document",
    },
}


@pytest.mark.parametrize("provider", CUT_OFF)
async def test_an_error_that_says_that_the_reply_was_cut_off_is_a_reply_that_was(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "k")
    error = ServedReply(status=400, body={"error": CUT_OFF[provider]})
    bodies, results = await both(provider, error, ask(reply_schema=SCHEMA))
    assert [len(sent) for sent in bodies] == [1, 1]
    for result in results:
        assert not isinstance(result, ModelError)
        assert (result.text or None, result.finish_reason) == (None, "length")


async def test_a_text_that_litellm_drops_may_have_said_that_the_fault_passes() -> None:
    _, results = await both("openai", ServedReply(body={"error": "something"}), ask())
    assert [comparable(one)["kind"] for one in results] == ["bad_request", "overloaded"]


UNREADABLE_USAGE: list[object] = [
    "n/a", [1], {"prompt_tokens": "many", "completion_tokens": -3, "total_tokens": None},
]  # fmt: skip


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("usage", UNREADABLE_USAGE, ids=str)
async def test_a_good_reply_with_unreadable_usage_is_kept_after_one_request(
    provider: str, usage: object
) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "4"}, "finish_reason": "stop"}
    answer = ServedReply(body={"id": "x", "model": "m", "choices": [choice], "usage": usage})
    bodies, results = await both(provider, answer, ask())
    assert [len(sent) for sent in bodies] == [1, 1]
    for result in results:
        assert not isinstance(result, ModelError)
        assert (result.text, result.usage, result.cost_usd) == ("4", None, None)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", ["content is a list", "content is a list with reasoning"])
async def test_content_in_parts_is_read_by_both(provider: str, name: str) -> None:
    _, results = await both(provider, BODIES[name], ask())
    assert [getattr(result, "text", result) for result in results] == ["4", "4"]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_server_that_is_not_there_is_a_connection_error_for_both(provider: str) -> None:
    with unserved_port() as port:
        for kind in (DirectModel, LitellmModel):
            model = kind(f"{provider}/m", api_base=f"http://127.0.0.1:{port}/v1")
            result = await outcome(model, ask())
            await model.aclose()
            assert isinstance(result, ModelError)
            assert (result.kind, result.status, result.retryable) == ("connection", None, True)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_both_send_the_key_of_the_environment(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "sentinel-key-1")
    with OpenAILikeServer() as server:
        for kind in (DirectModel, LitellmModel):
            model = kind(f"{provider}/m", api_base=server.url)
            await model.complete(ask())
            await model.aclose()
        sent = [seen.headers["authorization"] for seen in server.requests]
    assert sent == ["Bearer sentinel-key-1"] * 2


PAYERS = {"OPENAI_ORG_ID": "org-1", "OPENAI_ORGANIZATION": "org-2", "OPENAI_PROJECT_ID": "proj-1"}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "names",
    [["OPENAI_ORG_ID"], ["OPENAI_PROJECT_ID"], [*PAYERS]],
    ids=["organisation", "project", "all"],
)
async def test_both_name_the_payer_to_openai(
    provider: str, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in names:
        monkeypatch.setenv(name, PAYERS[name])
    with OpenAILikeServer() as server:
        for kind in (DirectModel, LitellmModel):
            model = kind(f"{provider}/m", api_base=server.url)
            await model.complete(ask())
            await model.aclose()
        direct, litellm = (
            {name: value for name, value in seen.headers.items() if name.startswith("openai-")}
            for seen in server.requests
        )
    assert direct == litellm
    assert bool(direct) == (provider == "openai")


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_both_send_a_placeholder_to_a_server_that_asks_for_no_key(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(f"{provider.upper()}_API_KEY", raising=False)
    with OpenAILikeServer() as server:
        for kind in (DirectModel, LitellmModel):
            model = kind(f"{provider}/m", api_base=server.url)
            await model.complete(ask())
            await model.aclose()
        sent = [seen.headers["authorization"] for seen in server.requests]
    assert sent == ["Bearer not-needed"] * 2


async def test_both_send_an_image_in_its_place_and_without_its_name() -> None:
    bodies, _ = await both("openai", None, REQUESTS["image"])
    for sent in bodies:
        assert sent[0]["messages"][0]["content"] == "You judge."
        assert sent[0]["messages"][1]["content"] == [
            {"type": "text", "text": "What is "},
            {"type": "image_url", "image_url": {"url": data_url(png())}},
            {"type": "text", "text": "?"},
        ]
        assert "photo" not in str(sent)
