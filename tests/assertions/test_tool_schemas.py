from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.assertions import check_specs, evaluate_assertions
from judgekit.errors import InputError
from judgekit.records import Output

if TYPE_CHECKING:
    from judgekit.records import AssertionResult

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "required": ["city"],
            "properties": {"city": {"type": "string"}},
            "additionalProperties": False,
        },
    },
}


def called(arguments: object, name: str = "weather") -> dict[str, Any]:
    """A tool call as OpenAI writes it."""
    return {"id": "1", "type": "function", "function": {"name": name, "arguments": arguments}}


def one(
    spec_type: str = "is-valid-tool-call", tools: object = None, **output: Any
) -> AssertionResult:
    """The result of the assertion."""
    spec = {"type": spec_type, "tools": tools or [WEATHER]}
    return evaluate_assertions(Output.model_validate(output), [spec])[0]


@pytest.mark.parametrize(
    "output",
    [
        {"data": {"tool_calls": [called('{"city": "Rome"}')]}},
        {"data": [called('{"city": "Rome"}'), called('{"city": "Oslo"}')]},
        {"data": {"name": "weather", "arguments": {"city": "Rome"}}},
        {"data": {"function_call": {"name": "weather", "arguments": '{"city": "Rome"}'}}},
        {"text": json.dumps([called('{"city": "Rome"}')])},
        {
            "text": "x",
            "trace": [{"type": "tool_call", "name": "weather", "arguments": {"city": "a"}}],
        },
    ],
)
def test_a_call_is_found_wherever_it_stands(output: dict[str, Any]) -> None:
    result = one(**output)
    assert result.passed is True
    assert "weather" in str(result.actual)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ('{"city": 3}', "weather: city: 3 is not of type 'string'"),
        ("{city}", "the arguments of weather are no JSON"),
        (None, "'city' is a required property"),
        ({"city": "a", "day": 1}, "Additional properties are not allowed"),
    ],
)
def test_arguments_that_do_not_fit_are_named(arguments: object, message: str) -> None:
    result = one(data=[called(arguments)])
    assert result.passed is False
    assert message in result.message


def test_a_tool_that_is_not_there_is_named() -> None:
    assert (
        "there is no tool 'wether'; there are weather" in one(data=[called("{}", "wether")]).message
    )


def test_a_tool_may_be_written_anthropic_s_way_and_have_no_schema() -> None:
    tools = [{"name": "a", "input_schema": {"required": ["x"]}}, {"name": "b"}]
    call = {"type": "tool_use", "name": "a", "input": {"x": 1}}
    assert one(tools=tools, data=[call, {"name": "b"}]).passed is True


@pytest.mark.parametrize("output", [{"text": "hello"}, {"data": {"a": 1}}, {"text": "[1]"}])
def test_no_call_fails_and_leaves_the_negation_open(output: dict[str, Any]) -> None:
    assert one(**output).message == "the output makes no tool call"
    assert one(**output).passed is False
    assert one("not-is-valid-tool-call", **output).passed is None


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ([{"function": {}}], "a tool has no name"),
        ([{"function": "f"}], "a tool has no name"),
        ([{"name": "f", "input_schema": {"type": "objct"}}], "no usable JSON Schema"),
    ],
)
def test_unsound_tools_are_found_before_a_run(tools: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_specs([{"type": "is-valid-openai-tools-call", "value": tools}])


def test_an_answer_with_a_name_is_no_call_beside_those_of_the_trace() -> None:
    trace = [{"type": "tool_call", "name": "weather", "content": {"city": "Rome"}}]
    assert one(data={"name": "Ada", "city": "Rome"}, trace=trace).passed is True
    assert one(text='[{"name": "Ada"}]', trace=trace).passed is True
    assert "no tool 'Ada'" in one(data={"tool_calls": [{"name": "Ada"}]}, trace=trace).message
    assert "no tool 'Ada'" in one(data={"name": "Ada", "input": {}}, trace=trace).message
    assert "no tool 'Ada'" in one(data={"name": "Ada"}).message
