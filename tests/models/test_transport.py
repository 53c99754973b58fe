from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import SettingsError, UnknownNameError
from judgekit.models import connect, transport_names, transports
from judgekit.models.request import open_model
from judgekit.models.transports import DirectModel, LitellmModel
from tests.factories import make_request
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from pathlib import Path

OWN = "http://127.0.0.1:1/v1"

ECHO = """
from judgekit.models.request import ModelReply
from judgekit.models.request import Transport


class Echo:
    def __init__(self, name):
        self.name = name

    async def complete(self, request):
        return ModelReply(text=f"{self.name}: {request.messages[-1]['content']}")


TRANSPORT = Transport(
    open=lambda model, **_: Echo(model),
    is_preferred=lambda model, api_base: model.startswith("echo/"),
)
"""


@pytest.mark.parametrize(
    ("model", "api_base", "kind"),
    [
        ("openai/m", OWN, DirectModel),
        ("hosted_vllm/m", OWN, DirectModel),
        ("openai/m", None, DirectModel),
        ("openai/o3-pro", None, LitellmModel),
        ("openai/gpt-5-codex", None, LitellmModel),
        ("openai/o3-pro", OWN, DirectModel),
        ("mistral/m", None, DirectModel),
        ("groq/m", None, DirectModel),
        ("together_ai/some/m", None, DirectModel),
        ("deepseek/m", None, DirectModel),
        ("openrouter/some/m", None, DirectModel),
        ("ollama/m", None, DirectModel),
        ("ollama_chat/m", OWN, DirectModel),
        ("llamafile/m", None, DirectModel),
        ("hosted_vllm/m", None, LitellmModel),
        ("anthropic/m", None, DirectModel),
        ("gemini/m", OWN, DirectModel),
        ("cohere/m", None, LitellmModel),
        ("vertex_ai/gemini-2.5-flash", None, LitellmModel),
        ("gpt-4.1-mini", None, LitellmModel),
    ],
)
def test_auto_calls_what_is_compatible_directly(
    model: str, api_base: str | None, kind: type
) -> None:
    assert isinstance(open_model("auto", model, api_base=api_base, timeout_s=60), kind)


def test_a_named_transport_is_used_wherever_it_can_be() -> None:
    model = open_model("litellm", "openai/m", api_base=OWN, timeout_s=60)
    assert isinstance(model, LitellmModel)


def test_a_transport_that_cannot_reach_the_endpoint_says_so_at_once() -> None:
    with pytest.raises(SettingsError, match="transport=direct needs api_base"):
        open_model("direct", "hosted_vllm/m", api_base=None, timeout_s=60)
    with pytest.raises(SettingsError, match="cannot be called directly"):
        open_model("direct", "cohere/m", api_base=OWN, timeout_s=60)


def test_an_unknown_transport_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="litelm") as caught:
        connect("openai/m", transport="litelm")
    assert "litellm" in str(caught.value.hint)


@pytest.mark.parametrize("name", ["auto", "echo"])
async def test_a_transport_is_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    monkeypatch.setattr(transports, "__path__", [*transports.__path__, str(tmp_path)])
    assert transport_names() == ("auto", "direct", "echo", "litellm")
    try:
        reply = await connect("echo/m", transport=name).model.complete(make_request())
    finally:
        sys.modules.pop("judgekit.models.transports.echo", None)
    assert reply.text is not None
    assert reply.text.startswith("echo/m: ")


@pytest.mark.parametrize(
    ("model", "environment", "called"),
    [
        ("mistral/m", {"MISTRAL_API_KEY": "k"}, "/v1/chat/completions"),
        ("openai/m", {"OPENAI_API_KEY": "k"}, "/v1/chat/completions"),
        ("together_ai/m", {"TOGETHERAI_API_KEY": "k"}, "/v1/chat/completions"),
        ("ollama/m", {}, "/v1/chat/completions"),
    ],
)
async def test_a_variable_gives_a_provider_another_address(
    model: str, environment: dict[str, str], called: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = model.partition("/")[0]
    variable = {"openai": "OPENAI_BASE_URL", "together_ai": "TOGETHER_AI_API_BASE"}.get(
        provider, f"{provider.upper()}_API_BASE"
    )
    with OpenAILikeServer() as server:
        # Their variables may name the server without a path.
        is_short = provider in {"ollama", "mistral"}
        base = server.url.removesuffix("/v1") if is_short else server.url
        monkeypatch.setenv(variable, base)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        opened = open_model("auto", model, api_base=None, timeout_s=60)
        await opened.complete(make_request())
        (request,) = server.requests
    assert request.path == called
    assert request.headers["authorization"] == f"Bearer {'k' if environment else 'not-needed'}"


@pytest.mark.parametrize(
    ("model", "variables"),
    [
        ("openai/m", "OPENAI_API_KEY"),
        ("openrouter/some/m", "OPENROUTER_API_KEY or OR_API_KEY"),
        ("groq/m", "GROQ_API_KEY"),
    ],
)
def test_a_provider_without_a_key_is_refused_before_the_first_call(
    model: str, variables: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in variables.split(" or "):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SettingsError, match="no API key for") as caught:
        connect(model).check()
    assert caught.value.hint == f"set the environment variable {variables}"
