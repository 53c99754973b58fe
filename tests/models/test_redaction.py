from __future__ import annotations

import logging
import time

import pytest
from hypothesis import given, strategies as st

from judgekit.models import redact
from judgekit.models.error_mapping import REDACTED, RedactingFilter


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "HF_TOKEN", "APP_SECRET", "DB_PASSWORD", "my_api_key"]
)
def test_values_of_secret_variables_are_removed_wherever_they_stand(name: str) -> None:
    text = redact("a s3cr3t-value, b=s3cr3t-value.", environ={name: "s3cr3t-value"})
    assert text == f"a {REDACTED}, b={REDACTED}."


def test_variables_of_other_names_and_very_short_values_stay() -> None:
    environ = {"HOME": "/home/someone", "KEY": "abc", "A_TOKEN": ""}
    assert redact("/home/someone abc", environ=environ) == "/home/someone abc"


def test_a_secret_inside_another_one_does_not_hide_it() -> None:
    environ = {"A_KEY": "secret-1", "B_KEY": "secret-1-and-more"}
    assert redact("secret-1-and-more", environ=environ) == REDACTED


def test_a_url_quoted_secret_is_removed() -> None:
    assert "pa%2Fss" not in redact("?q=pa%2Fss%2Bword", environ={"X_SECRET": "pa/ss+word"})


def test_a_secret_is_removed_as_it_is_sent_without_the_space_round_it() -> None:
    assert "s3cr3t-value" not in redact(
        "refused: s3cr3t-value", environ={"A_KEY": "s3cr3t-value\n"}
    )


def test_secrets_that_are_handed_in_are_removed() -> None:
    assert redact("the configured-one", secrets=["configured-one"], environ={}) == f"the {REDACTED}"


def test_the_environment_of_the_process_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sentinel-998877")
    assert redact("echo sentinel-998877") == f"echo {REDACTED}"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer abcDEF123456", "abcDEF123456"),
        ("authorization: basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("GET /v1?key=AbC123&alt=json", "AbC123"),
        ("https://x/y?a=1&api_key=zzz9", "zzz9"),
        ("provided: sk-proj-abc_DEF123.", "sk-proj-abc_DEF123"),
        ("provided: sk-ab*******12", "sk-ab*******12"),
        ("AIzaSyA1234567890abcdefghijk", "AIzaSyA1234567890abcdefghijk"),
        ("https://user:hunter22@host/v1", "hunter22"),
        ('{"api_key": "0123456789abcdef"}', "0123456789abcdef"),
    ],
)
def test_what_looks_like_a_key_is_removed(text: str, secret: str) -> None:
    assert secret not in redact(text, environ={})
    assert REDACTED in redact(text, environ={})


@pytest.mark.parametrize(
    "text",
    [
        "Rate limit reached",
        "the key point is",
        "skipped sk-8",
        "score=4",
        "http://localhost:8000/v1",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert redact(text, environ={}) == text


@given(st.text(), st.text(alphabet="abcdef0123456789-", min_size=8), st.text())
def test_no_text_keeps_a_secret(before: str, secret: str, after: str) -> None:
    assert secret not in redact(before + secret + after, environ={"A_KEY": secret})


def test_a_log_record_is_redacted_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("test.redaction")
    logger.addFilter(RedactingFilter())
    try:
        int("sk-sentinel-1234")
    except ValueError:
        logger.exception("failed with %s", "Bearer sentinel-5678")
    logger.warning("once more")
    assert "sentinel" not in caplog.text
    assert "ValueError" in caplog.text
    assert "once more" in caplog.text


@pytest.mark.parametrize(
    "text", ["a" * 200_000, "20260ct " * 20_000 + "a" * 50_000, "a://" * 50_000]
)
def test_a_long_text_takes_no_longer_than_it_is(text: str) -> None:
    begun = time.process_time()
    assert redact(f"{text} db://ada:secret@host", environ={}).endswith("db://ada:[redacted]@host")
    assert time.process_time() - begun < 2
