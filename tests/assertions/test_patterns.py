from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.assertions import UndecidedError
from judgekit.assertions.builtin.text import compile_pattern, search_text
from judgekit.errors import InputError
from judgekit.subprocess import worker


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^(a+)+$", "a" * 60 + "!"),
        (r"(a|aa)+$", "a" * 60 + "!"),
        (r"^(\w+\s?)*$", "a" * 60 + "!"),
        (r"[ab]*" + "[ab]{99}" * 10 + "c", "ab" * 1000),
        (r"\w*" + r"\w" * 46 + "!", "a" * 3000),
        (r"[ab]{99}" * 11 + "c", "ab" * 50_000),
    ],
)
def test_an_evil_pattern_is_stopped(pattern: str, text: str) -> None:
    with pytest.raises(UndecidedError, match=r"it took longer than 0\.05 s and was stopped"):
        search_text(pattern, text, timeout_s=0.05)


@pytest.mark.parametrize("pattern", [r"(a*)*b", r"(.*)\1\1x", r"(?=(a+))+z"])
def test_a_pattern_with_groups_is_searched_where_it_can_be_stopped(pattern: str) -> None:
    with suppress(UndecidedError):
        assert search_text(pattern, "a" * 60 + "!", timeout_s=0.05) is None


def test_the_workers_serve_on_after_one_was_stopped() -> None:
    with pytest.raises(UndecidedError, match=r"it took longer than 0.1 s"):
        search_text("^(a+)+$", "a" * 60 + "!", timeout_s=0.1)
    assert search_text("(a+)!", "aa!") == "aa!"


@pytest.mark.parametrize("pattern", ["(a", "[", "*", "a{2,1}", "(?<name>a)", "a" * 10_001])
def test_what_is_no_pattern_is_an_input_error(pattern: str) -> None:
    with pytest.raises(InputError, match=r"no regular expression|10001 characters"):
        compile_pattern(pattern)


def test_a_warning_of_python_is_none_of_ours() -> None:
    assert search_text("[[a]b", "[b") == "[b"


@pytest.mark.parametrize(
    "text", ["colour", "a 2026 b", "x" * 5000, "gray (grey)", "line\nbreak", ""]
)
@pytest.mark.parametrize(
    "pattern",
    [r"colou?r", r"\d{4}", r"gr[ae]y", r"\(gr", r"x*y", r"(x+)z", r"a|b", r"br.ak$", r"^$", r"[]]"],
)
def test_a_quick_search_and_the_worker_s_agree(pattern: str, text: str) -> None:
    assert search_text(pattern, text) == worker.search_pattern(pattern, text, False)


def test_letter_case_may_be_ignored() -> None:
    assert search_text("A.C", "abc") is None
    assert search_text("A.C", "abc", ignore_case=True) == "abc"
    assert worker.search_pattern("A.C", "abc", True) == "abc"


@settings(max_examples=80)
@given(st.text(alphabet="ab(|*+?)[]{}1,^$\\.", max_size=12), st.text(alphabet="ab1", max_size=20))
def test_no_pattern_crashes(pattern: str, text: str) -> None:
    with suppress(InputError, UndecidedError):
        search_text(pattern, text, timeout_s=0.5)
