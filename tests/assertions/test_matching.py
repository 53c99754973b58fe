from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.assertions import evaluate_assertions
from judgekit.assertions.builtin.text import same_json
from judgekit.errors import InputError
from judgekit.records import Output

if TYPE_CHECKING:
    from judgekit.records import AssertionResult


def one(spec_type: str, output: Output | str = "say hello", **fields: Any) -> AssertionResult:
    """The result of one assertion."""
    made = Output(text=output) if isinstance(output, str) else output
    return evaluate_assertions(made, [{"type": spec_type, **fields}])[0]


@pytest.mark.parametrize(
    ("spec_type", "value", "passed"),
    [
        ("contains", "hello", True),
        ("contains", "Hello", False),
        ("icontains", "HELLO", True),
        ("contains-all", ["say", "hello"], True),
        ("contains-all", ["say", "bye"], False),
        ("contains-any", ["bye", "say"], True),
        ("contains-any", ["bye"], False),
        ("icontains-all", ["SAY", "HELLO"], True),
        ("icontains-any", ["BYE", "SAY"], True),
        ("starts-with", "say", True),
        ("starts-with", "hello", False),
        ("equals", "say hello", True),
        ("equals", "say", False),
        ("regex", "h.llo$", True),
        ("regex", "^hello", False),
    ],
)
def test_the_family_says_what_holds_and_not_says_the_opposite(
    spec_type: str, value: object, *, passed: bool
) -> None:
    assert one(spec_type, value=value).passed is passed
    assert one(f"not-{spec_type}", value=value).passed is not passed


@pytest.mark.parametrize(
    ("spec_type", "value"),
    [
        ("contains", ""),
        ("not-icontains", ""),
        ("contains-all", ["say", ""]),
        ("icontains-any", [""]),
        ("starts-with", ""),
        ("regex", ""),
    ],
)
def test_an_empty_value_that_every_output_has_is_refused(spec_type: str, value: object) -> None:
    with pytest.raises(InputError, match=r"`value` is invalid: an empty \w+ is found in every"):
        one(spec_type, value=value)


def test_an_empty_value_is_looked_for_in_lists_alone() -> None:
    output = Output(data={"text": "a", "tags": ["", "b"]})
    assert one("output.contains", output, path="tags", value="").passed is True
    assert one("output.contains", output, path="text", value="").passed is None


def test_the_share_of_the_parts_is_the_value() -> None:
    result = one("contains-all", value=["say", "bye", "hello"])
    assert result.value == pytest.approx(2 / 3)
    assert result.message == 'the text does not contain "bye"'


def test_none_of_many_parts_are_named_shortly() -> None:
    message = one("contains-any", value=[f"word {n}" for n in range(8)]).message
    assert message.endswith("and 3 more")


def test_case_is_folded_as_unicode_has_it() -> None:
    assert one("icontains", "STRASSE", value="straße").passed is True
    assert one("text.starts_with", "Straße 1", value="STRASSE", ignore_case=True).passed is True
    assert one("text.equals", "Straße", value="STRASSE", ignore_case=True).passed is True


def test_equals_compares_a_json_text_with_a_json_value() -> None:
    assert one("equals", '{"b": 1.0, "a": [true]}', value={"a": [True], "b": 1}).passed is True
    assert one("equals", "no json", value={"a": 1}).passed is False


def test_equals_takes_data_where_there_is_no_text() -> None:
    assert one("equals", Output(data={"a": 1}), value={"a": 1}).passed is True
    assert one("equals", Output(data=[1]), value="[1]").passed is True
    assert one("contains", Output(data={"a": "straße"}), value='"straße"').passed is True


def test_neither_text_nor_data_fails() -> None:
    result = one("contains", Output(trace=({"type": "end"},)), value="a")
    assert result.passed is False
    assert result.message == "the output has neither a text nor data"


def test_output_contains_looks_for_an_element_in_a_list() -> None:
    output = Output(data={"items": [1, {"a": True}]})
    assert one("output.contains", output, path="items", value={"a": True}).passed is True
    assert one("output.contains", output, path="items", value={"a": 1}).passed is False


def test_what_is_neither_a_text_nor_a_list_contains_nothing() -> None:
    output = Output(data={"n": 12})
    result = one("output.contains", output, path="n", value="1")
    assert result.message == 'n is 12, which cannot contain "1"'
    assert result.passed is False
    assert one("not-output.contains", output, path="n", value="1").passed is None


def test_output_equals_shows_what_is_there() -> None:
    output = Output(data={"outputs": {"main": {"text": "a"}}})
    assert one("output.equals", output, path="outputs.main", value={"text": "a"}).passed is True
    result = one("output.equals", output, path="outputs.main.text", value=None)
    assert (result.passed, result.actual) == (False, "a")
    assert result.message == 'outputs.main.text is "a", not null'


def test_what_matched_first_is_shown() -> None:
    assert one("regex", value="h.").actual == "he"
    assert one("text.regex", value="HELLO", ignore_case=True).actual == "hello"


def test_a_hostile_pattern_costs_its_timeout_and_is_an_error() -> None:
    for spec_type in ("regex", "not-regex"):
        result = one(spec_type, "a" * 40 + "b", value="^(a+)+$", timeout_s=0.2)
        assert result.passed is None
        assert result.error == "it took longer than 0.2 s and was stopped"


def test_long_and_large_values_are_kept_short() -> None:
    long_text = one("contains", "a" * 5000, value="b").actual
    assert isinstance(long_text, str)
    assert long_text.endswith("… (5000 characters)")
    large = one("output.equals", Output(data={"x": ["a" * 9] * 999}), path="x", value=1).actual
    assert isinstance(large, str)
    assert len(large) < 2100


def test_the_values_in_messages_are_short() -> None:
    assert len(one("contains", value="b" * 500).message) < 120
    assert len(one("output.equals", Output(data={"x": [1] * 99}), path="x", value=1).message) < 120


@pytest.mark.parametrize(
    ("one_value", "other", "same"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (True, True, True),
        ({"a": 1}, {"a": True}, False),
        ([1, 2], (1, 2), True),
        ([1], [1, 2], False),
        (None, False, False),
        ({"a": 1}, {"b": 1}, False),
    ],
)
def test_json_values_are_compared_as_json(one_value: object, other: object, *, same: bool) -> None:
    assert same_json(one_value, other) is same


NULL = Output(data={"answer": None})


@pytest.mark.parametrize(
    ("spec_type", "value"),
    [("contains", "null"), ("regex", "."), ("char-count", {"min": 1}), ("levenshtein", "null")],
)
def test_null_at_a_path_is_no_text(spec_type: str, value: object) -> None:
    found = one(spec_type, NULL, path="answer", value=value)
    assert (found.passed, found.message) == (False, "answer is null, which is no text")
    assert one(f"not-{spec_type}", NULL, path="answer", value=value).passed is None


def test_null_is_a_value_that_can_be_compared_and_is_json() -> None:
    assert one("equals", NULL, path="answer", value=None).passed is True
    assert one("equals", NULL, path="answer", value="null").passed is False
    assert one("is-json", NULL, path="answer").passed is True
