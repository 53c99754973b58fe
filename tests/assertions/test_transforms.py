"""Transforms of outputs, and the expressions of promptfoo that are read as their steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.assertions import evaluate_assertions, transform_output
from judgekit.errors import InputError
from judgekit.formats.promptfoo_syntax import as_steps, python_pattern
from judgekit.records import Output

if TYPE_CHECKING:
    from pydantic import JsonValue


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        ("output", "a", "a"),
        ("output.trim();", " a ", "a"),
        ("JSON.parse(output).a.b[0]", '{"a": {"b": [5]}}', 5),
        ("JSON.parse(output)['a']?.length", '{"a": [1, 2]}', 2),
        ("output.split(',')[1].trim().toUpperCase()", "a, b", "B"),
        ("output.split('\\n').pop()", "a\nb", "b"),
        ("output.split('').at(-2)", "abc", "b"),
        (r"output.match(/year (\d+)/)[1]", "in year 2020", "2020"),
        (r"output.match(/<A>([\s\S]*?)<\/A>/i)?.[1]", "<a>\nx</a>", "\nx"),
        ("output.replace(/\\s+/g, ' ')", "a  b   c", "a b c"),
        ("output.replace('b', \"x\").replaceAll('a', '')", "abba", "xb"),
        ("JSON.stringify(JSON.parse(output).x)", '{"x": [1, 2]}', "[1,2]"),
        ("String(output).slice(1, -1).toLowerCase()", "(ABC)", "abc"),
        ("(output).substring(1).split('-').join('+')", "xa-b", "a+b"),
    ],
)
def test_an_expression_gives_what_javascript_gives(
    code: str, text: str, expected: JsonValue
) -> None:
    steps = as_steps(code)
    assert steps is not None
    found = transform_output(Output(text=text), steps)
    assert (found.text if found.data is None else found.data) == expected


@pytest.mark.parametrize(
    "code",
    [
        "output.map(x => x)", "context.vars.x", "output + 'x'", "output.split(/,/)[0]",
        "output[-1]",
        "output.match(/a/g)[0]", "output.match(/a/y)", "output.replace(/a/, '$1')", "eval(output)",
        "output.slice(x)", "output.substring(-1)", "output.trim(", "if (output) {}", "", "output.",
        "output.split('a', 2)", "output['a", "JSON.parse(output", "output.replace(/(/, 1)",
    ],
)  # fmt: skip
def test_an_expression_that_is_more_than_a_chain_is_not_read(code: str) -> None:
    assert as_steps(code) is None


@pytest.mark.parametrize(
    ("pattern", "flags", "expected"),
    [
        (r"(?<year>\d+)-\k<year>", "", r"(?P<year>\d+)-(?P=year)"),
        ("(?<=a)b$", "", r"(?<=a)b\Z"),
        ("a$", "mi", "(?im)a$"),
        (r"\$", "g", r"\$"),
    ],
)
def test_a_pattern_of_javascript_is_one_of_python(pattern: str, flags: str, expected: str) -> None:
    assert python_pattern(pattern, flags) == expected


@pytest.mark.parametrize(
    ("steps", "what"),
    [
        ([{"parse_json": True}], "is not JSON"),
        ([{"trim": True}, {"path": ["a"]}], "has no 'a'"),
        ([{"split": ","}, {"path": [3]}], "gives no value"),
        ([{"split": ","}, {"trim": True}], "is no text"),
        ([{"match": "(x"}], "unterminated"),
        ([{"match": "x"}], "gives no value"),
        ([{"join": "x"}], "is no list"),
        ([{"parse_json": True, "trim": True}], "is no step"),
        ([{"shout": True}], "is no step"),
        ([{}], "is no step"),
        ([{"trim": False}], "`trim` takes true, not false"),
        ([{"split": ","}, {"path": "a"}], '`path` takes a list of keys, not "a"'),
        ([{"path": [True]}], "`path` takes a list of keys"),
        ([{"split": None}], "`split` takes a text"),
        ([{"slice": 1}], "`slice` takes a list of one or two positions, not 1"),
        ([{"slice": [1, 2, 3]}], "`slice` takes a list"),
        ([{"replace": "a"}], "`replace` takes `text` or `pattern`"),
        ([{"replace": {"text": "a", "pattern": "b"}}], "`replace` takes `text` or `pattern`"),
        ([{"replace": {"text": "a", "by": "b"}}], "`replace` takes `text` or `pattern`"),
    ],
)
def test_a_step_that_does_not_fit_makes_an_error(steps: list[Any], what: str) -> None:
    found = transform_output(Output(text="a,b"), steps)
    assert (found.text, found.error_kind) == (None, "exception")
    assert what in str(found.error)


def test_a_wrong_step_of_an_assertion_is_found_before_a_run() -> None:
    spec = {"type": "equals", "value": "b", "transform": [{"parse_json": True}, {"path": "a"}]}
    message = r"assertions\[0\]\.transform\[1\] \(equals\): the step `path` takes a list of keys"
    with pytest.raises(InputError, match=message):
        evaluate_assertions(Output(text="{}"), [spec])


def test_joined_parts_are_whole() -> None:
    parts = [{"text": "x" * 100, "end": True}, None, "b"]
    found = transform_output(Output(data=parts), [{"join": "|"}])
    assert found.text == f'{{"text": "{"x" * 100}", "end": true}}||b'


def test_an_output_that_is_an_error_stays_as_it_is() -> None:
    output = Output(error="x")
    assert transform_output(output, [{"trim": True}]) is output


def test_an_assertion_may_look_at_a_part_of_the_output() -> None:
    spec = {"type": "equals", "value": "b", "transform": [{"parse_json": True}, {"path": ["a"]}]}
    passed, failed = (
        evaluate_assertions(Output(text=text), [spec])[0] for text in ('{"a": "b"}', "b")
    )
    assert passed.passed is True
    assert failed.passed is None
    assert "the transform failed" in str(failed.error)
