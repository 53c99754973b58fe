from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from judgekit.assertions import evaluate_assertions
from judgekit.assertions.builtin.text import CountBounds
from judgekit.records import Output

if TYPE_CHECKING:
    from judgekit.records import AssertionResult


def one(spec_type: str, text: str, **fields: Any) -> AssertionResult:
    """The result of one assertion."""
    return evaluate_assertions(Output(text=text), [{"type": spec_type, **fields}])[0]


@pytest.mark.parametrize(
    ("value", "passed"),
    [(3, True), (2, False), ({"min": 3}, True), ({"max": 2}, False), ({"min": 1, "max": 3}, True)],
)
def test_words_are_counted(value: object, *, passed: bool) -> None:
    assert one("word-count", " one two\nthree ", value=value).passed is passed
    assert one("not-word-count", " one two\nthree ", value=value).passed is not passed


def test_characters_are_counted() -> None:
    assert one("char-count", "añ🎈", value=3).passed is True
    assert one("char-count", "abc", value={"max": 2}).message == "3 characters, wanted at most 2"


def test_the_message_tells_apart_what_differs() -> None:
    found = one("numeric", "1234567", value=1234566)
    assert found.message == "1234567 is 1 off 1234566, allowed 0"
    several = one("numeric", "1234567 or 1234568", value=1234567)
    assert "more than one number: 1234567, 1234568" in several.message


def test_bounds_bound_something() -> None:
    with pytest.raises(ValueError, match="needs `min` or `max`"):
        CountBounds()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("The answer is 42.", 42),
        ("1,234,567.5 dollars", 1234567.5),
        ("-3e2", -300),
        ("\u22127", -7),
        ("about .5", 0.5),
        ("v2 costs 3", 3),
        ("3.14", 3.14),
        ("0.5.", 0.5),
        (".5e3", 500),
        ("12, or 12", 12),
    ],
)
def test_the_number_in_a_text_is_read(text: str, number: float) -> None:
    result = one("numeric", text, value=number)
    assert result.passed is True
    assert result.actual == number


@pytest.mark.parametrize(
    ("fields", "passed"),
    [
        ({"value": 10}, False),
        ({"value": 10, "abs_tol": 0.5}, True),
        ({"value": 10, "absTol": 0.4}, False),
        ({"value": 10, "rel_tol": 0.05}, True),
        ({"value": 10, "rel_tol": 0.01, "abs_tol": 0.5}, True),
    ],
)
def test_a_number_may_be_off(fields: dict[str, Any], *, passed: bool) -> None:
    assert one("numeric", "10.5", **fields).passed is passed


def test_a_tolerance_holds_for_large_numbers_too() -> None:
    # As floats the two are 0.010000000009 apart.
    assert one("numeric", "1,234,567.90 EUR", value=1234567.89, abs_tol=0.01).passed is True
    assert one("numeric", "1,234,567.90 EUR", value=1234567.89, abs_tol=0.0099).passed is False
    assert one("numeric", "1234567.9", value=1234567.9000000001).passed is False


def test_several_numbers_leave_open_which_is_meant() -> None:
    assert one("numeric", "3 of 4", value=3).passed is False
    assert one("not-numeric", "3 of 4", value=3).passed is None
    assert one("numeric", "3 of 4", value=3, which="first").passed is True
    assert one("numeric", "3 of 4", value=4, which="last").passed is True
    assert one("numeric", "4 is 4", value=4).passed is True


def test_a_text_without_a_number_fails() -> None:
    assert one("numeric", "none", value=0).message == '"none" has no number'
    assert one("numeric", "9" * 500, value=0).passed is False
    assert one("numeric", "1e999", value=0).passed is False


@pytest.mark.parametrize(
    ("text", "part"),
    [("12,50", 12), ("1.234,56", 1.234), ("1,2345", 1234), ("1.2.3", 1.2), ("12,34,567", 12),
     ("1e1000", 1e100), ("1_000", 1)],
)  # fmt: skip
def test_no_part_of_a_number_is_taken_for_it(text: str, part: float) -> None:
    assert one("numeric", text, value=part).passed is False
    assert one("not-numeric", text, value=part).passed is None


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_that_is_written_is_found(value: float) -> None:
    assert one("numeric", repr(value), value=value).passed is True
