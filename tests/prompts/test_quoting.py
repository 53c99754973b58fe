from __future__ import annotations

import base64
import hashlib
import re

import pytest
from hypothesis import example, given, strategies as st

from judgekit.prompts import fence_text
from judgekit.prompts.fences import fence_marker
from tests.factories import attacks

PAIR = re.compile(r"\A<output ([A-Z2-7]{16})>\n(.*)\n</output \1>\Z", re.DOTALL)


@given(st.text())
@example("\ud800 lone")
@example("ends with a line\n")
@example("\r\n")
def test_a_fenced_text_stands_byte_for_byte_between_its_marker_lines(text: str) -> None:
    match = PAIR.match(fence_text(text, "output"))
    assert match is not None
    assert match[2] == text
    assert match[1] not in text


@given(st.text(), st.text())
def test_the_marker_follows_the_text(one: str, other: str) -> None:
    assert (fence_marker(one) == fence_marker(other)) is (one == other)
    assert fence_marker(one) == fence_marker(one)


@pytest.mark.parametrize("record", attacks(), ids=lambda record: record["id"])
def test_an_attack_cannot_close_its_fence(record: dict[str, str]) -> None:
    whole = fence_text(record["text"], "output")
    marker = fence_marker(record["text"])
    assert whole.count(marker) == 2
    assert whole == f"<output {marker}>\n{record['text']}\n</output {marker}>"


def test_a_text_that_quotes_another_texts_fence_gets_one_of_its_own() -> None:
    inner = fence_text("4", "output")
    assert fence_marker(inner) not in inner


def test_the_same_text_is_fenced_alike_under_each_label() -> None:
    assert fence_text("4", "input").replace("input", "output") == fence_text("4", "output")


def test_a_marker_is_what_it_always_was() -> None:
    assert fence_text("4", "output") == "<output RIGOBZ45VMQIH2TF>\n4\n</output RIGOBZ45VMQIH2TF>"


@given(st.text())
def test_a_marker_is_base_32_of_the_hash_as_the_standard_library_writes_it(text: str) -> None:
    body = b"judgekit fence 0\n" + text.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(body).digest()
    assert fence_marker(text) == base64.b32encode(digest[:10]).decode()
