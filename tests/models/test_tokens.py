from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from judgekit.models import count_messages, count_tokens
from judgekit.models.pricing import TokenCount, encoding_folders
from tests.traps import COUNTED

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "model", ["gpt-4.1-mini", "openai/gpt-4.1-mini", "azure/gpt-4o", "openrouter/openai/gpt-4o"]
)
def test_a_model_is_counted_with_its_own_encoding_whatever_provider_stands_before_it(
    model: str,
) -> None:
    assert count_tokens("hello world", model) == TokenCount(2, "tiktoken:o200k_base")


def test_older_models_have_their_older_encoding() -> None:
    assert count_tokens("hello world", "openai/gpt-4").source == "tiktoken:cl100k_base"
    assert count_tokens("hello world", "groq/openai/gpt-oss-20b").source == "tiktoken:o200k_harmony"


def test_an_unknown_model_is_counted_with_a_fallback_that_is_named() -> None:
    count = count_tokens("hello world", "anthropic/claude-sonnet-4-5")
    assert count == TokenCount(2, "fallback:o200k_base")


def test_an_encoding_that_is_not_on_disk_is_replaced_and_the_fallback_named() -> None:
    assert count_tokens("hello world", "text-davinci-001").source == "fallback:o200k_base"
    assert count_tokens("hello world", "gpt2").source == "fallback:o200k_base"


def test_without_any_encoding_the_count_is_a_labelled_estimate(tmp_path: Path) -> None:
    count = count_tokens("hällo wörld", "gpt-4o", folders=[tmp_path])
    assert count == TokenCount(4, "estimate:bytes/4")


def test_a_damaged_encoding_is_neither_used_nor_deleted(tmp_path: Path) -> None:
    url = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
    damaged = tmp_path / hashlib.sha1(url.encode()).hexdigest()  # noqa: S324 - tiktoken's naming
    damaged.write_bytes(b"not an encoding")
    assert count_tokens("a", "gpt-4o", folders=[tmp_path]).source == "estimate:bytes/4"
    assert damaged.read_bytes() == b"not an encoding"


def test_the_users_own_folder_is_looked_in_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert encoding_folders()[0] == tmp_path
    assert len(encoding_folders()) == 2
    assert count_tokens("hello world", "gpt-4o").source == "tiktoken:o200k_base"
    assert os.environ["TIKTOKEN_CACHE_DIR"] == str(tmp_path)


def test_the_environment_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    assert count_tokens("hello", "text-davinci-003").source == "tiktoken:p50k_base"
    assert "TIKTOKEN_CACHE_DIR" not in os.environ


def test_special_tokens_in_a_text_are_ordinary_text() -> None:
    assert count_tokens("<|endoftext|>", "gpt-4o").n > 1


def test_lone_surrogates_are_counted() -> None:
    assert count_tokens("a\ud800b", "gpt-4o").n >= 1
    assert count_tokens("a\ud800b", "gpt-4o", folders=[]).n == 2


def test_an_empty_text_has_no_tokens() -> None:
    assert count_tokens("", "gpt-4o").n == 0
    assert count_tokens("", "gpt-4o", folders=[]).n == 0


@pytest.mark.parametrize("trap", COUNTED)
def test_a_very_long_text_is_counted_in_pieces(trap: str) -> None:
    text, double = (COUNTED[trap].text(n) for n in (40_000, 80_000))
    once, twice = (count_tokens(long, "gpt-4o").n for long in (text, double))
    assert 0 < once <= len(text.encode())
    assert abs(twice - 2 * once) <= 10, "a cut moves the count by a token or two"


def test_pieces_are_cut_at_spaces_so_that_prose_keeps_its_count() -> None:
    sentence = "The quick brown fox jumps over the lazy dog."
    one = count_tokens(" " + sentence, "gpt-4o").n
    assert count_tokens((" " + sentence) * 2000, "gpt-4o").n == one * 2000


@given(st.text(max_size=200), st.text(max_size=200))
def test_two_texts_together_have_no_more_tokens_than_apart(one: str, other: str) -> None:
    together = count_tokens(one + other, "gpt-4o", folders=[]).n
    apart = count_tokens(one, "x", folders=[]).n + count_tokens(other, "x", folders=[]).n
    assert together <= apart


def test_messages_cost_three_tokens_each_and_three_for_the_reply() -> None:
    messages = [{"role": "system", "content": "hello world"}, {"role": "user", "content": ""}]
    assert count_messages(messages, "gpt-4o") == TokenCount(
        3 + 3 + 1 + 2 + 3 + 1, "tiktoken:o200k_base"
    )


def test_no_messages_are_the_opening_of_a_reply() -> None:
    assert count_messages([], "unknown", folders=[]) == TokenCount(3, "estimate:bytes/4")


def test_threads_count_alike() -> None:
    counts: list[TokenCount] = []
    threads = [
        threading.Thread(target=lambda: counts.append(count_tokens("hello world", "gpt-4")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [TokenCount(2, "tiktoken:cl100k_base")] * 8


def test_counting_imports_neither_litellm_nor_the_network() -> None:
    code = (
        "import socket, sys\n"
        "socket.socket.connect = None\n"
        "from judgekit.models.pricing import count_tokens\n"
        "assert 'tiktoken' not in sys.modules\n"
        "print(count_tokens('hello world', 'openai/gpt-4.1-mini').source)\n"
        "assert 'litellm' not in sys.modules\n"
        "assert 'requests' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "tiktoken:o200k_base\n"
