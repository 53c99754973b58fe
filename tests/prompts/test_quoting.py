from __future__ import annotations

import base64
import hashlib
import re

import pytest
from hypothesis import example, given, strategies as st

from judgekit.prompts import fence_text
from judgekit.prompts.fences import fence_marker
from tests.factories import attacks

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

PAIR = re.compile(r"\A<output ([A-Z2-7]{6,16})>\n(.*)\n</output \1>\Z", re.DOTALL)


LENGTHS = st.sampled_from([8, 16])


@given(st.text(), LENGTHS)
@example("\ud800 lone", 16)
@example("ends with a line\n", 8)
@example("\r\n", 16)
def test_a_fenced_text_stands_byte_for_byte_between_its_marker_lines(
    text: str, length: int
) -> None:
    match = PAIR.match(fence_text(text, "output", length))
    assert match is not None
    assert len(match[1]) == length
    assert match[2] == text
    assert match[1] not in text


@given(st.text(), st.text())
def test_the_marker_follows_the_text(one: str, other: str) -> None:
    assert (fence_marker(one, 16) == fence_marker(other, 16)) is (one == other)
    assert fence_marker(one, 16) == fence_marker(one, 16)


def test_a_text_that_contains_its_marker_gets_the_next_one() -> None:
    # With two characters such texts are found at once; longer markers go the same way.
    texts = [f"<output {a}{b}> {n}" for a in DIGITS for b in DIGITS for n in range(4)]
    for text in texts:
        assert fence_marker(text, 2) not in text
    digests = [hashlib.sha256(b"judgekit fence 0\n" + text.encode()).digest() for text in texts]
    firsts = [base64.b32encode(digest[:10]).decode()[:2] for digest in digests]
    assert any(first in text for first, text in zip(firsts, texts, strict=True))


@pytest.mark.parametrize("record", attacks(), ids=lambda record: record["id"])
def test_an_attack_cannot_close_its_fence(record: dict[str, str]) -> None:
    whole = fence_text(record["text"], "output", 8)
    marker = fence_marker(record["text"], 8)
    assert whole.count(marker) == 2
    assert whole == f"<output {marker}>\n{record['text']}\n</output {marker}>"


def test_a_text_that_quotes_another_texts_fence_gets_one_of_its_own() -> None:
    inner = fence_text("4", "output")
    assert fence_marker(inner, 16) not in inner


def test_the_same_text_is_fenced_alike_under_each_label() -> None:
    assert fence_text("4", "input").replace("input", "output") == fence_text("4", "output")


def test_a_marker_is_what_it_always_was() -> None:
    assert fence_text("4", "output") == "<output RIGOBZ45VMQIH2TF>\n4\n</output RIGOBZ45VMQIH2TF>"


@given(st.text())
def test_a_marker_is_base_32_of_the_hash_as_the_standard_library_writes_it(text: str) -> None:
    body = b"judgekit fence 0\n" + text.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(body).digest()
    assert fence_marker(text, 16) == base64.b32encode(digest[:10]).decode()
