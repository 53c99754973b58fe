from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import DatasetError
from judgekit.formats import parse_strict_json
from judgekit.formats.text import json_lines

HOSTILE = [
    ("{'a': 1}", "double quotes"),
    ('{"a": 1,}', "comma too many|not JSON"),
    ("[1, 2,]", "comma too many"),
    ('{"a": True}', "true, false and null"),
    ("{} {}", "jsonl"),
    ("", "not JSON"),
    ("[NaN]", r"NaN is not JSON.*\(column 2\)"),
    ('["NaN", Infinity]', r"Infinity is not JSON.*\(column 9\)"),
    ("[-Infinity]", "-Infinity"),
    ('{"a": 1e999}', r"too large to hold \(column 7\)"),
    ('{"a": 1e999edium", "b": 1, 5: 2}', r"too large to hold \(column 7\)"),
    ('[-Infinityx, {"a", 5: 6}]', "not JSON that can be read"),
    ("[-1e400]", "too large"),
    ('{"a": 1, "a": 2}', r"the key 'a' appears twice.*\(column 10\)"),
    ('{"a": [{"b": 1, "c": {}, "b": 2}]}', "the key 'b' appears twice"),
    ('[{"a": 1}, {"a": 2, "\\u0061": 3}]', "the key 'a' appears twice"),
    ("9" * 5000, "too many digits"),
    ('{"a": -' + "9" * 5000 + "}", "too many digits"),
    ("[" * 101 + "]" * 101, "nested deeper than 100"),
    ("[" * 200_000, "nested deeper than 100"),
    ('{"a":' * 150 + "1" + "}" * 150, "nested deeper than 100"),
    ('"\x01"', "control character"),
    ('{"\\ud800": 1, "\\ud801": 2}', "lone surrogates"),
    ("[01]", "not JSON"),
    ('"\\x"', "not JSON"),
    ("[1, 2", "not JSON"),
    ("nul", "not JSON"),
]


@pytest.mark.parametrize(("text", "what"), HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_text_is_a_clean_error_with_its_line(text: str, what: str) -> None:
    with pytest.raises(DatasetError, match=r"f\.json:7") as caught:
        parse_strict_json(text, path=Path("f.json"), first_line=7)
    assert caught.match(what)


def test_the_line_and_column_of_a_fault_are_its_own() -> None:
    with pytest.raises(DatasetError, match=r"f:3: the key 'x' .*column 3"):
        parse_strict_json('{\n "x": "NaN",\n  "x": 2}', path=Path("f"))


def test_a_hundred_levels_are_read() -> None:
    value, is_repaired = parse_strict_json("[" * 100 + "]" * 100, path=Path("f"))
    assert (type(value), is_repaired) == (list, False)
    flat, _ = parse_strict_json("[" + "[]," * 200 + "0]", path=Path("f"))
    assert isinstance(flat, list)


def test_a_lone_surrogate_is_replaced_and_noted_and_a_pair_is_kept() -> None:
    value, is_repaired = parse_strict_json(
        '{"a\\udfff": ["\\ud800x", 1], "p": "\\ud83d\\ude00"}', path=Path("f")
    )
    assert value == {"a\ufffd": ["\ufffdx", 1], "p": "\U0001f600"}
    assert is_repaired
    assert parse_strict_json('"\\ud83d\\ude00"', path=Path("f")) == ("\U0001f600", False)


def test_every_value_has_its_line() -> None:
    text = '{\n"name": "x",\n"cases": [\n {"id": 1},\n {"id":\n 2}\n]}'
    lines = json_lines(text)
    assert lines[("name",)] == 2
    assert lines[("cases", 0, "id")] == 4
    assert lines[("cases", 1)] == lines[("cases", 1, "id")] == 5


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=60)
@given(JSON)
def test_what_json_writes_is_read_back(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1)
    assert parse_strict_json(text, path=Path("f"))[0] == value
    assert json_lines(text)[()] == 1


@settings(max_examples=60)
@given(st.text(alphabet='[]{},:"\\ aeuNtrf01.-\n', max_size=60))
def test_any_text_is_read_as_the_library_reads_it_or_refused(text: str) -> None:
    try:
        value, _ = parse_strict_json(text, path=Path("f"))
    except DatasetError as error:
        assert error.line is not None  # noqa: PT017 - both ends are right; this checks one
    else:
        assert value == json.loads(text)
