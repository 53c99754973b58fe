from __future__ import annotations

import pytest

from judgekit.models import key_variable
from judgekit.models.error_mapping import endpoint_label, own_endpoint_key


@pytest.mark.parametrize(
    ("api_base", "expected"),
    [
        (None, "openai"),
        ("http://127.0.0.1:8000/v1", "openai at 127.0.0.1:8000"),
        ("https://me:pw@host/v1?key=x", "openai at host"),
        ("host:1/v1", "openai at host:1"),
        ("http:///v1", "openai at an address without a host"),
    ],
)
def test_an_endpoint_is_called_by_its_host(api_base: str | None, expected: str) -> None:
    assert endpoint_label("openai", api_base) == expected


def test_the_variable_of_a_key_is_named_after_its_provider() -> None:
    assert key_variable("openai") == "OPENAI_API_KEY"
    assert key_variable("groq") == "GROQ_API_KEY"


def test_a_key_is_read_from_the_environment_or_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", "mine")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert own_endpoint_key("hosted_vllm") == "mine"
    assert own_endpoint_key("openai") == "not-needed"


def test_a_key_is_sent_without_the_line_break_of_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", " sk-mine\n")
    assert own_endpoint_key("openai") == "sk-mine"
    monkeypatch.setenv("OPENAI_API_KEY", "\n")
    assert own_endpoint_key("openai") == "not-needed"
