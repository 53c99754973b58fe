from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import SettingsError, UnknownNameError
from judgekit.models import connect, transport_names, transports
from judgekit.models.request import open_model
from judgekit.models.transports import DirectModel, LitellmModel
from tests.factories import make_request

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
        ("openai/m", None, LitellmModel),
        ("anthropic/m", OWN, LitellmModel),
    ],
)
def test_auto_calls_compatible_endpoints_directly(
    model: str, api_base: str | None, kind: type
) -> None:
    assert isinstance(open_model("auto", model, api_base=api_base, timeout_s=60), kind)


def test_a_named_transport_is_used_wherever_it_can_be() -> None:
    model = open_model("litellm", "openai/m", api_base=OWN, timeout_s=60)
    assert isinstance(model, LitellmModel)


def test_a_transport_that_cannot_reach_the_endpoint_says_so_at_once() -> None:
    with pytest.raises(SettingsError, match="transport=direct needs api_base"):
        open_model("direct", "openai/m", api_base=None, timeout_s=60)
    with pytest.raises(SettingsError, match="cannot be called directly"):
        open_model("direct", "anthropic/m", api_base=OWN, timeout_s=60)


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
