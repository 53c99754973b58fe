from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.assertions import NotApplicableError
from judgekit.assertions.selection import look_up, parse_path
from judgekit.errors import InputError
from judgekit.records import Output, TraceEvent, Usage

WHOLE = Output(
    text="the text",
    data={"outputs": {"main": {"text": "from data"}}, "a.b": [1, {"c": 2}], "items": []},
    trace=(TraceEvent(type="step", content=[1]), TraceEvent(type="end", durationMs=3)),
    usage=Usage(input_tokens=7),
    metadata={"x": {"y": None}},
)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("outputs.main.text", "from data"),
        ("output.main.text", "the text"),
        ("data.outputs.main.text", "from data"),
        ("text", "the text"),
        ("outputs", {"main": {"text": "from data"}}),
        ("'a.b'.1.c", 2),
        ('"a.b"[-1].c', 2),
        ("['a.b'][0]", 1),
        ("trace.-1.durationMs", 3),
        ("events.0.content.0", 1),
        ("trace.1", {"type": "end", "durationMs": 3}),
        ("usage.input_tokens", 7),
        ("metadata.x.y", None),
    ],
)
def test_a_path_finds_its_place(path: str, value: object) -> None:
    assert look_up(WHOLE, path) == value


def test_outputs_is_looked_for_in_the_data_without_its_prefix_too() -> None:
    assert look_up(Output(data={"main": {"text": "a"}}), "outputs.main.text") == "a"


@pytest.mark.parametrize("path", ["outputs.main.text", "outputs.text", "output", "text"])
def test_the_text_answers_where_there_is_no_data(path: str) -> None:
    assert look_up(Output(text="a"), path) == "a"


def test_the_whole_trace_is_plain_json() -> None:
    assert look_up(Output(trace=(TraceEvent(type="a"),)), "trace") == [{"type": "a"}]


def test_a_text_of_the_data_goes_before_the_output_s_own() -> None:
    assert look_up(Output(text="own", data={"text": "data's"}), "text") == "data's"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("outputs.main.txt", r"no outputs.main.txt; outputs.main has text"),
        ("trace.5", r"no trace.5; trace is a list of 2"),
        ("metadta", r"no metadta; has metadata"),
        ("metadata.x.y.z", r"metadata.x.y is null"),
        ("usage.inputtokens", r"usage has input_tokens"),
        ("items.first", r"items is a list of 0"),
        ("text.0", r"the output has no text.0"),
        ("outputs.main.text.first", r"outputs.main.text is from data"),
        ("trace.99999999999999999999", r"trace is a list of 2"),
    ],
)
def test_a_missing_place_names_the_nearest_part_that_is_there(path: str, message: str) -> None:
    with pytest.raises(NotApplicableError, match=message):
        look_up(WHOLE, path)


def test_an_empty_place_says_that_it_is_empty() -> None:
    with pytest.raises(NotApplicableError, match=r"outputs.main is empty"):
        look_up(Output(data={"outputs": {"main": {}}}), "outputs.main.text")


@pytest.mark.parametrize(
    "path", ["", ".", "a..b", ".a", "a.", "a[", "a['b]", "a.[0]", "a[0]b", '"a"b', "[x]", "a]"]
)
def test_a_path_that_cannot_be_read_is_an_input_error(path: str) -> None:
    with pytest.raises(InputError, match=r"cannot be read from character|is empty"):
        parse_path(path)


def test_a_quoted_key_may_hold_anything() -> None:
    assert parse_path(r"a.'b\'.c'[\"d]\"]".replace('\\"', '"')) == ("a", "b'.c", "d]")


@settings(max_examples=60)
@given(st.text(alphabet=st.sampled_from("ab0-.[]'\"\\ é\n"), max_size=30))
def test_no_path_crashes(path: str) -> None:
    with suppress(NotApplicableError, InputError):
        look_up(WHOLE, path)


@settings(max_examples=60)
@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_quoted_keys_come_back_as_they_were(keys: list[str]) -> None:
    """Whatever the keys are, quoting them is a path to them."""
    quoted = [key.replace("\\", "\\\\").replace("'", "\\'") for key in keys]
    assert parse_path(".".join(f"'{key}'" for key in quoted)) == tuple(keys)
