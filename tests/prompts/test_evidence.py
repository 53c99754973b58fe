from __future__ import annotations

import unicodedata

import pytest
from hypothesis import assume, given, strategies as st

from judgekit.prompts import locate_evidence
from judgekit.records import Evidence
from tests.traps import QUOTES

WORDS = st.text(st.characters(categories=["L", "M", "N", "P"]), min_size=1, max_size=8)
LETTERS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)


def locate(quote: str, text: str) -> Evidence:
    (found,) = locate_evidence([quote], text)
    assert found.quote == quote
    return found


def at(found: Evidence, text: str) -> str:
    assert found.start is not None
    assert found.end is not None
    return text[found.start : found.end]


@given(st.text(min_size=1), st.data())
def test_a_passage_of_the_text_is_always_found_to_the_letter(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    quote = text[start : data.draw(st.integers(start + 1, len(text)))]
    assume(quote.strip())
    found = locate(quote, text)
    assert found.match == "exact"
    assert at(found, text) == quote


@given(st.lists(LETTERS, min_size=2, max_size=6), st.sampled_from([" ", "\n", "\t ", "\u00a0 "]))
def test_a_passage_with_other_white_space_is_found(words: list[str], space: str) -> None:
    text = f"Before: {'  '.join(words)} and after"
    found = locate(space.join(words), text)
    assert found.match == "normalized"
    assert at(found, text) == "  ".join(words)


@given(LETTERS, LETTERS, LETTERS)
def test_a_passage_in_another_unicode_form_is_found(before: str, passage: str, after: str) -> None:
    text = f"{before} {unicodedata.normalize('NFD', passage)} {after}"
    quote = unicodedata.normalize("NFC", passage)
    found = locate(quote, text)
    assert found.match is not None
    same = unicodedata.normalize("NFKC", at(found, text))
    assert same == unicodedata.normalize("NFKC", passage)


@given(WORDS, WORDS)
def test_what_is_found_reads_like_the_quote(quote: str, text: str) -> None:
    found = locate(quote, text)
    if found.match == "exact":
        assert at(found, text) in quote
    if found.match is None:
        assert (found.start, found.end) == (None, None)


@pytest.mark.parametrize(
    ("quote", "text", "passage"),
    [
        ("caf\u00e9", "a cafe\u0301 here", "cafe\u0301"),
        ("\ud55c\uae00", "x \u1112\u1161\u11ab\u1100\u1173\u11af y", None),
        ("it's", "so it\u2019s true", "it\u2019s"),
        ('the "best" one', "the \u201cbest\u201d one", "the \u201cbest\u201d one"),
        ("final", "the \ufb01nal word", "\ufb01nal"),
        ("\uff21\uff22", "xABx", "AB"),
        ("a b", "a\r\n\tb", "a\r\n\tb"),
    ],
)
def test_what_looks_the_same_is_found_with_its_place(
    quote: str, text: str, passage: str | None
) -> None:
    found = locate(quote, text)
    assert found.match == "normalized"
    assert at(found, text) == (passage or text[2:-2])


@pytest.mark.parametrize(
    "quote",
    ['"within 30 days"', "\u201cwithin 30 days\u201d", "within 30 days...", "`within 30 days`",
     "within 30 days [\u2026]", "\u00abwithin 30 days\u00bb", "  within 30 days  "],
)  # fmt: skip
def test_the_judges_own_marks_around_a_quote_are_not_looked_for(quote: str) -> None:
    text = "Yes, within 30 days of delivery."
    found = locate(quote, text)
    assert found.match == "exact"
    assert at(found, text).strip() == "within 30 days"


@pytest.mark.parametrize(
    "quote",
    ["within 60 days", "within thirty days", "Within 30 days", "30 days within", "...", '""'],
)
def test_a_quote_with_a_changed_word_is_not_found(quote: str) -> None:
    found = locate(quote, "Yes, within 30 days.")
    assert found == Evidence(quote=quote)


def test_each_quote_is_looked_for_and_blank_ones_are_left_out() -> None:
    found = locate_evidence(["b  c", "", "  ", "zzz", "a"], "a b c")
    assert [(f.quote, f.match) for f in found] == [
        ("b  c", "normalized"), ("zzz", None), ("a", "exact"),
    ]  # fmt: skip


def test_an_empty_text_holds_no_quote() -> None:
    assert locate_evidence(["x"], "") == (Evidence(quote="x"),)


@pytest.mark.parametrize("trap", QUOTES)
def test_a_text_made_to_be_slow_is_searched_like_any_other(trap: str) -> None:
    text = QUOTES[trap].text(5_000)
    assert not locate("nowhere", text).found
    assert not locate(f"nowhere {text}", text).found
    assert locate(text, f"Before {text}after").match == "exact"
    assert locate(f"before\n{text}", f"It says: before {text}").match == "normalized"


@pytest.mark.parametrize("inner", ["a... b", "a [...] b", "a\u2026b"])
def test_an_ellipsis_within_a_quote_belongs_to_it(inner: str) -> None:
    assert locate(f"{inner} [...]", f"x {inner} y").match == "exact"
    assert not locate(inner, "x a b y").found
