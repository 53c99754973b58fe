from __future__ import annotations

import asyncio
import gc
import inspect
import logging
import os
import threading
import traceback
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import ModelError, SettingsError
from judgekit.models.error_mapping import EXCEPTION_KINDS, fault_of_exception
from judgekit.models.request import Model, ModelReply
from judgekit.models.transports import DirectModel, LitellmModel
from judgekit.models.transports.litellm import _imported
from judgekit.records import Image
from judgekit.testing import ServedReply, ServedRequest
from tests.models.asking import SCHEMA, ask, outcome
from tests.pictures import data_url, png
from tests.servers.answers import ok, refusing
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from judgekit.testing.chaos import ServerScript

litellm = _imported()


async def sent_by(
    name: str, request: Any, script: ServerScript = None, **options: Any
) -> tuple[list[dict[str, Any]], ModelReply]:
    with OpenAILikeServer(script) as server:
        model = LitellmModel(name, api_base=server.url, **options)
        reply = await model.complete(request)
        await model.aclose()
        return [seen.body for seen in server.requests], reply


def exceptions_of_litellm() -> list[type[Exception]]:
    members = vars(litellm.exceptions).values()
    classes = [m for m in members if inspect.isclass(m) and issubclass(m, Exception)]
    return [cls for cls in classes if cls.__module__.startswith("litellm")]


def test_every_exception_of_litellm_has_a_kind() -> None:
    unmapped = [c.__name__ for c in exceptions_of_litellm() if c.__name__ not in EXCEPTION_KINDS]
    assert unmapped == []
    assert len(exceptions_of_litellm()) > 25


def test_an_exception_raised_by_litellm_itself_is_read_by_its_class() -> None:
    common: dict[str, Any] = {"message": "m", "llm_provider": "p", "model": "m"}
    expected = {
        "AuthenticationError": ("auth", 401),
        "RateLimitError": ("rate_limited", 429),
        "ContextWindowExceededError": ("context_window", 400),
        "ContentPolicyViolationError": ("content_filter", 400),
        "BadGatewayError": ("overloaded", 502),
        "Timeout": ("timeout", None),
        "APIResponseValidationError": ("protocol", None),
    }
    for name, (kind, status) in expected.items():
        fault = fault_of_exception("p", getattr(litellm.exceptions, name)(**common), hint="set X")
        assert (fault.kind, fault.status) == (kind, status)
        assert (fault.hint == "set X") == (kind == "auth")


def test_a_used_up_quota_and_an_odd_status_are_told_from_their_classes() -> None:
    quota = litellm.exceptions.RateLimitError("insufficient_quota", "p", "m")
    odd = litellm.exceptions.APIError(403, "no", "p", "m")
    assert fault_of_exception("p", quota).kind == "quota"
    assert fault_of_exception("p", odd).kind == "auth"
    assert fault_of_exception("p", ModuleNotFoundError("mcp")).kind == "internal"
    assert fault_of_exception("p", RuntimeError("?")).kind == "internal"


@pytest.mark.parametrize(
    ("name", "parent", "words", "kind"),
    [
        ("CallerCredentialAuthenticationError", "AuthenticationError", "no", "auth"),
        ("CallerCredentialRateLimitError", "RateLimitError", "slower", "rate_limited"),
        ("CallerCredentialRateLimitError", "RateLimitError", "insufficient_quota", "quota"),
        ("EndpointNotSupportedByModelError", "BadRequestError", "no", "bad_request"),
        ("MalformedRequestFieldError", "BadRequestError", "no", "bad_request"),
        ("UnsupportedEndpointError", "BadRequestError", "no", "bad_request"),
    ],
)
def test_exceptions_of_newer_releases_of_litellm_have_a_kind(
    name: str, parent: str, words: str, kind: str
) -> None:
    newer = type(name, (getattr(litellm.exceptions, parent),), {})
    error = newer(message=words, llm_provider="p", model="m")
    assert name in EXCEPTION_KINDS
    assert fault_of_exception("p", error).kind == kind


async def test_litellm_is_kept_from_the_network_and_from_env_files() -> None:
    await sent_by("openai/m", ask())
    assert os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
    assert os.environ["LITELLM_MODE"] == "PRODUCTION"
    assert litellm.suppress_debug_info
    assert litellm.disable_hf_tokenizer_download
    assert logging.getLogger("LiteLLM").level == logging.ERROR


async def test_it_is_a_model() -> None:
    model = LitellmModel("openai/m")
    assert isinstance(model, Model)
    assert model.name == "openai/m"
    await model.aclose()


@pytest.mark.parametrize(
    ("name", "words"),
    [("openai/gpt-4o", "OPENAI_API_KEY"), ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY")],
)
async def test_a_missing_key_is_named_before_anything_is_sent(
    name: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(words, raising=False)
    with pytest.raises(SettingsError, match=words):
        LitellmModel(name).check()
    monkeypatch.setenv(words, "")  # as CI does for a missing secret
    with pytest.raises(SettingsError, match=words):
        LitellmModel(name).check()
    assert os.environ[words] == ""
    with pytest.raises(SettingsError, match=f"no API key for .* cannot be called\n.*{words}"):
        await LitellmModel(name).complete(ask())


async def test_an_unknown_provider_is_an_error_with_an_example() -> None:
    with pytest.raises(SettingsError, match=r"'bogus/x'\n.*openai/gpt-4\.1-mini"):
        await LitellmModel("bogus/x").complete(ask())


async def test_a_known_model_gets_the_schema_natively() -> None:
    (body,), _ = await sent_by("openai/gpt-4.1-mini", ask(reply_schema=SCHEMA))
    assert body["response_format"]["json_schema"]["strict"] is True


async def test_a_known_model_without_schemas_is_made_to_call_a_tool() -> None:
    (body,), reply = await sent_by(
        "openai/gpt-3.5-turbo", ask(reply_schema=SCHEMA), ok('{"rationale": "r", "score": 2}')
    )
    assert body["tool_choice"]["function"]["name"] == "reply"
    assert body["tools"][0]["function"]["parameters"] == SCHEMA
    assert "_skip_mcp_handler" not in body
    assert (reply.text, reply.finish_reason) == ('{"rationale": "r", "score": 2}', "stop")


async def test_a_known_model_that_refuses_tools_is_asked_in_plain_words() -> None:
    no_tools = refusing("tools", complaint="{} are not supported")
    bodies, reply = await sent_by("openai/gpt-3.5-turbo", ask(reply_schema=SCHEMA), no_tools)
    assert ["tools" in body for body in bodies] == [True, False]
    assert reply.dropped_parameters == ("response_format",)


async def test_a_known_model_with_neither_is_asked_in_plain_words() -> None:
    (body,), _ = await sent_by("openai/gpt-3.5-turbo-instruct-0914", ask(reply_schema=SCHEMA))
    assert not {"tools", "response_format"} & body.keys()


@pytest.mark.parametrize("name", ["openai/o3", "openai/gpt-5"])
async def test_parameters_reasoning_models_refuse_are_dropped_and_recorded(name: str) -> None:
    parameters = {"temperature": 0.0, "logprobs": True, "top_logprobs": 3, "max_tokens": 9}
    (body,), reply = await sent_by(name, ask(parameters=parameters))
    assert set(reply.dropped_parameters) == {"temperature", "logprobs", "top_logprobs"}
    assert body["max_completion_tokens"] == 9
    assert not {"temperature", "logprobs", "top_logprobs", "max_tokens"} & body.keys()


CLAUDE = ServedReply(
    body={
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": "fine"}], "stop_reason": "max_tokens",
        "usage": {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 30,
                  "cache_creation_input_tokens": 20},
    }
)  # fmt: skip


async def test_claude_is_told_how_far_the_prompt_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-sentinel")
    request = ask("shared text, then one's own", shared_prefix=11, parameters={"seed": 1})
    (body,), reply = await sent_by("anthropic/claude-sonnet-4-5", request, CLAUDE)
    parts = body["messages"][0]["content"]
    assert [part["text"] for part in parts] == ["shared text", ", then one's own"]
    assert [part.get("cache_control") for part in parts] == [{"type": "ephemeral"}, None]
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert reply.usage is not None
    assert (reply.text, reply.finish_reason) == ("fine", "length")
    assert (reply.usage.input_tokens, reply.usage.cached_input_tokens) == (55, 30)
    assert reply.usage.cache_write_tokens == 20
    assert reply.dropped_parameters == ("seed",)


@pytest.mark.parametrize("prefix", [None, 40])
async def test_claude_gets_images_in_its_own_form(
    prefix: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-sentinel")
    image = Image(data_url(png()))
    request = ask(f"See {image.marker}, and say.", images=(image,), shared_prefix=prefix)
    (body,), _ = await sent_by("anthropic/claude-sonnet-4-5", request, CLAUDE)
    before, shown, *after = body["messages"][0]["content"]
    assert (before["text"], "".join(part["text"] for part in after)) == ("See ", ", and say.")
    data = data_url(png()).partition(",")[2]
    assert shown["source"] == {"type": "base64", "media_type": "image/png", "data": data}


@pytest.mark.parametrize("prefix", [None, 0, 999])
async def test_claude_gets_whole_messages_where_there_is_nothing_to_split(
    prefix: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-sentinel")
    (body,), _ = await sent_by(
        "anthropic/claude-sonnet-4-5", ask("all of it", shared_prefix=prefix), CLAUDE
    )
    content = body["messages"][0]["content"]
    texts = [content] if isinstance(content, str) else [part["text"] for part in content]
    assert texts == ["all of it"]


async def test_further_arguments_reach_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with OpenAILikeServer() as server:
        extra = {"api_key": "k-1", "base_url": server.url, "extra_headers": {"x-team": "eval"}}
        model = LitellmModel("openai/m", extra=extra)
        await model.complete(ask())
        await model.aclose()
        headers = server.requests[0].headers
    assert (headers["authorization"], headers["x-team"]) == ("Bearer k-1", "eval")


async def test_a_key_is_sent_without_the_line_break_of_its_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-1\n")
    with OpenAILikeServer() as server:
        model = LitellmModel("openai/m", extra={"base_url": server.url})
        await model.complete(ask())
        await model.aclose()
        assert server.requests[0].headers["authorization"] == "Bearer k-1"


async def test_no_key_is_in_an_error_its_traceback_or_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sentinel-778899")
    with OpenAILikeServer("reflect_key") as server, caplog.at_level(logging.DEBUG):
        model = LitellmModel("openai/m", api_base=server.url)
        result = await outcome(model, ask())
        await model.aclose()
    assert isinstance(result, ModelError)
    shown = "".join(traceback.format_exception(result))
    assert "sentinel-778899" not in shown + caplog.text
    assert "OPENAI_API_KEY" in shown


async def test_a_failed_call_is_one_request() -> None:
    with OpenAILikeServer("500") as server:
        for provider in ("openai", "hosted_vllm"):
            model = LitellmModel(f"{provider}/m", api_base=server.url)
            with pytest.raises(ModelError, match="HTTP 500"):
                await model.complete(ask())
            await model.aclose()
        assert server.n_requests == 2


@pytest.mark.parametrize("closes", [True, False])
@pytest.mark.parametrize("name", ["openai/m", "hosted_vllm/m"])
def test_no_connection_outlives_its_loop(name: str, closes: bool) -> None:  # noqa: FBT001
    async def work(model: LitellmModel) -> None:
        await asyncio.gather(*(model.complete(ask(str(i))) for i in range(3)))
        if closes:
            await model.aclose()

    with OpenAILikeServer() as server:
        model = LitellmModel(name, api_base=server.url)
        for _ in range(3):
            asyncio.run(work(model))
        assert server.n_requests == 9
    gc.collect()


def test_a_loop_that_ends_leaves_the_connections_of_another_one_open() -> None:
    async def inner(url: str) -> None:
        await LitellmModel("openai/m", api_base=url).complete(ask())

    async def outer(url: str) -> None:
        model = LitellmModel("openai/m", api_base=url)
        slow = asyncio.ensure_future(model.complete(ask("slow")))
        await asyncio.to_thread(asyncio.run, inner(url))
        await slow

    def slowly(seen: Any) -> ServedReply:
        return ok(delay_s=0.3 if "slow" in str(seen.body) else 0.0)

    with OpenAILikeServer(slowly) as server:
        asyncio.run(outer(server.url))
        assert server.n_requests == 2
    gc.collect()


@pytest.mark.parametrize("provider", ["openai", "hosted_vllm"])
async def test_a_deadline_while_litellm_prepares_the_call_leaves_no_warning(
    provider: str, recwarn: pytest.WarningsRecorder
) -> None:
    gc.collect()  # what other tests left behind is not counted here
    recwarn.clear()
    with OpenAILikeServer("hang") as server:
        for timeout_s in (0.0005, 0.001, 0.002, 0.004):
            model = LitellmModel(f"{provider}/m", api_base=server.url, timeout_s=timeout_s)
            result = await outcome(model, ask())
            assert isinstance(result, ModelError)
            assert result.kind == "timeout"
            await model.aclose()
    await asyncio.get_running_loop().shutdown_default_executor()
    gc.collect()
    # The server stands in this process too: sockets that hung when it was stopped are its own.
    never_awaited = [w for w in recwarn if issubclass(w.category, RuntimeWarning)]
    assert [str(warning.message) for warning in never_awaited] == []


async def test_closing_one_model_leaves_the_calls_of_another_alone() -> None:
    arrived = threading.Event()

    def script(_: ServedRequest) -> ServedReply:
        is_first = not arrived.is_set()
        arrived.set()
        return ServedReply(is_held=is_first)

    with OpenAILikeServer(script) as server:
        first, other = (LitellmModel("openai/m", api_base=server.url) for _ in range(2))
        held = asyncio.create_task(first.complete(ask("held")))
        await asyncio.to_thread(arrived.wait)
        await other.complete(ask("other"))
        await other.aclose()
        server.release()
        assert (await held).text == ok().text
        assert server.n_requests == 2
        await first.aclose()
    assert not litellm.in_memory_llm_clients_cache.cache_dict


@pytest.mark.parametrize("kind", [DirectModel, LitellmModel])
async def test_a_provider_without_schemas_gets_the_prompt_alone(
    kind: type[DirectModel | LitellmModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", "k")
    words = {"complaint": "This {} type is unavailable now"}
    with OpenAILikeServer(refusing("response_format", "tools", **words)) as server:
        monkeypatch.setenv("DEEPSEEK_API_BASE", server.url)
        model = kind("deepseek/deepseek-chat", api_base=None)
        reply = await model.complete(ask(reply_schema=SCHEMA))
        await model.aclose()
    assert (reply.text, reply.dropped_parameters) == (ok().text, ("response_format",))


async def test_a_tool_that_litellm_makes_of_a_schema_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "k")
    bodies, reply = await sent_by("groq/llama-3.3-70b-versatile", ask(reply_schema=SCHEMA))
    assert bodies[0]["tool_choice"]["function"] == {"name": "json_tool_call"}
    assert (reply.text, reply.finish_reason) == (ok().text, "stop")


@pytest.mark.parametrize("model", ["azure/m", "bedrock/anthropic.claude-3-5-sonnet-20241022-v2:0"])
async def test_absent_credentials_are_not_waited_for(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*os.environ,):
        if name.startswith(("AZURE_", "AWS_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    opened = LitellmModel(model, api_base="http://127.0.0.1:1")
    result = await outcome(opened, ask())
    await opened.aclose()
    assert isinstance(result, ModelError)
    assert (result.kind, result.status, result.retryable) == ("auth", None, False)
