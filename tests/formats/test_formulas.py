from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.formats import escape_formula
from judgekit.formats.text import unescape_formula

PAYLOADS = [
    "=1+1", "+1", "-1+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=1",
    "\u200b=1", "\ufeff+1", "\u00a0-x", "\uff1d1", "\uff0b1", "\uff0d1", "\uff20x", "\u2060@x",
]  # fmt: skip


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_formula_is_marked_and_comes_back(payload: str) -> None:
    assert escape_formula(payload) == "'" + payload
    assert unescape_formula("'" + payload) == payload


@pytest.mark.parametrize("text", ["plain", "", "'quoted'", "it's", "a=b", "''"])
def test_an_ordinary_text_stays_as_it_is(text: str) -> None:
    assert escape_formula(text) == text == unescape_formula(text)


@settings(deadline=None)
@given(st.text() | st.text(alphabet="'=+-@ \tab\u200b"))
def test_every_text_comes_back(text: str) -> None:
    assert unescape_formula(escape_formula(text)) == text
