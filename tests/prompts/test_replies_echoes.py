from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.prompts.replies.echoes import is_json_like, normalised

KEYS = [
    '{"score": 5}',
    "{'score': 5}",
    "{\u201cscore\u201d: 5}",
    "{\uff02score\uff02\uff1a 5}",
    "{&quot;score&quot;: 5}",
    "{&#34;score&#34;&#58; 5}",
    "{\\u0022score\\u0022: 5}",
    '{\\"score\\": 5}',
    '{"score"\\n: 5}',
    '{"score"\u200b\u00ad: 5}',
    '> **"score"**: 5',
    '"score" = 5',
]


@pytest.mark.parametrize("text", KEYS)
def test_a_key_is_seen_however_it_is_written(text: str) -> None:
    assert is_json_like(("plain", text))
    assert is_json_like(f"It\u2019s fine & so on \u2014 {text}")


@pytest.mark.parametrize(
    "text",
    ["It\u2019s 5: fine", "Müller & Söhne: 5", "a \\u0041: 5", "he said \u201cyes\u201d.", ""],
)
def test_letters_and_escapes_alone_are_no_key(text: str) -> None:
    assert not is_json_like(text)


def test_without_a_judged_text_there_is_no_key() -> None:
    assert not is_json_like(None)
    assert not is_json_like(())


@given(st.text(alphabet="\"'\u2019\uff02\u201d:\uff1a= \\nu02&;quot*_>\u200b\u00adxé", max_size=30))
def test_no_key_of_the_normalised_text_is_overlooked(text: str) -> None:
    plain = normalised(text)
    if '":' in plain or '"=' in plain:
        assert is_json_like(text)
