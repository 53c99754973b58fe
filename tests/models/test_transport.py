from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import SettingsError, UnknownNameError
from judgekit.models import connect, transport_names, transports
from judgekit.models.transport import Endpoint, open_model
from judgekit.models.transports import DirectModel, LitellmModel
from tests.factories import make_request

if TYPE_CHECKING:
    from pathlib import Path

OWN = "http://127.0.0.1:1/v1"

ECHO = """
from judgekit.models.request import ModelReply
from judgekit.models.transport import Transport


class Echo:
    def __init__(self, name):
        self.name = name

    async def complete(self, request):
        return ModelReply(text=f"{self.name}: {request.messages[-1]['content']}")


TRANSPORT = Transport(
    open=lambda endpoint: Echo(endpoint.model),
    is_preferred=lambda endpoint: endpoint.model.startswith("echo/"),
)
"""


@pytest.mark.parametrize(
    ("endpoint", "kind"),
    [
        (Endpoint("openai/m", OWN), DirectModel),
        (Endpoint("hosted_vllm/m", OWN), DirectModel),
        (Endpoint("openai/m"), LitellmModel),
        (Endpoint("anthropic/m", OWN), LitellmModel),
    ],
)
def test_auto_calls_compatible_endpoints_directly(endpoint: Endpoint, kind: type) -> None:
    assert isinstance(open_model("auto", endpoint), kind)


def test_a_named_transport_is_used_wherever_it_can_be() -> None:
    model = open_model("litellm", Endpoint("openai/m", OWN))
    assert isinstance(model, LitellmModel)


def test_a_transport_that_cannot_reach_the_endpoint_says_so_at_once() -> None:
    with pytest.raises(SettingsError, match="transport=direct needs api_base"):
        open_model("direct", Endpoint("openai/m"))
    with pytest.raises(SettingsError, match="cannot be called directly"):
        open_model("direct", Endpoint("anthropic/m", OWN))


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
