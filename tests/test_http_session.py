from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import ModelError
from judgekit.http_session import http_sessions
from judgekit.models.transports import DirectModel
from tests.models.asking import ask
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> OpenAILikeServer:
    for name in ("NO_PROXY", "no_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return OpenAILikeServer()


@pytest.mark.parametrize("scheme", ["http://", "http://ada:secret-1@", ""])
async def test_calls_go_through_the_proxy_of_the_environment(
    proxy: OpenAILikeServer, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with proxy:
        address = proxy.url.removeprefix("http://").removesuffix("/v1")
        monkeypatch.setenv("http_proxy", f"{scheme}{address}")
        model = DirectModel("openai/m", api_base="http://judge.invalid/v1")
        await model.complete(ask())
        await model.aclose()
        (seen,) = proxy.requests
    assert seen.path == "http://judge.invalid/v1/chat/completions"
    assert ("proxy-authorization" in seen.headers) == ("@" in scheme)


async def test_a_host_that_needs_no_proxy_is_called_without(
    proxy: OpenAILikeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", ".invalid")
        model = DirectModel("openai/m", api_base="http://judge.invalid/v1")
        with pytest.raises(ModelError, match=r"judge\.invalid"):
            await model.complete(ask())
        await model.aclose()
        assert proxy.n_requests == 0


@pytest.mark.parametrize("model", ["openai/m", "anthropic/claude-sonnet-4-5"])
async def test_passwords_in_a_netrc_file_are_not_sent(
    proxy: OpenAILikeServer, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "netrc"
    file.write_text("default login ada password secret-1\n")
    file.chmod(0o600)
    monkeypatch.setenv("NETRC", str(file))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sentinel-1")
    with proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        direct = DirectModel(model, api_base="http://judge.invalid")
        await direct.complete(ask())
        await direct.aclose()
        (seen,) = proxy.requests
    assert "Basic" not in str(seen.headers)


async def test_where_python_has_no_certificates_there_are_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "none"))
    assert not ssl.create_default_context().get_ca_certs()
    sessions = http_sessions("https://judge.invalid", timeout_s=1)
    session = await sessions.current()
    trusted = getattr(session.client.connector, "_ssl", None)
    await sessions.aclose()
    assert isinstance(trusted, ssl.SSLContext)
    assert trusted.verify_mode == ssl.CERT_REQUIRED
    assert trusted.get_ca_certs()
